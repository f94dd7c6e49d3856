/* The decisions of draining, held against the seed document "Whole Machine Draining", whose
 * sentences are quoted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "classad/ad.h"
#include "drain/drain_plan.h"

#define NOW   INT64_C(1764000000)
#define SLOTS 4

static struct drain_slot slot(enum drain_place place, int64_t run_s, int64_t retirement_s)
{
    return (struct drain_slot){.place = place,
                               .requested = true,
                               .run_s = run_s,
                               .retirement_s = retirement_s};
}

static struct drain_estimates estimate(const struct drain_slot *slots, size_t count)
{
    struct drain_estimates ret;
    drain_plan_estimate(slots, count, false, 0, NOW, &ret);
    return ret;
}

/* ---- estimates */

/* "In the fast draining case, badput shall be computed as the sum of the runtime of all existing
 * jobs." */
static void fast_badput_is_the_sum_of_run_times_and_ends_now(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500),
                                       slot(DRAIN_AT_SUSPENDED, 20, 0),
                                       slot(DRAIN_AT_VACATING, 3, 0),
                                       slot(DRAIN_AT_UNCLAIMED, 1000, 1000),
                                       slot(DRAIN_AT_CLAIMED_IDLE, 1000, 1000)};
    struct drain_estimates cost = estimate(slots, 5);
    assert_int_equal(cost.fast.badput_s, 123);
    assert_int_equal(cost.fast.completion_s, NOW);
}

/* "graceful badput be computed with the assumption that existing jobs will run for the whole
 * promised retirement time and will then be evicted"; "assume eviction time is 0" */
static void graceful_badput_adds_the_whole_promised_retirement(void **state)
{
    (void)state;
    struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500), slot(DRAIN_AT_RUNNING, 20, 30),
                                 slot(DRAIN_AT_RUNNING, 7, 0)};
    slots[0].vacate_s = slots[1].vacate_s = 600;
    struct drain_estimates cost = estimate(slots, 3);
    assert_int_equal(cost.graceful.badput_s, 100 + 500 + 20 + 30 + 7);
    assert_int_equal(cost.graceful.completion_s, NOW + 500);
}

static void an_idle_machine_is_drained_at_once_for_nothing(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_OWNER, 0, 0), slot(DRAIN_AT_UNCLAIMED, 0, 0),
                                       slot(DRAIN_AT_MATCHED, 0, 0),
                                       slot(DRAIN_AT_DRAINED_IDLE, 0, 0)};
    struct drain_estimates cost = estimate(slots, 4);
    assert_int_equal(cost.graceful.completion_s, NOW);
    assert_int_equal(cost.graceful.badput_s, 0);
    assert_int_equal(cost.fast.badput_s, 0);
    assert_int_equal(cost.quick.completion_s, NOW);
    cost = estimate(NULL, 0);
    assert_int_equal(cost.graceful.completion_s, NOW);
}

/* "we will assume no suspension"; "evict suspended jobs when draining (deadline estimate is
 * accurate)" */
static void the_policy_for_suspended_jobs_changes_the_graceful_estimate_only(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_SUSPENDED, 40, 500),
                                       slot(DRAIN_AT_RUNNING, 10, 60)};
    struct drain_estimates stays, goes;
    drain_plan_estimate(slots, 2, false, 0, NOW, &stays);
    drain_plan_estimate(slots, 2, true, 0, NOW, &goes);
    assert_int_equal(stays.graceful.completion_s, NOW + 500);
    assert_int_equal(stays.graceful.badput_s, 40 + 500 + 10 + 60);
    assert_int_equal(goes.graceful.completion_s, NOW + 60);
    assert_int_equal(goes.graceful.badput_s, 40 + 10 + 60);
    assert_int_equal(goes.fast.badput_s, stays.fast.badput_s);
}

static void quick_foresees_the_time_to_vacate(void **state)
{
    (void)state;
    struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500), slot(DRAIN_AT_RUNNING, 20, 30)};
    slots[0].vacate_s = 10;
    slots[1].vacate_s = 60;
    struct drain_estimates cost = estimate(slots, 2);
    assert_int_equal(cost.quick.completion_s, NOW + 60);
    assert_int_equal(cost.quick.badput_s, 110 + 80);
}

