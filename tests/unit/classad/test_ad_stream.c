/* tests/unit/classad/test_ad_stream.c - see ad_stream.h.
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
#include "classad/ad_pool.h"
#include "classad/ad_stream.h"
#include "tests/support/unit.h"

/* What comes out of a text that is fed in pieces of `step` bytes: each ad on a line, each refusal
 * as its place. */
static void stream_through(enum ad_form form, const char *text, size_t step, struct ad_pool *pool,
                           struct strbuf *out)
{
    struct ad_stream *stream = ad_stream_create(form, NULL, pool);
    size_t length = strlen(text);
    for (size_t at = 0;; at += step) {
        bool last = at >= length;
        if (last) {
            ad_stream_end(stream);
        } else {
            ad_stream_feed(stream, text + at, length - at < step ? length - at : step);
        }
        struct ad *ad = NULL;
        struct ad_place place;
        int rc;
        while ((rc = ad_stream_next(stream, &ad, &place, NULL)) != 0) {
            if (rc == 1) {
                ad_print(ad, out);
                strbuf_putc(out, '\n');
                ad_destroy(ad);
            } else {
                strbuf_printf(out, "refused %lu:%lu\n", place.line, place.column);
            }
        }
        if (last) {
            break;
        }
    }
    ad_stream_destroy(stream);
}

static void expect(enum ad_form form, const char *text, const char *expected)
{
    for (size_t step = 1; step <= 2 * strlen(text) + 2; step++) {
        struct ad_pool *pool = step > strlen(text) + 1 ? ad_pool_create() : NULL;
        struct strbuf out;
        strbuf_init(&out, 0);
        stream_through(form, text, (step - 1) % (strlen(text) + 1) + 1, pool, &out);
        ad_pool_destroy(pool);
        if (strcmp(strbuf_text(&out), expected) != 0) {
            print_message("pieces of %zu bytes\n", step);
        }
        assert_string_equal(strbuf_text(&out), expected);
        strbuf_fini(&out);
    }
}

static void long_forms_are_apart_by_blank_lines(void **state)
{
    (void)state;
    expect(AD_FORM_LONG, "\n# one\nA = 1\nB = 2\n\n\n \t\nC = 3\r\n# and\nD = 4",
           "[ A = 1; B = 2 ]\n[ C = 3; D = 4 ]\n");
    expect(AD_FORM_LONG, "A = 1\n\n\n", "[ A = 1 ]\n");
    expect(AD_FORM_LONG, "", "");
    expect(AD_FORM_LONG, "\n\n# nothing\n\n", "");
}

static void a_refused_long_form_is_passed_over(void **state)
{
    (void)state;
    expect(AD_FORM_LONG, "A = 1\nB = (2\n\nC = 3\n\n\n  D 4",
           "refused 2:7\n[ C = 3 ]\nrefused 7:5\n");
}

static void ads_in_brackets_follow_one_another(void **state)
{
    (void)state;
    expect(
        AD_FORM_NEW,
        "// first [\n[ a = \"]\\\"]\"; 'b]' = { [ c = 1 ] } ][d=1]\n/* [ */ { [ e = 1 /* ] */ ], "
        "[ f = 4 / 2 // ]\n] }",
        "[ a = \"]\\\"]\"; 'b]' = { [ c = 1 ] } ]\n[ d = 1 ]\n[ e = 1 ]\n[ f = 4 / 2 ]\n");
    expect(AD_FORM_NEW, " [ ] ", "[  ]\n");
    expect(AD_FORM_NEW, "[ /*/ ] */ a = 1 ]", "[ a = 1 ]\n");
}

static void a_refused_ad_in_brackets_is_passed_over(void **state)
{
    (void)state;
    expect(AD_FORM_NEW, "[ a = 1 ]\n[ b = ; ]\n[ c = 2 ]", "[ a = 1 ]\nrefused 2:7\n[ c = 2 ]\n");
    expect(AD_FORM_NEW, "[ a = 1 ] x [ b = 2 ]", "[ a = 1 ]\nrefused 1:11\n");
    expect(AD_FORM_NEW, "[ a = { 1 ]", "refused 1:11\n");
    expect(AD_FORM_NEW, "{ [ a = 1 ], ", "[ a = 1 ]\nrefused 1:14\n");
    expect(AD_FORM_NEW, "[ a = 1 ] }", "[ a = 1 ]\nrefused 1:11\n");
    expect(AD_FORM_NEW, "[ a = 1 ", "refused 1:9\n");
}

