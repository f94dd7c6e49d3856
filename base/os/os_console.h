/* base/os/os_console.h - the terminal, pipe or file that a command was started on: for the command
 * line only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_CONSOLE_H
#define BASE_OS_OS_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct loop;
struct os_console;

bool os_console_is_tty(void); /* standard input and output are a terminal */

/* readable(arg) is called when there is standard input, its end included, while that is wanted.
 * raw: each key is input, and the terminal shows and interprets nothing, until it is closed. */
int os_console_open(struct loop *loop, bool raw, void (*readable)(void *arg), void *arg,
                    struct os_console **ret, struct err *err);
void os_console_close(struct os_console *console); /* the terminal is as it was; NULL is allowed */
void os_console_want(struct os_console *console, bool wanted); /* at first not */
/* Once each time that readable() was called.  0: the end; or -errno. */
ssize_t os_console_read(struct os_console *console, void *data, size_t length);
/* False: no terminal. */
bool os_console_size(uint16_t *rows, uint16_t *columns);

#endif
