/* tests/unit/schedd/test_submit_plan.c - what an ad of a job must have, and may not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/submit_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void check(const char *text, int expected, const char *mentions)
{
    struct ad *ad = parse(text);
    struct err err = {{0}};
    assert_int_equal(submit_plan_check_job(ad, &err), expected);
    if (mentions != NULL) {
        assert_non_null(strstr(err.text, mentions));
    }
    ad_destroy(ad);
}

static void a_job_names_its_program_and_its_directory(void **state)
{
    (void)state;
    check("[Cmd = \"/bin/true\"; Iwd = \"/tmp\"]", 0, NULL);
    check("[Iwd = \"/tmp\"]", -EINVAL, "Cmd");
    check("[Cmd = \"\"; Iwd = \"/tmp\"]", -EINVAL, "Cmd");
    check("[Cmd = \"/bin/true\"]", -EINVAL, "Iwd");
    check("[Cmd = \"/bin/true\"; Iwd = \"tmp\"]", -EINVAL, "Iwd");
    check("[Cmd = \"true\"; Iwd = \"/tmp\"]", -EINVAL, "Cmd");
    check("[Cmd = \"true\"; TransferExecutable = false; Iwd = \"/tmp\"]", 0, NULL);
}

static void what_has_a_wrong_type_is_named(void **state)
{
    (void)state;
    check("[Cmd = 7; Iwd = \"/tmp\"]", -EINVAL, "Cmd");
    check("[Cmd = \"/a\"; Iwd = \"/tmp\"; Out = 3]", -EINVAL, "Out");
    check("[Cmd = \"/a\"; Iwd = \"/tmp\"; TransferInput = {1}]", -EINVAL, "TransferInput");
    check("[Cmd = \"/a\"; Iwd = \"/tmp\"; JobPrio = \"high\"]", -EINVAL, "JobPrio");
    check("[Cmd = \"/a\"; Iwd = \"/tmp\"; JobUniverse = 9]", -EINVAL, "JobUniverse");
}

static void a_submitter_sets_neither_owner_nor_secrets(void **state)
{
    (void)state;
    struct ad *ad = parse("[Owner = \"root\"; User = \"r\"; ClusterId = 5; ClaimEpoch = 9; "
                          "ClaimId = \"x\"; Capability = \"y\"; Cmd = \"/a\"]");
    submit_plan_clean(ad);
    assert_int_equal(ad_count(ad), 1);
    assert_true(ad_has(ad, "Cmd"));
    ad_destroy(ad);
}

static void who_one_is_is_said_in_literal_strings(void **state)
{
    (void)state;
    struct err err = {{0}};
    struct ad *ad = parse("[Cmd = \"/bin/true\"; Iwd = \"/\"; FileSystemDomain = \"here\"]");
    assert_int_equal(submit_plan_check_job(ad, &err), 0);
    assert_int_equal(ad_set_expr(ad, "FileSystemDomain", "TARGET.FileSystemDomain", NULL), 0);
    assert_int_equal(submit_plan_check_job(ad, &err), -EINVAL);
    assert_non_null(strstr(err.text, "FileSystemDomain is not a string literal"));
    assert_true(submit_plan_is_ours("AuthenticatedIdentity"));
    ad_destroy(ad);
}

/* Only a job that differs from its cluster in texts is taken without a check of its own, and only
 * if no attribute of the cluster that a check reads depends on the job. */
