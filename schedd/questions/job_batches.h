/* schedd/questions/job_batches.h - counts jobs by batch, for `roost q`: a queue of 100,000 jobs
 * becomes a few hundred lines, and no job's ad has to be put together.
 *
 * A batch is all jobs of an owner with the same JobBatchName; jobs without a name form a batch with
 * the other jobs of their cluster.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_BATCHES_H
#define SCHEDD_QUESTIONS_JOB_BATCHES_H

#include <stddef.h>

struct ad;
struct cluster;
struct job;
struct job_batches;

struct job_batches *job_batches_create(void);
void job_batches_destroy(struct job_batches *batches); /* NULL is allowed */

/* Counts the job in its batch, which is made if needed.  To be called in the order of job ids. */
void job_batches_add(struct job_batches *batches, const struct job *job);
/* Counts the jobs that the cluster's factory has still to make (job_factory.h).  The cluster must
 * have a factory; its batch exists even while none of its jobs is in the queue.  Call after the
 * jobs of this cluster were added. */
void job_batches_add_factory(struct job_batches *batches, const struct cluster *cluster);

size_t job_batches_count(const struct job_batches *batches);
/* Returns the ad of one batch; batches are in the order of their first jobs.  Its attributes:
 * Owner; JobBatchName (absent: no name); QDate; ClusterId and ProcId of its first job;
 * LastClusterId and LastProcId; the numbers of its jobs by status in IdleJobs, RunningJobs (also
 * jobs whose output is being placed), HeldJobs, CompletedJobs, RemovedJobs and SuspendedJobs;
 * TotalSubmitProcs of all its clusters.  With a factory also UnmaterializedJobs (still to be made),
 * JobMaterializePaused, and JobMaterializePauseReason if it is paused.  Owned by the caller. */
struct ad *job_batches_ad(const struct job_batches *batches, size_t index);

#endif
