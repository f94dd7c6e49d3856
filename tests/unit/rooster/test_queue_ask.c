/* The rooster over real wires, and a negotiator that the test plays: wakes and the reserve depend
 * on the queue, and when nobody knows the queue, nothing changes.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

static _Thread_local struct { /* the negotiator */
    int jobs;                 /* idle jobs, of the pool and for wn01; below 0: it does not know */
    int asked, machines;      /* questions, and the machines in the last one */
} negotiator;

static void asked(void *arg, struct wire_request *request)
{
    (void)arg;
    struct ad_value list;
    assert_int_equal(wire_request_verb(request), VERB_POOL_FIGURES);
    assert_int_equal(ad_eval_attr(wire_request_args(request), NULL, "Machines", NULL, &list), 0);
    negotiator.machines = (int)ad_value_count(&list);
    ad_value_fini(&list);
    negotiator.asked++;
    if (negotiator.jobs < 0) {
        wire_reply_error(request, -EAGAIN, "this negotiator does not know the queue yet");
        return;
    }
    struct ad *args = ad_create(), *ad = ad_create();
    ad_set_int(args, "PoolIdleJobs", negotiator.jobs);
    ad_set_string(ad, "Machine", "wn01");
    ad_set_int(ad, "MatchingIdleJobs", negotiator.jobs);
    const struct ad *ads[1] = {ad};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    wire_reply_ok(request, &body);
    ad_destroy(args);
    ad_destroy(ad);
}

static void with_negotiator(struct rig *rig, int jobs)
{
    negotiator.jobs = jobs;
    negotiator.asked = negotiator.machines = 0;
    struct client *client = client_dial(rig->bed, SCOPE_NEGOTIATOR, "", "negotiator/n", asked);
    assert_int_equal(client->status, 0);
}

static void sleeps_unless(struct rig *rig, const char *machine, const char *unhibernate)
{
    char ad[500];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\"; Offline = true;"
                   " OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
                   " ClockMin = 5000; Unhibernate = %s ]",
                   machine, machine, unhibernate);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

#define QUEUE_LONG "MachineLastMatchTime =!= undefined && MatchingIdleJobs >= 50"

static const char *held_by(struct rig *rig, const char *machine)
{
    static _Thread_local char text[300];
    struct ad *ad = node_to_ad(node_named(rig, machine));
    (void)snprintf(text, sizeof text, "%s", ad_string_or(ad, "WakeHeldBy", ""));
    ad_destroy(ad);
    return text;
}

static bool is_told(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->queue.at_ms != 0 && !node->look.marked;
}
static bool is_asked(struct rig *rig)
{
    (void)rig;
    return negotiator.asked > 0;
}
static bool is_asked_again(struct rig *rig)
{
    (void)rig;
    return negotiator.asked > 1;
}
static bool is_refused(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->queue.is_refused;
}

static bool is_not_demanded(struct rig *rig)
{
    return !is_demanded(rig);
}

/* As if the time had come to ask again. */
static void is_due_again(struct rig *rig)
{
    node_named(rig, "wn01")->queue.asked_ms = 0;
    look_at(node_named(rig, "wn01"));
}

static void a_machine_wakes_when_the_queue_is_long_and_not_before(void **state)
{
    struct rig *rig = *state;
    with_negotiator(rig, 49);
    sleeps_unless(rig, "wn01", QUEUE_LONG);
    is_held(rig, "wn01", 1);
    until(rig, is_told);
    assert_true(is_off(rig));
    assert_string_equal(held_by(rig, "wn01"),
                        "its UNHIBERNATE (" QUEUE_LONG ") is not true; now "
                        "MatchingIdleJobs = 49, MatchingIdleJobsWait = 0, PoolIdleJobs = 49");
    assert_int_equal(negotiator.machines, 1);
    negotiator.jobs = 50;
    is_due_again(rig);
    until(rig, is_waking);
    assert_int_equal(negotiator.asked, 2);
    assert_string_equal(held_by(rig, "wn01"), "");
}

static void while_nobody_knows_the_queue_no_machine_wakes_for_it(void **state)
{
    struct rig *rig = *state;
    sleeps_unless(rig, "wn01", QUEUE_LONG);
    is_held(rig, "wn01", 1);
    until(rig, is_refused);
    with_negotiator(rig, -1);
    is_due_again(rig);
    until(rig, is_asked);
    assert_true(is_off(rig));
    assert_string_equal(held_by(rig, "wn01"),
                        "its UNHIBERNATE (" QUEUE_LONG ") is not true; now the figures of "
                        "the queue are not known");
    negotiator.jobs = 60;
    is_due_again(rig);
    until(rig, is_waking);
}

