/* starter/ckpt/ckpt_program.h - roost-ckpt: in front of the job's program, and beside the job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_PROGRAM_H
#define STARTER_CKPT_CKPT_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/os/os.h"

struct err;
struct starter;
struct vec;

/* Puts what makes a program one that can be resumed in front of its words. */
void ckpt_program_words(struct starter *starter, struct vec *argv);
void ckpt_program_environment(const struct starter *starter, struct vec *entries);
/* It was not the job that ended, but what it runs below: the run is over. */
bool ckpt_program_was_killed(struct starter *starter);
/* Beside the job, as its account, in the run's directory; said, errors: files, or NULL. */
int ckpt_program_run(struct starter *starter, const char *const *argv, const char *said,
                     const char *errors, os_exit_f on_exit, pid_t *ret, struct err *err);

#endif
