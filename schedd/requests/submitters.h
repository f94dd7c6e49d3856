/* schedd/requests/submitters.h - whom the negotiator charges for jobs, and how many jobs each has.
 *
 * A submitter is an owner, or an accounting group and a user of it: "physics.bob@domain" for jobs
 * whose AccountingGroup is "physics.bob".  As in HTCondor whoever submits may name any: groups
 * share machines among people who trust each other; the accounts say who did.  The jobs of an
 * autocluster have one submitter, for the attribute is significant.
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
    char *name;
    struct owner *owner; /* who had the first job */
    uint32_t autoclusters;
    int64_t idle, running, held;
    double weighted_idle, weighted_running; /* by RequestCpus */
    bool published, dirty;
};

void submitters_init(struct schedd *schedd);
void submitters_fini(struct schedd *schedd);
/* Of a job of that owner with this view; one more autocluster has it. */
struct submitter *submitter_of(struct schedd *schedd, struct owner *owner, const struct ad *view);
void submitter_release(struct schedd *schedd, struct submitter *submitter);
double submitter_weight(const struct ad *view);
/* One job more or less (by) of that status; the job is in its autocluster. */
void submitter_count(struct schedd *schedd, const struct job *job, enum job_status status,
                     int64_t by);

/* Adds the ads that are news to ads, and the names of those whose jobs are all gone to gone. */
void submitters_publish(struct schedd *schedd, struct vec *ads, struct vec *gone);
/* Is there an ad of that Name? */
bool submitter_is_published(const struct schedd *schedd, const char *name);

#endif
