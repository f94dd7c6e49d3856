/* power/wol_packet.c - see wol_packet.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/wol_packet.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define HEAD   6
#define COPIES 16
#define BODY   (HEAD + COPIES * NET_MAC_BYTES)

int wol_password_parse(const char *text, struct wol_password *ret, struct err *err)
{
    uint8_t six[WOL_PASSWORD_MAX];
    uint32_t four;
    if (net_text_mac(text, six, NULL) == 0) {
        memcpy(ret->bytes, six, sizeof six);
        ret->length = sizeof six;
        return 0;
    }
    if (net_text_ipv4(text, &four, NULL) == 0) {
        for (size_t i = 0; i < sizeof four; i++) {
            ret->bytes[i] = (uint8_t)(four >> (24 - 8 * i));
        }
        ret->length = sizeof four;
        return 0;
    }
    return err_set(
        err, -EINVAL,
        "a Wake-on-LAN password has six bytes, as in 01:23:45:67:89:ab, or four, as in 1.2.3.4");
}

bool wol_packet_can_wake(const uint8_t mac[NET_MAC_BYTES])
{
    static const uint8_t NOBODY[NET_MAC_BYTES] = {0};
    return (mac[0] & 1) == 0 && memcmp(mac, NOBODY, sizeof NOBODY) != 0;
}

void wol_packet_make(const uint8_t mac[NET_MAC_BYTES], const struct wol_password *password,
                     struct wol_packet *ret)
{
    memset(ret->bytes, 0xff, HEAD);
    for (size_t i = 0; i < COPIES; i++) {
        memcpy(ret->bytes + HEAD + i * NET_MAC_BYTES, mac, NET_MAC_BYTES);
    }
    ret->length = BODY;
    if (password != NULL) {
        memcpy(ret->bytes + BODY, password->bytes, password->length);
        ret->length += password->length;
    }
}

bool wol_packet_read(const void *data, size_t length, struct wol_packet *ret,
                     uint8_t mac[NET_MAC_BYTES])
{
    struct wol_packet made;
    struct wol_password password = {.length = length - BODY};
    if (length != BODY && length != BODY + 4 && length != BODY + WOL_PASSWORD_MAX) {
        return false;
    }
    const uint8_t *bytes = data;
    memcpy(password.bytes, bytes + BODY, password.length);
    wol_packet_make(bytes + HEAD, &password, &made);
    if (memcmp(made.bytes, bytes, length) != 0 || !wol_packet_can_wake(bytes + HEAD)) {
        return false;
    }
    memcpy(mac, bytes + HEAD, NET_MAC_BYTES);
    *ret = made;
    return true;
}
