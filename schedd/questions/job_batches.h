/* schedd/questions/job_batches.h - jobs counted by batch, for `roost q`: a queue of 100,000 jobs is
 * a few hundred lines, and no job of it needs an ad.
 *
 * A batch is the jobs of an owner that have the same JobBatchName, or those of a cluster.
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

/* Jobs come in order of id. */
void job_batches_add(struct job_batches *batches, const struct job *job);
/* The cluster's factory (job_factory.h), which there is: it has a batch even while none of its jobs
 * is in the queue.  Behind the cluster's jobs, which are all in the same batch. */
void job_batches_add_factory(struct job_batches *batches, const struct cluster *cluster);

size_t job_batches_count(const struct job_batches *batches);
/* One batch, in the order in which their first jobs came: Owner, JobBatchName (absent: none),
 * QDate, ClusterId and ProcId of its first job, LastClusterId and LastProcId, the numbers of its
 * jobs by status (IdleJobs, RunningJobs with those whose output is being placed, HeldJobs,
 * CompletedJobs, RemovedJobs, SuspendedJobs), TotalSubmitProcs of its clusters together; with a
 * factory UnmaterializedJobs (still to be made), JobMaterializePaused and -PauseReason where it
 * does not go on.  Owned by the caller. */
struct ad *job_batches_ad(const struct job_batches *batches, size_t index);

#endif
