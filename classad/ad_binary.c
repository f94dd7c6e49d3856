/* classad/ad_binary.c - the compact form.
 *
 * An ad: version, count, then for each attribute name and node.  A node: a byte of kind, then what
 * its kind needs; numbers are varints (7 bits a byte, low first, signed ones zigzag), reals 8 bytes
 * little-endian, texts a varint of length and the bytes. bool: 1 byte    int, abstime: zigzag
 * (abstime: then zone, zigzag)    real, reltime: 8 bytes    string: text list: count, nodes    ad:
 * count, attributes    ref: flags (1 base, 2 absolute), name, base unary: operator, node    chain:
 * count, node, then (operator, node) each    cond, else, subscript, paren: nodes call: name, count,
 * nodes Functions go by name, so that a peer with another table understands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_binary.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad_func.h"
#include "classad/ad_private.h"

#define DECODE_BYTES_MAX ((size_t)256 << 20) /* of trees under construction */

#define REF_HAS_BASE 1u
#define REF_ABSOLUTE 2u

/* ---- encoding ---- */

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

static void put_attributes(const struct ad *ad, bool with_private, struct strbuf *out)
{
    uint32_t count = ad->count;
    for (uint32_t i = 0; !with_private && i < ad->count; i++) {
        count -= ad_attr_is_private(ad->entries[i].name->text);
    }
    put_varint(out, count);
    for (uint32_t i = 0; i < ad->count; i++) {
        const struct ad_entry *entry = &ad->entries[i];
        if (with_private || count == ad->count || !ad_attr_is_private(entry->name->text)) {
            put_text(out, entry->name->text, entry->name->length);
            put_node(&entry->expr->root, with_private, out);
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

void ad_encode(const struct ad *ad, bool with_private, struct strbuf *out)
{
    put_byte(out, AD_BINARY_VERSION);
    put_attributes(ad, with_private, out);
}

void ad_expr_encode(const struct ad_expr *expr, struct strbuf *out)
{
    put_byte(out, AD_BINARY_VERSION);
    put_node(&expr->root, true, out);
}

/* ---- decoding ---- */

struct decoder {
    const unsigned char *data;
    size_t length;
    size_t at;
    unsigned depth;
    size_t nodes;
    struct arena *arena;
    struct vec nested; /* ads that no expression owns yet */
    struct err *err;
};

static int malformed(struct decoder *decoder, const char *what)
{
    return err_set(decoder->err, -EBADMSG, "binary ad, byte %zu: %s", decoder->at, what);
}

static int too_big(struct decoder *decoder, const char *what)
{
    return err_set(decoder->err, -E2BIG, "binary ad, byte %zu: %s", decoder->at, what);
}

static int get_byte(struct decoder *decoder, uint8_t *ret)
{
    if (decoder->at == decoder->length) {
        return malformed(decoder, "ends too early");
    }
    *ret = decoder->data[decoder->at++];
    return 0;
}

static int get_varint(struct decoder *decoder, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        int rc = get_byte(decoder, &byte);
        if (rc < 0) {
            return rc;
        }
        if (shift == 63 && byte > 1) {
            break;
        }
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (byte == 0 && shift > 0) {
                break; /* one number, one form */
            }
            *ret = value;
            return 0;
        }
    }
    return malformed(decoder, "number is not in its shortest form");
}

static int get_signed(struct decoder *decoder, int64_t *ret)
{
    uint64_t value;
    int rc = get_varint(decoder, &value);
    if (rc == 0) {
        *ret = (int64_t)((value >> 1) ^ (0 - (value & 1)));
    }
    return rc;
}

/* A count of things that take at least one byte each. */
static int get_count(struct decoder *decoder, uint32_t *ret)
{
    uint64_t value;
    int rc = get_varint(decoder, &value);
    if (rc < 0) {
        return rc;
    }
    if (value > decoder->length - decoder->at) {
        return malformed(decoder, "count or length is larger than what is left");
    }
    *ret = (uint32_t)value; /* the length of the data fits, see start() */
    return 0;
}

static int get_text(struct decoder *decoder, size_t max, const char **text, uint32_t *length)
{
    int rc = get_count(decoder, length);
    if (rc < 0) {
        return rc;
    }
    if (*length > max) {
        return too_big(decoder, "text is too long");
    }
    *text = (const char *)decoder->data + decoder->at;
    if (memchr(*text, '\0', *length) != NULL) {
        return malformed(decoder, "text holds a zero byte");
    }
    decoder->at += *length;
    return 0;
}

static int get_real(struct decoder *decoder, double *ret)
{
    if (decoder->length - decoder->at < 8) {
        return malformed(decoder, "ends too early");
    }
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; i++) {
        bits |= (uint64_t)decoder->data[decoder->at++] << (8 * i);
    }
    memcpy(ret, &bits, sizeof(bits));
    return 0;
}

