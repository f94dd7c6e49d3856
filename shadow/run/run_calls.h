/* shadow/run/run_calls.h - passes each call of a starter to the part that answers it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_RUN_RUN_CALLS_H
#define SHADOW_RUN_RUN_CALLS_H

struct run;
struct wire_request;

/* Handles a request of a starter whose run is known. */
void run_calls_handle(struct run *run, struct wire_request *request);

#endif