static void objects_follow_one_another_or_stand_in_an_array(void **state)
{
    (void)state;
    expect(AD_FORM_JSON, "[\n{ \"a\": [1, {\"b\": \"}\\\"}\"}] },\n{\"c\": null}\n]\n",
           "[ a = { 1,[ b = \"}\\\"}\" ] } ]\n[ c = undefined ]\n");
    expect(AD_FORM_JSON, "{} {\"a\":true}", "[  ]\n[ a = true ]\n");
    expect(AD_FORM_JSON, "{\"a\":tru}\n{\"a\":1}", "refused 1:6\n[ a = 1 ]\n");
    expect(AD_FORM_JSON, "[{\"a\":1},", "[ a = 1 ]\nrefused 1:10\n");
    expect(AD_FORM_JSON, "[{\"a\":1}] /", "[ a = 1 ]\nrefused 1:11\n");
}

static void the_form_is_guessed_by_its_first_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum ad_form form;
    } CASES[] = {{"A = 1", AD_FORM_LONG}, {" \n[ a", AD_FORM_NEW},  {"[]", AD_FORM_NEW},
                 {"[ {", AD_FORM_JSON},   {"{\"a\"", AD_FORM_JSON}, {"{ [", AD_FORM_NEW},
                 {"", AD_FORM_LONG},      {"# [", AD_FORM_LONG}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        assert_int_equal(ad_form_guess(CASES[i].text, strlen(CASES[i].text)), CASES[i].form);
    }
}

static void an_ad_beyond_the_limit_of_a_text_ends_the_stream(void **state)
{
    (void)state;
    static const struct {
        enum ad_form form;
        const char *begin;
    } CASES[] = {{AD_FORM_NEW, "[ a = \""},
                 {AD_FORM_JSON, "{ \"a\": \""},
                 {AD_FORM_NEW, "[ /*"},
                 {AD_FORM_LONG, "a = \""},
                 {AD_FORM_LONG, "# "}};
    char block[4096];
    memset(block, 'x', sizeof(block));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct ad_stream *stream = ad_stream_create(CASES[i].form, NULL, NULL);
        ad_stream_feed(stream, CASES[i].begin, strlen(CASES[i].begin));
        struct ad *ad = NULL;
        int rc = 0;
        size_t fed = 0;
        for (; rc == 0 && fed < 2 * AD_TEXT_MAX; fed += sizeof(block)) {
            ad_stream_feed(stream, block, sizeof(block));
            rc = ad_stream_next(stream, &ad, NULL, NULL);
        }
        assert_int_equal(rc, -E2BIG);
        assert_true(fed <= AD_TEXT_MAX + 2 * sizeof(block));
        ad_stream_feed(stream, "[a=1]", 5);
        assert_int_equal(ad_stream_next(stream, &ad, NULL, NULL), 0);
        ad_stream_destroy(stream);
    }
}

static void the_text_of_an_ad_and_its_place_can_be_had(void **state)
{
    (void)state;
    struct ad_stream *stream = ad_stream_create(AD_FORM_NEW, NULL, NULL);
    const char *text = "\n\n  [ a = 1 ]  [ b = ]";
    struct ad *ad = NULL;
    ad_stream_feed(stream, text, strlen(text));
    assert_int_equal(ad_stream_next(stream, &ad, NULL, NULL), 1);
    ad_destroy(ad);
    size_t length;
    struct ad_place place;
    const char *got = ad_stream_text(stream, &length, &place);
    assert_int_equal(length, 9);
    assert_memory_equal(got, "[ a = 1 ]", 9);
    assert_int_equal(place.line, 3);
    assert_int_equal(place.column, 3);
    assert_true(ad_stream_next(stream, &ad, &place, NULL) == -EINVAL);
    got = ad_stream_text(stream, &length, &place);
    assert_int_equal(length, 7);
    assert_memory_equal(got, "[ b = ]", 7);
    assert_int_equal(place.column, 14);
    ad_stream_destroy(stream);
    stream = ad_stream_create(AD_FORM_LONG, NULL, NULL);
    ad_stream_feed(stream, "# one\n\nA = 1\n\n", 14);
    assert_int_equal(ad_stream_next(stream, &ad, NULL, NULL), 1);
    ad_destroy(ad);
    got = ad_stream_text(stream, &length, &place);
    assert_memory_equal(got, "A = 1\n", 6);
    assert_int_equal(place.line, 3);
    ad_stream_destroy(stream);
}

