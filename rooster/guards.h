/* rooster/guards.h - who may go to sleep, and how many are to be awake: guard_plan.h over the pool
 * as it is.
 *
 * A startd asks (POWER_DOWN_ASK) before its machine goes down.  Who may is counted as going down at
 * once, until it is down, for at most ROOSTER_GOING_DOWN_TIME; so a thousand that ask in one second
 * find the limits used up by each other.  The permission is in the ledger before it is answered (a
 * sleep without outcome), and a rooster that is started again counts it on.
 *
 * What is counted of a machine stands with it (struct node_guard), and the sums are kept as
 * machines are looked at: an answer costs the same whatever the size of the pool.
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

enum guard_side { /* on which side of the pool's sums a machine stands */
                  GUARD_NEITHER,
                  GUARD_IDLE,  /* awake and without work */
                  GUARD_DOWN,  /* asleep, or as good as that */
                  GUARD_GOING, /* on its way down, and counted as down, too */
};

struct guard_counted { /* what it counts for in the sums */
    enum guard_side side;
    bool is_coming; /* to the reserve */
    double most_w;  /* that it may draw now */
};

struct guard_reserved {    /* its part in the reserve */
    bool spare;            /* asleep, and may be woken for it: a fact of the last look */
    bool reserving;        /* it is woken for it, or was, and has not been used since */
    bool over_watts;       /* it would be woken, but for ROOSTER_MAX_WATTS */
    uint64_t joined_by_ms; /* up for the reserve, it counts so long though it may not be idle */
};

struct node_guard {           /* of one machine */
    size_t slots, slots_idle; /* of its live ads: facts of the last look */
    struct guard_counted counted;
    struct guard_reserved reserve;
    struct energy_watts watts;
    uint64_t configuration; /* that watts is of */
    /* its sleeps */
    uint64_t granted_until_ms;    /* it may go to sleep; 0: it did not ask, or it is over */
    struct wire_request *request; /* POWER_DOWN_ASK, answered when that is durable */
    uint64_t down_in; /* it went down in that connection to the collector; 0: it is up */
    bool would_sleep; /* but for ROOSTER_DRY_RUN */
    struct wake_day sleeps;
    struct guard_rests rests;
    int64_t slept_s; /* when it last went to sleep; 0: not known, or it is awake */
};

#define GUARD_RESERVE_WHY "one more idle machine is to be awake (ROOSTER_RESERVE)"

struct guards;

struct guards *guards_create(struct rooster *rooster);
void guards_destroy(struct guards *guards); /* NULL is allowed */
/* Reads ROOSTER_RESERVE; -EINVAL, -E2BIG: all is as before. */
int guards_configure(struct guards *guards, struct err *err);
void guards_connected(struct guards *guards, struct wire *wire); /* how old is the collector? */

void guards_ask(struct rooster *rooster, struct wire_request *request);
/* The answer to such a question, and nothing else. */
void guards_judge(struct node *node, const struct ad *args, struct guard_verdict *ret);
/* May it go to sleep, by an earlier answer? */
bool guards_granted(const struct node *node);

/* look.c, nodes.c: what is seen of a machine */
void guards_see_live(struct node *node, const struct ad *slot);
void guards_see_offline(struct node *node, const struct ad *slot); /* is it a spare one? */
void guards_count(struct node *node); /* its facts are known, or it changed its state */
void guards_slept(struct node *node); /* it is down */
void guards_woken(struct node *node); /* it is to be woken */
void guards_up(struct node *node);
/* From the ledger, oldest first, at start. */
void guards_recall(struct node *node, const struct ad *record);

/* choose.c */
/* Idle machines that are to be awake and neither are nor come; below 0: more than enough. */
int64_t guards_missing(const struct rooster *rooster);
/* What may yet be drawn more; INFINITY: there is no limit. */
double guards_watts_left(const struct rooster *rooster);
double guards_extra_w(struct node *node); /* that it draws when it is woken */

void guards_write(const struct rooster *rooster, struct ad *ad); /* into the Rooster ad */
void guards_write_node(const struct node *node, struct ad *ad);

#endif
