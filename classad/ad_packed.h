/* classad/ad_packed.h - ads as bytes: shapes, bodies, and the values in them.  Not for other
 * folders.
 *
 * A *shape* is the names of an ad, in order, with their index; it is made of the block of names in
 * the binary form and equals another one when the blocks are equal byte by byte.  A *body* is the
 * values of an ad, in their binary form, all of them or only those that differ from its *base*: a
 * body of the same shape that has all.  (A base has no base itself.)  Bodies never change; ads and
 * other bodies own them by count.  Every body with all values can become a base; a shape remembers
 * some of its bodies, without owning them, to be tried for ads that arrive.
 *
 * Expressions are made from the bytes when they are asked for and stay with the body that holds the
 * bytes; literals are evaluated without.
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

#define AD_SHAPE_BODIES 4u  /* bodies a shape remembers */
#define AD_SHAPE_ASKED  32u /* names that were asked for, likewise */
#define AD_ASKED_BYTES  28u /* longer ones are not remembered */

#define AD_CHAIN_MAX 64u /* shapes on one place of the table: more are not shared */

#define AD_POOL_NAMES 32u /* names of entries that a pool keeps */

#define AD_POOL_KEPT  8u  /* small shapes that stay with a pool when their last ad is gone */
#define AD_KEPT_COUNT 16u /* names in them */

struct ad_pool {
    struct hash_chains shapes;      /* by the hash of their names */
    struct ad_shape *latest;        /* the one that was asked for last */
    struct ad_regex_cache *regexes; /* NULL until needed */
    /* Of entries over bodies, which mostly are the same few: by hash, the latest in each place. */
    struct ad_name *names[AD_POOL_NAMES];
    /* Arguments and changes come one at a time: their shape would be made anew for each. */
    struct ad_shape *kept[AD_POOL_KEPT];
    uint32_t next_kept;
};

struct ad_shape_name {
    uint32_t hash;
    uint32_t offset; /* in names */
    uint16_t length;
    bool is_private;
    bool is_word; /* prints without quotes; known with the order of printing */
};

struct ad_shape {
    struct hash_link link; /* first; in the pool's table */
    uint32_t owner_count;  /* bodies, and whoever is making one */
    uint32_t count;
    uint32_t names_bytes;
    uint32_t index_mask;
    bool has_special;
    bool has_private;
    uint16_t identities;                         /* of ad_identity_names[], a bit for each */
    uint16_t identity_places[AD_IDENTITY_COUNT]; /* of those that it has */
    bool is_kept;                                /* by its pool */
    struct ad_pool *pool;                        /* in whose table it is; NULL: in none */
    struct ad_body *bodies[AD_SHAPE_BODIES];
    uint16_t *order; /* of printing; NULL until asked for */
    /* Where a name was found that was asked for lately, by where the asker keeps it: whoever asks
     * thousands of ads for "Name" asks with the same literal.  The text is compared all the same.
     * AD_NO_PLACE: the shape has no such name. */
    struct ad_asked {
        const char *name;
        uint32_t place;
        char text[AD_ASKED_BYTES];
    } asked[AD_SHAPE_ASKED];
    struct ad_shape_name *entries;
    uint16_t *index; /* place + 1, 0: free; NULL while count is small */
    char *names;     /* each zero-terminated, one after the other: as in the binary form */
};

struct ad_bytes {
    const unsigned char *data;
    size_t length;
};

struct ad_made { /* expressions made from bytes, by place in the body that holds them */
    uint32_t place;
    struct ad_expr *expr; /* NULL: free */
};

