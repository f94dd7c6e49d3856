/* ckpt/files/mapped_linux.h - which files a job has mapped such that it can write to them as
 * memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_MAPPED_LINUX_H
#define CKPT_FILES_MAPPED_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mapped {    /* zeroed: none */
    ino_t *inodes; /* sorted, when it has looked */
    size_t count, capacity;
    bool is_all; /* it cannot be told */
};

/* Looks anew: at the job and all that descend from it, and at what else its keeper has (0: it has
 * none). */
void mapped_look(struct mapped *mapped, pid_t job, pid_t keeper);
void mapped_fini(struct mapped *mapped);
bool mapped_has(const struct mapped *mapped, ino_t inode);

/* Is a file known by the same inode where it is mapped?  Not on each overlay. */
bool mapped_is_known(int fd);

#endif
