/* The owner's policy over real wires: suspended, continued, vacated, killed; what schedd and
 * starter are told (docs/protocol/claim.md, section 7).  The policy hangs on attributes that the
 * test sets in the slot's ad (what a look at the machine would measure).
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/claim/claim_record.h"
#include "startd/machine/figures.h"
#include "startd/owner/policy.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/starters.h"
#include "tests/unit/startd/startd_rig.h"

#define POLICY                                                                  \
    "SUSPEND = \"OwnerIsBack =?= true\"\nCONTINUE = \"OwnerIsBack =!= true\"\n" \
    "PREEMPT = \"OwnerStays =?= true\"\nKILL = \"OwnerIsAngry =?= true\"\n"     \
    "MACHINEMAXVACATETIME = 40\n"

static struct slot *slot_of(struct rig *rig)
{
    return rig->startd->slots[0];
}
static struct claim *claim_of_slot(struct rig *rig)
{
    return slot_of(rig)->claim;
}

static void run_under(struct rig *rig, const char *more)
{
    stop(rig);
    load(rig, more);
    start(rig);
    until(rig, is_connected);
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
}

static void owner_does(struct rig *rig, const char *attribute, bool value)
{
    ad_set_bool(slot_of(rig)->ad, attribute, value);
    policy_check(slot_of(rig));
}

static bool is_suspended(struct rig *rig)
{
    return is(rig, SLOT_CLAIMED, SLOT_SUSPENDED);
}
static bool is_told_suspended(struct rig *rig)
{
    return rig->schedd.alive != NULL && ad_bool_or(rig->schedd.alive, "Suspended", false);
}
static bool is_told_running(struct rig *rig)
{
    return rig->schedd.alive != NULL && !ad_bool_or(rig->schedd.alive, "Suspended", true);
}
static bool starter_is_frozen(struct rig *rig)
{
    return rig->starter.suspended;
}
static bool starter_goes_on(struct rig *rig)
{
    return rig->starter.suspends >= 2 && !rig->starter.suspended;
}
static bool is_vacating(struct rig *rig)
{
    return is(rig, SLOT_PREEMPTING, SLOT_VACATING);
}
static bool is_killing(struct rig *rig)
{
    return is(rig, SLOT_PREEMPTING, SLOT_KILLING);
}
static bool is_told_fast(struct rig *rig)
{
    return rig->starter.fast;
}

static void a_job_stands_still_while_the_owner_is_back(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY);
    owner_does(rig, "OwnerIsBack", true);
    assert_true(is_suspended(rig));
    until(rig, starter_is_frozen);
    until(rig, is_told_suspended);
    assert_int_equal(ad_int_or(rig->schedd.alive, "NumSuspensions", 0), 1);
    assert_string_equal(ad_string_or(rig->schedd.alive, "JobId", ""), "1.0");
    claim_of_slot(rig)->suspension.at_ms -= 50000;
    assert_in_range(claim_suspended_s(claim_of_slot(rig)), 50, 60);
    owner_does(rig, "OwnerIsBack", false);
    assert_true(is_claimed_busy(rig));
    until(rig, starter_goes_on);
    until(rig, is_told_running);
    assert_in_range(ad_int_or(rig->schedd.alive, "SuspendedSeconds", 0), 50, 60);
    assert_int_equal(rig->starter.stops, 0);
}

/* Its submitter wrote what the policy looks at: that costs the startd little, and is told. */
static void a_job_that_costs_the_policy_too_much_changes_nothing(void **state)
{
    struct rig *rig = *state;
    run_under(rig, "PREEMPT = \"TARGET.Wish =!= 77\"\n");
    struct claim *claim = claim_of_slot(rig);
    assert_int_equal(ad_set_expr(claim->job.ad, "Wish",
                                 "regexp(\"(a+)+$\", \"aaaaaaaaaaaaaaaaaaaaaaaaaaab\")", NULL),
                     0);
    uint64_t before = rig->startd->eval.work.steps;
    policy_check(slot_of(rig));
    assert_true(is_claimed_busy(rig)); /* error is not true */
    assert_true(claim->told_costly);
    assert_in_range(rig->startd->eval.work.steps - before, STARTD_STEPS_MAX, 3 * STARTD_STEPS_MAX);
    ad_set_int(claim->job.ad, "Wish", 76);
    policy_check(slot_of(rig));
    assert_false(is_claimed_busy(rig));
}

