/* Magic packets and their passwords.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/wol_packet.h"

#include "tests/support/unit.h"

#include <errno.h>

#include "base/check.h"
#include "base/err.h"

static const uint8_t MAC[NET_MAC_BYTES] = {0x52, 0x54, 0x00, 0xab, 0xcd, 0xef};

static void a_packet_is_six_bytes_of_ones_and_the_address_sixteen_times(void **state)
{
    struct wol_packet packet;
    (void)state;
    wol_packet_make(MAC, NULL, &packet);
    assert_int_equal(packet.length, 102);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(packet.bytes[i], 0xff);
    }
    for (size_t i = 0; i < 16; i++) {
        assert_memory_equal(packet.bytes + 6 + 6 * i, MAC, sizeof MAC);
    }
}

static void a_password_follows_the_address(void **state)
{
    static const uint8_t SIX[] = {1, 0x23, 0x45, 0x67, 0x89, 0xab}, FOUR[] = {192, 0, 2, 7};
    struct wol_password password;
    struct wol_packet packet;
    (void)state;
    assert_int_equal(wol_password_parse("01:23:45:67:89:AB", &password, NULL), 0);
    wol_packet_make(MAC, &password, &packet);
    assert_int_equal(packet.length, 108);
    assert_memory_equal(packet.bytes + 102, SIX, sizeof SIX);
    assert_int_equal(wol_password_parse("192.0.2.7", &password, NULL), 0);
    wol_packet_make(MAC, &password, &packet);
    assert_int_equal(packet.length, 106);
    assert_memory_equal(packet.bytes + 102, FOUR, sizeof FOUR);
}

static void a_password_of_another_form_is_refused_and_not_told(void **state)
{
    static const char *const WRONG[] = {"", "secret", "77:23:45:67:89", "192.0.2.777",
                                        "77:23:45:67:89:ab "};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(WRONG); i++) {
        struct wol_password password = {.length = 77};
        struct err err = {.text = ""};
        assert_int_equal(wol_password_parse(WRONG[i], &password, &err), -EINVAL);
        assert_int_equal(password.length, 77);
        assert_true(err.text[0] != '\0');
        assert_true(WRONG[i][0] == '\0' || strstr(err.text, WRONG[i]) == NULL);
    }
}

static void what_was_made_is_read_again_and_nothing_else(void **state)
{
    struct wol_password password;
    struct wol_packet packet, read;
    uint8_t mac[NET_MAC_BYTES] = {0};
    (void)state;
    assert_int_equal(wol_password_parse("01:23:45:67:89:ab", &password, NULL), 0);
    for (size_t length = 0; length <= 6; length++) {
        password.length = length;
        wol_packet_make(MAC, &password, &packet);
        bool good = length == 0 || length == 4 || length == 6;
        assert_int_equal(wol_packet_read(packet.bytes, packet.length, &read, mac), good);
        if (good) {
            assert_int_equal(read.length, packet.length);
            assert_memory_equal(read.bytes, packet.bytes, packet.length);
            assert_memory_equal(mac, MAC, sizeof mac);
        }
    }
    wol_packet_make(MAC, NULL, &packet);
    for (size_t i = 0; i < packet.length; i++) {
        packet.bytes[i] ^= 2;
        assert_false(wol_packet_read(packet.bytes, packet.length, &read, mac));
        packet.bytes[i] ^= 2;
    }
    for (size_t length = 0; length < packet.length; length++) {
        assert_false(wol_packet_read(packet.bytes, length, &read, mac));
    }
}

static void neither_nobody_nor_a_group_can_be_woken(void **state)
{
    static const uint8_t NOBODY[NET_MAC_BYTES] = {0},
                         GROUP[NET_MAC_BYTES] = {0x33, 0x33, 0, 0, 0, 1};
    struct wol_packet packet, read;
    uint8_t mac[NET_MAC_BYTES];
    (void)state;
    assert_true(wol_packet_can_wake(MAC));
    assert_false(wol_packet_can_wake(NOBODY));
    assert_false(wol_packet_can_wake(GROUP));
    wol_packet_make(GROUP, NULL, &packet);
    assert_false(wol_packet_read(packet.bytes, packet.length, &read, mac));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_six_bytes_of_ones_and_the_address_sixteen_times),
        cmocka_unit_test(a_password_follows_the_address),
        cmocka_unit_test(a_password_of_another_form_is_refused_and_not_told),
        cmocka_unit_test(what_was_made_is_read_again_and_nothing_else),
        cmocka_unit_test(neither_nobody_nor_a_group_can_be_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
