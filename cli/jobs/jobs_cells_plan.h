/* cli/jobs/jobs_cells_plan.h - what the lines of jobs are made of: dates, run times, states,
 * commands.
 *
 * Shared by the layouts of `roost q` and `history` (jobs_plan.c), by `roost top` and by
 * -print-format (print_format_plan.c).  Each appends to out, and what came from a job moves no
 * cursor.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOBS_JOBS_CELLS_PLAN_H
#define CLI_JOBS_JOBS_CELLS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct strbuf;

enum { /* JobStatus */
       JOBS_IDLE = 1,
       JOBS_RUNNING,
       JOBS_REMOVED,
       JOBS_COMPLETED,
       JOBS_HELD,
       JOBS_TRANSFERRING,
       JOBS_SUSPENDED
};

enum jobs_time { JOBS_TIME_ALL, JOBS_TIME_CURRENT_RUN, JOBS_TIME_CPU };

/* "11/20 09:15" in 11 columns; blank when there is none. */
void jobs_put_date(const struct ad *job, const char *name, const struct ad_context *context,
                   struct strbuf *out);
/* "0+00:00:05" in 12 columns: of all runs, of this run (or the last), or of processors. */
void jobs_put_time(const struct ad *job, enum jobs_time time, const struct ad_context *context,
                   struct strbuf *out);
double jobs_run_time_s(const struct ad *job, enum jobs_time time, const struct ad_context *context);
/* "R", "H", "<" (input comes), "<q" (it waits for its turn), ">", "q>" of the output. */
const char *jobs_status_text(const struct ad *job);
const char *jobs_status_word(int64_t status); /* "Running" */
double jobs_size_mb(const struct ad *job);
void jobs_put_clean(const char *text, struct strbuf *out);
/* Between before and after, "43% of 150.0 MB" of files that are on their way now; else nothing. */
void jobs_put_moved(const struct ad *job, const char *before, const char *after,
                    struct strbuf *out);
/* The same as "(43% of 150.0 MB) ". */
void jobs_put_progress(const struct ad *job, const struct ad_context *context, struct strbuf *out);
void jobs_put_command(const struct ad *job, const struct ad_context *context, struct strbuf *out);
void jobs_put_arguments(const struct ad *job, const struct ad_context *context, struct strbuf *out);
void jobs_put_number(int64_t number, size_t width, bool left, struct strbuf *out);
void jobs_put_owner(const struct ad *job, struct strbuf *out); /* in 14 columns and a blank */
const char *jobs_universe(int64_t number);
/* "12.5 MB": powers of 1024. */
void jobs_put_bytes(double bytes, struct strbuf *out);
/* What the transfer of files is about; "" when there is none. */
const char *jobs_transfer_text(const struct ad *job);

#endif
