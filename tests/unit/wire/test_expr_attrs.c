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
        "START = \"TARGET.MyOwnWish && ProjectName == 7\"\n", /* custom attributes of jobs */
        "STARTD_ATTRS = {KeyboradIdle}\nKeyboradIdle = 7\nSTART = \"KeyboradIdle > 1\"\n",
        "RANK = \"TARGET.RequestGPUs + MY.TotalSlotGPUs + MY.DetectedFrogs\"\n",
        "SYSTEM_PERIODIC_HOLD = \"MY.OfOurOwn > 3\"\n", /* MY is a job */
        "START = \"eval(\\\"KeyboradIdle\\\")\"\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(GOOD); i++) {
        assert_true(warns(GOOD[i], ""));
    }
}

UNIT_TESTS(UNIT(a_misspelt_figure_of_the_queue_is_named_with_the_nearest_one),
           UNIT(a_misspelt_attribute_is_named_with_the_nearest_one),
           UNIT(what_a_site_or_a_job_may_define_causes_no_alarm))
