/* tests/unit/schedd/test_significant.c - jobs are grouped by what the negotiator says that matters.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/schedd_bed.h"
#include "tests/support/unit.h"

#include "schedd/requests/autocluster_plan.h"

#define JOB "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; Requirements = true; ProcCount = 2"

static void a_name_that_machines_look_at_divides_the_jobs_that_have_it(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    struct client *pool = client_dial(bed, 0, "", NULL, NULL);
    const struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    char path[300];
    schedd_bed_write(bed, token->token_id, path);
    struct daemon_run *run = schedd_bed_start(bed, path);
    struct client *schedd = dial_schedd(bed);
    static const char *const PROCS[] = {"[]", "[Want = 1]", "[Want = 1]", NULL};
    call_ok(schedd, VERB_SUBMIT, "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; Requirements = true]",
            PROCS);
    call_ok(schedd, VERB_SUBMIT, JOB "; Want = 2; ProcId = 0; Other = true]", NULL);
    wait_for_ads(pool, "Request", "JobCount == 5", 1);

    static const char *const NEGOTIATOR[] = {"[ MyType = \"Negotiator\"; Name = \"n\"; "
                                             "SignificantAttributes = { \"Want\", \"ProcId\", 7, "
                                             "\"not a name\" } ]",
                                             NULL};
    call_ok(pool, VERB_UPDATE, "[ Full = true; Epoch = 1; Sequence = 1 ]", NEGOTIATOR);
    wait_for_ads(pool, "Request", "true", 3);
    assert_int_equal(count_ads(pool, "Request", "JobCount == 1 && Want =?= undefined"), 1);
    assert_int_equal(count_ads(pool, "Request", "JobCount == 2 && Want == 1"), 1);
    assert_int_equal(count_ads(pool, "Request", "JobCount == 2 && Want == 2"), 1);
    assert_int_equal(count_ads(schedd, "Job", "AutoClusterId == 1"), 1);

    /* It is known at the next start, too, whoever is there; and holds for later jobs. */
    static const char *const SILENT[] = {"[ MyType = \"Negotiator\"; Name = \"n\" ]", NULL};
    call_ok(pool, VERB_UPDATE, "[ Full = true; Epoch = 1; Sequence = 2 ]", SILENT);
    client_close(schedd);
    daemon_run_destroy(run);
    run = schedd_bed_start(bed, path);
    schedd = dial_schedd(bed);
    call_ok(schedd, VERB_SUBMIT, JOB "; Want = 2]", NULL);
    call_ok(schedd, VERB_SUBMIT, JOB "; Want = 3]", NULL);
    wait_for_ads(pool, "Request", "JobCount == 4 && Want == 2", 1);
    wait_for_ads(pool, "Request", "true", 4);
    /* Numbers that the pool knew are not given to others. */
    assert_int_equal(count_ads(schedd, "Job", "AutoClusterId == 2 || AutoClusterId == 3"), 0);
    client_close(schedd);
    daemon_run_destroy(run);
    bed_destroy(bed);
}

static void what_tells_one_job_from_another_never_matters(void **state)
{
    (void)state;
    assert_false(autocluster_plan_may_matter("procid"));
    assert_false(autocluster_plan_may_matter("JobStatus"));
    assert_false(autocluster_plan_may_matter("my name"));
    assert_false(autocluster_plan_may_matter(""));
    assert_true(autocluster_plan_may_matter("WantGPU"));
    assert_true(autocluster_plan_may_matter("ClusterId"));
}

static void idle_jobs_show_why_they_got_no_slot(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    struct client *negotiator = client_dial(bed, SCOPE_READ | SCOPE_NEGOTIATOR, "", NULL, NULL);
    const struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADVERTISE, "", NULL, NULL);
    char path[300];
    schedd_bed_write(bed, token->token_id, path);
    struct daemon_run *run = schedd_bed_start(bed, path);
    struct client *schedd = dial_schedd(bed);
    /* What the submitter writes is not believed. */
    call_ok(schedd, VERB_SUBMIT, JOB "; LastRejMatchReason = \"mine\"]", NULL);
    call_ok(schedd, VERB_SUBMIT, "[Cmd = \"/bin/true\"; Iwd = \"/tmp\"; Requirements = false]",
            NULL);
    wait_for_ads(negotiator, "Request", "true", 2);
    assert_int_equal(count_ads(schedd, "Job", "LastRejMatchReason =!= undefined"), 0);
    say_why(negotiator, 1, "insufficient priority");
    say_why(negotiator, 1, "no match found"); /* the newest counts */
    say_why(negotiator, 7, "of nobody");
    assert_int_equal(count_ads(schedd, "Job",
                               "LastRejMatchReason == \\\"no match found\\\" && AutoClusterId == 1 "
                               "&& LastRejMatchNegotiator == \\\"n\\\" && time() - "
                               "LastRejMatchTime < 60 && LastRejMatchTime >= EnteredCurrentStatus"),
                     2);
    assert_int_equal(count_ads(schedd, "Job", "LastRejMatchReason =!= undefined"), 2);
    assert_int_equal(count_ads(negotiator, "Request", "LastRejMatchReason =!= undefined"), 0);
    say_why(negotiator, 1, ""); /* nothing is in the way any more */
    assert_int_equal(count_ads(schedd, "Job", "LastRejMatchReason =!= undefined"), 0);
    client_close(schedd);
    daemon_run_destroy(run);
    bed_destroy(bed);
}

UNIT_TESTS(UNIT(idle_jobs_show_why_they_got_no_slot),
           UNIT(a_name_that_machines_look_at_divides_the_jobs_that_have_it),
           UNIT(what_tells_one_job_from_another_never_matters))
