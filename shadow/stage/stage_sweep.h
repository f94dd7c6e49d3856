/* shadow/stage/stage_sweep.h - what earlier shadows left of runs that nobody knows any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_SWEEP_H
#define SHADOW_STAGE_STAGE_SWEEP_H

#include <stdbool.h>

struct shadow;

/* Is `name` ("12.3.1" or "12.3.1.part") in the list "12.3.1,12.4.2"? */
bool stage_sweep_lists(const char *known, const char *name);
/* Removes, on a lane, the stages that are not of `known` ("12.3.1,12.4.2") nor of a run. */
void stage_sweep_stages(struct shadow *shadow, const char *known);
/* The same of what evicted jobs have left; those of `known` stay. */
void stage_sweep_spools(struct shadow *shadow, const char *known);
void stage_sweep_end(struct shadow *shadow); /* the process ends, lanes have stopped */

#endif
