/* What became of a machine that `roost drain` waits for, or has not asked yet.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/drain_wait_plan.h"

/* Judges by the text of the two ads; NULL: no such ad. */
static enum drain_progress judge(const struct drain_watched *watched, const char *machine_text,
                                 const char *slot_text)
{
    struct vec ads = {0};
    ads_add(&ads, machine_text != NULL ? machine_text : "[]");
    ads_add(&ads, slot_text != NULL ? slot_text : "[]");
    enum drain_progress progress =
        drain_wait_judge(watched, machine_text != NULL ? ads.items[0] : NULL,
                         slot_text != NULL ? ads.items[1] : NULL);
    vec_fini(&ads, ads_destroy_one);
    return progress;
}

static const char DRAINS[] = "[DrainingRequestId = \"ab\"; DrainingState = \"Draining\"]";
static const char DRAINED[] = "[DrainingRequestId = \"ab\"; DrainingState = \"Drained\"]";
static const char OTHER[] = "[DrainingRequestId = \"cd\"; DrainingState = \"Drained\"]";

static void a_request_that_stays_is_done_when_all_is_drained(void **state)
{
    (void)state;
    const struct drain_watched stays = {.id = "ab", .stays = true};
    const struct drain_watched sleeps = {.id = "ab"};
    assert_int_equal(judge(&stays, DRAINS, NULL), DRAIN_GOES_ON);
    assert_int_equal(judge(&stays, DRAINED, NULL), DRAIN_IS_DRAINED);
    assert_int_equal(judge(&sleeps, DRAINED, NULL), DRAIN_GOES_ON); /* not asleep yet */
    assert_int_equal(judge(&stays, OTHER, NULL), DRAIN_GOES_ON);    /* ours is to be shown yet */
}

static void a_request_that_no_ad_shows_is_over_if_one_has_or_would_have(void **state)
{
    (void)state;
    const struct drain_watched fresh = {.id = "ab"};
    const struct drain_watched seen = {.id = "ab", .was_seen = true};
    const struct drain_watched late = {.id = "ab", .is_late = true};
    assert_int_equal(judge(&fresh, NULL, NULL), DRAIN_GOES_ON);
    assert_int_equal(judge(&seen, NULL, NULL), DRAIN_IS_OVER);
    assert_int_equal(judge(&seen, OTHER, NULL), DRAIN_IS_OVER);
    assert_int_equal(judge(&late, NULL, NULL), DRAIN_IS_OVER);
}

static void a_request_that_somebody_cancelled_is_not_done(void **state)
{
    (void)state;
    const struct drain_watched seen = {.id = "ab", .was_seen = true, .stays = true};
    const char *ours = "[LastDrainCancelTime = 7; LastDrainCancelledId = \"ab\"]";
    const char *another = "[LastDrainCancelTime = 7; LastDrainCancelledId = \"cd\"]";
    assert_int_equal(judge(&seen, NULL, ours), DRAIN_WAS_CANCELLED);
    assert_int_equal(judge(&seen, OTHER, ours), DRAIN_WAS_CANCELLED);
    assert_int_equal(judge(&seen, DRAINS, another), DRAIN_GOES_ON); /* of before */
    assert_int_equal(judge(&seen, NULL, another), DRAIN_IS_OVER);
}

static void a_machine_whose_turn_has_not_come_is_left_out_by_a_new_cancel(void **state)
{
    (void)state;
    const struct drain_watched never = {.cancel_s = 0}, before = {.cancel_s = 7};
    const char *at_7 = "[LastDrainCancelTime = 7]", *at_5 = "[LastDrainCancelTime = 5]";
    assert_int_equal(judge(&never, NULL, NULL), DRAIN_GOES_ON);
    assert_int_equal(judge(&never, NULL, at_7), DRAIN_WAS_CANCELLED);
    assert_int_equal(judge(&before, DRAINED, at_7), DRAIN_GOES_ON);
    assert_int_equal(judge(&before, NULL, at_5), DRAIN_WAS_CANCELLED); /* its clock was set */
    assert_int_equal(judge(&before, NULL, NULL), DRAIN_GOES_ON);       /* another startd */
}

UNIT_TESTS(cmocka_unit_test(a_request_that_stays_is_done_when_all_is_drained),
           cmocka_unit_test(a_request_that_no_ad_shows_is_over_if_one_has_or_would_have),
           cmocka_unit_test(a_request_that_somebody_cancelled_is_not_done),
           cmocka_unit_test(a_machine_whose_turn_has_not_come_is_left_out_by_a_new_cancel))
