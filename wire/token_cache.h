/* wire/token_cache.h - caches tokens of others whose signature was found valid.
 *
 * A token is shown at each greeting and with each relayed request, always with the same signature.
 * So its signature is verified once and the holder's key is parsed once.  Dates are checked each
 * time.  The size is bounded: a full cache is emptied.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_CACHE_H
#define WIRE_TOKEN_CACHE_H

#include "wire/token.h"

#define TOKEN_CACHE_MAX 512 /* tokens */

struct token_cache;

struct token_cache *token_cache_create(void);
void token_cache_destroy(struct token_cache *cache); /* NULL is allowed */
void token_cache_clear(
    struct token_cache *cache); /* empties the cache; call it when the pool's keys change */
/* Like token_check(), and sets *holder to the holder's public key, which the cache owns and keeps
 * until the next call of token_cache_check() or token_cache_clear(). */
int token_cache_check(struct token_cache *cache, const struct token_keys *keys, const char *text,
                      int64_t now_s, struct token *ret, struct evp_pkey_st **holder,
                      struct err *err);

#endif
