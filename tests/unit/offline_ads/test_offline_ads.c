/* Making, expiring and replacing offline ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "classad/ad_value.h"
#include "offline_ads/offline_ads.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static const char LIVE[] =
    "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"boot-1\";"
    " State = \"Claimed\"; Activity = \"Busy\"; Cpus = 4; Memory = 8192; LoadAvg = 3.5;"
    " CondorLoadAvg = 3.1; Requirements = TARGET.RequestMemory <= MY.Memory; Rank = 0.0;"
    " ClaimId = \"secret\"; Capability = \"secret\"; RemoteOwner = \"alice@pool\";"
    " RemoteUser = \"alice@pool\"; JobId = \"3.1\"; MachineLastMatchTime = 99;"
    " OfflineMatches = { [ Schedd = \"s\" ] }; LastHeardFrom = 100; MyCurrentTime = 100;"
    " MyAddress = \"tcp:10.0.0.1:4711\"; StartdUplink = \"startd/wn01\"; PowerState = \"On\";"
    " PowerStateReason = \"awake\"; PreviousBoots = 3 ]";

static struct ad *make(const char *live_text, const char *sample_name)
{
    struct ad *live = parse(live_text);
    const struct offline_ads_how how = {.now_s = 1000,
                                        .lifetime_s = 600,
                                        .sample_name = sample_name,
                                        .reason = "HIBERNATE"};
    struct ad *ad = offline_ads_make(live, &how);
    ad_destroy(live);
    return ad;
}

static void a_slot_that_is_whole_again_has_no_pieces(void **state)
{
    (void)state;
    struct ad *ad = parse("[ MyType = \"Machine\"; PartitionableSlot = true; Cpus = 1; Memory = 10;"
                          " TotalSlotCpus = 4; TotalSlotMemory = 40; NumDynamicSlots = 1;"
                          " ChildCpus = { 3 }; ChildMemory = { 30 };"
                          " ChildName = { \"slot1_1@wn01\" }; ChildSafe = true ]");
    static const char *const LISTS[] = {"ChildCpus", "ChildMemory", "ChildName"};
    offline_ads_make_whole(ad);
    assert_int_equal(ad_int_or(ad, "Cpus", 0), 4);
    assert_int_equal(ad_int_or(ad, "Memory", 0), 40);
    assert_int_equal(ad_int_or(ad, "NumDynamicSlots", 9), 0);
    for (size_t i = 0; i < 3; i++) {
        struct ad_value value;
        (void)ad_eval_attr(ad, NULL, LISTS[i], NULL, &value);
        assert_int_equal(value.type, AD_TYPE_LIST);
        assert_int_equal(ad_value_count(&value), 0);
        ad_value_fini(&value);
    }
    assert_true(ad_bool_or(ad, "ChildSafe", false)); /* not a list of pieces */
    ad_destroy(ad);
}

static void it_looks_like_an_idle_machine_of_the_same_name(void **state)
{
    (void)state;
    struct ad *ad = make(LIVE, NULL);
    assert_true(ad_bool_or(ad, "Offline", false));
    assert_string_equal(ad_string_or(ad, "Name", ""), "slot1@wn01");
    assert_string_equal(ad_string_or(ad, "State", ""), "Unclaimed");
    assert_string_equal(ad_string_or(ad, "Activity", ""), "Idle");
    assert_true(ad_real_or(ad, "LoadAvg", 9) == 0);
    assert_true(ad_real_or(ad, "CondorLoadAvg", 9) == 0);
    assert_false(ad_has(ad, "TotalLoadAvg")); /* was not there */
    assert_int_equal(ad_int_or(ad, "Cpus", 0), 4);
    assert_true(ad_has(ad, "Requirements"));
    assert_true(ad_has(ad, "Rank"));
    assert_false(ad_has(ad, "PreviousName"));
    ad_destroy(ad);
}

static void it_draws_what_the_machine_does_asleep(void **state)
{
    (void)state;
    struct ad *ad = make("[ Name = \"a\"; PowerDrawWatts = 80.0; PowerAsleepWatts = 3.0;"
                         " EnergyJoules = 7.0 ]",
                         NULL);
    assert_true(ad_real_or(ad, "PowerDrawWatts", 0) == 3);
    assert_true(ad_real_or(ad, "EnergyJoules", 0) == 7); /* the last word of what it was on */
    ad_destroy(ad);
    ad = make("[ Name = \"a\"; PowerDrawWatts = 80.0 ]", NULL);
    assert_false(ad_has(ad, "PowerDrawWatts"));
    ad_destroy(ad);
}

