/* Draining over real wires: the transaction by drain_client, what becomes of the slots, what is
 * durable, who is refused.  Seed: "Whole Machine Draining".
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "startd/claim/claim.h"
#include "startd/draining.h"
#include "startd/draining_facts.h"
#include "startd/machine/figures.h"
#include "startd/owner/policy.h"
#include "startd/claim/preempt.h"
#include "tests/unit/startd/draining_rig.h"

#define SHORT_JOB "[Owner = \"ann\"; User = \"ann@pool\"; IsShort = true; Requirements = true]"
#define OWNERS    "SUSPEND = \"OwnerIsBack =?= true\"\nCONTINUE = \"OwnerIsBack =!= true\"\n"

static bool second_is_claimed(struct rig *rig)
{
    return in_state(rig, 1, SLOT_CLAIMED, SLOT_IDLE);
}

static bool something_is_held(struct rig *rig)
{
    return rig->startd->draining.held.count > 0;
}

/* COMMIT_DRAINING as a program without drain_client would send it: its ErrorCode. */
static int64_t commit_raw(struct asker *asker, const char *id, struct answer *answer)
{
    char args[200];
    (void)snprintf(args, sizeof args, "[ DrainingRequestId = \"%s\" ]", id);
    (void)client_relay(asker->client, "startd/wn01", VERB_COMMIT_DRAINING, args, NULL, answer);
    int64_t code = ad_int_or(answer->args, "ErrorCode", 0);
    answer_fini(answer);
    return code;
}

/* ---- tests */

/* Returns whether the ads of all slots say who cancelled, and that it ended this request. */
static bool is_cancelled(const struct rig *rig, const char *id)
{
    bool all = true;
    for (size_t i = 0; i < rig->startd->slot_count; i++) {
        const struct ad *ad = rig->startd->slots[i]->ad;
        all = all && ad_int_or(ad, "LastDrainCancelTime", 0) > 0 &&
              strcmp(ad_string_or(ad, "LastDrainCanceller", ""), "someone@pool") == 0 &&
              strcmp(ad_string_or(ad, "LastDrainCancelledId", ""), id) == 0;
    }
    return all;
}

static void an_idle_machine_is_drained_until_it_is_cancelled(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    ask(rig, &admin, "[DrainReason = \"new disk\"]");
    assert_true(admin.offered);
    assert_int_equal(ad_int_or(admin.answer, "ExpectedMachineFastDrainingBadput", -1), 0);
    assert_string_equal(ad_string_or(admin.answer, "Machine", ""), "wn01");
    assert_true(all_unclaimed(rig)); /* nothing changes before the commit */
    commit(rig, &admin);
    assert_int_equal(admin.code, DRAIN_OK);
    until(rig, all_drained);
    for (size_t i = 0; i < 2; i++) {
        const struct ad *ad = rig->startd->slots[i]->ad;
        assert_true(ad_bool_or(ad, "Draining", false));
        assert_false(ad_bool_or(ad, "Start", true));
        assert_string_equal(ad_string_or(ad, "State", ""), "Drained");
        assert_string_equal(ad_string_or(ad, "Activity", ""), "Idle");
        assert_string_equal(ad_string_or(ad, "DrainingRequestId", ""), admin.id);
        assert_string_equal(ad_string_or(ad, "DrainReason", ""), "new disk");
        assert_string_equal(ad_string_or(ad, "DrainingRequester", ""), "someone@pool");
        assert_null(rig->startd->slots[i]->offered);
    }
    char id[DRAIN_ID_MAX];
    (void)snprintf(id, sizeof id, "%s", admin.id);
    assert_int_equal(cancel(rig, &admin, "0123"), DRAIN_NO_SUCH_ID);
    assert_true(all_drained(rig));
    assert_false(ad_has(rig->startd->slots[0]->ad, "LastDrainCancelTime"));
    assert_int_equal(cancel(rig, &admin, id), DRAIN_OK);
    assert_true(all_unclaimed(rig));
    assert_true(is_cancelled(rig, id));
    assert_false(ad_has(rig->startd->slots[0]->ad, "Draining"));
    assert_true(ad_bool_or(rig->startd->slots[0]->ad, "Start", false));
    assert_non_null(rig->startd->slots[0]->offered);
    assert_int_equal(cancel(rig, &admin, id), DRAIN_NO_SUCH_ID);
    assert_true(is_cancelled(rig, id));
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_NO_SUCH_ID);
    assert_true(is_cancelled(rig, ""));
    assert_non_null(strstr(admin.text, "the machine has no drain request"));
    asker_end(&admin);
}

