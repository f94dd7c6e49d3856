/* wire/start_promise.h - the promise that jobs start in time: watches it, and counts what became of
 * it.
 *
 * The promise: an idle job and a free slot that match are a running job within JOB_START_PROMISE,
 * under the limits in force.  The negotiator watches it until the schedd has accepted the match,
 * the schedd until the job runs.  Each look notes why the job does not run yet.  The reason is
 * either START_LATE, which is an error of the pool, or an excuse.  A reason counts, once, when it
 * has held for the whole time of the promise.
 *
 * A daemon that stands still or is cut off is known to be silent only after some seconds
 * (wire_silence_ms()), and the promise is not for such daemons.  So START_LATE is judged that much
 * later: it is a broken promise unless a daemon turned out to be silent, which is an excuse.  What
 * happens between, also that the job runs at last, does not change the judgement.
 *
 * Whoever waits for a machine that is being woken is the rooster's: a machine that comes later than
 * its learned boot time allows is a WakeFailed (rooster/README.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_START_PROMISE_H
#define WIRE_START_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

enum start_reason {
    START_KEPT, /* nothing waits */
    START_LATE, /* nothing excuses it */
    /* excuses, by the negotiator */
    START_CONCURRENCY_LIMIT, /* a concurrency limit is reached */
    START_SUBMITTER_CEILING, /* the user or group is at its ceiling */
    START_GROUP_QUOTA,       /* the group is at its quota */
    START_MATCH_DECLINED,    /* the schedd declined a match, or does not answer */
    /* excuses, by the schedd */
    START_SLOT_IN_USE, /* another job must leave the slot first */
    START_DELAYED,     /* JOB_START_DELAY, or the job before wanted a pause */
    /* the machine's startd does not answer, or cannot connect; by the negotiator, too */
    START_MACHINE_SILENT,
    START_REASONS
};

/* What is watched: one request, one slot, one claim.  Zeroed: nothing waits. */
struct start_watch {
    enum start_reason reason; /* what the last look said */
    bool told;                /* this reason was counted, or its verdict is pending */
    bool late;                /* a broken promise, and the last look said START_LATE, too */
    uint64_t since_ms;        /* first look of those without a break that said so, loop_now_ms() */
    /* of a break whose verdict is pending: when the promise was over, and how long the wait was;
     * 0: none is */
    uint64_t over_ms, waited_ms;
};

struct start_counts {
    uint64_t counted[START_REASONS]; /* how often a reason held for the time of the promise */
    int64_t late;                    /* how many of those watched are late now */
    int64_t unjudged;                /* how many verdicts are pending */
};

/* What is known of the daemons on which the start depends. */
enum start_peers {
    START_PEERS_HEARD,   /* no silence is known */
    START_PEERS_SILENT,  /* one is silent or gone */
    START_PEERS_UNKNOWN, /* who would know is not connected: judged later */
};

/* Notes the reason that a look has found.  promise_ms: JOB_START_PROMISE; 0: nothing is
 * promised. */
void start_watch_note(struct start_watch *watch, struct start_counts *counts,
                      enum start_reason reason, uint64_t now_ms, uint64_t promise_ms);
/* A start that came too late is not yet a broken promise: the machine or schedd may have gone
 * silent, which is known only silence_ms later.  This gives the pending verdict once that time is
 * over.  Returns 0 or, when the promise has just been counted as broken, how long the wait was, in
 * ms: then the caller logs it. */
uint64_t start_watch_judge(struct start_watch *watch, struct start_counts *counts,
                           enum start_peers peers, uint64_t now_ms, uint64_t silence_ms);
/* Sets StartPromise (seconds), StartPromisesBroken, StartPromisesLate, and StartExcused<reason> for
 * each excuse that was counted. */
void start_counts_put(const struct start_counts *counts, uint64_t promise_ms, struct ad *ad);

#endif
