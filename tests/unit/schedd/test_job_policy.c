/* tests/unit/schedd/test_job_policy.c - a schedd asks the policies of its jobs from time to time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

/* Until so many jobs meet the constraint; the answers to our questions let the time pass. */
static void until(struct world *world, const char *constraint, size_t count)
{
    uint64_t give_up_ms = loop_now_ms(world->loop) + LOOP_RIG_PATIENCE_MS;
    struct strbuf args;
    strbuf_init(&args, 0);
    strbuf_printf(&args, "[Constraint = \"%s\"; Projection = {\"ProcId\"}]", constraint);
    for (;;) {
        struct answer answer;
        query(world, strbuf_text(&args), &answer);
        size_t found = answer.ads.count;
        answer_fini(&answer);
        if (found == count) {
            break;
        }
        if (loop_now_ms(world->loop) > give_up_ms) {
            fail_msg("%zu jobs, not %zu: %s; the log says:\n%s", found, count, constraint,
                     strbuf_text(&world->log_text));
        }
    }
    strbuf_fini(&args);
}

static void jobs_are_held_released_and_removed_by_their_own_policies(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const procs[] = {
        "[]",
        "[PeriodicHold = NumHolds =?= undefined; PeriodicHoldReason = \"once\";"
        " PeriodicHoldSubCode = 5; PeriodicRelease = LeaveIt =!= true]",
        "[PeriodicHold = true; PeriodicHoldReason = strcat(\"as \", ProcId)]",
        "[PeriodicRemove = ProcId == 3]",
        NULL,
    };
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    until(world, "NumHolds == 1 && JobStatus == 1 && ProcId == 1", 1);
    until(world, "JobStatus == 5 && ProcId == 2 && HoldReasonCode == 3", 1);
    until(world, "true", 3);
    query(world, "[]", &answer);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 1);
    assert_string_equal(ad_string_or(answer.ads.items[1], "LastHoldReason", ""), "once");
    assert_int_equal(ad_int_or(answer.ads.items[1], "LastHoldReasonSubCode", 0), 5);
    assert_non_null(strstr(ad_string_or(answer.ads.items[1], "ReleaseReason", ""),
                           "PeriodicRelease expression"));
    assert_string_equal(ad_string_or(answer.ads.items[2], "HoldReason", ""), "as 2");
    answer_fini(&answer);
    query(world, "[Type = \"History\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 3);
    assert_string_equal(ad_string_or(answer.ads.items[0], "RemoveReason", ""),
                        "The job attribute PeriodicRemove expression 'ProcId == 3' evaluated to "
                        "TRUE");
    answer_fini(&answer);
}

static void a_policy_is_asked_after_a_restart_and_beside_jobs_that_are_gone(void **state)
{
    struct world *world = *state;
    (void)submit(world, "[" GOOD "; ProcCount = 15; PeriodicHold = RemoteHost =!= undefined]");
    restart(world);
    for (int i = 0; i < 2; i++) {
        char args[96];
        (void)submit(world, "[" GOOD "; ProcCount = 5; PeriodicRemove = ProcId == 4]");
        (void)snprintf(args, sizeof(args), "[Action = \"Remove\"; Ids = {\"%d.0\", \"%d.1\"}]",
                       i + 2, i + 2);
        act(world, args, "Success", 2);
        until(world, "ClusterId > 1", 2);
        (void)snprintf(args, sizeof(args), "[Action = \"Remove\"; Ids = {\"%d\"}]", i + 2);
        act(world, args, "Success", 2);
    }
    count_is(world, "[]", 15);
    restart(world);
    count_is(world, "[Constraint = \"JobStatus == 1\"]", 15);
}

