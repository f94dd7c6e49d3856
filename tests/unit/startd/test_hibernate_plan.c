/* Which levels of sleep a machine has, and what holds it back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/os/os_power.h"
#include "classad/ad.h"
#include "startd/sleep/hibernate_plan.h"

#define S(n) (1u << (n))

static unsigned levels(const char *state, const char *mem_sleep, const char *disk,
                       const char *resume)
{
    struct os_sleep_words words = {.has_systemd = false};
    (void)snprintf(words.state, sizeof words.state, "%s", state);
    (void)snprintf(words.mem_sleep, sizeof words.mem_sleep, "%s", mem_sleep);
    (void)snprintf(words.disk, sizeof words.disk, "%s", disk);
    (void)snprintf(words.resume, sizeof words.resume, "%s", resume);
    return hibernate_plan_kernel_levels(&words);
}

static void the_kernels_words_are_levels(void **state)
{
    (void)state;
    assert_int_equal(levels("", "", "", ""), S(5)); /* any machine can be switched off */
    assert_int_equal(levels("freeze mem", "s2idle [deep]", "", ""), S(1) | S(3) | S(5));
    assert_int_equal(levels("standby", "", "", ""), S(1) | S(5));
    assert_int_equal(levels("mem", "", "", ""), S(3) | S(5)); /* an old kernel */
    assert_int_equal(levels("memory", "", "", ""), S(5));
}

static void memory_that_is_only_idle_is_not_deep_sleep(void **state)
{
    (void)state;
    assert_int_equal(levels("mem", "[s2idle]", "", ""), S(1) | S(5));
}

static void a_disk_image_counts_where_it_would_be_found_again(void **state)
{
    (void)state;
    assert_int_equal(levels("disk", "", "[platform] shutdown", "8:2"), S(4) | S(5));
    assert_int_equal(levels("disk", "", "[platform] shutdown", "0:0"), S(5));
    assert_int_equal(levels("disk", "", "[platform] shutdown", ""), S(5));
    assert_int_equal(levels("disk", "", "[disabled]", "8:2"), S(5));
    assert_int_equal(levels("mem", "", "[platform]", "8:2"), S(3) | S(5));
}

static void a_plug_in_may_use_all_the_names(void **state)
{
    (void)state;
    assert_int_equal(hibernate_plan_parse_levels("S3,S4,S5"), S(3) | S(4) | S(5));
    assert_int_equal(hibernate_plan_parse_levels(" ram, hibernate shutdown,standby"),
                     S(1) | S(3) | S(4) | S(5));
    assert_int_equal(hibernate_plan_parse_levels("NONE,S9,,"), 0);
}

static void who_is_told_to_sleep_does_as_well_as_it_can(void **state)
{
    (void)state;
    assert_int_equal(hibernate_plan_best_level(S(1) | S(3) | S(4) | S(5)), 3);
    assert_int_equal(hibernate_plan_best_level(S(1) | S(4) | S(5)), 4);
    assert_int_equal(hibernate_plan_best_level(S(1) | S(5)), 5);
    assert_int_equal(hibernate_plan_best_level(S(1)), 3); /* hibernate_plan_judge() refuses it */
}

static void the_ad_says_what_it_can(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    hibernate_plan_put_levels(S(3) | S(5), true, ad);
    assert_string_equal(ad_string_or(ad, "HibernationSupportedStates", "?"), "S3,S5");
    assert_int_equal(ad_int_or(ad, "HibernationRawMask", -1), 4 | 16);
    assert_true(ad_bool_or(ad, "CanHibernate", false));
    hibernate_plan_put_levels(S(3) | S(5), false, ad);
    assert_false(ad_bool_or(ad, "CanHibernate", true));
    hibernate_plan_put_levels(0, true, ad);
    assert_string_equal(ad_string_or(ad, "HibernationSupportedStates", "?"), "");
    assert_false(ad_bool_or(ad, "CanHibernate", true));
    ad_destroy(ad);
}

static void an_inhibitor_forbids_what_it_names(void **state)
{
    (void)state;
    assert_true(hibernate_plan_inhibits("sleep", 3));
    assert_true(hibernate_plan_inhibits("idle:sleep", 4));
    assert_false(hibernate_plan_inhibits("sleep", 5));
    assert_true(hibernate_plan_inhibits("shutdown:sleep", 5));
    assert_false(hibernate_plan_inhibits("shutdown", 1));
    assert_false(hibernate_plan_inhibits("handle-lid-switch:sleeping:", 3));
    assert_false(hibernate_plan_inhibits("", 3));
}