static int get_name(struct decoder *decoder, struct ad_node *node)
{
    const char *text;
    uint32_t length;
    int rc = get_text(decoder, AD_NAME_MAX, &text, &length);
    if (rc < 0) {
        return rc;
    }
    node->named.name = ad_name_in(decoder->arena, text, length);
    return node->named.name != NULL ? 0 : too_big(decoder, "out of memory");
}

static int get_node(struct decoder *decoder, struct ad_node *node);

static int get_kids(struct decoder *decoder, uint32_t count, bool chain, struct ad_node *node)
{
    decoder->nodes += count;
    if (decoder->nodes > AD_NODES_MAX) {
        return too_big(decoder, "expression has too many parts");
    }
    struct ad_node *kids = count > 0 ? arena_zalloc(decoder->arena, count * sizeof(*kids)) : NULL;
    if (count > 0 && kids == NULL) {
        return too_big(decoder, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t link = AD_OP_NONE;
        int rc = chain && i > 0 ? get_byte(decoder, &link) : 0;
        if (rc < 0) {
            return rc;
        }
        if (chain && i > 0 &&
            (link == AD_OP_NONE || link >= AD_OP_NOT ||
             (i > 1 &&
              ad_op_precedence((enum ad_op)link) != ad_op_precedence((enum ad_op)kids[1].link)))) {
            return malformed(decoder, "no such operator here");
        }
        rc = get_node(decoder, &kids[i]);
        if (rc < 0) {
            return rc;
        }
        kids[i].link = link;
    }
    node->count = count;
    if (node->kind == AD_NODE_REF || node->kind == AD_NODE_CALL) {
        node->named.kids = kids;
    } else {
        node->kids = kids;
    }
    return 0;
}

static int get_block(struct decoder *decoder, struct ad_expr **ret)
{
    size_t mark = decoder->nested.count;
    struct ad_node root;
    int rc = get_node(decoder, &root);
    if (rc < 0) {
        return rc;
    }
    *ret = ad_expr_compact(&root);
    if (*ret == NULL) {
        return too_big(decoder, "out of memory");
    }
    decoder->nested.count = mark; /* the block owns them */
    return 0;
}

static int get_attributes(struct decoder *decoder, struct ad **ret)
{
    uint32_t count;
    int rc = get_count(decoder, &count);
    if (rc < 0) {
        return rc;
    }
    if (count > AD_ATTRS_MAX) {
        return too_big(decoder, "too many attributes");
    }
    struct ad *ad = ad_create();
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        const char *name;
        uint32_t length;
        struct ad_expr *expr = NULL;
        rc = get_text(decoder, AD_NAME_MAX, &name, &length);
        if (rc == 0) {
            rc = get_block(decoder, &expr);
        }
        if (rc == 0 && ad_put(ad, name, length, expr, true) < 0) {
            ad_expr_destroy(expr);
            rc = too_big(decoder, "too many attributes");
        }
        if (rc == 0 && ad_count(ad) != i + 1) {
            rc = malformed(decoder, "an attribute comes twice");
        }
    }
    if (rc < 0) {
        ad_destroy(ad);
        return rc;
    }
    *ret = ad;
    return 0;
}

static int get_nested(struct decoder *decoder, struct ad_node *node)
{
    /* Attributes of nested ads are blocks made while the outer tree is still in the arena: nothing
     * is reset before the end. */
    int rc = get_attributes(decoder, &node->nested);
    if (rc == 0) {
        vec_push(&decoder->nested, node->nested);
    }
    return rc;
}

static int get_leaf(struct decoder *decoder, struct ad_node *node)
{
    uint8_t byte = 0;
    int64_t zone = 0;
    int rc = 0;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_BOOL:
        rc = get_byte(decoder, &byte);
        if (rc == 0 && byte > 1) {
            rc = malformed(decoder, "boolean is neither 0 nor 1");
        }
        node->boolean = byte == 1;
        break;
    case AD_NODE_INT:
        rc = get_signed(decoder, &node->integer);
        break;
    case AD_NODE_ABSTIME:
        rc = get_signed(decoder, &node->integer);
        if (rc == 0) {
            rc = get_signed(decoder, &zone);
        }
        if (rc == 0 && (zone < -360000 || zone > 360000)) {
            rc = malformed(decoder, "no such time zone");
        }
        node->count = (uint32_t)(int32_t)zone;
        break;
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
        rc = get_real(decoder, &node->real);
        break;
    case AD_NODE_STRING:
        rc = get_text(decoder, AD_STRING_MAX, &node->text, &node->count);
        break;
    default:
        break;
    }
    return rc;
}

