/* classad/ad_func_unresolved.c - unresolved(): the names in an expression that nothing defines.
 *
 * The walk follows the same way as HTCondor's, so that the answers are equal even where they are
 * strange.  A name that is found is followed into its expression, each time again.  Names inside a
 * nested ad are looked up from the ad where the search began.  `a.b` with an undefined `a` is one
 * name.  If `a` is neither undefined nor an ad, or a name leads back to itself, the walk ends with
 * no names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_packed.h"
#include "classad/ad_regex.h"

struct unresolved {
    struct ad_evaluator *ev;
    struct strmap *names; /* the names, ignoring case; the first spelling is kept */
    unsigned depth;       /* a name that leads to itself reaches the limit of the depth */
};

static bool walk_nodes(struct unresolved *to, const struct ad_node *node, uint32_t scope);

static void note_name(struct unresolved *to, const char *name)
{
    if (strmap_get(to->names, name) == NULL) {
        (void)strmap_set(to->names, name, to); /* the value is a mark */
    }
}

static void note_selected(struct unresolved *to, const struct ad_node *node)
{
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    ad_node_print(node->named.kids, AD_NEW, &text);
    strbuf_putc(&text, '.');
    strbuf_puts(&text, node->named.name->text);
    if (ad_evaluator_spend(to->ev, text.length / 16)) {
        note_name(to, strbuf_text(&text));
    }
    strbuf_fini(&text);
}

static bool walk_ad(struct unresolved *to, const struct ad *ad, uint32_t scope)
{
    size_t at = 0;
    struct ad_item item;
    while (ad != NULL && ad_walk(ad, &at, &item)) {
        struct ad_node literal;
        if (!walk_nodes(to, ad_spot_node(&item.spot, &literal), scope)) {
            return false;
        }
    }
    return true;
}

static bool walk_reference(struct unresolved *to, const struct ad_node *node, uint32_t scope)
{
    struct ad_evaluator *ev = to->ev;
    const struct ad_name *name = node->named.name;
    uint32_t start = node->op == AD_REF_ABSOLUTE ? ev->scopes[scope].root : scope;
    if (node->count > 0) {
        struct ad_value base;
        ad_evaluate(ev, node->named.kids, scope, &base);
        if (base.type == AD_TYPE_UNDEFINED) {
            note_selected(to, node);
            return true;
        }
        if (base.type != AD_TYPE_AD) {
            return false;
        }
        start = base.scope;
    }
    struct ad_found found;
    struct ad_node literal;
    switch (ad_find_upward(ev, start, name, (enum ad_special)node->special, &found)) {
    case AD_FOUND_EXPR:
        return walk_nodes(to,
                          ad_spot_node(&(struct ad_spot){found.expr, found.body, found.place},
                                       &literal),
                          found.scope);
    case AD_FOUND_AD:
        if (found.scope != AD_SCOPE_NONE) {
            return walk_ad(to, ev->scopes[found.scope].ad, found.scope);
        }
        break;
    case AD_FOUND_TIME:
        return true;
    case AD_FOUND_NOTHING:
        break;
    }
    note_name(to, name->text);
    return true;
}

static bool walk_nodes(struct unresolved *to, const struct ad_node *node, uint32_t scope)
{
    if (to->depth >= AD_EVAL_DEPTH_MAX || !ad_evaluator_spend(to->ev, 1)) {
        return false;
    }
    to->depth++;
    bool good = true;
    if (node->kind == AD_NODE_AD) {
        good = walk_ad(to, node->nested, scope);
    } else if (node->kind == AD_NODE_REF) {
        good = walk_reference(to, node, scope);
    } else {
        uint32_t count = ad_node_kid_count(node);
        const struct ad_node *kids = ad_node_kids(node);
        for (uint32_t i = 0; good && i < count; i++) {
            good = walk_nodes(to, &kids[i], scope);
        }
    }
    to->depth--;
    return good;
}

/* ---- the result ---- */

static void sort_names(const char **names, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            const char *name = names[i];
            size_t at = i;
            for (; at >= gap && ad_name_compare(names[at - gap], name) > 0; at -= gap) {
                names[at] = names[at - gap];
            }
            names[at] = name;
        }
    }
}

/* Returns the name without TARGET., which is ignored once the names are sorted. */
static const char *bare_name(const char *name)
{
    return strlen(name) >= 7 && ad_name_is(name, "target.", 7) ? name + 7 : name;
}

static void print_names(const struct strmap *map, struct strbuf *out)
{
    size_t count = 0;
    const char **names = mem_alloc((strmap_count(map) + 1) * sizeof(*names));
    size_t at = 0;
    void *value;
    while (strmap_next(map, &at, &names[count], &value)) {
        count++;
    }
    sort_names(names, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            strbuf_putc(out, ',');
        }
        strbuf_puts(out, bare_name(names[i]));
    }
    mem_free(names);
}

/* Returns whether the pattern matches in one of the names; -1: a limit was reached. */
static int any_matches(struct ad_evaluator *ev, const struct strmap *names, struct ad_regex *regex)
{
    int found = 0;
    size_t at = 0;
    const char *name;
    void *value;
    while (found == 0 && strmap_next(names, &at, &name, &value)) {
        name = bare_name(name);
        size_t length = strlen(name);
        for (size_t from = 0; found == 0 && from < length; from++) {
            size_t start = 0;
            size_t end = 0;
            found = ad_evaluator_spend(ev, 10) ? ad_regex_match(regex, name, length, from,
                                                                AD_REGEX_ANYWHERE, &ev->steps_left)
                                               : -1;
            if (found <= 0) {
                break;
            }
            (void)ad_regex_group(regex, 0, &start, &end);
            found = start < end ? 1 : 0; /* a match of nothing is none: there may be one behind */
            from = start > from ? start : from;
        }
    }
    if (ev->steps_left == 0) {
        (void)ad_evaluator_fail(ev);
    }
    return found;
}

static void match_names(struct ad_evaluator *ev, const struct strmap *names,
                        const struct ad_value *pattern, struct ad_value *ret)
{
    struct ad_regex *regex =
        ad_evaluator_regex(ev, pattern->string.text, pattern->string.length, "i");
    int found = regex != NULL ? any_matches(ev, names, regex) : -1;
    if (found < 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_is_bool(ret, found > 0);
    }
    ad_evaluator_regex_done(ev, regex);
}

/* unresolved(name): the names that the attribute's expression needs from elsewhere; with a pattern
 * as second argument, whether it matches one of them. */
void ad_func_unresolved(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_found found;
    struct ad_value pattern;
    uint32_t at;
    if (call->args->kind != AD_NODE_REF) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    if (call->scope == AD_SCOPE_NONE ||
        !ad_find_reference(ev, call->args, call->scope, &found, &at)) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    if (call->count > 1) {
        ad_evaluate(ev, &call->args[1], at, &pattern);
        if (pattern.type != AD_TYPE_STRING) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
    }
    struct unresolved to = {.ev = ev,
                            .names = strmap_create(STRMAP_CASE_IGNORED),
                            .depth = ev->depth};
    if (!walk_nodes(&to, &found.expr->root, found.scope)) {
        strmap_destroy(to.names, NULL);
        to.names = strmap_create(STRMAP_CASE_IGNORED);
    }
    if (call->count > 1) {
        match_names(ev, to.names, &pattern, ret);
    } else {
        struct strbuf text;
        strbuf_init(&text, AD_STRING_MAX);
        print_names(to.names, &text);
        ad_make_text(ev, &text, ret);
    }
    strmap_destroy(to.names, NULL);
}
