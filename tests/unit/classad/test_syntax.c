/* tests/unit/classad/test_syntax.c - how texts are read and printed where
 * tests/conformance/classad/ shows no line.
 *
 * Derived from reading HTCondor's lexer, parser and printer; not observed. NULL: the text is
 * refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

struct syntax_case {
    const char *text;
    const char *expected;
};

static void check(const struct syntax_case *cases, size_t count, enum ad_syntax syntax)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const char *expected = cases[i].expected != NULL ? cases[i].expected : "refused";
        struct ad_expr *expr = NULL;
        struct strbuf out;
        strbuf_init(&out, 0);
        if (ad_expr_parse(cases[i].text, strlen(cases[i].text), syntax, &expr, NULL) < 0) {
            strbuf_puts(&out, "refused");
        } else {
            ad_expr_print(expr, syntax, &out);
            ad_expr_destroy(expr);
        }
        if (strcmp(strbuf_text(&out), expected) != 0) {
            print_message("%s\n    expected %s\n    got      %s\n", cases[i].text, expected,
                          strbuf_text(&out));
            wrong++;
        }
        strbuf_fini(&out);
    }
    assert_int_equal(wrong, 0);
}

static void numbers_print_as_in_htcondor(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"-.5", "-5.000000000000000E-01"},
        {"- .5", " -5.000000000000000E-01"},
        {"-..5", " -0.0"},
        {"..5", "0.0"},
        {".5e1", "5.000000000000000E+00"},
        {"09.5", "9.500000000000000E+00"},
        {"00", NULL},
        {"-00", "0"},
        {"-017", "-17"},
        {"0b1", NULL},
        {"10K", NULL},
        {"1.5M", NULL},
        {"1e400", "real(\"INF\")"},
        {"1e-400", "0.0"},
        {"-1e-400", "-0.0"},
        {"1.e5", NULL},
        {"1e5.5", NULL},
        {"1.5.5", NULL},
        {"1..5", NULL},
        {"1-1", "1 - 1"},
        {"1 -1", "1 - 1"},
        {"1 - -1", "1 - -1"},
        {"1--1", "1 - -1"},
        {"a-1", "a - 1"},
        {"a -1", "a - 1"},
        {"(a)-1", "(a) - 1"},
        {"{1}-1", "{ 1 } - 1"},
        {"[a=1]-1", "[ a = 1 ] - 1"},
        {"\"s\"-1", "\"s\" - 1"},
        {"true-1", "true - 1"},
        {"undefined -1", "undefined - 1"},
        {"1 is -1", "1 is -1"},
        {"1/-1", "1 / -1"},
        {"1?-1:-2", "1 ? -1 : -2"},
        {"a[-1]", "a[-1]"},
        {"f(-1,-a)", "f(-1, -a)"},
        {"-1.5.a", "-1.500000000000000E+00.a"},
        {"2.5.a", "2.500000000000000E+00.a"},
        {"0.0.a", "0.0.a"},
        {"1e300.a", "1.000000000000000E+300.a"},
        {"1.a", NULL},
        {"1e400.a", "real(\"INF\").a"},
        {"9223372036854775808", "0"},
        {"-9223372036854775809", "0"},
        {"123456789012345678.0", "1.234567890123457E+17"},
        {"0.1", "1.000000000000000E-01"},
        {"4.9e-324", "4.940656458412465E-324"},
        {"1e15", "1.000000000000000E+15"},
        {"1e16", "1.000000000000000E+16"},
        {"123456.0", "1.234560000000000E+05"},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_NEW);
}

static void numbers_print_as_in_the_long_form(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"2.5.a", "2.5.a"},
        {"1e15", "1000000000000000.0"},
        {"1e16", "1E+16"},
        {"1e17", "1E+17"},
        {"9999999999999999.0", "1E+16"},
        {"99999999999999999.0", "1E+17"},
        {"0.0001", "0.0001"},
        {"0.00001", "1E-05"},
        {"123456.0", "123456.0"},
        {"4.9e-324", "4.940656458412465E-324"},
        {"-1e400", "real(\"-INF\")"},
        {"-0.0", "-0.0"},
        {"1e22", "1E+22"},
        {"1.0e+5", "100000.0"},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_OLD);
}

static void operators_keep_their_parentheses_and_get_none(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"a||b&&c|d^e&f==g<h<<i+j*k", "a || b && c | d ^ e & f == g < h << i + j * k"},
        {"a*b+c<<d<e==f&g^h|i&&j||k", "a * b + c << d < e == f & g ^ h | i && j || k"},
        {"a<b<c", "a < b < c"},
        {"a==b!=c", "a == b != c"},
        {"a is b isnt c", "a is b isnt c"},
        {"a IS b", "a is b"},
        {"a iS b", "a is b"},
        {"a Isnt b", "a isnt b"},
        {"a=?=b=!=c", "a is b isnt c"},
        {"a=?b", NULL},
        {"a=!b", NULL},
        {"a= =b", NULL},
        {"a===b", NULL},
        {"a!==b", NULL},
        {"a>>>>b", NULL},
        {"a>> >b", NULL},
        {"a< =b", NULL},
        {"a&&&b", NULL},
        {"a|||b", NULL},
        {"!!a", " ! !a"},
        {"! ! a", " ! !a"},
        {"~-a", " ~ -a"},
        {"+-+a", " + - +a"},
        {"-+1", " - +1"},
        {"--a", " - -a"},
        {"!-1", " !-1"},
        {"-(1)", " -(1)"},
        {"-a.b[0]", " -a.b[0]"},
        {"!a?b:c", " !a ? b : c"},
        {"a?b:c?d:e", "a ? b : c ? d : e"},
        {"a?b?c:d:e", "a ? b ? c : d : e"},
        {"a?(b?c:d):e", "a ? (b ? c : d) : e"},
        {"(a?b:c)?d:e", "(a ? b : c) ? d : e"},
        {"a?:b?:c", "a ?: b ?: c"},
        {"a?:b+c", "a ?: b + c"},
        {"a+b?:c", "a + b ?: c"},
        {"a?:-1", "a ?: -1"},
        {"a?:-a", NULL},
        {"a?:(-a)", "a ?: ( -a)"},
        {"a ?:b.c[0]", "a ?: b.c[0]"},
        {"a ? :b", "a ?: b"},
        {"a? b", NULL},
        {"a?b:", NULL},
        {"a:b", NULL},
        {"(a)(b)", NULL},
        {"()", NULL},
        {"a()()", NULL},
        {"f(a)[0].b", "f(a)[0].b"},
        {"{a}[0]", "{ a }[0]"},
        {"{a,}", NULL},
        {"{,a}", NULL},
        {"{a;b}", NULL},
        {"f(a,)", NULL},
        {"f(a;b)", "f(a,b)"},
        {"f(;)", NULL},
        {"a[b][c].d", "a[b][c].d"},
        {"a[]", NULL},
        {"a[0", NULL},
        {"a.b.", NULL},
        {"a.1", NULL},
        {"a.true", NULL},
        {"a.is", NULL},
        {"a.'true'", "a.true"},
        {"a.'is'", "a.is"},
        {".a[0]", ".a[0]"},
        {".'a b'", ".'a b'"},
        {".'parent'", ".'parent'"},
        {".a.'b c'", ".a.b c"},
        {". a", ".a"},
        {"a . b", "a.b"},
        {"a..b", "a.b"},
        {"a...b", NULL},
        {"MY . a", "MY.a"},
        {"MY.TARGET.a", "MY.TARGET.a"},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_NEW);
}

static void words_and_quoted_names_print_as_in_htcondor(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"TRUE", "true"},
        {"False", "false"},
        {"UNDEFINED", "undefined"},
        {"eRRor", "error"},
        {"true1", "true1"},
        {"_true", "_true"},
        {"is_", "is_"},
        {"Is", NULL},
        {"parent", "'parent'"},
        {"Parent.a", "'Parent'.a"},
        {"'true'", "'true'"},
        {"'isnt'", "'isnt'"},
        {"'parent'", "'parent'"},
        {"'PARENT'.a", "'PARENT'.a"},
        {"'a'", "a"},
        {"'_a1'", "_a1"},
        {"'1a'", "'1a'"},
        {"''", "''"},
        {"'a-b'", "'a-b'"},
        {"'a\\tb'", "'a\\tb'"},
        {"'a\\\\b'", "'a\\\\b'"},
        {"'a\\101b'", "aAb"},
        {"'\\141'", "a"},
        {"'a\"b'", "'a\"b'"},
        {"'a''b'", "ab"},
        {"'a' 'b'", "ab"},
        {"'f'(1)", "f(1)"},
        {"'f g'(1)", "f g(1)"},
        {"'true'(1)", "true(1)"},
        {"'a", NULL},
        {"a'b'", NULL},
        {"'a'b", NULL},
        {"[''=1]", NULL},
        {"['true'=1]", "[ 'true' = 1 ]"},
        {"[true=1]", NULL},
        {"[is=1]", NULL},
        {"[parent=1]", "[ 'parent' = 1 ]"},
        {"[a=1;A=2;a=3]", "[ a = 3 ]"},
        {"[bb=1;a=2;C=3;B=4]", "[ a = 2; B = 4; C = 3; bb = 1 ]"},
        {"[a=1;;;]", "[ a = 1 ]"},
        {"[;;a=1]", "[ a = 1 ]"},
        {"[;]", NULL},
        {"[a=1 b=2]", NULL},
        {"[a=1,b=2]", NULL},
        {"[a=]", NULL},
        {"[a]", NULL},
        {"[a==1]", NULL},
        {"[a=1;b=[c={[d=2]}]]", "[ a = 1; b = [ c = { [ d = 2 ] } ] ]"},
        {"[ 'x y' = 1 ; z = 'x y' ]", "[ z = 'x y'; 'x y' = 1 ]"},
        {"[", NULL},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_NEW);
}

static void strings_and_comments_print_as_in_htcondor(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"\"\"", "\"\""},
        {"\"\\\"\"", "\"\\\"\""},
        {"\"'\"", "\"'\""},
        {"'\\''", "'\\''"},
        {"\"\\'\"", "\"'\""},
        {"\"a\\", NULL},
        {"\"\\\\\"", "\"\\\\\""},
        {"\"\\a\\b\\f\\n\\r\\t\\v\"", "\"\\a\\b\\f\\n\\r\\t\\v\""},
        {"\"\\?\\q\\8\"", "\"?q8\""},
        {"\"\\0\"", NULL},
        {"\"a\\00b\"", NULL},
        {"\"\\1\"", "\"\\001\""},
        {"\"\\12\"", "\"\\n\""},
        {"\"\\123\"", "\"S\""},
        {"\"\\477\"", "\"'7\""},
        {"\"\\400\"", "\" 0\""},
        {"\"\\377\"", "\"\\377\""},
        {"\"\\x41\"", "\"x41\""},
        {"\"\\u0041\"", "\"u0041\""},
        {"\"a\" \"b\"", "\"ab\""},
        {"\"a\"\"b\"", "\"ab\""},
        {"\"\\1\" \"01\"", "\"A\""},
        {"\"a\" /**/ \"b\"", NULL},
        {"\"a\" 'b'", NULL},
        {"\"é\"", "\"\\303\\251\""},
        {"\"a/*b*/\"", "\"a/*b*/\""},
        {"\"//\"", "\"//\""},
        {"/**/1", "1"},
        {"1/**/", "1"},
        {"1/* * / */", "1"},
        {"/*/1", NULL},
        {"/***/1", "1"},
        {"1/*", NULL},
        {"1//", "1"},
        {"//", NULL},
        {"1/ /2", NULL},
        {"1//2", "1"},
        {"a/*b*/c", NULL},
        {"a /*x*/ . /*y*/ b", "a.b"},
        {"é", NULL},
        {"$a", NULL},
        {"@", NULL},
        {"#a", NULL},
        {"a\\", NULL},
        {"`a`", NULL},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_NEW);
}

