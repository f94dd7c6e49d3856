/* tests/unit/schedd/test_schedd_plan.c - the schedd's decisions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/schedd_plan.h"

#include <math.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void a_higher_prio_runs_first_then_the_older_job(void **state)
{
    (void)state;
    struct plan_order low = {1.0, 1, 0};
    struct plan_order high = {2.0, 9, 9};
    struct plan_order later = {1.0, 1, 1};
    struct plan_order later_cluster = {1.0, 2, 0};
    struct plan_order broken = {NAN, 1, 0};
    assert_true(schedd_plan_before(&high, &low));
    assert_false(schedd_plan_before(&low, &high));
    assert_true(schedd_plan_before(&low, &later));
    assert_true(schedd_plan_before(&later, &later_cluster));
    assert_false(schedd_plan_before(&low, &low));
    assert_true(schedd_plan_before(&low, &broken));
    assert_false(schedd_plan_before(&broken, &low));
}

static void prio_counts_more_than_having_run_and_that_more_than_age(void **state)
{
    (void)state;
    double old = schedd_plan_prio(0, false, 1700000000);
    assert_true(schedd_plan_prio(0, false, 1700000001) < old);
    assert_true(schedd_plan_prio(0, true, 1700000001) > old);
    assert_true(schedd_plan_prio(1, false, 1800000000) > schedd_plan_prio(0, true, 1700000000));
    /* one second is still visible beside a large priority */
    assert_true(schedd_plan_prio(1000, true, 1700000000) >
                schedd_plan_prio(1000, true, 1700000001));
}

static const struct plan_claim IDLE = {
    .job_waits = true,
    .may_run_more = true,
    .now_ms = 10000,
    .claimed_ms = 0,
    .idle_ms = 9900,
    .worklife_ms = 20000,
    .linger_ms = 200,
};

static void a_claim_takes_the_next_job(void **state)
{
    (void)state;
    struct plan_claim claim = IDLE;
    uint64_t wait_ms = 0;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_ACTIVATE);
    claim.worklife_ms = 0; /* no limit */
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_ACTIVATE);
}

static void a_claim_past_its_worklife_is_released_though_a_job_waits(void **state)
{
    (void)state;
    struct plan_claim claim = IDLE;
    uint64_t wait_ms = 0;
    claim.worklife_ms = 10001;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_ACTIVATE);
    claim.worklife_ms = 10000;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_RELEASE);
    claim.worklife_ms = 20000;
    claim.stopping = true;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_RELEASE);
}

static void an_idle_claim_lingers_for_the_rest_of_its_time_then_goes(void **state)
{
    (void)state;
    struct plan_claim claim = IDLE;
    uint64_t wait_ms = 0;
    claim.job_waits = false;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_WAIT);
    assert_int_equal(wait_ms, 100);
    claim.now_ms = 10100;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_RELEASE);
    claim = IDLE;
    claim.may_run_more = false;
    assert_int_equal(schedd_plan_next(&claim, &wait_ms), NEXT_WAIT);
}

static void the_schedd_waits_longer_than_the_startd(void **state)
{
    (void)state;
    uint64_t end_ms = schedd_plan_lease_end(1000, 600, 30);
    assert_int_equal(end_ms, 1630);
    assert_false(schedd_plan_lease_is_over(end_ms, 1629));
    assert_true(schedd_plan_lease_is_over(end_ms, 1630));
}

static void only_the_machine_itself_says_that_a_claim_is_gone(void **state)
{
    (void)state;
    assert_true(schedd_plan_claim_is_gone(-ENOKEY, "t1", "t1", false));
    assert_false(schedd_plan_claim_is_gone(-ENOKEY, "", "t1", false));
    assert_false(schedd_plan_claim_is_gone(-ENOKEY, "", "", false));
    assert_false(schedd_plan_claim_is_gone(-ENOKEY, "t2", "t1", false));
    assert_false(schedd_plan_claim_is_gone(0, "t1", "t1", false));
    assert_false(schedd_plan_claim_is_gone(-EAGAIN, "t1", "t1", false));
}

static void a_job_that_started_is_given_up_by_its_lease_only(void **state)
{
    (void)state;
    assert_false(schedd_plan_claim_is_gone(-ENOKEY, "t1", "t1", true));
}

static void a_job_whose_machine_was_booted_since_is_given_up_at_once(void **state)
{
    (void)state;
    assert_true(schedd_plan_claim_is_gone(-ESTALE, "t1", "t1", true));
    assert_true(schedd_plan_claim_is_gone(-ESTALE, "t1", "t1", false));
    assert_false(schedd_plan_claim_is_gone(-ESTALE, "", "t1", true));
    assert_false(schedd_plan_claim_is_gone(-ESTALE, "t2", "t1", true));
}