static void refusals_carry_their_codes(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    struct asker other = asker_as(rig, SCOPE_ADMINISTRATOR);
    struct asker nobody = asker_as(rig, SCOPE_WRITE | SCOPE_SCHEDD);
    ask(rig, &nobody, "[]");
    assert_int_equal(nobody.code, DRAIN_NO_AUTHORITY);
    ask(rig, &admin, "[CheckExpr = \"SlotID == 1\"]");
    assert_int_equal(admin.code, DRAIN_CHECK_FALSE);
    assert_non_null(strstr(admin.text, "slot2@wn01"));
    ask(rig, &admin, "[CheckExpr = \"SlotID == 1\"; Slots = {\"slot1\"}; EstimateOnly = true]");
    assert_int_equal(admin.code, DRAIN_OK);
    assert_false(admin.offered);
    ask(rig, &admin, "[Slots = {\"slot1\", \"slot9\"}]");
    assert_int_equal(admin.code, DRAIN_NO_SUCH_SLOT);
    ask(rig, &admin, "[OnCompletion = \"off\"]");
    assert_int_equal(admin.code, DRAIN_CANNOT);
    assert_true(is_withdrawn(rig));
    ask(rig, &admin, "[DrainReason = \"new disk\"]");
    assert_true(admin.offered);
    ask(rig, &other, "[]"); /* while one is on offer */
    assert_int_equal(other.code, DRAIN_ALREADY);
    commit(rig, &admin);
    ask(rig, &other, "[]"); /* while one drains */
    assert_int_equal(other.code, DRAIN_ALREADY);
    assert_string_equal(ad_string_or(other.answer, "DrainingRequestId", ""), admin.id);
    assert_string_equal(ad_string_or(other.answer, "DrainReason", ""), "new disk");
    ask(rig, &other, "[EstimateOnly = true]");
    assert_int_equal(other.code, DRAIN_OK);
    asker_end(&admin);
    asker_end(&other);
    asker_end(&nobody);
}

static void nothing_changes_while_an_offer_stands(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    remember_id(rig);
    ask(rig, &admin, "[]");
    struct ad *args = ad_from_text("[JobId = \"1.0\"]"), *job = ad_from_text(JOB);
    struct answer answer = {0};
    ad_set_string(args, "ScheddAddress", listener_address(rig->schedd.listener));
    ad_set_string(args, "ScheddPin", tls_identity_pin(rig->schedd.identity));
    const struct ad *ads[1] = {job};
    const struct wire_secret proof = {SECRET_CLAIM_ID, SECRET_OF_ARGS, rig->claim_id};
    const struct wire_body body = {
        .args = args, .ads = ads, .ad_count = 1, .secrets = &proof, .secret_count = 1};
    assert_true(wire_relay(rig->caller->wire, "startd/wn01", VERB_DIAL_ME, &body, 0, answer_part,
                           &answer) > 0);
    while (rig->startd->draining.held.count == 0) {
        struct asker again = {.client = admin.client};
        ask(rig, &again, "[EstimateOnly = true]"); /* the loop turns */
        asker_end(&again);
    }
    assert_false(answer.over);
    assert_true(all_unclaimed(rig));
    drain_client_destroy(admin.drain); /* the offer is taken back */
    admin.drain = NULL;
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    assert_true(is_withdrawn(rig));
    ad_destroy(args);
    ad_destroy(job);
    asker_end(&admin);
}

static void a_requester_that_dies_blocks_nobody(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    ask(rig, &admin, "[]");
    assert_true(draining_stands(rig->startd));
    loop_timer_stop(rig->startd->draining.offer_timer); /* it is not its time that ends it */
    drain_client_destroy(admin.drain);
    admin.drain = NULL;
    client_close(admin.client);
    until(rig, is_withdrawn);
    assert_true(all_unclaimed(rig));
    asker_end(&admin);
}

