/* schedd/questions/job_query.h - QUERY: jobs and history (docs/protocol/queue.md).
 *
 * What is answered is durable: an answer waits until everything committed before it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_QUERY_H
#define SCHEDD_QUESTIONS_JOB_QUERY_H

struct schedd;
struct wire_request;

void query_handle(struct schedd *schedd, struct wire_request *request);
void queries_fini(struct schedd *schedd); /* the store is closed: refuses what is not answered */

#endif
