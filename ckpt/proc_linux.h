/* ckpt/proc_linux.h - what /proc tells of a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_PROC_LINUX_H
#define CKPT_PROC_LINUX_H

#include <stdint.h>
#include <sys/types.h>

struct strbuf;

/* All of /proc/PID/NAME, however much that is, in place of what text held.  0 or a negative errno.
 */
int proc_read(pid_t pid, const char *name, struct strbuf *text);

/* The number behind that name ("\nSeccomp:") in a status; 0: it has no such line. */
uint64_t proc_word(const char *status, const char *name, int base);

/* The last number of a line "NAME: 123 45" of the status of a process (tid 0) or of a thread of it,
 * which is the one of the innermost namespace; -1: it is not there. */
pid_t proc_innermost(pid_t pid, pid_t tid, const char *name);

#endif
