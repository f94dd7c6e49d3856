/* Which names an expression may look up; hashes; comparisons of values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_depends.h"

static struct ad_expr *parse(const char *text)
{
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    return expr;
}

static void note(void *arg, const char *name, bool in_my, bool in_target)
{
    strbuf_printf(arg, "%s%s%s ", in_my ? "m" : "", in_target ? "t" : "", name);
}

static void check(const char *text, const char *names, bool all)
{
    struct ad_expr *expr = parse(text);
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(ad_depends(expr, note, &out), all);
    assert_string_equal(strbuf_text(&out), names);
    strbuf_fini(&out);
    ad_expr_destroy(expr);
}

static void each_name_is_told_with_the_side_where_it_may_be(void **state)
{
    (void)state;
    check("1 + 2", "", false);
    check("MY.a > TARGET.b && c", "ma tb mtc ", false);
    check("member(x, {\"a\", MY.y})", "mtx my ", false);
    check("[p = q; r = TARGET.s].p", "mtq ts ", false);
    check("lookup.field > 3", "mtlookup ", false);
    check(".top", "mttop ", false);
    check("a ? b : c ?: d[e]", "mta mtb mtc mtd mte ", false);
}

static void what_computes_names_or_takes_a_side_whole_may_look_up_all(void **state)
{
    (void)state;
    check("eval(\"a\")", "", true);
    check("x > 1 && unresolved(y) == \"\"", "mtx mty ", true);
    check("size(TARGET)", "mtTARGET ", true);
    check("PARENT.x", "mtPARENT ", true);
}

static void equal_expressions_have_equal_hashes_and_others_do_not(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "1",      "2",       "1.0",          "\"1\"",        "true",     "a + b",
        "a - b",  "b + a",   "\"12345678\"", "\"12345679\"", "f(a)",     "{1, 2}",
        "{2, 1}", "[a = 1]", "[a = 2]",      "MY.a",         "TARGET.a", "a && b",
        "a || b", "!a",      "undefined",    "error"};
    size_t count = sizeof TEXTS / sizeof TEXTS[0];
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            struct ad_expr *a = parse(TEXTS[i]), *b = parse(TEXTS[j]);
            assert_int_equal(ad_expr_hash(a) == ad_expr_hash(b), i == j);
            ad_expr_destroy(a);
            ad_expr_destroy(b);
        }
    }
    struct ad_expr *a = parse("[Abc = 1; d = MEMory]"), *b = parse("[D = Memory; aBC = 1]");
    assert_true(ad_expr_same(a, b));
    assert_true(ad_expr_hash(a) == ad_expr_hash(b));
    ad_expr_destroy(a);
    ad_expr_destroy(b);
}

static void two_values_compare_as_their_literals_do(void **state)
{
    (void)state;
    static const char *const VALUES[] = {"1",     "2",    "1.0",   "1.5",       "\"a\"", "\"A\"",
                                         "\"b\"", "true", "false", "undefined", "error"};
    size_t count = sizeof VALUES / sizeof VALUES[0];
    for (size_t i = 0; i < count * count; i++) {
        struct ad_expr *a = parse(VALUES[i / count]), *b = parse(VALUES[i % count]);
        struct ad_value x, y;
        ad_eval(a, NULL, NULL, NULL, &x);
        ad_eval(b, NULL, NULL, NULL, &y);
        for (enum ad_compare op = AD_COMPARE_EQ; op <= AD_COMPARE_GE; op++) {
            char text[64];
            (void)snprintf(text, sizeof text, "%s %s %s", VALUES[i / count], ad_compare_text(op),
                           VALUES[i % count]);
            struct ad_expr *whole = parse(text);
            assert_int_equal(ad_compare_values(op, &x, &y), ad_eval_bool(whole, NULL, NULL, NULL));
            ad_expr_destroy(whole);
        }
        ad_value_fini(&x);
        ad_value_fini(&y);
        ad_expr_destroy(a);
        ad_expr_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_is_told_with_the_side_where_it_may_be),
        cmocka_unit_test(what_computes_names_or_takes_a_side_whole_may_look_up_all),
        cmocka_unit_test(equal_expressions_have_equal_hashes_and_others_do_not),
        cmocka_unit_test(two_values_compare_as_their_literals_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
