/* The rooster over real wires: what a change of an ad makes it look at.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

#include "rooster/seen.h"

static bool waits_77(struct rig *rig)
{
    return node_named(rig, "wn02")->jobs.waiting == 77;
}
static bool waits_not_77(struct rig *rig)
{
    return !waits_77(rig);
}

/* The state of wn02 is in its ad, and the rooster has looked at that. */
static bool is_settled_2(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn02");
    const struct seen *seen = node->ads.items[0];
    return strcmp(ad_string_or(seen->ad, "PowerState", ""), "Waking") == 0 && !node->look.marked &&
           node->showing == 0 && !node->ordering;
}

static void a_change_of_one_machine_is_no_look_at_another(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    until(rig, is_seen);
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    until(rig, is_settled_2);
    node_named(rig, "wn02")->jobs.waiting = 77; /* a look would put that right */
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_true(waits_77(rig));
    look_at_all(rig->rooster);
    until(rig, waits_not_77);
}

static bool has_no_ads(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node->ads.count == 0 && !node->look.marked;
}

static void an_ad_that_goes_is_seen_to_go(void **state)
{
    struct rig *rig = *state;
    boots(rig);
    until(rig, is_up);
    assert_true(node_named(rig, "wn01")->awake.has_ads);
    assert_int_equal(rig->rooster->machines, 1);
    must(rig->startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    until(rig, has_no_ads);
    assert_false(node_named(rig, "wn01")->awake.has_ads);
    assert_int_equal(rig->rooster->machines, 0);
    assert_int_equal(strmap_count(rig->rooster->seen), 0);
}

static void an_ad_may_become_that_of_another_machine(void **state)
{
    struct rig *rig = *state;
    struct rooster *rooster = rig->rooster;
    struct ad *first = ad_create(), *second = ad_create(), *sample = ad_create();
    ad_set_string(first, "Machine", "a");
    ad_set_string(second, "Machine", "b");
    seen_changed(rooster, "key", first);
    assert_int_equal(node_named(rig, "a")->ads.count, 1);
    seen_changed(rooster, "key", second);
    assert_int_equal(node_named(rig, "a")->ads.count, 0);
    assert_int_equal(node_named(rig, "b")->ads.count, 1);
    assert_int_equal(rooster->machines, 1);
    assert_true(node_named(rig, "a")->look.marked);
    seen_changed(rooster, "key", second);
    assert_int_equal(node_named(rig, "b")->ads.count, 1);
    seen_changed(rooster, "key", sample); /* of no machine */
    assert_int_equal(node_named(rig, "b")->ads.count, 0);
    assert_int_equal(rooster->machines, 0);
    seen_gone(rooster, "key");
    ad_destroy(first);
    ad_destroy(second);
    ad_destroy(sample);
}

static void a_machine_is_looked_at_once_more_before_it_is_woken(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    until(rig, is_seen);
    struct node *node = node_named(rig, "wn01");
    node->jobs.demand_it = true; /* as of a hold that has run out since */
    choose_from(node);
    assert_int_equal(node->candidate, 1);
    rig->rooster->looks++; /* this look has not seen it */
    choose_wakes(rig->rooster);
    assert_true(is_off(rig));
    assert_int_equal(rig->rooster->wakes, 0);
    assert_true(node->look.marked);
    look_now(rig->rooster);
    assert_int_equal(node->candidate, 0);
}

static bool both_would_wake(struct rig *rig)
{
    const struct node *first = node_named(rig, "wn01"), *second = node_named(rig, "wn02");
    return first != NULL && second != NULL && first->wake.is_dry && second->wake.is_dry;
}

static void a_dry_run_goes_on_behind_the_limit_of_a_look(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn01", 1);
    is_held(rig, "wn02", 1);
    load(rig, "ROOSTER_DRY_RUN = true\nROOSTER_MAX_UNHIBERNATE = 1");
    start(rig);
    until(rig, both_would_wake);
    assert_int_equal(rig->rooster->candidates.count, 0);
    assert_string_equal(wakes(rig), "");
}

UNIT_TESTS(RIG(a_change_of_one_machine_is_no_look_at_another), RIG(an_ad_that_goes_is_seen_to_go),
           RIG(an_ad_may_become_that_of_another_machine),
           RIG(a_machine_is_looked_at_once_more_before_it_is_woken),
           RIG(a_dry_run_goes_on_behind_the_limit_of_a_look))
