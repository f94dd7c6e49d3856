/* classad/ad_depends.c - see ad_depends.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_depends.h"

#include <string.h>

#include "classad/ad_evaluator.h"
#include "classad/ad_private.h"

/* ---- names ---- */

struct look {
    ad_depends_f each;
    void *arg;
    bool all;
};

static void look_node(struct look *look, const struct ad_node *node);

static bool is_plain(const struct ad_node *node)
{
    return node->kind == AD_NODE_REF && node->count == 0 && node->op != AD_REF_ABSOLUTE;
}

static void look_reference(struct look *look, const struct ad_node *node)
{
    const char *name = node->named.name->text;
    if (node->count == 0) {
        look->each(look->arg, name, true, true);
        look->all =
            look->all || (node->special != AD_SPECIAL_NONE && node->special != AD_SPECIAL_TIME);
        return;
    }
    const struct ad_node *base = node->named.kids;
    if (is_plain(base) && base->special == AD_SPECIAL_MY) {
        look->each(look->arg, name, true, false);
    } else if (is_plain(base) && base->special == AD_SPECIAL_TARGET) {
        look->each(look->arg, name, false, true);
    } else { /* of a list or an ad that the base yields; other sides (PARENT ...) are seen there */
        look_node(look, base);
    }
}

static bool computes_names(const char *function)
{
    return ad_name_compare(function, "eval") == 0 || ad_name_compare(function, "unresolved") == 0;
}

static void look_node(struct look *look, const struct ad_node *node)
{
    if (node->kind == AD_NODE_REF) {
        look_reference(look, node);
        return;
    }
    if (node->kind == AD_NODE_AD) {
        size_t at = 0;
        const struct ad_expr *expr;
        while (node->nested != NULL && ad_next(node->nested, &at, NULL, &expr)) {
            look_node(look, &expr->root);
        }
        return;
    }
    if (node->kind == AD_NODE_CALL && computes_names(node->named.name->text)) {
        look->all = true;
    }
    uint32_t count = ad_node_kid_count(node);
    const struct ad_node *kids = ad_node_kids(node);
    for (uint32_t i = 0; i < count; i++) {
        look_node(look, &kids[i]);
    }
}

bool ad_depends(const struct ad_expr *expr, ad_depends_f each, void *arg)
{
    struct look look = {.each = each, .arg = arg};
    look_node(&look, &expr->root);
    return look.all;
}

/* ---- hashes ---- */

static uint64_t mix_hash(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

static uint64_t hash_bytes(const char *text, size_t length)
{
    uint64_t hash = length;
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = mix_hash(hash, word);
    }
    uint64_t rest = 0;
    memcpy(&rest, text, length);
    return mix_hash(hash, rest);
}

static uint64_t hash_node(const struct ad_node *node);

static uint64_t hash_ad(const struct ad *ad)
{
    uint64_t hash = 0;
    size_t at = 0;
    const char *name;
    const struct ad_expr *expr;
    while (ad != NULL && ad_next(ad, &at, &name, &expr)) { /* in any order */
        hash += mix_hash(hash_node(&expr->root), ad_name_hash(name, strlen(name)));
    }
    return hash;
}

static uint64_t hash_node(const struct ad_node *node)
{
    uint64_t hash =
        mix_hash((uint64_t)node->kind << 40 | (uint64_t)node->op << 32 | node->count, 1);
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_BOOL:
        return mix_hash(hash, node->boolean);
    case AD_NODE_INT:
    case AD_NODE_ABSTIME:
        return mix_hash(hash, (uint64_t)node->integer);
    case AD_NODE_REAL:
    case AD_NODE_RELTIME: {
        uint64_t bits;
        memcpy(&bits, &node->real, sizeof bits);
        return mix_hash(hash, bits);
    }
    case AD_NODE_STRING:
        return mix_hash(hash, hash_bytes(node->text, node->count));
    case AD_NODE_AD:
        return mix_hash(hash, hash_ad(node->nested));
    case AD_NODE_REF:
    case AD_NODE_CALL:
        hash = mix_hash(hash, node->named.name->hash);
        break;
    default:
        break;
    }
    uint32_t count = ad_node_kid_count(node);
    const struct ad_node *kids = ad_node_kids(node);
    for (uint32_t i = 0; i < count; i++) {
        hash = mix_hash(hash, hash_node(&kids[i]) + kids[i].link);
    }
    return hash;
}

uint64_t ad_expr_hash(const struct ad_expr *expr)
{
    return hash_node(&expr->root);
}

/* ---- values ---- */

enum ad_truth ad_compare_values(enum ad_compare op, const struct ad_value *a,
                                const struct ad_value *b)
{
    static const enum ad_op OPS[] = {AD_OP_EQ, AD_OP_NE, AD_OP_IS, AD_OP_ISNT,
                                     AD_OP_LT, AD_OP_LE, AD_OP_GT, AD_OP_GE};
    struct ad_value truth;
    ad_binary(OPS[op], a, b, &truth);
    return ad_truth_of(&truth);
}
