/* classad/ad_binary.c - the compact form, written; read by ad_decode.c.
 *
 * An ad, version 2: version, count, bytes of all names; the names, each with a zero after it; then
 * for each a value: a varint of its length and a node, but a string is its kind, the text, a zero:
 * so that names and strings are used where they lie, the names of ads alike are compared in one go,
 * and values are compared and copied without a look inside.
 * Version 1 (read everywhere, written nowhere): version, count, then name and node of each.  Ads
 * within nodes have that form, without the version, in both.
 *
 * A node: a byte of kind, then what its kind needs; numbers are varints (7 bits a byte, low first,
 * signed ones zigzag), reals 8 bytes little-endian, texts a varint of length and the bytes. bool: 1
 * byte    int, abstime: zigzag (abstime: then zone, zigzag)    real, reltime: 8 bytes    string:
 * text list: count, nodes    ad: count, attributes    ref: flags (1 base, 2 absolute), name, base
 * unary: operator, node    chain: count, node, then (operator, node) each    cond, else, subscript,
 * paren: nodes call: name, count, nodes Functions go by name, so that a peer with another table
 * understands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_binary.h"

#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_packed.h"

#define REF_HAS_BASE 1u
#define REF_ABSOLUTE 2u

/* ---- nodes ---- */

static void put_byte(struct strbuf *out, unsigned byte)
{
    strbuf_putc(out, (char)(unsigned char)byte);
}

static void put_varint(struct strbuf *out, uint64_t value)
{
    char bytes[10];
    size_t count = 0;
    while (value >= 0x80) {
        bytes[count++] = (char)(unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes[count++] = (char)(unsigned char)value;
    strbuf_append(out, bytes, count);
}

static void put_signed(struct strbuf *out, int64_t value)
{
    put_varint(out, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static void put_real(struct strbuf *out, double value)
{
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &value, sizeof(bits));
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(bits >> (8 * i));
    }
    strbuf_append(out, bytes, sizeof(bytes));
}

static void put_text(struct strbuf *out, const char *text, size_t length)
{
    put_varint(out, length);
    strbuf_append(out, text, length);
}

static void put_node(const struct ad_node *node, bool with_private, struct strbuf *out);

/* The form of ads within nodes, and of whole ads in version 1. */
static void put_attributes(const struct ad *ad, bool with_private, struct strbuf *out)
{
    size_t count = ad_count(ad);
    size_t at = 0;
    struct ad_item item;
    while (!with_private && ad_walk(ad, &at, &item)) {
        count -= ad_attr_is_private(item.name);
    }
    put_varint(out, count);
    at = 0;
    while (ad_walk(ad, &at, &item)) {
        if (with_private || !ad_attr_is_private(item.name)) {
            struct ad_node literal;
            put_text(out, item.name, item.length);
            put_node(ad_spot_node(&item.spot, &literal), with_private, out);
        }
    }
}

static void put_nodes(const struct ad_node *nodes, uint32_t count, bool with_private,
                      struct strbuf *out)
{
    for (uint32_t i = 0; i < count; i++) {
        put_node(&nodes[i], with_private, out);
    }
}

static void put_reference(const struct ad_node *node, bool with_private, struct strbuf *out)
{
    unsigned flags =
        (node->count > 0 ? REF_HAS_BASE : 0u) | (node->op == AD_REF_ABSOLUTE ? REF_ABSOLUTE : 0u);
    put_byte(out, flags);
    put_text(out, node->named.name->text, node->named.name->length);
    put_nodes(node->named.kids, node->count, with_private, out);
}

static void put_node(const struct ad_node *node, bool with_private, struct strbuf *out)
{
    put_byte(out, node->kind);
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_BOOL:
        put_byte(out, node->boolean);
        break;
    case AD_NODE_INT:
        put_signed(out, node->integer);
        break;
    case AD_NODE_ABSTIME:
        put_signed(out, node->integer);
        put_signed(out, (int32_t)node->count);
        break;
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
        put_real(out, node->real);
        break;
    case AD_NODE_STRING:
        put_text(out, node->text, node->count);
        break;
    case AD_NODE_LIST:
        put_varint(out, node->count);
        put_nodes(node->kids, node->count, with_private, out);
        break;
    case AD_NODE_AD:
        put_attributes(node->nested, with_private, out);
        break;
    case AD_NODE_REF:
        put_reference(node, with_private, out);
        break;
    case AD_NODE_UNARY:
        put_byte(out, node->op);
        put_node(node->kids, with_private, out);
        break;
    case AD_NODE_CHAIN:
        put_varint(out, node->count);
        for (uint32_t i = 0; i < node->count; i++) {
            if (i > 0) {
                put_byte(out, node->kids[i].link);
            }
            put_node(&node->kids[i], with_private, out);
        }
        break;
    case AD_NODE_CALL:
        put_text(out, node->named.name->text, node->named.name->length);
        put_varint(out, node->count);
        put_nodes(node->named.kids, node->count, with_private, out);
        break;
    case AD_NODE_COND:
    case AD_NODE_ELSE:
    case AD_NODE_SUBSCRIPT:
    case AD_NODE_PAREN:
        put_nodes(node->kids, node->count, with_private, out);
        break;
    default: /* undefined and error have no content; AD_NODE_VALUE is never in a block */
        break;
    }
}

/* ---- version 2 ---- */

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) {
        size++;
    }
    return size;
}

