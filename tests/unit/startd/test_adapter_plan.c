/* Which network adapter could wake the machine, and what the ads say of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/adapter_plan.h"

#include "tests/support/unit.h"

#include "base/check.h"
#include "classad/ad.h"

#define A(a, b, c, d) \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
#define SLASH_24 0xffffff00u

static const struct os_adapter ALL[] = {
    {.name = "lo",
     .is_up = true,
     .is_loopback = true,
     .address = A(127, 0, 0, 1),
     .subnet = {A(127, 0, 0, 0), 0xff000000u}},
    {.name = "eth0", .has_hardware = true, .hardware = {2, 0, 0, 0, 0, 1}},
    {.name = "eth1", .is_up = true, .has_hardware = true, .hardware = {2, 0, 0, 0, 0, 2}},
    {.name = "eth2",
     .is_up = true,
     .has_hardware = true,
     .hardware = {2, 0, 0, 0, 0, 3},
     .address = A(10, 77, 3, 9),
     .subnet = {A(10, 77, 3, 0), SLASH_24}},
    {.name = "wlan0",
     .is_up = true,
     .has_hardware = true,
     .hardware = {2, 0, 0, 0, 0, 4},
     .address = A(192, 168, 1, 5),
     .subnet = {A(192, 168, 1, 0), SLASH_24}},
};

static const char *chosen(size_t count, const char *wanted, uint32_t source)
{
    const struct os_adapter *adapter = adapter_plan_choose(ALL, count, wanted, source);
    return adapter != NULL ? adapter->name : "none";
}

static void the_adapter_by_which_the_pool_is_reached_could_wake_the_machine(void **state)
{
    (void)state;
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "", A(192, 168, 1, 5)), "wlan0");
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "", A(10, 77, 3, 9)), "eth2");
}

static void else_one_that_is_connected(void **state)
{
    (void)state;
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "", 0), "eth2"); /* the first with an address */
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "", A(127, 0, 0, 1)), "eth2");
    assert_string_equal(chosen(3, "", 0), "eth1");
    assert_string_equal(chosen(2, "", 0), "eth0");
    assert_string_equal(chosen(1, "", 0), "none"); /* a loopback wakes nobody */
    assert_string_equal(chosen(0, "", 0), "none");
}

static void a_person_may_name_it_by_name_or_address(void **state)
{
    (void)state;
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "eth0", A(10, 77, 3, 9)), "eth0");
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "wlan*", A(10, 77, 3, 9)), "wlan0");
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "eth*", A(192, 168, 1, 5)), "eth2");
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "192.168.*", A(10, 77, 3, 9)), "wlan0");
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "lo", 0), "none");
    assert_string_equal(chosen(ARRAY_COUNT(ALL), "ib0", A(10, 77, 3, 9)), "none");
}

static void the_ads_say_how_it_is_woken(void **state)
{
    const struct os_wake_flags flags = {true, true, "pumbg", "g"};
    struct ad *ad = ad_create();
    (void)state;
    adapter_plan_write(&ALL[3], &flags, 9, ad);
    assert_string_equal(ad_string_or(ad, "HardwareAddress", ""), "02:00:00:00:00:03");
    assert_string_equal(ad_string_or(ad, "SubnetMask", ""), "255.255.255.0");
    assert_string_equal(ad_string_or(ad, "Subnet", ""), "10.77.3.0/24");
    assert_int_equal(ad_int_or(ad, "WakePort", 0), 9);
    assert_true(ad_bool_or(ad, "IsWakeOnLanSupported", false));
    assert_true(ad_bool_or(ad, "IsWakeOnLanEnabled", false));
    assert_true(ad_bool_or(ad, "IsWakeAble", false));
    assert_string_equal(ad_string_or(ad, "WakeOnLanSupportedFlags", ""), "pumbg");
    assert_string_equal(ad_string_or(ad, "WakeOnLanEnabledFlags", ""), "g");
    ad_destroy(ad);
}

static void only_what_is_supported_and_enabled_makes_it_wakeable(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct os_wake_flags flags = {i == 1, i == 2, "d", "d"};
        struct ad *ad = ad_create();
        adapter_plan_write(&ALL[3], &flags, 9, ad);
        assert_false(ad_bool_or(ad, "IsWakeAble", true));
        ad_destroy(ad);
    }
}

static void only_what_can_wake_and_does_not_is_armed(void **state)
{
    const struct os_wake_flags cannot = {false, false, "d", "d"}, off = {true, false, "g", "d"},
                               on = {true, true, "g", "g"};
    (void)state;
    assert_true(adapter_plan_needs_arming(&off, false));
    assert_false(adapter_plan_needs_arming(&on, false));
    assert_false(adapter_plan_needs_arming(&cannot, false));
    assert_false(adapter_plan_needs_arming(NULL, false));
    assert_true(adapter_plan_needs_arming(&on, true)); /* its password may be another */
    assert_true(adapter_plan_needs_arming(NULL, true));
}

static void what_is_not_known_is_not_said(void **state)
{
    struct ad *ad = ad_create();
    (void)state;
    adapter_plan_write(&ALL[2], NULL, 40000, ad);
    assert_string_equal(ad_string_or(ad, "HardwareAddress", ""), "02:00:00:00:00:02");
    assert_int_equal(ad_int_or(ad, "WakePort", 0), 40000);
    assert_false(ad_has(ad, "Subnet"));
    assert_false(ad_has(ad, "SubnetMask"));
    assert_false(ad_has(ad, "IsWakeAble"));
    assert_false(ad_has(ad, "IsWakeOnLanSupported"));
    ad_destroy(ad);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_adapter_by_which_the_pool_is_reached_could_wake_the_machine),
        cmocka_unit_test(else_one_that_is_connected),
        cmocka_unit_test(a_person_may_name_it_by_name_or_address),
        cmocka_unit_test(the_ads_say_how_it_is_woken),
        cmocka_unit_test(only_what_is_supported_and_enabled_makes_it_wakeable),
        cmocka_unit_test(only_what_can_wake_and_does_not_is_armed),
        cmocka_unit_test(what_is_not_known_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
