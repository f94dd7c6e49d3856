/* ckpt/stub/fd_pipe.c - pipes, with a name or without one, and pairs of sockets.
 *
 * All ends that belong together are made together, and filled with what waited to be read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"

static uint32_t access_of(const struct ckpt_file *file)
{
    return file->flags & O_ACCMODE;
}

static bool belongs_to(const struct ckpt_file *file, const struct ckpt_file *first)
{
    return file->kind == first->kind && file->id == first->id;
}

/* Puts back what waited, as whole messages; the buffer for the longest one is not on the stack. */
static void fill_end(const struct stub *stub, const struct ckpt_file *file,
                     void (*put)(const struct stub *stub, int end, const void *bytes,
                                 uint64_t count),
                     int end)
{
    for (uint32_t i = 0; i < file->extents.count; i++) {
        const struct ckpt_extent *extent =
            STUB_ENTRY(stub, CKPT_EXTENTS, struct ckpt_extent, file->extents.first + i);
        long room = SYS6(mmap, NULL, extent->bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stub_must(stub, room, "making room for the contents of a pipe");
        fd_read_extent(stub, (void *)room, extent);
        put(stub, end, (const void *)room, extent->bytes);
        (void)SYS2(munmap, room, extent->bytes);
    }
}

/* ---- pipes */

static void put_in_pipe(const struct stub *stub, int end, const void *bytes, uint64_t count)
{
    uint64_t done = 0;
    while (done < count) {
        long rc = SYS3(write, end, (const char *)bytes + done, count - done);
        if (rc <= 0) {
            stub_fail(stub, "restoring the contents of a pipe", "", rc < 0 ? rc : -EIO);
        }
        done += (uint64_t)rc;
    }
}

/* Puts an end to its place: as it was made, or opened once more. */
static void put_end(const struct stub *stub, uint32_t index, int end, bool *is_used)
{
    const struct ckpt_file *file = fd_file(stub, index);
    int place = fd_place(stub, index);
    if (!*is_used && access_of(file) != O_RDWR) {
        stub_must(stub, SYS3(dup3, end, place, O_CLOEXEC), "opening an end of a pipe");
        *is_used = true;
    } else {
        fd_put_at(stub,
                  stub_must(stub, fd_reopen(end, access_of(file) | O_NONBLOCK),
                            "setting up a pipe"),
                  place);
    }
    (void)SYS3(fcntl, place, F_SETFL, file->flags & (O_NONBLOCK | O_DIRECT | O_APPEND));
}

static void make_ends(const struct stub *stub, const struct ckpt_file *file, int ends[2])
{
    const char *path = stub_text(stub, file->path);
    if (path[0] != '/') {
        stub_must(stub, SYS2(pipe2, ends, O_CLOEXEC | O_NONBLOCK), "creating a pipe");
        return;
    }
    for (int i = 0; i < 2; i++) { /* for reading and writing: that waits for nobody */
        long fd = SYS4(openat, AT_FDCWD, path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
        if (fd < 0) {
            stub_fail(stub, "opening the pipe", path, fd);
        }
        ends[i] = (int)fd;
    }
}

void fd_open_pipe(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *first = fd_file(stub, index);
    bool used[2], named = stub_text(stub, first->path)[0] == '/';
    int ends[2];
    make_ends(stub, first, ends);
    used[0] = used[1] = named;
    if (first->pipe_bytes > 0) {
        (void)SYS3(fcntl, ends[1], F_SETPIPE_SZ, first->pipe_bytes); /* as far as it may be */
    }
    for (uint32_t i = index; i < stub->file_count; i++) { /* packets stay so */
        const struct ckpt_file *file = fd_file(stub, i);
        if (belongs_to(file, first) && access_of(file) != O_RDONLY &&
            (file->flags & O_DIRECT) != 0) {
            (void)SYS3(fcntl, ends[1], F_SETFL, O_NONBLOCK | O_DIRECT);
        }
    }
    for (uint32_t i = index; i < stub->file_count; i++) {
        if (belongs_to(fd_file(stub, i), first)) {
            fill_end(stub, fd_file(stub, i), put_in_pipe, ends[1]);
        }
    }
    for (uint32_t i = index; i < stub->file_count; i++) {
        const struct ckpt_file *file = fd_file(stub, i);
        if (belongs_to(file, first) && !fd_is_inherited(stub, file)) {
            int end = access_of(file) == O_RDONLY ? 0 : 1;
            put_end(stub, i, ends[end], &used[end]);
        }
    }
    (void)SYS1(close, ends[0]);
    (void)SYS1(close, ends[1]);
}

/* ---- sockets */

static void put_in_socket(const struct stub *stub, int end, const void *bytes, uint64_t count)
{
    uint64_t done = 0;
    while (done < count) {
        long rc = SYS6(sendto, end, (const char *)bytes + done, count - done,
                       MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
        if (rc <= 0) {
            stub_fail(stub, "restoring the contents of a socket", "", rc < 0 ? rc : -EIO);
        }
        done += (uint64_t)rc;
    }
}

static void set_option(int fd, int option, uint32_t value)
{
    (void)SYS5(setsockopt, fd, SOL_SOCKET, option, &value, sizeof value); /* as far as it may be */
}

/* Makes the send buffer large enough for what waited there, because it came in other pieces. */
static void widen_buffer(int fd, const struct ckpt_file *file)
{
    set_option(fd, SO_SNDBUF, file->sends > INT32_MAX / 4 ? file->sends : file->sends * 2);
}

static void set_limit(int fd, int option, int64_t us)
{
    const int64_t limit[2] = {us / 1000000, us % 1000000}; /* struct timeval */
    (void)SYS5(setsockopt, fd, SOL_SOCKET, option, limit, sizeof limit);
}

static void finish_socket(const struct stub *stub, const struct ckpt_file *file, int fd)
{
    set_option(fd, SO_SNDBUF, file->sends / 2); /* the kernel doubles it */
    set_option(fd, SO_RCVBUF, file->receives / 2);
    set_option(fd, SO_PASSCRED, file->passes);
    set_limit(fd, SO_RCVTIMEO, file->limits_us[0]);
    set_limit(fd, SO_SNDTIMEO, file->limits_us[1]);
    if ((file->shut & 3) != 0) {
        (void)SYS2(shutdown, fd, (file->shut & 3) - 1);
    }
    stub_must(stub, SYS3(fcntl, fd, F_SETFL, file->flags & O_NONBLOCK), "creating a socket");
}

/* An end that the job does not have any more is closed. */
void fd_open_sockets(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = fd_file(stub, index), *peer = NULL;
    int ends[2];
    uint32_t other = index + 1;
    while (other < stub->file_count && !belongs_to(fd_file(stub, other), file)) {
        other++;
    }
    peer = other < stub->file_count ? fd_file(stub, other) : NULL;
    stub_must(stub, SYS4(socketpair, AF_UNIX, file->type | SOCK_CLOEXEC, 0, ends), "sockets");
    widen_buffer(ends[0], file);
    widen_buffer(ends[1], file);
    fill_end(stub, file, put_in_socket, ends[1]);
    if (peer != NULL) {
        fill_end(stub, peer, put_in_socket, ends[0]);
    }
    finish_socket(stub, file, ends[0]);
    if (peer != NULL) {
        finish_socket(stub, peer, ends[1]);
        fd_put_at(stub, ends[1], fd_place(stub, other));
    } else {
        (void)SYS1(close, ends[1]);
    }
    fd_put_at(stub, ends[0], fd_place(stub, index));
}
