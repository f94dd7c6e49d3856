/* Preemption over real wires: who may preempt, how the running job retires, is vacated and killed,
 * and who gets the slot.
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
#include "startd/owner/policy.h"
#include "startd/claim/preempt.h"
#include "startd/starters.h"
#include "tests/unit/startd/startd_rig.h"

#include "wire/job_record.h"

#define POLICY    "RANK = \"TARGET.Fame\"\n"
#define KNOWN     "[Owner = \"ann\"; User = \"ann@pool\"; Requirements = true; Fame = 5]"
#define FAMOUS    "[Owner = \"bea\"; User = \"bea@pool\"; Requirements = true; Fame = 9]"
#define AS_KNOWN  "[Owner = \"bea\"; User = \"bea@pool\"; Requirements = true; Fame = 5]"
#define OBSCURE   "[Owner = \"bea\"; User = \"bea@pool\"; Requirements = true; Fame = 1]"
#define PRIORITY  "[Preemption = \"Priority\"]"
#define AGAIN     "[Again = true]"
#define PATIENT   POLICY "MAXJOBRETIREMENTTIME = 1000\nMACHINEMAXVACATETIME = 40\n"
#define IMPATIENT POLICY "MAXJOBRETIREMENTTIME = 0\nMACHINEMAXVACATETIME = 40\n"

static struct slot *slot_of(const struct rig *rig)
{
    return rig->startd->slots[0];
}

static void begin(struct rig *rig, const char *policy)
{
    stop(rig);
    load(rig, policy);
    start(rig);
    until(rig, is_connected);
}

/* ann's job runs; the id is kept for what is said about it. */
static void run_known(struct rig *rig, const char *policy, const char *job)
{
    begin(rig, policy);
    remember_id(rig);
    assert_int_equal(dial_me(rig, job), 0);
    until(rig, is_claimed_idle);
    assert_int_equal(call(rig, VERB_ACTIVATE, 1, job), 0);
    until(rig, has_pids);
    assert_int_equal(hello(rig, 1), 0);
}

/* Shows the claim id that the claimed slot offers; *id is kept. */
static int preempt(struct rig *rig, const char *job, const char *more, char id[CLAIM_ID_MAX],
                   struct ad **answer)
{
    (void)snprintf(id, CLAIM_ID_MAX, "%s", slot_of(rig)->claim_id);
    return dial_with(rig, id, job, more, answer);
}

static bool is_retiring(struct rig *rig)
{
    return is(rig, SLOT_CLAIMED, SLOT_RETIRING);
}

static bool second_is_claimed(struct rig *rig)
{
    const struct claim *claim = slot_of(rig)->claim;
    return is_claimed_idle(rig) && claim != NULL && strcmp(claim->job.user, "bea@pool") == 0;
}

static bool nobody_waits(struct rig *rig)
{
    return slot_of(rig)->waiting == NULL;
}

static void cancel(struct rig *rig, const char *id)
{
    struct answer answer;
    char args[CLAIM_ID_MAX + 20];
    (void)snprintf(args, sizeof args, "[ ClaimId = \"%s\" ]", id);
    assert_int_equal(client_relay(rig->caller, "startd/wn01", VERB_RELEASE_CLAIM, args, NULL,
                                  &answer),
                     0);
    answer_fini(&answer);
}

static void a_claimed_slot_shows_whose_it_is_and_offers_itself_to_better_ones(void **state)
{
    struct rig *rig = *state;
    run_known(rig, PATIENT,
              "[Owner = \"ann\"; User = \"ann@pool\"; Requirements = true; Fame = 5; "
              "ConcurrencyLimits = strcat(\"ta\", \"pe:2\"); AccountingGroup = \"g.ann\"]");
    const struct ad *ad = slot_of(rig)->ad;
    assert_string_equal(ad_string_or(ad, "RemoteUser", ""), "ann@pool");
    assert_string_equal(ad_string_or(ad, "ConcurrencyLimits", ""), "tape:2");
    assert_string_equal(ad_string_or(ad, "AccountingGroup", ""), "g.ann");
    assert_int_equal(ad_int_or(ad, "CurrentRank", 0), 5);
    assert_true(ad_int_or(ad, "JobStart", 0) > 1700000000);
    assert_in_range(ad_int_or(ad, "TotalJobRunTime", -1), 0, 20);
    assert_in_range(ad_int_or(ad, "RetirementTimeRemaining", -1), 980, 1000);
    assert_string_equal(secret_list_find(slot_of(rig)->offered, SECRET_CLAIM_ID),
                        slot_of(rig)->claim_id);
    assert_string_not_equal(slot_of(rig)->claim_id, rig->claim_id);
}

