/* rooster/wake_plan.h - decides which sleeping machines to wake now, and when to try again.
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

/* State of a machine, as the rooster knows it. */
enum wake_state {
    WAKE_UP,          /* the machine is up: there is a live ad */
    WAKE_OFF,         /* asleep */
    WAKE_GOING_DOWN,  /* the startd has gone offline, and the rooster powers the machine down */
    WAKE_STAYING,     /* the machine did not go to sleep; its live ads will come back */
    WAKE_WAKING,      /* a wake order was given */
    WAKE_BACKOFF,     /* a wake order failed; the next may follow at retry_at_ms */
    WAKE_QUARANTINED, /* wakes failed too often; the machine is left alone until retry_at_ms */
};
/* Returns the PowerState that a machine's ads show in this state.  For the states from WAKE_UP to
 * WAKE_QUARANTINED: "On", "Off", "GoingDown", "On", "Waking", "Waking", "WakeFailed". */
const char *wake_state_name(enum wake_state state);

enum wake_wish { /* who wants a machine to be woken; the strongest wish counts */
                 WAKE_WISHED_BY_NOBODY,
                 WAKE_WISHED_AS_SPARE, /* no job waits; the machine may be woken for the reserve */
                 /* a request waits for the machine (OfflineMatches) and UNHIBERNATE allows the
                  * wake; or the machine was chosen for the reserve and its wake failed, which is
                  * tried again */
                 WAKE_WISHED_BY_JOBS,
                 WAKE_WISHED_BY_NAME, /* somebody ordered the wake, naming the machine */
};

/* A machine that may be woken. */
struct wake_candidate {
    const char *machine; /* borrowed */
    enum wake_state state;
    enum wake_wish wish;
    bool can_wake; /* a method to wake the machine is known */
    bool worn;     /* woken too often in the last 24 hours; only an order by name wakes it */
    /* value of ROOSTER_UNHIBERNATE_RANK; the machine with the highest is woken first */
    double rank;
    double extra_w;       /* watts by which the machine's draw grows when it is woken */
    uint64_t spare_at_ms; /* the machine is not woken for the reserve before this time */
    uint64_t retry_at_ms; /* in WAKE_BACKOFF and WAKE_QUARANTINED: not woken before this time */
};

/* How many machines may be woken. */
struct wake_limits {
    int64_t per_cycle_max; /* most machines that one wake_plan_choose() chooses; 0: no limit */
    int64_t at_once_max;   /* most machines waking at a time; 0: no limit */
    /* most machines waking at a time, as a percentage of `machines`, the size of the pool, but at
     * least one machine; 0: no limit */
    int64_t share_max_percent, machines;
    /* most wake orders per minute, 0: no limit; number of orders given in the last minute */
    int64_t per_minute_max, last_minute;
    int64_t spares_wanted; /* number of machines to wake for the reserve, after all others */
    bool is_capped;        /* the pool's draw is limited: it may grow by watts_left */
    double watts_left;     /* watts by which the pool's draw may grow, if is_capped */
};
/* Returns how many machines may be woken now, if `waking` machines are being woken already. */
int64_t wake_plan_room(const struct wake_limits *limits, int64_t waking);

/* Writes the indices of the machines to wake now to chosen, which has room for count entries;
 * returns how many.  Machines that are ordered by name come first, then machines that jobs wait
 * for, then machines for the reserve, as many as are wanted; within each group by rank, then by
 * name.  A machine that would draw more than watts_left is skipped, whoever wants it.  now_ms: the
 * loop's clock. */
size_t wake_plan_choose(const struct wake_candidate *candidates, size_t count,
                        const struct wake_limits *limits, uint64_t now_ms, size_t *chosen);

/* counters in struct wake_minute: the last 60 whole seconds, and the second that has just begun */
#define WAKE_MINUTE_S 61
/* Counts what the rooster did in the last minute, for all machines together: one struct counts its
 * wake orders, another its permissions to sleep.  All zero: there were none.  now_ms of
 * wake_minute_add() and wake_minute_count() must never go back. */
struct wake_minute {
    int64_t counts[WAKE_MINUTE_S];
    uint64_t last_s;
};
void wake_minute_add(struct wake_minute *minute, uint64_t now_ms);
int64_t wake_minute_count(struct wake_minute *minute, uint64_t now_ms);

#define WAKE_DAY_MAX 48
/* The times of the last wakes of one machine; a second struct of each machine has the times of its
 * last sleeps.  All zero: there were none. */
struct wake_day {
    int64_t at_s[WAKE_DAY_MAX];
    size_t count; /* how often wake_day_add() was called for this struct */
};
void wake_day_add(struct wake_day *day, int64_t now_s);
/* Returns how many of the times in `day` (of wakes, or of sleeps, see struct wake_day) are in the
 * 24 hours before now_s, seconds since 1970; at most WAKE_DAY_MAX. */
int64_t wake_day_count(const struct wake_day *day, int64_t now_s);

/* Rules for trying a wake again. */
struct wake_retry {
    int64_t attempts_max; /* attempts with one method; then the next method is tried, or quarantine
                             begins */
    int64_t methods;      /* number of methods that the machine has; 0 means 1 */
    /* time to wait after a method's first failure; doubled after each further failure, up to
     * quarantine_ms */
    uint64_t backoff_ms;
    uint64_t quarantine_ms;
    /* number of quarantines in a row; each is twice as long as the one before */
    int64_t quarantines;
    uint64_t quarantine_max_ms; /* longest quarantine; if below quarantine_ms, all quarantines take
                                   quarantine_ms */
};
/* Returns the index of the method, in the machine's list of methods, for attempt number `attempt`
 * (the first is 1).  Returns 0, the first method, if attempt is 0: there was no attempt yet. */
size_t wake_plan_method(const struct wake_retry *retry, int64_t attempt);
/* Returns the state of a machine after failure number `attempts` (>= 1) of a wake, WAKE_BACKOFF or
 * WAKE_QUARANTINED, and sets *retry_at_ms to the time at which that state ends. */
enum wake_state wake_plan_after_failure(const struct wake_retry *retry, int64_t attempts,
                                        uint64_t now_ms, uint64_t *retry_at_ms);

/* How long a machine that went to sleep may still be on its way down.  A wake order that comes
 * before it is down is lost.  After this time the order is given whatever the machine says. */
#define WAKE_DOWN_MAX_MS INT64_C(180000)
struct wake_descent {
    int64_t age_ms;      /* time since the machine went to sleep */
    bool is_startd_gone; /* its startd has no uplink any more, or need not be asked */
    bool can_tell;       /* its power method can tell its state */
    bool is_told;        /* the method has just answered */
    bool is_on;          /* it answered that the machine is on */
};
/* What to do next with a machine that is wanted, before it is woken. */
enum wake_step {
    WAKE_STEP_ASK_STARTD, /* ask its startd to stay up */
    WAKE_STEP_ASK_METHOD, /* ask its power method for its state */
    WAKE_STEP_WAIT,       /* the machine is still on: ask again after wake_plan_pause_ms() */
    WAKE_STEP_ORDER,      /* wake it now */
};
enum wake_step wake_plan_step(const struct wake_descent *descent);
/* Returns how long to wait before a question or an order is repeated that is already tried for
 * tried_ms: at least least_ms, later an eighth of that time.  So a machine that needs long to go
 * down is woken late by no more than that share. */
uint64_t wake_plan_pause_ms(uint64_t least_ms, uint64_t tried_ms);

#endif
