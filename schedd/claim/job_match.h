/* schedd/claim/job_match.h - answers the negotiator's MATCH and NO_MATCH, and asks startds to
 * connect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_JOB_MATCH_H
#define SCHEDD_CLAIM_JOB_MATCH_H

struct claim;
struct schedd;
struct wire_request;

/* Answers MATCH, by which the negotiator gives a slot to an autocluster of this schedd: makes a
 * claim and asks the startd to connect.  If the schedd refuses the match, the claim id stays
 * unused. */
void claims_match(struct schedd *schedd, struct wire_request *request);
/* Answers NO_MATCH, by which the negotiator tells why jobs of this schedd got no slot. */
void claims_no_match(struct schedd *schedd, struct wire_request *request);

/* Repeats DIAL_ME for a claim in CLAIM_WAITING.  If the claim's job was removed or held meanwhile,
 * the best idle job of the same autocluster takes its place. */
void claim_ask_again(struct claim *claim);
/* To be called for a claim whose startd is not connected (any more).  Asks the startd after 2 s
 * whether it still has the claim, unless it has connected by then; if it does not have the claim,
 * the claim ends at once. */
void claim_ask_whether_known(struct claim *claim);
/* Asks the startd now.  To be called by claim->question when it fires; in CLAIM_EXPECTED by
 * claim->timer. */
void claim_question_due(struct claim *claim);
/* Tells the startd that a claim, which is not connected yet, is no longer wanted. */
void claim_cancel(const struct claim *claim);

#endif
