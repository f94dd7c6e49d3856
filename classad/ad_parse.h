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

/* Parses text, which must be exactly one ad in new syntax: `[ a = 1; b = 2 ]`.  Returns 0 and sets
 * *ret (release with ad_destroy()), or -EINVAL (syntax, with the byte offset in err) or -E2BIG (a
 * limit). O(length). */
int ad_parse(const char *text, size_t length, struct ad **ret, struct err *err);

/* Parses an ad in long form: lines `attr = expr` in old syntax; empty lines and lines that begin
 * with # are skipped.  Returns what ad_parse() returns; err names the line. */
int ad_parse_long(const char *text, size_t length, struct ad **ret, struct err *err);

/* These functions do what ad_parse() and ad_parse_long() do, but read an absolute time without a
 * zone as a time in the zone of context (context NULL: in UTC), as HTCondor does.  On failure
 * *fault is the byte offset of the error in text.  context and fault may be NULL. */
int ad_parse_in(const char *text, size_t length, const struct ad_context *context, struct ad **ret,
                size_t *fault, struct err *err);
int ad_parse_long_in(const char *text, size_t length, const struct ad_context *context,
                     struct ad **ret, size_t *fault, struct err *err);

#endif
