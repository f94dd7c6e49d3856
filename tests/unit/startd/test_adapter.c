/* A startd that wakes its neighbours: MAGIC_PACKET through the collector, packets on the loopback
 * adapter's network.
 *
 * LINK: startd collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "power/wol_packet.h"
#include "startd/sleep/going_down.h"
#include "tests/support/datagrams.h"
#include "tests/unit/startd/startd_rig.h"

#define OURS "127.0.0.0/8"

static const uint8_t MAC[NET_MAC_BYTES] = {2, 0, 0, 0, 0, 7};

static int ask(struct rig *rig, struct client *client, const char *subnet, uint16_t port,
               const void *data, size_t length)
{
    struct answer answer;
    struct ad *args = ad_create();
    ad_set_string(args, "Machine", "asleep");
    ad_set_string(args, "Subnet", subnet);
    ad_set_int(args, "Port", port);
    ad_set_int(args, "Repeats", 1);
    const struct wire_body body = {.args = args, .blob = data, .blob_length = length};
    assert_true(answer_ask(&answer, client->wire, "startd/wn01", VERB_MAGIC_PACKET, &body) > 0);
    ad_destroy(args);
    loop_rig_await(rig->bed->loop, &answer.over, NULL);
    (void)snprintf(last_text, sizeof last_text, "%s",
                   answer.status == 0 ? ad_string_or(answer.args, "Text", "") : answer.text);
    int status = answer.status;
    answer_fini(&answer);
    return status;
}

static void a_neighbour_is_woken_with_the_very_packet(void **state)
{
    struct rig *rig = *state;
    struct client *rooster = client_dial(rig->bed, SCOPE_ROOSTER, "", NULL, NULL);
    struct wol_packet packet;
    uint8_t bytes[2000];
    uint16_t port;
    int fd = datagrams_open(&port);
    until(rig, is_connected);
    wol_packet_make(MAC, NULL, &packet);
    assert_int_equal(ask(rig, rooster, OURS, port, packet.bytes, packet.length), 0);
    assert_non_null(strstr(last_text, "asleep (wol): "));
    assert_non_null(strstr(last_text, "02:00:00:00:00:07 sent by lo"));
    for (int i = 0; i < 2; i++) { /* to 127.255.255.255 and to all */
        assert_int_equal(datagrams_read(fd, bytes, sizeof bytes), packet.length);
        assert_memory_equal(bytes, packet.bytes, packet.length);
    }
    assert_true(datagrams_read(fd, bytes, sizeof bytes) < 0);
    assert_int_equal(close(fd), 0);
}

static void a_network_that_is_not_ours_is_refused(void **state)
{
    struct rig *rig = *state;
    struct client *rooster = client_dial(rig->bed, SCOPE_ROOSTER, "", NULL, NULL);
    struct wol_packet packet;
    until(rig, is_connected);
    wol_packet_make(MAC, NULL, &packet);
    assert_int_equal(ask(rig, rooster, "203.0.113.0/24", 9, packet.bytes, packet.length),
                     -ENETUNREACH);
    assert_non_null(strstr(last_text, "203.0.113.0/24"));
}

static void what_is_no_magic_packet_is_not_sent(void **state)
{
    struct rig *rig = *state;
    struct client *rooster = client_dial(rig->bed, SCOPE_ROOSTER, "", NULL, NULL);
    struct wol_packet packet;
    uint8_t bytes[2000];
    uint16_t port;
    int fd = datagrams_open(&port);
    until(rig, is_connected);
    wol_packet_make(MAC, NULL, &packet);
    packet.bytes[50] ^= 1;
    assert_int_equal(ask(rig, rooster, OURS, port, packet.bytes, packet.length), -EINVAL);
    assert_int_equal(ask(rig, rooster, OURS, port, NULL, 0), -EINVAL);
    assert_int_equal(ask(rig, rooster, OURS, port, "hello", 5), -EINVAL);
    assert_true(datagrams_read(fd, bytes, sizeof bytes) < 0);
    assert_int_equal(close(fd), 0);
}

static void who_is_no_daemon_of_the_pool_wakes_nobody(void **state)
{
    struct rig *rig = *state;
    struct wol_packet packet;
    struct client *user = client_dial(rig->bed, SCOPE_READ | SCOPE_WRITE, "", NULL, NULL);
    until(rig, is_connected);
    wol_packet_make(MAC, NULL, &packet);
    assert_int_equal(ask(rig, user, OURS, 9, packet.bytes, packet.length), -EACCES);
}

/* What POWER_DOWN says. */
static int power_down(struct rig *rig)
{
    struct client *admin = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    struct answer answer;
    (void)client_relay(admin, "startd/wn01", VERB_POWER_DOWN, "[]", NULL, &answer);
    return finish(rig, &answer, last_text, sizeof last_text);
}

static void a_machine_whose_adapter_takes_no_password_does_not_sleep(void **state)
{
    struct rig *rig = *state;
    char more[500], path[300];
    bed_path(rig->bed, "password", path);
    (void)snprintf(more, sizeof more,
                   "POWER_METHOD = \"command\"\nPOWER_SLEEP_CMD = \"/bin/true\"\n"
                   "WAKE_PASSWORD_FILE = \"%s\"\nNETWORK_INTERFACE = \"lo\"",
                   path);
    load(rig, more);
    restart(rig);
    until(rig, is_connected);
    assert_int_equal(power_down(rig), -EIO);
    assert_non_null(strstr(last_text, "magic packets with a password would not wake the machine"));
    assert_non_null(strstr(last_text, path)); /* it is not there */
    MUST(os_write_file(rig->bed->os, path, "secret", 6, 0600, false, err));
    assert_int_equal(power_down(rig), -EIO);
    assert_non_null(strstr(last_text, path)); /* it is none */
    assert_null(strstr(last_text, "secret"));
    MUST(os_write_file(rig->bed->os, path, "01:23:45:67:89:ab", 17, 0600, false, err));
    assert_int_equal(power_down(rig), -EIO);
    assert_non_null(strstr(last_text, "no network adapter")); /* the loopback is none */
    assert_false(going_down_has_begun(rig->startd));
    until(rig, is_unclaimed);
}

static void a_machine_without_such_an_adapter_may_be_woken_by_others(void **state)
{
    struct rig *rig = *state;
    load(rig, "POWER_METHOD = \"command\"\nPOWER_SLEEP_CMD = \"/bin/true\"\n"
              "NETWORK_INTERFACE = \"lo\"");
    restart(rig);
    until(rig, is_connected);
    assert_int_equal(power_down(rig), 0);
}

UNIT_TESTS(RIG(a_neighbour_is_woken_with_the_very_packet),
           RIG(a_network_that_is_not_ours_is_refused), RIG(what_is_no_magic_packet_is_not_sent),
           RIG(who_is_no_daemon_of_the_pool_wakes_nobody),
           RIG(a_machine_whose_adapter_takes_no_password_does_not_sleep),
           RIG(a_machine_without_such_an_adapter_may_be_woken_by_others))
