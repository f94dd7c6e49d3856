/* classad/ad_body.c - bodies: the values of ads as bytes, complete or as differences from a base.
 *
 * A body is one block of memory: struct, mask and ranks (with a base), offsets, values.  Offsets
 * have two bytes as long as the values fit.  The expressions that were made from values are in a
 * small table beside the block.  It grows as they are asked for: most values are literals and never
 * become expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/mem.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_packed.h"

#define NARROW_MAX    UINT16_MAX /* most bytes of values with offsets of two bytes */
#define MADE_AT_FIRST 4u

static size_t aligned_size(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* ---- making ---- */

static size_t offset_size(size_t bytes)
{
    return bytes <= NARROW_MAX ? sizeof(uint16_t) : sizeof(uint32_t);
}

static size_t body_size(uint32_t words, uint32_t own_count, size_t bytes)
{
    return sizeof(struct ad_body) + words * sizeof(uint64_t) +
           aligned_size(words * sizeof(uint16_t)) + ((size_t)own_count + 1) * offset_size(bytes) +
           bytes;
}

/* The parts of a new body that are filled in while it is made. */
struct parts {
    uint16_t *rank;
    uint16_t *narrow;
    uint32_t *wide;
    unsigned char *data;
};

static struct ad_body *body_alloc(struct ad_shape *shape, struct ad_body *base, uint32_t own_count,
                                  size_t bytes, struct parts *parts)
{
    uint32_t words = base != NULL ? (shape->count + 63) / 64 : 0;
    if (bytes > UINT32_MAX / 2) {
        return NULL;
    }
    struct ad_body *body = mem_try_alloc(body_size(words, own_count, bytes));
    if (body == NULL) {
        return NULL;
    }
    *body = (struct ad_body){.owner_count = 1,
                             .own_count = own_count,
                             .bytes = (uint32_t)bytes,
                             .shape = ad_shape_ref(shape),
                             .base = base};
    if (base != NULL) {
        CHECK(base->base == NULL && base->shape == shape);
        (void)ad_body_ref(base); /* the pointer is in place already */
        base->user_count++;
    }
    memset(body->mask, 0, words * sizeof(uint64_t));
    *parts = (struct parts){.rank = (uint16_t *)(void *)(body->mask + words)};
    char *offsets = (char *)parts->rank + aligned_size(words * sizeof(uint16_t));
    if (bytes <= NARROW_MAX) {
        parts->narrow = (uint16_t *)(void *)offsets;
    } else {
        parts->wide = (uint32_t *)(void *)offsets;
    }
    parts->data = (unsigned char *)offsets + ((size_t)own_count + 1) * offset_size(bytes);
    body->rank = parts->rank;
    body->narrow = parts->narrow;
    body->wide = parts->wide;
    body->data = parts->data;
    return body;
}

static void set_offset(const struct parts *parts, uint32_t own, uint32_t offset)
{
    if (parts->narrow != NULL) {
        parts->narrow[own] = (uint16_t)offset;
    } else {
        parts->wide[own] = offset;
    }
}

struct ad_body *ad_body_build(struct ad_shape *shape, struct ad_body *base,
                              const struct ad_own *own, uint32_t count, size_t total_bytes)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += own[i].raw.length;
    }
    CHECK(base != NULL || count == shape->count);
    struct parts parts;
    struct ad_body *body = body_alloc(shape, base, count, bytes, &parts);
    if (body == NULL) {
        return NULL;
    }
    body->total_bytes = (uint32_t)total_bytes;
    uint32_t at = 0;
    for (uint32_t i = 0; i < count;) {
        const unsigned char *run = own[i].raw.data; /* what lies together is copied together */
        size_t length = 0;
        for (; i < count && own[i].raw.data == run + length; i++) {
            set_offset(&parts, i, at + (uint32_t)length);
            length += own[i].raw.length;
            if (base != NULL) {
                body->mask[own[i].place / 64] |= (uint64_t)1 << (own[i].place % 64);
            }
        }
        memcpy(parts.data + at, run, length);
        at += (uint32_t)length;
    }
    set_offset(&parts, count, at);
    uint32_t words = base != NULL ? (shape->count + 63) / 64 : 0;
    unsigned before = 0;
    for (uint32_t i = 0; i < words; i++) {
        parts.rank[i] = (uint16_t)before;
        before += ad_bits(body->mask[i]);
    }
    return body;
}

