/* What `roost status` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"
#include "tests/unit/cli/samples.h"

#include "base/check.h"
#include "cli/ads_text_plan.h"
#include "cli/listing_plan.h"
#include "cli/status/status_plan.h"
#include "cli/status/status_sort_plan.h"

#define NOW 1795165200

static const struct status_how NORMAL = {.wide = false};

static void add_slot(struct vec *ads, int id, const char *machine, const char *more)
{
    char text[600];
    (void)snprintf(text, sizeof text,
                   "[MyType = \"Machine\"; Name = \"slot%d@%s\"; Machine = \"%s\"; SlotID = %d;"
                   " OpSys = \"LINUX\"; Arch = \"X86_64\"; LoadAvg = 0.0; Memory = 1024; %s]",
                   id, machine, machine, id, more);
    ads_add(ads, text);
}

/* Of ads as they come, before anybody sorted them; false: this view wants all at once. */
static bool print_rows(const struct status_view *view, const struct status_how *how, bool natural,
                       const struct vec *ads, struct strbuf *out, struct strbuf *warnings)
{
    const struct ad_context context = {.now_s = NOW};
    struct status_rows *rows = status_rows_begin(view, how, &context);
    for (size_t i = 0; rows != NULL && i < ads->count; i++) {
        struct ad *passing = ad_copy(ads->items[i]);
        status_rows_add(rows, passing);
        ad_destroy(passing);
    }
    if (rows != NULL) {
        status_rows_end(rows, natural, NULL, NULL, out, warnings);
    }
    status_rows_destroy(rows);
    return rows != NULL;
}

static void expect_rows(const struct status_view *view, const struct status_how *how,
                        const struct vec *ads, const char *text)
{
    struct strbuf out, warnings;
    strbuf_init(&out, 0);
    strbuf_init(&warnings, 0);
    if (print_rows(view, how, false, ads, &out, &warnings)) {
        assert_string_equal(strbuf_text(&out), text);
    }
    strbuf_fini(&out);
    strbuf_fini(&warnings);
}

static void expect(const char *option, struct vec *ads, const char *text)
{
    const struct ad_context context = {.now_s = NOW};
    const struct status_view *view = status_view_find(option);
    struct strbuf out;
    assert_non_null(view);
    expect_rows(view, &NORMAL, ads, text);
    strbuf_init(&out, 0);
    status_sort_default((const struct ad **)ads->items, ads->count);
    status_plan_print(view, &NORMAL, ads_list(ads), ads->count, &context, &out);
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

static void a_machine_that_was_never_wanted_says_so(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01", "State = \"Unclaimed\"; Offline = true; MachineLastMatchTime = 0");
    struct strbuf out;
    strbuf_init(&out, 0);
    status_plan_print(status_view_find("-offline"), &NORMAL, ads_list(&ads), ads.count,
                      &(struct ad_context){.now_s = NOW}, &out);
    assert_non_null(strstr(strbuf_text(&out), " never "));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void offline_tells_the_last_match_before_the_machine_slept(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01",
             "State = \"Unclaimed\"; Offline = true; PreviousMatchTime = 1795165100");
    add_slot(&ads, 1, "wn02",
             "State = \"Unclaimed\"; Offline = true; PreviousMatchTime = 1795000000;"
             " MachineLastMatchTime = 1795165100");
    add_slot(&ads, 1, "wn03", "State = \"Unclaimed\"; Offline = true; LastWakeTime = 1795165100");
    struct strbuf out;
    strbuf_init(&out, 0);
    status_plan_print(status_view_find("-offline"), &NORMAL, ads_list(&ads), ads.count,
                      &(struct ad_context){.now_s = NOW}, &out);
    const char *at = strbuf_text(&out);
    static const char *const CELLS[] = {" 11/20 08:58", " 11/20 08:58", " unknown"};
    for (size_t i = 0; i < ARRAY_COUNT(CELLS); i++) {
        at = strstr(at, CELLS[i]);
        assert_non_null(at);
        at++;
    }
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
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
           "                TotalRunningJobs      TotalIdleJobs      TotalHeldJobs\n"
           "\n"
           "\n"
           "         Total                 4                  4                  2\n");
}

