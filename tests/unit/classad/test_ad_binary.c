/* tests/unit/classad/test_ad_binary.c - the compact form and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static const char EVERYTHING[] = "[ u = undefined; e = error; t = true; i = -9223372036854775808; "
                                 "r = 0.1; n = -0.0; s = \"a\\\"b\\n\"; "
                                 "at = absTime(\"2024-03-01T12:30:00+05:30\"); rt = "
                                 "relTime(\"1+02:03:04.5\"); l = {1,{},\"x\"}; a = [b = "
                                 "[c = .d]]; x = MY.y.z + 1 - 2 * 3 % w; c = p ? q : r ?: 5; k = "
                                 "((1 << 2)); f = strCat(\"a\",unknown(1)); "
                                 "sub = l[0]; neg = - -~ +i; ClaimId = \"secret\" ]";

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void everything_comes_back(void **state)
{
    (void)state;
    struct ad *ad = ad_of(EVERYTHING);
    struct ad *back = NULL;
    struct strbuf bytes;
    size_t used = 0;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    size_t length = bytes.length;
    strbuf_puts(&bytes, "more");
    assert_int_equal(ad_decode(bytes.data, bytes.length, &used, &back, NULL), 0);
    assert_int_equal(used, length);
    assert_true(ad_same(ad, back));
    ad_destroy(back);
    back = NULL;
    struct err err;
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, &err), -EBADMSG);
    assert_null(back);
    assert_int_equal(ad_decode(bytes.data, length, NULL, &back, &err), 0);
    ad_destroy(back);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

static void a_decoded_expression_evaluates(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    struct ad *back = NULL;
    struct strbuf bytes;
    static const char TEXT[] =
        "toUpper(strcat(\"a\", MY.x + 1)) =?= \"A6\" && TARGET.x == undefined";
    strbuf_init(&bytes, 0);
    ad_set_int(ad, "x", 5);
    assert_int_equal(ad_set_expr(ad, "e", TEXT, NULL), 0);
    ad_encode(ad, true, &bytes);
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), 0);
    assert_true(ad_expr_same(ad_lookup(ad, "e"), ad_lookup(back, "e")));
    assert_int_equal(ad_eval_bool(ad_lookup(back, "e"), back, NULL, NULL), AD_UNDEFINED);
    ad_destroy(ad);
    ad_destroy(back);
    strbuf_fini(&bytes);
}

static void private_attributes_stay_at_every_depth(void **state)
{
    (void)state;
    struct ad *ad =
        ad_of("[A = 1; ClaimId = \"s\"; N = [B = 2; Capability = \"s\"; L = {[TransferKey = 1]}]]");
    struct ad *expected = ad_of("[A = 1; N = [B = 2; L = {[]}]]");
    struct ad *back = NULL;
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, false, &bytes);
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), 0);
    assert_true(ad_same(back, expected));
    strbuf_clear(&bytes);
    assert_int_equal(ad_print_json(ad, &bytes), 0);
    assert_string_equal(strbuf_text(&bytes), "{\"A\":1,\"N\":{\"B\":2,\"L\":[{}]}}");
    strbuf_clear(&bytes);
    ad_print_long_public(ad, &bytes);
    assert_null(strstr(strbuf_text(&bytes), "ClaimId"));
    strbuf_fini(&bytes);
    ad_destroy(back);
    ad_destroy(expected);
    ad_destroy(ad);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    struct ad *ad = ad_of(EVERYTHING);
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    for (size_t length = 0; length < bytes.length; length++) {
        struct ad *back = NULL;
        assert_int_equal(ad_decode(bytes.data, length, NULL, &back, NULL), -EBADMSG);
        assert_null(back);
    }
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

static void assert_bad(const char *bytes, size_t length, int code, const char *reason)
{
    struct ad *ad = NULL;
    struct err err;
    assert_int_equal(ad_decode(bytes, length, NULL, &ad, &err), code);
    assert_null(ad);
    assert_non_null(strstr(err.text, reason));
}

static void another_version_is_refused(void **state)
{
    (void)state;
    assert_bad("\0\0", 2, -EPROTONOSUPPORT, "version 0");
    assert_bad("\1\0", 2, -EPROTONOSUPPORT, "version 1");
    assert_bad("\3\0", 2, -EPROTONOSUPPORT, "version 3");
}

#define BAD(bytes, code, reason) assert_bad(bytes, sizeof(bytes) - 1, code, reason)

static void what_no_encoder_writes_is_refused(void **state)
{
    (void)state;
    BAD("\2", -EBADMSG, "the ad ends too early");
    BAD("\2\0\0x", -EBADMSG, "extra bytes");
    BAD("\2\2\2A\0\1\0\1\0", -EBADMSG, "fewer names");
    BAD("\2\1\4A\0B\0\1\0", -EBADMSG, "more names");
    BAD("\2\1\1A\1\0", -EBADMSG, "fewer names");
    BAD("\2\2\4A\0a\0\1\0\1\0", -EBADMSG, "twice");
    BAD("\2\1\2A\0\0", -EBADMSG, "length of A");
    BAD("\2\1\2A\0\2\0", -EBADMSG, "length of A");
    BAD("\2\1\2A\0\x81\0\0", -EBADMSG, "length of A"); /* one, in two bytes */
    BAD("\2\1\2A\0\xff\xff\xff\xff\xff\1\0", -EBADMSG, "length of A");
    BAD("\2\1\2A\0\2\0\0", -EBADMSG, "extra bytes follow the value");
    BAD("\2\1\2A\0\2\2\2", -EBADMSG, "not 0 or 1");
    BAD("\2\1\2A\0\1\2", -EBADMSG, "the ad ends too early");
    BAD("\2\1\2A\0\3\3\x80\0", -EBADMSG, "shortest");
    BAD("\2\1\2A\0\x0b\3\xff\xff\xff\xff\xff\xff\xff\xff\xff\2", -EBADMSG, "shortest");
    BAD("\2\1\2A\0\2\4\0", -EBADMSG, "the ad ends too early");
    BAD("\2\1\2A\0\1\5", -EBADMSG, "must have one zero byte");
    BAD("\2\1\2A\0\3\5xx", -EBADMSG, "must have one zero byte");
    BAD("\2\1\2A\0\4\5x\0\0", -EBADMSG, "must have one zero byte");
    BAD("\2\1\2A\0\1\x13", -EBADMSG, "unknown kind");
    BAD("\2\1\2A\0\1\xff", -EBADMSG, "unknown kind");
    BAD("\2\1\2A\0\3\x0b\1\0", -EBADMSG, "unknown operator"); /* unary || */
    BAD("\2\1\2A\0\3\x0c\1\0", -EBADMSG, "without operands"); /* a chain of one */
    BAD("\2\1\2A\0\5\x0c\2\0\x16\0", -EBADMSG, "operator");   /* a ! b */
    BAD("\2\1\2A\0\7\x0c\3\0\1\0\2\0", -EBADMSG, "operator"); /* a || b && c as one chain */
    BAD("\2\1\2A\0\4\x0a\3\1x", -EBADMSG, "unknown kind of reference");
    BAD("\2\1\2A\0\5\x09\1\1\0\0", -EBADMSG, "zero byte");
    BAD("\2\1\2A\0\3\x09\x80\0", -EBADMSG, "shortest");
    BAD("\2\1\2A\0\2\x09\x7f", -EBADMSG, "larger than the rest of the ad");
    BAD("\2\1\2A\0\x09\x09\2\1B\0\1b\0\0", -EBADMSG, "twice");
}

