/* How many idle jobs there are: in the pool, and for each machine.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/plan_pool.h"

#include "base/strbuf.h"

#define ANY   "[Requirements = true]"
#define LARGE "[Requirements = true; Memory = 64]"
#define SMALL "[Requirements = true; Memory = 4]"
#define BIG   "[Requirements = TARGET.Memory >= 32]"

static int setup(void **state)
{
    struct pool *pool = calloc(1, sizeof(struct pool));
    pool->policy.offline_last = true;
    *state = pool;
    return 0;
}

static int teardown(void **state)
{
    empty(*state);
    free(*state);
    return 0;
}

static void prepare(struct pool *pool)
{
    cycle(pool);
    while (!negotiator_plan_prepare(pool->plan, &NOW, false, 1000000)) {
    }
}

static struct plan_queue of_machine(struct pool *pool, const char *machine)
{
    struct plan_queue ret;
    negotiator_plan_matching(pool->plan, &machine, 1, &ret);
    return ret;
}

static struct plan_queue of_pool(struct pool *pool)
{
    struct plan_queue ret;
    negotiator_plan_queue(pool->plan, &ret);
    return ret;
}

static void jobs_are_counted_for_the_machines_that_they_match(void **state)
{
    struct pool *pool = *state;
    add_slot(pool, "large", LARGE)->use = PLAN_USE_BUSY; /* in whatever state it is */
    add_slot(pool, "small", SMALL)->offline = true;
    add_slot(pool, "both", SMALL);
    add_slot(pool, "both", LARGE);
    add_slot(pool, "none", "[Requirements = false]");
    add_request(pool, "ann", 7, BIG)->qdate_s = 500;
    add_request(pool, "bob", 20, ANY)->qdate_s = 300;
    add_request(pool, "cid", 0, ANY)->qdate_s = 100;
    prepare(pool);
    assert_int_equal(of_machine(pool, "large").jobs, 27);
    assert_int_equal(of_machine(pool, "large").first_s, 300);
    assert_int_equal(of_machine(pool, "small").jobs, 20);
    assert_int_equal(of_machine(pool, "both").jobs, 27); /* none twice */
    assert_int_equal(of_machine(pool, "none").jobs, 0);
    assert_int_equal(of_machine(pool, "none").first_s, 0);
    assert_int_equal(of_pool(pool).jobs, 27);
    assert_int_equal(of_pool(pool).first_s, 300);
}

static void a_machine_that_is_not_there_is_not_known(void **state)
{
    struct pool *pool = *state;
    add_slot(pool, "a", ANY);
    add_slot(pool, "c", ANY);
    add_request(pool, "ann", 7, ANY);
    prepare(pool);
    assert_int_equal(of_machine(pool, "b").jobs, -1);
    assert_int_equal(of_machine(pool, "d").jobs, -1);
    assert_int_equal(of_machine(pool, "").jobs, -1);
    assert_int_equal(of_machine(pool, "c").jobs, 7);
    negotiator_plan_drop_slot(pool->plan, 1);
    assert_int_equal(of_machine(pool, "c").jobs, -1);
    assert_int_equal(of_machine(pool, "a").jobs, 7);
}

static void jobs_that_are_gone_are_not_counted_and_new_ones_from_the_next_cycle_on(void **state)
{
    struct pool *pool = *state;
    add_slot(pool, "a", ANY);
    add_request(pool, "ann", 7, ANY);
    prepare(pool);
    struct plan_request *late = add_request(pool, "bob", 5, BIG);
    assert_int_equal(negotiator_plan_set_request(pool->plan, late), 0);
    assert_int_equal(of_machine(pool, "a").jobs, 7);
    prepare(pool);
    assert_int_equal(of_machine(pool, "a").jobs, 7);
    negotiator_plan_drop_request(pool->plan, 0);
    assert_int_equal(of_machine(pool, "a").jobs, 0);
    assert_int_equal(of_pool(pool).jobs, 5);
}

static void several_machines_are_counted_at_once(void **state)
{
    struct pool *pool = *state;
    static const char *const NAMES[] = {"small", "gone", "large"};
    struct plan_queue ret[3];
    add_slot(pool, "large", LARGE);
    add_slot(pool, "small", SMALL);
    add_request(pool, "ann", 7, BIG);
    prepare(pool);
    negotiator_plan_matching(pool->plan, NAMES, 3, ret);
    assert_int_equal(ret[0].jobs, 0);
    assert_int_equal(ret[1].jobs, -1);
    assert_int_equal(ret[2].jobs, 7);
}

#define QUEUE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(QUEUE(jobs_are_counted_for_the_machines_that_they_match),
           QUEUE(a_machine_that_is_not_there_is_not_known),
           QUEUE(jobs_that_are_gone_are_not_counted_and_new_ones_from_the_next_cycle_on),
           QUEUE(several_machines_are_counted_at_once))
