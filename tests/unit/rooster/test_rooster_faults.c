/* The rooster over real wires: machines that come late, with less, or not for long; what is tried
 * when a method does not bring one, and who is told in the end.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

#include "rooster/selftest.h"
#include "rooster/wakes.h"

static void is_left_alone(struct rig *rig)
{
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined);
    until(rig, shows_failed);
}

/* A live ad of its second boot, with `more`. */
static void is_live(struct rig *rig, const char *more)
{
    char ad[400];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\";"
                   " BootId = \"b2\"; BootTime = 77; %s ]",
                   more);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

/* Its offline ad, made by the boot `boot`, with `more`. */
static void sleeps(struct rig *rig, const char *boot, const char *more)
{
    char ad[500];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\";"
                   " Offline = true; OfflineBootId = \"%s\"; ClassAdLifetime = 86400;"
                   " PowerState = \"Off\"; Unhibernate = MachineLastMatchTime =!= undefined; %s ]",
                   boot, more);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

/* A number of the offline ad that the pool sees of wn01; 0: it is not there. */
static int64_t shown_int(struct rig *rig, const char *name)
{
    size_t at = 0;
    const struct ad *ad;
    while (watch_next(rig->rooster->watch, &at, NULL, &ad)) {
        if (strcmp(ad_string_or(ad, "Machine", ""), "wn01") == 0) {
            return ad_int_or(ad, name, 0);
        }
    }
    return 0;
}

static bool shows_last_wake(struct rig *rig)
{
    return shown_int(rig, "LastWakeTime") != 0;
}

static int find_fault(void *arg, const char *key, const void *value, size_t length)
{
    struct ad *record;
    char *text = arg;
    (void)key;
    assert_int_equal(ad_decode(value, length, NULL, &record, NULL), 0);
    (void)snprintf(text, 256, "%s %s", ad_string_or(record, "Fault", "-"),
                   ad_string_or(record, "Method", "-"));
    ad_destroy(record);
    return 0;
}

/* "Fault Method" of the last record of the ledger, which no rooster has open. */
static const char *last_fault(struct rig *rig)
{
    static _Thread_local char text[256];
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct store *store;
    char path[300];
    text[0] = '\0';
    bed_path(rig->bed, "rooster.db", path);
    MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    MUST(store_load(store, "wakes", find_fault, text, err));
    store_close(store);
    return text;
}

/* ---- late ---- */

static void one_that_comes_after_it_was_given_up_lengthens_its_deadline(void **state)
{
    struct rig *rig = *state;
    is_left_alone(rig);
    restart(rig); /* the ledger knows it, too */
    until(rig, is_quarantined);
    assert_string_equal(node_named(rig, "wn01")->wake.fault, "OrderFailed");
    node_named(rig, "wn01")->history.last.wake_s -= 400;
    is_live(rig, "State = \"Unclaimed\"");
    until(rig, is_up);
    assert_string_equal(node_named(rig, "wn01")->reason,
                        "the machine has a live ad again, after it was given up");
    assert_in_range(node_deadline_ms(node_named(rig, "wn01")), 2 * 400000, 2 * 430000);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
    assert_string_equal(last_fault(rig), "- command");
}

static void one_that_comes_much_later_came_by_itself(void **state)
{
    struct rig *rig = *state;
    is_left_alone(rig);
    node_named(rig, "wn01")->history.last.wake_s -= 1801; /* ROOSTER_WAKE_DEADLINE_MAX */
    is_live(rig, "State = \"Unclaimed\"");
    until(rig, is_up);
    assert_string_equal(node_named(rig, "wn01")->reason, "the machine came up without an order");
    assert_int_equal(node_named(rig, "wn01")->history.boots.count, 0);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Failed ");
    assert_string_equal(last_fault(rig), "OrderFailed command");
}

/* ---- quarantine ---- */

static bool is_quarantined_twice(struct rig *rig)
{
    return is_quarantined(rig) && node_named(rig, "wn01")->history.quarantines == 2;
}

