/* tests/unit/wire/test_frame.c - frames and bodies: what is written is read, rubbish is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "wire/frame.h"
#include "wire/proof.h"
#include "wire/wire.h"

#define MAX ((size_t)1 << 20)

static int decode(const struct strbuf *buf, struct frame *frame, struct err *err)
{
    size_t size = 0;
    return frame_decode(buf->data, buf->length, MAX, frame, &size, err);
}

static const uint8_t PROOF[PROOF_BYTES] = {1, 2, 3};

static const struct wire_secret SECRETS[] = {{SECRET_CLAIM_ID, 1, "secret"},
                                             {SECRET_CLAIM_ID, 1, ""},
                                             {SECRET_NONCE, SECRET_OF_ARGS, "n"}};

/* A REQUEST with two ads, one of them with a claim id beside it, and a blob. */
static void request_write(struct strbuf *out, bool with_secrets, uint8_t flags)
{
    struct ad *args = ad_create(), *one = ad_create(), *two = ad_create();
    ad_set_string(args, "Type", "Machine");
    ad_set_int(one, "Cpus", 8);
    ad_set_string(two, "Name", "slot1@wn01");
    const struct ad *ads[] = {one, two};
    struct wire_body body = {.args = args,
                             .ads = ads,
                             .ad_count = 2,
                             .blob = "blob",
                             .blob_length = 4,
                             .secrets = SECRETS,
                             .secret_count = with_secrets ? ARRAY_COUNT(SECRETS) : 0};
    size_t begin = frame_begin(out, FRAME_REQUEST, flags, VERB_UPDATE, 77);
    frame_put_u32(out, 5000);
    if ((flags & FRAME_FLAG_RELAYED) != 0) {
        frame_put_text16(out, "token", 5);
        frame_put_text16(out, "tcp:192.0.2.1:4", 15);
        frame_put_text16(out, "instance", 8);
        frame_put_u64(out, 4711);
        strbuf_append(out, PROOF, sizeof PROOF);
    }
    frame_put_body(out, &body);
    assert_int_equal(frame_end(out, begin, 0, MAX), 0);
    ad_destroy(args);
    ad_destroy(one);
    ad_destroy(two);
}

static void a_request_comes_back_as_it_was_written(void **state)
{
    (void)state;
    struct strbuf out;
    struct frame frame;
    struct frame_message message;
    strbuf_init(&out, 0);
    request_write(&out, true, FRAME_FLAG_RELAYED);
    assert_int_equal(decode(&out, &frame, NULL), 1);
    assert_int_equal(frame.type, FRAME_REQUEST);
    assert_int_equal(frame.verb, VERB_UPDATE);
    assert_int_equal(frame.request, 77);
    assert_int_equal(frame.deadline_ms, 5000);
    assert_int_equal(frame.token_length, 5);
    assert_memory_equal(frame.token, "token", 5);
    assert_int_equal(frame.from_length, 15);
    assert_int_equal(frame.instance_length, 8);
    assert_memory_equal(frame.instance, "instance", 8);
    assert_int_equal(frame.number, 4711);
    assert_memory_equal(frame.proof, PROOF, sizeof PROOF);
    assert_int_equal(frame.payload_length, out.length - FRAME_HEADER_BYTES);
    assert_int_equal(frame_message_decode(frame.body, frame.body_length, &message, NULL), 0);
    assert_string_equal(ad_string_or(message.args, "Type", ""), "Machine");
    assert_int_equal(message.ad_count, 2);
    assert_int_equal(ad_int_or(message.ads[0], "Cpus", 0), 8);
    assert_false(ad_has(message.ads[1], "ClaimId"));
    assert_int_equal(message.secret_count, ARRAY_COUNT(SECRETS));
    for (size_t i = 0; i < ARRAY_COUNT(SECRETS); i++) {
        assert_int_equal(message.secrets[i].kind, SECRETS[i].kind);
        assert_int_equal(message.secrets[i].of, SECRETS[i].of);
        assert_string_equal(message.secrets[i].text, SECRETS[i].text);
    }
    assert_int_equal(message.blob_length, 4);
    assert_memory_equal(message.blob, "blob", 4);
    frame_message_fini(&message);
    strbuf_fini(&out);
}

