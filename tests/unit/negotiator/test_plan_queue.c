/* How many idle jobs there are: in the pool, and for each machine; and machines that their
 * UNHIBERNATE keeps asleep (unwilling) are held last.
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

/* ---- machines that are not to be woken now */

/* Returns how many jobs the last cycle newly held the slot for. */
static size_t newly_held(const struct pool *pool, const struct plan_slot *slot)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->out.held_count; i++) {
        count += pool->out.held[i].slot == slot->number ? 1 : 0;
    }
    return count;
}

static void an_unwilling_machine_is_held_last_whatever_the_ranks_say(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *night = add_slot(pool, "a", LARGE);
    struct plan_slot *day = add_slot(pool, "b", SMALL);
    night->offline = night->unwilling = day->offline = true;
    add_request(pool, "ann", 1, "[Requirements = true; Rank = TARGET.Memory]");
    cycle(pool);
    assert_int_equal(newly_held(pool, day), 1);
    assert_int_equal(newly_held(pool, night), 0);
    pool->requests[0].count = 2; /* nobody else is left */
    cycle(pool);
    assert_int_equal(newly_held(pool, day), 1);
    assert_int_equal(newly_held(pool, night), 1);
    night->unwilling = false;
    pool->requests[0].count = 1;
    cycle(pool);
    assert_int_equal(newly_held(pool, night), 1);
    assert_int_equal(newly_held(pool, day), 0);
}

static void another_user_gets_the_willing_machine_before_anybody_gets_an_unwilling_one(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *night = asleep(pool, "a"), *day = asleep(pool, "b");
    night->unwilling = true;
    add_request(pool, "ann", 1, ANY);
    add_request(pool, "bob", 1, ANY);
    cycle(pool);
    assert_int_equal(newly_held(pool, day), 1);
    assert_int_equal(newly_held(pool, night), 1);
}

static void holds_leave_an_unwilling_machine_when_another_one_sleeps(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *night = asleep(pool, "a");
    struct plan_request *request = add_request(pool, "ann", 1, ANY);
    night->unwilling = true;
    hold(night, request, 1);
    cycle(pool); /* it stays where it is while there is nothing better */
    assert_int_equal(pool->out.released_count, 0);
    assert_int_equal(pool->out.held_count, 0);
    struct plan_slot *day = asleep(pool, "b");
    cycle(pool);
    assert_int_equal(pool->out.released_count, 1);
    assert_int_equal(pool->out.released[0].slot, night->number);
    assert_int_equal(newly_held(pool, day), 1);
    assert_int_equal(newly_held(pool, night), 0);
}

static void a_machine_that_is_being_woken_keeps_its_holds(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *night = asleep(pool, "a");
    struct plan_request *request = add_request(pool, "ann", 1, ANY);
    night->unwilling = night->waking = true;
    hold(night, request, 1);
    (void)asleep(pool, "b");
    cycle(pool);
    assert_int_equal(pool->out.released_count, 0);
    assert_int_equal(pool->out.held_count, 0);
}

#define QUEUE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(QUEUE(jobs_are_counted_for_the_machines_that_they_match),
           QUEUE(a_machine_that_is_not_there_is_not_known),
           QUEUE(jobs_that_are_gone_are_not_counted_and_new_ones_from_the_next_cycle_on),
           QUEUE(several_machines_are_counted_at_once),
           QUEUE(an_unwilling_machine_is_held_last_whatever_the_ranks_say),
           QUEUE(another_user_gets_the_willing_machine_before_anybody_gets_an_unwilling_one),
           QUEUE(holds_leave_an_unwilling_machine_when_another_one_sleeps),
           QUEUE(a_machine_that_is_being_woken_keeps_its_holds))
