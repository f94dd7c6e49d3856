/* Addresses, masks, networks and hardware addresses as texts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/net_text.h"

#include "tests/support/unit.h"

#include <errno.h>

#include "base/check.h"
#include "base/err.h"

static void addresses_are_four_plain_numbers(void **state)
{
    static const char *const WRONG[] = {"",           "1",        "1.2.3",     "1.2.3.4.5",
                                        "1.2.3.256",  "01.2.3.4", "1.2.3.4 ",  " 1.2.3.4",
                                        "1.2.3.-4",   "1..3.4",   "0x1.2.3.4", "localhost",
                                        "1.2.3.4000", "::1"};
    char text[NET_TEXT_MAX];
    uint32_t address = 7;
    struct err err;
    (void)state;
    assert_int_equal(net_text_ipv4("10.77.0.255", &address, NULL), 0);
    assert_int_equal(address, 0x0a4d00ff);
    assert_string_equal(net_text_put_ipv4(address, text), "10.77.0.255");
    assert_int_equal(net_text_ipv4("0.0.0.0", &address, NULL), 0);
    assert_int_equal(address, 0);
    for (size_t i = 0; i < ARRAY_COUNT(WRONG); i++) {
        address = 7;
        assert_int_equal(net_text_ipv4(WRONG[i], &address, &err), -EINVAL);
        assert_int_equal(address, 7);
        assert_non_null(strstr(err.text, WRONG[i]));
    }
}

static void a_mask_has_no_holes(void **state)
{
    uint32_t mask = 7;
    (void)state;
    assert_int_equal(net_text_mask("255.255.252.0", &mask, NULL), 0);
    assert_int_equal(mask, 0xfffffc00);
    assert_int_equal(net_text_mask("255.255.255.255", &mask, NULL), 0);
    assert_int_equal(net_text_mask("0.0.0.0", &mask, NULL), 0);
    assert_int_equal(mask, 0);
    mask = 7;
    assert_int_equal(net_text_mask("255.0.255.0", &mask, NULL), -EINVAL);
    assert_int_equal(net_text_mask("0.0.0.255", &mask, NULL), -EINVAL);
    assert_int_equal(net_text_mask("255.255.255", &mask, NULL), -EINVAL);
    assert_int_equal(mask, 7);
}

static void a_network_is_read_with_bits_or_a_mask_and_loses_its_host_bits(void **state)
{
    static const char *const WRONG[] = {"10.0.0.0",   "10.0.0.0/",    "10.0.0.0/33",
                                        "10.0.0/24",  "10.0.0.0/024", "10.0.0.0/255.0.255.0",
                                        "/24",        "10.0.0.0/24 ", "10.0.0.0/24/1",
                                        "10.0.0.0:24"};
    struct net_subnet subnet = {0}, other;
    char text[NET_TEXT_MAX];
    (void)state;
    assert_int_equal(net_text_subnet("10.77.3.9/22", &subnet, NULL), 0);
    assert_int_equal(subnet.address, 0x0a4d0000);
    assert_int_equal(subnet.mask, 0xfffffc00);
    assert_string_equal(net_text_put_subnet(&subnet, text), "10.77.0.0/22");
    assert_int_equal(net_text_subnet("10.77.3.9/255.255.252.0", &other, NULL), 0);
    assert_memory_equal(&other, &subnet, sizeof other);
    assert_int_equal(net_text_subnet("1.2.3.4/0", &other, NULL), 0);
    assert_string_equal(net_text_put_subnet(&other, text), "0.0.0.0/0");
    assert_int_equal(net_text_subnet("1.2.3.4/32", &other, NULL), 0);
    assert_string_equal(net_text_put_subnet(&other, text), "1.2.3.4/32");
    for (size_t i = 0; i < ARRAY_COUNT(WRONG); i++) {
        struct net_subnet untouched = subnet;
        assert_int_equal(net_text_subnet(WRONG[i], &untouched, NULL), -EINVAL);
        assert_memory_equal(&untouched, &subnet, sizeof untouched);
    }
}

static void the_broadcast_address_of_a_network_without_one_is_that_of_all(void **state)
{
    static const struct {
        const char *subnet, *broadcast;
    } CASES[] = {{"10.77.0.0/24", "10.77.0.255"},     {"10.77.0.0/22", "10.77.3.255"},
                 {"10.77.0.4/30", "10.77.0.7"},       {"10.77.0.4/31", "255.255.255.255"},
                 {"10.77.0.4/32", "255.255.255.255"}, {"0.0.0.0/0", "255.255.255.255"},
                 {"128.0.0.0/1", "255.255.255.255"}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct net_subnet subnet;
        char text[NET_TEXT_MAX];
        assert_int_equal(net_text_subnet(CASES[i].subnet, &subnet, NULL), 0);
        assert_string_equal(net_text_put_ipv4(net_subnet_broadcast(&subnet), text),
                            CASES[i].broadcast);
    }
}

static void hardware_addresses_are_read_in_all_their_forms(void **state)
{
    static const uint8_t MAC[NET_MAC_BYTES] = {0x52, 0x54, 0x00, 0xab, 0xcd, 0xef};
    static const char *const RIGHT[] = {"52:54:00:ab:cd:ef", "52-54-00-AB-CD-EF", "5254.00ab.cdef",
                                        "525400ABCDEF"};
    static const char *const WRONG[] = {"",
                                        "52:54:00:ab:cd",
                                        "52:54:00:ab:cd:e",
                                        "52:54:00:ab:cd:eg",
                                        "52:54-00:ab:cd:ef",
                                        "52:54:00:ab:cd:ef:",
                                        "5:54:00:ab:cd:ef01",
                                        "5254:00ab:cdef",
                                        "5254.00ab-cdef",
                                        "52 54 00 ab cd ef",
                                        "0x5254.00abcd",
                                        "525400abcdef0"};
    char text[NET_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(RIGHT); i++) {
        uint8_t mac[NET_MAC_BYTES] = {0};
        assert_int_equal(net_text_mac(RIGHT[i], mac, NULL), 0);
        assert_memory_equal(mac, MAC, sizeof mac);
        assert_string_equal(net_text_put_mac(mac, text), RIGHT[0]);
    }
    for (size_t i = 0; i < ARRAY_COUNT(WRONG); i++) {
        uint8_t mac[NET_MAC_BYTES] = {1, 2, 3, 4, 5, 6};
        struct err err;
        assert_int_equal(net_text_mac(WRONG[i], mac, &err), -EINVAL);
        assert_memory_equal(mac, ((const uint8_t[]){1, 2, 3, 4, 5, 6}), sizeof mac);
        assert_non_null(strstr(err.text, WRONG[i]));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_four_plain_numbers),
        cmocka_unit_test(a_mask_has_no_holes),
        cmocka_unit_test(a_network_is_read_with_bits_or_a_mask_and_loses_its_host_bits),
        cmocka_unit_test(the_broadcast_address_of_a_network_without_one_is_that_of_all),
        cmocka_unit_test(hardware_addresses_are_read_in_all_their_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
