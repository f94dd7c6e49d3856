/* classad/ad_packed.h - ads as bytes: shapes, bodies, and the values in them.  Only for this
 * folder.
 *
 * A *shape* holds the names of an ad, in order, with a hash index.  It is made from the block of
 * names in the binary form; two shapes are equal when their blocks are equal byte by byte.  A
 * *body* holds the values of an ad in binary form: all of them, or only those that differ from its
 * *base*, which is a body of the same shape with all values.  (A base has no base itself.)  Bodies
 * never change; ads and other bodies share them by a reference count.  Every body with all values
 * can become a base.  A shape remembers some of its bodies, without owning them, as possible bases
 * of ads that arrive.
 *
 * Expressions are made from the bytes when they are first asked for and are kept with the body that
 * holds the bytes; literals are evaluated directly from the bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_PACKED_H
#define CLASSAD_AD_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash_chains.h"
#include "classad/ad_identity.h"
#include "classad/ad_private.h"

struct ad_pool;
struct err;
struct strbuf;

/* highest number of bodies (values of an ad) that a shape (names of an ad) remembers */
#define AD_SHAPE_BODIES 4u
#define AD_SHAPE_ASKED  32u /* how many recent lookups of names a shape remembers */
#define AD_ASKED_BYTES  31u /* most bytes of a remembered name, with the terminating zero */

/* most shapes in one chain of the hash table of a pool of ads; a further shape is not shared */
#define AD_CHAIN_MAX 64u

#define AD_POOL_NAMES 32u /* size of the cache of attribute names of a pool of ads */

/* how many small shapes a pool of ads keeps after their last ad is gone */
#define AD_POOL_KEPT  8u
#define AD_KEPT_COUNT 16u /* most names of a shape that counts as small */

struct ad_pool {
    /* hash table of the shapes of its ads; key: the block of names */
    struct hash_chains shapes;
    struct ad_shape *latest;        /* the shape that was last looked up in `shapes` */
    struct ad_regex_cache *regexes; /* cache of compiled regular expressions; NULL until needed */
    /* Cache of attribute names that setters use again and again, so that the ads share one copy of
     * the name; index: hash of the name. */
    struct ad_name *names[AD_POOL_NAMES];
    /* Shapes of small ads (arguments, changes) that are kept although no ad has them now, so that
     * the next such ad need not build its shape again. */
    struct ad_shape *kept[AD_POOL_KEPT];
    uint32_t next_kept;
};

struct ad_shape_name {
    uint32_t hash;
    uint32_t offset; /* where the name begins in the `names` of the shape, bytes */
    uint16_t length;
    bool is_private;
    bool is_word; /* the name prints without quotes; valid once the shape's `order` is set */
};

struct ad_shape {
    /* must be the first member; links the shape into the `shapes` of its pool of ads */
    struct hash_link link;
    /* number of bodies with this shape, plus number of callers that are making such a body */
    uint32_t owner_count;
    uint32_t count;
    uint32_t names_bytes;
    uint32_t index_mask;
    bool has_special;
    bool has_private;
    /* bit N is set if the shape has the name ad_identity_names[N] */
    uint16_t identities;
    /* place (index in `entries`) of each identity attribute that the shape has */
    uint16_t identity_places[AD_IDENTITY_COUNT];
    bool is_kept; /* the pool of ads keeps the shape even if no ad has it */
    /* pool of ads whose table has this shape; NULL: in no table */
    struct ad_pool *pool;
    struct ad_body *bodies[AD_SHAPE_BODIES];
    uint16_t *order; /* places (indices in `entries`) in printing order; NULL until needed */
    /* Caches recent lookups of names, by the address of the caller's string: a caller that asks
     * thousands of ads for "Name" passes the same literal each time.  The text is still compared.
     * place is AD_NO_PLACE when the shape has no such name. */
    struct ad_asked {
        const char *name;
        uint32_t place;
        uint32_t hash; /* that of ad_name_hash() */
        uint8_t length;
        char text[AD_ASKED_BYTES];
    } asked[AD_SHAPE_ASKED];
    struct ad_shape_name *entries;
    uint16_t *index; /* hash index of the names: place + 1, 0 = free; NULL while count is small */
    /* all names, each zero-terminated, one after the other as in the binary form */
    char *names;
};

struct ad_bytes {
    const unsigned char *data;
    size_t length;
};

/* a cache entry: the expression made from a value's bytes; found by the hash of its place in the
 * body */
struct ad_made {
    uint32_t place;
    struct ad_expr *expr; /* NULL: this cache place is free */
};

