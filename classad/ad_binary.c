/* classad/ad_binary.c - writes the compact binary form; ad_decode.c reads it.
 *
 * An ad: version, count, bytes of all names; the names, each with a zero after it; then for each
 * name a value: a varint of its length and a node.  A string is stored as its kind, the text and a
 * zero.  So names and strings can be used in place, the names of similar ads are compared at once,
 * and values are compared and copied without decoding.
 *
 * An ad within a node: count, then a name and a node for each attribute, without a version.
 *
 * A node: a byte for its kind, then, by kind, as follows.  Numbers are varints (7 bits a byte, low
 * bits first, signed ones zigzag), reals 8 bytes little-endian, texts a varint of the length and
 * the bytes.
 *
 *   bool                        1 byte
 *   int, abstime                zigzag (abstime: then the zone, zigzag)
 *   real, reltime               8 bytes
 *   string                      text
 *   list                        count, nodes
 *   ad                          count, attributes
 *   ref                         flags (1 base, 2 absolute), name, base
 *   unary                       operator, node
 *   chain                       count, node, then operator and node for each further operand
 *   cond, else, subscript, paren  nodes
 *   call                        name, count, nodes
 *
 * Functions are stored by name, so that a peer with another table of functions understands them.
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

#define VARINT_MAX 10 /* bytes of the longest varint */

static size_t write_varint(char *bytes, uint64_t value)
{
    size_t count = 0;
    while (value >= 0x80) {
        bytes[count++] = (char)(unsigned char)(value | 0x80);
        value >>= 7;
    }
    bytes[count++] = (char)(unsigned char)value;
    return count;
}

static void put_varint(struct strbuf *out, uint64_t value)
{
    char bytes[VARINT_MAX];
    strbuf_append(out, bytes, write_varint(bytes, value));
}

static uint64_t zigzag_int(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static void put_signed(struct strbuf *out, int64_t value)
{
    put_varint(out, zigzag_int(value));
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

/* Writes an ad that lies within a node. */
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

/* ---- whole ads ---- */

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7) {
        size++;
    }
    return size;
}

/* Writes the length of what was appended since `begin` in front of it, where one byte was
 * reserved. */
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
    char bytes[VARINT_MAX + 2]; /* the commonest values are put together here */
    size_t count;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_STRING:
        count = write_varint(bytes, (uint64_t)node->count + 2);
        bytes[count++] = AD_NODE_STRING;
        strbuf_append(out, bytes, count);
        strbuf_append(out, node->text, (size_t)node->count + 1); /* its zero as well */
        return;
    case AD_NODE_INT:
        count = write_varint(bytes + 2, zigzag_int(node->integer)) + 1;
        bytes[0] = (char)count;
        bytes[1] = AD_NODE_INT;
        strbuf_append(out, bytes, count + 1);
        return;
    default:
        break;
    }
    size_t begin = out->length;
    put_byte(out, 0);
    put_node(node, with_private, out);
    patch_length(out, begin);
}

void ad_put_head(size_t count, size_t names_bytes, struct strbuf *out)
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

static uint32_t lowest_bit(uint64_t word)
{
    return ad_bits((word & (0 - word)) - 1);
}

/* Writes the values of the places [from, to): runs of the base between runs of own values. */
static void put_values(const struct ad_body *body, uint32_t from, uint32_t to, struct strbuf *out)
{
    if (from >= to || body->base == NULL) {
        if (from < to) {
            put_range(body, from, to, out);
        }
        return;
    }
    uint32_t word_at = from / 64;
    uint64_t below = ((uint64_t)1 << (from % 64)) - 1;
    uint64_t word = body->mask[word_at] & ~below;
    uint32_t own = body->rank[word_at] + ad_bits(body->mask[word_at] & below);
    uint32_t begin = own; /* of the run of own values */
    uint32_t done = from; /* places that are out, or in the run */
    for (;;) {
        while (word == 0 && (word_at + 1) * 64 < to) {
            word = body->mask[++word_at];
        }
        uint32_t place = word != 0 ? word_at * 64 + lowest_bit(word) : to;
        if (place >= to) {
            break;
        }
        if (place > done) {
            put_range(body, begin, own, out);
            begin = own;
            put_range(body->base, done, place, out);
        }
        own++;
        done = place + 1;
        word &= word - 1;
    }
    put_range(body, begin, own, out);
    put_range(body->base, done, to, out);
}

static void put_item(const struct ad_item *item, bool with_private, struct strbuf *out)
{
    struct ad_node literal;
    if (item->spot.expr == NULL && (with_private || !ad_body_holds_ads(item->spot.body))) {
        struct ad_bytes raw = ad_body_raw(item->spot.body, item->spot.place);
        strbuf_append(out, raw.data, raw.length);
    } else {
        ad_value_put(ad_spot_node(&item->spot, &literal), with_private, out);
    }
}

/* Writes attribute by attribute.  This is for ads without a body, and for ads that contain ads with
 * private attributes. */
