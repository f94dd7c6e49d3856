/* schedd/questions/job_watch.h - WATCH: jobs, and what becomes of them (docs/protocol/queue.md).
 *
 * What is told is durable, as in the answer of a QUERY.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_WATCH_H
#define SCHEDD_QUESTIONS_JOB_WATCH_H

struct schedd;
struct watch_server;
struct wire_request;

void watch_handle(struct schedd *schedd, struct wire_request *request);
struct watch_server *watchers_create(struct schedd *schedd);

#endif
