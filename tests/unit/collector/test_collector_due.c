/* tests/unit/collector/test_collector_due.c - the wheel of seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "collector/collector_due.h"

static void each_comes_in_its_second_and_not_before(void **state)
{
    (void)state;
    struct ads_due due = {.last_s = 1000};
    struct ads_due_link early = {0}, late = {0};
    ads_due_set(&due, &late, 1007);
    ads_due_set(&due, &early, 1003);
    assert_null(ads_due_next(&due, 1002));
    assert_ptr_equal(ads_due_next(&due, 1003), &early);
    assert_null(ads_due_next(&due, 1006));
    assert_ptr_equal(ads_due_next(&due, 1009), &late);
    assert_null(ads_due_next(&due, 5000));
}

static void what_is_due_in_a_later_round_stays(void **state)
{
    (void)state;
    struct ads_due due = {.last_s = 10};
    struct ads_due_link later = {0}, now = {0};
    ads_due_set(&due, &later, 20 + ADS_DUE_SLOTS);
    ads_due_set(&due, &now, 20);
    assert_ptr_equal(ads_due_next(&due, 20), &now);
    assert_null(ads_due_next(&due, 19 + ADS_DUE_SLOTS));
    assert_ptr_equal(ads_due_next(&due, 20 + ADS_DUE_SLOTS), &later);
}

static void the_past_is_the_next_second(void **state)
{
    (void)state;
    struct ads_due due = {.last_s = 50};
    struct ads_due_link link = {0};
    ads_due_set(&due, &link, 7);
    assert_null(ads_due_next(&due, 50));
    assert_ptr_equal(ads_due_next(&due, 51), &link);
}

static void nothing_is_missed_in_a_long_sleep(void **state)
{
    (void)state;
    struct ads_due due = {.last_s = 100};
    struct ads_due_link links[50] = {{0}};
    unsigned count = 0;
    for (unsigned i = 0; i < 50; i++) {
        ads_due_set(&due, &links[i], 101 + i * 37);
    }
    while (ads_due_next(&due, 1000000) != NULL) {
        count++;
    }
    assert_int_equal(count, 50);
}

static void what_is_put_in_again_or_removed_comes_once_or_never(void **state)
{
    (void)state;
    struct ads_due due = {.last_s = 100};
    struct ads_due_link moved = {0}, removed = {0}, other = {0};
    ads_due_set(&due, &moved, 103);
    ads_due_set(&due, &removed, 103);
    ads_due_set(&due, &other, 103);
    ads_due_set(&due, &moved, 110);
    ads_due_remove(&removed);
    ads_due_remove(&removed);
    assert_ptr_equal(ads_due_next(&due, 109), &other);
    assert_null(ads_due_next(&due, 109));
    ads_due_set_now(&due, &removed);
    assert_ptr_equal(ads_due_next(&due, 109), &removed);
    assert_ptr_equal(ads_due_next(&due, 110), &moved);
    assert_null(ads_due_next(&due, 120));
}

static void the_next_second_in_which_one_is_due_is_known(void **state)
{
    (void)state;
    struct ads_due due = {.last_s = 100};
    struct ads_due_link first = {0}, later = {0}, next_round = {0};
    assert_int_equal(ads_due_first_s(&due, 105), 105);
    ads_due_set(&due, &next_round, 102 + ADS_DUE_SLOTS);
    assert_int_equal(ads_due_first_s(&due, 105), 105);
    ads_due_set(&due, &later, 104);
    ads_due_set(&due, &first, 102);
    assert_int_equal(ads_due_first_s(&due, 105), 102);
    assert_ptr_equal(ads_due_next(&due, 102), &first);
    assert_null(ads_due_next(&due, 102));
    assert_int_equal(ads_due_first_s(&due, 105), 104);
    assert_int_equal(ads_due_first_s(&due, 103), 103);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_comes_in_its_second_and_not_before),
        cmocka_unit_test(what_is_due_in_a_later_round_stays),
        cmocka_unit_test(the_past_is_the_next_second),
        cmocka_unit_test(nothing_is_missed_in_a_long_sleep),
        cmocka_unit_test(what_is_put_in_again_or_removed_comes_once_or_never),
        cmocka_unit_test(the_next_second_in_which_one_is_due_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
