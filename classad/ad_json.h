/* classad/ad_json.h - ads to JSON and back, with HTCondor's mapping.
 *
 * Literals become JSON literals; lists and nested ads become arrays and objects; undefined becomes
 * null. Every other expression, error, and the numbers that JSON lacks become a string
 * "\/Expr(...)\/".  The escaped slashes tell such a string from an ordinary one that looks alike.
 * A JSON library decodes both to the same string, so this folder parses the bytes itself.
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

/* Appends the ad as one object on one line, without private attributes.  Returns 0, or -E2BIG when
 * out failed. */
int ad_print_json(const struct ad *ad, struct strbuf *out);

/* Appends the ad as an object as HTCondor's tools print it, each attribute and each list element on
 * its own line; private attributes only if with_private.  Returns 0, or -E2BIG when out failed. */
int ad_print_json_lines(const struct ad *ad, bool with_private, struct strbuf *out);

/* Parses text, which must be exactly one object.  Returns 0 and sets *ret (release with
 * ad_destroy()), or -EINVAL (syntax) or -E2BIG (a limit), with *fault set to the byte offset of the
 * error.  Superfluous commas are ignored, as in HTCondor.  context (the time zone for times that
 * name none) and fault may be NULL.  O(length). */
int ad_parse_json(const char *text, size_t length, const struct ad_context *context,
                  struct ad **ret, size_t *fault, struct err *err);

#endif
