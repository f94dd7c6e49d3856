/* tests/unit/rooster/test_guard_plan.c - who may go to sleep, and what of the pool speaks against
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "rooster/guard_plan.h"
#include "rooster/reserve_plan.h"

/* Saturday, 2026-11-21, 00:00 of the local time */
#define SATURDAY INT64_C(1795219200)
#define HOUR     INT64_C(3600)
#define DAY      (24 * HOUR)

static const struct guard_ask KNOWN = {.can_wake = true, .expected_s = -1};
static const struct guard_pool POOL = {.machines = 100, .idle = 50, .age_s = 1000000};
static const struct guard_limits FREE = {.break_even = 1};

static struct guard_verdict judge(const struct guard_ask *ask, const struct guard_pool *pool,
                                  const struct guard_limits *limits)
{
    struct guard_verdict verdict;
    guard_plan_judge(ask, pool, limits, &verdict);
    return verdict;
}

static void is_held(const struct guard_ask *ask, const struct guard_pool *pool,
                    const struct guard_limits *limits, enum guard_kind kind, int64_t again_s,
                    const char *word)
{
    struct guard_verdict verdict = judge(ask, pool, limits);
    assert_string_equal(guard_kind_name(verdict.kind), guard_kind_name(kind));
    assert_int_equal(verdict.again_s, again_s);
    if (strstr(verdict.why.text, word) == NULL) {
        fail_msg("'%s' is not in: %s", word, verdict.why.text);
    }
}

static void may(const struct guard_ask *ask, const struct guard_pool *pool,
                const struct guard_limits *limits)
{
    is_held(ask, pool, limits, GUARD_NONE, 0, "");
}

/* Held by that guard; free by --force; an order by name is held by it, or not. */
static void is_policy(struct guard_ask ask, const struct guard_pool *pool,
                      const struct guard_limits *limits, enum guard_kind kind, bool for_orders)
{
    assert_int_equal(judge(&ask, pool, limits).kind, kind);
    ask.order.by_name = true;
    assert_int_equal(judge(&ask, pool, limits).kind, for_orders ? kind : GUARD_NONE);
    ask.order.forced = true;
    assert_int_equal(judge(&ask, pool, limits).kind, GUARD_NONE);
}

static void without_limits_a_known_machine_may(void **state)
{
    (void)state;
    may(&KNOWN, &POOL, &FREE);
}

static void what_is_not_known_is_not_acted_on_not_even_by_force(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    ask.unknown = "the machine has no ad";
    is_held(&ask, &POOL, &FREE, GUARD_UNKNOWN, 10, "not known: the machine has no ad");
    ask.order.by_name = ask.order.forced = true;
    is_held(&ask, &POOL, &FREE, GUARD_UNKNOWN, 10, "not known");
}

static void what_nobody_could_wake_stays_up_unless_it_is_meant_so(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    ask.can_wake = false;
    is_held(&ask, &POOL, &FREE, GUARD_NO_WAY, 60, "the machine could not be woken");
    is_policy(ask, &POOL, &FREE, GUARD_NO_WAY, true);
    ask.order.override = true;
    may(&ask, &POOL, &FREE);
}

static void a_dry_run_lets_nobody_go_and_judges_the_rest_first(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    struct guard_limits limits = FREE;
    limits.dry_run = true;
    is_held(&ask, &POOL, &limits, GUARD_DRY_RUN, 60, "ROOSTER_DRY_RUN");
    limits.min_up_s = 100;
    is_held(&ask, &POOL, &limits, GUARD_MIN_UP, 100, "ROOSTER_MIN_UP");
    ask.order.by_name = ask.order.forced = true;
    is_held(&ask, &POOL, &limits, GUARD_DRY_RUN, 60, "ROOSTER_DRY_RUN");
}

static void a_machine_is_up_for_a_least_time(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    struct guard_limits limits = FREE;
    limits.min_up_s = 600;
    ask.up_s = 599;
    is_held(&ask, &POOL, &limits, GUARD_MIN_UP, 1, "up for 599 s, less than 600 s");
    is_policy(ask, &POOL, &limits, GUARD_MIN_UP, true);
    ask.up_s = 600;
    may(&ask, &POOL, &limits);
}

