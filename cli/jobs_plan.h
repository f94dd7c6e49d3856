/* cli/jobs_plan.h - what `roost q` and `roost history` print; which jobs a word names.
 *
 * A layout is a row of the table in jobs_plan.c: the option, its headings, how it prints one job.
 * They are HTCondor's.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOBS_PLAN_H
#define CLI_JOBS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct err;
struct jobs_layout;
struct strbuf;

/* The layout of that option of q ("-hold"; shortened, with one dash or two), NULL: no such option.
 * "" is the default: a line for each batch. */
const struct jobs_layout *jobs_layout_find(const char *option);
const struct jobs_layout *jobs_layout_history(void);
const char *jobs_layout_constraint(const struct jobs_layout *layout); /* NULL: all jobs */
/* What it shows, NULL-terminated. */
const char *const *jobs_layout_projection(const struct jobs_layout *layout);
bool jobs_layout_totals(const struct jobs_layout *layout);  /* totals belong below it */
bool jobs_layout_is_bare(const struct jobs_layout *layout); /* there is nothing but totals */

/* "12", "12.3" or an owner's name, as an expression; -EINVAL: none of these. */
int jobs_plan_select(const char *word, struct strbuf *out, struct err *err);
bool jobs_plan_is_id(const char *word);

/* Headings, then jobs or batches; jobs in the order they are to be shown in. */
void jobs_plan_print(const struct jobs_layout *layout, const struct ad *const *jobs, size_t count,
                     const struct ad_context *context, struct strbuf *out);

/* "-- Schedd: name : <address> @ 11/20/26 09:15:47" with two empty lines before; without a context
 * no time. */
void jobs_plan_title(const char *schedd, const char *address, const struct ad_context *context,
                     struct strbuf *out);

struct jobs_totals {
    int64_t completed, removed, idle, running, held, suspended;
};
void jobs_plan_count(const struct ad *const *jobs, size_t count, struct jobs_totals *ret);
/* "Total for query: 10 jobs; 0 completed, ..." */
void jobs_plan_totals(const char *what, const struct jobs_totals *totals, struct strbuf *out);
/* The lines below a table that has totals: of what was asked for, of user's jobs (NULL: no such
 * line), of everybody's. */
void jobs_plan_footer(const struct jobs_layout *layout, const struct jobs_totals *query,
                      const char *user, const struct jobs_totals *mine,
                      const struct jobs_totals *all, struct strbuf *out);

#endif
