/* rooster/guard_plan.h - may this machine go to sleep?  What the pool has to say to it.
 *
 * Pure.  The startd has judged its own machine (startd/sleep/hibernate_plan.h); here is judged what
 * only who sees all machines can judge: how many are down or on their way, how many idle ones are
 * to be kept awake, whether the pool is known at all, and whether a sleep is worth its cycle.  The
 * first guard that objects is named, with its knob, and when to ask again.
 *
 * Guards of policy do not count for who says --force; two always do: what is not known is not acted
 * on, and a dry run switches nothing.  A machine's own cycles (break-even, times a day) are no
 * reason against an order by name: who gives it does not want to save energy.
 *
 * Break-even.  Staying idle for T costs idle_w * T; sleeping costs the draw of a boot, and asleep_w
 * for the rest.  It pays after
 *     T = (boot_s * (busy_w - asleep_w) + cycle_j) / (idle_w - asleep_w).
 * A machine whose last sleeps were shorter than that stays up for T first, as one that rents skis
 * until it has paid their price: at worst that costs twice what was best.
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

/* ---- the reserve: how many idle machines are to be awake, by day and time */

#define GUARD_RESERVE_RULES_MAX 32

struct guard_reserve_rule {
    unsigned days;        /* bit n: day n of the week, 0 is Sunday; that on which it begins */
    int from_min, to_min; /* of the day; to <= from: beyond midnight */
    int64_t number;       /* machines, or percent of the pool */
    bool is_percent;
};

struct guard_reserve {
    struct guard_reserve_rule rules[GUARD_RESERVE_RULES_MAX];
    size_t count;
};

/* "Mon-Fri 07:00-19:00 = 5, 07:00-19:00 = 10%, else 1"; "5"; "10%"; "": none.  -EINVAL: err says
 * what of it; -E2BIG: more than GUARD_RESERVE_RULES_MAX. */
int guard_reserve_parse(const char *text, struct guard_reserve *ret, struct err *err);
/* Machines, by the first rule that fits at local_s (seconds since 1970, plus the zone's offset); a
 * share is rounded up.  0: none fits. */
int64_t guard_reserve_at(const struct guard_reserve *reserve, int64_t local_s, int64_t machines);

/* ---- how long a machine sleeps, as far as it is known */

#define GUARD_RESTS_MAX   8
#define GUARD_RESTS_LEAST 3

struct guard_rests { /* zero-initialized: none */
    int64_t seconds[GUARD_RESTS_MAX];
    size_t count; /* all that there ever were */
};
void guard_rests_add(struct guard_rests *rests, int64_t seconds); /* below 0: none */
/* The median of the last ones; -1: fewer than GUARD_RESTS_LEAST. */
int64_t guard_rests_expected_s(const struct guard_rests *rests);

/* Of a sleep that pays, at least so long; 0: nothing is known, or each one pays. */
int64_t guard_break_even_s(const struct energy_watts *watts, int64_t boot_s, double cycle_j);

/* ---- the judgement */

enum guard_kind {
    GUARD_NONE, /* it may */
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
const char *guard_kind_name(enum guard_kind kind); /* "Reserve" */

struct guard_order { /* what whoever asks has said */
    bool by_name;    /* somebody has ordered this machine to sleep */
    bool forced;     /* and said --force */
    bool override;   /* it may sleep although nothing is known that could wake it */
};

struct guard_ask { /* who asks, and what is known of it */
    struct guard_order order;
    bool granted;        /* it may already, and is counted */
    const char *unknown; /* why its state is not known; NULL: it is */
    bool can_wake;       /* there is a way */
    bool in_reserve;     /* it is one of the idle ones */
    int64_t up_s, idle_s;
    int64_t sleeps_today;
    int64_t expected_s;   /* how long it will sleep; -1: not known */
    int64_t break_even_s; /* 0: not known */
};

struct guard_pool {
    int64_t machines;
    int64_t down; /* asleep or going down */
    int64_t going_down;
    int64_t last_minute; /* that were told that they may */
    int64_t waiting;     /* that were told to ask again, since there were too many */
    int64_t idle;        /* awake and without work: the reserve */
    int64_t reserve;     /* that is wanted */
    int64_t age_s;       /* of the collector */
    int64_t since_young; /* machines that went down since it began, and still are */
};

struct guard_limits { /* 0: none, of all */
    int64_t min_up_s;
    double break_even; /* times what pays */
    int64_t per_day_max;
    int64_t min_age_s, young_max;
    int64_t down_max_percent;
    int64_t at_once_max, at_once_max_percent;
    int64_t per_minute_max;
    bool dry_run;
};

struct guard_verdict {
    enum guard_kind kind;
    int64_t again_s; /* it need not ask before */
    struct err why;  /* why not */
};
void guard_plan_judge(const struct guard_ask *ask, const struct guard_pool *pool,
                      const struct guard_limits *limits, struct guard_verdict *ret);

#endif
