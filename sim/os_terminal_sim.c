/* sim/os_terminal_sim.c - base/os/os_terminal.h for a simulated process: there are no terminals,
 * and no pipes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_terminal.h"

#include <errno.h>

#include "base/err.h"

int os_terminal_open(struct os *os, const struct os_terminal_spec *spec, struct os_terminal **ret,
                     struct err *err)
{
    (void)os;
    (void)spec;
    (void)ret;
    return err_set(err, -ENOTSUP, "no terminals in a simulation");
}

void os_terminal_close(struct os_terminal *terminal)
{
    (void)terminal;
}

void os_terminal_want(struct os_terminal *terminal, bool input, bool output, bool error)
{
    (void)terminal;
    (void)input;
    (void)output;
    (void)error;
}

ssize_t os_terminal_read(struct os_terminal *terminal, int stream, void *data, size_t length)
{
    (void)terminal;
    (void)stream;
    (void)data;
    (void)length;
    return 0;
}

ssize_t os_terminal_write(struct os_terminal *terminal, const void *data, size_t length)
{
    (void)terminal;
    (void)data;
    (void)length;
    return -EPIPE;
}

void os_terminal_end_input(struct os_terminal *terminal)
{
    (void)terminal;
}

void os_terminal_resize(struct os_terminal *terminal, uint16_t rows, uint16_t columns)
{
    (void)terminal;
    (void)rows;
    (void)columns;
}

pid_t os_terminal_foreground(struct os_terminal *terminal)
{
    (void)terminal;
    return 0;
}
