/* ckpt/library/watch.c - the thread that takes the signals, and watches the time.
 *
 * A handler would interrupt what the program waits for: read() could go on by itself, nanosleep(),
 * poll() and select() cannot.  So the signals are blocked in the program's threads, and this one
 * waits for them.  It is made by a plain clone(): for the C library the program has still one
 * thread, with all that it does faster then.
 *
 * A thread that has unblocked the signals after all gets a handler, which hands them on here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "ckpt/library/library.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define SIGNAL_BYTES  8
#define BIT(signal)   (UINT64_C(1) << ((signal)-1))
#define OUR_SIGNALS   (BIT(SIGTSTP) | BIT(SIGUSR2))
#define NS_PER_SECOND INT64_C(1000000000)
#define LOOK_S        1 /* how often the one with hooks looks whether there is nobody else */
#define THREADS_WORD  20

int64_t watch_now_ns(void)
{
    int64_t now[2] = {0, 0};
    (void)SYS2(clock_gettime, CLOCK_MONOTONIC, now);
    return now[0] * NS_PER_SECOND + now[1];
}

/* Returns in left how long it is until the interval ends.  False: there is no interval. */
static bool time_left(const struct library *library, int64_t left[2])
{
    int64_t whole = __atomic_load_n(&library->interval_s, __ATOMIC_SEQ_CST) * NS_PER_SECOND;
    int64_t gone = watch_now_ns() - __atomic_load_n(&library->last_ns, __ATOMIC_SEQ_CST);
    gone = gone < 0 ? 0 : gone; /* resumed on a machine that was started later */
    int64_t ns = gone < whole ? whole - gone : 0;
    left[0] = ns / NS_PER_SECOND;
    left[1] = ns % NS_PER_SECOND;
    return whole > 0;
}

static bool is_watcher(const struct library *library, int32_t self)
{
    return __atomic_load_n(&library->watcher, __ATOMIC_SEQ_CST) == self;
}

/* Returns whether the signal came from watch_wake(). */
static bool is_wake(const struct library *library, const siginfo_t *info)
{
    return info->si_code == SI_QUEUE && info->si_pid == library->pid &&
           info->si_value.sival_ptr == library;
}

/* The other threads have ended, the first one by pthread_exit(): the kernel keeps its number until
 * all have.  What /proc says of a process: "7 (name) Z ...", the 20th word: how many threads. */
static bool is_last(void)
{
    char text[512];
    const char *at = NULL;
    long fd = SYS4(openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
    long got = fd >= 0 ? SYS3(read, fd, text, sizeof text - 1) : 0;
    if (fd >= 0) {
        (void)SYS1(close, fd);
    }
    text[got > 0 ? got : 0] = '\0';
    for (const char *each = text; *each != '\0'; each++) {
        at = *each == ')' ? each : at;
    }
    if (at == NULL || at[1] != ' ' || at[2] != 'Z') {
        return false;
    }
    for (int word = 2; word < THREADS_WORD && *at != '\0'; at++) {
        word += *at == ' ' ? 1 : 0;
    }
    return text_number(&at, 10) == 2;
}

void watch_run(struct library *library, bool hooks)
{
    const uint64_t ours = OUR_SIGNALS;
    int32_t self = (int32_t)SYS0(gettid);
    while (is_watcher(library, self)) {
        int64_t left[2];
        siginfo_t info;
        bool timed = time_left(library, left), looks = hooks && (!timed || left[0] >= LOOK_S);
        if (looks) {
            left[0] = LOOK_S;
            left[1] = 0;
        }
        long got = SYS4(rt_sigtimedwait, &ours, &info, timed || looks ? left : NULL, SIGNAL_BYTES);
        if (got == -EAGAIN && looks) {
            if (is_last()) {
                return; /* then the process has ended */
            }
            continue;
        }
        if (got == -EINTR || (got > 0 && is_wake(library, &info))) {
            continue;
        }
        if (!is_watcher(library, self)) {
            (void)SYS3(tgkill, library->pid, library->watcher, got > 0 ? got : SIGUSR2);
        } else if (got > 0 || got == -EAGAIN) {
            (void)library_take(library, got == SIGTSTP, hooks);
        }
    }
}

static void run_unknown(void *arg)
{
    static const char NAME[] = "roost-watch";
    const struct library *library = arg;
    (void)SYS2(prctl, PR_SET_NAME, NAME);
    while (is_watcher(library, 0)) {
        (void)SYS0(sched_yield); /* until our number is there: microseconds */
    }
    watch_run(arg, false);
}

int watch_start(struct library *library)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask = 0;
    void *stack_end = library->watcher_stack + sizeof library->watcher_stack;
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &all, &mask, SIGNAL_BYTES);
    long tid = library_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                                 CLONE_SYSVSEM,
                             stack_end, run_unknown, library);
    if (tid > 0) { /* from now on they are never let through here, not for a moment */
        __atomic_store_n(&library->watcher, (int32_t)tid, __ATOMIC_SEQ_CST);
        mask |= OUR_SIGNALS;
    }
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, SIGNAL_BYTES);
    return tid > 0 ? 0 : (int)tid;
}

void watch_wake(const struct library *library, int32_t watcher)
{
    siginfo_t info = {.si_signo = SIGUSR2, .si_code = SI_QUEUE};
    info.si_pid = library->pid;
    info.si_value.sival_ptr = (void *)(uintptr_t)library;
    if (watcher != 0) {
        (void)SYS4(rt_tgsigqueueinfo, library->pid, watcher, SIGUSR2, &info);
    }
}
