/* Which machines are woken, in which order, and what follows a wake that failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <stdbool.h>

#include "rooster/wake_plan.h"

static const struct wake_limits NO_LIMITS = {0};

/* The names chosen, in order, with blanks between. */
static const char *choose(const struct wake_candidate *candidates, size_t count,
                          const struct wake_limits *limits, uint64_t now_ms)
{
    static _Thread_local char names[256];
    size_t chosen[16];
    size_t taken = wake_plan_choose(candidates, count, limits, now_ms, chosen);
    names[0] = '\0';
    for (size_t i = 0, at = 0; i < taken; i++) {
        assert_true(chosen[i] < count);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? " " : "",
                               candidates[chosen[i]].machine);
    }
    return names;
}

#define SLEEPER(name) .machine = (name), .state = WAKE_OFF, .can_wake = true

static void ordered_machines_come_first_then_rank_then_name(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {SLEEPER("d"), .wish = WAKE_WISHED_BY_JOBS, .rank = 2},
        {SLEEPER("b"), .wish = WAKE_WISHED_BY_JOBS, .rank = 7},
        {SLEEPER("a"), .wish = WAKE_WISHED_BY_JOBS, .rank = 2},
        {SLEEPER("z"), .wish = WAKE_WISHED_BY_NAME, .rank = -1},
        {SLEEPER("c"), .wish = WAKE_WISHED_BY_NAME, .rank = 0},
        {SLEEPER("e"), .wish = WAKE_WISHED_BY_JOBS, .rank = -3},
    };
    assert_string_equal(choose(candidates, 6, &NO_LIMITS, 0), "c z b a d e");
}

static void nothing_is_woken_without_demand_or_order_or_method(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {SLEEPER("idle")},
        {.machine = "no_method", .state = WAKE_OFF, .wish = WAKE_WISHED_BY_NAME},
        {.machine = "up", .state = WAKE_UP, .can_wake = true, .wish = WAKE_WISHED_BY_NAME},
        {.machine = "down",
         .state = WAKE_GOING_DOWN,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_JOBS},
        {.machine = "stays", .state = WAKE_STAYING, .can_wake = true, .wish = WAKE_WISHED_BY_NAME},
        {.machine = "waking", .state = WAKE_WAKING, .can_wake = true, .wish = WAKE_WISHED_BY_NAME},
    };
    assert_string_equal(choose(candidates, 6, &NO_LIMITS, 0), "");
    assert_string_equal(choose(NULL, 0, &NO_LIMITS, 0), "");
}

static void back_off_and_quarantine_wait_and_only_an_order_breaks_quarantine(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {.machine = "b",
         .state = WAKE_BACKOFF,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_JOBS,
         .retry_at_ms = 100},
        {.machine = "bo",
         .state = WAKE_BACKOFF,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_NAME,
         .retry_at_ms = 100},
        {.machine = "bx", .state = WAKE_BACKOFF, .can_wake = true, .retry_at_ms = 100},
        {.machine = "q",
         .state = WAKE_QUARANTINED,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_JOBS,
         .retry_at_ms = 200},
        {.machine = "qo",
         .state = WAKE_QUARANTINED,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_NAME,
         .retry_at_ms = 200},
        {.machine = "qx", .state = WAKE_QUARANTINED, .can_wake = true, .retry_at_ms = 0},
    };
    assert_string_equal(choose(candidates, 6, &NO_LIMITS, 99), "qo");
    assert_string_equal(choose(candidates, 6, &NO_LIMITS, 100), "bo qo b");
    assert_string_equal(choose(candidates, 6, &NO_LIMITS, 199), "bo qo b");
    assert_string_equal(choose(candidates, 6, &NO_LIMITS, 200), "bo qo b q");
}

