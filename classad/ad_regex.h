/* classad/ad_regex.h - the one wrapper of PCRE2.
 *
 * Patterns come from strangers: matching has limits on steps, depth and memory, and no just-in-time
 * compiler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_REGEX_H
#define CLASSAD_AD_REGEX_H

#include <stddef.h>

#define AD_REGEX_PATTERN_MAX 16384  /* bytes */
#define AD_REGEX_MATCH_MAX   200000 /* PCRE2's match limit: calls of its matcher */
#define AD_REGEX_DEPTH_MAX   2000   /* its limit on nested backtracking */
#define AD_REGEX_HEAP_KIB    4096   /* its limit on memory */

#define AD_REGEX_STEPS_LOST 50000 /* what a search that crossed a limit counts in an evaluation */

struct ad_regex;

/* options: i (case ignored), m (lines), s (dot matches newline), x (extended), g and f (full) are
 * for the caller; others are passed over.  NULL: the pattern is wrong or too long. */
struct ad_regex *ad_regex_create(const char *pattern, size_t length, const char *options);
void ad_regex_destroy(struct ad_regex *regex); /* NULL is allowed */

/* 1 found, 0 not found, -1 a limit was crossed.  Searches from byte `from`. */
int ad_regex_match(struct ad_regex *regex, const char *text, size_t length, size_t from);

/* After a match: how many groups the pattern has (0 is the whole match, so at least 1), and where
 * one lies: false when unset. */
size_t ad_regex_group_count(const struct ad_regex *regex);
int ad_regex_group(const struct ad_regex *regex, size_t group, size_t *start, size_t *end);

#endif
