/* rooster/wake_plan.h - which sleeping machines to wake now, and when to try again.
 *
 * Pure: no I/O, no clock.  The caller snapshots its nodes, passes the time in, and carries the plan
 * out.  The order in which machines are woken is decided here: wake_plan_choose().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_WAKE_PLAN_H
#define ROOSTER_WAKE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wake_state {
    WAKE_UP,          /* its live ad is there */
    WAKE_OFF,         /* asleep */
    WAKE_GOING_DOWN,  /* it has said good-bye, and we take it down */
    WAKE_STAYING,     /* it could not be taken down; its live ads will come back */
    WAKE_WAKING,      /* an order is out */
    WAKE_BACKOFF,     /* an order failed; another may follow at retry_at_ms */
    WAKE_QUARANTINED, /* it failed too often; left alone until retry_at_ms */
};
const char *wake_state_name(enum wake_state state); /* PowerState: "On" "Off" "GoingDown" "On"
                                                       "Waking" "Waking" "WakeFailed" */

struct wake_candidate {
    const char *machine; /* borrowed */
    enum wake_state state;
    bool demanded;        /* a request waits for it (OfflineMatches), and UNHIBERNATE allows it */
    bool ordered;         /* somebody asked for it by name */
    bool can_wake;        /* there is a method for it */
    double rank;          /* ROOSTER_UNHIBERNATE_RANK, higher first */
    uint64_t retry_at_ms; /* in BACKOFF and QUARANTINED */
};

struct wake_limits {
    int64_t per_cycle_max; /* 0: none */
    int64_t at_once_max;   /* machines waking at a time; 0: none */
};

/* Writes the indices of the machines to wake now to chosen[0..count), best first: ordered ones,
 * then by rank, then by name; returns how many. chosen has room for all. */
size_t wake_plan_choose(const struct wake_candidate *candidates, size_t count,
                        const struct wake_limits *limits, uint64_t now_ms, size_t *chosen);

struct wake_retry {
    int64_t attempts_max; /* then quarantine */
    uint64_t backoff_ms;  /* after the first failure; doubled each time, up to quarantine_ms */
    uint64_t quarantine_ms;
};
/* What follows the failure number `attempts` (>= 1) of one wake. */
enum wake_state wake_plan_after_failure(const struct wake_retry *retry, int64_t attempts,
                                        uint64_t now_ms, uint64_t *retry_at_ms);

#endif
