/* site/site_common.h - what all types of sites need: options, names, parts of answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_COMMON_H
#define SITE_SITE_COMMON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site/site.h"

struct err;

/* Returns the value of an option; fallback if the section does not have it. */
const char *site_option(const struct site *site, const char *name, const char *fallback);
/* Reads an option that is a whole number from min to max.  Returns 0 or -EINVAL. */
int site_option_number(const struct site *site, const char *name, int64_t min, int64_t max,
                       int64_t fallback, int64_t *ret, struct err *err);
/* Returns 0 or -EINVAL. */
int site_option_bool(const struct site *site, const char *name, bool fallback, bool *ret,
                     struct err *err);
/* Returns whether the site's glideins have names such as this one. */
bool site_is_ours(const struct site *site, const char *name);

/* Appends a glidein to the answer of `look`.  reason may be NULL.  Bytes that are not ASCII become
 * '?'. */
void site_add_glidein(json_t *list, const char *name, const char *state, const char *id,
                      const char *reason);
/* Sets a member to text[0..length); bytes that are not printable ASCII, newlines or tabs become
 * '?', so that it is always JSON. */
void site_set_text(json_t *object, const char *key, const char *text, size_t length);

#endif
