/* tests/support/clock_shift.h - the test program's own clock_gettime(), by which it sets the wall
 * clock of everything in the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_CLOCK_SHIFT_H
#define TESTS_SUPPORT_CLOCK_SHIFT_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TEN_YEARS_S (INT64_C(10) * 365 * 86400)

static int64_t clock_shift_s; /* seconds by which CLOCK_REALTIME is wrong */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret);
    if (clock == CLOCK_REALTIME) {
        ret->tv_sec += clock_shift_s;
    }
    return result;
}

#endif
