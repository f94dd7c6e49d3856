/* What `roost rm`, `hold`, `release` and `wait` say.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/act_plan.h"
#include "cli/wait_plan.h"

static struct ad *parse(const char *text)
{
    struct vec one = {0};
    ads_add(&one, text);
    struct ad *ad = one.items[0];
    vec_fini(&one, NULL);
    return ad;
}

static void expect_id(const char *command, const char *answer, bool is_done, const char *text)
{
    struct ad *ad = parse(answer);
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(act_plan_id(act_words_find(command), ad, &out), is_done);
    ad_destroy(ad);
    ads_expect(&out, text);
}

static void expect_many(const char *command, const char *what, const char *totals, bool is_done,
                        const char *text)
{
    struct ad *ad = parse(totals);
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(act_plan_many(act_words_find(command), what, ad, &out), is_done);
    ad_destroy(ad);
    ads_expect(&out, text);
}

static void what_was_done_to_a_job_is_said_as_htcondor_says_it(void **state)
{
    (void)state;
    expect_id("rm", "[Id = \"51.0\"; Result = \"Success\"]", true, "Job 51.0 marked for removal");
    expect_id("hold", "[Id = \"34.0\"; Result = \"Success\"]", true, "Job 34.0 held");
    expect_id("release", "[Id = \"34.0\"; Result = \"Success\"]", true, "Job 34.0 released");
    expect_id("release", "[Id = \"34\"; Result = \"Success\"]", true,
              "All jobs in cluster 34 have been released");
    expect_id("rm", "[Id = \"34\"; Result = \"Success\"]", true,
              "All jobs in cluster 34 have been marked for removal");
    expect_many("rm", "", "[Success = 3]", true, "All jobs have been marked for removal");
    expect_many("hold", "of user bob", "[Success = 1]", true,
                "All jobs of user bob have been held");
}

static void expect_checkpoint(const char *answer, bool is_done, const char *text)
{
    struct ad *ad = parse(answer);
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(act_plan_checkpoint(ad, &out), is_done);
    ad_destroy(ad);
    ads_expect(&out, text);
}

static void a_checkpoint_that_was_taken_or_not_is_told_for_each_job(void **state)
{
    (void)state;
    expect_checkpoint("[Id = \"3.1\"; Result = \"Success\"; CkptSequence = 4; CkptSeconds = 1.26]",
                      true, "Job 3.1 was checkpointed (number 4, 1.3 s)");
    expect_checkpoint("[Id = \"3.1\"; Result = \"Failed\"; Reason = \"descriptor 3 is a socket\"]",
                      false, "Job 3.1 could not be checkpointed: descriptor 3 is a socket");
    expect_checkpoint("[Id = \"3.1\"; Result = \"NotWanted\"]", false,
                      "Job 3.1 is not checkpointed: it was submitted without checkpoint = true");
    expect_checkpoint("[Id = \"3.1\"; Result = \"BadStatus\"]", false,
                      "Job 3.1 is not running: there is nothing to checkpoint");
    expect_checkpoint("[Id = \"3.1\"; Result = \"PermissionDenied\"]", false,
                      "Permission denied to checkpoint job 3.1: it is another user's");
    assert_null(
        act_words_action(act_words_find("checkpoint"), true)); /* it has a verb of its own */
}

static void an_answer_is_to_its_job_and_its_cluster(void **state)
{
    (void)state;
    struct ad *answer = parse("[Id = \"12.3\"]");
    assert_true(act_plan_answers(answer, "12.3"));
    assert_true(act_plan_answers(answer, "12"));
    assert_false(act_plan_answers(answer, "1"));
    assert_false(act_plan_answers(answer, "12.30"));
    assert_false(act_plan_answers(answer, "13"));
    ad_destroy(answer);
    answer = parse("[Id = \"12.30\"]");
    assert_false(act_plan_answers(answer, "12.3"));
    ad_destroy(answer);
}