/* Puts the length before what was appended since `begin`, where one byte was kept free for it. */
static void patch_length(struct strbuf *out, size_t begin)
{
    if (out->failed) {
        return;
    }
    size_t length = out->length - begin - 1;
    size_t more = varint_size(length) - 1;
    if (more > 0) {
        strbuf_append(out, "\0\0\0\0\0\0\0\0\0", more);
        if (out->failed) {
            return;
        }
        memmove(out->data + begin + 1 + more, out->data + begin + 1, length);
    }
    for (size_t i = 0; i <= more; i++) {
        unsigned bits = (unsigned)(length >> (7 * i)) & 0x7f;
        out->data[begin + i] = (char)(unsigned char)(i < more ? bits | 0x80 : bits);
    }
}

void ad_value_put(const struct ad_node *node, bool with_private, struct strbuf *out)
{
    if (node->kind == AD_NODE_STRING) {
        put_varint(out, (uint64_t)node->count + 2);
        put_byte(out, AD_NODE_STRING);
        strbuf_append(out, node->text, node->count);
        put_byte(out, 0);
        return;
    }
    size_t begin = out->length;
    put_byte(out, 0);
    put_node(node, with_private, out);
    patch_length(out, begin);
}

static void put_head(size_t count, size_t names_bytes, struct strbuf *out)
{
    put_byte(out, AD_BINARY_VERSION);
    put_varint(out, count);
    put_varint(out, names_bytes);
}

static void put_range(const struct ad_body *body, uint32_t first, uint32_t end, struct strbuf *out)
{
    uint32_t begin = ad_body_offset(body, first);
    strbuf_append(out, body->data + begin, ad_body_offset(body, end) - begin);
}

/* All values of a body: runs of the base between runs of its own. */
static void put_values(const struct ad_body *body, struct strbuf *out)
{
    if (body->base == NULL) {
        strbuf_append(out, body->data, body->bytes);
        return;
    }
    uint32_t done = 0;  /* places that are out */
    uint32_t own = 0;   /* own values that are out, or in the run */
    uint32_t begin = 0; /* of the run of own values */
    for (uint32_t i = 0; own < body->own_count; i++) {
        for (uint64_t word = body->mask[i]; word != 0; word &= word - 1) {
            uint32_t place = i * 64 + ad_bits((word & (0 - word)) - 1);
            if (place > done) {
                put_range(body, begin, own, out);
                begin = own;
                put_range(body->base, done, place, out);
            }
            own++;
            done = place + 1;
        }
    }
    put_range(body, begin, own, out);
    put_range(body->base, done, body->shape->count, out);
}