/* Nothing holds it back. */
static struct hibernate_facts free_machine(void)
{
    return (struct hibernate_facts){.method = "host",
                                    .levels = S(3) | S(5),
                                    .now_s = 1000,
                                    .up_s = 600,
                                    .min_up_s = 600,
                                    .kept_by = "",
                                    .kept_reason = "",
                                    .user = "",
                                    .inhibitor = "",
                                    .needs_wake = true,
                                    .can_wake = true,
                                    .cannot_wake = "eth0 has no link"};
}

static const char *why;

static bool may(const struct hibernate_facts *facts, int level)
{
    static struct err err;
    int rc = hibernate_plan_judge(facts, level, &err);
    why = err.text;
    assert_true(rc == 0 || rc == -EBUSY ||
                (rc == -ENOTSUP && strstr(why, "does not support level") != NULL));
    return rc == 0;
}

static void what_nothing_holds_back_sleeps(void **state)
{
    (void)state;
    struct hibernate_facts facts = free_machine();
    assert_true(may(&facts, 3));
    assert_true(may(&facts, 5));
}

static void a_level_that_it_has_not_is_refused_even_to_force(void **state)
{
    (void)state;
    struct hibernate_facts facts = free_machine();
    facts.forced = facts.ordered = true;
    assert_false(may(&facts, 4));
    assert_non_null(strstr(why, "does not support level S4"));
    assert_false(may(&facts, 0));
    assert_false(may(&facts, 6));
}

static void each_thing_that_holds_it_back_is_named(void **state)
{
    (void)state;
    struct hibernate_facts facts = free_machine();
    facts.up_s = 599;
    assert_false(may(&facts, 5));
    assert_non_null(strstr(why, "HIBERNATE_MIN_UPTIME"));
    facts = free_machine();
    facts.kept_until_s = 1001;
    facts.kept_by = "ann";
    facts.kept_reason = "a demonstration";
    assert_false(may(&facts, 5));
    assert_string_equal(why, "kept up by ann: a demonstration");
    facts.kept_until_s = 1000; /* over */
    assert_true(may(&facts, 5));
    facts.users = 2;
    facts.user = "bob";
    assert_false(may(&facts, 5));
    assert_non_null(strstr(why, "bob is logged in"));
    facts = free_machine();
    facts.inhibitor = "apt: upgrading";
    assert_false(may(&facts, 5));
    assert_non_null(strstr(why, "apt: upgrading"));
    facts = free_machine();
    facts.can_wake = false;
    assert_false(may(&facts, 5));
    assert_string_equal(why, "the machine could not be woken: eth0 has no link "
                             "(HIBERNATION_OVERRIDE_WOL = true skips this check)");
    facts.needs_wake = false;
    assert_true(may(&facts, 5));
}

static void an_order_asks_for_no_time_up_and_force_for_nothing(void **state)
{
    (void)state;
    struct hibernate_facts facts = free_machine();
    facts.up_s = 0;
    facts.ordered = true;
    assert_true(may(&facts, 5));
    facts.users = 1;
    assert_false(may(&facts, 5));
    facts.forced = true;
    assert_true(may(&facts, 5));
}

static void a_machine_that_could_be_woken_leaves_offline_ads_when_it_is_shut_down(void **state)
{
    (void)state;
    struct err err;
    struct hibernate_facts facts = free_machine();
    facts.needs_wake = facts.can_wake = true;
    assert_int_equal(hibernate_plan_leaves(&facts, &err), 0);
    facts.users = 1; /* nobody asks whether it may */
    assert_int_equal(hibernate_plan_leaves(&facts, &err), 0);
    facts.can_wake = false;
    facts.cannot_wake = "no cable";
    assert_int_equal(hibernate_plan_leaves(&facts, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "no cable"));
    facts.needs_wake = false; /* a BMC wakes it */
    assert_int_equal(hibernate_plan_leaves(&facts, &err), 0);
    facts.method = "none";
    assert_int_equal(hibernate_plan_leaves(&facts, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "POWER_METHOD"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_words_are_levels),
        cmocka_unit_test(memory_that_is_only_idle_is_not_deep_sleep),
        cmocka_unit_test(a_disk_image_counts_where_it_would_be_found_again),
        cmocka_unit_test(a_plug_in_may_use_all_the_names),
        cmocka_unit_test(who_is_told_to_sleep_does_as_well_as_it_can),
        cmocka_unit_test(the_ad_says_what_it_can),
        cmocka_unit_test(an_inhibitor_forbids_what_it_names),
        cmocka_unit_test(what_nothing_holds_back_sleeps),
        cmocka_unit_test(a_level_that_it_has_not_is_refused_even_to_force),
        cmocka_unit_test(each_thing_that_holds_it_back_is_named),
        cmocka_unit_test(an_order_asks_for_no_time_up_and_force_for_nothing),
        cmocka_unit_test(a_machine_that_could_be_woken_leaves_offline_ads_when_it_is_shut_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
