/* ckpt/tracee/guard_linux.h - makes a stopped process continue correctly even if we are killed.
 *
 * When a tracer is killed the kernel lets its tracees run, with the registers that they have at
 * that moment: those of a system call that we made them do.  Somebody who kept a copy of their
 * registers would come too late, because they run at once.  So each such system call is issued from
 * a page of ours, which the process has while it is stopped.  The code after the instruction never
 * runs while we live.  If we are gone it closes what the call has opened, restores blocked signals
 * and registers, and jumps to where the process was; an interrupted system call is issued again.
 *
 * The calls that make and remove that page, and a call of a process that runs again, are issued
 * from the end of the kernel's vdso, where there is no code: that space is borrowed and zeroed
 * again.
 *
 * Rejected: a signal frame and rt_sigreturn.  That would have to contain the extended registers,
 * too, which a system call does not touch.  Nothing is written to the stack: that of a coroutine
 * may have no room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_TRACEE_GUARD_LINUX_H
#define CKPT_TRACEE_GUARD_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tracee_thread;

struct guard {      /* our code in a stopped process */
    uint64_t start; /* address; 0: none */
    uint64_t bytes;
    size_t threads;   /* there is room for so many threads */
    int memory;       /* descriptor of /proc/PID/mem, which can write to read-only pages */
    int inner;        /* a descriptor of the process to close as well; -1: none */
    bool is_borrowed; /* made by guard_borrow() */
};

/* Returns the size for so many threads. */
uint64_t guard_bytes(size_t threads);
/* Writes the code to `start`, an executable mapping of guard_bytes().  False: it cannot be written,
 * and the process is not guarded. */
bool guard_make(struct guard *guard, pid_t pid, uint64_t start, size_t threads);
/* Writes the code for the first thread to the end of the vdso.  False: there is no room of zeroes,
 * or it cannot be written; the process is not guarded. */
bool guard_borrow(struct guard *guard, pid_t pid, uint64_t vdso, uint64_t vdso_end);
/* Gives up the guard when no thread uses it any more.  Zeroes borrowed space; does not unmap. */
void guard_fini(struct guard *guard);

/* Prepares what the thread does if we are killed during its next system call.  Returns the address
 * of the instruction from which it must issue that call; 0: it cannot be written.  If the call
 * makes a copy of the process (clone), the copy ends then. */
uint64_t guard_set(const struct guard *guard, size_t thread, const struct tracee_thread *saved,
                   long number);

/* Returns the address of an instruction for calls of a copy that return 0: if we are gone the copy
 * ends.  0: there is no guard. */
uint64_t guard_in_copy(const struct guard *guard);

/* The name (comm) of a copy that has ended because we were gone. */
#define GUARD_COPY "roost-copy"

#endif
