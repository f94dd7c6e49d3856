/* ckpt/dump/dump_check_linux.c - what no image can hold of a process, but for its memory and open
 * files.
 *
 * It is looked at before the process is made to do anything: a filter of system calls may end it
 * for what we have it do, or a handler of its own be asked (and the kernel forget that handler, as
 * we block its signal).  Whether a filter lets us is not to be found out without trying.
 *
 * A filter that it was started with is no matter: who resumes it is under the same.  So what counts
 * are more filters than its keeper has, or than we have, if it has no keeper.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "ckpt/dump/dump.h"
#include "ckpt/proc_linux.h"

/* linux/include/uapi/linux/ptrace.h of Linux 6.4: the headers of Debian 12 are older. */
#define GET_USER_DISPATCH 0x4211

struct user_dispatch {
    uint64_t mode, selector, offset, bytes;
};

static int refuse_process(const struct subject *subject, const char *why, struct err *err)
{
    return err_set(err, -EOPNOTSUPP, "process %d: %s", (int)subject->tracee.pid, why);
}

/* ---- filters of system calls */

struct filters {
    uint64_t mode, count; /* a kernel before 5.9 does not tell how many: then count is 0 or 1 */
};

static int read_filters(pid_t pid, struct filters *ret)
{
    struct strbuf status;
    strbuf_init(&status, 0);
    int rc = proc_read(pid, "status", &status);
    if (rc == 0) {
        const char *text = strbuf_text(&status);
        ret->mode = proc_word(text, "\nSeccomp:", 10);
        ret->count = strstr(text, "\nSeccomp_filters:") != NULL
                         ? proc_word(text, "\nSeccomp_filters:", 10)
                         : ret->mode == SECCOMP_MODE_FILTER;
    }
    strbuf_fini(&status);
    return rc;
}

/* `roost-rsys-mount` keeps jobs, too, and puts the pool's filter on the job, not on itself.  Mostly
 * we may not look at that process. */
static bool filters_its_job(pid_t keeper)
{
    static const char *const NAME = "/roost-rsys-mount";
    char link[64], path[4096];
    (void)snprintf(link, sizeof link, "/proc/%d/exe", (int)keeper);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    return slash == NULL || strcmp(slash, NAME) == 0;
}

static int check_filters(const struct dump *dump, struct err *err)
{
    struct filters own = {.mode = 0}, given = {.mode = 0};
    pid_t from = dump->keeper > 0 ? dump->keeper : getpid();
    int rc = read_filters(dump->now->tracee.pid, &own);
    rc = rc != 0 ? rc : read_filters(from, &given);
    if (rc != 0) {
        return refuse_process(dump->now, err_code_text(rc), err);
    }
    if (own.mode == SECCOMP_MODE_STRICT) {
        return refuse_process(dump->now,
                              "the process is in strict mode of seccomp, which is not supported",
                              err);
    }
    given.count += dump->keeper > 0 && filters_its_job(dump->keeper) ? 1 : 0;
    return own.count > given.count
               ? refuse_process(dump->now,
                                "the process has a seccomp filter that it was not started with",
                                err)
               : 0;
}

/* ---- threads */

/* Refuses a thread that has taken something for itself with unshare(): an image has one of each for
 * a process. */
static int check_thread(const struct dump *dump, pid_t tid, struct err *err)
{
    const struct subject *subject = dump->now;
    struct user_dispatch dispatch = {.mode = 0};
    const char *why = NULL;
    long files = syscall(SYS_kcmp, subject->tracee.pid, tid, KCMP_FILES, 0, 0);
    long fs = files >= 0 ? syscall(SYS_kcmp, subject->tracee.pid, tid, KCMP_FS, 0, 0) : files;
    if (fs < 0) { /* then nor is it known which descriptors are one open file */
        return err_set(
            err, -EOPNOTSUPP,
            "process %d: cannot find out what its threads and descriptors share (kcmp): %s",
            (int)subject->tracee.pid, err_code_text(-errno));
    }
    if (files > 0) {
        why = "the thread has its own table of descriptors, which is not supported";
    } else if (fs > 0) {
        why = "the thread has its own working directory, which is not supported";
    } else if (ptrace((enum __ptrace_request)GET_USER_DISPATCH, tid, (void *)sizeof dispatch,
                      &dispatch) == 0 &&
               dispatch.mode != 0) {
        why = "the thread sends its system calls to its own handler (PR_SET_SYSCALL_USER_DISPATCH)";
    }
    return why != NULL ? err_set(err, -EOPNOTSUPP, "process %d: thread %d: %s",
                                 (int)subject->tracee.pid, (int)tid, why)
                       : 0;
}

int dump_check(struct dump *dump, struct err *err)
{
    const struct tracee *tracee = &dump->now->tracee;
    int rc = check_filters(dump, err);
    for (size_t i = 0; rc == 0 && i < tracee->count; i++) {
        rc = check_thread(dump, tracee->threads[i].tid, err);
    }
    return rc;
}
