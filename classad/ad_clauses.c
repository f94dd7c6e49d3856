/* classad/ad_clauses.c - see ad_clauses.h.
 *
 * Nodes are split breadth first: the children of a node are added at the end of the array.  So the
 * root is node 0, and siblings are next to each other.  Each node owns a block with its expression;
 * nested ads in it are copies.  A node is split only while the array and the bytes are below their
 * limits, so that names that double at each step (A = B && B; B = C && C ...) come to an end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_clauses.h"

#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad_private.h"

#define FOLLOW_MAX 64 /* most attributes that are followed in one chain of names */

struct path { /* the attributes that were followed from the root to a node */
    struct ad_expr *expr;
    char *name;
    unsigned depth;
};

struct node {
    struct ad_clause clause;
    struct ad_expr *expr;
    const struct path *path;
    size_t *kids;
};

struct ad_clauses {
    struct node *nodes;
    size_t count, capacity;
    size_t bytes;
    size_t *demands;
    size_t demand_count;
    struct path **paths; /* all paths, to release them */
    size_t path_count;
};

/* ---- copies of expressions ---- */

static void own_ads(struct ad_node *node)
{
    if (node->kind == AD_NODE_AD) {
        node->nested = node->nested != NULL ? ad_copy(node->nested) : ad_create();
        return;
    }
    uint32_t count = ad_node_kid_count(node);
    struct ad_node *kids = (struct ad_node *)(uintptr_t)ad_node_kids(node); /* of our own block */
    for (uint32_t i = 0; i < count; i++) {
        own_ads(&kids[i]);
    }
}

static struct ad_expr *copy_tree(const struct ad_node *node)
{
    struct ad_expr *expr = ad_expr_compact(node);
    if (expr == NULL) {
        return ad_expr_error();
    }
    expr->root.link = 0;
    if (expr->has_ads) {
        own_ads(&expr->root);
    }
    return expr;
}

static const struct ad_node *inner_node(const struct ad_node *node)
{
    while (node->kind == AD_NODE_PAREN) {
        node = node->kids;
    }
    return node;
}

static bool is_chain_of(const struct ad_node *node, enum ad_op op)
{
    return node->kind == AD_NODE_CHAIN && node->kids[1].link == op;
}

static bool is_not(const struct ad_node *node)
{
    return node->kind == AD_NODE_UNARY && node->op == AD_OP_NOT;
}

/* Returns !node, with parentheses unless the node is a single operand. */
static struct ad_expr *negate_node(const struct ad_node *node)
{
    node = inner_node(node);
    if (is_not(node)) {
        return copy_tree(inner_node(node->kids));
    }
    struct ad_node kid = *node;
    kid.link = 0;
    struct ad_node paren = {.kind = AD_NODE_PAREN, .count = 1, .kids = &kid};
    bool simple = node->kind <= AD_NODE_REF || node->kind == AD_NODE_CALL;
    struct ad_node root = {.kind = AD_NODE_UNARY,
                           .op = AD_OP_NOT,
                           .count = 1,
                           .kids = simple ? &kid : &paren};
    return copy_tree(&root);
}

/* ---- names ---- */

/* Returns the name in MY.x, TARGET.x or x, and its side; NULL: not a plain attribute. */
static const struct ad_name *plain_name(const struct ad_node *node, const struct ad *my,
                                        enum ad_side *side)
{
    if (node->kind != AD_NODE_REF || node->op == AD_REF_ABSOLUTE) {
        return NULL;
    }
    const struct ad_name *name = node->named.name;
    if (node->count == 0) {
        bool mine = my != NULL && ad_find(my, name->text, name->length, name->hash) != NULL;
        if (!mine && node->special != AD_SPECIAL_NONE) {
            return NULL;
        }
        *side = mine ? AD_SIDE_MY : AD_SIDE_TARGET;
        return name;
    }
    const struct ad_node *base = inner_node(node->named.kids);
    if (base->kind != AD_NODE_REF || base->count > 0 || base->op == AD_REF_ABSOLUTE ||
        (base->special != AD_SPECIAL_MY && base->special != AD_SPECIAL_TARGET)) {
        return NULL;
    }
    *side = base->special == AD_SPECIAL_MY ? AD_SIDE_MY : AD_SIDE_TARGET;
    return name;
}

bool ad_clause_is_name(const struct ad_expr *expr, const struct ad *my, enum ad_side *side,
                       const char **name)
{
    const struct ad_name *found = plain_name(inner_node(&expr->root), my, side);
    if (found == NULL) {
        return false;
    }
    *name = found->text;
    return true;
}

