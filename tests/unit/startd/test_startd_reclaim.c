/* Jobs take a machine back that is on its way down: while it is drained, while it waits to sleep;
 * not when somebody ordered it by name, not when the order is given.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/strbuf.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "startd/slot/slots.h"
#include "store/store.h"
#include "tests/unit/startd/draining_rig.h"

#define RESULT_MAX 600
#define RECLAIM \
    "[Jobs = 2; Reason = \"2 jobs of alice (autocluster 3 of schedd@submit) wait for it\"]"
#define MAY_BE_ENDED "[OnCompletion = \"sleep\"; Reclaimable = true; DrainReason = \"night\"]"

/* A machine that is switched off by a program, which leaves a file behind. */
static void begin_with(struct rig *rig, const char *more)
{
    static const char OFF[] = "#!/bin/sh\necho off >\"$(dirname \"$0\")/off\"\n";
    char path[900], text[1600];
    (void)snprintf(path, sizeof path, "%s/off.sh", rig->bed->dir);
    MUST(os_write_file(rig->bed->os, path, OFF, strlen(OFF), 0755, false, err));
    (void)snprintf(text, sizeof text,
                   TWO_SLOTS
                   "POWER_METHOD = command\nPOWER_SLEEP_CMD = \"%s\"\n"
                   "HIBERNATE_CHECK_INTERVAL = 3600\nSTART = \"TARGET.Owner =!= \\\"eve\\\"\"\n"
                   "MAXJOBRETIREMENTTIME = 1000\n%s",
                   path, more);
    begin(rig, text);
}

#define WAITS   "HIBERNATE_RECLAIM_TIME = 600s\nHIBERNATE = \"\\\"S5\\\"\"\n"
#define GOES    "HIBERNATE_RECLAIM_TIME = 0\nHIBERNATE = \"\\\"S5\\\"\"\n"
#define OUTSIDE WAITS "POWER_METHOD = rooster\n"

static bool is_switched_off(struct rig *rig)
{
    char path[900], *text = NULL;
    size_t length;
    (void)snprintf(path, sizeof path, "%s/off", rig->bed->dir);
    bool is = os_read_file(rig->bed->os, path, 100, &text, &length, NULL) == 0;
    mem_free(text);
    return is;
}

static bool is_waiting(struct rig *rig)
{
    return loop_timer_is_set(rig->startd->down.reclaim_timer);
}
static bool rooster_is_to_do_it(struct rig *rig)
{
    return going_down_has_begun(rig->startd) && loop_timer_is_set(rig->startd->down.guard_timer);
}
static bool is_stored(struct rig *rig)
{
    return store_is_idle(rig->startd->store);
}
static int call_as(struct rig *rig, uint32_t scopes, const char *text, char result[RESULT_MAX])
{
    struct client *client = client_dial(rig->bed, scopes, "", NULL, NULL);
    struct answer answer;
    int status = client_relay(client, "startd/wn01", VERB_POWER_RECLAIM, text, NULL, &answer);
    (void)snprintf(result, RESULT_MAX, "%s",
                   status == 0 ? ad_string_or(answer.args, "Result", "?") : answer.text);
    answer_fini(&answer);
    return status;
}

static void taken_back(struct rig *rig)
{
    char result[RESULT_MAX];
    if (call_as(rig, SCOPE_NEGOTIATOR, RECLAIM, result) != 0) {
        fail_msg("%s", result);
    }
    assert_string_equal(result, "Reclaimed");
}

static void refused(struct rig *rig, int status, const char *words)
{
    char result[RESULT_MAX];
    assert_int_equal(call_as(rig, SCOPE_NEGOTIATOR, RECLAIM, result), status);
    assert_non_null(strstr(result, words));
}