static void a_deadline_ends_what_retirement_would_go_beyond(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500),
                                       slot(DRAIN_AT_RUNNING, 20, 30)};
    struct drain_estimates cost;
    drain_plan_estimate(slots, 2, false, NOW + 200, NOW, &cost);
    assert_int_equal(cost.graceful.completion_s, NOW + 200);
    assert_int_equal(cost.graceful.badput_s, 100 + 200 + 20 + 30);
    drain_plan_estimate(slots, 2, false, NOW - 5, NOW, &cost);
    assert_int_equal(cost.graceful.completion_s, NOW);
    assert_int_equal(cost.graceful.badput_s, 120);
}

static void only_requested_slots_are_estimated(void **state)
{
    (void)state;
    struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500), slot(DRAIN_AT_RUNNING, 20, 30)};
    slots[0].requested = false;
    struct drain_estimates cost = estimate(slots, 2);
    assert_int_equal(cost.graceful.completion_s, NOW + 30);
    assert_int_equal(cost.fast.badput_s, 20);
}

static void a_checkpoint_lessens_what_is_unsaved_not_the_badput(void **state)
{
    (void)state;
    struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500), slot(DRAIN_AT_RUNNING, 20, 0)};
    slots[0].saved_s = 90;
    slots[1].saved_s = 9999; /* of an earlier run: more than all of this one */
    struct drain_estimates cost = estimate(slots, 2);
    assert_int_equal(cost.fast.badput_s, 120);
    assert_int_equal(cost.fast.unsaved_s, 10);
    assert_int_equal(cost.graceful.unsaved_s, 510);
}

static void what_is_kept_at_an_eviction_is_unsaved_only_where_it_is_killed(void **state)
{
    (void)state;
    struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500), slot(DRAIN_AT_RUNNING, 20, 0)};
    slots[0].keeps_output = true;
    slots[0].vacate_s = 10;
    slots[0].saved_s = 30;
    struct drain_estimates cost = estimate(slots, 2);
    assert_int_equal(cost.graceful.badput_s, 620);
    assert_int_equal(cost.graceful.unsaved_s, 20);
    assert_int_equal(cost.quick.badput_s, 130);
    assert_int_equal(cost.quick.unsaved_s, 20);
    assert_int_equal(cost.fast.unsaved_s, 70 + 20);
    slots[0].place = DRAIN_AT_KILLING; /* too late */
    cost = estimate(slots, 2);
    assert_int_equal(cost.graceful.unsaved_s, 70 + 20);
}

static void a_job_that_was_promised_nothing_is_foreseen_to_go_now(void **state)
{
    (void)state;
    struct drain_slot job = slot(DRAIN_AT_RUNNING, 100, 500);
    job.accepted = true;
    struct drain_estimates cost = estimate(&job, 1);
    assert_int_equal(cost.graceful.badput_s, 100);
    assert_int_equal(cost.graceful.completion_s, NOW);
}

static void absurd_times_neither_turn_over_nor_go_below_zero(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, INT64_MAX, INT64_MAX),
                                       slot(DRAIN_AT_RUNNING, INT64_MAX, 1),
                                       slot(DRAIN_AT_RUNNING, -5, -7)};
    struct drain_estimates cost = estimate(slots, 3);
    assert_int_equal(cost.graceful.badput_s, INT64_MAX);
    assert_int_equal(cost.graceful.completion_s, DRAIN_ESTIMATE_S);
    cost = estimate(slots + 2, 1);
    assert_int_equal(cost.graceful.badput_s, 0);
    assert_int_equal(cost.graceful.completion_s, NOW);
}

/* ---- steps */

static struct drain_look look(const struct drain_orders *orders, const struct drain_slot *slots,
                              size_t count, enum drain_step *steps)
{
    struct drain_look ret;
    drain_plan_look(orders, slots, count, NOW, steps, &ret);
    return ret;
}

static const struct drain_orders GRACEFUL = {.schedule = DRAIN_GRACEFUL};

/* "Once a slot is in the Owner or Unclaimed state, it transitions to the "Drained" state and the
 * "Retiring" activity." */
