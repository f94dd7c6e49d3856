/* cli/why/why_groups_plan.c - see why_groups_plan.h.
 *
 * Attribute names are added in rounds: each round divides the groups by the values of the new
 * names, and searches the expressions that it meets for further names.  Each expression is searched
 * once, however many ads have it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_groups_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"

#define KEY_BYTES_MAX ((size_t)64 << 20)

struct grouping {
    const struct ad *ad;
    const struct ad *const *others;
    size_t count;
    struct why_groups *groups;
    struct strmap *names;  /* all names found so far; the value is not used */
    struct strmap *walked; /* texts of expressions that were searched for names */
    struct strbuf text;
    bool blind; /* the names cannot be known, so no ads are grouped */
};

static void add_name(void *arg, enum ad_side side, const char *name)
{
    struct grouping *grouping = arg;
    (void)side;
    (void)strmap_set(grouping->names, name, grouping);
}

/* True when the text may call eval(), which can look up attributes by a computed name. */
static bool is_blind(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if ((*at | 0x20) == 'e' && (at[1] | 0x20) == 'v' && (at[2] | 0x20) == 'a' &&
            (at[3] | 0x20) == 'l') {
            return true;
        }
    }
    return false;
}

/* Adds the attribute names in the expression, whose text is in grouping->text. */
static void walk_names(struct grouping *grouping, const struct ad_expr *expr, const struct ad *of)
{
    const char *text = strbuf_text(&grouping->text);
    if (grouping->blind || grouping->text.failed || strmap_get(grouping->walked, text) != NULL) {
        grouping->blind = grouping->blind || grouping->text.failed;
        return;
    }
    (void)strmap_set(grouping->walked, text, grouping);
    ad_clause_names(expr, NULL, add_name, grouping);
    struct strmap *found = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(expr, of, found, NULL); /* also what ads inside the expression name */
    size_t at = 0;
    const char *name;
    while (strmap_next(found, &at, &name, NULL)) {
        add_name(grouping, AD_SIDE_MY, name);
    }
    strmap_destroy(found, NULL);
    grouping->blind = is_blind(text) || strmap_count(grouping->names) > WHY_NAMES_MAX;
}

static void print_expression(struct grouping *grouping, const struct ad_expr *expr)
{
    strbuf_clear(&grouping->text);
    ad_expr_print(expr, AD_NEW, &grouping->text); /* control characters are escaped there */
}

/* Divides all groups by the values of these attributes. */
static void divide_groups(struct grouping *grouping, const char *const *names, size_t count)
{
    struct strmap *kinds = strmap_create(STRMAP_CASE_SENSITIVE);
    struct strbuf key;
    size_t groups = 0;
    strbuf_init(&key, KEY_BYTES_MAX);
    for (size_t i = 0; i < grouping->count && !grouping->blind; i++) {
        strbuf_clear(&key);
        strbuf_printf(&key, "%zu", grouping->groups->group_of[i]);
        for (size_t j = 0; j < count && !grouping->blind; j++) {
            const struct ad_expr *expr = ad_lookup(grouping->others[i], names[j]);
            strbuf_putc(&key, '\n');
            if (expr == NULL) {
                continue;
            }
            print_expression(grouping, expr);
            strbuf_append(&key, grouping->text.data, grouping->text.length);
            if (!ad_expr_is_literal(expr)) {
                walk_names(grouping, expr, grouping->others[i]);
            }
        }
        grouping->blind = grouping->blind || key.failed;
        size_t *known = strmap_get(kinds, strbuf_text(&key));
        if (known == NULL) {
            known = &grouping->groups->first[groups];
            *known = i;
            groups++;
            (void)strmap_set(kinds, strbuf_text(&key), known);
        }
        grouping->groups->group_of[i] = (size_t)(known - grouping->groups->first);
    }
    grouping->groups->count = groups;
    strbuf_fini(&key);
    strmap_destroy(kinds, NULL);
}

/* Searches an expression of the ad itself, which may name further attributes of the others. */
static void walk_ad(struct grouping *grouping, const char *name)
{
    const struct ad_expr *expr = ad_lookup(grouping->ad, name);
    if (expr != NULL && !ad_expr_is_literal(expr)) {
        print_expression(grouping, expr);
        walk_names(grouping, expr, grouping->ad);
    }
}

static void each_for_itself(struct why_groups *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        groups->first[i] = groups->group_of[i] = i;
    }
    groups->count = count;
}

struct why_groups *why_groups_create(const struct ad *ad, const struct ad *const *others,
                                     size_t count)
{
    struct why_groups *groups = mem_zalloc(sizeof *groups);
    groups->first = mem_zalloc((count + 1) * sizeof *groups->first);
    groups->group_of = mem_zalloc((count + 1) * sizeof *groups->group_of);
    groups->count = count > 0 ? 1 : 0;
    struct grouping grouping = {.ad = ad,
                                .others = others,
                                .count = count,
                                .groups = groups,
                                .names = strmap_create(STRMAP_CASE_IGNORED),
                                .walked = strmap_create(STRMAP_CASE_SENSITIVE)};
    strbuf_init(&grouping.text, KEY_BYTES_MAX);
    struct vec fresh = {0};
    size_t at = 0, done = 0;
    const char *name;
    add_name(&grouping, AD_SIDE_MY, "Requirements");
    while (!grouping.blind) {
        while (!grouping.blind && strmap_next(grouping.names, &at, &name, NULL)) {
            vec_push(&fresh, mem_strdup(name));
            walk_ad(&grouping, name);
        }
        if (fresh.count == done || grouping.blind) {
            break;
        }
        divide_groups(&grouping, (const char *const *)fresh.items + done, fresh.count - done);
        done = fresh.count;
    }
    if (grouping.blind) {
        each_for_itself(groups, count);
    }
    vec_fini(&fresh, mem_free);
    strbuf_fini(&grouping.text);
    strmap_destroy(grouping.names, NULL);
    strmap_destroy(grouping.walked, NULL);
    return groups;
}

void why_groups_destroy(struct why_groups *groups)
{
    if (groups != NULL) {
        mem_free(groups->first);
        mem_free(groups->group_of);
        mem_free(groups);
    }
}
