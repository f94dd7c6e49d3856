/* ckpt/tracee/tracee_hold_linux.c - stopping a process: see tracee_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/maps_linux.h"
#include "ckpt/tracee/tracee_parts.h"

#define CS_64BIT        0x33U
#define STOPS_WITHIN_NS INT64_C(10000000000)
#define STOP_PAUSE_NS   20000000
#define VDSO_MOMENT_NS  20000
/* A thread that has ended may have made another one, so it is looked again; but one that another
 * tracer keeps is seen for ever. */
#define ENDED_LOOKS_MAX 1000

static bool is_known(const struct tracee *tracee, pid_t tid)
{
    for (size_t i = 0; i < tracee->count; i++) {
        if (tracee->threads[i].tid == tid) {
            return true;
        }
    }
    return false;
}

static int64_t now_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* As waitpid(), but 0 when nothing has become of it until then: who waits in the kernel where only
 * a deadly signal ends it (for a child of vfork(), for a file server) does not stop before that.
 * It asks after each SIGCHLD, and now and then: they may be ignored here, or another's. */
static pid_t wait_for_news(pid_t tid, int64_t until_ns, int *status)
{
    const struct timespec pause = {.tv_nsec = STOP_PAUSE_NS};
    pid_t got = waitpid(tid, status, __WALL | WNOHANG);
    if (got == 0) {
        sigset_t news;
        sigset_t before;
        (void)sigemptyset(&news);
        (void)sigaddset(&news, SIGCHLD);
        (void)sigprocmask(SIG_BLOCK, &news, &before);
        while ((got = waitpid(tid, status, __WALL | WNOHANG)) == 0 && now_ns() < until_ns) {
            (void)sigtimedwait(&news, NULL, &pause);
        }
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
    }
    return got;
}

/* Until it is in the stop that PTRACE_INTERRUPT brings.  Signals on their way are let through:
 * their handlers begin, and run once the thread is let go. */
static int wait_for_stop(struct tracee_thread *thread, int64_t until_ns)
{
    for (;;) {
        int status = 0;
        pid_t got = wait_for_news(thread->tid, until_ns, &status);
        if (got <= 0) {
            return got == 0 ? -ETIMEDOUT : -errno;
        }
        if (!WIFSTOPPED(status)) {
            return -ESRCH;
        }
        if (EVENT_OF(status) == PTRACE_EVENT_STOP) {
            thread->was_stopped = WSTOPSIG(status) != SIGTRAP;
            return 0;
        }
        long signal =
            EVENT_OF(status) == 0 && WSTOPSIG(status) != SYSCALL_STOP ? WSTOPSIG(status) : 0;
        if (ptrace(PTRACE_CONT, thread->tid, NULL, (void *)signal) != 0) {
            return -errno;
        }
    }
}

static int read_registers(struct tracee_thread *thread)
{
    if (ptrace(PTRACE_GETREGS, thread->tid, NULL, &thread->registers) != 0 ||
        ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof thread->mask, &thread->mask) != 0) {
        return -errno;
    }
    tracee_mend_wait(thread);
    return 0;
}

int64_t tracee_patience_ns(void)
{
    return now_ns() + STOPS_WITHIN_NS;
}

int tracee_settle(struct tracee_thread *thread, int64_t until_ns)
{
    int rc = wait_for_stop(thread, until_ns);
    return rc != 0 ? rc : read_registers(thread);
}

/* A thread that has ended is visible for a moment longer, and the kernel refuses to trace it with
 * the same EPERM as a thread of another tracer. */
static bool has_ended(pid_t pid, pid_t tid)
{
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return true;
    }
    const char *name_end = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
    (void)fclose(file);
    return name_end == NULL || strncmp(name_end, ") Z", 3) == 0 || strncmp(name_end, ") X", 3) == 0;
}

/* Tells a thread to stop and appends it to the tracee's threads, unless it has ended meanwhile. */
static int seize_thread(struct tracee *tracee, pid_t tid, struct err *err)
{
    if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(long)PTRACE_O_TRACESYSGOOD) != 0) {
        int rc = -errno;
        if (tid != tracee->pid && (rc == -ESRCH || (rc == -EPERM && has_ended(tracee->pid, tid)))) {
            return 0;
        }
        return err_set(err, rc,
                       rc == -EPERM ? "process %d cannot be stopped: the process belongs to "
                                      "another user, may not be traced, or is traced already"
                                    : "no such process: %d",
                       (int)tracee->pid);
    }
    if (tracee->count == tracee->capacity) {
        tracee->capacity = tracee->capacity > 0 ? tracee->capacity * 2 : 8;
        tracee->threads = mem_realloc(tracee->threads, tracee->capacity * sizeof *tracee->threads);
    }
    tracee->threads[tracee->count++] = (struct tracee_thread){.tid = tid};
    (void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL); /* if it has ended, the wait will say so */
    return 0;
}

static bool is_in_vdso(const struct tracee *tracee, const struct tracee_thread *thread)
{
    return thread->registers.rip >= tracee->vdso && thread->registers.rip < tracee->vdso_end;
}