static void a_refusal_tells_the_place_once(void **state)
{
    (void)state;
    static const char TEXT[] = "A = 1\nB = ((\n";
    struct ad_stream *stream = ad_stream_create(AD_FORM_LONG, NULL, NULL);
    struct ad *ad;
    struct ad_place place;
    struct err err;
    ad_stream_feed(stream, TEXT, strlen(TEXT));
    ad_stream_end(stream);
    assert_int_equal(ad_stream_next(stream, &ad, &place, &err), -EINVAL);
    assert_int_equal(place.line, 2);
    assert_string_equal(err.text, "expression expected, the text ends");
    ad_stream_destroy(stream);
    stream = ad_stream_create(AD_FORM_LONG, NULL, NULL);
    ad_stream_feed(stream, TEXT, strlen(TEXT));
    ad_stream_end(stream);
    assert_int_equal(ad_stream_next(stream, &ad, NULL, &err), -EINVAL);
    assert_string_equal(err.text, "line 2: at byte 6: expression expected, the text ends");
    ad_stream_destroy(stream);
    assert_string_equal(ad_place_reason("line up: at byte x"), "line up: at byte x");
}

/* Ads that are like the first, with other values, names, orders and mistakes; each as if alone. */
static void ads_of_a_pool_are_those_that_were_written(void **state)
{
    (void)state;
    expect(AD_FORM_LONG,
           "Boat = \"a\"\nCpus = 1\nFree = Cpus > 1 && Boat == \"a\"\n\n"
           "Boat = \"b\"\nCpus = 1\nFree = Cpus > 1 && Boat == \"a\"\n\n"
           "Boat = \"b\"\nCpus = 2 + 1\nFree = undefined\n\n"
           "Boat = \"a\"\nCpus = 1\nFree = Cpus > 1 && Boat == \"a\"\n",
           "[ Boat = \"a\"; Cpus = 1; Free = Cpus > 1 && Boat == \"a\" ]\n"
           "[ Boat = \"b\"; Cpus = 1; Free = Cpus > 1 && Boat == \"a\" ]\n"
           "[ Boat = \"b\"; Cpus = 2 + 1; Free = undefined ]\n"
           "[ Boat = \"a\"; Cpus = 1; Free = Cpus > 1 && Boat == \"a\" ]\n");
    /* Another order, another case, fewer and more names, a name twice. */
    expect(AD_FORM_LONG,
           "A = 1\nB = 2\n\nB = 2\nA = 1\n\na = 1\nB = 2\n\nA = 1\n\nA = 1\nB = 2\nC = 3\n\n"
           "A = 1\nB = 2\nA = 3\n\nA = 5\nB = 2\nA = 3\n\nA = 1\nB = 2\nA = 4\n\nA = 1\n# no\nB = "
           "3\n\nA = 1\nB = 4",
           "[ A = 1; B = 2 ]\n[ A = 1; B = 2 ]\n[ a = 1; B = 2 ]\n[ A = 1 ]\n"
           "[ A = 1; B = 2; C = 3 ]\n[ A = 3; B = 2 ]\n[ A = 3; B = 2 ]\n[ A = 4; B = 2 ]\n[ A = "
           "1; B = 3 ]\n"
           "[ A = 1; B = 4 ]\n");
    expect(AD_FORM_LONG, "A = 1\nB = 2\n\nA = 1\nB = (2\n\nA = 1\nB == 2\n\nA = 1\nB = 5\n",
           "[ A = 1; B = 2 ]\nrefused 5:7\nrefused 8:3\n[ A = 1; B = 5 ]\n");
}

UNIT_TESTS(UNIT(ads_of_a_pool_are_those_that_were_written), UNIT(a_refusal_tells_the_place_once),
           UNIT(long_forms_are_apart_by_blank_lines), UNIT(a_refused_long_form_is_passed_over),
           UNIT(ads_in_brackets_follow_one_another), UNIT(a_refused_ad_in_brackets_is_passed_over),
           UNIT(objects_follow_one_another_or_stand_in_an_array),
           UNIT(the_form_is_guessed_by_its_first_bytes),
           UNIT(an_ad_beyond_the_limit_of_a_text_ends_the_stream),
           UNIT(the_text_of_an_ad_and_its_place_can_be_had))
