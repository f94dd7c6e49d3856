/* The rooster over real wires: who asks may go to sleep or not, and idle machines are kept awake.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

static void with(struct rig *rig, const char *knobs)
{
    stop(rig);
    load(rig, knobs);
    start(rig);
}

static void is_there(struct rig *rig, const char *machine, const char *state)
{
    char ad[400];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\"; BootId = \"b2\";"
                   " BootTime = 77; State = \"%s\" ]",
                   machine, machine, state);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

static _Thread_local char last_text[300];
static _Thread_local int64_t last_again_s;

static void send_ask(struct rig *rig, struct client *client, const char *machine, const char *more,
                     struct answer *answer)
{
    char text[300];
    (void)rig;
    (void)snprintf(text, sizeof text,
                   "[ Machine = \"%s\"; Level = \"S5\"; Reason = \"no work\"; UpSeconds = 1000;"
                   " IdleSeconds = 1000; %s ]",
                   machine, more);
    assert_true(answer_ask_text(answer, client->wire, "rooster/", VERB_POWER_DOWN_ASK, text, NULL,
                                NULL) > 0);
}

/* The guard that objects; "yes": it may. */
static const char *told(struct answer *answer)
{
    static _Thread_local char guard[40];
    if (answer->status != 0) {
        fail_msg("refused: %s", answer->text);
    }
    (void)snprintf(guard, sizeof guard, "%s",
                   ad_bool_or(answer->args, "Granted", false)
                       ? "yes"
                       : ad_string_or(answer->args, "Guard", "?"));
    (void)snprintf(last_text, sizeof last_text, "%s", ad_string_or(answer->args, "Text", ""));
    last_again_s = ad_int_or(answer->args, "AskAgain", 0);
    answer_fini(answer);
    return guard;
}

static bool is_synced(struct rig *rig)
{
    return watch_is_synced(rig->rooster->watch);
}

static const char *ask(struct rig *rig, const char *machine, const char *more)
{
    struct answer answer;
    until(rig, is_synced);
    send_ask(rig, rig->startd, machine, more, &answer);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    return told(&answer);
}

static bool is_idle(struct rig *rig, const char *machine)
{
    const struct node *node = node_named(rig, machine);
    return node != NULL && !node->look.marked && node->guard.counted.side == GUARD_IDLE;
}
static bool is_idle_1(struct rig *rig)
{
    return is_idle(rig, "wn01");
}
static bool are_idle_3(struct rig *rig)
{
    return is_idle(rig, "wn01") && is_idle(rig, "wn02") && is_idle(rig, "wn03");
}
static bool is_not_going(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->guard.counted.side != GUARD_GOING;
}

static void three_are_there(struct rig *rig)
{
    is_there(rig, "wn01", "Unclaimed");
    is_there(rig, "wn02", "Unclaimed");
    is_there(rig, "wn03", "Unclaimed");
    until(rig, are_idle_3);
}

static int64_t figure(struct rig *rig, const char *name)
{
    struct ad *ad = ad_create();
    guards_write(rig->rooster, ad);
    int64_t value = ad_int_or(ad, name, -1);
    ad_destroy(ad);
    return value;
}

static bool shown(struct rig *rig, const char *machine, const char *name)
{
    struct ad *ad = node_to_ad(node_named(rig, machine));
    bool has = ad_has(ad, name);
    ad_destroy(ad);
    return has;
}

/* ---- may it? */

static void who_may_is_counted_and_written_down_before_it_hears_of_it(void **state)
{
    struct rig *rig = *state;
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    assert_int_equal(figure(rig, "MachinesIdle"), 1);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    assert_int_equal(figure(rig, "MachinesIdle"), 0);
    assert_int_equal(figure(rig, "MachinesGoingDown"), 1);
    assert_int_equal(figure(rig, "MachinesDown"), 1);
    assert_true(shown(rig, "wn01", "SleepGranted"));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Started ");
}

