/* ckpt/stub/fd_kernel.c - open files that are the kernel's own: eventfd, timerfd, signalfd, pidfd;
 * and what is watched by an epoll or an inotify.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <linux/sched.h>
#include <linux/time_types.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"

/* linux/include/uapi/linux/timerfd.h, inotify.h; both only with CONFIG_CHECKPOINT_RESTORE */
#define SET_TICKS      _IOW('T', 0, uint64_t)
#define SET_NEXT_WATCH _IOW('I', 0, int32_t)

#define SECOND INT64_C(1000000000)
/* Of an epoll's events: how, not which. */
#define HOW (EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE)

static uint32_t flags_of(const struct ckpt_file *file)
{
    return O_CLOEXEC | (file->flags & O_NONBLOCK);
}

long fd_open_event(const struct stub *stub, const struct ckpt_file *file)
{
    uint32_t semaphore = file->detail != 0 ? EFD_SEMAPHORE : 0;
    uint64_t count = file->value;
    long fd = stub_must(stub, SYS2(eventfd2, 0, flags_of(file) | semaphore), "creating an eventfd");
    if (count != 0) {
        stub_must(stub, SYS3(write, fd, &count, sizeof count), "setting the count of an eventfd");
    }
    return fd;
}

/* ---- timerfd */

static void set_clock(const struct stub *stub, const struct ckpt_file *file, long fd)
{
    struct __kernel_itimerspec spec = {.it_interval = {file->interval_s, file->interval_ns},
                                       .it_value = {file->left_s, file->left_ns}};
    bool armed = file->left_s != 0 || file->left_ns != 0;
    if (armed && (file->detail & TFD_TIMER_ABSTIME) != 0 && file->clock != CLOCK_REALTIME) {
        struct __kernel_timespec now;
        stub_must(stub, SYS2(clock_gettime, file->clock, &now), "reading the clock");
        int64_t ns = spec.it_value.tv_nsec + now.tv_nsec;
        spec.it_value.tv_sec += now.tv_sec + ns / SECOND;
        spec.it_value.tv_nsec = ns % SECOND;
    }
    stub_must(stub, SYS4(timerfd_settime, fd, file->detail, &spec, NULL), "creating a timerfd");
}

long fd_open_clock(const struct stub *stub, const struct ckpt_file *file)
{
    uint64_t ticks = file->value;
    long fd =
        stub_must(stub, SYS2(timerfd_create, file->clock, flags_of(file)), "setting a timerfd");
    set_clock(stub, file, fd);
    if (ticks != 0 && SYS3(ioctl, fd, SET_TICKS, &ticks) != 0) {
        struct ckpt_file soon = *file; /* at least it goes off */
        soon.left_s = 0;
        soon.left_ns = 1;
        soon.detail = 0;
        set_clock(stub, &soon, fd);
    }
    return fd;
}

/* ---- signalfd, pidfd */

long fd_open_signals(const struct stub *stub, const struct ckpt_file *file)
{
    uint64_t mask = file->value;
    return stub_must(stub, SYS4(signalfd4, -1, &mask, sizeof mask, flags_of(file)),
                     "creating a signalfd");
}

/* Opens a pidfd of a process that has ended and was waited for. */
static long open_ended(const struct stub *stub)
{
    int fd = -1;
    siginfo_t info;
    struct clone_args args = {.flags = CLONE_PIDFD, .pidfd = (uint64_t)(uintptr_t)&fd};
    long pid = SYS2(clone3, &args, sizeof args);
    if (pid == 0) {
        (void)SYS1(exit_group, 0);
    }
    stub_must(stub, pid, "creating a process that has ended");
    (void)SYS5(waitid, P_PID, pid, &info, WEXITED | __WALL, NULL);
    return fd;
}

long fd_open_pidfd(const struct stub *stub, const struct ckpt_file *file)
{
    if (file->value == 0) {
        return open_ended(stub);
    }
    return stub_must(stub, SYS2(pidfd_open, file->value, file->flags & O_NONBLOCK),
                     "opening a pidfd");
}

