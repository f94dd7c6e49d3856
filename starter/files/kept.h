/* starter/files/kept.h - files that a job must not change although it runs under the daemons'
 * account.
 *
 * In a personal pool jobs and daemons share one account.  A job that changes a file which the
 * daemons read, or a program which they run, controls a daemon at the next reload.  So these files
 * are read-only for the job, and the directories above them, and above what is hidden from jobs,
 * cannot be renamed.  The files are: the configuration's files and directories, SBIN, and every
 * regular file whose path occurs in some text of the configuration (hooks, commands, maps,
 * passwords), whichever daemon the text is for.
 *
 * Paths are followed as the kernel does, and what they lead to is protected.  A symbolic link on
 * the way cannot be mounted over: the directory that contains it becomes read-only, if the job
 * could change it.  The directory of settings made at run time and the directories that are hidden
 * from jobs are made here if they are missing: otherwise the job could make them and put its own
 * files there.
 *
 * Left out: paths that only another daemon's macros complete ($(SUBSYSTEM)), and programs that do
 * not exist yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_KEPT_H
#define STARTER_FILES_KEPT_H

#include <stddef.h>

#include "base/vec.h"

struct config;
struct err;
struct os;

struct kept {
    struct vec ways;     /* char *: directories that the job must not rename, outermost first */
    struct vec readonly; /* char *: files and directories that the job must not change */
};

/* Finds the files and directories to protect and adds them to *ret. hidden[0..count): directories
 * that the job sees empty.  Returns 0; -E2BIG if a list would have more than CAGE_KEPT_MAX entries;
 * or another -errno if a missing directory could not be made. err names the path. */
int kept_find(struct os *os, const struct config *config, const char *const *hidden, size_t count,
              struct kept *ret, struct err *err);
/* Frees the lists `ways` and `readonly`. */
void kept_fini(struct kept *kept);

#endif