/* Copies the values [first, end) of old to *at. */
static void copy_run(const struct parts *parts, const struct ad_body *old, uint32_t first,
                     uint32_t end, uint32_t *at)
{
    uint32_t begin = ad_body_offset(old, first);
    uint32_t bytes = ad_body_offset(old, end) - begin;
    uint32_t shift = *at - begin; /* wraps around when the run moves to the front */
    memcpy(parts->data + *at, old->data + begin, bytes);
    if (parts->narrow != NULL && old->narrow != NULL) {
        for (uint32_t i = first; i < end; i++) {
            parts->narrow[i] = (uint16_t)(old->narrow[i] + shift);
        }
    } else {
        for (uint32_t i = first; i < end; i++) {
            set_offset(parts, i, ad_body_offset(old, i) + shift);
        }
    }
    *at += bytes;
}

struct ad_body *ad_body_patch(const struct ad_body *old, const struct ad_own *changes,
                              uint32_t count)
{
    CHECK(old->base == NULL);
    size_t bytes = old->bytes;
    for (uint32_t i = 0; i < count; i++) {
        bytes += changes[i].raw.length;
        bytes -= ad_body_raw(old, changes[i].place).length;
    }
    struct parts parts;
    struct ad_body *body = body_alloc(old->shape, NULL, old->own_count, bytes, &parts);
    if (body == NULL) {
        return NULL;
    }
    body->total_bytes = (uint32_t)bytes;
    uint32_t at = 0;
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++) {
        copy_run(&parts, old, done, changes[i].place, &at);
        set_offset(&parts, changes[i].place, at);
        memcpy(parts.data + at, changes[i].raw.data, changes[i].raw.length);
        at += (uint32_t)changes[i].raw.length;
        done = changes[i].place + 1;
    }
    copy_run(&parts, old, done, old->own_count, &at);
    set_offset(&parts, old->own_count, at);
    return body;
}

/* ---- owners ---- */

struct ad_body *ad_body_ref(const struct ad_body *body)
{
    /* Counts and what was made from the bytes change; the values stay for everybody. */
    struct ad_body *shared = (struct ad_body *)(uintptr_t)body;
    CHECK(shared->owner_count > 0 && shared->owner_count < UINT32_MAX);
    shared->owner_count++;
    return shared;
}

static void forget_body(struct ad_body *body)
{
    for (uint32_t i = 0; i < AD_SHAPE_BODIES; i++) {
        if (body->shape->bodies[i] == body) {
            body->shape->bodies[i] = NULL;
        }
    }
    body->is_remembered = false;
}

void ad_body_unref(struct ad_body *body)
{
    if (body == NULL || --body->owner_count > 0) {
        return;
    }
    if (body->is_remembered) {
        forget_body(body);
    }
    for (uint32_t i = 0; body->made != NULL && i <= body->made_mask; i++) {
        ad_expr_destroy(body->made[i].expr);
    }
    mem_free(body->made);
    if (body->base != NULL) {
        body->base->user_count--;
        ad_body_unref(body->base);
    }
    ad_shape_unref(body->shape);
    mem_free(body);
}

void ad_body_remember(struct ad_body *body)
{
    if (body->is_remembered || body->base != NULL) {
        return;
    }
    /* The place of the body on which the fewest build, the last of them that came: a base of many
     * is not pushed out by ads that nobody resembles. */
    struct ad_body **places = body->shape->bodies;
    uint32_t least = 0;
    for (uint32_t i = 0; i < AD_SHAPE_BODIES; i++) {
        if (places[i] == NULL) {
            least = i;
            break;
        }
        if (places[i]->user_count < places[least]->user_count) {
            least = i;
        }
    }
    if (places[least] != NULL) {
        places[least]->is_remembered = false;
    }
    places[least] = body;
    body->is_remembered = true;
}

size_t ad_body_heap(const struct ad_body *body)
{
    uint32_t words = body->base != NULL ? (body->shape->count + 63) / 64 : 0;
    size_t bytes = body_size(words, body->own_count, body->bytes);
    for (uint32_t i = 0; body->made != NULL && i <= body->made_mask; i++) {
        bytes += sizeof(*body->made);
        bytes += body->made[i].expr != NULL ? ad_expr_bytes(body->made[i].expr) : 0;
    }
    return bytes;
}

/* ---- values ---- */