static void limits_take_the_best_and_count_what_is_waking(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {SLEEPER("a"), .wish = WAKE_WISHED_BY_JOBS, .rank = 1},
        {SLEEPER("b"), .wish = WAKE_WISHED_BY_JOBS, .rank = 3},
        {SLEEPER("c"), .wish = WAKE_WISHED_BY_JOBS, .rank = 2},
        {.machine = "w", .state = WAKE_WAKING, .can_wake = true, .wish = WAKE_WISHED_BY_JOBS},
        {.machine = "v", .state = WAKE_WAKING, .can_wake = true, .wish = WAKE_WISHED_BY_JOBS},
        {.machine = "f",
         .state = WAKE_BACKOFF,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_JOBS,
         .retry_at_ms = 900},
    };
    assert_string_equal(choose(candidates, 6, &(struct wake_limits){.per_cycle_max = 2}, 0), "b c");
    assert_string_equal(choose(candidates, 6, &(struct wake_limits){.at_once_max = 3}, 0), "b");
    assert_string_equal(choose(candidates, 6, &(struct wake_limits){.at_once_max = 2}, 0), "");
    assert_string_equal(choose(candidates, 6, &(struct wake_limits){.at_once_max = 1}, 0), "");
    assert_string_equal(choose(candidates, 6,
                               &(struct wake_limits){.per_cycle_max = 1, .at_once_max = 4}, 0),
                        "b");
    assert_string_equal(choose(candidates, 6,
                               &(struct wake_limits){.per_cycle_max = 9, .at_once_max = 9}, 0),
                        "b c a");
}

static void a_limit_takes_just_those_that_come_first_without_one(void **state)
{
    (void)state;
    enum { MANY = 97 };
    static const char *const NAMES[] = {"a", "b", "c", "d", "e", "f", "g"};
    struct wake_candidate candidates[MANY];
    size_t all[MANY], some[MANY];
    for (size_t i = 0; i < MANY; i++) { /* each pair of rank and name once */
        candidates[i] =
            (struct wake_candidate){SLEEPER(NAMES[i % 7]),
                                    .wish = i % 31 == 5 ? WAKE_WISHED_BY_NAME : WAKE_WISHED_BY_JOBS,
                                    .rank = (double)(i * 59 % MANY)};
    }
    assert_int_equal(wake_plan_choose(candidates, MANY, &NO_LIMITS, 0, all), MANY);
    for (size_t most = 1; most <= MANY; most++) {
        const struct wake_limits limits = {.per_cycle_max = (int64_t)most};
        assert_int_equal(wake_plan_choose(candidates, MANY, &limits, 0, some), most);
        assert_memory_equal(some, all, most * sizeof some[0]);
    }
}

static void a_share_of_the_pool_is_at_least_one_machine(void **state)
{
    (void)state;
    const struct wake_limits tenth = {.share_max_percent = 10, .machines = 59};
    const struct wake_limits of_few = {.share_max_percent = 10, .machines = 3};
    assert_int_equal(wake_plan_room(&tenth, 0), 5);
    assert_int_equal(wake_plan_room(&tenth, 3), 2);
    assert_int_equal(wake_plan_room(&tenth, 9), 0);
    assert_int_equal(wake_plan_room(&of_few, 0), 1);
    assert_int_equal(wake_plan_room(&of_few, 1), 0);
    assert_int_equal(wake_plan_room(&NO_LIMITS, 1000000), INT64_MAX);
}

static void the_tightest_limit_counts(void **state)
{
    (void)state;
    struct wake_limits limits = {.per_cycle_max = 7,
                                 .at_once_max = 9,
                                 .share_max_percent = 50,
                                 .machines = 20,
                                 .per_minute_max = 30,
                                 .last_minute = 22};
    assert_int_equal(wake_plan_room(&limits, 0), 7);
    assert_int_equal(wake_plan_room(&limits, 4), 5);
    limits.last_minute = 28;
    assert_int_equal(wake_plan_room(&limits, 4), 2);
    limits.last_minute = 31;
    assert_int_equal(wake_plan_room(&limits, 4), 0);
}

