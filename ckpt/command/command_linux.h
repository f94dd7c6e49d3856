/* ckpt/command/command_linux.h - the subcommands of the program roost-ckpt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMMAND_COMMAND_LINUX_H
#define CKPT_COMMAND_COMMAND_LINUX_H

#include <sys/types.h>

struct err;

/* Runs the subcommand that argv names.  Returns the exit status: 0; 1: it failed, and standard
 * error says why; 2: wrong arguments; for `run` that of the program. */
int ckpt_command(int argc, char **argv);
/* Single subcommands.  Status 2: wrong arguments, and nothing was printed yet. */
int ckpt_follow_command(int argc, char **argv);
int ckpt_merge_command(int argc, char **argv);
int ckpt_join_command(int argc, char **argv);
int ckpt_dump_command(int argc, char **argv);

/* Prints what a pool must know of the image to match its job with machines, as lines `CkptImageSize
 * = 4096`.  0 or -errno. */
int ckpt_show_attributes(const char *path, struct err *err);

#endif