struct ad_body {
    uint32_t owner_count; /* ads, and bodies that have it as base */
    uint32_t user_count;  /* of these: bodies */
    uint32_t own_count;   /* values that lie here */
    uint32_t bytes;       /* of them */
    uint32_t total_bytes; /* of all values, with those in the base */
    struct ad_shape *shape;
    struct ad_body *base;      /* NULL: all values lie here */
    struct ad_made *made;      /* NULL until needed */
    const unsigned char *data; /* the values, each with its length before it */
    const uint16_t *narrow;    /* offset of each own value in data, and of the end; one of both */
    const uint32_t *wide;
    const uint16_t *rank; /* with a base: own values before each word of mask */
    uint32_t made_count;
    uint32_t made_mask;
    bool has_ads;       /* a value here may hold an ad, in which private attributes may be */
    bool is_remembered; /* in shape->bodies */
    uint64_t mask[];    /* with a base: which values lie here */
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

/* The body where the value of that place lies, and its number there. */
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

/* The value without the length before it.  Lengths were checked when the body was made. */
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

/* May private attributes be inside a value? */
static inline bool ad_body_holds_ads(const struct ad_body *body)
{
    return body->has_ads || (body->base != NULL && body->base->has_ads);
}

/* A literal as a node, whose text lies in the bytes; false: it is none. */
bool ad_bytes_literal(struct ad_bytes value, struct ad_node *ret);

/* The value of a literal, as evaluation gives it; false: it is none. */
bool ad_bytes_evaluate(struct ad_bytes value, struct ad_value *ret);

/* The expression in a place; borrowed, lives as long as the body. */
const struct ad_expr *ad_body_expr(const struct ad_body *body, uint32_t place);

/* ---- shapes (ad_shape.c) ---- */

/* The shape of that block, from the table of the pool or new; one owner more.  0; -EBADMSG or
 * -E2BIG when the block is no list of count different names. */
int ad_shape_get(struct ad_pool *pool, const char *names, size_t bytes, uint32_t count,
                 struct ad_shape **ret, struct err *err);
/* The same when the table has it, or NULL; no owner more. */
struct ad_shape *ad_shape_find(struct ad_pool *pool, const char *names, size_t bytes,
                               uint32_t count);
struct ad_shape *ad_shape_ref(struct ad_shape *shape);
void ad_shape_unref(struct ad_shape *shape);

uint32_t ad_shape_place(const struct ad_shape *shape, const char *text, size_t length,
                        uint32_t hash); /* AD_NO_PLACE: it has no such name */
const uint16_t *ad_shape_order(struct ad_shape *shape);
size_t ad_shape_bytes(const struct ad_shape *shape);

/* ad_shape_place() of a name that is asked for again and again with the same pointer. */
uint32_t ad_asked_place(struct ad_shape *shape, const char *name);

static inline const char *ad_shape_name(const struct ad_shape *shape, uint32_t place)
{
    return shape->names + shape->entries[place].offset;
}

/* ---- bodies (ad_body.c) ---- */

struct ad_body *ad_body_ref(const struct ad_body *body);
void ad_body_unref(struct ad_body *body); /* NULL is allowed */

struct ad_own { /* a value that will lie in a new body */
    uint32_t place;
    struct ad_bytes raw;
};

/* A body of the values own[0..count), in order of place, and those of base (which gets an owner)
 * for the rest, of total_bytes together.  base NULL: own is all.  NULL: out of memory. */
struct ad_body *ad_body_build(struct ad_shape *shape, struct ad_body *base,
                              const struct ad_own *own, uint32_t count, size_t total_bytes);

/* old, which has no base, with changes (in order of place) in it.  NULL: out of memory. */
struct ad_body *ad_body_patch(const struct ad_body *old, const struct ad_own *changes,
                              uint32_t count);

void ad_body_remember(struct ad_body *body); /* to be tried as a base */
size_t ad_body_heap(const struct ad_body *body);

/* ---- the codec (ad_binary.c, ad_decode.c) ---- */

/* Checks a value that arrived: 0, -EBADMSG or -E2BIG; *has_ads is set when an ad is in it.  *nodes
 * adds up over the values of an ad. */
int ad_value_check(struct ad_bytes value, size_t *nodes, bool *has_ads, struct err *err);
/* The expression of a value that was checked. */
struct ad_expr *ad_value_compile(struct ad_bytes value);
/* Appends what comes before the names. */
void ad_put_head(size_t count, size_t names_bytes, struct strbuf *out);
/* Appends a value with the length before it. */
void ad_value_put(const struct ad_node *node, bool with_private, struct strbuf *out);

struct ad_outline { /* of an ad in binary form: nothing of it is checked but sizes */
    uint32_t count;
    const char *names;
    size_t names_bytes;
    const unsigned char *values;
    const unsigned char *end; /* of what there is, not of the ad */
};
int ad_outline_read(const void *data, size_t length, struct ad_outline *ret, struct err *err);
/* Which attribute has that name; AD_NO_PLACE: none, or the names are malformed. */
uint32_t ad_outline_place(const struct ad_outline *outline, const char *name, size_t length);

bool ad_pass_long_value(const unsigned char **at, const unsigned char *end);
/* Goes over one value; false: its length is not in its shortest form, zero, or more than is left.
 */
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

struct ad_given;

/* The body of an ad, as ad_decode_given() says.  *used: bytes of the ad. */
int ad_body_arrive(struct ad_pool *pool, const struct ad *previous,
                   const struct ad_given *const *given, size_t given_count, const void *data,
                   size_t length, size_t *used, struct ad_body **ret, struct err *err);

#endif
