/* base/os/os_terminal.h - the standard streams of a program that we spawn, in our hands: a pseudo
 * terminal, or three pipes.  Nothing here blocks.
 *
 * Design note: the terminal's slave stays ours and closed to others (mode 0600): the program has it
 * open and as its controlling terminal, and needs no name for it; other processes of its account,
 * which may be another job's, must not open it by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_TERMINAL_H
#define BASE_OS_OS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct os;
struct os_terminal;

struct os_terminal_spec {
    bool tty; /* a terminal of that size; else pipes */
    uint16_t rows, columns;
    void (*ready)(void *arg); /* something wanted (os_terminal_want()) can be done */
    void *arg;
};

/* For os_spawn.terminal, of one program. */
int os_terminal_open(struct os *os, const struct os_terminal_spec *spec, struct os_terminal **ret,
                     struct err *err);
void os_terminal_close(struct os_terminal *terminal); /* hangs up; NULL is allowed */

/* Which of its three streams ready() is to be called for; at first none. */
void os_terminal_want(struct os_terminal *terminal, bool input, bool output, bool error);
/* 1..length bytes of stream 1 or 2 (a terminal has 1 only); 0: its end; -EAGAIN: nothing now. */
ssize_t os_terminal_read(struct os_terminal *terminal, int stream, void *data, size_t length);
/* How many were taken; -EAGAIN: none now; -EPIPE: nobody will read them. */
ssize_t os_terminal_write(struct os_terminal *terminal, const void *data, size_t length);
/* No more input comes: pipes are closed, a terminal is given its end-of-file character. */
void os_terminal_end_input(struct os_terminal *terminal);
void os_terminal_resize(struct os_terminal *terminal, uint16_t rows, uint16_t columns);
/* The process group in the foreground; 0: none, or no terminal. */
pid_t os_terminal_foreground(struct os_terminal *terminal);

#endif
