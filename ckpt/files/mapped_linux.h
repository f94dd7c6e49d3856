/* ckpt/files/mapped_linux.h - finds the files that a job can write to as memory (shared writable
 * mappings).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_MAPPED_LINUX_H
#define CKPT_FILES_MAPPED_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mapped {    /* a set of files; when zeroed it is empty */
    ino_t *inodes; /* sorted */
    size_t count, capacity;
    bool is_all; /* true: the mappings could not be read, so every file counts as in the set */
};

/* Replaces the set by the files that are mapped now, by the process `job`, by all its descendants,
 * and by the other processes below its keeper (process 1 of its namespace; 0: none). */
void mapped_look(struct mapped *mapped, pid_t job, pid_t keeper);
void mapped_fini(struct mapped *mapped);
/* Returns whether a file is in the set. */
bool mapped_has(const struct mapped *mapped, ino_t inode);

/* Maps the file fd into this process for a moment, and returns whether /proc/self/maps shows that
 * mapping with the same inode number as fstat() does: on some overlay file systems the two numbers
 * differ. */
bool mapped_is_known(int fd);

#endif
