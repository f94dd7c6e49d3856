/* classad/ad_json.h - ads as JSON, both ways, with HTCondor's mapping.
 *
 * Literals become JSON's own; lists and nested ads arrays and objects; undefined null; every other
 * expression, error and the numbers that JSON has not, a string "\/Expr(...)\/".  The escaped
 * slashes tell it from a string that only looks so: that is why texts are read here, where the
 * bytes are seen, and not by a library, which gives both as the same string.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_JSON_H
#define CLASSAD_AD_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_context;
struct err;
struct strbuf;

/* One object on one line, without private attributes.  0, or -E2BIG when out failed. */
int ad_print_json(const struct ad *ad, struct strbuf *out);

/* As HTCondor's tools print it: an attribute, and an element of a list, on each line. */
int ad_print_json_lines(const struct ad *ad, bool with_private, struct strbuf *out);

/* The whole text is one object.  0 and *ret (ad_destroy), or -EINVAL, or -E2BIG (a limit); then
 * *fault is the offset of what was refused.  Commas too many are passed over, as HTCondor does.
 * context (the zone of times that name none) and fault may be NULL.  O(length). */
int ad_parse_json(const char *text, size_t length, const struct ad_context *context,
                  struct ad **ret, size_t *fault, struct err *err);

#endif