struct ad_body {
    /* number of ads with this body, plus number of bodies that have it as base */
    uint32_t owner_count;
    uint32_t user_count;  /* number of bodies that have this body as base */
    uint32_t own_count;   /* number of values stored in this body itself */
    uint32_t bytes;       /* bytes of the values stored in this body itself */
    uint32_t total_bytes; /* bytes of all values, those stored in the base included */
    struct ad_shape *shape;
    struct ad_body *base; /* NULL: this body holds all values */
    /* hash table of the expressions made from values of this body so far; NULL until needed */
    struct ad_made *made;
    const unsigned char *data; /* the values, each with its length before it */
    /* offset in `data` of each value stored in this body, and of the end; either narrow or wide is
     * set */
    const uint16_t *narrow;
    const uint32_t *wide;
    /* only with a base: for each word of `mask`, how many bits are set in all words before it */
    const uint16_t *rank;
    uint32_t made_count;
    uint32_t made_mask;
    /* a value stored in this body may contain an ad, and so private attributes */
    bool has_ads;
    bool is_remembered; /* shape->bodies contains this body */
    /* only with a base: one bit for each place, set if the value is stored in this body */
    uint64_t mask[];
};

/* ---- values ---- */

static inline uint32_t ad_body_offset(const struct ad_body *body, uint32_t own)
{
    return body->narrow != NULL ? body->narrow[own] : body->wide[own];
}

static inline unsigned ad_bits(uint64_t word)
{
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    return (unsigned)((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u) >> 56);
}

/* The number of the lowest bit in word, which is not 0. */
static inline unsigned ad_lowest_bit(uint64_t word)
{
    return (unsigned)__builtin_ctzll(word);
}

/* Returns the body that stores the value of attribute `place` (body itself or its base), and sets
 * *own to the value's number among those stored in the returned body. */
static inline const struct ad_body *ad_body_holder(const struct ad_body *body, uint32_t place,
                                                   uint32_t *own)
{
    if (body->base == NULL) {
        *own = place;
        return body;
    }
    uint64_t word = body->mask[place / 64];
    uint64_t bit = (uint64_t)1 << (place % 64);
    if ((word & bit) == 0) {
        *own = place;
        return body->base;
    }
    *own = body->rank[place / 64] + ad_bits(word & (bit - 1));
    return body;
}

static inline struct ad_bytes ad_body_raw(const struct ad_body *body, uint32_t place)
{
    uint32_t own;
    const struct ad_body *holder = ad_body_holder(body, place, &own);
    uint32_t begin = ad_body_offset(holder, own);
    return (struct ad_bytes){holder->data + begin, ad_body_offset(holder, own + 1) - begin};
}

/* Returns the value in raw, which is a length followed by the value.  Lengths were checked when the
 * body was made. */
static inline struct ad_bytes ad_raw_value(struct ad_bytes raw)
{
    size_t skip = 1;
    while (raw.data[skip - 1] >= 0x80) {
        skip++;
    }
    return (struct ad_bytes){raw.data + skip, raw.length - skip};
}

static inline struct ad_bytes ad_body_value(const struct ad_body *body, uint32_t place)
{
    return ad_raw_value(ad_body_raw(body, place));
}

/* True when a value of the body, or of its base, may contain an ad, and so private attributes. */
static inline bool ad_body_holds_ads(const struct ad_body *body)
{
    return body->has_ads || (body->base != NULL && body->base->has_ads);
}

/* Returns whether the value is a literal, which needs no evaluation. */
static inline bool ad_bytes_is_literal(struct ad_bytes value)
{
    return value.data[0] < AD_NODE_LIST;
}

/* Decodes a literal into a node; the text of a string stays in the bytes of value.  False when the
 * value is not a literal. */
bool ad_bytes_literal(struct ad_bytes value, struct ad_node *ret);

/* Decodes a literal into a value as evaluation yields it; false when the value is not a literal. */
bool ad_bytes_evaluate(struct ad_bytes value, struct ad_value *ret);

/* Returns the expression of attribute `place`, borrowed; the expression lives as long as the body.
 */
const struct ad_expr *ad_body_expr(const struct ad_body *body, uint32_t place);

/* ---- shapes (ad_shape.c) ---- */

/* Sets *ret to the shape for `names`, a block of count names in the binary form: the shape in the
 * table of the pool of ads, or a new shape.  The caller becomes an owner of it (ad_shape_unref()).
 * Returns 0; -EBADMSG when the block is not a list of count different names; -E2BIG (a limit, or
 * out of memory). */
int ad_shape_get(struct ad_pool *pool, const char *names, size_t bytes, uint32_t count,
                 struct ad_shape **ret, struct err *err);
/* Returns the shape for a block of names if the table of the pool of ads has it, otherwise NULL.
 * The caller does not become an owner. */
struct ad_shape *ad_shape_find(struct ad_pool *pool, const char *names, size_t bytes,
                               uint32_t count);
struct ad_shape *ad_shape_ref(struct ad_shape *shape);
void ad_shape_unref(struct ad_shape *shape);

/* Returns the place of the attribute with this name; AD_NO_PLACE: not in this shape.  hash: the
 * result of ad_name_hash() for the name. */