static void a_control_character_in_an_ad_does_not_reach_the_terminal(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct ad_context context = {.now_s = NOW};
    strbuf_init(&out, 0);
    add_slot(&ads, 1, "wn01", "State = \"A\\033[2J\\nB\"");
    status_plan_print(status_view_find(""), &NORMAL, ads_list(&ads), ads.count, &context, &out);
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
    assert_string_equal(status_view_constraint(status_view_find("-claimed")),
                        "State == \"Claimed\" && NotRespondingSince is undefined");
    assert_string_equal(status_view_constraint(status_view_find("-abs")), "Absent =?= true");
    assert_string_equal(status_view_type(status_view_find("-run")), "Scheduler");
    assert_string_equal(status_view_type(status_view_find("-any")), "Any");
    assert_string_equal(status_view_type(status_view_find("-master")), "DaemonMaster");
    assert_string_equal(status_view_type(status_view_find("-factory")), "Factory");
    assert_string_equal(status_view_type(status_view_find("-site")), "Site");
    assert_string_equal(status_view_type(status_view_find("-glidein")), "Glidein");
    assert_null(status_view_find("-s"));
    assert_null(status_view_find("-nosuch"));
    assert_null(status_view_find("wn01"));
}

/* ---- what HTCondor printed */

static void printed_as(const char *option, const struct status_how *how, struct vec *ads,
                       const char *file, size_t power_width)
{
    char name[64];
    (void)snprintf(name, sizeof name, "status_%s", file);
    const struct ad_context context = {.now_s = NOW};
    struct strbuf out;
    strbuf_init(&out, 0);
    status_sort_default((const struct ad **)ads->items, ads->count);
    status_plan_print(status_view_find(option), how, ads_list(ads), ads->count, &context, &out);
    assert_string_equal(without_ours(strbuf_text(&out), power_width), sample_text(name));
    strbuf_fini(&out);
    vec_fini(ads, ads_destroy_one);
}

#define CLAIMED_BUSY                                                                      \
    "State = \"Claimed\"; Activity = \"Busy\"; Cpus = 1; Disk = 19681792;"                \
    " RemoteUser = \"user@ex.example\"; ClientMachine = \"node001.example\";"             \
    " OpSysAndVer = \"Debian12\"; KeyboardIdle = 1500; EnteredCurrentState = 1795165199;" \
    " EnteredCurrentActivity = "
#define IDLE "State = \"Unclaimed\"; Activity = \"Idle\"; EnteredCurrentActivity = "

static void add_four(struct vec *ads, const char *more)
{
    for (int id = 4; id > 0; id--) {
        add_slot(ads, id, "node001.example", more);
    }
}

static void tables_are_as_htcondor_prints_them(void **state)
{
    (void)state;
    struct vec ads = {0};
    const struct status_how wide = {.wide = true}, totals = {.totals_only = true};
    add_four(&ads, IDLE "1795165200");
    printed_as("", &NORMAL, &ads, "idle", 6);
    for (int id = 1; id <= 4; id++) {
        add_slot(&ads, id, "node001.example", id == 3 ? IDLE "1795165199" : IDLE "1795165200");
    }
    printed_as("", &wide, &ads, "wide", 6);
    add_four(&ads, CLAIMED_BUSY "1795165200");
    printed_as("", &totals, &ads, "total", 0);
    add_four(&ads, CLAIMED_BUSY "1795165200");
    printed_as("-server", &NORMAL, &ads, "server", 0);
}