static void long_values_and_names_keep_their_limits(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    struct ad *back = NULL;
    struct strbuf bytes;
    struct strbuf text;
    strbuf_init(&bytes, 0);
    strbuf_init(&text, 0);
    for (size_t i = 0; i < AD_STRING_MAX; i++) {
        strbuf_putc(&text, 'x');
    }
    ad_set_string(ad, "Long", strbuf_text(&text)); /* its length takes three bytes, offsets four */
    ad_set_string(ad, "Middle", strbuf_text(&text) + AD_STRING_MAX - 200);
    assert_int_equal(ad_set_expr(ad, "Sum", "Long.a + Middle.b + 1", NULL), 0);
    ad_encode(ad, true, &bytes);
    assert_int_equal(bytes.length, ad_encoded_bytes(ad));
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), 0);
    assert_true(ad_same(ad, back));
    assert_int_equal(ad_encoded_bytes(back), bytes.length);
    ad_destroy(back);
    back = NULL;
    strbuf_clear(&bytes);
    strbuf_append(&bytes, "\2\1\2A\0\x83\x80\x40\5", 9);
    for (size_t i = 0; i <= AD_STRING_MAX; i++) {
        strbuf_putc(&bytes, 'x');
    }
    strbuf_putc(&bytes, 0);
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), -E2BIG);
    strbuf_clear(&bytes);
    strbuf_append(&bytes, "\2\1\x82\x08", 4);
    for (size_t i = 0; i <= AD_NAME_MAX; i++) {
        strbuf_putc(&bytes, 'x');
    }
    strbuf_append(&bytes, "\0\1\0", 3);
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), -E2BIG);
    assert_null(back);
    strbuf_fini(&bytes);
    strbuf_fini(&text);
    ad_destroy(ad);
}

