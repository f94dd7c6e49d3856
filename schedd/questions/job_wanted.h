/* schedd/questions/job_wanted.h - which clusters and jobs a query is to look at, by their ids.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_WANTED_H
#define SCHEDD_QUESTIONS_JOB_WANTED_H

#include <stdint.h>

struct ad;
struct err;
struct schedd;
struct vec;

#define WANTED_IDS_MAX 200000 /* in one request */

struct wanted {
    int64_t cluster;
    int64_t proc; /* -1: all of the cluster */
};

/* Adds all clusters that are there, as struct wanted of mem_alloc(). */
void wanted_all(struct schedd *schedd, struct vec *ids);
/* The same of what the argument Ids names, in order of id and each once; all where it is absent.
 * -EINVAL, -E2BIG with err. */
int wanted_read(struct schedd *schedd, const struct ad *args, struct vec *ids, struct err *err);

#endif
