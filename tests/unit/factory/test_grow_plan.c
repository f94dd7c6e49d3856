/* tests/unit/factory/test_grow_plan.c - how many glideins a site is asked for, and why not more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "factory/grow_plan.h"
#include "tests/support/unit.h"

static const struct grow_limits LIMITS = {
    .idle = 3, .queued = 20, .held = 2, .running = 50, .total = 60, .submission = 10};

/* A site that may be asked, and for which jobs wait. */
static struct grow_facts facts(int64_t wanted)
{
    return (struct grow_facts){.wanted = wanted, .pool_room = 1000, .is_known = true};
}

static void asks(const struct grow_facts *facts, int64_t count, const char *why)
{
    char said[200];
    assert_int_equal(grow_plan(facts, &LIMITS, said, sizeof(said)), count);
    assert_string_equal(said, why);
}

static void what_is_wanted_and_not_on_its_way_is_asked_for(void **state)
{
    (void)state;
    struct grow_facts site = facts(4);
    asks(&site, 4, "");
    site.coming = 3;
    site.queued = 3;
    asks(&site, 1, "");
    site.coming = site.queued = 4;
    asks(&site, 0, "4 glideins are on their way");
    site = facts(0);
    asks(&site, 0, "no jobs wait for it");
    site = facts(15);
    asks(&site, 10, ""); /* the rest with the next submission */
}

static void the_questions_of_the_seed_come_in_its_order(void **state)
{
    (void)state;
    struct grow_facts site = facts(5);
    site.idle = 3;
    site.queued = 20;
    asks(&site, 0, "3 startds are idle (max_idle)");
    site.idle = 2;
    asks(&site, 0, "max_queued is reached");
    site.queued = 0;
    asks(&site, 5, "");
}

static void limits_hold(void **state)
{
    (void)state;
    struct grow_facts site = facts(9);
    site.queued = 18;
    asks(&site, 2, "max_queued leaves room for 2 of 9");
    site = facts(9);
    site.running = 49;
    asks(&site, 1, "max_running leaves room for 1 of 9");
    site.total = 60;
    asks(&site, 0, "max_total is reached");
    site = facts(9);
    site.pool_room = 3;
    asks(&site, 3, "FACTORY_MAX_GLIDEINS leaves room for 3 of 9");
    site.pool_room = -1;
    asks(&site, 0, "FACTORY_MAX_GLIDEINS is reached");
    site = facts(9);
    site.held = 2;
    asks(&site, 0, "2 glideins are held (max_held)");
}

static void a_site_that_may_not_be_asked_says_so(void **state)
{
    (void)state;
    struct grow_facts site = facts(9);
    site.is_known = false;
    asks(&site, 0, "its own list of glideins is not known yet");
    site.is_known = true;
    site.left_alone_ms = 1500;
    asks(&site, 0, "left alone for 2 s more");
    site.paused = "paused: wrong partition";
    asks(&site, 0, "paused: wrong partition");
    assert_int_equal(grow_plan_room(&site, &LIMITS), 0);
}

static void a_site_that_failed_gets_one_glidein(void **state)
{
    (void)state;
    struct grow_facts site = facts(9);
    site.needs_canary = true;
    asks(&site, 1, "");
    site.coming = 1;
    asks(&site, 0, "it failed: one glidein is tried before others");
}

static void a_site_that_refused_is_asked_for_less(void **state)
{
    (void)state;
    struct grow_facts site = facts(9);
    site.refusals = 1;
    asks(&site, 4, "");
    site.refusals = 3;
    asks(&site, 1, "");
    site.refusals = 1000;
    asks(&site, 1, "");
}

static void samples_stand_for_what_the_site_could_give(void **state)
{
    (void)state;
    struct grow_facts site = facts(0);
    assert_int_equal(grow_plan_room(&site, &LIMITS), 20);
    site.queued = site.coming = site.total = 5; /* jobs wait for these, too */
    assert_int_equal(grow_plan_room(&site, &LIMITS), 20);
    site.queued = site.coming = 0;
    site.running = site.total = 45;
    assert_int_equal(grow_plan_room(&site, &LIMITS), 5);
    site.held = 2;
    assert_int_equal(grow_plan_room(&site, &LIMITS), 0);
}

static void orders(const struct grow_facts *facts, int64_t asked, int64_t count, const char *why)
{
    char said[200];
    assert_int_equal(grow_plan_order(facts, &LIMITS, asked, said, sizeof(said)), count);
    assert_string_equal(said, why);
}

static void an_order_is_cut_by_the_limits(void **state)
{
    (void)state;
    struct grow_facts site = facts(0);
    orders(&site, 3, 3, "");
    orders(&site, 15, 15, "10 at a time (max_submission)");
    orders(&site, 30, 20, "max_queued leaves room for 20 of 30");
    site.total = 58;
    orders(&site, 3, 2, "max_total leaves room for 2 of 3");
    site.ordered = 2;
    orders(&site, 1, 0, "max_total is reached");
    site = facts(0);
    site.pool_room = 1;
    orders(&site, 2, 1, "FACTORY_MAX_GLIDEINS leaves room for 1 of 2");
    site = facts(0);
    site.held = 2;
    orders(&site, 1, 0, "2 glideins are held (max_held)");
    site = facts(0);
    site.needs_canary = true;
    orders(&site, 5, 1, "it failed: one glidein is tried before others");
    site.coming = 1;
    orders(&site, 5, 0, "it failed: one glidein is tried before others");
    site.left_alone_ms = 500;
    orders(&site, 5, 0, "left alone for 1 s more");
    site = facts(0);
    site.paused = "paused by a";
    orders(&site, 5, 0, "paused by a");
}

static void what_was_ordered_is_asked_for_although_no_jobs_wait(void **state)
{
    (void)state;
    struct grow_facts site = facts(0);
    site.ordered = 4;
    asks(&site, 4, "");
    site.wanted = 3; /* jobs wait, too */
    asks(&site, 7, "");
    site.coming = 3;
    asks(&site, 4, "");
    site.idle = 3; /* startds are idle: enough for jobs, not for the order */
    asks(&site, 4, "");
    site.coming = 9;
    asks(&site, 4, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wanted_and_not_on_its_way_is_asked_for),
        cmocka_unit_test(the_questions_of_the_seed_come_in_its_order),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(a_site_that_may_not_be_asked_says_so),
        cmocka_unit_test(a_site_that_failed_gets_one_glidein),
        cmocka_unit_test(an_order_is_cut_by_the_limits),
        cmocka_unit_test(what_was_ordered_is_asked_for_although_no_jobs_wait),
        cmocka_unit_test(a_site_that_refused_is_asked_for_less),
        cmocka_unit_test(samples_stand_for_what_the_site_could_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
