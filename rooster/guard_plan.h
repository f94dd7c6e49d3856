/* rooster/guard_plan.h - decides whether a machine may go to sleep, as far as the pool is
 * concerned.
 *
 * Pure.  The startd has already judged its own machine (startd/sleep/hibernate_plan.h).  These
 * functions judge what only the rooster can, because it sees all machines: how many are down or
 * going down, how many idle machines must stay awake, whether the pool's state is known at all, and
 * whether the sleep is worth its power cycle.  The result names the first guard that objects, with
 * its knob, and when to ask again.
 *
 * An order with --force overrides the guards of policy.  Two guards always hold: nothing is done to
 * a machine in an unknown state, and a dry run switches nothing.  The guards about a machine's own
 * power cycles (break-even, sleeps per day) do not apply to an order by name, because its purpose
 * is not to save energy.
 *
 * Break-even.  Staying idle for time T costs idle_w * T.  Sleeping costs the draw of a boot, and
 * asleep_w for the rest of T.  Sleeping pays if T is at least
 *      T = (boot_s * (busy_w - asleep_w) + cycle_j) / (idle_w - asleep_w).
 * A machine whose last sleeps were shorter than T stays idle for T first, as in the ski-rental
 * problem: at worst that costs twice the optimum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_GUARD_PLAN_H
#define ROOSTER_GUARD_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "rooster/energy_plan.h"

/* ---- how long a machine usually sleeps ---- */

#define GUARD_RESTS_MAX   8 /* number of sleeps of a machine that are kept, the last ones */
#define GUARD_RESTS_LEAST 3

struct guard_rests {                  /* lengths of a machine's last sleeps; all zero: none */
    int64_t seconds[GUARD_RESTS_MAX]; /* a ring buffer: the oldest length is overwritten */
    size_t count;                     /* number of sleeps ever added */
};
/* Adds the length of a sleep; does nothing if it is below 0. */
void guard_rests_add(struct guard_rests *rests, int64_t seconds);
/* Returns the median length of the machine's last sleeps, seconds; -1: fewer than GUARD_RESTS_LEAST
 * sleeps are known. */
int64_t guard_rests_expected_s(const struct guard_rests *rests);

/* Returns the minimum length of a sleep that pays, seconds; 0: every sleep pays, or the watts are
 * not known.  boot_s: length of a boot; cycle_j: further cost of a power cycle, joules. */
int64_t guard_break_even_s(const struct energy_watts *watts, int64_t boot_s, double cycle_j);

/* ---- the decision ---- */

/* Which guard objects to a machine's sleep. */
enum guard_kind {
    GUARD_NONE, /* no guard objects: the machine may sleep */
    GUARD_UNKNOWN,
    GUARD_NO_WAY,
    GUARD_MIN_UP,
    GUARD_BREAK_EVEN,
    GUARD_CYCLES,
    GUARD_YOUNG,
    GUARD_RESERVE,
    GUARD_SHARE,
    GUARD_AT_ONCE,
    GUARD_PER_MINUTE,
    GUARD_DRY_RUN,
};
const char *guard_kind_name(enum guard_kind kind); /* name of the guard, for example "Reserve" */

struct guard_order { /* what the request to sleep says */
    bool by_name;    /* somebody has ordered this machine to sleep */
    bool forced;     /* the order has --force */
    bool override;   /* the machine may sleep although no way to wake it is known */
};

struct guard_ask { /* the request of one machine, and what is known of the machine */
    struct guard_order order;
    /* the machine already has the permission to sleep, and is counted as going down */
    bool granted;
    const char *unknown; /* why the machine's state is not known; NULL: it is known */
    bool can_wake;       /* a way to wake the machine is known */
    bool in_reserve;     /* the machine is counted among the idle machines of the reserve */
    int64_t up_s, idle_s;
    int64_t sleeps_today;
    int64_t expected_s;   /* how long the machine will probably sleep; -1: not known */
    int64_t break_even_s; /* shortest sleep that pays, by guard_break_even_s(); 0: not known */
};

/* Sums over the pool. */
struct guard_pool {
    int64_t machines;
    int64_t down; /* number of machines that are asleep or going down */
    int64_t going_down;
    int64_t last_minute; /* number of permissions to sleep given in the last minute */
    /* number of machines that were told to ask again, because too many machines sleep or go down */
    int64_t waiting;
    int64_t idle;    /* number of machines awake and without work: the present reserve */
    int64_t reserve; /* number of machines wanted as reserve */
    /* ": PoolIdleJobs = 5 ...": figures by which that number was found; NULL: none */
    const char *reserve_with;
    bool reserve_unknown; /* the number cannot be known at present: no idle machine may sleep */
    int64_t age_s;        /* seconds since the collector started */
    int64_t since_young;  /* number of machines that went down since the collector started, and are
                             still down */
};

struct guard_limits { /* limits of the guards; for each member 0 means: no limit */
    int64_t min_up_s;
    double break_even;   /* a sleep must be at least so many times guard_break_even_s() */
    int64_t per_day_max; /* most sleeps of a machine per day */
    /* until the collector has run for min_age_s, at most young_max machines may go to sleep */
    int64_t min_age_s, young_max;
    int64_t down_max_percent; /* most machines asleep or going down, percent of the pool */
    /* most machines going down at a time: as a number, and as percent of the pool */
    int64_t at_once_max, at_once_max_percent;
    int64_t per_minute_max; /* most permissions to sleep per minute */
    bool dry_run;
};

/* The decision whether a machine may sleep. */
struct guard_verdict {
    enum guard_kind kind; /* the guard that objects; GUARD_NONE: the machine may sleep */
    int64_t again_s;      /* seconds after which the startd shall ask again */
    struct err why;       /* why the guard objects */
};
/* Decides whether one machine may sleep.  Fills *ret. */
void guard_plan_judge(const struct guard_ask *ask, const struct guard_pool *pool,
                      const struct guard_limits *limits, struct guard_verdict *ret);

#endif
