/* tests/unit/base/test_wall_offset.c - stamps of moments while the wall clock is set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/wall_offset.h"
#include "tests/support/clock_shift.h"

#define NOW_MS 5000000 /* up for 5,000 s */
#define WALL_S INT64_C(1800000000)
#define YEAR_S (INT64_C(365) * 86400)

static void a_difference_is_kept_until_the_clock_was_set(void **state)
{
    (void)state;
    int64_t known_ms = wall_offset_ms(WALL_OFFSET_NONE, WALL_S * 1000, NOW_MS);
    assert_true(known_ms <= WALL_S * 1000 - NOW_MS);
    assert_true(known_ms >= WALL_S * 1000 - NOW_MS - 10);
    for (int64_t jitter_ms = -2; jitter_ms <= 900; jitter_ms++) {
        assert_int_equal(wall_offset_ms(known_ms, WALL_S * 1000 + jitter_ms, NOW_MS), known_ms);
    }
    static const int64_t SETS_MS[] = {-1000 * TEN_YEARS_S, -60000, -3, 1001, 1000 * TEN_YEARS_S};
    for (size_t i = 0; i < sizeof SETS_MS / sizeof *SETS_MS; i++) {
        int64_t set_ms = wall_offset_ms(known_ms, WALL_S * 1000 + SETS_MS[i], NOW_MS);
        assert_int_equal(set_ms, known_ms + SETS_MS[i]);
    }
}

static void wall_times_of_earlier_moments_are_believed_as_far_as_they_are_plausible(void **state)
{
    (void)state;
    static const struct {
        int64_t ago_s;
        bool earlier;
        int64_t age_s;
    } ROWS[] = {
        {6000, true, 6000},       {YEAR_S, true, YEAR_S},    {4000, true, 5000},
        {-10, true, 5000},        {TEN_YEARS_S, true, 5000}, {-TEN_YEARS_S, true, 5000},
        {6000, false, 6000},      {4000, false, 4000},       {-10, false, 0},
        {-TEN_YEARS_S, false, 0}, {TEN_YEARS_S, false, 0},   {WALL_S - INT64_MIN / 2, true, 5000},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        int64_t at_ms =
            wall_offset_earlier_ms(WALL_S - ROWS[i].ago_s, WALL_S, NOW_MS, ROWS[i].earlier, YEAR_S);
        assert_int_equal((NOW_MS - at_ms) / 1000, ROWS[i].age_s);
    }
}

static void stamps_move_with_the_wall_clock_and_ages_stay(void **state)
{
    (void)state;
    struct loop *loop = NULL;
    assert_int_equal(loop_create(&loop, NULL), 0);
    int64_t at_ms = (int64_t)loop_now_ms(loop) - 100000;
    static const int64_t SHIFTS_S[] = {0, TEN_YEARS_S, 0, -TEN_YEARS_S, -60, 0};
    for (size_t i = 0; i < sizeof SHIFTS_S / sizeof *SHIFTS_S; i++) {
        clock_shift_s = SHIFTS_S[i];
        int64_t stamp_s = loop_wall_of_s(loop, at_ms);
        assert_int_equal(loop_wall_of_s(loop, at_ms), stamp_s);
        assert_in_range(loop_wall_s(loop) - stamp_s, 100, 160);
        assert_in_range(loop_since_s(loop, at_ms), 100, 160);
        assert_true(loop_wall_of_s(loop, (int64_t)loop_now_ms(loop)) <= loop_wall_s(loop));
    }
    assert_int_equal(loop_since_s(loop, (int64_t)loop_now_ms(loop) + 60000), 0);
    loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_is_kept_until_the_clock_was_set),
        cmocka_unit_test(wall_times_of_earlier_moments_are_believed_as_far_as_they_are_plausible),
        cmocka_unit_test(stamps_move_with_the_wall_clock_and_ages_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
