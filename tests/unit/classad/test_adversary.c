/* tests/unit/classad/test_adversary.c - expressions that want to take more than an evaluation may:
 * each ends, within the named limits, in a value.
 *
 * No clock is read here: an evaluation that goes beyond AD_EVAL_STEPS_MAX would hang this file, and
 * what stays below pays for its work in steps and bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static const struct ad_context CONTEXT = {.now_s = 1731000000};

static void repeat(struct strbuf *out, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        strbuf_puts(out, text);
    }
}

/* The value of an expression in an ad, as text of at most 200 bytes. */
static enum ad_type value_in(const struct ad *ad, const char *text, char shown[200])
{
    struct ad_expr *expr = NULL;
    struct ad_value value;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    ad_eval(expr, ad, NULL, &CONTEXT, &value);
    enum ad_type type = value.type;
    ad_value_print(&value, &out);
    (void)snprintf(shown, 200, "%.199s", strbuf_text(&out));
    strbuf_fini(&out);
    ad_value_fini(&value);
    ad_expr_destroy(expr);
    return type;
}

static void is_error(const struct ad *ad, const char *text)
{
    char shown[200];
    if (value_in(ad, text, shown) != AD_TYPE_ERROR) {
        fail_msg("%s is %s", text, shown);
    }
}

static void is_value(const struct ad *ad, const char *text, const char *expected)
{
    char shown[200];
    (void)value_in(ad, text, shown);
    assert_string_equal(shown, expected);
}

/* d0 is a text or list, and each next attribute is made of two of the one before. */
static struct ad *doubling(const char *first, const char *format, int count)
{
    struct ad *ad = NULL;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "[ d0 = %s; ", first);
    for (int i = 1; i <= count; i++) {
        char from[16];
        (void)snprintf(from, sizeof(from), "d%d", i - 1);
        strbuf_printf(&text, "d%d = ", i);
        for (const char *at = format; *at != '\0'; at++) {
            if (*at == '$') {
                strbuf_puts(&text, from);
            } else {
                strbuf_putc(&text, *at);
            }
        }
        strbuf_puts(&text, "; ");
    }
    strbuf_puts(&text, "]");
    assert_int_equal(ad_parse(strbuf_text(&text), text.length, &ad, NULL), 0);
    strbuf_fini(&text);
    return ad;
}

static void texts_that_double_end_at_the_limit_of_a_text(void **state)
{
    (void)state;
    static const char *const FORMATS[] = {"strcat($, $)",
                                          "join(\",\", $, $)",
                                          "replaceAll(\"x\", $, \"xx\")",
                                          "$ + $",

                                          "unparse(d0) + strcat($, $)",
                                          "join(\"\", {$, $})",
                                          "regexps(\"(.*)\", $, \"\\\\1\\\\1\")"};
    for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
        struct ad *ad = doubling("\"xxxxxxxx\"", FORMATS[i], 40);
        is_error(ad, "size(d40)");
        ad_destroy(ad);
    }
}

static void lists_that_double_end_at_the_limit_of_an_evaluation(void **state)
{
    (void)state;
    static const char *const FORMATS[] = {"{ $, $ }", "[ a = $; b = $ ]"};
    static const char *const ASKED[] = {"size(string(d40))", "unparse(d40)", "d40 is d39",
                                        "string(d40)", "join(\",\", split(string(d40)))"};
    for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
        struct ad *ad = doubling("{ 1 }", FORMATS[i], 40);
        for (size_t k = 0; k < sizeof(ASKED) / sizeof(ASKED[0]); k++) {
            char shown[200];
            (void)value_in(ad, ASKED[k], shown); /* it ends */
        }
        ad_destroy(ad);
    }
}

static void numbers_that_double_end_at_the_limit_of_steps(void **state)
{
    (void)state;
    static const char *const FORMATS[] = {
        "$ + $",           "max({$, $})",
        "$ ?: $ + $",      "($ < 0) ? $ : $",
        "eval(\"$\") + $", "ifThenElse($ > 0, $ + $, 0)",
        "sum({$, $})",     "evalInEachContext($, {[],[]})[0] + $"};
    for (size_t i = 0; i < sizeof(FORMATS) / sizeof(FORMATS[0]); i++) {
        struct ad *ad = doubling("1", FORMATS[i], 60);
        char shown[200];
        (void)value_in(ad, "d60 + 1", shown);
        ad_destroy(ad);
    }
    struct ad *ad = doubling("1", "$ + $", 60);
    is_error(ad, "d60");
    is_error(ad, "isError(d60)"); /* what hides errors does not hide this one */
    ad_destroy(ad);
}

