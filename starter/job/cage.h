/* starter/job/cage.h - the job's container: namespaces, mounts, a cgroup, limits.  It is called the
 * cage; "sandbox" is the job's directory.
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

/* Starts a program in the job's cage, otherwise like os_spawn(); the first call makes the cage.
 * Sets *ret to the pid; on_exit is called with the starter as its argument when the program ends.
 * Returns 0; -ENOTSUP if the cage cannot be made and the program may not run without it; or another
 * -errno. */
int cage_spawn(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit, pid_t *ret,
               struct err *err);
/* Starts an extra program in the namespaces and cgroup of the running job, so that what the program
 * uses is counted as the job's.  Sets *ret to the pid; on_exit is called with the starter as its
 * argument when the program ends.  Returns 0; -ESRCH if the job is not running; or another
 * -errno. */
int cage_spawn_beside(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit,
                      pid_t *ret, struct err *err);
/* Returns whether the cage has namespaces, so that its programs cannot touch anything outside. */
bool cage_has_walls(const struct starter *starter);
/* If a scratch directory of the job (such as the job's /tmp) lies in `path`, a directory in the
 * run's directory, returns the name that the scratch directory has in `path`, borrowed; otherwise
 * NULL. */
const char *cage_scratch_inner(const struct starter *starter, const char *path);
/* Returns the memory that the job may use, in MiB; 0: no limit. */
int64_t cage_memory_limit_mib(const struct starter *starter);
/* Returns the job's cgroup, borrowed; NULL when it has none. */
const struct os_cgroup *cage_group(const struct starter *starter);
/* Reads the memory, CPU time and so on that the job's cgroup has counted into *ret; all 0 if the
 * job has no cgroup. */
void cage_figures(struct starter *starter, struct os_cgroup_usage *ret);
/* Doubles the job's memory limit (copied true) or restores it (false). roost-ckpt makes an image
 * from a copy (fork) of the job: while that copy exists, each page that the job or the copy writes
 * to is in memory twice, and the job must not be killed for that. */
void cage_allow_copy(struct starter *starter, bool copied);
/* Kills all processes in the cage.  Returns at once; on_exit of the job's process is called
 * later. */
void cage_kill(struct starter *starter);
/* Freezes all processes in the cage, or lets them continue (frozen false). */
void cage_freeze(struct starter *starter, bool frozen);
/* Kills the processes that are left in the cage, and removes its cgroup or keeps the cgroup for the
 * next run.  When this returns, no process is left in the cage. */
void cage_empty(struct starter *starter);
/* Frees the cage, if there is one. */
void cage_close(struct starter *starter);

/* Finds the scratch directory with that index (from 0), a private directory of the job: sets *from
 * to its real path, and *to to the path at which the job sees it, such as /tmp.  Both are
 * borrowed.  Returns false if index is too large. */
bool cage_scratch(const struct starter *starter, size_t index, const char **from, const char **to);
/* Sets *to to the path at which the job sees the index-th (from 0) directory or file that is
 * mounted for the job; scratch directories are among them.  Borrowed.  Returns false if index is
 * too large. */
bool cage_mount_point(const struct starter *starter, size_t index, const char **to);

#endif