static void its_offline_ads_end_that_record_and_no_other_is_written(void **state)
{
    struct rig *rig = *state;
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    falls_asleep(rig, "wn01");
    until(rig, is_off);
    assert_int_equal(figure(rig, "MachinesGoingDown"), 1); /* it says that it is off: not yet */
    boots(rig);
    until(rig, is_up);
    assert_int_equal(figure(rig, "MachinesGoingDown"), 0);
    assert_int_equal(figure(rig, "MachinesDown"), 0);
    assert_int_equal(wake_day_count(&node_named(rig, "wn01")->guard.sleeps,
                                    loop_wall_s(rig->bed->loop)),
                     1);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

static void one_that_does_not_go_after_all_says_so(void **state)
{
    struct rig *rig = *state;
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    struct answer answer;
    send_ask(rig, rig->startd, "wn01", "Withdraw = true", &answer);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    assert_int_equal(answer.status, 0);
    answer_fini(&answer);
    assert_int_equal(figure(rig, "MachinesGoingDown"), 0);
    assert_int_equal(figure(rig, "MachinesIdle"), 1);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed ");
}

static void or_is_forgotten_after_a_time(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_GOING_DOWN_TIME = 1");
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    until(rig, is_not_going);
    assert_int_equal(figure(rig, "MachinesIdle"), 1);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed ");
}

static void nobody_asks_for_another(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    struct client *other = client_dial(rig->bed, SCOPE_ADVERTISE, "wn02", NULL, NULL);
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    send_ask(rig, other, "wn01", "", &answer);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    assert_int_equal(answer.status, -EACCES);
    assert_non_null(strstr(answer.text, "is not for the machine 'wn01'"));
    answer_fini(&answer);
    assert_false(guards_granted(node_named(rig, "wn01")));
}

static void a_machine_of_which_there_is_no_live_ad_is_unknown(void **state)
{
    struct rig *rig = *state;
    assert_string_equal(ask(rig, "wn01", "Ordered = true; Force = true;"), "Unknown");
    falls_asleep(rig, "wn01");
    until(rig, is_seen);
    assert_string_equal(ask(rig, "wn01", "Ordered = true; Force = true;"), "Unknown");
    assert_string_equal(last_text,
                        "the state of the machine is not known: the machine has no live ad");
}

static void many_that_ask_at_once_find_the_limit_used_up_by_each_other(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_MAX_GOING_DOWN = 3");
    struct answer answers[10];
    char name[16];
    int granted = 0;
    for (int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "wn%02d", i + 1);
        is_there(rig, name, "Unclaimed");
    }
    for (int i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "wn%02d", i + 1);
        send_ask(rig, rig->startd, name, "", &answers[i]);
    }
    for (int i = 0; i < 10; i++) {
        loop_rig_await(rig->bed->loop, &answers[i].over, NULL);
        const char *guard = told(&answers[i]);
        granted += strcmp(guard, "yes") == 0;
        assert_string_equal(guard, i < 3 ? "yes" : "AtOnce");
        assert_int_equal(last_again_s, i < 3 ? 0 : 10 * (1 + (i - 3) / 3)); /* one after another */
    }
    assert_int_equal(granted, 3);
    assert_int_equal(figure(rig, "MachinesGoingDown"), 3);
}

static bool knows_three(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn03");
    return node != NULL && node->awake.has_ads && !node->look.marked;
}

static void a_rooster_that_is_started_again_counts_on(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_MAX_GOING_DOWN = 2");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    loop_rig_turn(rig->bed->loop, 4); /* records are in order by the millisecond */
    assert_string_equal(ask(rig, "wn02", ""), "yes");
    restart(rig);
    assert_int_equal(figure(rig, "MachinesGoingDown"), 2);
    until(rig, knows_three);
    assert_string_equal(ask(rig, "wn03", ""), "AtOnce");
    assert_string_equal(ask(rig, "wn01", ""), "yes"); /* it may already */
    assert_int_equal(figure(rig, "MachinesGoingDown"), 2);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Started wn02:Sleep:Started ");
}

static void the_minute_is_counted_on_by_a_rooster_that_is_started_again(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_MAX_SLEEPS_PER_MINUTE = 1");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    assert_string_equal(ask(rig, "wn02", ""), "PerMinute");
    restart(rig);
    until(rig, knows_three);
    assert_string_equal(ask(rig, "wn03", ""), "PerMinute");
    assert_string_equal(ask(rig, "wn03", "Ordered = true"), "PerMinute");
    assert_string_equal(ask(rig, "wn03", "Ordered = true; Force = true"), "yes");
}

static void a_young_collector_lets_only_some_be_down(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_YOUNG_MAX_DOWN = 1");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    assert_string_equal(ask(rig, "wn02", ""), "Young");
    falls_asleep(rig, "wn01");
    until(rig, is_off);
    boots(rig);
    until(rig, is_up); /* it is not down any more */
    assert_string_equal(ask(rig, "wn02", ""), "yes");
    assert_string_equal(ask(rig, "wn03", ""), "Young");
    with(rig, "ROOSTER_YOUNG_MAX_DOWN = 1\nROOSTER_COLLECTOR_MIN_AGE = 0");
    until(rig, knows_three);
    assert_string_equal(ask(rig, "wn03", ""), "yes");
}

