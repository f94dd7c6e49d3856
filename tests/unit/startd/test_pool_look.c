/* HIBERNATE that reads the queue: the machine asks the negotiator, which the test plays, and in
 * doubt it stays up.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "startd/sleep/hibernate.h"
#include "tests/unit/startd/sleep_rig.h"

static _Thread_local struct { /* the negotiator */
    const char *args, *ad;    /* the answer; args NULL: refused */
    int asked;
    char machine[40]; /* of the last question */
} negotiator;

static void asked(void *arg, struct wire_request *request)
{
    (void)arg;
    struct ad_value list, item;
    assert_int_equal(wire_request_verb(request), VERB_POOL_FIGURES);
    assert_int_equal(ad_eval_attr(wire_request_args(request), NULL, "Machines", NULL, &list), 0);
    ad_value_item(&list, 0, &item);
    (void)snprintf(negotiator.machine, sizeof negotiator.machine, "%s", item.string.text);
    ad_value_fini(&item);
    ad_value_fini(&list);
    negotiator.asked++;
    if (negotiator.args == NULL) {
        wire_reply_error(request, -EAGAIN, "this negotiator does not know the queue yet");
        return;
    }
    struct ad *args = ad_from_text(negotiator.args);
    struct ad *ad = negotiator.ad != NULL ? ad_from_text(negotiator.ad) : NULL;
    const struct ad *ads[1] = {ad};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = ad != NULL ? 1 : 0};
    wire_reply_ok(request, &body);
    ad_destroy(ad);
    ad_destroy(args);
}

static void with_negotiator(struct rig *rig, const char *args, const char *ad)
{
    negotiator.args = args;
    negotiator.ad = ad;
    negotiator.asked = 0;
    struct client *client = client_dial(rig->bed, SCOPE_NEGOTIATOR, "", "negotiator/n", asked);
    assert_int_equal(client->status, 0);
}

#define POOL(n) "[PoolIdleJobs = " #n "; PoolIdleJobsWait = 70]"
#define MINE(n) "[Machine = \"wn01\"; MatchingIdleJobs = " #n "; MatchingIdleJobsWait = 60]"
#define NEVER   "HIBERNATE_ASK_ROOSTER = never\n"
#define UNLESS \
    CHECKED NEVER "HIBERNATE = \"ifThenElse(MatchingIdleJobs < 50, \\\"S5\\\", \\\"NONE\\\")\"\n"
#define OUT_OF_IT                                                                                \
    CHECKED NEVER "HIBERNATE = \"ifThenElse(ClockMin < 0 && MatchingIdleJobs < 50, \\\"S5\\\", " \
                  "\\\"NONE\\\")\"\n"

static bool has_answer(struct rig *rig)
{
    return !rig->startd->look.pool.is_asking;
}

static void check(struct rig *rig)
{
    hibernate_check(rig->startd);
    until(rig, has_answer);
}

static void it_sleeps_when_the_queue_is_short(void **state)
{
    struct rig *rig = *state;
    begin(rig, UNLESS);
    with_negotiator(rig, POOL(90), MINE(49));
    check(rig);
    until(rig, is_switched_off);
    assert_int_equal(negotiator.asked, 1);
    assert_string_equal(negotiator.machine, "wn01");
    assert_string_equal(
        rig->startd->down.reason,
        "HIBERNATE is true on every slot; when it went to sleep: MatchingIdleJobs = 49, "
        "MatchingIdleJobsWait = 60, PoolIdleJobs = 90");
}

static void it_stays_up_and_says_why_when_the_queue_is_long(void **state)
{
    struct rig *rig = *state;
    begin(rig, UNLESS);
    with_negotiator(rig, POOL(90), MINE(50));
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_string_equal(held_by(rig), "HIBERNATE is NONE with MatchingIdleJobs = 50, "
                                      "MatchingIdleJobsWait = 60, PoolIdleJobs = 90");
    assert_int_equal(ad_int_or(shown(rig), "MatchingIdleJobs", -1), 50);
    assert_int_equal(ad_int_or(shown(rig), "PoolIdleJobs", -1), 90);
    assert_int_equal(ad_int_or(shown(rig), "MatchingIdleJobsWait", -1), 60);
    assert_int_equal(ad_int_or(shown(rig), "PoolIdleJobsWait", -1), 70);
    check(rig); /* what is known is good for some seconds */
    assert_int_equal(negotiator.asked, 1);
    negotiator.ad = MINE(3);
    rig->startd->look.pool.at_ms -= POOL_FIGURES_AGE_MS + 1;
    check(rig);
    assert_int_equal(negotiator.asked, 2);
    until(rig, is_switched_off);
}

static void it_stays_up_when_no_negotiator_answers(void **state)
{
    struct rig *rig = *state;
    begin(rig, UNLESS);
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_non_null(
        strstr(held_by(rig), "HIBERNATE is undefined without the figures of the queue: "));
    assert_non_null(strstr(held_by(rig), "negotiator/"));
    with_negotiator(rig, NULL, NULL);
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_string_equal(held_by(rig), "HIBERNATE is undefined without the figures of the queue: "
                                      "this negotiator does not know the queue yet");
    assert_false(ad_has(shown(rig), "MatchingIdleJobs"));
}

static void a_negotiator_that_does_not_know_the_machine_keeps_it_up(void **state)
{
    struct rig *rig = *state;
    begin(rig, UNLESS);
    with_negotiator(rig, POOL(0), NULL);
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_string_equal(held_by(rig),
                        "HIBERNATE is undefined with PoolIdleJobs = 0, PoolIdleJobsWait = 70");
}

static void figures_that_are_lost_are_not_decided_by(void **state)
{
    struct rig *rig = *state;
    begin(rig, UNLESS);
    with_negotiator(rig, POOL(90), MINE(60));
    check(rig);
    negotiator.args = NULL; /* restarted */
    rig->startd->look.pool.figures.matching = 1;
    rig->startd->look.pool.at_ms -= POOL_FIGURES_AGE_MS + 1;
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_false(ad_has(shown(rig), "MatchingIdleJobs"));
    assert_int_equal(negotiator.asked, 2);
}

static void nobody_is_asked_when_the_value_is_known_without(void **state)
{
    struct rig *rig = *state;
    begin(rig, OUT_OF_IT);
    with_negotiator(rig, POOL(0), MINE(0));
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_int_equal(negotiator.asked, 0);
    assert_string_equal(held_by(rig), "");
}

static void an_expression_that_reads_no_figure_and_is_undefined_asks_nobody(void **state)
{
    struct rig *rig = *state;
    begin(rig, CHECKED NEVER "HIBERNATE = \"NoSuchAttribute\"\n");
    with_negotiator(rig, POOL(0), MINE(0));
    check(rig);
    assert_false(going_down_has_begun(rig->startd));
    assert_int_equal(negotiator.asked, 0);
}

#define LOOK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(LOOK(it_sleeps_when_the_queue_is_short),
           LOOK(it_stays_up_and_says_why_when_the_queue_is_long),
           LOOK(it_stays_up_when_no_negotiator_answers),
           LOOK(a_negotiator_that_does_not_know_the_machine_keeps_it_up),
           LOOK(figures_that_are_lost_are_not_decided_by),
           LOOK(nobody_is_asked_when_the_value_is_known_without),
           LOOK(an_expression_that_reads_no_figure_and_is_undefined_asks_nobody))
