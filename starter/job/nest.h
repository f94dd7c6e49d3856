/* starter/job/nest.h - what is kept of a run's directory for the next run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_NEST_H
#define STARTER_JOB_NEST_H

#include <stdbool.h>

#include "base/os/os_cgroup.h"

struct os_cgroup;
struct os_cgroup_limits;
struct starter;

struct starter_nest {
    char *directory;         /* the last run's, empty, for the next; NULL: none */
    struct os_cgroup *group; /* and its cgroup, as new; NULL: none */
    struct os_cgroup_limits limits;
    char *cpus; /* of limits */
};

/* Empties the run's directory and keeps it for the next run; no process of the run may be left.
 * False: the directory must be removed instead. */
bool nest_keep(struct starter *starter);
/* Is the run's sandbox that of the kept directory, as new?  What else is kept is removed then. */
bool nest_has_sandbox(struct starter *starter);
void nest_remove(struct starter *starter); /* what is kept, if anything */
/* Keeps the group, which then is nobody else's, if it can be made as new; false: it is to be
 * removed. */
bool nest_keep_group(struct starter *starter, struct os_cgroup *group,
                     const struct os_cgroup_limits *limits);
/* The group that is kept, if it has those limits; NULL: there is none. */
struct os_cgroup *nest_take_group(struct starter *starter, const struct os_cgroup_limits *limits);
/* Where a file of the sandbox waits between two runs; the caller owns it. */
char *nest_ad_path(const struct starter *starter, const char *name);

#endif