static int get_inner(struct decoder *decoder, struct ad_node *node)
{
    uint8_t byte;
    uint32_t count;
    int rc;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_LIST:
        rc = get_count(decoder, &count);
        return rc < 0 ? rc : get_kids(decoder, count, false, node);
    case AD_NODE_AD:
        return get_nested(decoder, node);
    case AD_NODE_REF:
        rc = get_byte(decoder, &byte);
        if (rc == 0 && (byte > REF_ABSOLUTE)) {
            rc = malformed(decoder, "no such reference");
        }
        if (rc == 0) {
            node->op = byte == REF_ABSOLUTE ? AD_REF_ABSOLUTE : 0;
            rc = get_name(decoder, node);
        }
        return rc < 0 ? rc : get_kids(decoder, byte == REF_HAS_BASE, false, node);
    case AD_NODE_UNARY:
        rc = get_byte(decoder, &node->op);
        if (rc == 0 && (node->op < AD_OP_NOT || node->op >= AD_OP_COUNT)) {
            rc = malformed(decoder, "no such operator");
        }
        return rc < 0 ? rc : get_kids(decoder, 1, false, node);
    case AD_NODE_CHAIN:
        rc = get_count(decoder, &count);
        if (rc == 0 && count < 2) {
            rc = malformed(decoder, "an operator without operands");
        }
        return rc < 0 ? rc : get_kids(decoder, count, true, node);
    case AD_NODE_COND:
        return get_kids(decoder, 3, false, node);
    case AD_NODE_ELSE:
    case AD_NODE_SUBSCRIPT:
        return get_kids(decoder, 2, false, node);
    case AD_NODE_PAREN:
        return get_kids(decoder, 1, false, node);
    case AD_NODE_CALL:
        rc = get_name(decoder, node);
        if (rc == 0) {
            node->op = ad_func_index(node->named.name->text, node->named.name->length);
            rc = get_count(decoder, &count);
        }
        return rc < 0 ? rc : get_kids(decoder, count, false, node);
    default:
        return malformed(decoder, "no such kind of node");
    }
}

static int get_node(struct decoder *decoder, struct ad_node *node)
{
    *node = (struct ad_node){0};
    int rc = get_byte(decoder, &node->kind);
    if (rc < 0) {
        return rc;
    }
    if (node->kind < AD_NODE_LIST) {
        return get_leaf(decoder, node);
    }
    if (++decoder->depth > AD_TREE_DEPTH_MAX) {
        return too_big(decoder, "nested too deeply");
    }
    rc = get_inner(decoder, node);
    decoder->depth--;
    return rc;
}

static int start(struct decoder *decoder, const void *data, size_t length, struct err *err)
{
    *decoder = (struct decoder){.data = data, .length = length, .err = err};
    if (length > AD_TEXT_MAX) {
        return err_set(err, -E2BIG, "binary ad of %zu bytes is longer than %zu", length,
                       AD_TEXT_MAX);
    }
    uint8_t version;
    int rc = get_byte(decoder, &version);
    if (rc == 0 && version != AD_BINARY_VERSION) {
        rc = err_set(err, -EPROTONOSUPPORT, "binary ad of version %u, this program knows %u",
                     version, AD_BINARY_VERSION);
    }
    if (rc == 0) {
        decoder->arena = arena_create(0, DECODE_BYTES_MAX);
    }
    return rc;
}

static int check_end(struct decoder *decoder, size_t *used)
{
    if (used == NULL && decoder->at != decoder->length) {
        return malformed(decoder, "more follows than belongs to it");
    }
    return 0;
}

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static void stop(struct decoder *decoder)
{
    vec_fini(&decoder->nested, destroy_ad);
    arena_destroy(decoder->arena);
}

int ad_decode(const void *data, size_t length, size_t *used, struct ad **ret, struct err *err)
{
    struct decoder decoder;
    struct ad *ad = NULL;
    int rc = start(&decoder, data, length, err);
    if (rc == 0) {
        rc = get_attributes(&decoder, &ad);
    }
    if (rc == 0) {
        rc = check_end(&decoder, used);
    }
    if (rc == 0) {
        if (used != NULL) {
            *used = decoder.at;
        }
        *ret = ad;
    } else {
        ad_destroy(ad);
    }
    stop(&decoder);
    return rc;
}

int ad_expr_decode(const void *data, size_t length, size_t *used, struct ad_expr **ret,
                   struct err *err)
{
    struct decoder decoder;
    struct ad_expr *expr = NULL;
    int rc = start(&decoder, data, length, err);
    if (rc == 0) {
        rc = get_block(&decoder, &expr);
    }
    if (rc == 0) {
        rc = check_end(&decoder, used);
    }
    if (rc == 0) {
        if (used != NULL) {
            *used = decoder.at;
        }
        *ret = expr;
    } else {
        ad_expr_destroy(expr);
    }
    stop(&decoder);
    return rc;
}
