/* schedd/requests/submitters.h - the submitters: whom the negotiator charges for jobs, and how many
 * jobs each submitter has.
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
    char *name;                  /* "bob@domain" or "physics.bob@domain" */
    struct owner *owner;         /* owner of the submitter's first job */
    uint32_t autoclusters;       /* number of autoclusters that have this submitter */
    int64_t idle, running, held; /* numbers of the submitter's jobs in these states */
    /* sums of RequestCpus of the idle and of the running jobs */
    double weighted_idle, weighted_running;
    /* published: the collector has its ad; dirty: that ad is out of date */
    bool published, dirty;
};

void submitters_init(struct schedd *schedd);
void submitters_fini(struct schedd *schedd);
/* Returns the submitter, made if needed, for an autocluster whose jobs have this owner and this ad
 * (view), and adds 1 to the submitter's count of autoclusters.  submitter_release() subtracts 1
 * again. */
struct submitter *submitter_of(struct schedd *schedd, struct owner *owner, const struct ad *view);
void submitter_release(struct schedd *schedd, struct submitter *submitter);
/* Returns RequestCpus of the ad; 1 when it is absent, not above 0, or a million or more. */
double submitter_weight(const struct ad *view);
/* Adds `by` (1 or -1) jobs of this status to the counts of the job's submitter.  The job must be in
 * its autocluster. */
void submitter_count(struct schedd *schedd, const struct job *job, enum job_status status,
                     int64_t by);

/* Appends to ads (struct ad) new ads of the submitters whose ads in the collector are out of date,
 * and to gone (strings) the Names of the ads of submitters whose jobs are all gone.  The caller
 * owns these ads and strings. */
void submitters_publish(struct schedd *schedd, struct vec *ads, struct vec *gone);
/* Returns whether the collector has an ad of this schedd's submitter with this Name. */
bool submitter_is_published(const struct schedd *schedd, const char *name);

#endif