static void what_its_schedd_wants_to_stand_still_does_until_it_wants_otherwise(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY);
    rig->wants_suspended = true;
    assert_int_equal(call(rig, VERB_SUSPEND_CLAIM, 2, JOB), -ESTALE); /* of another run */
    assert_int_equal(call(rig, VERB_SUSPEND_CLAIM, 1, JOB), 0);
    assert_true(is_suspended(rig));
    until(rig, starter_is_frozen);
    until(rig, is_told_suspended);
    owner_does(rig, "OwnerIsBack", false); /* CONTINUE is true */
    assert_true(is_suspended(rig));
    assert_int_equal(call(rig, VERB_SUSPEND_CLAIM, 1, JOB), 0); /* said again */
    assert_int_equal(claim_of_slot(rig)->suspension.count, 1);
    rig->wants_suspended = false;
    assert_int_equal(call(rig, VERB_SUSPEND_CLAIM, 1, JOB), 0);
    assert_true(is_claimed_busy(rig));
    until(rig, starter_goes_on);
    until(rig, is_told_running);
    owner_does(rig, "OwnerIsBack", true);
    assert_true(is_suspended(rig));
    owner_does(rig, "OwnerIsBack", false); /* the owner of the machine: CONTINUE counts */
    assert_true(is_claimed_busy(rig));
}

static void a_suspension_survives_the_startd(void **state)
{
    struct rig *rig = *state;
    run_under(rig, "SUSPEND = \"OwnerIsBack =?= true\"\nCONTINUE = false\n");
    owner_does(rig, "OwnerIsBack", true);
    until(rig, is_told_suspended);
    claim_of_slot(rig)->suspension.at_ms -= 50000;
    claim_commit(claim_of_slot(rig), NULL);
    ad_destroy(rig->schedd.alive);
    rig->schedd.alive = NULL;
    wire_close(rig->starter.wire);
    rig->starter.wire = NULL;
    rig->starter.ready = rig->starter.suspended = false;
    restart(rig);
    assert_true(is_suspended(rig));
    until(rig, has_resumed);
    assert_true(ad_bool_or(rig->schedd.claim, "Suspended", false));
    assert_in_range(claim_suspended_s(claim_of_slot(rig)), 50, 60);
    assert_int_equal(claim_of_slot(rig)->suspension.count, 1);
    struct ad *welcome = NULL;
    assert_int_equal(hello_answer(rig, 1, &welcome), 0);
    assert_true(ad_bool_or(welcome, "Suspended", false));
    ad_destroy(welcome);
}

static void an_owner_who_stays_gets_his_machine_back(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY);
    owner_does(rig, "OwnerIsBack", true);
    owner_does(rig, "OwnerStays", true); /* moving has built the ad anew */
    assert_true(is_vacating(rig));
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    assert_int_equal(rig->starter.grace_s, 40);
    owner_does(rig, "OwnerIsAngry", true);
    assert_true(is_killing(rig));
    until(rig, is_told_fast);
    end_script(rig);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""), "PREEMPT is true");
    assert_false(ad_has(rig->schedd.gone, "Preempted"));
    until(rig, is_unclaimed);
}

static void time_that_stood_still_is_no_retirement(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY "MAXJOBRETIREMENTTIME = 1000\n");
    struct claim *claim = claim_of_slot(rig);
    claim->run.start_ms -= 5000000;
    claim->suspension.total_s = 4900;
    owner_does(rig, "OwnerStays", true);
    assert_true(is(rig, SLOT_CLAIMED, SLOT_RETIRING)); /* it has run for 100 s */
    claim->suspension.total_s = 0;
    preempt_step(claim);
    assert_true(is_vacating(rig));
}

