/* classad/ad_pool.h - many ads in little memory: names and values that ads have in common are kept
 * once.
 *
 * A pool is a table of what its ads share: their *shapes* (the names of an ad, in order, with a
 * hash index) and *prototypes* (whole sets of values).  An ad of the pool stores only the values in
 * which it differs from a prototype, in binary form.  Expressions are made from the binary form
 * when they are first asked for; those of a prototype are made once for all its ads.  Shared parts
 * are counted and leave the table with their last ad, except the names of a few small ads.  Only
 * time and memory show whether an ad is in a pool: everything that ad.h promises stays true.
 *
 * pool may be NULL everywhere; then nothing is shared.  Ads may outlive their pool.  A pool and its
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

struct ad_pool *ad_pool_create(void);       /* makes an empty pool; never NULL */
void ad_pool_destroy(struct ad_pool *pool); /* NULL is allowed */

/* Decodes an ad as ad_decode() does (ad_binary.h: the same errors, used may be NULL) and puts the
 * ad into the pool.  previous is the ad that the new one will replace, borrowed for the call, or
 * NULL; values that are the same in both ads are neither checked nor copied again. */
int ad_decode_in(struct ad_pool *pool, const struct ad *previous, const void *data, size_t length,
                 size_t *used, struct ad **ret, struct err *err);

#define AD_GIVEN_MAX 4 /* most struct ad_given in one call of ad_decode_given() */
/* Makes a given attribute: the receiver of ads sets this attribute in each ad, whatever the sender
 * wrote there; for example the time of receipt.  A given attribute is made once for many ads.
 * Takes ownership of value. */
struct ad_given *ad_given_create(const char *name, struct ad_expr *value);
void ad_given_destroy(struct ad_given *given); /* NULL is allowed */
void ad_given_set(struct ad *ad, const struct ad_given *given);

/* Does what ad_decode_in() does, where the ad must fill all of data, and then sets each of the
 * attributes given[0..given_count): at most AD_GIVEN_MAX, with different names.  Faster than
 * separate calls. */
int ad_decode_given(struct ad_pool *pool, const struct ad *previous,
                    const struct ad_given *const *given, size_t given_count, const void *data,
                    size_t length, struct ad **ret, struct err *err);

/* Reads the attribute `name` of an ad in binary form without decoding the ad, for a caller that
 * must find the older ad which the new ad will replace.  Returns 0 and sets *text (within data; not
 * always zero-terminated) and *text_length; -ENOENT (absent, or not a string literal); or -EBADMSG,
 * -EPROTONOSUPPORT, -E2BIG for the reasons of ad_decode().  0 does not mean that ad_decode() will
 * accept the ad. */
int ad_peek_string(struct ad_pool *pool, const void *data, size_t length, const char *name,
                   const char **text, size_t *text_length, struct err *err);

/* Returns true when `name` certainly evaluates to the same in both ads: neither has it, or both
 * have the same literal.  Only finds this out for ads of the pool with the same names; false means
 * "not known". name is best a string literal of the program, whose lookups are cached. */
bool ad_same_literal(const struct ad *a, const struct ad *b, const char *name);

/* Asks the CPU to load the memory of ad's values, which the caller will need soon.  ad may be NULL.
 */
void ad_prefetch(const struct ad *ad);

/* Returns a new ad: `old` with the own attributes of `changes` set in it, and with the chained
 * parent of `old`.  The arguments stay unchanged.  NULL when AD_ATTRS_MAX or AD_COLLISIONS_MAX is
 * exceeded or memory ran out.  Takes about a microsecond for a few changes of an ad of the pool. */
struct ad *ad_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes);

/* Moves an ad that was parsed or made by setters into the pool; previous as for ad_decode_in().  An
 * ad that was decoded, and not changed, only loses the expressions that were made for its readers.
 * The ad keeps its attributes, but pointers borrowed from it become invalid. */
void ad_pack(struct ad_pool *pool, const struct ad *previous, struct ad *ad);

/* The number of bytes that ad_encode() with with_private = true would append. */
size_t ad_encoded_bytes(const struct ad *ad);

struct ad_pool_figures {
    size_t shapes; /* number of different sets of attribute names (shapes) */
    /* number of prototypes: sets of values that are stored once, so that similar ads store only the
     * values in which they differ */
    size_t prototypes;
    /* approximate bytes allocated for the shapes, the prototypes, and the expressions made from the
     * values of prototypes */
    size_t bytes;
};
void ad_pool_figures(const struct ad_pool *pool, struct ad_pool_figures *ret);

/* Returns about how many bytes of memory would become free if only this ad were destroyed. */
size_t ad_own_bytes(const struct ad *ad);

#endif
