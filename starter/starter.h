/* starter/starter.h - the process that runs one job at a time.
 *
 * One process for one run of one job at a time.  It goes through phases in order; what a phase
 * still has to do can be begun again from scratch after a lost connection (starter_go()).
 *
 * A run that ended as it should leaves nothing behind, and the startd may keep the starter for the
 * claim's next job (STARTER_IDLE): a new process, its configuration and its handshake with the
 * shadow cost more than a short job.  Whatever was odd about a run ends its starter: a failed
 * clean-up, a hold, a stop, a suspension, a gap of the clock.  What is a run's is in struct job_run
 * and gone with it, so that nothing of one job is there for the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_STARTER_H
#define STARTER_STARTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/daemon/daemon.h"
#include "starter/job_run.h"
#include "starter/job/nest.h"

struct err;
struct knob_table;
struct loop_timer;
struct uplink;
struct wire;
struct wire_context;

#define STARTER_RECORD_BYTES ((size_t)16 << 20)

/* All are the run's: none is set when it has ended. */
enum starter_timer {
    TIMER_WAKE, /* set: something is due */
    TIMER_DIAL,
    TIMER_LEASE,
    TIMER_TICK,
    TIMER_KILL,
    TIMER_TOLD, /* the startd was told of the run's end, and does not answer */
    TIMER_BEGUN,
    TIMER_DEFERRAL,
    TIMER_WATCH,
    TIMER_CKPT,
    TIMER_LIVE,
    TIMER_COUNT,
};

struct starter {
    struct daemon_env env;
    struct wire_context *wires;
    struct uplink *startd;
    struct wire *shadow; /* NULL while not connected */
    char *shadow_place;  /* where that one leads, and whom it trusts there */
    int64_t runs;        /* that this process has begun */
    struct starter_nest nest;
    struct loop_timer *timers[TIMER_COUNT];
    struct job_run run;
};

extern const struct knob_table starter_knobs;
extern const struct daemon starter_daemon;

/* Does what the phase needs next, if nothing is under way and the way is open. */
void starter_go(struct starter *starter);
/* The run is over without a result: cleans up and tells the startd why ("": the claim goes on). */
void starter_give_up(struct starter *starter, const char *reason);
void starter_stop(struct starter *starter, bool fast);
/* All parts of the run are told that the connection to the shadow is lost; that it is another. */
void starter_lose(struct starter *starter);
void starter_cut(struct starter *starter);
/* Begins the run whose record is in that directory. */
int starter_begin(struct starter *starter, const char *directory, struct err *err);
/* The startd keeps us: all of the run is forgotten. */
void starter_rest(struct starter *starter);

#endif
