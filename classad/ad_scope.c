/* classad/ad_scope.c - finds what a name means in its scope.
 *
 * A bare name is looked up in the ad that contains the expression, then in the ads around it; if
 * that ad is one of the two sides of a match, then in the other side, too (as in old ClassAds).  MY
 * and SELF are the innermost ad, PARENT is the one around it, ROOT the outermost.  TARGET and OTHER
 * come from the pseudo-ad above a side.  CurrentTime is time().  An attribute whose evaluation
 * returns to itself is undefined at that place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_packed.h"

#define PLAIN_STEPS 3u /* steps for the reference, the side and the value */

/* ---- looking up ---- */

static uint32_t side_of(uint32_t scope, enum ad_special special)
{
    switch (scope) {
    case AD_SCOPE_MY_SIDE:
        return special == AD_SPECIAL_TARGET ? AD_SCOPE_TARGET
               : special == AD_SPECIAL_MY   ? AD_SCOPE_MY
                                            : AD_SCOPE_NONE;
    case AD_SCOPE_TARGET_SIDE:
        return special == AD_SPECIAL_TARGET ? AD_SCOPE_MY
               : special == AD_SPECIAL_MY   ? AD_SCOPE_TARGET
                                            : AD_SCOPE_NONE;
    case AD_SCOPE_MATCH:
        return special == AD_SPECIAL_LEFT    ? AD_SCOPE_MY
               : special == AD_SPECIAL_RIGHT ? AD_SCOPE_TARGET
                                             : AD_SCOPE_NONE;
    default:
        return AD_SCOPE_NONE;
    }
}

static bool is_pseudo(uint32_t scope)
{
    return scope >= AD_SCOPE_MY_SIDE && scope <= AD_SCOPE_MATCH;
}

/* Finds the ad for a word such as MY or PARENT, seen from `scope`, which has no attribute of this
 * name. */
static enum ad_found_kind find_special(const struct ad_evaluator *ev, uint32_t scope,
                                       enum ad_special special, struct ad_found *ret)
{
    if (is_pseudo(scope)) {
        ret->scope = side_of(scope, special);
        if (ret->scope != AD_SCOPE_NONE) {
            return AD_FOUND_AD;
        }
    }
    switch (special) {
    case AD_SPECIAL_MY:
        ret->scope = scope;
        return AD_FOUND_AD;
    case AD_SPECIAL_PARENT:
        ret->scope = ev->scopes[scope].parent;
        return AD_FOUND_AD; /* of nothing when it is the topmost */
    case AD_SPECIAL_ROOT:
        ret->scope = ev->scopes[scope].root;
        return AD_FOUND_AD;
    case AD_SPECIAL_TIME:
        return AD_FOUND_TIME;
    default:
        return AD_FOUND_NOTHING;
    }
}

enum ad_found_kind ad_find_upward(const struct ad_evaluator *ev, uint32_t scope,
                                  const struct ad_name *name, enum ad_special special,
                                  struct ad_found *ret)
{
    for (; scope != AD_SCOPE_NONE; scope = ev->scopes[scope].parent) {
        const struct ad *ad = ev->scopes[scope].ad;
        if (ad != NULL && (special == AD_SPECIAL_NONE || ad_may_have_special(ad))) {
            struct ad_spot spot;
            if (ad_find_spot(ad, name->text, name->length, name->hash, &spot)) {
                *ret = (struct ad_found){spot.expr, spot.body, spot.place, scope};
                return AD_FOUND_EXPR;
            }
        }
        if (special != AD_SPECIAL_NONE) {
            enum ad_found_kind found = find_special(ev, scope, special, ret);
            if (found != AD_FOUND_NOTHING) {
                return found;
            }
        }
    }
    return AD_FOUND_NOTHING;
}

