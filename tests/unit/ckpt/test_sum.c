/* tests/unit/ckpt/test_sum.c - CRC-32C: whoever computes it, and in whatever pieces, it is the
 * same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/sum.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/support/unit.h"

#define BYTES ((size_t)100003)

static unsigned char *noise(void)
{
    unsigned char *bytes = malloc(BYTES);
    uint32_t state = 1;
    for (size_t i = 0; i < BYTES; i++) {
        state = state * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(state >> 24);
    }
    return bytes;
}

static void it_is_the_published_one(void **state)
{
    (void)state;
    /* RFC 3720, B.4 */
    unsigned char zeroes[32] = {0}, up[32];
    for (unsigned i = 0; i < sizeof up; i++) {
        up[i] = (unsigned char)i;
    }
    assert_int_equal(ckpt_sum(0, "123456789", 9), 0xe3069283);
    assert_int_equal(ckpt_sum(0, zeroes, sizeof zeroes), 0x8a9136aa);
    assert_int_equal(ckpt_sum_by(false, 0, zeroes, sizeof zeroes), 0x8a9136aa);
    assert_int_equal(ckpt_sum_by(false, 0, up, sizeof up), 0x46dd794e);
}

static void with_and_without_the_instruction_it_is_the_same(void **state)
{
    (void)state;
    static const size_t LENGTHS[] = {0,     1,     7,     8,     9,     4095, 12287,
                                     12288, 12289, 24576, 36863, 65536, BYTES};
    unsigned char *bytes = noise();
    for (size_t i = 0; ckpt_sum_is_fast() && i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        assert_int_equal(ckpt_sum_fast(7, bytes, LENGTHS[i]),
                         ckpt_sum_by(false, 7, bytes, LENGTHS[i]));
    }
    free(bytes);
}

static void in_pieces_it_is_the_same(void **state)
{
    (void)state;
    unsigned char *bytes = noise();
    uint32_t whole = ckpt_sum(0, bytes, BYTES);
    for (size_t cut = 0; cut <= BYTES; cut += 9973) {
        assert_int_equal(ckpt_sum(ckpt_sum(0, bytes, cut), bytes + cut, BYTES - cut), whole);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_published_one),
        cmocka_unit_test(with_and_without_the_instruction_it_is_the_same),
        cmocka_unit_test(in_pieces_it_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
