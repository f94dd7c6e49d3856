/* classad/ad_refs.c - finds the attributes on which an expression depends.
 *
 * The walk follows the names that my has into their expressions, each once.  Names that an
 * expression computes at run time (eval("...")) cannot be found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strmap.h"
#include "classad/ad_expr.h"
#include "classad/ad_private.h"

struct around { /* the nested ads around a place in an expression, innermost first */
    const struct around *up;
    const struct ad *ad;
};

struct walk {
    const struct ad *my;
    struct strmap *external;
    struct strmap *internal;
    unsigned depth;
};

static void walk_node(struct walk *walk, const struct ad_node *node, const struct around *around);

static void note_name(struct strmap *map, const struct ad_name *name)
{
    if (map != NULL) {
        (void)strmap_set(map, name->text,
                         (void *)(uintptr_t)
                             name); /* the same key may be there: the value is a mark */
    }
}

static bool find_in(const struct ad *ad, const struct ad_name *name, struct ad_spot *ret)
{
    return ad != NULL && ad_find_spot(ad, name->text, name->length, name->hash, ret);
}

static void use_my(struct walk *walk, const struct ad_name *name, const struct ad_spot *spot)
{
    if (strmap_get(walk->internal, name->text) == NULL) {
        struct ad_node literal;
        note_name(walk->internal, name);
        walk_node(walk, ad_spot_node(spot, &literal), NULL);
    }
}

static void walk_bare(struct walk *walk, const struct ad_name *name, const struct around *around)
{
    struct ad_spot spot;
    for (; around != NULL; around = around->up) {
        if (find_in(around->ad, name, &spot)) {
            return; /* its expression is walked with that ad */
        }
    }
    if (find_in(walk->my, name, &spot)) {
        use_my(walk, name, &spot);
    } else {
        note_name(walk->external, name);
    }
}

static void walk_selected(struct walk *walk, const struct ad_node *node,
                          const struct around *around)
{
    const struct ad_node *base = node->named.kids;
    const struct ad_name *name = node->named.name;
    bool plain = base->kind == AD_NODE_REF && base->count == 0 && base->op != AD_REF_ABSOLUTE;
    if (plain && base->special == AD_SPECIAL_TARGET) {
        note_name(walk->external, name);
    } else if (plain && base->special == AD_SPECIAL_MY && around == NULL) {
        struct ad_spot spot;
        if (find_in(walk->my, name, &spot)) {
            use_my(walk, name, &spot);
        }
    } else {
        walk_node(walk, base, around);
    }
}

static void walk_node(struct walk *walk, const struct ad_node *node, const struct around *around)
{
    if (walk->depth >= AD_EVAL_DEPTH_MAX) {
        return; /* evaluation ends there as well */
    }
    walk->depth++;
    if (node->kind == AD_NODE_AD) {
        struct around here = {.up = around, .ad = node->nested};
        size_t at = 0;
        struct ad_item item;
        while (ad_walk(node->nested, &at, &item)) {
            struct ad_node literal;
            walk_node(walk, ad_spot_node(&item.spot, &literal), &here);
        }
    } else if (node->kind == AD_NODE_REF && node->count > 0) {
        walk_selected(walk, node, around);
    } else if (node->kind == AD_NODE_REF) {
        struct ad_spot spot;
        if (node->special == AD_SPECIAL_NONE || find_in(walk->my, node->named.name, &spot)) {
            walk_bare(walk, node->named.name, around);
        }
    } else {
        uint32_t count = ad_node_kid_count(node);
        const struct ad_node *kids = ad_node_kids(node);
        for (uint32_t i = 0; i < count; i++) {
            walk_node(walk, &kids[i], around);
        }
    }
    walk->depth--;
}

static void walk_all(const struct ad_expr *expr, struct walk *walk)
{
    struct strmap *visited = walk->internal != NULL ? NULL : strmap_create(STRMAP_CASE_IGNORED);
    walk->internal = walk->internal != NULL ? walk->internal : visited;
    walk_node(walk, &expr->root, NULL);
    strmap_destroy(visited, NULL);
}

void ad_refs(const struct ad_expr *expr, const struct ad *my, struct strmap *external,
             struct strmap *internal)
{
    walk_all(expr, &(struct walk){.my = my, .external = external, .internal = internal});
}
