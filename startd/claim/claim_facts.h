/* startd/claim/claim_facts.h - looks up facts of a claim and its job.  Calls none of the files that
 * change claims.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_FACTS_H
#define STARTD_CLAIM_CLAIM_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "startd/claim/claim_plan.h"

struct ad;
struct claim;
struct startd;

/* Moves it to a stage; CHECKs that the move is legal. */
void claim_enter(struct claim *claim, enum claim_stage stage);
bool claim_is_suspended(const struct claim *claim);
/* Finds a claim by its claim id; NULL: there is none. */
struct claim *claim_find(struct startd *startd, const char *claim_id);
uint64_t claim_remaining_ms(const struct claim *claim); /* until its lease ends */
/* How long the job was suspended in this run so far. */
int64_t claim_suspended_s(const struct claim *claim);
/* How long the job has run in this run, suspensions not counted. */
int64_t claim_run_s(const struct claim *claim);
/* Writes what CLAIM and ALIVE tell the schedd of suspensions: Suspended, NumSuspensions,
 * LastSuspensionTime, SuspendedSeconds ... */
void claim_put_suspension(const struct claim *claim, struct ad *args);

/* Sets what the slot's ad says of the job.  The claim must have its slot. */
void claim_show(struct claim *claim, const struct ad *job);
/* Sets the claim's job, and shows it.  0 or -errno. */
int claim_set_job(struct claim *claim, const struct ad *job);

#endif
