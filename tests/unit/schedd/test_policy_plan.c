/* tests/unit/schedd/test_policy_plan.c - what policies say, as HTCondor's manual has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/policy_plan.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "classad/ad.h"

static const struct ad_context NOW = {.now_s = 10000};

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return ad;
}

struct row {
    const char *job;
    enum policy_action action;
    int code, subcode;
    const char *reason; /* NULL: not looked at */
};

static void check(const struct row *rows, size_t count, const struct policy_system *system,
                  void (*plan)(const struct ad *, const struct policy_system *,
                               const struct ad_context *, struct policy_verdict *))
{
    for (size_t i = 0; i < count; i++) {
        struct policy_verdict verdict;
        struct ad *job = ad_of(rows[i].job);
        plan(job, system, &NOW, &verdict);
        if (verdict.action != rows[i].action ||
            (verdict.action == POLICY_HOLD &&
             (verdict.code != rows[i].code || verdict.subcode != rows[i].subcode)) ||
            (rows[i].reason != NULL && strcmp(verdict.reason, rows[i].reason) != 0)) {
            fail_msg("row %zu: %s: action %d, code %d.%d, reason '%s'", i, rows[i].job,
                     (int)verdict.action, verdict.code, verdict.subcode, verdict.reason);
        }
        ad_destroy(job);
    }
}

static void a_jobs_own_policy_acts_when_it_is_true(void **state)
{
    (void)state;
    static const struct policy_system NONE = {0};
    static const struct row ROWS[] = {
        {"[JobStatus = 1]", POLICY_NONE, 0, 0, ""},
        {"[JobStatus = 2; PeriodicHold = JobStatus == 2 && time() > 9999]", POLICY_HOLD, 3, 0,
         "The job attribute PeriodicHold expression 'JobStatus == 2 && time() > 9999' evaluated to "
         "TRUE"},
        {"[JobStatus = 1; PeriodicHold = true; PeriodicHoldReason = strcat(\"a\", \"b\");"
         " PeriodicHoldSubCode = 40 + 2]",
         POLICY_HOLD, 3, 42, "ab"},
        {"[JobStatus = 1; PeriodicHold = 1; PeriodicHoldReason = 7]", POLICY_HOLD, 3, 0,
         "The job attribute PeriodicHold expression '1' evaluated to TRUE"},
        {"[JobStatus = 1; PeriodicHold = NoSuch > 3]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 1; PeriodicHold = \"x\"]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 5; PeriodicHold = true]", POLICY_NONE, 0, 0, NULL}, /* held already */
        {"[JobStatus = 4; PeriodicHold = true]", POLICY_NONE, 0, 0, NULL}, /* over already */
        {"[JobStatus = 5; HoldReasonCode = 3; PeriodicRelease = true]", POLICY_RELEASE, 0, 0, NULL},
        /* what a user holds only a user releases */
        {"[JobStatus = 5; HoldReasonCode = 1; PeriodicRelease = true]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 1; PeriodicRelease = true]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 5; PeriodicRemove = true; PeriodicRemoveReason = \"old\"]", POLICY_REMOVE, 0,
         0, "old"},
        {"[JobStatus = 4; PeriodicRemove = true]", POLICY_REMOVE, 0, 0, NULL},
        /* a hold comes before a removal, a release before it, too */
        {"[JobStatus = 2; PeriodicRemove = true; PeriodicHold = true]", POLICY_HOLD, 3, 0, NULL},
        {"[JobStatus = 5; PeriodicRemove = true; PeriodicRelease = true]", POLICY_RELEASE, 0, 0,
         NULL},
        {"[JobStatus = 2; PeriodicVacate = true; PeriodicHold = true]", POLICY_VACATE, 0, 0, NULL},
        {"[JobStatus = 1; PeriodicVacate = true]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 1; TimerRemove = 9999]", POLICY_REMOVE, 0, 0,
         "The job attribute TimerRemove expression '9999' evaluated to TRUE"},
        {"[JobStatus = 1; TimerRemove = 10000]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 1; TimerRemove = -1]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 1; TimerRemove = undefined]", POLICY_NONE, 0, 0, NULL},
    };
    check(ROWS, sizeof ROWS / sizeof *ROWS, &NONE, policy_plan_periodic);
}

