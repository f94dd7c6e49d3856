/* rooster/guards.h - answers startds that ask whether their machine may sleep; keeps the pool's
 * sums.
 *
 * A startd asks (POWER_DOWN_ASK) before its machine goes down.  A machine that gets the permission
 * counts as going down from then on, until it is down, but for at most ROOSTER_GOING_DOWN_TIME.  So
 * of a thousand machines that ask in the same second, the limits let only the allowed number sleep.
 * The permission is written to the ledger (a sleep without outcome) before the answer, and a
 * restarted rooster still counts it.
 *
 * Each machine's part of the sums is in its struct node_guard, and the sums are updated as machines
 * are examined.  So an answer costs the same however large the pool is.  guard_plan.h decides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_GUARDS_H
#define ROOSTER_GUARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rooster/energy_plan.h"
#include "rooster/guard_plan.h"
#include "rooster/wake_plan.h"

struct ad;
struct err;
struct node;
struct rooster;
struct wire;
struct wire_request;

enum guard_side { /* how a machine is counted in the pool's sums */
                  GUARD_NEITHER,
                  GUARD_IDLE,  /* awake and without work */
                  GUARD_DOWN,  /* asleep, or as good as asleep */
                  GUARD_GOING, /* on its way down; counted as down, too */
};

struct guard_counted { /* what a machine has added to the sums */
    enum guard_side side;
    bool is_coming; /* the machine will join the reserve when it is up */
    double most_w;  /* watts that it may draw at most in its present state */
};

struct guard_reserved { /* the machine's part in the reserve */
    bool spare;         /* asleep and allowed to be woken for the reserve, when last examined */
    bool reserving;     /* woken for the reserve and not used since */
    bool over_watts;    /* not woken for the reserve because of ROOSTER_MAX_WATTS */
    /* woken for the reserve: counts as idle until then, though it may not be idle yet */
    uint64_t joined_by_ms;
};

struct node_guard {           /* what the guards know of one machine */
    size_t slots, slots_idle; /* live slots, and idle ones among them, when last examined */
    struct guard_counted counted;
    struct guard_reserved reserve;
    struct energy_watts watts; /* draw of the machine, as of configuration number `configuration` */
    uint64_t configuration;    /* number of the configuration that watts was read from */
    /* Its sleeps. */
    uint64_t granted_until_ms;    /* the permission to sleep ends then; 0: none */
    struct wire_request *request; /* its POWER_DOWN_ASK, answered when the permission is durable */
    uint64_t down_in; /* number of the collector's connection in which it went down; 0: it is up */
    bool would_sleep; /* the machine would sleep without ROOSTER_DRY_RUN */
    struct wake_day sleeps;   /* its sleeps of the last 24 hours */
    struct guard_rests rests; /* how long its sleeps were */
    int64_t slept_s; /* time at which it fell asleep, seconds since 1970; 0: awake or not known */
};

#define GUARD_RESERVE_WHY "one more idle machine is to be awake (ROOSTER_RESERVE)"

struct guards;

struct guards *guards_create(struct rooster *rooster);
void guards_destroy(struct guards *guards); /* NULL is allowed */
/* Reads ROOSTER_RESERVE.  Returns 0; or -EINVAL or -E2BIG, and everything stays as it was. */
int guards_configure(struct guards *guards, struct err *err);
/* Call it at each new connection to the collector: asks how long the collector has been running. */
void guards_connected(struct guards *guards, struct wire *wire);

/* Answers a POWER_DOWN_ASK. */
void guards_ask(struct rooster *rooster, struct wire_request *request);
/* Only decides such a request and changes nothing.  args: the request's arguments. */
void guards_judge(struct node *node, const struct ad *args, struct guard_verdict *ret);
/* Returns whether the machine has a permission to sleep that is still valid. */
bool guards_granted(const struct node *node);

/* ---- look.c, nodes.c: report what they see of a machine */
void guards_see_live(struct node *node, const struct ad *slot);
/* decides whether it may be a spare machine of the reserve */
void guards_see_offline(struct node *node, const struct ad *slot);
void guards_count(struct node *node); /* call it when its facts are known, or its state changed */
void guards_slept(struct node *node); /* call it when the machine is down */
void guards_woken(struct node *node); /* call it when the machine is about to be woken */
void guards_up(struct node *node);
/* Call it at the start for each record of the ledger, oldest first. */
void guards_recall(struct node *node, const struct ad *record);

/* ---- choose.c */
/* Returns how many idle machines the reserve still lacks, besides those that are coming; below 0:
 * it has more than enough. */
int64_t guards_missing(const struct rooster *rooster);
/* Returns how many watts the pool may draw in addition; INFINITY: no limit. */
double guards_watts_left(const struct rooster *rooster);
double guards_extra_w(struct node *node); /* additional watts when it is woken */

/* sets the sums in the Rooster ad */
void guards_write(const struct rooster *rooster, struct ad *ad);
void guards_write_node(const struct node *node, struct ad *ad);

#endif