static void owner_and_unclaimed_become_drained_retiring(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_OWNER, 0, 0), slot(DRAIN_AT_UNCLAIMED, 0, 0),
                                       slot(DRAIN_AT_RUNNING, 5, 100)};
    enum drain_step steps[SLOTS];
    struct drain_look ret = look(&GRACEFUL, slots, 3, steps);
    assert_int_equal(steps[0], DRAIN_STEP_DRAINED_RETIRING);
    assert_int_equal(steps[1], DRAIN_STEP_DRAINED_RETIRING);
    assert_int_equal(steps[2], DRAIN_STEP_RETIRE);
    assert_true(ret.last);
    assert_false(ret.complete);
    assert_int_equal(ret.next_s, NOW + 100);
}

/* "Once all requested slots are in the Drained state, the slot transitions from Drained/Retiring to
 * Drained/Idle." */
static void drained_slots_become_idle_when_the_last_requested_one_is_drained(void **state)
{
    (void)state;
    struct drain_slot slots[] = {slot(DRAIN_AT_DRAINED_RETIRING, 0, 0),
                                 slot(DRAIN_AT_DRAINED_RETIRING, 0, 0),
                                 slot(DRAIN_AT_KILLING, 9, 0)};
    enum drain_step steps[SLOTS];
    assert_false(look(&GRACEFUL, slots, 3, steps).complete);
    assert_int_equal(steps[0], DRAIN_STEP_NONE);
    slots[2].requested = false;
    assert_false(look(&GRACEFUL, slots, 3, steps).complete);
    assert_int_equal(steps[0], DRAIN_STEP_DRAINED_IDLE);
    assert_int_equal(steps[1], DRAIN_STEP_DRAINED_IDLE);
    assert_int_equal(steps[2], DRAIN_STEP_NONE);
    slots[0].place = slots[1].place = DRAIN_AT_DRAINED_IDLE;
    struct drain_look ret = look(&GRACEFUL, slots, 3, steps);
    assert_true(ret.complete);
    assert_int_equal(steps[0], DRAIN_STEP_NONE);
    assert_int_equal(ret.next_s, INT64_MAX);
}

/* "fast – do not honor retirement time promises; immediately evict jobs" */
static void fast_kills_and_quick_asks_at_once(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 5, 100),
                                       slot(DRAIN_AT_SUSPENDED, 5, 100),
                                       slot(DRAIN_AT_VACATING, 5, 0), slot(DRAIN_AT_KILLING, 5, 0)};
    static const enum drain_step EXPECTED[2][SLOTS] = {{DRAIN_STEP_KILL, DRAIN_STEP_KILL,
                                                        DRAIN_STEP_KILL, DRAIN_STEP_NONE},
                                                       {DRAIN_STEP_VACATE, DRAIN_STEP_VACATE,
                                                        DRAIN_STEP_NONE, DRAIN_STEP_NONE}};
    for (int i = 0; i < 2; i++) {
        const struct drain_orders orders = {.schedule = i == 0 ? DRAIN_FAST : DRAIN_QUICK};
        enum drain_step steps[SLOTS];
        (void)look(&orders, slots, SLOTS, steps);
        for (int j = 0; j < SLOTS; j++) {
            assert_int_equal(steps[j], EXPECTED[i][j]);
        }
    }
}

/* "graceful – honor retirement time promises, then evict": second by second, two kinds of jobs */
static void graceful_keeps_each_promise_to_the_second(void **state)
{
    (void)state;
    static const int64_t PROMISED[SLOTS] = {10, 10, 25, 0};
    for (int64_t passed = 0; passed <= 30; passed++) {
        struct drain_slot slots[SLOTS];
        enum drain_step steps[SLOTS];
        struct drain_look ret;
        int64_t next = INT64_MAX;
        for (int i = 0; i < SLOTS; i++) {
            int64_t left = PROMISED[i] > passed ? PROMISED[i] - passed : 0;
            slots[i] = slot(DRAIN_AT_RUNNING, passed, left);
            next = left > 0 && passed + left < next ? passed + left : next;
        }
        drain_plan_look(&GRACEFUL, slots, SLOTS, NOW + passed, steps, &ret);
        for (int i = 0; i < SLOTS; i++) {
            assert_int_equal(steps[i],
                             passed < PROMISED[i] ? DRAIN_STEP_RETIRE : DRAIN_STEP_VACATE);
        }
        assert_int_equal(ret.next_s, next == INT64_MAX ? INT64_MAX : NOW + next);
    }
}

