/* shadow/dataflow.h - skips runs whose output is already newer than their input (SkipIfDataflow).
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

/* Returns true when the job has SkipIfDataflow, all its output files exist, and the oldest of them
 * is newer than the newest input.  inputs: the input files, each a struct transfer_input.  Reads
 * the file system; call on the run's lane (worker thread). */
bool dataflow_is_done(struct work *work, const struct vec *inputs);
/* Reports to the schedd that the job is done without a run; then answers the starter's JOB_FETCH
 * with -ECANCELED (the output is newer than the input). */
void dataflow_report(struct run *run, struct wire_request *request);

#endif
