/* classad/ad_pool.h - many ads in little memory: names and values that ads have in common are kept
 * once.
 *
 * A pool is a table, owned by a process or a part of it, of what its ads share: the *shape* of an
 * ad (its names, in order, with their index) and *prototypes* (whole sets of values).  An ad of the
 * pool keeps the values in which it differs from a prototype, in their binary form; expressions are
 * made from it when they are first asked for, and those of a prototype once for all its ads.
 * Everything shared is counted and leaves the table with its last ad, but for the
 * names of a few small ads.  Whether an ad is in a pool
 * cannot be seen but in time and memory: all of ad.h holds for it.
 *
 * pool may be NULL everywhere: nothing is shared then.  Ads may outlive their pool.  A pool and its
 * ads belong to one thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_POOL_H
#define CLASSAD_AD_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_expr;
struct ad_given;
struct ad_pool;
struct err;

struct ad_pool *ad_pool_create(void);       /* never NULL */
void ad_pool_destroy(struct ad_pool *pool); /* NULL is allowed */

/* ad_decode() (ad_binary.h: same errors, used may be NULL) into the pool.  previous: the ad that
 * the new one is about to replace, borrowed for the call; NULL: none.  What did not
 * change since is neither checked nor copied again. */
int ad_decode_in(struct ad_pool *pool, const struct ad *previous, const void *data, size_t length,
                 size_t *used, struct ad **ret, struct err *err);

/* An attribute that the receiver of an ad sets in it, whatever the sender said: the time, the
 * address.  Made once for many ads. */
#define AD_GIVEN_MAX 4
struct ad_given *ad_given_create(const char *name, struct ad_expr *value); /* takes value */
void ad_given_destroy(struct ad_given *given);                             /* NULL is allowed */
void ad_given_set(struct ad *ad, const struct ad_given *given);

/* ad_decode_in() of an ad that ends with the data, then ad_given_set() of each of given[0..count),
 * at most AD_GIVEN_MAX of different names, in one go: they cost next to nothing. */
int ad_decode_given(struct ad_pool *pool, const struct ad *previous,
                    const struct ad_given *const *given, size_t given_count, const void *data,
                    size_t length, struct ad **ret, struct err *err);

/* The attribute `name` of an ad in binary form that is not decoded yet, when it is a literal
 * string: to find what the ad is about to replace.  0 and *text (in data; not always
 * zero-terminated) and *text_length; -ENOENT (absent, or no literal string); -EBADMSG,
 * -EPROTONOSUPPORT, -E2BIG as ad_decode().  0 does not mean that ad_decode() will accept it. */
int ad_peek_string(struct ad_pool *pool, const void *data, size_t length, const char *name,
                   const char **text, size_t *text_length, struct err *err);

/* Do both surely evaluate `name` (best a literal of the program) to the same, because neither has
 * it, or both have the same literal?  Told only of ads of the pool with the same names, without a
 * look at what the value is; false means nothing. */
bool ad_same_literal(const struct ad *a, const struct ad *b, const char *name);

/* The values of ad (may be NULL) will be needed soon: the memory where they lie is asked for. */
void ad_prefetch(const struct ad *ad);

/* A new ad: `old` with the attributes of `changes` set (own ones of each; the chaining of old is
 * kept).  Neither argument changes.  NULL when AD_ATTRS_MAX or AD_COLLISIONS_MAX is crossed or
 * memory ran out.  About a microsecond for a few changes of any ad of the pool. */
struct ad *ad_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes);

/* Moves an ad that was parsed, or made by setters, into the pool; previous as for ad_decode_in().
 * The ad is the same to everybody; pointers that were borrowed from it end. */
void ad_pack(struct ad_pool *pool, const struct ad *previous, struct ad *ad);

/* What ad_encode(ad, with_private = true) would append, in bytes. */
size_t ad_encoded_bytes(const struct ad *ad);

struct ad_pool_figures {
    size_t shapes;     /* different sets of names */
    size_t prototypes; /* sets of values that other ads build on */
    size_t bytes;      /* of heap in both, with the expressions made from them, about */
};
void ad_pool_figures(const struct ad_pool *pool, struct ad_pool_figures *ret);

/* Heap of this ad alone, in bytes, about: what would be free without it. */
size_t ad_own_bytes(const struct ad *ad);

#endif