static void a_start_that_is_late_names_who_was_not_there(void **state)
{
    (void)state;
    assert_string_equal(schedd_plan_start_late(false), "the shadow did not start in time");
    assert_memory_equal(schedd_plan_start_late(true), "the startd was not connected", 28);
}

static void a_resume_is_accepted_for_the_job_and_epoch_that_were_given_last(void **state)
{
    (void)state;
    struct plan_resume resume = {.has_job = true,
                                 .same_job = true,
                                 .same_epoch = true,
                                 .startd_has_starter = true};
    assert_int_equal(schedd_plan_resume(&resume), RESUME_RUNNING);
    resume.has_job = false; /* its result is committed, the starter is about to end */
    assert_int_equal(schedd_plan_resume(&resume), RESUME_RUNNING);
    resume.same_epoch = false;
    assert_int_equal(schedd_plan_resume(&resume), RESUME_REFUSE);
    resume.same_epoch = true;
    resume.same_job = false;
    assert_int_equal(schedd_plan_resume(&resume), RESUME_REFUSE);
}

static void a_startd_without_starter_gets_its_job_anew_or_is_idle(void **state)
{
    (void)state;
    struct plan_resume resume = {.has_job = true};
    assert_int_equal(schedd_plan_resume(&resume), RESUME_AGAIN);
    resume.has_job = false;
    assert_int_equal(schedd_plan_resume(&resume), RESUME_IDLE);
    resume.lease_over = true;
    assert_int_equal(schedd_plan_resume(&resume), RESUME_REFUSE);
}

static void a_result_counts_once_and_only_of_the_current_epoch(void **state)
{
    (void)state;
    struct plan_result result = {.in_queue = true, .runs = true, .job_epoch = 3, .epoch = 3};
    assert_int_equal(schedd_plan_result(&result), RESULT_COMMIT);
    result.epoch = 2;
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE);
    result.epoch = 4;
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE);
    result.epoch = 3;
    result.runs = false;
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE); /* held */
    result.placing = true;
    assert_int_equal(schedd_plan_result(&result), RESULT_AGAIN);
    result = (struct plan_result){.finished = true, .finished_epoch = 3, .epoch = 3};
    assert_int_equal(schedd_plan_result(&result), RESULT_DONE);
    result.epoch = 2;
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE);
    result = (struct plan_result){.finished = true, .finished_epoch = 0, .epoch = 0};
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE); /* removed */
    result = (struct plan_result){.in_queue = true, .completed = true, .job_epoch = 2, .epoch = 2};
    assert_int_equal(schedd_plan_result(&result), RESULT_DONE); /* it stays in the queue */
    result.epoch = 1;
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE);
    result = (struct plan_result){.epoch = 1};
    assert_int_equal(schedd_plan_result(&result), RESULT_STALE); /* unknown */
}

static void actions_fit_the_status(void **state)
{
    (void)state;
    assert_int_equal(schedd_plan_act(ACT_REMOVE, 1, false, false), ACT_PERMISSION_DENIED);
    for (int status = 1; status <= 6; status++) {
        enum act_result expected = status == 3 ? ACT_ALREADY_DONE : ACT_SUCCESS;
        assert_int_equal(schedd_plan_act(ACT_REMOVE, status, true, false), expected);
    }
    assert_int_equal(schedd_plan_act(ACT_HOLD, 4, true, false),
                     ACT_BAD_STATUS); /* stays in the queue */
    assert_int_equal(schedd_plan_act(ACT_HOLD, 1, true, false), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_HOLD, 2, true, false), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_HOLD, 5, true, false), ACT_ALREADY_DONE);
    assert_int_equal(schedd_plan_act(ACT_HOLD, 6, true, false), ACT_BAD_STATUS);
    assert_int_equal(schedd_plan_act(ACT_RELEASE, 5, true, false), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_RELEASE, 1, true, false), ACT_BAD_STATUS);
    assert_int_equal(schedd_plan_act(ACT_VACATE, 2, true, false), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_VACATE_FAST, 1, true, false), ACT_BAD_STATUS);
    assert_int_equal(schedd_plan_act(ACT_SUSPEND, 2, true, false), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_SUSPEND, 7, true, false), ACT_ALREADY_DONE);
    assert_int_equal(schedd_plan_act(ACT_SUSPEND, 1, true, false), ACT_BAD_STATUS);
    assert_int_equal(schedd_plan_act(ACT_SUSPEND, 2, false, false), ACT_PERMISSION_DENIED);
    assert_int_equal(schedd_plan_act(ACT_CONTINUE, 7, true, false), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_CONTINUE, 2, true, false), ACT_BAD_STATUS);
    assert_int_equal(schedd_plan_act(ACT_CONTINUE, 2, true, true), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_SUSPEND, 7, true, true), ACT_SUCCESS);
    assert_int_equal(schedd_plan_act(ACT_CONTINUE, 1, true, true), ACT_BAD_STATUS);
    assert_string_equal(schedd_plan_act_name(ACT_PERMISSION_DENIED), "PermissionDenied");
}

