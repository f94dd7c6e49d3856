/* What `roost userprio` prints, against what HTCondor's command printed.
 *
 * LINK: cli
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/userprio_plan.h"

#define NOW INT64_C(1795166100) /* 11/20/2026 09:15 UTC */

static const struct ad_context CONTEXT = {.now_s = NOW};

static const char NONE[] =
    "[ Name = \"<none>\"; IsAccountingGroup = true; AccountingGroup = \"<none>\";"
    "  PriorityFactor = 1000.0; LastUpdate = 1795166100;"
    "  WeightedResourcesUsed = 4.0; WeightedAccumulatedUsage = 144.0 ]";

/* The file without its first line. */
static char *sample(const char *name)
{
    static char text[4096];
    char path[600];
    const char *source = getenv("ROOST_SRC");
    (void)snprintf(path, sizeof path, "%s/tests/conformance/cli/%s.txt",
                   source != NULL ? source : ".", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = '\0';
    return strchr(text, '\n') + 1;
}

static void print(const struct userprio_view *view, struct vec *ads, struct strbuf *out)
{
    strbuf_init(out, 0);
    userprio_plan_sort((const struct ad **)ads->items, ads->count);
    userprio_plan_print(view, ads_list(ads), ads->count, &CONTEXT, out);
}

static void the_table_is_htcondors(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct userprio_view plain = {0}, all = {.all = true};
    ads_add(&ads, NONE);
    ads_add(&ads, "[ Name = \"user@ex.example\"; Priority = 500.11; PriorityFactor = 1000.0;"
                  "  RealPriority = 0.50011; WeightedResourcesUsed = 4.0;"
                  "  WeightedAccumulatedUsage = 144.0; BeginUsageTime = 1795165731;"
                  "  LastUsageTime = 1795166100; LastUpdate = 1795166100; Ceiling = -1;"
                  "  Floor = 0.0; AccountingGroup = \"<none>\" ]");
    print(&plain, &ads, &out);
    ads_expect(&out, sample("userprio"));
    print(&all, &ads, &out);
    ads_expect(&out, sample("userprio_all"));
    vec_fini(&ads, ads_destroy_one);
}

static void who_used_nothing_for_a_day_is_left_out(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct userprio_view plain = {0}, all_users = {.all_users = true};
    ads_add(&ads, NONE);
    ads_add(&ads, "[ Name = \"late@ex\"; Priority = 900.0; PriorityFactor = 1000.0;"
                  "  LastUsageTime = 1795079690 ]");
    ads_add(&ads, "[ Name = \"ann@ex\"; Priority = 700.0; PriorityFactor = 1000.0;"
                  "  LastUsageTime = 1795080000; Ceiling = 12.0; Floor = 2.5 ]");
    print(&plain, &ads, &out);
    assert_null(strstr(strbuf_text(&out), "late@ex"));
    assert_non_null(strstr(strbuf_text(&out), "Number of users: 1 "));
    assert_non_null(
        strstr(strbuf_text(&out),
               "ann@ex                   700.00   1000.00      0         0.00    0+23:55      2.50 "
               "    12.00\n"));
    strbuf_fini(&out);
    print(&all_users, &ads, &out);
    assert_non_null(strstr(strbuf_text(&out), "late@ex"));
    assert_true(strstr(strbuf_text(&out), "ann@ex") < strstr(strbuf_text(&out), "late@ex"));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void users_stand_below_their_groups(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct userprio_view plain = {0}, quotas = {.quotas = USERPRIO_QUOTAS},
                               rollup = {.rollup = true};
    ads_add(&ads, NONE);
    ads_add(&ads, "[ Name = \"physics.cms\"; IsAccountingGroup = true; PriorityFactor = 10.0;"
                  "  ConfigQuota = 0.5; EffectiveQuota = 3.0; SubtreeQuota = 3.0;"
                  "  SurplusPolicy = \"byquota\"; Requested = 7.0; WeightedResourcesUsed = 2.0 ]");
    ads_add(&ads, "[ Name = \"physics\"; IsAccountingGroup = true; PriorityFactor = 10.0;"
                  "  ConfigQuota = 6.0; EffectiveQuota = 3.0; SubtreeQuota = 6.0;"
                  "  SurplusPolicy = \"no\"; Requested = 1.0; WeightedResourcesUsed = 1.0 ]");
    ads_add(&ads, "[ Name = \"physics.cms.bob@ex\"; AccountingGroup = \"physics.cms\";"
                  "  Priority = 5.0; PriorityFactor = 10.0; WeightedResourcesUsed = 2.0 ]");
    ads_add(&ads, "[ Name = \"cat@ex\"; AccountingGroup = \"<none>\"; Priority = 5.0;"
                  "  PriorityFactor = 1000.0; WeightedResourcesUsed = 1.0 ]");
    print(&plain, &ads, &out);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "\n<none>"));
    assert_true(strstr(text, "\n<none>") < strstr(text, "\n  cat@ex"));
    assert_true(strstr(text, "\n  cat@ex") < strstr(text, "\nphysics "));
    assert_true(strstr(text, "\nphysics ") < strstr(text, "\nphysics.cms "));
    assert_true(strstr(text, "\nphysics.cms ") < strstr(text, "\n  physics.cms.bob@ex"));
    assert_non_null(strstr(text, "Number of users: 2"));
    strbuf_fini(&out);
    print(&quotas, &ads, &out);
    assert_non_null(
        strstr(strbuf_text(&out),
               "physics.cms             3.00      0.50      3.00 byquota      2         7\n"));
    assert_null(strstr(strbuf_text(&out), "cat@ex"));
    strbuf_fini(&out);
    print(&rollup, &ads, &out);
    assert_non_null(strstr(strbuf_text(&out), "\nphysics                   6.00      no"));
    text = strstr(strbuf_text(&out), "\nphysics ");
    assert_non_null(strstr(text, "10.00      3 ")); /* its own and that of cms */
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

static void history_is_by_the_day_or_by_the_hour(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[ Name = \"ann@ex\"; BeginTime = 1795132800; WeightedUsage = 7200.0;"
                  "  Usage = 1800.0 ]");
    strbuf_init(&out, 0);
    userprio_plan_history(ads_list(&ads), ads.count, false, &CONTEXT, &out);
    ads_expect(&out, "Day (UTC)  User Name            wghted-hrs     slot-hrs\n\n"
                     "11/20/2026 ann@ex                     2.00         0.50\n");
    strbuf_init(&out, 0);
    userprio_plan_history(ads_list(&ads), ads.count, true, &CONTEXT, &out);
    ads_expect(&out, "Hour             User Name            wghted-hrs     slot-hrs\n\n"
                     "11/20/2026 00:00 ann@ex                     2.00         0.50\n");
    vec_fini(&ads, ads_destroy_one);
}

static void submitting_machines_show_their_prio(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[ Name = \"sub01\"; Prio = -3.0; Users = 2; Running = 5; Idle = 10 ]");
    strbuf_init(&out, 0);
    userprio_plan_machines(ads_list(&ads), ads.count, &CONTEXT, &out);
    ads_expect(&out, "Submitting Machine                     Prio  Users  Running     Idle\n\n"
                     "sub01                                 -3.00      2        5       10\n");
    vec_fini(&ads, ads_destroy_one);
}

UNIT_TESTS(UNIT(the_table_is_htcondors), UNIT(who_used_nothing_for_a_day_is_left_out),
           UNIT(users_stand_below_their_groups), UNIT(history_is_by_the_day_or_by_the_hour),
           UNIT(submitting_machines_show_their_prio))
