/* wire/job_record.h - the file in which a startd tells its starter which run is to be begun.
 *
 * First a line for each secret, its kind as a number and its text, then an ad in new syntax:
 *
 *     1 slot1@wn01#01a2...#07ff...
 *     2 a3b1...
 *     [ JobId = "2.1"; ... ]
 *
 * The file is 0600 and not the job's.
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

/* Appends it.  Texts of secrets have no line ends. */
void job_record_write(const struct ad *record, const struct wire_secret *secrets, size_t count,
                      struct strbuf *out);

/* Also one of an older version, which had "ClaimId" and "_roost_priv_Nonce" as attributes: they
 * become secrets.  *secrets is NULL when there are none.  -EINVAL, -E2BIG as ad_parse(). */
int job_record_read(const char *text, size_t length, struct ad **record,
                    struct secret_list **secrets, struct err *err);

#endif
