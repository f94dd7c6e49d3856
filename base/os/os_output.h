/* base/os/os_output.h - standard output that never blocks its writer; for command line programs
 * only.
 *
 * Problem: standard output is shared with the program that started us, perhaps with a user's shell:
 * O_NONBLOCK would change it for them, too.  So a pipe or a terminal is opened a second time, and a
 * socket is asked for each call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_OUTPUT_H
#define BASE_OS_OS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct err;
struct loop;
struct os_output;

/* Opens standard output. writable(arg) is called when something can be written, while
 * os_output_want() asks for that.  Returns 0 or -errno. */
int os_output_open(struct loop *loop, void (*writable)(void *arg), void *arg,
                   struct os_output **ret, struct err *err);
/* Frees the struct; standard output itself stays open.  NULL is allowed. */
void os_output_close(struct os_output *output);
/* Sets whether writable() is to be called; at first it is not. */
void os_output_want(struct os_output *output, bool wanted);
/* Writes what can be written now.  Returns how many bytes were taken; -EAGAIN: none now; or another
 * -errno: -EPIPE, nobody reads any more. */
ssize_t os_output_write(struct os_output *output, const void *data, size_t length);

/* Points standard output to nothing, for good: whoever reads it sees its end. */
void os_output_leave(void);

#endif
