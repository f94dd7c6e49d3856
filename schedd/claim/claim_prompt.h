/* schedd/claim/claim_prompt.h - watches, on the schedd's side, the promise that jobs start in time
 * (wire/start_promise.h): from the match to the start of the job by the startd.
 *
 * A look each second, as long as some claim has a job that does not run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_PROMPT_H
#define SCHEDD_CLAIM_CLAIM_PROMPT_H

struct ad;
struct claim;
struct schedd;

void claim_prompt_init(struct schedd *schedd);
void claim_prompt_fini(struct schedd *schedd);
/* To be called when a claim has got a job. */
void claim_prompt_soon(struct schedd *schedd);
/* To be called before a claim is forgotten. */
void claim_prompt_gone(struct claim *claim);
/* Sets the figures of the promise in the schedd's ad. */
void claim_prompt_put(const struct schedd *schedd, struct ad *ad);

#endif
