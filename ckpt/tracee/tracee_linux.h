/* ckpt/tracee/tracee_linux.h - stops a process and makes it do system calls.
 *
 * All its threads are stopped with ptrace until the process is released.  Some system calls only
 * the process itself can do, so it is made to do them: the registers of a thread are pointed at a
 * system call instruction, the thread runs until the call has returned, and at the end it gets its
 * own registers back.  This happens in a ptrace stop in which the kernel has not yet decided
 * whether to restart an interrupted system call (PTRACE_INTERRUPT).  In any other stop the kernel's
 * internal error code would reach the program; and if we restarted the call ourselves, a pause()
 * would miss its signal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_TRACEE_TRACEE_LINUX_H
#define CKPT_TRACEE_TRACEE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "ckpt/format.h"
#include "ckpt/tracee/guard_linux.h"

struct err;
struct maps;

/* From linux/include/linux/errno.h: programs never see these codes, tracers do. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

struct tracee_thread { /* a stopped thread */
    pid_t tid;
    struct user_regs_struct registers; /* as they were when it was stopped */
    uint64_t mask;                     /* signals that the thread blocks */
    bool is_used;                      /* its registers were changed since */
    bool is_dirty;                     /* in a stop in which they cannot be restored */
    bool is_mended;   /* its call ended with EINTR because of us: it will be issued again */
    bool was_stopped; /* by a signal, before we stopped it */
};

struct tracee { /* a stopped process */
    pid_t pid;
    struct tracee_thread *threads; /* the process's first thread comes first */
    size_t count, capacity;
    uint64_t call;           /* address of a system call instruction */
    uint64_t vdso, vdso_end; /* the kernel's code in the process; 0: none */
    uint64_t scratch;        /* a page of the process that was made for us; 0: none */
    /* Address of code that continues a wait (CKPT_WAIT_AT), in a page of ours; 0: none. */
    uint64_t waits;
    struct guard guard;
};

/* Stops a process.  0; -EPERM: it belongs to another user, or may not be traced; -EBUSY: somebody
 * else traces it; -ESRCH; -EOPNOTSUPP: not a 64-bit program. */
int tracee_hold(pid_t pid, struct tracee *tracee, struct err *err);
struct tracee_code { /* a range of addresses that contains code */
    uint64_t start, end;
};

/* Prepares a stopped process for system calls: finds the instruction, makes the scratch page, and
 * the guard (guard_linux.h) where the process may have code of ours.  Afterwards no thread is
 * inside the kernel's vdso, or inside `lent`, the vdso of another kernel whose functions lead
 * there.  0 or -errno. */
int tracee_prepare(struct tracee *tracee, const struct maps *maps, const struct tracee_code *lent,
                   struct err *err);
/* Lets the process continue as if nothing had happened.  All that was made for us is removed,
 * except a page of code that continues a wait which we interrupted. kill: ends the process by
 * SIGKILL instead, and waits until it is gone. */
void tracee_release(struct tracee *tracee, bool kill);
/* Ends the process by that signal, even if it handles or ignores the signal; none of its code runs
 * any more. */
void tracee_end(struct tracee *tracee, int signal);

/* Makes a thread do a system call.  Returns its result, or a negative errno, also if the call could
 * not be done. */
long tracee_call(struct tracee *tracee, size_t thread, long number, const uint64_t args[6]);
#define TRACEE_CALL(tracee, thread, number, ...) \
    tracee_call((tracee), (thread), (number), (const uint64_t[6]){__VA_ARGS__})

/* The same in two steps, between which the thread works. tracee_start_call() returns 0 or a
 * negative errno; tracee_await_call() returns the result of the call. */
int tracee_start_call(struct tracee *tracee, size_t thread, long number, const uint64_t args[6]);
long tracee_await_call(struct tracee *tracee, size_t thread);

/* ---- tracee_wait_linux.c: calls that end with EINTR when a process is stopped, without a signal
 */
/* Some calls end with EINTR when their process is stopped, even without a signal.  This makes the
 * kernel issue the call again, or end it with EINTR after all if a signal is handled first. */
void tracee_mend_wait(struct tracee_thread *thread);
/* Finds our page with the code that continues waits, if the process has one. */
void tracee_find_waits(struct tracee *tracee, const struct maps *maps);
/* Called before the process is released: calls that were mended wait only for the rest of their
 * time; where that is impossible, they wait in full again. */
void tracee_shorten_waits(struct tracee *tracee);

/* Makes a copy of the process: a child with the same memory and one thread, stopped too.  It sends
 * no signal when it ends, and only a wait for such children (__WCLONE) finds it.  It also ends if
 * we are killed.  0; -EAGAIN, -ENOMEM: no more processes, or no memory, for it; or another
 * -errno. */
int tracee_copy(struct tracee *tracee, struct tracee *ret, struct err *err);
/* Ends a copy, and makes its parent, which may be running, reap it. */
void tracee_end_copy(struct tracee *copy, pid_t parent);

/* The same, for a parent that is stopped. */
void tracee_drop_copy(struct tracee *tracee, struct tracee *copy);

/* Makes a stopped process reap a copy that has ended. */
void tracee_reap_copy(struct tracee *tracee, pid_t copy);

/* Read and write the memory of the process, whatever its protection.  Return the number of bytes,
 * or a negative errno. */
ssize_t tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t bytes);
ssize_t tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t bytes);

/* Reads the extended registers of a thread, in the layout of XSAVE; `to` has room for
 * CKPT_XSTATE_MAX bytes.  Returns the number of bytes, or a negative errno. */
ssize_t tracee_xstate(const struct tracee_thread *thread, void *to);

#endif
