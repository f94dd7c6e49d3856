/* tests/unit/classad/test_ad_eval.c - evaluation: limits, context, values that leave.  What
 * expressions yield is in test_conformance.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/strbuf.h"
#include "classad/ad.h"
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
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    return expr;
}

static void assert_value(const struct ad_value *value, const char *expected)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_value_print(value, &text);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_fini(&text);
}

static void assert_evaluates(const char *text, const struct ad *my, const struct ad *target,
                             const struct ad_context *context, const char *expected)
{
    struct ad_expr *expr = expr_of(text);
    struct ad_value value;
    ad_eval(expr, my, target, context, &value);
    assert_value(&value, expected);
    ad_value_fini(&value);
    ad_expr_destroy(expr);
}

static void an_expression_needs_no_ad(void **state)
{
    (void)state;
    assert_evaluates("1 + 2", NULL, NULL, NULL, "3");
    assert_evaluates("x", NULL, NULL, NULL, "undefined");
    assert_evaluates("MY.x", NULL, NULL, NULL, "undefined");
    struct ad *target = ad_of("[x = 4]");
    assert_evaluates("x + TARGET.x", NULL, target, NULL, "8");
    ad_destroy(target);
}

static void a_name_that_refers_to_itself_is_undefined_there(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[a = b + 1; b = a; c = c; d = isUndefined(d)]");
    assert_evaluates("a", ad, NULL, NULL, "undefined");
    assert_evaluates("c", ad, NULL, NULL, "undefined");
    assert_evaluates("d", ad, NULL, NULL, "true");
    ad_destroy(ad);
}

static void an_expression_shared_by_both_sides_is_no_cycle(void **state)
{
    (void)state;
    struct ad *my = ad_of("[Sum = X + (TARGET.Sum ?: 0); X = 1]");
    struct ad *target = ad_copy(my);
    ad_set_int(target, "X", 10);
    assert_evaluates("Sum", my, target, NULL, "11");
    ad_destroy(my);
    ad_destroy(target);
}

static void doubling_ends_at_the_limit_of_steps(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    for (int i = 0; i < 40; i++) {
        char name[16];
        char text[64];
        (void)snprintf(name, sizeof(name), "a%d", i);
        (void)snprintf(text, sizeof(text), "a%d + a%d", i + 1, i + 1);
        assert_int_equal(ad_set_expr(ad, name, text, NULL), 0);
    }
    ad_set_int(ad, "a40", 1);
    assert_evaluates("a30", ad, NULL, NULL, "1024");
    assert_evaluates("a0", ad, NULL, NULL, "error");
    assert_evaluates("isError(a0) || true", ad, NULL, NULL, "error"); /* nothing hides a limit */
    struct ad_expr *expr = expr_of("a0");
    assert_int_equal(ad_eval_bool(expr, ad, NULL, NULL), AD_ERROR);
    assert_true(ad_eval_rank(expr, ad, NULL, NULL) == 0.0);
    ad_expr_destroy(expr);
    ad_destroy(ad);
}

static void a_long_chain_of_names_ends_at_the_limit_of_depth(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    for (int i = 0; i < 5000; i++) {
        char name[16];
        char text[64];
        (void)snprintf(name, sizeof(name), "a%d", i);
        (void)snprintf(text, sizeof(text), "a%d", i + 1);
        assert_int_equal(ad_set_expr(ad, name, text, NULL), 0);
    }
    ad_set_int(ad, "a5000", 7);
    assert_evaluates("a4600", ad, NULL, NULL, "7");
    assert_evaluates("a0", ad, NULL, NULL, "error");
    ad_destroy(ad);
}

static void deep_trees_in_a_chain_end_at_the_limit_of_depth(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    char text[400];
    for (int i = 0; i < 40; i++) {
        char name[16];
        size_t length = 0;
        for (; length < 200; length += 2) {
            text[length] = '-';
            text[length + 1] = ' ';
        }
        (void)snprintf(name, sizeof(name), "a%d", i);
        (void)snprintf(text + length, sizeof(text) - length, "a%d", i + 1);
        assert_int_equal(ad_set_expr(ad, name, text, NULL), 0);
    }
    ad_set_int(ad, "a40", 7);
    assert_evaluates("a20", ad, NULL, NULL, "7");
    assert_evaluates("a0", ad, NULL, NULL, "error");
    ad_destroy(ad);
}

