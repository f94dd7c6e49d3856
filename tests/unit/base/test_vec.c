/* Tests of base/vec.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/vec.h"

#include "tests/support/unit.h"

static int items[100];

static void count_free(void *item)
{
    ++*(int *)item;
}

static void items_keep_their_order(void **state)
{
    (void)state;
    struct vec vec = {0};
    for (size_t i = 0; i < 100; i++) {
        vec_push(&vec, &items[i]);
    }
    assert_int_equal(vec.count, 100);
    vec_remove_at(&vec, 99);
    vec_remove_at(&vec, 0);
    vec_remove_at(&vec, 49);
    assert_int_equal(vec.count, 97);
    assert_ptr_equal(vec.items[0], &items[1]);
    assert_ptr_equal(vec.items[48], &items[49]);
    assert_ptr_equal(vec.items[49], &items[51]);
    assert_ptr_equal(vec.items[96], &items[98]);
    vec_fini(&vec, NULL);
    assert_null(vec.items);
    assert_int_equal(vec.count, 0);
}

static void each_item_is_freed_once(void **state)
{
    (void)state;
    struct vec vec = {0};
    vec_fini(&vec, count_free);
    for (size_t i = 0; i < 20; i++) {
        items[i] = 0;
        vec_push(&vec, &items[i]);
    }
    vec_clear(&vec, count_free);
    assert_int_equal(vec.count, 0);
    vec_push(&vec, &items[3]);
    vec_fini(&vec, count_free);
    assert_int_equal(items[2], 1);
    assert_int_equal(items[3], 2);
}

UNIT_TESTS(UNIT(items_keep_their_order), UNIT(each_item_is_freed_once))