void ad_evaluate_found(struct ad_evaluator *ev, const struct ad_found *lookup, struct ad_value *ret)
{
    struct ad_node literal;
    const struct ad_node *node =
        ad_spot_node(&(struct ad_spot){lookup->expr, lookup->body, lookup->place}, &literal);
    if (node->kind <= AD_NODE_RELTIME) {
        ad_evaluate(ev, node, lookup->scope, ret);
        return;
    }
    struct ad_active here = {.up = ev->active, .node = node, .ad = ev->scopes[lookup->scope].ad};
    size_t hops = 0;
    for (const struct ad_active *active = here.up; active != NULL; active = active->up) {
        if (active->node == node && active->ad == here.ad) {
            ad_is(ret, AD_TYPE_UNDEFINED);
            return;
        }
        hops++;
    }
    if (hops > 16 && !ad_evaluator_spend(ev, hops / 16)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    ev->active = &here;
    ad_evaluate(ev, node, lookup->scope, ret);
    ev->active = here.up;
}

static void finish_lookup(struct ad_evaluator *ev, enum ad_found_kind found,
                          const struct ad_found *lookup, struct ad_value *ret)
{
    if (found == AD_FOUND_EXPR) {
        ad_evaluate_found(ev, lookup, ret);
    } else if (found == AD_FOUND_AD && lookup->scope != AD_SCOPE_NONE) {
        ret->type = AD_TYPE_AD;
        ret->ad = ev->scopes[lookup->scope].ad;
        ret->scope = lookup->scope;
    } else if (found == AD_FOUND_TIME) {
        ad_func_time(ev, &(struct ad_call){.variant = AD_TIME_NOW}, ret);
    } else {
        ad_is(ret, AD_TYPE_UNDEFINED);
    }
}

/* Looks a name up from a scope.  Only a bare name falls through to the other side of a match. */
static enum ad_found_kind find_from(const struct ad_evaluator *ev, uint32_t scope,
                                    const struct ad_name *name, enum ad_special special, bool bare,
                                    struct ad_found *ret)
{
    enum ad_found_kind found = ad_find_upward(ev, scope, name, special, ret);
    if (found == AD_FOUND_NOTHING && bare && ev->scopes[scope].other != AD_SCOPE_NONE) {
        found = ad_find_upward(ev, ev->scopes[scope].other, name, special, ret);
    }
    return found;
}

static void look_up(struct ad_evaluator *ev, uint32_t scope, const struct ad_name *name,
                    enum ad_special special, bool bare, struct ad_value *ret)
{
    struct ad_found found = {0};
    enum ad_found_kind kind = find_from(ev, scope, name, special, bare, &found);
    finish_lookup(ev, kind, &found, ret);
}

static void select_special(struct ad_evaluator *ev, const struct ad_value *base, uint32_t scope,
                           const struct ad_name *name, enum ad_special special,
                           struct ad_value *ret);

/* Selects the attribute from each element of a list; for a list within the list, the result is a
 * list, too. */
static void select_from_list(struct ad_evaluator *ev, const struct ad_value *base, uint32_t scope,
                             const struct ad_name *name, enum ad_special special,
                             struct ad_value *ret)
{
    struct ad_value list = *base;
    uint32_t count = list.list->count;
    struct ad_node *items = ad_make_list(ev, count, ret);
    if (items == NULL || ++ev->depth > AD_EVAL_DEPTH_MAX) {
        (void)ad_evaluator_fail(ev);
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    ret->scope = list.scope; /* it counts as a written one */
    struct ad_value made = *ret;
    for (uint32_t i = 0; i < count; i++) {
        struct ad_value element;
        struct ad_value value = {0};
        ad_item_from(ev, &list, i, scope, &element);
        select_special(ev, &element, scope, name, special, &value);
        ad_list_put(ev, items, i, &value);
    }
    *ret = made;
    ev->depth--;
}

static void select_special(struct ad_evaluator *ev, const struct ad_value *base, uint32_t scope,
                           const struct ad_name *name, enum ad_special special,
                           struct ad_value *ret)
{
    switch (base->type) {
    case AD_TYPE_AD:
        look_up(ev, base->scope, name, special, false, ret);
        break;
    case AD_TYPE_LIST:
        select_from_list(ev, base, scope, name, special, ret);
        break;
    case AD_TYPE_UNDEFINED:
        ad_is(ret, AD_TYPE_UNDEFINED);
        break;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        break;
    }
}

/* Returns the scope in which a plain reference (x, MY.x, TARGET.x) is looked up; AD_SCOPE_NONE: not
 * a plain one. */
static uint32_t plain_scope(const struct ad_node *node, uint32_t scope)
{
    uint32_t other = AD_SCOPE_MY + AD_SCOPE_TARGET - scope;
    if (node->count == 0) {
        return node->op == AD_REF_ABSOLUTE ? AD_SCOPE_NONE : scope;
    }
    const struct ad_node *base = node->named.kids;
    if (base->kind != AD_NODE_REF || base->count > 0 || base->op == AD_REF_ABSOLUTE) {
        return AD_SCOPE_NONE;
    }
    return base->special == AD_SPECIAL_TARGET ? other
           : base->special == AD_SPECIAL_MY   ? scope
                                              : AD_SCOPE_NONE;
}

bool ad_evaluate_plain(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                       struct ad_value *ret)
{
    if (!ev->is_plain || node->special != AD_SPECIAL_NONE ||
        (scope != AD_SCOPE_MY && scope != AD_SCOPE_TARGET) || ev->steps_left < PLAIN_STEPS) {
        return false;
    }
    uint32_t where = plain_scope(node, scope);
    const struct ad *ad = ev->scopes[where].ad;
    const struct ad_name *name = node->named.name;
    struct ad_spot spot;
    if (where == AD_SCOPE_NONE || ad == NULL ||
        !ad_find_spot(ad, name->text, name->length, name->hash, &spot)) {
        where = AD_SCOPE_MY + AD_SCOPE_TARGET - scope; /* a bare name falls through */
        ad = ev->scopes[where].ad;
        if (node->count > 0 || node->op == AD_REF_ABSOLUTE || ad == NULL ||
            ev->scopes[scope].ad == NULL ||
            !ad_find_spot(ad, name->text, name->length, name->hash, &spot)) {
            return false;
        }
    }
    ev->steps_left -= PLAIN_STEPS - 1;
    if (spot.expr == NULL && ad_bytes_evaluate(ad_body_value(spot.body, spot.place), ret)) {
        ev->steps_left--;
    } else {
        struct ad_found found = {spot.expr, spot.body, spot.place, where};
        ad_evaluate_found(ev, &found, ret);
    }
    return true;
}

void ad_evaluate_reference(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                           struct ad_value *ret)
{
    const struct ad_name *name = node->named.name;
    enum ad_special special = (enum ad_special)node->special;
    if (node->count > 0) {
        struct ad_value base;
        ad_evaluate(ev, node->named.kids, scope, &base);
        select_special(ev, &base, scope, name, special, ret);
    } else if (scope == AD_SCOPE_NONE) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else if (node->op == AD_REF_ABSOLUTE) {
        look_up(ev, ev->scopes[scope].root, name, special, false, ret);
    } else {
        look_up(ev, scope, name, special, true, ret);
    }
}

bool ad_find_reference(struct ad_evaluator *ev, const struct ad_node *reference, uint32_t scope,
                       struct ad_found *ret, uint32_t *at)
{
    bool bare = reference->count == 0 && reference->op != AD_REF_ABSOLUTE;
    *at = scope;
    if (reference->count > 0) {
        struct ad_value base;
        ad_evaluate(ev, reference->named.kids, scope, &base);
        scope = base.type == AD_TYPE_AD ? base.scope : AD_SCOPE_NONE;
    } else if (!bare) {
        scope = ev->scopes[scope].root;
    }
    if (scope == AD_SCOPE_NONE) {
        return false;
    }
    if (find_from(ev, scope, reference->named.name, (enum ad_special)reference->special, bare,
                  ret) != AD_FOUND_EXPR) {
        *at = ev->scopes[scope].root; /* it went up to the top in vain */
        return false;
    }
    *at = ret->scope;
    ret->expr = ad_spot_expr(&(struct ad_spot){ret->expr, ret->body, ret->place});
    return true;
}
