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

#define AD_REGEX_KEPT_MAX   64   /* compiled patterns that a pool of ads keeps */
#define AD_REGEX_KEPT_BYTES 1024 /* the longest of them */

struct ad_regex;
struct ad_regex_cache;

/* options: i (case ignored), m (lines), s (dot matches newline), x (extended), g and f (full) are
 * for the caller; others are passed over.  NULL: the pattern is wrong or too long. */
struct ad_regex *ad_regex_create(const char *pattern, size_t length, const char *options);
void ad_regex_destroy(struct ad_regex *regex); /* NULL is allowed */

/* A constraint with a pattern is evaluated in thousands of ads: compiled patterns are kept, each in
 * the one place that its hash gives it.  Whoever takes one has it alone until it is given back, so
 * that evaluations within evaluations do not disturb one another.  cache may be NULL. */
struct ad_regex_cache *ad_regex_cache_create(void);
void ad_regex_cache_destroy(struct ad_regex_cache *cache); /* NULL is allowed */
struct ad_regex *ad_regex_take(struct ad_regex_cache *cache, const char *pattern, size_t length,
                               const char *options); /* as ad_regex_create() */
void ad_regex_give_back(struct ad_regex_cache *cache, struct ad_regex *regex);

/* SOMETHING_HERE: only a match that begins at `from` and is not empty. */
enum ad_regex_how { AD_REGEX_ANYWHERE, AD_REGEX_SOMETHING_HERE };

/* Bytes of the compiled pattern, as long as making it took: "(a{1,99}){1,99}" is short, and large.
 */
size_t ad_regex_bytes(const struct ad_regex *regex);

/* 1 found, 0 not found, -1 a limit was crossed.  Searches from byte `from`; takes what it costs
 * from *steps, which is 0 after a search that ran out of them. */
int ad_regex_match(struct ad_regex *regex, const char *text, size_t length, size_t from,
                   enum ad_regex_how how, uint32_t *steps);

/* After a match: how many groups the pattern has (0 is the whole match, so at least 1), and where
 * one lies: false when unset. */
size_t ad_regex_group_count(const struct ad_regex *regex);
/* One more than the last group that took part in the match. */
size_t ad_regex_matched(const struct ad_regex *regex);
int ad_regex_group(const struct ad_regex *regex, size_t group, size_t *start, size_t *end);

#endif
