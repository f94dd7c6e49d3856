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

/* Decides whether a claim for that job may preempt the running claim of the slot. word: the
 * negotiator's reason, "Rank" or "Priority".  Returns 0 if it may; -EBUSY if another claim
 * waits for the slot already; -EPERM if the slot's Rank of that job is lower than its Rank of the
 * running job, or equal and word is not "Priority". err gets the reason of a refusal. */
int preempt_judge(const struct slot *slot, const struct ad *job, const char *word, struct err *err);
/* Makes `waiting`, a claim in stage CLAIM_WAITING, the slot's next claim, and begins to end the
 * running claim. */
void preempt_begin(struct slot *slot, struct claim *waiting);
/* Discards `waiting`, a claim that waits for a slot; the running job goes on, and another claim may
 * preempt it. why: the reason, for the log. */
void preempt_cancel(struct claim *waiting, const char *why);

/* Returns whether the running claim of the slot must end, so that it takes no further job.  If so,
 * writes the reason to ret. */
bool preempt_is_due(const struct slot *slot, char *ret, size_t size);
/* Moves the slot's claim one step towards its end although no other claim waits for the slot: its
 * job retires, and is evicted when its retirement time is over. */
void preempt_retire(struct slot *slot);
/* Called when PREEMPT is true, because the owner wants the machine back: the running claim retires,
 * then ends. */
void preempt_evict(struct slot *slot);
/* Called for draining: asks the slot's job to end, or kills it if `fast`.  A second call with the
 * same arguments does nothing. */
void preempt_vacate(struct slot *slot, bool fast);
/* Called when a job has begun on the slot, or continues after a suspension: if the claim must end,
 * the job's retirement begins at once. */
void preempt_run_began(struct slot *slot);
/* Called when a reason to end the slot's claim has gone (draining was cancelled): a job that was
 * retiring and has no other reason to end continues. */
void preempt_is_over(struct slot *slot);
/* Called when the slot has no claim any more: gives it to the claim that waits, or makes it Owner
 * or Unclaimed with a new claim id.  A dynamic slot without a waiting claim is removed; then `slot`
 * is freed. */
void preempt_slot_free(struct slot *slot);
/* Timer callback: takes the next step to end the claim, if the claim must still end. */
void preempt_step(void *claim);

/* Returns the longest time, in seconds, that a preempting claim can have to wait until the running
 * job has left this slot. */
int64_t preempt_wait_max_s(const struct slot *slot);
/* Returns how many seconds of retirement time the slot's job has left; 0 without a job. */
int64_t preempt_retirement_s(const struct slot *slot);
/* Returns the seconds between the soft signal and KILL for the slot's job; 0 without a claim. */
int64_t preempt_vacate_s(const struct slot *slot);
/* Returns whether the slot's job, if it is made to leave, has its output kept for its next run. */
bool preempt_keeps_output(const struct slot *slot);

#endif