static void ads_of_daemons_are_shown_as_htcondor_does(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads,
            "[Name = \"user@node001.example\"; RoostVersion = \"25.14.0.PRE\"; DetectedCpus = 2;"
            " DetectedMemory = 24064; DaemonStartTime = 1795164996]");
    printed_as("-master", &NORMAL, &ads, "master", 0);
    ads_add(&ads, "[Name = \"user@node001.example\"; LastNegotiationCycleEnd0 = 1795165860;"
                  " LastNegotiationCycleDuration0 = 0; LastNegotiationCycleTotalSlots0 = 4;"
                  " LastNegotiationCycleActiveSubmitterCount0 = 1;"
                  " LastNegotiationCycleNumSchedulers0 = 1; LastNegotiationCycleNumIdleJobs0 = 1;"
                  " LastNegotiationCycleMatches0 = 0; LastNegotiationCycleRejections0 = 1]");
    printed_as("-negotiator", &NORMAL, &ads, "negotiator", 0);
    ads_add(&ads, "[Name = \"user@node001.example\"; TotalJobAds = 10; TotalRunningJobs = 4;"
                  " TotalSchedulerJobsRunning = 0; TotalSchedulerJobsIdle = 0;"
                  " RecentJobsCompleted = 24; RecentJobsStarted = 36]");
    printed_as("-run", &NORMAL, &ads, "run", 0);
    ads_add(&ads, "[Name = \"user@node001.example\"; Machine = \"node001.example\";"
                  " TotalRunningJobs = 4; TotalIdleJobs = 4; TotalHeldJobs = 2]");
    printed_as("-schedd", &NORMAL, &ads, "schedd", 0);
    ads_add(&ads, "[Name = \"user@ex.example\"; Machine = \"node001.example\"; SlotID = 1;"
                  " RunningJobs = 4; IdleJobs = 3; HeldJobs = 2]");
    ads_add(&ads, "[Name = \"physics.bob@ex.example\"; Machine = \"node001.example\"; SlotID = 2;"
                  " RunningJobs = 0; IdleJobs = 1; HeldJobs = 0]");
    printed_as("-submitters", &NORMAL, &ads, "submitters", 0);
}

/* The stand-in for an address in the file is one character longer than what made its heading. */
static void collectors_are_shown_with_their_machines(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Name = \"My Pool - 192.0.2.1@node001.example\"; Machine = \"node001.example\";"
                  " RunningJobs = 0; IdleJobs = 1; HostsTotal = 4]");
    expect(
        "-collector", &ads,
        "Name                                Machine            RunningJobs   IdleJobs HostsTotal\n"
        "\n"
        "My Pool - 192.0.2.1@node001.example node001.example              0          1          "
        "4\n");
}

