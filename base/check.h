/* base/check.h - CHECK: a false condition stops the program, in release builds too.
 *
 * CHECK is only for mistakes in the code of Roost, never for what came from the network, the disk
 * or a user.  A daemon that stops this way is started again by its master and restores its state
 * from its store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* Aborts with a message when the condition is false.  The condition is always evaluated. */
#define CHECK(condition)                                            \
    do {                                                            \
        if (!(condition)) {                                         \
            check_failed(#condition, __FILE__, __LINE__, __func__); \
        }                                                           \
    } while (0)

/* Number of elements of an array (not of a pointer). */
#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Prints the condition that was false, file, line and function to stderr, and aborts. */
_Noreturn void check_failed(const char *condition, const char *file, int line,
                            const char *function);

#endif
