/* schedd/job_select.h - who asks that something be done to jobs, and to which.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_SELECT_H
#define SCHEDD_JOB_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedd/job_queue.h"

struct ad;
struct err;
struct schedd;
struct vec;
struct wire_peer;

struct job_caller {
    char owner[OWNER_NAME_MAX + 1]; /* "" for one who may act on all and is no user here */
    bool is_super;                  /* ADMINISTRATOR, or one of QUEUE_SUPER_USERS */
};
/* 0, or -EPERM with err for one whom this schedd cannot serve. */
int caller_find(struct schedd *schedd, const struct wire_peer *peer, struct job_caller *ret,
                struct err *err);
bool caller_may(const struct job_caller *caller, const struct job *job);

/* Adds to jobs those for which the expression (text) is true; -EINVAL with err. */
int select_by_constraint(struct schedd *schedd, const char *text, struct vec *jobs,
                         struct err *err);
/* Adds the jobs of a list of "12.3" and "12"; a job is added once for each time it is named.
 * *missing counts those that are not there.  -EINVAL, -E2BIG with err. */
int select_by_ids(struct schedd *schedd, const struct ad *args, const char *name, struct vec *jobs,
                  int64_t *missing, struct err *err);

#endif
