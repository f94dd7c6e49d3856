/* What the collector decides: types, attributes, order, lifetimes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "classad/ad.h"
#include "collector/collector_plan.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    if (ad_parse(text, strlen(text), &ad, NULL) != 0) {
        fail_msg("does not parse: %s", text);
    }
    return ad;
}

enum {
    WORKER = PLAN_WORKER,
    SCHEDD = PLAN_SCHEDD,
    ROOSTER = PLAN_ROOSTER,
    MASTER = PLAN_MASTER,
    NEGOTIATOR = PLAN_NEGOTIATOR,
    ADMINISTRATOR = PLAN_ADMINISTRATOR,
    FACTORY = PLAN_FACTORY,
    NOBODY = 0
};

static void an_ad_needs_a_type_and_a_name(void **state)
{
    (void)state;
    const char *const bad[] = {
        "[ Name = \"a\" ]",
        "[ MyType = \"Machine\" ]",
        "[ MyType = \"\"; Name = \"a\" ]",
        "[ MyType = \"Machine\"; Name = 7 ]",
        "[ MyType = \"Machine\"; Name = \"a\\nb\" ]",
        "[ MyType = \"Machine\"; Name = undefined ]",
    };
    const char *type = NULL;
    const char *name = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ad *ad = parse(bad[i]);
        struct err err = {""};
        assert_int_equal(plan_identify(ad, &type, &name, &err), -EINVAL);
        assert_true(err.text[0] != '\0');
        ad_destroy(ad);
    }
    struct ad *ad = parse("[ MyType = \"Machine\"; Name = \"slot1@wn01\" ]");
    assert_int_equal(plan_identify(ad, &type, &name, NULL), 0);
    assert_string_equal(type, "Machine");
    assert_string_equal(name, "slot1@wn01");
    char longest[PLAN_NAME_MAX + 2];
    memset(longest, 'n', sizeof(longest));
    longest[PLAN_NAME_MAX + 1] = '\0';
    ad_set_string(ad, "Name", longest);
    assert_int_equal(plan_identify(ad, &type, &name, NULL), -EINVAL);
    longest[PLAN_NAME_MAX] = '\0';
    ad_set_string(ad, "Name", longest);
    assert_int_equal(plan_identify(ad, &type, &name, NULL), 0);
    ad_destroy(ad);
}

static void a_factory_is_no_machine(void **state)
{
    (void)state;
    struct ad *live = parse("[ MyType = \"Machine\"; Name = \"a\" ]");
    struct ad *asleep = parse("[ MyType = \"Machine\"; Name = \"a\"; Offline = true ]");
    struct ad *sample =
        parse("[ MyType = \"Machine\"; Name = \"a\"; Offline = true; PreviousName = \"b\" ]");
    assert_true(plan_may_advertise(FACTORY, "Machine"));
    assert_true(plan_may_advertise(FACTORY, "Site"));
    assert_false(plan_may_advertise(FACTORY, "DaemonMaster"));
    assert_false(plan_may_advertise(WORKER, "Factory"));
    assert_false(plan_may_advertise(WORKER, "Glidein"));
    assert_false(plan_may_be(FACTORY, "machine", live));
    assert_false(plan_may_be(FACTORY, "Machine", asleep));
    assert_true(plan_may_be(FACTORY, "Machine", sample));
    assert_true(plan_may_be(WORKER, "Machine", live));
    assert_true(plan_may_be(ADMINISTRATOR, "Machine", live));
    assert_true(plan_may_be(FACTORY, "Site", live));
    ad_destroy(live);
    ad_destroy(asleep);
    ad_destroy(sample);
}

static void a_worker_has_machine_ads_and_not_the_queues(void **state)
{
    (void)state;
    assert_true(plan_may_advertise(WORKER, "Machine"));
    assert_true(plan_may_advertise(WORKER, "machine"));
    assert_true(plan_may_advertise(WORKER, "DaemonMaster"));
    assert_true(plan_may_advertise(WORKER, "SomethingOfTheSite"));
    assert_false(plan_may_advertise(WORKER, "Request"));
    assert_false(plan_may_advertise(WORKER, "Scheduler"));
    assert_false(plan_may_advertise(WORKER, "Submitter"));
    assert_false(plan_may_advertise(WORKER, "Negotiator"));
    assert_false(plan_may_advertise(NOBODY, "Machine"));
}

static void each_daemon_has_its_own_ads_and_no_others(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        unsigned owner;
    } TYPES[] = {{"Request", SCHEDD},       {"Submitter", SCHEDD},    {"Scheduler", SCHEDD},
                 {"Rooster", ROOSTER},      {"DaemonMaster", MASTER}, {"Machine", WORKER},
                 {"Negotiator", NEGOTIATOR}};
    static const unsigned ALL[] = {SCHEDD, ROOSTER, MASTER, NEGOTIATOR};
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        assert_true(plan_may_advertise(TYPES[i].owner, TYPES[i].type));
        assert_true(plan_may_advertise(ADMINISTRATOR, TYPES[i].type));
        for (size_t other = 0; other < sizeof(ALL) / sizeof(ALL[0]); other++) {
            assert_int_equal(plan_may_advertise(ALL[other], TYPES[i].type),
                             ALL[other] == TYPES[i].owner);
        }
    }
}

static void names_are_judged_by_the_daemon_that_they_name(void **state)
{
    (void)state;
    char ret[PLAN_NAME_MAX + 1];
    assert_string_equal(plan_holder("Request", "submit1#3", ret), "submit1");
    assert_string_equal(plan_holder("Submitter", "alice@a.b#submit1", ret), "submit1");
    assert_string_equal(plan_holder("Scheduler", "submit1", ret), "submit1");
    assert_string_equal(plan_holder("Machine", "slot1@wn#1", ret), "slot1@wn#1");
    assert_string_equal(plan_holder("Negotiator", "pool", ret), "pool");
    assert_null(plan_holder("Accounting", "ann@domain", ret));
    assert_true(plan_is_of_machine("Machine"));
    assert_true(plan_is_of_machine("SomethingOfTheSite"));
    assert_false(plan_is_of_machine("Scheduler"));
    assert_false(plan_is_of_machine("Rooster"));
}

static void nobody_sends_what_the_collector_makes_itself(void **state)
{
    (void)state;
    assert_false(plan_may_advertise(ADMINISTRATOR, "Collector"));
    assert_false(plan_may_advertise(SCHEDD, "Revocation"));
    assert_false(plan_expires("Collector"));
    assert_false(plan_expires("revocation"));
    assert_true(plan_expires("Machine"));
}

static void who_may_set_what_in_anothers_ad_is_a_list(void **state)
{
    (void)state;
    assert_true(plan_may_merge(NEGOTIATOR, "OfflineMatches"));
    assert_true(plan_may_merge(NEGOTIATOR, "GivenClaims"));
    assert_false(plan_may_merge(ROOSTER, "GivenClaims"));
    assert_true(plan_may_merge(NEGOTIATOR, "machinelastmatchtime"));
    assert_false(plan_may_merge(NEGOTIATOR, "PowerState"));
    assert_true(plan_may_merge(ROOSTER, "PowerState"));
    assert_true(plan_may_merge(ROOSTER, "PowerStateReason"));
    assert_false(plan_may_merge(ROOSTER, "OfflineMatches"));
    assert_false(plan_may_merge(WORKER, "PowerState"));
    assert_false(plan_may_merge(SCHEDD, "PowerState"));
    assert_true(plan_may_merge(ADMINISTRATOR, "PowerState"));
    assert_true(plan_may_merge(ROOSTER, "Offline")); /* only of a machine that does not respond */
    assert_false(plan_may_merge(NEGOTIATOR, "Offline"));
    assert_false(plan_may_merge(ROOSTER, "NotRespondingSince"));
    const char *const never[] = {"Name", "Machine", "ClaimId", "Requirements", "Start"};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        assert_false(plan_may_merge(ADMINISTRATOR, never[i]));
        assert_false(plan_may_merge(NEGOTIATOR, never[i]));
        assert_false(plan_may_merge(ROOSTER, never[i]));
    }
}

