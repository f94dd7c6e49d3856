/* ckpt/stub/fd_lock.c - locks of files: taken again, or the job is not resumed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "ckpt/stub/fd.h"
#include "ckpt/stub/sys.h"

static void check(const struct stub *stub, const struct ckpt_lock *lock, long rc)
{
    if (rc != 0) {
        stub_fail(stub, "somebody else has what the job had locked:",
                  stub_text(stub, fd_file(stub, lock->file)->path), rc);
    }
}

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

void fd_lock_files(const struct stub *stub)
{
    for (uint32_t i = 0; i < stub->head->tables[CKPT_LOCKS].count; i++) {
        const struct ckpt_lock *lock = lock_at(stub, i);
        int place = fd_place(stub, lock->file);
        if (lock->kind == CKPT_POSIX_LOCK || fd_is_inherited(stub, fd_file(stub, lock->file))) {
            continue;
        }
        int how = (lock->writes != 0 ? LOCK_EX : LOCK_SH) | LOCK_NB;
        check(stub, lock,
              lock->kind == CKPT_FLOCK ? SYS2(flock, place, how)
                                       : lock_range(lock, place, F_OFD_SETLK));
    }
}

void fd_lock_ranges(const struct stub *stub)
{
    for (uint32_t i = 0; i < stub->head->tables[CKPT_LOCKS].count; i++) {
        const struct ckpt_lock *lock = lock_at(stub, i);
        if (lock->kind == CKPT_POSIX_LOCK && lock->process == fd_process(stub) &&
            !fd_is_inherited(stub, fd_file(stub, lock->file))) {
            check(stub, lock, lock_range(lock, lock->number, F_SETLK));
        }
    }
}
