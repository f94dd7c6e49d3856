/* ckpt/files/mirror_linux.h - a copy of a job's files as they were at one moment, for which the job
 * need not stop for long.
 *
 * An archive of files that a job writes to shows one moment only if the job stands still while all
 * of them are read.  So a copy, the mirror, is kept beside.  It is updated while the job runs; then
 * again while the job stands still, when only the latest changes are left; and the archive is made
 * from it when the job runs again.  Where the file system can share blocks between files (FICLONE)
 * the copy costs nothing.
 *
 * Rejected: to archive the job's own files and to check afterwards whether a file has changed.
 * What was removed meanwhile would be missing.
 *
 * A change is recognised by inode, size and time of change (ctime), which no program can set.  A
 * ctime that is not older than the check itself, by more than the clock's tick, is not trusted.  A
 * file that a process of the job has mapped as writable memory can change without a new ctime: such
 * files are copied each time, while the job stands still.  The first write to each page of a
 * mapping that is made later does change the ctime on ext4, xfs, btrfs, f2fs, tmpfs, and overlays
 * of these.  On other file systems all files are copied while the job stands still.
 *
 * Files with several names keep them, within one mirror.  Sockets and devices are left out.
 *
 * What is known of the copy is in FOLDER.index.  That file does not exist while the mirror is
 * changed: so if we are killed then, nothing wrong is believed later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_MIRROR_LINUX_H
#define CKPT_FILES_MIRROR_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct mirror;

struct mirror_figures { /* counts of the last update */
    uint64_t files, copied, copied_bytes;
};

/* Opens or makes, in `folder`, a mirror of the directories names[0..count).  A name is one
 * component below the working directory, or two of them.  0 or -errno. */
int mirror_open(const char *folder, const char *const *names, size_t count, struct mirror **ret,
                struct err *err);
/* Closes the mirror without saving its index, for use after a failure.  NULL is allowed. */
void mirror_destroy(struct mirror *mirror);

/* Updates the copy. job: this process and its descendants write to the files, and so may the other
 * processes of `keeper` (process 1 of their namespace; 0: none). still: they do not run now, so
 * that the copy is of this moment afterwards.  May be called repeatedly.  0, or -errno with err
 * naming the file. */
int mirror_update(struct mirror *mirror, pid_t job, pid_t keeper, bool still, struct err *err);
void mirror_figures(const struct mirror *mirror, struct mirror_figures *ret);
/* Saves the index, for the next mirror_open().  0 or -errno. */
int mirror_save(struct mirror *mirror, struct err *err);
/* Calls each(path, bytes) for the files that have not changed since the index file `since` was
 * saved (FOLDER.index, or the name that it was given later).  For none if it cannot be read. */
void mirror_unchanged(const struct mirror *mirror, const char *since,
                      void (*each)(void *arg, const char *path, uint64_t bytes), void *arg);

#endif
