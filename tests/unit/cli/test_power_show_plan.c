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
                  " PowerMethod = \"wol\"; JobsWaiting = 3; WakeAttempts = 2;"
                  " PowerStateReason = \"no live ad\"]");
    strbuf_init(&out, 0);
    power_show_sort((const struct ad **)ads.items, ads.count);
    power_show_status(ads_list(&ads), ads.count, &CONTEXT, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, "Name                 Power        PowerTime Method   Waiting Tries LastBoot "
                     "Reason\n"
                     "\n"
                     "wn01                 WakeFailed  0+00:00:07 wol            3     2          "
                     "no live ad\n"
                     "wn02                 On          0+00:01:00 process        0     0     12.3 "
                     "its live ad is there\n");
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
    expect_order("[Name = \"wn01\"; Result = \"Waking\"]", true, "wn01 is waking already");
    expect_order("[Name = \"wn01\"; Result = \"AlreadyOn\"]", true, "wn01 is on already");
    expect_order("[Name = \"wn01\"; Result = \"Refused\"; ErrorString = \"no method\"]", false,
                 "wn01 cannot be woken: no method");
    expect_order("[Name = \"x\"; Result = \"Unknown\"]", false, "x is not known");
    expect_order("[Name = \"x\"; Result = \"Later\"]", false, "x Later");
}

UNIT_TESTS(UNIT(nodes_show_state_reason_and_what_waits_for_them),
           UNIT(history_shows_each_wake_with_its_outcome), UNIT(nothing_prints_nothing),
           UNIT(orders_say_what_will_happen))
