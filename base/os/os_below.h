/* base/os/os_below.h - files below a directory whose contents an untrusted user may have made.
 *
 * Problem: a job fills its sandbox, a starter fills a stage, and a process with more rights reads
 * and writes there.  An attacker could put symbolic links there, even between two calls of the
 * reader.  Each function here takes a directory that the attacker cannot change (`root`, an
 * ordinary path) and a path below it, and walks from name to name through descriptors without
 * following a link: whatever changes meanwhile, nothing outside root is touched. -ELOOP or
 * -ENOTDIR: a link, or a file, stands where a directory should be.
 *
 * A path below root is "a/b/c": no name may be empty, "." or ".." (-EINVAL).  "" is root itself,
 * where that makes sense.  All calls return 0 or -errno.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_BELOW_H
#define BASE_OS_OS_BELOW_H

#include "base/os/os.h"

/* Gives facts about a path below root.  A final link is not followed: its own facts are given.
 * Returns 0; -ENOENT: nothing is there; or another -errno. */
int os_below_stat(struct os *os, const char *root, const char *path, struct os_stat *ret);
/* Opens a regular file below root. how: what the file is opened for, and whether it is created;
 * mode: permission bits of a file that is created.  Returns 0; -EINVAL: not a regular file; -ELOOP:
 * a link; or another -errno. */
int os_below_open(struct os *os, const char *root, const char *path, enum os_open how, mode_t mode,
                  struct os_file **ret, struct err *err);
/* Makes the directory below root, and the directories above it; existing ones are not changed.
 * Returns 0 or -errno. */
int os_below_mkdirs(struct os *os, const char *root, const char *path, mode_t mode,
                    struct err *err);
/* Calls each() for every name in the directory `path` below root, sorted.  Returns 0 or -errno. */
int os_below_list(struct os *os, const char *root, const char *path,
                  void (*each)(void *arg, const char *name), void *arg, struct err *err);
/* Makes a symbolic link at `path` below root.  Replaces what is there, except a directory.  Returns
 * 0 or -errno. */
int os_below_link(struct os *os, const char *root, const char *path, const char *target,
                  struct err *err);
/* Writes the target of the symbolic link `path` below root into ret.  Returns 0; -ENAMETOOLONG: the
 * target is longer than size - 1 bytes; -EINVAL: not a link; or another -errno. */
int os_below_read_link(struct os *os, const char *root, const char *path, char *ret, size_t size);
/* Removes a file, a link or an empty directory below root.  Returns 0 or -errno. */
int os_below_remove(struct os *os, const char *root, const char *path, struct err *err);
/* Moves a file or directory from below from_root to below to_root.  Not durable before
 * os_below_sync().  Returns 0 or -errno. */
int os_below_rename(struct os *os, const char *from_root, const char *from, const char *to_root,
                    const char *to, struct err *err);
/* Changes the mode of a file or directory below root; fails for a link.  Returns 0 or -errno. */
int os_below_chmod(struct os *os, const char *root, const char *path, mode_t mode, struct err *err);
/* Changes the owner of a file or directory below root; for a link, the owner of the link itself.
 * Returns 0 or -errno. */
int os_below_chown(struct os *os, const char *root, const char *path, uid_t uid, gid_t gid,
                   struct err *err);
/* Makes durable (fsync) what was made, renamed or removed in the directory `path` below root.
 * Returns 0 or -errno. */
int os_below_sync(struct os *os, const char *root, const char *path, struct err *err);
/* Makes durable all that was written to the file system of root; faster than many calls of
 * os_below_sync().  Returns 0 or -errno. */
int os_below_sync_all(struct os *os, const char *root, struct err *err);

#endif
