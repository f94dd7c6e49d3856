/* base/os/os_console.h - the terminal, pipe or file on which a command was started; for command
 * line programs only.
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

/* returns whether standard input and standard output are both terminals */
bool os_console_is_tty(void);

/* Opens standard input. readable(arg) is called when there is input, or input has ended, while
 * os_console_want() asks for that. raw true: until os_console_close() each key is input at once,
 * and the terminal neither echoes nor interprets keys.  Returns 0 or -errno. */
int os_console_open(struct loop *loop, bool raw, void (*readable)(void *arg), void *arg,
                    struct os_console **ret, struct err *err);
/* Restores the settings of the terminal and frees the console.  NULL is allowed. */
void os_console_close(struct os_console *console);
/* Sets whether readable() is to be called; at first it is not. */
void os_console_want(struct os_console *console, bool wanted);
/* Reads available input; may be called once for each call of readable().  Returns the number of
 * bytes; 0: end of input; or -errno. */
ssize_t os_console_read(struct os_console *console, void *data, size_t length);
/* Gives the size of the terminal, in characters.  Returns false if it is not a terminal. */
bool os_console_size(uint16_t *rows, uint16_t *columns);

#endif