static void the_sites_policies_are_read_with_their_names(void **state)
{
    struct world *world = *state;
    struct answer answer;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(os_read_file(world->os, world->config, 10000, &text, &length, NULL), 0);
    struct strbuf config;
    strbuf_init(&config, 0);
    strbuf_printf(&config, "%s%s", text,
                  "SYSTEM_PERIODIC_HOLD_NAMES = \"Big Odd\"\n"
                  "SYSTEM_PERIODIC_HOLD_Big = \"RequestMemory > 1000\"\n"
                  "SYSTEM_PERIODIC_HOLD_Big_REASON = \"strcat(RequestMemory, \\\" is big\\\")\"\n"
                  "SYSTEM_PERIODIC_HOLD_Big_SUBCODE = 3\n"
                  "SYSTEM_PERIODIC_HOLD_Odd = \"Odd\"\n"
                  "SYSTEM_PERIODIC_REMOVE = \"Bad =?= true\"\n");
    put(world, "roost.conf", strbuf_text(&config));
    strbuf_fini(&config);
    mem_free(text);
    restart(world);
    const char *const procs[] = {"[]", "[RequestMemory = 2000]", "[Odd = true]", "[Bad = true]",
                                 NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    until(world, "JobStatus == 5 && HoldReasonCode == 26", 2);
    until(world, "true", 3);
    query(world, "[Constraint = \"JobStatus == 5\"]", &answer);
    assert_string_equal(ad_string_or(answer.ads.items[0], "HoldReason", ""), "2000 is big");
    assert_int_equal(ad_int_or(answer.ads.items[0], "HoldReasonSubCode", 0), 3);
    assert_string_equal(ad_string_or(answer.ads.items[1], "HoldReason", ""),
                        "The system macro SYSTEM_PERIODIC_HOLD_Odd expression 'Odd' evaluated to "
                        "TRUE");
    answer_fini(&answer);
}

static void a_job_with_cron_times_gets_the_next_of_them(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const procs[] = {"[]", "[CronMinute = \"*\"]",
                                 "[CronMinute = \"*\"; DeferralTime = 77]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    query(world, "[]", &answer);
    int64_t now_s = loop_wall_s(world->loop);
    assert_false(ad_has(answer.ads.items[0], "DeferralTime"));
    for (size_t i = 1; i < 3; i++) {
        int64_t next_s = ad_int_or(answer.ads.items[i], "DeferralTime", 0);
        assert_int_equal(next_s % 60, 0);
        assert_in_range(next_s, now_s - 5, now_s + 60);
    }
    answer_fini(&answer);
}

static void a_noop_job_completes_and_nothing_of_it_is_run(void **state)
{
    struct world *world = *state;
    struct answer answer;
    char *text = NULL;
    size_t length = 0;
    struct strbuf config;
    assert_int_equal(os_read_file(world->os, world->config, 10000, &text, &length, NULL), 0);
    strbuf_init(&config, 0);
    strbuf_printf(&config, "%sPERIODIC_EXPR_INTERVAL = 0\n", text); /* it is not waited for */
    put(world, "roost.conf", strbuf_text(&config));
    strbuf_fini(&config);
    mem_free(text);
    restart(world);
    const char *const procs[] = {"[IsNoopJob = true]",
                                 "[IsNoopJob = ProcId == 1; NoopJobExitCode = 4]",
                                 "[IsNoopJob = true; NoopJobExitSignal = 9]",
                                 "[IsNoopJob = false]",
                                 "[IsNoopJob = true; JobStatus = 5]",
                                 NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    until(world, "true", 2);
    until(world, "ProcId > 2", 2);
    query(world, "[Type = \"History\"; Constraint = \"JobStatus == 4\"]", &answer);
    assert_int_equal(answer.ads.count, 3);
    int seen = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct ad *ad = answer.ads.items[i];
        switch (ad_int_or(ad, "ProcId", -1)) {
        case 0:
            seen |= ad_int_or(ad, "ExitCode", -1) == 0 ? 1 : 0;
            break;
        case 1:
            seen |= ad_int_or(ad, "ExitCode", -1) == 4 ? 2 : 0;
            break;
        default:
            seen |= ad_bool_or(ad, "ExitBySignal", false) && ad_int_or(ad, "ExitSignal", 0) == 9 &&
                            ad_int_or(ad, "NumJobStarts", -1) == 0
                        ? 4
                        : 0;
        }
    }
    assert_int_equal(seen, 7);
    answer_fini(&answer);
}

static void cron_times_that_are_none_are_refused(void **state)
{
    struct world *world = *state;
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; CronHour = \"25\"]", NULL, &answer),
                     -EINVAL);
    assert_non_null(strstr(answer.text, "CronHour"));
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; CronHour = \"5\"]", NULL, &answer), 0);
    answer_fini(&answer);
    const char *const changes[] = {"[CronHour = \"5-\"; DeferralTime = 0]", NULL};
    assert_int_equal(call(world, VERB_EDIT, "[Constraint = \"true\"]", changes, &answer), -EINVAL);
    answer_fini(&answer);
    until(world, "CronHour == \\\"5\\\"", 1);
}

