/* Accounting groups: quotas and surplus against examples worked by hand.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <math.h>

#include "negotiator/group_plan.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct group_entry group(const char *name, size_t parent, double quota, bool is_dynamic)
{
    return (struct group_entry){.name = name,
                                .parent = parent,
                                .config_quota = quota,
                                .is_dynamic = is_dynamic,
                                .ceiling = -1};
}

static struct group_entry root(void)
{
    return group(GROUP_ROOT_NAME, 0, 0, false);
}

static void near(double is, double expected)
{
    if (fabs(is - expected) > 1e-6) {
        fail_msg("%f instead of %f", is, expected);
    }
}

static void static_quotas_are_served_before_dynamic_ones(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 20, false), group("b", 0, 0.5, true),
                              group("c", 0, 0.25, true)};
    group_plan_quotas(g, COUNT(g), 100, false);
    near(g[1].quota, 20);
    near(g[2].quota, 40); /* half of the 80 that a leaves */
    near(g[3].quota, 20);
    near(g[0].quota, 20); /* what nobody has */
}

static void quotas_that_do_not_fit_are_scaled_down(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 90, false), group("b", 0, 60, false),
                              group("c", 0, 0.5, true)};
    group_plan_quotas(g, COUNT(g), 100, false);
    near(g[1].quota, 60);
    near(g[2].quota, 40);
    near(g[3].quota, 0);
    near(g[0].quota, 0);
    struct group_entry d[] = {root(), group("a", 0, 1.5, true), group("b", 0, 0.5, true)};
    group_plan_quotas(d, COUNT(d), 100, false);
    near(d[1].quota, 75);
    near(d[2].quota, 25);
}

static void oversubscribed_quotas_stay_as_configured(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 90, false), group("b", 0, 60, false)};
    group_plan_quotas(g, COUNT(g), 100, true);
    near(g[1].quota, 90);
    near(g[2].quota, 60);
    near(g[0].quota, 0);
}

static void a_parent_keeps_what_its_children_leave(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("physics", 0, 60, false),
                              group("physics.cms", 1, 0.5, true),
                              group("physics.atlas", 1, 10, false)};
    group_plan_quotas(g, COUNT(g), 100, false);
    near(g[1].subtree_quota, 60);
    near(g[3].quota, 10);
    near(g[2].quota, 25);
    near(g[1].quota, 25);
    near(g[0].quota, 40);
}

static void what_a_part_of_a_group_has_is_not_surplus_of_the_group_as_well(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("chem", 0, 0.5, true), group("physics", 0, 2, false),
                              group("physics.cms", 2, 1, false)};
    g[1].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 6, true);
    near(g[2].quota, 2); /* its own is all of the subtree's */
    g[0].requested = 2;
    g[1].requested = 4;
    g[3].requested = 8;
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[3].allocated, 1);
    near(g[1].allocated, 3); /* one of the two of physics is in use */
    near(g[0].allocated, 2); /* and nobody takes these */
}

static void nobody_gets_more_than_it_asks_for(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 50, false), group("b", 0, 50, false)};
    group_plan_quotas(g, COUNT(g), 100, false);
    g[1].requested = 10;
    g[2].requested = 200;
    near(group_plan_allocate(g, COUNT(g)), 40); /* b does not accept surplus */
    near(g[1].allocated, 10);
    near(g[2].allocated, 50);
    near(g[2].requested, 150);
}

static void surplus_goes_to_those_who_accept_it_by_quota(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 40, false), group("b", 0, 20, false),
                              group("c", 0, 10, false), group("d", 0, 30, false)};
    g[2].accept_surplus = g[3].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 100, false);
    g[2].requested = g[3].requested = g[4].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[1].allocated, 0);
    near(g[2].allocated, 20 + 40 * 2.0 / 3);
    near(g[3].allocated, 10 + 40 * 1.0 / 3);
    near(g[4].allocated, 30);
}

static void who_wants_less_than_its_part_leaves_it_to_the_others(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 40, false), group("b", 0, 30, false),
                              group("c", 0, 30, false)};
    g[2].accept_surplus = g[3].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 100, false);
    g[2].requested = 35;
    g[3].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[2].allocated, 35);
    near(g[3].allocated, 65);
}

static void surplus_is_offered_to_relatives_first(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("physics", 0, 60, false), group("chem", 0, 40, false),
                              group("physics.cms", 1, 30, false),
                              group("physics.atlas", 1, 30, false)};
    g[2].accept_surplus = g[3].accept_surplus = g[4].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 100, false);
    g[2].requested = 1000;
    g[3].requested = 5;
    g[4].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[3].allocated, 5);
    near(g[4].allocated, 55); /* all that its sister left */
    near(g[2].allocated, 40);
}

