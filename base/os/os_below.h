/* base/os/os_below.h - files below a directory whose contents a stranger may have made.
 *
 * The problem: a sandbox is filled by a job, a stage by a starter, and both are read and written by
 * somebody with more rights.  Each call takes a directory that is ours (`root`, found as any path)
 * and a path below it, and goes from name to name through descriptors without following a link:
 * whatever the names are changed into meanwhile, nothing outside is touched.  -ELOOP or -ENOTDIR: a
 * link, or a file, is where a directory should be.
 *
 * A path below is "a/b/c": no name in it is empty, "." or ".." (-EINVAL); "" is root itself where
 * that makes sense.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_BELOW_H
#define BASE_OS_OS_BELOW_H

#include "base/os/os.h"

/* Does not follow a final link; 0 or -errno. */
int os_below_stat(struct os *os, const char *root, const char *path, struct os_stat *ret);
/* As os_file_open(), of regular files only: -EINVAL for others, -ELOOP for a link. */
int os_below_open(struct os *os, const char *root, const char *path, enum os_open how, mode_t mode,
                  struct os_file **ret, struct err *err);
/* With the directories between; what exists is left as it is. */
int os_below_mkdirs(struct os *os, const char *root, const char *path, mode_t mode,
                    struct err *err);
/* Names in a directory, sorted. */
int os_below_list(struct os *os, const char *root, const char *path,
                  void (*each)(void *arg, const char *name), void *arg, struct err *err);
/* Makes a link; what was there, unless it is a directory, is replaced. */
int os_below_link(struct os *os, const char *root, const char *path, const char *target,
                  struct err *err);
/* -ENAMETOOLONG above size - 1 bytes; -EINVAL: no link. */
int os_below_read_link(struct os *os, const char *root, const char *path, char *ret, size_t size);
int os_below_remove(struct os *os, const char *root, const char *path, struct err *err);
/* Not durable: see os_below_sync(). */
int os_below_rename(struct os *os, const char *from_root, const char *from, const char *to_root,
                    const char *to, struct err *err);
/* Never of a link's target. */
int os_below_chmod(struct os *os, const char *root, const char *path, mode_t mode, struct err *err);
/* The link itself. */
int os_below_chown(struct os *os, const char *root, const char *path, uid_t uid, gid_t gid,
                   struct err *err);
/* What was renamed, made or removed in that directory survives a crash. */
int os_below_sync(struct os *os, const char *root, const char *path, struct err *err);
/* All that was written to the file system of root does: for a great many files. */
int os_below_sync_all(struct os *os, const char *root, struct err *err);

#endif
