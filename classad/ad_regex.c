/* classad/ad_regex.c - the only wrapper of PCRE2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_regex.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/mem.h"

struct ad_regex {
    pcre2_general_context *general;
    pcre2_match_context *limits;
    pcre2_code *code;
    pcre2_match_data *match;
    size_t groups;
    size_t matched;
    size_t bytes;
    uint32_t flags;
    /* of pattern and flags; hash, length and pattern are set only for patterns that may be kept */
    uint32_t hash;
    size_t length; /* length of the pattern */
    char *pattern;
};

struct ad_regex_cache {
    struct ad_regex *slots[AD_REGEX_KEPT_MAX];
};

/* Allocates for PCRE2.  It must use our heap, too, because the simulator frees the whole heap of a
 * process at once. */
static void *take_block(PCRE2_SIZE size, void *arg)
{
    (void)arg;
    return mem_try_alloc(size > 0 ? size : 1);
}

static void give_block(void *block, void *arg)
{
    (void)arg;
    mem_free(block);
}

/* Charges a step of the search by the rest of the text, because a part of a pattern may look at all
 * of it. */
static int pay_step(pcre2_callout_block *block, void *arg)
{
    uint32_t *steps = arg;
    size_t cost = 1 + (block->subject_length - block->current_position) / 64;
    if (cost >= *steps) {
        *steps = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    *steps -= (uint32_t)cost;
    return 0;
}

static uint32_t flags_of(const char *options)
{
    uint32_t flags = PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    flags |= strchr(options, 'i') != NULL ? PCRE2_CASELESS : 0u;
    flags |= strchr(options, 'm') != NULL ? PCRE2_MULTILINE : 0u;
    flags |= strchr(options, 's') != NULL ? PCRE2_DOTALL : 0u;
    flags |= strchr(options, 'x') != NULL ? PCRE2_EXTENDED : 0u;
    return flags;
}

static struct ad_regex *compile_pattern(const char *pattern, size_t length, uint32_t flags)
{
    if (length > AD_REGEX_PATTERN_MAX) {
        return NULL;
    }
    struct ad_regex *regex = mem_zalloc(sizeof(*regex));
    regex->general = pcre2_general_context_create(take_block, give_block, NULL);
    regex->limits = regex->general != NULL ? pcre2_match_context_create(regex->general) : NULL;
    pcre2_compile_context *compile =
        regex->limits != NULL ? pcre2_compile_context_create(regex->general) : NULL;
    if (compile != NULL) {
        int code;
        PCRE2_SIZE offset;
        regex->code = pcre2_compile((PCRE2_SPTR)pattern, length, flags, &code, &offset, compile);
        pcre2_compile_context_free(compile);
    }
    if (regex->code != NULL) {
        uint32_t groups = 0;
        (void)pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT,
                                 &groups); /* cannot fail for this item */
        regex->groups = groups + 1;
        (void)pcre2_pattern_info(regex->code, PCRE2_INFO_SIZE, &regex->bytes); /* the same */
        regex->match = pcre2_match_data_create_from_pattern(regex->code, regex->general);
        (void)pcre2_set_depth_limit(regex->limits, AD_REGEX_DEPTH_MAX); /* both always return 0 */
        (void)pcre2_set_heap_limit(regex->limits, AD_REGEX_HEAP_KIB);
    }
    if (regex->match == NULL) {
        ad_regex_destroy(regex);
        return NULL;
    }
    regex->flags = flags;
    return regex;
}

struct ad_regex *ad_regex_create(const char *pattern, size_t length, const char *options)
{
    return compile_pattern(pattern, length, flags_of(options));
}

void ad_regex_destroy(struct ad_regex *regex)
{
    if (regex == NULL) {
        return;
    }
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    pcre2_match_context_free(regex->limits);
    pcre2_general_context_free(regex->general);
    mem_free(regex->pattern);
    mem_free(regex);
}

/* ---- the cache of compiled patterns ---- */

static uint32_t key_hash(const char *pattern, size_t length, uint32_t flags)
{
    uint32_t hash = 0x811c9dc5u ^ flags;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)pattern[i]) * 0x01000193u;
    }
    return hash ^ (hash >> 15);
}

struct ad_regex *ad_regex_take(struct ad_regex_cache *cache, const char *pattern, size_t length,
                               const char *options)
{
    uint32_t flags = flags_of(options);
    if (cache == NULL || length > AD_REGEX_KEPT_BYTES) {
        return compile_pattern(pattern, length, flags);
    }
    uint32_t hash = key_hash(pattern, length, flags);
    struct ad_regex **slot = &cache->slots[hash % AD_REGEX_KEPT_MAX];
    struct ad_regex *regex = *slot;
    if (regex != NULL && regex->hash == hash && regex->flags == flags && regex->length == length &&
        memcmp(regex->pattern, pattern, length) == 0) {
        *slot = NULL;
        return regex;
    }
    regex = compile_pattern(pattern, length, flags);
    if (regex != NULL) {
        regex->hash = hash;
        regex->length = length;
        regex->pattern = mem_dup(pattern, length);
    }
    return regex;
}

void ad_regex_give_back(struct ad_regex_cache *cache, struct ad_regex *regex)
{
    if (cache == NULL || regex == NULL || regex->pattern == NULL) {
        ad_regex_destroy(regex);
        return;
    }
    struct ad_regex **slot = &cache->slots[regex->hash % AD_REGEX_KEPT_MAX];
    ad_regex_destroy(*slot);
    *slot = regex;
}

struct ad_regex_cache *ad_regex_cache_create(void)
{
    return mem_zalloc(sizeof(struct ad_regex_cache));
}

void ad_regex_cache_destroy(struct ad_regex_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < AD_REGEX_KEPT_MAX; i++) {
        ad_regex_destroy(cache->slots[i]);
    }
    mem_free(cache);
}

size_t ad_regex_bytes(const struct ad_regex *regex)
{
    return regex->bytes;
}

int ad_regex_match(struct ad_regex *regex, const char *text, size_t length, size_t from,
                   enum ad_regex_how how, uint32_t *steps)
{
    uint32_t flags = how == AD_REGEX_SOMETHING_HERE ? PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED : 0;
    (void)pcre2_set_callout(regex->limits, pay_step, steps); /* always returns 0 */
    int rc = pcre2_match(regex->code, (PCRE2_SPTR)text, length, from, flags, regex->match,
                         regex->limits);
    if (rc == PCRE2_ERROR_NOMATCH) {
        return 0;
    }
    regex->matched = rc > 0 ? (size_t)rc : 0;
    return rc < 0 ? -1 : 1;
}

size_t ad_regex_matched(const struct ad_regex *regex)
{
    return regex->matched;
}

size_t ad_regex_group_count(const struct ad_regex *regex)
{
    return regex->groups;
}

int ad_regex_group(const struct ad_regex *regex, size_t group, size_t *start, size_t *end)
{
    PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(regex->match);
    if (group >= regex->groups || bounds[2 * group] == PCRE2_UNSET) {
        return 0;
    }
    *start = bounds[2 * group];
    *end = bounds[2 * group + 1];
    return 1;
}