static void a_body_without_secrets_ends_with_its_blob(void **state)
{
    (void)state;
    struct strbuf out;
    struct frame frame;
    struct frame_message message;
    strbuf_init(&out, 0);
    request_write(&out, false, 0);
    assert_null(memmem(out.data, out.length, "secret", 6));
    assert_int_equal(decode(&out, &frame, NULL), 1);
    assert_int_equal(frame_message_decode(frame.body, frame.body_length, &message, NULL), 0);
    assert_string_equal(ad_string_or(message.ads[1], "Name", ""), "slot1@wn01");
    assert_int_equal(message.secret_count, 0);
    assert_memory_equal(out.data + out.length - 4, "blob", 4);
    frame_message_fini(&message);
    strbuf_fini(&out);
}

/* bytes behind an empty body, in hexadecimal digits: count, then kind, of, length, text. */
static int with_tail(const char *hex)
{
    char bytes[64] = {0};
    size_t length = 12; /* no args, no ads, no blob */
    struct frame_message message;
    for (; hex[0] != '\0'; hex += 2) {
        unsigned value = 0;
        assert_int_equal(sscanf(hex, "%2x", &value), 1);
        bytes[length++] = (char)value;
    }
    char *exact = malloc(length);
    memcpy(exact, bytes, length);
    int rc = frame_message_decode(exact, length, &message, NULL);
    frame_message_fini(&message);
    free(exact);
    return rc;
}

static void secrets_that_are_not_as_they_must_be_are_refused(void **state)
{
    (void)state;
    assert_int_equal(with_tail(""), 0);
    assert_int_equal(with_tail("01000000"
                               "02ffffffff0100"
                               "61"),
                     0);
    static const char *const BAD[] = {
        "00",       /* half a count */
        "00000000", /* none: there would be nothing */
        "02000000"
        "02ffffffff0100"
        "61", /* one is missing */
        "01000000"
        "02ffffffff0200"
        "61", /* cut short */
        "01000000"
        "00ffffffff0100"
        "61", /* no kind */
        "01000000"
        "7fffffffff0100"
        "61", /* an unknown kind */
        "01000000"
        "02000000000100"
        "61", /* of an ad that is not there */
        "01000000"
        "02ffffffff0100"
        "00", /* no text */
        "01000000"
        "02ffffffff0100"
        "61"
        "00", /* bytes too many */
        "ffffffff"
        "02ffffffff0100"
        "61", /* too many */
    };
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        assert_int_equal(with_tail(BAD[i]), -EBADMSG);
    }
}

static void half_a_frame_asks_for_more_whatever_is_missing(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    request_write(&out, false, FRAME_FLAG_RELAYED);
    for (size_t length = 0; length < out.length; length++) {
        struct frame frame;
        size_t size = 99;
        char *exact = malloc(length + 1); /* the sanitizer sees who reads on */
        memcpy(exact, out.data, length);
        assert_int_equal(frame_decode(exact, length, MAX, &frame, &size, NULL), 0);
        assert_int_equal(size, length < 4 ? 0 : out.length);
        free(exact);
    }
    strbuf_fini(&out);
}

static void a_payload_cut_short_is_refused_at_every_length(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    request_write(&out, false, FRAME_FLAG_RELAYED);
    for (size_t length = FRAME_HEADER_BYTES; length < out.length; length++) {
        struct frame frame;
        struct frame_message message;
        size_t size = 0;
        uint8_t *exact = malloc(length);
        memcpy(exact, out.data, length);
        exact[0] = (uint8_t)(length - 4);
        exact[1] = (uint8_t)((length - 4) >> 8);
        int rc = frame_decode(exact, length, MAX, &frame, &size, NULL);
        if (rc == 1) {
            rc = frame_message_decode(frame.body, frame.body_length, &message, NULL);
        }
        assert_true(rc == -EPROTO || rc == -EBADMSG);
        free(exact);
    }
    strbuf_fini(&out);
}

