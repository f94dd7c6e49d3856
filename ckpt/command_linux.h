/* ckpt/command_linux.h - roost-ckpt dump|info|run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMMAND_LINUX_H
#define CKPT_COMMAND_LINUX_H

/* Exit status: 0; 1: it failed, and why is on standard error; 2: it was called wrongly; run: that
 * of the program. */
int ckpt_command(int argc, char **argv);
/* Parts of it; 2: wrong arguments, nothing was said yet. */
int ckpt_follow_command(int argc, char **argv);
int ckpt_merge_command(int argc, char **argv);

#endif
