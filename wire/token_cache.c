/* wire/token_cache.c - see token_cache.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/token_cache.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"

struct entry {
    struct token token;
    struct evp_pkey_st *holder;
};

struct token_cache {
    struct strmap *entries; /* text -> struct entry */
};

static void entry_free(void *value)
{
    struct entry *entry = value;
    p256_free(entry->holder);
    mem_free(entry);
}

struct token_cache *token_cache_create(void)
{
    struct token_cache *cache = mem_zalloc(sizeof *cache);
    cache->entries = strmap_create(STRMAP_CASE_SENSITIVE);
    return cache;
}

void token_cache_destroy(struct token_cache *cache)
{
    if (cache != NULL) {
        strmap_destroy(cache->entries, entry_free);
        mem_free(cache);
    }
}

void token_cache_clear(struct token_cache *cache)
{
    strmap_destroy(cache->entries, entry_free);
    cache->entries = strmap_create(STRMAP_CASE_SENSITIVE);
}

static int entry_make(struct token_cache *cache, const struct token *token, const char *text,
                      struct entry **ret, struct err *err)
{
    struct evp_pkey_st *holder = p256_from_point(token->holder);
    if (holder == NULL) {
        return err_set(err, -EINVAL,
                       "malformed token: claim 'cnf' does not contain a public key of P-256");
    }
    if (strmap_count(cache->entries) >= TOKEN_CACHE_MAX) {
        token_cache_clear(cache);
    }
    struct entry *entry = mem_alloc(sizeof *entry);
    *entry = (struct entry){.token = *token, .holder = holder};
    (void)strmap_set(cache->entries, text, entry);
    *ret = entry;
    return 0;
}

int token_cache_check(struct token_cache *cache, const struct token_keys *keys, const char *text,
                      int64_t now_s, struct token *ret, struct evp_pkey_st **holder,
                      struct err *err)
{
    struct entry *entry = strmap_get(cache->entries, text);
    if (entry != NULL) {
        *ret = entry->token;
        *holder = entry->holder;
        return token_check_dates(&entry->token, now_s, err);
    }
    int rc = token_check(keys, text, now_s, ret, err);
    rc = rc < 0 ? rc : entry_make(cache, ret, text, &entry, err);
    if (rc == 0) {
        *holder = entry->holder;
    }
    return rc;
}
