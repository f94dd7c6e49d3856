/* wire/job_record.h - the file in which a startd tells its starter which job to run.
 *
 * First a line for each secret, with its kind as a number and its text; then an ad in new syntax:
 *      1 slot1@wn01#01a2...#07ff...
 *      2 a3b1...
 *      [ JobId = "2.1"; ... ]
 *
 * The file has mode 0600 and does not belong to the job's account.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_JOB_RECORD_H
#define WIRE_JOB_RECORD_H

#include <stddef.h>

struct ad;
struct err;
struct secret_list;
struct strbuf;
struct wire_secret;

/* Appends the record to out.  Texts of secrets must not contain line ends. */
void job_record_write(const struct ad *record, const struct wire_secret *secrets, size_t count,
                      struct strbuf *out);

/* Parses a record; both results are the caller's.  *secrets is NULL when there are none.
 * Records of an older version are accepted: the attributes "ClaimId" and "_roost_priv_Nonce"
 * become secrets.  Returns 0; -EINVAL: malformed; -E2BIG: the ad exceeds a limit of ad_parse(). */
int job_record_read(const char *text, size_t length, struct ad **record,
                    struct secret_list **secrets, struct err *err);

#endif
