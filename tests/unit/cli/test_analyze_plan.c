/* tests/unit/cli/test_analyze_plan.c - the form of HTCondor's analysis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/mem.h"
#include "cli/analyze_plan.h"
#include "cli/why/why_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1000};

static void analyze(const char *job_text, const char *const *slots, size_t count,
                    struct strbuf *out)
{
    struct vec ads = {0};
    struct ad *job = NULL;
    struct why_other others[8];
    assert_int_equal(ad_parse(job_text, strlen(job_text), &job, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        ads_add(&ads, slots[i]);
        others[i] = (struct why_other){.ad = ads.items[i], .weight = 1};
    }
    const struct why_question question = {.ad = job,
                                          .others = others,
                                          .other_count = count,
                                          .context = &CONTEXT};
    struct why_answer *answer = why_plan_answer(&question);
    strbuf_init(out, 0);
    analyze_plan_print(&question, answer, out);
    why_answer_destroy(answer);
    ad_destroy(job);
    vec_fini(&ads, ads_destroy_one);
}

#define SLOT                                                                              \
    "[Machine = \"node001.example\"; Arch = \"X86_64\"; OpSys = \"LINUX\"; Disk = 5000; " \
    "Memory = 500; FileSystemDomain = \"ex.example\"; Requirements = true; State = "      \
    "\"Unclaimed\"; CondorVersion = \"$CondorVersion: 25.14.0 2026-01-01 $\"]"

/* The file of the recorded answer, without the command and the heading of the schedd. */
static char *recorded(const char *name)
{
    char path[512], *text = mem_zalloc(1 << 16);
    (void)snprintf(path, sizeof path, "%s/tests/conformance/cli/%s",
                   getenv("ROOST_SRC") != NULL ? getenv("ROOST_SRC") : ".", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fread(text, 1, (1 << 16) - 1, file);
    (void)fclose(file);
    char *begin = strstr(text, "The Requirements expression");
    assert_non_null(begin);
    memmove(text, begin, strlen(begin) + 1);
    return text;
}

static void what_condor_q_printed_is_printed(void **state)
{
    (void)state;
    static const char *const SLOTS[] = {SLOT, SLOT, SLOT, SLOT};
    static const char *const FILES[] = {"q_analyze.txt", "q_better_analyze.txt"};
    for (size_t i = 0; i < 2; i++) {
        struct strbuf out;
        analyze(
            "[ClusterId = 51; ProcId = 0; JobStatus = 1; RequestMemory = 100; RequestDisk = "
            "1000; FileSystemDomain = \"ex.example\"; LastRejMatchTime = 1795166270; "
            "LastRejMatchNegotiator = \"user@node001.example\"; LastRejMatchReason = \"no match "
            "found\"; Requirements = (TARGET.NoSuch == 1) && (TARGET.Arch == \"X86_64\") && "
            "(TARGET.OpSys == \"LINUX\") && "
            "(versionGE(split(TARGET.CondorVersion)[1],\"25.12.0\") || (TARGET.Disk >= "
            "RequestDisk)) && (TARGET.Memory >= RequestMemory) && (TARGET.FileSystemDomain == "
            "MY.FileSystemDomain)]",
            SLOTS, 4, &out);
        char *expected = recorded(FILES[i]);
        ads_expect(&out, expected);
        mem_free(expected);
    }
}

static void steps_that_tell_something_are_shown(void **state)
{
    (void)state;
    static const char *const SLOTS[] = {
        "[A = 1; B = 1; Requirements = true]",
        "[A = 1; B = 2; Requirements = false; Machine = \"m\"]",
        "[A = 2; B = 2; Requirements = true; State = \"Claimed\"; RemoteUser = \"me\"]",
        "[A = 2; B = 1; Requirements = true; State = \"Claimed\"]"};
    struct strbuf out;
    analyze("[ClusterId = 1; ProcId = 2; User = \"me\"; LastMatchTime = 0; Requirements = "
            "(TARGET.A == 1 || TARGET.B == 2) && !(TARGET.A == 1 && TARGET.B == 1)]",
            SLOTS, 4, &out);
    const char *rest = strstr(strbuf_text(&out), "----- --------- ---------\n");
    assert_non_null(rest);
    assert_string_equal(
        rest, "----- --------- ---------\n"
              "[0]           2  TARGET.A == 1\n"
              "[1]           2  TARGET.B == 2\n"
              "[2]           3  [0] || [1]\n"
              "[3]           2  TARGET.A == 1\n"
              "[4]           2  TARGET.B == 1\n"
              "[5]           1  [3] && [4]\n"
              "[6]           3  ! [5]\n"
              "[7]           2  [2] && [6]\n"
              "\n\n"
              "001.002:  Run analysis summary ignoring user priority.  Of 4 slots on 2 machines,\n"
              "      2 slots are rejected by your job's requirements\n"
              "      1 slots reject your job because of their own requirements\n"
              "      1 slots match and are already running your jobs\n"
              "      0 slots match and are willing to run your job\n"
              "\n"
              "Last successful match: Thu Jan  1 00:00:00 1970\n");
    strbuf_fini(&out);
}

static void steps_that_tell_nothing_are_left_out(void **state)
{
    (void)state;
    static const char *const SLOTS[] = {"[A = 1; Requirements = true]",
                                        "[A = 2; Requirements = true]"};
    struct strbuf out;
    analyze(
        "[ClusterId = 1; ProcId = 2; Requirements = (TARGET.A == 1 || TARGET.A == 3) && TARGET.A "
        "> 0]",
        SLOTS, 2, &out);
    const char *rest = strstr(strbuf_text(&out), "----- --------- ---------\n");
    assert_non_null(rest);
    const char *const EXPECTED = "----- --------- ---------\n"
                                 "[0]           1  TARGET.A == 1\n"
                                 "[1]           0  TARGET.A == 3\n"
                                 "[3]           2  TARGET.A > 0\n"
                                 "\n\n";
    assert_memory_equal(rest, EXPECTED, strlen(EXPECTED));
    strbuf_fini(&out);
}

static void slots_that_serve_others_are_counted(void **state)
{
    (void)state;
    static const char *const SLOTS[] = {"[Requirements = true; State = \"Claimed\"]",
                                        "[Requirements = true; State = \"Unclaimed\"]"};
    struct strbuf out;
    analyze("[ClusterId = 1; ProcId = 0; Requirements = true]", SLOTS, 2, &out);
    assert_non_null(strstr(strbuf_text(&out), "      1 slots match but are serving other users\n"
                                              "      1 slots match and are willing"));
    assert_null(strstr(strbuf_text(&out), "WARNING"));
    strbuf_fini(&out);
}

static void a_job_that_is_not_idle_says_so(void **state)
{
    (void)state;
    struct strbuf out;
    analyze("[ClusterId = 1; ProcId = 0; JobStatus = 5; HoldReason = \"no\ninput\"]", NULL, 0,
            &out);
    ads_expect(&out, "001.000:  Job is held.\n\nHold reason: no?input\n\n");
    analyze("[ClusterId = 1; ProcId = 0; JobStatus = 2]", NULL, 0, &out);
    ads_expect(&out, "001.000:  Job is running.\n\n");
}

UNIT_TESTS(UNIT(what_condor_q_printed_is_printed), UNIT(steps_that_tell_something_are_shown),
           UNIT(steps_that_tell_nothing_are_left_out), UNIT(slots_that_serve_others_are_counted),
           UNIT(a_job_that_is_not_idle_says_so))