static void encode_items(const struct ad *ad, bool with_private, struct strbuf *out)
{
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
    ad_put_head(count, names_bytes, out);
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

/* Places of the body where a run of bytes ends: hidden attributes, and private ones that must be
 * left out. */
struct stops {
    uint32_t words;
    bool leaves_names; /* no name of the shape is left out */
    uint64_t bits[(AD_ATTRS_MAX + 63) / 64];
    uint64_t gone[(AD_ATTRS_MAX + 63) / 64]; /* places of which nothing is written */
};

static uint32_t next_stop(const struct stops *stops, uint32_t from)
{
    uint32_t at = from / 64;
    if (at >= stops->words) {
        return AD_NO_PLACE;
    }
    uint64_t word = stops->bits[at] & ~(((uint64_t)1 << (from % 64)) - 1);
    while (word == 0) {
        if (++at >= stops->words) {
            return AD_NO_PLACE;
        }
        word = stops->bits[at];
    }
    return at * 64 + lowest_bit(word);
}

static bool is_gone(const struct stops *stops, uint32_t place)
{
    return (stops->gone[place / 64] >> (place % 64) & 1) != 0;
}

static void find_stops(const struct ad *ad, bool with_private, struct stops *stops, size_t *count,
                       size_t *names_bytes)
{
    const struct ad_shape *shape = ad->body->shape;
    stops->words = (shape->count + 63) / 64;
    memset(stops->gone, 0, stops->words * sizeof(stops->gone[0]));
    if (ad->hidden != NULL) {
        memcpy(stops->bits, ad->hidden, stops->words * sizeof(stops->bits[0]));
    } else {
        memset(stops->bits, 0, stops->words * sizeof(stops->bits[0]));
    }
    for (uint32_t i = 0; !with_private && shape->has_private && i < shape->count; i++) {
        stops->bits[i / 64] |= (uint64_t)shape->entries[i].is_private << (i % 64);
    }
    stops->leaves_names = true;
    *count = shape->count;
    *names_bytes = shape->names_bytes;
    for (uint32_t i = next_stop(stops, 0); i != AD_NO_PLACE; i = next_stop(stops, i + 1)) {
        struct ad_item item;
        if ((!with_private && shape->entries[i].is_private) || !ad_item_in_body(ad, i, &item)) {
            stops->gone[i / 64] |= (uint64_t)1 << (i % 64);
            stops->leaves_names = false;
            --*count;
            *names_bytes -= shape->entries[i].length + 1u;
        }
    }
}

static bool entry_follows(const struct ad_entry *entry, bool with_private)
{
    return entry->place == AD_NO_PLACE && (with_private || !ad_attr_is_private(entry->name->text));
}

static void put_names(const struct ad *ad, bool with_private, const struct stops *stops,
                      struct strbuf *out)
{
    const struct ad_shape *shape = ad->body->shape;
    if (stops->leaves_names) {
        strbuf_append(out, shape->names, shape->names_bytes);
    }
    for (uint32_t i = 0; !stops->leaves_names && i < shape->count; i++) {
        if (!is_gone(stops, i)) {
            strbuf_append(out, ad_shape_name(shape, i), (size_t)shape->entries[i].length + 1);
        }
    }
    for (uint32_t i = 0; i < ad->count; i++) {
        const struct ad_name *name = ad->entries[i].name;
        if (entry_follows(&ad->entries[i], with_private)) {
            strbuf_append(out, name->text, (size_t)name->length + 1);
        }
    }
}

/* Writes a body with entries over it, or without its private attributes, in runs of bytes. */
static void encode_runs(const struct ad *ad, bool with_private, struct strbuf *out)
{
    struct stops stops;
    size_t count;
    size_t names_bytes;
    find_stops(ad, with_private, &stops, &count, &names_bytes);
    for (uint32_t i = 0; i < ad->count; i++) {
        if (entry_follows(&ad->entries[i], with_private)) {
            count++;
            names_bytes += ad->entries[i].name->length + 1u;
        }
    }
    ad_put_head(count, names_bytes, out);
    put_names(ad, with_private, &stops, out);
    uint32_t done = 0;
    for (uint32_t i = next_stop(&stops, 0); i != AD_NO_PLACE; i = next_stop(&stops, i + 1)) {
        struct ad_item item;
        put_values(ad->body, done, i, out);
        if (!is_gone(&stops, i) && ad_item_in_body(ad, i, &item)) {
            put_item(&item, with_private, out);
        }
        done = i + 1;
    }
    put_values(ad->body, done, ad->body->shape->count, out);
    for (uint32_t i = 0; i < ad->count; i++) {
        if (entry_follows(&ad->entries[i], with_private)) {
            ad_value_put(&ad->entries[i].expr->root, with_private, out);
        }
    }
}

void ad_encode(const struct ad *ad, bool with_private, struct strbuf *out)
{
    const struct ad_body *body = ad->body;
    if (body == NULL || (!with_private && ad_body_holds_ads(body))) {
        encode_items(ad, with_private, out);
    } else if (ad->count > 0 || ad->hidden != NULL || (!with_private && body->shape->has_private)) {
        encode_runs(ad, with_private, out);
    } else {
        ad_put_head(body->shape->count, body->shape->names_bytes, out);
        strbuf_append(out, body->shape->names, body->shape->names_bytes);
        put_values(body, 0, body->shape->count, out);
    }
}

size_t ad_encoded_bytes(const struct ad *ad)
{
    size_t names = 0;
    size_t values = 0;
    if (ad->body != NULL) {
        const struct ad_shape *shape = ad->body->shape;
        names = shape->names_bytes;
        values = ad->body->total_bytes;
        for (uint32_t i = 0; ad->hidden != NULL && i < (shape->count + 63) / 64; i++) {
            for (uint64_t word = ad->hidden[i]; word != 0; word &= word - 1) {
                uint32_t place = i * 64 + lowest_bit(word);
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