static void who_does_not_go_while_it_is_young_leaves_his_place(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    with(rig, "ROOSTER_YOUNG_MAX_DOWN = 1");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    send_ask(rig, rig->startd, "wn01", "Withdraw = true", &answer);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    answer_fini(&answer);
    assert_string_equal(ask(rig, "wn02", ""), "yes");
    guards_connected(rig->rooster->guards, uplink_wire(rig->rooster->uplink)); /* another one */
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    falls_asleep(rig, "wn01");
    until(rig, is_off);
    boots(rig);
    until(rig, is_up);
    send_ask(rig, rig->startd, "wn02", "Withdraw = true", &answer); /* of the last one */
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    answer_fini(&answer);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    assert_string_equal(ask(rig, "wn03", ""), "Young");
}

static _Thread_local int64_t old_at_s;

static bool is_old(struct rig *rig)
{
    return loop_wall_s(rig->bed->loop) >= old_at_s;
}

static void a_collector_is_as_old_as_it_says(void **state)
{
    struct rig *rig = *state;
    old_at_s = loop_wall_s(rig->bed->loop) + 3;
    until(rig, is_old);
    with(rig, "ROOSTER_YOUNG_MAX_DOWN = 1\nROOSTER_COLLECTOR_MIN_AGE = 2");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    assert_string_equal(ask(rig, "wn02", ""), "yes");
}

static void a_dry_question_promises_nothing(void **state)
{
    struct rig *rig = *state;
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    assert_string_equal(ask(rig, "wn01", "DryRun = true"), "yes");
    assert_false(guards_granted(node_named(rig, "wn01")));
    assert_int_equal(figure(rig, "MachinesGoingDown"), 0);
}

static void a_dry_rooster_shows_who_would_sleep_and_counts_it(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_DRY_RUN = true\nROOSTER_RESERVE = \"2\"");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "DryRun");
    assert_true(shown(rig, "wn01", "WouldSleep"));
    assert_int_equal(figure(rig, "MachinesIdle"), 2);
    assert_string_equal(ask(rig, "wn02", ""), "Reserve"); /* as if wn01 slept */
    is_there(rig, "wn01", "Claimed");
    while (shown(rig, "wn01", "WouldSleep")) {
        assert_string_equal(ask(rig, "wn02", ""), "Reserve"); /* turns the loop */
    }
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "");
}

static void a_dry_rooster_counts_the_minute_as_if_they_went(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_DRY_RUN = true\nROOSTER_MAX_SLEEPS_PER_MINUTE = 1");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "DryRun");
    assert_string_equal(ask(rig, "wn02", ""), "PerMinute");
}

static void short_sleeps_are_learned_from_the_ledger_and_do_not_pay(void **state)
{
    struct rig *rig = *state;
    static const char WATTS[] = "ROOSTER_ASLEEP_WATTS = 5\nROOSTER_IDLE_WATTS = 55\n"
                                "ROOSTER_BUSY_WATTS = 105\nROOSTER_CYCLE_ENERGY = 1000\n"
                                "ROOSTER_ASLEEP_AGAIN = 0\n";
    with(rig, WATTS);
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(ask(rig, "wn01", "IdleSeconds = 0"), "yes");
        falls_asleep(rig, "wn01");
        until(rig, is_off);
        loop_rig_turn(rig->bed->loop, 4);
        is_held(rig, "wn01", 1);
        until(rig, is_waking);
        boots(rig);
        until(rig, is_up);
    }
    assert_string_equal(ask(rig, "wn01", "IdleSeconds = 10;"), "BreakEven");
    with(rig, WATTS);
    until(rig, is_idle_1);
    assert_string_equal(ask(rig, "wn01", "IdleSeconds = 10;"), "BreakEven");
    assert_string_equal(ask(rig, "wn01", "Ordered = true"), "yes");
}

/* ---- the reserve */

#define GROWN "ROOSTER_COLLECTOR_MIN_AGE = 0\n" /* it is as old as it must be */

static bool are_off_2(struct rig *rig)
{
    return is(rig, "wn01", WAKE_OFF) && is(rig, "wn02", WAKE_OFF) &&
           node_named(rig, "wn01")->asleep.has_ads && node_named(rig, "wn02")->asleep.has_ads;
}

static void two_sleep(struct rig *rig, const char *knobs)
{
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    with(rig, knobs);
}

