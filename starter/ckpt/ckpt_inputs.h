/* starter/ckpt/ckpt_inputs.h - remembers, inside a checkpoint, which of the job's files were its
 * inputs.
 *
 * At the end of a job its new and changed files go back.  A run that continues from a checkpoint
 * receives no inputs, so it needs this list to tell inputs from the job's own work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_INPUTS_H
#define STARTER_CKPT_CKPT_INPUTS_H

struct err;
struct starter;

/* Writes the list of the job's inputs into the directory of checkpoint images, before the job
 * starts.  Returns 0 or -errno. */
int ckpt_inputs_save(struct starter *starter, struct err *err);
/* Replaces the run's list of inputs by the list in the checkpoint from which the job continues.  A
 * list that cannot be read is logged and treated as empty. */
void ckpt_inputs_load(struct starter *starter);

#endif
