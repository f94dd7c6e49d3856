/* starter/files/kept.h - what a job must not change although it has the daemons' account.
 *
 * In a personal pool jobs and daemons are one account.  Who changes a file that the daemons read,
 * or a program that they run, is a daemon at the next reload: so these are read-only for the job,
 * and the directories above them, and above what is hidden from jobs, cannot be renamed.  They are
 * the files and directories of the configuration, SBIN, and every regular file that some text of
 * the configuration names by its path (hooks, commands, maps, passwords), whichever daemon the text
 * is for.
 *
 * Names are followed as the kernel does, and what they lead to is held.  A symbolic link on the way
 * cannot be mounted over: the directory that it is in becomes read-only, if the job could change
 * it.  The directory of settings made at run time and the directories that are hidden from jobs are
 * made here if they are missing: else the job could make them, and put its own files there.
 *
 * Left out: names that only another daemon's macros complete ($(SUBSYSTEM)), and programs that are
 * not there yet.
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
    struct vec readonly; /* char *: files and directories that it must not change */
};

/* hidden[0..count): directories that the job finds empty.  Adds to *ret.  -E2BIG: more than
 * CAGE_KEPT_MAX of either; or why a directory could not be made; err names it. */
int kept_find(struct os *os, const struct config *config, const char *const *hidden, size_t count,
              struct kept *ret, struct err *err);
void kept_fini(struct kept *kept);

#endif
