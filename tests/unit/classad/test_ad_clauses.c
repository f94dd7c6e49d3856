/* tests/unit/classad/test_ad_clauses.c - expressions taken apart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "tests/support/unit.h"

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static struct ad_expr *expr_of(const char *text)
{
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL), 0);
    return expr;
}

static void put_clause(const struct ad_clause *clause, struct strbuf *out)
{
    if (clause->from != NULL) {
        strbuf_printf(out, "%s:", clause->from);
    }
    ad_expr_print(clause->expr, AD_OLD, out);
}

/* The demands, divided by " ; ". */
static void assert_demands(const char *text, const char *my_text, const char *expected)
{
    struct ad *my = ad_of(my_text);
    struct ad_expr *expr = expr_of(text);
    struct ad_clauses *clauses = ad_clauses_create(expr, my);
    ad_expr_destroy(expr);
    ad_destroy(my); /* nothing is borrowed */
    struct strbuf out;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < ad_clauses_demand_count(clauses); i++) {
        strbuf_puts(&out, i > 0 ? " ; " : "");
        put_clause(ad_clauses_at(clauses, ad_clauses_demand(clauses, i)), &out);
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    ad_clauses_destroy(clauses);
}

static void conjunctions_are_split_through_parentheses(void **state)
{
    (void)state;
    assert_demands("a", "[]", "a");
    assert_demands("a && (b && (c || d)) && ((e))", "[]", "a ; b ; c || d ; e");
    assert_demands("(a && b) || c", "[]", "(a && b) || c");
}

static void names_of_the_ad_are_followed_into_their_expressions(void **state)
{
    (void)state;
    assert_demands("START && MY.Limit", "[START = (a > 1) && Busy; Busy = b < 2; Limit = (c == 3)]",
                   "START:a > 1 ; Busy:b < 2 ; Limit:c == 3");
    assert_demands("START && x", "[START = true]", "START ; x");
    assert_demands("TARGET.START && x", "[START = a && b]", "TARGET.START ; x");
}

static void what_leads_back_to_itself_is_one_test(void **state)
{
    (void)state;
    assert_demands("A && x", "[A = A && b]", "A ; x");
    assert_demands("A && x", "[A = B && y; B = isUndefined(A)]", "A ; x");
}

static void a_negated_disjunction_is_a_conjunction(void **state)
{
    (void)state;
    assert_demands("!(a || !b || c > 1)", "[]", " !a ; b ;  !(c > 1)");
    assert_demands("!(a && b)", "[]", " !(a && b)");
    assert_demands("!(!(!a)) && !!(b && c) && !!START", "[START = !!(d && e)]",
                   " !a ; b ; c ; START:d ; START:e");
}

static void the_tree_below_a_demand_is_there_as_well(void **state)
{
    (void)state;
    struct ad_expr *expr = expr_of("(a && b) || !c");
    struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
    const struct ad_clause *root = ad_clauses_at(clauses, 0);
    assert_int_equal(root->kind, AD_CLAUSE_OR);
    assert_int_equal(root->parent, AD_CLAUSE_NONE);
    assert_int_equal(root->kid_count, 2);
    const struct ad_clause *left = ad_clauses_at(clauses, root->kids[0]);
    assert_int_equal(left->kind, AD_CLAUSE_AND);
    assert_int_equal(left->kid_count, 2);
    assert_int_equal(left->parent, 0);
    const struct ad_clause *right = ad_clauses_at(clauses, root->kids[1]);
    assert_int_equal(right->kind, AD_CLAUSE_NOT);
    const struct ad_clause *c = ad_clauses_at(clauses, right->kids[0]);
    assert_int_equal(c->kind, AD_CLAUSE_TEST);
    assert_int_equal(ad_clauses_demand_count(clauses), 1);
    assert_int_equal(ad_clauses_count(clauses), 6);
    ad_clauses_destroy(clauses);
    ad_expr_destroy(expr);
}

static void ads_in_an_expression_are_not_shared_with_it(void **state)
{
    (void)state;
    struct ad_expr *expr = expr_of("[x = 1].x == 1 && [y = [z = 2]].y.z == 2");
    struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
    ad_expr_destroy(expr);
    struct ad_expr *joined = ad_clauses_join(clauses, NULL);
    ad_clauses_destroy(clauses);
    assert_int_equal(ad_eval_bool(joined, NULL, NULL, NULL), AD_TRUE);
    ad_expr_destroy(joined);
}

