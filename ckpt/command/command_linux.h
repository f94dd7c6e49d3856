/* ckpt/command/command_linux.h - the subcommands of the program roost-ckpt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMMAND_COMMAND_LINUX_H
#define CKPT_COMMAND_COMMAND_LINUX_H

#include <sys/types.h>

struct err;

/* Runs the subcommand that argv names.  Returns the exit status: 0: success; 1: the subcommand
 * failed, and standard error says why; 2: wrong arguments.  The subcommand `run` returns the exit
 * status of the program that it ran. */
int ckpt_command(int argc, char **argv);
/* Runs `roost-ckpt follow`.  Returns the exit status; 2: wrong arguments, which the caller must
 * report. */
int ckpt_follow_command(int argc, char **argv);
int ckpt_merge_command(int argc, char **argv);
int ckpt_join_command(int argc, char **argv);
int ckpt_dump_command(int argc, char **argv);

/* Prints the attributes of an image that a pool needs to match the image's job with machines, one
 * in each line, such as `CkptImageSize = 4096`.  Returns 0 or -errno. */
int ckpt_show_attributes(const char *path, struct err *err);

#endif