static void a_startd_that_lets_wait_is_asked_again_and_one_that_refuses_is_not(void **state)
{
    (void)state;
    assert_int_equal(schedd_plan_dialled(0, false, false), DIALLED_EXPECT);
    assert_int_equal(schedd_plan_dialled(0, true, false), DIALLED_WAIT);
    assert_int_equal(schedd_plan_dialled(0, true, true), DIALLED_WAIT);
    assert_int_equal(schedd_plan_dialled(0, false, true), DIALLED_EXPECT);
    assert_int_equal(schedd_plan_dialled(-ENOKEY, false, true), DIALLED_LOST);
    assert_int_equal(schedd_plan_dialled(-EPERM, true, false), DIALLED_LOST);
    assert_int_equal(schedd_plan_dialled(-ETIMEDOUT, false, false), DIALLED_LOST);
    static const int UNHEARD[] = {-ECONNRESET, -ETIMEDOUT, -EHOSTUNREACH};
    for (size_t i = 0; i < sizeof(UNHEARD) / sizeof(UNHEARD[0]); i++) {
        assert_int_equal(schedd_plan_dialled(UNHEARD[i], false, true), DIALLED_ASK_AGAIN);
    }
}

static void a_machine_that_fails_again_is_avoided_for_longer_and_longer(void **state)
{
    (void)state;
    static const uint64_t WAITS_S[] = {0, 0, 10, 20, 40, 80, 160, 320, 600, 600};
    for (unsigned i = 0; i < sizeof(WAITS_S) / sizeof(WAITS_S[0]); i++) {
        assert_int_equal(schedd_plan_trouble_wait(i, 10000), WAITS_S[i] * 1000);
    }
    assert_int_equal(schedd_plan_trouble_wait(4000000000U, 10000), 600000);
    assert_false(schedd_plan_trouble_is_old(5, 1200005, 10000));
    assert_true(schedd_plan_trouble_is_old(5, 1200006, 10000));
}

static void each_so_many_th_failure_holds(void **state)
{
    (void)state;
    assert_false(schedd_plan_failures_hold(0, 3));
    assert_false(schedd_plan_failures_hold(2, 3));
    assert_true(schedd_plan_failures_hold(3, 3));
    assert_false(schedd_plan_failures_hold(4, 3));
    assert_true(schedd_plan_failures_hold(6, 3));
    assert_false(schedd_plan_failures_hold(6, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_higher_prio_runs_first_then_the_older_job),
        cmocka_unit_test(prio_counts_more_than_having_run_and_that_more_than_age),
        cmocka_unit_test(a_claim_takes_the_next_job),
        cmocka_unit_test(a_claim_past_its_worklife_is_released_though_a_job_waits),
        cmocka_unit_test(an_idle_claim_lingers_for_the_rest_of_its_time_then_goes),
        cmocka_unit_test(the_schedd_waits_longer_than_the_startd),
        cmocka_unit_test(only_the_machine_itself_says_that_a_claim_is_gone),
        cmocka_unit_test(a_job_that_started_is_given_up_by_its_lease_only),
        cmocka_unit_test(a_job_whose_machine_was_booted_since_is_given_up_at_once),
        cmocka_unit_test(a_start_that_is_late_names_who_was_not_there),
        cmocka_unit_test(a_resume_is_accepted_for_the_job_and_epoch_that_were_given_last),
        cmocka_unit_test(a_startd_without_starter_gets_its_job_anew_or_is_idle),
        cmocka_unit_test(a_result_counts_once_and_only_of_the_current_epoch),
        cmocka_unit_test(a_startd_that_lets_wait_is_asked_again_and_one_that_refuses_is_not),
        cmocka_unit_test(actions_fit_the_status),
        cmocka_unit_test(a_machine_that_fails_again_is_avoided_for_longer_and_longer),
        cmocka_unit_test(each_so_many_th_failure_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
