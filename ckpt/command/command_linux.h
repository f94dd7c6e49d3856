/* ckpt/command/command_linux.h - the subcommands of the program roost-ckpt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_COMMAND_COMMAND_LINUX_H
#define CKPT_COMMAND_COMMAND_LINUX_H

#include <stdint.h>
#include <sys/types.h>

#include "ckpt/machine.h"

struct err;
struct image;
struct strbuf;

/* Runs the subcommand that argv names.  Returns the exit status: 0: success; 1: the subcommand
 * failed, and standard error says why; 2: wrong arguments.  The subcommand `run` returns the exit
 * status of the program that it ran. */
int ckpt_command(int argc, char **argv);
/* Runs `roost-ckpt follow`.  Returns the exit status: 0: the job has ended, or no more orders will
 * come; 1: the subcommand failed, and standard error says why; 2: wrong arguments, which the caller
 * must report. */
int ckpt_follow_command(int argc, char **argv);
int ckpt_merge_command(int argc, char **argv);
int ckpt_join_command(int argc, char **argv);
int ckpt_dump_command(int argc, char **argv);

/* ---- command_show_linux.c */

/* Prints the attribute CkptFeatures: the names of the features in the CPUID words `words`, then
 * what put_rooms(registers, list) appends to its list.  For a machine, put_rooms must be
 * feature_list_rooms(), and `registers` the machine's set of extended registers; for an image,
 * feature_list_room() and ckpt_head.linker_room.  Both sets have bits as in XCR0. */
void ckpt_print_features(const uint32_t words[MACHINE_WORDS],
                         void (*put_rooms)(uint32_t registers, struct strbuf *list),
                         uint32_t registers);

/* Prints the attributes of an image that a pool needs to match the image's job with machines, one
 * in each line, such as `CkptImageSize = 4096`. */
void ckpt_print_attributes(const struct image *image);
/* Prints the attributes of the image in the file `path`, by ckpt_print_attributes().  Returns 0 or
 * -errno. */
int ckpt_show_attributes(const char *path, struct err *err);

#endif
