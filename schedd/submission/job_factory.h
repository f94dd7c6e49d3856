/* schedd/submission/job_factory.h - factories: make the jobs of a large cluster one by one (late
 * materialization).
 *
 * Design.  A cluster that was submitted with max_materialize or max_idle arrives as one ad and a
 * digest: the submit file, without the parts that depend on the submitter's environment
 * (submit/submit_file.h).  Its factory makes the next jobs whenever the cluster has fewer jobs than
 * it may have.  It works in slices of counted work (base/slices.h), because the submitter decides
 * how costly a job is.  Each slice is one commit of the new jobs together with the number of the
 * next job (JobMaterializeNextProcId in the cluster's ad), so that no job is made twice or left
 * out, whenever the schedd ends.  A job that is not made yet costs only its item in the digest.
 *
 * Attributes of the cluster (HTCondor's): JobMaterializeLimit and JobMaterializeMaxIdle (how many
 * jobs, and how many idle ones, it may have in the queue), JobMaterializeNextProcId,
 * JobMaterializeNextRow, TotalSubmitProcs (number of all its jobs), JobMaterializePaused (0
 * running, 1 held, -1 an item makes no valid job), JobMaterializePauseReason.
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

/* most bytes of one submit digest, without the terminating zero */
#define FACTORY_DIGEST_MAX ((size_t)15 << 20)
/* Most bytes of all submit digests of one owner, as factory_bytes() counts them. */
#define FACTORY_OWNER_MAX ((int64_t)64 << 20)

/* Estimates how many bytes a factory with this submit digest takes in memory, from the digest's
 * length and its number of commas and line ends. */
int64_t factory_bytes(const char *digest);

/* Creates a factory: reads the digest, and makes the first job from it, to check that this is
 * possible.  cluster: the id.  place: where the jobs were submitted (docs/protocol/queue.md).
 * digest and place are copied.  Returns 0 and sets *ret; or -EINVAL with err, which names the line
 * of the digest. */
int factory_create(struct schedd *schedd, int64_t cluster, const char *digest,
                   const struct ad *place, struct job_factory **ret, struct err *err);
/* Gives the factory to the cluster, and writes the rows of both with change. */
void factory_attach(struct change *change, struct job_factory *factory, struct cluster *cluster);
void factory_destroy(struct job_factory *factory); /* NULL is allowed */

/* Removes the cluster's factory, if it has one: no further jobs are made, and the jobs in the
 * queue stay. */
void factory_end(struct change *change, struct cluster *cluster);
/* Pauses the factory, if the cluster has one: no jobs are made until factory_resume().  why: shown
 * as JobMaterializePauseReason. */
void factory_pause(struct change *change, struct cluster *cluster, const char *why);
void factory_resume(struct change *change, struct cluster *cluster);
bool factory_is_paused(const struct cluster *cluster);

/* Loads the factories from the store.  To be called after the clusters and jobs were loaded.
 * Returns 0, or a negative errno with err. */
int factories_load(struct schedd *schedd, struct err *err);
/* frees all factories; to be called before the clusters are freed */
void factories_fini(struct schedd *schedd);

#endif
