/* schedd/job_checkpoints.h - what the schedd notes about the checkpoints of jobs: which ones count,
 * how much work they saved, and when the shadow is to delete them.
 *
 * The shadow keeps the images and files.  checkpoint_plan.h changes the job's ad.  Each report of a
 * shadow is committed before it is answered, together with what the run has used until then, so
 * nothing is lost or counted twice when the schedd is killed.  docs/protocol/checkpoint.md,
 * sections 4 and 5.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_CHECKPOINTS_H
#define SCHEDD_JOB_CHECKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct change;
struct job;
struct schedd;
struct wire_request;

/* Returns whether the job asks for checkpoints (WantCheckpoint). */
bool checkpoints_wanted(const struct job *job);

/* Returns true when the shadow may have checkpoints of this job on its disk: a checkpoint is
 * committed, or the job has run and may have left a checkpoint that was not reported yet. */
bool checkpoints_may_be(const struct job *job);

/* Handles a shadow's JOB_STATUS "Checkpointed": notes the checkpoint in the job's ad and in its
 * event log.  told: the report, with the checkpoint's manifest and what the run has used. */
void checkpoints_taken(struct change *change, struct job *job, const struct ad *told);
/* Handles a shadow's JOB_STATUS "CheckpointRefused": a run could not continue from a checkpoint.
 * told: the report, with the number of the checkpoint and the reason. */
void checkpoints_refused(struct change *change, struct job *job, const struct ad *told);
/* Returns true when the schedd has taken the job off the slot of its run with this epoch, and a
 * checkpoint of that run still counts if the shadow reports it now, because no other run has begun
 * since. */
bool checkpoints_take_late(const struct job *job, int64_t epoch);

/* Forgets the job's checkpoints, because its result counts or because it leaves the queue.  After
 * the commit the owner's shadow is told to delete them.  leaves: the job leaves the queue, and its
 * ad stays as it is for the history. */
void checkpoints_forget(struct change *change, struct job *job, bool leaves);

/* To be called from time to time for each job.  Returns true when an idle job has waited too long
 * for a machine that can resume its checkpoint: its ad now allows any machine, and the caller has
 * to write its row. */
bool checkpoints_look_at(struct schedd *schedd, struct job *job);

/* Answers a client's request JOB_CHECKPOINT: makes running jobs write a checkpoint now
 * (job_checkpoint_now.c). */
void checkpoints_now(struct schedd *schedd, struct wire_request *request);

void checkpoints_init(struct schedd *schedd);
void checkpoints_fini(struct schedd *schedd);

#endif
