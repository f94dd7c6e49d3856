/* The rooster over real wires: what it learns from its ledger, and what holds it back.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

static void has_booted_in(struct rig *rig, const char *id, double seconds)
{
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct store *store;
    struct strbuf bytes;
    char path[300];
    struct ad *record = ad_create();
    ad_set_string(record, "MyType", "Wake");
    ad_set_string(record, "Kind", "Wake");
    ad_set_string(record, "WakeId", id);
    ad_set_string(record, "Machine", "wn01");
    ad_set_string(record, "Outcome", seconds > 0 ? "Up" : "Started");
    ad_set_string(record, "AskedBy", "alice@pool: a lecture");
    ad_set_int(record, "StartTime", loop_wall_s(rig->bed->loop));
    ad_set_int(record, "Attempts", 1);
    if (seconds > 0) {
        ad_set_real(record, "Seconds", seconds);
    }
    strbuf_init(&bytes, 0);
    ad_encode(record, false, &bytes);
    bed_path(rig->bed, "rooster.db", path);
    MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    struct store_txn *txn = store_begin(store);
    store_put(txn, "wakes", id, bytes.data, bytes.length);
    store_commit(txn, NULL, NULL);
    store_close(store);
    strbuf_fini(&bytes);
    ad_destroy(record);
}

static void the_deadline_is_learned_from_the_ledger(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    has_booted_in(rig, "1", 100);
    has_booted_in(rig, "2", 90);
    start(rig);
    falls_asleep(rig, "wn01");
    until(rig, is_seen);
    assert_int_equal(node_deadline_ms(node_named(rig, "wn01")), 300000);
    stop(rig);
    has_booted_in(rig, "3", 80.5);
    start(rig);
    until(rig, is_seen);
    assert_int_equal(node_deadline_ms(node_named(rig, "wn01")), 200000);
    assert_int_equal(node_named(rig, "wn01")->history.last_boot_ms, 80500);
}

static void a_boot_is_learned_from_when_it_ends(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    boots(rig);
    until(rig, is_up);
    assert_int_equal(node_named(rig, "wn01")->history.boots.count, 1);
    assert_true(boots_p95_ms(&node_named(rig, "wn01")->history.boots) > 0);
}

static void what_only_the_ledger_knows_is_no_machine_of_the_pool(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    has_booted_in(rig, "1", 100);
    start(rig);
    falls_asleep(rig, "wn02");
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_false(node_named(rig, "wn01")->listed);
    assert_true(node_named(rig, "wn02")->listed);
}

static void an_order_by_name_is_still_one_after_a_restart_and_a_failure(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    has_booted_in(rig, "1", 0); /* it has begun, and alice asked for it */
    start(rig);
    falls_asleep(rig, "wn01");
    until(rig, is_seen);
    assert_true(is_waking(rig));
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 ");
    assert_string_equal(node_named(rig, "wn01")->asked.by, "alice@pool: a lecture");
}

static void one_that_does_not_boot_is_told_from_one_that_does_not_join(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "1");
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
    until(rig, is_backing_off);
    assert_string_equal(node_named(rig, "wn01")->reason, "the machine was woken but is still off");
    status_is(rig, "0");
    time_passes(rig);
    until(rig, is_waking);
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
    until(rig, is_quarantined);
    assert_string_equal(node_named(rig, "wn01")->reason,
                        "the machine is on but did not join the pool in time");
    assert_string_equal(wakes(rig), "wn01 status wn01 status ");
}

static bool would_wake(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->wake.is_dry;
}
static bool would_not_wake(struct rig *rig)
{
    return !would_wake(rig);
}

static void a_dry_run_says_what_it_would_wake_and_wakes_nothing(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_DRY_RUN = true");
    start(rig);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, would_wake);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_true(ad_bool_or(ad, "WouldWake", false));
    ad_destroy(ad);
    is_held(rig, "wn01", 0);
    until(rig, would_not_wake);
    assert_string_equal(wakes(rig), "");
    assert_int_equal(rig->rooster->wakes, 0);
}

static void a_dry_run_takes_nothing_down(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    stop(rig);
    char text[900];
    (void)snprintf(text, sizeof text, "ROOSTER_DRY_RUN = true\n%s",
                   strstr(rig->config_text, "node \"wn01\""));
    load(rig, text);
    start(rig);
    asks_to_go_down(rig, 100);
    until(rig, shows_on);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "ROOSTER_DRY_RUN"));
    assert_string_equal(wakes(rig), "");
}

static void the_limit_of_a_day_is_that_of_one_machine(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    has_booted_in(rig, "1", 100);
    load(rig, "ROOSTER_MAX_WAKES_PER_DAY = 1");
    start(rig);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn01", 1);
    until(rig, is_demanded);
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "wn02 ");
}

static void the_limit_of_a_minute_holds_the_next_one_back(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_MAX_WAKES_PER_MINUTE = 1");
    start(rig);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    is_held(rig, "wn01", 1);
    until(rig, is_demanded);
    assert_true(is_off(rig));
    rig->rooster->minute = (struct wake_minute){.last_s = 0}; /* time passes */
    until(rig, is_waking);                                    /* without a change of any ad */
    assert_string_equal(wakes(rig), "wn02 wn01 ");
}

UNIT_TESTS(RIG(the_deadline_is_learned_from_the_ledger), RIG(a_boot_is_learned_from_when_it_ends),
           RIG(what_only_the_ledger_knows_is_no_machine_of_the_pool),
           RIG(an_order_by_name_is_still_one_after_a_restart_and_a_failure),
           RIG(one_that_does_not_boot_is_told_from_one_that_does_not_join),
           RIG(a_dry_run_says_what_it_would_wake_and_wakes_nothing),
           RIG(a_dry_run_takes_nothing_down), RIG(the_limit_of_a_day_is_that_of_one_machine),
           RIG(the_limit_of_a_minute_holds_the_next_one_back))