static void the_job_in_its_sandbox_sees_no_claim_id(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256], path[300], *text = NULL;
    size_t length;
    run_known(rig, PATIENT, KNOWN);
    assert_true(read_pids(rig, &starter, &child, directory));
    (void)snprintf(path, sizeof path, "%s/job.record", directory);
    MUST(os_read_file(rig->bed->os, path, 1 << 20, &text, &length, err));
    struct ad *record = NULL;
    const struct ad *slot = NULL;
    struct secret_list *secrets = NULL;
    assert_int_equal(job_record_read(text, length, &record, &secrets, NULL), 0);
    secret_list_unref(secrets);
    assert_int_equal(ad_get_ad(record, "Slot", &slot), 0);
    assert_true(ad_has(slot, "Cpus"));
    assert_false(ad_has(slot, "ClaimId"));
    ad_destroy(record);
    mem_free(text);
}

static void who_is_not_better_does_not_preempt(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, OBSCURE, PRIORITY, id, NULL), -EPERM);
    assert_non_null(strstr(last_text, "slot1@wn01: its Rank of this job, 1"));
    assert_int_equal(preempt(rig, AS_KNOWN, "[Preemption = \"Rank\"]", id, NULL), -EPERM);
    assert_int_equal(preempt(rig, AS_KNOWN, "[]", id, NULL), -EPERM);
    assert_int_equal(preempt(rig, "[User = \"x\"; Fame = 9; Requirements = TARGET.Cpus < 0]", "[]",
                             id, NULL),
                     -ENOTSUP);
    assert_true(is_claimed_busy(rig));
    assert_true(nobody_waits(rig));
}

static void the_running_job_retires_while_the_better_one_waits(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    struct ad *answer = NULL;
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, AS_KNOWN, PRIORITY, id, &answer), 0);
    assert_true(ad_bool_or(answer, "Waits", false));
    assert_in_range(ad_int_or(answer, "WaitMax", 0), 980 + 40, 1000 + 40 + 60);
    assert_in_range(ad_int_or(answer, "AskAgain", 0), 1, 40);
    ad_destroy(answer);
    assert_true(is_retiring(rig));
    const struct ad *ad = slot_of(rig)->ad;
    assert_string_equal(ad_string_or(ad, "PreemptingUser", ""), "bea@pool");
    assert_int_equal(ad_int_or(ad, "PreemptingRank", 0), 5);
    assert_string_equal(ad_string_or(ad, "RemoteUser", ""), "ann@pool");
    assert_null(slot_of(rig)->offered); /* one waits: no other */
    assert_int_equal(rig->starter.stops, 0);
    assert_int_equal(dial_with(rig, id, AS_KNOWN, AGAIN, &answer), 0);
    assert_true(ad_bool_or(answer, "Waits", false));
    ad_destroy(answer);
    assert_int_equal(dial_with(rig, id, AS_KNOWN, "[]", NULL), -ENOKEY); /* not a second time */
}

static void a_job_that_ends_while_it_retires_ends_well_and_hands_the_slot_over(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    struct ad *answer = NULL;
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    struct answer done;
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, "", &done), 0);
    answer_fini(&done);
    assert_int_equal(rig->starter.stops, 0); /* it ended by itself */
    end_script(rig);
    until(rig, second_is_claimed);
    assert_string_equal(slot_of(rig)->claim->id, id);
    assert_string_equal(ad_string_or(rig->schedd.claim, "ClaimId", ""), id);
    until(rig, has_gone);
    assert_true(ad_bool_or(rig->schedd.gone, "Preempted", false));
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""),
                        "preempted by a job of bea@pool");
    assert_int_equal(dial_with(rig, id, FAMOUS, AGAIN, &answer), 0); /* it is the slot's by now */
    assert_false(ad_bool_or(answer, "Waits", false));
    assert_string_equal(ad_string_or(answer, "SlotName", ""), "slot1@wn01");
    ad_destroy(answer);
    assert_int_equal(ad_int_or(slot_of(rig)->ad, "CurrentRank", 0), 9);
}

static bool is_vacating(struct rig *rig)
{
    return is(rig, SLOT_PREEMPTING, SLOT_VACATING);
}

static bool is_killing(struct rig *rig)
{
    return is(rig, SLOT_PREEMPTING, SLOT_KILLING);
}

static void a_job_past_its_retirement_is_asked_to_end_then_killed(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, IMPATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    until(rig, is_vacating);
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    assert_int_equal(rig->starter.grace_s, 40);
    starters_stop_step(slot_of(rig)->claim); /* the vacate time is over */
    until(rig, is_killing);
    starters_stop_step(slot_of(rig)->claim); /* and that of killing: the script hears no orders */
    until(rig, second_is_claimed);
    until(rig, is_cleaned);
    until(rig, has_gone);
    assert_true(ad_bool_or(rig->schedd.gone, "Preempted", false));
}

static void the_end_of_the_retirement_begins_the_vacating(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    preempt_step(slot_of(rig)->claim); /* early: it is set again */
    assert_true(is_retiring(rig));
    slot_of(rig)->claim->run.start_ms -= 1000000;
    preempt_step(slot_of(rig)->claim);
    assert_true(is_vacating(rig));
}

static void a_retirement_that_is_made_shorter_ends_at_the_next_look(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    policy_poll(rig->startd);
    assert_true(is_retiring(rig));
    reload(rig, IMPATIENT); /* looks */
    assert_true(is_vacating(rig));
}