static void a_job_that_lasts_too_long_is_held_with_htcondors_words(void **state)
{
    (void)state;
    static const struct policy_system NONE = {0};
    static const struct row ROWS[] = {
        {"[JobStatus = 2; AllowedJobDuration = 600; ShadowBday = 9400]", POLICY_HOLD, 46, 0,
         "The job exceeded allowed job duration of 10:00"},
        {"[JobStatus = 7; AllowedJobDuration = 600; ShadowBday = 9400]", POLICY_HOLD, 46, 0, NULL},
        {"[JobStatus = 2; AllowedJobDuration = 600; ShadowBday = 9401]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 1; AllowedJobDuration = 600; ShadowBday = 1]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 2; AllowedExecuteDuration = 7200; ShadowBday = 2000;"
         " JobCurrentStartExecutingDate = 2799]",
         POLICY_HOLD, 47, 0, "The job exceeded allowed execute duration of 2:00:00"},
        {"[JobStatus = 2; AllowedExecuteDuration = 7200; ShadowBday = 2000;"
         " JobCurrentStartExecutingDate = 2800]",
         POLICY_NONE, 0, 0, NULL},
        /* of an earlier run */
        {"[JobStatus = 2; AllowedExecuteDuration = 7200; ShadowBday = 2800;"
         " JobCurrentStartExecutingDate = 2799]",
         POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 2; AllowedJobDuration = 3 * 86400; ShadowBday = -500000]", POLICY_HOLD, 46,
         0, "The job exceeded allowed job duration of 3+00:00:00"},
        {"[JobStatus = 2; AllowedJobDuration = 30; ShadowBday = 0; PeriodicVacate = true]",
         POLICY_HOLD, 46, 0, "The job exceeded allowed job duration of 00:30"},
    };
    check(ROWS, sizeof ROWS / sizeof *ROWS, &NONE, policy_plan_periodic);
}

static void the_sites_rules_come_after_the_jobs_own(void **state)
{
    (void)state;
    struct policy_system system = {0};
    struct err err = {{0}};
    static const struct row ROWS[] = {
        {"[JobStatus = 1; Memory = 9]", POLICY_HOLD, 26, 7, "too much: 9"},
        {"[JobStatus = 1; Memory = 5]", POLICY_HOLD, 26, 0,
         "The system macro SYSTEM_PERIODIC_HOLD expression 'Memory > 4' evaluated to TRUE"},
        {"[JobStatus = 1; Memory = 9; PeriodicHold = true]", POLICY_HOLD, 3, 0, NULL},
        {"[JobStatus = 1; Memory = 9; PeriodicHold = false]", POLICY_HOLD, 26, 7, NULL},
        {"[JobStatus = 1]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 5; Old = true]", POLICY_REMOVE, 0, 0, NULL},
    };
    assert_true(policy_system_is_empty(&system));
    assert_int_equal(policy_system_add(&system, POLICY_OF_HOLD, "SYSTEM_PERIODIC_HOLD_big",
                                       "Memory > 8", "strcat(\"too much: \", Memory)", "7", &err),
                     0);
    assert_int_equal(policy_system_add(&system, POLICY_OF_HOLD, "SYSTEM_PERIODIC_HOLD",
                                       "Memory > 4", NULL, "", &err),
                     0);
    assert_int_equal(policy_system_add(&system, POLICY_OF_REMOVE, "SYSTEM_PERIODIC_REMOVE", "Old",
                                       NULL, NULL, &err),
                     0);
    assert_false(policy_system_is_empty(&system));
    check(ROWS, sizeof ROWS / sizeof *ROWS, &system, policy_plan_periodic);
    policy_system_fini(&system);
}

