/* ckpt/tracee/guard_linux.h - makes a stopped process continue correctly even if its tracer (the
 * dumper) is killed.
 *
 * When a tracer is killed the kernel lets its tracees run, with the registers that they have at
 * that moment: those of a system call that the tracer made them do.  A third process that kept a
 * copy of their registers would come too late, because the tracees run at once.  So each system
 * call that the tracer demands is issued from a page that the tracer has made in the process while
 * the process is stopped.  The code after the system call instruction never runs while the tracer
 * lives.  If the tracer was killed, that code closes what the call has opened, restores blocked
 * signals and registers, and jumps to where the process was; an interrupted system call is issued
 * again.
 *
 * The calls that make and remove that page, and a call of a process that runs again, are issued
 * from the end of the kernel's vdso, where there is no code: the guard's code is written there for
 * the time of the call, and then overwritten with zeroes.
 *
 * Rejected: a signal frame and rt_sigreturn.  The frame would have to contain the extended
 * registers, too, which a system call does not touch.  Nothing is written to the stack, because the
 * stack of a coroutine may have no room.
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

/* Code that the tracer (the dumper) writes into a stopped process of the job.  If the tracer is
 * killed, this code makes the process continue correctly. */
struct guard {
    uint64_t start; /* address of the guard's code in the process; 0: there is no such code */
    uint64_t bytes;
    size_t threads;   /* number of threads of the process that have a copy of this code */
    int memory;       /* descriptor of /proc/PID/mem, which can write to read-only pages */
    int inner;        /* descriptor of the process that the guard's code closes; -1: none */
    bool is_borrowed; /* true: the guard's code is at the end of the vdso (guard_borrow()) */
};

/* Returns the number of bytes of memory that guard_make() needs for so many threads. */
uint64_t guard_bytes(size_t threads);
/* Writes the guard's code to address `start` of the process, an executable mapping of
 * guard_bytes(threads) bytes.  Returns false if it cannot be written: then the process is not
 * guarded. */
bool guard_make(struct guard *guard, pid_t pid, uint64_t start, size_t threads);
/* Writes the guard's code, for the first thread only, to the end of the vdso (the kernel's code in
 * the process).  Returns false if the end of the vdso is not free (zeroes) or cannot be written:
 * then the process is not guarded. */
bool guard_borrow(struct guard *guard, pid_t pid, uint64_t vdso, uint64_t vdso_end);
/* Gives up the guard; no thread may use its code any more.  Overwrites code at the end of the vdso
 * with zeroes; a mapping stays, to be unmapped by the caller. */
void guard_fini(struct guard *guard);

/* Prepares what the thread with the index `thread` will do if the tracer (the dumper) is killed
 * during the next system call of that thread, the call `number`. saved: the registers with which
 * the thread then continues.  If that call makes a copy of the process (clone), the copy then ends.
 * Returns the address of the instruction by which the thread must issue the call; 0: the code
 * cannot be written. */
uint64_t guard_set(const struct guard *guard, size_t thread, const struct tracee_thread *saved,
                   long number);

/* Returns the address of the instruction by which a copy of the process must issue a system call:
 * if the tracer (the dumper) is killed meanwhile, the copy ends after the call.  Only for system
 * calls whose result is 0, because the code after the instruction recognizes a copy by that result.
 * Returns 0 if there is no guard. */
uint64_t guard_in_copy(const struct guard *guard);

/* The name (comm) that a copy of a process gives itself before it ends because its dumper was
 * killed. */
#define GUARD_COPY "roost-copy"

#endif
