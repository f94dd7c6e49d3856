/* startd/claim/claim_plan.h - the stages of a claim on the machine, and which may follow which.
 *
 * Pure.  A claim that another one has to end for begins at waiting, all others at offered:
 *
 *   waiting    for the slot to be free: it preempts; in memory only
 *   offered    OK was said to DIAL_ME; the schedd has not confirmed it yet
 *   accepted   the schedd has confirmed it; its record is on the way to the disk
 *   held       confirmed, no job
 *   recording  it has a job; the record of the run is on the way to the disk
 *   starting   the record is there; the starter of the last job may still have to end
 *   active     a starter runs the job
 *   over       nothing runs any more; the schedd is still to be told
 *
 * A claim that is restored from the disk begins at held, active or over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_PLAN_H
#define STARTD_CLAIM_CLAIM_PLAN_H

#include <stdbool.h>

#define CLAIM_ID_MAX 200

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

/* A stage may follow itself. */
bool claim_plan_may_move(enum claim_stage from, enum claim_stage to);
bool claim_plan_is_offer(enum claim_stage stage); /* offered or accepted: it may come to nothing */
bool claim_plan_has_run(enum claim_stage stage);  /* recording, starting or active */

#endif
