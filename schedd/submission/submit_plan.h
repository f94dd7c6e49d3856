/* schedd/submission/submit_plan.h - checks and completes the ad of a submitted job.
 *
 * Pure: checks names, types, limits and required attributes, removes attributes that a submitter
 * may not set, and adds defaults.
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

/* Returns whether only the schedd may set this attribute. */
bool submit_plan_is_ours(const char *name);

/* Removes from a submitted ad the attributes that the schedd sets itself, and the private ones. */
void submit_plan_clean(struct ad *ad);

/* Checks the attribute names of the ad and its encoded size.  Returns 0; or, with err, -EINVAL (a
 * name is not valid) or -E2BIG (more than max bytes). */
int submit_plan_check_size(const struct ad *ad, size_t max, struct err *err);

/* Adds defaults for attributes that the cluster's ad lacks.  job_lease_s: default of
 * JobLeaseDuration. */
void submit_plan_defaults(struct ad *cluster, int64_t job_lease_s);

/* Checks that a job has all it needs.  job: its own ad chained to its cluster's, or the cluster's
 * ad alone.  Returns 0, or -EINVAL with err naming the attribute. */
int submit_plan_check_job(const struct ad *job, struct err *err);

/* The jobs of a cluster mostly differ in a few texts.  If submit_plan_is_plain() is true for the
 * cluster's ad and submit_plan_adds_texts_only() for a job's own ad, not chained, then
 * submit_plan_check_job() returns 0 for the job: the cluster's ad passes it, no attribute that it
 * reads is an expression there, and the job replaces none of them but by a string where a string is
 * expected. */
bool submit_plan_is_plain(const struct ad *cluster);
bool submit_plan_adds_texts_only(const struct ad *own);

/* Returns what a new job costs, in steps: to evaluate each of its expressions once (each limited to
 * AD_GET_STEPS_MAX), and to copy its bytes.  own: the job's own ad, not chained; NULL: it has none.
 * The expressions are evaluated to find that out; counting stops at about AD_SLICE_STEPS. */
uint64_t submit_plan_steps(const struct ad *cluster, struct ad *own);

#endif
