/* schedd/requests/job_autocluster.h - autoclusters: groups of jobs that are alike for matching, and
 * the order of their idle jobs.
 *
 * Each autocluster keeps its idle jobs in a heap ordered by schedd_plan_before(), so to find the
 * next job for a match costs O(log n).  The ids of autoclusters are stored in the rows of their
 * jobs, so that they mean the same to the negotiator after a restart of the schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_JOB_AUTOCLUSTER_H
#define SCHEDD_REQUESTS_JOB_AUTOCLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct job;
struct owner;
struct schedd;
struct strmap;
struct submitter;

struct autocluster {
    int64_t id;
    char *key; /* the key that autocluster_plan_key() makes for each of its jobs */
    struct owner *owner;
    struct submitter *submitter; /* whom the negotiator charges for the autocluster's jobs */
    double weight;               /* RequestCpus of one job; all its jobs have the same */
    struct strmap *names;        /* significant attributes of its jobs */
    struct job **heap;           /* the idle jobs, best first */
    uint32_t idle_count, idle_capacity;
    uint32_t jobs;   /* number of its jobs, idle or not */
    uint32_t claims; /* number of claims that use the autocluster (autocluster_hold()) */
    /* struct job: jobs with a claim that waits until another job has left the slot (CLAIM_WAITING);
     * the negotiator may give these jobs a free slot instead */
    struct vec waiting;
    bool published; /* the collector has its request ad */
    bool dirty;     /* the request ad must be sent (again) or withdrawn */
    /* why some of its jobs got no slot, as a negotiator said last, and that negotiator's name;
     * NULL: not known */
    char *rejected_why, *rejected_by;
    int64_t rejected_s; /* when rejected_why was set: seconds since 1970 */
};

/* Makes the empty tables of autoclusters and submitters.  To be called before the queue is
 * loaded. */
void autoclusters_init(struct schedd *schedd);
void autoclusters_fini(struct schedd *schedd);

/* Puts the job into its autocluster, which is made when needed.  wanted_id: the id that the
 * autocluster had before a restart, used if it is free; 0 for none. */
void autocluster_join(struct schedd *schedd, struct job *job, int64_t wanted_id);
/* Takes the job out of its autocluster.  The job must not be idle.  Frees an autocluster that
 * nothing needs any more. */
void autocluster_leave(struct schedd *schedd, struct job *job);

/* autocluster_push() adds a job that became idle to the autocluster's heap, in the order of PRIO;
 * autocluster_pull() removes the job from the heap; its by_claim is true when the job got a claim,
 * so that the collector need not be told of the changed count at once. */
void autocluster_push(struct schedd *schedd, struct job *job);
void autocluster_pull(struct schedd *schedd, struct job *job, bool by_claim);
/* Returns the idle job to run first; NULL: no job is idle. */
struct job *autocluster_best(const struct autocluster *autocluster);
/* Puts the job into autocluster->waiting (waits) or takes it out, and lets the request ad be sent
 * again. */
void autocluster_waits(struct schedd *schedd, struct autocluster *autocluster, struct job *job,
                       bool waits);
struct autocluster *autocluster_find(const struct schedd *schedd, int64_t id);
/* Notes that some of the autocluster's jobs got no slot now; why "": that nothing is in their way
 * any more.  by: the negotiator's name.  Long texts are cut. */
void autocluster_rejected(struct schedd *schedd, struct autocluster *autocluster, const char *why,
                          const char *by);

/* Notes that the negotiator looks at this attribute: autoclusters that are made from now on take it
 * into account.  Returns true; or false, and changes nothing, when the attribute was noted already,
 * can never matter, or too many attributes are noted. */
bool autoclusters_learn(struct schedd *schedd, const char *name);
/* To be called after new names were learned: moves jobs that have one of these attributes into the
 * autoclusters where they now belong.  Returns the number of these jobs.  Takes time in proportion
 * to all jobs in the queue. */
size_t autoclusters_divide(struct schedd *schedd, const char *const *names, size_t count);

/* To be called after attributes of the job changed: puts it into the autocluster where it now
 * belongs, at the place of its present PRIO. */
void autocluster_rejoin(struct schedd *schedd, struct job *job);

/* autocluster_hold() keeps the autocluster in memory until the matching autocluster_release(), even
 * without jobs.  A claim does this, so that it can be reused when the autocluster gets another
 * job. */
void autocluster_hold(struct autocluster *autocluster);
void autocluster_release(struct schedd *schedd, struct autocluster *autocluster);
/* Frees the autocluster if it has no jobs, no claims and no request ad in the collector.  To be
 * called after its request ad was withdrawn. */
void autocluster_sweep(struct schedd *schedd, struct autocluster *autocluster);

#endif
