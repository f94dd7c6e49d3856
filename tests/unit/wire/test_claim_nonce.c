/* tests/unit/wire/test_claim_nonce.c - only the machine that promised a nonce fits its digest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/claim_nonce.h"

#include "tests/support/unit.h"

static void a_nonce_fits_its_own_digest_only(void **state)
{
    char digest[CLAIM_NONCE_DIGEST_SIZE];
    (void)state;
    claim_nonce_digest("00112233445566778899aabbccddeeff", digest);
    assert_int_equal(strlen(digest), 64);
    assert_true(claim_nonce_fits("00112233445566778899aabbccddeeff", digest));
    assert_false(claim_nonce_fits("00112233445566778899aabbccddeefe", digest));
    assert_false(claim_nonce_fits(digest, digest));
    digest[0] = digest[0] == 'a' ? 'b' : 'a';
    assert_false(claim_nonce_fits("00112233445566778899aabbccddeeff", digest));
}

static void nothing_fits_nothing(void **state)
{
    char digest[CLAIM_NONCE_DIGEST_SIZE];
    (void)state;
    claim_nonce_digest("", digest);
    assert_false(claim_nonce_fits("", digest));
    assert_false(claim_nonce_fits("", ""));
    assert_false(claim_nonce_fits("00", ""));
    assert_false(claim_nonce_fits("00", "00"));
}

UNIT_TESTS(cmocka_unit_test(a_nonce_fits_its_own_digest_only),
           cmocka_unit_test(nothing_fits_nothing))
