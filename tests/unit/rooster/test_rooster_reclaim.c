/* A rooster and machines that are wanted before they are down: those that sleep by themselves are
 * asked, those that it takes down stay up.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "tests/support/rooster_rig.h"

#include "rooster/still_up.h"
#include "rooster/wakes.h"

struct played { /* the startd of wn01 */
    int asked, told;
    int64_t jobs;
    char reason[300];
    int status;
    bool keep;
    struct wire_request *request;
};
static struct played *played(void)
{
    static _Thread_local struct played all;
    return &all;
}

static void answer_now(void)
{
    struct wire_request *request = played()->request;
    played()->request = NULL;
    if (played()->status != 0) {
        wire_reply_error(request, played()->status, "it says no");
    } else {
        wire_reply_ok(request, NULL);
    }
}

static void nobody(void *arg)
{
    (void)arg;
    played()->request = NULL;
}

static void asked(void *arg, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct played *all = played();
    (void)arg;
    assert_int_equal(wire_request_verb(request), VERB_POWER_RECLAIM);
    all->told += ad_bool_or(args, "Withdrawn", false) ? 1 : 0;
    all->asked++;
    all->jobs = ad_int_or(args, "Jobs", -1);
    (void)snprintf(all->reason, sizeof all->reason, "%s", ad_string_or(args, "Reason", ""));
    all->request = request;
    if (all->keep) {
        wire_request_on_gone(request, nobody, NULL);
    } else {
        answer_now();
    }
}

static struct client *has_uplink(struct rig *rig)
{
    *played() = (struct played){0};
    return client_dial(rig->bed, SCOPE_ADVERTISE, "", "startd/wn01", asked);
}

/* Its offline ads, made so many seconds ago. */
static void slept(struct rig *rig, int ago_s, const char *more)
{
    char ad[500];
    long long now_s = (long long)loop_wall_s(rig->bed->loop);
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\";"
                   " Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
                   " PowerState = \"Off\"; MyCurrentTime = %lld; OfflineSince = %lld;"
                   " Unhibernate = MachineLastMatchTime =!= undefined; %s ]",
                   now_s - ago_s, now_s - ago_s, more);
    must(rig->startd, VERB_UPDATE, "[Full = true]", ad);
}

static void going_down(struct rig *rig, int64_t until_s)
{
    char more[200] = "PowerState = \"GoingDown\"; HibernationState = \"S4\";"
                     " PowerStateReason = \"no work\"; PowerMethod = \"rooster\"";
    size_t used = strlen(more);
    if (until_s != 0) {
        (void)snprintf(more + used, sizeof more - used, "; PowerReclaimUntil = %lld",
                       (long long)until_s);
    }
    slept(rig, 0, more);
}

static bool is_asked(struct rig *rig)
{
    (void)rig;
    return played()->asked > 0;
}
static bool is_asked_again(struct rig *rig)
{
    (void)rig;
    return played()->asked > 1;
}
static bool is_to_stay(struct rig *rig)
{
    return is(rig, "wn01", WAKE_STAYING);
}
static bool is_idle(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return !node->still_up.asking && !node->look.marked && !node->jobs.demand_it;
}
static bool waits_for_jobs(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->state == WAKE_GOING_DOWN && !node->ordering &&
           loop_timer_is_set(node->deadline);
}
static bool is_stored(struct rig *rig)
{
    (void)rig;
    return node_named(rig, "wn01")->showing == 0;
}

static const char *reason_of(struct rig *rig)
{
    return node_named(rig, "wn01")->reason;
}

/* ---- machines that sleep by themselves */

