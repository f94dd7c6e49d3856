/* collector/inspect_plan.c - see inspect_plan.h.
 *
 * In general it cannot be decided whether an expression is an error for all jobs.  It can be
 * decided for a demanded clause that reads no job at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/inspect_plan.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"

/* bytes of an expression that are shown, without the terminating zero */
#define CLAUSE_BYTES     80
#define NEEDED_MAX       200 /* attributes that Requirements needs; of more none is looked at */
#define NEEDED_LOOKED_AT 20

static const char *const LOOKED_AT[] = {"Requirements", "Start", "Rank"};

static bool is_looked_at(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(LOOKED_AT); i++) {
        if (ad_name_compare(name, LOOKED_AT[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void say_problem(struct strbuf *out, const char *name, const char *what,
                        const struct ad_expr *expr)
{
    struct strbuf text;
    if (out->length >= INSPECT_TEXT_MAX) {
        return;
    }
    strbuf_init(&text, 0);
    if (expr) {
        ad_expr_print(expr, AD_OLD, &text);
    }
    strbuf_printf(out, "%s%s %s", out->length > 0 ? "; " : "", name, what);
    if (text.length > CLAUSE_BYTES) {
        strbuf_printf(out, ": %.*s ...", CLAUSE_BYTES, strbuf_text(&text));
    } else if (text.length > 0) {
        strbuf_printf(out, ": %s", strbuf_text(&text));
    }
    strbuf_fini(&text);
}

/* Returns whether the attribute's value depends on the attribute itself. */
static bool refers_to_itself(const struct ad *ad, const char *name, const struct ad_expr *expr)
{
    struct strmap *others = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *own = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(expr, ad, others, own);
    bool refers = strmap_get(own, name) != NULL;
    strmap_destroy(own, NULL);
    strmap_destroy(others, NULL);
    return refers;
}

static bool looks_at_nobody_else(const struct ad *ad, const struct ad_expr *expr)
{
    struct strmap *others = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(expr, ad, others, NULL);
    bool alone = strmap_count(others) == 0;
    strmap_destroy(others, NULL);
    return alone;
}

static void look_at_clauses(const struct ad *ad, const char *name, const struct ad_expr *expr,
                            const struct ad_context *context, struct strbuf *out)
{
    struct ad_clauses *clauses = ad_clauses_create(expr, ad);
    for (size_t i = 0; i < ad_clauses_demand_count(clauses); i++) {
        const struct ad_expr *demand = ad_clauses_at(clauses, ad_clauses_demand(clauses, i))->expr;
        if (looks_at_nobody_else(ad, demand) &&
            ad_eval_bool(demand, ad, NULL, context) == AD_ERROR) {
            say_problem(out, name, "is an error for every job", demand);
            break;
        }
    }
    ad_clauses_destroy(clauses);
}

/* Reports the first attribute that Requirements needs, directly or through others, and that refers
 * to itself. */
static void look_at_needed(const struct ad *ad, const struct ad_expr *requirements,
                           struct strbuf *out)
{
    struct strmap *others = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *own = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(requirements, ad, others, own);
    size_t at = 0, looked = 0;
    const char *name;
    while (strmap_count(own) <= NEEDED_MAX && looked < NEEDED_LOOKED_AT &&
           strmap_next(own, &at, &name, NULL)) {
        const struct ad_expr *expr = ad_lookup(ad, name);
        if (!expr || ad_expr_is_literal(expr) || is_looked_at(name)) {
            continue;
        }
        looked++;
        if (refers_to_itself(ad, name, expr)) {
            say_problem(out, name, "refers to itself", expr);
            break;
        }
    }
    strmap_destroy(own, NULL);
    strmap_destroy(others, NULL);
}

/* Checks the amounts that every job compares itself with. */
static void look_at_amounts(const struct ad *ad, struct strbuf *out)
{
    static const char *const AMOUNTS[] = {"Cpus", "Memory", "Disk"};
    for (size_t i = 0; i < ARRAY_COUNT(AMOUNTS); i++) {
        const struct ad_expr *expr = ad_lookup(ad, AMOUNTS[i]);
        double amount;
        if (!expr || !ad_expr_is_literal(expr)) {
            continue;
        }
        if (ad_get_real(ad, AMOUNTS[i], &amount) != 0) {
            say_problem(out, AMOUNTS[i], "is not a number", expr);
        } else if (amount < 0) {
            say_problem(out, AMOUNTS[i], "is below 0", expr);
        }
    }
}

void inspect_plan_ad(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    bool circle = false;
    if (ad_count(ad) > INSPECT_ATTRIBUTES_USUAL) {
        strbuf_printf(out, "the ad has %zu attributes, an unusual number (more than %d)",
                      ad_count(ad), INSPECT_ATTRIBUTES_USUAL);
    }
    for (size_t i = 0; i < ARRAY_COUNT(LOOKED_AT); i++) {
        const struct ad_expr *expr = ad_lookup(ad, LOOKED_AT[i]);
        if (!expr || (ad_expr_is_literal(expr) && i > 0)) {
            continue;
        }
        if (refers_to_itself(ad, LOOKED_AT[i], expr)) {
            say_problem(out, LOOKED_AT[i], "refers to itself", expr);
            circle = true;
        } else if (i == 0) {
            look_at_clauses(ad, LOOKED_AT[i], expr, context, out);
        }
    }
    const struct ad_expr *requirements = ad_lookup(ad, LOOKED_AT[0]);
    if (!requirements) {
        say_problem(out, "the ad has no Requirements,", "so no job matches the machine", NULL);
    } else if (!circle) {
        look_at_needed(ad, requirements, out);
    }
    look_at_amounts(ad, out);
    int64_t ends_s = ad_int_or(ad, "TokenExpires", 0);
    if (ends_s > 0) {
        char when[TEXT_UTC_MAX];
        text_utc_s(ends_s, when);
        say_problem(out,
                    context != NULL && context->now_s >= ends_s
                        ? "token.expired: the startd's token expired at"
                        : "the startd's token ends at",
                    when, NULL);
    }
}
