/* What the rooster answers to people: dry orders, and what its nodes' ads say of them.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

static void ask(struct rig *rig, enum wire_verb verb, const char *args_text, struct answer *answer)
{
    struct client *admin = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    assert_int_equal(client_relay(admin, "rooster/r", verb, args_text, NULL, answer), 0);
}

/* Its ad in the answer; NULL: none. */
static const struct ad *of(const struct answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->ads.count; i++) {
        if (strcmp(ad_string_or(answer->ads.items[i], "Name", ""), name) == 0) {
            return answer->ads.items[i];
        }
    }
    return NULL;
}

static bool has_no_ad(struct rig *rig)
{
    return node_named(rig, "wn01")->ads.count == 0 && !node_named(rig, "wn01")->awake.has_ads;
}

static void a_dry_order_says_how_it_would_be_woken_and_wakes_nothing(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    falls_asleep(rig, "wn01");
    until(rig, is_seen);
    ask(rig, VERB_POWER_ON, "[Nodes = {\"wn01\", \"nobody\"}; DryRun = true]", &answer);
    const struct ad *ad = of(&answer, "wn01");
    assert_non_null(ad);
    assert_string_equal(ad_string_or(ad, "Result", ""), "WouldWake");
    assert_string_equal(ad_string_or(ad, "ErrorString", ""), "by method command, in at most 300 s");
    assert_string_equal(ad_string_or(of(&answer, "nobody"), "Result", ""), "Unknown");
    answer_fini(&answer);
    assert_false(node_named(rig, "wn01")->asked.by_name);
    boots(rig);
    until(rig, is_up);
    ask(rig, VERB_POWER_ON, "[Nodes = {\"wn01\"}; DryRun = true]", &answer);
    assert_string_equal(ad_string_or(of(&answer, "wn01"), "Result", ""), "AlreadyOn");
    answer_fini(&answer);
    assert_string_equal(wakes(rig), "");
    assert_int_equal(rig->rooster->wakes, 0);
}

static void a_machine_that_was_on_and_whose_ads_are_gone_is_unknown(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    boots(rig);
    until(rig, is_up);
    ask(rig, VERB_POWER_STATUS, "[]", &answer);
    assert_string_equal(ad_string_or(of(&answer, "wn01"), "PowerState", ""), "On");
    answer_fini(&answer);
    must(rig->startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    until(rig, has_no_ad);
    ask(rig, VERB_POWER_STATUS, "[]", &answer);
    assert_string_equal(ad_string_or(of(&answer, "wn01"), "PowerState", ""), "Unknown");
    assert_non_null(
        strstr(ad_string_or(of(&answer, "wn01"), "PowerStateReason", ""), "its ads are gone"));
    answer_fini(&answer);
}

static void what_keeps_a_machine_up_or_off_is_told(void **state)
{
    struct rig *rig = *state;
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Offline = true;"
         " OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
         " PowerKeptOff = true; HibernationHeldBy = \"of before its sleep\" ]");
    until(rig, is_seen);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_true(ad_bool_or(ad, "PowerKeptOff", false));
    ad_destroy(ad);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b2\";"
         " BootTime = 77; State = \"Unclaimed\"; HibernationHeldBy = \"bob is logged in\";"
         " PowerKeepUntil = 4000000000; PowerKeepBy = \"alice@pool\"; Draining = true;"
         " DrainingRequester = \"ann@pool\" ]");
    until(rig, is_up);
    ad = node_to_ad(node_named(rig, "wn01"));
    assert_false(ad_has(ad, "PowerKeptOff"));
    assert_string_equal(ad_string_or(ad, "HibernationHeldBy", ""), "bob is logged in");
    assert_int_equal(ad_int_or(ad, "PowerKeepUntil", 0), 4000000000);
    assert_true(ad_bool_or(ad, "Draining", false));
    assert_string_equal(ad_string_or(ad, "DrainingRequester", ""), "ann@pool");
    assert_string_equal(ad_string_or(ad, "PowerKeepBy", ""), "alice@pool");
    ad_destroy(ad);
}

static bool is_half_up(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->awake.has_ads && node->asleep.has_ads;
}

static void offline_ads_that_are_left_say_nothing_of_a_machine_that_is_up(void **state)
{
    struct rig *rig = *state;
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot2@wn01\"; Machine = \"wn01\"; Offline = true;"
         " OfflineBootId = \"b2\"; ClassAdLifetime = 86400; PowerKeptOff = true ]");
    boots(rig);
    until(rig, is_half_up);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_false(ad_has(ad, "PowerKeptOff"));
    ad_destroy(ad);
}

static void the_ledger_remembers_for_how_many_jobs_it_was_woken(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 3);
    until(rig, is_waking);
    restart(rig); /* nor does it forget */
    boots(rig);
    until(rig, is_up);
    ask(rig, VERB_QUERY, "[Type = \"Wake\"; Constraint = \"Kind == \\\"Wake\\\"\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Outcome", ""), "Up");
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobsWaiting", 0), 3);
    answer_fini(&answer);
}

static void assert_columns(const struct ad *record, const char *const *present,
                           const char *const *absent)
{
    for (; *present != NULL; present++) {
        if (!ad_has(record, *present)) {
            fail_msg("no %s in the record", *present);
        }
    }
    for (; *absent != NULL; absent++) {
        if (ad_has(record, *absent)) {
            fail_msg("%s in the record", *absent);
        }
    }
}

