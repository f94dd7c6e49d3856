/* Addresses, masks, networks, hardware addresses and passwords as texts, and magic packets that
 * somebody else made: what is taken comes back when it is written and read again.
 *
 * LINK: power base
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/net_text.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "power/wol_packet.h"

#define INPUT_MAX ((size_t)1 << 12)

static void numbers(const char *text)
{
    struct err err = {""};
    uint32_t address, again;
    char out[NET_TEXT_MAX];
    if (net_text_ipv4(text, &address, &err) == 0) {
        CHECK(strcmp(net_text_put_ipv4(address, out), text) == 0); /* it has one form */
    } else {
        CHECK(err.text[0] != '\0');
    }
    if (net_text_mask(text, &address, NULL) == 0) {
        CHECK(net_text_mask(net_text_put_ipv4(address, out), &again, NULL) == 0);
        CHECK(again == address && ((~address + 1) & ~address) == 0);
    }
}

static void subnet(const char *text)
{
    struct err err = {""};
    struct net_subnet is, again;
    char out[NET_TEXT_MAX];
    if (net_text_subnet(text, &is, &err) != 0) {
        CHECK(err.text[0] != '\0');
        return;
    }
    CHECK((is.address & ~is.mask) == 0);
    CHECK((net_subnet_broadcast(&is) & is.mask) == is.address ||
          net_subnet_broadcast(&is) == UINT32_MAX);
    CHECK(net_text_subnet(net_text_put_subnet(&is, out), &again, NULL) == 0);
    CHECK(again.address == is.address && again.mask == is.mask);
}

static void mac(const char *text)
{
    struct err err = {""};
    uint8_t is[NET_MAC_BYTES], again[NET_MAC_BYTES];
    char out[NET_TEXT_MAX];
    if (net_text_mac(text, is, &err) != 0) {
        CHECK(err.text[0] != '\0');
        return;
    }
    CHECK(net_text_mac(net_text_put_mac(is, out), again, NULL) == 0);
    CHECK(memcmp(is, again, sizeof is) == 0);
}

static void password(const char *text)
{
    static const uint8_t MAC[NET_MAC_BYTES] = {2, 0, 0, 0, 0, 1};
    struct wol_password is;
    struct wol_packet packet, again;
    uint8_t woken[NET_MAC_BYTES];
    if (wol_password_parse(text, &is, NULL) != 0) {
        return;
    }
    wol_packet_make(MAC, &is, &packet);
    CHECK(wol_packet_read(packet.bytes, packet.length, &again, woken));
    CHECK(again.length == packet.length && memcmp(again.bytes, packet.bytes, packet.length) == 0 &&
          memcmp(woken, MAC, sizeof MAC) == 0);
}

static void packet(const uint8_t *data, size_t size)
{
    struct wol_packet is;
    uint8_t woken[NET_MAC_BYTES];
    uint8_t *exact = mem_dup(data, size); /* so that reading too far is seen */
    if (wol_packet_read(exact, size, &is, woken)) {
        CHECK(is.length == size && memcmp(is.bytes, data, size) == 0);
        CHECK(wol_packet_can_wake(woken));
    }
    mem_free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > INPUT_MAX) {
        return 0;
    }
    char *text = mem_zalloc(size + 1);
    if (size > 0) {
        memcpy(text, data, size);
    }
    numbers(text);
    subnet(text);
    mac(text);
    password(text);
    packet(data, size);
    mem_free(text);
    return 0;
}
