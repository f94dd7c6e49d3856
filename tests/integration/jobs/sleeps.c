/* Waits longer than it is ever left alone: it comes to its end only if the rest of a wait is not
 * waited for in full once more.  None may end early, and none with EINTR.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000
#define LONG_MS  200

static const struct timespec LONG = {.tv_nsec = LONG_MS * 1000000L};

static int64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_BOOTTIME, &time);
    return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static int by_nanosleep(void)
{
    return nanosleep(&LONG, NULL);
}

static int by_clock(void)
{
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &LONG, NULL);
}

static int by_old_call(void) /* its number is not in the code before it */
{
    return (int)syscall(SYS_nanosleep, &LONG, NULL);
}

static int by_poll(void)
{
    return poll(NULL, 0, LONG_MS);
}

static int by_rest(void)
{
    struct timespec rest = LONG;
    return nanosleep(&rest, &rest);
}

static int by_select(void)
{
    return pselect(0, NULL, NULL, NULL, &LONG, NULL);
}

static int by_other_rest(void)
{
    struct timespec rest = {.tv_sec = 9};
    return nanosleep(&LONG, &rest);
}

static int by_epoll(void)
{
    struct epoll_event event;
    return epoll_wait(epoll_create1(EPOLL_CLOEXEC), &event, 1, LONG_MS);
}

static int by_precise_epoll(void)
{
    struct epoll_event event;
    int got =
        (int)syscall(SYS_epoll_pwait2, epoll_create1(EPOLL_CLOEXEC), &event, 1, &LONG, NULL, 8);
    return got < 0 && errno == ENOSYS ? by_poll() : got;
}

/* What is right is the end of the time. */
static int timed_out(long ret, int error)
{
    return ret == -1 && errno == error ? 0 : -1;
}

static int by_signal(void)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    return timed_out(sigtimedwait(&set, NULL, &LONG), EAGAIN);
}

static int by_futex(void)
{
    int word = 7;
    return timed_out(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &LONG, NULL, 0), ETIMEDOUT);
}

/* The kernel cannot write to that what is left. */
static int by_fixed_poll(void)
{
    return (int)syscall(SYS_ppoll, NULL, 0, &LONG, NULL, 8);
}

/* A call that gives the limit by a register that it keeps: as it was, after it. */
static int by_kept_register(void)
{
    struct epoll_event event;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    register long limit __asm__("r10") = LONG_MS;
    register long mask __asm__("r8") = 0;
    long ret;
    __asm__ volatile("syscall"
                     : "=a"(ret), "+r"(limit)
                     : "a"(SYS_epoll_pwait), "D"(epoll), "S"(&event), "d"(1), "r"(mask)
                     : "rcx", "r11", "memory");
    return ret == 0 && limit == LONG_MS ? 0 : -1;
}

/* The limit is the socket's: it is waited for in full after each image, so it is a short one. */
static int by_socket(void)
{
    const struct timeval limit = {.tv_usec = 50000};
    int both[2];
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0 ||
        setsockopt(both[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) {
        return -1;
    }
    for (int i = 0; i < 2 * LONG_MS / 50; i++) {
        if (timed_out(read(both[0], &byte, 1), EAGAIN) != 0) {
            return -1;
        }
    }
    return 0;
}

int main(void)
{
    int (*const WAYS[])(void) = {by_nanosleep,     by_clock,  by_old_call,   by_poll,
                                 by_rest,          by_select, by_epoll,      by_signal,
                                 by_precise_epoll, by_futex,  by_fixed_poll, by_kept_register,
                                 by_other_rest,    by_socket};
    for (size_t i = 0; i < sizeof WAYS / sizeof WAYS[0]; i++) {
        int64_t began = now();
        if (WAYS[i]() != 0 || now() - began < LONG.tv_nsec) {
            (void)printf("wrong: %zu: %m\n", i);
            return 1;
        }
    }
    (void)printf("rested\n");
    return 7;
}
