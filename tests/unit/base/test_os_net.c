/* Network adapters of this machine: the loopback adapter is on every one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_net.h"

#include "tests/support/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "tests/support/fast_dir.h"

#define LOCALHOST 0x7f000001u

static bool find_loopback(struct os_adapter *ret)
{
    struct os_adapter all[OS_ADAPTERS_MAX];
    size_t count = 0;
    assert_int_equal(os_adapters(NULL, all, &count, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        if (all[i].is_loopback && all[i].address == LOCALHOST) {
            *ret = all[i];
            return true;
        }
    }
    return false;
}

static void the_loopback_adapter_is_found_with_its_network(void **state)
{
    struct os_adapter loopback;
    char text[NET_TEXT_MAX];
    (void)state;
    if (!find_loopback(&loopback)) {
        skip(); /* it is down here */
    }
    assert_true(loopback.is_up);
    assert_true(loopback.index > 0);
    assert_false(loopback.has_hardware);
    assert_false(loopback.can_broadcast);
    assert_string_equal(net_text_put_subnet(&loopback.subnet, text), "127.0.0.0/8");
}

static void our_own_address_on_the_way_to_ourselves_is_that_of_the_loopback(void **state)
{
    (void)state;
    assert_int_equal(os_route_source(NULL, 0x7f000002), LOCALHOST);
}

static int listen_on(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(LOCALHOST)}};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, length), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void a_datagram_goes_by_the_adapter_or_as_routed_with_our_address(void **state)
{
    struct os_adapter loopback;
    struct os_caster *caster = os_caster_create(NULL);
    uint16_t port;
    char bytes[16];
    (void)state;
    if (!find_loopback(&loopback)) {
        skip();
    }
    int fd = listen_on(&port);
    const struct os_adapter *const ways[] = {&loopback, NULL};
    for (size_t i = 0; i < 2; i++) {
        struct sockaddr_in from;
        socklen_t length = sizeof from;
        assert_int_equal(os_cast_datagram(caster, ways[i], LOCALHOST, port, "hello", 5), 0);
        assert_int_equal(recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &length),
                         5);
        assert_memory_equal(bytes, "hello", 5);
        assert_int_equal(ntohl(from.sin_addr.s_addr), LOCALHOST);
    }
    struct os_adapter none = loopback;
    none.index = 0x7ffffff0;
    assert_true(os_cast_datagram(caster, &none, LOCALHOST, port, "hello", 5) < 0);
    os_caster_destroy(caster);
    assert_int_equal(close(fd), 0);
}

static void an_adapter_that_cannot_wake_says_so(void **state)
{
    struct os_wake_flags flags;
    struct err err = {.text = ""};
    (void)state;
    int rc = os_wake_flags(NULL, "lo", &flags, &err);
    assert_true(rc == -ENOTSUP || rc == -EPERM);
    assert_non_null(strstr(err.text, "lo: Wake-on-LAN"));
    rc = os_wake_on_magic(NULL, "lo", NULL, &err);
    assert_true(rc == -ENOTSUP || rc == -EPERM);
    assert_int_equal(os_wake_flags(NULL, "a-name-that-is-too-long", &flags, &err), -EINVAL);
    assert_int_equal(os_wake_flags(NULL, "none0", &flags, &err), -ENODEV);
}

/* As sysfs shows a bridge on a bond of two cards and a radio. */
static void a_bridge_or_bond_says_what_it_stands_on(void **state)
{
    static const char *const MADE[] = {
        "br0",   "br0/lower_bond0",  "br0/lower_wlan0",  "br0/upper_x", "br0/statistics",
        "bond0", "bond0/lower_eth0", "bond0/lower_eth1", "wlan0",       "wlan0/phy80211",
        "eth0"};
    char root[FAST_DIR_SIZE], path[FAST_DIR_SIZE + 80];
    struct os_adapter_parts parts;
    struct os *os;
    (void)state;
    assert_true(fast_dir_make(root));
    assert_int_equal(os_create(NULL, &os, NULL), 0);
    for (size_t i = 0; i < ARRAY_COUNT(MADE); i++) {
        (void)snprintf(path, sizeof path, "%s/sys/class/net/%s", root, MADE[i]);
        assert_int_equal(os_mkdirs(os, path, 0755, NULL), 0);
    }
    os_adapter_parts(os, root, "br0", &parts);
    assert_int_equal(parts.below_count, 2);
    bool in_order = strcmp(parts.below[0], "bond0") == 0;
    assert_string_equal(parts.below[in_order ? 0 : 1], "bond0");
    assert_string_equal(parts.below[in_order ? 1 : 0], "wlan0");
    assert_false(parts.is_wireless);
    os_adapter_parts(os, root, "bond0", &parts);
    assert_int_equal(parts.below_count, 2);
    os_adapter_parts(os, root, "wlan0", &parts);
    assert_int_equal(parts.below_count, 0);
    assert_true(parts.is_wireless);
    os_adapter_parts(os, root, "eth0", &parts);
    assert_true(parts.below_count == 0 && !parts.is_wireless && !parts.has_other_address);
    os_adapter_parts(os, root, "none0", &parts);
    assert_int_equal(parts.below_count, 0);
    (void)os_remove_tree(os, root, NULL);
    os_destroy(os);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loopback_adapter_is_found_with_its_network),
        cmocka_unit_test(our_own_address_on_the_way_to_ourselves_is_that_of_the_loopback),
        cmocka_unit_test(a_datagram_goes_by_the_adapter_or_as_routed_with_our_address),
        cmocka_unit_test(an_adapter_that_cannot_wake_says_so),
        cmocka_unit_test(a_bridge_or_bond_says_what_it_stands_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
