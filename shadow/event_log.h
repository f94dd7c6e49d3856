/* shadow/event_log.h - appends events of jobs to the owner's event logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_EVENT_LOG_H
#define SHADOW_EVENT_LOG_H

struct shadow;
struct wire_request;

/* Handles the schedd's request JOB_EVENT: appends the events in it to the owner's event logs. */
void event_logs_handle(struct shadow *shadow, struct wire_request *request);
/* To be called when the process ends: waits for the writes under way, and frees the memory. */
void event_logs_end(struct shadow *shadow);

#endif