static void strings_that_grow_end_at_the_limit_of_bytes(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    ad_set_string(ad, "s0", "0123456789");
    for (int i = 1; i < 30; i++) {
        char name[16];
        char text[64];
        (void)snprintf(name, sizeof(name), "s%d", i);
        (void)snprintf(text, sizeof(text), "strcat(s%d, s%d)", i - 1, i - 1);
        assert_int_equal(ad_set_expr(ad, name, text, NULL), 0);
    }
    assert_evaluates("size(s10)", ad, NULL, NULL, "10240");
    assert_evaluates("s29", ad, NULL, NULL, "error");
    ad_destroy(ad);
}

static void work_on_long_texts_counts(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"s == t",
                                        "strcmp(s, t) == 0",
                                        "member(s, {t, t, t})",
                                        "stringListMember(\"x\", s)",
                                        "regexp(\"x$\", s)",
                                        "toUpper(s) == s"};
    char *text = malloc(AD_STRING_MAX);
    memset(text, 'a', AD_STRING_MAX - 1);
    text[AD_STRING_MAX - 1] = '\0';
    struct ad *ad = ad_create();
    ad_set_string(ad, "s", text);
    ad_set_string(ad, "t", text);
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct ad_expr *once = expr_of(TEXTS[i]);
        assert_int_not_equal(ad_eval_bool(once, ad, NULL, NULL), AD_ERROR);
        ad_expr_destroy(once);
        struct strbuf many;
        struct ad_expr *expr = NULL;
        strbuf_init(&many, 0);
        strbuf_puts(&many, "{");
        for (int j = 0; j < 2000; j++) {
            strbuf_printf(&many, "%s%s", j > 0 ? "," : "", TEXTS[i]);
        }
        strbuf_puts(&many, "}");
        struct strbuf all;
        strbuf_init(&all, 0);
        strbuf_printf(&all, "sum(%s)", strbuf_text(&many));
        assert_int_equal(ad_expr_parse(all.data, all.length, AD_NEW, &expr, NULL), 0);
        assert_int_equal(ad_eval_bool(expr, ad, NULL, NULL), AD_ERROR);
        ad_expr_destroy(expr);
        strbuf_fini(&many);
        strbuf_fini(&all);
    }
    ad_destroy(ad);
    free(text);
}

static void eval_inside_eval_ends(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[a = eval(\"a\"); b = eval(\"eval(\\\"b + 1\\\")\")]");
    assert_evaluates("a", ad, NULL, NULL, "undefined");
    assert_evaluates("b", ad, NULL, NULL, "undefined");
    ad_destroy(ad);
}

static int32_t two_hours_east(void *arg, int64_t at_s)
{
    (void)at_s;
    return *(int32_t *)arg;
}

static void time_zone_and_chance_come_from_the_context(void **state)
{
    (void)state;
    int32_t offset_s = 7200;
    uint64_t seed = 42;
    struct ad_context context = {.now_s = 1700000000,
                                 .random_state = &seed,
                                 .zone_offset_s = two_hours_east,
                                 .arg = &offset_s};
    assert_evaluates("time()", NULL, NULL, &context, "1700000000");
    assert_evaluates("currentTime()", NULL, NULL, &context,
                     "absTime(\"2023-11-15T00:13:20+02:00\")");
    assert_evaluates("dayTime()", NULL, NULL, &context, "relTime(\"13:20\")");
    assert_evaluates("timeZoneOffset()", NULL, NULL, &context, "relTime(\"02:00:00\")");
    assert_evaluates("random(10) >= 0 && random() < 1.0", NULL, NULL, &context, "true");
    assert_evaluates("getHours(absTime(\"2024-03-01T23:30:00Z\"))", NULL, NULL, &context, "1");
    assert_evaluates("formatTime(0, \"%H %s\")", NULL, NULL, &context, "\"02 0\"");
    assert_evaluates("splitTime(0).Hours", NULL, NULL, &context, "2");
    assert_true(seed != 42);
    assert_evaluates("time()", NULL, NULL, NULL, "undefined");
    context.random_state = NULL;
    assert_evaluates("random(10)", NULL, NULL, &context, "undefined");
}

static bool asks_the_clock(const char *text)
{
    static const char *const ADS[] = {"[a = 1; b = a + c; c = 2; later = time() > 5]"};
    uint64_t seed = 42;
    int32_t offset_s = 3600;
    bool is_timely = false;
    const struct ad_context context = {.now_s = 1700000000,
                                       .random_state = &seed,
                                       .zone_offset_s = two_hours_east,
                                       .arg = &offset_s,
                                       .is_timely = &is_timely};
    struct ad *ad = NULL;
    struct ad_expr *expr = NULL;
    struct ad_value value;
    assert_int_equal(ad_parse(ADS[0], strlen(ADS[0]), &ad, NULL), 0);
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_NEW, &expr, NULL), 0);
    ad_eval(expr, ad, NULL, &context, &value);
    ad_value_fini(&value);
    ad_expr_destroy(expr);
    ad_destroy(ad);
    return is_timely;
}

