/* cli/jobs/jobs_groups_plan.h - jobs of `roost q` counted by a common property: for -autocluster,
 * -hold-codes, and batches of jobs read from a file.  Pure.
 *
 * A group is an ad: attributes of its first job, and the number of its jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOBS_JOBS_GROUPS_PLAN_H
#define CLI_JOBS_JOBS_GROUPS_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct jobs_groups;
struct strbuf;

enum jobs_grouping {
    JOBS_BY_AUTOCLUSTER, /* by AutoClusterId; the ad has JobCount and the requested resources */
    /* by owner and hold code; the ad has JobCount, the time since when the longest held job is
     * held, and the hold reason of the group's first job */
    JOBS_BY_HOLD_CODE,
    JOBS_BY_BATCH /* by batch; the ads are like the schedd's answers to the query JobBatch */
};

struct jobs_groups *jobs_groups_create(enum jobs_grouping grouping);
void jobs_groups_destroy(struct jobs_groups *groups); /* NULL is allowed */
/* The attributes of a job that the grouping needs; NULL-terminated. */
const char *const *jobs_groups_names(enum jobs_grouping grouping);
void jobs_groups_add(struct jobs_groups *groups, const struct ad *job);
/* The groups in the order of their first jobs; borrowed until the groups change. */
const struct ad *const *jobs_groups_list(struct jobs_groups *groups, size_t *count);
/* Prints the output of `roost q -factory`: clusters whose jobs are created later (answer of the
 * query JobFactory). */
void jobs_groups_factories(const struct ad *const *factories, size_t count,
                           const struct ad_context *context, struct strbuf *out);
/* Prints one line with the machines of `slots`, each once, and how many seconds ago its wake began;
 * nothing when there are no slots.  slots: ads with PowerState "Waking". */
void jobs_groups_waking(const struct ad *const *slots, size_t count,
                        const struct ad_context *context, struct strbuf *out);
/* Prints headings and lines of the groups; not for JOBS_BY_BATCH, which jobs_plan.c prints. */
void jobs_groups_print(struct jobs_groups *groups, const struct ad_context *context,
                       struct strbuf *out);

#endif