static void an_offer_ends_with_its_time(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    ask(rig, &admin, "[CommitWithin = 1]");
    until(rig, is_done);
    assert_int_equal(admin.code, DRAIN_TOO_LATE);
    assert_true(is_withdrawn(rig));
    asker_end(&admin);
}

static void a_graceful_drain_lets_the_job_retire_and_the_other_slot_waits(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    ask(rig, &admin, "[]");
    int64_t now_s = loop_wall_s(rig->bed->loop);
    assert_in_range(ad_int_or(admin.answer, "ExpectedMachineGracefulDrainingCompletion", 0) - now_s,
                    960, 1000);
    assert_int_equal(ad_int_or(admin.answer, "ExpectedMachineGracefulDrainingBadput", 0), 1000);
    commit(rig, &admin);
    until(rig, is_retiring);
    until(rig, second_waits);
    assert_int_equal(rig->starter.stops, 0);
    rig->startd->slots[0]->claim->run.start_ms -= 500000; /* it has run that long */
    job_is_over(rig, "");                                 /* it ends by itself */
    until(rig, all_drained);
    assert_int_equal(rig->startd->draining.totals.badput_s, 0);
    asker_end(&admin);
}

static void a_fast_drain_kills_the_job_and_its_run_time_is_badput(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -=
        500000; /* it has run that long, 100 of it suspended */
    rig->startd->slots[0]->claim->suspension.total_s = 100;
    drain_it(rig, &admin, "[HowFast = \"fast\"]");
    until(rig, is_killed);
    job_is_over(rig, "killed");
    until(rig, all_drained);
    assert_in_range(rig->startd->draining.totals.badput_s, 400, 430);
    asker_end(&admin);
}

static void without_retirement_graceful_asks_at_once(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[]");
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    assert_int_equal(rig->starter.grace_s, 40);
    job_is_over(rig, "vacated");
    until(rig, all_drained);
    asker_end(&admin);
}

static void a_peaceful_drain_waits_for_a_job_without_retirement_time(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -= 5000000;
    drain_it(rig, &admin, "[HowFast = \"peaceful\"]");
    until(rig, is_retiring);
    preempt_step(rig->startd->slots[0]->claim); /* as if a retirement time were over */
    draining_moved(rig->startd);
    assert_true(is_retiring(rig));
    assert_false(has_stop(rig));
    job_has_delivered(rig);
    until(rig, all_drained);
    assert_int_equal(rig->startd->draining.totals.badput_s, 0);
    asker_end(&admin);
}

static void a_cancelled_drain_lets_a_retiring_job_go_on(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[]");
    until(rig, is_retiring);
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    assert_true(is_claimed_busy(rig));
    assert_true(in_state(rig, 1, SLOT_UNCLAIMED, SLOT_IDLE));
    asker_end(&admin);
}

static void only_the_slots_of_the_request_are_drained(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[Slots = {\"slot2\"}]");
    assert_true(rig->startd->draining.phase != DRAIN_NONE);
    assert_true(in_state(rig, 0, SLOT_UNCLAIMED, SLOT_IDLE));
    assert_int_equal(rig->startd->slots[1]->state, SLOT_DRAINED);
    assert_false(ad_has(rig->startd->slots[0]->ad, "Draining"));
    claim_it(rig); /* the other one takes jobs */
    asker_end(&admin);
}

static void a_drain_to_resume_resumes(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"resume\"]");
    until(rig, is_withdrawn);
    assert_true(all_unclaimed(rig));
    asker_end(&admin);
}

static void a_drain_and_its_totals_survive_the_startd(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[DrainReason = \"new disk\"]");
    until(rig, all_drained);
    drain_totals_evicted(&rig->startd->draining.totals, 77);
    struct drain_totals *totals = &rig->startd->draining.totals;
    assert_int_equal(totals->counting, 2);
    stop(rig);
    start(rig);
    until(rig, all_drained);
    until(rig, is_connected);
    assert_string_equal(rig->startd->draining.id, admin.id);
    assert_string_equal(rig->startd->draining.requester, "someone@pool");
    assert_string_equal(rig->startd->draining.request.reason, "new disk");
    assert_int_equal(rig->startd->draining.totals.counting, 2);
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    until(rig, all_unclaimed);
    restart(rig);
    until(rig, is_connected);
    assert_true(is_withdrawn(rig));
    asker_end(&admin);
}

