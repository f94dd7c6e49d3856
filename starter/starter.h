/* starter/starter.h - the process that runs one job at a time.
 *
 * A run goes through phases in order (enum starter_phase).  A step that a lost connection
 * interrupted is taken again by starter_go() on the next connection.
 *
 * A run that ended without incident leaves nothing behind, and the startd may keep the starter for
 * the claim's next job (STARTER_IDLE): a new process, its configuration and its handshake with the
 * shadow cost more than a short job.  A failed clean-up, a hold, a stop, a suspension or a jump of
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

#define STARTER_RECORD_BYTES ((size_t)16 << 20) /* most bytes of a file job.record */

/* What each of struct starter's timers is for.  All timers belong to the run: none is set after its
 * end. */
enum starter_timer {
    TIMER_WAKE,     /* fires in the next pass of the event loop after job_run_wake() */
    TIMER_DIAL,     /* time to connect to the shadow */
    TIMER_LEASE,    /* end of the lease: the job must end */
    TIMER_TICK,     /* time to check whether the clock has jumped */
    TIMER_KILL,     /* end of the grace time after the soft signal: kill the job */
    TIMER_TOLD,     /* the startd has not answered STARTER_DONE in time: this process ends */
    TIMER_BEGUN,    /* the job has run long enough to report its start */
    TIMER_AGAIN,    /* time to try again what the machine could not do: job_run_tries_again() */
    TIMER_DEFERRAL, /* time to start a deferred job */
    TIMER_WATCH,    /* time to measure what the job uses */
    /* time for the next step of a checkpoint, or a program for checkpoints takes too long */
    TIMER_CKPT,
    TIMER_LIVE, /* time to look for new bytes of standard streams (live.h) */
    TIMER_COUNT,
};

/* The starter's process.  Only `run` is cleared for each job. */
struct starter {
    struct daemon_env env;
    struct wire_context *wires;
    /* the connection to the startd, which is made again whenever it is lost */
    struct uplink *startd;
    struct wire *shadow; /* the connection to the shadow; NULL while not connected */
    /* address, route and pin of the shadow to which `shadow` is connected, owned */
    char *shadow_place;
    int64_t runs;             /* how many runs this process has begun */
    struct starter_nest nest; /* what is kept of the last run's directory and cgroup */
    struct loop_timer *timers[TIMER_COUNT];
    struct job_run run; /* the present run; while idle, all zero except its phase */
};

extern const struct knob_table starter_knobs;
extern const struct daemon starter_daemon;

/* Takes the next step of the run's phase, and then what parts of the run have asked for with
 * job_run_wake().  Does nothing while a step is under way, or while a phase that needs the shadow
 * has no connection. */
void starter_go(struct starter *starter);
/* Ends the run without a result: cleans up and tells the startd why. reason "": nothing is wrong,
 * and the claim continues. */
void starter_give_up(struct starter *starter, const char *reason);
/* Carries out an order to stop the run. fast: the job is killed; otherwise the job gets its soft
 * signal, or a last checkpoint is taken, and the job has its grace time to end.  A process without
 * a job ends. */
void starter_stop(struct starter *starter, bool fast);
/* Both tell all parts of the run about the connection to the shadow: starter_lose(), that it was
 * lost; starter_cut(), that a new one is ready and unanswered messages must be sent again. */
void starter_lose(struct starter *starter);
void starter_cut(struct starter *starter);
/* Begins the run whose file job.record is in `directory`.  The process must have no job.  Returns
 * 0; or -errno, with the reason in err. */
int starter_begin(struct starter *starter, const char *directory, struct err *err);
/* Called when the startd keeps the process for the claim's next job: clears the run and waits. */
void starter_rest(struct starter *starter);

#endif