static void a_sleep_that_does_not_pay_is_not_begun_before_it_might(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    struct guard_limits limits = FREE;
    ask.break_even_s = 300;
    may(&ask, &POOL, &limits); /* nothing is known of its sleeps */
    ask.expected_s = 299;
    ask.idle_s = 100;
    is_held(&ask, &POOL, &limits, GUARD_BREAK_EVEN, 200,
            "the machine's sleeps last 299 s, but save energy only after 300 s");
    is_policy(ask, &POOL, &limits, GUARD_BREAK_EVEN, false);
    ask.idle_s = 300;
    may(&ask, &POOL, &limits); /* it was idle for as long as that */
    ask.idle_s = 0;
    ask.expected_s = 300;
    may(&ask, &POOL, &limits);
    limits.break_even = 2;
    is_held(&ask, &POOL, &limits, GUARD_BREAK_EVEN, 600, "save energy only after 600 s");
    limits.break_even = 0;
    ask.expected_s = 0;
    may(&ask, &POOL, &limits);
}

static void a_machine_sleeps_so_often_a_day(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    struct guard_limits limits = FREE;
    limits.per_day_max = 4;
    ask.sleeps_today = 3;
    may(&ask, &POOL, &limits);
    ask.sleeps_today = 4;
    is_held(&ask, &POOL, &limits, GUARD_CYCLES, 1800, "ROOSTER_MAX_SLEEPS_PER_DAY");
    is_policy(ask, &POOL, &limits, GUARD_CYCLES, false);
}

static void while_the_collector_is_young_only_few_go(void **state)
{
    (void)state;
    struct guard_pool pool = POOL;
    struct guard_limits limits = FREE;
    limits.min_age_s = 300;
    limits.young_max = 10;
    pool.age_s = 100;
    pool.since_young = 9;
    may(&KNOWN, &pool, &limits);
    pool.since_young = 10;
    is_held(&KNOWN, &pool, &limits, GUARD_YOUNG, 200, "ROOSTER_COLLECTOR_MIN_AGE");
    is_policy(KNOWN, &pool, &limits, GUARD_YOUNG, true);
    limits.young_max = 0;
    may(&KNOWN, &pool, &limits);
    limits.young_max = 10;
    pool.age_s = 300;
    may(&KNOWN, &pool, &limits);
}

static void the_reserve_stays_awake(void **state)
{
    (void)state;
    struct guard_ask ask = KNOWN;
    struct guard_pool pool = POOL;
    pool.idle = 5;
    pool.reserve = 5;
    may(&ask, &pool, &FREE); /* it is none of them: a draining machine, or somebody's desktop */
    ask.in_reserve = true;
    is_held(&ask, &pool, &FREE, GUARD_RESERVE, 60, "5 idle machines are awake; 5 must stay awake");
    is_policy(ask, &pool, &FREE, GUARD_RESERVE, true);
    pool.idle = 6;
    may(&ask, &pool, &FREE);
}

static void so_much_of_the_pool_may_be_down(void **state)
{
    (void)state;
    struct guard_pool pool = POOL;
    struct guard_limits limits = FREE;
    limits.down_max_percent = 80;
    pool.down = 79;
    may(&KNOWN, &pool, &limits);
    pool.down = 80;
    is_held(&KNOWN, &pool, &limits, GUARD_SHARE, 60, "80 of 100 machines are down; at most 80%");
    is_policy(KNOWN, &pool, &limits, GUARD_SHARE, true);
}

static void so_many_go_down_at_once(void **state)
{
    (void)state;
    struct guard_ask again = KNOWN;
    struct guard_pool pool = POOL;
    struct guard_limits limits = FREE;
    limits.at_once_max = 4;
    pool.going_down = 3;
    may(&KNOWN, &pool, &limits);
    pool.going_down = 4;
    is_held(&KNOWN, &pool, &limits, GUARD_AT_ONCE, 10, "ROOSTER_MAX_GOING_DOWN");
    is_policy(KNOWN, &pool, &limits, GUARD_AT_ONCE, true);
    again.granted = true; /* it is one of the four */
    may(&again, &pool, &limits);
    pool.waiting = 8;
    is_held(&KNOWN, &pool, &limits, GUARD_AT_ONCE, 30, "ROOSTER_MAX_GOING_DOWN");
    limits.at_once_max = 0;
    limits.at_once_max_percent = 5;
    may(&KNOWN, &pool, &limits);
    pool.going_down = 5;
    is_held(&KNOWN, &pool, &limits, GUARD_AT_ONCE, 20, "5 machines are going down");
    pool.machines = 3; /* a share is one machine at least */
    pool.going_down = 0;
    may(&KNOWN, &pool, &limits);
    pool.going_down = 1;
    is_held(&KNOWN, &pool, &limits, GUARD_AT_ONCE, 90, "1 machines are going down");
}

