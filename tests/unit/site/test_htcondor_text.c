/* tests/unit/site/test_htcondor_text.c - what HTCondor's programs print, and what they are given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/htcondor_text.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/support/unit.h"

struct seen {
    struct strbuf names;
    struct batch_task last;
};

static void see_job(void *arg, const struct batch_task *task)
{
    struct seen *seen = arg;
    strbuf_printf(&seen->names, "%s=%s ", task->name, task->id);
    seen->last = *task;
}

static int read_listing(const char *json, struct seen *seen)
{
    strbuf_clear(&seen->names);
    return htcondor_text_jobs(json, strlen(json), see_job, seen, NULL);
}

static void jobs_are_glideins(void **state)
{
    static const struct {
        const char *status, *reason;
        enum batch_life life;
    } CASES[] = {
        {"1", "", BATCH_QUEUED},           {"2", "", BATCH_RUNNING},
        {"3", "removed", BATCH_ENDED},     {"4", "completed", BATCH_ENDED},
        {"5", "no  \"disk\"", BATCH_HELD}, {"6", "", BATCH_RUNNING},
        {"7", "", BATCH_RUNNING},          {"8", "", BATCH_QUEUED},
    };
    struct seen seen;
    (void)state;
    strbuf_init(&seen.names, 0);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct strbuf json;
        strbuf_init(&json, 0);
        strbuf_printf(&json,
                      "[\n{ \"ClusterId\": 7, \"ProcId\": 0, \"JobStatus\": %s, \"HoldReason\": "
                      "\"no \\n\\\"disk\\\"\", \"RoostGlidein\": \"f-s-1.3\" }\n]\n",
                      CASES[i].status);
        assert_int_equal(read_listing(strbuf_text(&json), &seen), 0);
        assert_string_equal(strbuf_text(&seen.names), "f-s-1.3=7.0 ");
        assert_int_equal(seen.last.life, CASES[i].life);
        assert_string_equal(seen.last.reason, CASES[i].reason);
        strbuf_fini(&json);
    }
    strbuf_fini(&seen.names);
}

static void other_jobs_are_skipped_and_nothing_is_an_empty_queue(void **state)
{
    struct seen seen;
    (void)state;
    strbuf_init(&seen.names, 0);
    assert_int_equal(read_listing("", &seen), 0);
    assert_int_equal(read_listing(" \n", &seen), 0);
    assert_int_equal(read_listing("[]", &seen), 0);
    assert_int_equal(
        read_listing("[{\"ClusterId\":1,\"ProcId\":0,\"JobStatus\":1},"
                     "{\"ClusterId\":1,\"ProcId\":1,\"JobStatus\":1,\"RoostGlidein\":"
                     "\"a b.1\"},"
                     "{\"ClusterId\":1,\"ProcId\":2,\"JobStatus\":1,\"RoostGlidein\":7},"
                     "{\"ClusterId\":1,\"ProcId\":3,\"JobStatus\":5,\"RoostGlidein\":"
                     "\"f.9\"}]",
                     &seen),
        0);
    assert_string_equal(strbuf_text(&seen.names), "f.9=1.3 ");
    assert_string_equal(seen.last.reason, "no reason is known");
    strbuf_fini(&seen.names);
}

static void what_is_not_a_whole_listing_is_none(void **state)
{
    static const char WHOLE[] =
        "[{\"ClusterId\":1,\"ProcId\":3,\"JobStatus\":5,\"RoostGlidein\":\"f.9\"}]";
    static const char *const BAD[] = {"{}",
                                      "error",
                                      "[1]",
                                      "[] []",
                                      "[{\"ClusterId\":1}]",
                                      "[{\"ClusterId\":0,\"ProcId\":3,\"JobStatus\":5}]",
                                      "[{\"ClusterId\":1,\"ProcId\":-3,\"JobStatus\":5}]",
                                      "[{\"ClusterId\":1,\"ProcId\":3,\"JobStatus\":\"5\"}]"};
    struct seen seen;
    (void)state;
    strbuf_init(&seen.names, 0);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        if (read_listing(BAD[i], &seen) != -EPROTO) {
            fail_msg("%s", BAD[i]);
        }
    }
    for (size_t length = 1; length < strlen(WHOLE); length++) {
        assert_int_equal(htcondor_text_jobs(WHOLE, length, see_job, &seen, NULL), -EPROTO);
    }
    strbuf_fini(&seen.names);
}

static void a_no_is_told_from_a_failure(void **state)
{
    static const struct {
        const char *text;
        enum site_result result;
    } CASES[] = {
        {"ERROR: Number of submitted jobs would exceed MAX_JOBS_PER_OWNER ERROR: Failed to create "
         "proc",
         SITE_REFUSES},
        {"ERROR: Number of submitted jobs would exceed MAX_JOBS_SUBMITTED", SITE_REFUSES},
        {"ERROR: Parse error in expression:  Requirements = ((a)", SITE_WRONG},
        {"ERROR: Executable file /nope does not exist", SITE_WRONG},
        {"condor_submit: unknown host nope", SITE_FAILS},
        {"ERROR: Can't find address of local schedd", SITE_FAILS},
        {"ERROR: Cannot allocate a cluster id", SITE_FAILS},
        {"", SITE_FAILS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        if (htcondor_text_refusal(CASES[i].text) != CASES[i].result) {
            fail_msg("%s", CASES[i].text);
        }
    }
}

static void only_harmless_commands_are_passed_on(void **state)
{
    static const char *const GOOD[] = {"rank=Memory", "+Project=\"x\"", "priority=-5"};
    static const char *const BAD[] = {
        "executable=/bin/id", "rank",       "=x", "+=1", "+a b=1", "+roostglidein=1", "queue=5", "",
        "rank=1\nqueue 9",    "getenv=true"};
    (void)state;
    assert_int_equal(htcondor_text_extra(GOOD, 3, NULL), 0);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_equal(htcondor_text_extra(&BAD[i], 1, NULL), -EINVAL);
    }
}

static void check_has(struct strbuf *text, const char *part)
{
    if (strstr(strbuf_text(text), part) == NULL) {
        fail_msg("'%s' is not in: %s", part, strbuf_text(text));
    }
}

static void the_description_quotes_words_and_has_no_secret(void **state)
{
    static const int64_t NUMBERS[] = {1, 3};
    static const char *const EXTRA[] = {"rank=Memory"};
    const char *arguments[] = {"--pool", "it's \"$HOME\""};
    const struct site_request request = {.batch = "f-s-1",
                                         .secret = "hidden",
                                         .arguments = arguments,
                                         .argument_count = 2,
                                         .cpus = 2,
                                         .memory_mib = 64,
                                         .lifetime_s = 600};
    const struct batch_array array = {.request = &request,
                                      .pilot = "/the $pilot",
                                      .offset = 1000,
                                      .numbers = NUMBERS,
                                      .count = 2};
    struct htcondor_submission submission = {.array = &array,
                                             .directory = "/d",
                                             .requirements = "Memory > 1",
                                             .accounting_group = "group_x",
                                             .transfer = true,
                                             .extra = EXTRA,
                                             .extra_count = 1};
    struct strbuf out;
    (void)state;
    strbuf_init(&out, 0);
    htcondor_text_description(&submission, &out);
    assert_null(strstr(strbuf_text(&out), "hidden"));
    check_has(&out, "executable = /the $(DOLLAR)pilot\n");
    check_has(&out, "arguments = \" '--token' 'f-s-1.$(Number).token' '--name' 'f-s-1.$(Number)' "
                    "'--pool' 'it''s \"\"$(DOLLAR)HOME\"\"'\"\n");
    check_has(&out, "transfer_input_files = f-s-1.$(Number).token\n");
    check_has(&out, "EnteredCurrentStatus > 900)");
    check_has(&out, " && (Memory > 1)\n");
    check_has(&out, "accounting_group = group_x\nrank=Memory\n");
    check_has(&out, "queue Number from (\n1001\n1003\n)\n");
    strbuf_clear(&out);
    submission.transfer = false;
    htcondor_text_description(&submission, &out);
    check_has(&out, "'--token' '/d/f-s-1.$(Number).token'");
    check_has(&out, "should_transfer_files = NO\n");
    assert_null(strstr(strbuf_text(&out), "transfer_input_files"));
    strbuf_fini(&out);
}

UNIT_TESTS(UNIT(jobs_are_glideins), UNIT(other_jobs_are_skipped_and_nothing_is_an_empty_queue),
           UNIT(what_is_not_a_whole_listing_is_none), UNIT(a_no_is_told_from_a_failure),
           UNIT(only_harmless_commands_are_passed_on),
           UNIT(the_description_quotes_words_and_has_no_secret))
