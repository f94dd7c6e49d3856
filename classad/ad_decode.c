/* classad/ad_decode.c - reads and checks the compact binary form, whose layout is in ad_binary.c.
 *
 * The input may be hostile: every length is checked against the bytes that are left, nesting and
 * counts against ad_limits.h, and only the form that the encoder writes is accepted.  Without an
 * arena the same code makes nothing.  So values that stay bytes are checked now, and can be decoded
 * later without another check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "classad/ad_binary.h"
#include "classad/ad_func.h"
#include "classad/ad_packed.h"

#define DECODE_BYTES_MAX ((size_t)256 << 20) /* most bytes of trees while they are made */

#define REF_HAS_BASE 1u
#define REF_ABSOLUTE 2u

struct decoder {
    const unsigned char *data;
    size_t length;
    size_t at;
    unsigned depth;
    size_t nodes;
    struct arena *arena; /* NULL: only check, make nothing */
    bool has_ads;
    struct vec nested; /* nested ads that no expression owns yet */
    struct err *err;
};

static int refuse_malformed(struct decoder *decoder, const char *what)
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
        return refuse_malformed(decoder, "the ad ends too early");
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
    return refuse_malformed(decoder, "a number is not in its shortest form");
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

/* Reads a count of things that have at least one byte each. */
static int get_count(struct decoder *decoder, uint32_t *ret)
{
    uint64_t value;
    int rc = get_varint(decoder, &value);
    if (rc < 0) {
        return rc;
    }
    if (value > decoder->length - decoder->at) {
        return refuse_malformed(decoder, "a count or length is larger than the rest of the ad");
    }
    *ret = (uint32_t)value; /* the length of the data fits, see start_decoding() */
    return 0;
}

static int get_text(struct decoder *decoder, size_t max, const char **text, uint32_t *length)
{
    int rc = get_count(decoder, length);
    if (rc < 0) {
        return rc;
    }
    if (*length > max) {
        return too_big(decoder, "a text is too long");
    }
    *text = (const char *)decoder->data + decoder->at;
    if (memchr(*text, '\0', *length) != NULL) {
        return refuse_malformed(decoder, "a text contains a zero byte");
    }
    decoder->at += *length;
    return 0;
}

