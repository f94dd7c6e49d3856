/* sim/check.h - what must always be true of a simulated pool, judged at every step.
 *
 * The judge sees what the machines see from outside: which job processes run where, which programs
 * ask for wakes and power-offs, what is promised in messages, which files appear, what queries
 * answer.  It keeps its own account of every job and every machine and compares.  The first broken
 * promise ends the run.
 *
 *   claim_matched_twice   one negotiator life gives a claim id to schedds twice (within
 * MATCH_MEMORY_US) claim_used_twice      a schedd accepts one claim id for two claims slot_shared
 * two jobs run at once in one slot slot_overcommitted    the jobs that run on a machine were given
 * more CPUs than it has, or its slot says that its pieces are larger than it job_twice one job runs
 * twice at one time (a stopped process does not run) result_twice          the schedd accepts
 * results of one job under two epochs result_wrong          a job's output at its destination is
 * not what the job wrote job_lost an acknowledged job is neither in the queue nor in the history
 * job_unfinished        the calm after the storm was long enough, and a job is not completed
 * offline_lost          an acknowledged offline ad of a sleeping machine is not in the collector
 * wake_without_demand   a wake is ordered though for WAKE_TOLERANCE no job waited for a machine
 * off_while_claimed     a machine is ordered to go down while a job runs on it never_sleeps the
 * work is long done, and a machine is still on not_frames            something that is no frame of
 * the protocol was sent submit_refused the schedd refused a right submission queue_unknown the
 * queue holds a job that nobody submitted
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

/* How long the news that there is no work may take to reach the rooster: a negotiation that was
 * under way, a hold of a match (MATCH_TIMEOUT and its like), a wake that waits for a place among
 * those at once. */
#define WAKE_TOLERANCE_US (120 * SIM_S)

/* How long a machine that stood still may take to see that time has passed. */
#define RESUME_TOLERANCE_US (2 * SIM_S)

/* A match that came to nothing is forgotten then: claim.md says 150 s. */
#define MATCH_MEMORY_US (149 * SIM_S)

struct judge_options {
    unsigned jobs;
    const char *output_directory; /* of the jobs, on the central machine */
    const char *central;          /* that machine */
    struct tap *tap;              /* another one to be given all bytes; may be NULL */
    unsigned awake_max;           /* so many may stay awake in the end */
    /* Is that what the job writes?  NULL: its number, and a newline. */
    bool (*is_output)(void *arg, unsigned number, const char *text);
    /* An audit shows that job so.  May be NULL. */
    void (*job_seen)(void *arg, uint64_t began_us, unsigned number, const struct ad *ad);
    /* Was that job taken away from a machine that could not be asked, by hand?  Then it may run
     * there until the lease is over.  NULL: none was. */
    bool (*is_taken_away)(void *arg, unsigned number);
    /* May that machine be woken without a job?  NULL: none may. */
    bool (*is_ordered)(void *arg, const struct sim_host *host);
    void *arg;
};
struct judge *judge_create(const struct judge_options *options);
void judge_destroy(struct judge *judge); /* NULL is allowed */
/* After sim_create(), before anything runs. */
void judge_attach(struct judge *judge, struct sim *sim);
void judge_observe(struct judge *judge, struct sim_observer *observer); /* fills it in */
void judge_listen(struct judge *judge, struct client_events *events);

/* "" while all is well; else "name: what happened". */
const char *judge_verdict(const struct judge *judge);
/* Another promise that was broken: the first counts. */
void judge_broken(struct judge *judge, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
unsigned judge_waiting(const struct judge *judge);                /* jobs, for a machine */
bool judge_job_waits(const struct judge *judge, unsigned number); /* that one does */
bool judge_all_completed(const struct judge *judge);
unsigned judge_completed(const struct judge *judge);
unsigned judge_wakes(const struct judge *judge);
unsigned judge_runs(const struct judge *judge); /* job processes that were started */
unsigned judge_audits(const struct judge *judge);
unsigned judge_pieces(const struct judge *judge);      /* job processes in dynamic slots */
unsigned judge_reclaims(const struct judge *judge);    /* machines taken back on their way down */
unsigned judge_preemptions(const struct judge *judge); /* claims that ended for a better one */
/* The end: everything that should have been done by now has been. */
void judge_finish(struct judge *judge);

#endif
