/* The rest of what HTCondor printed: what differs from it on purpose is taken away on both sides
 * before they are compared (tests/conformance/cli/README.md says what and why).
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"
#include "tests/unit/cli/samples.h"

#include "base/check.h"
#include "cli/act_plan.h"
#include "cli/listing_plan.h"
#include "cli/status/status_plan.h"
#include "cli/userprio_plan.h"

#define STATUS_NOW INT64_C(1795165200)

static char *copy_of(const char *text)
{
    static char copies[4][16384];
    static int next = 0;
    char *copy = copies[next++ % 4];
    (void)snprintf(copy, sizeof copies[0], "%s", text);
    return copy;
}

/* Every `what` becomes `with`, which is as long. */
static char *with(char *text, const char *what, const char *other)
{
    assert_int_equal(strlen(what), strlen(other));
    for (char *at = text; (at = strstr(at, what)) != NULL; at += strlen(other)) {
        memcpy(at, other, strlen(other));
    }
    return text;
}

/* The rest of the lines of text that begin with `first` is gone. */
static char *line_without(char *text, const char *first)
{
    char *at = strstr(text, first);
    assert_non_null(at);
    char *end = strchr(at, '\n');
    memmove(at, end, strlen(end) + 1);
    return text;
}

/* ---- userprio */

static void users_are(const char *sample, const struct userprio_view *view, int64_t now,
                      const char *use)
{
    struct vec ads = {0};
    struct strbuf out;
    char text[800];
    const struct ad_context context = {.now_s = now};
    (void)snprintf(text, sizeof text,
                   "[ Name = \"user@ex.example\"; PriorityFactor = 1000.0; Ceiling = -1;"
                   "  Floor = 0.0; AccountingGroup = \"<none>\"; BeginUsageTime = 1795165731;"
                   "  LastUsageTime = %lld; LastUpdate = %lld; %s ]",
                   (long long)now, (long long)now, use);
    ads_add(&ads, text);
    strbuf_init(&out, 0);
    userprio_plan_print(view, ads_list(&ads), 1, &context, &out);
    vec_fini(&ads, ads_destroy_one);
    /* a day ago, counted a second later */
    char *want = with(copy_of(sample_raw(sample)), "0+23:59", "1+00:00");
    assert_string_equal(strbuf_text(&out), want);
    strbuf_fini(&out);
}

static void users_are_shown_as_by_condor_userprio(void **state)
{
    (void)state;
    const struct userprio_view plain = {0}, all = {.all = true};
    users_are("userprio_after", &plain, 1795166100,
              "Priority = 500.14; RealPriority = 0.50014; WeightedResourcesUsed = 4.0;"
              " WeightedAccumulatedUsage = 144.0");
    users_are("userprio_all2", &all, 1795166220,
              "Priority = 500.22; RealPriority = 0.50022; WeightedResourcesUsed = 0.0;"
              " WeightedAccumulatedUsage = 216.0");
}

static void options_of_condor_userprio_choose_columns(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    const struct ad_context context = {.now_s = 1795166100};
    const struct userprio_view priority = {.columns = USERPRIO_PRIORITY},
                               usage = {.columns = USERPRIO_USAGE};
    ads_add(&ads, "[ Name = \"u@ex\"; Priority = 500.5; PriorityFactor = 1000.0;"
                  " RealPriority = 0.5; WeightedResourcesUsed = 2.0; LastUsageTime = 1795166100 ]");
    strbuf_init(&out, 0);
    userprio_plan_print(&priority, ads_list(&ads), 1, &context, &out);
    assert_non_null(strstr(strbuf_text(&out), "500.50"));
    assert_non_null(strstr(strbuf_text(&out), "Factor"));
    assert_null(strstr(strbuf_text(&out), "In Use"));
    strbuf_clear(&out);
    userprio_plan_print(&usage, ads_list(&ads), 1, &context, &out);
    assert_null(strstr(strbuf_text(&out), "500.50"));
    assert_non_null(strstr(strbuf_text(&out), "In Use"));
    assert_non_null(strstr(strbuf_text(&out), "Start Time"));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

/* ---- status */

static char *shown(const char *option, struct vec *ads)
{
    const struct ad_context context = {.now_s = STATUS_NOW};
    const struct status_how how = {.wide = false};
    struct strbuf out;
    strbuf_init(&out, 0);
    status_plan_print(status_view_find(option), &how, ads_list(ads), ads->count, &context, &out);
    vec_fini(ads, ads_destroy_one);
    char *text = copy_of(without_ours(strbuf_text(&out), 0));
    strbuf_fini(&out);
    return text;
}

/* Its name was a character shorter than the stand-in, and so were the heading's blanks. */
static void collectors_are_shown_as_by_condor_status(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Name = \"My Pool - 192.0.2.10@node001.example\"; IdleJobs = 1; HostsTotal = 4;"
                  " Machine = \"node001.example\"; RunningJobs = 0]");
    char *ours = shown("-collector", &ads), *want = copy_of(sample_text("status_collector"));
    assert_memory_equal(ours, "Name                                 Machine ", 45);
    memmove(ours + 4, ours + 5, strlen(ours + 5) + 1);
    /* the rest of the line under it has the width of what it holds in both */
    char *under = strstr(ours, "node001.example   ");
    char *theirs = strstr(want, "node001.example  ");
    assert_non_null(under);
    assert_non_null(theirs);
    assert_memory_equal(ours, want, (size_t)(strchr(want, '\n') - want));
    assert_memory_equal(under, theirs, strlen("node001.example              0          1"));
}

