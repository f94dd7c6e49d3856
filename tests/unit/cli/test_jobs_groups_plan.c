/* Jobs counted by what they share; machines that wake.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/jobs/jobs_groups_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147}; /* 11/20/26 09:15:47 UTC */

static void add_jobs(struct vec *ads)
{
    ads_add(ads, "[ClusterId = 33; ProcId = 0; JobStatus = 2; Owner = \"user\"; AutoClusterId = 1;"
                 " JobBatchName = \"b\"; TotalSubmitProcs = 2; QDate = 1795166140]");
    ads_add(ads, "[ClusterId = 33; ProcId = 1; JobStatus = 5; Owner = \"user\"; AutoClusterId = 1;"
                 " JobBatchName = \"b\"; TotalSubmitProcs = 2; HoldReasonCode = 13;"
                 " HoldReasonSubCode = 2; EnteredCurrentStatus = 1795166100;"
                 " HoldReason = \"no input\"]");
    ads_add(ads, "[ClusterId = 34; ProcId = 0; JobStatus = 5; Owner = \"user\"; AutoClusterId = 2;"
                 " JobBatchName = \"b\"; TotalSubmitProcs = 4; HoldReasonCode = 13;"
                 " HoldReasonSubCode = 2; EnteredCurrentStatus = 1795166000;"
                 " HoldReason = \"other input\"]");
    ads_add(ads, "[ClusterId = 35; ProcId = 0; JobStatus = 1; Owner = \"ann\"; AutoClusterId = 1]");
}

static struct jobs_groups *grouped(enum jobs_grouping grouping, bool held_only)
{
    struct jobs_groups *groups = jobs_groups_create(grouping);
    struct vec ads = {0};
    add_jobs(&ads);
    for (size_t i = 0; i < ads.count; i++) {
        if (!held_only || ad_int_or(ads.items[i], "JobStatus", 0) == 5) {
            jobs_groups_add(groups, ads.items[i]);
        }
    }
    vec_fini(&ads, ads_destroy_one);
    return groups;
}

static void prints(enum jobs_grouping grouping, bool held_only, const char *expected)
{
    struct jobs_groups *groups = grouped(grouping, held_only);
    struct strbuf out;
    strbuf_init(&out, 0);
    jobs_groups_print(groups, &CONTEXT, &out);
    jobs_groups_destroy(groups);
    ads_expect(&out, expected);
}

static void autoclusters_are_counted(void **state)
{
    (void)state;
    prints(JOBS_BY_AUTOCLUSTER, false,
           " AUTO_ID JOB_COUNT\n"
           "       1         3\n"
           "       2         1\n");
}

static void holds_are_counted_by_their_codes(void **state)
{
    (void)state;
    prints(JOBS_BY_HOLD_CODE, true,
           "OWNER          CODE/SUB  COUNT  HELD_SINCE HOLD_REASON\n"
           "user               13/2      2 11/20 09:13 no input\n");
}

static void jobs_of_a_file_make_batches(void **state)
{
    (void)state;
    struct jobs_groups *groups = grouped(JOBS_BY_BATCH, false);
    size_t count;
    const struct ad *const *list = jobs_groups_list(groups, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ad_int_or(list[0], "RunningJobs", -1), 1);
    assert_int_equal(ad_int_or(list[0], "HeldJobs", -1), 2);
    assert_int_equal(ad_int_or(list[0], "LastClusterId", -1), 34);
    assert_int_equal(ad_int_or(list[0], "TotalSubmitProcs", -1), 6);
    assert_int_equal(ad_int_or(list[1], "IdleJobs", -1), 1);
    jobs_groups_destroy(groups);
}

static void factories_are_a_line_each(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[ClusterId = 7; Owner = \"user\"; QDate = 1795166140; JobMaterializeLimit = 4;"
                  " PresentJobs = 4; RunningJobs = 1; IdleJobs = 3; HeldJobs = 0;"
                  " JobMaterializeNextProcId = 9; TotalSubmitProcs = 20; JobMaterializePaused = 1;"
                  " JobMaterializePauseReason = \"a\x1b[2J\"]");
    strbuf_init(&out, 0);
    jobs_groups_factories(ads_list(&ads), 1, &CONTEXT, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, " ID    OWNER            SUBMITTED  LIMIT PRESNT    RUN   IDLE   HOLD NEXTID"
                     "  TOTAL MODE\n"
                     "7      user           11/20 09:15      4      4      1      3      0      9"
                     "     20 held: a?[2J\n");
}

static void machines_that_wake_are_named_once(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    jobs_groups_waking(NULL, 0, &CONTEXT, &out);
    assert_string_equal(strbuf_text(&out), "");
    for (int i = 0; i < 14; i++) {
        char text[100];
        (void)snprintf(text, sizeof text, "[Machine = \"wn%d\"; EnteredPowerState = 1795166137]",
                       i / 2);
        ads_add(&ads, text);
    }
    jobs_groups_waking(ads_list(&ads), 2, &CONTEXT, &out);
    assert_string_equal(strbuf_text(&out), "Being woken: wn0 (10 s)\n\n");
    strbuf_clear(&out);
    jobs_groups_waking(ads_list(&ads), ads.count, &CONTEXT, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, "Being woken: wn0 (10 s), wn1 (10 s), wn2 (10 s), wn3 (10 s), wn4 (10 s)"
                     " and 2 more\n\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(autoclusters_are_counted),
        cmocka_unit_test(holds_are_counted_by_their_codes),
        cmocka_unit_test(jobs_of_a_file_make_batches),
        cmocka_unit_test(factories_are_a_line_each),
        cmocka_unit_test(machines_that_wake_are_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
