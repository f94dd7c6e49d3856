/* ckpt/tracee/guard_linux.h - a process that is held heals itself if we are killed.
 *
 * A tracer that is killed lets its tracees go, with the registers that they have then: those of a
 * system call that we had them do.  A copy of registers that somebody else keeps comes too late:
 * they run at once.  So the instruction that they call the kernel with is one of ours, in a page
 * that the process has for as long as it is held, and what follows it there, and never runs while
 * we live, closes what the call has opened, puts back blocked signals and registers, and jumps to
 * where the process was.  A system call that was interrupted is issued again.
 *
 * The calls that make that page and remove it, and one of a process that runs again, are done from
 * the end of the kernel's vdso, where no code is: that is borrowed, and zeroed again.
 *
 * A frame and rt_sigreturn, as at the end of a signal's handler, would need the extended state in
 * it, too; a system call does not touch that.  Nothing is written to the stack: that of a coroutine
 * may have no room below.
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

struct guard {
    uint64_t start; /* address; 0: there is none */
    uint64_t bytes;
    size_t threads;   /* there is a place for the first so many */
    int memory;       /* /proc/PID/mem; a page that is not to be written to can be, there */
    int inner;        /* a descriptor that is to be closed, too; -1: none */
    bool is_borrowed; /* guard_borrow() */
};

uint64_t guard_bytes(size_t threads);
/* Writes it to that place, which is mapped, can be executed and has guard_bytes().  False: it
 * cannot be done, and the process is not guarded. */
bool guard_make(struct guard *guard, pid_t pid, uint64_t start, size_t threads);
/* For the first thread only, at the end of the vdso, which lies there.  False: it has no room that
 * is zero, or is not to be written to; the process is not guarded. */
bool guard_borrow(struct guard *guard, pid_t pid, uint64_t vdso, uint64_t vdso_end);
/* Nothing has registers in it any more.  Does not unmap it; what was borrowed is zero again. */
void guard_fini(struct guard *guard);

/* That thread is to do a system call: what it goes on with if we are gone.  The address of the
 * instruction; 0: it cannot be written.  A copy that the call makes (clone) ends. */
uint64_t guard_set(const struct guard *guard, size_t thread, const struct tracee_thread *saved,
                   long number);

/* The address of an instruction for calls of a copy itself that return 0: it ends, too, if we are
 * gone.  0: there is no guard. */
uint64_t guard_in_copy(const struct guard *guard);

/* What a copy is called that has ended because we were gone. */
#define GUARD_COPY "roost-copy"

#endif