#define SLOT                                                                                    \
    "[Name = \"slot%d@node001.example\"; Machine = \"node001.example\"; SlotID = %d; Cpus = 1;" \
    " OpSys = \"LINUX\"; Arch = \"X86_64\"; LoadAvg = %s; State = \"Claimed\";"                 \
    " Activity = \"Busy\"; KeyboardIdle = 1500; EnteredCurrentState = 1795165199;"              \
    " EnteredCurrentActivity = 1795165199; OpSysAndVer = \"Debian12\"; %s]"

static void add_slots(struct vec *ads, const char *load, const char *more)
{
    for (int id = 1; id <= 4; id++) {
        char text[700];
        (void)snprintf(text, sizeof text, SLOT, id, id, load, more);
        ads_add(ads, text);
    }
}

/* HTCondor counts no Total in the last table, and ours has the power state at the end. */
static void states_are_shown_as_by_condor_status(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slots(&ads, "0.0", "");
    char *ours = shown("-state", &ads), *want = copy_of(sample_text("status_state"));
    char *theirs = want;
    for (int line = 0; line < 6; line++) {
        size_t length = strcspn(theirs, "\n");
        assert_memory_equal(ours, theirs, length);
        ours += strcspn(ours, "\n") + 1;
        theirs += length + 1;
    }
    assert_non_null(strstr(ours, "          Busy     4     0         0       4 "));
    assert_non_null(strstr(theirs, "          Busy     0     0         0       4 "));
    char *heading = strstr(theirs, "               Total");
    assert_memory_equal(strstr(ours, "               Total"), heading, strcspn(heading, "\n"));
}

/* Of a machine of static slots HTCondor shows what one has, we what all have together. */
static void machines_in_short_are_shown_as_by_condor_status(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slots(&ads, "0.01",
              "Memory = 1024; RecentJobStarts = 43; RecentStatsLifetimeStarter = 300");
    char *ours = shown("-compact", &ads), *want = copy_of(sample_text("status_compact"));
    size_t heading = strcspn(want, "\n");
    assert_memory_equal(ours, want, heading);
    assert_memory_equal(strstr(ours, "node001.example x64/Debian12    4S"),
                        strstr(want, "node001.example x64/Debian12    4S"), 34);
    assert_string_equal(strstr(ours, "\n\n               Total"),
                        strstr(want, "\n\n               Total"));
}

static void a_constraint_that_cannot_be_read_is_refused(void **state)
{
    (void)state;
    char *argv[] = {(char[]){"-constraint"}, (char[]){"SlotID =="}};
    struct listing listing = {0};
    struct err err;
    int at = 0;
    assert_non_null(strstr(sample_text("status_badconstraint"), "invalid constraint"));
    assert_int_equal(listing_plan_option(&listing, 2, argv, &at, NULL, &err), -EINVAL);
    assert_non_null(strstr(err.text, "SlotID =="));
    listing_fini(&listing);
}

/* ---- submitting and changing */

static void submitting_says_what_condor_submit_says(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    act_plan_submitted(6, 33, false, &out);
    /* the last line names another command */
    char *ours = line_without(copy_of(strbuf_text(&out)), "roost top -clusters 33");
    char *want = line_without(copy_of(sample_text("submit_normal")), "condor_watch_q -clusters 33");
    char *blank = strstr(want, "run: \n");
    assert_non_null(blank);
    assert_string_equal(ours, want);
    strbuf_clear(&out);
    act_plan_submitted(2, 34, true, &out);
    assert_string_equal(strbuf_text(&out), sample_text("submit_terse"));
    strbuf_fini(&out);
}

static void editing_says_what_condor_qedit_says(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    act_plan_edited("JobPrio", 1, &out);
    assert_string_equal(strbuf_text(&out), sample_text("qedit"));
    strbuf_fini(&out);
}

static void removing_all_says_what_condor_rm_says(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Success = 7]");
    strbuf_init(&out, 0);
    assert_true(act_plan_many(act_words_find("rm"), "", ads.items[0], &out));
    strbuf_putc(&out, '\n');
    assert_string_equal(strbuf_text(&out), sample_text("rm_all"));
    strbuf_fini(&out);
    vec_fini(&ads, ads_destroy_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_are_shown_as_by_condor_userprio),
        cmocka_unit_test(options_of_condor_userprio_choose_columns),
        cmocka_unit_test(collectors_are_shown_as_by_condor_status),
        cmocka_unit_test(states_are_shown_as_by_condor_status),
        cmocka_unit_test(machines_in_short_are_shown_as_by_condor_status),
        cmocka_unit_test(a_constraint_that_cannot_be_read_is_refused),
        cmocka_unit_test(submitting_says_what_condor_submit_says),
        cmocka_unit_test(editing_says_what_condor_qedit_says),
        cmocka_unit_test(removing_all_says_what_condor_rm_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
