/* tests/unit/cli/test_classad_plans.c - what `roost classad match`, check and convert write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/mem.h"
#include "cli/classad/classad_batch_plan.h"
#include "cli/classad/classad_check_plan.h"
#include "cli/classad/classad_match_plan.h"
#include "cli/classad/classad_output_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1731000000};

static struct ad *one(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

/* ---- match ---- */

static bool match(const char *a, const char *b, struct strbuf *out)
{
    struct ad *left = one(a);
    struct ad *right = one(b);
    bool both = classad_match_print(left, right, &CONTEXT, out);
    ad_destroy(left);
    ad_destroy(right);
    return both;
}

static void both_ranks_are_told_of_a_match(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_true(match("[ Requirements = TARGET.m > 1; Rank = TARGET.m * 2 ]",
                      "[ m = 3; Requirements = true; Rank = \"x\" ]", &out));
    assert_non_null(strstr(strbuf_text(&out), "A Requirements: true\n"));
    assert_non_null(strstr(strbuf_text(&out), "A Rank: 6\n"));
    assert_non_null(strstr(strbuf_text(&out), "They match.\n"));
    strbuf_fini(&out);
}

static void the_clauses_that_fail_are_shown_with_their_values(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_false(match("[ n = 2; Requirements = TARGET.m > 5 && TARGET.ok && MY.n == 2 ]",
                       "[ m = 3; Requirements = START; START = TARGET.n == 7 ]", &out));
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "    false: TARGET.m > 5\n        TARGET.m = 3\n"));
    assert_non_null(strstr(text, "    undefined: TARGET.ok\n        TARGET.ok = not defined\n"));
    assert_null(strstr(text, "MY.n == 2\n"));
    assert_non_null(strstr(text, "    false: TARGET.n == 7   (in START)\n        TARGET.n = 2\n"));
    assert_non_null(strstr(text, "They do not match.\n"));
    strbuf_fini(&out);
}

static void an_ad_without_requirements_does_not_match(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_false(match("[ a = 1 ]", "[ Requirements = true ]", &out));
    assert_non_null(strstr(strbuf_text(&out), "A Requirements: none"));
    strbuf_fini(&out);
}

/* ---- check ---- */

static void tell(void *arg, struct ad_place place, const char *reason)
{
    (void)reason;
    strbuf_printf(arg, "%lu:%lu ", place.line, place.column);
}

static void faults(enum ad_form form, const char *text, size_t most, const char *expected)
{
    struct strbuf out;
    struct strbuf copy;
    strbuf_init(&out, 0);
    strbuf_init(&copy, 0);
    strbuf_puts(&copy, text);
    (void)classad_check_text(form, copy.data, copy.length, (struct ad_place){1, 1}, &CONTEXT, most,
                             tell, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&copy);
    strbuf_fini(&out);
}

static void every_fault_of_a_long_form_is_told(void **state)
{
    (void)state;
    faults(AD_FORM_LONG, "A = 1\nB = (2\nC 3\nD = 4 4\nE = \"x\n", 20, "2:7 3:3 4:7 5:5 ");
    faults(AD_FORM_LONG, "A = 1\nB = 2\n", 20, "");
}

static void every_fault_of_an_ad_in_brackets_is_told(void **state)
{
    (void)state;
    faults(AD_FORM_NEW, "[ a = ;\n  b = 1;\n  c = { 1, };\n  d = 2 3 ]", 20, "1:7 3:12 4:9 ");
    faults(AD_FORM_NEW, "[ a = [ b = ]; c = ( ]", 20, "1:13 1:22 ");
}

static void every_fault_of_an_object_is_told(void **state)
{
    (void)state;
    faults(AD_FORM_JSON, "{ \"a\": tru,\n  \"b\": 1,\n  \"c\": nul }", 20, "1:8 3:8 ");
}

static void no_more_faults_are_told_than_asked_for(void **state)
{
    (void)state;
    faults(AD_FORM_LONG, "A = (\nB = (\nC = (\nD = (\n", 2, "1:6 2:6 ");
}

/* ---- convert ---- */

