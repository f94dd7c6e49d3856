/* wire/token_cache.h - tokens of others whose signature was found to be right.
 *
 * A token is shown with each relayed request and at each greeting; what its signature says does not
 * change between two of them, so it is verified once, and the holder's key parsed once.  Dates are
 * judged each time.  Bounded: a full cache begins anew.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_CACHE_H
#define WIRE_TOKEN_CACHE_H

#include "wire/token.h"

#define TOKEN_CACHE_MAX 512

struct token_cache;

struct token_cache *token_cache_create(void);
void token_cache_destroy(struct token_cache *cache); /* NULL is allowed */
void token_cache_clear(struct token_cache *cache);   /* the pool's keys have changed */
/* token_check(), and the holder's key, which is the cache's and good until its next call. */
int token_cache_check(struct token_cache *cache, const struct token_keys *keys, const char *text,
                      int64_t now_s, struct token *ret, struct evp_pkey_st **holder,
                      struct err *err);

#endif
