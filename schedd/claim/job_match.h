/* schedd/claim/job_match.h - MATCH and NO_MATCH of the negotiator, and the startd that is asked to
 * dial.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_JOB_MATCH_H
#define SCHEDD_CLAIM_JOB_MATCH_H

struct claim;
struct schedd;
struct wire_request;

/* Answers MATCH. */
void claims_match(struct schedd *schedd, struct wire_request *request);
/* NO_MATCH: why jobs of ours got no slot. */
void claims_no_match(struct schedd *schedd, struct wire_request *request);

/* Asks the startd again about a claim that waits. */
void claim_ask_again(struct claim *claim);
/* Tells the startd that a claim which it has not made yet is wanted no more. */
void claim_cancel(const struct claim *claim);

#endif
