/* Before it goes to sleep a machine asks the rooster, which the test plays: yes, no, and nobody
 * there.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "tests/unit/startd/sleep_rig.h"

static _Thread_local struct { /* the rooster */
    const char *says;         /* args of the answer; NULL: it keeps the question */
    int status;               /* refused so; 0: not */
    int asked, withdrawn;
    struct ad *question; /* the last one */
    struct wire_request *kept;
} rooster;

static void answer_kept(const char *says)
{
    struct ad *args = ad_from_text(says);
    const struct wire_body body = {.args = args};
    wire_reply_ok(rooster.kept, &body);
    rooster.kept = NULL;
    ad_destroy(args);
}

static void asked(void *arg, struct wire_request *request)
{
    (void)arg;
    assert_int_equal(wire_request_verb(request), VERB_POWER_DOWN_ASK);
    if (ad_bool_or(wire_request_args(request), "Withdraw", false)) {
        rooster.withdrawn++;
        wire_reply_ok(request, NULL);
        return;
    }
    rooster.asked++;
    ad_destroy(rooster.question);
    rooster.question = ad_copy(wire_request_args(request));
    rooster.kept = request;
    if (rooster.status != 0) {
        wire_reply_error(request, rooster.status, "the rooster's reason");
    } else if (rooster.says != NULL) {
        answer_kept(rooster.says);
    }
}

#define YES         "[Granted = true]"
#define NO          "[Granted = false; Text = \"too many (ROOSTER_X)\"; Guard = \"Reserve\"; AskAgain = 60]"
#define ASKS        ANYTIME "HIBERNATE_ASK_ROOSTER = always\n"
#define ASKS_NOBODY CHECKED "HIBERNATE_ASK_ROOSTER = always\n"

/* A rooster that says this. */
static void with_rooster(struct rig *rig, const char *says)
{
    rooster.says = says;
    rooster.status = rooster.asked = rooster.withdrawn = 0;
    struct client *client = client_dial(rig->bed, SCOPE_ROOSTER, "", "rooster/r", asked);
    assert_int_equal(client->status, 0);
}

static bool has_answer(struct rig *rig)
{
    return !going_down_is_asking(rig->startd);
}
static bool is_asked(struct rig *rig)
{
    (void)rig;
    return rooster.asked > 0;
}
static bool is_withdrawn(struct rig *rig)
{
    (void)rig;
    return rooster.withdrawn > 0;
}

static int end(void **state)
{
    ad_destroy(rooster.question);
    rooster.question = NULL;
    return teardown(state);
}

static void it_goes_when_the_rooster_says_yes(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    with_rooster(rig, NULL);
    rig->startd->look.awake_since_ms -= 100000;
    hibernate_check(rig->startd);
    until(rig, is_asked);
    assert_false(going_down_has_begun(rig->startd));
    assert_string_equal(ad_string_or(rooster.question, "Machine", ""), "wn01");
    assert_string_equal(ad_string_or(rooster.question, "Level", ""), "S5");
    assert_true(ad_int_or(rooster.question, "UpSeconds", 0) >= 100);
    assert_false(ad_bool_or(rooster.question, "Ordered", true));
    assert_true(ad_bool_or(rooster.question, "Override", false)); /* HIBERNATION_OVERRIDE_WOL */
    hibernate_check(rig->startd);                                 /* one question at a time */
    answer_kept(YES);
    until(rig, is_switched_off);
    assert_int_equal(rooster.asked, 1);
    assert_int_equal(rooster.withdrawn, 0);
}

static void it_says_why_not_and_does_not_ask_before_it_may(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    with_rooster(rig, NO);
    hibernate_check(rig->startd);
    until(rig, has_answer);
    assert_false(going_down_has_begun(rig->startd));
    assert_string_equal(held_by(rig), "the rooster: too many (ROOSTER_X)");
    assert_true(loop_timer_is_set(rig->startd->down.check_timer));
    hibernate_check(rig->startd);
    assert_true(has_answer(rig));
    assert_string_equal(held_by(rig), "the rooster: too many (ROOSTER_X)");
    assert_int_equal(rooster.asked, 1);
    rig->startd->permit.early_ms = 0; /* a minute later */
    rooster.says = YES;
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
    assert_int_equal(rooster.asked, 2);
}

static void a_job_that_comes_before_the_answer_has_the_machine(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    with_rooster(rig, NULL);
    hibernate_check(rig->startd);
    until(rig, is_asked);
    loop_timer_stop(rig->startd->down.check_timer); /* as if it fired before the answer came */
    hibernate_check(rig->startd);
    claim_it(rig);
    answer_kept(YES);
    until(rig, is_withdrawn);
    assert_false(going_down_has_begun(rig->startd));
    assert_true(is_claimed_idle(rig));
    assert_true(loop_timer_is_set(rig->startd->down.check_timer)); /* else it never sleeps again */
}

