/* shadow/run/run_drop.h - ends a run in any phase (shadow_run.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_RUN_RUN_DROP_H
#define SHADOW_RUN_RUN_DROP_H

#include <stdbool.h>

struct run;
struct shadow;

/* Ends the run: refuses with -ESTALE (the run is over) the requests that wait, and closes the run's
 * link unless the starter stays.  remove_stage: also remove the output that the run has staged. The
 * run is freed when nothing uses it any more. */
void run_drop(struct run *run, bool remove_stage);
/* Drops all runs at the end of the process, when connections are closed and lanes have stopped. */
void runs_drop_all(struct shadow *shadow);

#endif