static void orders_count_for_a_minute(void **state)
{
    (void)state;
    struct wake_minute minute = {.last_s = 0};
    assert_int_equal(wake_minute_count(&minute, 5000), 0);
    wake_minute_add(&minute, 5999);
    wake_minute_add(&minute, 30000);
    wake_minute_add(&minute, 30001);
    assert_int_equal(wake_minute_count(&minute, 65999), 3); /* 60 s later */
    assert_int_equal(wake_minute_count(&minute, 66000), 2);
    assert_int_equal(wake_minute_count(&minute, 90999), 2);
    assert_int_equal(wake_minute_count(&minute, 91000), 0);
    wake_minute_add(&minute, 91000);
    assert_int_equal(wake_minute_count(&minute, 86400000), 0);
    wake_minute_add(&minute, 86400000);
    assert_int_equal(wake_minute_count(&minute, 86400000), 1);
}

static void wakes_count_for_a_day(void **state)
{
    (void)state;
    struct wake_day day = {.count = 0};
    const int64_t noon_s = 1795000000;
    assert_int_equal(wake_day_count(&day, noon_s), 0);
    wake_day_add(&day, noon_s);
    wake_day_add(&day, noon_s + 3600);
    assert_int_equal(wake_day_count(&day, noon_s + 86399), 2);
    assert_int_equal(wake_day_count(&day, noon_s + 86400), 1);
    assert_int_equal(wake_day_count(&day, noon_s + 90000), 0);
    assert_int_equal(wake_day_count(&day, noon_s - 5), 0); /* the clock was set back */
    for (int i = 0; i < 3 * WAKE_DAY_MAX; i++) {
        wake_day_add(&day, noon_s);
    }
    assert_int_equal(wake_day_count(&day, noon_s), WAKE_DAY_MAX);
}

static void a_machine_that_was_woken_often_enough_is_woken_by_name_only(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {SLEEPER("worn"), .wish = WAKE_WISHED_BY_JOBS, .worn = true},
        {SLEEPER("named"), .wish = WAKE_WISHED_BY_NAME, .worn = true},
        {.machine = "tried", /* a wake that has begun goes on */
         .state = WAKE_BACKOFF,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_JOBS,
         .worn = true},
    };
    assert_string_equal(choose(candidates, 3, &NO_LIMITS, 0), "named tried");
}

static void failures_back_off_doubling_and_end_in_quarantine(void **state)
{
    (void)state;
    const struct wake_retry retry = {.attempts_max = 4, .backoff_ms = 100, .quarantine_ms = 5000};
    static const uint64_t AT[] = {1100, 1200, 1400};
    uint64_t at_ms = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wake_plan_after_failure(&retry, i + 1, 1000, &at_ms), WAKE_BACKOFF);
        assert_int_equal(at_ms, AT[i]);
    }
    assert_int_equal(wake_plan_after_failure(&retry, 4, 1000, &at_ms), WAKE_QUARANTINED);
    assert_int_equal(at_ms, 6000);
    assert_int_equal(wake_plan_after_failure(&retry, 400, 1000, &at_ms), WAKE_QUARANTINED);
}

static void back_off_of_many_failures_neither_overflows_nor_outlasts_quarantine(void **state)
{
    (void)state;
    const struct wake_retry retry = {.attempts_max = INT64_MAX,
                                     .backoff_ms = 300,
                                     .quarantine_ms = 5000};
    uint64_t at_ms = 0;
    assert_int_equal(wake_plan_after_failure(&retry, 1000000000, 1000, &at_ms), WAKE_BACKOFF);
    assert_in_range(at_ms, 1000 + 300, 1000 + 5000);
}

static void each_method_has_its_attempts_and_its_own_back_off(void **state)
{
    (void)state;
    const struct wake_retry retry = {.attempts_max = 3,
                                     .methods = 2,
                                     .backoff_ms = 100,
                                     .quarantine_ms = 5000};
    static const uint64_t AFTER[] = {100, 200, 100, 100, 200};
    static const size_t METHOD[] = {0, 0, 0, 0, 1, 1, 1, 1};
    uint64_t at_ms = 0;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(wake_plan_method(&retry, i), METHOD[i]);
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(wake_plan_after_failure(&retry, i + 1, 0, &at_ms), WAKE_BACKOFF);
        assert_int_equal(at_ms, AFTER[i]);
    }
    assert_int_equal(wake_plan_after_failure(&retry, 6, 0, &at_ms), WAKE_QUARANTINED);
    assert_int_equal(at_ms, 5000);
}

