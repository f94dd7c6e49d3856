/* submit/spool_plan.h - jobs whose files are spooled: where each file lies at the schedd, and where
 * it came from and belongs at the submitter's.
 *
 * The sandbox of a cluster is a directory of its owner: in/<hash>/<name> has the files that the
 * jobs are given, hash being of where they are at the submitter's, so that what many jobs share is
 * sent and kept once; out/<ProcId>/ has what a job brings back and is its Iwd; log/<hash>/<name>
 * its event log.  What the job's ad said before is in SUBMIT_<attribute>; both sides work from
 * these ads alone.  Pure.
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

#define SPOOL_HOLD_REASON "Spooling input data files" /* HTCondor's words and number */
#define SPOOL_HOLD_CODE   16
/* HTCondor's: ten days for somebody to fetch the output. */
#define SPOOL_LEAVE                                                              \
    "JobStatus == 4 && (CompletionDate =?= undefined || CompletionDate == 0 || " \
    "((time() - CompletionDate) < 864000))"
#define SPOOL_MARK "SUBMIT_Iwd" /* a cluster that has it is spooled */

extern const char *const spool_plan_attributes[]; /* that are rewritten; NULL-terminated */

/* Of a cluster's new ad: keeps what it says as SUBMIT_..., and has its jobs stay for their output.
 */
void spool_plan_keep(struct ad *cluster);
/* Of a job's own new ad, the cluster's being as that left it: what it names lies below directory
 * from now on.  -EINVAL: a job that cannot be spooled. */
int spool_plan_rewrite(struct ad *own, const struct ad *cluster, const char *directory,
                       int64_t proc, struct err *err);
/* Does LeaveJobInQueue say what spool_plan_keep() made it say? */
bool spool_plan_waits_for_fetch(const struct ad *job);

/* What a client sends for a job. */
struct spool_item {
    char *local; /* absolute; NULL: a directory that is to be made */
    char *name;  /* below the sandbox */
};
void spool_item_destroy(void *item); /* for vec_fini() */
/* Appends struct spool_item; job is an ad as the schedd shows it.  -EINVAL: it is not spooled. */
int spool_plan_items(const struct ad *job, struct vec *items, struct err *err);
/* Where a file of out/<ProcId>/ belongs at the submitter's, absolute, the caller's (mem_free). name
 * is below that directory; "" means the event log; NULL: nowhere. */
char *spool_plan_destination(const struct ad *job, const char *name);

#endif
