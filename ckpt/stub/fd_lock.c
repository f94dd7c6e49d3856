/* ckpt/stub/fd_lock.c - takes the locks of files again; otherwise the job is not resumed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/time_types.h>
#include <sys/file.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"

#define TRIES    1000 /* ten seconds */
#define PAUSE_NS 10000000

static long lock_range(const struct ckpt_lock *lock, int number, int command)
{
    struct flock range = {.l_type = lock->writes != 0 ? F_WRLCK : F_RDLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)lock->start,
                          .l_len = (off_t)lock->bytes};
    return SYS3(fcntl, number, command, &range);
}

static const struct ckpt_lock *lock_at(const struct stub *stub, uint32_t i)
{
    return STUB_ENTRY(stub, CKPT_LOCKS, struct ckpt_lock, i);
}

static long try_lock(const struct ckpt_lock *lock, int number)
{
    if (lock->kind == CKPT_FLOCK) {
        return SYS2(flock, number, (lock->writes != 0 ? LOCK_EX : LOCK_SH) | LOCK_NB);
    }
    return lock_range(lock, number, lock->kind == CKPT_OFD_LOCK ? F_OFD_SETLK : F_SETLK);
}

/* The process of which the image was made may not have ended yet: waits for its lock. */
static void take_lock(const struct stub *stub, const struct ckpt_lock *lock, int number)
{
    const struct __kernel_timespec pause = {.tv_nsec = PAUSE_NS};
    long rc = try_lock(lock, number);
    for (int i = 0; i < TRIES && (rc == -EAGAIN || rc == -EACCES); i++) {
        (void)SYS2(nanosleep, &pause, NULL);
        rc = try_lock(lock, number);
    }
    if (rc != 0) {
        stub_fail(stub, "another process has locked a file that the job had locked:",
                  stub_text(stub, fd_file(stub, lock->file)->path), rc);
    }
}

void fd_lock_files(const struct stub *stub)
{
    for (uint32_t i = 0; i < stub->head->tables[CKPT_LOCKS].count; i++) {
        const struct ckpt_lock *lock = lock_at(stub, i);
        if (lock->kind != CKPT_POSIX_LOCK && !fd_is_inherited(stub, fd_file(stub, lock->file))) {
            take_lock(stub, lock, fd_place(stub, lock->file));
        }
    }
}

void fd_lock_ranges(const struct stub *stub)
{
    for (uint32_t i = 0; i < stub->head->tables[CKPT_LOCKS].count; i++) {
        const struct ckpt_lock *lock = lock_at(stub, i);
        if (lock->kind == CKPT_POSIX_LOCK && lock->process == fd_process(stub) &&
            !fd_is_inherited(stub, fd_file(stub, lock->file))) {
            take_lock(stub, lock, lock->number);
        }
    }
}
