/* What comes when a machine is drained: exit, restart, sleep, off; and what of it outlives a startd
 * that is killed.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "base/daemon/daemon_down.h"
#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_record.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "store/store.h"
#include "tests/unit/startd/draining_rig.h"

#define SLEEPS   TWO_SLOTS "POWER_METHOD = command\nPOWER_SLEEP_CMD = \"/bin/true\"\n"
#define INSOMNIA TWO_SLOTS "POWER_METHOD = command\nPOWER_SLEEP_CMD = \"/bin/false\"\n"

static bool is_stored(struct rig *rig)
{
    return store_is_idle(rig->startd->store);
}

static bool has_note(struct rig *rig)
{
    char why[DAEMON_DOWN_WHY_MAX];
    bool same_boot;
    return daemon_down_read(rig->bed->os, rig->daemon.config, "startd", &same_boot, why);
}

static bool has_no_note(struct rig *rig)
{
    return !has_note(rig);
}

/* Looked up in the collector itself: the loop is stopped in the end. */
static bool is_unknown(struct rig *rig)
{
    const struct collector *collector = rig->bed->collector;
    return collector_ads_count(collector->ads, "Machine") == 0;
}

static bool is_ending(struct rig *rig)
{
    return rig->startd->stopping;
}

static bool is_down(struct rig *rig)
{
    return going_down_is_silent(rig->startd) && loop_timer_is_set(rig->startd->down.guard_timer);
}

static bool starter_is_cut(struct rig *rig)
{
    return rig->starter.wire == NULL;
}

static bool could_not_sleep(struct rig *rig)
{
    return rig->startd->draining.retry_ms > 0;
}

static void offline_ads(struct rig *rig, struct answer *answer)
{
    assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                 "[ Type = \"Machine\"; Constraint = \"Offline =?= true\" ]", NULL,
                                 answer),
                     0);
}

static void look_now(struct rig *rig)
{
    loop_timer_set(rig->startd->draining.look_timer, 0);
}

static void make_lock_directory(struct rig *rig)
{
    MUST(os_mkdirs(rig->bed->os, config_path(rig->daemon.config, "LOCK"), 0755, err));
}

static void drained_to_exit_it_takes_its_ads_away_and_ends(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    make_lock_directory(rig);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"exit\"]");
    until(rig, is_unknown);
    assert_true(is_ending(rig));
    assert_true(has_note(rig));
    assert_int_equal(rig->startd->draining.totals.counting, 0); /* it is not there: no idle time */
    asker_end(&admin);
    restart(rig); /* by whoever: it is to work */
    assert_true(is_withdrawn(rig));
    assert_true(all_unclaimed(rig));
}

static void who_was_drained_to_exit_forgets_it_durably_when_it_is_started(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    make_lock_directory(rig);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[OnCompletion = \"exit\"]");
    until(rig, is_retiring);
    restart(rig); /* killed before it was done */
    assert_true(draining_is_on(rig->startd));
    assert_string_equal(rig->startd->draining.id, admin.id);
    stop(rig);
    MUST(daemon_down_write(rig->bed->os, rig->daemon.config, "startd", "drained", err));
    start(rig); /* killed after it was done */
    assert_true(is_withdrawn(rig));
    until(rig, has_no_note);
    restart(rig);
    assert_true(is_withdrawn(rig));
    asker_end(&admin);
}

static void without_a_note_it_does_not_end(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS); /* LOCK is no directory */
    MUST(os_write_file(rig->bed->os, config_path(rig->daemon.config, "LOCK"), "", 0, 0644, false,
                       err));
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"exit\"]");
    until(rig, could_not_sleep);
    assert_true(all_drained(rig));
    assert_false(is_ending(rig));
    MUST(os_remove(rig->bed->os, config_path(rig->daemon.config, "LOCK"), err));
    make_lock_directory(rig);
    rig->startd->draining.retry_ms = 1; /* it is time */
    look_now(rig);
    until(rig, is_unknown);
    assert_true(has_note(rig));
    asker_end(&admin);
}

