/* base/os/os_console_linux.c - see os_console.h.
 *
 * Standard input is shared with the program that started us and stays blocking: so it is read only
 * when there is something.  A regular file, for which no loop can wait, always has something.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_console.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop_event.h"
#include "base/mem.h"

struct os_console {
    void (*readable)(void *arg);
    void *arg;
    struct loop_fd *watch;    /* NULL: a plain file */
    struct loop_timer *timer; /* of a plain file */
    bool raw, wanted;
    struct termios before;
};

bool os_console_is_tty(void)
{
    return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
}

bool os_console_size(uint16_t *rows, uint16_t *columns)
{
    struct winsize size;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        return false;
    }
    *rows = size.ws_row;
    *columns = size.ws_col;
    return true;
}

static void can_be_read(void *arg, unsigned ready)
{
    struct os_console *console = arg;
    (void)ready;
    console->readable(console->arg);
}

static void file_can_be_read(void *arg)
{
    struct os_console *console = arg;
    if (console->wanted) {
        console->readable(console->arg);
    }
}

static int make_raw(struct os_console *console, struct err *err)
{
    if (tcgetattr(STDIN_FILENO, &console->before) != 0) {
        return err_set(err, -errno, "the terminal: %s", strerror(errno));
    }
    struct termios raw = console->before;
    cfmakeraw(&raw);
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) {
        return err_set(err, -errno, "the terminal: %s", strerror(errno));
    }
    console->raw = true;
    return 0;
}

int os_console_open(struct loop *loop, bool raw, void (*readable)(void *arg), void *arg,
                    struct os_console **ret, struct err *err)
{
    struct os_console *console = mem_zalloc(sizeof(*console));
    struct stat st;
    console->readable = readable;
    console->arg = arg;
    int code = raw ? make_raw(console, err) : 0;
    if (code != 0) {
        mem_free(console);
        return code;
    }
    bool waits = fstat(STDIN_FILENO, &st) == 0 &&
                 (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(STDIN_FILENO) == 1);
    if (waits) {
        console->watch = loop_fd_create(loop, STDIN_FILENO, can_be_read, console);
    } else {
        console->timer = loop_timer_create(loop, file_can_be_read, console);
    }
    *ret = console;
    return 0;
}

void os_console_close(struct os_console *console)
{
    if (console == NULL) {
        return;
    }
    if (console->raw) {
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &console->before); /* nobody to tell */
    }
    loop_fd_destroy(console->watch);
    loop_timer_destroy(console->timer);
    mem_free(console);
}

void os_console_want(struct os_console *console, bool wanted)
{
    console->wanted = wanted;
    if (console->watch != NULL) {
        loop_fd_want(console->watch, wanted ? LOOP_READ : 0);
    } else if (wanted) {
        loop_timer_set(console->timer, 0);
    }
}

ssize_t os_console_read(struct os_console *console, void *data, size_t length)
{
    (void)console;
    ssize_t got;
    do {
        got = read(STDIN_FILENO, data, length);
    } while (got < 0 && errno == EINTR);
    return got >= 0 ? got : errno == EIO ? 0 : -errno;
}