static void claimed_shows_who_runs_where(void **state)
{
    (void)state;
    struct vec ads = {0};
    for (int id = 1; id <= 4; id++) {
        char text[700];
        (void)snprintf(
            text, sizeof text,
            "[Name = \"slot%d@node001.example\"; Machine = \"node001.example\"; SlotID = %d;"
            " OpSys = \"LINUX\"; Arch = \"X86_64\"; LoadAvg = %s; " CLAIMED_BUSY "1]",
            id, id, "0.0");
        ads_add(&ads, text);
    }
    const struct ad_context context = {.now_s = NOW};
    struct strbuf out;
    strbuf_init(&out, 0);
    status_plan_print(status_view_find("-claimed"), &NORMAL, ads_list(&ads), 4, &context, &out);
    /* The sum over loads that were not 0.000 to the last digit is HTCondor's alone. */
    char *expected = sample_text("status_claimed");
    for (char *load; (load = strstr(expected, "0.007")) != NULL;) {
        load[4] = '0';
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void compact_sums_up_the_slots_of_a_machine(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01",
             "State = \"Claimed\"; Activity = \"Busy\"; Cpus = 2; LoadAvg = 1.0;"
             " OpSysAndVer = \"Debian12\"; RecentJobStarts = 10");
    add_slot(&ads, 2, "wn01", "State = \"Claimed\"; Activity = \"Busy\"; Cpus = 2");
    add_slot(&ads, 1, "wn02",
             "State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 3; Memory = 512;"
             " PartitionableSlot = true; TotalSlotCpus = 4; TotalSlotMemory = 4096");
    add_slot(&ads, 2, "wn02",
             "State = \"Claimed\"; Activity = \"Busy\"; Cpus = 1; Memory = 3584;"
             " DynamicSlot = true");
    const struct ad_context context = {.now_s = NOW};
    struct strbuf out;
    strbuf_init(&out, 0);
    status_plan_print(status_view_find("-compact"), &NORMAL, ads_list(&ads), 4, &context, &out);
    const char *text = strbuf_text(&out);
    const char *expected =
        "Machine         Platform     Slots Cpus Gpus  TotalGb FreCpu  FreeGb  CpuLoad ST Jobs/Min "
        "MaxSlotGb\n\n"
        "wn01            x64/Debian12    2S    4    0     2.00      0     0.00    0.25 Cb     0.50 "
        "     1.00\n"
        "wn02            x64/LINUX       1     4    0     4.00      3     0.50    0.00 Cb     0.00 "
        "     3.50\n\n";
    assert_memory_equal(text, expected, strlen(expected));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void compact_shows_which_machines_are_not_on(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01", "State = \"Unclaimed\"; Activity = \"Idle\"; Cpus = 2");
    add_slot(&ads, 1, "wn02", "State = \"Unclaimed\"; Activity = \"Idle\"; Offline = true");
    add_slot(&ads, 1, "wn03",
             "State = \"Unclaimed\"; Activity = \"Idle\"; Offline = true; PowerState = \"Waking\"");
    add_slot(&ads, 2, "wn03", "State = \"Unclaimed\"; Activity = \"Idle\"");
    const struct ad_context context = {.now_s = NOW};
    struct strbuf out;
    strbuf_init(&out, 0);
    status_plan_print(status_view_find("-compact"), &NORMAL, ads_list(&ads), 4, &context, &out);
    static const char *const ENDS[] = {" MaxSlotGb Power\n", " Ui     0.00      1.00 On\n",
                                       " Ui     0.00      1.00 Off\n",
                                       " Ui     0.00      1.00 Waking\n"};
    const char *at = strbuf_text(&out);
    for (size_t i = 0; i < ARRAY_COUNT(ENDS); i++) {
        at = strstr(at, ENDS[i]);
        assert_non_null(at);
    }
    strbuf_clear(&out);
    status_plan_print(status_view_find("-compact"), &NORMAL, ads_list(&ads), 1, &context, &out);
    assert_null(strstr(strbuf_text(&out), "Power"));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void absent_tells_since_when_and_until_when(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 1, "wn01", "Absent = true; AbsentSince = 1795165100; ClassAdLifetime = 3600");
    add_slot(&ads, 2, "wn01", "Absent = true; LastHeardFrom = 1795165100");
    expect("-absent", &ads,
           "Name                               OpSys      Arch       Went Absent Will Forget\n"
           "\n"
           "slot1@wn01                         LINUX      X86_64     11/20 08:58 11/20 09:58\n"
           "slot2@wn01                         LINUX      X86_64     11/20 08:58 never\n");
}

/* ---- ads that are not kept */

static void count_pieces(void *arg, struct strbuf *out)
{
    size_t *sums = arg;
    assert_true(out->length > 0);
    sums[0]++;
    sums[1] += out->length;
    strbuf_clear(out);
}

static void a_long_table_of_passing_ads_is_the_same_in_pieces(void **state)
{
    (void)state;
    const struct ad_context context = {.now_s = NOW};
    const struct status_view *view = status_view_find("");
    struct vec ads = {0};
    struct strbuf whole, out, warnings;
    size_t pieces[2] = {0, 0};
    strbuf_init(&whole, 0);
    strbuf_init(&out, 0);
    strbuf_init(&warnings, 0);
    for (int i = 0; i < 3000; i++) {
        char machine[32];
        (void)snprintf(machine, sizeof machine, "wn%d", i * 7919 % 1000);
        add_slot(&ads, i % 3, machine,
                 i % 2 > 0 ? "State = \"Owner\"" : "State = \"Claimed\"; Offline = true");
    }
    assert_true(print_rows(view, &NORMAL, false, &ads, &out, &warnings));
    struct status_rows *rows = status_rows_begin(view, &NORMAL, &context);
    for (size_t i = 0; i < ads.count; i++) {
        status_rows_add(rows, ads.items[i]);
    }
    strbuf_clear(&out);
    status_rows_end(rows, false, count_pieces, pieces, &out, &warnings);
    assert_true(pieces[0] > 1);
    status_rows_destroy(rows);
    pieces[1] += out.length;
    strbuf_clear(&out);
    assert_true(print_rows(view, &NORMAL, false, &ads, &out, &warnings));
    status_sort_default((const struct ad **)ads.items, ads.count);
    status_plan_print(view, &NORMAL, ads_list(&ads), ads.count, &context, &whole);
    assert_int_equal(pieces[1], whole.length);
    assert_string_equal(strbuf_text(&out), strbuf_text(&whole));
    assert_int_equal(warnings.length, 0);
    strbuf_fini(&whole);
    strbuf_fini(&out);
    strbuf_fini(&warnings);
    vec_fini(&ads, ads_destroy_one);
}

static void problems_of_passing_ads_come_in_the_order_of_the_table(void **state)
{
    (void)state;
    const struct status_how totals = {.totals_only = true};
    struct vec ads = {0};
    struct strbuf out, warnings;
    strbuf_init(&out, 0);
    strbuf_init(&warnings, 0);
    for (int i = 9; i > 0; i--) {
        char machine[32], more[64];
        (void)snprintf(machine, sizeof machine, "wn%d", i);
        (void)snprintf(more, sizeof more, i % 3 == 0 ? "X = %d" : "AdProblems = \"bad\t%d\"", i);
        add_slot(&ads, 1, machine, more);
    }
    const struct status_view *view = status_view_find("");
    assert_true(print_rows(view, &NORMAL, false, &ads, &out, &warnings));
    assert_string_equal(
        strbuf_text(&warnings),
        "slot1@wn1: bad?1\nslot1@wn2: bad?2\nslot1@wn4: bad?4\n"
        "slot1@wn5: bad?5\nslot1@wn7: bad?7\nand 1 more; `roost status -problems` shows all\n");
    strbuf_clear(&warnings);
    strbuf_clear(&out);
    assert_true(print_rows(view, &totals, true, &ads, &out, &warnings));
    assert_string_equal(
        strbuf_text(&warnings),
        "slot1@wn8: bad?8\nslot1@wn7: bad?7\nslot1@wn5: bad?5\n"
        "slot1@wn4: bad?4\nslot1@wn2: bad?2\nand 1 more; `roost status -problems` shows all\n");
    assert_memory_equal(strbuf_text(&out), "\n               Total", 21);
    strbuf_clear(&out);
    strbuf_clear(&warnings);
    vec_fini(&ads, ads_destroy_one);
    ads = (struct vec){0};
    assert_true(print_rows(view, &NORMAL, false, &ads, &out, &warnings));
    assert_string_equal(strbuf_text(&out), ""); /* no ads, no headings */
    assert_false(print_rows(status_view_find("-claimed"), &NORMAL, false, &ads, &out, &warnings));
    assert_false(print_rows(status_view_find("-compact"), &NORMAL, false, &ads, &out, &warnings));
    strbuf_fini(&out);
    strbuf_fini(&warnings);
}

/* ---- order */

static void order_of(struct vec *ads, const char *expected)
{
    char text[512] = "";
    for (size_t i = 0; i < ads->count; i++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%s ",
                       ad_string_or(ads->items[i], "Name", "?"));
    }
    assert_string_equal(text, expected);
}

