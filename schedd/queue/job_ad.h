/* schedd/queue/job_ad.h - reads a job: its id, its status, and its ad, which is put together from
 * three parts: the cluster's ad, the job's own ad, and the fixed attributes.
 *
 * A fixed attribute, such as ProcId or JobStatus, exists for every job; it is computed from struct
 * job and stands in no stored ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_AD_H
#define SCHEDD_QUEUE_JOB_AD_H

#include <stdbool.h>
#include <stdint.h>

#include "schedd/queue/queue_table.h"

/* Writes the job's id as text: "12.3". */
void job_id(const struct job *job, char ret[JOB_ID_SIZE]);
/* Writes the key of the job's rows in the store. */
void job_row_key(const struct job *job, char ret[JOB_KEY_SIZE]);
/* Reads "12.3" or "12" (then *proc is -1).  False when text is not an id of a job or cluster. */
bool job_id_parse(const char *text, int64_t *cluster, int64_t *proc);

/* Returns the JobStatus that follows from the job's phase.  The job must not be in JOB_GONE. */
enum job_status job_status(const struct job *job);
/* Returns the job's ad as a copy of its own attributes and its fixed attributes, chained to the
 * cluster's ad.  Owned by the caller; must not outlive the cluster. */
struct ad *job_view(const struct schedd *schedd, const struct job *job);
/* Returns the ad of the job's row in the store: its own and its fixed attributes, without
 * GlobalJobId, which is made of others.  Owned by the caller. */
struct ad *job_row_ad(const struct schedd *schedd, const struct job *job);
/* Returns the number of the fixed attribute with this name, or -1 when the name is not one. */
int job_fixed_find(const char *name);
/* Sets in ad the fixed attribute with this number (job_fixed_find()), if the job has a value for
 * it. */
void job_fixed_put(const struct schedd *schedd, const struct job *job, int fixed, struct ad *ad);
/* Returns the job's whole ad, without a chain to the cluster's.  Owned by the caller. */
struct ad *job_flat(const struct schedd *schedd, const struct job *job);
/* Returns the job's own ad, made when absent, so that the caller can set attributes in it; the
 * caller must then call change_job(). */
struct ad *job_own(struct job *job);
/* Returns whether the job's own ad or its cluster's ad has the attribute; fixed attributes are not
 * seen. */
bool job_has(const struct job *job, const char *name);
/* job_int() and job_string() return the attribute from the job's own ad, else from the cluster's,
 * else `otherwise`. */
int64_t job_int(const struct job *job, const char *name, int64_t otherwise);
const char *job_string(const struct job *job, const char *name, const char *otherwise);

#endif
