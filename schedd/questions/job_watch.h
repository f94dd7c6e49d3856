/* schedd/questions/job_watch.h - the request WATCH: a snapshot of jobs, and then their changes
 * (docs/protocol/queue.md).
 *
 * Like the answer of a QUERY, it shows only what is durable.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_WATCH_H
#define SCHEDD_QUESTIONS_JOB_WATCH_H

struct schedd;
struct watch_server;
struct wire_request;

/* Handles a WATCH request: adds a watcher, after the commits that are under way. */
void watch_handle(struct schedd *schedd, struct wire_request *request);
/* Creates the server that sends snapshots and changes to the watchers. */
struct watch_server *watchers_create(struct schedd *schedd);

#endif
