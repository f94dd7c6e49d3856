/* wire/root_jobs.h - jobs never run as root: who counts as root, for schedd, startd and starter.
 *
 * Design.  Each of them judges for itself: a schedd that is not ours, or whose store is older than
 * the rule, may ask for a job of root, and what is asked for then does not depend on UID_DOMAIN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_ROOT_JOBS_H
#define WIRE_ROOT_JOBS_H

#include <stdbool.h>

struct ad;
struct err;
struct os;

/* Is it the name "root", or that of an account of this host with uid 0?  An unknown one is not. */
bool root_jobs_name(struct os *os, const char *name);

/* May a job with that ad run as far as its owner goes?  0; -EPERM, and err says why: Owner or User
 * names root (of any domain) or an account with uid 0, or is not a literal string.  A job that has
 * neither attribute may run. */
int root_jobs_judge(struct os *os, const struct ad *job, struct err *err);

#endif
