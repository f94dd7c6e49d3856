/* ckpt/library/take.c - starts the helper that makes the image, and waits for it.
 *
 * The helper is a program of its own (helper_main.c), whose bytes the library carries: what dumps
 * other programs dumps this one, needs nothing of its memory, and works where nothing of ours is
 * installed.
 *
 *     the job, in a thread that waits
 *      \- waiter    its child, in its memory: sends no signal when it ends, and only a wait for
 * such |        children (__WCLONE) finds it
 *          \- helper   executing a program makes a process an ordinary child again: the waiter's
 *
 * How the job knows in which life it is: in the one that goes on, the waiter ends.  In the image it
 * waits for a process that was never there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/memfd.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ckpt/library/library.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define STDIO        3
#define SIGNAL_BYTES 8
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* Linux 6.3 */
#endif

static void tell_outcome(struct outcome *outcome, const char *what, long error)
{
    struct stub_text text = {.length = 0};
    size_t i = 0;
    text_put(&text, what);
    text_put(&text, ": ");
    text_put_error(&text, error);
    for (; i + 1 < sizeof outcome->text && text.bytes[i] != '\0'; i++) {
        outcome->text[i] = text.bytes[i];
    }
    outcome->text[i] = '\0';
    outcome->result = (int32_t)error;
    __atomic_store_n(&outcome->is_told, 1, __ATOMIC_RELEASE);
}

/* ---- in the helper, before it is that: in our memory yet */

/* Closes the job's descriptors in the helper: otherwise the end of a pipe would stay open
 * longer. */
static void let_go_files(void)
{
    (void)SYS3(close_range, STDIO, ~0U, CLOSE_RANGE_CLOEXEC);
    long null = SYS4(openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
    for (int fd = 0; fd < STDIO; fd++) {
        if (null < 0) {
            (void)SYS1(close, fd);
        } else if (fd != null) {
            (void)SYS3(dup3, null, fd, 0);
        }
    }
}

static long helper_file(void)
{
    static const char NAME[] = "roost-checkpoint";
    long fd = SYS2(memfd_create, NAME, MFD_CLOEXEC | MFD_EXEC);
    if (fd == -EINVAL) { /* an older kernel, where every such file may be run */
        fd = SYS2(memfd_create, NAME, MFD_CLOEXEC);
    }
    for (uint64_t done = 0; fd >= 0 && done < library_helper_bytes;) {
        long rc = SYS3(write, fd, library_helper + done, library_helper_bytes - done);
        if (rc <= 0) {
            return rc < 0 ? rc : -EIO;
        }
        done += (uint64_t)rc;
    }
    return fd;
}

static void become_helper(void *arg)
{
    struct order *order = arg;
    const char *const none[1] = {NULL};
    let_go_files();
    long rc = helper_file();
    rc = rc < 0 ? rc : SYS5(execveat, rc, "", order->argv, none, AT_EMPTY_PATH);
    tell_outcome(order->outcome, "cannot start the helper program", rc);
}

/* ---- in the waiter, in our memory */

static long wait_for(long pid, int how, int *status)
{
    long ended;
    do {
        ended = SYS4(wait4, pid, status, how, NULL);
    } while (ended == -EINTR);
    return ended;
}

static void run_helper(void *arg)
{
    struct order *order = arg;
    int status = 0;
    long helper = library_clone(CLONE_VM | CLONE_VFORK, order->helper_stack + LIBRARY_STACK,
                                become_helper, order);
    if (helper < 0) {
        tell_outcome(order->outcome, "cannot start the helper program", helper);
    } else {
        (void)wait_for(helper, __WALL, &status);
        /* It has told itself, if it may write to this memory. */
        if (__atomic_load_n(&order->outcome->is_told, __ATOMIC_ACQUIRE) == 0) {
            tell_outcome(order->outcome,
                         WIFEXITED(status)
                             ? "the helper program has no permission to trace this process"
                             : "the helper program was killed",
                         WIFEXITED(status) && WEXITSTATUS(status) != 0 ? -WEXITSTATUS(status)
                                                                       : -EIO);
        }
    }
    (void)SYS1(exit_group, 0);
}

/* ---- in the program */

static long start_helper(struct order *order)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask = 0;
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &all, &mask, SIGNAL_BYTES);
    long pid = library_clone(CLONE_VM, order->waiter_stack + LIBRARY_STACK, run_helper, order);
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, SIGNAL_BYTES);
    return pid;
}

static void fill_order(struct library *library, bool ends)
{
    struct order *order = &library->order;
    order->outcome = &library->outcome;
    order->pid.length = order->place.length = 0;
    text_put_number(&order->pid, library->pid);
    text_put_number(&order->place, (int64_t)(uintptr_t)order->outcome);
    order->argv[0] = "roost-checkpoint";
    order->argv[1] = order->pid.bytes;
    order->argv[2] = library->file;
    order->argv[3] = ends ? "end" : "go";
    order->argv[4] = order->place.bytes;
    order->argv[5] = library->log;
    order->argv[6] = NULL;
}

int take_image(struct library *library, bool ends)
{
    struct outcome *outcome = &library->outcome;
    int status = 0;
    outcome->is_told = 0;
    outcome->result = 0;
    outcome->text[0] = '\0';
    fill_order(library, ends);
    /* Where only parents may trace: while it runs, this process may be traced by its child. */
    (void)SYS2(prctl, PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    long waiter = start_helper(&library->order);
    long ended = waiter < 0 ? waiter : wait_for(waiter, (int)__WCLONE, &status);
    (void)SYS2(prctl, PR_SET_PTRACER, 0);
    if (waiter < 0) {
        tell_outcome(outcome, "cannot start the helper program", waiter);
    }
    if (__atomic_load_n(&outcome->is_told, __ATOMIC_ACQUIRE) != 0) {
        return outcome->result;
    }
    if (ended == -ECHILD) {
        return 1;
    }
    tell_outcome(outcome, "the process that waits for the helper program was killed", -EIO);
    return -EIO;
}