static void quarantine_is_longer_each_time_and_a_restart_knows_it(void **state)
{
    struct rig *rig = *state;
    is_left_alone(rig);
    time_passes(rig);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined_twice);
    until(rig, shows_failed);
    assert_in_range(node_named(rig, "wn01")->wake.retry_at_ms - loop_now_ms(rig->bed->loop),
                    7100000, 7200000);
    restart(rig);
    until(rig, is_quarantined_twice);
    assert_in_range(node_named(rig, "wn01")->wake.retry_at_ms - loop_now_ms(rig->bed->loop),
                    7000000, 7200000);
    may_fail(rig, false);
    time_passes(rig);
    until(rig, is_waking);
    boots(rig);
    until(rig, is_up);
    assert_int_equal(node_named(rig, "wn01")->history.quarantines, 0);
}

/* `roost power on|test wn01`, by somebody who may; what became of it is in the answer. */
static void asks_by_name(struct rig *rig, const char *args_text, const char *result)
{
    struct client *boss = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    struct answer answer;
    assert_int_equal(client_relay(boss, "rooster/r", VERB_POWER_ON, args_text, NULL, &answer), 0);
    assert_int_equal(answer.ads.count, 1);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Result", ""), result);
    answer_fini(&answer);
}

static void an_order_by_name_ends_quarantine_and_may_be_a_test(void **state)
{
    struct rig *rig = *state;
    is_left_alone(rig);
    may_fail(rig, false);
    asks_by_name(rig, "[ Nodes = { \"wn01\" }; Reason = \"mended\"; Test = true ]", "Ordered");
    assert_int_equal(node_named(rig, "wn01")->history.quarantines, 0);
    until(rig, is_waking);
    assert_true(node_named(rig, "wn01")->test.is_under_way);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "mended"));
    asks_by_name(rig, "[ Nodes = { \"wn01\" } ]", "Waking");
    boots(rig);
    until(rig, is_up);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_true(ad_bool_or(ad, "LastTestPassed", false));
    assert_false(ad_has(ad, "UnderTest"));
    ad_destroy(ad);
    asks_by_name(rig, "[ Nodes = { \"wn01\" } ]", "AlreadyOn");
}

static void who_asks_by_name_ends_quarantine_and_what_led_to_it(void **state)
{
    struct rig *rig = *state;
    is_left_alone(rig);
    is_held(rig, "wn01", 0);
    assert_in_range(shown_int(rig, "PowerQuarantineUntil") - loop_wall_s(rig->bed->loop), 3500,
                    3600);
    node_pardon(node_named(rig, "wn01"));
    until(rig, shows_off);
    assert_int_equal(shown_int(rig, "PowerQuarantineUntil"), 0);
    assert_true(is_off(rig));
    assert_int_equal(node_named(rig, "wn01")->history.quarantines, 0);
}

/* ---- less ---- */

static void one_that_joins_with_less_than_it_promised_is_told(void **state)
{
    struct rig *rig = *state;
    sleeps(rig, "b1", "DetectedCpus = 8; DetectedMemory = 16000");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    is_live(rig, "State = \"Unclaimed\"; DetectedCpus = 8; DetectedMemory = 8000");
    until(rig, is_up);
    assert_string_equal(node_named(rig, "wn01")->reason,
                        "the machine joined with 8000 of the promised 16000 MiB of memory");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
    assert_string_equal(last_fault(rig), "LessThanPromised command");
}

