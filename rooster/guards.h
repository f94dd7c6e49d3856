/* rooster/guards.h - answers startds that ask whether their machine may sleep; counts how many
 * machines of the pool are idle, down or going down.
 *
 * A startd asks (POWER_DOWN_ASK) before its machine goes down.  A machine that gets the permission
 * counts as going down from then on, until it is down, but for at most ROOSTER_GOING_DOWN_TIME.  So
 * of a thousand machines that ask in the same second, the limits let only the allowed number sleep.
 * The permission is written to the ledger (a sleep with the outcome "Started") before the answer,
 * and a restarted rooster still counts it.
 *
 * The counts are updated when machines are examined; the struct node_guard of a machine says what
 * the machine has added to them.  So an answer costs the same however large the pool is.
 * guard_plan.h decides.
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
                  GUARD_DOWN,  /* asleep, or going down with the rooster's permission or order */
                  GUARD_GOING, /* going down; such a machine is counted as down, too */
};

struct guard_counted { /* what a machine has added to the pool's sums */
    enum guard_side side;
    bool is_coming; /* the machine will join the reserve when it is up */
    double most_w;  /* watts that the machine may draw at most in its present state */
};

struct guard_reserved { /* the machine's part in the reserve */
    bool spare;         /* when last examined, asleep and allowed to be woken for the reserve */
    bool reserving;     /* the machine was woken for the reserve and had no job since */
    /* the machine would be woken (for jobs, by name, or for the reserve), but then the pool would
     * exceed ROOSTER_MAX_WATTS */
    bool over_watts;
    /* until this time, a machine that was woken for the reserve counts as idle even if it is not
     * idle yet */
    uint64_t joined_by_ms;
};

struct node_guard {           /* what the guards know about one machine */
    size_t slots, slots_idle; /* number of live slots, and of idle slots, when last examined */
    struct guard_counted counted;
    struct guard_reserved reserve;
    struct energy_watts watts; /* what the machine draws in each state, by energy_find_watts() */
    /* number of the configuration (struct rooster) from which `watts` was read; 0: not read yet */
    uint64_t configuration;
    /* these members are about the machine's sleeps */
    uint64_t granted_until_ms; /* the permission to sleep ends at this time; 0: none */
    /* POWER_DOWN_ASK, to be answered when the permission is durable */
    struct wire_request *request;
    /* serial number of the rooster's connection to the collector that existed when the machine went
     * down; 0: the machine is up */
    uint64_t down_in;
    bool would_sleep; /* the machine would be allowed to sleep if ROOSTER_DRY_RUN were not set */
    struct wake_day sleeps;   /* sleeps of the last 24 hours */
    struct guard_rests rests; /* lengths of the last sleeps */
    int64_t slept_s; /* time at which the machine went to sleep, seconds since 1970; 0: awake or not
                        known */
};

#define GUARD_RESERVE_WHY "one more idle machine is to be awake (ROOSTER_RESERVE)"

struct guards;

struct guards *guards_create(struct rooster *rooster);
void guards_destroy(struct guards *guards); /* NULL is allowed */
/* Reads ROOSTER_RESERVE.  Returns 0; -EINVAL: its value is not valid, or -E2BIG: it has too many
 * rules, and the reserve is then unchanged. */
int guards_configure(struct guards *guards, struct err *err);
/* Asks the collector how long it has been running.  To be called at each new connection to the
 * collector; wire: the connection. */
void guards_connected(struct guards *guards, struct wire *wire);

/* Answers a POWER_DOWN_ASK, by which a startd asks whether its machine may sleep. */
void guards_ask(struct rooster *rooster, struct wire_request *request);
/* Writes to *ret what the answer to a POWER_DOWN_ASK with the arguments args would be.  Changes
 * nothing else. */
void guards_judge(struct node *node, const struct ad *args, struct guard_verdict *ret);
/* Returns whether the machine has a permission to sleep that is still valid. */
bool guards_granted(const struct node *node);

/* ---- for look.c and nodes.c: these functions take reports about a machine */
/* Reports a live ad of the machine: counts the slot as live, and as idle if the slot is
 * Unclaimed. */
void guards_see_live(struct node *node, const struct ad *slot);
/* Reports an offline ad of the machine, and decides by the ad whether the machine may be woken for
 * the reserve. */
void guards_see_offline(struct node *node, const struct ad *slot);
/* Updates the machine's part in the pool's sums.  To be called when its ads were read, or its state
 * has changed. */
void guards_count(struct node *node);
/* Notes the time at which the machine went to sleep.  To be called when the machine is down. */
void guards_slept(struct node *node);
/* Ends the machine's permission to sleep, and adds the length of its sleep to the lengths of its
 * last sleeps if jobs end this sleep.  To be called when the machine is about to be woken. */
void guards_woken(struct node *node);
/* Notes that the machine is up.  To be called when a live ad of the machine is there. */
void guards_up(struct node *node);
/* Reads from a record of the ledger when the machine slept, and whether it has a permission to
 * sleep.  To be called when the rooster starts, for each record, the oldest first. */
void guards_recall(struct node *node, const struct ad *record);

/* ---- for choose.c, which chooses the machines to wake */
/* Returns how many idle machines are missing for the reserve, if machines that are being woken are
 * counted as idle; below 0: there are more than enough.  0 if the size of the reserve is not
 * known. */
int64_t guards_missing(struct rooster *rooster);
/* Returns by how many watts the highest possible draw of the pool in its present state is below
 * ROOSTER_MAX_WATTS; below 0: it is above; INFINITY: no limit. */
double guards_watts_left(const struct rooster *rooster);
/* Returns by how many watts the machine's highest possible draw grows when it is woken. */
double guards_extra_w(struct node *node);

/* Sets the pool's sums in the Rooster ad. */
void guards_write(struct rooster *rooster, struct ad *ad);
void guards_write_node(const struct node *node, struct ad *ad);

#endif