static void peaceful_evicts_nobody_before_the_deadline(void **state)
{
    (void)state;
    struct drain_orders orders = {.schedule = DRAIN_PEACEFUL, .evict_suspended = true};
    struct drain_slot slots[SLOTS] = {slot(DRAIN_AT_RUNNING, 100, 0),
                                      slot(DRAIN_AT_SUSPENDED, 100, 0),
                                      slot(DRAIN_AT_CLAIMED_IDLE, 0, 0),
                                      slot(DRAIN_AT_RUNNING, 5, 0)};
    static const enum drain_step WAITS[] = {DRAIN_STEP_RETIRE, DRAIN_STEP_RETIRE,
                                            DRAIN_STEP_RELEASE, DRAIN_STEP_RETIRE};
    enum drain_step steps[SLOTS];
    slots[3].accepted = true; /* it began under StartExpr, and is promised no less */
    struct drain_look ret = look(&orders, slots, SLOTS, steps);
    for (int i = 0; i < SLOTS; i++) {
        assert_int_equal(steps[i], WAITS[i]);
    }
    assert_true(ret.next_s == INT64_MAX);
    orders.deadline_s = NOW + 60;
    slots[0].vacate_s = 20;
    ret = look(&orders, slots, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_RETIRE);
    assert_int_equal(ret.next_s, NOW + 40);
    orders.deadline_s = NOW + 20;
    (void)look(&orders, slots, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_VACATE);
    orders.deadline_s = NOW;
    (void)look(&orders, slots, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_KILL);
}

static void matches_and_idle_claims_are_released(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_MATCHED, 0, 0),
                                       slot(DRAIN_AT_CLAIMED_IDLE, 0, 0)};
    enum drain_step steps[SLOTS];
    (void)look(&GRACEFUL, slots, 2, steps);
    assert_int_equal(steps[0], DRAIN_STEP_RELEASE);
    assert_int_equal(steps[1], DRAIN_STEP_RELEASE);
}

static void a_suspended_job_waits_or_goes_as_the_policy_says(void **state)
{
    (void)state;
    const struct drain_orders evicts = {.schedule = DRAIN_GRACEFUL, .evict_suspended = true};
    const struct drain_slot suspended = slot(DRAIN_AT_SUSPENDED, 5, 100);
    enum drain_step steps[SLOTS];
    struct drain_look ret = look(&GRACEFUL, &suspended, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_RETIRE);
    assert_int_equal(ret.next_s, INT64_MAX); /* its time does not pass */
    (void)look(&evicts, &suspended, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_VACATE);
}

static void at_the_hard_deadline_no_job_is_left(void **state)
{
    (void)state;
    struct drain_orders orders = {.schedule = DRAIN_GRACEFUL, .deadline_s = NOW + 60};
    struct drain_slot job = slot(DRAIN_AT_RUNNING, 5, 1000);
    enum drain_step steps[SLOTS];
    job.vacate_s = 20;
    struct drain_look ret = look(&orders, &job, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_RETIRE);
    assert_int_equal(ret.next_s, NOW + 40);
    orders.deadline_s = NOW + 20;
    ret = look(&orders, &job, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_VACATE);
    assert_int_equal(ret.next_s, NOW + 20);
    job.place = DRAIN_AT_VACATING;
    (void)look(&orders, &job, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_NONE);
    orders.deadline_s = NOW;
    (void)look(&orders, &job, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_KILL);
    job.place = DRAIN_AT_SUSPENDED;
    (void)look(&orders, &job, 1, steps);
    assert_int_equal(steps[0], DRAIN_STEP_KILL);
}

