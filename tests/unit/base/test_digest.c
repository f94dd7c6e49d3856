/* tests/unit/base/test_digest.c - known answers (FIPS 180-4) and pieces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/digest.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void the_known_answers_are_right(void **state)
{
    (void)state;
    char hex[DIGEST_HEX_SIZE];
    struct digest *digest = digest_create();
    digest_hex(digest, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_update(digest, "abc", 3);
    digest_hex(digest, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_destroy(digest);
}

static void pieces_make_the_same_sum_as_the_whole(void **state)
{
    (void)state;
    char whole[DIGEST_HEX_SIZE];
    char pieces[DIGEST_HEX_SIZE];
    struct digest *digest = digest_create();
    digest_update(digest, "one two three", 13);
    digest_hex(digest, whole);
    digest_update(digest, "one ", 4);
    digest_update(digest, "", 0);
    digest_update(digest, "two three", 9);
    digest_hex(digest, pieces);
    assert_string_equal(pieces, whole);
    digest_destroy(digest);
    digest_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_known_answers_are_right),
        cmocka_unit_test(pieces_make_the_same_sum_as_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
