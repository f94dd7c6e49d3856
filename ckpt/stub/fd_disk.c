/* ckpt/stub/fd_disk.c - files by their names, and files that have none.
 *
 * What had no name is made again where it was: a removed file as a removed file of the same
 * directory, if that takes one; else, and for memory, in memory.  Who had it open opens it through
 * /proc, each with flags and a position of his own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define BUFFER 32768

/* ---- by name */

long fd_open_named(const struct stub *stub, const struct ckpt_file *file)
{
    const char *path = stub_text(stub, file->path);
    uint32_t flags = (file->flags & ~(uint32_t)O_ASYNC) | O_CLOEXEC | O_NOCTTY;
    long fd = SYS4(openat, AT_FDCWD, path, flags, 0);
    struct stat st;
    if (fd == -EPERM && (flags & O_NOATIME) != 0) {
        fd = SYS4(openat, AT_FDCWD, path, flags & ~(uint32_t)O_NOATIME, 0);
    }
    if (fd < 0) {
        stub_fail(stub, "opening the file", path, fd);
    }
    long rc = SYS2(fstat, fd, &st);
    if (rc != 0 || (st.st_mode & S_IFMT) != (file->mode & S_IFMT)) {
        stub_fail(stub, "the file has another type than when the image was made:", path,
                  rc != 0 ? rc : -EINVAL);
    }
    if (S_ISREG(file->mode) && (uint64_t)st.st_size < file->offset && file->bytes >= file->offset &&
        (file->flags & O_ACCMODE) == O_RDONLY) {
        stub_fail(stub, "the file is shorter than the part that the job has read:", path, -EIO);
    }
    return fd;
}

/* ---- without one */

/* Copies some bytes from that place of the image to that place of the file; returns how many. */
static long copy_some(const struct stub *stub, long fd, uint64_t from, uint64_t to, uint64_t bytes)
{
    uint64_t in = from, out = to;
    long rc = SYS6(copy_file_range, stub->image, &in, fd, &out, bytes, 0);
    if (rc <= 0 && !SYS_FAILED(SYS3(lseek, fd, to, SEEK_SET))) {
        in = from;
        rc = SYS4(sendfile, fd, stub->image, &in, bytes);
    }
    if (rc <= 0) {
        char buffer[BUFFER];
        uint64_t most = bytes < sizeof buffer ? bytes : sizeof buffer;
        fd_read_image(stub, buffer, most, from);
        rc = SYS4(pwrite64, fd, buffer, most, to);
    }
    return rc;
}

/* The bytes are copied without being seen by us: checks them in the image. */
static void check_extent(const struct stub *stub, const struct ckpt_extent *extent)
{
    if (stub->sums && extent->bytes > 0) {
        long seen =
            SYS6(mmap, NULL, extent->bytes, PROT_READ, MAP_PRIVATE, stub->image, extent->offset);
        stub_must(stub, seen, "making room for the contents of a removed file");
        fd_check_sum(stub, extent, (const void *)seen);
        (void)SYS2(munmap, seen, extent->bytes);
    }
}

static void copy_contents(const struct stub *stub, const struct ckpt_file *file, long fd)
{
    for (uint32_t i = 0; i < file->extents.count; i++) {
        const struct ckpt_extent *extent =
            STUB_ENTRY(stub, CKPT_EXTENTS, struct ckpt_extent, file->extents.first + i);
        check_extent(stub, extent);
        for (uint64_t done = 0; done < extent->bytes;) {
            long rc = copy_some(stub, fd, extent->offset + done, extent->start + done,
                                extent->bytes - done);
            if (rc <= 0) {
                stub_fail(stub, "restoring the contents of", stub_text(stub, file->path),
                          rc < 0 ? rc : -EIO);
            }
            done += (uint64_t)rc;
        }
    }
}