static void its_times_are_now_and_its_life_is_limited(void **state)
{
    (void)state;
    struct ad *ad = make(LIVE, NULL);
    assert_int_equal(ad_int_or(ad, "LastHeardFrom", 0), 1000);
    assert_int_equal(ad_int_or(ad, "MyCurrentTime", 0), 1000);
    assert_int_equal(ad_int_or(ad, "EnteredCurrentState", 0), 1000);
    assert_int_equal(ad_int_or(ad, "EnteredCurrentActivity", 0), 1000);
    assert_int_equal(ad_int_or(ad, "ClassAdLifetime", 0), 600);
    assert_int_equal(offline_ads_lifetime_s(ad, 0), 600);
    assert_int_equal(offline_ads_lifetime_s(ad, 100), 100);
    assert_int_equal(offline_ads_lifetime_s(ad, 10000), 600);
    ad_remove(ad, "ClassAdLifetime");
    assert_int_equal(offline_ads_lifetime_s(ad, 10000), 10000);
    assert_int_equal(offline_ads_lifetime_s(ad, 0), INT64_MAX);
    ad_destroy(ad);
}

static void it_says_how_old_it_is(void **state)
{
    (void)state;
    const struct ad_context context = {.now_s = 1600};
    struct ad_value age;
    struct ad *ad = make(LIVE, NULL);
    ad_set_int(ad, "LastHeardFrom", 1500); /* whoever changed it since */
    assert_int_equal(ad_int_or(ad, "OfflineSince", 0), 1000);
    assert_int_equal(ad_eval_attr(ad, NULL, "OfflineAge", &context, &age), 0);
    assert_int_equal(age.type, AD_TYPE_INT);
    assert_int_equal(age.integer, 600);
    ad_value_fini(&age);
    const struct ad_context before = {.now_s = 400}; /* the clock was set back */
    assert_int_equal(ad_eval_attr(ad, NULL, "OfflineAge", &before, &age), 0);
    assert_int_equal(age.type, AD_TYPE_INT);
    assert_int_equal(age.integer, 0);
    ad_value_fini(&age);
    ad_destroy(ad);
}

/* Its owner sent it to sleep with his own hand: START is true when nobody has typed long enough. */
static void nobody_types_on_a_machine_that_is_asleep(void **state)
{
    (void)state;
    static const struct {
        int64_t now_s;
        bool starts;
    } MOMENTS[] = {{1000, false}, {1890, false}, {1896, true}, {90000, true}};
    struct ad *ad = make("[ Name = \"a\"; KeyboardIdle = 5; ConsoleIdle = 7;"
                         " Start = LoadAvg <= 0.3 && KeyboardIdle > 900 && ConsoleIdle > 900;"
                         " LoadAvg = 0.9 ]",
                         NULL);
    for (size_t i = 0; i < sizeof MOMENTS / sizeof MOMENTS[0]; i++) {
        const struct ad_context context = {.now_s = MOMENTS[i].now_s};
        struct ad_value starts;
        assert_int_equal(ad_eval_attr(ad, NULL, "Start", &context, &starts), 0);
        assert_int_equal(starts.type, AD_TYPE_BOOL);
        assert_int_equal(starts.boolean, MOMENTS[i].starts);
        ad_value_fini(&starts);
    }
    ad_destroy(ad);
    ad = make("[ Name = \"a\" ]", NULL);
    assert_false(ad_has(ad, "KeyboardIdle")); /* was not there */
    ad_destroy(ad);
}

static void nothing_of_the_last_run_is_left_in_it(void **state)
{
    (void)state;
    struct ad *ad = make(LIVE, NULL);
    const char *const gone[] = {"ClaimId",    "Capability",     "RemoteOwner",
                                "RemoteUser", "JobId",          "MachineLastMatchTime",
                                "MyAddress",  "OfflineMatches", "StartdUplink"};
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++) {
        if (ad_has(ad, gone[i])) {
            fail_msg("%s is still there", gone[i]);
        }
    }
    assert_string_equal(ad_string_or(ad, "OfflineBootId", ""), "boot-1");
    assert_int_equal(ad_int_or(ad, "PreviousMatchTime", 0), 99);
    assert_string_equal(ad_string_or(ad, "PowerState", ""), "Off");
    assert_string_equal(ad_string_or(ad, "PowerStateReason", ""), "HIBERNATE");
    assert_int_equal(ad_int_or(ad, "EnteredPowerState", 0), 1000);
    ad_destroy(ad);
}

static void it_wants_to_be_woken_once_it_was_matched(void **state)
{
    (void)state;
    struct ad *ad = make(LIVE, NULL);
    assert_false(ad_bool_or(ad, "Unhibernate", true));
    ad_set_int(ad, "MachineLastMatchTime", 1234);
    assert_true(ad_bool_or(ad, "Unhibernate", false));
    ad_destroy(ad);
    ad = make("[ Machine = \"wn01\"; Unhibernate = 7 > 5 ]", NULL);
    assert_true(ad_bool_or(ad, "Unhibernate", false)); /* the owner's own is kept */
    ad_destroy(ad);
}

