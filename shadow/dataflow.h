/* shadow/dataflow.h - runs that need not be (SkipIfDataflow).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_DATAFLOW_H
#define SHADOW_DATAFLOW_H

#include <stdbool.h>

struct run;
struct vec;
struct wire_request;
struct work;

/* In a lane: is all output of the job there, and newer than its inputs (struct transfer_input)? */
bool dataflow_is_done(struct work *work, const struct vec *inputs);
/* Reports the job as done; then answers JOB_FETCH: there is nothing to do. */
void dataflow_report(struct run *run, struct wire_request *request);

#endif