static void drained_to_restart_it_ends_and_then_works(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    make_lock_directory(rig);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"restart\"]");
    until(rig, is_ending);
    assert_false(has_note(rig));
    asker_end(&admin);
    restart(rig);
    assert_true(is_withdrawn(rig));
    assert_true(all_unclaimed(rig));
}

static void drained_to_off_its_offline_ads_say_what_it_will_be(void **state)
{
    struct rig *rig = *state;
    struct answer answer = {0};
    begin(rig, SLEEPS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"off\"; DrainReason = \"winter\"]");
    until(rig, is_down);
    assert_string_equal(rig->startd->down.level, "S5");
    offline_ads(rig, &answer);
    assert_int_equal(answer.ads.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct ad *ad = answer.ads.items[i];
        assert_string_equal(ad_string_or(ad, "State", ""), "Unclaimed");
        assert_true(ad_bool_or(ad, "PowerKeptOff", false)); /* no job is to wake it, nor to wait */
        assert_false(ad_bool_or(ad, "Start", true));
        assert_false(ad_bool_or(ad, "Unhibernate", true));
        assert_false(ad_has(ad, "Draining"));
        assert_false(ad_has(ad, "DrainReason"));
        assert_non_null(strstr(ad_string_or(ad, "PowerStateReason", ""), admin.id));
    }
    answer_fini(&answer);
    assert_int_equal(rig->startd->draining.totals.counting, 0); /* sleep is no idle time */
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_NOT_NOW);
    /* Still the same boot, and it was killed: it has not slept. */
    until(rig, is_stored);
    restart(rig);
    assert_true(draining_is_on(rig->startd));
    until(rig, is_down);
    asker_end(&admin);
}

static void who_is_here_after_the_order_has_slept_and_works(void **state)
{
    struct rig *rig = *state;
    struct answer answer = {0};
    begin(rig, SLEEPS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"sleep\"]");
    until(rig, is_down);
    assert_string_equal(rig->startd->down.level, "S3");
    offline_ads(rig, &answer);
    assert_int_equal(answer.ads.count, 2);
    assert_false(ad_has(answer.ads.items[0], "PowerKeptOff")); /* a job may have it */
    assert_true(ad_bool_or(answer.ads.items[0], "Start", false));
    answer_fini(&answer);
    loop_timer_set(rig->startd->down.guard_timer, 0);
    until(rig, all_unclaimed);
    assert_true(is_withdrawn(rig));
    until(rig, is_stored);
    restart(rig);
    assert_true(is_withdrawn(rig));
    asker_end(&admin);
}

static void a_machine_that_cannot_be_taken_down_stays_drained_and_tries_again(void **state)
{
    struct rig *rig = *state;
    begin(rig, INSOMNIA);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[OnCompletion = \"off\"]");
    until(rig, could_not_sleep);
    assert_true(all_drained(rig));
    assert_false(going_down_has_begun(rig->startd));
    assert_true(ad_bool_or(rig->startd->slots[0]->ad, "Draining", false));
    assert_false(ad_bool_or(rig->startd->slots[0]->ad, "Start", true));
    rig->startd->draining.retry_ms = 1;
    look_now(rig);
    while (rig->startd->draining.retry_ms == 1) { /* the loop turns */
        struct asker again = {.client = admin.client};
        ask(rig, &again, "[EstimateOnly = true]");
        asker_end(&again);
    }
    until(rig, could_not_sleep); /* again */
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    until(rig, all_unclaimed);
    asker_end(&admin);
}

static void killed_in_mid_drain_it_goes_on_with_the_job_that_retires(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[DrainReason = \"new disk\"]");
    until(rig, is_retiring);
    until(rig, second_waits);
    int64_t began_s = rig->startd->draining.began_s;
    restart(rig);
    assert_true(draining_is_on(rig->startd));
    assert_string_equal(rig->startd->draining.id, admin.id);
    assert_string_equal(rig->startd->draining.requester, "someone@pool");
    assert_string_equal(rig->startd->draining.request.reason, "new disk");
    assert_int_equal(rig->startd->draining.began_s, began_s);
    until(rig, is_retiring);
    until(rig, second_waits);
    assert_int_equal(rig->startd->draining.totals.counting, 1);
    rig->starter.ready = false;
    assert_int_equal(hello(rig, 1), 0);
    assert_int_equal(rig->starter.stops, 0);
    job_is_over(rig, "");
    until(rig, all_drained);
    assert_int_equal(rig->startd->draining.totals.badput_s, 0);
    asker_end(&admin);
}

