/* schedd/requests/job_autocluster.h - idle jobs that are alike for matching, and the best of them.
 *
 * Each autocluster keeps its idle jobs in a heap ordered by schedd_plan_before(): the next job for
 * a match costs O(log n).  Ids are remembered in the jobs' rows, so that what the negotiator wrote
 * about an autocluster stays true over a restart.
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
    char *key; /* autocluster_plan.h */
    struct owner *owner;
    struct submitter *submitter; /* whom the negotiator charges: submitters.h */
    double weight;               /* of one of its jobs: RequestCpus */
    struct strmap *names;        /* significant attributes of its jobs */
    struct job **heap;           /* the idle ones, best first */
    uint32_t idle_count, idle_capacity;
    uint32_t jobs;   /* all that are in it, idle or not */
    uint32_t claims; /* that remember it for reuse */
    bool published;  /* the collector has its request ad */
    bool dirty;      /* ... and it is not the newest */
    /* why some of its jobs got no slot when the negotiator last looked; NULL: nothing is known */
    char *rejected_why, *rejected_by; /* by: the negotiator's name */
    int64_t rejected_s;
};

void autoclusters_init(struct schedd *schedd);
void autoclusters_fini(struct schedd *schedd);

/* Puts the job into its autocluster, which is made when needed.  wanted_id: the one it had before a
 * restart, 0 for none. */
void autocluster_join(struct schedd *schedd, struct job *job, int64_t wanted_id);
void autocluster_leave(struct schedd *schedd, struct job *job);

/* The job became idle, or is not any more. */
void autocluster_push(struct schedd *schedd, struct job *job);
void autocluster_pull(struct schedd *schedd, struct job *job, bool by_claim);
struct job *autocluster_best(const struct autocluster *autocluster); /* NULL when none is idle */
struct autocluster *autocluster_find(const struct schedd *schedd, int64_t id);
/* That some of its jobs got no slot just now; by: the negotiator's name.  Too long texts are cut.
 */
void autocluster_rejected(struct schedd *schedd, struct autocluster *autocluster, const char *why,
                          const char *by);

/* The negotiator says that this attribute matters: autoclusters that are made from now on know it.
 * False: it was known, or cannot matter, or too many are known. */
bool autoclusters_learn(struct schedd *schedd, const char *name);
/* These attributes began to matter: jobs that have one go into the autoclusters that they now
 * belong to.  Returns how many jobs were looked at again.  O(jobs). */
size_t autoclusters_divide(struct schedd *schedd, const char *const *names, size_t count);

/* Attributes of the job changed: into the autocluster that fits now, in order of its PRIO now. */
void autocluster_rejoin(struct schedd *schedd, struct job *job);

/* A claim remembers it; it stays as long as that. */
void autocluster_hold(struct autocluster *autocluster);
void autocluster_release(struct schedd *schedd, struct autocluster *autocluster);
/* After its request ad was withdrawn: frees it if nothing needs it. */
void autocluster_sweep(struct schedd *schedd, struct autocluster *autocluster);

#endif
