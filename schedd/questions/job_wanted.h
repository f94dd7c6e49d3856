/* schedd/questions/job_wanted.h - reads which clusters and jobs a query names by their ids.
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

#define WANTED_IDS_MAX 200000 /* most ids in one request */

struct wanted {
    int64_t cluster;
    int64_t proc; /* -1: all jobs of the cluster */
};

/* Adds all clusters of the queue to ids, each as a struct wanted from mem_alloc(). */
void wanted_all(struct schedd *schedd, struct vec *ids);
/* Adds the clusters and jobs that the argument Ids names, each as a struct wanted from mem_alloc(),
 * sorted and without repetition; all clusters if Ids is absent.  The ids need not exist.  Returns
 * 0; or, with err, -EINVAL (not a list of ids) or -E2BIG (too many ids). */
int wanted_read(struct schedd *schedd, const struct ad *args, struct vec *ids, struct err *err);

#endif
