/* A startd that ends by itself: when nobody claims it, when its time is over; what is left of it.
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "startd/sleep/farewell.h"
#include "tests/unit/startd/startd_rig.h"

#define OFTEN "POLLING_INTERVAL = 1\n"
#define LATE  OFTEN "DAEMON_SHUTDOWN = \"State =?= \\\"Claimed\\\"\"\n"

static void begin(struct rig *rig, const char *policy)
{
    stop(rig);
    load(rig, policy);
    start(rig);
    until(rig, is_connected);
}

static bool has_ended(struct rig *rig)
{
    return rig->startd->stopping && rig->startd->claims.count == 0;
}

static bool is_retiring(struct rig *rig)
{
    return is(rig, SLOT_CLAIMED, SLOT_RETIRING);
}

static bool is_taking_leave(struct rig *rig)
{
    return rig->startd->farewell.begun;
}

/* Looked up in the collector itself: the loop is stopped in the end, and no question is answered.
 */
static bool is_known(struct rig *rig)
{
    const struct collector *collector = rig->bed->collector;
    return collector_ads_count(collector->ads, "Machine") == 1;
}

static bool is_unknown(struct rig *rig)
{
    return !is_known(rig);
}

static void nobody_claims_it_and_it_ends(void **state)
{
    struct rig *rig = *state;
    begin(rig, OFTEN "STARTD_NOCLAIM_SHUTDOWN = 1\n");
    assert_false(rig->startd->stopping);
    until(rig, has_ended);
}

static void a_claimed_machine_is_not_idle(void **state)
{
    struct rig *rig = *state;
    begin(rig, OFTEN "STARTD_NOCLAIM_SHUTDOWN = 1\n");
    claim_it(rig);
    rig->startd->farewell.claimed_ms = 1; /* long ago */
    assert_false(farewell_check(rig->startd));
    assert_false(rig->startd->farewell.begun);
    assert_true(is_claimed_idle(rig));
}

static void without_the_knobs_it_stays(void **state)
{
    struct rig *rig = *state;
    begin(rig, OFTEN);
    rig->startd->farewell.claimed_ms = 1;
    assert_false(farewell_check(rig->startd));
    assert_false(rig->startd->farewell.begun);
}

static void an_idle_claim_ends_at_once_and_its_schedd_is_told(void **state)
{
    struct rig *rig = *state;
    begin(rig, LATE);
    claim_it(rig);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""),
                        "the machine takes no more jobs");
    until(rig, has_ended);
}

static void a_running_job_retires_and_the_machine_takes_no_other(void **state)
{
    struct rig *rig = *state;
    struct answer done;
    begin(rig, OFTEN "DAEMON_SHUTDOWN = \"Activity =?= \\\"Busy\\\"\"\n"
                     "MAXJOBRETIREMENTTIME = 1000\n");
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    until(rig, is_retiring);
    assert_int_equal(rig->starter.stops, 0);
    assert_false(farewell_check(rig->startd));
    assert_string_equal(ad_string_or(rig->startd->slots[0]->ad, "PowerState", ""), "Draining");
    assert_null(rig->startd->slots[0]->offered);
    assert_int_equal(dial_me(rig, JOB), -EAGAIN);
    assert_non_null(strstr(last_text, "is going down"));
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, "", &done), 0);
    answer_fini(&done);
    end_script(rig);
    until(rig, has_gone);
    assert_string_equal(ad_string_or(rig->schedd.gone, "Reason", ""),
                        "the machine takes no more jobs");
    until(rig, has_ended);
}

static void without_retirement_the_job_is_asked_to_end_at_once(void **state)
{
    struct rig *rig = *state;
    begin(rig, OFTEN "DAEMON_SHUTDOWN = \"Activity =?= \\\"Busy\\\"\"\n"
                     "MAXJOBRETIREMENTTIME = 0\nMACHINEMAXVACATETIME = 40\n");
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    until(rig, has_stop);
    assert_false(rig->starter.fast);
    assert_int_equal(rig->starter.grace_s, 40);
    assert_true(is_taking_leave(rig));
    assert_false(rig->startd->stopping); /* not before the job has ended */
}

static void a_machine_that_may_come_back_leaves_its_ads(void **state)
{
    struct rig *rig = *state;
    begin(rig, OFTEN "STARTD_NOCLAIM_SHUTDOWN = 1\n");
    until(rig, is_known);
    until(rig, has_ended);
    assert_true(is_known(rig));
}