static void so_many_begin_in_a_minute_and_the_others_are_told_when(void **state)
{
    (void)state;
    struct guard_pool pool = POOL;
    struct guard_limits limits = FREE;
    limits.per_minute_max = 10;
    pool.last_minute = 9;
    may(&KNOWN, &pool, &limits);
    pool.last_minute = 10;
    is_held(&KNOWN, &pool, &limits, GUARD_PER_MINUTE, 60, "ROOSTER_MAX_SLEEPS_PER_MINUTE");
    is_policy(KNOWN, &pool, &limits, GUARD_PER_MINUTE, true);
    pool.waiting = 25;
    is_held(&KNOWN, &pool, &limits, GUARD_PER_MINUTE, 180, "10 machines");
    pool.waiting = 100000;
    is_held(&KNOWN, &pool, &limits, GUARD_PER_MINUTE, 3600, "10 machines");
}

/* ---- the reserve's rules */

static int64_t wanted(const char *text, int64_t local_s, int64_t machines)
{
    struct reserve reserve;
    struct err err = {.text = ""};
    if (reserve_plan_parse(text, &reserve, &err) != 0) {
        fail_msg("%s", err.text);
    }
    size_t at = reserve_plan_rule_at(&reserve, local_s);
    return at == reserve.count
               ? 0
               : reserve_plan_machines(&reserve.rules[at], reserve.rules[at].number, machines);
}

static void the_reserve_is_a_number_or_a_share(void **state)
{
    (void)state;
    assert_int_equal(wanted("", SATURDAY, 100), 0);
    assert_int_equal(wanted(" 5 ", SATURDAY, 100), 5);
    assert_int_equal(wanted("10%", SATURDAY, 101), 11); /* rounded up */
    assert_int_equal(wanted("else 3", SATURDAY, 100), 3);
}

static void the_reserve_follows_the_time_of_day(void **state)
{
    (void)state;
    static const char RULES[] = "07:00-19:00 = 5, else 1";
    assert_int_equal(wanted(RULES, SATURDAY + 7 * HOUR - 1, 100), 1);
    assert_int_equal(wanted(RULES, SATURDAY + 7 * HOUR, 100), 5);
    assert_int_equal(wanted(RULES, SATURDAY + 19 * HOUR - 60, 100), 5);
    assert_int_equal(wanted(RULES, SATURDAY + 19 * HOUR, 100), 1);
    assert_int_equal(wanted("00:00-24:00=2", SATURDAY + 12 * HOUR, 100), 2);
    assert_int_equal(wanted("09:00-10:00=2", SATURDAY, 100), 0); /* no rule fits */
}

static void the_reserve_follows_the_day_and_a_night_is_the_evenings(void **state)
{
    (void)state;
    static const char RULES[] = "Mon-Fri 07:00-19:00 = 10%, fri 22:00-06:00 = 7, Sun = 2, else 1";
    assert_int_equal(wanted(RULES, SATURDAY - 12 * HOUR, 40), 4);           /* Friday noon */
    assert_int_equal(wanted(RULES, SATURDAY - 1 * HOUR, 40), 7);            /* its night */
    assert_int_equal(wanted(RULES, SATURDAY + 5 * HOUR, 40), 7);            /* still */
    assert_int_equal(wanted(RULES, SATURDAY + 6 * HOUR, 40), 1);            /* Saturday */
    assert_int_equal(wanted(RULES, SATURDAY + DAY + HOUR, 40), 2);          /* Sunday */
    assert_int_equal(wanted(RULES, SATURDAY + 2 * DAY + 12 * HOUR, 40), 4); /* Monday */
    assert_int_equal(wanted("Sat-Mon = 3", SATURDAY + 2 * DAY, 40), 3);
    assert_int_equal(wanted("Sat-Mon = 3", SATURDAY + 3 * DAY, 40), 0);
}