static void an_evaluation_tells_whether_it_asked_the_clock(void **state)
{
    (void)state;
    assert_false(asks_the_clock("a + b > 3 && strcat(\"x\", \"y\") == \"xy\""));
    assert_false(asks_the_clock("a == 1 || later"));
    assert_true(asks_the_clock("a == 2 || later"));
    assert_true(asks_the_clock("time() > 0"));
    assert_true(asks_the_clock("currentTime() =!= undefined"));
    assert_true(asks_the_clock("dayTime() =!= undefined"));
    assert_true(asks_the_clock("timeZoneOffset() =!= undefined"));
    assert_true(asks_the_clock("absTime() =!= undefined"));
    assert_true(asks_the_clock("random(10) < 5"));
    assert_false(asks_the_clock("absTime(\"2024-03-01T23:30:00Z\") =!= undefined"));
}

static void the_same_seed_gives_the_same_numbers(void **state)
{
    (void)state;
    struct ad_expr *expr = expr_of("random(1000000)");
    int64_t numbers[2][5];
    for (int run = 0; run < 2; run++) {
        uint64_t seed = 7;
        struct ad_context context = {.random_state = &seed};
        for (int i = 0; i < 5; i++) {
            struct ad_value value;
            ad_eval(expr, NULL, NULL, &context, &value);
            assert_int_equal(value.type, AD_TYPE_INT);
            numbers[run][i] = value.integer;
        }
    }
    assert_memory_equal(numbers[0], numbers[1], sizeof(numbers[0]));
    assert_true(numbers[0][0] != numbers[0][1]);
    ad_expr_destroy(expr);
}

static void a_list_that_left_evaluates_its_elements_where_it_was_written(void **state)
{
    (void)state;
    struct ad *my = ad_of("[x = 1; l = {x, x + TARGET.y, [z = x; x = 5], split(\"a b\")}]");
    struct ad *target = ad_of("[y = 10]");
    struct ad_value list;
    struct ad_value item;
    assert_int_equal(ad_eval_attr(my, target, "l", NULL, &list), 0);
    assert_int_equal(ad_value_count(&list), 4);
    ad_value_item(&list, 1, &item);
    assert_value(&item, "11");
    ad_value_fini(&item);
    ad_value_item(&list, 2, &item);
    struct ad_value inner;
    ad_value_attr(&item, "Z", &inner);
    assert_value(&inner, "5");
    ad_value_fini(&inner);
    ad_value_attr(&item, "none", &inner);
    assert_value(&inner, "undefined");
    ad_value_fini(&item);
    ad_value_item(&list, 3, &item);
    assert_value(&item, "{ \"a\",\"b\" }");
    ad_value_item(&item, 1, &inner);
    assert_value(&inner, "\"b\"");
    ad_value_fini(&inner);
    ad_value_fini(&item);
    ad_value_item(&list, 4, &item);
    assert_value(&item, "undefined");
    ad_value_fini(&list);
    assert_int_equal(ad_value_count(&list), 0);
    ad_destroy(my);
    ad_destroy(target);
}

static void a_value_outlives_the_text_that_eval_parsed(void **state)
{
    (void)state;
    assert_evaluates("eval(\"{1+1,[a=2]}\")", NULL, NULL, NULL, "{ 1 + 1,[ a = 2 ] }");
    assert_evaluates("eval(\"\\\"text\\\"\")", NULL, NULL, NULL, "\"text\"");
    assert_evaluates("eval(\"{\\\"x\\\"}\")[0]", NULL, NULL, NULL, "\"x\"");
}

