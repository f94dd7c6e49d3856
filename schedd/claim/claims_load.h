/* schedd/claim/claims_load.h - reads the claims of the schedd's earlier life from the store.
 *
 * A claim goes on only where its row and its job agree about the run.  A job whose claim
 * is missing, because its row was damaged, may still run somewhere, and waits until the claim's
 * lease has ended.  Rows that no job confirms are deleted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIMS_LOAD_H
#define SCHEDD_CLAIM_CLAIMS_LOAD_H

struct err;
struct schedd;

/* Loads the stored claims, and makes claims up for jobs whose claim is missing.  To be called once,
 * after queue_init() and claims_init().  Returns 0, or a negative errno with err. */
int claims_load(struct schedd *schedd, struct err *err);

#endif
