/* The rooster over real wires: what is woken, and taken down.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

static void a_hold_wakes_the_machine_and_its_live_ad_is_the_success(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 2);
    until(rig, is_waking);
    until(rig, shows_waking);
    assert_string_equal(wakes(rig), "wn01 ");
    assert_string_equal(node_named(rig, "wn01")->reason, "2 jobs wait for the machine");
    boots(rig);
    until(rig, is_up);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
}

static void the_ledger_is_durable_before_the_command_runs(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(ledger(rig, "copy/rooster.db"), "wn01:Wake:Started ");
}

static void the_command_gets_the_offline_ad(void **state)
{
    struct rig *rig = *state;
    char path[300], *text;
    size_t length;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    bed_path(rig->bed, "ad", path);
    MUST(os_read_file(rig->bed->os, path, 65536, &text, &length, err));
    assert_non_null(strstr(text, "Name = \"slot1@wn01\""));
    assert_non_null(strstr(text, "OfflineMatches = "));
    mem_free(text);
}

static void without_a_hold_nothing_is_woken(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "wn02 ");
}

static void a_hold_that_unhibernate_does_not_confirm_wakes_nothing(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_UNHIBERNATE = \"Offline && Unhibernate && Machine != \\\"wn01\\\"\"");
    start(rig);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn01", 1);
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "wn02 ");
}

/* What a machine's ad says of itself is a stranger's word: it may cost its own waking only. */
static void a_machine_whose_ad_costs_too_much_is_left_asleep_and_the_others_wake(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_UNHIBERNATE = \"Offline && Unhibernate && (Machine != \\\"wn01\\\" || "
              "regexp(\\\"(a+)+$\\\", \\\"aaaaaaaaaaaaaaaaaaaaaaaaaaab\\\") =!= 1)\"");
    start(rig);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn01", 1);
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "wn02 ");
    assert_true(node_named(rig, "wn01")->look.told_costly);
    assert_false(node_named(rig, "wn02")->look.told_costly);
}

static void a_command_that_fails_is_tried_again_and_then_the_machine_is_left_alone(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    assert_string_equal(wakes(rig), "wn01 ");
    assert_true(node_named(rig, "wn01")->wake.retry_at_ms > loop_now_ms(rig->bed->loop));
    time_passes(rig);
    until(rig, is_quarantined);
    until(rig, shows_failed);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "ended with status 1"));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Failed ");
}

static void after_quarantine_the_machine_may_be_held_again(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined);
    is_held(rig, "wn01", 0); /* the negotiator takes the hold of a failed machine back */
    until(rig, shows_failed);
    time_passes(rig);
    until(rig, shows_off);
    assert_true(is_off(rig));
    may_fail(rig, false);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 wn01 wn01 ");
}

static void a_restart_forgets_no_quarantine(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined);
    until(rig, shows_failed);
    restart(rig);
    until(rig, is_demanded);
    assert_true(is_quarantined(rig));
    assert_in_range(node_named(rig, "wn01")->wake.retry_at_ms - loop_now_ms(rig->bed->loop),
                    3500000, 3600000);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

static void a_machine_that_does_not_come_is_tried_again(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_true(loop_timer_is_set(node_named(rig, "wn01")->deadline));
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
    until(rig, is_backing_off);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "did not join the pool in time"));
    time_passes(rig);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

static void a_wake_that_nobody_waits_for_any_more_is_over_in_the_ledger(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    is_held(rig, "wn01", 0);
    until(rig, is_off);
    restart(rig); /* which takes up what has no outcome */
    until(rig, is_seen);
    assert_true(is_off(rig));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Failed ");
}

static void a_restart_in_mid_wake_does_not_wake_twice(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    restart(rig);
    until(rig, is_demanded); /* it has looked, and chosen */
    assert_true(is_waking(rig));
    assert_string_equal(wakes(rig), "wn01 ");
    assert_true(loop_timer_is_set(node_named(rig, "wn01")->deadline));
    node_named(rig, "wn01")->wake.began_s -= 20;
    boots(rig);
    until(rig, is_up);
    assert_int_equal(node_named(rig, "wn01")->history.boots.count, 0); /* nobody timed it */
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
}

static void going_to_sleep_is_written_down(void **state)
{
    struct rig *rig = *state;
    boots(rig);
    until(rig, is_up);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Offline = true;"
         " OfflineBootId = \"b2\"; ClassAdLifetime = 86400; PowerStateReason = \"no work\" ]");
    until(rig, is_off);
    assert_string_equal(node_named(rig, "wn01")->reason, "no work");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

/* ---- what its past tells ---- */

