/* Late materialization: how many jobs of a cluster are made now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <stdint.h>

#include "base/err.h"
#include "classad/ad.h"
#include "schedd/submission/job_factory_plan.h"

static struct factory_facts facts(int64_t limit, int64_t max_idle)
{
    return (struct factory_facts){.next = 10,
                                  .total = 100,
                                  .alive = 7,
                                  .idle = 2,
                                  .limit = limit,
                                  .max_idle = max_idle,
                                  .queue_room = INT64_MAX,
                                  .owner_room = INT64_MAX};
}

static void jobs_are_made_up_to_the_lower_of_both_limits(void **state)
{
    (void)state;
    struct factory_facts both = facts(10, 4), none = facts(-1, -1), idle = facts(-1, 3);
    assert_int_equal(factory_plan_wanted(&both), 2);
    assert_int_equal(factory_plan_wanted(&none), 90);
    assert_int_equal(factory_plan_wanted(&idle), 1);
    both.alive = 9;
    assert_int_equal(factory_plan_wanted(&both), 1);
    both.alive = 11;
    assert_int_equal(factory_plan_wanted(&both), 0);
    none.next = 100;
    assert_int_equal(factory_plan_wanted(&none), 0);
}

static void a_paused_cluster_gets_none(void **state)
{
    (void)state;
    struct factory_facts paused = facts(-1, -1);
    paused.paused = true;
    assert_int_equal(factory_plan_wanted(&paused), 0);
    assert_false(factory_plan_waits_for_room(&paused));
}

static void a_full_queue_makes_it_wait_and_is_told_from_its_own_limits(void **state)
{
    (void)state;
    struct factory_facts full = facts(10, -1);
    full.owner_room = 2;
    assert_int_equal(factory_plan_wanted(&full), 2);
    assert_false(factory_plan_waits_for_room(&full));
    full.owner_room = -5;
    assert_int_equal(factory_plan_wanted(&full), 0);
    assert_true(factory_plan_waits_for_room(&full));
    full.alive = 10;
    assert_false(factory_plan_waits_for_room(&full));
}

static void what_only_the_submit_host_knows_stays_the_clusters(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    ad_set_int(own, "ImageSize", 7);
    ad_set_string(own, "Owner", "eve");
    ad_set_int(own, "NumJobStarts", 9);
    ad_set_string(own, "Args", "x");
    factory_plan_clean(own);
    assert_int_equal(ad_count(own), 1);
    assert_true(ad_has(own, "Args"));
    ad_destroy(own);
}

UNIT_TESTS(UNIT(jobs_are_made_up_to_the_lower_of_both_limits), UNIT(a_paused_cluster_gets_none),
           UNIT(a_full_queue_makes_it_wait_and_is_told_from_its_own_limits),
           UNIT(what_only_the_submit_host_knows_stays_the_clusters))
