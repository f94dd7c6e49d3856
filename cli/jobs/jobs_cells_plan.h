/* cli/jobs/jobs_cells_plan.h - the cells of lines about jobs: dates, run times, states, commands.
 *
 * Shared by the layouts of `roost q` and `history` (jobs_plan.c), by `roost top` and by
 * -print-format (print_format_plan.c).  Each function appends to out; text from a job is printed
 * without control characters. Pure.
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

enum { /* values of JobStatus */
       JOBS_IDLE = 1,
       JOBS_RUNNING,
       JOBS_REMOVED,
       JOBS_COMPLETED,
       JOBS_HELD,
       JOBS_TRANSFERRING,
       JOBS_SUSPENDED
};

enum jobs_time { JOBS_TIME_ALL, JOBS_TIME_CURRENT_RUN, JOBS_TIME_CPU };

/* Appends the time in the job's attribute `name` as a date such as "11/20 09:15", in 11 columns;
 * blanks when the job does not have the attribute. */
void jobs_put_date(const struct ad *job, const char *name, const struct ad_context *context,
                   struct strbuf *out);
/* Appends a duration such as "0+00:00:05" in 12 columns.  time: which one: the run time of all
 * runs, the run time of the current (or last) run, or the CPU time. */
void jobs_put_time(const struct ad *job, enum jobs_time time, const struct ad_context *context,
                   struct strbuf *out);
double jobs_run_time_s(const struct ad *job, enum jobs_time time, const struct ad_context *context);
/* The status as a short text: "R", "H", "<" (input is transferred), "<q" (input waits in the queue
 * for transfers), ">" and "q>" (the same for output). */
const char *jobs_status_text(const struct ad *job);
const char *jobs_status_word(int64_t status); /* the status as a word, such as "Running" */
double jobs_size_mb(const struct ad *job);
void jobs_put_clean(const char *text, struct strbuf *out);
/* Appends " (not responding since DATE)" if the schedd has lost the connection to the machine on
 * which the job runs; otherwise nothing. */
void jobs_put_cut(const struct ad *job, const struct ad_context *context, struct strbuf *out);
/* While files are being transferred, appends the text `before`, the progress such as "43% of 150.0
 * MB", and the text `after`; otherwise nothing. */
void jobs_put_moved(const struct ad *job, const char *before, const char *after,
                    struct strbuf *out);
/* Appends "(43% of 150.0 MB) " while files are being transferred, otherwise nothing. */
void jobs_put_progress(const struct ad *job, const struct ad_context *context, struct strbuf *out);
void jobs_put_command(const struct ad *job, const struct ad_context *context, struct strbuf *out);
void jobs_put_arguments(const struct ad *job, const struct ad_context *context, struct strbuf *out);
void jobs_put_number(int64_t number, size_t width, bool left, struct strbuf *out);
/* Appends the job's owner in 14 columns, and a blank. */
void jobs_put_owner(const struct ad *job, struct strbuf *out);
const char *jobs_universe(int64_t number);
/* Appends a size such as "12.5 MB"; units are powers of 1024. */
void jobs_put_bytes(double bytes, struct strbuf *out);
/* What the file transfer of the job does now, in words; "" when no files are being transferred. */
const char *jobs_transfer_text(const struct ad *job);

#endif