static void short_jobs_may_start_until_the_last_job_of_before_is_gone(void **state)
{
    (void)state;
    const struct drain_orders orders = {.schedule = DRAIN_GRACEFUL, .has_start = true};
    struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 5, 100), slot(DRAIN_AT_UNCLAIMED, 0, 0),
                                 slot(DRAIN_AT_RUNNING, 1, 100), slot(DRAIN_AT_CLAIMED_IDLE, 0, 0)};
    enum drain_step steps[SLOTS];
    slots[2].accepted = slots[3].accepted = true;
    assert_false(look(&orders, slots, SLOTS, steps).last);
    assert_int_equal(steps[0], DRAIN_STEP_RETIRE);
    assert_int_equal(steps[1], DRAIN_STEP_NONE);
    assert_int_equal(steps[2], DRAIN_STEP_RETIRE);
    assert_int_equal(steps[3], DRAIN_STEP_NONE);
    slots[0] = slot(DRAIN_AT_UNCLAIMED, 0, 0);
    assert_true(look(&orders, slots, SLOTS, steps).last);
    assert_int_equal(steps[0], DRAIN_STEP_DRAINED_RETIRING);
    assert_int_equal(steps[1], DRAIN_STEP_DRAINED_RETIRING);
    assert_int_equal(steps[2], DRAIN_STEP_VACATE); /* it was promised nothing */
    assert_int_equal(steps[3], DRAIN_STEP_RELEASE);
}

static void at_the_deadline_no_short_job_may_start(void **state)
{
    (void)state;
    const struct drain_orders orders = {.schedule = DRAIN_GRACEFUL,
                                        .has_start = true,
                                        .deadline_s = NOW};
    const struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 5, 100),
                                       slot(DRAIN_AT_UNCLAIMED, 0, 0)};
    enum drain_step steps[SLOTS];
    assert_true(look(&orders, slots, 2, steps).last);
    assert_int_equal(steps[1], DRAIN_STEP_DRAINED_RETIRING);
}

static void slots_that_were_not_requested_are_left_alone(void **state)
{
    (void)state;
    enum drain_step steps[1];
    for (int place = DRAIN_AT_OWNER; place <= DRAIN_AT_DRAINED_IDLE; place++) {
        struct drain_slot other = slot((enum drain_place)place, 5, 0);
        other.requested = false;
        steps[0] = DRAIN_STEP_KILL;
        (void)look(&(struct drain_orders){.schedule = DRAIN_FAST}, &other, 1, steps);
        assert_int_equal(steps[0], DRAIN_STEP_NONE);
    }
}

/* ---- the check, phases, restarts */

static void the_check_must_be_true_on_every_slot(void **state)
{
    (void)state;
    struct ad *ads[2] = {NULL, NULL};
    static const char *const TEXTS[] = {"[Name = \"slot1@a\"; Cpus = 4; Odd = 1]",
                                        "[Name = \"slot2@a\"; Cpus = 2]"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ad_parse(TEXTS[i], strlen(TEXTS[i]), &ads[i], NULL), 0);
    }
    const struct ad *const *all = (const struct ad *const *)ads;
    const struct ad_context context = {.now_s = NOW};
    struct err err = {""};
    assert_int_equal(drain_plan_check(NULL, all, 2, &context, &err), DRAIN_OK);
    assert_int_equal(drain_plan_check("Cpus > 1", all, 2, &context, &err), DRAIN_OK);
    assert_int_equal(drain_plan_check("time() > 1763999999", all, 2, &context, &err), DRAIN_OK);
    assert_int_equal(drain_plan_check("Cpus > 2", all, 2, &context, &err), DRAIN_CHECK_FALSE);
    assert_non_null(strstr(err.text, "slot2@a"));
    assert_int_equal(drain_plan_check("Odd == 1", all, 2, &context, &err), DRAIN_CHECK_FALSE);
    assert_int_equal(drain_plan_check("(", all, 2, &context, &err), DRAIN_BAD_REQUEST);
    ad_destroy(ads[0]);
    ad_destroy(ads[1]);
}

static void an_offer_leads_to_draining_or_to_nothing(void **state)
{
    (void)state;
    assert_true(drain_plan_may_move(DRAIN_NONE, DRAIN_OFFERED));
    assert_true(drain_plan_may_move(DRAIN_OFFERED, DRAIN_ACTIVE));
    assert_true(drain_plan_may_move(DRAIN_OFFERED, DRAIN_NONE));
    assert_true(drain_plan_may_move(DRAIN_ACTIVE, DRAIN_COMPLETE));
    assert_true(drain_plan_may_move(DRAIN_ACTIVE, DRAIN_NONE));
    assert_true(drain_plan_may_move(DRAIN_COMPLETE, DRAIN_NONE));
    assert_false(drain_plan_may_move(DRAIN_NONE, DRAIN_COMPLETE));
    assert_false(drain_plan_may_move(DRAIN_OFFERED, DRAIN_COMPLETE));
    assert_false(drain_plan_may_move(DRAIN_ACTIVE, DRAIN_OFFERED));
    assert_false(drain_plan_may_move(DRAIN_COMPLETE, DRAIN_ACTIVE));
    assert_false(drain_plan_may_move(DRAIN_ACTIVE, DRAIN_ACTIVE));
    assert_string_equal(drain_phase_name(DRAIN_ACTIVE), "Draining");
}