static void a_piece_of_the_request_keeps_its_resources_until_all_are_drained(void **state)
{
    struct rig *rig = *state;
    begin(rig, "SLOT_TYPE_1 = \"100%\"\nSLOT_TYPE_1_PARTITIONABLE = true\nNUM_SLOTS_TYPE_1 = 1\n"
               "MAXJOBRETIREMENTTIME = 1000\n");
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s",
                   secret_list_find(rig->startd->slots[0]->offered, SECRET_CLAIM_ID));
    assert_int_equal(dial_me(rig, "[Owner = \"ann\"; User = \"ann@pool\"; RequestCpus = 1;"
                                  " RequestMemory = 16; RequestDisk = 16; Requirements = true]"),
                     0);
    until(rig, piece_is_claimed);
    drain_it(rig, &admin, "[]"); /* the claim is idle: it ends */
    until(rig, all_drained);
    assert_int_equal(rig->startd->slots[1]->kind, SLOT_DYNAMIC);
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    assert_int_equal(rig->startd->slot_count, 1); /* merged */
    assert_true(is_unclaimed(rig));
    asker_end(&admin);
}

static void short_jobs_may_start_while_a_job_of_before_runs(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[StartExpr = \"TARGET.IsShort =?= true\"]");
    until(rig, is_retiring);
    struct slot *second = rig->startd->slots[1];
    assert_int_equal(second->state, SLOT_UNCLAIMED);
    assert_true(ad_bool_or(second->ad, "Draining", false));
    char of_first[CLAIM_ID_MAX];
    (void)snprintf(of_first, sizeof of_first, "%s", rig->claim_id);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s", second->claim_id);
    assert_int_equal(dial_me(rig, JOB), -EOPNOTSUPP); /* it is not short */
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s", second->claim_id);
    assert_int_equal(dial_me(rig, SHORT_JOB), 0);
    until(rig, second_is_claimed);
    assert_true(second->claim->retirement.accepted);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s", of_first);
    job_is_over(rig, ""); /* the last one of before: START is false from now on */
    until(rig, all_drained);
    assert_false(ad_bool_or(second->ad, "Start", true));
    assert_int_equal(rig->startd->draining.totals.badput_s, 0);
    asker_end(&admin);
}

static void a_retiring_job_is_asked_to_end_before_the_deadline_and_killed_at_it(void **state)
{
    struct rig *rig = *state;
    char text[64];
    begin(rig, PATIENT); /* 1000 s of retirement, 40 s to end */
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    int64_t deadline_s = loop_wall_s(rig->bed->loop) + 500;
    (void)snprintf(text, sizeof text, "[DrainDeadline = %lld]", (long long)deadline_s);
    ask(rig, &admin, text);
    assert_int_equal(ad_int_or(admin.answer, "ExpectedMachineGracefulDrainingCompletion", 0),
                     deadline_s);
    commit(rig, &admin);
    until(rig, is_retiring);
    assert_int_equal(rig->starter.stops, 0);
    rig->startd->draining.request.deadline_s = loop_wall_s(rig->bed->loop) + 40;
    loop_timer_set(rig->startd->draining.look_timer, 0);
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    rig->startd->draining.request.deadline_s = loop_wall_s(rig->bed->loop);
    loop_timer_set(rig->startd->draining.look_timer, 0);
    until(rig, is_killed);
    job_is_over(rig, "killed");
    until(rig, all_drained);
    asker_end(&admin);
}

static void a_deadline_is_looked_at_when_it_comes(void **state)
{
    struct rig *rig = *state;
    char text[64];
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    int64_t deadline_s = loop_wall_s(rig->bed->loop) + 42; /* 40 s before it is soon */
    (void)snprintf(text, sizeof text, "[DrainDeadline = %lld]", (long long)deadline_s);
    drain_it(rig, &admin, text);
    until(rig, has_stop);
    assert_true(loop_wall_s(rig->bed->loop) >= deadline_s - 40);
    assert_false(rig->starter.fast);
    asker_end(&admin);
}

static void a_promise_that_is_taken_back_counts_at_once(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[]");
    until(rig, is_retiring);
    reload(rig, IMPATIENT);
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    job_is_over(rig, "vacated");
    until(rig, all_drained);
    asker_end(&admin);
}

