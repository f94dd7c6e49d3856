/* schedd/queue/job_rows.h - jobs as the ads of an answer, in binary form.
 *
 * Design.  A line of `roost q` shows a dozen attributes of a job, and nearly all of them are the
 * cluster's.  Shared, what the jobs of a cluster have in common is said once: an ad without ProcId,
 * and then, for each job, an ad with what is its own; jobs that follow one another and differ in
 * nothing but ProcId are one ad with ProcCount.  Not shared, each job is a flat ad.
 * docs/protocol/queue.md says it for clients.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_ROWS_H
#define SCHEDD_QUEUE_JOB_ROWS_H

#include <stdbool.h>
#include <stddef.h>

struct job;
struct job_rows;
struct schedd;
struct strbuf;

/* names[0..count) are the attributes wanted (copied), none: all.  whole_if_computed: of a cluster
 * or job in which one of them is more than a literal, all. */
struct job_rows *job_rows_create(const struct schedd *schedd, const char *const *names,
                                 size_t count, bool shared, bool whole_if_computed);
void job_rows_destroy(struct job_rows *rows); /* NULL is allowed */

/* Appends to out what a message takes (wire_body.encoded); jobs in order of id.  The last ones may
 * be kept back until job_rows_flush(), which also forgets what was said of the cluster: call it at
 * the end of each part. */
void job_rows_add(struct job_rows *rows, const struct job *job, struct strbuf *out);
void job_rows_flush(struct job_rows *rows, struct strbuf *out);
size_t job_rows_ads(struct job_rows *rows); /* appended since the last call */

#endif