static size_t count_of(struct rig *rig, const char *constraint)
{
    struct answer answer;
    char args[300];
    (void)snprintf(args, sizeof args, "[ Type = \"Machine\"; Constraint = \"%s\" ]", constraint);
    assert_int_equal(client_call(rig->caller, VERB_QUERY, args, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

static void is_awake_again(struct rig *rig)
{
    while (count_of(rig, "Offline =!= true && State == \\\"Unclaimed\\\" && Start =!= false") !=
           2) {
    } /* ctest's limit ends what never comes */
}

static const struct ad *shown(const struct rig *rig, size_t slot)
{
    return rig->startd->slots[slot]->ad;
}

/* ---- while it drains */

static void what_is_drained_for_jobs_to_take_back_shows_whom_it_would_run(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, MAY_BE_ENDED);
    until(rig, second_waits);
    slots_refresh(rig->startd);
    const struct ad *ad = shown(rig, 1);
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_expr_print(ad_lookup(ad, "ReclaimStart"), AD_OLD, &text);
    assert_string_equal(strbuf_text(&text), "TARGET.Owner =!= \"eve\"");
    strbuf_fini(&text);
    assert_true(ad_bool_or(ad, "DrainingReclaimable", false));
    assert_false(ad_bool_or(ad, "Start", true)); /* as for any drain */
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    slots_refresh(rig->startd);
    assert_false(ad_has(shown(rig, 1), "DrainingReclaimable"));
    assert_false(ad_has(shown(rig, 1), "ReclaimStart"));
    asker_end(&admin);
}

static void jobs_end_the_drain_and_the_job_that_retired_runs_on(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, MAY_BE_ENDED);
    until(rig, is_retiring);
    until(rig, second_waits);
    taken_back(rig);
    assert_false(draining_is_on(rig->startd));
    assert_true(in_state(rig, 1, SLOT_UNCLAIMED, SLOT_IDLE));
    until(rig, is_claimed_busy);
    assert_int_equal(rig->starter.stops, 0);
    slots_refresh(rig->startd);
    assert_string_equal(ad_string_or(shown(rig, 1), "LastReclaimReason", "?"),
                        "2 jobs of alice (autocluster 3 of schedd@submit) wait for it; the machine "
                        "was drained by someone@pool");
    assert_int_equal(ad_int_or(shown(rig, 0), "LastReclaimTime", 0),
                     loop_wall_of_s(rig->startd->env.loop, rig->startd->reclaim.at_ms));
    restart(rig); /* killed right after the answer: it was durable */
    assert_false(draining_is_on(rig->startd));
    asker_end(&admin);
}

static void who_was_killed_still_knows_that_jobs_may_end_the_drain(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, MAY_BE_ENDED);
    until(rig, second_waits);
    restart(rig);
    until(rig, second_waits);
    until(rig, is_connected);
    taken_back(rig);
    assert_true(in_state(rig, 1, SLOT_UNCLAIMED, SLOT_IDLE));
    asker_end(&admin);
}

static void what_an_administrator_drains_is_not_taken_back(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[OnCompletion = \"sleep\"]");
    until(rig, second_waits);
    slots_refresh(rig->startd);
    assert_false(ad_has(shown(rig, 1), "DrainingReclaimable"));
    refused(rig, -EPERM, "drained by someone@pool");
    assert_true(draining_is_on(rig->startd));
    assert_true(second_waits(rig));
    assert_int_equal(rig->startd->reclaim.at_ms, 0);
    asker_end(&admin);
}

static void one_that_stays_up_anyway_says_so(void **state)
{
    struct rig *rig = *state;
    char result[RESULT_MAX];
    begin_with(rig, WAITS);
    assert_int_equal(call_as(rig, SCOPE_ROOSTER, "[]", result), 0);
    assert_string_equal(result, "Up");
    assert_false(ad_has(shown(rig, 0), "LastReclaimTime"));
    assert_int_equal(call_as(rig, SCOPE_WRITE, "[]", result), -EACCES);
}

/* ---- before it sleeps */

static void it_waits_for_jobs_before_it_goes_down_and_they_take_it_back(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    int64_t now_s = loop_wall_s(rig->bed->loop);
    hibernate_check(rig->startd);
    until(rig, is_waiting);
    assert_int_equal(count_of(rig, "Offline =?= true"), 2);
    char constraint[100];
    (void)snprintf(constraint, sizeof constraint, "PowerReclaimUntil >= %lld", (long long)now_s);
    assert_int_equal(count_of(rig, constraint), 2);
    assert_int_equal(dial_me(rig, "[]"), -EAGAIN); /* no claim while it goes down */
    taken_back(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_false(is_waiting(rig));
    is_awake_again(rig);
    assert_int_equal(count_of(rig, "Offline =?= true"), 0);
    assert_false(is_switched_off(rig));
    assert_true(loop_timer_is_set(rig->startd->down.check_timer)); /* it may sleep later */
    claim_it(rig);
}

/* Jobs that take it back and do not run on it would keep it going up and down. */
static void taken_back_twice_in_a_minute_it_stays_up_for_the_rest_of_it(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    for (int i = 0; i < 2; i++) {
        hibernate_check(rig->startd);
        until(rig, is_waiting);
        taken_back(rig);
        is_awake_again(rig);
    }
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(
        strstr(ad_string_or(shown(rig, 0), "HibernationHeldBy", ""), "took the machine back"));
    rig->startd->look.reclaimed_ms[0] -= 60000;
    hibernate_check(rig->startd);
    until(rig, is_waiting);
}

static void without_jobs_it_goes_down_when_its_time_is_over(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    hibernate_check(rig->startd);
    until(rig, is_waiting);
    assert_false(is_switched_off(rig));
    loop_timer_set(rig->startd->down.reclaim_timer, 0);
    until(rig, is_switched_off);
    refused(rig, -EALREADY, "it is too late to stop that");
    assert_true(going_down_has_begun(rig->startd));
}

static void it_need_not_wait(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, GOES);
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
    refused(rig, -EALREADY, "it is too late to stop that");
    assert_int_equal(dial_me(rig, "[]"), -EAGAIN);
}

