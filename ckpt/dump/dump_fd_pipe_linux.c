/* ckpt/dump/dump_fd_pipe_linux.c - pipes, with a name or without one.
 *
 * Both ends must be the job's, or the other one gone.  What waits in it is duplicated with tee(),
 * not read; packets (O_DIRECT) stay packets: each is an extent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump_fd.h"

static bool is_other_end(const struct open_file *other, const struct open_file *file)
{
    uint32_t a = other->flags & O_ACCMODE, b = file->flags & O_ACCMODE;
    return (other->flags & O_PATH) == 0 && (a != b || b == O_RDWR);
}

static bool is_reader(const struct open_file *file)
{
    return (file->flags & O_ACCMODE) != O_WRONLY && (file->flags & O_PATH) == 0;
}

/* True for a reading end that comes before this one: the contents are saved with that. */
static bool is_earlier_reader(const struct open_file *other, const struct open_file *file)
{
    return other < file && other->first != file->first && is_reader(other);
}

/* Returns whether nobody has the other end any more: the job will read the end of the data, or be
 * told that nobody reads. */
static bool is_end_gone(int fd)
{
    struct pollfd end = {.fd = fd};
    return poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
}

static int put_all(struct files *files, struct ckpt_file *saved, int fd, size_t bytes)
{
    unsigned char *chunk = mem_alloc(bytes);
    size_t done = 0;
    int rc = 0;
    while (rc == 0 && done < bytes) {
        ssize_t got = read(fd, chunk, bytes); /* a packet, or all that is none */
        rc = got > 0 ? fd_put_message(files, saved, chunk, (size_t)got) : got < 0 ? -errno : -EIO;
        done += got > 0 ? (size_t)got : 0;
    }
    mem_free(chunk);
    return rc;
}

/* Saves what waits in the pipe, without taking it out. */
static int put_waiting(struct files *files, struct ckpt_file *saved, int fd)
{
    int ends[2], waiting = 0;
    if (ioctl(fd, FIONREAD, &waiting) != 0 || waiting == 0) {
        return 0;
    }
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -errno;
    }
    (void)fcntl(ends[1], F_SETPIPE_SZ, saved->pipe_bytes);
    ssize_t got = tee(fd, ends[1], saved->pipe_bytes, SPLICE_F_NONBLOCK);
    (void)close(ends[1]);
    int rc = got != waiting ? -ENOBUFS : put_all(files, saved, ends[0], (size_t)waiting);
    (void)close(ends[0]);
    saved->bytes = (uint64_t)waiting;
    return rc;
}

int fd_save_pipe(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    saved->kind = CKPT_PIPE;
    saved->id = file->st.st_ino;
    int fd = fd_fetch(file);
    if (fd < 0) {
        return fd_fail(files, file, fd);
    }
    int rc = 0, bytes = fcntl(fd, F_GETPIPE_SZ);
    saved->pipe_bytes = bytes > 0 ? (uint32_t)bytes : 0;
    if (!fd_has_other(files, file, is_other_end) && !is_end_gone(fd)) {
        rc = fd_refuse(files, file, "a process outside of the job has the other end of the pipe");
    } else if (is_reader(file) && !fd_has_other(files, file, is_earlier_reader)) {
        rc = put_waiting(files, saved, fd);
        rc = rc == -ENOBUFS ? fd_refuse(files, file,
                                        "the pipe holds more bytes than a new pipe may hold "
                                        "(fs.pipe-max-size, fs.pipe-user-pages-soft)")
             : rc != 0      ? fd_fail(files, file, rc)
                            : 0;
    }
    (void)close(fd);
    return rc;
}