static int64_t signed_at(const unsigned char *data, const unsigned char **end)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; *data >= 0x80; data++, shift += 7) {
        value |= (uint64_t)(*data & 0x7f) << shift;
    }
    value |= (uint64_t)*data << shift;
    *end = data + 1;
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static double real_at(const unsigned char *data)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++) {
        bits |= (uint64_t)data[i] << (8 * i);
    }
    double real;
    memcpy(&real, &bits, sizeof(real));
    return real;
}

bool ad_bytes_literal(struct ad_bytes value, struct ad_node *ret)
{
    const unsigned char *data = value.data;
    *ret = (struct ad_node){.kind = data[0]};
    switch ((enum ad_kind)data[0]) {
    case AD_NODE_UNDEFINED:
    case AD_NODE_ERROR:
        return true;
    case AD_NODE_BOOL:
        ret->boolean = data[1] != 0;
        return true;
    case AD_NODE_INT:
        ret->integer = signed_at(data + 1, &data);
        return true;
    case AD_NODE_ABSTIME:
        ret->integer = signed_at(data + 1, &data);
        ret->count = (uint32_t)(int32_t)signed_at(data, &data);
        return true;
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
        ret->real = real_at(data + 1);
        return true;
    case AD_NODE_STRING:
        ret->text = (const char *)data + 1;
        ret->count = (uint32_t)value.length - 2;
        return true;
    default:
        return false;
    }
}

bool ad_bytes_evaluate(struct ad_bytes value, struct ad_value *ret)
{
    const unsigned char *data = value.data;
    switch ((enum ad_kind)data[0]) {
    case AD_NODE_INT:
        ret->type = AD_TYPE_INT;
        ret->integer = signed_at(data + 1, &data);
        return true;
    case AD_NODE_STRING:
        ret->type = AD_TYPE_STRING;
        ret->string.text = (const char *)data + 1;
        ret->string.length = value.length - 2;
        return true;
    default: {
        struct ad_node literal;
        if (!ad_bytes_literal(value, &literal)) {
            return false;
        }
        ad_literal_value(&literal, ret);
        return true;
    }
    }
}

/* ---- expressions ---- */

static uint32_t made_start(const struct ad_body *body, uint32_t place)
{
    return (place * 0x9e3779b1u >> 7) & body->made_mask;
}

static void made_add(struct ad_body *body, uint32_t place, struct ad_expr *expr)
{
    uint32_t at = made_start(body, place);
    while (body->made[at].expr != NULL) {
        at = (at + 1) & body->made_mask;
    }
    body->made[at] = (struct ad_made){place, expr};
    body->made_count++;
}

static void made_grow(struct ad_body *body)
{
    struct ad_made *old = body->made;
    uint32_t places = old != NULL ? body->made_mask + 1 : 0;
    uint32_t grown = places == 0 ? MADE_AT_FIRST : places * 2;
    body->made = mem_zalloc(grown * sizeof(*body->made));
    body->made_mask = grown - 1;
    body->made_count = 0;
    for (uint32_t i = 0; i < places; i++) {
        if (old[i].expr != NULL) {
            made_add(body, old[i].place, old[i].expr);
        }
    }
    mem_free(old);
}

const struct ad_expr *ad_body_expr(const struct ad_body *body, uint32_t place)
{
    uint32_t own;
    const struct ad_body *holder = ad_body_holder(body, place, &own);
    if (holder->made != NULL) {
        for (uint32_t at = made_start(holder, place); holder->made[at].expr != NULL;
             at = (at + 1) & holder->made_mask) {
            if (holder->made[at].place == place) {
                return holder->made[at].expr;
            }
        }
    }
    /* A cache that callers cannot see: the body counts as unchanged. */
    struct ad_body *cache = (struct ad_body *)(uintptr_t)holder;
    if (cache->made == NULL || cache->made_count >= (cache->made_mask + 1) / 2) {
        made_grow(cache);
    }
    struct ad_expr *expr = ad_value_compile(ad_body_value(body, place));
    made_add(cache, place, expr);
    return expr;
}

void ad_body_forget(struct ad_body *body)
{
    if (body->owner_count > 1 || body->made == NULL) {
        return;
    }
    for (uint32_t i = 0; i <= body->made_mask; i++) {
        ad_expr_destroy(body->made[i].expr);
    }
    mem_free(body->made);
    body->made = NULL;
    body->made_count = body->made_mask = 0;
}