static void machines_come_by_name_then_slot(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slot(&ads, 2, "wn2", "");
    add_slot(&ads, 10, "wn10", "");
    add_slot(&ads, 9, "wn10", "");
    add_slot(&ads, 1, "wn1", "");
    add_slot(&ads, 1, "wn2", "");
    status_sort_default((const struct ad **)ads.items, ads.count);
    order_of(&ads, "slot1@wn1 slot9@wn10 slot10@wn10 slot1@wn2 slot2@wn2 ");
    vec_fini(&ads, ads_destroy_one);
}

static void sort_puts_numbers_before_words_before_nothing_and_keeps_what_is_equal(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Name = \"a\"]");
    ads_add(&ads, "[Name = \"b\"; X = \"beta\"]");
    ads_add(&ads, "[Name = \"c\"; X = 2]");
    ads_add(&ads, "[Name = \"d\"; X = \"Alpha\"]");
    ads_add(&ads, "[Name = \"e\"; X = 1.5]");
    ads_add(&ads, "[Name = \"f\"; X = 2.0; Y = 1]");
    ads_add(&ads, "[Name = \"g\"]");
    struct ad_expr *keys[2];
    assert_int_equal(ad_expr_parse("X", 1, AD_OLD, &keys[0], NULL), 0);
    assert_int_equal(ad_expr_parse("-Y", 2, AD_OLD, &keys[1], NULL), 0);
    status_sort_by((const struct ad **)ads.items, ads.count, keys, 1, NULL);
    order_of(&ads, "e c f d b a g ");
    status_sort_by((const struct ad **)ads.items, ads.count, keys, 2, NULL);
    order_of(&ads, "e f c d b a g ");
    ad_expr_destroy(keys[0]);
    ad_expr_destroy(keys[1]);
    vec_fini(&ads, ads_destroy_one);
}

/* ---- files of ads */

static void reads(const char *text, int rc, const char *words, const char *names)
{
    struct vec ads = {0};
    struct err err = {""};
    assert_int_equal(ads_text_read(text, strlen(text), NULL, &ads, &err), rc);
    assert_non_null(strstr(err.text, words));
    order_of(&ads, names);
    vec_fini(&ads, ads_destroy_one);
}

