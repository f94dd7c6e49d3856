/* tests/unit/classad/test_ad_pool.c - ads that share what they have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void bytes_of(const struct ad *ad, struct strbuf *bytes)
{
    strbuf_init(bytes, 0);
    ad_encode(ad, true, bytes);
    assert_false(bytes->failed);
}

static void a_name_is_found_without_decoding(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad = ad_of("[ A = 1; Name = \"slot1@n\"; X = 1 + 1; Empty = \"\" ]");
    struct strbuf bytes;
    bytes_of(ad, &bytes);
    const char *text = NULL;
    size_t length = 0;
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "nAME", &text, &length, NULL),
                     0);
    assert_int_equal(length, 7);
    assert_memory_equal(text, "slot1@n", 7);
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "Empty", &text, &length, NULL),
                     0);
    assert_int_equal(length, 0);
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "X", &text, &length, NULL),
                     -ENOENT);
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "Y", &text, &length, NULL),
                     -ENOENT);
    assert_int_equal(ad_peek_string(pool, bytes.data, 1, "X", &text, &length, NULL), -EBADMSG);
    strbuf_fini(&bytes);
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

static void changes_make_a_new_ad_and_leave_the_old_one(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *old = ad_of("[ A = 1; B = \"b\"; C = A + 1 ]");
    struct ad *changes = ad_of("[ b = 2; D = \"new\" ]");
    struct ad *expected = ad_of("[ A = 1; B = 2; C = A + 1; D = \"new\" ]");
    struct ad *untouched = ad_copy(old);
    struct ad *changed = ad_change(pool, old, changes);
    assert_true(ad_same(changed, expected));
    assert_true(ad_same(old, untouched));
    ad_destroy(old);
    ad_destroy(changes);
    assert_int_equal(ad_int_or(changed, "C", 0), 2);
    ad_destroy(changed);
    ad_destroy(expected);
    ad_destroy(untouched);
    ad_pool_destroy(pool);
}

static void a_public_copy_has_no_private_attributes(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[ ClaimId = \"s\"; A = 1; _roost_privX = 2; Capability = 3 ]");
    struct ad *copy = ad_copy_public(ad);
    assert_int_equal(ad_count(copy), 1);
    assert_int_equal(ad_int_or(copy, "A", 0), 1);
    assert_int_equal(ad_count(ad), 4);
    ad_destroy(ad);
    ad_destroy(copy);
}

UNIT_TESTS(UNIT(a_name_is_found_without_decoding),
           UNIT(changes_make_a_new_ad_and_leave_the_old_one),
           UNIT(a_public_copy_has_no_private_attributes))
