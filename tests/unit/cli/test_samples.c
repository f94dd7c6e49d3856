/* Each listing that HTCondor printed of a scene of ten jobs and four slots, printed by us of the
 * same ads.
 *
 * Ours: the Power and Offline columns, and the rest of a schedd's address behind its '?', which we
 * have not.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"
#include "tests/unit/cli/samples.h"

#include "base/check.h"
#include "base/mem.h"
#include "cli/act_plan.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing_plan.h"
#include "cli/status/status_plan.h"
#include "cli/status/status_sort_plan.h"

#define QUEUE_NOW  1795166147 /* 11/20/26 09:15:47 UTC */
#define STATUS_NOW 1795165200

#define REQUIREMENTS                                                                    \
    "(TARGET.Arch == \"X86_64\") && (TARGET.OpSys == \"LINUX\") &&"                     \
    " (versionGE(split(TARGET.CondorVersion)[1],\"25.12.0\") || (TARGET.Disk >= "       \
    "RequestDisk)) && (TARGET.Memory >= RequestMemory) && (TARGET.FileSystemDomain == " \
    "MY.FileSystemDomain)"

static void add_job(struct vec *ads, int cluster, int proc, int status, const char *cmd,
                    const char *more)
{
    char text[1600];
    (void)snprintf(text, sizeof text,
                   "[ClusterId = %d; ProcId = %d; JobStatus = %d; Owner = \"user\"; JobPrio = 0;"
                   " JobUniverse = 5; RequestCpus = 1; NumJobStarts = 0; QDate = 1795166141;"
                   " Cmd = \"/home/user/%s\"; RequestDisk = MAX({ 1024,(TransferInputSizeMB + 1) *"
                   " 1.25 }) * 1024; Requirements = " REQUIREMENTS "; %s]",
                   cluster, proc, status, cmd, more);
    ads_add(ads, text);
}

/* The queue of the scene. */
static void add_queue(struct vec *ads)
{
    char more[400];
    for (int i = 0; i < 6; i++) {
        (void)snprintf(more, sizeof more,
                       "JobBatchName = \"survey\"; Args = \"%d\"; RequestMemory = 100; %s", i,
                       i < 4 ? "JobCurrentStartDate = 1795166142;" : "");
        if (i < 4) {
            size_t length = strlen(more);
            (void)snprintf(more + length, sizeof more - length,
                           "RemoteHost = \"slot%d@node001.example\"", i + 1);
        }
        add_job(ads, 33, i, i < 4 ? 2 : 1, "work.sh", more);
    }
    for (int i = 0; i < 2; i++) {
        add_job(ads, 34, i, 5, "work.sh",
                "Args = \"b\"; RequestMemory = 100; EnteredCurrentStatus = 1795166141;"
                " HoldReasonCode = 15; HoldReasonSubCode = 0;"
                " HoldReason = \"submitted on hold at user's request\"");
    }
    add_job(ads, 35, 0, 1, "work.sh", "Args = \"c\"; RequestMemory = 999999");
    add_job(ads, 36, 0, 1, "true", "RequestMemory = 100");
}

/* The same by batch, as a schedd counts them. */
static void add_batches(struct vec *ads)
{
#define BATCH "[Owner = \"user\"; QDate = 1795166141; ProcId = 0; "
    ads_add(ads, BATCH "ClusterId = 33; JobBatchName = \"survey\"; LastClusterId = 33;"
                       " LastProcId = 5; RunningJobs = 4; IdleJobs = 2; TotalSubmitProcs = 6]");
    ads_add(ads, BATCH "ClusterId = 34; LastClusterId = 34; LastProcId = 1; HeldJobs = 2]");
    ads_add(ads, BATCH "ClusterId = 35; IdleJobs = 1]");
    ads_add(ads, BATCH "ClusterId = 36; IdleJobs = 1]");
}

