/* What somebody can do about a job.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/why/why_advice_plan.h"

static void advises(enum why_reason reason, const char *job, const char *expected)
{
    struct vec ads = {0};
    struct strbuf out;
    const struct why_verdict verdict = {.reason = reason};
    ads_add(&ads, job);
    strbuf_init(&out, 0);
    why_advice(ads.items[0], "4.2", &verdict, &out);
    vec_fini(&ads, ads_destroy_one);
    if (strstr(strbuf_text(&out), expected) == NULL || (expected[0] == '\0') != (out.length == 0)) {
        fail_msg("%s: %s", job, strbuf_text(&out));
    }
    strbuf_fini(&out);
}

static void a_held_job_is_told_how_it_goes_on(void **state)
{
    (void)state;
    advises(WHY_HELD, "[HoldReasonCode = 1]", "`roost release 4.2` lets the job continue");
    advises(WHY_HELD, "[HoldReasonCode = 34]", "`roost edit 4.2 RequestMemory MB`");
    advises(WHY_HELD, "[HoldReasonCode = 13]", "Correct the named file or directory");
    advises(WHY_HELD, "[HoldReasonCode = 6; HoldReasonSubCode = 13]", "`namei -l PATH` shows");
    advises(WHY_HELD, "[HoldReasonCode = 12; HoldReasonSubCode = 13]", "`namei -l PATH` shows");
    advises(WHY_HELD, "[HoldReasonCode = 34; HoldReasonSubCode = 13]", "RequestMemory MB");
    advises(WHY_HELD, "[HoldReasonCode = 26]", "A policy of the pool");
    advises(WHY_HELD, "[HoldReasonCode = 4711]", "`roost release 4.2` tries again");
    advises(WHY_HELD, "[]", "`roost release 4.2` tries again");
    advises(WHY_NO_MATCH,
            "[CkptArch = \"X86_64\"; CkptOpSys = \"LINUX\"; CkptFeatures = \"avx,fma\"]",
            "The job's checkpoint can resume only on X86_64 machines with LINUX and avx,fma "
            "(CkptArch, CkptOpSys,"
            " CkptFeatures): `roost edit 4.2 CkptAnywhere true`");
}

static void others_are_told_what_there_is_to_do(void **state)
{
    (void)state;
    advises(WHY_RUNNING, "[]", "`roost tail 4.2`");
    advises(WHY_COMPLETED, "[]", "`roost history 4.2 -l`");
    advises(WHY_MATCHED, "[]", "");
    advises(WHY_NO_SHADOW, "[]", "(chmod o+x)");
    advises(WHY_ASLEEP, "[]", "`roost power on MACHINE`");
}

static void a_machine_that_wakes_is_to_be_waited_for(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Machine = \"wn1\"; PowerState = \"Waking\"]");
    const struct why_verdict verdict = {.reason = WHY_WAKING,
                                        .places = {.sample_waking = ads.items[0]}};
    strbuf_init(&out, 0);
    why_advice(ads.items[0], "4.2", &verdict, &out);
    ads_expect(&out, "Nothing needs to be done: the job starts when the machine is up.");
    vec_fini(&ads, ads_destroy_one);
}

static void a_job_that_waits_for_a_glidein_is_sent_to_its_site(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Offline = true; PreviousName = \"x\"; GLIDEIN_Site = \"campus\"]");
    struct why_verdict verdict = {.reason = WHY_ASLEEP, .places = {.sample_waking = ads.items[0]}};
    strbuf_init(&out, 0);
    why_advice(ads.items[0], "4.2", &verdict, &out);
    ads_expect(&out, "`roost factory why campus` tells more about the site.");
    verdict.places = (struct why_places){.asleep = 2, .glideins = 2};
    strbuf_init(&out, 0);
    why_advice(ads.items[0], "4.2", &verdict, &out);
    ads_expect(&out, "`roost factory status` shows the sites.");
    vec_fini(&ads, ads_destroy_one);
}

static void factory_is(const char *factory, const char *expected)
{
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, factory);
    strbuf_init(&out, 0);
    why_factory(ads.items[0], &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out, expected);
}

static void jobs_that_are_still_to_be_made_are_explained(void **state)
{
    (void)state;
    factory_is(
        "[ClusterId = 7; JobMaterializeNextProcId = 2; TotalSubmitProcs = 20;"
        " JobMaterializePaused = 0; JobMaterializeMaxIdle = 3]",
        "Cluster 7: 18 of 20 jobs are not created yet: the cluster may have at most 3 idle jobs in "
        "the queue.\n");
    factory_is("[ClusterId = 7; JobMaterializeNextProcId = 0; TotalSubmitProcs = 20;"
               " JobMaterializePaused = 1; JobMaterializePauseReason = \"via roost hold\"]",
               "Cluster 7: 20 of 20 jobs are not created yet, and no more are being created: via "
               "roost hold.\n"
               "    `roost release 7` continues, `roost rm 7` cancels the remaining jobs.\n");
    factory_is(
        "[ClusterId = 7; JobMaterializeNextProcId = 5; TotalSubmitProcs = 20;"
        " JobMaterializePaused = -1; JobMaterializePauseReason = \"x is no number\"]",
        "Cluster 7: 15 of 20 jobs are not created yet, and no more are being created: x is no "
        "number.\n    No job can be created from the next item: run `roost rm 7`, correct "
        "the submit file, and submit the rest.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_job_is_told_how_it_goes_on),
        cmocka_unit_test(others_are_told_what_there_is_to_do),
        cmocka_unit_test(a_machine_that_wakes_is_to_be_waited_for),
        cmocka_unit_test(a_job_that_waits_for_a_glidein_is_sent_to_its_site),
        cmocka_unit_test(jobs_that_are_still_to_be_made_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