static void quarantine_doubles_from_one_to_the_next_up_to_its_bound(void **state)
{
    (void)state;
    static const uint64_t AFTER[] = {3000, 6000, 12000, 20000, 20000};
    struct wake_retry retry = {.attempts_max = 1,
                               .backoff_ms = 100,
                               .quarantine_ms = 3000,
                               .quarantine_max_ms = 20000};
    uint64_t at_ms = 0;
    for (int i = 0; i < 5; i++) {
        retry.quarantines = i;
        assert_int_equal(wake_plan_after_failure(&retry, 1, 7, &at_ms), WAKE_QUARANTINED);
        assert_int_equal(at_ms, AFTER[i] + 7);
    }
    retry.quarantine_max_ms = 1000;
    (void)wake_plan_after_failure(&retry, 1, 0, &at_ms);
    assert_int_equal(at_ms, 3000);
}

static void spare_ones_come_last_as_many_as_are_wanted(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {SLEEPER("best"), .wish = WAKE_WISHED_AS_SPARE, .rank = 9},
        {SLEEPER("jobs"), .wish = WAKE_WISHED_BY_JOBS, .rank = 1},
        {SLEEPER("second"), .wish = WAKE_WISHED_AS_SPARE, .rank = 8},
        {SLEEPER("third"), .wish = WAKE_WISHED_AS_SPARE, .rank = 7},
        {SLEEPER("worn"), .wish = WAKE_WISHED_AS_SPARE, .worn = true, .rank = 99},
        {SLEEPER("young"), .wish = WAKE_WISHED_AS_SPARE, .rank = 99, .spare_at_ms = 100},
        {.machine = "again",
         .state = WAKE_BACKOFF,
         .can_wake = true,
         .wish = WAKE_WISHED_BY_JOBS,
         .rank = -1},
    };
    struct wake_limits limits = NO_LIMITS;
    assert_string_equal(choose(candidates, 7, &limits, 0), "jobs again");
    limits.spares_wanted = 2;
    assert_string_equal(choose(candidates, 7, &limits, 0), "jobs again best second");
    assert_string_equal(choose(candidates, 7, &limits, 100), "jobs again young best");
    limits.spares_wanted = -1; /* more than enough */
    assert_string_equal(choose(candidates, 7, &limits, 0), "jobs again");
    limits.spares_wanted = 9;
    assert_string_equal(choose(candidates, 7, &limits, 0), "jobs again best second third");
    limits.at_once_max = 3;
    assert_string_equal(choose(candidates, 7, &limits, 0), "jobs again best");
    limits.at_once_max = 1;
    assert_string_equal(choose(candidates, 7, &limits, 0), "jobs");
}

static void who_would_draw_more_than_is_left_is_passed_over(void **state)
{
    (void)state;
    const struct wake_candidate candidates[] = {
        {SLEEPER("a"), .wish = WAKE_WISHED_BY_JOBS, .rank = 5, .extra_w = 100},
        {SLEEPER("b"), .wish = WAKE_WISHED_BY_JOBS, .rank = 4, .extra_w = 100},
        {SLEEPER("c"), .wish = WAKE_WISHED_BY_JOBS, .rank = 3, .extra_w = 40},
        {SLEEPER("d"), .wish = WAKE_WISHED_AS_SPARE, .extra_w = 10},
        {SLEEPER("e"), .wish = WAKE_WISHED_AS_SPARE, .extra_w = 5},
    };
    struct wake_limits limits = {.spares_wanted = 5, .watts_left = 149};
    assert_string_equal(choose(candidates, 5, &limits, 0), "a b c d e"); /* it is not capped */
    limits.is_capped = true;
    assert_string_equal(choose(candidates, 5, &limits, 0), "a c e");
    limits.watts_left = 150;
    assert_string_equal(choose(candidates, 5, &limits, 0), "a c d");
    limits.per_cycle_max = 2;
    assert_string_equal(choose(candidates, 5, &limits, 0), "a c");
    limits.watts_left = -10;
    assert_string_equal(choose(candidates, 5, &limits, 0), "");
}

