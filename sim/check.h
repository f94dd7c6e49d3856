/* sim/check.h - the promises that must always hold in a simulated pool, checked at every step.
 *
 * The judge sees what can be seen from outside: which job processes run where, which programs ask
 * for wakes and power-offs, what messages promise, which files appear, what queries answer.  It
 * keeps its own record of every job and machine and compares.  The first broken promise ends the
 * run.
 *
 * - claim_matched_twice: one life of a negotiator gives a claim id to schedds twice (within
 *   MATCH_MEMORY_US);
 * - claim_used_twice: a schedd accepts one claim id for two claims;
 * - slot_shared: two jobs run at the same time in one slot;
 * - slot_overcommitted: the jobs that run on a machine were given more CPUs than it has, or its
 *   slot says that its pieces are larger than the slot;
 * - job_twice: one job runs twice at the same time (a stopped process does not run);
 * - result_twice: the schedd accepts results of one job under two epochs;
 * - result_wrong: a job's output at its destination is not what the job wrote;
 * - job_lost: an acknowledged job is neither in the queue nor in the history;
 * - job_unfinished: a job is not completed although the last faults were long enough ago;
 * - offline_lost: an acknowledged offline ad of a sleeping machine is not in the collector;
 * - wake_without_demand: a wake is ordered although no job waited for a machine for
 *   WAKE_TOLERANCE_US;
 * - off_while_claimed: a machine is ordered to go down while a job runs on it;
 * - taken_back_often: jobs take a machine back from its way to sleep more than twice within a
 * minute (a startd that was killed meanwhile counts anew);
 * - never_sleeps: the work was done long ago, and a machine is still on;
 * - not_frames: something was sent that is not a frame of the protocol;
 * - duration_wrong: an ad or a request for permission to sleep says that a machine is up, a slot is
 *   in its state, or a job runs for longer than this is possible, or for less than nothing,
 *   whatever the wall clocks say;
 * - submit_refused: the schedd refused a valid submission;
 * - queue_unknown: the queue contains a job that nobody submitted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct ad;
struct client_events;
struct judge;
struct tap;

/* How long it may take until the rooster knows that no work is waiting: a negotiation under way, a
 * match that is not used or given up yet (MATCH_TIMEOUT and the like), or a wake that waits because
 * of the limit of simultaneous wakes. */
#define WAKE_TOLERANCE_US (120 * SIM_S)

/* How long a machine that stood still (sim_host_suspend()) may take to notice that time has
 * passed. */
#define RESUME_TOLERANCE_US (2 * SIM_S)

/* The time for which a negotiator must not give the claim id of a match again.  Shorter than the
 * time after which a negotiator gives it again when the slot's ad does not show the match (2 s,
 * docs/protocol/claim.md). */
#define MATCH_MEMORY_US (1900 * SIM_MS)

struct judge_options {
    unsigned jobs;
    const char *output_directory; /* directory of the jobs' output on the central machine */
    const char *central;          /* name of the central machine */
    /* another tap (tap.h), which also receives all bytes sent; may be NULL */
    struct tap *tap;
    unsigned awake_max; /* number of machines that may stay awake at the end */
    /* Returns whether text is the correct output of the job.  NULL: the output is the job's number
     * and a newline. */
    bool (*is_output)(void *arg, unsigned number, const char *text);
    /* Called for each job ad that an audit (a query of queue and history) returns.  began_us: time
     * when the query was sent; number: number of the job.  May be NULL. */
    void (*job_seen)(void *arg, uint64_t began_us, unsigned number, const struct ad *ad);
    /* Returns whether an administrator took job `number` away from a machine that did not answer;
     * the job may then still run on that machine until the claim lease ends.  NULL: never. */
    bool (*is_taken_away)(void *arg, unsigned number);
    /* Returns whether job `number` need not be there, nor be completed: its row was damaged.  NULL:
     * never. */
    bool (*is_excused)(void *arg, unsigned number);
    /* Returns whether the machine may be woken without a job.  NULL: never. */
    bool (*is_ordered)(void *arg, const struct sim_host *host);
    void *arg;
};
struct judge *judge_create(const struct judge_options *options);
void judge_destroy(struct judge *judge); /* NULL is allowed */
/* Call after sim_create(), before anything runs. */
void judge_attach(struct judge *judge, struct sim *sim);
/* sets *observer to callbacks that report to the judge; the judge must outlive the run */
void judge_observe(struct judge *judge, struct sim_observer *observer);
void judge_listen(struct judge *judge, struct client_events *events);

/* Returns "" while all promises hold; otherwise "NAME: what happened", with the promise's name. */
const char *judge_verdict(const struct judge *judge);
/* Tells the judge of a broken promise that the caller has found; judge_verdict() returns the first
 * broken promise of the run. */
void judge_broken(struct judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the number of jobs that wait for a machine. */
unsigned judge_waiting(const struct judge *judge);
/* Returns whether job `number` waits for a machine. */
bool judge_job_waits(const struct judge *judge, unsigned number);
bool judge_all_completed(const struct judge *judge);
unsigned judge_completed(const struct judge *judge);
unsigned judge_wakes(const struct judge *judge);
unsigned judge_runs(const struct judge *judge); /* number of job processes started */
unsigned judge_audits(const struct judge *judge);
/* number of job processes started in dynamic slots */
unsigned judge_pieces(const struct judge *judge);
/* Returns how often a machine that was going to sleep stayed awake because the rooster asked it to.
 */
unsigned judge_reclaims(const struct judge *judge);
/* number of claims that were ended by preemption */
unsigned judge_preemptions(const struct judge *judge);
/* Call at the end: checks that everything that should be done by now is done. */
void judge_finish(struct judge *judge);

#endif
