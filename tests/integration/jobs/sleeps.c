/* Sleeps longer than it is ever left alone: it comes to its end only if the rest of a sleep is not
 * slept in full once more.  None may end early, and none with EINTR.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

static const struct timespec LONG = {.tv_nsec = 400000000};

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
    return poll(NULL, 0, 400);
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

int main(void)
{
    int (*const WAYS[])(void) = {by_nanosleep, by_clock, by_old_call, by_poll, by_rest, by_select};
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