static void old_syntax_keeps_backslashes(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"\"\\n\\t\\\\\"", "\"\\n\\t\\\\\""},
        {"\"a\\\"b\"", "\"a\\\"b\""},
        {"\"a\\\"", "\"a\\\""},
        {"\"a\\\" ", NULL},
        {"\"a\\\\\"", "\"a\\\\\""},
        {"\"a\\\\\" ", NULL},
        {"\"\\\"", "\"\\\""},
        {"\"\\\" ", NULL},
        {"\"\\\"\\\"\"", "\"\\\"\\\"\""},
        {"\"a\" \"b\"", NULL},
        {"\"\\101\"", "\"\\101\""},
        {"'a\\'b'", "'a\\'b'"},
        {"'a\\'", "'a\\'"},
        {"'\\'", "'\\'"},
        {"'a\\' ", NULL},
        {"'a\\nb'", "'a\\nb'"},
        {"'a\\\\b'", "'a\\\\b'"},
        {"'a' 'b'", NULL},
        {"'true'", "'true'"},
        {"''", "''"},
        {".'a\\b'", ".'a\\b'"},
        {"a.'b\\c'", "a.b\\c"},
        {"[a=\"\\n\"]", "[ a = \"\\n\" ]"},
        {"[a=\"b\\\"]", NULL},
        {"f(\"\\d+\")", "f(\"\\d+\")"},
        {"f(\"\\\")", NULL},
        {"{\"a\\\"b\"}", "{ \"a\\\"b\" }"},
        {"\"'\"", "\"'\""},
        {"\"é\"", "\"é\""},
        {"'é'", "'é'"},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_OLD);
}

static void what_is_printed_is_one_line(void **state)
{
    (void)state;
    static const struct syntax_case CASES[] = {
        {"a.'x\\ny'", "a.'x\\ny'"},
        {"a.'x\ty'.b", "a.'x\\ty'.b"},
        {"'f\\r'(1)", "'f\\r'(1)"},
        {"'x\\ny'", "'x\\ny'"},
        {"['x\ny'=\"a\nb\"]", "[ 'x\\ny' = \"a\\nb\" ]"},
        {"a.'x\\\\y'", "a.x\\y"},
        {"'f g'(1)", "f g(1)"},
    };
    check(CASES, sizeof(CASES) / sizeof(CASES[0]), AD_NEW);
}

UNIT_TESTS(UNIT(numbers_print_as_in_htcondor), UNIT(numbers_print_as_in_the_long_form),
           UNIT(operators_keep_their_parentheses_and_get_none),
           UNIT(words_and_quoted_names_print_as_in_htcondor),
           UNIT(strings_and_comments_print_as_in_htcondor), UNIT(old_syntax_keeps_backslashes),
           UNIT(what_is_printed_is_one_line))
