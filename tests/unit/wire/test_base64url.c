/* tests/unit/wire/test_base64url.c - one text for some bytes, and no other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "wire/base64url.h"

static void the_vectors_of_rfc_4648_go_both_ways(void **state)
{
    static const char *const VECTORS[][2] = {
        {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
        {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xbf", "-_-_"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof VECTORS / sizeof VECTORS[0]; i++) {
        const char *bytes = VECTORS[i][0], *letters = VECTORS[i][1];
        char back[16];
        struct strbuf out;
        strbuf_init(&out, 0);
        base64url_encode(&out, bytes, strlen(bytes));
        assert_string_equal(strbuf_text(&out), letters);
        assert_int_equal(base64url_decode(letters, strlen(letters), back, sizeof back),
                         strlen(bytes));
        assert_memory_equal(back, bytes, strlen(bytes));
        strbuf_fini(&out);
    }
}

static void every_byte_in_every_place_comes_back(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 5; at++) {
            uint8_t bytes[5] = {1, 2, 3, 4, 5}, back[5];
            struct strbuf out;
            bytes[at] = (uint8_t)byte;
            strbuf_init(&out, 0);
            base64url_encode(&out, bytes, sizeof bytes);
            assert_int_equal(base64url_decode(strbuf_text(&out), out.length, back, sizeof back), 5);
            assert_memory_equal(back, bytes, sizeof bytes);
            strbuf_fini(&out);
        }
    }
}

static void other_texts_are_refused(void **state)
{
    static const char *const BAD[] = {
        "Zg==", "Zm 9v", "Zm9+", "Zm9/", "Z", "Zm9vY", "Zh", "Zm9", "Zm9\x80",
    };
    char back[16];
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_int_equal(base64url_decode(BAD[i], strlen(BAD[i]), back, sizeof back), -EINVAL);
    }
}

static void what_has_no_room_is_refused_before_a_byte_is_written(void **state)
{
    char back[3] = {'x', 'x', 'x'};
    (void)state;
    assert_int_equal(base64url_decode("Zm9vYg", 6, back, sizeof back), -E2BIG);
    assert_memory_equal(back, "xxx", 3);
    assert_int_equal(base64url_decode("Zm9v", 4, back, sizeof back), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_rfc_4648_go_both_ways),
        cmocka_unit_test(every_byte_in_every_place_comes_back),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(what_has_no_room_is_refused_before_a_byte_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