static void idle_machines_are_kept_awake(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_RESERVE = \"2\"");
    three_are_there(rig);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    assert_string_equal(ask(rig, "wn02", ""), "Reserve");
    assert_string_equal(last_text,
                        "2 idle machines are awake; 2 must stay awake (ROOSTER_RESERVE)");
    is_there(rig, "wn04", "Owner"); /* none of the reserve */
    while (node_named(rig, "wn04") == NULL) {
        assert_string_equal(ask(rig, "wn03", ""), "Reserve");
    }
    assert_string_equal(ask(rig, "wn04", ""), "yes");
    assert_int_equal(figure(rig, "ReserveWanted"), 2);
    node_named(rig, "wn03")->guard.reserve.reserving = true; /* as if it had been woken for that */
    assert_string_equal(ask(rig, "wn03", "Ordered = true; Force = true"), "yes");
    assert_false(shown(rig, "wn03", "InReserve"));
}

static bool is_coming(struct rig *rig)
{
    return is_waking_2(rig) && figure(rig, "ReserveComing") == 1;
}

static void the_best_is_woken_when_too_few_are_awake(void **state)
{
    struct rig *rig = *state;
    two_sleep(rig,
              GROWN "ROOSTER_RESERVE = \"1\"\nROOSTER_ASLEEP_AGAIN = 0\n"
                    "ROOSTER_UNHIBERNATE_RANK = \"ifThenElse(Machine == \\\"wn02\\\", 2, 1)\"");
    until(rig, is_waking_2);
    assert_string_equal(wakes(rig), "wn02 ");
    assert_string_equal(node_named(rig, "wn02")->asked.by, "reserve");
    assert_true(shown(rig, "wn02", "InReserve"));
    assert_int_equal(figure(rig, "ReserveComing"), 1);
    restart(rig); /* what is under way stays so */
    until(rig, is_coming);
    is_there(rig, "wn02", "Owner"); /* it came, and somebody sits at it: it counts for a while */
    is_held(rig, "wn01", 0);
    while (!is(rig, "wn02", WAKE_UP)) {
        assert_string_equal(ask(rig, "wn01", ""), "Unknown"); /* turns the loop */
    }
    look_now(rig->rooster);
    assert_true(is_off(rig));
    is_there(rig, "wn02", "Claimed"); /* now it is used */
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn02 wn01 ");
}

static void who_was_kept_off_or_has_just_gone_is_not_woken_for_it(void **state)
{
    struct rig *rig = *state;
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Offline = true;"
         " OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
         " PowerKeptOff = true; Unhibernate = true ]");
    falls_asleep(rig, "wn02");
    with(rig, GROWN "ROOSTER_RESERVE = \"2\"\nROOSTER_ASLEEP_AGAIN = 1");
    until(rig, is_seen);
    look_now(rig->rooster);
    assert_string_equal(wakes(rig), "");
    until(rig, is_waking_2); /* after a second, without any change of an ad */
    assert_true(is_off(rig));
    assert_false(node_named(rig, "wn01")->guard.reserve.spare);
}

/* It has been started again: those who are awake are not back yet. */
static void a_young_collector_does_not_know_that_too_few_are_awake(void **state)
{
    struct rig *rig = *state;
    two_sleep(rig, "ROOSTER_RESERVE = \"1\"\nROOSTER_ASLEEP_AGAIN = 0");
    until(rig, are_off_2);
    for (int i = 0; i < 5; i++) {
        look_at_all(rig->rooster);
        look_now(rig->rooster);
    }
    assert_string_equal(wakes(rig), "");
    assert_int_equal(figure(rig, "ReserveComing"), 0);
}

static void a_dry_rooster_only_says_whom_it_would_wake_for_it(void **state)
{
    struct rig *rig = *state;
    two_sleep(rig,
              GROWN "ROOSTER_RESERVE = \"1\"\nROOSTER_ASLEEP_AGAIN = 0\nROOSTER_DRY_RUN = true");
    until(rig, are_off_2);
    for (int i = 0; i < 5; i++) {
        look_at_all(rig->rooster);
        look_now(rig->rooster);
    }
    assert_int_equal(shown(rig, "wn01", "WouldWake") + shown(rig, "wn02", "WouldWake"), 1);
    assert_string_equal(wakes(rig), "");
}

static void one_that_does_not_come_for_it_is_tried_again_then_left_alone_for_another(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    two_sleep(rig, GROWN "ROOSTER_RESERVE = \"1\"\nROOSTER_ASLEEP_AGAIN = 0");
    until(rig, is_backing_off);
    assert_true(node_named(rig, "wn01")->guard.reserve.reserving);
    assert_true(is(rig, "wn02", WAKE_OFF));
    time_passes(rig);
    until(rig, is_quarantined);
    may_fail(rig, false);
    until(rig, is_waking_2);
    assert_int_equal(figure(rig, "ReserveComing"), 1);
}