static void numbers_booleans_and_literal_strings_own_no_memory(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[n = 4; s = \"x\"]");
    static const char *const TEXTS[] = {"n * 2 + 1", "n > 3 && s == \"X\"", "n / 2.0"};
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct ad_expr *expr = expr_of(TEXTS[i]);
        struct ad_value value;
        ad_eval(expr, ad, NULL, NULL, &value);
        assert_null(value.memory);
        assert_true(value.type != AD_TYPE_ERROR);
        ad_expr_destroy(expr);
    }
    ad_destroy(ad);
}

static void truth_and_rank_of_every_type(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ad_truth truth;
        double rank;
    } CASES[] = {
        {"true", AD_TRUE, 1},      {"false", AD_FALSE, 0},         {"3", AD_TRUE, 3},
        {"0", AD_FALSE, 0},        {"-2.5", AD_TRUE, -2.5},        {"0.0", AD_FALSE, 0},
        {"\"true\"", AD_ERROR, 0}, {"undefined", AD_UNDEFINED, 0}, {"error", AD_ERROR, 0},
        {"{1}", AD_ERROR, 0},      {"[a=1]", AD_ERROR, 0},         {"relTime(5)", AD_ERROR, 0},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct ad_expr *expr = expr_of(CASES[i].text);
        assert_int_equal(ad_eval_bool(expr, NULL, NULL, NULL), CASES[i].truth);
        assert_true(ad_eval_rank(expr, NULL, NULL, NULL) == CASES[i].rank);
        ad_expr_destroy(expr);
    }
}

static void an_absent_attribute_is_told_from_an_undefined_one(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[u = undefined]");
    struct ad_value value;
    assert_int_equal(ad_eval_attr(ad, NULL, "none", NULL, &value), -ENOENT);
    assert_int_equal(value.type, AD_TYPE_UNDEFINED);
    assert_int_equal(ad_eval_attr(ad, NULL, "U", NULL, &value), 0);
    assert_int_equal(value.type, AD_TYPE_UNDEFINED);
    ad_destroy(ad);
}

static void bare_printing_leaves_the_quotes_out(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *bare;
    } CASES[] = {{"\"a b\"", "a b"},
                 {"1.5", "1.5"},
                 {"{\"x\"}", "{ \"x\" }"},
                 {"undefined", "undefined"}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct ad_expr *expr = expr_of(CASES[i].text);
        struct ad_value value;
        struct strbuf text;
        strbuf_init(&text, 0);
        ad_eval(expr, NULL, NULL, NULL, &value);
        ad_value_print_bare(&value, &text);
        assert_string_equal(strbuf_text(&text), CASES[i].bare);
        strbuf_fini(&text);
        ad_value_fini(&value);
        ad_expr_destroy(expr);
    }
}

UNIT_TESTS(UNIT(an_expression_needs_no_ad), UNIT(a_name_that_refers_to_itself_is_undefined_there),
           UNIT(an_expression_shared_by_both_sides_is_no_cycle),
           UNIT(doubling_ends_at_the_limit_of_steps),
           UNIT(a_long_chain_of_names_ends_at_the_limit_of_depth),
           UNIT(strings_that_grow_end_at_the_limit_of_bytes), UNIT(work_on_long_texts_counts),
           UNIT(eval_inside_eval_ends), UNIT(deep_trees_in_a_chain_end_at_the_limit_of_depth),
           UNIT(time_zone_and_chance_come_from_the_context),
           UNIT(an_evaluation_tells_whether_it_asked_the_clock),
           UNIT(the_same_seed_gives_the_same_numbers),
           UNIT(a_list_that_left_evaluates_its_elements_where_it_was_written),
           UNIT(a_value_outlives_the_text_that_eval_parsed),
           UNIT(numbers_booleans_and_literal_strings_own_no_memory),
           UNIT(truth_and_rank_of_every_type),
           UNIT(an_absent_attribute_is_told_from_an_undefined_one),
           UNIT(bare_printing_leaves_the_quotes_out))
