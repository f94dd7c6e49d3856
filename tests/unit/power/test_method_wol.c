/* Waking by magic packets: what leaves this host on the loopback adapter's network, and who is
 * asked for networks that are not ours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <netpacket/packet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "power/power.h"
#include "power/wol_packet.h"
#include "tests/support/datagrams.h"

#define OURS   "127.0.0.0/8"
#define THEIRS "203.0.113.0/24"

static const uint8_t MAC[NET_MAC_BYTES] = {0x52, 0x54, 0x00, 0xab, 0xcd, 0xef};

struct rig {
    char dir[FAST_DIR_SIZE], secret[128];
    struct loop *loop;
    struct os *os;
    struct power *power;
    struct loop_timer *relay_timer;
    bool over;
    int status, datagrams, frames; /* sockets; frames -1: not root */
    uint16_t port;
    char text[512];
    unsigned asked; /* the relay */
    int relay_status;
    uint8_t relay_packet[WOL_PACKET_MAX];
    size_t relay_length;
    char relay_subnet[40];
    int64_t relay_port, relay_repeats;
    power_done_f relay_done;
    void *relay_done_arg;
    struct power_node node;
};

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    (void)snprintf(rig->secret, sizeof rig->secret, "%s/secret", rig->dir);
    rig->power = power_create(rig->loop, rig->os, NULL);
    rig->datagrams = datagrams_open(&rig->port);
    assert_true(rig->datagrams >= 0);
    rig->frames =
        socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, htons(WOL_FRAME_TYPE));
    rig->node = (struct power_node){.name = "n1",
                                    .method = "wol",
                                    .hardware_address = "52:54:00:AB:CD:EF",
                                    .subnet = OURS,
                                    .wake_port = rig->port,
                                    .wake_repeats = 1};
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    power_destroy(rig->power);
    loop_timer_destroy(rig->relay_timer);
    (void)close(rig->datagrams);
    (void)close(rig->frames);
    loop_rig_close(rig->loop, rig->os, rig->dir);
    mem_free(rig);
    return 0;
}

static void done(void *arg, int status, const char *text)
{
    struct rig *rig = arg;
    rig->over = true;
    rig->status = status;
    (void)snprintf(rig->text, sizeof rig->text, "%s", text);
}

