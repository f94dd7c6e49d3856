/* schedd/submission/job_factory.h - late materialization: the jobs of a large cluster are made one
 * by one.
 *
 * Design.  A cluster that was submitted with max_materialize or max_idle comes as one ad and a
 * digest: the submit file without what looks at the submitter's world (submit/submit_file.h).  Its
 * factory makes the next jobs whenever the cluster has fewer than it may have at a time, in slices
 * of counted work (base/slices.h), for what a job costs its submitter decides; each slice is one
 * commit of the new jobs and of the number of the next
 * (JobMaterializeNextProcId, in the cluster's ad), so that none is made twice or left out, whatever
 * ends the schedd.  What a job of the cluster costs before it is made is its item in the digest.
 *
 * Attributes of the cluster (HTCondor's): JobMaterializeLimit, JobMaterializeMaxIdle (wanted at a
 * time), JobMaterializeNextProcId, JobMaterializeNextRow, TotalSubmitProcs (all there will be),
 * JobMaterializePaused (0 runs, 1 held, -1 an item that makes no job), JobMaterializePauseReason.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_FACTORY_H
#define SCHEDD_SUBMISSION_JOB_FACTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct change;
struct cluster;
struct err;
struct job_factory;
struct schedd;

#define FACTORY_DIGEST_MAX ((size_t)15 << 20) /* bytes */
#define FACTORY_OWNER_MAX                                                   \
    ((int64_t)64 << 20) /* of an owner's digests, as factory_bytes() counts \
                         */

/* What a digest takes in memory, more or less, by a look at its length and its separators. */
int64_t factory_bytes(const char *digest);

/* Reads the digest and makes its first job to see that it can.  place: where it was submitted
 * (docs/protocol/queue.md); both are copied.  -EINVAL names the line. */
int factory_create(struct schedd *schedd, int64_t cluster, const char *digest,
                   const struct ad *place, struct job_factory **ret, struct err *err);
/* The cluster has it from now on; its rows are written.  Takes factory. */
void factory_attach(struct change *change, struct job_factory *factory, struct cluster *cluster);
void factory_destroy(struct job_factory *factory); /* NULL is allowed */

/* No further jobs; those that are there stay. */
void factory_end(struct change *change, struct cluster *cluster);
void factory_pause(struct change *change, struct cluster *cluster, const char *why);
void factory_resume(struct change *change, struct cluster *cluster);
bool factory_is_paused(const struct cluster *cluster);

int factories_load(struct schedd *schedd, struct err *err); /* after the clusters and jobs */
void factories_fini(struct schedd *schedd);                 /* before the clusters */

#endif
