/* base/os/os_output_linux.c - see os_output.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop_event.h"
#include "base/mem.h"

struct os_output {
    void (*writable)(void *arg);
    void *arg;
    struct loop_fd *watch; /* NULL: a plain file, which always takes everything */
    int fd;
    int flags; /* those of standard output before we had to change them; -1: unchanged */
    bool is_socket, owns_fd;
};

static void can_be_written(void *arg, unsigned ready)
{
    struct os_output *output = arg;
    (void)ready;
    output->writable(output->arg);
}

/* Another description of the same pipe or terminal, with flags of its own. */
static void open_again(struct os_output *output)
{
    int fd = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        output->fd = fd;
        output->owns_fd = true;
        return;
    }
    /* A pipe that another user has made: it cannot be opened, only changed. */
    output->flags = fcntl(STDOUT_FILENO, F_GETFL);
    (void)fcntl(STDOUT_FILENO, F_SETFL, output->flags | O_NONBLOCK);
}

int os_output_open(struct loop *loop, void (*writable)(void *arg), void *arg,
                   struct os_output **ret, struct err *err)
{
    struct stat st;
    if (fstat(STDOUT_FILENO, &st) != 0) {
        return err_set(err, -errno, "standard output: %s", strerror(errno));
    }
    struct os_output *output = mem_zalloc(sizeof(*output));
    *output = (struct os_output){.writable = writable,
                                 .arg = arg,
                                 .fd = STDOUT_FILENO,
                                 .flags = -1,
                                 .is_socket = S_ISSOCK(st.st_mode)};
    bool waits = S_ISFIFO(st.st_mode) || isatty(STDOUT_FILENO) == 1;
    if (waits) {
        open_again(output);
    }
    if (waits || output->is_socket) {
        output->watch = loop_fd_create(loop, output->fd, can_be_written, output);
    }
    *ret = output;
    return 0;
}

void os_output_close(struct os_output *output)
{
    if (output == NULL) {
        return;
    }
    loop_fd_destroy(output->watch);
    if (output->flags >= 0) {
        (void)fcntl(STDOUT_FILENO, F_SETFL, output->flags);
    }
    if (output->owns_fd) {
        close(output->fd);
    }
    mem_free(output);
}

void os_output_want(struct os_output *output, bool wanted)
{
    if (output->watch != NULL) {
        loop_fd_want(output->watch, wanted ? LOOP_WRITE : 0);
    }
}

ssize_t os_output_write(struct os_output *output, const void *data, size_t length)
{
    ssize_t took;
    do {
        took = output->is_socket ? send(output->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL)
                                 : write(output->fd, data, length);
    } while (took < 0 && errno == EINTR);
    return took >= 0 ? took : errno == EWOULDBLOCK ? -EAGAIN : -errno;
}

void os_output_leave(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)dup2(fd, STDOUT_FILENO);
        close(fd);
    }
}
