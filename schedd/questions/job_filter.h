/* schedd/questions/job_filter.h - finds the jobs for which a constraint is true, without putting
 * together the ad of each job.
 *
 * Design.  A queue has many jobs and few clusters.  Most constraints only read attributes that the
 * jobs of a cluster share, or JobStatus.  Such a constraint is evaluated once for each cluster, or
 * once for each status in it.  For each cluster the filter finds out which names the constraint
 * reads, directly or through other attributes of the cluster's ad.  A job that has one of these
 * names in its own ad is evaluated with its whole ad.  So is every job when the constraint computes
 * names or uses random numbers.  The result is always the same as that of evaluating the constraint
 * in job_view().
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

/* Creates a filter.  constraint (NULL: all jobs) and context are borrowed as long as the filter
 * lives. */
struct job_filter *job_filter_create(const struct schedd *schedd, const struct ad_expr *constraint,
                                     const struct ad_context *context);
void job_filter_destroy(struct job_filter *filter); /* NULL is allowed */

/* Returns whether the constraint is true for the job.  Cheap when jobs are passed cluster by
 * cluster.  Between two calls jobs and clusters may change.  The cost of the call, in steps of
 * evaluation, is added to the member work of the ad_context that job_filter_create() was given,
 * unless that member is NULL. */
bool job_filter_wants(struct job_filter *filter, const struct job *job);

#endif
