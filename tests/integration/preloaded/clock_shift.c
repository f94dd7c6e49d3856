/* tests/integration/preloaded/clock_shift.c - preloaded by daemons of a test: shifts what they see
 * of the wall clock.
 *
 * CLOCK_SHIFT=FILE   the file holds the shift in nanoseconds, 8 bytes in the order of the machine.
 *                    A write of these 8 bytes is a jump of the clock, in all processes at once.
 *
 * Only the wall clock is shifted.  CLOCK_MONOTONIC and CLOCK_BOOTTIME, and the times of files, are
 * the machine's.  A library with shifted calls can be built by
 *     cc -O2 -D_GNU_SOURCE -shared -fPIC -o clock_shift.so clock_shift.c
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

static const volatile int64_t *shift_ns;

__attribute__((constructor)) static void map_shift(void)
{
    const char *path = getenv("CLOCK_SHIFT");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        void *map = mmap(NULL, sizeof *shift_ns, PROT_READ, MAP_SHARED, fd, 0);
        shift_ns = map != MAP_FAILED ? map : NULL;
        (void)close(fd);
    }
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, ret);
    if (rc == 0 && shift_ns != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = (int64_t)ret->tv_sec * SECOND_NS + ret->tv_nsec + *shift_ns;
        ret->tv_sec = (time_t)(ns / SECOND_NS);
        ret->tv_nsec = (long)(ns % SECOND_NS);
    }
    return rc;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL) {
        *ret = now.tv_sec;
    }
    return now.tv_sec;
}

int timespec_get(struct timespec *ret, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, ret) == 0 ? base : 0;
}
