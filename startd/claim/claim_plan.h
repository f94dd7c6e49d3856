/* startd/claim/claim_plan.h - the stages of a claim on the machine, and which may follow which.
 *
 * Pure.  A claim that must wait for the end of another claim begins at the stage waiting, all other
 * claims begin at offered:
 *
 *   waiting    until the slot is free: it preempts another claim; kept in memory only
 *   offered    the startd has accepted DIAL_ME; the schedd has not confirmed the claim yet
 *   accepted   the schedd has confirmed it; its record is being written to disk
 *   held       confirmed, no job
 *   recording  it has a job; the record of the run is being written to disk
 *   starting   the record is durable; the starter of the last job may still have to end
 *   active     a starter runs the job
 *   over       nothing runs any more; the schedd must still be told
 *
 * A claim that is restored from disk begins at held, active or over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_PLAN_H
#define STARTD_CLAIM_CLAIM_PLAN_H

#include <stdbool.h>

#define CLAIM_ID_MAX 200 /* most bytes of a claim id, with the terminating zero */

enum claim_stage {
    CLAIM_WAITING,
    CLAIM_OFFERED,
    CLAIM_ACCEPTED,
    CLAIM_HELD,
    CLAIM_RECORDING,
    CLAIM_STARTING,
    CLAIM_ACTIVE,
    CLAIM_OVER,
    CLAIM_STAGES
};

/* Returns whether one stage may follow another.  A stage may follow itself. */
bool claim_plan_may_move(enum claim_stage from, enum claim_stage to);
/* Returns whether the stage is offered or accepted, in which the claim is not yet on disk. */
bool claim_plan_is_offer(enum claim_stage stage);
/* whether the stage is recording, starting or active */
bool claim_plan_has_run(enum claim_stage stage);

#endif
