/* tests/unit/classad/test_ad_parse.c - refusals and limits of the parsers; what they accept is in
 * test_conformance.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static void assert_refused(const char *text, enum ad_syntax syntax, int code, const char *reason)
{
    struct ad_expr *expr = NULL;
    struct err err;
    assert_int_equal(ad_expr_parse(text, strlen(text), syntax, &expr, &err), code);
    assert_null(expr);
    assert_string_equal(err.text, reason);
}

static void errors_name_the_byte_and_what_was_expected(void **state)
{
    (void)state;
    assert_refused("", AD_NEW, -EINVAL, "at byte 0: expression expected, the text ends");
    assert_refused("(a", AD_NEW, -EINVAL, "at byte 2: ')' expected, the text ends");
    assert_refused("a b", AD_NEW, -EINVAL, "at byte 2: end of text expected, not 'b'");
    assert_refused("{1,}", AD_NEW, -EINVAL, "at byte 3: expression expected, not '}'");
    assert_refused("\"abc", AD_NEW, -EINVAL, "at byte 0: the closing quote is missing");
    assert_refused("a ? b", AD_NEW, -EINVAL, "at byte 5: ':' expected, the text ends");
    assert_refused("[a=1", AD_NEW, -EINVAL, "at byte 4: ';' or ']' expected, the text ends");
    assert_refused("[true=1]", AD_NEW, -EINVAL, "at byte 1: attribute name expected, not 'true'");
    assert_refused("1 @ 2", AD_OLD, -EINVAL, "at byte 2: unexpected character");
    assert_refused("1 /* x", AD_OLD, -EINVAL, "at byte 2: the comment is not closed");
    assert_refused("007", AD_NEW, -EINVAL, "at byte 0: an integer may not begin with 0");
    assert_refused("absTime(\"x\")", AD_NEW, -EINVAL,
                   "before byte 12: the text is not a valid absolute time");
    assert_refused("relTime(\"1w\")", AD_NEW, -EINVAL,
                   "before byte 13: the text is not a valid relative time");
}

static void a_text_may_hold_zero_bytes_nowhere(void **state)
{
    (void)state;
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse("\"a\0b\"", 5, AD_OLD, &expr, NULL), -EINVAL);
    assert_int_equal(ad_expr_parse("\"a\\0b\"", 6, AD_NEW, &expr, NULL), -EINVAL);
    assert_int_equal(ad_expr_parse("\"a\\\0b\"", 6, AD_NEW, &expr, NULL), -EINVAL);
    assert_int_equal(ad_expr_parse("a\0", 2, AD_NEW, &expr, NULL), -EINVAL);
    assert_null(expr);
}

/* A text of `count` times `piece`, then `end`. */
static char *repeat(const char *piece, size_t count, const char *end, size_t *length)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < count; i++) {
        strbuf_puts(&text, piece);
    }
    strbuf_puts(&text, end);
    *length = text.length;
    return strbuf_take(&text);
}

static int parse_repeated(const char *piece, size_t count, const char *end)
{
    size_t length;
    char *text = repeat(piece, count, end, &length);
    struct ad_expr *expr = NULL;
    int rc = ad_expr_parse(text, length, AD_NEW, &expr, NULL);
    ad_expr_destroy(expr);
    mem_free(text);
    return rc;
}

static void nesting_has_a_limit_whatever_nests(void **state)
{
    (void)state;
    static const char *const PIECES[] = {"(",  "{",    "[a=", "f(", "!",  "- ",  "a[",
                                         "~ ", "1?2:", "a.",  "+",  "1?", "a?:", "1 ? : "};
    for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
        assert_int_equal(parse_repeated(PIECES[i], 10000, "1"), -E2BIG);
    }
    assert_int_equal(parse_repeated("- ", AD_DEPTH_MAX, "1"), 0);
    assert_int_equal(parse_repeated("- ", AD_DEPTH_MAX + 1, "1"), -E2BIG);
}

static void ten_thousand_terms_are_no_nesting(void **state)
{
    (void)state;
    assert_int_equal(parse_repeated("a == 1 || ", 10000, "false"), 0);
    assert_int_equal(parse_repeated("1 + 2 * ", 10000, "3"), 0);
}

