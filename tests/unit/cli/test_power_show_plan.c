/* What `roost power` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/power_show_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147}; /* 11/20/26 09:15:47 UTC */

static void nodes_show_state_reason_and_what_waits_for_them(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Name = \"wn02\"; PowerState = \"On\"; EnteredPowerState = 1795166087;"
                  " PowerMethod = \"process\"; JobsWaiting = 0; WakeAttempts = 0;"
                  " LastWakeSeconds = 12.34; PowerStateReason = \"its live ad is there\"]");
    ads_add(&ads, "[Name = \"wn01\"; PowerState = \"WakeFailed\"; EnteredPowerState = 1795166140;"
                  " PowerMethod = \"wol\"; JobsWaiting = 3; WakeAttempts = 2; WakesToday = 4;"
                  " WakeDeadline = 300;"
                  " PowerStateReason = \"no live ad\"]");
    strbuf_init(&out, 0);
    power_show_sort((const struct ad **)ads.items, ads.count);
    power_show_status(ads_list(&ads), ads.count, &CONTEXT, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out,
               "Name                 Power        PowerTime Method   Waiting Tries Today LastBoot "
               "Deadline Reason\n"
               "\n"
               "wn01                 WakeFailed  0+00:00:07 wol            3     2     4          "
               "     300 no live ad\n"
               "wn02                 On          0+00:01:00 process        0     0           12.3 "
               "         its live ad is there\n");
}

static void expect_holds(const char *node, const char *text)
{
    struct vec one = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    ads_add(&one, node);
    power_show_holds(one.items[0], &CONTEXT, "; ", &out);
    vec_fini(&one, ads_destroy_one);
    ads_expect(&out, text);
}

static void what_holds_a_machine_up_or_off_is_said_once(void **state)
{
    (void)state;
    expect_holds("[Name = \"wn01\"]", "");
    expect_holds("[PowerKeptOff = true]",
                 "stays off until somebody switches the machine on by name");
    expect_holds("[HibernationHeldBy = \"bob is logged in\"]", "held back: bob is logged in");
    expect_holds("[PowerKeepUntil = 1795166207; PowerKeepBy = \"alice@pool\";"
                 " HibernationHeldBy = \"kept up by alice@pool: no reason is given\"]",
                 "kept up until 11/20 09:16 by alice@pool");
    expect_holds("[PowerKeepUntil = 1795166207; PowerKeepBy = \"alice@pool\";"
                 " PowerKeepReason = \"a demo\"; HibernationHeldBy = \"bob is logged in\"]",
                 "kept up until 11/20 09:16 by alice@pool: a demo; held back: bob is logged "
                 "in");
    expect_holds("[PowerKeepUntil = 1795166147; PowerKeepBy = \"alice@pool\"]", ""); /* over */
    expect_holds("[WouldWake = true]", "would be woken without ROOSTER_DRY_RUN");
    expect_holds(
        "[WakeHeldBy = \"the fuse\"; PowerKeptOff = true]",
        "stays off until somebody switches the machine on by name; is not woken yet: the fuse");
}

static void reasons_of_the_state_come_before_what_holds_it(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Name = \"wn01\"; PowerStateReason = \"no work\"; PowerKeptOff = true]");
    strbuf_init(&out, 0);
    ads_add(&ads, "[Name = \"wn02\"; PowerStateReason = \"switched off by ann@pool: fan\";"
                  " PowerKeptOff = true; PowerKeptOffReason = \"switched off by ann@pool: fan\"]");
    ads_add(&ads, "[Name = \"wn03\"; PowerStateReason = \"no work\"; Draining = true;"
                  " DrainingRequester = \"ann@pool\"; DrainReason = \"disks\"]");
    power_show_status(ads_list(&ads), ads.count, &CONTEXT, &out);
    assert_non_null(strstr(strbuf_text(&out), " no work; drain requested by ann@pool: disks\n"));
    assert_non_null(strstr(strbuf_text(&out),
                           " no work; stays off until somebody switches the machine on by name\n"));
    assert_non_null(strstr(strbuf_text(&out), "  stays off until somebody switches the machine on"
                                              " by name (switched off by ann@pool: fan)\n"));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void history_shows_each_wake_with_its_outcome(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Machine = \"wn02\"; Kind = \"Wake\"; Outcome = \"Up\"; StartTime = 1795166140;"
                  " Seconds = 2.0; Attempts = 1; Method = \"process\"; AskedBy = \"negotiator\"]");
    ads_add(&ads, "[Machine = \"wn02\"; Kind = \"Sleep\"; Outcome = \"Asleep\";"
                  " StartTime = 1795160000; Method = \"host\"; AskedBy = \"alice@pool: night\"]");
    strbuf_init(&out, 0);
    power_show_history(ads_list(&ads), ads.count, &CONTEXT, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out,
               "Start       Machine              Kind  Outcome  Seconds Tries Method   AskedBy\n"
               "\n"
               "11/20 09:15 wn02                 Wake  Up           2.0     1 process  negotiator\n"
               "11/20 07:33 wn02                 Sleep Asleep                 host     alice@pool: "
               "night\n");
}