static void what_relatives_gave_is_not_asked_for_again(void **state)
{
    (void)state;
    struct group_entry g[] = {root(),
                              group("a", 0, 60, false),
                              group("b", 0, 40, false),
                              group("c", 0, 10, false),
                              group("a.x", 1, 30, false),
                              group("a.y", 1, 30, false)};
    g[1].accept_surplus = g[3].accept_surplus = g[5].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 110, false);
    g[2].requested = 10;
    g[3].requested = 1000;
    g[4].requested = 5;
    g[5].requested = 60; /* 30 of its own, 25 of its sister, so 5 of the rest */
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[5].allocated, 60);
    near(g[3].allocated, 35);
}

static void a_parent_that_refuses_surplus_keeps_it_from_its_children(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 50, false), group("b", 0, 50, false),
                              group("b.x", 2, 50, false)};
    g[3].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 100, false);
    g[3].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 50);
    near(g[3].allocated, 50);
    g[2].accept_surplus = true;
    g[3].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[3].allocated, 100);
}

static void groups_without_quota_share_the_last_surplus_equally(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 0, false), group("b", 0, 0, false)};
    g[1].accept_surplus = g[2].accept_surplus = true;
    group_plan_quotas(g, COUNT(g), 100, false);
    g[0].requested = 20;
    g[1].requested = g[2].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 0);
    near(g[0].allocated, 20);
    near(g[1].allocated, 40);
    near(g[2].allocated, 40);
}

static void a_ceiling_bounds_a_group_also_where_there_is_surplus(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 50, false)};
    g[1].accept_surplus = true;
    g[1].ceiling = 60;
    group_plan_quotas(g, COUNT(g), 100, false);
    g[1].requested = 1000;
    near(group_plan_allocate(g, COUNT(g)), 40);
    near(g[1].allocated, 60);
}

static void a_submitter_belongs_to_the_deepest_group_of_its_name(void **state)
{
    (void)state;
    const struct group_entry g[] = {root(), group("physics", 0, 1, false),
                                    group("physics.cms", 1, 1, false)};
    assert_int_equal(group_plan_of(g, COUNT(g), "physics.bob@ex"), 1);
    assert_int_equal(group_plan_of(g, COUNT(g), "Physics.CMS.bob@ex"), 2);
    assert_int_equal(group_plan_of(g, COUNT(g), "physics.atlas.bob@ex"), 1);
    assert_int_equal(group_plan_of(g, COUNT(g), "bob@physics.cms.ex"), 0);
    assert_int_equal(group_plan_of(g, COUNT(g), "physics@ex"), 0);
    assert_int_equal(group_plan_of(g, COUNT(g), "physicsx.bob"), 0);
}

static void the_most_starved_group_comes_first_and_the_root_last(void **state)
{
    (void)state;
    struct group_entry g[] = {root(), group("a", 0, 10, false), group("b", 0, 20, false),
                              group("c", 0, 0, false)};
    group_plan_quotas(g, COUNT(g), 100, false);
    g[1].in_use = g[2].in_use = 5;
    double a = group_plan_sort_key(g, 1), b = group_plan_sort_key(g, 2);
    assert_true(b < a);
    assert_true(a < group_plan_sort_key(g, 3));
    assert_true(group_plan_sort_key(g, 3) < group_plan_sort_key(g, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_quotas_are_served_before_dynamic_ones),
        cmocka_unit_test(quotas_that_do_not_fit_are_scaled_down),
        cmocka_unit_test(oversubscribed_quotas_stay_as_configured),
        cmocka_unit_test(a_parent_keeps_what_its_children_leave),
        cmocka_unit_test(what_a_part_of_a_group_has_is_not_surplus_of_the_group_as_well),
        cmocka_unit_test(nobody_gets_more_than_it_asks_for),
        cmocka_unit_test(surplus_goes_to_those_who_accept_it_by_quota),
        cmocka_unit_test(who_wants_less_than_its_part_leaves_it_to_the_others),
        cmocka_unit_test(surplus_is_offered_to_relatives_first),
        cmocka_unit_test(what_relatives_gave_is_not_asked_for_again),
        cmocka_unit_test(a_parent_that_refuses_surplus_keeps_it_from_its_children),
        cmocka_unit_test(groups_without_quota_share_the_last_surplus_equally),
        cmocka_unit_test(a_ceiling_bounds_a_group_also_where_there_is_surplus),
        cmocka_unit_test(a_submitter_belongs_to_the_deepest_group_of_its_name),
        cmocka_unit_test(the_most_starved_group_comes_first_and_the_root_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