static bool holds_ads(const struct ad_body *body)
{
    return body->has_ads || (body->base != NULL && body->base->has_ads);
}

static void put_item(const struct ad_item *item, bool with_private, struct strbuf *out)
{
    struct ad_node literal;
    if (item->spot.expr == NULL && (with_private || !holds_ads(item->spot.body))) {
        struct ad_bytes raw = ad_body_raw(item->spot.body, item->spot.place);
        strbuf_append(out, raw.data, raw.length);
    } else {
        ad_value_put(ad_spot_node(&item->spot, &literal), with_private, out);
    }
}

void ad_encode(const struct ad *ad, bool with_private, struct strbuf *out)
{
    const struct ad_body *body = ad->body;
    if (body != NULL && ad->count == 0 && ad->hidden == NULL &&
        (with_private || (!body->shape->has_private && !holds_ads(body)))) {
        put_head(body->shape->count, body->shape->names_bytes, out);
        strbuf_append(out, body->shape->names, body->shape->names_bytes);
        put_values(body, out);
        return;
    }
    size_t count = 0;
    size_t names_bytes = 0;
    size_t at = 0;
    struct ad_item item;
    while (ad_walk(ad, &at, &item)) {
        if (with_private || !ad_attr_is_private(item.name)) {
            count++;
            names_bytes += item.length + 1;
        }
    }
    put_head(count, names_bytes, out);
    at = 0;
    while (ad_walk(ad, &at, &item)) {
        if (with_private || !ad_attr_is_private(item.name)) {
            strbuf_append(out, item.name, (size_t)item.length + 1);
        }
    }
    at = 0;
    while (ad_walk(ad, &at, &item)) {
        if (with_private || !ad_attr_is_private(item.name)) {
            put_item(&item, with_private, out);
        }
    }
}

void ad_encode_first(const struct ad *ad, bool with_private, struct strbuf *out)
{
    put_byte(out, AD_BINARY_FIRST);
    put_attributes(ad, with_private, out);
}

static size_t body_bytes(const struct ad_body *body)
{
    if (body->base == NULL) {
        return body->bytes;
    }
    size_t bytes = (size_t)body->base->bytes + body->bytes;
    for (uint32_t i = 0; i < (body->shape->count + 63) / 64; i++) {
        for (uint64_t word = body->mask[i]; word != 0; word &= word - 1) {
            uint32_t place = i * 64 + ad_bits((word & (0 - word)) - 1);
            bytes -= ad_body_raw(body->base, place).length;
        }
    }
    return bytes;
}

size_t ad_encoded_bytes(const struct ad *ad)
{
    size_t names = 0;
    size_t values = 0;
    if (ad->body != NULL) {
        const struct ad_shape *shape = ad->body->shape;
        names = shape->names_bytes;
        values = body_bytes(ad->body);
        for (uint32_t i = 0; ad->hidden != NULL && i < (shape->count + 63) / 64; i++) {
            for (uint64_t word = ad->hidden[i]; word != 0; word &= word - 1) {
                uint32_t place = i * 64 + ad_bits((word & (0 - word)) - 1);
                names -= shape->entries[place].length + 1u;
                values -= ad_body_raw(ad->body, place).length;
            }
        }
    }
    struct strbuf scratch;
    strbuf_init(&scratch, 0);
    for (uint32_t i = 0; i < ad->count; i++) {
        names += ad->entries[i].name->length + 1u;
        strbuf_clear(&scratch);
        ad_value_put(&ad->entries[i].expr->root, true, &scratch);
        values = scratch.failed ? SIZE_MAX / 2 : values + scratch.length;
    }
    strbuf_fini(&scratch);
    return 1 + varint_size(ad_count(ad)) + varint_size(names) + names + values;
}

void ad_expr_encode(const struct ad_expr *expr, struct strbuf *out)
{
    put_byte(out, AD_BINARY_FIRST);
    put_node(&expr->root, true, out);
}