static void a_rule_that_can_do_nothing_is_none_and_a_bad_one_is_named(void **state)
{
    (void)state;
    struct policy_system system = {0};
    struct err err = {{0}};
    assert_int_equal(policy_system_add(&system, POLICY_OF_HOLD, "X", "false", NULL, NULL, &err), 0);
    assert_int_equal(policy_system_add(&system, POLICY_OF_HOLD, "X", "", NULL, NULL, &err), 0);
    assert_int_equal(policy_system_add(&system, POLICY_OF_HOLD, "X", NULL, NULL, NULL, &err), 0);
    assert_true(policy_system_is_empty(&system));
    assert_true(policy_system_add(&system, POLICY_OF_HOLD, "X", "true", "((", NULL, &err) < 0);
    assert_non_null(strstr(err.text, "X_REASON"));
    assert_true(policy_system_is_empty(&system));
    policy_system_fini(&system);
}

static void an_exit_is_judged_by_hold_then_remove(void **state)
{
    (void)state;
    static const struct policy_system NONE = {0};
    static const struct row ROWS[] = {
        {"[JobStatus = 2; ExitCode = 0; ExitBySignal = false]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 3; OnExitHold = ExitCode != 0;"
         " OnExitHoldReason = strcat(\"code \", ExitCode); OnExitHoldSubCode = ExitCode]",
         POLICY_HOLD, 3, 3, "code 3"},
        {"[JobStatus = 2; ExitCode = 0; OnExitHold = ExitCode != 0]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 1; OnExitRemove = ExitCode == 0]", POLICY_REQUEUE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 1; OnExitRemove = 0]", POLICY_REQUEUE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 0; OnExitRemove = ExitCode == 0]", POLICY_NONE, 0, 0, NULL},
        /* a job whose policy makes no sense must not run for ever */
        {"[JobStatus = 2; ExitSignal = 9; OnExitRemove = ExitCode == 0]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 1; OnExitRemove = \"x\"]", POLICY_NONE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 1; OnExitRemove = false; OnExitHold = true]", POLICY_HOLD, 3,
         0, NULL},
        {"[JobStatus = 2; ExitCode = 1; OnExitRemove = false; PeriodicHold = ExitCode == 1]",
         POLICY_HOLD, 3, 0, NULL},
        /* max_retries = 3 as HTCondor's submit writes it */
        {"[JobStatus = 2; ExitCode = 1; JobMaxRetries = 3; NumJobCompletions = 3;"
         " OnExitRemove = NumJobCompletions > JobMaxRetries || ExitCode == 0]",
         POLICY_REQUEUE, 0, 0, NULL},
        {"[JobStatus = 2; ExitCode = 1; JobMaxRetries = 3; NumJobCompletions = 4;"
         " OnExitRemove = NumJobCompletions > JobMaxRetries || ExitCode == 0]",
         POLICY_NONE, 0, 0, NULL},
    };
    check(ROWS, sizeof ROWS / sizeof *ROWS, &NONE, policy_plan_exit);
}

static void only_ads_with_a_policy_that_could_act_matter(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool matters;
    } ROWS[] = {
        {"[]", false},
        {"[PeriodicHold = false; PeriodicRemove = false; LeaveJobInQueue = false]", false},
        {"[PeriodicRelease = undefined; OnExitRemove = true; OnExitHold = true]", false},
        {"[PeriodicHold = JobStatus == 2]", true},
        {"[PeriodicRelease = NumJobStarts < 3]", true},
        {"[PeriodicRemove = true]", true},
        {"[PeriodicVacate = 1]", true},
        {"[LeaveJobInQueue = JobStatus == 4]", true},
        {"[AllowedJobDuration = 5]", true},
        {"[AllowedExecuteDuration = 5]", true},
        {"[TimerRemove = 5]", true},
    };
    assert_false(policy_plan_matters(NULL));
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct ad *ad = ad_of(ROWS[i].text);
        assert_int_equal(policy_plan_matters(ad), ROWS[i].matters);
        ad_destroy(ad);
    }
}

static void a_completed_job_stays_only_while_that_is_true(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool stays;
    } ROWS[] = {
        {"[JobStatus = 4]", false},
        {"[JobStatus = 4; LeaveJobInQueue = true]", true},
        {"[JobStatus = 4; LeaveJobInQueue = JobStatus == 4]", true},
        {"[JobStatus = 4; LeaveJobInQueue = time() < 10000]", false},
        {"[JobStatus = 4; LeaveJobInQueue = NoSuch]", false},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct ad *ad = ad_of(ROWS[i].text);
        assert_int_equal(policy_plan_stays(ad, &NOW), ROWS[i].stays);
        ad_destroy(ad);
    }
}

