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

struct job;
struct owner;
struct schedd;
struct strmap;
struct submitter;

struct autocluster {
    int64_t id;
    char *key; /* text that its jobs have in common: autocluster_plan.h */
    struct owner *owner;
    struct submitter *submitter; /* whom the negotiator charges for its jobs: submitters.h */
    double weight;               /* RequestCpus of one of its jobs */
    struct strmap *names;        /* significant attributes of its jobs */
    struct job **heap;           /* the idle jobs, best first */
    uint32_t idle_count, idle_capacity;
    uint32_t jobs;   /* its jobs, idle or not */
    uint32_t claims; /* how often it is held (autocluster_hold()) */
    bool published;  /* the collector has its request ad */
    bool dirty;      /* the request ad must be sent (again) or withdrawn */
    /* why some of its jobs got no slot when the negotiator last looked, and the name of that
     * negotiator; NULL: not known */
    char *rejected_why, *rejected_by;
    int64_t rejected_s; /* wall clock of that rejection */
};

void autoclusters_init(struct schedd *schedd); /* call before the queue is loaded */
void autoclusters_fini(struct schedd *schedd);

/* Puts the job into its autocluster, which is made when needed.  wanted_id: the id that the
 * autocluster had before a restart, used if it is free; 0 for none. */
void autocluster_join(struct schedd *schedd, struct job *job, int64_t wanted_id);
/* Takes the job out of its autocluster; it must not be among the idle ones.  May free the
 * autocluster. */
void autocluster_leave(struct schedd *schedd, struct job *job);

/* autocluster_push() adds a job that became idle to the heap, at the place of its PRIO;
 * autocluster_pull() takes it out.  by_claim: it got a claim, so the changed count of idle jobs
 * need not be told at once. */
void autocluster_push(struct schedd *schedd, struct job *job);
void autocluster_pull(struct schedd *schedd, struct job *job, bool by_claim);
struct job *autocluster_best(const struct autocluster *autocluster); /* its first idle job */
struct autocluster *autocluster_find(const struct schedd *schedd, int64_t id);
/* Notes that some of the autocluster's jobs got no slot now.  by: the negotiator's name.  Long
 * texts are cut. */
void autocluster_rejected(struct schedd *schedd, struct autocluster *autocluster, const char *why,
                          const char *by);

/* Notes that the negotiator looks at this attribute: autoclusters that are made from now on take it
 * into account.  False when that was known already, or the attribute cannot matter, or too many are
 * known. */
bool autoclusters_learn(struct schedd *schedd, const char *name);
/* To be called after new names were learned: jobs that have one of these attributes go into the
 * autoclusters where they now belong.  Returns the number of these jobs.  O(jobs). */
size_t autoclusters_divide(struct schedd *schedd, const char *const *names, size_t count);

/* To be called after attributes of the job changed: puts it into the autocluster where it now
 * belongs, at the place of its present PRIO. */
void autocluster_rejoin(struct schedd *schedd, struct job *job);

/* autocluster_hold() keeps the autocluster alive until the matching autocluster_release().  Claims
 * do this, to be reused for its next job. */
void autocluster_hold(struct autocluster *autocluster);
void autocluster_release(struct schedd *schedd, struct autocluster *autocluster);
/* To be called after its request ad was withdrawn: frees the autocluster if nothing needs it. */
void autocluster_sweep(struct schedd *schedd, struct autocluster *autocluster);

#endif