static void figures_that_are_old_wake_nobody(void **state)
{
    struct rig *rig = *state;
    with_negotiator(rig, 49);
    sleeps_unless(rig, "wn01", QUEUE_LONG);
    is_held(rig, "wn01", 1);
    until(rig, is_told);
    negotiator.jobs = -1;
    node_named(rig, "wn01")->queue.figures.matching = 1000;
    node_named(rig, "wn01")->queue.at_ms -= POOL_FIGURES_AGE_MS + 1;
    is_due_again(rig);
    until(rig, is_asked_again);
    assert_true(is_off(rig));
}

static void a_wake_that_has_begun_goes_on_while_nobody_knows_the_queue(void **state)
{
    struct rig *rig = *state;
    with_negotiator(rig, 50);
    sleeps_unless(rig, "wn01", QUEUE_LONG);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    negotiator.jobs = -1;
    node_named(rig, "wn01")->queue.at_ms -= POOL_FIGURES_AGE_MS + 1;
    is_due_again(rig);
    until(rig, is_asked_again);
    assert_true(is_demanded(rig));
    negotiator.jobs = 49; /* what is known counts again */
    is_due_again(rig);
    until(rig, is_not_demanded);
}

static void who_is_wanted_and_does_not_depend_on_the_queue_asks_nobody(void **state)
{
    struct rig *rig = *state;
    with_negotiator(rig, 0);
    sleeps_unless(rig, "wn02", QUEUE_LONG); /* nobody wants it */
    /* the time of day is that of now, and not of when it fell asleep */
    sleeps_unless(rig, "wn01", "ClockMin < 1440 && (ClockMin >= 0 || MatchingIdleJobs > 9)");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(negotiator.asked, 0);
}

/* ---- the reserve */

static bool reserve_is_2(struct rig *rig)
{
    struct ad *ad = ad_create();
    guards_write(rig->rooster, ad);
    bool is_it = ad_int_or(ad, "ReserveWanted", -1) == 2;
    ad_destroy(ad);
    return is_it;
}

static bool are_two_waking(struct rig *rig)
{
    return is_waking(rig) && is_waking_2(rig);
}

static void the_reserve_depends_on_the_queue_and_wakes_nobody_before_it_is_known(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_RESERVE = \"(PoolIdleJobs > 10 ? 2 : 0)\"\nROOSTER_ASLEEP_AGAIN = 0\n"
              "ROOSTER_COLLECTOR_MIN_AGE = 0\n");
    with_negotiator(rig, 11);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    start(rig);
    assert_int_equal(guards_missing(rig->rooster), 0);
    assert_false(reserve_is_2(rig));
    until(rig, reserve_is_2);
    until(rig, are_two_waking);
    assert_int_equal(negotiator.machines, 0);
}

static void while_the_reserve_is_not_known_no_idle_machine_sleeps(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    stop(rig);
    load(rig, "ROOSTER_RESERVE = \"(PoolIdleJobs > 10 ? 2 : 0)\"\nROOSTER_COLLECTOR_MIN_AGE = 0\n"
              "node \"wn01\" {\n method = command\n wake_command = \"/bin/true\"\n}\n");
    start(rig);
    boots(rig);
    until(rig, is_up);
    assert_true(answer_ask_text(&answer, rig->startd->wire, "rooster/", VERB_POWER_DOWN_ASK,
                                "[ Machine = \"wn01\"; Level = \"S5\"; Reason = \"no work\";"
                                " UpSeconds = 1000; IdleSeconds = 1000 ]",
                                NULL, NULL) > 0);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    assert_int_equal(answer.status, 0);
    assert_false(ad_bool_or(answer.args, "Granted", true));
    assert_string_equal(ad_string_or(answer.args, "Text", ""),
                        "how many idle machines must stay awake is undefined (ROOSTER_RESERVE: "
                        "the figures of the queue are not known)");
    answer_fini(&answer);
}

#define ASK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(ASK(a_machine_wakes_when_the_queue_is_long_and_not_before),
           ASK(while_nobody_knows_the_queue_no_machine_wakes_for_it),
           ASK(figures_that_are_old_wake_nobody),
           ASK(a_wake_that_has_begun_goes_on_while_nobody_knows_the_queue),
           ASK(who_is_wanted_and_does_not_depend_on_the_queue_asks_nobody),
           ASK(the_reserve_depends_on_the_queue_and_wakes_nobody_before_it_is_known),
           ASK(while_the_reserve_is_not_known_no_idle_machine_sleeps))