/* Leaves those of ads for which constraint (NULL: any) is true. */
static void keep(struct vec *ads, const char *constraint)
{
    struct ad_expr *expr;
    size_t kept = 0;
    if (constraint == NULL) {
        return;
    }
    assert_int_equal(ad_expr_parse(constraint, strlen(constraint), AD_OLD, &expr, NULL), 0);
    for (size_t i = 0; i < ads->count; i++) {
        if (ad_eval_bool(expr, ads->items[i], NULL, NULL) == AD_TRUE) {
            ads->items[kept++] = ads->items[i];
        } else {
            ad_destroy(ads->items[i]);
        }
    }
    ads->count = kept;
    ad_expr_destroy(expr);
}

static void is_sample(struct strbuf *out, const char *sample)
{
    char want[16384];
    (void)snprintf(want, sizeof want, "%s", sample_text(sample));
    char *rest = strstr(want, "?...");
    if (rest != NULL) {
        memmove(rest, rest + 4, strlen(rest + 4) + 1);
        char *at = strstr(want, "9618");
        assert_non_null(at);
        memmove(at + 5, at + 4, strlen(at + 4) + 1);
        at[4] = '>';
    }
    assert_false(out->failed);
    assert_string_equal(without_ours(strbuf_text(out), 0), want);
    strbuf_fini(out);
}

static void queue_is(const char *sample, const char *option, const char *constraint, bool is_empty)
{
    const struct ad_context context = {.now_s = QUEUE_NOW};
    const struct jobs_layout *layout = jobs_layout_find(option);
    struct vec ads = {0};
    struct jobs_totals all, query;
    struct strbuf out;
    assert_non_null(layout);
    if (!is_empty) {
        add_queue(&ads);
    }
    jobs_plan_count(ads_list(&ads), ads.count, &all);
    keep(&ads, constraint);
    keep(&ads, jobs_layout_constraint(layout));
    jobs_plan_count(ads_list(&ads), ads.count, &query);
    if (option[0] == '\0' && ads.count > 0) {
        vec_fini(&ads, ads_destroy_one);
        ads = (struct vec){0};
        add_batches(&ads);
    }
    strbuf_init(&out, 0);
    struct ad_context at = context;
    at.now_s += is_empty ? 4 : 0;
    jobs_plan_title("user@node001.example", "192.0.2.10:9618", &at, &out);
    jobs_plan_print(layout, ads_list(&ads), ads.count, &context, &out);
    if (jobs_layout_totals(layout)) {
        jobs_plan_footer(layout, &query, NULL, NULL, &all, &out);
    }
    vec_fini(&ads, ads_destroy_one);
    is_sample(&out, sample);
}

static void the_queue_is_shown_as_by_condor_q(void **state)
{
    (void)state;
    queue_is("q", "", NULL, false);
    queue_is("q_empty", "", NULL, true);
    queue_is("q_none", "", "ClusterId == 99999", false);
    queue_is("q_nobatch", "-nobatch", NULL, false);
    queue_is("q_constraint", "-nobatch", "JobStatus == 5", false);
    queue_is("q_run", "-run", NULL, false);
    queue_is("q_hold", "-hold", NULL, false);
    queue_is("q_idle", "-idle", NULL, false);
    queue_is("q_tot", "-tot", NULL, false);
}

/* words: what the user would write, NULL-terminated. */
static void listing_prints(const char *sample, struct vec *ads, const char *const *words)
{
    const struct ad_context context = {.now_s = QUEUE_NOW};
    char *argv[20];
    int argc = 0;
    struct listing listing = {0};
    struct err err;
    struct strbuf out;
    for (; words[argc] != NULL; argc++) {
        argv[argc] = (char *)words[argc];
    }
    for (int i = 0; i < argc; i++) {
        if (listing_plan_option(&listing, argc, argv, &i, &context, &err) != 1) {
            fail_msg("%s: %s", argv[i], err.text);
        }
    }
    char *constraint = listing_plan_constraint(&listing);
    keep(ads, constraint);
    mem_free(constraint);
    strbuf_init(&out, 0);
    listing_plan_print(&listing, ads_list(ads), ads->count, &context, &out);
    vec_fini(ads, ads_destroy_one);
    listing_fini(&listing);
    is_sample(&out, sample);
}

