/* tests/unit/negotiator/test_significant_plan.c - what machines' policies look at in jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad.h"
#include "base/strbuf.h"
#include "negotiator/significant_plan.h"
#include "tests/support/unit.h"

static bool look(struct significant *significant, const char *text)
{
    struct ad *slot = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &slot, NULL), 0);
    bool more = significant_slot(significant, slot);
    ad_destroy(slot);
    return more;
}

static void expect(const struct significant *significant, const char *expected)
{
    struct ad *ad = ad_create();
    struct strbuf out;
    strbuf_init(&out, 0);
    significant_write(significant, ad);
    ad_expr_print(ad_lookup(ad, "SignificantAttributes"), AD_NEW, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void names_are_found_behind_other_attributes_once(void **state)
{
    (void)state;
    struct significant *significant = significant_create();
    assert_false(look(significant, "[Requirements = true; Rank = 0; Other = TARGET.Unused]"));
    assert_false(look(significant, "[Name = \"x\"]"));
    expect(significant, "{  }");
    assert_true(look(significant, "[Requirements = Start; Start = TARGET.WantIt && Memory > 1 && "
                                  "Limit(Owner); Memory = 5; Rank = TARGET.Department == \"x\"]"));
    expect(significant, "{ \"WantIt\",\"Owner\",\"Department\" }");
    assert_false(look(significant, "[Requirements = target.wantit]"));
    assert_true(look(significant, "[Requirements = Memory > 1]"));
    expect(significant, "{ \"WantIt\",\"Owner\",\"Department\",\"Memory\" }");
    significant_destroy(significant);
}

static void expressions_of_the_configuration_give_the_jobs_names(void **state)
{
    (void)state;
    struct significant *significant = significant_create();
    struct ad_expr *expr = NULL;
    const char *const TEXT = "TARGET.Urgent * 10 + MY.Memory";
    assert_int_equal(ad_expr_parse(TEXT, strlen(TEXT), AD_OLD, &expr, NULL), 0);
    assert_false(significant_expr(significant, NULL));
    assert_true(significant_expr(significant, expr));
    assert_false(significant_expr(significant, expr));
    expect(significant, "{ \"Urgent\" }");
    ad_expr_destroy(expr);
    significant_destroy(significant);
}

static void names_that_are_too_many_are_left_out(void **state)
{
    (void)state;
    struct significant *significant = significant_create();
    char text[64];
    for (int i = 0; i < SIGNIFICANT_NAMES_MAX; i++) {
        (void)snprintf(text, sizeof text, "[Requirements = TARGET.A%d]", i);
        assert_true(look(significant, text));
    }
    assert_false(look(significant, "[Requirements = TARGET.More]"));
    significant_destroy(significant);
}

UNIT_TESTS(UNIT(names_are_found_behind_other_attributes_once),
           UNIT(expressions_of_the_configuration_give_the_jobs_names),
           UNIT(names_that_are_too_many_are_left_out))
