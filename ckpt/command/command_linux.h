/* ckpt/command/command_linux.h - the commands of roost-ckpt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMMAND_COMMAND_LINUX_H
#define CKPT_COMMAND_COMMAND_LINUX_H

#include <sys/types.h>

struct err;

/* Exit status: 0; 1: it failed, and why is on standard error; 2: it was called wrongly; run: that
 * of the program. */
int ckpt_command(int argc, char **argv);
/* Parts of it; 2: wrong arguments, nothing was said yet. */
int ckpt_follow_command(int argc, char **argv);
int ckpt_merge_command(int argc, char **argv);
int ckpt_join_command(int argc, char **argv);
int ckpt_dump_command(int argc, char **argv);

/* Lines `CkptImageSize = 4096` of that image, for who matches jobs and machines. */
int ckpt_show_attributes(const char *path, struct err *err);

#endif
