/* Absent ads, and INVALIDATE by constraint, over real wires.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "tests/support/collector_talk.h"
#include "wire/watch.h"

#define WAIT_MS 20000

static int make_bed(void **state)
{
    return make_bed_with(state, "CLASSAD_LIFETIME = 60\nABSENT_REQUIREMENTS = \"Cpus > 1\"\n"
                                "EXPIRE_INVALIDATED_ADS = true\n");
}

#define ABSENT "MY.Absent =?= true"

static const char *absent(struct client *client, const char *attribute)
{
    return show_where(client, "Machine", ABSENT, attribute);
}

/* Sends slot1 of 2 Cpus and slot2 of 1 and lets their time run out. */
static void let_two_expire(struct client *startd, struct client *reader)
{
    struct bed *bed = startd->bed;
    uint64_t begin_ms = loop_now_ms(bed->loop);
    OK(startd, VERB_UPDATE, "[]",
       LIVE("1", "b1", "Cpus = 2; ClaimId = \"secret\"; ClassAdLifetime = 1"));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "Cpus = 1; ClassAdLifetime = 1"));
    while (strcmp(show(reader, "Machine", "Cpus"), "") != 0) {
        assert_true(loop_now_ms(bed->loop) < begin_ms + WAIT_MS);
    }
}

static void a_machine_that_is_missed_becomes_absent_and_others_vanish(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    let_two_expire(startd, reader);
    assert_string_equal(absent(reader, "State"), "slot1@wn01=Unclaimed ");
    assert_string_equal(absent(reader, "Cpus"), "slot1@wn01=2 ");
    assert_string_equal(absent(reader, "Offline"), "slot1@wn01=- ");
    assert_string_equal(absent(reader, "PowerState"), "slot1@wn01=Unknown ");
    assert_string_equal(absent(reader, "ClassAdLifetime"), "slot1@wn01=2592000 ");
    assert_string_equal(show_where(reader, "Any", "Absent", "Absent"), "slot1@wn01=true ");
    assert_string_equal(show_where(reader, "Machine", "Cpus == 2", "Absent"), "");
    struct answer answer;
    assert_int_equal(client_call(negotiator, VERB_QUERY,
                                 "[ Type = \"Machine\"; Private = true; Constraint = \"Absent\" ]",
                                 NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 1);
    assert_false(ad_has(answer.ads.items[0], "ClaimId"));
    answer_fini(&answer);
}

static void an_absent_ad_is_there_after_a_restart_until_a_live_ad_of_its_name_comes(void **state)
{
    struct bed *bed = *state;
    let_two_expire(dial(bed, SCOPE_ADVERTISE), dial(bed, SCOPE_READ));
    restart(bed);
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    assert_string_equal(absent(reader, "Cpus"), "slot1@wn01=2 ");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b2", "Cpus = 4"));
    assert_string_equal(absent(reader, "Cpus"), "");
    assert_string_equal(show(reader, "Machine", "Cpus"), "slot1@wn01=4 ");
    restart(bed);
    reader = dial(bed, SCOPE_READ);
    assert_string_equal(absent(reader, "Cpus"), "");
}

static void changes_of_an_absent_ad_are_refused_and_nobody_matches_it(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *negotiator = dial(bed, SCOPE_NEGOTIATOR);
    OK(startd, VERB_UPDATE, "[ Epoch = 1; Sequence = 1 ]", LIVE("1", "b1", "Absent = true"));
    expect(startd, -ESTALE, VERB_UPDATE, "[ Epoch = 1; Sequence = 2; Full = false ]",
           "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; LoadAvg = 1.0 ]", "slot1@wn01");
    expect(negotiator, -ENOENT, VERB_MERGE, "[ Name = \"slot1@wn01\" ]",
           "[ MachineLastMatchTime = 1 ]", "absent");
}

static void an_offline_ad_that_is_absent_too_is_not_asleep(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *rooster = dial(bed, SCOPE_ROOSTER);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Absent = true; Offline = true"));
    assert_string_equal(show(reader, "Machine", "Name"), "");
    expect(rooster, -ENOENT, VERB_MERGE, "[ Name = \"slot1@wn01\" ]", "[ PowerState = \"Waking\" ]",
           "absent");
}

struct seen {
    int changed, gone;
    bool synced, over;
};

static void seen_changed(void *arg, const char *key, const struct ad *ad)
{
    struct seen *seen = arg;
    (void)key;
    assert_false(ad_bool_or(ad, "Absent", false));
    seen->changed++;
}

static void seen_gone(void *arg, const char *key)
{
    struct seen *seen = arg;
    assert_string_equal(key, "slot1@wn01");
    seen->gone++;
    seen->over = true;
}

static void seen_synced(void *arg)
{
    struct seen *seen = arg;
    seen->synced = true;
}

static void a_watcher_sees_a_machine_go_that_becomes_absent(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *watcher = dial(bed, SCOPE_NEGOTIATOR);
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "Absent = true"));
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Cpus = 2"));
    static const struct watch_events EVENTS = {.changed = seen_changed,
                                               .gone = seen_gone,
                                               .synced = seen_synced};
    const struct watch_spec spec = {.type = "Machine"};
    struct seen seen = {0};
    struct watch *watch = watch_create(bed->loop, &spec, &EVENTS, &seen);
    assert_int_equal(watch_start(watch, watcher->wire), 0);
    loop_run_until(bed->loop, &seen.synced);
    assert_int_equal(seen.changed, 1);
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Names = { \"slot1@wn01\" } ]", NULL);
    loop_run_until(bed->loop, &seen.over);
    assert_int_equal(seen.gone, 1);
    assert_string_equal(absent(watcher, "Cpus"), "slot2@wn01=- slot1@wn01=2 ");
    watch_destroy(watch);
}

