/* ckpt/tracee/tracee_linux.h - stops a process and makes it do system calls.
 *
 * All threads of the process are stopped with ptrace until the process is released.  Some system
 * calls only the process itself can do, so it is made to do them: the instruction pointer of a
 * thread is set to a system call instruction, the thread runs until the call has returned, and at
 * the end it gets its own registers back.  This happens in a ptrace stop in which the kernel has
 * not yet decided whether to restart an interrupted system call (PTRACE_INTERRUPT).  In any other
 * stop the kernel's internal error code would reach the program; and if the tracer restarted the
 * call, a pause() would miss its signal.
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
    struct user_regs_struct registers; /* its registers when it was stopped, to be restored */
    uint64_t mask;                     /* signals that the thread blocks */
    bool is_used; /* true: the thread has other registers now than `registers` */
    /* true: the tracer must run and stop the thread once more before it can restore registers */
    bool is_dirty;
    /* true: its system call ended with EINTR because the tracer stopped it, and is issued again */
    bool is_mended;
    /* true: a signal (such as SIGSTOP) had stopped the thread before the tracer did */
    bool was_stopped;
};

struct tracee { /* a stopped process */
    pid_t pid;
    struct tracee_thread *threads; /* the process's first thread comes first */
    size_t count, capacity;
    uint64_t call;           /* address of a system call instruction in the process */
    uint64_t vdso, vdso_end; /* addresses of the kernel's code in the process; 0: none */
    /* address of a page of the process that the tracer has made for its own use; 0: none */
    uint64_t scratch;
    /* Address of the code that continues interrupted waits (CKPT_WAIT_AT), in a page that a dumper
     * has made; 0: the process has no such page. */
    uint64_t waits;
    struct guard guard;
};

/* Stops all threads of a process.  Returns 0; -EPERM: the process belongs to another user, or may
 * not be traced; -EBUSY: another process traces it; -ESRCH: there is no such process; -EOPNOTSUPP:
 * it does not run a 64-bit program. */
int tracee_hold(pid_t pid, struct tracee *tracee, struct err *err);
struct tracee_code { /* a range of addresses that contains code */
    uint64_t start, end;
};

/* Prepares a stopped process for system calls: finds a system call instruction, makes the scratch
 * page, and the guard (guard_linux.h) if memory can be made executable in the process. maps: the
 * mappings of the process; lent: in a resumed process, the addresses of the vdso that its image
 * contains, whose functions may jump to the vdso of this kernel; else an empty range.  Returns 0;
 * -EBUSY: a thread is inside the kernel's vdso or inside `lent`, so the caller must try again
 * later; or another -errno. */
int tracee_prepare(struct tracee *tracee, const struct maps *maps, const struct tracee_code *lent,
                   struct err *err);
/* Lets the process continue as if nothing had happened.  The pages that the tracer has made in the
 * process are removed, except a page with the code that continues an interrupted wait. kill: true:
 * ends the process by SIGKILL instead, and waits until it is gone. */
void tracee_release(struct tracee *tracee, bool kill);
/* Ends the process by that signal, even if it handles or ignores the signal; none of the program's
 * code runs any more. */
void tracee_end(struct tracee *tracee, int signal);

/* Makes a thread do a system call, and waits for its end. thread: index in tracee.threads.  Returns
 * the result of the call, or a negative errno, also if the thread could not be made to do it. */
long tracee_call(struct tracee *tracee, size_t thread, long number, const uint64_t args[6]);
#define TRACEE_CALL(tracee, thread, number, ...) \
    tracee_call((tracee), (thread), (number), (const uint64_t[6]){__VA_ARGS__})

/* Makes a thread begin a system call, and does not wait for its end: tracee_await_call() must
 * follow.  Returns 0 or a negative errno. */
int tracee_start_call(struct tracee *tracee, size_t thread, long number, const uint64_t args[6]);
/* Waits for the end of the system call that tracee_start_call() began.  Returns its result, or a
 * negative errno. */
long tracee_await_call(struct tracee *tracee, size_t thread);

/* ---- tracee_wait_linux.c */
/* Some system calls end with EINTR when their thread is stopped, even without a signal.  If the
 * thread was in such a call, this function makes the kernel issue the call again, or end it with
 * EINTR after all if the thread handles a signal first. */
void tracee_mend_wait(struct tracee_thread *thread);
/* Sets tracee->waits: finds the page with the code that continues waits, which an earlier dump may
 * have left in the process. */
void tracee_find_waits(struct tracee *tracee, const struct maps *maps);
/* To be called before the process is released: makes system calls that will be issued again
 * (is_mended) wait only for the rest of their time; where that is impossible, they wait for their
 * full time again. */
void tracee_shorten_waits(struct tracee *tracee);

/* Makes a copy of the process: a stopped child of it, with the same memory and one thread.  The
 * copy sends no signal when it ends, and only a wait for such children (__WCLONE) finds it.  The
 * copy also ends if the tracer is killed.  Returns 0; -EAGAIN: too many processes; -ENOMEM: no
 * memory; or another -errno. */
int tracee_copy(struct tracee *tracee, struct tracee *ret, struct err *err);
/* Ends a copy, and makes its parent, which may be running, reap it. */
void tracee_end_copy(struct tracee *copy, pid_t parent);

/* Ends a copy of the stopped process `tracee`, and makes that process reap it. */
void tracee_drop_copy(struct tracee *tracee, struct tracee *copy);

/* Makes a stopped process reap a copy of it that has ended. copy: the process number of the
 * copy. */
void tracee_reap_copy(struct tracee *tracee, pid_t copy);

/* Reads memory of the process, even if it is protected against reading.  Returns the number of
 * bytes read, or a negative errno. */
ssize_t tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t bytes);
/* Writes memory of the process, even if it is read-only.  Returns the number of bytes written, or a
 * negative errno. */
ssize_t tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t bytes);

/* Reads the extended registers of a thread, in the layout of XSAVE; `to` has room for
 * CKPT_XSTATE_MAX bytes.  Returns the number of bytes, or a negative errno. */
ssize_t tracee_xstate(const struct tracee_thread *thread, void *to);

#endif
