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

enum wake_wish { /* who wants a machine to be woken: the strongest wish */
                 WAKE_WISHED_BY_NOBODY,
                 WAKE_WISHED_AS_SPARE, /* nobody waits for it; it may be woken for the reserve */
                 WAKE_WISHED_BY_JOBS,  /* a request waits for it (OfflineMatches), and UNHIBERNATE
                                          allows it; or  it was chosen for the reserve, its wake
                                          failed, and is tried again */
                 WAKE_WISHED_BY_NAME,  /* somebody asked for it by name */
};

struct wake_candidate {
    const char *machine; /* borrowed */
    enum wake_state state;
    enum wake_wish wish;
    bool can_wake;        /* there is a method for it */
    bool worn;            /* it was woken often enough of late; an order by name does not care */
    double rank;          /* ROOSTER_UNHIBERNATE_RANK, higher first */
    double extra_w;       /* that it draws, when it is woken, more than now */
    uint64_t spare_at_ms; /* a spare one is left alone until then */
    uint64_t retry_at_ms; /* in BACKOFF and QUARANTINED */
};

struct wake_limits {
    int64_t per_cycle_max; /* 0: none */
    int64_t at_once_max;   /* machines waking at a time; 0: none */
    /* the same as a share of the pool, which is of so many machines; always at least one */
    int64_t share_max_percent, machines; /* 0: none */
    int64_t per_minute_max, last_minute; /* orders, and those of the last minute; 0: none */
    int64_t spares_wanted;               /* woken for the reserve, after all others */
    bool is_capped;                      /* what all may draw is limited: */
    double watts_left;                   /* by so much more */
};
/* How many may be woken now. */
int64_t wake_plan_room(const struct wake_limits *limits, int64_t waking);

/* Writes the indices of the machines to wake now to chosen[0..count), best first: ordered ones,
 * then those that jobs wait for, by rank, then by name, then as many spare ones as are wanted in
 * the same order; returns how many. chosen has room for all.  One that would draw more than is left
 * is passed over, whoever wants it, for one that does not. */
size_t wake_plan_choose(const struct wake_candidate *candidates, size_t count,
                        const struct wake_limits *limits, uint64_t now_ms, size_t *chosen);

/* Orders of the last minute, of all machines; zero-initialized: none.  now_ms never goes back. */
#define WAKE_MINUTE_S 61 /* the second that has begun is one of them */
struct wake_minute {
    int64_t counts[WAKE_MINUTE_S];
    uint64_t last_s;
};
void wake_minute_add(struct wake_minute *minute, uint64_t now_ms);
int64_t wake_minute_count(struct wake_minute *minute, uint64_t now_ms);

/* When one machine was woken the last times; zero-initialized: never. */
#define WAKE_DAY_MAX 48
struct wake_day {
    int64_t at_s[WAKE_DAY_MAX];
    size_t count; /* all that there ever were */
};
void wake_day_add(struct wake_day *day, int64_t now_s);
int64_t wake_day_count(const struct wake_day *day, int64_t now_s); /* of the last 24 hours */

struct wake_retry {
    int64_t attempts_max; /* by one method; then by the next, and after the last quarantine */
    int64_t methods;      /* how many the machine has; 0: one */
    uint64_t backoff_ms;  /* after a method's first failure; doubled each time, up to
                             quarantine_ms */
    uint64_t quarantine_ms;
    int64_t quarantines;        /* the last ones, with no success in between: each doubles it */
    uint64_t quarantine_max_ms; /* up to this; less than quarantine_ms: it does not grow */
};
/* By which of its methods, from 0, a machine is to be woken at attempt number `attempt` (from 1; 0:
 * none yet). */
size_t wake_plan_method(const struct wake_retry *retry, int64_t attempt);
/* What follows the failure number `attempts` (>= 1) of one wake. */
enum wake_state wake_plan_after_failure(const struct wake_retry *retry, int64_t attempts,
                                        uint64_t now_ms, uint64_t *retry_at_ms);

#endif
