/* tests/unit/classad_formats/test_ad_xml_read.c - see ad_xml_read.h.
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
#include "classad_formats/ad_xml_read.h"
#include "tests/support/unit.h"

/* Each ad on a line; refusals as their place and text, what ends the document behind "broken". */
static void read_in_pieces(const char *text, size_t step, struct strbuf *out)
{
    struct ad_xml_reader *reader = ad_xml_reader_create(NULL);
    size_t length = strlen(text);
    int fed = 0;
    for (size_t at = 0; fed == 0 && at <= length; at += step) {
        struct err err;
        struct ad_place place;
        fed = ad_xml_reader_feed(reader, text + at, length - at < step ? length - at : step, &place,
                                 &err);
        if (fed == 0 && at + step >= length) {
            fed = ad_xml_reader_feed(reader, NULL, 0, &place, &err);
            at = length;
        }
        struct ad *ad = NULL;
        struct ad_place bad;
        struct err why;
        int rc;
        while ((rc = ad_xml_reader_next(reader, &ad, &bad, &why)) != 0) {
            if (rc > 0) {
                ad_print(ad, out);
                strbuf_putc(out, '\n');
                ad_destroy(ad);
            } else {
                strbuf_printf(out, "refused %lu: %s\n", bad.line, why.text);
            }
        }
        if (fed != 0) {
            strbuf_printf(out, "broken %s %lu: %s\n", fed == -E2BIG ? "limit" : "form", place.line,
                          err.text);
        }
    }
    ad_xml_reader_destroy(reader);
}

static void expect(const char *text, const char *expected)
{
    for (size_t step = 1; step <= strlen(text) + 1; step += step < 40 ? 1 : 37) {
        struct strbuf out;
        strbuf_init(&out, 0);
        read_in_pieces(text, step, &out);
        assert_string_equal(strbuf_text(&out), expected);
        strbuf_fini(&out);
    }
}

#define HEAD "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n"

static void each_element_is_a_value(void **state)
{
    (void)state;
    expect(HEAD "<c> <a n=\"i\"><i>-012</i></a><a n=\"r\"><r>1.5E+01</r></a><a n=\"w\"><r>7</r></a>"
                "<a n=\"s\"><s>a&lt;b&#38;\\\"c\\\\d \"e'</s></a><a n=\"t\"><b v=\"t\"/></a>"
                "<a n=\"f\"><b v=\"f\"/></a><a n=\"u\"><un/></a><a n=\"e\"><er/></a>"
                "<a n=\"x\"><e>a &gt; 1 // why</e></a>\n"
                "<a n=\"l\"><l><i>1</i><l></l><c><a n=\"q\"><s></s></a></c></l></a>"
                "<a n=\"at\"><at>2024-03-01T12:30:00+05:30</at></a><a n=\"rt\"><rt>01:00</rt></a>"
                "<a n=\"n\"><r>NaN</r></a><a n=\"o'd d\"><i>1</i></a></c>\n</classads>\n",
           "[ e = error; f = false; i = -12; l = { 1,{  },[ q = \"\" ] }; n = real(\"NaN\"); "
           "r = 1.500000000000000E+01; s = \"a<b&\\\"c\\\\d \\\"e'\"; t = true; u = undefined; "
           "w = 7.000000000000000E+00; x = a > 1; at = absTime(\"2024-03-01T12:30:00+05:30\"); "
           "rt = relTime(\"01:00\"); 'o\\'d d' = 1 ]\n");
}

static void names_keep_every_character(void **state)
{
    (void)state;
    expect("<c><a n=\"a&amp;b&lt;&gt;&quot;\"><i>1</i></a><a n=\"&#38;&amp;#38;\"><i>2</i></a></c>",
           "[ '&&#38;' = 2; 'a&b<>\"' = 1 ]\n");
}

static void ads_come_one_after_another(void **state)
{
    (void)state;
    expect(HEAD "<c><a n=\"a\"><i>1</i></a></c>\n<c></c><!-- <c> -->\n<c/></classads>",
           "[ a = 1 ]\n[  ]\n[  ]\n");
    expect("<c><a n=\"a\"><s><![CDATA[<b>]]></s></a></c>", "[ a = \"<b>\" ]\n");
    expect(HEAD "</classads>", "");
}

