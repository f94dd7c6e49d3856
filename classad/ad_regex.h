/* classad/ad_regex.h - the one wrapper of PCRE2.
 *
 * Patterns come from strangers.  PCRE2's own limits count anew for each place where a match could
 * begin, which bounds nothing for a long text; so each part of a pattern that is tried takes steps
 * from a budget of the caller's (a "callout" before each part: it costs time, and buys a bound on
 * all searches of an evaluation together).  No just-in-time compiler, no \C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_REGEX_H
#define CLASSAD_AD_REGEX_H

#include <stddef.h>
#include <stdint.h>

#define AD_REGEX_PATTERN_MAX 16384 /* bytes */
#define AD_REGEX_DEPTH_MAX   2000  /* its limit on nested backtracking */
#define AD_REGEX_HEAP_KIB    4096  /* its limit on memory */

struct ad_regex;

/* options: i (case ignored), m (lines), s (dot matches newline), x (extended), g and f (full) are
 * for the caller; others are passed over.  NULL: the pattern is wrong or too long. */
struct ad_regex *ad_regex_create(const char *pattern, size_t length, const char *options);
void ad_regex_destroy(struct ad_regex *regex); /* NULL is allowed */

/* 1 found, 0 not found, -1 a limit was crossed.  Searches from byte `from`; takes what it costs
 * from *steps, which is 0 after a search that ran out of them. */
int ad_regex_match(struct ad_regex *regex, const char *text, size_t length, size_t from,
                   uint32_t *steps);

/* After a match: how many groups the pattern has (0 is the whole match, so at least 1), and where
 * one lies: false when unset. */
size_t ad_regex_group_count(const struct ad_regex *regex);
int ad_regex_group(const struct ad_regex *regex, size_t group, size_t *start, size_t *end);

#endif
