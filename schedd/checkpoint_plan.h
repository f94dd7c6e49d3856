/* schedd/checkpoint_plan.h - what a checkpoint, a refusal, a resumption and an end make of a job's
 * ad.  Pure: ads in, ads changed.
 *
 * Design.  CommittedTime and its kin are what will not be computed again.  A run that ends without
 * a result adds what its last checkpoint saved, and no more; a result adds the rest.  A run that
 * cannot be resumed where the job was (its latest image is damaged, or no machine can run it) takes
 * back what is lost by that: for each checkpoint that is kept the ad has, in private, what was
 * committed by then, and for the start of the job what earlier results of it were (0 at first).
 * HTCondor's CommittedTime is not taken back; there badput that was once goodput stays goodput.
 *
 * All of it is in the job's own ad, so that it is committed with the checkpoint that it tells of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CHECKPOINT_PLAN_H
#define SCHEDD_CHECKPOINT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

struct checkpoint_facts {
    int64_t now_s;
    int64_t began_s;     /* of this run */
    int64_t run_max_s;   /* it cannot have been longer than that */
    int64_t suspended_s; /* of this run, so far */
    double weight;       /* of its slot */
};

/* A run begins: nothing of it is saved. */
void checkpoint_plan_run_begins(struct ad *own);

/* One was taken; told: its manifest (docs/protocol/checkpoint.md).  False: it is known already, and
 * nothing changed. */
bool checkpoint_plan_taken(struct ad *own, const struct ad *told,
                           const struct checkpoint_facts *facts);

/* The latest, or another, could not be resumed.  told: CkptSequence, Reason, Damaged, CkptPrevious.
 * A damaged one is forgotten for the one before. */
void checkpoint_plan_refused(struct ad *own, const struct ad *told);

/* A run went on from that checkpoint; 0: it began at the start. */
void checkpoint_plan_resumed(struct ad *own, int64_t sequence);

/* Its checkpoints are of no more use: its result counts, and if it runs again it begins at its
 * start.  NumCkpts and LastCkptTime stay.  False: it had none. */
bool checkpoint_plan_forget(struct ad *own);

/* Of the run at hand: has it been checkpointed; how much of it, and of its suspensions, is in
 * CommittedTime and its kin already? */
bool checkpoint_plan_run_has_one(const struct ad *own);
int64_t checkpoint_plan_run_saved_s(const struct ad *own);
int64_t checkpoint_plan_suspension_saved_s(const struct ad *own);

/* Does a job that has an image wait in vain for a machine that can run it? then it is to take any.
 * rejected: the negotiator's last reason, since the job is idle; NULL: it gave none. */
bool checkpoint_plan_gives_up(const struct ad *own, int64_t idle_s, int64_t patience_s,
                              const char *rejected);

#endif
