/* The worst moments of going to sleep: whoever dies in them, no machine is off without offline ads
 * that are durable, none is lost, and none goes down with a claim.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/startd/sleep_rig.h"

#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"

#define MOMENTS 24 /* milliseconds after it began; going down takes fewer */

static size_t count_of(struct rig *rig, const char *constraint)
{
    struct answer answer;
    char text[200];
    (void)snprintf(text, sizeof text, "[ Type = \"Machine\"; Constraint = \"%s\" ]", constraint);
    assert_int_equal(client_call(rig->caller, VERB_QUERY, text, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

/* All that is known of it is that it is awake. */
static void is_awake(struct rig *rig)
{
    until(rig, is_connected);
    until(rig, is_unclaimed);
    while (count_of(rig, "Offline =?= true || PowerKeptOff =?= true") > 0) {
    } /* ctest's limit ends what never comes */
    while (count_of(rig, "State =?= \\\"Unclaimed\\\"") != 2) {
    }
    assert_false(going_down_has_begun(rig->startd));
}

/* The collector keeps its port from now on, and rig->caller is dialled anew. */
static void collector_dies(struct rig *rig)
{
    struct bed *bed = rig->bed;
    char *port = strstr(bed->config_text, "127.0.0.1:0\"");
    bed_stop(bed);
    if (port != NULL) {
        char rest[sizeof bed->config_text];
        (void)snprintf(rest, sizeof rest, "%s", port + strlen("127.0.0.1:0"));
        (void)snprintf(port, (size_t)(bed->config_text + sizeof bed->config_text - port), "%s%s",
                       bed->tcp + strlen("tcp:"), rest);
        daemon_rig_load(&bed->daemon, &collector_daemon, bed->config_text);
    }
}

static void collector_returns(struct rig *rig)
{
    bed_start(rig->bed);
    rig->caller = client_dial(rig->bed, SCOPE_SCHEDD | SCOPE_READ, "", "schedd/s", NULL);
    assert_int_equal(rig->caller->status, 0);
}

static void forget_that_it_was_off(struct rig *rig)
{
    char path[900];
    (void)snprintf(path, sizeof path, "%s/root/run/off", rig->bed->dir);
    (void)os_remove(rig->bed->os, path, NULL); /* it never was: fine */
}

static bool is_linked(struct rig *rig)
{
    return uplink_wire(rig->startd->collector) != NULL;
}
static bool is_cut(struct rig *rig)
{
    return !is_linked(rig);
}
static bool is_up_and_connected(struct rig *rig)
{
    return !going_down_has_begun(rig->startd) && rig->startd->sent.first_done && is_linked(rig);
}
static bool is_not_going_down(struct rig *rig)
{
    return !going_down_has_begun(rig->startd);
}
static bool order_is_given(struct rig *rig)
{
    return rig->startd->down.stage >= DOWN_ORDERED;
}
static bool is_decided(struct rig *rig)
{
    return is_not_going_down(rig) || order_is_given(rig);
}

static void killed_at_any_moment_before_the_machine_is_off_it_comes_back_awake(void **state)
{
    struct rig *rig = *state;
    for (unsigned ms = 0; ms < MOMENTS; ms += 2) {
        begin(rig, ANYTIME);
        rig->startd->down.keep_off = ms % 4 == 0;
        hibernate_check(rig->startd);
        assert_true(going_down_has_begun(rig->startd));
        loop_rig_turn(rig->bed->loop, ms);
        restart(rig); /* of the same boot */
        is_awake(rig);
    }
}

static void a_collector_that_dies_before_its_word_leaves_the_machine_up(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME);
    collector_dies(rig);
    collector_returns(rig); /* at its own port from now on */
    until(rig, is_up_and_connected);
    for (unsigned ms = 0; ms < MOMENTS; ms += 2) {
        forget_that_it_was_off(rig);
        begin(rig, ANYTIME);
        hibernate_check(rig->startd);
        loop_rig_turn(rig->bed->loop, ms);
        collector_dies(rig); /* its last word may still be on its way */
        until(rig, is_decided);
        if (order_is_given(rig)) { /* then its word was durable */
            until(rig, is_switched_off);
            collector_returns(rig);
            assert_int_equal(count_of(rig, "Offline =?= true"), 2);
            until(rig, is_linked);
            loop_rig_turn(rig->bed->loop, 50);
            assert_true(going_down_has_begun(rig->startd));
            assert_int_equal(count_of(rig, "Offline =?= true"), 2); /* still */
        } else {
            collector_returns(rig);
            until(rig, is_up_and_connected);
            is_awake(rig);
            assert_false(is_switched_off(rig));
        }
    }
}

static void who_wakes_without_a_network_shows_itself_when_there_is_one(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED "HIBERNATE = \"\\\"S3\\\"\"\n");
    collector_dies(rig);
    collector_returns(rig);
    until(rig, is_up_and_connected);
    hibernate_check(rig->startd);
    until(rig, order_is_given);
    collector_dies(rig);
    until(rig, was_suspended);
    until(rig, is_not_going_down);
    loop_rig_turn(rig->bed->loop, 20);
    collector_returns(rig);
    is_awake(rig);
}

static void a_job_that_comes_while_it_goes_down_is_refused(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME);
    remember_id(rig);
    hibernate_check(rig->startd);
    assert_true(going_down_has_begun(rig->startd));
    assert_int_not_equal(dial_me(rig, JOB), 0);
    assert_int_equal(rig->startd->claims.count, 0);
    assert_int_equal(order(rig, VERB_POWER_KEEP, "[Until = 1]"), -EALREADY);
    until(rig, is_switched_off);
    assert_int_equal(rig->startd->claims.count, 0);
}

static void a_job_that_was_promised_the_machine_keeps_it_up(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME);
    rig->schedd.silent = true; /* its answer to CLAIM does not come */
    remember_id(rig);
    assert_int_equal(dial_me(rig, JOB), 0);
    assert_true(is_matched(rig));
    hibernate_check(rig->startd);
    assert_false(going_down_has_begun(rig->startd));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EBUSY);
    assert_false(going_down_has_begun(rig->startd));
}

static void a_collector_that_forgot_all_hears_again_who_is_kept_up(void **state)
{
    struct rig *rig = *state;
    char text[200];
    begin(rig, ANYTIME);
    collector_dies(rig);
    collector_returns(rig);
    until(rig, is_up_and_connected);
    (void)snprintf(text, sizeof text, "[Until = %lld; Reason = \"x\"]",
                   (long long)loop_wall_s(rig->bed->loop) + 3600);
    assert_int_equal(order(rig, VERB_POWER_KEEP, text), 0);
    for (int i = 0; i < 2; i++) {
        collector_dies(rig);
        until(rig, is_cut);
        collector_returns(rig);
        until(rig, is_up_and_connected);
        while (count_of(rig, "PowerKeepReason == \\\"x\\\"") != 2) {
        } /* ctest's limit ends what never comes */
        restart(rig);
        until(rig, is_up_and_connected);
    }
}

UNIT_TESTS(RIG(killed_at_any_moment_before_the_machine_is_off_it_comes_back_awake),
           RIG(a_collector_that_dies_before_its_word_leaves_the_machine_up),
           RIG(who_wakes_without_a_network_shows_itself_when_there_is_one),
           RIG(a_job_that_comes_while_it_goes_down_is_refused),
           RIG(a_job_that_was_promised_the_machine_keeps_it_up),
           RIG(a_collector_that_forgot_all_hears_again_who_is_kept_up))