static struct ad *long_things(void)
{
    struct ad *ad = NULL;
    struct strbuf text;
    strbuf_init(&text, 8 << 20);
    strbuf_puts(&text, "[ words = \"a");
    repeat(&text, 100000, ",b");
    strbuf_puts(&text, "\"; blanks = \"");
    repeat(&text, 500000, "  ");
    strbuf_puts(&text, "\"; a = \"");
    repeat(&text, 500000, "a");
    strbuf_puts(&text, "\"; numbers = { 1");
    repeat(&text, 20000, ",1");
    strbuf_puts(&text, " }; ads = { []");
    repeat(&text, 20000, ",[]");
    strbuf_puts(&text, " }; env = \"a=1");
    repeat(&text, 50000, ";b=1");
    strbuf_puts(&text, "\"; quotes = \"");
    repeat(&text, 100000, "' ");
    strbuf_puts(&text, "\" ]");
    assert_int_equal(ad_parse(strbuf_text(&text), text.length, &ad, NULL), 0);
    strbuf_fini(&text);
    return ad;
}

static void functions_on_long_things_pay_for_what_they_do(void **state)
{
    (void)state;
    struct ad *ad = long_things();
    static const char *const TEXTS[] = {
        "size(split(words))",
        "size(split(a, \"a\"))",
        "size(split(blanks, \"x\"))",
        "size(stringListSize(words))",
        "stringListSum(words)",
        "stringListMember(\"z\", words)",
        "stringListIMember(\"z\", words)",
        "stringListsIntersect(words, words)",
        "stringListSubsetMatch(words, words)",
        "stringListISubsetMatch(words, words)",
        "stringListRegexpMember(\"(a+)+$\", words)",
        "stringList_regexpMember(\"(a+)+$\", words)",
        "replaceAll(\"a\", a, \"bb\")",
        "replaceAll(\"(a*)*b\", a, \"\")",
        "replaceAll(\"\", a, \"x\")",
        "regexp(\"(a+)+$\", strcat(a, \"b\"))",
        "regexp(\"(a|a)*b\", a)",
        "regexp(\"(?=(a+))a*b\\\\1\", a)",
        "regexps(\"a\", a, \"x\", \"g\")",
        "regexps(\"(a?){30}a{30}\", a, \"x\", \"g\")",
        "sum(numbers)",
        "quantize(2, numbers)",
        "quantize(numbers, 2)",
        "member(2, numbers)",
        "identicalMember(2, numbers)",
        "anyCompare(\"<\", numbers, 1)",
        "allCompare(\"==\", numbers, 1)",
        "evalInEachContext(size(numbers), ads)",
        "countMatches(size(numbers) > 0, ads)",
        "evalInEachContext(evalInEachContext(1, ads), ads)",
        "countMatches(countMatches(countMatches(true, ads), ads) > 0, ads)",
        "evalInEachContext(split(words), ads)",
        "join(\",\", numbers)",
        "join(words, numbers)",
        "toUpper(a)",
        "size(unparse(numbers))",
        "string(numbers)",
        "mergeEnvironment(env, env)",
        "envV1ToV2(env)",
        "listToArgs(split(words))",
        "argsToList(words)",
        "argsV1ToV2(quotes)",
        "argsV2ToV1(quotes)",
        "formatTime(0, a)",
        "versioncmp(a, a)",
        "versionLE(a, a)",
        "strcmp(a, a)",
        "substr(a, 1)",
        "splitUserName(a)",
        "splitSlotName(a)",
        "eval(a)",
        "eval(unparse(ads))",
        "userMap(a, a)",
        "numbers is numbers",
        "ads =?= ads",
        "size(merge(ads))",
        "absTime(a)",
        "relTime(a)",
        "int(a)",
        "real(a)",
        "bool(a)",
        "unresolved(a)",
        "hasRegexpCapture(a)",
        "strcat(a,a,a)",
    };
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        char shown[200];
        (void)value_in(ad, TEXTS[i], shown); /* each ends, whatever it is */
        struct strbuf all; /* and a hundred of them cost no more than one evaluation may */
        strbuf_init(&all, 0);
        strbuf_puts(&all, "false");
        for (int k = 0; k < 100; k++) {
            strbuf_printf(&all, " || (%s) is 17", TEXTS[i]);
        }
        (void)value_in(ad, strbuf_text(&all), shown);
        strbuf_fini(&all);
    }
    is_value(ad, "size(split(words))", "100001");
    is_value(ad, "sum(numbers)", "20001");
    is_error(ad, "evalInEachContext(evalInEachContext(1, ads), ads)");
    is_error(ad, "countMatches(size(split(words)) > 0, ads)");
    is_error(ad, "regexp(\"(a+)+[b-d]$\", a)");
    ad_destroy(ad);
}

