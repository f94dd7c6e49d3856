/* base/os/os_terminal.h - the starting process's end of the standard streams of a program: a pseudo
 * terminal, or three pipes.  No call blocks.
 *
 * Design note: the program's end of the terminal (the slave) belongs to the user of the starting
 * process and is closed to others (mode 0600).  The program has it open, as its controlling
 * terminal, and needs no name for it.  Other processes of its account, perhaps another job's, must
 * not be able to open it by its name.
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
    bool tty; /* true: a terminal with rows and columns; false: pipes */
    uint16_t rows, columns;
    /* Called when one of the streams asked for with os_terminal_want() is ready. */
    void (*ready)(void *arg);
    void *arg;
};

/* Opens a terminal or pipes for one program, for the field `terminal` of struct os_spawn.
 * Returns 0 or -errno. */
int os_terminal_open(struct os *os, const struct os_terminal_spec *spec, struct os_terminal **ret,
                     struct err *err);
/* Hangs up the terminal or closes the pipes, and frees the struct.  NULL is allowed. */
void os_terminal_close(struct os_terminal *terminal);

/* Says for which of the three streams ready() is to be called; at first for none. */
void os_terminal_want(struct os_terminal *terminal, bool input, bool output, bool error);
/* Reads from stream 1 or 2 (a terminal has only 1).  Returns 1..length bytes; 0: end; -EAGAIN:
 * nothing yet. */
ssize_t os_terminal_read(struct os_terminal *terminal, int stream, void *data, size_t length);
/* Writes to the program's standard input.  Returns how many bytes were taken; -EAGAIN: none now;
 * -EPIPE: nobody reads them any more. */
ssize_t os_terminal_write(struct os_terminal *terminal, const void *data, size_t length);
/* Ends the program's input: closes the pipe, or sends the terminal's end-of-file character. */
void os_terminal_end_input(struct os_terminal *terminal);
void os_terminal_resize(struct os_terminal *terminal, uint16_t rows, uint16_t columns);
/* Returns the process group in the foreground of the terminal; 0: none, or not a terminal. */
pid_t os_terminal_foreground(struct os_terminal *terminal);

#endif
