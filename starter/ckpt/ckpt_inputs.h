/* starter/ckpt/ckpt_inputs.h - which of the files in a checkpoint were the job's input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_INPUTS_H
#define STARTER_CKPT_CKPT_INPUTS_H

struct err;
struct starter;

int ckpt_inputs_save(struct starter *starter, struct err *err); /* before the job begins */
void ckpt_inputs_load(struct starter *starter);                 /* of one that goes on */

#endif
