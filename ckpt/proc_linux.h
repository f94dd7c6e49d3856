/* ckpt/proc_linux.h - reads what /proc says about a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_PROC_LINUX_H
#define CKPT_PROC_LINUX_H

#include <stdint.h>
#include <sys/types.h>

struct strbuf;

/* Reads all of /proc/PID/NAME into text, replacing its contents.  0 or a negative errno. */
int proc_read(pid_t pid, const char *name, struct strbuf *text);

/* Returns the number in the line with that name ("\nSeccomp:") of the text of /proc/PID/status; 0:
 * there is no such line. base: of the number, 10 or 16. */
uint64_t proc_word(const char *status, const char *name, int base);

/* Returns the last number of a line "NAME: 123 45" in the status of a process (tid 0) or of one of
 * its threads: the number in the innermost PID namespace.  -1: there is no such line. */
pid_t proc_innermost(pid_t pid, pid_t tid, const char *name);

#endif
