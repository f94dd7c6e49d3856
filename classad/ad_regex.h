/* classad/ad_regex.h - regular expressions; the only user of PCRE2.
 *
 * Patterns come from strangers.  PCRE2 counts its own limits anew for each place where a match
 * could begin, so these limits do not bound the search of a long text.  Here every part of a
 * pattern that is tried costs the caller one of the steps left to it (a PCRE2 callout before each
 * part counts).  This takes time, but bounds all searches of an evaluation together.  The
 * just-in-time compiler and \C are not used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_REGEX_H
#define CLASSAD_AD_REGEX_H

#include <stddef.h>
#include <stdint.h>

/* most bytes of a pattern, without the terminating zero */
#define AD_REGEX_PATTERN_MAX 16384
/* most nested backtracking points in one search (a limit of PCRE2) */
#define AD_REGEX_DEPTH_MAX 2000
#define AD_REGEX_HEAP_KIB  4096 /* most memory of one search, KiB (a limit of PCRE2) */

#define AD_REGEX_KEPT_MAX 64 /* how many compiled patterns a pool of ads keeps */
/* most bytes of a pattern that a pool of ads keeps, without the terminating zero */
#define AD_REGEX_KEPT_BYTES 1024

struct ad_regex;
struct ad_regex_cache;

/* Compiles a pattern.  options: i (ignore case), m (lines), s (dot matches newline), x (extended);
 * other letters are ignored, also g and f (full), which are for the caller.  NULL: the pattern is
 * wrong or too long. */
struct ad_regex *ad_regex_create(const char *pattern, size_t length, const char *options);
void ad_regex_destroy(struct ad_regex *regex); /* NULL is allowed */

/* Makes a cache of compiled patterns, because a constraint is evaluated in thousands of ads.  Each
 * pattern has one place, given by its hash.  ad_regex_take() gives a pattern to one caller alone
 * until ad_regex_give_back(), so nested evaluations do not disturb each other.  Both also accept
 * NULL as cache and then keep nothing. */
struct ad_regex_cache *ad_regex_cache_create(void);
void ad_regex_cache_destroy(struct ad_regex_cache *cache); /* NULL is allowed */
/* Returns the compiled pattern: out of the cache, or compiled now (arguments and NULL as for
 * ad_regex_create()).  The caller gives it back with ad_regex_give_back(). */
struct ad_regex *ad_regex_take(struct ad_regex_cache *cache, const char *pattern, size_t length,
                               const char *options);
void ad_regex_give_back(struct ad_regex_cache *cache, struct ad_regex *regex);

/* ANYWHERE: any match that begins at byte `from` or later; SOMETHING_HERE: only a match that begins
 * at `from` and is not empty. */
enum ad_regex_how { AD_REGEX_ANYWHERE, AD_REGEX_SOMETHING_HERE };

/* Returns the size of the compiled pattern in bytes, which also measures the work of compiling:
 * "(a{1,99}){1,99}" is short but compiles to much. */
size_t ad_regex_bytes(const struct ad_regex *regex);

/* Searches from byte `from`.  Returns 1 found, 0 not found, -1 a limit was exceeded.  Subtracts its
 * cost from *steps; after a search that used up the steps, *steps is 0. */
int ad_regex_match(struct ad_regex *regex, const char *text, size_t length, size_t from,
                   enum ad_regex_how how, uint32_t *steps);

/* The number of groups of the pattern, at least 1, because group 0 is the whole match. */
size_t ad_regex_group_count(const struct ad_regex *regex);
/* After a match: one more than the number of the last group that took part in the match. */
size_t ad_regex_matched(const struct ad_regex *regex);
/* After a match: sets the byte range [*start, *end) of a group and returns 1; 0 when the group is
 * unset. */
int ad_regex_group(const struct ad_regex *regex, size_t group, size_t *start, size_t *end);

#endif
