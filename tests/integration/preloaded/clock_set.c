/* tests/integration/preloaded/clock_set.c - preloaded by the daemons of a pool: their wall clock is
 * wrong by the seconds that the file CLOCK_SET has, eight bytes, which may change at any time.
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

static const volatile int64_t *wrong_s; /* NULL: right */

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("CLOCK_SET");
    int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = fd >= 0 ? mmap(NULL, sizeof(*wrong_s), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    wrong_s = page != MAP_FAILED ? page : NULL;
    if (fd >= 0) {
        (void)close(fd);
    }
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret);
    if (result == 0 && wrong_s != NULL &&
        (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        ret->tv_sec += *wrong_s;
    }
    return result;
}

time_t time(time_t *ret)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
    if (ret != NULL) {
        *ret = now.tv_sec;
    }
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now = {0};
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
    *ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
}