static void what_could_not_be_done_is_said_with_the_reason(void **state)
{
    (void)state;
    expect_id("hold", "[Id = \"99999.0\"; Result = \"NotFound\"]", false, "Job 99999.0 not found");
    expect_id("rm", "[Id = \"99999\"; Result = \"NotFound\"]", false,
              "Couldn't find/remove all jobs in cluster 99999");
    expect_id("hold", "[Id = \"3.1\"; Result = \"AlreadyDone\"]", false, "Job 3.1 already held");
    expect_id("release", "[Id = \"3.1\"; Result = \"BadStatus\"]", false,
              "Job 3.1 is not held: there is nothing to release");
    expect_id("rm", "[Id = \"3.1\"; Result = \"PermissionDenied\"]", false,
              "Permission denied to remove job 3.1: it is another user's");
    expect_many("release", "matching constraint (x)", "[Success = 0]", false,
                "Couldn't find/release all jobs matching constraint (x)");
    expect_many("rm", "", "[Success = 2; PermissionDenied = 3]", false,
                "All jobs have been marked for removal, except 3 of other users");
    expect_many("rm", "", "[PermissionDenied = 3]", false,
                "Permission denied to remove 3 jobs: they are other users'");
}

static void vacate_fast_is_another_action(void **state)
{
    (void)state;
    assert_string_equal(act_words_action(act_words_find("vacate"), true), "VacateFast");
    assert_string_equal(act_words_action(act_words_find("vacate"), false), "Vacate");
    assert_string_equal(act_words_action(act_words_find("suspend"), false), "Suspend");
    assert_string_equal(act_words_action(act_words_find("continue"), false), "Continue");
    assert_string_equal(act_words_action(act_words_find("rm"), false), "Remove");
    assert_null(act_words_find("nosuch"));
}

static void expect_outcome(const char *job, const char *text)
{
    struct ad *ad = parse(job);
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_true(wait_plan_is_over(ad));
    wait_plan_outcome("7.1", ad, &out);
    ad_destroy(ad);
    ads_expect(&out, text);
}

static void wait_says_how_a_job_ended(void **state)
{
    (void)state;
    expect_outcome("[JobStatus = 4; ExitCode = 3; ExitBySignal = false]",
                   "Job 7.1 completed, exit status 3");
    expect_outcome("[JobStatus = 4; ExitSignal = 11; ExitBySignal = true]",
                   "Job 7.1 completed, ended by signal 11");
    expect_outcome("[JobStatus = 3]", "Job 7.1 was removed");
    expect_outcome("[JobStatus = 4]", "Job 7.1 completed");
}

static void a_job_in_any_other_state_is_not_over(void **state)
{
    (void)state;
    static const int STATES[] = {0, 1, 2, 5, 6, 7};
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
        struct ad *job = ad_create();
        ad_set_int(job, "JobStatus", STATES[i]);
        assert_false(wait_plan_is_over(job));
        ad_destroy(job);
    }
}

static void an_edit_may_be_written_with_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(act_plan_assigned("JobPrio=3"), 7);
    assert_int_equal(act_plan_assigned("Env=\"a==b\""), 3);
    assert_int_equal(act_plan_assigned("Cmd==3"), 0);
    assert_int_equal(act_plan_assigned("Cmd=?=3"), 0);
    assert_int_equal(act_plan_assigned("Cmd=!=3"), 0);
    assert_int_equal(act_plan_assigned("JobPrio="), 0);
    assert_int_equal(act_plan_assigned("JobPrio"), 0);
    assert_int_equal(act_plan_assigned("=3"), 0);
    assert_int_equal(act_plan_assigned("a b=3"), 0);
    assert_int_equal(act_plan_assigned("JobPrio>=3"), 0);
}

UNIT_TESTS(UNIT(what_was_done_to_a_job_is_said_as_htcondor_says_it),
           UNIT(what_could_not_be_done_is_said_with_the_reason),
           UNIT(a_checkpoint_that_was_taken_or_not_is_told_for_each_job),
           UNIT(an_answer_is_to_its_job_and_its_cluster), UNIT(vacate_fast_is_another_action),
           UNIT(wait_says_how_a_job_ended), UNIT(a_job_in_any_other_state_is_not_over),
           UNIT(an_edit_may_be_written_with_an_equals_sign))
