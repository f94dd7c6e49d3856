/* ckpt/files/mirror_linux.h - a copy of a job's files that is of one moment, and stands still for
 * the changes only.
 *
 * An archive of files that a job writes to is of one moment only if the job stands still as long as
 * it is made: as long as reading all of them takes.  So there is a copy beside, which is brought up
 * to date while the job runs, again while it stands still, when only what it changed in between is
 * left, and packed at leisure when it runs on.  Where the file system shares blocks of files
 * (FICLONE) the copy costs nothing.  The way rejected is to pack the job's own files and to look
 * afterwards whether one has changed: what was removed meanwhile is gone.
 *
 * What has changed is told by inode, size and time of change (ctime), which no program can set; not
 * believed is a time that is not older than the look itself, by more than the clock's tick.  A file
 * that a process of the job has mapped such that it can write to it as memory changes without it:
 * those are copied each time, while the job stands still.  The first write to each page of a
 * mapping that was made later is seen: ext4, xfs, btrfs, f2fs, tmpfs are known to note it, and
 * overlays of these.  On others all files are copied while the job stands still.
 *
 * Files with several names keep them, within one mirror.  Sockets and devices are left out.
 *
 * What is known of the copy is beside it, in FOLDER.index; while it is changed there is no such
 * file, and whoever is killed then leaves nothing that is believed.
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

struct mirror_figures { /* of the last pass */
    uint64_t files, copied, copied_bytes;
};

/* To keep copies of the directories names[0..count) (each a name below the working directory, or a
 * directory's and one in it) in that folder, which is made. */
int mirror_open(const char *folder, const char *const *names, size_t count, struct mirror **ret,
                struct err *err);
/* Without saving what is known: for when something failed.  NULL is allowed. */
void mirror_destroy(struct mirror *mirror);

/* Brings it up to date.  `job`: it and all that descend from it write to the files, and what else
 * `keeper` has (0: it has none); `still`: they do not now, and what is there afterwards is what
 * there is.  May be called as often as one likes. Errors name the file. */
int mirror_update(struct mirror *mirror, pid_t job, pid_t keeper, bool still, struct err *err);
void mirror_figures(const struct mirror *mirror, struct mirror_figures *ret);
/* Notes what is known, for the next one. */
int mirror_save(struct mirror *mirror, struct err *err);
/* Calls each(path, bytes) for the files that are as they were when what was known was saved, by
 * that name (FOLDER.index, or another name of it since).  One that cannot be read: for none. */
void mirror_unchanged(const struct mirror *mirror, const char *since,
                      void (*each)(void *arg, const char *path, uint64_t bytes), void *arg);

#endif
