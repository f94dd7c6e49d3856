/* schedd/queue/job_rows.h - encodes jobs as the ads of an answer.
 *
 * Design.  A line of `roost q` shows a dozen attributes of a job, and nearly all of them are the
 * cluster's.  In the shared form, the attributes that the jobs of a cluster have in common are sent
 * once, in an ad without ProcId.  Then each job follows as an ad with its own attributes.  Jobs
 * that follow one another and differ only in ProcId are sent as one ad with ProcCount.  In the form
 * that is not shared, each job is one complete ad.  docs/protocol/queue.md describes both for
 * clients.
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

/* Creates an encoder.  names[0..count): the wanted attributes (copied); count 0: all attributes,
 * never in the shared form.  shared: use the shared form.  whole_if_computed: when one of the
 * wanted attributes is an expression and not a literal, all attributes of that cluster or job are
 * sent, so that the receiver can evaluate it. */
struct job_rows *job_rows_create(const struct schedd *schedd, const char *const *names,
                                 size_t count, bool shared, bool whole_if_computed);
void job_rows_destroy(struct job_rows *rows); /* NULL is allowed */

/* Appends the job to out, encoded as an ad of a reply (wire_ad_begin() in wire/wire.h).  Call in
 * order of job ids.  The last jobs may be kept back until job_rows_flush(), which must be called at
 * the end of each part of the answer. */
void job_rows_add(struct job_rows *rows, const struct job *job, struct strbuf *out);
/* Appends the jobs that job_rows_add() has kept back; to be called at the end of each part of an
 * answer.  The next part is complete in itself: the attributes of the cluster are sent again. */
void job_rows_flush(struct job_rows *rows, struct strbuf *out);
/* Returns the number of ads appended since the last call of job_rows_ads(). */
size_t job_rows_ads(struct job_rows *rows);

#endif