static void demands_are_joined_again_with_others_in_their_place(void **state)
{
    (void)state;
    struct ad_expr *expr = expr_of("a && (b || c) && d");
    struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
    struct ad_expr *other = expr_of("x == 1");
    const struct ad_expr *replacement[3] = {NULL, NULL, other};
    struct ad_expr *joined = ad_clauses_join(clauses, replacement);
    struct strbuf out;
    strbuf_init(&out, 0);
    ad_expr_print(joined, AD_OLD, &out);
    assert_string_equal(strbuf_text(&out), "(a) && (b || c) && (x == 1)");
    strbuf_fini(&out);
    ad_expr_destroy(joined);
    ad_expr_destroy(other);
    ad_clauses_destroy(clauses);
    ad_expr_destroy(expr);
}

static void names_that_double_at_each_step_end_at_a_limit(void **state)
{
    (void)state;
    struct ad *my = ad_create();
    for (int i = 0; i < 60; i++) {
        char name[16], text[64];
        (void)snprintf(name, sizeof name, "A%d", i);
        (void)snprintf(text, sizeof text, "A%d && A%d", i + 1, i + 1);
        assert_int_equal(ad_set_expr(my, name, text, NULL), 0);
    }
    struct ad_clauses *clauses = ad_clauses_create(ad_lookup(my, "A0"), my);
    assert_in_range(ad_clauses_count(clauses), 100, AD_CLAUSES_MAX);
    ad_clauses_destroy(clauses);
    ad_destroy(my);
}

static void a_disjunction_of_ten_thousand_stays_one_test(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "y && (x == 0");
    for (int i = 1; i < 10000; i++) {
        strbuf_printf(&text, " || x == %d", i);
    }
    strbuf_puts(&text, ")");
    struct ad_expr *expr = expr_of(strbuf_text(&text));
    struct ad_clauses *clauses = ad_clauses_create(expr, NULL);
    assert_int_equal(ad_clauses_count(clauses), 3);
    assert_int_equal(ad_clauses_at(clauses, 2)->kind, AD_CLAUSE_TEST);
    ad_clauses_destroy(clauses);
    ad_expr_destroy(expr);
    strbuf_fini(&text);
}

static void put_name(void *arg, enum ad_side side, const char *name)
{
    strbuf_printf(arg, "%s.%s ", side == AD_SIDE_MY ? "MY" : "TARGET", name);
}

static void a_clause_tells_which_attributes_it_names(void **state)
{
    (void)state;
    struct ad *my = ad_of("[Mem = Other; Other = 1]");
    struct ad_expr *expr =
        expr_of("TARGET.Memory >= Mem && (mem > 0 || foo(MY.Absent, Disk)) && target.memory > 1");
    struct strbuf out;
    strbuf_init(&out, 0);
    ad_clause_names(expr, my, put_name, &out);
    assert_string_equal(strbuf_text(&out), "TARGET.Memory MY.Mem MY.Absent TARGET.Disk ");
    strbuf_fini(&out);
    ad_expr_destroy(expr);
    ad_destroy(my);
}