static void nesting_is_bounded_when_decoding(void **state)
{
    (void)state;
    struct strbuf bytes;
    struct ad *ad = NULL;
    strbuf_init(&bytes, 0);
    strbuf_append(&bytes, "\2\1\2A\0\xa1\x8d\6", 8); /* 100,001 bytes follow */
    for (int i = 0; i < 100000; i++) {
        strbuf_putc(&bytes, 0x0f); /* a parenthesis */
    }
    strbuf_putc(&bytes, 0);
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &ad, NULL), -E2BIG);
    strbuf_clear(&bytes);
    strbuf_append(&bytes, "\2\1\2A\0\x80\xb5\x18", 8); /* 400,000 bytes follow */
    for (int i = 0; i < 100000; i++) {
        strbuf_append(&bytes, "\x09\1\1A", 4); /* an ad in an ad */
    }
    assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &ad, NULL), -E2BIG);
    assert_null(ad);
    strbuf_fini(&bytes);
}

static void a_full_buffer_is_told(void **state)
{
    (void)state;
    struct ad *ad = ad_of(EVERYTHING);
    struct strbuf bytes;
    strbuf_init(&bytes, 20);
    ad_encode(ad, true, &bytes);
    assert_true(bytes.failed);
    strbuf_clear(&bytes);
    assert_int_equal(ad_print_json(ad, &bytes), -E2BIG);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

static void json_has_the_types_of_json_and_marks_expressions(void **state)
{
    (void)state;
    struct ad *ad = ad_of(
        "[ i = 1; r = 2.5; s = \"q\\\" \\\\ \\n\\001 \\303\\251 \\377\"; b = true; u = undefined; "
        "l = {1,\"x\",a + 1}; n = [ m = 1 ]; x = a =?= \"v\"; y = error; inf = 1e999 ]");
    struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(ad_print_json(ad, &text), 0);
    assert_string_equal(
        strbuf_text(&text),
        "{\"b\":true,\"i\":1,\"l\":[1,\"x\",\"\\/Expr(a + 1)\\/\"],\"n\":{\"m\":1},"
        "\"r\":2.5,\"s\":\"q\\\" \\\\ \\n\\u0001 \xc3\xa9 \xef\xbf\xbd\","
        "\"u\":null,\"x\":\"\\/Expr(a is \\\"v\\\")\\/\",\"y\":\"\\/Expr(error)\\/\","
        "\"inf\":\"\\/Expr(real(\\\"INF\\\"))\\/\"}");
    strbuf_fini(&text);
    ad_destroy(ad);
}

static void json_holds_no_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    static const char *const WRONG[] = {
        "\xed\xa0\x80",     "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xc0\x80",
        "\xf5\x80\x80\x80", "\x80",         "\xe2\x82"};
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        struct ad *ad = ad_create();
        struct strbuf text;
        strbuf_init(&text, 0);
        ad_set_string(ad, "S", WRONG[i]);
        assert_int_equal(ad_print_json(ad, &text), 0);
        assert_null(strstr(strbuf_text(&text), WRONG[i]));
        assert_non_null(strstr(strbuf_text(&text), "\xef\xbf\xbd"));
        strbuf_fini(&text);
        ad_destroy(ad);
    }
}

UNIT_TESTS(UNIT(json_holds_no_bytes_that_are_not_utf8), UNIT(everything_comes_back),
           UNIT(a_decoded_expression_evaluates), UNIT(private_attributes_stay_at_every_depth),
           UNIT(every_cut_is_refused), UNIT(another_version_is_refused),
           UNIT(what_no_encoder_writes_is_refused), UNIT(long_values_and_names_keep_their_limits),
           UNIT(nesting_is_bounded_when_decoding), UNIT(a_full_buffer_is_told),
           UNIT(json_has_the_types_of_json_and_marks_expressions))