/* ---- epoll */

/* Adds a file that has reported once and must not report again until it is asked (EPOLLONESHOT).
 * The kernel does not accept that state, so it is made to report what it can. */
static long add_silent(int epoll, int number, struct epoll_event *event)
{
    struct epoll_event got;
    event->events |= EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP;
    long rc = SYS4(epoll_ctl, epoll, EPOLL_CTL_ADD, number, event);
    if (rc == 0 && SYS4(epoll_wait, epoll, &got, 1, 0) == 0) {
        event->events &= HOW;
        rc = SYS4(epoll_ctl, epoll, EPOLL_CTL_MOD, number, event);
    }
    return rc;
}

/* An epoll remembers the number under which a file was added: for that moment the file gets that
 * number. */
static void add_to_epoll(const struct stub *stub, const struct ckpt_watch *watch, int from)
{
    int epoll = fd_place(stub, watch->in), number = watch->number;
    struct epoll_event event = {.events = watch->events, .data.u64 = watch->data};
    bool silent = (watch->events & ~(uint32_t)HOW) == 0;
    long flags = SYS3(fcntl, number, F_GETFD, 0);
    long kept = flags >= 0 ? SYS3(fcntl, number, F_DUPFD_CLOEXEC, 0) : -1;
    if (from != number) {
        stub_must(stub, SYS3(dup3, from, number, O_CLOEXEC), "adding a file to an epoll");
    }
    long rc = silent ? add_silent(epoll, number, &event)
                     : SYS4(epoll_ctl, epoll, EPOLL_CTL_ADD, number, &event);
    if (kept >= 0) {
        (void)SYS3(dup3, kept, number, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
        (void)SYS1(close, kept);
    } else {
        (void)SYS1(close, number);
    }
    if (rc != 0 && !fd_is_inherited(stub, fd_file(stub, watch->file))) {
        stub_fail(stub, "adding to an epoll", stub_text(stub, fd_file(stub, watch->file)->path),
                  rc);
    }
}

/* Finds the number at which this process has the watched file. */
static int find_watched(const struct stub *stub, const struct ckpt_watch *watch)
{
    for (uint32_t i = 0; watch->process != CKPT_NOBODY && i < stub->process->fds.count; i++) {
        if (fd_own(stub, i)->file == watch->file) {
            return fd_own(stub, i)->fd;
        }
    }
    return fd_place(stub, watch->file);
}

/* ---- inotify */

static void add_to_inotify(const struct stub *stub, const struct ckpt_watch *watch)
{
    const char *path = stub_text(stub, watch->path);
    int inotify = fd_place(stub, watch->in);
    long number = SYS3(ioctl, inotify, SET_NEXT_WATCH, watch->number);
    if (number == 0) {
        number = SYS3(inotify_add_watch, inotify, path, watch->events | IN_DONT_FOLLOW);
    }
    if (number != watch->number) {
        stub_fail(stub, "adding to an inotify", path, number < 0 ? number : -EEXIST);
    }
}

static void add_all(const struct stub *stub, uint32_t process, bool silent)
{
    uint32_t count = (uint32_t)stub->head->tables[CKPT_WATCHES].count;
    for (uint32_t i = 0; i < count; i++) {
        const struct ckpt_watch *watch = STUB_ENTRY(stub, CKPT_WATCHES, struct ckpt_watch, i);
        bool is_silent = (watch->events & ~(uint32_t)HOW) == 0;
        if (watch->process != process || is_silent != silent) {
            continue;
        }
        if (watch->file == CKPT_NOBODY) {
            add_to_inotify(stub, watch);
        } else {
            add_to_epoll(stub, watch, find_watched(stub, watch));
        }
    }
}

void fd_add_watches(const struct stub *stub, uint32_t process)
{
    add_all(stub, process, true); /* first: nothing else may be told meanwhile */
    add_all(stub, process, false);
}
