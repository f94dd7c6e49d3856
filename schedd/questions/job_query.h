/* schedd/questions/job_query.h - the request QUERY for jobs and the history
 * (docs/protocol/queue.md).
 *
 * An answer shows only what is durable: it waits for the commits that were under way when the
 * request came.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_QUERY_H
#define SCHEDD_QUESTIONS_JOB_QUERY_H

struct schedd;
struct wire_request;

/* Handles a QUERY request for jobs, factories or the history. */
void query_handle(struct schedd *schedd, struct wire_request *request);
/* Answers with -ESHUTDOWN (the schedd stops) the queries that were not answered yet.  Call after
 * the store was closed. */
void queries_fini(struct schedd *schedd);

#endif
