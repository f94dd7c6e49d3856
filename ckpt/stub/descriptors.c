/* ckpt/stub/descriptors.c - the job's open files.
 *
 * Each open file description is opened once, at some number above all that the job uses, and copied
 * to the numbers that shared it.  0 to 2 stay what the resuming process was given (--stdio: as the
 * job had them): a log that was redirected there has grown since, and would be wound back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"

#define STDIO 3

static const struct ckpt_fd *fd_at(const struct stub *stub, uint32_t i)
{
    return STUB_ENTRY(stub, CKPT_FDS, struct ckpt_fd, stub->process->fds.first + i);
}

static const struct ckpt_file *file_of(const struct stub *stub, const struct ckpt_fd *fd)
{
    return STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, fd->file);
}

static bool is_inherited(const struct stub *stub, const struct ckpt_file *file)
{
    return file->stdio != 0 && (!stub->stdio || file->kind == CKPT_STDIO);
}

/* ---- one open file */

static void copy_contents(const struct stub *stub, const struct ckpt_file *file, long fd)
{
    for (uint32_t i = 0; i < file->extents.count; i++) {
        const struct ckpt_extent *extent =
            STUB_ENTRY(stub, CKPT_EXTENTS, struct ckpt_extent, file->extents.first + i);
        uint64_t from = extent->offset, to = extent->start;
        uint64_t end = extent->offset + extent->bytes;
        while (from < end) {
            long rc = SYS6(copy_file_range, stub->image, &from, fd, &to, end - from, 0);
            if (rc == -EXDEV || rc == -EINVAL || rc == -EOPNOTSUPP) {
                char buffer[4096];
                uint64_t most = end - from < sizeof buffer ? end - from : sizeof buffer;
                rc = SYS4(pread64, stub->image, buffer, most, from);
                rc = rc > 0 ? SYS4(pwrite64, fd, buffer, rc, to) : rc;
                from += rc > 0 ? (uint64_t)rc : 0;
                to += rc > 0 ? (uint64_t)rc : 0;
            }
            if (rc <= 0) {
                stub_fail(stub, "the contents of", stub_text(stub, file->path), rc < 0 ? rc : -EIO);
            }
        }
    }
}

/* It had no name any more: a file in memory takes its place. */
static long open_nameless(const struct stub *stub, const struct ckpt_file *file)
{
    const char *path = stub_text(stub, file->path);
    long fd = SYS2(memfd_create, "roost-ckpt", MFD_CLOEXEC);
    if (fd < 0) {
        stub_fail(stub, "the removed file", path, fd);
    }
    stub_must(stub, SYS2(ftruncate, fd, file->bytes), "the size of a removed file");
    copy_contents(stub, file, fd);
    if ((file->flags & O_ACCMODE) == O_RDONLY || (file->flags & O_APPEND) != 0) {
        (void)SYS3(fcntl, fd, F_SETFL, file->flags & (O_APPEND | O_NONBLOCK));
    }
    return fd;
}

static long open_named(const struct stub *stub, const struct ckpt_file *file)
{
    const char *path = stub_text(stub, file->path);
    long fd = SYS4(openat, AT_FDCWD, path, file->flags | O_CLOEXEC | O_NOCTTY, 0);
    struct stat st;
    if (fd < 0) {
        stub_fail(stub, "the open file", path, fd);
    }
    long rc = SYS2(fstat, fd, &st);
    if (rc != 0 || (st.st_mode & S_IFMT) != (file->mode & S_IFMT)) {
        stub_fail(stub, "no more what it was:", path, rc != 0 ? rc : -EINVAL);
    }
    if (S_ISREG(file->mode) && (uint64_t)st.st_size < file->offset &&
        (file->flags & O_ACCMODE) == O_RDONLY) {
        stub_fail(stub, "shorter than where the job had read to:", path, -EIO);
    }
    return fd;
}

static void fill_pipe(const struct stub *stub, const struct ckpt_file *file, int end)
{
    for (uint32_t i = 0; i < file->extents.count; i++) {
        const struct ckpt_extent *extent =
            STUB_ENTRY(stub, CKPT_EXTENTS, struct ckpt_extent, file->extents.first + i);
        uint64_t from = extent->offset, until = from + extent->bytes;
        while (from < until) {
            char buffer[4096];
            uint64_t most = until - from < sizeof buffer ? until - from : sizeof buffer;
            long rc = SYS4(pread64, stub->image, buffer, most, from);
            rc = rc > 0 ? SYS3(write, end, buffer, rc) : rc;
            if (rc <= 0) {
                stub_fail(stub, "what was in a pipe", "", rc < 0 ? rc : -EIO);
            }
            from += (uint64_t)rc;
        }
    }
}

/* Where an open file waits for being copied to its numbers. */
static int place_of(const struct stub *stub, uint32_t file)
{
    return stub->high + (int)file;
}

static void put_at(const struct stub *stub, long fd, int place)
{
    if (fd != place) {
        stub_must(stub, SYS3(dup3, fd, place, O_CLOEXEC), "a number for an open file");
        (void)SYS1(close, fd);
    }
}

/* Both ends, wherever the job has them; an end that it has not is closed. */
static void open_pipe(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *first = STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, index);
    int ends[2];
    stub_must(stub, SYS2(pipe2, ends, O_CLOEXEC), "a pipe");
    if (first->pipe_bytes > 0) {
        (void)SYS3(fcntl, ends[1], F_SETPIPE_SZ, first->pipe_bytes); /* as far as it may be */
    }
    for (uint32_t i = index; i < stub->file_count; i++) {
        const struct ckpt_file *file = STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, i);
        if (file->kind != CKPT_PIPE || file->id != first->id) {
            continue;
        }
        fill_pipe(stub, file, ends[1]);
        int end = (file->flags & O_ACCMODE) == O_WRONLY ? 1 : 0;
        (void)SYS3(fcntl, ends[end], F_SETFL, file->flags & (O_NONBLOCK | O_DIRECT));
        stub_must(stub, SYS3(dup3, ends[end], place_of(stub, i), O_CLOEXEC), "an end of a pipe");
    }
    (void)SYS1(close, ends[0]);
    (void)SYS1(close, ends[1]);
}