static void a_core_less_is_less_and_a_little_memory_is_not(void **state)
{
    struct rig *rig = *state;
    sleeps(rig, "b1", "DetectedCpus = 8; DetectedMemory = 16000");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    is_live(rig, "State = \"Unclaimed\"; DetectedCpus = 8; DetectedMemory = 15900");
    until(rig, is_up);
    assert_null(node_named(rig, "wn01")->wake.fault);
    sleeps(rig, "b2", "DetectedCpus = 8; DetectedMemory = 16000; PowerKeptOff = true");
    until(rig, is_off);
    sleeps(rig, "b2", "DetectedCpus = 8; DetectedMemory = 16000"); /* jobs may wake it again */
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b3\";"
         " DetectedCpus = 7; DetectedMemory = 16000 ]");
    until(rig, is_up);
    assert_string_equal(node_named(rig, "wn01")->reason,
                        "the machine joined with 7 of the promised 8 Cpus");
}

/* What it has is not known, then, and what it had before says nothing of that. */
static void one_whose_life_nobody_saw_is_not_said_to_have_less(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    is_live(rig, "DetectedCpus = 8");
    until(rig, is_up);
    sleeps(rig, "b2", "DetectedCpus = 16; PowerKeptOff = true");
    until(rig, is_off);
    sleeps(rig, "b2", "DetectedCpus = 16"); /* jobs may wake it again */
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    must(
        rig->startd, VERB_UPDATE, "[]",
        "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Offline = true;"
        " OfflineBootId = \"b3\"; ClassAdLifetime = 86400; MyCurrentTime = 100; DetectedCpus = 16;"
        " PowerState = \"GoingDown\"; HibernationState = \"S4\"; PowerStateReason = \"no work\" ]");
    until(rig, is_off);
    assert_string_equal(wakes(rig), "wn01 sleep-S4 ");
    assert_null(node_named(rig, "wn01")->wake.fault);
}

/* ---- not for long ---- */

static void wakes_and_sleeps_at_once(struct rig *rig, const char *state, const char *more)
{
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    is_live(rig, state);
    until(rig, is_up);
    sleeps(rig, "b2", more);
    until(rig, is_off);
}

static void one_that_sleeps_at_once_while_jobs_wait_is_left_alone_in_the_end(void **state)
{
    struct rig *rig = *state;
    wakes_and_sleeps_at_once(rig, "State = \"Unclaimed\"", "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking); /* once may be chance */
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b3\" ]");
    until(rig, is_up);
    sleeps(rig, "b3", "");
    until(rig, is_off);
    is_held(rig, "wn01", 1);
    until(rig, is_quarantined); /* it is the second time, ROOSTER_WAKE_ATTEMPTS */
    until(rig, shows_failed);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "slept again without a claim"));
    assert_in_range(node_named(rig, "wn01")->wake.retry_at_ms - loop_now_ms(rig->bed->loop),
                    3500000, 3600000);
    stop(rig);
    const char *records = ledger(rig, "rooster.db"); /* those of one millisecond in any order */
    assert_non_null(strstr(records, "wn01:Wake:Up "));
    assert_non_null(strstr(records, "wn01:Wake:Failed "));
}

static void one_that_worked_in_between_begins_anew(void **state)
{
    struct rig *rig = *state;
    wakes_and_sleeps_at_once(rig, "State = \"Unclaimed\"", "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(node_named(rig, "wn01")->history.naps, 1);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b3\";"
         " State = \"Claimed\" ]");
    until(rig, is_up);
    sleeps(rig, "b3", "");
    until(rig, is_off);
    assert_int_equal(node_named(rig, "wn01")->history.naps, 0);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 wn01 wn01 ");
}