static void one_that_is_not_down_yet_is_taken_back_and_not_woken(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    slept(rig, 5, "");
    until(rig, is_seen);
    assert_int_equal(played()->asked, 0); /* nobody wants it */
    is_held(rig, "wn01", 2);
    until(rig, is_to_stay);
    assert_int_equal(played()->asked, 1);
    assert_int_equal(played()->told, 0);
    assert_int_equal(played()->jobs, 2);
    assert_string_equal(played()->reason, "2 jobs wait for the machine (autocluster 1 of s)");
    boots(rig);
    until(rig, is_up);
    assert_string_equal(reason_of(rig),
                        "taken back: 2 jobs wait for the machine (autocluster 1 of s)");
    assert_string_equal(wakes(rig), "");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:TakenBack ");
}

static void a_sleep_that_is_taken_back_has_one_record(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    boots(rig);
    until(rig, is_up);
    slept(rig, 0, "");
    until(rig, is_off); /* its sleep is in the ledger */
    is_held(rig, "wn01", 1);
    until(rig, is_to_stay);
    boots(rig);
    until(rig, is_up);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:TakenBack ");
}

static void one_that_is_past_it_is_asked_until_it_is_gone_then_woken(void **state)
{
    struct rig *rig = *state;
    struct client *startd = has_uplink(rig);
    played()->status = -EALREADY;
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_asked);
    loop_timer_set(node_named(rig, "wn01")->still_up.timer, 0);
    until(rig, is_asked_again);
    assert_string_equal(wakes(rig), "");
    client_close(startd);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 ");
}

static void one_without_an_uplink_is_woken_at_once(void **state)
{
    struct rig *rig = *state;
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 ");
    assert_int_equal(node_named(rig, "wn01")->still_up.down_order,
                     node_named(rig, "wn01")->asleep.order);
}

static void one_that_sleeps_for_long_is_not_asked(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    has_section(rig);
    status_is(rig, "0");
    slept(rig, 200, "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(played()->asked, 0);
    assert_string_equal(wakes(rig), "wn01 ");
}

/* ---- machines whose startd is gone, and which shut down */

static bool is_said_to_be_on(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node->still_up.is_on && loop_timer_is_set(node->still_up.timer);
}

static void ask_now(struct rig *rig)
{
    loop_timer_set(node_named(rig, "wn01")->still_up.timer, 0);
}

static void one_that_its_method_calls_on_is_woken_when_it_is_off(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "0");
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_said_to_be_on);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_non_null(strstr(ad_string_or(ad, "WakeHeldBy", ""), "still going down"));
    ad_destroy(ad);
    assert_string_equal(wakes(rig), "status ");
    status_is(rig, "1");
    ask_now(rig);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "status status wn01 ");
    assert_null(still_up_held(node_named(rig, "wn01")));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Started ");
}

static void one_whose_method_does_not_know_is_woken_at_once(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "7");
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "status wn01 ");
}

static void jobs_that_are_gone_before_it_is_off_wake_nobody(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "0");
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_said_to_be_on);
    is_held(rig, "wn01", 0);
    status_is(rig, "1");
    ask_now(rig);
    until(rig, is_idle);
    assert_null(strstr(wakes(rig), "wn01"));
}

static void one_that_reboots_meanwhile_is_up(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "0");
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_said_to_be_on);
    boots(rig);
    until(rig, is_up);
    ask_now(rig);
    until(rig, is_idle);
    assert_null(strstr(wakes(rig), "wn01"));
}

static void the_clock_of_a_machine_that_was_seen_going_does_not_matter(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "0");
    boots(rig);
    until(rig, is_up);
    slept(rig, 100000, "");
    until(rig, is_off);
    is_held(rig, "wn01", 1);
    until(rig, is_said_to_be_on);
}

static void one_that_was_taken_down_from_here_is_not_asked(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    slept(rig, 5, "PowerMethod = \"rooster\"");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_int_equal(played()->asked, 0);
}

static void who_is_switched_on_by_name_may_be_up_yet_too(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    slept(rig, 5, "");
    until(rig, is_seen);
    node_order(node_named(rig, "wn01"), "admin@pool: a demo", false);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_string_equal(ad_string_or(ad, "PowerState", ""), "Off");
    assert_string_equal(ad_string_or(ad, "WakeOrderedBy", ""), "admin@pool: a demo");
    ad_destroy(ad);
    until(rig, is_to_stay);
    assert_string_equal(played()->reason, "switched on by admin@pool: a demo");
    assert_false(node_named(rig, "wn01")->asked.by_name);
    assert_string_equal(wakes(rig), "");
}

