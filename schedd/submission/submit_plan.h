/* schedd/submission/submit_plan.h - is this the ad of a job, and what does it lack?
 *
 * Pure: checks names, types, limits and required attributes, takes out what a submitter may not
 * set, puts in the defaults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_SUBMIT_PLAN_H
#define SCHEDD_SUBMISSION_SUBMIT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct err;

/* Is it an attribute that only the schedd sets? */
bool submit_plan_is_ours(const char *name);

/* Removes from an ad of a submitter what the schedd sets itself, and what is private. */
void submit_plan_clean(struct ad *ad);

/* Names valid, at most max bytes encoded: 0, -EINVAL or -E2BIG with err. */
int submit_plan_check_size(const struct ad *ad, size_t max, struct err *err);

/* Defaults that the cluster's ad lacks; job_lease_s for JobLeaseDuration. */
void submit_plan_defaults(struct ad *cluster, int64_t job_lease_s);

/* A job (own, chained to its cluster's ad, or that ad itself) with everything in place: 0, or
 * -EINVAL and err naming the attribute. */
int submit_plan_check_job(const struct ad *job, struct err *err);

/* What it costs, in steps, to evaluate each expression of a job once: own's (NULL: it has none; not
 * chained) and its cluster's, each as far as a getter goes (AD_GET_STEPS_MAX); and to move its
 * bytes.  They are evaluated to know it; what takes more than AD_SLICE_STEPS in all is not told
 * apart. */
uint64_t submit_plan_steps(const struct ad *cluster, struct ad *own);

#endif
