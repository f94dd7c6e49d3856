/* tests/unit/negotiator/test_lease.c - the negotiator's lease, with a real collector.
 *
 * LINK: negotiator collector
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "collector/collector_lease.h"
#include "collector/collector_state.h"
#include "tests/support/negotiator_bed.h"

#define OTHER_S      2  /* another has the lease for that long */
#define LEASE_LEFT_S 19 /* more is left of one that has just been renewed */

struct rig {
    struct bed *bed;
    struct negotiator_bed own;
};

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    rig->bed = bed_create("");
    bed_start(rig->bed);
    bed_find_address(rig->bed);
    negotiator_bed_start(&rig->own, rig->bed);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    daemon_rig_fini(&rig->own.daemon);
    bed_destroy(rig->bed);
    mem_free(rig);
    return 0;
}

static void who_has_lost_the_lease_asks_for_it_at_once_and_not_at_the_next_renewal(void **state)
{
    struct rig *rig = *state;
    struct loop *loop = rig->bed->loop;
    struct collector *collector = rig->bed->collector;
    const struct lease_wish wish = {.role = "negotiator",
                                    .holder = "another",
                                    .identity = "x",
                                    .duration_s = OTHER_S};
    collector_leases_destroy(collector->leases);
    collector->leases = collector_leases_create();
    assert_int_equal(collector_leases_take(collector->leases, &wish, loop_now_ms(loop), NULL), 0);
    loop_timer_set(rig->own.negotiator->lease.timer, 0);
    LOOP_RIG_UNTIL(loop, !negotiator_bed_leads(&rig->own), "%s", "it leads");
    uint64_t lost_ms = loop_now_ms(loop);
    LOOP_RIG_UNTIL(loop, negotiator_bed_leads(&rig->own), "%s", "it does not lead");
    assert_in_range(loop_now_ms(loop) - lost_ms, 1000, LOOP_GRID_MS - 1);
}

/* Returns the seconds that are left of the negotiator's lease. */
static int64_t left_s(struct rig *rig)
{
    struct collector *collector = rig->bed->collector;
    struct lease_holder holder;
    assert_true(collector_leases_holder(collector->leases, "negotiator",
                                        loop_now_ms(rig->bed->loop), &holder));
    return holder.remaining_s;
}

static void a_renewal_comes_with_what_else_goes_on_in_an_idle_pool(void **state)
{
    struct rig *rig = *state;
    struct loop *loop = rig->bed->loop;
    loop_timer_set(rig->own.negotiator->lease.timer, 0);
    LOOP_RIG_UNTIL(loop, left_s(rig) >= LEASE_LEFT_S, "%s", "not renewed");
    LOOP_RIG_UNTIL(loop, left_s(rig) < LEASE_LEFT_S, "%s", "renewed all the time");
    LOOP_RIG_UNTIL(loop, left_s(rig) >= LEASE_LEFT_S, "%s", "not renewed");
    assert_in_range(loop_now_ms(loop) % LOOP_GRID_MS, 0, 2000);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(RIG(who_has_lost_the_lease_asks_for_it_at_once_and_not_at_the_next_renewal),
           RIG(a_renewal_comes_with_what_else_goes_on_in_an_idle_pool))
