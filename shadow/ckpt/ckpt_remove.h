/* shadow/ckpt/ckpt_remove.h - the end of checkpoints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_REMOVE_H
#define SHADOW_CKPT_CKPT_REMOVE_H

struct shadow;

void checkpoints_remove(struct shadow *shadow, const char *jobs); /* all of jobs "12.3,12.4" */
/* Removes those that are of no job in `known` ("12.3,12.4"), nor of a run. */
void checkpoints_sweep(struct shadow *shadow, const char *known);
void checkpoints_end(struct shadow *shadow); /* lanes have stopped */

#endif
