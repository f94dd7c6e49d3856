/* starter/job/cage.h - the job's sandbox in the sense of the kernel: namespaces, mounts, a cgroup,
 * limits.  We call it the cage; "sandbox" is the job's directory.
 *
 * With namespaces, process 1 in the cage is a part of the starter, the cage's keeper.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_CAGE_H
#define STARTER_JOB_CAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/os/os.h"
#include "base/os/os_cgroup.h"

struct err;
struct os_cgroup;
struct os_cgroup_usage;
struct os_spawn;
struct starter;

/* Like os_spawn(), but in the job's cage, which the first call makes. on_exit is called with the
 * starter as its argument.  -ENOTSUP: the cage cannot be made, and nothing may run without it. */
int cage_spawn(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit, pid_t *ret,
               struct err *err);
/* The same for an extra program while the job runs: it enters the job's namespaces and cgroup, so
 * what it uses is counted as the job's.  -ESRCH: the job does not run. */
int cage_spawn_beside(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit,
                      pid_t *ret, struct err *err);
/* Returns whether the cage has namespaces: what ran in it could not touch anything outside. */
bool cage_has_walls(const struct starter *starter);
/* Returns the name of the job's /tmp within `path`, a directory of the run's directory that only
 * the job's account may enter.  NULL: path is not such a directory. */
const char *cage_scratch_inner(const struct starter *starter, const char *path);
/* Returns the memory that the job may use, in MiB; 0: no limit. */
int64_t cage_memory_limit_mib(const struct starter *starter);
/* Returns the job's cgroup, borrowed; NULL when it has none. */
const struct os_cgroup *cage_group(const struct starter *starter);
/* Reads what the job's cgroup has counted into *ret; all 0 without a cgroup. */
void cage_figures(struct starter *starter, struct os_cgroup_usage *ret);
/* Doubles the job's memory limit (copied true) or restores it.  While a copy of the job exists,
 * from which a checkpoint image is made, each page that either of them writes to is in memory
 * twice; the job must not be killed for that. */
void cage_allow_copy(struct starter *starter, bool copied);
/* Kills all processes in the cage.  Returns at once; the callback of the job's process follows. */
void cage_kill(struct starter *starter);
/* Stops all processes in the cage, or lets them continue. */
void cage_freeze(struct starter *starter, bool frozen);
/* Kills what is left in the cage and removes its cgroup, or keeps that for the next run.  No
 * process lives in the cage afterwards. */
void cage_empty(struct starter *starter);
/* Frees the cage, if there is one. */
void cage_close(struct starter *starter);

/* Gives the index-th directory that the job has to itself: *from is its real path, *to is where the
 * job sees it (such as /tmp).  Both are borrowed.  False: index is too large. */
bool cage_scratch(const struct starter *starter, size_t index, const char **from, const char **to);
/* Sets *to to the place of the index-th directory or file that is mounted for the job, scratch
 * directories among them.  Borrowed.  False: index is too large. */
bool cage_mount_point(const struct starter *starter, size_t index, const char **to);

#endif
