/* startd/startd_state.h - the struct that the files of the startd share.
 *
 * There is one struct startd in a process.  Its parts are declared, and explained, in the headers
 * of their files.  A claim that has lost its slot stays in the list `claims` until its schedd knows
 * of its end, or its lease is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_STATE_H
#define STARTD_STARTD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/daemon/daemon.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "startd/sleep/adapter.h"
#include "startd/advertise_due.h"
#include "startd/claim/claim_record.h"
#include "startd/draining_facts.h"
#include "startd/sleep/farewell.h"
#include "startd/machine/figures.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate_look.h"
#include "startd/owner/idle_hint.h"
#include "startd/claim/job_ckpt.h"
#include "startd/keep.h"
#include "startd/sleep/permit.h"
#include "startd/sleep/reclaim.h"
#include "startd/slot/slot_fixed.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/starters.h"

#define STARTD_TRIM_MS 1000 /* after the start of a job, if no other one starts */

struct ad;
struct loop_timer;
struct meter;
struct power;
struct slot;
struct store;
struct transfer_plugins;
struct uplink;
struct wire_context;

enum startd_stopping {
    STARTD_STAYS, /* not told to stop; this is 0, the others count as true */
    STARTD_LEAVES_JOBS,
    STARTD_ENDS_JOBS,
    STARTD_GOES_DOWN, /* its machine goes down: ends jobs, and leaves offline ads */
};

struct startd {
    struct daemon_env env;
    struct draining draining;
    struct figures figures;
    struct slot_fixed fixed;
    struct adapter adapter;
    struct hibernate_look look;
    struct reclaim reclaim;
    struct idle_hint idle_hint;
    struct keep keep;
    struct meter *meter;
    struct permit permit;
    struct going_down down;
    struct farewell farewell;
    struct job_ckpt_probed probed;
    struct division division;
    struct starters starters;
    struct claim_memory claim_memory;
    struct startd_eval eval;
    struct advertise_due due;
    struct advertise_sent sent;
    struct os_machine machine;
    struct ad *opsys; /* attributes of the operating system, see opsys_plan.h */
    char name[256];   /* name of the machine, the attribute Machine */
    char uplink[300]; /* name of the startd's connection to the collector: "startd/<name>" */
    struct wire_context *wires;
    struct uplink *collector;
    struct store *store;
    struct power *power;
    struct transfer_plugins *plugins; /* the programs that fetch URLs on this machine */
    struct vec claims;                /* struct claim: all claims, owned */
    /* all slots: first the configured ones, then the dynamic slots */
    struct slot **slots;
    size_t slot_count;
    size_t machine_slots; /* how many of `slots` are configured, not dynamic */
    struct startd_poll {  /* looks at the machine */
        struct loop_timer *timer;
        bool rests; /* the next look is later than POLLING_INTERVAL: see policy_poll() */
    } poll;
    /* Limits how long a stopping startd waits for its jobs to end; NULL: the startd is not
     * stopping. */
    struct loop_timer *stop_timer;
    /* When set to 0 ms, ends the startd in the next pass of the event loop, as if it had been told
     * to stop. */
    struct loop_timer *end_timer;
    enum startd_stopping stopping;
    /* the startd was started with -asleep: it only sends offline ads of the machine, then ends */
    bool asleep;
    /* Moments of loop_now_ms(): when the startd started, and when a slot was last matched; 0:
     * never. */
    int64_t started_ms, last_match_ms;
};

#endif
