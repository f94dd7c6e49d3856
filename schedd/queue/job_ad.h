/* schedd/queue/job_ad.h - reading a job: its ids, its status, its ad, put together from its
 * cluster's, its own and its fixed parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_AD_H
#define SCHEDD_QUEUE_JOB_AD_H

#include <stdbool.h>
#include <stdint.h>

#include "schedd/queue/queue_table.h"

void job_id(const struct job *job, char ret[JOB_ID_SIZE]);
void job_row_key(const struct job *job, char ret[JOB_KEY_SIZE]);      /* of its rows in the store */
bool job_id_parse(const char *text, int64_t *cluster, int64_t *proc); /* proc -1 for "12" */

enum job_status job_status(const struct job *job); /* not of JOB_GONE */
/* What is its own, with the fixed attributes written out, chained to the cluster's ad; owned by the
 * caller; must not outlive the cluster. */
struct ad *job_view(const struct schedd *schedd, const struct job *job);
/* One of these fixed attributes, by its number; -1: the name is of none. */
int job_fixed_find(const char *name);
/* Sets it in ad; left out when the job has none. */
void job_fixed_put(const struct schedd *schedd, const struct job *job, int fixed, struct ad *ad);
/* The whole ad, flat; owned by the caller. */
struct ad *job_flat(const struct schedd *schedd, const struct job *job);
struct ad *job_own(struct job *job); /* to set attributes in; follow with change_job() */
bool job_has(const struct job *job, const char *name); /* of its own, or its cluster's */
int64_t job_int(const struct job *job, const char *name, int64_t otherwise);
const char *job_string(const struct job *job, const char *name, const char *otherwise);

#endif
