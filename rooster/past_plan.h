/* rooster/past_plan.h - a machine's record: whether it came when it was woken, and what was
 * different after its last boot.
 *
 * A job that waits for a machine whose wakes fail waits for the deadline, the retries, and then
 * another machine.  So the offline ads say how often the machine came lately, when it came last,
 * and what was different at its last boot.  A job's Rank, NEGOTIATOR_PRE_JOB_RANK and
 * ROOSTER_UNHIBERNATE_RANK can then prefer reliable machines.  Orders are counted, not wakes: a
 * machine that always comes at the second attempt is not as good as one that comes at the first.
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

#define PAST_KEPT 32 /* number of wake orders that are remembered */
/* most bytes of the text that says what differed, with the terminating zero */
#define PAST_DIFFERED_MAX 240

struct past {       /* the record of one machine; all zero: empty */
    uint32_t came;  /* one bit for each wake order, the last order in bit 0; 1: the machine came */
    unsigned count; /* number of valid bits in `came` */
    int64_t proven_s; /* time of the last successful wake, seconds since 1970; 0: none */
    bool is_compared; /* what differed after the last boot is known */
    char differed[PAST_DIFFERED_MAX]; /* valid if is_compared; "": nothing differed */
};

/* Adds a wake order.  came: whether the machine came; at_s: when it came, seconds since 1970; not
 * used if it did not come. */
void past_add(struct past *past, bool came, int64_t at_s);
/* Counts the last wake order as successful.  To be called when the machine came after all, although
 * the order had been counted as failed.  at_s: time at which the machine came, seconds since
 * 1970. */
void past_came_late(struct past *past, int64_t at_s);
/* Adds what a record of the ledger (ledger.h) says.  To be called for the oldest record first. */
void past_recall(struct past *past, const struct ad *record);

/* Returns what was different after the last boot; "": nothing; NULL: not known. */
const char *past_differed(const struct past *past);

/* Returns a new ad, which the caller frees by ad_destroy(): the attributes of an offline ad that
 * past_compare() compares. */
struct ad *past_promise(const struct ad *offline);
/* Notes what is different in the live ad after a new boot: "TotalMemory 4096 -> 2048, KernelVersion
 * 6.1 -> 6.2"; only the names if that would be too long.  Changes nothing if the boot is the same:
 * the machine was suspended, or did not go down.  promise: what past_promise() returned. */
void past_compare(struct past *past, const struct ad *promise, const struct ad *live);

/* Sets in an ad of the machine, as far as known: LastWakeTime, WakeSuccessRate (0 to 1), WakesTried
 * (number of orders in that rate), LastBootDiffered. */
void past_put(const struct past *past, struct ad *ad);
/* Returns whether ad already has the values that past_put() would set. */
bool past_is_in(const struct past *past, const struct ad *ad);

#endif