#define COSTLY "regexp(\"(a+)+$\", \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\")"

static void an_expression_that_takes_too_many_steps_holds_the_job_and_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *job;
        enum policy_action action;
        const char *named;
    } ROWS[] = {
        {"[JobStatus = 1; PeriodicHold = " COSTLY "]", POLICY_HOLD, "job attribute PeriodicHold "},
        {"[JobStatus = 2; PeriodicVacate = Mine; Mine = " COSTLY "]", POLICY_HOLD,
         "job attribute PeriodicVacate "},
        {"[JobStatus = 1; PeriodicRemove = " COSTLY " =!= 1]", POLICY_HOLD,
         "job attribute PeriodicRemove "},
        {"[JobStatus = 1; TimerRemove = " COSTLY "]", POLICY_HOLD, "job attribute TimerRemove "},
        {"[JobStatus = 2; AllowedJobDuration = " COSTLY "]", POLICY_HOLD, "AllowedJobDuration"},
        {"[JobStatus = 1; Size = " COSTLY "]", POLICY_HOLD, "system macro SYSTEM_PERIODIC_HOLD "},
        /* they rest already: there is nothing to hold */
        {"[JobStatus = 5; HoldReasonCode = 3; PeriodicRelease = " COSTLY "]", POLICY_NONE,
         "job attribute PeriodicRelease "},
        {"[JobStatus = 4; PeriodicRemove = " COSTLY "]", POLICY_NONE,
         "job attribute PeriodicRemove "},
    };
    struct policy_system system = {0};
    assert_int_equal(policy_system_add(&system, POLICY_OF_HOLD, "SYSTEM_PERIODIC_HOLD",
                                       "Size > 100", NULL, NULL, NULL),
                     0);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct ad_work work = {0};
        const struct ad_context context = {.now_s = 10000, .work = &work};
        struct policy_verdict verdict;
        struct ad *job = ad_of(ROWS[i].job);
        policy_plan_periodic(job, &system, &context, &verdict);
        ad_destroy(job);
        if (verdict.action != ROWS[i].action || !verdict.costly || verdict.code != 5 ||
            strstr(verdict.reason, ROWS[i].named) == NULL ||
            strstr(verdict.reason, "more than 200000 steps") == NULL) {
            fail_msg("row %zu: action %d, code %d, reason '%s'", i, (int)verdict.action,
                     verdict.code, verdict.reason);
        }
    }
    struct ad_work few = {.steps_max = 20}, many = {0};
    struct ad_context context = {.now_s = 10000, .work = &few};
    struct policy_verdict verdict;
    struct ad *job =
        ad_of("[JobStatus = 1; PeriodicHold = 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1 < 2]");
    policy_plan_periodic(job, &system, &context, &verdict);
    assert_int_equal(verdict.action, POLICY_HOLD);
    assert_non_null(strstr(verdict.reason, "more than 20 steps"));
    context.work = &many;
    policy_plan_periodic(job, &system, &context, &verdict);
    assert_int_equal(verdict.action, POLICY_NONE);
    assert_false(verdict.costly);
    ad_destroy(job);
    policy_system_fini(&system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_jobs_own_policy_acts_when_it_is_true),
        cmocka_unit_test(a_job_that_lasts_too_long_is_held_with_htcondors_words),
        cmocka_unit_test(the_sites_rules_come_after_the_jobs_own),
        cmocka_unit_test(a_rule_that_can_do_nothing_is_none_and_a_bad_one_is_named),
        cmocka_unit_test(an_exit_is_judged_by_hold_then_remove),
        cmocka_unit_test(only_ads_with_a_policy_that_could_act_matter),
        cmocka_unit_test(a_completed_job_stays_only_while_that_is_true),
        cmocka_unit_test(an_expression_that_takes_too_many_steps_holds_the_job_and_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
