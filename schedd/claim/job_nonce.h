/* schedd/claim/job_nonce.h - the nonce of a run: the secret by which the starter of the run and the
 * owner's shadow recognize each other.
 *
 * Whoever has the nonce of a run may act for that run: read and write its owner's files, report its
 * result.  So it is not an attribute, because constraints, policies and queries of others can read
 * ads.  It is kept in struct job, and in a row of the table "nonces" with the same key as the job's
 * row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_JOB_NONCE_H
#define SCHEDD_CLAIM_JOB_NONCE_H

#include <stddef.h>

struct change;
struct err;
struct job;
struct schedd;

#define JOB_NONCE_SIZE 33 /* 32 hexadecimal digits and the terminating zero */

const char *job_nonce(const struct job *job); /* the nonce; "" when the job has none */

/* Makes a new nonce for the job, instead of the nonce of its last run. */
void nonce_make(struct change *change, struct job *job);
void nonce_drop(struct change *change, struct job *job); /* deletes the job's nonce and its row */

/* Loads the nonces of the jobs that are loaded already.  Adds to *bad the number of rows without
 * such a job; these rows stay.  Returns 0, or a negative errno with err. */
int nonces_load(struct schedd *schedd, size_t *bad, struct err *err);

#endif