/* No thread may stand inside the vdso: it could not go on with another kernel's.  That code never
 * waits, so the thread runs for a moment and is stopped again.  (Single steps would end sooner, but
 * the kernel leaves a thread stepping when its tracer is killed, and the next step kills the job.)
 */
static int leave_vdso(const struct tracee *tracee, struct tracee_thread *thread, int64_t until_ns)
{
    const struct timespec moment = {.tv_nsec = VDSO_MOMENT_NS};
    int rc = 0;
    while (rc == 0 && is_in_vdso(tracee, thread)) {
        if (now_ns() >= until_ns) {
            return -EBUSY;
        }
        if (ptrace(PTRACE_CONT, thread->tid, NULL, NULL) != 0) {
            return -errno;
        }
        (void)nanosleep(&moment, NULL);
        thread->is_used = false;
        (void)ptrace(PTRACE_INTERRUPT, thread->tid, NULL,
                     NULL); /* if it has ended, the wait says so */
        rc = tracee_settle(thread, until_ns);
    }
    return rc;
}

/* Waits until a thread is stopped.  0; -ESRCH, without a text unless it is the first thread: it has
 * ended. */
static int settle_one(const struct tracee *tracee, struct tracee_thread *thread, int64_t until_ns,
                      struct err *err)
{
    int rc = tracee_settle(thread, until_ns);
    rc = rc != 0 ? rc : leave_vdso(tracee, thread, until_ns);
    if (rc == -ETIMEDOUT) { /* nothing to put back; the kernel lets it go when we end */
        return err_set(err, rc,
                       "process %d: thread %d does not stop; a thread that waits in the kernel, "
                       "for vfork or a file server, cannot be stopped",
                       (int)tracee->pid, (int)thread->tid);
    }
    if (rc == -EBUSY) {
        return err_set(err, rc, "process %d: thread %d does not leave the kernel's vdso; try again",
                       (int)tracee->pid, (int)thread->tid);
    }
    if (rc == 0 || (rc == -ESRCH && thread->tid != tracee->pid)) {
        return rc;
    }
    return err_set(err, rc, "process %d: cannot stop thread %d: %s", (int)tracee->pid,
                   (int)thread->tid, err_code_text(rc));
}

/* Waits for all threads from that one on, which were told to stop.  A thread that does not stop is
 * removed from the tracee's threads; the others stay in any case, so that they can be released. */
static int settle_all(struct tracee *tracee, size_t first, struct err *err)
{
    const int64_t until_ns = tracee_patience_ns();
    size_t stopped = first;
    int rc = 0;
    for (size_t i = first; i < tracee->count; i++) {
        struct tracee_thread *thread = &tracee->threads[i];
        int how = settle_one(tracee, thread, until_ns, rc == 0 ? err : NULL);
        if (how == 0 || how == -EBUSY) { /* it stands still, and has to be let go */
            tracee->threads[stopped++] = *thread;
        }
        if (how != 0 && rc == 0 && (how != -ESRCH || thread->tid == tracee->pid)) {
            rc = how;
        }
    }
    tracee->count = stopped;
    return rc;
}

int tracee_hold_first(struct tracee *tracee, struct err *err)
{
    int rc = seize_thread(tracee, tracee->pid, err);
    return rc != 0 ? rc : settle_all(tracee, 0, err);
}

/* Those that there are now, all told before the first is waited for: each that runs has to be given
 * a processor before it stops.  *ret: there was one that was not held yet. */
static int seize_all(struct tracee *tracee, bool *ret, struct err *err)
{
    char path[64];
    struct dirent *entry;
    const size_t held = tracee->count;
    int rc = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)tracee->pid);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return err_set(err, -ESRCH, "no such process: %d", (int)tracee->pid);
    }
    *ret = false;
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid > 0 && !is_known(tracee, tid)) {
            *ret = true;
            rc = seize_thread(tracee, tid, err);
        }
    }
    (void)closedir(folder);
    int settled = settle_all(tracee, held, rc == 0 ? err : NULL);
    return rc != 0 ? rc : settled;
}

int tracee_hold(pid_t pid, struct tracee *tracee, struct err *err)
{
    bool more = true;
    *tracee = (struct tracee){.pid = pid};
    (void)maps_find(pid, "[vdso]", &tracee->vdso, &tracee->vdso_end);
    int rc = tracee_hold_first(tracee, err);
    for (unsigned ended = 0; rc == 0 && more && ended < ENDED_LOOKS_MAX;) {
        size_t held = tracee->count;
        rc = seize_all(tracee, &more, err);
        ended = tracee->count > held ? 0 : ended + 1;
    }
    if (rc == 0 && tracee->count == 0) {
        rc = err_set(err, -ESRCH, "no such process: %d", (int)pid);
    }
    if (rc == 0 && tracee->threads[0].registers.cs != CS_64BIT) {
        rc = err_set(err, -EOPNOTSUPP, "process %d: not a 64-bit program", (int)pid);
    }
    if (rc != 0) {
        tracee_release(tracee, false);
    }
    return rc;
}