/* It boots, or goes to sleep, with so much memory. */
static void boots_with(struct rig *rig, const char *boot_id, int memory, bool asleep)
{
    char ad[512];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; %s = \"%s\";"
                   " TotalMemory = %d; Unhibernate = MachineLastMatchTime =!= undefined%s ]",
                   asleep ? "OfflineBootId" : "BootId", boot_id, memory,
                   asleep ? "; Offline = true; ClassAdLifetime = 86400; PowerState = \"Off\"" : "");
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

static double rate_shown; /* what told_all() waits for */

static bool told_all(struct rig *rig)
{
    size_t at = 0;
    const struct ad *ad;
    while (watch_next(rig->rooster->watch, &at, NULL, &ad)) {
        double off = ad_real_or(ad, "WakeSuccessRate", -1) - rate_shown;
        if (ad_bool_or(ad, "Offline", false) && off < 0.001 && off > -0.001) {
            return true;
        }
    }
    return false;
}

static bool is_listed(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->listed;
}

static const struct ad *offline_ad(struct rig *rig)
{
    size_t at = 0;
    const struct ad *ad = NULL;
    assert_true(watch_next(rig->rooster->watch, &at, NULL, &ad));
    return ad;
}

static void its_offline_ads_say_whether_it_came_and_what_was_different(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    boots_with(rig, "b1", 4096, true);
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    rate_shown = 0;
    until(rig, told_all);
    assert_false(ad_has(offline_ad(rig), "LastWakeTime"));
    assert_false(ad_has(offline_ad(rig), "LastBootDiffered"));
    may_fail(rig, false);
    time_passes(rig);
    until(rig, is_waking);
    boots_with(rig, "b2", 2048, false);
    until(rig, is_up);
    for (int life = 0; life < 2; life++) { /* each knows it from the ledger */
        restart(rig);
        until(rig, is_listed);
        boots_with(rig, "b2", 2048, true);
        rate_shown = 0.5;
        until(rig, told_all);
        assert_int_equal(ad_int_or(offline_ad(rig), "WakesTried", 0), 2);
        assert_true(ad_int_or(offline_ad(rig), "LastWakeTime", 0) > 1000000000);
        assert_string_equal(ad_string_or(offline_ad(rig), "LastBootDiffered", "?"),
                            "TotalMemory 4096 -> 2048");
    }
}

static void a_boot_that_nobody_ordered_is_compared_too(void **state)
{
    struct rig *rig = *state;
    boots_with(rig, "b1", 4096, true);
    until(rig, is_seen);
    boots_with(rig, "b2", 8192, false);
    until(rig, is_up);
    boots_with(rig, "b2", 8192, true);
    until(rig, is_off);
    restart(rig);
    until(rig, is_seen);
    assert_string_equal(node_named(rig, "wn01")->history.past.differed, "TotalMemory 4096 -> 8192");
    assert_int_equal(node_named(rig, "wn01")->history.past.count, 0);
}

/* Whatever is left in its ad of a hold. */
static void a_machine_that_vanished_is_not_woken_by_itself(void **state)
{
    struct rig *rig = *state;
    boots(rig);
    until(rig, is_up);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Absent = true;"
         " Offline = true; OfflineBootId = \"b2\"; Unhibernate = true; MachineLastMatchTime = 5;"
         " OfflineMatches = { [ Schedd = \"s\"; AutoCluster = 1; Count = 1; Until = 4000000000 ] }"
         " ]");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_string_equal(wakes(rig), "wn02 ");
    assert_false(node_named(rig, "wn01")->awake.has_ads);
    assert_false(node_named(rig, "wn01")->jobs.demand_it);
    restart(rig);
    until(rig, is_waking_2);
    assert_string_equal(wakes(rig), "wn02 ");
    assert_true(node_named(rig, "wn01") == NULL || !node_named(rig, "wn01")->jobs.demand_it);
}

/* ---- machines that are taken down from here ---- */

/* What a rooster before us left in the ledger: an order of long ago. */
static void has_begun_long_ago(struct rig *rig)
{
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct store *store;
    struct ad *record = NULL;
    struct strbuf bytes;
    char path[300];
    static const char TEXT[] = "[ MyType = \"Wake\"; WakeId = \"0a\"; Kind = \"Sleep\";"
                               " Machine = \"wn01\"; StartTime = 5; Outcome = \"Started\" ]";
    stop(rig);
    bed_path(rig->bed, "rooster.db", path);
    MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    MUST(ad_parse(TEXT, sizeof TEXT - 1, &record, err));
    strbuf_init(&bytes, 0);
    ad_encode(record, false, &bytes);
    struct store_txn *txn = store_begin(store);
    store_put(txn, "wakes", "0a", bytes.data, bytes.length);
    store_commit(txn, NULL, NULL);
    store_close(store);
    strbuf_fini(&bytes);
    ad_destroy(record);
    start(rig);
}

static bool is_going_down(struct rig *rig)
{
    return is(rig, "wn01", WAKE_GOING_DOWN);
}

