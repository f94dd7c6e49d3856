/* wire/root_jobs.h - jobs never run as root: decides who counts as root.
 *
 * Design.  Schedd, startd and starter each decide for themselves.  A schedd that runs
 * other software, or whose store was written before this rule, may still ask for a job of root.
 * Whatever UID_DOMAIN is, the root of any domain is root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_ROOT_JOBS_H
#define WIRE_ROOT_JOBS_H

#include <stdbool.h>

struct ad;
struct err;
struct os;

/* Returns whether name is "root" or an account of this host with uid 0.  False for an unknown
 * name. */
bool root_jobs_name(struct os *os, const char *name);

/* Returns 0 if the job's owner is allowed to run jobs.  Returns -EPERM, with the reason in err, if
 * Owner or User names root (of any domain) or an account with uid 0, or is not a string literal.  A
 * job that has neither attribute is allowed. */
int root_jobs_judge(struct os *os, const struct ad *job, struct err *err);

#endif
