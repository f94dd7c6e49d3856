/* schedd/checkpoint_plan.h - changes a job's ad after a checkpoint was taken, was refused, was
 * resumed from, or is no longer needed.  Pure: works on ads only.
 *
 * Design.  CommittedTime, CommittedSlotTime and CommittedSuspensionTime count work that need not be
 * computed again.  A run that ends without a result adds only the work that its last checkpoint
 * saved.  A run that ends with a result adds the rest.  When a job cannot continue from its latest
 * checkpoint (the image is damaged, or no machine can run it), the work that is lost by this is
 * subtracted again.  To make this possible, the ad keeps, in its attribute CkptBooks, the
 * committed times as they were at each kept checkpoint and at the start of the job.  HTCondor does
 * not subtract from CommittedTime; there, lost work stays counted as committed.
 *
 * All of this stands in the job's own ad, so one commit stores it together with the checkpoint.
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
    int64_t began_s; /* when the job's present run began: seconds since 1970 */
    /* length of the present run in seconds by the schedd's clock; the run time that a machine
     * reports for a checkpoint counts only up to this length */
    int64_t run_max_s;
    int64_t suspended_s; /* seconds for which the present run was suspended so far */
    double weight;       /* factor from run time to slot time: the cpus of the slot */
};

/* To be called when a new run begins: removes from the job's own ad the count of the last run's
 * checkpoints, and how much of that run they saved. */
void checkpoint_plan_run_begins(struct ad *own);

/* Notes in `own`, the job's own ad, that a checkpoint was taken.  told: its manifest
 * (docs/protocol/checkpoint.md).  Returns false, and changes nothing, when the checkpoint is
 * already known. */
bool checkpoint_plan_taken(struct ad *own, const struct ad *told,
                           const struct checkpoint_facts *facts);

/* Notes in `own`, the job's own ad, that a checkpoint could not be resumed from.  told: the
 * shadow's report, with CkptSequence (number of the checkpoint), Reason, Damaged, and CkptPrevious
 * (number of the kept checkpoint before it; 0: none).  If the latest checkpoint is damaged, the one
 * before it becomes the latest. */
void checkpoint_plan_refused(struct ad *own, const struct ad *told);

/* Notes in `own`, the job's own ad, that a run continued from the checkpoint with this sequence
 * number, or, with 0, started from the beginning: counts the restart in NumRestarts, and sets the
 * committed times back to what they were at that checkpoint. */
void checkpoint_plan_resumed(struct ad *own, int64_t sequence);

/* Forgets the job's checkpoints: a further run would start from the beginning, and the committed
 * times stay.  NumCkpts and LastCkptTime stay, too.  Returns whether the job had a checkpoint. */
bool checkpoint_plan_forget(struct ad *own);

/* Returns whether a checkpoint of the job's present run was taken. */
bool checkpoint_plan_run_has_one(const struct ad *own);
/* checkpoint_plan_run_saved_s() returns how many seconds of the present run's time are already
 * included in the committed times, checkpoint_plan_suspension_saved_s() how many seconds of its
 * suspensions. */
int64_t checkpoint_plan_run_saved_s(const struct ad *own);
int64_t checkpoint_plan_suspension_saved_s(const struct ad *own);

/* Returns true when a job with a checkpoint has waited in vain for patience_s seconds (0: wait for
 * ever) for a machine that can run its image, and may now start over on any machine.  idle_s:
 * seconds for which the job has been idle.  rejected: why the negotiator gave the idle
 * job no slot; NULL when the negotiator has not said why. */
bool checkpoint_plan_gives_up(const struct ad *own, int64_t idle_s, int64_t patience_s,
                              const char *rejected);

#endif