struct naming {
    const struct ad *my;
    struct strmap *seen[2]; /* by side */
    ad_clause_name_f each;
    void *arg;
};

static void name_nodes(const struct naming *naming, const struct ad_node *node)
{
    enum ad_side side;
    const struct ad_name *name = plain_name(node, naming->my, &side);
    if (name != NULL) {
        struct strmap *seen = naming->seen[side];
        if (strmap_get(seen, name->text) == NULL) {
            (void)strmap_set(seen, name->text, seen); /* only presence counts */
            naming->each(naming->arg, side, name->text);
        }
        return;
    }
    uint32_t count = ad_node_kid_count(node);
    const struct ad_node *kids = ad_node_kids(node);
    for (uint32_t i = 0; i < count; i++) {
        name_nodes(naming, &kids[i]);
    }
}

void ad_clause_names(const struct ad_expr *expr, const struct ad *my, ad_clause_name_f each,
                     void *arg)
{
    struct naming naming = {.my = my, .each = each, .arg = arg};
    naming.seen[0] = strmap_create(STRMAP_CASE_IGNORED);
    naming.seen[1] = strmap_create(STRMAP_CASE_IGNORED);
    name_nodes(&naming, &expr->root);
    strmap_destroy(naming.seen[0], NULL);
    strmap_destroy(naming.seen[1], NULL);
}

/* ---- comparisons ---- */

static bool compare_of(enum ad_op op, bool turned, enum ad_compare *ret)
{
    switch (op) {
    case AD_OP_EQ:
        *ret = AD_COMPARE_EQ;
        return true;
    case AD_OP_NE:
        *ret = AD_COMPARE_NE;
        return true;
    case AD_OP_IS:
        *ret = AD_COMPARE_IS;
        return true;
    case AD_OP_ISNT:
        *ret = AD_COMPARE_ISNT;
        return true;
    case AD_OP_LT:
        *ret = turned ? AD_COMPARE_GT : AD_COMPARE_LT;
        return true;
    case AD_OP_LE:
        *ret = turned ? AD_COMPARE_GE : AD_COMPARE_LE;
        return true;
    case AD_OP_GT:
        *ret = turned ? AD_COMPARE_LT : AD_COMPARE_GT;
        return true;
    case AD_OP_GE:
        *ret = turned ? AD_COMPARE_LE : AD_COMPARE_GE;
        return true;
    default:
        return false;
    }
}

const char *ad_compare_text(enum ad_compare op)
{
    static const char *const TEXT[] = {"==", "!=", "=?=", "=!=", "<", "<=", ">", ">="};
    return TEXT[op];
}

static bool is_side(const struct ad_node *node, const struct ad *my, enum ad_side wanted,
                    const struct ad_name **name)
{
    enum ad_side side;
    *name = plain_name(inner_node(node), my, &side);
    return *name != NULL && side == wanted;
}

bool ad_clause_comparison(const struct ad_expr *expr, const struct ad *my, enum ad_side side,
                          struct ad_comparison *ret)
{
    const struct ad_node *node = inner_node(&expr->root);
    const struct ad_name *name;
    enum ad_compare op;
    bool negated = is_not(node) && is_side(node->kids, my, side, &name);
    if (negated || is_side(node, my, side, &name)) {
        *ret = (struct ad_comparison){.name = mem_strdup(name->text),
                                      .op = AD_COMPARE_IS,
                                      .other = ad_expr_bool(!negated)};
        return true;
    }
    if (node->kind != AD_NODE_CHAIN || node->count != 2) {
        return false;
    }
    for (int turned = 0; turned < 2; turned++) {
        if (is_side(&node->kids[turned], my, side, &name) &&
            compare_of((enum ad_op)node->kids[1].link, turned, &op)) {
            *ret = (struct ad_comparison){.name = mem_strdup(name->text),
                                          .op = op,
                                          .other = copy_tree(&node->kids[1 - turned])};
            return true;
        }
    }
    return false;
}

void ad_comparison_fini(struct ad_comparison *comparison)
{
    mem_free(comparison->name);
    ad_expr_destroy(comparison->other);
    *comparison = (struct ad_comparison){0};
}

/* ---- splitting ---- */

