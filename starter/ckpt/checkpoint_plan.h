/* starter/ckpt/checkpoint_plan.h - when a checkpoint is worth its cost.
 *
 * Checkpoints may take a fiftieth of the job's time (CHECKPOINT_COST).  How long the next
 * checkpoint takes is estimated from earlier ones: a whole image from the last whole image, an
 * image of changes from the last one that was meant to hold only changes (that image may have
 * become whole, because most of the memory had changed).  Before the first image of changes,
 * checkpoint_plan_interval_ms() assumes that it will take a quarter of the time of a whole image,
 * so that the image is tried soon. checkpoint_plan_takes_ms() then returns the time of a whole
 * image, because its callers need a safe figure.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CHECKPOINT_PLAN_H
#define STARTER_CKPT_CHECKPOINT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define CHECKPOINT_COST 50 /* checkpoints may take one part in 50 of the job's time */
/* Assumed until measured: an image of changes takes 1/4 of the time of a whole image. */
#define CHECKPOINT_DELTA_GUESS 4

/* How long earlier checkpoints took, ms; 0: no checkpoint of that kind was made yet. */
struct checkpoint_costs {
    uint64_t whole_ms, changed_ms;
};

/* Notes that a checkpoint took took_ms. followed: memory changes were being recorded, so that its
 * image could contain only the changed memory; is_delta: its image does contain only that. */
void checkpoint_plan_note(struct checkpoint_costs *costs, uint64_t took_ms, bool followed,
                          bool is_delta);
/* Estimates how many ms the next checkpoint takes, by earlier ones; returns 0 if there was none.
 * followed: memory changes are being recorded, so that the checkpoint's image may contain only the
 * changed memory. */
uint64_t checkpoint_plan_takes_ms(const struct checkpoint_costs *costs, bool followed);
/* Returns how many ms after the last checkpoint the next one is due: at most max_ms, but never less
 * than min_ms. followed: memory changes are being recorded, so that the next image may contain only
 * the changed memory. */
uint64_t checkpoint_plan_interval_ms(const struct checkpoint_costs *costs, bool followed,
                                     uint64_t min_ms, uint64_t max_ms);

/* Returns whether there is room for a copy of the job's files in addition to what one checkpoint
 * takes (wanted_kib). free_kib: space left on the disk, negative if unknown. disk_kib: size of the
 * job's files. max_kib: the largest copy allowed. has_copy: a copy exists already, so that no more
 * room is needed for it. */
bool checkpoint_plan_copies(int64_t free_kib, int64_t wanted_kib, int64_t disk_kib, int64_t max_kib,
                            bool has_copy);

/* Returns how many ms to wait before sending more, when sent_bytes were sent in the last since_ms
 * ms. rate_bytes: bytes allowed for each second; 0: no limit. */
uint64_t checkpoint_plan_wait_ms(int64_t rate_bytes, uint64_t sent_bytes, uint64_t since_ms);

#endif
