/* rsyscall_fuse/kernel_linux.c - see kernel_linux.h.
 *
 * Design note: the loop thread reads requests and writes answers, with one system call each.  One
 * call may have to wait until requests are answered: dropping a file's contents.  It is made on a
 * lane (worker thread).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/kernel_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"

/* requests read before other callbacks of the loop have their turn */
#define TURN_REQUESTS 32
#define PARTS_MAX     16

struct rfs_kernel {
    struct loop *loop;
    int fd, proc_fd;
    struct loop_fd *watch;
    struct loop_lane *lane;
    struct rfs *fs;
    void (*on_end)(void *arg);
    void *arg;
    unsigned char *block; /* buffer for the next request; NULL: the last one was kept */
};

static int answer_kernel(void *arg, const struct rfs_part *parts, size_t count)
{
    const struct rfs_kernel *kernel = arg;
    struct iovec vectors[PARTS_MAX];
    int used = 0;
    CHECK(count <= PARTS_MAX);
    if (kernel->fd < 0) {
        return -ENOENT;
    }
    for (size_t i = 0; i < count; i++) {
        if (parts[i].length > 0) {
            vectors[used++] = (struct iovec){(void *)(uintptr_t)parts[i].data, parts[i].length};
        }
    }
    return writev(kernel->fd, vectors, used) >= 0 ? 0 : -ENOENT;
}

/* Returns the signal mask in a line of /proc/TID/status such as "SigPnd:\t0000000000000100". */
static uint64_t mask_of(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line != NULL ? strtoull(line + strlen(name), NULL, 16) : 0;
}

static bool is_killed(void *arg, uint32_t thread)
{
    const struct rfs_kernel *kernel = arg;
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "%" PRIu32 "/status", thread);
    int fd = kernel->proc_fd >= 0 ? openat(kernel->proc_fd, path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = '\0';
    uint64_t pending = mask_of(text, "SigPnd:") | mask_of(text, "ShdPnd:");
    return (pending & (uint64_t)1 << (SIGKILL - 1)) != 0;
}

/* ---- dropping contents ----------------------------------------------------------------------- */

struct drop {
    struct rfs_kernel *kernel;
    uint64_t number;
    void (*done)(void *done_arg);
    void *done_arg;
};

static int drop_work(void *arg)
{
    const struct drop *drop = arg;
    struct fuse_notify_inval_inode_out notice = {.ino = drop->number};
    struct fuse_out_header header = {.len = sizeof(header) + sizeof(notice),
                                     .error = FUSE_NOTIFY_INVAL_INODE};
    struct iovec vectors[2] = {{&header, sizeof(header)}, {&notice, sizeof(notice)}};
    return writev(drop->kernel->fd, vectors, 2) >= 0 ? 0 : -errno;
}

static void drop_done(void *arg, int result)
{
    struct drop *drop = arg;
    (void)result; /* it knows nothing of the file: then there is nothing to drop */
    drop->done(drop->done_arg);
    mem_free(drop);
}

static void drop_contents(void *arg, uint64_t number, void (*done)(void *done_arg), void *done_arg)
{
    struct rfs_kernel *kernel = arg;
    if (kernel->fd < 0) {
        done(done_arg);
        return;
    }
    struct drop *drop = mem_alloc(sizeof(*drop));
    *drop = (struct drop){kernel, number, done, done_arg};
    if (kernel->lane == NULL) {
        kernel->lane = loop_lane_create(kernel->loop);
    }
    loop_lane_run(kernel->lane, drop_work, drop_done, drop);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void on_request(void *arg, unsigned ready)
{
    struct rfs_kernel *kernel = arg;
    (void)ready;
    for (int i = 0; i < TURN_REQUESTS; i++) {
        if (kernel->block == NULL) {
            kernel->block = mem_alloc(RFS_REQUEST_MAX);
        }
        ssize_t got = read(kernel->fd, kernel->block, RFS_REQUEST_MAX);
        if (got < 0 && (errno == EINTR || errno == ENOENT)) {
            continue; /* it was taken back while we read it */
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            loop_fd_want(kernel->watch, 0);
            kernel->on_end(kernel->arg);
            return;
        }
        if (rfs_take(kernel->fs, kernel->block, (size_t)got)) {
            kernel->block = NULL;
        }
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

struct rfs_kernel *rfs_kernel_create(struct loop *loop, int fd, int proc_fd,
                                     void (*on_end)(void *arg), void *arg)
{
    struct rfs_kernel *kernel = mem_zalloc(sizeof(*kernel));
    kernel->loop = loop;
    kernel->fd = fd;
    kernel->proc_fd = proc_fd;
    kernel->on_end = on_end;
    kernel->arg = arg;
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    kernel->watch = loop_fd_create(loop, fd, on_request, kernel);
    return kernel;
}

struct rfs_device rfs_kernel_device(struct rfs_kernel *kernel)
{
    return (struct rfs_device){answer_kernel, is_killed, drop_contents, kernel};
}

void rfs_kernel_serve(struct rfs_kernel *kernel, struct rfs *fs)
{
    kernel->fs = fs;
    loop_fd_want(kernel->watch, LOOP_READ);
}

void rfs_kernel_stop(struct rfs_kernel *kernel)
{
    if (kernel != NULL && kernel->fd >= 0) {
        loop_fd_destroy(kernel->watch);
        kernel->watch = NULL;
        close(kernel->fd);
        kernel->fd = -1;
        loop_lane_destroy(kernel->lane);
        kernel->lane = NULL;
    }
}

void rfs_kernel_destroy(struct rfs_kernel *kernel)
{
    if (kernel != NULL) {
        rfs_kernel_stop(kernel);
        if (kernel->proc_fd >= 0) {
            close(kernel->proc_fd);
        }
        mem_free(kernel->block);
        mem_free(kernel);
    }
}