static int wake(struct rig *rig)
{
    struct err err = {{0}};
    rig->over = false;
    if (power_wake(rig->power, &rig->node, done, rig, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_false(rig->over); /* never inside the call */
    loop_run_until(rig->loop, &rig->over);
    return rig->status;
}

/* How many packets arrived that are this one. */
static unsigned arrived(int socket_fd, const struct wol_packet *packet)
{
    uint8_t bytes[2000];
    unsigned count = 0;
    for (;;) {
        ssize_t length = recv(socket_fd, bytes, sizeof bytes, 0);
        if (length < 0) {
            return count;
        }
        assert_true((size_t)length >= packet->length);
        assert_memory_equal(bytes, packet->bytes, packet->length);
        count++;
    }
}

static void write_secret(struct rig *rig, const char *text, mode_t mode)
{
    assert_int_equal(os_write_file(rig->os, rig->secret, text, strlen(text), mode, false, NULL), 0);
    rig->node.password_file = rig->secret;
}

/* ---- sending */

static void a_packet_goes_out_in_every_form_as_often_as_was_said(void **state)
{
    struct rig *rig = *state;
    struct wol_packet packet;
    wol_packet_make(MAC, NULL, &packet);
    rig->node.wake_repeats = 2;
    assert_int_equal(wake(rig), 0);
    assert_int_equal(arrived(rig->datagrams, &packet), 4); /* to 127.255.255.255 and to all */
    if (rig->frames >= 0) {
        assert_int_equal(arrived(rig->frames, &packet), 2);
        assert_string_equal(rig->text,
                            "n1 (wol): 6 magic packets for 52:54:00:ab:cd:ef sent by lo");
    } else {
        assert_string_equal(rig->text, "n1 (wol): 4 magic packets for 52:54:00:ab:cd:ef sent by "
                                       "lo; no frames: CAP_NET_RAW is missing");
    }
}

static void without_a_word_on_it_each_is_sent_three_times(void **state)
{
    struct rig *rig = *state;
    struct wol_packet packet;
    wol_packet_make(MAC, NULL, &packet);
    rig->node.wake_repeats = 0;
    assert_int_equal(wake(rig), 0);
    assert_int_equal(arrived(rig->datagrams, &packet), 6);
}

static void the_adapters_password_comes_from_a_file_of_its_own(void **state)
{
    struct rig *rig = *state;
    struct wol_password password;
    struct wol_packet packet;
    assert_int_equal(wol_password_parse("01:23:45:67:89:ab", &password, NULL), 0);
    wol_packet_make(MAC, &password, &packet);
    write_secret(rig, "01:23:45:67:89:ab\n", 0600);
    assert_int_equal(wake(rig), 0);
    assert_int_equal(packet.length, 108);
    assert_int_equal(arrived(rig->datagrams, &packet), 2);
    assert_null(strstr(rig->text, "01:23"));
}

static void a_password_that_others_could_read_is_not_used(void **state)
{
    struct rig *rig = *state;
    struct wol_packet packet;
    wol_packet_make(MAC, NULL, &packet);
    write_secret(rig, "01:23:45:67:89:ab", 0640);
    assert_int_equal(wake(rig), -EACCES);
    assert_non_null(strstr(rig->text, rig->secret));
    assert_int_equal(arrived(rig->datagrams, &packet), 0);
}

static void a_password_that_is_none_is_told_by_the_name_of_its_file(void **state)
{
    struct rig *rig = *state;
    write_secret(rig, "opensesame", 0600);
    assert_int_equal(wake(rig), -EINVAL);
    assert_non_null(strstr(rig->text, rig->secret));
    assert_null(strstr(rig->text, "opensesame"));
    assert_int_equal(os_remove(rig->os, rig->secret, NULL), 0);
    assert_int_equal(wake(rig), -ENOENT);
    assert_non_null(strstr(rig->text, rig->secret));
}

/* ---- what is no way to wake */

static void an_option_that_is_missing_or_wrong_is_named(void **state)
{
    struct rig *rig = *state;
    const struct power_node good = rig->node;
    struct power_node bad[9];
    static const char *const NAMED[] = {"hardware_address", "hardware_address", "hardware_address",
                                        "hardware_address", "subnet",           "relay",
                                        "wake_port",        "wake_repeats",     "magic packet"};
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        bad[i] = good;
    }
    bad[0].hardware_address = NULL;
    bad[1].hardware_address = "";
    bad[2].hardware_address = "52:54:00";
    bad[3].hardware_address = "ff:ff:ff:ff:ff:ff";
    bad[4].subnet = "127.0.0.1";
    bad[5].relay = "perhaps";
    bad[6].wake_port = 65536;
    bad[7].wake_repeats = 21;
    bad[8].packet = "no";
    bad[8].packet_length = 2;
    assert_int_equal(power_check(&good, NULL), 0);
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        struct err err = {.text = ""};
        assert_int_equal(power_check(&bad[i], &err), -EINVAL);
        assert_int_equal(power_wake(rig->power, &bad[i], done, rig, NULL), -EINVAL);
        if (strstr(err.text, "node n1: ") == NULL || strstr(err.text, NAMED[i]) == NULL) {
            fail_msg("case %zu: %s", i, err.text);
        }
    }
}

static void a_status(void *arg, enum power_state state, const char *text)
{
    (void)arg;
    (void)state;
    (void)text;
}

static void it_can_do_nothing_but_wake(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(power_status(rig->power, &rig->node, a_status, rig, NULL), -ENOTSUP);
    assert_int_equal(power_sleep(rig->power, &rig->node, "S3", done, rig, NULL), -ENOTSUP);
}

/* ---- relays */

static void relay_answers(void *arg)
{
    struct rig *rig = arg;
    rig->relay_done(rig->relay_done_arg, rig->relay_status,
                    rig->relay_status == 0 ? "by desk7" : "nobody is awake there");
}

static void relay(void *arg, const struct power_relay *what, power_done_f relay_done,
                  void *done_arg)
{
    struct rig *rig = arg;
    rig->asked++;
    assert_string_equal(what->node, "n1");
    memcpy(rig->relay_packet, what->packet, what->packet_length);
    rig->relay_length = what->packet_length;
    (void)snprintf(rig->relay_subnet, sizeof rig->relay_subnet, "%s", what->subnet);
    rig->relay_port = what->port;
    rig->relay_repeats = what->repeats;
    rig->relay_done = relay_done;
    rig->relay_done_arg = done_arg;
    loop_timer_set(rig->relay_timer, 0);
}