uint32_t ad_shape_place(const struct ad_shape *shape, const char *text, size_t length,
                        uint32_t hash);
const uint16_t *ad_shape_order(struct ad_shape *shape);
size_t ad_shape_bytes(const struct ad_shape *shape);

/* Returns what ad_shape_place() returns for name, faster if callers pass the same pointer again. */
uint32_t ad_asked_place(struct ad_shape *shape, const char *name);
/* Finds an attribute, also in chained parents, as ad_find_spot() does; faster if callers pass the
 * same pointer again. */
bool ad_find_value(const struct ad *ad, const char *name, struct ad_spot *ret);

static inline const char *ad_shape_name(const struct ad_shape *shape, uint32_t place)
{
    return shape->names + shape->entries[place].offset;
}

/* ---- bodies (ad_body.c) ---- */

/* Adds a reference (owner_count) to the body; returns body. */
struct ad_body *ad_body_ref(const struct ad_body *body);
void ad_body_unref(struct ad_body *body); /* NULL is allowed */
/* Frees the expressions made from the body's own values so far, if the body has one owner. */
void ad_body_forget(struct ad_body *body);

struct ad_own { /* a value that is to be stored in a new body */
    uint32_t place;
    struct ad_bytes raw;
};

/* Makes a body from the values own[0..count), in order of place; all other values come from base,
 * whose owner_count grows by 1.  With base NULL, own has all values.  total_bytes is the size of
 * all values together.  Returns NULL when out of memory. */
struct ad_body *ad_body_build(struct ad_shape *shape, struct ad_body *base,
                              const struct ad_own *own, uint32_t count, size_t total_bytes);

/* Makes a copy of old (which has no base), in which the `count` values of changes, in order of
 * place, replace the old values.  Returns NULL when out of memory. */
struct ad_body *ad_body_patch(const struct ad_body *old, const struct ad_own *changes,
                              uint32_t count);

/* Lets the body's shape remember this body, so that it can become the base of ads that arrive.
 * Does nothing when the body has a base itself. */
void ad_body_remember(struct ad_body *body);
size_t ad_body_heap(const struct ad_body *body);

/* ---- binary encoding and decoding (ad_binary.c, ad_decode.c) ---- */

/* Checks a value in binary form that came from outside.  Returns 0, -EBADMSG (malformed) or -E2BIG
 * (a limit); sets *has_ads to true when the value contains an ad; adds the number of its nodes to
 * *nodes, which the caller sets to 0 before the first value of an ad. */
int ad_value_check(struct ad_bytes value, size_t *nodes, bool *has_ads, struct err *err);
/* Makes the expression of a value that ad_value_check() accepted; release with ad_expr_destroy().
 * Out of memory: the literal error. */
struct ad_expr *ad_value_compile(struct ad_bytes value);
/* Appends the bytes of the binary form that precede the names. */
void ad_put_head(size_t count, size_t names_bytes, struct strbuf *out);
/* Appends the expression whose root is node as a value in binary form, preceded by its length.
 * Private attributes of ads in the expression are written only if with_private. */
void ad_value_put(const struct ad_node *node, bool with_private, struct strbuf *out);

struct ad_outline { /* the parts of an ad in binary form; only their sizes are checked */
    uint32_t count;
    const char *names;
    size_t names_bytes;
    const unsigned char *values;
    const unsigned char *end; /* end of the given data, which may be longer than the ad */
};
int ad_outline_read(const void *data, size_t length, struct ad_outline *ret, struct err *err);
/* Returns the place (index) of the attribute `name`; AD_NO_PLACE when the ad has no such attribute
 * or its names are malformed. */
uint32_t ad_outline_place(const struct ad_outline *outline, const char *name, size_t length);

bool ad_pass_long_value(const unsigned char **at, const unsigned char *end);
/* Moves *at past one value and returns true; false when the length of the value is zero, more than
 * the bytes that are left, or not encoded in the shortest form. */
static inline bool ad_pass_value(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *next = *at;
    size_t length = next < end ? *next : 0;
    if (length >= 0x80) {
        return ad_pass_long_value(at, end);
    }
    if (length == 0 || length >= (size_t)(end - next)) {
        return false;
    }
    *at = next + 1 + length;
    return true;
}

/* ---- ads that arrive (ad_arrival.c) ---- */

/* an attribute that the receiver of ads sets (ad_pool.h) */
struct ad_given;

/* Makes the body of an ad in binary form, for ad_decode_given(), whose arguments have the same
 * meaning.  Returns 0 and sets *ret (release with ad_body_unref()) and *used, the bytes that the ad
 * has in data; or an error of ad_decode(). */
int ad_body_arrive(struct ad_pool *pool, const struct ad *previous,
                   const struct ad_given *const *given, size_t given_count, const void *data,
                   size_t length, size_t *used, struct ad_body **ret, struct err *err);

#endif