static void a_glidein_takes_its_ads_away(void **state)
{
    struct rig *rig = *state;
    begin(rig, OFTEN "STARTD_NOCLAIM_SHUTDOWN = 1\nSTARTD_IS_GLIDEIN = true\n");
    until(rig, is_known);
    until(rig, is_unknown);
    assert_true(has_ended(rig));
}

/* ---- the machine is shut down */

#define WAKES "POWER_METHOD = rooster\n"

/* The latest ad of the machine's slot, in the collector itself; NULL: none. */
static const struct ad *stored(struct rig *rig)
{
    const struct collector *collector = rig->bed->collector;
    size_t count;
    struct ads_entry *const *entries =
        collector_ads_of_machine(collector->ads, rig->startd->name, &count);
    return count > 0 ? entries[0]->latest : NULL;
}

static bool is_asleep(struct rig *rig)
{
    return stored(rig) != NULL && ad_bool_or(stored(rig), "Offline", false);
}

static void shut_down(struct rig *rig, const char *policy)
{
    begin(rig, policy);
    until(rig, is_known);
    startd_daemon.stop_host(rig->startd);
}

static void a_machine_that_is_shut_down_leaves_offline_ads(void **state)
{
    struct rig *rig = *state;
    shut_down(rig, WAKES);
    until(rig, is_asleep);
    assert_string_equal(ad_string_or(stored(rig), "PowerState", ""), "Off");
    assert_string_equal(ad_string_or(stored(rig), "PowerStateReason", ""),
                        "the machine was shut down");
    assert_string_equal(ad_string_or(stored(rig), "HibernationState", ""), "S5");
    assert_true(rig->startd->sent.taken_back); /* no update that is due brings it back */
}

static void its_job_ends_first(void **state)
{
    struct rig *rig = *state;
    struct answer done;
    begin(rig, WAKES);
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    startd_daemon.stop_host(rig->startd);
    until(rig, has_stop);
    assert_false(is_asleep(rig));
    assert_int_equal(tell(rig, VERB_STARTER_DONE, 1, "", &done), 0);
    answer_fini(&done);
    end_script(rig);
    until(rig, is_asleep);
    assert_string_equal(ad_string_or(stored(rig), "State", ""), "Unclaimed");
}

static void a_job_that_does_not_end_is_not_waited_for_for_ever(void **state)
{
    struct rig *rig = *state;
    begin(rig, WAKES);
    run_it(rig);
    assert_int_equal(hello(rig, 1), 0);
    startd_daemon.stop_host(rig->startd);
    until(rig, has_stop);
    loop_timer_set(rig->startd->stop_timer, 0); /* its time is over */
    until(rig, is_asleep);
}

static void a_restart_and_an_end_of_the_pool_leave_none(void **state)
{
    struct rig *rig = *state;
    begin(rig, WAKES);
    until(rig, is_known);
    startd_daemon.stop_all(rig->startd);
    until(rig, has_ended);
    assert_false(rig->startd->sent.taken_back);
    assert_false(is_asleep(rig));
}

static void a_machine_that_could_not_be_woken_leaves_none(void **state)
{
    struct rig *rig = *state;
    shut_down(rig, "POWER_METHOD = none\n");
    until(rig, has_ended);
    assert_false(rig->startd->sent.taken_back); /* nothing was sent that may still arrive */
    assert_false(is_asleep(rig));
}

static void a_glidein_on_a_machine_that_is_shut_down_takes_its_ads_away(void **state)
{
    struct rig *rig = *state;
    shut_down(rig, WAKES "STARTD_IS_GLIDEIN = true\n");
    until(rig, is_unknown);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(nobody_claims_it_and_it_ends),
        TEST(a_claimed_machine_is_not_idle),
        TEST(without_the_knobs_it_stays),
        TEST(an_idle_claim_ends_at_once_and_its_schedd_is_told),
        TEST(a_running_job_retires_and_the_machine_takes_no_other),
        TEST(without_retirement_the_job_is_asked_to_end_at_once),
        TEST(a_machine_that_may_come_back_leaves_its_ads),
        TEST(a_glidein_takes_its_ads_away),
        TEST(a_machine_that_is_shut_down_leaves_offline_ads),
        TEST(its_job_ends_first),
        TEST(a_job_that_does_not_end_is_not_waited_for_for_ever),
        TEST(a_restart_and_an_end_of_the_pool_leave_none),
        TEST(a_machine_that_could_not_be_woken_leaves_none),
        TEST(a_glidein_on_a_machine_that_is_shut_down_takes_its_ads_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
