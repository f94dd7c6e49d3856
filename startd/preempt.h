/* startd/preempt.h - a claim waits for a slot, or the owner or draining wants it, and the running
 * one has to go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_PREEMPT_H
#define STARTD_PREEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct claim;
struct err;
struct slot;

/* 0; -EBUSY, -EPERM: not this one, err says why. */
int preempt_judge(const struct slot *slot, const struct ad *job, const char *word, struct err *err);
/* waiting, in stage CLAIM_WAITING, is the slot's next; the running claim's end begins. */
void preempt_begin(struct slot *slot, struct claim *waiting);
void preempt_cancel(struct claim *waiting, const char *why);
/* The claim of the slot retires, and takes no further job, although none waits for the slot. */
void preempt_retire(struct slot *slot);
/* Has the running claim to go? Then why, in ret. */
bool preempt_is_due(const struct slot *slot, char *ret, size_t size);
/* The owner wants the machine back (PREEMPT): the running claim retires, then ends. */
void preempt_evict(struct slot *slot);
/* A run has begun on the slot, or goes on: it retires at once if it has to go. */
void preempt_run_began(struct slot *slot);
/* The slot has no claim any more: it goes to the claim that waits, or to Owner or Unclaimed with a
 * new claim id; a piece is removed (slot is dangling then). */
void preempt_slot_free(struct slot *slot);
int64_t preempt_wait_max_s(const struct slot *slot);
void preempt_step(void *claim);                        /* the retirement's timer */
int64_t preempt_retirement_s(const struct slot *slot); /* that its job has left */
int64_t preempt_vacate_s(const struct slot *slot);     /* between the soft signal and KILL */
/* Will what the job has made be taken for its next run when it has to go? */
bool preempt_keeps_output(const struct slot *slot);
/* Draining: its job has to go now; fast: at once.  Again: nothing new. */
void preempt_vacate(struct slot *slot, bool fast);
void preempt_is_over(struct slot *slot); /* its job need not go any more, if it only retires */

#endif
