/* schedd/questions/job_filter.h - which jobs a constraint means, without the ad of each.
 *
 * Design.  A queue has many jobs and few clusters, and most constraints look at what the jobs of a
 * cluster share, or at JobStatus: such a one is asked once for each cluster, or once for each
 * status in it.  Which names it looks up, through the attributes of the cluster's ad, is found out
 * when the cluster changes; a job that has one of these names of its own is asked with its whole
 * ad, and so is every job where names are computed or chance is in it.  The answer is always that
 * of evaluating the constraint in job_view().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_FILTER_H
#define SCHEDD_QUESTIONS_JOB_FILTER_H

#include <stdbool.h>

struct ad_context;
struct ad_expr;
struct job;
struct job_filter;
struct schedd;

/* constraint (NULL: all jobs) and context are borrowed for its life. */
struct job_filter *job_filter_create(const struct schedd *schedd, const struct ad_expr *constraint,
                                     const struct ad_context *context);
void job_filter_destroy(struct job_filter *filter); /* NULL is allowed */

/* Cheap where jobs come cluster by cluster.  Between two calls jobs and clusters may change.  What
 * it costs is added to context->work, unless that is NULL: evaluations, and what else is done. */
bool job_filter_wants(struct job_filter *filter, const struct job *job);

#endif
