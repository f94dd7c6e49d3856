/* factory/factory.h - the daemon as a whole: what its files share.
 *
 * Floors: factory.c (wiring) calls orders.c, demand.c, publish.c and site.c; orders.c calls
 * site.c; demand.c and site.c call samples.c; all stand on glidein.c, pause.c, journal.c and the
 * plans.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_FACTORY_H
#define FACTORY_FACTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/daemon/daemon.h"
#include "base/loop.h"
#include "base/vec.h"

struct journal;
struct knob_table;
struct strmap;
struct uplink;
struct watch;
struct wire_context;

#define FACTORY_TAG_SIZE 5 /* 4 hex digits, and the terminating zero */

struct factory {
    struct daemon_env env;
    char name[48];
    char tag[FACTORY_TAG_SIZE]; /* of the pool, in the names of its glideins (factory.c) */
    struct wire_context *wires;
    struct uplink *uplink;
    struct watch *machines, *requests;
    struct journal *journal;
    struct strmap *sites;    /* name -> struct site */
    struct strmap *glideins; /* name -> struct glidein, of all sites */
    struct strmap *slots;    /* key of a live ad of a glidein -> struct slot (demand.c) */
    struct strmap *samples;  /* key of a sample in the collector -> struct sample */
    struct vec
        stranded; /* of struct stranded (factory.c): recorded glideins of sites without a section */
    struct strmap *pauses; /* name of a site -> struct pause */
    struct vec orders;     /* of struct order (orders.c): those that wait */
    struct strmap *shown;  /* key of an ad that was sent -> its text (publish.c) */
    struct loop_timer *look, *publish, *again, *interval, *orders_tick;
    /* time at which this process started, ms since 1970, and number of its last UPDATE */
    uint64_t epoch, sequence;
    int64_t started_ms; /* loop_now_ms() */
    /* for the lower floors: has the factory look soon what its sites are to be asked, and show what
     * has changed; has it send all ads again, soon */
    loop_f changed, repeat;
};

extern const struct knob_table factory_knobs;
extern const struct daemon factory_daemon;

#endif