static bool is_open(const struct stub *stub, uint32_t index)
{
    return SYS3(fcntl, place_of(stub, index), F_GETFD, 0) >= 0;
}

static void open_one(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, index);
    if (is_open(stub, index)) {
        return;
    }
    if (is_inherited(stub, file)) { /* closed here: so it is there */
        (void)SYS3(dup3, file->stdio - 1, place_of(stub, index), O_CLOEXEC);
        return;
    }
    if (file->kind == CKPT_PIPE) {
        open_pipe(stub, index);
        return;
    }
    long fd = file->kind == CKPT_NAMELESS ? open_nameless(stub, file) : open_named(stub, file);
    bool seeks = S_ISREG(file->mode) || S_ISDIR(file->mode) || S_ISBLK(file->mode);
    if (seeks && file->offset != 0) {
        long rc = SYS3(lseek, fd, file->offset, SEEK_SET);
        if (SYS_FAILED(rc)) {
            stub_fail(stub, "the position in", stub_text(stub, file->path), rc);
        }
    }
    put_at(stub, fd, place_of(stub, index));
}

/* ---- all of them */

static void open_memory(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, index);
    put_at(stub, open_nameless(stub, file), place_of(stub, index));
}

static long far_from(const struct stub *stub, int fd, int number)
{
    return stub_must(stub, SYS3(fcntl, fd, F_DUPFD_CLOEXEC, number), "a number out of the way");
}

/* Numbers from here on are ours: above what the job uses. */
static void find_room(struct stub *stub)
{
    int highest = STDIO - 1;
    uint64_t limits[2];
    uint32_t fds = (uint32_t)stub->head->tables[CKPT_FDS].count;
    for (uint32_t i = 0; i < fds; i++) {
        const struct ckpt_fd *fd = STUB_ENTRY(stub, CKPT_FDS, struct ckpt_fd, i);
        highest = fd->fd > highest ? fd->fd : highest;
    }
    stub->file_count = (uint32_t)stub->head->tables[CKPT_FILES].count;
    stub->high = highest + 1;
    if (SYS4(prlimit64, 0, RLIMIT_NOFILE, NULL, limits) == 0) {
        limits[0] = limits[1];
        (void)SYS4(prlimit64, 0, RLIMIT_NOFILE, limits, NULL); /* the job's own comes later */
    }
    int image = stub->high + (int)stub->file_count, say = image + 1, out = image + 2;
    long far[3] = {far_from(stub, stub->image, out + 1), far_from(stub, stub->say, out + 1),
                   stub->out >= 0 ? far_from(stub, stub->out, out + 1) : -1};
    (void)SYS3(close_range, STDIO, out, 0);
    stub_must(stub, SYS3(dup3, far[0], image, O_CLOEXEC), "a number for the image");
    stub_must(stub, SYS3(dup3, far[1], say, O_CLOEXEC), "a number for messages");
    stub->image = image;
    stub->say = say;
    if (stub->out >= 0) {
        stub_must(stub, SYS3(dup3, far[2], out, O_CLOEXEC), "a number for the keeper");
        stub->out = out;
    }
    (void)SYS3(close_range, out + 1, ~0U, 0);
}

void stub_open_files(struct stub *stub)
{
    uint32_t fds = (uint32_t)stub->head->tables[CKPT_FDS].count;
    find_room(stub);
    for (uint32_t i = 0; i < stub->file_count; i++) {
        if (STUB_ENTRY(stub, CKPT_FILES, struct ckpt_file, i)->kind == CKPT_MEMORY_FILE) {
            open_memory(stub, i);
        }
    }
    for (uint32_t i = 0; i < fds; i++) {
        const struct ckpt_fd *fd = STUB_ENTRY(stub, CKPT_FDS, struct ckpt_fd, i);
        open_one(stub, fd->file);
    }
}

int stub_memory_file(const struct stub *stub, uint32_t file)
{
    return place_of(stub, file);
}

void stub_close_high(const struct stub *stub)
{
    if (stub->file_count > 0) {
        (void)SYS3(close_range, stub->high, stub->high + (int)stub->file_count - 1, 0);
    }
}

static bool has(const struct stub *stub, int number)
{
    for (uint32_t i = 0; i < stub->process->fds.count; i++) {
        if (fd_at(stub, i)->fd == number) {
            return true;
        }
    }
    return false;
}

void stub_make_descriptors(struct stub *stub)
{
    struct ckpt_span fds = stub->process->fds;
    for (uint32_t i = 0; i < fds.count; i++) {
        const struct ckpt_fd *fd = fd_at(stub, i);
        long rc = SYS3(dup3, place_of(stub, fd->file), fd->fd, fd->cloexec != 0 ? O_CLOEXEC : 0);
        if (rc < 0 && !is_inherited(stub, file_of(stub, fd))) {
            stub_fail(stub, "a number of an open file", "", rc);
        }
    }
    for (int number = 0; number < STDIO; number++) {
        if (!has(stub, number)) {
            (void)SYS1(close, number);
        }
    }
    const char *cwd = stub_text(stub, stub->process->cwd);
    long rc = SYS1(chdir, cwd);
    if (rc != 0) {
        stub_fail(stub, "the working directory", cwd, rc);
    }
}
