/* starter/job/nest.h - what is kept of a run's directory for the claim's next run.
 *
 * Making directories and a cgroup costs more than a short job, so those of a run that ended without
 * incident are emptied and used again.  What is kept is called the nest.
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
    /* path of the last run's directory, emptied and kept; NULL: none is kept */
    char *directory;
    /* cgroup of the last run, empty and reset; NULL: none is kept */
    struct os_cgroup *group;
    struct os_cgroup_limits limits; /* the limits with which `group` was made */
    char *cpus;                     /* the string that limits.cpu_list points to */
};

/* Empties the run's directory and keeps it for the next run.  No process of the run may be left.
 * Returns false if the directory cannot be kept: the caller must remove it. */
bool nest_keep(struct starter *starter);
/* Returns whether the run's directory was made from the kept one, so that its sandbox exists, empty
 * and ready for use.  If not, removes whatever is kept. */
bool nest_has_sandbox(struct starter *starter);
/* Removes the kept directory and the kept cgroup, if any. */
void nest_remove(struct starter *starter);
/* Resets the cgroup and takes it over, to keep it for the next run.  Returns false if it cannot be
 * kept: then it still belongs to the caller, who must remove it. */
bool nest_keep_group(struct starter *starter, struct os_cgroup *group,
                     const struct os_cgroup_limits *limits);
/* Returns the kept cgroup if it has exactly these limits; the caller owns it then.  Otherwise
 * removes it and returns NULL; NULL also if none is kept. */
struct os_cgroup *nest_take_group(struct starter *starter, const struct os_cgroup_limits *limits);
/* Returns the path, beside the sandbox, at which the ad file `name` (.job.ad or .machine.ad) is
 * kept between two runs.  The caller owns the string. */
char *nest_ad_path(const struct starter *starter, const char *name);

#endif
