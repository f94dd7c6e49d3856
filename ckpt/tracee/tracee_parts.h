/* ckpt/tracee/tracee_parts.h - what the parts of a held process share: tracee_hold_linux.c,
 * tracee_linux.c, tracee_copy_linux.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_TRACEE_TRACEE_PARTS_H
#define CKPT_TRACEE_TRACEE_PARTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "ckpt/tracee/tracee_linux.h"

#define EVENT_OF(status) ((status) >> 16)
#define SYSCALL_STOP     (SIGTRAP | 0x80)

struct err;

/* ---- tracee_hold_linux.c */
/* Until when a thread is waited for that is told to stop now: on CLOCK_MONOTONIC. */
int64_t tracee_patience_ns(void);
/* Until it is in the stop that PTRACE_INTERRUPT brings, and its registers are known.  -ETIMEDOUT;
 * -ESRCH: it has ended. */
int tracee_settle(struct tracee_thread *thread, int64_t until_ns);
/* Only the process's first thread. */
int tracee_hold_first(struct tracee *tracee, struct err *err);

/* ---- tracee_linux.c */
/* It runs: what it is stopped by next, as waitpid() tells. */
int tracee_next_stop(struct tracee_thread *thread, int *ret);
/* Its registers are those of a system call that it does when it runs. */
int tracee_begin_call(const struct tracee *tracee, struct tracee_thread *thread, long number,
                      const uint64_t args[6]);
/* There is an instruction that does one. */
bool tracee_is_call(const struct tracee *tracee, uint64_t address);

#endif
