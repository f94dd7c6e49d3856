/* base/file_locks.h - what a file system of ours tells of the locks of an open file.
 *
 * The kernel keeps no list of the locks of a file system that does them itself (/proc/PID/fdinfo
 * has none), and without one no image of a job holds them.  So rsyscall_fuse/ answers an ioctl, and
 * ckpt/ has each process of the job ask it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_FILE_LOCKS_H
#define BASE_FILE_LOCKS_H

#include <stdint.h>

#define FILE_LOCKS_MAX 100 /* that are told; with their head less than a page */

#define FILE_LOCK_WRITES 1u
#define FILE_LOCK_WHOLE  2u /* flock() */
#define FILE_LOCK_OWN    4u /* taken by the process that asks */

struct file_lock_told {
    uint64_t start, last; /* the last byte; UINT64_MAX: to the end of the file */
    uint32_t flags, unused;
};

struct file_locks_told {
    uint32_t count; /* of all that were taken by this open file: may be more than are told */
    uint32_t unused;
    struct file_lock_told locks[FILE_LOCKS_MAX];
};

/* _IOR('R', 0x4c, struct file_locks_told) of ioctl(2). */
#define FILE_LOCKS_ASK \
    (2u << 30 | (unsigned)sizeof(struct file_locks_told) << 16 | (unsigned)'R' << 8 | 0x4cu)

#endif
