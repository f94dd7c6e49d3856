/* What `roost history --summary` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/jobs/history_plan.h"

#define NOW 1795166147 /* 11/20/26 09:15:47 UTC */

static void expect(struct vec *ads, const char *text)
{
    const struct ad_context context = {.now_s = NOW};
    struct history_summary *summary = history_summary_create();
    struct strbuf out;
    strbuf_init(&out, 0);
    for (size_t i = 0; i < ads->count; i++) {
        history_summary_add(summary, ads->items[i]);
    }
    history_summary_print(summary, &context, &out);
    history_summary_destroy(summary);
    vec_fini(ads, ads_destroy_one);
    ads_expect(&out, text);
}

#define HEAD                                                                                       \
    "OWNER             JOBS    DONE FAILED REMOVED    RUNS WALL_HOURS LOST_HOURS CPU_HOURS   %   " \
    "     LAST\n"

static void each_user_has_a_line_who_used_most_first(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Owner = \"amy\"; JobStatus = 4; ExitCode = 0; RemoteWallClockTime = 1800.0; "
                  "CommittedTime = 1801;"
                  " RemoteUserCpu = 900.0; RemoteSysCpu = 0.0; NumJobStarts = 1;"
                  " CompletionDate = 1795166140]");
    ads_add(&ads, "[Owner = \"bob\"; JobStatus = 4; ExitCode = 3; RemoteWallClockTime = 3600.0; "
                  "CommittedTime = 2880;"
                  " RemoteUserCpu = 3000.0; RemoteSysCpu = 600.0; NumJobStarts = 2;"
                  " RequestCpus = 2; CompletionDate = 1795166080]");
    ads_add(&ads, "[Owner = \"bob\"; JobStatus = 4; ExitBySignal = true; NumJobStarts = 1]");
    ads_add(&ads, "[Owner = \"bob\"; JobStatus = 3; EnteredCurrentStatus = 1795166020]");
    expect(
        &ads, HEAD
        "bob                  3       0      2       1       3       1.00       0.20      1.00  50 "
        "11/20 09:14\n"
        "amy                  1       1      0       0       1       0.50       0.00      0.25  50 "
        "11/20 09:15\n"
        "Total                4       1      2       1       4       1.50       0.20      1.25  50 "
        "11/20 09:15\n");
}

static void nobody_used_nothing(void **state)
{
    (void)state;
    struct vec ads = {0};
    expect(
        &ads, HEAD
        "Total                0       0      0       0       0       0.00       0.00      0.00   "
        "_\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_user_has_a_line_who_used_most_first),
        cmocka_unit_test(nobody_used_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