static void a_machine_that_does_not_respond_is_none_of_it(void **state)
{
    struct rig *rig = *state;
    with(rig, GROWN "ROOSTER_RESERVE = \"1\"\nROOSTER_ASLEEP_AGAIN = 0");
    is_there(rig, "wn01", "Unclaimed");
    until(rig, is_idle_1);
    falls_asleep(rig, "wn02");
    look_now(rig->rooster);
    assert_string_equal(wakes(rig), "");
    falls_silent_as(rig, "Unclaimed", 10);
    until(rig, is_waking_2);
    assert_int_equal(figure(rig, "MachinesIdle"), 0);
}

/* ---- what all may draw */

static bool are_waking_2(struct rig *rig)
{
    return is_waking(rig) && is_waking_2(rig);
}

static void no_machine_is_woken_beyond_what_the_pool_may_draw(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_ASLEEP_WATTS = 5\nROOSTER_BUSY_WATTS = 100\nROOSTER_MAX_WATTS = 299\n"
              "ROOSTER_ASLEEP_AGAIN = 0");
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    falls_asleep(rig, "wn03");
    is_held(rig, "wn01", 1);
    is_held(rig, "wn02", 1);
    is_held(rig, "wn03", 1);
    until(rig, are_waking_2);
    assert_true(is(rig, "wn03", WAKE_OFF));
    assert_true(shown(rig, "wn03", "WakeHeldBy"));
    assert_false(shown(rig, "wn01", "WakeHeldBy"));
    boots(rig);
    until(rig, is_up);
    assert_true(is(rig, "wn03", WAKE_OFF));
    falls_asleep(rig, "wn01"); /* it goes, and its watts are free */
    while (!is(rig, "wn03", WAKE_WAKING)) {
        assert_string_equal(ask(rig, "wn02", ""), "Unknown"); /* turns the loop */
    }
    assert_false(shown(rig, "wn03", "WakeHeldBy"));
}

static void one_that_goes_down_draws_until_it_must_be_down(void **state)
{
    struct rig *rig = *state;
    with(rig, "ROOSTER_ASLEEP_WATTS = 5\nROOSTER_BUSY_WATTS = 100\nROOSTER_MAX_WATTS = 150\n"
              "ROOSTER_GOING_DOWN_TIME = 1");
    is_there(rig, "wn01", "Unclaimed");
    falls_asleep(rig, "wn02");
    until(rig, is_idle_1);
    assert_string_equal(ask(rig, "wn01", ""), "yes");
    falls_asleep(rig, "wn01");
    until(rig, are_off_2);
    is_held(rig, "wn02", 1);
    while (!shown(rig, "wn02", "WakeHeldBy")) {
        assert_string_equal(ask(rig, "wn01", ""), "Unknown"); /* turns the loop */
    }
    until(rig, is_waking_2); /* by the time alone */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG(who_may_is_counted_and_written_down_before_it_hears_of_it),
        RIG(its_offline_ads_end_that_record_and_no_other_is_written),
        RIG(one_that_does_not_go_after_all_says_so),
        RIG(or_is_forgotten_after_a_time),
        RIG(nobody_asks_for_another),
        RIG(a_machine_of_which_there_is_no_live_ad_is_unknown),
        RIG(many_that_ask_at_once_find_the_limit_used_up_by_each_other),
        RIG(a_rooster_that_is_started_again_counts_on),
        RIG(the_minute_is_counted_on_by_a_rooster_that_is_started_again),
        RIG(a_young_collector_lets_only_some_be_down),
        RIG(who_does_not_go_while_it_is_young_leaves_his_place),
        RIG(a_collector_is_as_old_as_it_says),
        RIG(a_dry_question_promises_nothing),
        RIG(a_dry_rooster_shows_who_would_sleep_and_counts_it),
        RIG(a_dry_rooster_counts_the_minute_as_if_they_went),
        RIG(short_sleeps_are_learned_from_the_ledger_and_do_not_pay),
        RIG(idle_machines_are_kept_awake),
        RIG(the_best_is_woken_when_too_few_are_awake),
        RIG(who_was_kept_off_or_has_just_gone_is_not_woken_for_it),
        RIG(a_young_collector_does_not_know_that_too_few_are_awake),
        RIG(a_dry_rooster_only_says_whom_it_would_wake_for_it),
        RIG(one_that_does_not_come_for_it_is_tried_again_then_left_alone_for_another),
        RIG(a_machine_that_does_not_respond_is_none_of_it),
        RIG(no_machine_is_woken_beyond_what_the_pool_may_draw),
        RIG(one_that_goes_down_draws_until_it_must_be_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