static void a_suspended_job_that_may_still_retire_goes_on_first(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY "MAXJOBRETIREMENTTIME = 1000\n");
    owner_does(rig, "OwnerIsBack", true);
    until(rig, starter_is_frozen);
    owner_does(rig, "OwnerStays", true);
    assert_true(is(rig, SLOT_CLAIMED, SLOT_RETIRING));
    until(rig, starter_goes_on);
    owner_does(rig, "OwnerIsBack", true);
    assert_true(is(rig, SLOT_CLAIMED, SLOT_RETIRING));
}

static void without_want_vacate_a_job_is_killed_at_once(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY "WANT_VACATE = \"false\"\n");
    owner_does(rig, "OwnerStays", true);
    assert_true(is_killing(rig));
    until(rig, is_told_fast);
}

static void an_idle_claim_ends_when_the_owner_wants_the_machine(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, POLICY);
    start(rig);
    until(rig, is_connected);
    claim_it(rig);
    owner_does(rig, "OwnerStays", true);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""), "PREEMPT is true");
}

static void slots_of_a_type_may_have_a_policy_of_their_own(void **state)
{
    struct rig *rig = *state;
    run_under(rig, POLICY "NUM_SLOTS_TYPE_1 = 1\nSLOT_TYPE_1_SUSPEND = \"false\"\n");
    owner_does(rig, "OwnerIsBack", true);
    assert_true(is_claimed_busy(rig));
}

static void a_starter_that_ignores_deactivate_is_ended(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    send(rig, VERB_DEACTIVATE, 1, JOB, &answer);
    until(rig, has_stop);
    struct claim *claim = claim_of_slot(rig);
    assert_true(loop_timer_is_set(claim->stop.timer));
    starters_stop_step(claim); /* KILLING_TIMEOUT for the job, and again for the starter */
    until(rig, is_told_fast);
    assert_false(answer.over);
    starters_stop_step(claim);
    until(rig, is_cleaned);
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
}

static void the_ad_says_what_policies_ask_for(void **state)
{
    struct rig *rig = *state;
    static const char *const NAMES[] = {"LoadAvg",           "CondorLoadAvg",
                                        "TotalLoadAvg",      "KeyboardIdle",
                                        "ConsoleIdle",       "CurrentTime",
                                        "ClockMin",          "ClockDay",
                                        "CpuBusyTime",       "CpuIsBusy",
                                        "CpuBusy",           "EnteredCurrentActivity",
                                        "TotalCondorLoadAvg"};
    const struct ad *ad = slot_of(rig)->ad;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        assert_true(ad_has(ad, NAMES[i]));
    }
    assert_in_range(ad_int_or(ad, "ClockMin", -1), 0, 1439);
    assert_in_range(ad_int_or(ad, "ClockDay", -1), 0, 6);
}

static void kbdd_tells_when_the_console_was_used(void **state)
{
    struct rig *rig = *state;
    figures_console_used(rig->startd, 30);
    figures_measure(rig->startd);
    int64_t idle_s = ad_int_or(slot_of(rig)->ad, "ConsoleIdle", -1);
    assert_in_range(idle_s, 0, 90);
    assert_true(ad_int_or(slot_of(rig)->ad, "KeyboardIdle", -1) <= idle_s);
    figures_console_used(rig->startd, 3);
    figures_console_used(rig->startd, 500); /* older word is no news */
    figures_measure(rig->startd);
    assert_in_range(ad_int_or(slot_of(rig)->ad, "ConsoleIdle", -1), 0, 60);
}

static void slots_without_a_console_do_not_see_the_owner(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "SLOTS_CONNECTED_TO_CONSOLE = 0\nSLOTS_CONNECTED_TO_KEYBOARD = 0\n");
    start(rig);
    until(rig, is_connected);
    figures_console_used(rig->startd, 0);
    figures_measure(rig->startd);
    assert_in_range(ad_int_or(slot_of(rig)->ad, "ConsoleIdle", -1), 1200, 1300);
    assert_in_range(ad_int_or(slot_of(rig)->ad, "KeyboardIdle", -1), 1200, 1300);
}

