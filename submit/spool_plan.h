/* submit/spool_plan.h - jobs whose files are spooled: where each file lies at the schedd, and where
 * it comes from and belongs on the submitter's machine.
 *
 * The sandbox of a cluster is a directory of its owner.  in/<hash>/<name> has the input files; the
 * hash is made of the file's path on the submitter's machine, so a file that many jobs share is
 * sent and kept once.  out/<ProcId>/ gets the output of a job and is the job's Iwd.
 * log/<hash>/<name> is the job's event log.  The paths that the job's ad had before are kept in
 * SUBMIT_<attribute>; client and schedd find all places from the jobs' ads alone.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SPOOL_PLAN_H
#define SUBMIT_SPOOL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;
struct vec;

/* hold reason of a job that waits for its input */
#define SPOOL_HOLD_REASON "Spooling input data files"
#define SPOOL_HOLD_CODE   16
/* LeaveJobInQueue as HTCondor sets it: ten days for somebody to fetch the output. */
#define SPOOL_LEAVE                                                              \
    "JobStatus == 4 && (CompletionDate =?= undefined || CompletionDate == 0 || " \
    "((time() - CompletionDate) < 864000))"
#define SPOOL_MARK "SUBMIT_Iwd" /* a cluster with this attribute is spooled */

/* The attributes that spool_plan_rewrite() changes; NULL-terminated. */
extern const char *const spool_plan_attributes[];

/* Prepares the ad of a new spooled cluster: copies its paths to SUBMIT_..., and sets
 * LeaveJobInQueue unless the submitter has set it, so that its jobs stay until their output was
 * fetched. */
void spool_plan_keep(struct ad *cluster);
/* Rewrites the paths in a new job's own ad to paths below directory, the sandbox of the cluster.
 * cluster: the ad that spool_plan_keep() has prepared.  proc: the job's ProcId.  Returns 0; or
 * -EINVAL with err for a job that cannot be spooled. */
int spool_plan_rewrite(struct ad *own, const struct ad *cluster, const char *directory,
                       int64_t proc, struct err *err);
/* Returns whether LeaveJobInQueue is the expression that spool_plan_keep() sets, so that the job
 * may leave the queue when its output was fetched. */
bool spool_plan_waits_for_fetch(const struct ad *job);

/* A file or directory that a client sends for a job. */
struct spool_item {
    char *local; /* absolute path on the client's machine; NULL: a directory to be made */
    char *name;  /* path in the sandbox */
};
void spool_item_destroy(void *item); /* frees one item; for vec_fini() */
/* Appends to items a struct spool_item for each file to be sent.  job: the ad of the job, as the
 * schedd shows it.  Returns 0; or -EINVAL with err if the job is not spooled. */
int spool_plan_items(const struct ad *job, struct vec *items, struct err *err);
/* Returns the absolute path where an output file belongs on the submitter's machine; owned by the
 * caller (mem_free).  name: the file's name below out/<ProcId>/; "" means the event log.  NULL: the
 * file is not to be stored there. */
char *spool_plan_destination(const struct ad *job, const char *name);

#endif