static void a_bad_ad_is_refused_and_the_next_one_read(void **state)
{
    (void)state;
    expect(
        HEAD "<c><a n=\"a\"><i>x</i></a></c>\n<c><a n=\"a\"><e>1 +</e></a></c>\n"
             "<c><a n=\"a\"></a></c>\n<c><a><i>1</i></a></c>\n<c><i>1</i></c>\n"
             "<c><a n=\"a\"><i>1</i><i>2</i></a></c>\n<c><a n=\"a\"><q/></a></c>\n"
             "<c><a n=\"a\"><e>1 ]; b = [ c = 1</e></a></c>\n<c><a n=\"a\"><i>012</i></a></c>\n"
             "</classads>",
        "refused 4: 'x' is not a valid integer\nrefused 5: <e>: at byte 3: expression expected, "
        "the text ends\nrefused 6: <a> has no value\nrefused 7: <a>: <a> needs n=\"NAME\"\nrefused "
        "8: <i>: a value is outside of <a> and <l>, or <a> has two values\nrefused 9: <i>: a value "
        "is outside of <a> and <l>, or <a> has two values\nrefused 10: <q>: unknown "
        "element\nrefused 11: <e>: at byte 2: end of text expected, not ']'\n[ a = 12 ]\n");
}

static bool breaks(const char *text, int expected)
{
    struct ad_xml_reader *reader = ad_xml_reader_create(NULL);
    int rc = ad_xml_reader_feed(reader, text, strlen(text), NULL, NULL);
    if (rc == 0) {
        rc = ad_xml_reader_feed(reader, NULL, 0, NULL, NULL);
    }
    struct ad *ad = NULL;
    int got;
    while ((got = ad_xml_reader_next(reader, &ad, NULL, NULL)) != 0) {
        if (got > 0) {
            ad_destroy(ad);
        }
    }
    ad_xml_reader_destroy(reader);
    return rc == expected;
}

static void what_is_no_such_document_is_refused(void **state)
{
    (void)state;
    assert_true(breaks("", -EINVAL));
    assert_true(breaks("<classads>", -EINVAL));
    assert_true(breaks("<classads></c>", -EINVAL));
    assert_true(breaks("<c><a n=\"a\"><s>\x01</s></a></c>", -EINVAL));
    assert_true(breaks("<c><a n=\"a\"><s>\xff</s></a></c>", -EINVAL));
    assert_true(breaks("<html></html>", -EINVAL));
    assert_true(breaks("<classads><i>1</i></classads>", -EINVAL));
    assert_true(breaks("<c/><c/>", -EINVAL));
}

static void entities_are_refused_and_nothing_is_fetched(void **state)
{
    (void)state;
    assert_true(
        breaks("<!DOCTYPE c [<!ENTITY a \"b\">]><c><a n=\"a\"><s>&a;</s></a></c>", -EINVAL));
    assert_true(breaks("<!DOCTYPE c [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><c><a "
                       "n=\"a\"><s>&a;</s></a></c>",
                       -EINVAL));
    assert_true(
        breaks("<!DOCTYPE c [<!ENTITY % p SYSTEM \"file:///etc/passwd\"> %p;]><c/>", -EINVAL));
    assert_true(
        breaks("<!DOCTYPE c [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]><c>&b;</c>", -EINVAL));
    assert_true(breaks("<!DOCTYPE c [<!ENTITY a \"b\">]><c/>", -EINVAL)); /* not used */
    assert_true(breaks("<c><a n=\"a\"><s>&nothing;</s></a></c>", -EINVAL));
    assert_true(breaks("<!DOCTYPE c SYSTEM \"file:///no/such/file.dtd\"><c/>", 0));
}

static void deep_documents_end_in_a_limit(void **state)
{
    (void)state;
    static const char *const TAGS[] = {"<l>", "<c><a n=\"a\">"};
    for (size_t i = 0; i < 2; i++) {
        struct strbuf text;
        strbuf_init(&text, AD_TEXT_MAX);
        strbuf_puts(&text, "<c><a n=\"a\">");
        for (int depth = 0; depth < 10000; depth++) {
            strbuf_puts(&text, TAGS[i]);
        }
        assert_true(breaks(strbuf_text(&text), -E2BIG));
        strbuf_fini(&text);
    }
}