static void a_number_may_be_an_expression(void **state)
{
    (void)state;
    static const char TEXT[] = "Mon-Fri 07:00-19:00 = (a(\")\", ')') > 1 ? 5 : 1) , else (b)%, 3";
    static const char *const EXPRS[] = {"(a(\")\", ')') > 1 ? 5 : 1)", "(b)"};
    struct reserve reserve;
    const char *expr;
    size_t at = 0, length, i = 0;
    assert_int_equal(reserve_plan_parse(TEXT, &reserve, NULL), 0);
    assert_int_equal(reserve.count, 3);
    assert_false(reserve.rules[0].is_percent);
    assert_true(reserve.rules[1].is_percent);
    assert_int_equal(reserve.rules[2].expr_length, 0);
    assert_int_equal(reserve_plan_rule_at(&reserve, SATURDAY - 12 * HOUR), 0);
    assert_int_equal(reserve_plan_rule_at(&reserve, SATURDAY), 1);
    assert_int_equal(reserve_plan_machines(&reserve.rules[1], 10, 101), 11);
    for (; reserve_plan_next_expr(TEXT, &at, &expr, &length); i++) {
        assert_true(i < 2);
        assert_int_equal(length, strlen(EXPRS[i]));
        assert_memory_equal(expr, EXPRS[i], length);
    }
    assert_int_equal(i, 2);
}

static void a_reserve_that_is_not_known_keeps_idle_machines_awake(void **state)
{
    (void)state;
    struct guard_pool pool = POOL;
    struct guard_ask ask = KNOWN;
    ask.in_reserve = true;
    pool.idle = 100;
    pool.reserve = 5;
    pool.reserve_with = ": PoolIdleJobs = 7";
    may(&ask, &pool, &FREE);
    pool.idle = 5;
    is_held(&ask, &pool, &FREE, GUARD_RESERVE, 10,
            "5 idle machines are awake; 5 must stay awake (ROOSTER_RESERVE: PoolIdleJobs = 7)");
    pool.idle = 100;
    pool.reserve = -1;
    pool.reserve_unknown = true;
    is_held(&ask, &pool, &FREE, GUARD_RESERVE, 10, "must stay awake is undefined (ROOSTER_RESERVE");
}

static void rules_that_are_none_are_refused_and_named(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"x",
                                        "5 6",
                                        "07:00-19:00",
                                        "07:00 = 5",
                                        "25:00-26:00=1",
                                        "07:60-08:00=1",
                                        "24:01-1:00=2",
                                        "Mon-Xyz = 1",
                                        "101%",
                                        "else",
                                        "5,,6",
                                        "()(",
                                        "(1",
                                        "(\")\"",
                                        "(1) 2",
                                        "9999999"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        struct reserve reserve = {.count = 77};
        struct err err = {.text = ""};
        if (reserve_plan_parse(WRONG[i], &reserve, &err) != -EINVAL) {
            fail_msg("'%s' was taken", WRONG[i]);
        }
        assert_int_equal(reserve.count, 77);
        assert_non_null(strstr(err.text, "is not a valid rule"));
    }
    char many[2 * RESERVE_RULES_MAX + 3];
    for (size_t i = 0; i + 1 < sizeof many; i++) {
        many[i] = i % 2 == 0 ? '1' : ',';
    }
    many[sizeof many - 1] = '\0';
    struct reserve reserve;
    assert_int_equal(reserve_plan_parse(many, &reserve, NULL), -E2BIG);
}

static void a_bad_rule_is_named_with_what_is_wrong_in_it(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"Mon-Fry 07:00-19:00 = 5", "expected a weekday"},
        {"Mon 7-19 = 5", "expected a time from 00:00 to 24:00"},
        {"07:00-25:00 = 5", "expected a time from 00:00 to 24:00"},
        {"150%", "a percentage is 0% to 100%"},
        {"PoolIdleJobs > 0 ? 1 : 0", "an expression needs parentheses"},
        {"else PoolIdleJobs > 0 ? 1 : 0", "an expression needs parentheses"},
        {"-5", "expected a number of machines"},
        {"5 machines", "expected ',' or the end after the number, not 'machines'"},
        {"Mon 5", "expected a time"},
        {"Mon", "expected '='"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct reserve reserve;
        struct err err = {.text = ""};
        assert_int_equal(reserve_plan_parse(CASES[i][0], &reserve, &err), -EINVAL);
        if (strstr(err.text, CASES[i][1]) == NULL) {
            fail_msg("%s: %s", CASES[i][0], err.text);
        }
    }
}