static void has_relay(struct rig *rig, int status)
{
    rig->relay_status = status;
    rig->relay_timer = loop_timer_create(rig->loop, relay_answers, rig);
    power_relay_by(rig->power, relay, rig);
}

static void a_relay_gets_the_packet_for_a_network_that_is_not_ours(void **state)
{
    struct rig *rig = *state;
    struct wol_password password;
    struct wol_packet packet;
    has_relay(rig, 0);
    write_secret(rig, "1.2.3.4", 0400);
    rig->node.subnet = THEIRS;
    assert_int_equal(wake(rig), 0);
    assert_string_equal(rig->text, "n1 (wol): by desk7");
    assert_int_equal(rig->asked, 1);
    assert_int_equal(wol_password_parse("1.2.3.4", &password, NULL), 0);
    wol_packet_make(MAC, &password, &packet);
    assert_int_equal(rig->relay_length, packet.length);
    assert_memory_equal(rig->relay_packet, packet.bytes, packet.length);
    assert_string_equal(rig->relay_subnet, THEIRS);
    assert_int_equal(rig->relay_port, rig->port);
    assert_int_equal(rig->relay_repeats, 1);
}

static void where_no_relay_is_the_packet_is_left_to_the_routers(void **state)
{
    struct rig *rig = *state;
    has_relay(rig, -ENOENT);
    rig->node.subnet = THEIRS;
    (void)wake(rig); /* whether it leaves depends on this host's routes */
    assert_int_equal(rig->asked, 1);
    if (strstr(rig->text, " to 203.0.113.255 (routed), because nobody is awake there") == NULL) {
        fail_msg("%s", rig->text);
    }
}

static void a_node_may_want_a_relay_in_any_case_or_never(void **state)
{
    struct rig *rig = *state;
    struct wol_packet packet;
    wol_packet_make(MAC, NULL, &packet);
    has_relay(rig, -ENOENT);
    rig->node.relay = "always";
    assert_int_equal(wake(rig), -ENOENT);
    assert_string_equal(rig->text, "n1 (wol): nobody is awake there");
    assert_int_equal(rig->asked, 1);
    assert_int_equal(arrived(rig->datagrams, &packet), 0);
    rig->node.relay = "never";
    rig->node.subnet = THEIRS;
    (void)wake(rig);
    assert_int_equal(rig->asked, 1);
    assert_non_null(strstr(rig->text, " to 203.0.113.255 (routed), because "));
    rig->node.relay = "auto";
    rig->node.subnet = OURS;
    assert_int_equal(wake(rig), 0);
    assert_int_equal(rig->asked, 1);
    assert_int_equal(arrived(rig->datagrams, &packet), 2);
}

static void a_relay_sends_what_it_was_given_on_its_own_networks_only(void **state)
{
    struct rig *rig = *state;
    struct wol_packet packet, expected;
    wol_packet_make(MAC, NULL, &packet);
    expected = packet;
    rig->node.hardware_address = NULL;
    rig->node.packet = packet.bytes;
    rig->node.packet_length = packet.length;
    has_relay(rig, 0);
    rig->over = false;
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, NULL), 0);
    memset(packet.bytes, 0, sizeof packet.bytes); /* the call has a copy */
    loop_run_until(rig->loop, &rig->over);
    assert_int_equal(rig->status, 0);
    assert_int_equal(arrived(rig->datagrams, &expected), 2);
    packet = expected;
    rig->node.subnet = THEIRS;
    assert_int_equal(wake(rig), -ENETUNREACH);
    assert_string_equal(rig->text, "n1 (wol): no adapter of this host is on 203.0.113.0/24");
    assert_int_equal(rig->asked, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_packet_goes_out_in_every_form_as_often_as_was_said),
        TEST(without_a_word_on_it_each_is_sent_three_times),
        TEST(the_adapters_password_comes_from_a_file_of_its_own),
        TEST(a_password_that_others_could_read_is_not_used),
        TEST(a_password_that_is_none_is_told_by_the_name_of_its_file),
        TEST(an_option_that_is_missing_or_wrong_is_named),
        TEST(it_can_do_nothing_but_wake),
        TEST(a_relay_gets_the_packet_for_a_network_that_is_not_ours),
        TEST(where_no_relay_is_the_packet_is_left_to_the_routers),
        TEST(a_node_may_want_a_relay_in_any_case_or_never),
        TEST(a_relay_sends_what_it_was_given_on_its_own_networks_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
