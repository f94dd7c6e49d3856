/* ckpt/tracee/tracee_linux.h - a process that is held, and made to do system calls.
 *
 * All of its threads are stopped with ptrace and stay so until it is let go.  Some things only the
 * process itself can ask the kernel for; it is made to do so: the registers of a thread point to a
 * system call instruction, the thread is let run until that has returned, and at last gets its own
 * registers back, untouched.  That is done in a stop in which the kernel has yet to look whether an
 * interrupted system call is to be issued again (PTRACE_INTERRUPT): in any other one its inner
 * error code would reach the program, and a pause() would miss its wake-up if we issued it again
 * ourselves.
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

/* linux/include/linux/errno.h: never seen by programs, but by tracers. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

struct tracee_thread {
    pid_t tid;
    struct user_regs_struct registers; /* as it was stopped */
    uint64_t mask;                     /* its blocked signals */
    bool is_used;                      /* its registers were changed since */
    bool is_dirty;                     /* in a stop in which they may not be put back */
    bool is_mended;                    /* its call ended with EINTR by our doing: is issued again */
    bool was_stopped;                  /* by a signal, before we came */
};

struct tracee {
    pid_t pid;
    struct tracee_thread *threads; /* the first one is the process's first */
    size_t count, capacity;
    uint64_t call;           /* address of a system call instruction */
    uint64_t vdso, vdso_end; /* the kernel's code; 0: it has none */
    uint64_t scratch;        /* a page of its memory, made for us; 0: none */
    uint64_t waits; /* address of code that waits (CKPT_WAIT_AT), in a page of ours; 0: none */
    struct guard guard;
};

/* Holds it.  -EPERM: it is another user's, or may not be traced; -EBUSY: somebody traces it;
 * -ESRCH; -EOPNOTSUPP: it is not a program of this machine's own kind (32 bit). */
int tracee_hold(pid_t pid, struct tracee *tracee, struct err *err);
struct tracee_code {
    uint64_t start, end;
};

/* After tracee_hold(): finds the instruction, makes the scratch page and, where the process may
 * have code of ours, what heals it if we are killed (guard_linux.h).  No thread is inside the
 * kernel's vdso then, nor inside lent, the one of another kernel that leads there. */
int tracee_prepare(struct tracee *tracee, const struct maps *maps, const struct tracee_code *lent,
                   struct err *err);
/* Lets it go on as if nothing had been; what was made for us is undone, but for the page of code by
 * which a wait goes on that was interrupted by us.  Or ends it by SIGKILL, and
 * waits until nothing is left of it. */
void tracee_release(struct tracee *tracee, bool kill);
/* Ends it by that signal, whatever it does about it: nothing of it runs any more. */
void tracee_end(struct tracee *tracee, int signal);

/* A system call in that thread; its result, or a negative errno, also of what went wrong here. */
long tracee_call(struct tracee *tracee, size_t thread, long number, const uint64_t args[6]);
#define TRACEE_CALL(tracee, thread, number, ...) \
    tracee_call((tracee), (thread), (number), (const uint64_t[6]){__VA_ARGS__})

/* The same in two steps: the thread is at work between them.  0 or a negative errno; then its
 * result. */
int tracee_start_call(struct tracee *tracee, size_t thread, long number, const uint64_t args[6]);
long tracee_await_call(struct tracee *tracee, size_t thread);

/* ---- tracee_wait_linux.c: calls that end with EINTR when a process is stopped, without a signal
 */
/* Makes it a call that the kernel issues again by itself, or ends with EINTR after all if a signal
 * is handled first. */
void tracee_mend_wait(struct tracee_thread *thread);
/* The page of ours, if it has one. */
void tracee_find_waits(struct tracee *tracee, const struct maps *maps);
/* Before it is let go: calls that were mended wait for the rest of their time only.  Where that
 * cannot be, they wait in full once more. */
void tracee_shorten_waits(struct tracee *tracee);

/* A copy of it: a process with its memory as it is now, one thread, held, too.  It is a child of it
 * that sends no signal when it ends, and that only a wait for such children (__WCLONE) would find.
 * Whatever becomes of us, it ends.  -EAGAIN, -ENOMEM: it may have no more processes, or memory. */
int tracee_copy(struct tracee *tracee, struct tracee *ret, struct err *err);
/* Ends the copy, and has its parent, which may run by now, forget it. */
void tracee_end_copy(struct tracee *copy, pid_t parent);

/* The same, of a process that is held. */
void tracee_drop_copy(struct tracee *tracee, struct tracee *copy);

/* One that has ended, of a process that is held. */
void tracee_reap_copy(struct tracee *tracee, pid_t copy);

/* Its memory, whatever the protection.  Bytes, or a negative errno. */
ssize_t tracee_read(const struct tracee *tracee, uint64_t address, void *to, size_t bytes);
ssize_t tracee_write(const struct tracee *tracee, uint64_t address, const void *from, size_t bytes);

/* Of a thread: extended state, in the layout of XSAVE, into room for CKPT_XSTATE_MAX bytes; how
 * many, or a negative errno. */
ssize_t tracee_xstate(const struct tracee_thread *thread, void *to);

#endif
