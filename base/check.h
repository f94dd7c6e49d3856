/* base/check.h - CHECK: our own mistakes stop the program, in release builds too.
 *
 * Never CHECK what came from the wire, the disk or a user.  The master restarts the daemon, the
 * store restores it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            check_failed(#condition, __FILE__, __LINE__, __func__); \
        }                                                           \
    } while (0)

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Prints the condition and the place to stderr and aborts. */
_Noreturn void check_failed(const char *condition, const char *file, int line,
                            const char *function);

#endif
