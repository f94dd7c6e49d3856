/* rsyscall/wrap/wrap_record.c - the local descriptor of a remote file: a memfd with a record that
 * says which file it stands for; see wrap.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap.h"

static int reopen_descriptor(int fd, int flags)
{
    char name[32] = "/proc/self/fd/";
    char digits[12];
    size_t at = strlen(name), count = 0;
    do {
        digits[count++] = (char)('0' + fd % 10);
        fd /= 10;
    } while (fd > 0);
    while (count > 0) {
        name[at++] = digits[--count];
    }
    name[at] = '\0';
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags | O_CLOEXEC, 0);
}

/* Makes the descriptor unreadable, and its record unwritable.  So a call that bypasses us, by a
 * name of the C library that is not wrapped, fails and does not find our record. */
static void make_mute(int fd, bool cloexec)
{
    int deaf = reopen_descriptor(fd, O_WRONLY);
    (void)syscall(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
    if (deaf >= 0) {
        (void)syscall(SYS_dup3, deaf, fd, cloexec ? O_CLOEXEC : 0);
        (void)syscall(SYS_close, deaf);
    }
}

bool wrap_record_read(int fd, struct wrap_record *ret)
{
    int ears = reopen_descriptor(fd, O_RDONLY);
    long got = syscall(SYS_pread64, ears >= 0 ? ears : fd, ret, sizeof *ret, 0);
    if (ears >= 0) {
        (void)syscall(SYS_close, ears);
    }
    ret->path[sizeof ret->path - 1] = '\0';
    return got == sizeof *ret && ret->magic == WRAP_MAGIC;
}

int wrap_record_make(const struct wrap_file *file, const char *path, bool cloexec)
{
    struct wrap_record record = {.magic = WRAP_MAGIC,
                                 .handle = file->handle,
                                 .dev = file->dev,
                                 .ino = file->ino,
                                 .birth = file->birth,
                                 .flags = file->flags,
                                 .mode = file->mode};
    memcpy(record.path, path, strlen(path) + 1);
    int fd = (int)syscall(SYS_memfd_create, "remote file",
                          MFD_ALLOW_SEALING | (cloexec ? MFD_CLOEXEC : 0U));
    if (fd < 0) {
        return -errno;
    }
    if (fd >= WRAP_FDS_MAX ||
        syscall(SYS_pwrite64, fd, &record, sizeof record, 0) != sizeof record) {
        (void)syscall(SYS_close, fd);
        return fd >= WRAP_FDS_MAX ? -EMFILE : -ENOMEM;
    }
    make_mute(fd, cloexec);
    return fd;
}
