/* starter/starter.h - the process that runs one job at a time.
 *
 * A run goes through phases in order (enum starter_phase).  A step that a lost connection
 * interrupted is taken again by starter_go() on the next connection.
 *
 * A run that ended without incident leaves nothing behind, and the startd may keep the starter for
 * the claim's next job (STARTER_IDLE): a new process, its configuration and its handshake with the
 * shadow cost more than a short job.  A failed clean-up, a hold, a stop, a suspension or a gap of
 * the clock ends the process instead.  All that belongs to a run is in struct job_run and goes with
 * it, so that nothing of one job is there for the next.
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

#define STARTER_RECORD_BYTES ((size_t)16 << 20) /* largest file job.record that is read */

/* All timers belong to the run: none is set after its end. */
enum starter_timer {
    TIMER_WAKE,     /* job_run_wake() was called */
    TIMER_DIAL,     /* time to connect to the shadow */
    TIMER_LEASE,    /* the lease has ended: so must the job */
    TIMER_TICK,     /* time to look for jumps of the clock */
    TIMER_KILL,     /* the grace time after the soft signal is over */
    TIMER_TOLD,     /* the startd did not answer that the run is over */
    TIMER_BEGUN,    /* the job has run long enough to report its start */
    TIMER_DEFERRAL, /* time to start a deferred job */
    TIMER_WATCH,    /* time to measure what the job uses */
    TIMER_CKPT,     /* for checkpoints: next step, or a program takes too long */
    TIMER_LIVE,     /* time to look for new output of streams */
    TIMER_COUNT,
};

/* The process.  Only `run` changes with each job. */
struct starter {
    struct daemon_env env;
    struct wire_context *wires;
    struct uplink *startd;    /* the connection that is made again whenever it is lost */
    struct wire *shadow;      /* NULL while not connected */
    char *shadow_place;       /* address, route and pin of the shadow that `shadow` leads to */
    int64_t runs;             /* how many runs this process has begun */
    struct starter_nest nest; /* what is kept of the last run's directory */
    struct loop_timer *timers[TIMER_COUNT];
    struct job_run run; /* the run; all zero but its phase while idle */
};

extern const struct knob_table starter_knobs;
extern const struct daemon starter_daemon;

/* Takes the next step of the phase, and whatever the parts ask for meanwhile.  Does nothing while a
 * step is under way, or while a phase that needs the shadow has no connection. */
void starter_go(struct starter *starter);
/* Ends the run without a result: cleans up and tells the startd why. reason "": nothing is wrong,
 * and the claim continues. */
void starter_give_up(struct starter *starter, const char *reason);
/* Carries out an order to stop. fast: the job is killed; else it gets its soft signal, or a
 * checkpoint, and its grace time first.  An idle process ends. */
void starter_stop(struct starter *starter, bool fast);
/* Tell all parts of the run that the connection to the shadow was lost (starter_lose), or that a
 * new one is ready and unanswered messages must be repeated (starter_cut). */
void starter_lose(struct starter *starter);
void starter_cut(struct starter *starter);
/* Begins the run whose record lies in `directory`.  The process must be idle.  0, or -errno with
 * err filled. */
int starter_begin(struct starter *starter, const char *directory, struct err *err);
/* Forgets all of the run and waits for the claim's next job.  Called when the startd keeps the
 * process. */
void starter_rest(struct starter *starter);

#endif
