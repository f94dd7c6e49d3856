/* schedd/requests/submitters.h - whom the negotiator charges for jobs, and how many jobs each has.
 *
 * A submitter is an owner, or a user in an accounting group: "physics.bob@domain" for jobs whose
 * AccountingGroup is "physics.bob".  Which groups and users a job may name is checked when it is
 * submitted or edited (schedd/policy/charge_plan.h).  All jobs of an autocluster have the same
 * submitter, because AccountingGroup is a significant attribute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_SUBMITTERS_H
#define SCHEDD_REQUESTS_SUBMITTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "schedd/queue/queue_table.h"

struct ad;
struct schedd;
struct vec;

struct submitter {
    char *name;                             /* "bob@domain" or "physics.bob@domain" */
    struct owner *owner;                    /* owner of its first job */
    uint32_t autoclusters;                  /* autoclusters that have this submitter */
    int64_t idle, running, held;            /* numbers of jobs */
    double weighted_idle, weighted_running; /* each job counts with its RequestCpus */
    bool published, dirty;                  /* the collector has its ad; the ad is out of date */
};

void submitters_init(struct schedd *schedd);
void submitters_fini(struct schedd *schedd);
/* Finds or makes the submitter for a job of this owner with this ad, and counts one more
 * autocluster for it, until submitter_release(). */
struct submitter *submitter_of(struct schedd *schedd, struct owner *owner, const struct ad *view);
void submitter_release(struct schedd *schedd, struct submitter *submitter);
/* Returns RequestCpus of the ad, or 1. */
double submitter_weight(const struct ad *view);
/* Adds `by` (1 or -1) jobs of this status to the counts of the job's submitter.  The job must be in
 * its autocluster. */
void submitter_count(struct schedd *schedd, const struct job *job, enum job_status status,
                     int64_t by);

/* Adds to ads the ads that are out of date in the collector, and to gone the names of ads whose
 * jobs are all gone.  Both are owned by the caller. */
void submitters_publish(struct schedd *schedd, struct vec *ads, struct vec *gone);
/* Returns whether we have an ad of this Name in the collector. */
bool submitter_is_published(const struct schedd *schedd, const char *name);

#endif