static void an_idle_claim_is_preempted_at_once(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    struct ad *answer = NULL;
    begin(rig, PATIENT);
    remember_id(rig);
    assert_int_equal(dial_me(rig, KNOWN), 0);
    until(rig, is_claimed_idle);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, &answer), 0);
    assert_false(ad_bool_or(answer, "Waits", false));
    ad_destroy(answer);
    until(rig, second_is_claimed);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "ClaimId", ""), rig->claim_id);
}

static void a_wait_that_is_taken_back_lets_the_job_run_on(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX], next[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    assert_true(is_retiring(rig));
    cancel(rig, id);
    assert_true(is_claimed_busy(rig));
    assert_true(nobody_waits(rig));
    assert_false(ad_has(slot_of(rig)->ad, "PreemptingUser"));
    assert_false(loop_timer_is_set(slot_of(rig)->claim->retirement.timer));
    assert_int_equal(dial_with(rig, id, FAMOUS, AGAIN, NULL), -ENOKEY);
    assert_int_equal(preempt(rig, FAMOUS, "[]", next, NULL), 0); /* another one may */
    assert_string_not_equal(next, id);
    cancel(rig, "no such id");
    assert_true(is_retiring(rig));
}

static void a_wait_that_nobody_asks_for_is_over(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    struct claim *waiting = slot_of(rig)->waiting;
    assert_in_range(claim_remaining_ms(waiting), 110000, 120000);
    waiting->lease.end_ms = loop_now_ms(rig->bed->loop);
    loop_timer_set(waiting->lease.end_timer, 0);
    until(rig, nobody_waits);
    assert_true(is_claimed_busy(rig));
    assert_int_equal(rig->startd->claims.count, 1);
}

static void a_starter_that_dies_while_it_retires_hands_the_slot_over(void **state)
{
    struct rig *rig = *state;
    int starter, child;
    char directory[256], id[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    assert_true(read_pids(rig, &starter, &child, directory));
    assert_int_equal(os_kill(rig->bed->os, starter, SIGKILL), 0);
    until(rig, second_is_claimed);
    until(rig, is_cleaned);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""), "starter died");
}

static void a_startd_that_is_started_anew_knows_no_wait_and_runs_the_job_on(void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, PATIENT, KNOWN);
    int64_t began_ms = slot_of(rig)->claim->run.start_ms;
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    restart(rig);
    assert_true(is_claimed_busy(rig));
    assert_true(nobody_waits(rig));
    assert_int_equal(slot_of(rig)->claim->run.start_ms, began_ms);
    assert_int_equal(ad_int_or(slot_of(rig)->ad, "CurrentRank", 0), 5);
    until(rig, is_connected);
    assert_int_equal(dial_with(rig, id, FAMOUS, AGAIN, NULL), -ENOKEY);
}

static void a_preempted_claim_that_the_schedd_was_not_told_of_does_not_take_the_slot_back(
    void **state)
{
    struct rig *rig = *state;
    char id[CLAIM_ID_MAX];
    run_known(rig, IMPATIENT, KNOWN);
    rig->schedd.mute_gone = true;
    assert_int_equal(preempt(rig, FAMOUS, "[]", id, NULL), 0);
    until(rig, has_stop);
    struct answer done;
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, "", &done), 0);
    answer_fini(&done);
    end_script(rig);
    until(rig, second_is_claimed);
    until(rig, has_gone);
    assert_int_equal(rig->startd->claims.count, 2);
    restart(rig); /* two records speak of slot1@wn01 */
    assert_string_equal(slot_of(rig)->claim->id, id);
    rig->schedd.mute_gone = false;
    rig->schedd.gones = 0;
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "ClaimId", ""), rig->claim_id);
    assert_true(ad_bool_or(rig->schedd.gone, "Preempted", false));
}

UNIT_TESTS(RIG(a_claimed_slot_shows_whose_it_is_and_offers_itself_to_better_ones),
           RIG(the_job_in_its_sandbox_sees_no_claim_id), RIG(who_is_not_better_does_not_preempt),
           RIG(the_running_job_retires_while_the_better_one_waits),
           RIG(a_job_that_ends_while_it_retires_ends_well_and_hands_the_slot_over),
           RIG(a_job_past_its_retirement_is_asked_to_end_then_killed),
           RIG(the_end_of_the_retirement_begins_the_vacating),
           RIG(a_retirement_that_is_made_shorter_ends_at_the_next_look),
           RIG(an_idle_claim_is_preempted_at_once),
           RIG(a_wait_that_is_taken_back_lets_the_job_run_on),
           RIG(a_wait_that_nobody_asks_for_is_over),
           RIG(a_starter_that_dies_while_it_retires_hands_the_slot_over),
           RIG(a_startd_that_is_started_anew_knows_no_wait_and_runs_the_job_on),
           RIG(a_preempted_claim_that_the_schedd_was_not_told_of_does_not_take_the_slot_back))
