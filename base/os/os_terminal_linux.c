/* base/os/os_terminal_linux.c - see os_terminal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/os/os_spawn_linux.h"

#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41) /* Linux 4.13 */
#endif

struct os_terminal {
    struct os_terminal_spec spec;
    int ours[3];   /* a terminal: [0] alone; -1: closed */
    int theirs[3]; /* until the program has them; a terminal: [0] alone */
    struct loop_fd *watch[3];
};

static void close_end(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* Opens the other end, without using its name if the kernel can do that. */
static int open_slave(int master)
{
    const int flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
    char path[64];
    int number = -1, locked = 0;
    if (ioctl(master, TIOCSPTLCK, &locked) != 0) {
        return -1;
    }
    int fd = ioctl(master, TIOCGPTPEER, flags);
    if (fd >= 0 || (errno != EINVAL && errno != ENOTTY) || ioctl(master, TIOCGPTN, &number) != 0) {
        return fd;
    }
    (void)snprintf(path, sizeof(path), "/dev/pts/%d", number);
    return open(path, flags);
}

static int open_tty(struct os_terminal *terminal)
{
    terminal->ours[0] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal->ours[0] < 0) {
        return -errno;
    }
    terminal->theirs[0] = open_slave(terminal->ours[0]);
    if (terminal->theirs[0] < 0 || fchmod(terminal->theirs[0], 0600) != 0) {
        return -errno;
    }
    os_terminal_resize(terminal, terminal->spec.rows, terminal->spec.columns);
    return 0;
}

static int open_pipes(struct os_terminal *terminal)
{
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            return -errno;
        }
        terminal->ours[i] = ends[i == 0 ? 1 : 0];
        terminal->theirs[i] = ends[i == 0 ? 0 : 1];
        if (fcntl(terminal->ours[i], F_SETFL, O_NONBLOCK) != 0) {
            return -errno;
        }
    }
    return 0;
}

static void is_ready(void *arg, unsigned ready)
{
    struct os_terminal *terminal = arg;
    (void)ready;
    terminal->spec.ready(terminal->spec.arg);
}

int os_terminal_open(struct os *os, const struct os_terminal_spec *spec, struct os_terminal **ret,
                     struct err *err)
{
    struct os_terminal *terminal = mem_zalloc(sizeof(*terminal));
    *terminal = (struct os_terminal){.spec = *spec, .ours = {-1, -1, -1}, .theirs = {-1, -1, -1}};
    int code = spec->tty ? open_tty(terminal) : open_pipes(terminal);
    if (code != 0) {
        os_terminal_close(terminal);
        return err_set(err, code, "cannot open %s: %s", spec->tty ? "a terminal" : "pipes",
                       strerror(-code));
    }
    for (int i = 0; i < 3 && terminal->ours[i] >= 0; i++) {
        terminal->watch[i] = loop_fd_create(os->loop, terminal->ours[i], is_ready, terminal);
    }
    *ret = terminal;
    return 0;
}

static void close_stream(struct os_terminal *terminal, int stream)
{
    loop_fd_destroy(terminal->watch[stream]);
    terminal->watch[stream] = NULL;
    close_end(&terminal->ours[stream]);
}

void os_terminal_close(struct os_terminal *terminal)
{
    if (terminal == NULL) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        close_stream(terminal, i);
        close_end(&terminal->theirs[i]);
    }
    mem_free(terminal);
}

void os_terminal_want(struct os_terminal *terminal, bool input, bool output, bool error)
{
    unsigned what[3] = {input ? LOOP_WRITE : 0, output ? LOOP_READ : 0, error ? LOOP_READ : 0};
    if (terminal->spec.tty) {
        what[0] |= what[1];
    }
    for (int i = 0; i < 3; i++) {
        if (terminal->watch[i] != NULL) {
            loop_fd_want(terminal->watch[i], what[i]);
        }
    }
}

ssize_t os_terminal_read(struct os_terminal *terminal, int stream, void *data, size_t length)
{
    int at = terminal->spec.tty && stream == 1 ? 0 : stream;
    if (terminal->ours[at] < 0 || (terminal->spec.tty && stream != 1)) {
        return 0;
    }
    ssize_t got;
    do {
        got = read(terminal->ours[at], data, length);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) {
        return -EAGAIN;
    }
    /* EIO: nobody has the terminal's other end open. */
    return got > 0 ? got : 0;
}

ssize_t os_terminal_write(struct os_terminal *terminal, const void *data, size_t length)
{
    if (terminal->ours[0] < 0) {
        return -EPIPE;
    }
    ssize_t took;
    do {
        took = write(terminal->ours[0], data, length);
    } while (took < 0 && errno == EINTR);
    return took >= 0 ? took : errno == EAGAIN ? -EAGAIN : -EPIPE;
}

void os_terminal_end_input(struct os_terminal *terminal)
{
    if (terminal->spec.tty) {
        struct termios settings;
        unsigned char end = 4;
        if (tcgetattr(terminal->ours[0], &settings) == 0) {
            end = settings.c_cc[VEOF];
        }
        (void)os_terminal_write(terminal, &end, 1); /* a full terminal has no reader */
    } else {
        close_stream(terminal, 0);
    }
}

void os_terminal_resize(struct os_terminal *terminal, uint16_t rows, uint16_t columns)
{
    struct winsize size = {.ws_row = rows, .ws_col = columns};
    if (terminal->spec.tty) {
        (void)ioctl(terminal->ours[0], TIOCSWINSZ, &size); /* a wish */
    }
}

pid_t os_terminal_foreground(struct os_terminal *terminal)
{
    pid_t group = 0;
    return terminal->spec.tty && ioctl(terminal->ours[0], TIOCGPGRP, &group) == 0 ? group : 0;
}

void os_terminal_theirs(const struct os_terminal *terminal, int fds[3], bool *tty)
{
    *tty = terminal->spec.tty;
    for (int i = 0; i < 3; i++) {
        fds[i] = terminal->theirs[*tty ? 0 : i];
    }
}

void os_terminal_started(struct os_terminal *terminal)
{
    for (int i = 0; i < 3; i++) {
        close_end(&terminal->theirs[i]);
    }
}
