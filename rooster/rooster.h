/* rooster/rooster.h - the daemon as a whole: what its files share.
 *
 * Each subject has a header of its own: nodes.h (what is known of a machine), seen.h, look.h,
 * choose.h, ways.h, wakes.h, sleeps.h and so on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ROOSTER_H
#define ROOSTER_ROOSTER_H

#include <stddef.h>
#include <stdint.h>

#include "base/daemon/daemon.h"
#include "base/vec.h"
#include "classad/ad_eval.h"
#include "rooster/choose.h"
#include "rooster/wake_plan.h"

struct ad_expr;
struct energy;
struct guards;
struct knob_table;
struct ledger;
struct loop_timer;
struct power;
struct relays;
struct strmap;
struct uplink;
struct watch;
struct wire_context;
struct wire_request;

/* Steps of one evaluation of UNHIBERNATE or of a rank in the ad of a machine: what takes more is
 * error, and the machine is not woken (classad/ad_eval.h). */
#define ROOSTER_STEPS_MAX 2000

struct rooster {
    struct daemon_env env;
    char name[256];
    struct wire_context *wires;
    struct uplink *uplink;
    struct watch *watch;
    struct power *power;
    struct ledger *ledger;
    struct relays *relays;
    struct energy *energy;
    struct guards *guards;
    struct strmap *nodes; /* Machine -> struct node */
    struct strmap *seen;  /* key of an ad -> struct seen */
    struct vec marked;    /* struct node: to be looked at */
    size_t machines;      /* of which there are ads */
    uint64_t looks;
    struct candidates candidates;
    struct ad_expr *unhibernate, *rank;
    struct loop_timer *look_timer, *interval_timer;
    uint64_t random_state;
    struct ad_work work;    /* of evaluating in ads of others */
    uint64_t configuration; /* counts reloads, from 1 */
    int64_t wakes, failures;
    struct wake_minute minute; /* when the last wakes were ordered */
    /* What the timers of a node begin: node_no_show(), still_up_again(). */
    void (*on_deadline)(void *node), (*on_ask)(void *node);
    uint64_t epoch, sequence;
};

extern const struct knob_table rooster_knobs;
extern const struct daemon rooster_daemon;

/* ---- serve.c */
void rooster_serve(void *rooster, struct wire_request *request);

#endif