static void a_job_that_adds_texts_to_a_plain_cluster_needs_no_check(void **state)
{
    (void)state;
    static const struct {
        const char *ad;
        bool expected;
    } CLUSTERS[] =
        {
            {"[Cmd = \"/a\"; Iwd = \"/tmp\"; Out = \"o\"; JobPrio = 3; X = 1 + 2]", true},
            {"[Cmd = \"/a\"; Iwd = \"/tmp\"; Out = strcat(X, \"o\"); X = \"1\"]", false},
            {"[Cmd = \"/a\"; Iwd = strcat(\"/\", \"a\")]", false},
            {"[Cmd = \"/a\"; Iwd = \"/tmp\"; JobPrio = 1 + 2]", false},
            {"[Cmd = \"/a\"; Iwd = \"/tmp\"; CronMinute = \"5\"]", false},
            {"[Cmd = \"/a\"]", false},
        },
      JOBS[] = {
          {"[]", true},
          {"[Arguments = \"1\"; OUT = \"o\"; Mine = 1 + 2; Number = 7]", true},
          {"[Arguments = 1]", false},
          {"[err = strcat(\"a\", \"b\")]", false},
          {"[cmd = \"/b\"]", false},
          {"[Iwd = \"b\"]", false},
          {"[JobUniverse = 7]", false},
          {"[JobPrio = \"high\"]", false},
          {"[TransferExecutable = true]", false},
          {"[CronHour = 5]", false},
          {"[FileSystemDomain = TARGET.FileSystemDomain]", false},
      };
    for (size_t i = 0; i < sizeof CLUSTERS / sizeof CLUSTERS[0]; i++) {
        struct ad *ad = parse(CLUSTERS[i].ad);
        assert_int_equal(submit_plan_is_plain(ad), CLUSTERS[i].expected);
        ad_destroy(ad);
    }
    struct ad *cluster = parse(CLUSTERS[0].ad);
    for (size_t i = 0; i < sizeof JOBS / sizeof JOBS[0]; i++) {
        struct ad *own = parse(JOBS[i].ad);
        assert_int_equal(submit_plan_adds_texts_only(own), JOBS[i].expected);
        ad_chain(own, cluster);
        assert_true(!JOBS[i].expected || submit_plan_check_job(own, NULL) == 0);
        ad_destroy(own);
    }
    ad_destroy(cluster);
}

static void defaults_fill_what_is_missing_and_only_that(void **state)
{
    (void)state;
    struct ad *ad = parse("[RequestCpus = 4; Arguments = \"a b\"]");
    submit_plan_defaults(ad, 2400);
    assert_int_equal(ad_int_or(ad, "RequestCpus", 0), 4);
    assert_int_equal(ad_int_or(ad, "RequestMemory", 0), 128);
    assert_int_equal(ad_int_or(ad, "JobLeaseDuration", 0), 2400);
    assert_string_equal(ad_string_or(ad, "Out", ""), "/dev/null");
    assert_false(ad_has(ad, "Args"));
    ad_destroy(ad);
}

static void an_ad_that_is_too_large_or_has_a_bad_name_is_refused(void **state)
{
    (void)state;
    struct err err = {{0}};
    struct ad *ad = parse("[A = \"0123456789012345678901234567890123456789\"]");
    assert_int_equal(submit_plan_check_size(ad, 1000, &err), 0);
    assert_int_equal(submit_plan_check_size(ad, 30, &err), -E2BIG);
    ad_set_int(ad, "bad name", 1);
    assert_int_equal(submit_plan_check_size(ad, 1000, &err), -EINVAL);
    assert_non_null(strstr(err.text, "bad name"));
    ad_destroy(ad);
}

static void counting_the_steps_of_a_job_leaves_no_expressions_behind(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *cluster = parse("[Cmd = \"a\"; RequestDisk = DiskUsage * 2; DiskUsage = 1]");
    struct ad *job = parse("[Args = \"1\"; Out = \"out.1\"]");
    ad_pack(pool, NULL, job);
    size_t bytes = ad_own_bytes(job);
    assert_in_range(submit_plan_steps(cluster, job), 2, 100); /* of RequestDisk, and some bytes */
    assert_int_equal(ad_own_bytes(job), bytes);
    ad_destroy(cluster);
    ad_destroy(job);
    ad_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_names_its_program_and_its_directory),
        cmocka_unit_test(what_has_a_wrong_type_is_named),
        cmocka_unit_test(a_submitter_sets_neither_owner_nor_secrets),
        cmocka_unit_test(who_one_is_is_said_in_literal_strings),
        cmocka_unit_test(a_job_that_adds_texts_to_a_plain_cluster_needs_no_check),
        cmocka_unit_test(defaults_fill_what_is_missing_and_only_that),
        cmocka_unit_test(an_ad_that_is_too_large_or_has_a_bad_name_is_refused),
        cmocka_unit_test(counting_the_steps_of_a_job_leaves_no_expressions_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
