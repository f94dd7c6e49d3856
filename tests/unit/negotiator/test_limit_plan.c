/* Concurrency limits: lists, counts, what is in use and what a cycle gives away.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "negotiator/limit_plan.h"

static double most(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "a") == 0         ? 3
           : strcmp(name, "b") == 0       ? 10
           : strcmp(name, "none") == 0    ? 0
           : strncmp(name, "db.", 3) == 0 ? 2.5
                                          : -1;
}

static int setup(void **state)
{
    struct limit_plan *plan = limit_plan_create();
    limit_plan_configure(plan, most, NULL);
    *state = plan;
    return 0;
}

static int teardown(void **state)
{
    limit_plan_destroy(*state);
    return 0;
}

static void near(double is, double expected)
{
    if (fabs(is - expected) > 1e-6) {
        fail_msg("%f instead of %f", is, expected);
    }
}

static void what_has_no_limit_is_not_limited(void **state)
{
    assert_true(limit_plan_room(*state, NULL) == INT64_MAX);
    assert_true(limit_plan_room(*state, "") == INT64_MAX);
    assert_true(limit_plan_room(*state, " , free") == INT64_MAX);
    struct limit_plan *fresh = limit_plan_create();
    assert_true(limit_plan_room(fresh, "a") == INT64_MAX);
    limit_plan_destroy(fresh);
}

static void of_two_jobs_one_after_the_other_each_name_counts_as_the_larger(void **state)
{
    struct strbuf list;
    strbuf_init(&list, 0);
    limit_plan_either("a,b:2,B", "A:2 db.x", &list);
    limit_plan_use(*state, strbuf_text(&list), 1);
    near(limit_plan_used(*state, "a"), 2);
    near(limit_plan_used(*state, "b"), 3);
    near(limit_plan_used(*state, "db.x"), 1);
    strbuf_clear(&list);
    limit_plan_either("", "a,a", &list);
    assert_string_equal(strbuf_text(&list), "a,a");
    strbuf_fini(&list);
}

static void the_scarcest_of_a_list_decides(void **state)
{
    assert_int_equal(limit_plan_room(*state, "a"), 3);
    assert_int_equal(limit_plan_room(*state, "A, b"), 3);
    assert_int_equal(limit_plan_room(*state, "b:4"), 2);
    assert_int_equal(limit_plan_room(*state, "b:0.5,free:7"), 20);
    assert_int_equal(limit_plan_room(*state, "db.read"), 2);
    assert_int_equal(limit_plan_room(*state, "a,none"), 0);
}

static void what_is_in_use_counts_and_comes_back(void **state)
{
    struct limit_plan *plan = *state;
    limit_plan_use(plan, "a,b:4", 1);
    limit_plan_use(plan, "A", 1);
    near(limit_plan_used(plan, "a"), 2);
    near(limit_plan_used(plan, "B"), 4);
    assert_int_equal(limit_plan_room(plan, "a"), 1);
    assert_int_equal(limit_plan_room(plan, "b:4"), 1);
    limit_plan_use(plan, "a,b:4", -1);
    assert_int_equal(limit_plan_room(plan, "a"), 2);
    assert_int_equal(limit_plan_room(plan, "b:4"), 2);
    limit_plan_use(plan, "a", -1);
    limit_plan_use(plan, "a", -1); /* more than was there */
    near(limit_plan_used(plan, "a"), 0);
    assert_int_equal(limit_plan_room(plan, "a"), 3);
}

static void what_a_cycle_gives_counts_until_the_next(void **state)
{
    struct limit_plan *plan = *state;
    limit_plan_begin(plan);
    limit_plan_take(plan, "a", 2);
    assert_int_equal(limit_plan_room(plan, "a"), 1);
    limit_plan_take(plan, "a,b", 1);
    assert_int_equal(limit_plan_room(plan, "a"), 0);
    assert_int_equal(limit_plan_room(plan, "b"), 9);
    limit_plan_begin(plan);
    assert_int_equal(limit_plan_room(plan, "a"), 3);
}

static void a_limit_that_was_lowered_lets_nobody_more_through(void **state)
{
    struct limit_plan *plan = *state;
    limit_plan_use(plan, "x", 1);
    limit_plan_use(plan, "b:10", 1);
    limit_plan_use(plan, "b:10", 1); /* from the time when more was allowed */
    assert_int_equal(limit_plan_room(plan, "b"), 0);
    limit_plan_configure(plan, NULL, NULL);
    assert_true(limit_plan_room(plan, "b") == INT64_MAX);
    limit_plan_configure(plan, most, NULL);
    assert_int_equal(limit_plan_room(plan, "b"), 0);
}

static void a_count_that_is_none_is_one(void **state)
{
    assert_int_equal(limit_plan_room(*state, "a:"), 3);
    assert_int_equal(limit_plan_room(*state, "a:x"), 3);
    assert_int_equal(limit_plan_room(*state, "a:-5"), 3);
    assert_int_equal(limit_plan_room(*state, "a:nan"), 3);
    assert_true(limit_plan_room(*state, "a:0") == INT64_MAX);
}

static void a_hostile_list_is_not_let_through(void **state)
{
    char list[4096] = "";
    for (int i = 0; i < LIMIT_LIST_MAX + 1; i++) {
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "n%d,", i);
    }
    assert_int_equal(limit_plan_room(*state, list), 0);
    char name[1000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    limit_plan_use(*state, name, 1);
    limit_plan_use(*state, name, -1);
    assert_true(limit_plan_room(*state, name) == INT64_MAX);
}

static void limits_in_use_can_be_walked(void **state)
{
    struct limit_plan *plan = *state;
    size_t at = 0;
    double used = 0, max = 0;
    limit_plan_use(plan, "a:2", 1);
    assert_string_equal(limit_plan_next(plan, &at, &used, &max), "a");
    near(used, 2);
    near(max, 3);
    assert_null(limit_plan_next(plan, &at, &used, &max));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(what_has_no_limit_is_not_limited), CASE(the_scarcest_of_a_list_decides),
           CASE(of_two_jobs_one_after_the_other_each_name_counts_as_the_larger),
           CASE(what_is_in_use_counts_and_comes_back),
           CASE(what_a_cycle_gives_counts_until_the_next),
           CASE(a_limit_that_was_lowered_lets_nobody_more_through),
           CASE(a_count_that_is_none_is_one), CASE(a_hostile_list_is_not_let_through),
           CASE(limits_in_use_can_be_walked))