static void ten_megabytes_end_in_a_limit_soon(void **state)
{
    (void)state;
    static const char *const PIECES[] = {"(", "1+", "a=1;", "\"x\" ", "{", "f(1,", "a.b."};
    clock_t before = clock();
    for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
        assert_true(parse_repeated(PIECES[i], AD_TEXT_MAX / strlen(PIECES[i]) - 1, "1") < 0);
    }
    assert_int_equal(parse_repeated(" ", AD_TEXT_MAX, "1"), -E2BIG);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC <
                20.0); /* generous: instrumented builds */
}

static void a_string_has_a_limit(void **state)
{
    (void)state;
    size_t length;
    char *text = repeat("x", AD_STRING_MAX, "\"", &length);
    struct strbuf quoted;
    struct ad_expr *expr = NULL;
    strbuf_init(&quoted, 0);
    strbuf_puts(&quoted, "\"");
    strbuf_puts(&quoted, text);
    assert_int_equal(ad_expr_parse(quoted.data, quoted.length, AD_NEW, &expr, NULL), 0);
    ad_expr_destroy(expr);
    expr = NULL;
    quoted.data[quoted.length - 1] = 'y'; /* one more than a string may have */
    strbuf_puts(&quoted, "\"");
    assert_int_equal(ad_expr_parse(quoted.data, quoted.length, AD_NEW, &expr, NULL), -E2BIG);
    assert_null(expr);
    quoted.data[quoted.length - 2] = '"';
    quoted.data[quoted.length - 1] = ' ';
    strbuf_puts(&quoted, " \"y\""); /* joined they are too long */
    assert_int_equal(ad_expr_parse(quoted.data, quoted.length, AD_NEW, &expr, NULL), -E2BIG);
    assert_null(expr);
    strbuf_fini(&quoted);
    mem_free(text);
}

static void an_ad_has_a_limit_of_attributes(void **state)
{
    (void)state;
    struct strbuf text;
    struct ad *ad = NULL;
    struct err err;
    strbuf_init(&text, 0);
    for (int i = 0; i < AD_ATTRS_MAX; i++) {
        strbuf_printf(&text, "Attr%d = %d\n", i, i);
    }
    assert_int_equal(ad_parse_long(text.data, text.length, &ad, &err), 0);
    assert_int_equal(ad_count(ad), AD_ATTRS_MAX);
    assert_int_equal(ad_int_or(ad, "attr19999", 0), 19999);
    ad_destroy(ad);
    ad = NULL;
    strbuf_puts(&text, "OneMore = 1\n");
    assert_int_equal(ad_parse_long(text.data, text.length, &ad, &err), -E2BIG);
    assert_string_equal(err.text, "line 20001: too many attributes");
    assert_null(ad);
    strbuf_fini(&text);
}

static void a_bad_line_of_the_long_form_is_named(void **state)
{
    (void)state;
    static const char TEXT[] = "# a comment\n\nA = 1\r\nB = 2 +\n";
    struct ad *ad = NULL;
    struct err err;
    assert_int_equal(ad_parse_long(TEXT, sizeof(TEXT) - 1, &ad, &err), -EINVAL);
    assert_string_equal(err.text, "line 4: at byte 7: expression expected, the text ends");
    assert_int_equal(ad_parse_long("1 = 2", 5, &ad, &err), -EINVAL);
    assert_string_equal(err.text, "line 1: attribute name expected");
    assert_int_equal(ad_parse_long("A 2", 3, &ad, &err), -EINVAL);
    assert_string_equal(err.text, "line 1: '=' expected after 'A'");
    assert_int_equal(ad_parse_long("UNDEFINED\nA = 1", 15, &ad, &err), -EINVAL);
    assert_int_equal(ad_parse_long("error = 2", 9, &ad, &err), -EINVAL);
    assert_null(ad);
    assert_int_equal(ad_parse_long("Parent = 2", 10, &ad, &err), 0);
    assert_int_equal(ad_int_or(ad, "parent", 0), 2);
    ad_destroy(ad);
}

