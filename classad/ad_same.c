/* classad/ad_same.c - whether two expressions, or two ads, are the same.
 *
 * An expression may contain ads, and ads contain expressions: these functions call each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "classad/ad_packed.h"

static bool names_same(const struct ad_name *a, const struct ad_name *b)
{
    return a->hash == b->hash && a->length == b->length &&
           ad_name_equal(a->text, b->text, a->length);
}

static bool node_same(const struct ad_node *a, const struct ad_node *b)
{
    if (a->kind != b->kind || a->op != b->op || a->link != b->link || a->count != b->count) {
        return false;
    }
    switch ((enum ad_kind)a->kind) {
    case AD_NODE_UNDEFINED:
    case AD_NODE_ERROR:
        return true;
    case AD_NODE_BOOL:
        return a->boolean == b->boolean;
    case AD_NODE_INT:
    case AD_NODE_ABSTIME:
        return a->integer == b->integer;
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
        return memcmp(&a->real, &b->real, sizeof(a->real)) == 0;
    case AD_NODE_STRING:
        return memcmp(a->text, b->text, a->count) == 0;
    case AD_NODE_AD:
        return ad_same(a->nested, b->nested);
    case AD_NODE_REF:
    case AD_NODE_CALL:
        if (!names_same(a->named.name, b->named.name)) {
            return false;
        }
        break;
    default:
        break;
    }
    uint32_t count = ad_node_kid_count(a);
    const struct ad_node *x = ad_node_kids(a);
    const struct ad_node *y = ad_node_kids(b);
    for (uint32_t i = 0; i < count; i++) {
        if (!node_same(&x[i], &y[i])) {
            return false;
        }
    }
    return true;
}

bool ad_expr_same(const struct ad_expr *a, const struct ad_expr *b)
{
    return a == b || node_same(&a->root, &b->root);
}

static bool spots_same(const struct ad_spot *a, const struct ad_spot *b)
{
    if (a->expr == NULL && b->expr == NULL) {
        struct ad_bytes x = ad_body_raw(a->body, a->place);
        struct ad_bytes y = ad_body_raw(b->body, b->place);
        if (x.data == y.data || (x.length == y.length && memcmp(x.data, y.data, x.length) == 0)) {
            return true; /* not the other way round: names in expressions have no case */
        }
    }
    struct ad_node literal_a;
    struct ad_node literal_b;
    return node_same(ad_spot_node(a, &literal_a), ad_spot_node(b, &literal_b));
}

bool ad_same(const struct ad *a, const struct ad *b)
{
    if (ad_count(a) != ad_count(b)) {
        return false;
    }
    size_t at = 0;
    struct ad_item item;
    while (ad_walk(a, &at, &item)) {
        struct ad_spot other;
        if (!ad_find_own(b, item.name, item.length, item.hash, &other) ||
            !spots_same(&item.spot, &other)) {
            return false;
        }
    }
    return true;
}