static bool is_old(struct plan_stamp have, struct plan_stamp got)
{
    return plan_is_old(&have, &got);
}

#define STAMP(epoch_, sequence_, session_) \
    ((struct plan_stamp){.epoch = (epoch_), .sequence = (sequence_), .session = (session_)})

static void within_an_epoch_the_sequence_tells(void **state)
{
    (void)state;
    assert_false(is_old(STAMP(7, 5, 1), STAMP(7, 6, 1)));
    assert_true(is_old(STAMP(7, 5, 1), STAMP(7, 4, 1)));
    assert_true(is_old(STAMP(7, 5, 1), STAMP(7, 4, 2)));  /* also over a newer connection */
    assert_false(is_old(STAMP(7, 5, 1), STAMP(7, 5, 2))); /* again: the answer was lost */
}

static void between_epochs_the_later_connection_tells_whatever_the_clock_says(void **state)
{
    (void)state;
    assert_false(is_old(STAMP(1000, 50, 1), STAMP(2000, 1, 2)));
    assert_false(is_old(STAMP(2000, 50, 1), STAMP(1000, 1, 2))); /* its clock was set back */
    assert_true(is_old(STAMP(2000, 1, 2), STAMP(1000, 50, 1)));  /* last words of the one before */
    assert_false(is_old(STAMP(1000, 50, 3), STAMP(2000, 1, 3)));
}

static void who_does_not_count_is_never_old(void **state)
{
    (void)state;
    assert_false(is_old(STAMP(1000, 50, 5), STAMP(0, 0, 1)));
    assert_false(is_old(STAMP(0, 0, 5), STAMP(1000, 1, 1)));
}

