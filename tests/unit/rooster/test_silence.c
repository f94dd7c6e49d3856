/* The rooster over real wires: machines that do not respond, and those among them that are off.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

#include "offline_ads/offline_ads.h"

static void falls_silent(struct rig *rig, int64_t for_s)
{
    falls_silent_as(rig, "Claimed", for_s);
}

static bool is_silent(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node_is_silent(node);
}

static bool was_asked(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return is_silent(rig) && node->silence.told && !node->silence.asking;
}

static void one_that_nothing_can_ask_is_asleep_after_a_while_and_jobs_wake_it(void **state)
{
    struct rig *rig = *state;
    falls_silent(rig, 400);
    until(rig, is_off);
    until(rig, is_seen);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "taken as asleep"));
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    boots(rig); /* whatever the boot */
    until(rig, is_up);
}

static void it_is_not_so_before_and_shows_that_it_does_not_respond(void **state)
{
    struct rig *rig = *state;
    falls_silent(rig, 100);
    until(rig, was_asked);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    assert_string_equal(ad_string_or(ad, "PowerState", ""), "Unknown");
    assert_non_null(strstr(ad_string_or(ad, "PowerStateReason", ""), "not responding since"));
    assert_true(ad_has(ad, OFFLINE_ADS_SILENT));
    ad_destroy(ad);
    assert_false(is_seen(rig));
}

static void one_that_its_method_calls_off_is_asleep_at_once(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "1");
    falls_silent(rig, 10);
    until(rig, is_seen);
    until(rig, is_off);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "went without a word"));
}

static void nobody_asked_for_the_sleep_of_one_that_went_without_a_word(void **state)
{
    struct rig *rig = *state;
    struct answer answer;
    has_section(rig);
    status_is(rig, "1");
    boots(rig);
    until(rig, is_up);
    falls_silent(rig, 10);
    until(rig, is_off);
    struct client *boss = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    assert_int_equal(client_relay(boss, "rooster/r", VERB_QUERY, "[ Type = \"Wake\" ]", NULL,
                                  &answer),
                     0);
    assert_int_equal(answer.ads.count, 1);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Kind", ""), "Sleep");
    assert_string_equal(ad_string_or(answer.ads.items[0], "AskedBy", ""), "nobody");
    answer_fini(&answer);
}

static void one_that_its_method_calls_on_stays_up_at_first(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "0");
    falls_silent(rig, 100);
    until(rig, was_asked);
    assert_false(is_seen(rig));
    assert_true(is_silent(rig));
    boots(rig);
    until(rig, is_up);
    assert_false(is_silent(rig));
}

static bool shows_unknown(struct rig *rig)
{
    return shows(rig, "Unknown") && is_off(rig);
}

static void is_called(const struct rig *rig, const char *state, const char *reason)
{
    struct ad *ad = node_to_ad(node_named((struct rig *)(uintptr_t)rig, "wn01"));
    assert_string_equal(ad_string_or(ad, "PowerState", ""), state);
    if (strstr(ad_string_or(ad, "PowerStateReason", ""), reason) == NULL) {
        fail_msg("%s", ad_string_or(ad, "PowerStateReason", ""));
    }
    ad_destroy(ad);
}

static void one_that_its_method_calls_on_is_kept_as_unknown_until_it_is_off(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    status_is(rig, "0");
    falls_silent(rig, 400);
    until(rig, is_seen);
    until(rig, shows_unknown);
    is_called(rig, "Unknown", "its power method says");
    is_held(rig, "wn01", 1);
    until(rig, is_demanded);
    restart(rig); /* a new rooster asks on */
    until(rig, shows_unknown);
    until(rig, was_asked);
    is_called(rig, "Unknown", "its power method says");
    assert_null(strstr(wakes(rig), "wn01"));
    status_is(rig, "1");
    loop_timer_set(node_named(rig, "wn01")->silence.timer, 0);
    until(rig, shows_off);
    is_called(rig, "Off", "went without a word");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    boots(rig);
    until(rig, is_up);
}

static void one_that_does_not_respond_can_be_woken_by_name(void **state)
{
    struct rig *rig = *state;
    falls_silent(rig, 100);
    until(rig, was_asked);
    struct client *boss = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    struct answer answer;
    const char *args = "[ Nodes = { \"wn01\" } ]";
    assert_int_equal(client_relay(boss, "rooster/r", VERB_POWER_ON, args, NULL, &answer), 0);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Result", ""), "Ordered");
    answer_fini(&answer);
    until(rig, is_waking);
    is_called(rig, "Waking", "");
    boots(rig);
    until(rig, is_up);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_TESTS(RIG(one_that_nothing_can_ask_is_asleep_after_a_while_and_jobs_wake_it),
           RIG(it_is_not_so_before_and_shows_that_it_does_not_respond),
           RIG(one_that_its_method_calls_off_is_asleep_at_once),
           RIG(nobody_asked_for_the_sleep_of_one_that_went_without_a_word),
           RIG(one_that_its_method_calls_on_stays_up_at_first),
           RIG(one_that_its_method_calls_on_is_kept_as_unknown_until_it_is_off),
           RIG(one_that_does_not_respond_can_be_woken_by_name))