static void a_record_of_the_ledger_has_the_columns_of_what_happened(void **state)
{
    static const char *const OF_BOTH[] = {"MyType",  "Name",      "WakeId",  "Kind",
                                          "Machine", "AskedBy",   "Reason",  "Outcome",
                                          "BootId",  "StartTime", "EndTime", NULL};
    static const char *const OF_WAKE[] = {"Method",  "Attempts", "JobsWaiting",
                                          "Seconds", "BootTime", NULL};
    static const char *const NEVER[] = {"Fault", "Test", "Quarantines", NULL};
    static const char *const NONE[] = {NULL};
    struct rig *rig = *state;
    struct answer answer;
    boots(rig);
    until(rig, is_up);
    falls_asleep(rig, "wn01");
    until(rig, is_off);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    boots(rig);
    until(rig, is_up);
    ask(rig, VERB_QUERY, "[Type = \"Wake\"]", &answer);
    assert_int_equal(answer.ads.count, 2);
    const struct ad *wake = answer.ads.items[0], *sleep = answer.ads.items[1];
    if (strcmp(ad_string_or(wake, "Kind", ""), "Wake") != 0) { /* both within a millisecond */
        wake = sleep;
        sleep = answer.ads.items[0];
    }
    assert_string_equal(ad_string_or(wake, "Kind", ""), "Wake");
    assert_columns(wake, OF_BOTH, NEVER);
    assert_columns(wake, OF_WAKE, NONE);
    assert_string_equal(ad_string_or(sleep, "Kind", ""), "Sleep");
    assert_string_equal(ad_string_or(sleep, "AskedBy", ""), "startd");
    assert_columns(sleep, OF_BOTH, NEVER);
    assert_columns(sleep, NONE, OF_WAKE);
    answer_fini(&answer);
}

/* ---- energy */

static double reported(struct rig *rig, const char *kind, const char *name, const char *figure)
{
    struct answer answer;
    char args[100];
    (void)snprintf(args, sizeof args, "[Type = \"Energy\"; Kind = \"%s\"]", kind);
    ask(rig, VERB_QUERY, args, &answer);
    const struct ad *ad = of(&answer, name);
    double value = ad != NULL ? ad_real_or(ad, figure, -1) : -1;
    answer_fini(&answer);
    return value;
}

static bool has_worked(struct rig *rig)
{
    return reported(rig, "User", "bob@pool", "BusyCoreSeconds") > 0;
}

static bool draws_90(struct rig *rig)
{
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    bool draws = ad_real_or(ad, "DrawWatts", 0) == 90;
    ad_destroy(ad);
    return draws;
}

/* Half of its cores work for bob. */
static void works(struct rig *rig)
{
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b2\";"
         " BootTime = 77; State = \"Claimed\"; Activity = \"Busy\"; Cpus = 2; DetectedCpus = 4;"
         " RemoteUser = \"bob@pool\" ]");
}

static void what_machines_and_users_draw_adds_up_and_outlives_the_rooster(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_ASLEEP_WATTS = 5\nROOSTER_IDLE_WATTS = 60\nROOSTER_BUSY_WATTS = 120");
    start(rig);
    works(rig);
    until(rig, is_up);
    until(rig, draws_90);
    while (!has_worked(rig)) { /* ctest's limit ends what never comes */
    }
    double user = reported(rig, "User", "bob@pool", "EnergyUsed");
    double jobs = reported(rig, "Node", "wn01", "EnergyOfJobs");
    double all = reported(rig, "Node", "wn01", "EnergyUsed");
    assert_true(user > 0 && jobs >= user && all > jobs);
    assert_true(reported(rig, "Node", "wn01", "EnergySaved") == 0);
    falls_asleep(rig, "wn02");
    while (!(reported(rig, "Node", "wn02", "EnergySaved") > 0)) {
    }
    restart(rig);
    until(rig, is_up);
    assert_true(reported(rig, "User", "bob@pool", "EnergyUsed") >= user);
    assert_true(reported(rig, "Node", "wn01", "EnergyUsed") >= all);
    assert_true(reported(rig, "Node", "wn02", "EnergySaved") > 0);
}

static void without_watts_hours_are_counted_and_no_draw_is_shown(void **state)
{
    struct rig *rig = *state;
    works(rig);
    until(rig, is_up);
    while (!has_worked(rig)) {
    }
    assert_true(reported(rig, "Node", "wn01", "OnSeconds") > 0);
    assert_true(reported(rig, "Node", "wn01", "EnergyUsed") == 0);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_false(ad_has(ad, "DrawWatts"));
    ad_destroy(ad);
}

UNIT_TESTS(RIG(a_dry_order_says_how_it_would_be_woken_and_wakes_nothing),
           RIG(a_machine_that_was_on_and_whose_ads_are_gone_is_unknown),
           RIG(what_keeps_a_machine_up_or_off_is_told),
           RIG(offline_ads_that_are_left_say_nothing_of_a_machine_that_is_up),
           RIG(the_ledger_remembers_for_how_many_jobs_it_was_woken),
           RIG(a_record_of_the_ledger_has_the_columns_of_what_happened),
           RIG(what_machines_and_users_draw_adds_up_and_outlives_the_rooster),
           RIG(without_watts_hours_are_counted_and_no_draw_is_shown))