static void start_with(struct rig *rig, const char *more)
{
    stop(rig);
    load(rig, more);
    start(rig);
    until(rig, is_connected);
}

static void a_machine_is_looked_at_less_often_while_no_figure_matters(void **state)
{
    static const char *const RESTS[] = {
        "", "START = \"TARGET.Wish =?= 7 || MachineIsMine =!= true\"\n",
        "HIBERNATE = \"ifThenElse(KeyboardIdle > 900, \\\"S3\\\", \\\"NONE\\\")\"\n"};
    static const char *const WATCHES[] = {
        "START = \"KeyboardIdle > 60 || true\"\n",
        "STARTD_ATTRS = \"IsQuiet\"\nIsQuiet = \"LoadAvg < 0.3\"\nSTART = \"IsQuiet =!= 7\"\n",
        "START = \"ClockMin >= 0\"\n",
        "START = \"time() > 7\"\n",
        "START = \"CpuBusy =!= 7\"\n",
        "HIBERNATE = \"ifThenElse(LoadAvg < 0.1, \\\"NONE\\\", \\\"NONE\\\")\"\n",
        "DAEMON_SHUTDOWN = \"time() < 7\"\n",
        "STARTD_NOCLAIM_SHUTDOWN = 3600\n"};
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof RESTS / sizeof RESTS[0]; i++) {
        start_with(rig, RESTS[i]);
        assert_true(rig->startd->poll.rests);
    }
    for (size_t i = 0; i < sizeof WATCHES / sizeof WATCHES[0]; i++) {
        start_with(rig, WATCHES[i]);
        assert_false(rig->startd->poll.rests);
    }
}

static bool is_watched(struct rig *rig)
{
    return !rig->startd->poll.rests;
}

static void a_machine_in_use_is_looked_at_as_often_as_configured(void **state)
{
    struct rig *rig = *state;
    start_with(rig, "");
    assert_true(rig->startd->poll.rests);
    run_it(rig);
    assert_true(is_watched(rig));
    assert_false(policy_poll(rig->startd));
}

static void an_ad_that_is_made_has_figures_of_now(void **state)
{
    struct rig *rig = *state;
    start_with(rig, "");
    rig->startd->figures.seen_ms -= 20000;
    slot_refresh(slot_of(rig));
    assert_true(loop_now_ms(rig->bed->loop) - rig->startd->figures.seen_ms < 20000);
    uint64_t seen_ms = rig->startd->figures.seen_ms -= 20000;
    slots_refresh(rig->startd);
    assert_true(rig->startd->figures.seen_ms > seen_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG(a_machine_is_looked_at_less_often_while_no_figure_matters),
        RIG(a_machine_in_use_is_looked_at_as_often_as_configured),
        RIG(an_ad_that_is_made_has_figures_of_now),
        RIG(a_job_stands_still_while_the_owner_is_back),
        RIG(what_its_schedd_wants_to_stand_still_does_until_it_wants_otherwise),
        RIG(a_job_that_costs_the_policy_too_much_changes_nothing),
        RIG(a_suspension_survives_the_startd),
        RIG(an_owner_who_stays_gets_his_machine_back),
        RIG(time_that_stood_still_is_no_retirement),
        RIG(a_suspended_job_that_may_still_retire_goes_on_first),
        RIG(without_want_vacate_a_job_is_killed_at_once),
        RIG(an_idle_claim_ends_when_the_owner_wants_the_machine),
        RIG(slots_of_a_type_may_have_a_policy_of_their_own),
        RIG(a_starter_that_ignores_deactivate_is_ended),
        RIG(the_ad_says_what_policies_ask_for),
        RIG(kbdd_tells_when_the_console_was_used),
        RIG(slots_without_a_console_do_not_see_the_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
