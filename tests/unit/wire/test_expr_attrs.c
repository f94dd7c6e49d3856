/* Tests of wire/expr_attrs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/expr_attrs.h"

#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/strbuf.h"
#include "rooster/reserve_plan.h"
#include "tests/support/config_memory.h"
#include "tests/support/unit.h"

static const struct knob KNOBS[] = {
    {.name = "START", .type = KNOB_EXPR, .fallback = "KeyboradIdle > 1", .help = "h"},
    {.name = "RANK", .type = KNOB_EXPR, .help = "h"},
    {.name = "SYSTEM_PERIODIC_HOLD", .type = KNOB_EXPR, .help = "h"},
    {.name = "STARTD_ATTRS", .type = KNOB_LIST, .help = "h"},
    {.name = "HIBERNATE", .type = KNOB_EXPR, .help = "h"},
    {.name = "ROOSTER_RESERVE",
     .type = KNOB_STRING,
     .fallback = "",
     .next_expr = reserve_plan_next_expr,
     .help = "h"},
};
static const struct knob_table TABLE = {.owner = "STARTD",
                                        .knobs = KNOBS,
                                        .knob_count = ARRAY_COUNT(KNOBS)};

static void append_line(void *arg, const char *text)
{
    strbuf_printf(arg, "%s\n", text);
}

/* Returns whether the warnings about this configuration are exactly `wanted`. */
static bool warns(const char *text, const char *wanted)
{
    static const struct knob_table *const TABLES[] = {&TABLE, &knobs_common};
    struct config_memory memory = {.files = {{"/c", text}}};
    const struct config_source source = config_memory_source(&memory);
    const struct config_options options = {.subsystem = "STARTD",
                                           .path = "/c",
                                           .tables = TABLES,
                                           .table_count = ARRAY_COUNT(TABLES)};
    struct config *config = NULL;
    struct strbuf said;
    struct err err = {""};
    strbuf_init(&said, 0);
    if (config_load(&source, &options, &config, &err) != 0) {
        fail_msg("%s", err.text);
    }
    expr_attrs_check(config, append_line, &said);
    bool same = strcmp(strbuf_text(&said), wanted) == 0;
    if (!same) {
        print_message("%s: %s", text, strbuf_text(&said));
    }
    strbuf_fini(&said);
    config_destroy(config);
    return same;
}

static void a_misspelt_figure_of_the_queue_is_named_with_the_nearest_one(void **state)
{
    (void)state;
    assert_true(
        warns("HIBERNATE = \"MatchingIdelJobs < 50 && ClockMins > 5\"\n",
              "/c:1: HIBERNATE names the attribute 'MatchingIdelJobs', which no ad has; did "
              "you mean MatchingIdleJobs?\n"
              "/c:1: HIBERNATE names the attribute 'ClockMins', which no ad has; did you "
              "mean ClockMin?\n"));
    assert_true(warns("ROOSTER_RESERVE = \"5, else (PoolIdelJobs > 0 ? 1 : MachinesIdle)\"\n",
                      "/c:1: ROOSTER_RESERVE names the attribute 'PoolIdelJobs', which no ad has; "
                      "did you mean PoolIdleJobs?\n"));
    assert_true(warns("HIBERNATE = \"MatchingIdleJobsWait < PoolIdleJobsWait && ClockDate == "
                      "\\\"x\\\" && ClockDay > 0\"\nROOSTER_RESERVE = \"(MachinesTotal)\"\n",
                      ""));
}

static void a_misspelt_attribute_is_named_with_the_nearest_one(void **state)
{
    (void)state;
    assert_true(warns("X = 1\nSTART = \"KeyboradIdle > 60 && LoadAvg < 1\"\n",
                      "/c:2: START names the attribute 'KeyboradIdle', which no ad has; did you "
                      "mean KeyboardIdle?\n"));
    assert_true(warns("RANK = \"TARGET.JobPrioo\"\n",
                      "/c:1: RANK names the attribute 'JobPrioo', which no ad has; did you mean "
                      "JobPrio?\n"));
    assert_true(warns("START = \"MY.NoSuchThingAtAll\"\n",
                      "/c:1: START names the attribute 'NoSuchThingAtAll', which no ad has\n"));
}

