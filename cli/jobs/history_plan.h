/* cli/jobs/history_plan.h - the output of `roost history --summary`: sums over each user's past
 * jobs.
 *
 * The same as condor_summary(1) of 1989 printed from the history file.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOBS_HISTORY_PLAN_H
#define CLI_JOBS_HISTORY_PLAN_H

struct ad;
struct ad_context;
struct history_summary;
struct strbuf;

/* the attributes of a job that the summary needs, NULL-terminated */
extern const char *const history_summary_names[];

struct history_summary *history_summary_create(void);
void history_summary_destroy(struct history_summary *summary); /* NULL is allowed */
void history_summary_add(struct history_summary *summary, const struct ad *job);
/* Prints one line for each owner, the owner with the longest run time first, and one line for all
 * owners together. */
void history_summary_print(struct history_summary *summary, const struct ad_context *context,
                           struct strbuf *out);

#endif
