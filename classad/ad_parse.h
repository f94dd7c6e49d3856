/* classad/ad_parse.h - text to ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_PARSE_H
#define CLASSAD_AD_PARSE_H

#include <stddef.h>

struct ad;
struct ad_context;
struct err;

/* New syntax: `[ a = 1; b = 2 ]`, the whole text.  0 and *ret (ad_destroy), or -EINVAL (with the
 * byte offset), or -E2BIG (a limit).  O(length). */
int ad_parse(const char *text, size_t length, struct ad **ret, struct err *err);

/* Long form: lines `attr = expr` with old lexing; empty lines and lines that begin with # are
 * passed over.  Errors name the line. */
int ad_parse_long(const char *text, size_t length, struct ad **ret, struct err *err);

/* The same; an absolute time that names no zone is in context's, at the time of parsing as in
 * HTCondor.  (Else it is in UTC.)  On refusal *fault is the offset in text of what was refused.
 * context and fault may be NULL. */
int ad_parse_in(const char *text, size_t length, const struct ad_context *context, struct ad **ret,
                size_t *fault, struct err *err);
int ad_parse_long_in(const char *text, size_t length, const struct ad_context *context,
                     struct ad **ret, size_t *fault, struct err *err);

#endif