static void a_sample_has_a_name_of_its_own_and_tells_the_one_before(void **state)
{
    (void)state;
    struct ad *ad = make(LIVE, "sample-1@site");
    assert_string_equal(ad_string_or(ad, "Name", ""), "sample-1@site");
    assert_string_equal(ad_string_or(ad, "PreviousName", ""), "slot1@wn01");
    assert_false(ad_has(ad, "OfflineBootId"));
    assert_true(offline_ads_is_sample(ad));
    ad_destroy(ad);
}

static void the_live_ad_is_not_changed(void **state)
{
    (void)state;
    struct ad *live = parse(LIVE);
    struct ad *before = parse(LIVE);
    const struct offline_ads_how how = {.now_s = 1, .lifetime_s = 2};
    ad_destroy(offline_ads_make(live, &how));
    assert_true(ad_same(live, before));
    ad_destroy(live);
    ad_destroy(before);
}

static enum offline_ads_meeting meet(const char *offline_text, const char *live_text)
{
    struct ad *offline = parse(offline_text);
    struct ad *live = parse(live_text);
    enum offline_ads_meeting meeting = offline_ads_meet(offline, live);
    ad_destroy(offline);
    ad_destroy(live);
    return meeting;
}

static void who_vanished_is_not_asleep(void **state)
{
    (void)state;
    struct ad *ad = make(LIVE, NULL);
    assert_true(offline_ads_is(ad));
    ad_set_bool(ad, "Absent", true);
    assert_false(offline_ads_is(ad));
    ad_destroy(ad);
}

#define ASLEEP "[ Offline = true; Machine = \"wn01\"; OfflineBootId = \"b1\" ]"

static void a_live_ad_of_another_boot_replaces_it(void **state)
{
    (void)state;
    assert_int_equal(meet(ASLEEP, "[ Machine = \"WN01\"; BootId = \"b2\" ]"), OFFLINE_ADS_REPLACED);
    assert_int_equal(meet("[ Offline = true; Machine = \"wn01\" ]", "[ Machine = \"wn01\" ]"),
                     OFFLINE_ADS_REPLACED);
}

static void a_straggler_of_the_same_boot_does_not(void **state)
{
    (void)state;
    assert_int_equal(meet(ASLEEP, "[ Machine = \"wn01\"; BootId = \"b1\" ]"),
                     OFFLINE_ADS_SAME_BOOT);
    assert_int_equal(meet(ASLEEP, "[ Machine = \"wn01\" ]"), OFFLINE_ADS_SAME_BOOT);
}

static void other_machines_and_samples_are_unrelated(void **state)
{
    (void)state;
    const char *live = "[ Machine = \"wn01\"; BootId = \"b2\" ]";
    assert_int_equal(meet(ASLEEP, "[ Machine = \"wn02\"; BootId = \"b2\" ]"),
                     OFFLINE_ADS_UNRELATED);
    assert_int_equal(meet(ASLEEP, "[ Machine = \"wn01\"; BootId = \"b2\"; Offline = true ]"),
                     OFFLINE_ADS_UNRELATED);
    assert_int_equal(meet("[ Machine = \"wn01\" ]", live), OFFLINE_ADS_UNRELATED);
    assert_int_equal(meet("[ Offline = true ]", "[ BootId = \"b2\" ]"), OFFLINE_ADS_UNRELATED);
    assert_int_equal(meet("[ Offline = true; Machine = \"wn01\"; PreviousName = \"slot1@wn01\" ]",
                          live),
                     OFFLINE_ADS_UNRELATED);
}

UNIT_TESTS(UNIT(it_looks_like_an_idle_machine_of_the_same_name),
           UNIT(a_slot_that_is_whole_again_has_no_pieces),
           UNIT(it_draws_what_the_machine_does_asleep),
           UNIT(its_times_are_now_and_its_life_is_limited), UNIT(it_says_how_old_it_is),
           UNIT(nobody_types_on_a_machine_that_is_asleep), UNIT(who_vanished_is_not_asleep),
           UNIT(nothing_of_the_last_run_is_left_in_it),
           UNIT(it_wants_to_be_woken_once_it_was_matched),
           UNIT(a_sample_has_a_name_of_its_own_and_tells_the_one_before),
           UNIT(the_live_ad_is_not_changed), UNIT(a_live_ad_of_another_boot_replaces_it),
           UNIT(a_straggler_of_the_same_boot_does_not),
           UNIT(other_machines_and_samples_are_unrelated))
