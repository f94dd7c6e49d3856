/* base/file_locks.h - asks for the locks held through an open file on the file system of
 * rsyscall_fuse/.
 *
 * Normally /proc/PID/fdinfo shows the locks of an open file.  The kernel cannot show those of a
 * FUSE file system that manages locks itself, as rsyscall_fuse/ does; but a job's checkpoint needs
 * them.  So rsyscall_fuse/ answers the ioctl FILE_LOCKS_ASK, and ckpt/ makes each process of the
 * job call it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_FILE_LOCKS_H
#define BASE_FILE_LOCKS_H

#include <stdint.h>

/* most locks in one struct file_locks_told, which must fit in a page */
#define FILE_LOCKS_MAX 100

#define FILE_LOCK_WRITES 1u /* in `flags`: the lock is exclusive */
#define FILE_LOCK_WHOLE  2u /* in `flags`: flock() made the lock, which covers the whole file */
#define FILE_LOCK_OWN    4u /* in `flags`: the process that asks holds the lock */

struct file_lock_told {   /* one lock of the file */
    uint64_t start, last; /* first and last byte; last UINT64_MAX: to the end of the file */
    uint32_t flags, unused;
};

struct file_locks_told { /* the answer to FILE_LOCKS_ASK, the locks of one open file */
    uint32_t count;      /* locks held through this open file; may be more than FILE_LOCKS_MAX */
    uint32_t unused;
    struct file_lock_told locks[FILE_LOCKS_MAX];
};

/* The number of the request for ioctl(2): _IOR('R', 0x4c, struct file_locks_told). */
#define FILE_LOCKS_ASK \
    (2u << 30 | (unsigned)sizeof(struct file_locks_told) << 16 | (unsigned)'R' << 8 | 0x4cu)

#endif
