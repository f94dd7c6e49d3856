/* starter/ckpt/checkpoint_plan.h - when a checkpoint is worth its cost.
 *
 * A checkpoint may take a fiftieth of the time.  What one takes is known from those before it: a
 * whole image takes what the last whole one did, one of what changed what the last of these did,
 * which may have become whole, because most had changed.  Before the first of these it is taken to
 * be a quarter, so that what is cheap is found out soon; whoever has to be sure that the time
 * suffices believes in no such thing.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CHECKPOINT_PLAN_H
#define STARTER_CKPT_CHECKPOINT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define CHECKPOINT_COST        50 /* a checkpoint may take this part of the time */
#define CHECKPOINT_DELTA_GUESS 4

struct checkpoint_costs { /* ms; 0: there was none yet */
    uint64_t whole_ms, changed_ms;
};

/* One is kept that took so long; `followed`: what changed could have been enough, is_delta: it was.
 */
void checkpoint_plan_note(struct checkpoint_costs *costs, uint64_t took_ms, bool followed,
                          bool is_delta);
/* What the next one takes at most, if it is like those before. */
uint64_t checkpoint_plan_takes_ms(const struct checkpoint_costs *costs, bool followed);
/* How long after the last one the next follows. */
uint64_t checkpoint_plan_interval_ms(const struct checkpoint_costs *costs, bool followed,
                                     uint64_t min_ms, uint64_t max_ms);

/* Is there room for a copy of the job's files, beside what one checkpoint takes?  disk_kib: its
 * files; max_kib: of which a copy is made at most; has_copy: the one there is counts as used. */
bool checkpoint_plan_copies(int64_t free_kib, int64_t wanted_kib, int64_t disk_kib, int64_t max_kib,
                            bool has_copy);

/* How long to wait before more is sent, when so much was in so long.  rate_bytes: a second; 0: any.
 */
uint64_t checkpoint_plan_wait_ms(int64_t rate_bytes, uint64_t sent_bytes, uint64_t since_ms);

#endif