static void a_restart_goes_on_with_what_was_not_done(void **state)
{
    (void)state;
    for (int then = DRAIN_THEN_STAY; then <= DRAIN_THEN_OFF; then++) {
        enum drain_then what = (enum drain_then)then;
        bool powers = what == DRAIN_THEN_SLEEP || what == DRAIN_THEN_OFF;
        assert_true(drain_plan_still_holds(DRAIN_ACTIVE, what, true));
        assert_true(drain_plan_still_holds(DRAIN_ACTIVE, what, false));
        assert_false(drain_plan_still_holds(DRAIN_OFFERED, what, true));
        assert_false(drain_plan_still_holds(DRAIN_NONE, what, true));
        assert_int_equal(drain_plan_still_holds(DRAIN_COMPLETE, what, true),
                         powers || what == DRAIN_THEN_STAY);
        assert_int_equal(drain_plan_still_holds(DRAIN_COMPLETE, what, false),
                         what == DRAIN_THEN_STAY);
    }
}

/* ---- totals */

/* "seconds spent Unclaimed while draining + time spent in Drained state"; "does *not* include time
 * spent in Owner state or Claimed/Idle" */
static void unclaimed_and_drained_count_owner_and_claimed_idle_do_not(void **state)
{
    (void)state;
    struct drain_slot slots[] = {
        slot(DRAIN_AT_UNCLAIMED, 0, 0),    slot(DRAIN_AT_DRAINED_RETIRING, 0, 0),
        slot(DRAIN_AT_DRAINED_IDLE, 0, 0), slot(DRAIN_AT_OWNER, 0, 0),
        slot(DRAIN_AT_CLAIMED_IDLE, 0, 0), slot(DRAIN_AT_RUNNING, 0, 0),
        slot(DRAIN_AT_SUSPENDED, 0, 0),    slot(DRAIN_AT_MATCHED, 0, 0),
        slot(DRAIN_AT_VACATING, 0, 0),     slot(DRAIN_AT_KILLING, 0, 0)};
    assert_int_equal(drain_plan_counting(slots, 10, DRAIN_ACTIVE), 3);
    assert_int_equal(drain_plan_counting(slots, 10, DRAIN_COMPLETE), 3);
    assert_int_equal(drain_plan_counting(slots, 1, DRAIN_NONE), 0);
    assert_int_equal(drain_plan_counting(slots, 1, DRAIN_OFFERED), 0);
    slots[0].requested = false;
    assert_int_equal(drain_plan_counting(slots, 1, DRAIN_ACTIVE), 0);
}

static void totals_are_exact_and_go_on_over_a_restart(void **state)
{
    (void)state;
    struct drain_totals totals = {0};
    drain_totals_count(&totals, 1, NOW);      /* one slot is drained */
    drain_totals_count(&totals, 3, NOW + 10); /* three from here */
    assert_int_equal(totals.unclaimed_s, 10);
    struct drain_totals stored = totals; /* kill -9 here: what is on the disk counts on */
    assert_int_equal(drain_totals_unclaimed_s(&stored, NOW + 14), 22);
    assert_int_equal(stored.unclaimed_s, 10);
    drain_totals_count(&stored, 0, NOW + 14);
    assert_int_equal(drain_totals_unclaimed_s(&stored, NOW + 1000), 22);
}

static void a_clock_that_was_set_back_takes_nothing_away(void **state)
{
    (void)state;
    struct drain_totals totals = {0};
    drain_totals_count(&totals, 2, NOW);
    drain_totals_count(&totals, 2, NOW - 100);
    assert_int_equal(totals.unclaimed_s, 0);
    assert_int_equal(drain_totals_unclaimed_s(&totals, NOW - 90), 20);
}