static void one_that_worked_may_sleep_and_wake_as_often_as_it_likes(void **state)
{
    struct rig *rig = *state;
    wakes_and_sleeps_at_once(rig, "State = \"Claimed\"", "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(node_named(rig, "wn01")->history.naps, 0);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

static void one_for_which_nobody_waits_any_more_may_sleep_at_once(void **state)
{
    struct rig *rig = *state;
    wakes_and_sleeps_at_once(rig, "State = \"Unclaimed\"", "");
    assert_true(node_named(rig, "wn01")->history.nap_s != 0);
    node_named(rig, "wn01")->history.nap_s -= 60; /* ROOSTER_ASLEEP_AGAIN */
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(node_named(rig, "wn01")->history.naps, 0);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

/* Three jobs, one after the other, that their user takes back while the machine boots. */
static void one_is_not_to_blame_for_jobs_that_came_after_it_slept(void **state)
{
    struct rig *rig = *state;
    wakes_and_sleeps_at_once(rig, "State = \"Unclaimed\"", "");
    for (int i = 3; i < 6; i++) {
        char boot_id[16], live[200];
        (void)snprintf(boot_id, sizeof boot_id, "b%d", i);
        (void)snprintf(live, sizeof live,
                       "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\";"
                       " BootId = \"%s\" ]",
                       boot_id);
        assert_true(node_named(rig, "wn01")->history.nap_s != 0);
        is_held_since(rig, "wn01", 1, node_named(rig, "wn01")->history.nap_s);
        until(rig, is_waking);
        assert_int_equal(node_named(rig, "wn01")->history.naps, 0);
        must(rig->startd, VERB_UPDATE, "[]", live);
        until(rig, is_up);
        sleeps(rig, boot_id, "");
        until(rig, is_off);
    }
    is_held_since(rig, "wn01", 1, node_named(rig, "wn01")->history.nap_s - 1);
    until(rig, is_waking);
    assert_int_equal(node_named(rig, "wn01")->history.naps, 1); /* that job waited while it slept */
}

static void one_that_somebody_switches_off_at_once_is_not_to_blame(void **state)
{
    struct rig *rig = *state;
    wakes_and_sleeps_at_once(rig, "State = \"Unclaimed\"", "PowerKeptOff = true");
    sleeps(rig, "b2", ""); /* jobs may wake it again */
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(node_named(rig, "wn01")->history.naps, 0);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

static bool is_held_off(struct rig *rig)
{
    struct node *node = node_named(rig, "wn01");
    return node != NULL && node->asleep.is_kept_off && node->jobs.waiting > 0;
}

static void no_job_wakes_a_machine_that_is_kept_off_or_locked(void **state)
{
    static const char *const WHY[] = {"PowerKeptOff = true", "PowerLocked = true"};
    struct rig *rig = *state;
    has_section(rig);
    for (size_t i = 0; i < 2; i++) {
        sleeps(rig, "b1", WHY[i]);
        is_held(rig, "wn01", 1);
        until(rig, is_held_off);
        assert_false(node_named(rig, "wn01")->jobs.demand_it);
        assert_int_equal(node_named(rig, "wn01")->state, WAKE_OFF);
    }
    sleeps(rig, "b1", "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
}

/* ---- other methods, and then a person ---- */

/* wn01 is woken by magic packets whose password nobody has, and then by the command. */
static void has_two_methods(struct rig *rig)
{
    char text[700];
    stop(rig);
    (void)snprintf(text, sizeof text,
                   "node \"wn01\" {\n method = wol\n hardware_address = \"52:54:00:12:34:56\"\n"
                   " password_file = \"%s/nobody-has-it\"\n next_methods = {command}\n"
                   " wake_command = \"%s\"\n status_command = \"%s/status.sh\"\n}\n",
                   rig->bed->dir, rig->script, rig->bed->dir);
    load(rig, text);
    start(rig);
}

static bool failed_twice(struct rig *rig)
{
    return is_backing_off(rig) && node_named(rig, "wn01")->wake.attempts == 2;
}

static void the_next_method_is_tried_when_the_first_has_failed_often_enough(void **state)
{
    struct rig *rig = *state;
    has_two_methods(rig);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    assert_string_equal(wakes(rig), "");
    time_passes(rig);
    until(rig, failed_twice);
    assert_string_equal(wakes(rig), "");
    time_passes(rig);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 ");
    boots(rig);
    until(rig, is_up);
    stop(rig);
    assert_string_equal(last_fault(rig), "- command");
}

static void the_state_is_asked_by_the_method_that_can(void **state)
{
    struct rig *rig = *state;
    has_section(rig); /* writes status.sh */
    has_two_methods(rig);
    status_is(rig, "1");
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    node_named(rig, "wn01")->wake.attempts = 2;
    time_passes(rig);
    until(rig, is_waking);
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
    until(rig, is_backing_off);
    assert_string_equal(node_named(rig, "wn01")->wake.fault, "StaysOff");
}

/* The wake under way was ordered 100 s ago; at its deadline the machine is off. */
static void boot_is_interrupted(struct rig *rig)
{
    until(rig, is_waking);
    node_named(rig, "wn01")->wake.boot_ms -= 100000;
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
}

static void a_boot_that_somebody_ended_is_not_learned_from(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "1");
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    boot_is_interrupted(rig);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_waking);
    boots(rig);
    until(rig, is_up);
    const struct node_history *history = &node_named(rig, "wn01")->history;
    assert_int_equal(history->boots.count, 1);
    assert_in_range(history->last_boot_ms, 1, 90000);
}

static void nor_is_one_that_comes_by_itself_after_all_orders_found_it_off(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "1");
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    boot_is_interrupted(rig);
    until(rig, is_backing_off);
    time_passes(rig);
    boot_is_interrupted(rig);
    until(rig, is_quarantined);
    boots(rig);
    until(rig, is_up);
    assert_int_equal(node_named(rig, "wn01")->history.boots.count, 0);
    assert_int_equal(node_named(rig, "wn01")->history.last_boot_ms, 0);
    restart(rig);
    assert_int_equal(node_named(rig, "wn01")->history.boots.count, 0);
}

static bool ticket_is_written(struct rig *rig)
{
    char path[300], *text = NULL;
    size_t length;
    bed_path(rig->bed, "ticket", path);
    bool is_there = os_read_file(rig->bed->os, path, 65536, &text, &length, NULL) == 0 &&
                    strstr(text, "Fault = \"OrderFailed\"") != NULL &&
                    strstr(text, "ended with status 1") != NULL;
    mem_free(text);
    return is_there;
}

static void somebody_is_told_of_a_machine_that_was_given_up(void **state)
{
    static const char TICKET[] = "#!/bin/sh\ncd \"$(dirname $0)\"\ncat >ticket.new\n"
                                 "echo \"ticket-$1\" >>wakes\nmv ticket.new ticket\n";
    struct rig *rig = *state;
    char path[300], text[400];
    stop(rig);
    bed_path(rig->bed, "ticket.sh", path);
    MUST(os_write_file(rig->bed->os, path, TICKET, sizeof TICKET - 1, 0755, false, err));
    (void)snprintf(text, sizeof text, "ROOSTER_TICKET_CMD = \"%s\"\n", path);
    load(rig, text);
    start(rig);
    is_left_alone(rig);
    until(rig, ticket_is_written);
    assert_string_equal(wakes(rig), "wn01 wn01 ticket-wn01 ");
    time_passes(rig);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined_twice); /* the ticket is open */
    restart(rig);
    until(rig, is_quarantined_twice);
    assert_string_equal(wakes(rig), "wn01 wn01 ticket-wn01 wn01 wn01 ");
}

/* ---- tests ---- */

static bool is_tested(struct rig *rig)
{
    return is_up(rig) && node_named(rig, "wn01")->test.ended_s != 0;
}

static bool failed_the_test(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return is_quarantined(rig) && node->test.ended_s != 0 && !node->test.is_passed;
}

static void tests_every_day(struct rig *rig)
{
    stop(rig);
    load(rig, "ROOSTER_TEST_INTERVAL = \"1d\"");
    start(rig);
}

static void a_machine_that_was_not_woken_for_long_is_tested_once(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    tests_every_day(rig);
    until(rig, is_seen);
    selftest_look(rig->rooster);
    until(rig, is_waking);
    assert_string_equal(node_named(rig, "wn01")->reason, "switched on by rooster: self-test");
    restart(rig); /* that it is a test is in the ledger */
    until(rig, is_seen);
    boots(rig);
    until(rig, is_tested);
    assert_true(node_named(rig, "wn01")->test.is_passed);
    sleeps(rig, "b2", "");
    until(rig, is_off);
    until(rig, shows_last_wake);
    int64_t proven_s = node_named(rig, "wn01")->history.past.proven_s;
    assert_int_equal(shown_int(rig, "LastWakeTime"), proven_s);
    restart(rig);
    until(rig, is_seen);
    assert_true(node_named(rig, "wn01")->test.is_passed);
    assert_in_range(node_named(rig, "wn01")->history.past.proven_s, proven_s, proven_s + 1);
    selftest_look(rig->rooster);
    assert_false(node_named(rig, "wn01")->asked.by_name);
    node_named(rig, "wn01")->test.ended_s -= 86400; /* a day goes by */
    node_named(rig, "wn01")->history.past.proven_s -= 86400;
    selftest_look(rig->rooster);
    assert_true(node_named(rig, "wn01")->asked.by_name);
}

static void a_test_that_fails_is_a_failed_wake(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    tests_every_day(rig);
    until(rig, is_seen);
    selftest_look(rig->rooster);
    until(rig, is_backing_off);
    assert_true(node_named(rig, "wn01")->test.is_under_way);
    time_passes(rig);
    until(rig, failed_the_test);
    assert_false(node_named(rig, "wn01")->test.is_under_way);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Failed ");
}

static void one_machine_is_tested_at_a_time_and_none_that_is_kept_off(void **state)
{
    struct rig *rig = *state;
    sleeps(rig, "b1", "PowerKeptOff = true");
    falls_asleep(rig, "wn02");
    falls_asleep(rig, "wn03");
    tests_every_day(rig);
    until(rig, is_seen);
    selftest_look(rig->rooster);
    selftest_look(rig->rooster);
    assert_false(node_named(rig, "wn01")->asked.by_name);
    assert_int_equal(node_named(rig, "wn02")->asked.by_name +
                         node_named(rig, "wn03")->asked.by_name,
                     1);
}

UNIT_TESTS(RIG(one_that_comes_after_it_was_given_up_lengthens_its_deadline),
           RIG(one_that_comes_much_later_came_by_itself),
           RIG(quarantine_is_longer_each_time_and_a_restart_knows_it),
           RIG(an_order_by_name_ends_quarantine_and_may_be_a_test),
           RIG(who_asks_by_name_ends_quarantine_and_what_led_to_it),
           RIG(one_that_joins_with_less_than_it_promised_is_told),
           RIG(a_core_less_is_less_and_a_little_memory_is_not),
           RIG(one_whose_life_nobody_saw_is_not_said_to_have_less),
           RIG(one_that_sleeps_at_once_while_jobs_wait_is_left_alone_in_the_end),
           RIG(one_that_worked_in_between_begins_anew),
           RIG(one_that_worked_may_sleep_and_wake_as_often_as_it_likes),
           RIG(one_for_which_nobody_waits_any_more_may_sleep_at_once),
           RIG(one_is_not_to_blame_for_jobs_that_came_after_it_slept),
           RIG(one_that_somebody_switches_off_at_once_is_not_to_blame),
           RIG(no_job_wakes_a_machine_that_is_kept_off_or_locked),
           RIG(the_next_method_is_tried_when_the_first_has_failed_often_enough),
           RIG(the_state_is_asked_by_the_method_that_can),
           RIG(a_boot_that_somebody_ended_is_not_learned_from),
           RIG(nor_is_one_that_comes_by_itself_after_all_orders_found_it_off),
           RIG(somebody_is_told_of_a_machine_that_was_given_up),
           RIG(a_machine_that_was_not_woken_for_long_is_tested_once),
           RIG(a_test_that_fails_is_a_failed_wake),
           RIG(one_machine_is_tested_at_a_time_and_none_that_is_kept_off))