static void jobs_that_are_gone_while_it_is_asked_wake_nobody(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    played()->keep = true;
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_asked);
    is_held(rig, "wn01", 0);
    played()->status = -EHOSTUNREACH;
    answer_now();
    until(rig, is_idle);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "");
    is_held(rig, "wn01", 1); /* others: it is known to be down */
    until(rig, is_waking);
    assert_int_equal(played()->asked, 1);
}

static void who_shows_itself_while_it_is_asked_is_up(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig);
    played()->keep = true;
    slept(rig, 5, "");
    is_held(rig, "wn01", 1);
    until(rig, is_asked);
    boots(rig);
    until(rig, is_up);
    answer_now();
    falls_asleep(rig, "wn02"); /* the loop turns */
    assert_true(is_up(rig));
    assert_string_equal(wakes(rig), "");
}

/* ---- machines that the rooster takes down */

static void one_that_goes_down_is_kept_up_while_the_order_is_not_given(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    (void)has_uplink(rig);
    going_down(rig, loop_wall_s(rig->bed->loop) + 1000);
    until(rig, waits_for_jobs);
    assert_string_equal(wakes(rig), "");
    is_held(rig, "wn01", 1);
    until(rig, is_to_stay);
    until(rig, is_asked);
    assert_int_equal(played()->told, 1);
    until(rig, shows_on); /* for a startd that was not told */
    until(rig, is_stored);
    boots(rig);
    until(rig, is_up);
    assert_string_equal(reason_of(rig),
                        "taken back: 1 job waits for the machine (autocluster 1 of s)");
    assert_string_equal(wakes(rig), "");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:TakenBack ");
}

static void without_jobs_it_is_taken_down_when_that_time_is_over(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    (void)has_uplink(rig);
    going_down(rig, loop_wall_s(rig->bed->loop) + 1);
    until(rig, is_off);
    assert_string_equal(wakes(rig), "sleep-S4 ");
    assert_int_equal(played()->asked, 0);
}

static void what_somebody_ordered_goes_down_though_jobs_wait(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    (void)has_uplink(rig);
    status_is(rig, "1");
    going_down(rig, 0);
    is_held(rig, "wn01", 1);
    until(rig, is_waking); /* afterwards */
    assert_string_equal(wakes(rig), "sleep-S4 status wn01 ");
    assert_int_equal(played()->asked, 0);
}

UNIT_TESTS(RIG(one_that_is_not_down_yet_is_taken_back_and_not_woken),
           RIG(a_sleep_that_is_taken_back_has_one_record),
           RIG(one_that_is_past_it_is_asked_until_it_is_gone_then_woken),
           RIG(one_without_an_uplink_is_woken_at_once), RIG(one_that_sleeps_for_long_is_not_asked),
           RIG(one_that_was_taken_down_from_here_is_not_asked),
           RIG(who_is_switched_on_by_name_may_be_up_yet_too),
           RIG(jobs_that_are_gone_while_it_is_asked_wake_nobody),
           RIG(who_shows_itself_while_it_is_asked_is_up),
           RIG(one_that_goes_down_is_kept_up_while_the_order_is_not_given),
           RIG(without_jobs_it_is_taken_down_when_that_time_is_over),
           RIG(what_somebody_ordered_goes_down_though_jobs_wait),
           RIG(one_that_its_method_calls_on_is_woken_when_it_is_off),
           RIG(one_whose_method_does_not_know_is_woken_at_once),
           RIG(jobs_that_are_gone_before_it_is_off_wake_nobody),
           RIG(one_that_reboots_meanwhile_is_up),
           RIG(the_clock_of_a_machine_that_was_seen_going_does_not_matter))
