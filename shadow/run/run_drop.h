/* shadow/run/run_drop.h - the end of a run, whatever it had: see shadow_run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_RUN_RUN_DROP_H
#define SHADOW_RUN_RUN_DROP_H

#include <stdbool.h>

struct run;
struct shadow;

/* Forgets the run, closes its connection; remove_stage: and what it has staged. */
void run_drop(struct run *run, bool remove_stage);
/* The process ends: connections are closed and lanes have stopped. */
void runs_drop_all(struct shadow *shadow);

#endif