static void ads_are_written_in_each_form(void **state)
{
    (void)state;
    static const struct {
        enum classad_form form;
        const char *expected;
        const char *nothing;
    } CASES[] = {
        {CLASSAD_NEW, "[ a = 1 ]\n[ b = 2 ]\n", ""},
        {CLASSAD_LONG, "a = 1\n\nb = 2\n", ""},
        {CLASSAD_JSON, "[\n{\n  \"a\": 1\n}\n,\n{\n  \"b\": 2\n}\n]\n", "[\n]\n"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct classad_output output = {.form = CASES[i].form};
        struct strbuf out;
        strbuf_init(&out, 0);
        classad_output_end(&output, &out);
        assert_string_equal(strbuf_text(&out), CASES[i].nothing);
        strbuf_clear(&out);
        struct ad *a = one("[ a = 1 ]");
        struct ad *b = one("[ b = 2 ]");
        classad_output_ad(&output, a, &out);
        classad_output_ad(&output, b, &out);
        classad_output_end(&output, &out);
        assert_string_equal(strbuf_text(&out), CASES[i].expected);
        ad_destroy(a);
        ad_destroy(b);
        strbuf_fini(&out);
    }
}

static void a_refused_ad_leaves_a_line_where_there_are_lines(void **state)
{
    (void)state;
    struct classad_output output = {.form = CLASSAD_LONG};
    struct strbuf out;
    strbuf_init(&out, 0);
    classad_output_refused(&output, &out);
    struct ad *a = one("[ a = 1 ]");
    classad_output_ad(&output, a, &out);
    classad_output_end(&output, &out);
    assert_string_equal(strbuf_text(&out), "PARSE-ERROR\n\na = 1\n");
    output = (struct classad_output){.form = CLASSAD_JSON};
    strbuf_clear(&out);
    classad_output_refused(&output, &out);
    classad_output_ad(&output, a, &out);
    assert_string_equal(strbuf_text(&out), "[\n{\n  \"a\": 1\n}\n");
    ad_destroy(a);
    strbuf_fini(&out);
}

/* ---- batch ---- */

static void a_line_of_a_batch_is_answered(void **state)
{
    (void)state;
    struct ad *empty = ad_create();
    static const struct {
        bool unparse, old, tsv;
        const char *line;
        const char *expected;
    } CASES[] = {
        {false, false, false, "1 + 1", "2"},
        {false, false, false, "1 +", "PARSE-ERROR"},
        {false, false, false, "size(\"a\\tb\")", "3"},
        {false, true, false, "size(\"a\\tb\")", "4"},
        {false, false, true, "[a = 2]\ta * 2", "4"},
        {false, false, true, "[a = 2\ta * 2", "PARSE-ERROR"},
        {false, false, true, "a * 2", "PARSE-ERROR"},
        {false, false, true, "[a = 2]\t[b = 3]\tTARGET.b + a", "5"},
        {false, false, true,
         "[Requirements = true]\t[Requirements = MY.x =?= undefined]\t"
         "symmetric-match",
         "true"},
        {true, false, false, "1+1", "1 + 1"},
        {true, false, false, "- 1", " -1"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct classad_batch batch = {.unparse = CASES[i].unparse,
                                      .old = CASES[i].old,
                                      .tsv = CASES[i].tsv,
                                      .my = empty,
                                      .context = &CONTEXT};
        struct strbuf out;
        strbuf_init(&out, 0);
        int rc = classad_batch_answer(&batch, CASES[i].line, strlen(CASES[i].line), &out, NULL);
        assert_string_equal(strbuf_text(&out), CASES[i].expected);
        assert_int_equal(rc == 0, strcmp(CASES[i].expected, CLASSAD_REFUSED) != 0);
        strbuf_fini(&out);
    }
    ad_destroy(empty);
}

UNIT_TESTS(UNIT(both_ranks_are_told_of_a_match),
           UNIT(the_clauses_that_fail_are_shown_with_their_values),
           UNIT(an_ad_without_requirements_does_not_match),
           UNIT(every_fault_of_a_long_form_is_told), UNIT(every_fault_of_an_ad_in_brackets_is_told),
           UNIT(every_fault_of_an_object_is_told), UNIT(no_more_faults_are_told_than_asked_for),
           UNIT(ads_are_written_in_each_form),
           UNIT(a_refused_ad_leaves_a_line_where_there_are_lines),
           UNIT(a_line_of_a_batch_is_answered))
