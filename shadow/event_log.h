/* shadow/event_log.h - events of jobs, appended to the owner's logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_EVENT_LOG_H
#define SHADOW_EVENT_LOG_H

struct shadow;
struct wire_request;

void event_logs_handle(struct shadow *shadow, struct wire_request *request); /* JOB_EVENT */
void event_logs_end(struct shadow *shadow); /* the process ends; lanes included */

#endif
