/* cli/jobs/jobs_plan.h - the output of `roost q` and `roost history`, and which jobs a word
 * of the command line means.
 *
 * A layout is a row of the table in jobs_plan.c: its option, its headings, and how it prints one
 * job.  The layouts are HTCondor's.  Pure.
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

/* The layout for an option of q ("-hold"; may be shortened, with one dash or two); NULL: no such
 * option.  "" gives the default layout, with a line for each batch. */
const struct jobs_layout *jobs_layout_find(const char *option);
/* Returns the layout that differs from `layout` only in its column RUN_TIME, which shows `time`;
 * `layout` itself if it has no such column. */
const struct jobs_layout *jobs_layout_timed(const struct jobs_layout *layout, enum jobs_time time);
const struct jobs_layout *jobs_layout_history(void);
/* Returns the constraint that selects the jobs of the layout; NULL: all jobs. */
const char *jobs_layout_constraint(const struct jobs_layout *layout);
/* Adds the names of the attributes that the layout shows (char *, copies). */
void jobs_layout_names(const struct jobs_layout *layout, struct vec *names);
/* returns whether the layout ends with totals */
bool jobs_layout_totals(const struct jobs_layout *layout);
/* returns whether the layout has only totals */
bool jobs_layout_is_bare(const struct jobs_layout *layout);

/* Appends the constraint for a word: "12", "12.3" or an owner's name.  -EINVAL: the word is none of
 * these. */
int jobs_plan_select(const char *word, struct strbuf *out, struct err *err);
bool jobs_plan_is_id(const char *word);

/* Prints headings, then a line for each job in the given order, or for each batch (ads of type
 * JobBatch); no lines for a layout of totals. */
void jobs_plan_print(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     const struct ad_context *context, struct strbuf *out);
/* Prints only the lines of jobs, without headings, each cut to `columns` columns (0: not cut). */
void jobs_plan_lines(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     int columns, const struct ad_context *context, struct strbuf *out);
/* returns whether the layout has a line for each job */
bool jobs_layout_is_rows(const struct jobs_layout *layout);

/* Prints lines of jobs while the ads arrive, without keeping the ads.  The ads are the answer to a
 * query with Shared = true: first an ad with what the jobs of a cluster have in common, then an ad
 * for each job with the rest (docs/protocol/queue.md).  The context given to
 * jobs_rows_create() is borrowed. */
struct jobs_rows;
struct jobs_rows *jobs_rows_create(const struct jobs_layout *layout, int columns,
                                   const struct ad_context *context);
void jobs_rows_destroy(struct jobs_rows *rows); /* NULL is allowed */
/* Takes the next ad of the answer; appends one line for each job that the ad stands for (none for
 * an ad of a cluster).  Removes the chained parent of a job's ad. */
void jobs_rows_add(struct jobs_rows *rows, struct ad *job, struct strbuf *out);
const struct jobs_totals *jobs_rows_totals(const struct jobs_rows *rows);

/* Prints two empty lines and "-- Schedd: name : <address> @ 11/20/26 09:15:47"; if context is NULL,
 * without the time. */
void jobs_plan_title(const char *schedd, const char *address, const struct ad_context *context,
                     struct strbuf *out);

struct jobs_totals {
    int64_t completed, removed, idle, running, held, suspended;
    /* how many of the running and suspended jobs have a machine that is not heard (HTCondor: job
     * disconnected); a listing counts them separately */
    int64_t disconnected;
};
/* Returns how many of the running jobs have a machine that is heard. */
int64_t jobs_plan_running(const struct jobs_totals *totals);
void jobs_plan_count(const struct ad *const *jobs, size_t count, struct jobs_totals *ret);
/* Adds IdleJobs, RunningJobs ... of ad to *ret; prefix comes before each attribute name. */
void jobs_plan_read_totals(const struct ad *ad, const char *prefix, struct jobs_totals *ret);
/* Appends a text such as "Total for query: 10 jobs; 0 completed, ...", without a newline.  what:
 * the words after "Total for". */
void jobs_plan_totals(const char *what, const struct jobs_totals *totals, struct strbuf *out);
/* Prints the lines of totals below a table: `query`, the totals of the listed jobs; `mine`, the
 * totals of the jobs of `user` (user NULL: no such line); `all`, the totals of all jobs. */
void jobs_plan_footer(const struct jobs_layout *layout, const struct jobs_totals *query,
                      const char *user, const struct jobs_totals *mine,
                      const struct jobs_totals *all, struct strbuf *out);

#endif
