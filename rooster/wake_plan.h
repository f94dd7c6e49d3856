/* rooster/wake_plan.h - which sleeping machines to wake now, and when to try again.
 *
 * Pure: no I/O, no clock.  The caller takes a snapshot of its nodes, passes the time in, and
 * carries the plan out.  wake_plan_choose() decides the order in which machines are woken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_WAKE_PLAN_H
#define ROOSTER_WAKE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a machine, as the rooster sees it. */
enum wake_state {
    WAKE_UP,          /* the machine is up: its live ad is there */
    WAKE_OFF,         /* asleep */
    WAKE_GOING_DOWN,  /* its startd has left, and the rooster takes the machine down */
    WAKE_STAYING,     /* the machine could not be taken down; its live ads will come back */
    WAKE_WAKING,      /* a wake order was given */
    WAKE_BACKOFF,     /* an order failed; another one may follow at retry_at_ms */
    WAKE_QUARANTINED, /* its wakes failed too often; left alone until retry_at_ms */
};
/* The PowerState in its ads, in the order of the enum: "On" "Off" "GoingDown" "On" "Waking"
 * "Waking" "WakeFailed". */
const char *wake_state_name(enum wake_state state);

enum wake_wish { /* who wants a machine to be woken; the strongest wish counts */
                 WAKE_WISHED_BY_NOBODY,
                 WAKE_WISHED_AS_SPARE, /* no job waits; it may be woken for the reserve */
                 /* A request waits for it (OfflineMatches) and UNHIBERNATE allows the wake.  Or it
                  * was chosen for the reserve, its wake failed, and it is tried again. */
                 WAKE_WISHED_BY_JOBS,
                 WAKE_WISHED_BY_NAME, /* somebody ordered it by name */
};

/* A machine that may be woken. */
struct wake_candidate {
    const char *machine; /* borrowed */
    enum wake_state state;
    enum wake_wish wish;
    bool can_wake;        /* a method to wake it is known */
    bool worn;            /* woken too often lately; does not matter for an order by name */
    double rank;          /* ROOSTER_UNHIBERNATE_RANK, higher is woken first */
    double extra_w;       /* watts that it draws more when it is woken */
    uint64_t spare_at_ms; /* not woken for the reserve before that time */
    uint64_t retry_at_ms; /* in WAKE_BACKOFF and WAKE_QUARANTINED */
};

/* How many machines may be woken. */
struct wake_limits {
    int64_t per_cycle_max; /* per call; 0: no limit */
    int64_t at_once_max;   /* machines waking at a time; 0: no limit */
    /* Machines waking at a time as a percentage of `machines`, the size of the pool; always at
     * least one; 0: no limit. */
    int64_t share_max_percent, machines; /* 0: none */
    /* limit per minute, 0: none; orders given in the last minute */
    int64_t per_minute_max, last_minute;
    int64_t spares_wanted; /* machines to wake for the reserve, after all others */
    bool is_capped;        /* the total draw is limited, see watts_left */
    double watts_left;     /* watts that the total draw may grow by */
};
/* Returns how many machines may be woken now, if `waking` are under way. */
int64_t wake_plan_room(const struct wake_limits *limits, int64_t waking);

/* Writes the indices of the machines to wake now to chosen, which has room for count entries;
 * returns how many.  The order: orders by name, machines that jobs wait for, then as many spare
 * machines as are wanted; within each group by rank, then by name.  A machine that would draw more
 * than watts_left is skipped, whoever wants it. */
size_t wake_plan_choose(const struct wake_candidate *candidates, size_t count,
                        const struct wake_limits *limits, uint64_t now_ms, size_t *chosen);

/* Counts the wake orders of the last minute, for all machines.  Zero-initialized: none.  now_ms
 * must never go back. */
#define WAKE_MINUTE_S 61 /* 60 and the second that has just begun */
struct wake_minute {
    int64_t counts[WAKE_MINUTE_S];
    uint64_t last_s;
};
void wake_minute_add(struct wake_minute *minute, uint64_t now_ms);
int64_t wake_minute_count(struct wake_minute *minute, uint64_t now_ms);

/* The last wakes of one machine.  Zero-initialized: none. */
#define WAKE_DAY_MAX 48
struct wake_day {
    int64_t at_s[WAKE_DAY_MAX];
    size_t count; /* all wakes ever added */
};
void wake_day_add(struct wake_day *day, int64_t now_s);
int64_t wake_day_count(const struct wake_day *day, int64_t now_s); /* in the last 24 hours */

/* Rules for trying again. */
struct wake_retry {
    int64_t attempts_max; /* with one method; then the next method is tried, or quarantine begins */
    int64_t methods;      /* number of methods that the machine has; 0 means 1 */
    /* Wait after a method's first failure; doubled each time, up to quarantine_ms. */
    uint64_t backoff_ms;
    uint64_t quarantine_ms;
    int64_t quarantines; /* quarantines in a row without success; each doubles the next one */
    uint64_t quarantine_max_ms; /* upper limit; if less than quarantine_ms, the quarantine does not
                                   grow */
};
/* Returns the index of the method for attempt number `attempt` (from 1; 0: no attempt yet). */
size_t wake_plan_method(const struct wake_retry *retry, int64_t attempt);
/* Returns the state after failure number `attempts` (>= 1) of a wake: WAKE_BACKOFF or
 * WAKE_QUARANTINED; sets *retry_at_ms. */
enum wake_state wake_plan_after_failure(const struct wake_retry *retry, int64_t attempts,
                                        uint64_t now_ms, uint64_t *retry_at_ms);

#endif