static void what_goes_wrong_after_the_answer_is_told(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    with_rooster(rig, YES);
    put(rig, "/run", "off.sh", "#!/bin/sh\nexit 1\n");
    hibernate_check(rig->startd);
    until(rig, is_withdrawn);
    assert_false(going_down_has_begun(rig->startd));
    assert_false(is_switched_off(rig));
}

static void with_no_rooster_it_stays_up(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    hibernate_check(rig->startd);
    until(rig, has_answer);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(strstr(held_by(rig), "no rooster answered"));
    assert_non_null(strstr(held_by(rig), "HIBERNATE_ASK_ROOSTER"));
}

static void with_no_rooster_it_sleeps_where_one_is_asked_only_if_there(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME "HIBERNATE_ASK_ROOSTER = if_there\n");
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
}

static void one_that_is_there_is_asked(void **state)
{
    struct rig *rig = *state;
    begin(rig, ANYTIME "HIBERNATE_ASK_ROOSTER = if_there\n");
    with_rooster(rig, NO);
    hibernate_check(rig->startd);
    until(rig, has_answer);
    assert_string_equal(held_by(rig), "the rooster: too many (ROOSTER_X)");
}

static void a_rooster_that_does_not_know_the_pool_is_none_and_one_of_old_forbids_nothing(
    void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    with_rooster(rig, NO);
    rooster.status = -EAGAIN;
    hibernate_check(rig->startd);
    until(rig, has_answer);
    assert_non_null(strstr(held_by(rig), "no rooster answered"));
    rooster.status = -EACCES;
    rig->startd->permit.early_ms = 0;
    hibernate_check(rig->startd);
    until(rig, has_answer);
    assert_string_equal(held_by(rig), "the rooster: the rooster's reason");
    rooster.status = -ENOSYS;
    rig->startd->permit.early_ms = 0;
    hibernate_check(rig->startd);
    until(rig, is_switched_off);
}

static void an_order_by_name_is_refused_with_the_reason_and_forced(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS_NOBODY);
    with_rooster(rig, NO);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[DryRun = true]"), -EBUSY);
    assert_true(ad_bool_or(rooster.question, "DryRun", false));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EBUSY);
    assert_string_equal(
        last_text, "wn01 stays up: the rooster: too many (ROOSTER_X); --force skips this check");
    assert_true(ad_bool_or(rooster.question, "Ordered", false));
    assert_false(ad_bool_or(rooster.question, "Force", true));
    rooster.says = YES;
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[DryRun = true]"), 0);
    assert_false(going_down_has_begun(rig->startd));
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[Force = true; Reason = \"a fire\"]"), 0);
    assert_true(ad_bool_or(rooster.question, "Force", false));
    assert_non_null(strstr(ad_string_or(rooster.question, "Reason", ""), "a fire"));
    until(rig, is_switched_off);
}

static void an_order_by_name_needs_no_rooster(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS_NOBODY);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), 0);
    until(rig, is_switched_off);
}

static void no_job_is_ended_for_an_order_that_is_refused(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS_NOBODY);
    with_rooster(rig, NO);
    run_it(rig);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[Force = true]"), -EBUSY);
    assert_string_equal(last_text, "wn01 stays up: the rooster: too many (ROOSTER_X)");
    assert_false(going_down_is_leaving(rig->startd));
    assert_true(is_claimed_busy(rig));
}

static void a_second_order_waits_for_the_first_ones_answer(void **state)
{
    struct rig *rig = *state;
    begin(rig, ASKS);
    with_rooster(rig, NULL);
    hibernate_check(rig->startd);
    until(rig, is_asked);
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), -EAGAIN);
    answer_kept(NO);
    until(rig, has_answer);
    rooster.says = YES;
    assert_int_equal(order(rig, VERB_POWER_DOWN, "[]"), 0);
}

#define PERMIT(test) cmocka_unit_test_setup_teardown(test, setup, end)

UNIT_TESTS(PERMIT(it_goes_when_the_rooster_says_yes),
           PERMIT(it_says_why_not_and_does_not_ask_before_it_may),
           PERMIT(a_job_that_comes_before_the_answer_has_the_machine),
           PERMIT(what_goes_wrong_after_the_answer_is_told), PERMIT(with_no_rooster_it_stays_up),
           PERMIT(with_no_rooster_it_sleeps_where_one_is_asked_only_if_there),
           PERMIT(one_that_is_there_is_asked),
           PERMIT(a_rooster_that_does_not_know_the_pool_is_none_and_one_of_old_forbids_nothing),
           PERMIT(an_order_by_name_is_refused_with_the_reason_and_forced),
           PERMIT(an_order_by_name_needs_no_rooster),
           PERMIT(no_job_is_ended_for_an_order_that_is_refused),
           PERMIT(a_second_order_waits_for_the_first_ones_answer))