static size_t add_node(struct ad_clauses *clauses, struct ad_expr *expr, size_t parent,
                       const struct path *path)
{
    if (clauses->count == clauses->capacity) {
        clauses->capacity = clauses->capacity > 0 ? 2 * clauses->capacity : 16;
        clauses->nodes = mem_realloc(clauses->nodes, clauses->capacity * sizeof *clauses->nodes);
    }
    clauses->bytes += ad_expr_bytes(expr);
    clauses->nodes[clauses->count] =
        (struct node){.expr = expr,
                      .path = path,
                      .clause = {.kind = AD_CLAUSE_TEST, .parent = parent}};
    return clauses->count++;
}

/* Returns whether the attribute refers to itself.  Inside itself, such a name has another
 * meaning. */
static bool is_circular(const struct ad_expr *found, const struct ad *my, const char *name)
{
    struct strmap *internal = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(found, my, NULL, internal);
    bool circular = strmap_get(internal, name) != NULL;
    strmap_destroy(internal, NULL);
    return circular;
}

/* While a test is only the name of an attribute of my, replaces it by that attribute's
 * expression. */
static void follow_names(struct ad_clauses *clauses, const struct ad *my, size_t index)
{
    for (;;) {
        struct node *node = &clauses->nodes[index];
        const struct ad_node *root = inner_node(&node->expr->root);
        enum ad_side side;
        const struct ad_name *name = my != NULL ? plain_name(root, my, &side) : NULL;
        if (name == NULL || side != AD_SIDE_MY || root->special != AD_SPECIAL_NONE) {
            return;
        }
        const struct ad_expr *found = ad_find(my, name->text, name->length, name->hash);
        unsigned depth = node->path != NULL ? node->path->depth : 0;
        if (found == NULL || ad_expr_is_literal(found) || depth >= FOLLOW_MAX ||
            is_circular(found, my, name->text)) {
            return;
        }
        struct path *path = mem_alloc(sizeof *path);
        *path = (struct path){.expr = ad_expr_ref(found),
                              .name = mem_strdup(name->text),
                              .depth = depth + 1};
        clauses->paths =
            mem_realloc(clauses->paths, (clauses->path_count + 1) * sizeof *clauses->paths);
        clauses->paths[clauses->path_count++] = path;
        ad_expr_destroy(node->expr);
        node->expr = ad_expr_ref(found);
        node->path = path;
        clauses->bytes += ad_expr_bytes(found);
    }
}

static void split_chain(struct ad_clauses *clauses, size_t index, const struct ad_node *chain,
                        bool negated)
{
    const struct path *path = clauses->nodes[index].path;
    size_t *kids = mem_alloc(chain->count * sizeof *kids);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct ad_node *kid = inner_node(&chain->kids[i]);
        kids[i] = add_node(clauses, negated ? negate_node(kid) : copy_tree(kid), index, path);
    }
    clauses->nodes[index].kids = kids;
    clauses->nodes[index].clause.kids = kids;
    clauses->nodes[index].clause.kid_count = chain->count;
}

static bool has_room(const struct ad_clauses *clauses, size_t more, size_t bytes)
{
    return clauses->count + more <= AD_CLAUSES_MAX &&
           clauses->bytes + bytes <= AD_CLAUSES_BYTES_MAX;
}

/* Returns whether the node is a demand: all nodes above it are conjunctions. */
static bool is_wanted(const struct ad_clauses *clauses, size_t index)
{
    size_t parent = clauses->nodes[index].clause.parent;
    return parent == AD_CLAUSE_NONE || clauses->nodes[parent].clause.kind == AD_CLAUSE_AND;
}

/* Removes the parentheses around the whole expression, and pairs of !, because only its truth
 * matters here. */
static void bare_node(struct node *node)
{
    const struct ad_node *root = inner_node(&node->expr->root);
    while (is_not(root) && is_not(inner_node(root->kids))) {
        root = inner_node(inner_node(root->kids)->kids);
    }
    if (root != &node->expr->root) {
        struct ad_expr *expr = copy_tree(root);
        ad_expr_destroy(node->expr);
        node->expr = expr;
    }
}

