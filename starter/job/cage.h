/* starter/job/cage.h - what the job is shut in.
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

/* os_spawn() in the job's cage, which is made at the first call.  -ENOTSUP: it cannot be had, and
 * nothing may run without it. */
int cage_spawn(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit, pid_t *ret,
               struct err *err);
/* The same for a program beside the job that runs: where the job is, counted as it is. */
int cage_spawn_beside(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit,
                      pid_t *ret, struct err *err);
bool cage_has_walls(const struct starter *starter); /* nothing outside was within its reach */
/* The name of its /tmp in path, which is in the run's directory; NULL: it has none there. */
const char *cage_scratch_inner(const struct starter *starter, const char *path);
int64_t cage_memory_limit_mib(const struct starter *starter);            /* 0: none */
const struct os_cgroup *cage_group(const struct starter *starter);       /* NULL: it has none */
void cage_figures(struct starter *starter, struct os_cgroup_usage *ret); /* all 0 without a group */
/* While there is a copy of the job to make an image of, each page that either writes to is there
 * twice: the job is not to be killed for that.  Until it is said to be over its limit of memory is
 * twice as much. */
void cage_allow_copy(struct starter *starter, bool copied);
void cage_kill(struct starter *starter); /* all that is in it; returns at once */
void cage_freeze(struct starter *starter, bool frozen);
void cage_empty(struct starter *starter); /* nothing lives in it after this */
void cage_close(struct starter *starter);

/* The i-th directory of ours that the job has at another place; false: there is none. */
bool cage_scratch(const struct starter *starter, size_t index, const char **from, const char **to);
/* The same for all that is mounted at a place of its own, the scratch directories among them. */
bool cage_mount_point(const struct starter *starter, size_t index, const char **to);

#endif