static void what_a_site_or_a_job_may_define_causes_no_alarm(void **state)
{
    (void)state;
    static const char *const GOOD[] = {
        "", /* the default is ours */
        "START = \"keyboardidle > 60 && MY.State =?= \\\"Owner\\\"\"\n",
        "START = \"TARGET.MyOwnWish && TARGET.ProjectName == 7\"\n", /* of jobs */
        "SUBMIT_ATTRS = {OurProject}\nSTART = \"OurProject == 7\"\n",
        "START = \"TARGET.RequestFrogs > 1 && State == \\\"Claimed\\\"\"\n",
        "HIBERNATE = \"ifThenElse(State =?= \\\"Unclaimed\\\", \\\"shutdown\\\", 0)\"\n",
        "ROOSTER_RESERVE = \"else (ClockMin > 5 ? 1 : 2.5)\"\n",
        "STARTD_ATTRS = {KeyboradIdle}\nKeyboradIdle = 7\nSTART = \"KeyboradIdle > 1\"\n",
        "RANK = \"TARGET.RequestGPUs + MY.TotalSlotGPUs + MY.DetectedFrogs\"\n",
        "SYSTEM_PERIODIC_HOLD = \"MY.OfOurOwn > 3\"\n", /* MY is a job */
        "START = \"eval(\\\"KeyboradIdle\\\")\"\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(GOOD); i++) {
        assert_true(warns(GOOD[i], ""));
    }
}

static void a_text_without_quotes_is_named_with_what_was_meant(void **state)
{
    (void)state;
    assert_true(
        warns("HIBERNATE = \"S5\"\n",
              "/c:1: HIBERNATE names the attribute 'S5', which no ad has; a level is a text "
              "in quotes of its own: HIBERNATE = \"\\\"S5\\\"\"\n"));
    assert_true(
        warns("START = \"State == Unclaimed\"\n",
              "/c:1: START names the attribute 'Unclaimed', which no slot has; a state is a "
              "text in quotes of its own: \\\"Unclaimed\\\"\n"));
    assert_true(
        warns("SLOT_TYPE_1_START = \"Owner == alice || Owner == alice\"\n",
              "/c:1: SLOT_TYPE_1_START names the attribute 'alice', which no ad has; a text "
              "needs quotes of its own, \\\"alice\\\", and an attribute that jobs of this "
              "site have is written TARGET.alice\n"));
}

static void a_call_that_is_always_an_error_is_named(void **state)
{
    (void)state;
    assert_true(warns("START = \"stringlistMemberr(Owner, \\\"a\\\")\"\n",
                      "/c:1: START calls the unknown function 'stringlistMemberr'; did you mean "
                      "stringlistmember?\n"));
    assert_true(warns("START = \"stringListMember(Owner)\"\n",
                      "/c:1: START calls stringListMember() with 1 argument; expected 2 to 3\n"));
    assert_true(
        warns("RANK = \"TARGET.RequestMemry\"\n",
              "/c:1: RANK names the attribute 'RequestMemry', which no ad has; did you mean "
              "RequestMemory?\n"));
}

static void a_level_that_does_not_exist_is_named(void **state)
{
    (void)state;
    assert_true(warns("HIBERNATE = \"(State =?= \\\"S7\\\") ? \\\"S6\\\" : 7\"\n",
                      "/c:1: HIBERNATE may be 'S6', which is not a level of sleep; expected NONE, "
                      "S1, S3, S4 or S5\n"
                      "/c:1: HIBERNATE may be 7, which is not a level of sleep; expected NONE, S1, "
                      "S3, S4 or S5\n"));
}

static void a_reserve_names_only_figures_of_the_pool(void **state)
{
    (void)state;
    static const char LIST[] =
        "which the rooster does not have there: the reserve is one of the whole pool; it may use "
        "PoolIdleJobs, PoolIdleJobsWait, MachinesTotal, MachinesIdle, MachinesDown, "
        "MachinesGoingDown, ClockMin, ClockDay and ClockDate\n";
    char wanted[400];
    (void)snprintf(wanted, sizeof wanted, "/c:1: ROOSTER_RESERVE names 'MatchingIdleJobs', %s",
                   LIST);
    assert_true(warns("ROOSTER_RESERVE = \"(MatchingIdleJobs > 0 ? 1 : 0)\"\n", wanted));
    assert_true(
        warns("ROOSTER_RESERVE = \"(true)\"\n",
              "/c:1: ROOSTER_RESERVE may be a truth value; expected a number of machines\n"));
}

UNIT_TESTS(UNIT(a_text_without_quotes_is_named_with_what_was_meant),
           UNIT(a_call_that_is_always_an_error_is_named),
           UNIT(a_level_that_does_not_exist_is_named),
           UNIT(a_reserve_names_only_figures_of_the_pool),
           UNIT(a_misspelt_figure_of_the_queue_is_named_with_the_nearest_one),
           UNIT(a_misspelt_attribute_is_named_with_the_nearest_one),
           UNIT(what_a_site_or_a_job_may_define_causes_no_alarm))