/* ---- costly expressions ------------------------------------------------------------------------
 */

#define BACKTRACKS(text) "regexp(\"(a+)+$\", strcat(\"" text "b\", ProcId))"

static void jobs_whose_policy_takes_too_long_are_held_while_others_are_answered(void **state)
{
    struct world *world = *state;
    struct connection other;
    struct answer answer;
    size_t held = 0, seen = 0;
    submit(world, "[" GOOD "; ProcCount = 14; PeriodicHold = " BACKTRACKS(
                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") "]");
    dial(world, world->local, "schedd", &other);
    while (held < 14) { /* each answer comes between two slices: so some are seen half way */
        assert_int_equal(call_on(&other, VERB_QUERY, "[Constraint = \"JobStatus == 5\"]", NULL,
                                 &answer),
                         0);
        seen += answer.ads.count > 0 && answer.ads.count < 14 ? 1 : 0;
        assert_true(answer.ads.count >= held);
        held = answer.ads.count;
        if (held == 14) {
            const struct ad *job = answer.ads.items[13];
            assert_int_equal(ad_int_or(job, "HoldReasonCode", 0), 5);
            assert_string_equal(ad_string_or(job, "HoldReason", ""),
                                "The job attribute PeriodicHold takes more than 200000 steps to "
                                "evaluate");
        }
        answer_fini(&answer);
    }
    assert_true(seen >= 1);
    wire_close(other.wire);
}

static void past_an_owners_budget_only_jobs_with_cheap_policies_go_on(void **state)
{
    struct world *world = *state;
    char *text = NULL;
    size_t length = 0;
    struct strbuf config;
    assert_int_equal(os_read_file(world->os, world->config, 10000, &text, &length, NULL), 0);
    strbuf_init(&config, 0);
    strbuf_printf(&config, "%sMAX_PERIODIC_EXPR_STEPS = 300000\n", text);
    put(world, "roost.conf", strbuf_text(&config));
    strbuf_fini(&config);
    mem_free(text);
    restart(world);
    /* each below the limit of one evaluation; together more than the owner has */
    submit(world, "[" GOOD "; ProcCount = 14; PeriodicHold = " BACKTRACKS("aaaaaaaaaaaaa") "]");
    submit(world, "[" GOOD "; ProcCount = 4; PeriodicHold = JobStatus == 7 && ProcId > 3]");
    until(world, "JobStatus == 5 && HoldReasonCode == 5 && ClusterId == 1",
          7); /* seven were within it */
    count_is(world, "[Constraint = \"JobStatus == 1 && ClusterId == 2\"]", 4);
    count_is(world, "[Constraint = \"regexp(\\\"more than 2000 steps\\\", HoldReason)\"]", 7);
    assert_non_null(strstr(strbuf_text(&world->log_text), "policy.too_costly"));
    assert_non_null(strstr(strstr(strbuf_text(&world->log_text), "policy.too_costly"), world->me));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(jobs_are_held_released_and_removed_by_their_own_policies),
        CASE(a_policy_is_asked_after_a_restart_and_beside_jobs_that_are_gone),
        CASE(the_sites_policies_are_read_with_their_names),
        CASE(a_job_with_cron_times_gets_the_next_of_them),
        CASE(a_noop_job_completes_and_nothing_of_it_is_run),
        CASE(cron_times_that_are_none_are_refused),
        CASE(jobs_whose_policy_takes_too_long_are_held_while_others_are_answered),
        CASE(past_an_owners_budget_only_jobs_with_cheap_policies_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