static bool follows(struct plan_stamp last, struct plan_stamp got)
{
    return plan_is_successor(&last, &got);
}

static void changes_follow_the_last_message_of_their_connection(void **state)
{
    (void)state;
    assert_true(follows(STAMP(7, 5, 1), STAMP(7, 6, 1)));
    assert_false(follows(STAMP(7, 5, 1), STAMP(7, 7, 1)));
    assert_false(follows(STAMP(7, 5, 1), STAMP(7, 5, 1)));
    assert_false(follows(STAMP(7, 5, 1), STAMP(8, 6, 1)));
    assert_false(follows(STAMP(0, 0, 1), STAMP(0, 1, 1)));
}

static void a_change_sets_and_removes_but_not_the_key(void **state)
{
    (void)state;
    struct ad *old = parse("[ MyType = \"Machine\"; Name = \"n\"; A = 1; B = 2; C = 3 ]");
    struct ad *changes = parse("[ Name = \"n\"; B = 20; D = A + 3 ]");
    struct ad *args = parse("[ Delete = { \"a\", \"Name\", 7, \"nothing\" } ]");
    struct ad *ad = plan_change(NULL, old, changes, args);
    assert_string_equal(ad_string_or(ad, "Name", ""), "n");
    assert_string_equal(ad_string_or(ad, "MyType", ""), "Machine");
    assert_false(ad_has(ad, "A"));
    assert_int_equal(ad_int_or(ad, "B", 0), 20);
    assert_int_equal(ad_int_or(ad, "C", 0), 3);
    assert_true(ad_has(ad, "D"));
    assert_int_equal(ad_int_or(old, "A", 0), 1);
    ad_destroy(old);
    ad_destroy(changes);
    ad_destroy(args);
    ad_destroy(ad);
}

static void an_ad_lives_as_long_as_it_says_or_as_is_configured(void **state)
{
    (void)state;
    assert_true(plan_lifetime_ms(0, 900) == 900000);
    assert_true(plan_lifetime_ms(60, 900) == 60000);
    assert_true(plan_lifetime_ms(-1, 900) == 900000);
    assert_true(plan_lifetime_ms(INT64_MAX, 900) == (uint64_t)100 * 366 * 24 * 3600 * 1000);
}

static void the_age_of_an_ad_of_the_store_is_that_of_the_clock_if_it_is_plausible(void **state)
{
    (void)state;
    const int64_t year_s = 365 * INT64_C(86400), now_s = 3000000000, now_ms = 500000;
    struct ad *ad = parse("[ LastHeardFrom = 2999999000 ]");
    assert_int_equal(plan_heard_ms(ad, now_s, now_ms), now_ms - 1000000);
    assert_int_equal(plan_heard_ms(ad, now_s + year_s, now_ms), now_ms); /* the clock was set */
    assert_int_equal(plan_heard_ms(ad, now_s - year_s, now_ms), now_ms);
    ad_set_int(ad, "AbsentSince", now_s - 10);
    assert_int_equal(plan_heard_ms(ad, now_s, now_ms), now_ms - 10000);
    assert_int_equal(plan_absent_lifetime_s(ad, 0), INT64_MAX);
    assert_int_equal(plan_absent_lifetime_s(ad, 70), 70);
    ad_set_int(ad, "ClassAdLifetime", 60);
    assert_int_equal(plan_absent_lifetime_s(ad, 70), 60);
    assert_int_equal(plan_absent_lifetime_s(ad, 50), 50);
    ad_destroy(ad);
}

static void only_a_machine_can_be_asleep(void **state)
{
    (void)state;
    struct ad *ad = parse("[ Offline = true ]");
    assert_true(plan_is_offline("machine", ad));
    assert_false(plan_is_offline("DaemonMaster", ad));
    ad_set_bool(ad, "Offline", false);
    assert_false(plan_is_offline("Machine", ad));
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(an_ad_needs_a_type_and_a_name), UNIT(a_worker_has_machine_ads_and_not_the_queues),
           UNIT(each_daemon_has_its_own_ads_and_no_others),
           UNIT(names_are_judged_by_the_daemon_that_they_name),
           UNIT(nobody_sends_what_the_collector_makes_itself),
           UNIT(who_may_set_what_in_anothers_ad_is_a_list),
           UNIT(within_an_epoch_the_sequence_tells),
           UNIT(between_epochs_the_later_connection_tells_whatever_the_clock_says),
           UNIT(who_does_not_count_is_never_old),
           UNIT(changes_follow_the_last_message_of_their_connection),
           UNIT(a_change_sets_and_removes_but_not_the_key),
           UNIT(an_ad_lives_as_long_as_it_says_or_as_is_configured),
           UNIT(the_age_of_an_ad_of_the_store_is_that_of_the_clock_if_it_is_plausible),
           UNIT(only_a_machine_can_be_asleep), UNIT(a_factory_is_no_machine))
