/* starter/ckpt/ckpt_program.h - runs the program roost-ckpt: as the parent of the job's program,
 * and beside the job.
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

/* Puts `roost-ckpt run --` in front of the words of argv: a program that is started in this way can
 * be resumed from an image. */
void ckpt_program_words(struct starter *starter, struct vec *argv);
/* Adds to entries, the job's environment, the variable with the name of the file in which
 * roost-ckpt notes how the job ended. */
void ckpt_program_environment(const struct starter *starter, struct vec *entries);
/* Called when the process of roost-ckpt that is the job's parent has ended.  If this process was
 * killed or failed before the job ended, gives up the run and returns true.  Returns false if the
 * job itself ended or has no checkpoints. */
bool ckpt_program_was_killed(struct starter *starter);
/* Starts the program argv beside the job: outside its cage, as the job's account, in the run's
 * directory. said, errors: paths of the files for its standard output and standard error; NULL:
 * /dev/null.  Sets *ret to its pid; on_exit is called with the starter as its argument when it
 * ends.  Returns 0 or -errno. */
int ckpt_program_run(struct starter *starter, const char *const *argv, const char *said,
                     const char *errors, os_exit_f on_exit, pid_t *ret, struct err *err);

#endif