static void an_environment_may_have_thousands_of_variables(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[ env = \"");
    for (int i = 0; i < 10000; i++) {
        strbuf_printf(&text, "V%d=%d ", (i * 7919) % 10000, i);
    }
    strbuf_puts(&text, "\" ]");
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(strbuf_text(&text), text.length, &ad, NULL), 0);
    is_value(ad, "substr(mergeEnvironment(env, \"V0=x\"), 0, 12)", "\"V0=x V1=7679\"");
    strbuf_fini(&text);
    ad_destroy(ad);
}

static void what_comes_one_after_another_is_not_deep(void **state)
{
    (void)state;
    struct strbuf text;
    struct ad *ad = ad_create();
    strbuf_init(&text, 0);
    strbuf_puts(&text, "0");
    repeat(&text, 2 * AD_EVAL_DEPTH_MAX, " + {[a=1]}.a[0]");
    is_value(ad, strbuf_text(&text), "6000");
    strbuf_fini(&text);
    ad_destroy(ad);
}

static void deep_things_end_in_a_limit_of_the_text(void **state)
{
    (void)state;
    static const char *const OPENERS[] = {"(",         "{",          "[ a = ", "f(",   "- ",
                                          "! ",        "~ ",         "a[",     "1 ? ", "1 ? 2 : ",
                                          "\"x\" ?: ", "a . b . c[", "1 + ("};
    static const enum ad_syntax SYNTAXES[] = {AD_NEW, AD_OLD};
    for (size_t i = 0; i < 2 * sizeof(OPENERS) / sizeof(OPENERS[0]); i++) {
        struct strbuf text;
        struct ad_expr *expr = NULL;
        strbuf_init(&text, 8 << 20);
        repeat(&text, 100000, OPENERS[i / 2]);
        strbuf_putc(&text, '1');
        int rc = ad_expr_parse(strbuf_text(&text), text.length, SYNTAXES[i % 2], &expr, NULL);
        if (rc != -E2BIG && rc != -EINVAL) {
            fail_msg("'%s' nests without end", OPENERS[i / 2]);
        }
        strbuf_fini(&text);
    }
}

static void texts_that_are_too_long_are_refused_at_once(void **state)
{
    (void)state;
    struct strbuf text;
    struct ad_expr *expr = NULL;
    struct ad *ad = NULL;
    strbuf_init(&text, AD_TEXT_MAX + 4096);
    strbuf_puts(&text, "1");
    while (text.length <= AD_TEXT_MAX) {
        strbuf_puts(&text, " + 1 ");
    }
    assert_int_equal(ad_expr_parse(strbuf_text(&text), text.length, AD_NEW, &expr, NULL), -E2BIG);
    assert_int_equal(ad_expr_parse(strbuf_text(&text), text.length, AD_OLD, &expr, NULL), -E2BIG);
    assert_int_equal(ad_parse(strbuf_text(&text), text.length, &ad, NULL), -E2BIG);
    assert_int_equal(ad_parse_long(strbuf_text(&text), text.length, &ad, NULL), -E2BIG);
    assert_int_equal(ad_parse_json(strbuf_text(&text), text.length, NULL, &ad, NULL, NULL), -E2BIG);
    strbuf_fini(&text);
}

