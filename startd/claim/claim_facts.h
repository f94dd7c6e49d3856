/* startd/claim/claim_facts.h - what is known of a claim and of its job: it is looked up, calls
 * nobody, and is there for all who have to do with claims.
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

void claim_enter(struct claim *claim, enum claim_stage stage); /* CHECKs the table */
bool claim_is_suspended(const struct claim *claim);
struct claim *claim_find(struct startd *startd, const char *claim_id);
uint64_t claim_remaining_ms(const struct claim *claim);
int64_t claim_suspended_s(const struct claim *claim); /* of the run so far */
int64_t claim_run_s(const struct claim *claim);       /* that its job has run, without that */
/* What CLAIM and ALIVE say of it: Suspended, NumSuspensions, LastSuspensionTime, SuspendedSeconds
 */
void claim_put_suspension(const struct claim *claim, struct ad *args);

/* What the slot's ad says of that job; the claim has its slot. */
void claim_show(struct claim *claim, const struct ad *job);
int claim_set_job(struct claim *claim, const struct ad *job); /* shows it, too */

#endif