static void a_machine_that_asks_for_it_is_taken_down(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    asks_to_go_down(rig, 100);
    until(rig, shows_off);
    until(rig, is_off);
    assert_string_equal(wakes(rig), "sleep-S4 ");
    assert_string_equal(ledger(rig, "copy/rooster.db"), "wn01:Sleep:Started ");
    assert_string_equal(node_named(rig, "wn01")->reason, "no work");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

static void one_that_cannot_be_taken_down_is_on_and_comes_back(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    may_fail(rig, true);
    asks_to_go_down(rig, 100);
    until(rig, shows_on);
    assert_string_equal(wakes(rig), "sleep-S4 ");
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "ended with status 1"));
    is_held(rig, "wn01", 1);
    until(rig, is_demanded);
    assert_true(is(rig, "wn01", WAKE_STAYING)); /* it runs: there is nothing to wake */
    must(rig->startd, VERB_UPDATE, "[ CancelOffline = true ]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b1\" ]");
    until(rig, is_up);
    may_fail(rig, false);
    asks_to_go_down(rig, 200);
    until(rig, shows_off);
    assert_string_equal(wakes(rig), "sleep-S4 sleep-S4 ");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed wn01:Sleep:Asleep ");
}

static void one_without_a_way_down_is_told_so(void **state)
{
    struct rig *rig = *state;
    asks_to_go_down(rig, 100); /* ROOSTER_WAKEUP_CMD only wakes */
    until(rig, shows_on);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "sleep_command"));
    assert_string_equal(wakes(rig), "");
}

static void a_job_that_comes_meanwhile_wakes_it_when_it_is_down(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "1");
    asks_to_go_down(rig, 100);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "sleep-S4 status wn01 ");
}

static void an_order_of_long_ago_is_not_given_but_its_outcome_is_found_out(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    has_begun_long_ago(rig);
    status_is(rig, "1"); /* off */
    asks_to_go_down(rig, 100);
    until(rig, shows_off);
    assert_string_equal(wakes(rig), "status ");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

static void one_that_runs_after_an_order_of_long_ago_stays_up(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    has_begun_long_ago(rig);
    status_is(rig, "0");
    asks_to_go_down(rig, 100);
    until(rig, shows_on);
    assert_string_equal(wakes(rig), "status ");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed ");
}

static void unknown_is_never_acted_on(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    has_begun_long_ago(rig);
    status_is(rig, "7");
    asks_to_go_down(rig, 100);
    until(rig, is_going_down);
    assert_string_equal(wakes(rig), "status ");
    assert_true(shows(rig, "GoingDown"));
    status_is(rig, "1");
    loop_timer_set(node_named(rig, "wn01")->deadline, 0); /* time passes */
    until(rig, shows_off);
    assert_string_equal(wakes(rig), "status status ");
}

static void a_sleep_that_another_rooster_saw_the_end_of_is_written_down(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    has_begun_long_ago(rig);
    until(rig, is_seen);
    assert_true(is_off(rig));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

UNIT_TESTS(RIG(a_hold_wakes_the_machine_and_its_live_ad_is_the_success),
           RIG(a_machine_whose_ad_costs_too_much_is_left_asleep_and_the_others_wake),
           RIG(the_ledger_is_durable_before_the_command_runs), RIG(the_command_gets_the_offline_ad),
           RIG(without_a_hold_nothing_is_woken),
           RIG(a_hold_that_unhibernate_does_not_confirm_wakes_nothing),
           RIG(a_command_that_fails_is_tried_again_and_then_the_machine_is_left_alone),
           RIG(after_quarantine_the_machine_may_be_held_again),
           RIG(a_restart_forgets_no_quarantine), RIG(a_machine_that_does_not_come_is_tried_again),
           RIG(a_wake_that_nobody_waits_for_any_more_is_over_in_the_ledger),
           RIG(a_restart_in_mid_wake_does_not_wake_twice), RIG(going_to_sleep_is_written_down),
           RIG(its_offline_ads_say_whether_it_came_and_what_was_different),
           RIG(a_boot_that_nobody_ordered_is_compared_too),
           RIG(a_machine_that_vanished_is_not_woken_by_itself),
           RIG(a_machine_that_asks_for_it_is_taken_down),
           RIG(one_that_cannot_be_taken_down_is_on_and_comes_back),
           RIG(one_without_a_way_down_is_told_so),
           RIG(a_job_that_comes_meanwhile_wakes_it_when_it_is_down),
           RIG(an_order_of_long_ago_is_not_given_but_its_outcome_is_found_out),
           RIG(one_that_runs_after_an_order_of_long_ago_stays_up), RIG(unknown_is_never_acted_on),
           RIG(a_sleep_that_another_rooster_saw_the_end_of_is_written_down))