static void a_commit_is_durable_where_no_slot_is_free(void **state)
{
    struct rig *rig = *state;
    begin(rig,
          "MAXJOBRETIREMENTTIME = 1000\n"); /* one slot: no time counts, nothing else is saved */
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    drain_it(rig, &admin, "[]");
    restart(rig);
    assert_true(draining_is_on(rig->startd));
    assert_string_equal(rig->startd->draining.id, admin.id);
    asker_end(&admin);
}

static void killed_while_it_evicts_it_still_knows_whose_badput_it_is(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -= 500000;
    claim_commit(rig->startd->slots[0]->claim, NULL);
    drain_it(rig, &admin, "[]");
    until(rig, has_stop);
    until(rig, is_stored);
    restart(rig);
    until(rig, starter_is_cut);
    assert_int_equal(hello(rig, 1), 0);
    job_is_over(rig, "vacated");
    until(rig, all_drained);
    assert_in_range(rig->startd->draining.totals.badput_s, 500, 530);
    until(rig, is_stored);
    restart(rig);
    assert_in_range(rig->startd->draining.totals.badput_s, 500, 530);
    asker_end(&admin);
}

static bool first_is_free(struct rig *rig)
{
    return rig->startd->slots[0]->claim == NULL;
}

static void who_was_evicted_is_badput_though_it_was_cancelled_and_the_startd_killed(void **state)
{
    struct rig *rig = *state;
    begin(rig, IMPATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    rig->startd->slots[0]->claim->run.start_ms -= 500000;
    drain_it(rig, &admin, "[]");
    until(rig, has_stop);
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    until(rig, is_stored);
    restart(rig);
    until(rig, starter_is_cut);
    assert_true(is_withdrawn(rig));
    assert_int_equal(hello(rig, 1), 0);
    job_is_over(rig, "vacated");
    until(rig, first_is_free);
    assert_in_range(rig->startd->draining.totals.badput_s, 500, 530);
    until(rig, is_stored);
    restart(rig);
    assert_in_range(rig->startd->draining.totals.badput_s, 500, 530);
    asker_end(&admin);
}

static void an_offer_dies_with_the_startd(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    ask(rig, &admin, "[]");
    assert_true(draining_stands(rig->startd));
    restart(rig);
    waited_for = &admin;
    until(rig, is_done); /* the hub says that the machine's uplink was lost */
    assert_int_equal(admin.code, DRAIN_NO_ANSWER);
    assert_true(is_withdrawn(rig));
    assert_true(all_unclaimed(rig));
    asker_end(&admin);
}

#define STARTD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(STARTD(drained_to_exit_it_takes_its_ads_away_and_ends),
           STARTD(who_was_drained_to_exit_forgets_it_durably_when_it_is_started),
           STARTD(without_a_note_it_does_not_end),
           STARTD(drained_to_restart_it_ends_and_then_works),
           STARTD(drained_to_off_its_offline_ads_say_what_it_will_be),
           STARTD(who_is_here_after_the_order_has_slept_and_works),
           STARTD(a_machine_that_cannot_be_taken_down_stays_drained_and_tries_again),
           STARTD(killed_in_mid_drain_it_goes_on_with_the_job_that_retires),
           STARTD(a_commit_is_durable_where_no_slot_is_free),
           STARTD(killed_while_it_evicts_it_still_knows_whose_badput_it_is),
           STARTD(who_was_evicted_is_badput_though_it_was_cancelled_and_the_startd_killed),
           STARTD(an_offer_dies_with_the_startd))