static void an_ad_wants_its_brackets(void **state)
{
    (void)state;
    struct ad *ad = NULL;
    struct err err;
    assert_int_equal(ad_parse("a = 1", 5, &ad, &err), -EINVAL);
    assert_string_equal(err.text, "at byte 0: '[' expected");
    assert_int_equal(ad_parse("[a = 1] x", 9, &ad, &err), -EINVAL);
    assert_null(ad);
    assert_int_equal(ad_parse(" [ ] ", 5, &ad, &err), 0);
    assert_int_equal(ad_count(ad), 0);
    ad_destroy(ad);
}

static void same_expressions_are_recognized(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        bool same;
    } CASES[] = {
        {"a+b", "A + B", true},
        {"a+b", "a-b", false},
        {"a+b", "a+b+c", false},
        {"\"x\"", "\"X\"", false},
        {"f(1)", "F(1)", true},
        {"a.b", "a.c", false},
        {"a", ".a", false},
        {"{1,2}", "{1,2}", true},
        {"{1,2}", "{1,3}", false},
        {"[a=1;b=2]", "[B=2;A=1]", true},
        {"[a=1]", "[a=2]", false},
        {"1", "1.0", false},
        {"1.5", "1.5", true},
        {"-1", "- 1", false},
        {"true", "false", false},
        {"absTime(\"2024-03-01T00:00:00Z\")", "absTime(\"2024-03-01T00:00:00+00:00\")", true},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct ad_expr *a = NULL;
        struct ad_expr *b = NULL;
        assert_int_equal(ad_expr_parse(CASES[i].a, strlen(CASES[i].a), AD_NEW, &a, NULL), 0);
        assert_int_equal(ad_expr_parse(CASES[i].b, strlen(CASES[i].b), AD_NEW, &b, NULL), 0);
        assert_int_equal(ad_expr_same(a, b), CASES[i].same);
        ad_expr_destroy(a);
        ad_expr_destroy(b);
    }
}

/* Numbers and strings of the long form have a shorter way, which must not be another one. */
static void a_value_of_a_line_is_what_the_parser_makes_of_it(void **state)
{
    (void)state;
    static const char *const VALUES[] = {
        "0",
        "7",
        " 42",
        "\t42",
        "42 ",
        "42\r",
        "00",
        "007",
        "0x1f",
        "999999999999999999",
        "9223372036854775807",
        "99999999999999999999",
        "-5",
        "5.0",
        "5e3",
        "5 + 1",
        "5 // five",
        "\"\"",
        "\"a\"",
        "\"",
        "\"a",
        "\"a\\\"",
        "\"a\\\"b\"",
        "\"a\\nb\"",
        "\"a\"b\"",
        "\"a\" \"b\"",
        "\"a\" ",
        "\"a\"\r",
        "\"a\" + 1",
        "'a'",
        "",
        " ",
    };
    for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++) {
        char line[64];
        struct ad *ad = NULL;
        struct ad_expr *expr = NULL;
        int length = snprintf(line, sizeof line, "A =%s", VALUES[i]);
        int rc = ad_parse_long(line, (size_t)length, &ad, NULL);
        assert_int_equal(rc, ad_expr_parse(VALUES[i], strlen(VALUES[i]), AD_OLD, &expr, NULL));
        if (rc == 0) {
            assert_true(ad_expr_same(ad_lookup(ad, "A"), expr));
        }
        ad_destroy(ad);
        ad_expr_destroy(expr);
    }
}

UNIT_TESTS(UNIT(a_value_of_a_line_is_what_the_parser_makes_of_it),
           UNIT(errors_name_the_byte_and_what_was_expected),
           UNIT(a_text_may_hold_zero_bytes_nowhere), UNIT(nesting_has_a_limit_whatever_nests),
           UNIT(ten_thousand_terms_are_no_nesting), UNIT(ten_megabytes_end_in_a_limit_soon),
           UNIT(a_string_has_a_limit), UNIT(an_ad_has_a_limit_of_attributes),
           UNIT(a_bad_line_of_the_long_form_is_named), UNIT(an_ad_wants_its_brackets),
           UNIT(same_expressions_are_recognized))
