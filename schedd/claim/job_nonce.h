/* schedd/claim/job_nonce.h - what proves a run to its shadow and to its starter.
 *
 * Who has the nonce of a run may speak for that run: read and write its owner's files, give its
 * result.  So it is no attribute: constraints, policies and queries of anybody look at ads.  It is
 * in struct job, and in a row of its own in the table "nonces", with the key of the job's row.
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

#define JOB_NONCE_SIZE 33 /* 32 hexadecimal digits and the zero */

const char *job_nonce(const struct job *job); /* "" when it has none */

/* A new one, in the place of that of the run before. */
void nonce_make(struct change *change, struct job *job);
void nonce_drop(struct change *change, struct job *job);

/* Of jobs that are loaded.  Rows that are of no job are left alone and counted in *bad. */
int nonces_load(struct schedd *schedd, size_t *bad, struct err *err);

#endif
