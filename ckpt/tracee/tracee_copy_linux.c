/* ckpt/tracee/tracee_copy_linux.c - a copy of a process: see tracee_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/proc_linux.h"
#include "ckpt/tracee/tracee_parts.h"

/* Waits from the call of clone() to its return; returns the pid of the new process. */
static int wait_for_copy(struct tracee_thread *thread, pid_t *ret)
{
    for (int stops = 0; stops < 2;) {
        int status = 0;
        int rc = ptrace(PTRACE_SYSCALL, thread->tid, NULL, NULL) != 0
                     ? -errno
                     : tracee_next_stop(thread, &status);
        unsigned long number;
        if (rc != 0) {
            return rc;
        }
        if (EVENT_OF(status) == PTRACE_EVENT_CLONE || EVENT_OF(status) == PTRACE_EVENT_FORK) {
            if (ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &number) != 0) {
                return -errno;
            }
            *ret = (pid_t)number;
        }
        stops += WSTOPSIG(status) == SYSCALL_STOP ? 1 : 0;
    }
    return 0;
}

static void end_and_wait(pid_t copy)
{
    int status = 0;
    (void)kill(copy, SIGKILL);
    do {
        if (waitpid(copy, &status, __WALL) < 0 && errno != EINTR) {
            break;
        }
    } while (!WIFSIGNALED(status) && !WIFEXITED(status));
}

void tracee_reap_copy(struct tracee *tracee, pid_t copy)
{
    uint64_t number = (uint64_t)proc_innermost(copy, 0, "NSpid:");
    (void)TRACEE_CALL(tracee, 0, SYS_wait4, number, 0, __WCLONE | WNOHANG);
}

void tracee_drop_copy(struct tracee *tracee, struct tracee *copy)
{
    end_and_wait(copy->pid);
    tracee_reap_copy(tracee, copy->pid);
    mem_free(copy->threads);
    *copy = (struct tracee){.pid = 0};
}

/* Gives the copy its name before it can end because of our end: the next dumper finds it by that
 * name. */
static int name_copy(struct tracee *copy, const struct tracee *tracee)
{
    uint64_t guarded = guard_in_copy(&tracee->guard);
    copy->call = guarded != 0 ? guarded : tracee->call;
    ssize_t done = tracee_write(copy, copy->scratch, GUARD_COPY, sizeof GUARD_COPY);
    long rc = done < 0 ? done : TRACEE_CALL(copy, 0, SYS_prctl, PR_SET_NAME, copy->scratch);
    copy->call = tracee->call;
    return (int)rc;
}

/* The process has made the copy, which stops: takes it over. */
static int take_copy(const struct tracee *tracee, struct tracee *copy)
{
    struct tracee_thread *held = &copy->threads[0];
    long ends = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
    int rc = tracee_settle(held, tracee_patience_ns());
    held->is_used = held->is_dirty = true;
    rc = rc != 0 ? rc : name_copy(copy, tracee);
    return rc == 0 && ptrace(PTRACE_SETOPTIONS, held->tid, NULL, (void *)ends) != 0 ? -errno : rc;
}

int tracee_copy(struct tracee *tracee, struct tracee *ret, struct err *err)
{
    struct tracee_thread *thread = &tracee->threads[0];
    long traced = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK;
    struct tracee copy = {.pid = -1,
                          .count = 1,
                          .capacity = 1,
                          .vdso = tracee->vdso,
                          .vdso_end = tracee->vdso_end,
                          .scratch = tracee->scratch};
    int rc = ptrace(PTRACE_SETOPTIONS, thread->tid, NULL, (void *)traced) != 0 ? -errno : 0;
    rc = rc != 0 ? rc : tracee_begin_call(tracee, thread, SYS_clone, (const uint64_t[6]){0});
    rc = rc != 0 ? rc : wait_for_copy(thread, &copy.pid);
    (void)ptrace(PTRACE_SETOPTIONS, thread->tid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD);
    if (rc == 0 && copy.pid < 0) {
        struct user_regs_struct registers;
        rc = ptrace(PTRACE_GETREGS, thread->tid, NULL, &registers) != 0 ? -errno
                                                                        : (int)registers.rax;
    }
    if (rc == 0) {
        copy.threads = mem_zalloc(sizeof *copy.threads);
        copy.threads[0].tid = copy.pid;
        rc = take_copy(tracee, &copy);
    }
    if (rc != 0) {
        if (copy.pid > 0) {
            tracee_drop_copy(tracee, &copy);
        }
        return err_set(err, rc, "process %d: cannot copy the process: %s", (int)tracee->pid,
                       err_code_text(rc));
    }
    *ret = copy;
    return 0;
}

/* Stops only the parent's first thread, for as long as a system call takes. */
static void reap_in(pid_t parent, const struct tracee *copy, pid_t number)
{
    struct tracee held = {.pid = parent, .call = copy->call};
    /* It may be another program by now, which has something else there. */
    if (tracee_hold_first(&held, NULL) == 0 && tracee_is_call(&held, held.call)) {
        (void)guard_borrow(&held.guard, parent, copy->vdso, copy->vdso_end);
        (void)TRACEE_CALL(&held, 0, SYS_wait4, (uint64_t)number, 0, __WCLONE | WNOHANG);
    } else { /* it has ended, and what it left behind is another's */
        held.call = 0;
    }
    tracee_release(&held, false);
}

void tracee_end_copy(struct tracee *copy, pid_t parent)
{
    pid_t pid = copy->pid, number = proc_innermost(pid, 0, "NSpid:");
    end_and_wait(pid);
    reap_in(parent, copy, number);
    mem_free(copy->threads);
    *copy = (struct tracee){.pid = pid};
}
