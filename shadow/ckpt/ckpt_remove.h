/* shadow/ckpt/ckpt_remove.h - removes checkpoints that are no longer needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_REMOVE_H
#define SHADOW_CKPT_CKPT_REMOVE_H

struct shadow;

/* Removes all checkpoints of these jobs ("12.3,12.4"). */
void checkpoints_remove(struct shadow *shadow, const char *jobs);
/* Removes the checkpoints of all jobs that are not in `known` ("12.3,12.4") and have no run in this
 * shadow. */
void checkpoints_sweep(struct shadow *shadow, const char *known);
/* frees the removals under way; to be called after the lanes have stopped */
void checkpoints_end(struct shadow *shadow);

#endif
