/* negotiator/significant_plan.c - see significant_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/significant_plan.h"

#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"

struct significant {
    struct strmap *names; /* values: the struct */
};

struct significant *significant_create(void)
{
    struct significant *significant = mem_zalloc(sizeof *significant);
    significant->names = strmap_create(STRMAP_CASE_IGNORED);
    return significant;
}

void significant_destroy(struct significant *significant)
{
    if (significant != NULL) {
        strmap_destroy(significant->names, NULL);
        mem_free(significant);
    }
}

static bool add_name(struct significant *significant, const char *name)
{
    if (!ad_name_is_valid(name) || strmap_get(significant->names, name) != NULL ||
        strmap_count(significant->names) >= SIGNIFICANT_NAMES_MAX) {
        return false;
    }
    (void)strmap_set(significant->names, name, significant); /* was absent */
    return true;
}

bool significant_slot(struct significant *significant, const struct ad *slot)
{
    static const char *const ROOTS[] = {"Requirements", "Rank"};
    struct strmap *external = NULL;
    for (size_t i = 0; i < sizeof ROOTS / sizeof *ROOTS; i++) {
        const struct ad_expr *expr = ad_lookup(slot, ROOTS[i]);
        if (expr != NULL && !ad_expr_is_literal(expr)) {
            external = external != NULL ? external : strmap_create(STRMAP_CASE_IGNORED);
            ad_refs(expr, slot, external, NULL);
        }
    }
    bool more = false;
    size_t at = 0;
    const char *name;
    while (external != NULL && strmap_next(external, &at, &name, NULL)) {
        more = add_name(significant, name) || more;
    }
    strmap_destroy(external, NULL);
    return more;
}

struct noting {
    struct significant *significant;
    bool more;
};

static void note_name(void *arg, enum ad_side side, const char *name)
{
    struct noting *noting = arg;
    if (side == AD_SIDE_TARGET) {
        noting->more = add_name(noting->significant, name) || noting->more;
    }
}

bool significant_expr(struct significant *significant, const struct ad_expr *expr)
{
    struct noting noting = {.significant = significant};
    if (expr != NULL) {
        ad_clause_names(expr, NULL, note_name, &noting);
    }
    return noting.more;
}

void significant_write(const struct significant *significant, struct ad *ad)
{
    const char *names[SIGNIFICANT_NAMES_MAX];
    size_t count = 0, at = 0;
    while (count < SIGNIFICANT_NAMES_MAX &&
           strmap_next(significant->names, &at, &names[count], NULL)) {
        count++;
    }
    ad_set_strings(ad, "SignificantAttributes", names, count);
}
