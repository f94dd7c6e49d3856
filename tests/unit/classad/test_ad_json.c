/* tests/unit/classad/test_ad_json.c - ads to JSON and back, and ads to XML.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {.text = ""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s in %s", err.text, text);
    }
    return ad;
}

static void reads_as(const char *json, const char *expected)
{
    struct ad *ad = NULL;
    struct err err = {.text = ""};
    struct strbuf out;
    strbuf_init(&out, 0);
    if (ad_parse_json(json, strlen(json), NULL, &ad, NULL, &err) != 0) {
        fail_msg("%s in %s", err.text, json);
    }
    ad_print(ad, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void each_value_is_read(void **state)
{
    (void)state;
    reads_as("{}", "[  ]");
    reads_as(
        " {\n\"a\" : 1 , \"b\":-2.5e1,\"c\":\"s\",\"d\":true,\"e\":false,\"f\":null} ",
        "[ a = 1; b = -2.500000000000000E+01; c = \"s\"; d = true; e = false; f = undefined ]");
    reads_as("{\"a\":[],\"b\":[1,[2,{}],{\"c\":[3]}]}",
             "[ a = {  }; b = { 1,{ 2,[  ] },[ c = { 3 } ] } ]");
    reads_as("{\"odd name\":1,\"\\u00e9\":2,\"it's\":3}",
             "[ '\\303\\251' = 2; 'it\\'s' = 3; 'odd name' = 1 ]");
}

static void escapes_are_read(void **state)
{
    (void)state;
    reads_as("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "[ a = \"\\\"\\\\/\\b\\f\\n\\r\\t\" ]");
    reads_as("{\"a\":\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"}",
             "[ a = \"A\\303\\251\\342\\202\\254\\360\\237\\230\\200\" ]");
    reads_as("{\"a\":\"\\ud83dx\"}", "[ a = \"\\357\\277\\275x\" ]"); /* half a character */
    reads_as("{\"a\":\"x\ny\"}", "[ a = \"x\\ny\" ]");
}

static void an_expression_stands_between_escaped_slashes(void **state)
{
    (void)state;
    reads_as("{\"a\":\"\\/Expr(b + \\\"x\\\")\\/\"}", "[ a = b + \"x\" ]");
    reads_as("{\"a\":\"/Expr(b + 1)/\"}", "[ a = \"/Expr(b + 1)/\" ]");
    reads_as("{\"a\":[\"\\/Expr(MY.x)\\/\",2]}", "[ a = { MY.x,2 } ]");
    reads_as("{\"a\":\"\\/Expr(1 // one\\n)\\/\"}", "[ a = 1 ]");
}

static void commas_too_many_in_an_object_are_passed_over(void **state)
{
    (void)state;
    reads_as("{,,\"a\":[1,2],,\"b\":3,}", "[ a = { 1,2 }; b = 3 ]");
}

static void what_is_no_object_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t fault;
    } CASES[] = {
        {"", 0},
        {"[]", 0},
        {"{", 1},
        {"{a:1}", 1},
        {"{\"a\" 1}", 5},
        {"{\"a\":1} x", 8},
        {"{\"a\":01}", 5},
        {"{\"a\":+1}", 5},
        {"{\"a\":NaN}", 5},
        {"{\"a\":1,\"b\":[1 2]}", 14},
        {"{\"a\":[1,]}", 8},
        {"{\"\":1}", 1},
        {"{\"a\":\"\\u00\"}", 6},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct ad *ad = NULL;
        struct err err;
        size_t fault = 999;
        assert_int_equal(ad_parse_json(CASES[i].json, strlen(CASES[i].json), NULL, &ad, &fault,
                                       &err),
                         -EINVAL);
        if (fault != CASES[i].fault) {
            print_message("%s: %s\n", CASES[i].json, err.text);
        }
        assert_int_equal(fault, CASES[i].fault);
    }
    struct ad *ad = NULL;
    static const char *const REFUSED[] = {"{\"a\":\"\\/Expr(1+)\\/\"}", "{\"a\":\"\\u0000\"}",
                                          "{\"a\":\"\\x\"}", "{\"a\":\"x"};
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        assert_int_equal(ad_parse_json(REFUSED[i], strlen(REFUSED[i]), NULL, &ad, NULL, NULL),
                         -EINVAL);
    }
    assert_int_equal(ad_parse_json("{\"a\":\"x\0y\"}", 11, NULL, &ad, NULL, NULL), -EINVAL);
}

static void an_expression_may_not_close_its_own_bracket(void **state)
{
    (void)state;
    static const char *const REFUSED[] = {"{\"a\":\"\\/Expr(1 ]; b = [ c = 1)\\/\"}",
                                          "{\"a\":\"\\/Expr(1; b = 2)\\/\"}",
                                          "{\"a\":[\"\\/Expr(1, 2)\\/\"]}",
                                          "{\"a\":\"\\/Expr(1 /* )\\/\",\"b\":\"*/\"}"};
    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        struct ad *ad = NULL;
        assert_int_equal(ad_parse_json(REFUSED[i], strlen(REFUSED[i]), NULL, &ad, NULL, NULL),
                         -EINVAL);
    }
}

static const char ALL_VALUES[] =
    "[ i = 1; r = 2.5; s = \"a\\\"b\\\\c\\n\"; t = true; u = undefined; e = error; "
    "l = { 1, \"x\", [ n = { } ], a + 1 }; x = MY.i + 1 < 3 && \"&\" == s; n = real(\"NaN\"); "
    "f = -real(\"INF\"); at = absTime(\"2024-03-01T12:30:00+05:30\"); rt = relTime(\"1:00\") ]";