static void a_comment_without_end_is_told_as_a_limit(void **state)
{
    (void)state;
    char block[4096];
    struct err err;
    memset(block, 'x', sizeof(block));
    struct ad_xml_reader *reader = ad_xml_reader_create(NULL);
    int rc = ad_xml_reader_feed(reader, "<c><!--", 7, NULL, NULL);
    for (size_t fed = 0; rc == 0 && fed < 2 * AD_TEXT_MAX; fed += sizeof(block)) {
        rc = ad_xml_reader_feed(reader, block, sizeof(block), NULL, &err);
    }
    assert_int_equal(rc, -E2BIG);
    assert_non_null(strstr(err.text, "limit of libxml2"));
    ad_xml_reader_destroy(reader);
}

/* head, then part over and over, then tail. */
static bool repeated_breaks(const char *head, const char *part, size_t count, const char *tail,
                            int expected)
{
    struct strbuf text;
    strbuf_init(&text, AD_TEXT_MAX);
    strbuf_puts(&text, head);
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&text, "%s%zu=\"u\" ", part, i);
    }
    strbuf_puts(&text, tail);
    bool is_so = breaks(strbuf_text(&text), expected);
    strbuf_fini(&text);
    return is_so;
}

static void long_tags_and_declarations_end_in_a_limit(void **state)
{
    (void)state;
    static const char TAIL[] = "n=\"a\"><i>1</i></a></c>";
    assert_true(repeated_breaks("<c><a ", "x", 15, TAIL, 0));
    assert_true(repeated_breaks("<c><a ", "x", 16, TAIL, -E2BIG));
    assert_true(repeated_breaks("<c><a ", "xmlns:x", 17, TAIL, -E2BIG));
    assert_true(repeated_breaks("<c><a ", "x", 300000, TAIL, -E2BIG)); /* not in n * n steps */
    assert_true(repeated_breaks("<c><a ", "x", 30000, "", -E2BIG));
    assert_true(repeated_breaks("<!DOCTYPE c [<!ATTLIST a ", " x CDATA \"\" y", 100000,
                                ">]><c><a n=\"a\"><i>1</i></a></c>", -E2BIG));
    assert_true(repeated_breaks("<c><!-- ", "x", 100000, "--></c>", 0));
    assert_true(repeated_breaks("<c><a n=\"a\"><s><![CDATA[ ", "x", 50000, "]]></s></a></c>", 0));
}

static void long_documents_end_in_a_limit(void **state)
{
    (void)state;
    char block[4096];
    memset(block, 'x', sizeof(block));
    struct ad_xml_reader *reader = ad_xml_reader_create(NULL);
    assert_int_equal(ad_xml_reader_feed(reader, "<c><a n=\"a\"><s>", 15, NULL, NULL), 0);
    int rc = 0;
    for (size_t fed = 0; rc == 0 && fed < 2 * AD_TEXT_MAX; fed += sizeof(block)) {
        rc = ad_xml_reader_feed(reader, block, sizeof(block), NULL, NULL);
    }
    if (rc == 0) { /* the text was cut at the limit: then the ad is refused */
        rc = ad_xml_reader_feed(reader, "</s></a></c>", 12, NULL, NULL);
        assert_int_equal(rc, 0);
        struct ad *ad = NULL;
        rc = ad_xml_reader_next(reader, &ad, NULL, NULL);
    }
    assert_int_equal(rc, -E2BIG);
    ad_xml_reader_destroy(reader);
}

UNIT_TESTS(UNIT(each_element_is_a_value), UNIT(names_keep_every_character),
           UNIT(ads_come_one_after_another), UNIT(long_tags_and_declarations_end_in_a_limit),
           UNIT(a_comment_without_end_is_told_as_a_limit),
           UNIT(a_bad_ad_is_refused_and_the_next_one_read),
           UNIT(what_is_no_such_document_is_refused),
           UNIT(entities_are_refused_and_nothing_is_fetched), UNIT(deep_documents_end_in_a_limit),
           UNIT(long_documents_end_in_a_limit))