static void what_somebody_ordered_goes_down_at_once(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    begin_with(rig, WAITS);
    struct client *admin = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    assert_int_equal(client_relay(admin, "startd/wn01", VERB_POWER_DOWN, "[]", NULL, &answer), 0);
    answer_fini(&answer);
    assert_false(is_waiting(rig));
    until(rig, is_switched_off);
    assert_int_equal(count_of(rig, "PowerReclaimUntil =!= undefined"), 0);
    refused(rig, -EPERM, "by a user's order");
}

static void killed_while_it_waits_it_is_up(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    hibernate_check(rig->startd);
    until(rig, is_waiting);
    restart(rig);
    is_awake_again(rig);
    assert_false(is_switched_off(rig));
}

static void drained_it_waits_for_jobs_too_and_is_drained_no_more(void **state)
{
    struct rig *rig = *state;
    begin_with(rig, WAITS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, MAY_BE_ENDED);
    until(rig, is_waiting);
    taken_back(rig);
    assert_true(is_stored(rig)); /* before it was answered */
    assert_false(draining_is_on(rig->startd));
    until(rig, all_unclaimed);
    is_awake_again(rig);
    restart(rig);
    assert_false(draining_is_on(rig->startd));
    assert_true(all_unclaimed(rig));
    assert_false(is_switched_off(rig));
    until(rig, is_connected);
    drain_it(rig, &admin, "[OnCompletion = \"sleep\"]"); /* by name: without waiting */
    until(rig, is_switched_off);
    assert_false(is_waiting(rig));
    asker_end(&admin);
}

static void who_is_taken_down_from_outside_is_taken_back_from_there(void **state)
{
    struct rig *rig = *state;
    char result[RESULT_MAX];
    begin_with(rig, OUTSIDE);
    hibernate_check(rig->startd);
    until(rig, rooster_is_to_do_it);
    assert_int_equal(count_of(rig, "PowerState == \\\"GoingDown\\\" && PowerReclaimUntil > 0"), 2);
    refused(rig, -EALREADY, "it is too late to stop that"); /* for all that it knows */
    assert_int_equal(call_as(rig, SCOPE_ROOSTER, "[Withdrawn = true; Reason = \"a job waits\"]",
                             result),
                     0);
    assert_string_equal(result, "Reclaimed");
    is_awake_again(rig);
}

/* The commit of the request itself may be on its way. */
static void two_at_a_time_are_both_answered(void **state)
{
    struct rig *rig = *state;
    struct answer answers[2];
    begin_with(rig, WAITS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, MAY_BE_ENDED);
    until(rig, second_waits);
    struct client *client = client_dial(rig->bed, SCOPE_NEGOTIATOR, "", NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_true(answer_ask_text(&answers[i], client->wire, "startd/wn01", VERB_POWER_RECLAIM,
                                    RECLAIM, NULL, NULL) > 0);
    }
    for (size_t i = 0; i < 2; i++) {
        loop_rig_await(rig->bed->loop, &answers[i].over, NULL);
        assert_true(answers[i].status == 0 || answers[i].status == -EBUSY);
        answer_fini(&answers[i]);
    }
    assert_false(draining_is_on(rig->startd));
    until(rig, is_stored);
    asker_end(&admin);
}

#define STARTD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(STARTD(what_is_drained_for_jobs_to_take_back_shows_whom_it_would_run),
           STARTD(jobs_end_the_drain_and_the_job_that_retired_runs_on),
           STARTD(who_was_killed_still_knows_that_jobs_may_end_the_drain),
           STARTD(what_an_administrator_drains_is_not_taken_back),
           STARTD(one_that_stays_up_anyway_says_so),
           STARTD(it_waits_for_jobs_before_it_goes_down_and_they_take_it_back),
           STARTD(taken_back_twice_in_a_minute_it_stays_up_for_the_rest_of_it),
           STARTD(without_jobs_it_goes_down_when_its_time_is_over), STARTD(it_need_not_wait),
           STARTD(what_somebody_ordered_goes_down_at_once), STARTD(killed_while_it_waits_it_is_up),
           STARTD(drained_it_waits_for_jobs_too_and_is_drained_no_more),
           STARTD(who_is_taken_down_from_outside_is_taken_back_from_there),
           STARTD(two_at_a_time_are_both_answered))