static void rules_that_never_or_always_apply_are_doubted(void **state)
{
    (void)state;
    static const struct {
        const char *text, *doubt; /* NULL: none */
    } CASES[] = {{"else 1, Mon = 5", "entry 2 is never reached: entry 1 applies at all times"},
                 {"5, 6", "entry 2 is never reached"},
                 {"Mon 07:00-07:00 = 5", "entry 1 begins and ends at 07:00"},
                 {"Mon-Fri 07:00-19:00 = 5, 22:00-06:00 = 2, else 1", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct reserve reserve;
        struct err err = {.text = ""};
        assert_int_equal(reserve_plan_parse(CASES[i].text, &reserve, NULL), 0);
        assert_int_equal(reserve_plan_doubt(&reserve, &err), CASES[i].doubt != NULL);
        if (CASES[i].doubt != NULL && strstr(err.text, CASES[i].doubt) == NULL) {
            fail_msg("%s: %s", CASES[i].text, err.text);
        }
    }
}

/* ---- sleeps that pay */

static void sleeps_are_expected_to_be_as_the_last_ones(void **state)
{
    (void)state;
    struct guard_rests rests = {.count = 0};
    guard_rests_add(&rests, 10);
    guard_rests_add(&rests, -1); /* a clock that was set back */
    guard_rests_add(&rests, 1000);
    assert_int_equal(guard_rests_expected_s(&rests), -1);
    guard_rests_add(&rests, 20);
    assert_int_equal(guard_rests_expected_s(&rests), 20); /* the median */
    for (int i = 0; i < GUARD_RESTS_MAX; i++) {
        guard_rests_add(&rests, 500);
    }
    assert_int_equal(guard_rests_expected_s(&rests), 500);
}

static void a_sleep_pays_once_it_saves_what_the_boot_draws(void **state)
{
    (void)state;
    const struct energy_watts watts = {.asleep_w = 5, .idle_w = 55, .busy_w = 105};
    assert_int_equal(guard_break_even_s(&watts, 60, 0), 120);     /* 60 s * 100 W / 50 W */
    assert_int_equal(guard_break_even_s(&watts, 60, 36000), 840); /* and 10 Wh / 50 W */
    assert_int_equal(guard_break_even_s(&watts, 0, 0), 0);
    const struct energy_watts none = {.asleep_w = 0};
    assert_int_equal(guard_break_even_s(&none, 60, 36000), 0);
    const struct energy_watts odd = {.asleep_w = 60, .idle_w = 55};
    assert_int_equal(guard_break_even_s(&odd, 60, 36000), 0); /* it never does: not judged */
    const struct energy_watts little = {.asleep_w = 5, .idle_w = 5.001};
    assert_int_equal(guard_break_even_s(&little, 600, 1e9), DAY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_limits_a_known_machine_may),
        cmocka_unit_test(what_is_not_known_is_not_acted_on_not_even_by_force),
        cmocka_unit_test(what_nobody_could_wake_stays_up_unless_it_is_meant_so),
        cmocka_unit_test(a_dry_run_lets_nobody_go_and_judges_the_rest_first),
        cmocka_unit_test(a_machine_is_up_for_a_least_time),
        cmocka_unit_test(a_sleep_that_does_not_pay_is_not_begun_before_it_might),
        cmocka_unit_test(a_machine_sleeps_so_often_a_day),
        cmocka_unit_test(while_the_collector_is_young_only_few_go),
        cmocka_unit_test(the_reserve_stays_awake),
        cmocka_unit_test(so_much_of_the_pool_may_be_down),
        cmocka_unit_test(so_many_go_down_at_once),
        cmocka_unit_test(so_many_begin_in_a_minute_and_the_others_are_told_when),
        cmocka_unit_test(the_reserve_is_a_number_or_a_share),
        cmocka_unit_test(the_reserve_follows_the_time_of_day),
        cmocka_unit_test(the_reserve_follows_the_day_and_a_night_is_the_evenings),
        cmocka_unit_test(rules_that_are_none_are_refused_and_named),
        cmocka_unit_test(a_bad_rule_is_named_with_what_is_wrong_in_it),
        cmocka_unit_test(rules_that_never_or_always_apply_are_doubted),
        cmocka_unit_test(a_number_may_be_an_expression),
        cmocka_unit_test(a_reserve_that_is_not_known_keeps_idle_machines_awake),
        cmocka_unit_test(sleeps_are_expected_to_be_as_the_last_ones),
        cmocka_unit_test(a_sleep_pays_once_it_saves_what_the_boot_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