static void chains_of_attributes_end_in_the_limit_of_depth(void **state)
{
    (void)state;
    struct ad *ad = NULL;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[ d0 = 1; ");
    for (int i = 1; i <= 10000; i++) {
        strbuf_printf(&text, "d%d = d%d + 1; ", i, i - 1);
    }
    strbuf_puts(&text, "]");
    assert_int_equal(ad_parse(strbuf_text(&text), text.length, &ad, NULL), 0);
    is_error(ad, "d10000");
    is_value(ad, "d500", "501");
    strbuf_fini(&text);
    ad_destroy(ad);
}

/* ---- the work is told ---- */

static struct ad_work work_of(const struct ad *ad, const char *text, uint32_t steps_max)
{
    struct ad_work work = {.steps_max = steps_max};
    struct ad_expr *expr = NULL;
    const struct ad_context context = {.now_s = 1731000000, .work = &work};
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    (void)ad_eval_bool(expr, ad, NULL, &context); /* its value does not matter */
    ad_expr_destroy(expr);
    return work;
}

static void an_evaluation_tells_what_it_cost(void **state)
{
    (void)state;
    struct ad *ad = NULL;
    static const char TEXT[] = "[ a = 1; text = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\" ]";
    assert_int_equal(ad_parse(TEXT, sizeof(TEXT) - 1, &ad, NULL), 0);
    uint64_t little = work_of(ad, "a == 1", 0).steps;
    assert_in_range(little, 1, 20);
    assert_in_range(work_of(ad, "regexp(\"a+b\", text)", 0).steps, 20, 500);
    struct ad_work heavy = work_of(ad, "regexp(\"(a+)+$\", text)", 0);
    assert_int_equal(heavy.steps, AD_EVAL_STEPS_MAX); /* it wanted more */
    assert_int_equal(heavy.over, 1);
    assert_int_equal(work_of(ad, "regexp(\"(a+)+b\", text)", 0).over, 0);
    for (int i = 0; i < 3; i++) { /* whatever is kept from before */
        assert_int_equal(work_of(ad, "regexp(\"(a|aa)+b\", text)", 0).steps,
                         work_of(ad, "regexp(\"(a|aa)+b\", text)", 0).steps);
    }
    ad_destroy(ad);
}

static void a_large_pattern_costs_more_than_a_small_one(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    uint64_t small = work_of(ad, "regexp(\"(((ab){1,2}c){1,2})\", \"x\")", 0).steps;
    uint64_t large = work_of(ad, "regexp(\"(((ab){1,30}c){1,30})\", \"x\")", 0).steps;
    assert_true(large > 10 * small);
    ad_destroy(ad);
}

static void the_caller_may_give_an_evaluation_fewer_steps(void **state)
{
    (void)state;
    struct ad *ad = doubling("1", "$ + $", 8); /* some thousand steps */
    assert_int_equal(work_of(ad, "d8", 0).over, 0);
    struct ad_work work = work_of(ad, "d8", 500);
    assert_int_equal(work.over, 1);
    assert_int_equal(work.steps, 500);
    assert_int_equal(work_of(ad, "d8", UINT32_MAX).over, 0);
    ad_destroy(ad);
    ad = doubling("1", "$ + $", 40);
    assert_int_equal(work_of(ad, "d40", UINT32_MAX).steps, AD_EVAL_STEPS_MAX); /* never more */
    ad_destroy(ad);
}

/* A request's list of names is taken out element by element. */
static void all_that_is_taken_out_of_a_value_shares_its_steps(void **state)
{
    (void)state;
    struct strbuf text;
    struct ad *ad = NULL;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[ t = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"; l = { { 7 }");
    repeat(&text, 2000, ", { 7, regexp(\"(a+)+$\", t) }, regexp(\"(a+)+$\", t), \"x\"");
    strbuf_puts(&text, "} ]");
    assert_int_equal(ad_parse(strbuf_text(&text), text.length, &ad, NULL), 0);
    struct ad_value list;
    assert_int_equal(ad_eval_attr(ad, NULL, "l", &CONTEXT, &list), 0);
    assert_int_equal(ad_value_count(&list), 6001);
    size_t literals = 0;
    for (size_t i = 0; i < ad_value_count(&list); i++) { /* without end, if each had a budget */
        struct ad_value item, inner;
        ad_value_item(&list, i, &item);
        for (size_t k = 0; k < ad_value_count(&item); k++) {
            ad_value_item(&item, k, &inner);
            literals += inner.type == AD_TYPE_INT ? 1 : 0;
            ad_value_fini(&inner);
        }
        literals += item.type == AD_TYPE_STRING ? 1 : 0;
        ad_value_fini(&item);
    }
    assert_in_range(literals, 2001, 2003); /* elements that need no evaluation stay readable */
    ad_value_fini(&list);
    strbuf_fini(&text);
    ad_destroy(ad);
}

static void a_getter_takes_less_than_an_evaluation_may(void **state)
{
    (void)state;
    struct ad *ad = NULL;
    int64_t number = 7;
    static const char TEXT[] =
        "[ t = \"aaaaaaaaaaaaab\"; dear = ifThenElse(regexp(\"(a+)+$\", t), 1, 2);"
        " plain = ifThenElse(regexp(\"a+\", t), 1, 2) ]";
    assert_int_equal(ad_parse(TEXT, sizeof(TEXT) - 1, &ad, NULL), 0);
    assert_int_equal(ad_get_int(ad, "plain", &number), 0);
    assert_int_equal(number, 1);
    assert_int_equal(ad_get_int(ad, "dear", &number), -EINVAL);
    assert_int_equal(number, 1);
    is_value(ad, "dear", "2"); /* a policy may still take it */
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(a_getter_takes_less_than_an_evaluation_may), UNIT(an_evaluation_tells_what_it_cost),
           UNIT(a_large_pattern_costs_more_than_a_small_one),
           UNIT(the_caller_may_give_an_evaluation_fewer_steps),
           UNIT(all_that_is_taken_out_of_a_value_shares_its_steps),
           UNIT(texts_that_double_end_at_the_limit_of_a_text),
           UNIT(lists_that_double_end_at_the_limit_of_an_evaluation),
           UNIT(numbers_that_double_end_at_the_limit_of_steps),
           UNIT(functions_on_long_things_pay_for_what_they_do),
           UNIT(an_environment_may_have_thousands_of_variables),
           UNIT(what_comes_one_after_another_is_not_deep),
           UNIT(deep_things_end_in_a_limit_of_the_text),
           UNIT(texts_that_are_too_long_are_refused_at_once),
           UNIT(chains_of_attributes_end_in_the_limit_of_depth))
