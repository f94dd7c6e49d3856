/* What `roost status` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/check.h"
#include "cli/status_plan.h"

#define NOW 1795165200

static void add_slot(struct vec *ads, int id, const char *machine, const char *more)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "[MyType = \"Machine\"; Name = \"slot%d@%s\"; Machine = \"%s\"; SlotID = %d;"
                   " OpSys = \"LINUX\"; Arch = \"X86_64\"; LoadAvg = 0.0; Memory = 1024; %s]",
                   id, machine, machine, id, more);
    ads_add(ads, text);
}

static void expect(const char *option, struct vec *ads, const char *text)
{
    const struct ad_context context = {.now_s = NOW};
    const struct status_view *view = status_view_find(option);
    struct strbuf out;
    assert_non_null(view);
    strbuf_init(&out, 0);
    status_plan_sort((const struct ad **)ads->items, ads->count);
    status_plan_print(view, ads_list(ads), ads->count, &context, &out);
    vec_fini(ads, ads_destroy_one);
    ads_expect(&out, text);
}

static void machines_show_state_activity_and_power(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 2, "node001.example",
             "State = \"Claimed\"; Activity = \"Busy\"; PowerState = \"On\";"
             " EnteredCurrentActivity = 1795165200");
    add_slot(&ads, 1, "node001.example",
             "State = \"Claimed\"; Activity = \"Busy\"; EnteredCurrentActivity = 1795165139");
    expect("", &ads,
           "Name                               OpSys      Arch     State   Activity Power LoadAv "
           "Mem     ActvtyTime\n"
           "\n"
           "slot1@node001.example              LINUX      X86_64   Claimed Busy     On     0.000 "
           "  1024  0+00:01:01\n"
           "slot2@node001.example              LINUX      X86_64   Claimed Busy     On     0.000 "
           "  1024  0+00:00:00\n"
           "\n"
           "               Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle "
           "Offline\n"
           "\n"
           "  X86_64/LINUX     2     0       2         0       0          0      0        0      0 "
           "      0\n"
           "\n"
           "         Total     2     0       2         0       0          0      0        0      0 "
           "      0\n");
}

static void a_machine_that_is_asleep_or_waking_is_seen_as_such(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn02",
             "State = \"Unclaimed\"; Activity = \"Idle\"; Offline = true; PowerState = \"Waking\";"
             " EnteredCurrentActivity = 1795165200");
    add_slot(&ads, 1, "wn01",
             "State = \"Unclaimed\"; Activity = \"Idle\"; Offline = true;"
             " EnteredCurrentActivity = 1795075200");
    expect(
        "", &ads,
        "Name                               OpSys      Arch     State     Activity Power  LoadAv "
        "Mem     ActvtyTime\n"
        "\n"
        "slot1@wn01                         LINUX      X86_64   Unclaimed Idle     Off     0.000 "
        "  1024  1+01:00:00\n"
        "slot1@wn02                         LINUX      X86_64   Unclaimed Idle     Waking  0.000 "
        "  1024  0+00:00:00\n"
        "\n"
        "               Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle "
        "Offline\n"
        "\n"
        "  X86_64/LINUX     2     0       0         2       0          0      0        0      0 "
        "      2\n"
        "\n"
        "         Total     2     0       0         2       0          0      0        0      0 "
        "      2\n");
}

static void offline_tells_why_and_when_last_wanted(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01",
             "State = \"Unclaimed\"; Offline = true; PowerState = \"WakeFailed\";"
             " PowerStateReason = \"no live ad in 30 s\"; EnteredPowerState = 1795165190;"
             " MachineLastMatchTime = 1795165100");
    expect("-offline", &ads,
           "Name                               Power        PowerTime   LastMatch Reason\n"
           "\n"
           "slot1@wn01                         WakeFailed  0+00:00:10 11/20 08:58 no live ad in 30 "
           "s\n"
           "\n"
           "               Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle "
           "Offline\n"
           "\n"
           "    WakeFailed     1     0       0         1       0          0      0        0      0 "
           "      1\n"
           "\n"
           "         Total     1     0       0         1       0          0      0        0      0 "
           "      1\n");
}

static void total_prints_the_totals_only(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01", "State = \"Drained\"");
    expect("--total", &ads,
           "\n"
           "               Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle "
           "Offline\n"
           "\n"
           "  X86_64/LINUX     1     0       0         0       0          0      1        0      0 "
           "      0\n"
           "\n"
           "         Total     1     0       0         0       0          0      1        0      0 "
           "      0\n");
}

static void schedds_are_summed_up(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Name = \"user@node001.example\"; Machine = \"node001.example\";"
                  " TotalRunningJobs = 4; TotalIdleJobs = 4; TotalHeldJobs = 2]");
    expect("-schedd", &ads,
           "Name                 Machine         RunningJobs   IdleJobs   HeldJobs\n"
           "\n"
           "user@node001.example node001.example           4          4          2\n"
           "\n"
           "                 TotalRunningJobs      TotalIdleJobs      TotalHeldJobs\n"
           "\n"
           "         Total                  4                  4                  2\n");
}

static void negotiators_and_collectors_have_their_own_columns(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Name = \"n\"; LastNegotiationCycleEnd = 1795165190; TotalMatches = 12;"
                  " LastNegotiationCycleDurationMs = 3; LastNegotiationCyclePairs = 40;"
                  " TotalNegotiationCycles = 7; TotalOfflineMatches = 5]");
    expect("-negotiator", &ads,
           "Name                   LastCycle  (ms)   Pairs  Cycles Matches Offline\n"
           "\n"
           "n                     0+00:00:10     3      40       7      12       5\n");
    ads_add(&ads, "[Name = \"c\"; MyAddress = \"tcp:cm.example:9618\"; OfflineAds = 3]");
    expect("-collector", &ads,
           "Name                 Machine            Address              Offline\n"
           "\n"
           "c                    cm.example         tcp:cm.example:9618        3\n");
}

static void a_control_character_in_an_ad_does_not_reach_the_terminal(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct ad_context context = {.now_s = NOW};
    strbuf_init(&out, 0);
    add_slot(&ads, 1, "wn01", "State = \"A\\033[2J\\nB\"");
    status_plan_print(status_view_find(""), ads_list(&ads), ads.count, &context, &out);
    assert_non_null(strstr(strbuf_text(&out), "A?[2J?B"));
    assert_null(strchr(strbuf_text(&out), '\033'));
    vec_fini(&ads, ads_destroy_one);
    strbuf_fini(&out);
}

static void nothing_prints_nothing(void **state)
{
    (void)state;
    struct vec ads = {0};
    expect("", &ads, "");
}

static void views_are_found_by_their_beginning(void **state)
{
    (void)state;
    assert_string_equal(status_view_type(status_view_find("-sub")), "Submitter");
    assert_string_equal(status_view_type(status_view_find("--negotiator")), "Negotiator");
    assert_string_equal(status_view_constraint(status_view_find("-run")), "State == \"Claimed\"");
    assert_null(status_view_find("-s"));
    assert_null(status_view_find("-nosuch"));
    assert_null(status_view_find("wn01"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_show_state_activity_and_power),
        cmocka_unit_test(a_machine_that_is_asleep_or_waking_is_seen_as_such),
        cmocka_unit_test(offline_tells_why_and_when_last_wanted),
        cmocka_unit_test(total_prints_the_totals_only),
        cmocka_unit_test(schedds_are_summed_up),
        cmocka_unit_test(negotiators_and_collectors_have_their_own_columns),
        cmocka_unit_test(a_control_character_in_an_ad_does_not_reach_the_terminal),
        cmocka_unit_test(nothing_prints_nothing),
        cmocka_unit_test(views_are_found_by_their_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
