/* How long a machine may take to come: learned from its boots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "rooster/boots_plan.h"

static const struct boots_bounds BOUNDS = {.unlearned_ms = 300000,
                                           .floor_ms = 60000,
                                           .ceiling_ms = 1800000};

static struct boots boots_of(size_t count, int64_t took_ms)
{
    struct boots boots = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        boots_add(&boots, took_ms);
    }
    return boots;
}

static int64_t deadline_after(size_t count, int64_t took_ms)
{
    const struct boots boots = boots_of(count, took_ms);
    return boots_deadline_ms(&boots, &BOUNDS);
}

static void two_boots_are_too_few_to_learn_from(void **state)
{
    (void)state;
    assert_int_equal(deadline_after(0, 0), 300000);
    assert_int_equal(deadline_after(2, 40000), 300000);
    assert_int_equal(deadline_after(3, 40000), 80000);
}

static void one_boot_that_was_too_late_is_enough_to_wait_longer(void **state)
{
    (void)state;
    struct boots boots = boots_of(1, 400000);
    assert_int_equal(boots_deadline_ms(&boots, &BOUNDS), 800000);
    boots_add(&boots, 50000);
    assert_int_equal(boots_deadline_ms(&boots, &BOUNDS), 800000);
    assert_int_equal(deadline_after(1, 300000), 300000);
    assert_int_equal(deadline_after(1, 2000000), 1800000);
}

static void a_learned_deadline_stays_within_its_bounds(void **state)
{
    (void)state;
    assert_int_equal(deadline_after(3, 5000), 60000);
    assert_int_equal(deadline_after(3, 30001), 60002);
    assert_int_equal(deadline_after(3, 899999), 1799998);
    assert_int_equal(deadline_after(3, 900001), 1800000);
    assert_int_equal(deadline_after(3, INT64_MAX), 1800000);
}

static void a_configured_deadline_beyond_the_bounds_moves_them(void **state)
{
    (void)state;
    const struct boots fast = boots_of(3, 10), slow = boots_of(3, 7200000);
    const struct boots_bounds brief = {.unlearned_ms = 5000, .floor_ms = 60000, .ceiling_ms = 9000},
                              patient = {.unlearned_ms = 3600000,
                                         .floor_ms = 60000,
                                         .ceiling_ms = 1800000};
    assert_int_equal(boots_deadline_ms(&fast, &brief), 5000);
    assert_int_equal(boots_deadline_ms(&slow, &patient), 3600000);
}

static void one_slow_boot_among_twenty_teaches_nothing_two_do(void **state)
{
    (void)state;
    struct boots boots = boots_of(19, 60000);
    boots_add(&boots, 600000);
    assert_int_equal(boots_p95_ms(&boots), 60000);
    boots_add(&boots, 600000);
    assert_int_equal(boots_p95_ms(&boots), 600000);
}

static void only_the_last_boots_count(void **state)
{
    (void)state;
    struct boots boots = boots_of(100, 600000);
    for (int i = 0; i < BOOTS_KEPT; i++) {
        boots_add(&boots, 40000 + i);
    }
    assert_int_equal(boots_p95_ms(&boots), 40000 + 30);
}

static void what_took_no_time_is_no_boot(void **state)
{
    (void)state;
    const struct boots none = boots_of(9, 0);
    assert_int_equal(boots_p95_ms(&none), 0);
    assert_int_equal(deadline_after(9, -5), 300000);
}

UNIT_TESTS(UNIT(two_boots_are_too_few_to_learn_from),
           UNIT(one_boot_that_was_too_late_is_enough_to_wait_longer),
           UNIT(a_learned_deadline_stays_within_its_bounds),
           UNIT(a_configured_deadline_beyond_the_bounds_moves_them),
           UNIT(one_slow_boot_among_twenty_teaches_nothing_two_do), UNIT(only_the_last_boots_count),
           UNIT(what_took_no_time_is_no_boot))
