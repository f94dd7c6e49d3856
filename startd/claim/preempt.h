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
/* Makes `waiting`, which is in stage CLAIM_WAITING, the slot's next claim; the end of the running
 * claim begins. */
void preempt_begin(struct slot *slot, struct claim *waiting);
/* Discards a claim that waits; another one may preempt then. */
void preempt_cancel(struct claim *waiting, const char *why);

/* Must the running claim of the slot end, so that it takes no further job?  Then ret says why. */
bool preempt_is_due(const struct slot *slot, char *ret, size_t size);
/* Lets the claim of the slot retire, although no other claim waits for the slot. */
void preempt_retire(struct slot *slot);
/* PREEMPT is true: the owner wants the machine back.  The running claim retires, then ends. */
void preempt_evict(struct slot *slot);
/* Draining: the job of the slot has to end now, or, if fast, at once.  A second call with the same
 * words does nothing. */
void preempt_vacate(struct slot *slot, bool fast);
/* A run has begun on the slot, or goes on: it retires at once if the claim has to end. */
void preempt_run_began(struct slot *slot);
/* Nothing ends the claim of the slot any more: if its job only retires, the job goes on. */
void preempt_is_over(struct slot *slot);
/* The slot has no claim any more: the claim that waits gets the slot, or the slot becomes Owner or
 * Unclaimed with a new claim id.  A piece without a waiting claim is removed: slot dangles then. */
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
