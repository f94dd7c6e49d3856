/* cli/jobs/jobs_plan.h - what `roost q` and `roost history` print; which jobs a word names.
 *
 * A layout is a row of the table in jobs_plan.c: the option, its headings, how it prints one job.
 * They are HTCondor's.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOBS_JOBS_PLAN_H
#define CLI_JOBS_JOBS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/jobs/jobs_cells_plan.h"

struct ad;
struct ad_context;
struct err;
struct jobs_layout;
struct jobs_totals;
struct strbuf;
struct vec;

/* The layout of that option of q ("-hold"; shortened, with one dash or two), NULL: no such option.
 * "" is the default: a line for each batch. */
const struct jobs_layout *jobs_layout_find(const char *option);
/* The same with that time in the column RUN_TIME, where the layout has one. */
const struct jobs_layout *jobs_layout_timed(const struct jobs_layout *layout, enum jobs_time time);
const struct jobs_layout *jobs_layout_history(void);
const char *jobs_layout_constraint(const struct jobs_layout *layout); /* NULL: all jobs */
/* Adds the names of what its lines show (char *, copies). */
void jobs_layout_names(const struct jobs_layout *layout, struct vec *names);
bool jobs_layout_totals(const struct jobs_layout *layout);  /* totals belong below it */
bool jobs_layout_is_bare(const struct jobs_layout *layout); /* there is nothing but totals */

/* "12", "12.3" or an owner's name, as an expression; -EINVAL: none of these. */
int jobs_plan_select(const char *word, struct strbuf *out, struct err *err);
bool jobs_plan_is_id(const char *word);

/* Headings, then lines of jobs (in the order they are to be shown in), or of batches (ads of type
 * JobBatch), or nothing for a layout of totals. */
void jobs_plan_print(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     const struct ad_context *context, struct strbuf *out);
/* The lines alone, of whole ads, cut to so many columns (0: not). */
void jobs_plan_lines(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     int columns, const struct ad_context *context, struct strbuf *out);
bool jobs_layout_is_rows(const struct jobs_layout *layout); /* a line for each job */

/* Lines of a shared answer (docs/protocol/queue.md), whose ads come one after the other and are not
 * kept.  What the jobs of a cluster have in common is made once.  context is borrowed. */
struct jobs_rows;
struct jobs_rows *jobs_rows_create(const struct jobs_layout *layout, int columns,
                                   const struct ad_context *context);
void jobs_rows_destroy(struct jobs_rows *rows); /* NULL is allowed */
/* A line, or as many as the ad stands for.  Its chaining is changed. */
void jobs_rows_add(struct jobs_rows *rows, struct ad *job, struct strbuf *out);
const struct jobs_totals *jobs_rows_totals(const struct jobs_rows *rows);

/* "-- Schedd: name : <address> @ 11/20/26 09:15:47" with two empty lines before; without a context
 * no time. */
void jobs_plan_title(const char *schedd, const char *address, const struct ad_context *context,
                     struct strbuf *out);

struct jobs_totals {
    int64_t completed, removed, idle, running, held, suspended;
};
void jobs_plan_count(const struct ad *const *jobs, size_t count, struct jobs_totals *ret);
/* Adds IdleJobs, RunningJobs ... of ad, each with prefix before it. */
void jobs_plan_read_totals(const struct ad *ad, const char *prefix, struct jobs_totals *ret);
/* "Total for query: 10 jobs; 0 completed, ..." */
void jobs_plan_totals(const char *what, const struct jobs_totals *totals, struct strbuf *out);
/* The lines below a table that has totals: of what was asked for, of user's jobs (NULL: no such
 * line), of everybody's. */
void jobs_plan_footer(const struct jobs_layout *layout, const struct jobs_totals *query,
                      const char *user, const struct jobs_totals *mine,
                      const struct jobs_totals *all, struct strbuf *out);

#endif