static void slots_tell_of_their_machines_when_the_rooster_does_not(void **state)
{
    (void)state;
    struct vec slots = {0}, nodes = {0};
    struct strbuf out;
    ads_add(&slots, "[Machine = \"wn01\"; Name = \"slot1@wn01\"; PowerStateReason = \"a\"]");
    ads_add(&slots, "[Machine = \"wn01\"; Name = \"slot2@wn01\"; State = \"Unclaimed\"]");
    ads_add(&slots, "[Machine = \"wn02\"; Name = \"slot1@wn02\"; Offline = true;"
                    " PowerState = \"Off\"; EnteredPowerState = 1795166087;"
                    " PowerStateReason = \"no work\"; PowerMethod = \"process\"]");
    ads_add(&slots, "[Machine = \"wn03\"; Name = \"slot1@wn03\"; PowerState = \"Draining\";"
                    " NotRespondingSince = 1795166087; PowerStateReason = \"b\"]");
    power_show_slots(ads_list(&slots), slots.count, &nodes);
    strbuf_init(&out, 0);
    power_show_status(ads_list(&nodes), nodes.count, &CONTEXT, &out);
    vec_fini(&slots, ads_destroy_one);
    vec_fini(&nodes, ads_destroy_one);
    ads_expect(&out,
               "Name                 Power        PowerTime Method   Waiting Tries Today LastBoot "
               "Deadline Reason\n"
               "\n"
               "wn01                 On                                                           "
               "         a\n"
               "wn02                 Off         0+00:01:00 process                               "
               "         no work\n"
               "wn03                 Unknown                                                      "
               "         b\n");
}

static void nothing_prints_nothing(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    power_show_status(NULL, 0, &CONTEXT, &out);
    power_show_history(NULL, 0, &CONTEXT, &out);
    ads_expect(&out, "");
}

static void expect_order(const char *answer, bool is_done, const char *text)
{
    struct vec one = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    ads_add(&one, answer);
    assert_int_equal(power_show_order(one.items[0], &out), is_done);
    vec_fini(&one, ads_destroy_one);
    ads_expect(&out, text);
}

static void orders_say_what_will_happen(void **state)
{
    (void)state;
    expect_order("[Name = \"wn01\"; Result = \"Ordered\"]", true, "wn01 will be woken");
    expect_order("[Name = \"wn01\"; Result = \"WouldWake\"; ErrorString = \"by method wol\"]", true,
                 "wn01 would be woken: by method wol");
    expect_order("[Name = \"wn01\"; Result = \"Waking\"]", true, "wn01 is being woken already");
    expect_order("[Name = \"wn01\"; Result = \"AlreadyOn\"]", true, "wn01 is on already");
    expect_order("[Name = \"wn01\"; Result = \"Refused\"; ErrorString = \"no method\"]", false,
                 "wn01 cannot be woken: no method");
    expect_order("[Name = \"x\"; Result = \"Unknown\"]", false, "x is unknown");
    expect_order("[Name = \"x\"; Result = \"Later\"]", false, "x Later");
}

UNIT_TESTS(UNIT(nodes_show_state_reason_and_what_waits_for_them),
           UNIT(what_holds_a_machine_up_or_off_is_said_once),
           UNIT(reasons_of_the_state_come_before_what_holds_it),
           UNIT(history_shows_each_wake_with_its_outcome),
           UNIT(slots_tell_of_their_machines_when_the_rooster_does_not),
           UNIT(nothing_prints_nothing), UNIT(orders_say_what_will_happen))