static void split_node(struct ad_clauses *clauses, const struct ad *my, size_t index)
{
    bare_node(&clauses->nodes[index]);
    follow_names(clauses, my, index);
    bare_node(&clauses->nodes[index]);
    struct ad_expr *whole = ad_expr_ref(clauses->nodes[index].expr); /* nodes may move */
    const struct ad_node *root = inner_node(&whole->root);
    const struct ad_node *below = is_not(root) ? inner_node(root->kids) : NULL;
    enum ad_clause_kind kind = AD_CLAUSE_TEST;
    size_t bytes = 2 * ad_expr_bytes(whole);
    if ((is_chain_of(root, AD_OP_AND) || is_chain_of(root, AD_OP_OR)) &&
        has_room(clauses, root->count, bytes)) {
        kind = is_chain_of(root, AD_OP_AND) ? AD_CLAUSE_AND : AD_CLAUSE_OR;
        split_chain(clauses, index, root, false);
    } else if (below != NULL && is_chain_of(below, AD_OP_OR) && is_wanted(clauses, index) &&
               has_room(clauses, below->count, bytes)) {
        kind = AD_CLAUSE_AND;
        split_chain(clauses, index, below, true);
    } else if (below != NULL && has_room(clauses, 1, bytes)) {
        kind = AD_CLAUSE_NOT;
        size_t *kids = mem_alloc(sizeof *kids);
        kids[0] = add_node(clauses, copy_tree(below), index, clauses->nodes[index].path);
        clauses->nodes[index].kids = kids;
        clauses->nodes[index].clause.kids = kids;
        clauses->nodes[index].clause.kid_count = 1;
    }
    clauses->nodes[index].clause.kind = kind;
    ad_expr_destroy(whole);
}

static void find_demands(struct ad_clauses *clauses, size_t index)
{
    const struct ad_clause *clause = &clauses->nodes[index].clause;
    if (clause->kind != AD_CLAUSE_AND) {
        clauses->demands[clauses->demand_count++] = index;
        return;
    }
    for (size_t i = 0; i < clause->kid_count; i++) {
        find_demands(clauses, clause->kids[i]);
    }
}

struct ad_clauses *ad_clauses_create(const struct ad_expr *expr, const struct ad *my)
{
    struct ad_clauses *clauses = mem_zalloc(sizeof *clauses);
    (void)add_node(clauses, ad_expr_ref(expr), AD_CLAUSE_NONE, NULL);
    for (size_t i = 0; i < clauses->count; i++) {
        split_node(clauses, my, i);
    }
    for (size_t i = 0; i < clauses->count; i++) {
        struct node *node = &clauses->nodes[i];
        node->clause.expr = node->expr;
        node->clause.from = node->path != NULL ? node->path->name : NULL;
    }
    clauses->demands = mem_alloc(clauses->count * sizeof *clauses->demands);
    find_demands(clauses, 0);
    return clauses;
}

void ad_clauses_destroy(struct ad_clauses *clauses)
{
    if (clauses == NULL) {
        return;
    }
    for (size_t i = 0; i < clauses->count; i++) {
        ad_expr_destroy(clauses->nodes[i].expr);
        mem_free(clauses->nodes[i].kids);
    }
    for (size_t i = 0; i < clauses->path_count; i++) {
        ad_expr_destroy(clauses->paths[i]->expr);
        mem_free(clauses->paths[i]->name);
        mem_free(clauses->paths[i]);
    }
    mem_free(clauses->paths);
    mem_free(clauses->demands);
    mem_free(clauses->nodes);
    mem_free(clauses);
}

size_t ad_clauses_count(const struct ad_clauses *clauses)
{
    return clauses->count;
}

const struct ad_clause *ad_clauses_at(const struct ad_clauses *clauses, size_t index)
{
    return &clauses->nodes[index].clause;
}

size_t ad_clauses_demand_count(const struct ad_clauses *clauses)
{
    return clauses->demand_count;
}

size_t ad_clauses_demand(const struct ad_clauses *clauses, size_t index)
{
    return clauses->demands[index];
}

struct ad_expr *ad_clauses_join(const struct ad_clauses *clauses,
                                const struct ad_expr *const *replacement)
{
    size_t count = clauses->demand_count;
    struct ad_node *kids = mem_alloc(count * sizeof *kids);
    struct ad_node *parens = mem_alloc(count * sizeof *parens);
    for (size_t i = 0; i < count; i++) {
        const struct ad_expr *expr = replacement != NULL && replacement[i] != NULL
                                         ? replacement[i]
                                         : clauses->nodes[clauses->demands[i]].expr;
        kids[i] = *inner_node(&expr->root);
        kids[i].link = 0;
        parens[i] = (struct ad_node){.kind = AD_NODE_PAREN,
                                     .link = i > 0 ? AD_OP_AND : 0,
                                     .count = 1,
                                     .kids = &kids[i]};
    }
    struct ad_node root = {.kind = AD_NODE_CHAIN, .count = (uint32_t)count, .kids = parens};
    struct ad_expr *joined = ad_expr_compact(count > 1 ? &root : &kids[0]);
    if (joined != NULL && joined->has_ads) {
        own_ads(&joined->root);
    }
    mem_free(kids);
    mem_free(parens);
    return joined;
}
