/* base/net_text.c - see net_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/net_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

/* Reads a number without leading zeros, up to max, and moves *at behind it. */
static bool read_number(const char **at, uint32_t max, uint32_t *ret)
{
    const char *text = *at;
    uint32_t value = 0;
    if (*text < '0' || *text > '9' || (text[0] == '0' && text[1] >= '0' && text[1] <= '9')) {
        return false;
    }
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint32_t)(*text - '0');
        if (value > max) {
            return false;
        }
    }
    *at = text;
    *ret = value;
    return true;
}

static bool read_ipv4(const char **at, uint32_t *ret)
{
    uint32_t address = 0, byte;
    for (int i = 0; i < 4; i++) {
        if ((i > 0 && *(*at)++ != '.') || !read_number(at, 255, &byte)) {
            return false;
        }
        address = address << 8 | byte;
    }
    *ret = address;
    return true;
}

int net_text_ipv4(const char *text, uint32_t *ret, struct err *err)
{
    const char *at = text;
    uint32_t address;
    if (!read_ipv4(&at, &address) || *at != '\0') {
        return err_set(err, -EINVAL, "'%s' is not an IPv4 address", text);
    }
    *ret = address;
    return 0;
}

static bool is_mask(uint32_t mask)
{
    return (~mask & (~mask + 1)) == 0; /* what is not set is all at the end */
}

int net_text_mask(const char *text, uint32_t *ret, struct err *err)
{
    uint32_t mask;
    if (net_text_ipv4(text, &mask, NULL) != 0 || !is_mask(mask)) {
        return err_set(err, -EINVAL, "'%s' is not a network mask", text);
    }
    *ret = mask;
    return 0;
}

int net_text_subnet(const char *text, struct net_subnet *ret, struct err *err)
{
    const char *at = text;
    uint32_t address, bits, mask;
    bool good = read_ipv4(&at, &address) && *at++ == '/';
    if (good && strchr(at, '.') != NULL) {
        good = net_text_mask(at, &mask, NULL) == 0;
    } else if (good) {
        good = read_number(&at, 32, &bits) && *at == '\0';
        mask = good && bits > 0 ? UINT32_MAX << (32 - bits) : 0;
    }
    if (!good) {
        return err_set(err, -EINVAL, "'%s' is not a network address such as 10.0.0.0/24", text);
    }
    *ret = (struct net_subnet){.address = address & mask, .mask = mask};
    return 0;
}

int net_text_mac(const char *text, uint8_t ret[NET_MAC_BYTES], struct err *err)
{
    char digits[2 * NET_MAC_BYTES + 1] = "";
    size_t length = strlen(text), count = 0;
    char separator = length == 17 ? text[2] : length == 14 ? '.' : '\0';
    size_t group = length == 14 ? 4 : 2;
    bool good = length == 12 || (length == 17 && (separator == ':' || separator == '-')) ||
                (length == 14 && text[4] == '.');
    for (size_t i = 0; good && i < length; i++) {
        if (separator != '\0' && i % (group + 1) == group) {
            good = text[i] == separator;
        } else {
            digits[count++] = text[i];
        }
    }
    if (!good || text_unhex(digits, ret, NET_MAC_BYTES, NULL) != 0) {
        return err_set(err, -EINVAL, "'%s' is not a hardware address such as 52:54:00:12:34:56",
                       text);
    }
    return 0;
}

int net_text_address(const char *text, size_t *host_length, int64_t *port, struct err *err)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : NULL;
    const char *colon = strchr(end != NULL ? end : text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    int64_t number = 0;
    if (length == 0 || (text[0] == '[' && (end == NULL || length != (size_t)(end - text) + 1))) {
        return err_set(err, -EINVAL, "'%s' is not HOST or HOST:PORT", text);
    }
    if (colon != NULL &&
        (text_parse_int64(colon + 1, &number, NULL) != 0 || number < 0 || number > UINT16_MAX)) {
        return err_set(err, -EINVAL, "'%s': the port must be a number from 0 to %d", text,
                       UINT16_MAX);
    }
    *host_length = length;
    *port = colon != NULL ? number : *port;
    return 0;
}

char *net_text_put_ipv4(uint32_t address, char ret[NET_TEXT_MAX])
{
    (void)snprintf(ret, NET_TEXT_MAX, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                   address >> 8 & 255, address & 255);
    return ret;
}

char *net_text_put_subnet(const struct net_subnet *subnet, char ret[NET_TEXT_MAX])
{
    unsigned bits = 0;
    while (bits < 32 && (subnet->mask << bits & 0x80000000u) != 0) {
        bits++;
    }
    (void)net_text_put_ipv4(subnet->address, ret);
    size_t length = strlen(ret);
    (void)snprintf(ret + length, NET_TEXT_MAX - length, "/%u", bits);
    return ret;
}

char *net_text_put_mac(const uint8_t mac[NET_MAC_BYTES], char ret[NET_TEXT_MAX])
{
    (void)snprintf(ret, NET_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                   mac[3], mac[4], mac[5]);
    return ret;
}

uint32_t net_subnet_broadcast(const struct net_subnet *subnet)
{
    return subnet->mask == 0 || ~subnet->mask <= 1 ? UINT32_MAX : subnet->address | ~subnet->mask;
}

int net_text_fingerprint(const char *text, char ret[NET_FINGERPRINT_SIZE], struct err *err)
{
    size_t length = 0;
    char digits[NET_FINGERPRINT_SIZE] = "";
    for (const char *at = text; *at != '\0'; at++) {
        char c = text_lower(*at);
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (*at != ':' && (!digit || length + 1 == NET_FINGERPRINT_SIZE)) {
            return err_set(err, -EINVAL,
                           "'%.100s' is not a SHA-256 fingerprint; expected %d hex digits", text,
                           NET_FINGERPRINT_SIZE - 1);
        }
        digits[length] = digit ? c : digits[length];
        length += digit ? 1 : 0;
    }
    if (length + 1 != NET_FINGERPRINT_SIZE) {
        return err_set(err, -EINVAL, "'%.100s' has %zu of %d digits", text, length,
                       NET_FINGERPRINT_SIZE - 1);
    }
    memcpy(ret, digits, sizeof digits);
    return 0;
}