static int get_real(struct decoder *decoder, double *ret)
{
    if (decoder->length - decoder->at < 8) {
        return refuse_malformed(decoder, "the ad ends too early");
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
    if (rc < 0 || decoder->arena == NULL) {
        return rc;
    }
    node->named.name = ad_name_in(decoder->arena, text, length);
    return node->named.name != NULL ? 0 : too_big(decoder, "out of memory");
}

static int get_node(struct decoder *decoder, struct ad_node *node);

/* Reads an operator of a chain; it must have the same precedence as the chain's first. */
static int get_link(struct decoder *decoder, uint32_t index, uint8_t first, uint8_t *ret)
{
    uint8_t link;
    int rc = get_byte(decoder, &link);
    if (rc < 0) {
        return rc;
    }
    if (link == AD_OP_NONE || link >= AD_OP_NOT ||
        (index > 1 && ad_op_precedence((enum ad_op)link) != ad_op_precedence((enum ad_op)first))) {
        return refuse_malformed(decoder, "unknown operator");
    }
    *ret = link;
    return 0;
}

static int get_kids(struct decoder *decoder, uint32_t count, bool chain, struct ad_node *node)
{
    decoder->nodes += count;
    if (decoder->nodes > AD_NODES_MAX) {
        return too_big(decoder, "the expression has too many parts");
    }
    bool make = decoder->arena != NULL && count > 0;
    struct ad_node *kids = make ? arena_zalloc(decoder->arena, count * sizeof(*kids)) : NULL;
    if (make && kids == NULL) {
        return too_big(decoder, "out of memory");
    }
    uint8_t first = AD_OP_NONE;
    for (uint32_t i = 0; i < count; i++) {
        struct ad_node checked;
        struct ad_node *kid = make ? &kids[i] : &checked;
        uint8_t link = AD_OP_NONE;
        int rc = chain && i > 0 ? get_link(decoder, i, first, &link) : 0;
        if (rc < 0) {
            return rc;
        }
        first = i == 1 ? link : first;
        rc = get_node(decoder, kid);
        if (rc < 0) {
            return rc;
        }
        kid->link = link;
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
            rc = refuse_malformed(decoder, "an attribute appears twice");
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
     * is reset before the end.  They are made even to be checked: names must differ. */
    bool make = decoder->arena != NULL;
    decoder->has_ads = true;
    if (!make) {
        decoder->arena = arena_create(0, DECODE_BYTES_MAX);
    }
    int rc = get_attributes(decoder, &node->nested);
    if (make && rc == 0) {
        vec_push(&decoder->nested, node->nested);
    } else if (!make) {
        if (rc == 0) {
            ad_destroy(node->nested);
            node->nested = NULL;
        }
        arena_destroy(decoder->arena);
        decoder->arena = NULL;
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
            rc = refuse_malformed(decoder, "a boolean is not 0 or 1");
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
            rc = refuse_malformed(decoder, "bad time zone");
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
            rc = refuse_malformed(decoder, "unknown kind of reference");
        }
        if (rc == 0) {
            node->op = byte == REF_ABSOLUTE ? AD_REF_ABSOLUTE : 0;
            rc = get_name(decoder, node);
        }
        return rc < 0 ? rc : get_kids(decoder, byte == REF_HAS_BASE, false, node);
    case AD_NODE_UNARY:
        rc = get_byte(decoder, &node->op);
        if (rc == 0 && (node->op < AD_OP_NOT || node->op >= AD_OP_COUNT)) {
            rc = refuse_malformed(decoder, "unknown operator");
        }
        return rc < 0 ? rc : get_kids(decoder, 1, false, node);
    case AD_NODE_CHAIN:
        rc = get_count(decoder, &count);
        if (rc == 0 && count < 2) {
            rc = refuse_malformed(decoder, "an operator without operands");
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
        if (rc == 0 && decoder->arena != NULL) {
            node->op = ad_func_index(node->named.name->text, node->named.name->length);
        }
        if (rc == 0) {
            rc = get_count(decoder, &count);
        }
        return rc < 0 ? rc : get_kids(decoder, count, false, node);
    default:
        return refuse_malformed(decoder, "unknown kind of node");
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

static int start_decoding(struct decoder *decoder, const void *data, size_t length, struct err *err)
{
    *decoder = (struct decoder){.data = data, .length = length, .err = err};
    if (length > AD_TEXT_MAX) {
        return err_set(err, -E2BIG, "binary ad of %zu bytes is longer than %zu", length,
                       AD_TEXT_MAX);
    }
    uint8_t version;
    int rc = get_byte(decoder, &version);
    if (rc == 0 && version != AD_BINARY_VERSION) {
        return err_set(err, -EPROTONOSUPPORT,
                       "binary ad of version %u; this program supports version %d", version,
                       AD_BINARY_VERSION);
    }
    return rc;
}

static void stop_decoding(struct decoder *decoder)
{
    vec_fini(&decoder->nested, ad_destroy_item);
    arena_destroy(decoder->arena);
}

/* ---- whole ads ---- */

int ad_outline_read(const void *data, size_t length, struct ad_outline *ret, struct err *err)
{
    struct decoder decoder;
    uint32_t count = 0;
    uint32_t names_bytes = 0;
    int rc = start_decoding(&decoder, data, length, err);
    if (rc == 0) {
        rc = get_count(&decoder, &count);
    }
    if (rc == 0) {
        rc = get_count(&decoder, &names_bytes);
    }
    if (rc < 0) {
        return rc;
    }
    if (count > AD_ATTRS_MAX) {
        return too_big(&decoder, "too many attributes");
    }
    *ret = (struct ad_outline){.count = count,
                               .names = (const char *)decoder.data + decoder.at,
                               .names_bytes = names_bytes,
                               .values = decoder.data + decoder.at + names_bytes,
                               .end = decoder.data + length};
    return 0;
}

/* Checks the most common values without a decoder.  True: valid; false: needs a closer look. */
static bool is_plain(struct ad_bytes value)
{
    const unsigned char *data = value.data;
    switch ((enum ad_kind)data[0]) {
    case AD_NODE_UNDEFINED:
    case AD_NODE_ERROR:
        return value.length == 1;
    case AD_NODE_BOOL:
        return value.length == 2 && data[1] <= 1;
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
        return value.length == 9;
    case AD_NODE_STRING:
        return value.length >= 2 && value.length - 2 <= AD_STRING_MAX &&
               memchr(data + 1, '\0', value.length - 1) == data + value.length - 1;
    case AD_NODE_INT:
        if (value.length < 2 || value.length > 10) {
            return false; /* ten bytes have a rule of their own */
        }
        for (size_t i = 1; i + 1 < value.length; i++) {
            if (data[i] < 0x80) {
                return false;
            }
        }
        return data[value.length - 1] < 0x80 && (data[value.length - 1] != 0 || value.length == 2);
    default:
        return false;
    }
}

int ad_value_check(struct ad_bytes value, size_t *nodes, bool *has_ads, struct err *err)
{
    if (is_plain(value)) {
        return 0;
    }
    struct decoder decoder = {.data = value.data,
                              .length = value.length,
                              .nodes = *nodes,
                              .err = err};
    if (value.data[0] == AD_NODE_STRING) {
        return value.length - 2 > AD_STRING_MAX && value.length > 2
                   ? too_big(&decoder, "a text is too long")
                   : refuse_malformed(&decoder, "a text must have one zero byte, at its end");
    }
    struct ad_node root;
    int rc = get_node(&decoder, &root);
    if (rc == 0 && decoder.at != value.length) {
        rc = refuse_malformed(&decoder, "extra bytes follow the value");
    }
    stop_decoding(&decoder);
    *nodes = decoder.nodes;
    *has_ads = *has_ads || decoder.has_ads;
    return rc;
}

struct ad_expr *ad_value_compile(struct ad_bytes value)
{
    struct ad_node literal;
    struct ad_expr *expr = NULL;
    if (ad_bytes_literal(value, &literal)) {
        expr = ad_expr_compact(&literal);
    } else {
        struct decoder decoder = {.data = value.data, .length = value.length};
        decoder.arena = arena_create(0, DECODE_BYTES_MAX);
        if (get_block(&decoder, &expr) < 0) {
            expr = NULL; /* was checked: memory is what can be missing */
        }
        stop_decoding(&decoder);
    }
    return expr != NULL ? expr : ad_expr_error();
}
