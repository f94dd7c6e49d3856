/* classad/ad_expr.c - expressions as blocks of memory: made, shared, compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_expr.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "classad/ad_private.h"

int ad_op_precedence(enum ad_op op)
{
    static const int8_t LEVEL[AD_OP_COUNT] = {
        [AD_OP_OR] = 0,      [AD_OP_AND] = 1, [AD_OP_BIT_OR] = 2, [AD_OP_BIT_XOR] = 3,
        [AD_OP_BIT_AND] = 4, [AD_OP_EQ] = 5,  [AD_OP_NE] = 5,     [AD_OP_IS] = 5,
        [AD_OP_ISNT] = 5,    [AD_OP_LT] = 6,  [AD_OP_LE] = 6,     [AD_OP_GT] = 6,
        [AD_OP_GE] = 6,      [AD_OP_SHL] = 7, [AD_OP_SHR] = 7,    [AD_OP_USHR] = 7,
        [AD_OP_ADD] = 8,     [AD_OP_SUB] = 8, [AD_OP_MUL] = 9,    [AD_OP_DIV] = 9,
        [AD_OP_MOD] = 9,
    };
    return LEVEL[op];
}

/* ---- one block from a tree ---- */

#define ALIGNMENT ((size_t)8)

static size_t aligned_size(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

struct measure {
    size_t nodes; /* number of nodes without the root */
    size_t bytes; /* bytes of names and strings, each aligned */
    unsigned depth;
    bool has_ads;
};

static void measure_node(const struct ad_node *node, struct measure *measure, unsigned depth)
{
    if (depth > measure->depth) {
        measure->depth = depth;
    }
    if (node->kind == AD_NODE_STRING) {
        measure->bytes += aligned_size((size_t)node->count + 1);
    } else if (node->kind == AD_NODE_AD) {
        measure->has_ads = true;
        size_t at = 0;
        struct ad_item item;
        while (ad_walk(node->nested, &at, &item)) {
            struct ad_node literal;
            bool is_literal = ad_spot_node(&item.spot, &literal) == &literal;
            unsigned below = is_literal ? 0u : ad_spot_expr(&item.spot)->depth;
            if (depth + 1u + below > measure->depth) {
                measure->depth = depth + 1u + below;
            }
        }
    } else if (node->kind == AD_NODE_REF || node->kind == AD_NODE_CALL) {
        measure->bytes += aligned_size(sizeof(struct ad_name) + node->named.name->length + 1);
    }
    uint32_t count = ad_node_kid_count(node);
    const struct ad_node *kids = ad_node_kids(node);
    measure->nodes += count;
    for (uint32_t i = 0; i < count; i++) {
        measure_node(&kids[i], measure, depth + 1);
    }
}

static unsigned ad_node_depth(const struct ad_node *node)
{
    struct measure measure = {0};
    measure_node(node, &measure, 0);
    return measure.depth;
}

struct filler {
    struct ad_node *nodes;
    char *bytes;
};

static void fill_node(struct ad_node *to, const struct ad_node *from, struct filler *filler)
{
    *to = *from;
    if (from->kind == AD_NODE_STRING) {
        memcpy(filler->bytes, from->text, from->count);
        filler->bytes[from->count] = '\0';
        to->text = filler->bytes;
        filler->bytes += aligned_size((size_t)from->count + 1);
        return;
    }
    if (from->kind == AD_NODE_REF || from->kind == AD_NODE_CALL) {
        size_t size = sizeof(struct ad_name) + from->named.name->length + 1;
        struct ad_name *name = (struct ad_name *)(void *)filler->bytes;
        memcpy(name, from->named.name, size);
        name->owner_count = 0;
        to->named.name = name;
        to->special =
            from->kind == AD_NODE_REF ? (uint8_t)ad_name_special(name->text, name->length) : 0;
        filler->bytes += aligned_size(size);
    }
    uint32_t count = ad_node_kid_count(from);
    if (count == 0) {
        return;
    }
    const struct ad_node *kids = ad_node_kids(from);
    struct ad_node *copies = filler->nodes;
    filler->nodes += count;
    for (uint32_t i = 0; i < count; i++) {
        fill_node(&copies[i], &kids[i], filler);
    }
    if (from->kind == AD_NODE_REF || from->kind == AD_NODE_CALL) {
        to->named.kids = copies;
    } else {
        to->kids = copies;
    }
}

struct ad_expr *ad_expr_compact(const struct ad_node *root)
{
    struct measure measure = {0};
    measure_node(root, &measure, 0);
    size_t bytes = aligned_size(sizeof(struct ad_expr)) + measure.nodes * sizeof(struct ad_node) +
                   measure.bytes;
    if (measure.nodes > AD_NODES_MAX || bytes > UINT32_MAX) {
        return NULL;
    }
    struct ad_expr *expr = mem_try_alloc(bytes);
    if (expr == NULL) {
        return NULL;
    }
    expr->owner_count = 1;
    expr->bytes = (uint32_t)bytes;
    expr->depth = (uint16_t)(measure.depth < UINT16_MAX ? measure.depth : UINT16_MAX);
    expr->has_ads = measure.has_ads;
    struct filler filler = {
        .nodes = (struct ad_node *)(void *)((char *)expr + aligned_size(sizeof(*expr)))};
    filler.bytes = (char *)(filler.nodes + measure.nodes);
    fill_node(&expr->root, root, &filler);
    return expr;
}

/* ---- owners ---- */

struct ad_expr *ad_expr_ref(const struct ad_expr *expr)
{
    /* The count is the only part that ever changes; the tree stays const for everybody. */
    struct ad_expr *shared = (struct ad_expr *)(uintptr_t)expr;
    CHECK(shared->owner_count > 0 && shared->owner_count < UINT32_MAX);
    shared->owner_count++;
    return shared;
}

/* Destroys the nested ads below node. */
static void ad_node_destroy_ads(const struct ad_node *node)
{
    if (node->kind == AD_NODE_AD) {
        ad_destroy(node->nested);
        return;
    }
    uint32_t count = ad_node_kid_count(node);
    const struct ad_node *kids = ad_node_kids(node);
    for (uint32_t i = 0; i < count; i++) {
        ad_node_destroy_ads(&kids[i]);
    }
}

void ad_expr_destroy(struct ad_expr *expr)
{
    if (expr == NULL || --expr->owner_count > 0) {
        return;
    }
    if (expr->has_ads) {
        ad_node_destroy_ads(&expr->root);
    }
    mem_free(expr);
}

size_t ad_expr_bytes(const struct ad_expr *expr)
{
    return expr->bytes;
}

/* ---- literals ---- */

static struct ad_expr *copy_leaf(const struct ad_node *root)
{
    struct ad_expr *expr = mem_alloc(sizeof(*expr));
    *expr = (struct ad_expr){.owner_count = 1, .bytes = sizeof(*expr), .root = *root};
    return expr;
}

struct ad_expr *ad_expr_int(int64_t value)
{
    return copy_leaf(&(struct ad_node){.kind = AD_NODE_INT, .integer = value});
}

struct ad_expr *ad_expr_real(double value)
{
    return copy_leaf(&(struct ad_node){.kind = AD_NODE_REAL, .real = value});
}

struct ad_expr *ad_expr_bool(bool value)
{
    return copy_leaf(&(struct ad_node){.kind = AD_NODE_BOOL, .boolean = value});
}

struct ad_expr *ad_expr_undefined(void)
{
    return copy_leaf(&(struct ad_node){.kind = AD_NODE_UNDEFINED});
}

struct ad_expr *ad_expr_error(void)
{
    return copy_leaf(&(struct ad_node){.kind = AD_NODE_ERROR});
}

static struct ad_node string_node(const char *text, size_t length)
{
    length = strnlen(text, length);
    if (length > AD_STRING_MAX) {
        return (struct ad_node){.kind = AD_NODE_ERROR};
    }
    return (struct ad_node){.kind = AD_NODE_STRING, .count = (uint32_t)length, .text = text};
}

struct ad_expr *ad_expr_string(const char *text, size_t length)
{
    struct ad_node node = string_node(text, length);
    struct ad_expr *expr = ad_expr_compact(&node);
    return expr != NULL ? expr : ad_expr_error();
}

struct ad_expr *ad_expr_strings(const char *const *list, size_t count)
{
    if (count > AD_NODES_MAX) {
        return ad_expr_error();
    }
    struct ad_node *kids = mem_alloc((count + 1) * sizeof(*kids));
    for (size_t i = 0; i < count; i++) {
        kids[i] = string_node(list[i], AD_STRING_MAX + 1);
    }
    struct ad_node node = {.kind = AD_NODE_LIST, .count = (uint32_t)count, .kids = kids};
    struct ad_expr *expr = ad_expr_compact(&node);
    mem_free(kids);
    return expr != NULL ? expr : ad_expr_error();
}

struct ad_expr *ad_expr_nested(struct ad *ad)
{
    struct ad_node node = {.kind = AD_NODE_AD, .nested = ad};
    struct ad_expr *expr = copy_leaf(&node);
    expr->has_ads = true;
    unsigned depth = ad_node_depth(&node);
    expr->depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
    return expr;
}

bool ad_expr_literal_int(const struct ad_expr *expr, int64_t *ret)
{
    if (expr->root.kind != AD_NODE_INT) {
        return false;
    }
    *ret = expr->root.integer;
    return true;
}

bool ad_expr_literal_string(const struct ad_expr *expr, const char **text, size_t *length)
{
    if (expr->root.kind != AD_NODE_STRING) {
        return false;
    }
    *text = expr->root.text;
    if (length != NULL) {
        *length = expr->root.count;
    }
    return true;
}

bool ad_expr_is_literal(const struct ad_expr *expr)
{
    return expr->root.kind <= AD_NODE_RELTIME;
}