static void a_quick_drain_asks_at_once_and_leaves_the_time_to_end(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -= 300000;
    drain_it(rig, &admin, "[HowFast = 10]");
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    assert_int_equal(rig->starter.grace_s, 40);
    job_is_over(rig, "vacated");
    until(rig, all_drained);
    assert_in_range(rig->startd->draining.totals.badput_s, 300, 330);
    asker_end(&admin);
}

static void an_evicted_job_is_badput_unless_its_result_came_just_in_time(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -= 500000;
    drain_it(rig, &admin, "[]");
    until(rig, has_stop);
    job_has_delivered(rig);
    until(rig, all_drained);
    assert_int_equal(rig->startd->draining.totals.badput_s, 0);
    asker_end(&admin);
}

static void whom_the_owner_wants_gone_is_not_the_badput_of_draining(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[]");
    until(rig, is_retiring);
    preempt_evict(rig->startd->slots[0]); /* PREEMPT is true */
    rig->startd->slots[0]->claim->run.start_ms -= 2000000;
    preempt_step(rig->startd->slots[0]->claim); /* its retirement is over */
    until(rig, has_stop);
    job_is_over(rig, "vacated");
    until(rig, all_drained);
    assert_int_equal(rig->startd->draining.totals.badput_s, 0);
    asker_end(&admin);
}

static void what_a_starter_says_of_an_evicted_job_is_no_success(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -= 500000;
    drain_it(rig, &admin, "[]");
    until(rig, has_stop);
    job_is_over(rig, ""); /* it has nothing to complain of */
    until(rig, all_drained);
    assert_in_range(rig->startd->draining.totals.badput_s, 500, 530);
    asker_end(&admin);
}

static void a_fast_drain_kills_who_was_only_asked_to_end(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[]");
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    drain_it(rig, &admin, "[HowFast = \"fast\"]");
    until(rig, is_killed);
    job_is_over(rig, "killed");
    until(rig, all_drained);
    asker_end(&admin);
}

/* The owner is back, and the job stands still. */
static void suspend(struct rig *rig)
{
    ad_set_bool(rig->startd->slots[0]->ad, "OwnerIsBack", true);
    policy_check(rig->startd->slots[0]);
    assert_true(is(rig, SLOT_CLAIMED, SLOT_SUSPENDED));
}

static void a_suspended_job_keeps_the_retirement_that_is_left(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT OWNERS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    suspend(rig);
    drain_it(rig, &admin, "[]");
    until(rig, second_waits);
    assert_true(is(rig, SLOT_CLAIMED, SLOT_SUSPENDED));
    rig->startd->slots[0]->claim->suspension.at_ms -= 5000000; /* longer than its retirement */
    draining_look(rig->startd);
    assert_int_equal(rig->starter.stops, 0);
    ad_remove(rig->startd->slots[0]->ad, "OwnerIsBack");
    policy_check(rig->startd->slots[0]);
    until(rig, is_retiring);
    assert_int_equal(rig->starter.stops, 0);
    assert_in_range(preempt_retirement_s(rig->startd->slots[0]), 960, 1000);
    asker_end(&admin);
}

static void with_the_knob_a_suspended_job_is_evicted_so_that_the_estimate_holds(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT OWNERS "DRAINING_EVICTS_SUSPENDED = true\n");
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    suspend(rig);
    ask(rig, &admin, "[]");
    assert_in_range(ad_int_or(admin.answer, "ExpectedMachineGracefulDrainingCompletion", 0),
                    loop_wall_s(rig->bed->loop) - 5, loop_wall_s(rig->bed->loop));
    commit(rig, &admin);
    until(rig, has_stop);
    job_is_over(rig, "vacated");
    until(rig, all_drained);
    asker_end(&admin);
}

static void a_call_on_a_claim_waits_for_the_end_of_the_offer(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    claim_it(rig);
    ask(rig, &admin, "[]");
    send(rig, VERB_ACTIVATE, 1, JOB, &answer);
    until(rig, something_is_held);
    assert_false(answer.over);
    assert_true(is_claimed_idle(rig));
    drain_client_destroy(admin.drain);
    admin.drain = NULL;
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), 0);
    assert_true(is_claimed_busy(rig));
    until(rig, has_pids);
    asker_end(&admin);
}

