/* schedd/job_checkpoints.h - the checkpoints of jobs, as far as the schedd knows them: which count,
 * what they saved, who is told when they are of no more use.
 *
 * Images and files are the shadow's business; what is in a job's ad is checkpoint_plan.h's.  Each
 * report is committed before it is answered, with what the run has used until then, so that nothing
 * is lost or counted twice when we are killed.  docs/protocol/checkpoint.md, sections 4 and 5.
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

/* WantCheckpoint. */
bool checkpoints_wanted(const struct job *job);

/* Has its shadow any of it?  One is committed; or it has run, so that one may be on its way, or on
 * the shadow's disk and just be told to us. */
bool checkpoints_may_be(const struct job *job);

/* JOB_STATUS "Checkpointed": into the job's ad and its log; told also has what the run used. */
void checkpoints_taken(struct change *change, struct job *job, const struct ad *told);
/* JOB_STATUS "CheckpointRefused". */
void checkpoints_refused(struct change *change, struct job *job, const struct ad *told);
/* May a run that is not the job's any more still tell of its last one?  It may until another
 * begins. */
bool checkpoints_take_late(const struct job *job, int64_t epoch);

/* The job's result counts, or it leaves the queue: its shadow is told, after the commit, to remove
 * them. leaves: the ad is to stay as it is, for the history. */
void checkpoints_forget(struct change *change, struct job *job, bool leaves);

/* An idle job is looked at from time to time: true when it is now to take any machine, and its row
 * has to be written. */
bool checkpoints_look_at(struct schedd *schedd, struct job *job);

/* JOB_CHECKPOINT of a client: one now, of each of these jobs; job_checkpoint_now.c. */
void checkpoints_now(struct schedd *schedd, struct wire_request *request);

void checkpoints_init(struct schedd *schedd);
void checkpoints_fini(struct schedd *schedd);

#endif
