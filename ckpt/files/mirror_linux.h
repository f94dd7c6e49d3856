/* ckpt/files/mirror_linux.h - a copy of a job's files as they were at one moment, for which the job
 * need not stop for long.
 *
 * An archive of files that a job writes to shows one moment only if the job stands still while all
 * of them are read.  So a copy of the files, the mirror, is kept in another directory.  The mirror
 * is updated while the job runs; then again while the job stands still, when only the latest
 * changes are left.  The archive is made from the mirror when the job runs again.  Where the file
 * system can share blocks between files (FICLONE), the copy takes no space.
 *
 * Rejected: to archive the job's own files and to check afterwards whether a file has changed.
 * What was removed meanwhile would be missing.
 *
 * A change of a file is recognised by its inode, size and time of change (ctime), which no program
 * can set.  A ctime is trusted only if it is older than the check by more than one tick of the
 * clock.  A file that a process of the job has mapped as writable memory can change without a new
 * ctime: such files are copied each time, while the job stands still.  The first write to each page
 * of a mapping that is made later does change the ctime on ext4, xfs, btrfs, f2fs, tmpfs, and
 * overlays of these.  On other file systems all files are copied while the job stands still.
 *
 * Files with several names keep them, within one mirror.  Sockets and devices are left out.
 *
 * What is known of the copy is in FOLDER.index.  That file does not exist while the mirror is
 * changed: so if the process that changes the mirror is killed, a later process does not trust a
 * wrong index.
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

/* Opens or makes, in `folder`, a mirror of the directories names[0..count).  Each name is a path
 * below the working directory, of one or two components ("a" or "a/b").  Returns 0 or -errno. */
int mirror_open(const char *folder, const char *const *names, size_t count, struct mirror **ret,
                struct err *err);
/* Closes the mirror without saving its index, for use after a failure.  NULL is allowed. */
void mirror_destroy(struct mirror *mirror);

/* Updates the mirror.  The process `job`, its descendants, and the other processes below `keeper`
 * (process 1 of their namespace; 0: none) may write to the files. still: true: these processes are
 * stopped now, so the mirror shows this moment.  May be called repeatedly.  Returns 0, or -errno
 * with the file named in err. */
int mirror_update(struct mirror *mirror, pid_t job, pid_t keeper, bool still, struct err *err);
void mirror_figures(const struct mirror *mirror, struct mirror_figures *ret);
/* Saves the index, for the next mirror_open().  0 or -errno. */
int mirror_save(struct mirror *mirror, struct err *err);
/* Calls each(arg, path, bytes) for each file that has not changed since the index file `since` was
 * saved (FOLDER.index, perhaps renamed since).  If that index file cannot be read, calls it for no
 * file. */
void mirror_unchanged(const struct mirror *mirror, const char *since,
                      void (*each)(void *arg, const char *path, uint64_t bytes), void *arg);

#endif