static void values_are_written(void **state)
{
    (void)state;
    struct ad *ad = ad_of(ALL_VALUES);
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(ad_print_json(ad, &out), 0);
    assert_non_null(strstr(strbuf_text(&out), "\"i\":1,"));
    assert_non_null(strstr(strbuf_text(&out), "\"r\":2.5,"));
    assert_non_null(strstr(strbuf_text(&out), "\"s\":\"a\\\"b\\\\c\\n\""));
    assert_non_null(strstr(strbuf_text(&out), "\"u\":null"));
    assert_non_null(strstr(strbuf_text(&out), "\"e\":\"\\/Expr(error)\\/\""));
    assert_non_null(strstr(strbuf_text(&out), "\\/Expr(MY.i + 1 < 3 && \\\"&\\\" == s)\\/"));
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void what_is_written_reads_as_it_was(void **state)
{
    (void)state;
    struct ad *ad = ad_of(ALL_VALUES);
    struct strbuf once;
    struct strbuf twice;
    struct strbuf out;
    strbuf_init(&once, 0);
    strbuf_init(&twice, 0);
    ad_print(ad, &once);
    for (int lines = 0; lines < 2; lines++) {
        strbuf_init(&out, 0);
        assert_int_equal(lines != 0 ? ad_print_json_lines(ad, true, &out) : ad_print_json(ad, &out),
                         0);
        struct ad *again = NULL;
        assert_int_equal(ad_parse_json(strbuf_text(&out), out.length, NULL, &again, NULL, NULL), 0);
        strbuf_clear(&twice);
        ad_print(again, &twice);
        assert_string_equal(strbuf_text(&twice), strbuf_text(&once));
        ad_destroy(again);
        strbuf_fini(&out);
    }
    strbuf_fini(&once);
    strbuf_fini(&twice);
    ad_destroy(ad);
}

static void private_attributes_are_written_only_when_asked_for(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[ ClaimId = \"secret\"; a = 1 ]");
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(ad_print_json(ad, &out), 0);
    assert_int_equal(ad_print_json_lines(ad, false, &out), 0);
    assert_int_equal(ad_print_xml(ad, false, &out), 0);
    assert_null(strstr(strbuf_text(&out), "secret"));
    assert_int_equal(ad_print_json_lines(ad, true, &out), 0);
    assert_non_null(strstr(strbuf_text(&out), "secret"));
    strbuf_clear(&out);
    assert_int_equal(ad_print_xml(ad, true, &out), 0);
    assert_non_null(strstr(strbuf_text(&out), "secret"));
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void xml_has_an_element_for_each_type(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[ i = 1; r = 2.5; s = \"<&>\"; t = true; F = false; u = undefined; "
                          "e = error; l = { 1, [ n = 2 ], a < 1 } ]");
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(ad_print_xml(ad, true, &out), 0);
    assert_string_equal(strbuf_text(&out), "<c>\n"
                                           "    <a n=\"e\"><er/></a>\n"
                                           "    <a n=\"F\"><b v=\"f\"/></a>\n"
                                           "    <a n=\"i\"><i>1</i></a>\n"
                                           "    <a n=\"l\"><l><i>1</i><c>\n"
                                           "        <a n=\"n\"><i>2</i></a>\n"
                                           "    </c><e>a &lt; 1</e></l></a>\n"
                                           "    <a n=\"r\"><r>2.500000000000000E+00</r></a>\n"
                                           "    <a n=\"s\"><s>&lt;&amp;&gt;</s></a>\n"
                                           "    <a n=\"t\"><b v=\"t\"/></a>\n"
                                           "    <a n=\"u\"><un/></a>\n"
                                           "</c>\n");
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void texts_beyond_the_limits_are_refused(void **state)
{
    (void)state;
    struct strbuf text;
    struct ad *ad = NULL;
    strbuf_init(&text, 2 * AD_TEXT_MAX);
    strbuf_puts(&text, "{\"a\":");
    for (int i = 0; i < 10000; i++) {
        strbuf_putc(&text, '[');
    }
    assert_int_equal(ad_parse_json(strbuf_text(&text), text.length, NULL, &ad, NULL, NULL), -E2BIG);
    strbuf_clear(&text);
    for (int i = 0; i < 10000; i++) {
        strbuf_puts(&text, "{\"a\":");
    }
    assert_int_equal(ad_parse_json(strbuf_text(&text), text.length, NULL, &ad, NULL, NULL), -E2BIG);
    strbuf_clear(&text);
    strbuf_puts(&text, "{\"a\":\"");
    while (text.length <= AD_STRING_MAX + 8) {
        strbuf_putc(&text, 'x');
    }
    strbuf_puts(&text, "\"}");
    assert_int_equal(ad_parse_json(strbuf_text(&text), text.length, NULL, &ad, NULL, NULL), -E2BIG);
    strbuf_clear(&text);
    strbuf_puts(&text, "{\"a\":[1");
    while (text.length <= AD_TEXT_MAX) {
        strbuf_puts(&text, ",1");
    }
    strbuf_puts(&text, "]}");
    assert_int_equal(ad_parse_json(strbuf_text(&text), text.length, NULL, &ad, NULL, NULL), -E2BIG);
    strbuf_fini(&text);
}

UNIT_TESTS(UNIT(each_value_is_read), UNIT(escapes_are_read),
           UNIT(an_expression_stands_between_escaped_slashes),
           UNIT(commas_too_many_in_an_object_are_passed_over),
           UNIT(what_is_no_object_is_refused_at_its_place),
           UNIT(an_expression_may_not_close_its_own_bracket), UNIT(values_are_written),
           UNIT(what_is_written_reads_as_it_was),
           UNIT(private_attributes_are_written_only_when_asked_for),
           UNIT(xml_has_an_element_for_each_type), UNIT(texts_beyond_the_limits_are_refused))