static void an_absent_ad_is_forgotten_when_its_time_is_over(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    uint64_t begin_ms = loop_now_ms(bed->loop);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Absent = true; Cpus = 4; ClassAdLifetime = 1"));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "Absent = true; Cpus = 2"));
    while (strcmp(absent(reader, "Absent"), "slot2@wn01=true ") != 0) {
        assert_true(loop_now_ms(bed->loop) < begin_ms + WAIT_MS);
    }
}

static void invalidate_by_constraint_takes_what_meets_it_and_the_sender_may_have(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *other = client_dial(bed, SCOPE_ADVERTISE, "wn02", NULL, NULL);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Memory = 1; ClaimId = \"s\""));
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", "Memory = 2"));
    OK(startd, VERB_UPDATE, "[]", ASLEEP("3", "b0"));
    OK(other, VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"true\" ]", NULL);
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"ClaimId == \\\"s\\\"\" ]",
       NULL);
    assert_string_equal(show(reader, "Machine", "Memory"),
                        "slot1@wn01=1 slot2@wn01=2 slot3@wn01=- ");
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"Memory > 1\" ]", NULL);
    assert_string_equal(show(reader, "Machine", "Memory"), "slot1@wn01=1 slot3@wn01=- ");
    expect(startd, -EINVAL, VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"Memory >\" ]",
           NULL, "Constraint");
    OK(startd, VERB_UPDATE, "[]", LIVE("5", "b1", "Absent = true"));
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Constraint = \"true\" ]", NULL);
    assert_string_equal(absent(reader, "Memory"), "slot5@wn01=- ");
    OK(startd, VERB_INVALIDATE, "[ Type = \"Machine\"; Absent = true; Constraint = \"true\" ]",
       NULL);
    assert_string_equal(absent(reader, "Memory"), "");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_bed, remove_bed)
UNIT_TESTS(CASE(a_machine_that_is_missed_becomes_absent_and_others_vanish),
           CASE(an_absent_ad_is_there_after_a_restart_until_a_live_ad_of_its_name_comes),
           CASE(changes_of_an_absent_ad_are_refused_and_nobody_matches_it),
           CASE(an_offline_ad_that_is_absent_too_is_not_asleep),
           CASE(a_watcher_sees_a_machine_go_that_becomes_absent),
           CASE(an_absent_ad_is_forgotten_when_its_time_is_over),
           CASE(invalidate_by_constraint_takes_what_meets_it_and_the_sender_may_have))
