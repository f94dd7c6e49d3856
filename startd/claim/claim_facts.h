/* startd/claim/claim_facts.h - looks up facts of a claim and its job.  It calls no function of the
 * files that change claims.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_FACTS_H
#define STARTD_CLAIM_CLAIM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "startd/claim/claim_plan.h"

struct ad;
struct claim;
struct startd;

/* Moves the claim to a stage; ends the process if claim_plan.h does not allow the move. */
void claim_enter(struct claim *claim, enum claim_stage stage);
bool claim_is_suspended(const struct claim *claim);
/* Finds a claim by its claim id; returns NULL if no claim has that id. */
struct claim *claim_find(struct startd *startd, const char *claim_id);
/* Returns for how many claims the machine must stay up: all but those that only wait until their
 * schedd, which let the lease end, can be told so. */
size_t claims_keeping_up(const struct startd *startd);
/* ms until the claim's lease ends; 0: the lease is over */
uint64_t claim_remaining_ms(const struct claim *claim);
/* Returns the seconds since this run of the job began, with suspensions; 0: no run. */
int64_t claim_in_all_s(const struct claim *claim);
/* Returns how many seconds the job was suspended in this run so far. */
int64_t claim_suspended_s(const struct claim *claim);
/* Returns the seconds since this run of the job began, without the time in which it was
 * suspended. */
int64_t claim_run_s(const struct claim *claim);
/* Writes into args, the arguments of a CLAIM or ALIVE message to the schedd, whether the job is
 * suspended now, and its suspensions in this run: Suspended, NumSuspensions, LastSuspensionTime,
 * SuspendedSeconds. */
void claim_put_suspension(const struct claim *claim, struct ad *args);

/* Sets what the slot's ad will say about the job (claim->job.shown), from `job`, the job ad.  The
 * claim must have a slot, whose Rank of the job becomes CurrentRank. */
void claim_show(struct claim *claim, const struct ad *job);
/* Makes a copy of this job ad the claim's job, and calls claim_show() for it. */
void claim_set_job(struct claim *claim, const struct ad *job);

#endif
