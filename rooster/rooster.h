/* rooster/rooster.h - the daemon as a whole: the struct that its files share.
 *
 * Each subject has a header of its own: nodes.h (what is known about a machine), seen.h (ads),
 * look.h (examining machines), choose.h, ways.h, wakes.h, sleeps.h and so on.
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
struct queue_asks;
struct relays;
struct strmap;
struct uplink;
struct watch;
struct wire_context;
struct wire_request;

/* Maximum number of steps (classad/ad_eval.h) of one evaluation of UNHIBERNATE or a rank in a
 * machine's ad.  An evaluation that takes more is an error, and the machine is not woken. */
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
    struct queue_asks *queue_asks;
    struct strmap *nodes; /* name of a machine -> struct node */
    struct strmap *seen;  /* key of an ad in `watch` -> struct seen */
    struct vec marked;    /* of struct node: machines that must be examined */
    size_t machines;      /* number of machines that have ads */
    uint64_t looks;       /* number of the last look at machines (look.c) */
    struct candidates candidates;
    struct ad_expr *unhibernate, *rank;
    struct loop_timer *look_timer, *interval_timer;
    uint64_t random_state;
    struct ad_work work;    /* counts steps of evaluating expressions in ads of machines */
    uint64_t configuration; /* number of configurations read, from 1 */
    /* WakesTotal and WakesFailed of the Rooster ad, counted since the rooster started */
    int64_t wakes, failures;
    struct wake_minute minute; /* counts the wake orders of the last minute */
    /* callbacks of the timers of a node: node_no_show(), still_up_again() and silence_ask() */
    void (*on_deadline)(void *node), (*on_ask)(void *node), (*on_silence)(void *node);
    /* time at which this process started, ms since 1970, and number of its last UPDATE; both are
     * sent with each UPDATE */
    uint64_t epoch, sequence;
    int64_t started_ms; /* loop_now_ms() */
    /* clock.c: wall time of the boot, as the clock was set when it was looked at last; 0: never */
    int64_t boot_wall_s;
};

extern const struct knob_table rooster_knobs;
extern const struct daemon rooster_daemon;

/* ---- serve.c */
/* Answers one request to the rooster, by its verb. */
void rooster_serve(void *rooster, struct wire_request *request);

#endif
