/* rooster/past_plan.h - what a machine's past tells who ranks it: does it come when it is woken,
 * and is it then what it was?
 *
 * A job that waits for a machine whose wakes fail waits for the deadline, the attempts and another
 * machine.  So the offline ads say how often it came of late, when it came last, and what was
 * different at its last boot: Rank of a job, NEGOTIATOR_PRE_JOB_RANK and ROOSTER_UNHIBERNATE_RANK
 * can prefer those that come.  Each order counts, not each wake: one that comes at the second
 * attempt every time is not as good as one that comes at the first.
 *
 * Rejected: a rate that fades with time.  A machine that slept for a month did not become worse.
 *
 * Pure: no clock, no I/O.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_PAST_PLAN_H
#define ROOSTER_PAST_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

#define PAST_KEPT         32 /* orders */
#define PAST_DIFFERED_MAX 240

struct past {         /* of one machine; zero-initialized: none */
    uint32_t came;    /* a bit for each order, the last one lowest: the live ad came */
    unsigned count;   /* of these bits */
    int64_t proven_s; /* the last wake that brought its live ad; 0: none */
    bool is_compared; /* differed says something: "" is that nothing differed */
    char differed[PAST_DIFFERED_MAX];
};

void past_add(struct past *past, bool came, int64_t at_s);
/* The last one did, after it was given up. */
void past_came_late(struct past *past, int64_t at_s);
/* What a record of the ledger tells (ledger.h), from the oldest on. */
void past_recall(struct past *past, const struct ad *record);

/* What differed at the last boot; "" nothing, NULL if that is not known. */
const char *past_differed(const struct past *past);

/* A new ad (ad_destroy): of what an offline ad promises, that which is compared. */
struct ad *past_promise(const struct ad *offline);
/* What differs in the live ad of a later boot: "TotalMemory 4096 -> 2048, KernelVersion 6.1 ->
 * 6.2"; names alone where that would be too long.  Nothing is changed when it is the same boot: a
 * machine that was suspended, or did not go down. */
void past_compare(struct past *past, const struct ad *promise, const struct ad *live);

/* Sets, in an ad of the machine, LastWakeTime, WakeSuccessRate (0 to 1), WakesTried (of how many),
 * LastBootDiffered: what is known of them. */
void past_put(const struct past *past, struct ad *ad);
bool past_is_in(const struct past *past, const struct ad *ad); /* past_put() would change nothing */

#endif
