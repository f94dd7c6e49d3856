/* ckpt/tracee/tracee_parts.h - what tracee_hold_linux.c, tracee_linux.c and tracee_copy_linux.c
 * share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_TRACEE_TRACEE_PARTS_H
#define CKPT_TRACEE_TRACEE_PARTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/tracee/tracee_linux.h"

#define EVENT_OF(status) ((status) >> 16) /* the ptrace event in a status of waitpid() */
#define SYSCALL_STOP     (SIGTRAP | 0x80) /* the signal of a stop at a system call */

struct err;

/* ---- tracee_hold_linux.c */
/* Returns the time (CLOCK_MONOTONIC, ns) until which to wait for a thread that was just told to
 * stop. */
int64_t tracee_patience_ns(void);
/* Waits until the thread is in the stop that PTRACE_INTERRUPT causes, and reads its registers.
 * Returns 0; -ETIMEDOUT: it did not stop before until_ns (CLOCK_MONOTONIC); -ESRCH: the thread has
 * ended; or another -errno. */
int tracee_settle(struct tracee_thread *thread, int64_t until_ns);
/* Stops only the first thread of the process.  0 or -errno. */
int tracee_hold_first(struct tracee *tracee, struct err *err);

/* ---- tracee_linux.c */
/* Waits for the next stop of a running thread; *ret is its status as waitpid() gives it.  0 or
 * -errno. */
int tracee_next_stop(struct tracee_thread *thread, int *ret);
/* Sets the thread's registers so that it does the system call `number` when it runs.  Returns 0 or
 * -errno. */
int tracee_begin_call(const struct tracee *tracee, struct tracee_thread *thread, long number,
                      const uint64_t args[6]);
/* Returns whether there is a system call instruction at that address. */
bool tracee_is_call(const struct tracee *tracee, uint64_t address);

#endif
