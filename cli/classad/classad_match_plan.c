/* cli/classad/classad_match_plan.c - see classad_match_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/classad/classad_match_plan.h"

#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"

struct side {
    const char *name;
    const struct ad *my;
    const struct ad *target;
    const struct ad_context *context;
    struct strbuf *out;
};

static void put_value(const struct side *side, const struct ad *my, const struct ad *target,
                      const char *name)
{
    struct ad_value value;
    if (!ad_has(my, name)) {
        strbuf_puts(side->out, "not defined");
        return;
    }
    (void)ad_eval_attr(my, target, name, side->context, &value); /* it is there */
    ad_value_print(&value, side->out);
    ad_value_fini(&value);
}

static void put_attribute(void *arg, enum ad_side which, const char *name)
{
    const struct side *side = arg;
    bool mine = which == AD_SIDE_MY;
    strbuf_printf(side->out, "        %s.%s = ", mine ? "MY" : "TARGET", name);
    put_value(side, mine ? side->my : side->target, mine ? side->target : side->my, name);
    strbuf_putc(side->out, '\n');
}

static void put_truth(enum ad_truth truth, struct strbuf *out)
{
    static const char *const WORDS[] = {"false", "true", "undefined", "error"};
    strbuf_puts(out, WORDS[truth]);
}

/* Prints the clauses of Requirements that are not true, with the values of their attributes. */
static void put_demands(struct side *side, const struct ad_expr *requirements)
{
    struct ad_clauses *clauses = ad_clauses_create(requirements, side->my);
    for (size_t i = 0; i < ad_clauses_demand_count(clauses); i++) {
        const struct ad_clause *clause = ad_clauses_at(clauses, ad_clauses_demand(clauses, i));
        enum ad_truth truth = ad_eval_bool(clause->expr, side->my, side->target, side->context);
        if (truth == AD_TRUE) {
            continue;
        }
        strbuf_puts(side->out, "    ");
        put_truth(truth, side->out);
        strbuf_puts(side->out, ": ");
        ad_expr_print(clause->expr, AD_OLD, side->out);
        if (clause->from != NULL && strcmp(clause->from, "Requirements") != 0) {
            strbuf_printf(side->out, "   (in %s)", clause->from);
        }
        strbuf_putc(side->out, '\n');
        ad_clause_names(clause->expr, side->my, put_attribute, side);
    }
    ad_clauses_destroy(clauses);
}

static bool put_requirements(struct side *side)
{
    const struct ad_expr *requirements = ad_lookup(side->my, "Requirements");
    strbuf_printf(side->out, "%s Requirements: ", side->name);
    if (requirements == NULL) {
        strbuf_puts(side->out, "none, which matches nothing\n");
        return false;
    }
    enum ad_truth truth = ad_eval_bool(requirements, side->my, side->target, side->context);
    put_truth(truth, side->out);
    strbuf_putc(side->out, '\n');
    if (truth != AD_TRUE) {
        put_demands(side, requirements);
    }
    return truth == AD_TRUE;
}

static void put_rank(struct side *side)
{
    strbuf_printf(side->out, "%s Rank: ", side->name);
    put_value(side, side->my, side->target, "Rank");
    const struct ad_expr *rank = ad_lookup(side->my, "Rank");
    if (rank != NULL) {
        struct ad_value value;
        ad_eval(rank, side->my, side->target, side->context, &value);
        bool number = value.type == AD_TYPE_INT || value.type == AD_TYPE_REAL;
        strbuf_puts(side->out, number                                        ? ""
                               : value.type == AD_TYPE_BOOL && value.boolean ? " (counts as 1)"
                                                                             : " (counts as 0)");
        ad_value_fini(&value);
    } else {
        strbuf_puts(side->out, " (counts as 0)");
    }
    strbuf_putc(side->out, '\n');
}

bool classad_match_print(const struct ad *a, const struct ad *b, const struct ad_context *context,
                         struct strbuf *out)
{
    struct side sides[2] = {
        {.name = "A", .my = a, .target = b, .context = context, .out = out},
        {.name = "B", .my = b, .target = a, .context = context, .out = out},
    };
    bool matches = true;
    for (size_t i = 0; i < 2; i++) {
        matches = put_requirements(&sides[i]) && matches;
    }
    for (size_t i = 0; i < 2; i++) {
        put_rank(&sides[i]);
    }
    strbuf_puts(out, matches ? "They match.\n" : "They do not match.\n");
    return matches;
}