/* Makes a file without a name in the directory of the original. */
static long make_on_disk(const char *path, uint32_t index)
{
    struct stub_text name = {.length = 0};
    size_t length = 0;
    text_put(&name, path);
    for (size_t i = 0; i < name.length; i++) {
        length = name.bytes[i] == '/' ? i + 1 : length;
    }
    if (name.length + 1 >= sizeof name.bytes || length == 0) {
        return -ENAMETOOLONG;
    }
    name.bytes[name.length = length] = '\0';
    long fd = SYS4(openat, AT_FDCWD, name.bytes, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (fd != -EOPNOTSUPP && fd != -EISDIR) {
        return fd;
    }
    text_put(&name, ".roost-ckpt-"); /* for a moment */
    text_put_number(&name, SYS0(getpid));
    text_put(&name, "-");
    text_put_number(&name, index);
    fd = SYS4(openat, AT_FDCWD, name.bytes, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        (void)SYS3(unlinkat, AT_FDCWD, name.bytes, 0);
    }
    return fd;
}

/* Returns the name in "/memfd:NAME (deleted)". */
static void name_of(const char *path, struct stub_text *ret)
{
    static const char PREFIX[] = "/memfd:";
    static const char END[] = " (deleted)";
    size_t length = text_length(path);
    *ret = (struct stub_text){.length = 0};
    if (length >= sizeof PREFIX - 1 + sizeof END - 1 &&
        __builtin_memcmp(path, PREFIX, sizeof PREFIX - 1) == 0) {
        text_put(ret, path + sizeof PREFIX - 1);
        ret->bytes[ret->length -= sizeof END - 1] = '\0';
    } else {
        text_put(ret, "roost-ckpt");
    }
}

void fd_make_object(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = fd_file(stub, index);
    const char *path = stub_text(stub, file->path);
    long fd = file->detail == CKPT_ON_DISK ? make_on_disk(path, index) : -ENOENT;
    if (fd < 0) {
        struct stub_text name;
        uint32_t sealing = (file->seals & F_SEAL_SEAL) != 0 && file->seals == F_SEAL_SEAL
                               ? 0
                               : (uint32_t)MFD_ALLOW_SEALING;
        name_of(path, &name);
        fd = SYS2(memfd_create, name.bytes, MFD_CLOEXEC | sealing);
    }
    if (fd < 0) {
        stub_fail(stub, "creating the removed file", path, fd);
    }
    stub_must(stub, SYS2(ftruncate, fd, file->bytes), "setting the size of a removed file");
    copy_contents(stub, file, fd);
    fd_put_at(stub, fd, fd_place(stub, index));
}

static void seal_file(const struct stub *stub, uint32_t index, uint32_t seals)
{
    if (seals != 0) {
        stub_must(stub, SYS3(fcntl, fd_place(stub, index), F_ADD_SEALS, seals),
                  "sealing a memory file");
    }
}

static bool is_sealed_late(const struct ckpt_file *file)
{
    return (file->seals & F_SEAL_FUTURE_WRITE) != 0;
}

void fd_finish_object(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = fd_file(stub, index);
    (void)SYS2(fchmod, fd_place(stub, index), file->mode & 07777); /* it is ours */
    if (file->detail == CKPT_IN_MEMORY && file->seals != F_SEAL_SEAL) {
        uint32_t late = is_sealed_late(file) ? F_SEAL_FUTURE_WRITE | F_SEAL_SEAL : 0;
        seal_file(stub, index, file->seals & ~late);
    }
}

void fd_seal_object(const struct stub *stub, uint32_t index)
{
    const struct ckpt_file *file = fd_file(stub, index);
    if (file->detail == CKPT_IN_MEMORY && is_sealed_late(file)) {
        seal_file(stub, index, file->seals & (F_SEAL_FUTURE_WRITE | F_SEAL_SEAL));
    }
}

long fd_open_nameless(const struct stub *stub, const struct ckpt_file *file)
{
    int object = fd_place(stub, (uint32_t)file->id);
    long fd = fd_reopen(object, file->flags);
    if (fd == -EINVAL && (file->flags & O_DIRECT) != 0) {
        fd = fd_reopen(object, file->flags & ~(uint32_t)O_DIRECT);
    }
    if (fd < 0) {
        stub_fail(stub, "opening the removed file", stub_text(stub, file->path), fd);
    }
    return fd;
}
