/* cli/jobs/jobs_groups_plan.h - jobs of `roost q` counted by what they have in common:
 * -autocluster, -hold-codes, and the batches of jobs that came from a file.  Pure.
 *
 * A group is an ad: what its first job shows, and how many jobs it stands for.
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
    JOBS_BY_AUTOCLUSTER, /* AutoClusterId; JobCount, and what is requested */
    JOBS_BY_HOLD_CODE,   /* of each owner; JobCount, since when, the first one's reason */
    JOBS_BY_BATCH        /* as QUERY of JobBatch answers: docs/protocol/queue.md */
};

struct jobs_groups *jobs_groups_create(enum jobs_grouping grouping);
void jobs_groups_destroy(struct jobs_groups *groups); /* NULL is allowed */
/* What a job has to bring; NULL-terminated. */
const char *const *jobs_groups_names(enum jobs_grouping grouping);
void jobs_groups_add(struct jobs_groups *groups, const struct ad *job);
/* In the order in which their first jobs came; borrowed until the groups change. */
const struct ad *const *jobs_groups_list(struct jobs_groups *groups, size_t *count);
/* -factory: clusters whose jobs are made later (QUERY of JobFactory). */
void jobs_groups_factories(const struct ad *const *factories, size_t count,
                           const struct ad_context *context, struct strbuf *out);
/* Machines that are being woken, each once, and for how long: one line; nothing for none. */
void jobs_groups_waking(const struct ad *const *slots, size_t count,
                        const struct ad_context *context, struct strbuf *out);
/* Headings and lines; not of batches, which jobs_plan.c prints. */
void jobs_groups_print(struct jobs_groups *groups, const struct ad_context *context,
                       struct strbuf *out);

#endif