static void states_have_the_names_that_status_shows(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"On",     "Off",    "GoingDown", "On",
                                        "Waking", "Waking", "WakeFailed"};
    for (int i = 0; i < 7; i++) {
        assert_string_equal(wake_state_name((enum wake_state)i), NAMES[i]);
    }
}

static enum wake_step step(int64_t age_ms, bool is_startd_gone, bool can_tell, bool is_told,
                           bool is_on)
{
    const struct wake_descent descent = {.age_ms = age_ms,
                                         .is_startd_gone = is_startd_gone,
                                         .can_tell = can_tell,
                                         .is_told = is_told,
                                         .is_on = is_on};
    return wake_plan_step(&descent);
}

static void one_that_has_just_gone_to_sleep_is_asked_whether_it_is_down(void **state)
{
    (void)state;
    int64_t last_ms = WAKE_DOWN_MAX_MS - 1;
    assert_int_equal(step(0, false, true, false, false), WAKE_STEP_ASK_STARTD);
    assert_int_equal(step(last_ms, false, false, false, false), WAKE_STEP_ASK_STARTD);
    assert_int_equal(step(0, true, true, false, false), WAKE_STEP_ASK_METHOD);
    assert_int_equal(step(last_ms, true, true, true, true), WAKE_STEP_WAIT);
    assert_int_equal(step(0, true, true, true, false), WAKE_STEP_ORDER);
    assert_int_equal(step(0, true, false, false, false), WAKE_STEP_ORDER);
    assert_int_equal(step(WAKE_DOWN_MAX_MS, false, true, false, false), WAKE_STEP_ORDER);
    assert_int_equal(step(WAKE_DOWN_MAX_MS, true, true, true, true), WAKE_STEP_ORDER);
}

static void what_is_repeated_is_repeated_after_pauses_that_grow_with_the_wait(void **state)
{
    (void)state;
    assert_int_equal(wake_plan_pause_ms(1000, 0), 1000);
    assert_int_equal(wake_plan_pause_ms(1000, 8000), 1000);
    assert_int_equal(wake_plan_pause_ms(1000, 80000), 10000);
}

UNIT_TESTS(UNIT(ordered_machines_come_first_then_rank_then_name),
           UNIT(nothing_is_woken_without_demand_or_order_or_method),
           UNIT(back_off_and_quarantine_wait_and_only_an_order_breaks_quarantine),
           UNIT(limits_take_the_best_and_count_what_is_waking),
           UNIT(a_limit_takes_just_those_that_come_first_without_one),
           UNIT(a_share_of_the_pool_is_at_least_one_machine), UNIT(the_tightest_limit_counts),
           UNIT(orders_count_for_a_minute), UNIT(wakes_count_for_a_day),
           UNIT(a_machine_that_was_woken_often_enough_is_woken_by_name_only),
           UNIT(failures_back_off_doubling_and_end_in_quarantine),
           UNIT(back_off_of_many_failures_neither_overflows_nor_outlasts_quarantine),
           UNIT(each_method_has_its_attempts_and_its_own_back_off),
           UNIT(quarantine_doubles_from_one_to_the_next_up_to_its_bound),
           UNIT(spare_ones_come_last_as_many_as_are_wanted),
           UNIT(who_would_draw_more_than_is_left_is_passed_over),
           UNIT(states_have_the_names_that_status_shows),
           UNIT(one_that_has_just_gone_to_sleep_is_asked_whether_it_is_down),
           UNIT(what_is_repeated_is_repeated_after_pauses_that_grow_with_the_wait))