static bool all_owner(struct rig *rig)
{
    return in_state(rig, 0, SLOT_OWNER, SLOT_IDLE) && in_state(rig, 1, SLOT_OWNER, SLOT_IDLE);
}

static void no_policy_is_looked_at_while_an_offer_stands(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS "START = \"ConsoleIdle > 1000\"\n");
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    assert_true(all_unclaimed(rig));
    ask(rig, &admin, "[]");
    figures_console_used(rig->startd, 0); /* the owner is back */
    loop_timer_set(rig->startd->poll.timer, 0);
    for (int i = 0; i < 10; i++) { /* the loop turns */
        struct asker again = {.client = admin.client};
        ask(rig, &again, "[EstimateOnly = true]");
        asker_end(&again);
    }
    assert_true(all_unclaimed(rig));
    drain_client_destroy(admin.drain);
    admin.drain = NULL;
    until(rig, all_owner);
    asker_end(&admin);
}

static void who_waited_for_an_offer_that_was_committed_is_refused(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    claim_it(rig);
    ask(rig, &admin, "[]");
    send(rig, VERB_ACTIVATE, 1, JOB, &answer);
    until(rig, something_is_held);
    commit(rig, &admin);
    assert_int_equal(finish(rig, &answer, last_text, sizeof last_text), -ESHUTDOWN);
    until(rig, all_drained);
    asker_end(&admin);
}

static void a_commit_of_another_id_or_a_second_one_is_refused(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    char id[DRAIN_ID_MAX];
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    ask(rig, &admin, "[]");
    (void)snprintf(id, sizeof id, "%s", admin.id);
    assert_int_equal(commit_raw(&admin, "0123", &answer), DRAIN_NO_SUCH_ID);
    assert_true(draining_stands(rig->startd)); /* and the offer stands */
    commit(rig, &admin);
    assert_int_equal(commit_raw(&admin, id, &answer), DRAIN_TOO_LATE);
    until(rig, all_drained);
    asker_end(&admin);
}

#define STARTD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(STARTD(an_idle_machine_is_drained_until_it_is_cancelled),
           STARTD(refusals_carry_their_codes), STARTD(nothing_changes_while_an_offer_stands),
           STARTD(a_requester_that_dies_blocks_nobody), STARTD(an_offer_ends_with_its_time),
           STARTD(a_graceful_drain_lets_the_job_retire_and_the_other_slot_waits),
           STARTD(a_fast_drain_kills_the_job_and_its_run_time_is_badput),
           STARTD(without_retirement_graceful_asks_at_once),
           STARTD(a_peaceful_drain_waits_for_a_job_without_retirement_time),
           STARTD(a_cancelled_drain_lets_a_retiring_job_go_on),
           STARTD(only_the_slots_of_the_request_are_drained), STARTD(a_drain_to_resume_resumes),
           STARTD(a_piece_of_the_request_keeps_its_resources_until_all_are_drained),
           STARTD(a_drain_and_its_totals_survive_the_startd),
           STARTD(short_jobs_may_start_while_a_job_of_before_runs),
           STARTD(a_retiring_job_is_asked_to_end_before_the_deadline_and_killed_at_it),
           STARTD(a_deadline_is_looked_at_when_it_comes),
           STARTD(a_promise_that_is_taken_back_counts_at_once),
           STARTD(a_quick_drain_asks_at_once_and_leaves_the_time_to_end),
           STARTD(an_evicted_job_is_badput_unless_its_result_came_just_in_time),
           STARTD(whom_the_owner_wants_gone_is_not_the_badput_of_draining),
           STARTD(what_a_starter_says_of_an_evicted_job_is_no_success),
           STARTD(a_fast_drain_kills_who_was_only_asked_to_end),
           STARTD(a_suspended_job_keeps_the_retirement_that_is_left),
           STARTD(with_the_knob_a_suspended_job_is_evicted_so_that_the_estimate_holds),
           STARTD(a_call_on_a_claim_waits_for_the_end_of_the_offer),
           STARTD(no_policy_is_looked_at_while_an_offer_stands),
           STARTD(who_waited_for_an_offer_that_was_committed_is_refused),
           STARTD(a_commit_of_another_id_or_a_second_one_is_refused))