static void no_single_changed_byte_crashes_the_decoder(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    request_write(&out, true, FRAME_FLAG_RELAYED);
    int survived = 0;
    for (size_t at = 0; at < out.length; at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct frame frame;
            struct frame_message message;
            size_t size = 0;
            out.data[at] = (char)(out.data[at] ^ (1 << bit));
            if (frame_decode(out.data, out.length, MAX, &frame, &size, NULL) == 1 &&
                frame_message_decode(frame.body, frame.body_length, &message, NULL) == 0) {
                frame_message_fini(&message);
                survived++;
            }
            out.data[at] = (char)(out.data[at] ^ (1 << bit));
        }
    }
    assert_true(survived > 0); /* letters of a text may change */
    strbuf_fini(&out);
}

/* Header fields: offset, value, what the refusal says. */
static void frames_that_break_a_rule_of_the_header_are_refused_with_the_rule(void **state)
{
    (void)state;
    const struct {
        size_t at;
        uint8_t value;
        const char *says;
    } cases[] = {
        {4, 0, "unknown frame type"}, {4, 11, "unknown frame type"},
        {5, 4, "unknown flags"},      {6, 0, "verb 0"},
        {8, 0, "request 0"},          {15, 0x80, "request"},
        {4, FRAME_CANCEL, "verb"},    {0, 5, "smaller than the header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf out;
        struct frame frame;
        struct err err = {{0}};
        strbuf_init(&out, 0);
        request_write(&out, false, 0);
        if (cases[i].at == 0) {
            memset(out.data, 0, 4);
        }
        out.data[cases[i].at] = (char)cases[i].value;
        assert_int_equal(decode(&out, &frame, &err), -EPROTO);
        assert_non_null(strstr(err.text, cases[i].says));
        strbuf_fini(&out);
    }
}

static void a_frame_larger_than_allowed_is_refused_by_its_first_four_bytes(void **state)
{
    (void)state;
    const uint8_t head[4] = {0, 32, 0, 0}; /* 8192 + 4 bytes */
    struct frame frame;
    size_t size = 0;
    struct err err = {{0}};
    assert_int_equal(frame_decode(head, 4, FRAME_GREETING_MAX, &frame, &size, &err), -EPROTO);
    assert_non_null(strstr(err.text, "8196"));
    assert_int_equal(frame_decode(head, 4, FRAME_GREETING_MAX + 4, &frame, &size, &err), 0);
}

static void a_part_with_an_error_or_a_positive_status_is_no_reply(void **state)
{
    (void)state;
    const struct {
        uint8_t flags;
        int32_t status;
        int result;
    } cases[] = {{0, -13, 1},
                 {FRAME_FLAG_MORE, 0, 1},
                 {FRAME_FLAG_MORE, -13, -EPROTO},
                 {0, 13, -EPROTO},
                 {0, -5000, -EPROTO}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf out;
        struct frame frame;
        strbuf_init(&out, 0);
        size_t begin = frame_begin(&out, FRAME_REPLY, cases[i].flags, 0, 1);
        frame_put_u32(&out, (uint32_t)cases[i].status);
        frame_put_text16(&out, "why", 3);
        frame_put_body(&out, NULL);
        assert_int_equal(frame_end(&out, begin, 0, MAX), 0);
        assert_int_equal(decode(&out, &frame, NULL), cases[i].result);
        strbuf_fini(&out);
    }
}

static void bytes_after_the_body_make_the_message_malformed(void **state)
{
    (void)state;
    struct strbuf out;
    struct frame_body body;
    struct err err = {{0}};
    strbuf_init(&out, 0);
    frame_put_body(&out, NULL);
    assert_int_equal(frame_body_split(out.data, out.length, &body, &err), 0);
    assert_null(body.args);
    strbuf_putc(&out, 'x');
    assert_int_equal(frame_body_split(out.data, out.length, &body, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "1 extra bytes"));
    strbuf_fini(&out);
}

static void a_claim_of_more_ads_than_allowed_takes_no_memory(void **state)
{
    (void)state;
    struct strbuf out;
    struct frame_body body;
    struct err err = {{0}};
    strbuf_init(&out, 0);
    frame_put_u32(&out, 0);
    frame_put_u32(&out, WIRE_ADS_MAX + 1);
    assert_int_equal(frame_body_split(out.data, out.length, &body, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "limit 4096"));
    strbuf_fini(&out);
}

static void a_malformed_ad_is_named_by_its_place(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    const struct ad *ads[] = {ad, ad};
    struct wire_body body = {.ads = ads, .ad_count = 2};
    struct strbuf out;
    struct frame_message message;
    struct err err = {{0}};
    strbuf_init(&out, 0);
    ad_set_int(ad, "A", 1);
    frame_put_body(&out, &body);
    size_t each = (out.length - 12) / 2;
    out.data[8 + each + 4] = 99; /* the version of the second ad */
    assert_int_equal(frame_message_decode(out.data, out.length, &message, &err), -EBADMSG);
    assert_int_equal(strncmp(err.text, "ad 1: ", 6), 0);
    assert_null(message.ads);
    strbuf_fini(&out);
    ad_destroy(ad);
}

static void a_message_too_large_leaves_the_buffer_as_it_was(void **state)
{
    (void)state;
    struct strbuf out;
    char big[200] = {0};
    struct wire_body body = {.blob = big, .blob_length = sizeof big};
    strbuf_init(&out, 0);
    strbuf_puts(&out, "before");
    size_t begin = frame_begin(&out, FRAME_REQUEST, 0, VERB_PING, 1);
    frame_put_u32(&out, 0);
    frame_put_body(&out, &body);
    assert_int_equal(frame_end(&out, begin, 0, 100), -EMSGSIZE);
    assert_string_equal(strbuf_text(&out), "before");
    begin = frame_begin(&out, FRAME_REQUEST, 0, VERB_PING, 1);
    frame_put_u32(&out, 0);
    (void)frame_put_body_head(&out, &body); /* counted below */
    assert_int_equal(frame_end(&out, begin, sizeof big, 100), -EMSGSIZE);
    assert_int_equal(out.length, 6);
    assert_false(out.failed);
    strbuf_fini(&out);
}

static void a_list_of_too_many_ads_is_not_written(void **state)
{
    (void)state;
    static const struct ad *ads[WIRE_ADS_MAX + 1];
    struct wire_body body = {.ads = ads, .ad_count = WIRE_ADS_MAX + 1};
    struct strbuf out;
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_REQUEST, 0, VERB_PING, 1);
    frame_put_u32(&out, 0);
    frame_put_body(&out, &body);
    assert_int_equal(frame_end(&out, begin, 0, MAX), -EMSGSIZE);
    assert_int_equal(out.length, 0);
    strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_comes_back_as_it_was_written),
        cmocka_unit_test(a_body_without_secrets_ends_with_its_blob),
        cmocka_unit_test(secrets_that_are_not_as_they_must_be_are_refused),
        cmocka_unit_test(half_a_frame_asks_for_more_whatever_is_missing),
        cmocka_unit_test(a_payload_cut_short_is_refused_at_every_length),
        cmocka_unit_test(no_single_changed_byte_crashes_the_decoder),
        cmocka_unit_test(frames_that_break_a_rule_of_the_header_are_refused_with_the_rule),
        cmocka_unit_test(a_frame_larger_than_allowed_is_refused_by_its_first_four_bytes),
        cmocka_unit_test(a_part_with_an_error_or_a_positive_status_is_no_reply),
        cmocka_unit_test(bytes_after_the_body_make_the_message_malformed),
        cmocka_unit_test(a_claim_of_more_ads_than_allowed_takes_no_memory),
        cmocka_unit_test(a_malformed_ad_is_named_by_its_place),
        cmocka_unit_test(a_message_too_large_leaves_the_buffer_as_it_was),
        cmocka_unit_test(a_list_of_too_many_ads_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
