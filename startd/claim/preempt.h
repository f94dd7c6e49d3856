/* startd/claim/preempt.h - ends the running claim of a slot, for a better claim that waits, for the
 * owner, or for draining.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_PREEMPT_H
#define STARTD_CLAIM_PREEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct claim;
struct err;
struct slot;

/* Decides whether a claim for that job may preempt the running claim of the slot. word: how the
 * negotiator justifies it ("Rank", "Priority").  0; -EBUSY: another claim waits already; -EPERM:
 * the slot's Rank does not prefer the job. err says why. */
int preempt_judge(const struct slot *slot, const struct ad *job, const char *word, struct err *err);
/* Makes `waiting`, a claim in stage CLAIM_WAITING, the slot's next claim, and begins to end the
 * running claim. */
void preempt_begin(struct slot *slot, struct claim *waiting);
/* Discards a claim that waits; then another claim may preempt. */
void preempt_cancel(struct claim *waiting, const char *why);

/* Returns whether the running claim of the slot must end, and so takes no further job.  Then ret
 * says why. */
bool preempt_is_due(const struct slot *slot, char *ret, size_t size);
/* Lets the slot's claim retire although no other claim waits for the slot. */
void preempt_retire(struct slot *slot);
/* Called when PREEMPT is true, because the owner wants the machine back: the running claim retires,
 * then ends. */
void preempt_evict(struct slot *slot);
/* Called for draining: asks the slot's job to end, or kills it (fast).  Calling it again with the
 * same arguments does nothing. */
void preempt_vacate(struct slot *slot, bool fast);
/* Called when a run has begun on the slot or continues: if the claim must end, the run retires at
 * once. */
void preempt_run_began(struct slot *slot);
/* Called when nothing ends the slot's claim any more: a job that only retires continues. */
void preempt_is_over(struct slot *slot);
/* Called when the slot has no claim any more: gives it to the claim that waits, or makes it Owner
 * or Unclaimed with a new claim id.  A dynamic slot without a waiting claim is removed; then `slot`
 * is freed. */
void preempt_slot_free(struct slot *slot);
void preempt_step(void *claim); /* the callback of the claim's retirement timer */

/* Returns how many seconds a claim may have to wait for this slot at most. */
int64_t preempt_wait_max_s(const struct slot *slot);
/* Seconds of retirement that its job has left. */
int64_t preempt_retirement_s(const struct slot *slot);
int64_t preempt_vacate_s(const struct slot *slot); /* seconds between the soft signal and KILL */
/* Returns whether the output of a job that must end is kept for its next run. */
bool preempt_keeps_output(const struct slot *slot);

#endif