/* "seconds of unsuspended job runtime spent on jobs that were evicted due to a draining deadline"
 */
static void badput_is_the_sum_of_evicted_run_times(void **state)
{
    (void)state;
    struct drain_totals totals = {0};
    drain_totals_evicted(&totals, 30);
    drain_totals_evicted(&totals, 12);
    drain_totals_evicted(&totals, -4);
    assert_int_equal(totals.badput_s, 42);
}

static void the_seeds_attributes_are_set(void **state)
{
    (void)state;
    const struct drain_slot slots[] = {slot(DRAIN_AT_RUNNING, 100, 500)};
    struct drain_estimates cost = estimate(slots, 1);
    const struct drain_totals totals = {.unclaimed_s = 7,
                                        .badput_s = 9,
                                        .counted_s = NOW,
                                        .counting = 2};
    struct ad *ad = ad_create();
    drain_plan_put_estimates(&cost, ad);
    drain_plan_put_totals(&totals, NOW + 3, ad);
    assert_int_equal(ad_int_or(ad, "ExpectedMachineGracefulDrainingCompletion", 0), NOW + 500);
    assert_int_equal(ad_int_or(ad, "ExpectedMachineFastDrainingCompletion", 0), NOW);
    assert_int_equal(ad_int_or(ad, "ExpectedMachineGracefulDrainingBadput", 0), 600);
    assert_int_equal(ad_int_or(ad, "ExpectedMachineFastDrainingBadput", 0), 100);
    assert_int_equal(ad_int_or(ad, "ExpectedMachineQuickDrainingBadput", 0), 100);
    assert_int_equal(ad_int_or(ad, "ExpectedMachineFastDrainingUnsaved", 0), 100);
    assert_int_equal(ad_int_or(ad, "TotalDrainingUnclaimedTime", 0), 13);
    assert_int_equal(ad_int_or(ad, "TotalDrainingBadputTime", 0), 9);
    ad_destroy(ad);
}

UNIT_TESTS(
    UNIT(fast_badput_is_the_sum_of_run_times_and_ends_now),
    UNIT(graceful_badput_adds_the_whole_promised_retirement),
    UNIT(an_idle_machine_is_drained_at_once_for_nothing),
    UNIT(the_policy_for_suspended_jobs_changes_the_graceful_estimate_only),
    UNIT(quick_foresees_the_time_to_vacate), UNIT(a_deadline_ends_what_retirement_would_go_beyond),
    UNIT(only_requested_slots_are_estimated),
    UNIT(a_checkpoint_lessens_what_is_unsaved_not_the_badput),
    UNIT(what_is_kept_at_an_eviction_is_unsaved_only_where_it_is_killed),
    UNIT(a_job_that_was_promised_nothing_is_foreseen_to_go_now),
    UNIT(absurd_times_neither_turn_over_nor_go_below_zero),
    UNIT(owner_and_unclaimed_become_drained_retiring),
    UNIT(drained_slots_become_idle_when_the_last_requested_one_is_drained),
    UNIT(fast_kills_and_quick_asks_at_once), UNIT(graceful_keeps_each_promise_to_the_second),
    UNIT(peaceful_evicts_nobody_before_the_deadline), UNIT(matches_and_idle_claims_are_released),
    UNIT(a_suspended_job_waits_or_goes_as_the_policy_says),
    UNIT(at_the_hard_deadline_no_job_is_left),
    UNIT(short_jobs_may_start_until_the_last_job_of_before_is_gone),
    UNIT(at_the_deadline_no_short_job_may_start),
    UNIT(slots_that_were_not_requested_are_left_alone), UNIT(the_check_must_be_true_on_every_slot),
    UNIT(an_offer_leads_to_draining_or_to_nothing), UNIT(a_restart_goes_on_with_what_was_not_done),
    UNIT(unclaimed_and_drained_count_owner_and_claimed_idle_do_not),
    UNIT(totals_are_exact_and_go_on_over_a_restart),
    UNIT(a_clock_that_was_set_back_takes_nothing_away),
    UNIT(badput_is_the_sum_of_evicted_run_times), UNIT(the_seeds_attributes_are_set))
