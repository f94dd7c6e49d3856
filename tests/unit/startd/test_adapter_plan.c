/* Which network adapter could wake the machine, and what the ads say of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/adapter_plan.h"

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
    const struct os_adapter *adapter;
    return adapter_plan_order(ALL, count, wanted, source, &adapter, 1) > 0 ? adapter->name : "none";
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

static void others_come_after_it_that_are_up_and_have_an_address(void **state)
{
    const struct os_adapter *order[5];
    (void)state;
    assert_int_equal(adapter_plan_order(ALL, ARRAY_COUNT(ALL), "", A(192, 168, 1, 5), order, 5), 2);
    assert_string_equal(order[0]->name, "wlan0");
    assert_string_equal(order[1]->name, "eth2");
    assert_int_equal(adapter_plan_order(ALL, ARRAY_COUNT(ALL), "", A(192, 168, 1, 5), order, 1), 1);
    assert_int_equal(adapter_plan_order(ALL, 3, "", 0, order, 5), 1); /* the first may have none */
}

/* A card with a link that can, and is not told to. */
static struct adapter_leaf card(const char *name)
{
    struct adapter_leaf leaf = {.is = {.is_up = true, .has_hardware = true},
                                .flags_known = true,
                                .flags = {true, false, "g", "d"}};
    (void)snprintf(leaf.is.name, sizeof leaf.is.name, "%s", name);
    return leaf;
}

static const char *why_not(const struct adapter_leaf *leaf, bool will_arm)
{
    static char text[120];
    assert_false(adapter_plan_can_wake(leaf, will_arm));
    adapter_plan_why_not(leaf, will_arm, text, sizeof text);
    return text;
}

static void a_card_wakes_with_a_link_and_when_it_is_told_to(void **state)
{
    (void)state;
    struct adapter_leaf leaf = card("eth0");
    assert_true(adapter_plan_can_wake(&leaf, true));
    assert_string_equal(why_not(&leaf, false),
                        "Wake-on-LAN is off for eth0 (ENABLE_WAKE_ON_LAN = true switches it on)");
    leaf.flags.magic_enabled = true;
    assert_true(adapter_plan_can_wake(&leaf, false));
    leaf.is.is_up = false;
    assert_string_equal(why_not(&leaf, true), "eth0 has no link");
    leaf = card("eth0");
    leaf.flags.magic_supported = false;
    assert_string_equal(why_not(&leaf, true), "eth0 cannot be woken by magic packets");
    leaf.flags_known = false;
    assert_string_equal(why_not(&leaf, true), "eth0 does not support Wake-on-LAN");
    leaf.needs_root = true;
    assert_string_equal(why_not(&leaf, true),
                        "only root may read the Wake-on-LAN settings of eth0");
    leaf.is_wireless = true;
    assert_string_equal(why_not(&leaf, true), "eth0 is wireless");
    assert_string_equal(why_not(NULL, true), "the machine has no network adapter");
}

static void of_several_cards_below_the_one_that_can_wake_it_is_taken(void **state)
{
    (void)state;
    struct adapter_leaf leaves[] = {card("tap0"), card("wlan0"), card("eth0"), card("eth1"),
                                    card("eth2")};
    leaves[0].flags_known = false;
    leaves[1].is_wireless = true;
    leaves[2].has_other_address = true; /* its bond's, which is eth1's own */
    leaves[4].is.is_up = false;
    assert_string_equal(adapter_plan_leaf(leaves, 5, true)->is.name, "eth1");
    assert_string_equal(adapter_plan_leaf(leaves, 3, true)->is.name, "eth0");
    assert_string_equal(adapter_plan_leaf(leaves, 2, true)->is.name, "wlan0");
    assert_string_equal(adapter_plan_leaf(leaves, 1, true)->is.name, "tap0");
    assert_null(adapter_plan_leaf(leaves, 0, true));
    /* None can: the reason is to be that of the one which could, with its cable plugged in. */
    for (size_t i = 0; i < 5; i++) {
        leaves[i].flags.magic_supported = i == 4;
    }
    leaves[3].is.is_up = leaves[2].is.is_up = leaves[1].is.is_up = leaves[0].is.is_up = false;
    assert_string_equal(adapter_plan_leaf(leaves, 5, true)->is.name, "eth2");
}

static void the_ads_say_how_it_is_woken(void **state)
{
    const struct adapter_leaf leaf = {.is = ALL[3],
                                      .flags_known = true,
                                      .flags = {true, true, "pumbg", "g"}};
    struct os_adapter bridge = ALL[3]; /* its address is its own */
    bridge.hardware[5] = 99;
    struct ad *ad = ad_create();
    (void)state;
    adapter_plan_write(&bridge, &leaf, 9, ad);
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
        const struct adapter_leaf leaf = {.is = ALL[3],
                                          .flags_known = true,
                                          .flags = {i == 1, i == 2, "d", "d"}};
        struct ad *ad = ad_create();
        adapter_plan_write(&ALL[3], &leaf, 9, ad);
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
    const struct adapter_leaf leaf = {.is = ALL[2]};
    struct ad *ad = ad_create();
    (void)state;
    adapter_plan_write(&ALL[2], &leaf, 40000, ad);
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
        cmocka_unit_test(others_come_after_it_that_are_up_and_have_an_address),
        cmocka_unit_test(a_card_wakes_with_a_link_and_when_it_is_told_to),
        cmocka_unit_test(of_several_cards_below_the_one_that_can_wake_it_is_taken),
        cmocka_unit_test(the_ads_say_how_it_is_woken),
        cmocka_unit_test(only_what_is_supported_and_enabled_makes_it_wakeable),
        cmocka_unit_test(only_what_can_wake_and_does_not_is_armed),
        cmocka_unit_test(what_is_not_known_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
