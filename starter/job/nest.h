/* starter/job/nest.h - what is kept of a run's directory for the claim's next run.
 *
 * Making directories and a cgroup costs more than a short job, so those of a run that ended without
 * incident are emptied and used again.  We call them the nest.
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
    char *directory;         /* of the last run, emptied; NULL: none is kept */
    struct os_cgroup *group; /* of the last run, emptied, its limits as new; NULL: none is kept */
    struct os_cgroup_limits limits; /* of group */
    char *cpus;                     /* the string that limits.cpu_list points to */
};

/* Empties the run's directory and keeps it for the next run.  No process of the run may be left.
 * False: the caller must remove the directory. */
bool nest_keep(struct starter *starter);
/* Returns whether the run's sandbox is the kept one, empty and ready for use.  If not, removes
 * whatever is kept. */
bool nest_has_sandbox(struct starter *starter);
/* Removes what is kept, if anything. */
void nest_remove(struct starter *starter);
/* Resets the cgroup and keeps it; then the caller must forget it.  False: it still belongs to the
 * caller, who must remove it. */
bool nest_keep_group(struct starter *starter, struct os_cgroup *group,
                     const struct os_cgroup_limits *limits);
/* Returns the kept cgroup if it has these limits; the caller owns it.  Otherwise removes it and
 * returns NULL. */
struct os_cgroup *nest_take_group(struct starter *starter, const struct os_cgroup_limits *limits);
/* Returns the path at which the sandbox's ad file `name` waits between two runs.  The caller owns
 * it. */
char *nest_ad_path(const struct starter *starter, const char *name);

#endif