static void assert_comparison(const char *text, enum ad_side side, const char *expected)
{
    struct ad *my = ad_of("[Mine = 1]");
    struct ad_expr *expr = expr_of(text);
    struct ad_comparison comparison;
    struct strbuf out;
    strbuf_init(&out, 0);
    if (ad_clause_comparison(expr, my, side, &comparison)) {
        strbuf_printf(&out, "%s %s ", comparison.name, ad_compare_text(comparison.op));
        ad_expr_print(comparison.other, AD_OLD, &out);
        ad_comparison_fini(&comparison);
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    ad_expr_destroy(expr);
    ad_destroy(my);
}

static void a_comparison_is_seen_from_the_side_that_is_asked_for(void **state)
{
    (void)state;
    assert_comparison("TARGET.Memory >= Mine", AD_SIDE_TARGET, "Memory >= Mine");
    assert_comparison("TARGET.Memory >= Mine", AD_SIDE_MY, "Mine <= TARGET.Memory");
    assert_comparison("(5 < (Disk))", AD_SIDE_TARGET, "Disk > 5");
    assert_comparison("Os =?= \"LINUX\"", AD_SIDE_TARGET, "Os =?= \"LINUX\"");
    assert_comparison("Os", AD_SIDE_TARGET, "Os =?= true");
    assert_comparison("!TARGET.Os", AD_SIDE_TARGET, "Os =?= false");
    assert_comparison("Os + 1 == 2", AD_SIDE_TARGET, "");
    assert_comparison("Os == 2", AD_SIDE_MY, "");
    assert_comparison("1 < x < 3", AD_SIDE_TARGET, "");
}

/* ---- the promise: all demands are true if and only if the whole is */

static void random_expr(struct rng *rng, int depth, struct strbuf *out)
{
    static const char *const LEAVES[] = {
        "true",     "false", "undefined",      "error", "0",        "3",         "2.5",
        "\"text\"", "P",     "MY.Q",           "R",     "TARGET.T", "U",         "T == 1",
        "Q =?= 1",  "S > T", "isUndefined(R)", "MY.MY", "V",        "time() > 5"};
    uint64_t pick = rng_below(rng, 10);
    if (depth == 0 || pick < 2) {
        strbuf_puts(out, LEAVES[rng_below(rng, sizeof LEAVES / sizeof *LEAVES)]);
        return;
    }
    if (pick < 4) {
        strbuf_puts(out, "!(");
        random_expr(rng, depth - 1, out);
        strbuf_puts(out, ")");
        return;
    }
    size_t count = 2 + rng_below(rng, 2);
    strbuf_puts(out, "(");
    for (size_t i = 0; i < count; i++) {
        strbuf_puts(out, i == 0 ? "" : pick < 8 ? " && " : " || ");
        random_expr(rng, depth - 1, out);
    }
    strbuf_puts(out, ")");
}

static void random_ad(struct rng *rng, const char *const *names, struct ad *ad)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; names[i] != NULL; i++) {
        if (rng_below(rng, 4) != 0) {
            strbuf_clear(&text);
            random_expr(rng, 2, &text);
            assert_int_equal(ad_set_expr(ad, names[i], strbuf_text(&text), NULL), 0);
        }
    }
    strbuf_fini(&text);
}

static void the_whole_is_true_if_and_only_if_all_demands_are(void **state)
{
    (void)state;
    static const char *const MINE[] = {"P", "Q", "R", "S", NULL};
    static const char *const THEIRS[] = {"T", "U", "V", NULL};
    const struct ad_context context = {.now_s = 10};
    struct rng rng;
    rng_seed(&rng, 7);
    int true_count = 0;
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int round = 0; round < 20000; round++) {
        struct ad *my = ad_create(), *target = ad_create();
        random_ad(&rng, MINE, my);
        random_ad(&rng, THEIRS, target);
        strbuf_clear(&text);
        random_expr(&rng, 4, &text);
        struct ad_expr *expr = expr_of(strbuf_text(&text));
        bool whole = ad_eval_bool(expr, my, target, &context) == AD_TRUE;
        struct ad_clauses *clauses = ad_clauses_create(expr, my);
        bool all = true;
        for (size_t i = 0; i < ad_clauses_demand_count(clauses); i++) {
            const struct ad_clause *demand = ad_clauses_at(clauses, ad_clauses_demand(clauses, i));
            all = all && ad_eval_bool(demand->expr, my, target, &context) == AD_TRUE;
        }
        struct ad_expr *joined = ad_clauses_join(clauses, NULL);
        bool again = ad_eval_bool(joined, my, target, &context) == AD_TRUE;
        if (whole != all || whole != again) {
            struct strbuf out;
            strbuf_init(&out, 0);
            ad_print(my, &out);
            strbuf_puts(&out, "\n");
            ad_print(target, &out);
            fail_msg("%s\nin %s: whole %d, demands %d, joined %d", strbuf_text(&text),
                     strbuf_text(&out), whole, all, again);
        }
        true_count += whole;
        ad_expr_destroy(joined);
        ad_clauses_destroy(clauses);
        ad_expr_destroy(expr);
        ad_destroy(my);
        ad_destroy(target);
    }
    strbuf_fini(&text);
    assert_in_range(true_count, 1000, 19000);
}

UNIT_TESTS(UNIT(conjunctions_are_split_through_parentheses),
           UNIT(names_of_the_ad_are_followed_into_their_expressions),
           UNIT(what_leads_back_to_itself_is_one_test),
           UNIT(a_negated_disjunction_is_a_conjunction),
           UNIT(the_tree_below_a_demand_is_there_as_well),
           UNIT(ads_in_an_expression_are_not_shared_with_it),
           UNIT(demands_are_joined_again_with_others_in_their_place),
           UNIT(names_that_double_at_each_step_end_at_a_limit),
           UNIT(a_disjunction_of_ten_thousand_stays_one_test),
           UNIT(a_clause_tells_which_attributes_it_names),
           UNIT(a_comparison_is_seen_from_the_side_that_is_asked_for),
           UNIT(the_whole_is_true_if_and_only_if_all_demands_are))