static void values_of_jobs_are_printed_as_by_condor_q(void **state)
{
    (void)state;
    static const struct {
        const char *sample;
        const char *words[10];
    } CASES[] = {
        {"q_af", {"-af", "ClusterId", "ProcId", "JobStatus", "NoSuch"}},
        {"q_af_ht", {"-af:ht", "ClusterId", "JobStatus", "Owner"}},
        {"q_af_j", {"-af:j", "JobStatus", "Owner"}},
        {"q_af_r", {"-af:rV", "RequestMemory", "RequestDisk", "Requirements"}},
        {"q_format", {"-format", "%d.", "ClusterId", "-format", "%d\\n", "ProcId"}},
        {"q_json",
         {"-json", "-attributes", "ClusterId,ProcId,JobStatus,RequestMemory", "-constraint",
          "JobStatus == 5"}},
        {"q_long_attrs",
         {"-long", "-attributes",
          "ClusterId,ProcId,JobStatus,Args,Arguments,RequestMemory,RequestDisk,Requirements",
          "-constraint", "JobStatus == 5"}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct vec ads = {0};
        add_queue(&ads);
        listing_prints(CASES[i].sample, &ads, CASES[i].words);
    }
}

/* ---- history */

struct past {
    int cluster, proc, status;
    const char *cmd, *args;
    int seconds;
    int64_t submitted, completed;
};

static void history_is(const char *sample, const struct past *past, size_t count)
{
    const struct ad_context context = {.now_s = QUEUE_NOW};
    struct vec ads = {0};
    struct strbuf out;
    for (size_t i = 0; i < count; i++) {
        char more[300];
        (void)snprintf(more, sizeof more,
                       "QDate = %lld; RemoteWallClockTime = %d.0; %s%lld; %s%s%s",
                       (long long)past[i].submitted, past[i].seconds,
                       past[i].completed > 0 ? "CompletionDate = " : "CompletionTime = ",
                       (long long)past[i].completed, past[i].args[0] != '\0' ? "Args = \"" : "",
                       past[i].args, past[i].args[0] != '\0' ? "\"" : "");
        add_job(&ads, past[i].cluster, past[i].proc, past[i].status, past[i].cmd, more);
    }
    strbuf_init(&out, 0);
    jobs_plan_print(jobs_layout_history(), ads_list(&ads), ads.count, &context, &out);
    vec_fini(&ads, ads_destroy_one);
    is_sample(&out, sample);
}

static void a_held_job_shows_the_memory_it_used(void **state)
{
    (void)state;
    const struct ad_context context = {.now_s = 1795166273};
    const struct jobs_layout *layout = jobs_layout_find("-nobatch");
    struct vec ads = {0};
    struct jobs_totals totals;
    struct strbuf out;
    add_job(&ads, 45, 0, 5, "exit3.sh", "QDate = 1795166165; MemoryUsage = 8");
    add_job(&ads, 49, 0, 5, "sleep",
            "QDate = 1795166165; Args = \"60\"; MemoryUsage = ((ResidentSetSize + 1023) / 1024);"
            " ResidentSetSize = 2000; RemoteWallClockTime = 4.0");
    jobs_plan_count(ads_list(&ads), ads.count, &totals);
    strbuf_init(&out, 0);
    jobs_plan_title("user@node001.example", "192.0.2.10:9618", &context, &out);
    jobs_plan_print(layout, ads_list(&ads), ads.count, &context, &out);
    jobs_plan_footer(layout, &totals, NULL, NULL, &totals, &out);
    vec_fini(&ads, ads_destroy_one);
    is_sample(&out, "who");
}

/* ---- acting */

static void acts_on(const char *command, const char *id, const char *result, const char *sample)
{
    char text[100];
    struct vec ads = {0};
    struct strbuf out;
    (void)snprintf(text, sizeof text, "[Id = \"%s\"; Result = \"%s\"]", id, result);
    ads_add(&ads, text);
    strbuf_init(&out, 0);
    bool is_done = act_plan_id(act_words_find(command), ads.items[0], &out);
    assert_int_equal(is_done, strcmp(result, "Success") == 0);
    strbuf_putc(&out, '\n');
    vec_fini(&ads, ads_destroy_one);
    const char *want = sample_text(sample);
    want += want[0] == '\n'; /* condor_hold leaves a line empty before what failed */
    assert_string_equal(strbuf_text(&out), want);
    strbuf_fini(&out);
}

static void what_was_done_is_said_as_htcondor_says_it(void **state)
{
    (void)state;
    acts_on("hold", "34.0", "Success", "hold_proc");
    acts_on("hold", "99999.0", "NotFound", "hold_missing");
    acts_on("release", "34", "Success", "release_cluster");
    acts_on("release", "99999.0", "NotFound", "release_missing");
    acts_on("rm", "51.0", "Success", "rm_job");
    acts_on("rm", "34.1", "Success", "rm_proc");
    acts_on("rm", "99999", "NotFound", "rm_missing");
}

static void past_jobs_are_shown_as_by_condor_history(void **state)
{
    (void)state;
    const int64_t at15 = 1795166141, at16 = 1795166165;
    const struct past removed[] = {
        {33, 2, 3, "work.sh", "2", 5, at15, 0}, {33, 1, 3, "work.sh", "1", 5, at15, 0},
        {33, 3, 3, "work.sh", "3", 5, at15, 0}, {33, 0, 3, "work.sh", "0", 5, at15, 0},
        {36, 0, 3, "true", "", 0, at15, 0},     {35, 0, 3, "work.sh", "c", 0, at15, 0},
        {33, 5, 3, "work.sh", "5", 0, at15, 0}, {34, 0, 3, "work.sh", "b", 0, at15, 0},
    };
    const struct past sample[] = {
        {48, 2, 4, "s2.sh", "", 2, at16, at16},    {52, 0, 3, "sleep", "60", 4, at16, 0},
        {48, 1, 4, "s2.sh", "", 2, at16, at16},    {48, 0, 4, "s2.sh", "", 2, at16, at16},
        {47, 2, 4, "s2.sh", "", 2, at16, at16},    {47, 1, 4, "s2.sh", "", 2, at16, at16},
        {46, 0, 4, "exit3.sh", "", 0, at16, at16}, {47, 0, 4, "s2.sh", "", 2, at16, at16},
        {50, 1, 3, "sleep", "60", 0, at16, 0},     {50, 0, 3, "sleep", "60", 0, at16, 0},
        {44, 0, 3, "sleep", "300", 12, at15, 0},   {37, 0, 4, "mem.sh", "", 9, at15, at16},
        {40, 0, 4, "sleep", "2", 2, at15, at15},   {41, 0, 4, "xfer.sh", "", 0, at15, at15},
    };
    const struct past signalled[] = {
        {52, 0, 3, "sleep", "60", 4, at16, 0},
        {44, 0, 3, "sleep", "300", 12, at15, 0},
        {39, 0, 4, "segv.sh", "", 0, at15, at15},
    };
    history_is("history", removed, ARRAY_COUNT(removed));
    history_is("history_sample", sample, ARRAY_COUNT(sample));
    history_is("history_since", signalled, ARRAY_COUNT(signalled));
    history_is("history_none", NULL, 0);
    struct vec ads = {0};
    for (int i = 0; i < 3; i++) {
        add_job(&ads, 33, i == 2 ? 3 : 2 - i, 3, "work.sh", "");
    }
    static const char *const WORDS[] = {"-af",       "ClusterId", "ProcId",
                                        "JobStatus", "ExitCode",  NULL};
    listing_prints("history_af", &ads, WORDS);
}

/* ---- machines */

static void add_slots(struct vec *ads, const char *more)
{
    for (int id = 1; id <= 4; id++) {
        char text[1000];
        (void)snprintf(text, sizeof text,
                       "[MyType = \"Machine\"; Name = \"slot%d@node001.example\"; SlotID = %d;"
                       " Machine = \"node001.example\"; OpSys = \"LINUX\"; Arch = \"X86_64\";"
                       " OpSysAndVer = \"Debian12\"; OpSysShortName = \"Debian\"; LoadAvg = 0.0;"
                       " Memory = 1024; Cpus = 1; KeyboardIdle = 1500; Start = true;"
                       " Requirements = Start && WithinResourceLimits; %s]",
                       id, id, more);
        ads_add(ads, text);
    }
}

#define CLAIMED                                 \
    "State = \"Claimed\"; Activity = \"Busy\";" \
    " EnteredCurrentState = 1795165199; EnteredCurrentActivity = "

static void status_is(const char *sample, const char *option, struct vec *ads,
                      const char *constraint)
{
    const struct ad_context context = {.now_s = STATUS_NOW};
    const struct status_how how = {.wide = false};
    struct strbuf out;
    keep(ads, constraint);
    strbuf_init(&out, 0);
    status_sort_default((const struct ad **)ads->items, ads->count);
    status_plan_print(status_view_find(option), &how, ads_list(ads), ads->count, &context, &out);
    vec_fini(ads, ads_destroy_one);
    assert_string_equal(without_ours(strbuf_text(&out), 6), sample_text(sample));
    strbuf_fini(&out);
}

static void machines_are_shown_as_by_condor_status(void **state)
{
    (void)state;
    struct vec ads = {0};
    add_slots(&ads, CLAIMED "1795165200");
    status_is("status", "", &ads, NULL);
    add_slots(&ads, CLAIMED "1795165200");
    status_is("status_constraint", "", &ads, "SlotID == 2");
    add_slots(&ads, CLAIMED "1795165200");
    status_is("status_none", "", &ads, "SlotID == 99");
    add_slots(&ads, CLAIMED "1795165200");
    status_is("status_absent", "-absent", &ads,
              status_view_constraint(status_view_find("-absent")));
    add_slots(&ads, "State = \"Drained\"; EnteredCurrentActivity = 1795165200;"
                    " Activity = SlotID == 4 ? \"Idle\" : \"Retiring\"");
    status_is("status_drained", "", &ads, NULL);
}

static void values_of_machines_are_printed_as_by_condor_status(void **state)
{
    (void)state;
    static const struct {
        const char *sample;
        const char *words[8];
    } CASES[] = {
        {"status_af", {"-af", "Name", "State", "Cpus", "NoSuch"}},
        {"status_af_V", {"-af:,V", "Name", "State", "Cpus", "NoSuch"}},
        {"status_af_h", {"-af:h", "Name", "State", "Cpus", "NoSuch"}},
        {"status_attributes_long",
         {"-long", "-attributes", "Name,State,Cpus,Memory,Requirements,Start", "-constraint",
          "SlotID == 1"}},
        {"status_format", {"-format", "%s ", "Name", "-format", "%d\\n", "Cpus"}},
        {"status_json", {"-json", "-attributes", "Name,State,Cpus", "-constraint", "SlotID <= 2"}},
        {"status_sort", {"-af", "Name"}},
        {"version_status", {"-af:j", "Name"}},
    };
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct vec ads = {0};
        add_slots(&ads, CLAIMED "1795165200");
        listing_prints(CASES[i].sample, &ads, CASES[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_queue_is_shown_as_by_condor_q),
        cmocka_unit_test(values_of_jobs_are_printed_as_by_condor_q),
        cmocka_unit_test(a_held_job_shows_the_memory_it_used),
        cmocka_unit_test(what_was_done_is_said_as_htcondor_says_it),
        cmocka_unit_test(past_jobs_are_shown_as_by_condor_history),
        cmocka_unit_test(machines_are_shown_as_by_condor_status),
        cmocka_unit_test(values_of_machines_are_printed_as_by_condor_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