static void a_file_of_ads_may_be_long_or_new(void **state)
{
    (void)state;
    reads("", 0, "", "");
    reads("\n\nName = \"a\"\nX = 1\n\n\n  # only words\n\nName = \"b\"", 0, "", "a b ");
    reads("Name = \"a\"\nX = = 1\n\nName = \"b\"\n", -EINVAL, "ad 1", "");
    reads("Name = \"a\"\n\nName = \n", -EINVAL, "ad 2", "a ");
    reads("[Name = \"a]\\\"\"; b = [c = {1}]] /* ] */ [Name = \"b\"]", 0, "", "a]\" b ");
    reads("{ [Name = \"a\"], [Name = \"b\"] }\n", 0, "", "a b ");
    reads("{ [Name = \"a\"]", -EINVAL, "not closed", "a ");
    reads("[Name = \"a\"] x", -EINVAL, "ad 2", "a ");
    reads("[Name = \"a\"", -EINVAL, "ad 1", "");
    reads("[{\"Name\": \"a\"},\n{\"Name\": \"b\"}]", 0, "", "a b ");
}

static void xml_is_as_htcondor_writes_it(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct listing listing = {.style = LISTING_XML};
    struct strbuf out;
    ads_add(&ads, "[Name = \"slot1@node001.example\"; Cpus = 1; State = \"Claimed\"]");
    ads_add(&ads, "[Name = \"slot2@node001.example\"; Cpus = 1; State = \"Claimed\"]");
    strbuf_init(&out, 0);
    listing_plan_print(&listing, ads_list(&ads), 2, NULL, &out);
    ads_expect(&out, sample_text("status_xml"));
    vec_fini(&ads, ads_destroy_one);
    ads_add(&ads, "[a = true; b = undefined; c = error; d = 1.5; e = x < \"<&>\"; f = \"<&\"]");
    strbuf_init(&out, 0);
    listing_plan_print(&listing, ads_list(&ads), 1, NULL, &out);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "<a n=\"a\"><b v=\"t\"/></a>"));
    assert_non_null(strstr(text, "<a n=\"b\"><un/></a>"));
    assert_non_null(strstr(text, "<a n=\"c\"><er/></a>"));
    assert_non_null(strstr(text, "<a n=\"d\"><r>1.500000000000000E+00</r></a>"));
    assert_non_null(strstr(text, "<a n=\"e\"><e>x &lt; \"&lt;&amp;&gt;\"</e></a>"));
    assert_non_null(strstr(text, "<a n=\"f\"><s>&lt;&amp;</s></a>"));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_show_state_activity_and_power),
        cmocka_unit_test(a_machine_that_is_asleep_or_waking_is_seen_as_such),
        cmocka_unit_test(offline_tells_why_and_when_last_wanted),
        cmocka_unit_test(a_machine_that_was_never_wanted_says_so),
        cmocka_unit_test(schedds_are_summed_up),
        cmocka_unit_test(a_control_character_in_an_ad_does_not_reach_the_terminal),
        cmocka_unit_test(nothing_prints_nothing),
        cmocka_unit_test(views_are_found_by_their_beginning),
        cmocka_unit_test(tables_are_as_htcondor_prints_them),
        cmocka_unit_test(ads_of_daemons_are_shown_as_htcondor_does),
        cmocka_unit_test(collectors_are_shown_with_their_machines),
        cmocka_unit_test(claimed_shows_who_runs_where),
        cmocka_unit_test(offline_tells_the_last_match_before_the_machine_slept),
        cmocka_unit_test(compact_sums_up_the_slots_of_a_machine),
        cmocka_unit_test(compact_shows_which_machines_are_not_on),
        cmocka_unit_test(absent_tells_since_when_and_until_when),
        cmocka_unit_test(a_long_table_of_passing_ads_is_the_same_in_pieces),
        cmocka_unit_test(problems_of_passing_ads_come_in_the_order_of_the_table),
        cmocka_unit_test(machines_come_by_name_then_slot),
        cmocka_unit_test(sort_puts_numbers_before_words_before_nothing_and_keeps_what_is_equal),
        cmocka_unit_test(a_file_of_ads_may_be_long_or_new),
        cmocka_unit_test(xml_is_as_htcondor_writes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
