/* shadow/stage/stage_sweep.h - removes files that earlier shadow processes left for runs that
 * nobody knows any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_SWEEP_H
#define SHADOW_STAGE_STAGE_SWEEP_H

#include <stdbool.h>

struct shadow;

/* Returns whether the directory `name` ("12.3.1" or "12.3.1.part") belongs to a run in the list
 * `known` ("12.3.1,12.4.2"). */
bool stage_sweep_lists(const char *known, const char *name);
/* Removes, on a lane (worker thread), all stages (directories of staged output) except those of the
 * runs in the list `known` ("12.3.1,12.4.2") and of present runs. */
void stage_sweep_stages(struct shadow *shadow, const char *known);
/* Removes, on a lane (worker thread), the files that evicted jobs have left for their next run,
 * except those of the runs in the list `known` ("12.3.1,12.4.2") and of present runs. */
void stage_sweep_spools(struct shadow *shadow, const char *known);
/* frees the removals under way; to be called after the lanes have stopped */
void stage_sweep_end(struct shadow *shadow);

#endif
