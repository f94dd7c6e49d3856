/* What a machine's past tells who ranks it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "classad/ad.h"
#include "rooster/past_plan.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static void recall(struct past *past, const char *text)
{
    struct ad *record = parse(text);
    past_recall(past, record);
    ad_destroy(record);
}

static void shows(const struct past *past, double rate, int64_t tried, int64_t proven_s)
{
    struct ad *ad = ad_create();
    assert_false(past_is_in(past, ad));
    past_put(past, ad);
    assert_true(past_is_in(past, ad));
    double off = ad_real_or(ad, "WakeSuccessRate", -1) - rate;
    assert_true(off < 0.001 && off > -0.001);
    assert_int_equal(ad_int_or(ad, "WakesTried", 0), tried);
    assert_int_equal(ad_int_or(ad, "LastWakeTime", 0), proven_s);
    ad_destroy(ad);
}

static void nothing_is_said_of_a_machine_without_a_past(void **state)
{
    (void)state;
    const struct past past = {0};
    struct ad *ad = ad_create();
    past_put(&past, ad);
    assert_int_equal(ad_count(ad), 0);
    assert_true(past_is_in(&past, ad));
    ad_destroy(ad);
}

static void the_last_orders_count(void **state)
{
    (void)state;
    struct past past = {0};
    past_add(&past, false, 7);
    shows(&past, 0, 1, 0);
    past_add(&past, true, 8);
    shows(&past, 0.5, 2, 8);
    past_add(&past, false, 9);
    shows(&past, 1.0 / 3, 3, 8);
    for (int i = 0; i < PAST_KEPT; i++) {
        past_add(&past, true, 10);
    }
    shows(&past, 1, PAST_KEPT, 10);
}

static void any_change_is_to_be_shown(void **state)
{
    (void)state;
    struct past past = {.came = 1, .count = 1, .proven_s = 5, .is_compared = true};
    struct ad *ad = ad_create();
    past_put(&past, ad);
    assert_true(past_is_in(&past, ad));
    past.proven_s = 6;
    assert_false(past_is_in(&past, ad));
    past.proven_s = 5;
    past.came = 3;
    past.count = 2;
    assert_false(past_is_in(&past, ad)); /* of two, not of one */
    past.count = 1;
    past.came = 0;
    assert_false(past_is_in(&past, ad));
    past.came = 1;
    memcpy(past.differed, "x", 2);
    assert_false(past_is_in(&past, ad));
    ad_destroy(ad);
}

static void the_ledger_tells_it_again(void **state)
{
    (void)state;
    struct past past = {0};
    recall(&past, "[ Kind = \"Wake\"; Outcome = \"Up\"; Attempts = 3; StartTime = 5; EndTime = 9;"
                  " Differed = \"Arch a -> b\" ]");
    shows(&past, 1.0 / 3, 3, 9);
    assert_string_equal(past.differed, "Arch a -> b");
    recall(&past, "[ Kind = \"Wake\"; Outcome = \"Failed\"; Attempts = 2; StartTime = 15 ]");
    shows(&past, 0.2, 5, 9);
    assert_string_equal(past.differed, "Arch a -> b");
    recall(&past, "[ Kind = \"Wake\"; Outcome = \"Started\"; Attempts = 1; StartTime = 20 ]");
    recall(&past, "[ Kind = \"Sleep\"; Outcome = \"Failed\"; StartTime = 21; Differed = \"\" ]");
    shows(&past, 0.2, 5, 9);
    assert_true(past.is_compared);
    assert_string_equal(past.differed, "");
    recall(&past, "[ Kind = \"Wake\"; Outcome = \"Failed\"; Attempts = 9000000000000 ]");
    shows(&past, 0, PAST_KEPT, 9);
}

static void a_time_before_1970_is_none(void **state)
{
    (void)state;
    struct past past = {0};
    recall(&past, "[ Outcome = \"Up\"; EndTime = -5 ]");
    shows(&past, 1, 1, 0);
}

#define OFFLINE                                                                                    \
    "[ Offline = true; OfflineBootId = \"b1\"; TotalMemory = 4096; TotalCpus = 4; Arch = \"X86\";" \
    " Disk = 100; LoadAvg = 0.0; KernelVersion = \"6.1\" ]"

static const char *differs(struct past *past, const char *offline_text, const char *live_text)
{
    struct ad *offline = parse(offline_text), *live = parse(live_text);
    struct ad *promise = past_promise(offline);
    ad_destroy(offline);
    past_compare(past, promise, live);
    ad_destroy(promise);
    ad_destroy(live);
    return past->differed;
}

static void what_differs_at_a_boot_is_named(void **state)
{
    (void)state;
    struct past past = {0};
    assert_string_equal(differs(&past, OFFLINE,
                                "[ BootId = \"b2\"; TotalMemory = 2048; TotalCpus = 4; Disk = 7;"
                                " Arch = \"X86\"; LoadAvg = 3.0; MachineResources = \"GPUs\" ]"),
                        "TotalMemory 4096 -> 2048, MachineResources nothing -> GPUs,"
                        " KernelVersion 6.1 -> nothing");
    assert_string_equal(differs(&past, OFFLINE,
                                "[ BootId = \"b3\"; TotalMemory = 2048 * 2; TotalCpus = 4;"
                                " Arch = \"X86\"; KernelVersion = \"6.1\" ]"),
                        "");
    assert_true(past.is_compared);
}

static void the_same_boot_teaches_nothing(void **state)
{
    (void)state;
    struct past past = {0};
    (void)differs(&past, OFFLINE, "[ BootId = \"b1\"; TotalMemory = 1 ]");
    assert_false(past.is_compared);
    (void)differs(&past, OFFLINE, "[ TotalMemory = 1 ]"); /* a machine that does not say */
    assert_false(past.is_compared);
}

static void what_has_no_room_is_named_only(void **state)
{
    (void)state;
    struct past past = {0};
    char live[1000], resources[401];
    memset(resources, 'x', sizeof resources - 1);
    resources[sizeof resources - 1] = '\0';
    (void)snprintf(live, sizeof live,
                   "[ BootId = \"b2\"; TotalMemory = 4096; TotalCpus = 4; Arch = \"X86\";"
                   " MachineResources = \"%s\"; KernelVersion = \"6.2\" ]",
                   resources);
    assert_string_equal(differs(&past, OFFLINE, live),
                        "MachineResources, KernelVersion 6.1 -> 6.2");
}

UNIT_TESTS(UNIT(nothing_is_said_of_a_machine_without_a_past), UNIT(the_last_orders_count),
           UNIT(any_change_is_to_be_shown), UNIT(the_ledger_tells_it_again),
           UNIT(a_time_before_1970_is_none), UNIT(what_differs_at_a_boot_is_named),
           UNIT(the_same_boot_teaches_nothing), UNIT(what_has_no_room_is_named_only))
