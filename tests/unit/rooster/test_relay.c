/* A rooster whose host is not on the sleeping machine's network: neighbours that the test plays are
 * asked to send the magic packet, through a real collector.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

#include "power/wol_packet.h"
#include "rooster/ways.h"

#define THERE "203.0.113.0/24"

/* What the neighbours were asked.  All of them play in this one. */
struct asked {
    unsigned count, packets; /* requests; of them, those with the packet that is expected */
    int status;              /* their answer */
    char subnet[40], names[200];
    bool by_relay;
};
static struct asked *asked_of(void)
{
    static _Thread_local struct asked asked;
    return &asked;
}

static void neighbour_asked(void *arg, struct wire_request *request)
{
    static const uint8_t MAC[NET_MAC_BYTES] = {2, 0, 0, 0, 0, 7};
    const struct client *client = arg;
    struct asked *asked = asked_of();
    struct wol_packet packet;
    size_t length;
    const void *blob = wire_request_blob(request, &length);
    const struct ad *args = wire_request_args(request);
    wol_packet_make(MAC, NULL, &packet);
    asked->count++;
    asked->packets += wire_request_verb(request) == VERB_MAGIC_PACKET && length == packet.length &&
                              memcmp(blob, packet.bytes, length) == 0
                          ? 1
                          : 0;
    asked->by_relay = wire_request_peer(request)->relayed;
    (void)snprintf(asked->subnet, sizeof asked->subnet, "%s", ad_string_or(args, "Subnet", ""));
    size_t used = strlen(asked->names);
    (void)snprintf(asked->names + used, sizeof asked->names - used, "%s", client->token_id);
    if (asked->status != 0) {
        wire_reply_error(request, asked->status, "not me");
        return;
    }
    struct ad *reply = ad_create();
    ad_set_string(reply, "Text", "sent by eth7");
    const struct wire_body body = {.args = reply};
    wire_reply_ok(request, &body);
    ad_destroy(reply);
}

/* A rooster without a wake script, and a section for the machine "asleep". */
static int setup_relay(void **state)
{
    *asked_of() = (struct asked){0};
    (void)setup(state);
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_WAKEUP_CMD = \"\"\nROOSTER_WAKE_ATTEMPTS = 1\n"
              "node asleep { method = \"wol\" relay = \"always\" wake_repeats = 1 }\n");
    start(rig);
    return 0;
}

/* ---- what happens in the pool */

static void tell(struct rig *rig, const char *machine, const char *more)
{
    char ad[600];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\"; %s ]", machine,
                   machine, more);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

static void sleeps_there(struct rig *rig, const char *machine)
{
    tell(rig, machine,
         "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
         " HardwareAddress = \"02:00:00:00:00:07\"; Subnet = \"" THERE "\"");
}

static void is_awake(struct rig *rig, const char *machine, const char *subnet, const char *state)
{
    char more[300];
    (void)snprintf(more, sizeof more,
                   "BootId = \"b9\"; State = \"Unclaimed\"; Subnet = \"%s\"; PowerState = \"%s\"",
                   subnet, state);
    tell(rig, machine, more);
}

static struct client *has_uplink(struct rig *rig, const char *uplink)
{
    return client_dial(rig->bed, SCOPE_ADVERTISE, "", uplink, neighbour_asked);
}

static const struct node *sleeper(struct rig *rig)
{
    return node_named(rig, "asleep");
}
static bool knows_two(struct rig *rig)
{
    return strmap_count(rig->rooster->nodes) == 2 && sleeper(rig) != NULL;
}
static bool knows_four(struct rig *rig)
{
    return strmap_count(rig->rooster->nodes) == 4 && sleeper(rig) != NULL;
}
static bool knows_six(struct rig *rig)
{
    return strmap_count(rig->rooster->nodes) == 6 && sleeper(rig) != NULL;
}
static bool was_given_up(struct rig *rig)
{
    return sleeper(rig)->state == WAKE_QUARANTINED;
}
static bool order_is_given(struct rig *rig)
{
    return sleeper(rig)->state == WAKE_WAKING && !sleeper(rig)->ordering;
}

static bool near_is_up(struct rig *rig)
{
    return is(rig, "near", WAKE_UP);
}
static bool desk_wakes(struct rig *rig)
{
    const struct node *node = node_named(rig, "desk");
    return node != NULL && node->way.adapter.wakes;
}

static void wake(struct rig *rig)
{
    struct node *node = node_named(rig, "asleep");
    node->asked.by_name = true;
    look_at(node);
}

/* ---- tests */

static void an_awake_neighbour_is_given_the_packet(void **state)
{
    struct rig *rig = *state;
    const struct client *near = has_uplink(rig, "startd/near");
    (void)has_uplink(rig, "startd/far");
    (void)has_uplink(rig, "startd/leaving");
    sleeps_there(rig, "asleep");
    is_awake(rig, "far", "198.51.100.0/24", "On");
    is_awake(rig, "leaving", THERE, "GoingDown");
    is_awake(rig, "near", THERE, "On");
    until(rig, knows_four);
    wake(rig);
    until(rig, order_is_given);
    assert_string_equal(asked_of()->names, near->token_id);
    assert_int_equal(asked_of()->packets, 1);
    assert_string_equal(asked_of()->subnet, THERE);
    assert_true(asked_of()->by_relay);
}

static void when_one_does_not_do_it_others_are_asked(void **state)
{
    static const char *const NAMES[] = {"n1", "n2", "n3", "n4", "n5"};
    struct rig *rig = *state;
    sleeps_there(rig, "asleep");
    asked_of()->status = -ENETUNREACH;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char uplink[40];
        (void)snprintf(uplink, sizeof uplink, "startd/%s", NAMES[i]);
        if (i != 0) { /* an ad whose machine is gone */
            (void)has_uplink(rig, uplink);
        }
        is_awake(rig, NAMES[i], THERE, "On");
    }
    until(rig, knows_six);
    wake(rig);
    until(rig, was_given_up);
    assert_true(asked_of()->packets == 2 ||
                asked_of()->packets == 3); /* three, n1 among them or not */
    assert_int_equal(asked_of()->count, asked_of()->packets);
    if (strstr(sleeper(rig)->reason, " did not relay the packet: ") == NULL) {
        fail_msg("%s", sleeper(rig)->reason);
    }
}

static void where_everybody_sleeps_that_is_the_reason(void **state)
{
    struct rig *rig = *state;
    sleeps_there(rig, "asleep");
    sleeps_there(rig, "other");
    (void)has_uplink(rig, "startd/other");
    until(rig, knows_two);
    wake(rig);
    until(rig, was_given_up);
    assert_int_equal(asked_of()->count, 0);
    if (strstr(sleeper(rig)->reason, "no machine is awake on its network (" THERE ")") == NULL) {
        fail_msg("%s", sleeper(rig)->reason);
    }
}

static void who_has_woken_up_meanwhile_may_be_asked(void **state)
{
    struct rig *rig = *state;
    sleeps_there(rig, "asleep");
    sleeps_there(rig, "near");
    const struct client *near = has_uplink(rig, "startd/near");
    until(rig, knows_two);
    wake(rig);
    until(rig, was_given_up);
    assert_int_equal(asked_of()->count, 0);
    is_awake(rig, "near", THERE, "On");
    until(rig, near_is_up);
    struct node *node = node_named(rig, "asleep");
    node->state = WAKE_OFF;
    node->wake.retry_at_ms = 0;
    wake(rig);
    until(rig, order_is_given);
    assert_string_equal(asked_of()->names, near->token_id);
}

static void a_machine_whose_ads_say_that_it_wakes_needs_no_section(void **state)
{
    struct rig *rig = *state;
    struct power_node power;
    sleeps_there(rig, "asleep");
    sleeps_there(rig, "desk");
    until(rig, knows_two);
    struct node *node = node_named(rig, "desk");
    assert_int_equal(node_power(node, &power, NULL), -ENOENT);
    assert_string_equal(node_shown(node), "Unknown");
    tell(rig, "desk",
         "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
         " HardwareAddress = \"02:00:00:00:00:08\"; Subnet = \"" THERE "\"; WakePort = 40000;"
         " IsWakeAble = true");
    until(rig, desk_wakes);
    assert_string_equal(node_shown(node), "Off");
    assert_int_equal(node_power(node, &power, NULL), 0);
    assert_string_equal(power.method, "wol");
    assert_string_equal(power.hardware_address, "02:00:00:00:00:08");
    assert_string_equal(power.subnet, THERE);
    assert_int_equal(power.wake_port, 40000);
}

/* ---- a machine that may still be on its way down */

static void sleeps_since(struct rig *rig, int64_t ago_s)
{
    char more[400];
    (void)snprintf(more, sizeof more,
                   "Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
                   " PowerState = \"Off\"; HardwareAddress = \"02:00:00:00:00:07\";"
                   " Subnet = \"" THERE "\"; OfflineSince = %lld; MyCurrentTime = 5",
                   (long long)(loop_wall_s(rig->bed->loop) - ago_s));
    tell(rig, "asleep", more);
}

static bool order_is_to_be_repeated(struct rig *rig)
{
    return order_is_given(rig) && loop_timer_is_set(sleeper(rig)->still_up.timer);
}
static bool has_two_packets(struct rig *rig)
{
    (void)rig;
    return asked_of()->packets >= 2;
}

static void one_that_has_just_gone_gets_the_packet_again_and_again(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig, "startd/near");
    sleeps_since(rig, 20);
    is_awake(rig, "near", THERE, "On");
    until(rig, knows_two);
    wake(rig);
    until(rig, order_is_to_be_repeated);
    assert_int_equal(asked_of()->packets, 1);
    loop_timer_set(sleeper(rig)->still_up.timer, 0);
    until(rig, has_two_packets);
    until(rig, order_is_to_be_repeated); /* again */
    assert_int_equal(sleeper(rig)->wake.attempts, 1);
    assert_int_equal(rig->rooster->wakes, 1);
    restart(rig);
    until(rig, knows_two);
    until(rig, order_is_to_be_repeated); /* by the next rooster, too */
    assert_int_equal(sleeper(rig)->wake.attempts, 1);
}

static void it_gets_no_more_when_nobody_wants_it_any_more(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig, "startd/near");
    sleeps_since(rig, 20);
    is_awake(rig, "near", THERE, "On");
    until(rig, knows_two);
    wake(rig);
    until(rig, order_is_to_be_repeated);
    unsigned before = asked_of()->count;
    node_named(rig, "asleep")->asked.by_name = false;
    for (int i = 0; i < 2; i++) {
        loop_timer_set(sleeper(rig)->still_up.timer, 0);
        until(rig, order_is_to_be_repeated);
    }
    assert_int_equal(asked_of()->count, before);
}

static void one_that_sleeps_for_long_gets_it_once(void **state)
{
    struct rig *rig = *state;
    (void)has_uplink(rig, "startd/near");
    sleeps_since(rig, 200);
    is_awake(rig, "near", THERE, "On");
    until(rig, knows_two);
    wake(rig);
    until(rig, order_is_given);
    is_awake(rig, "far", THERE, "On"); /* the loop turns */
    assert_false(order_is_to_be_repeated(rig));
    assert_int_equal(asked_of()->packets, 1);
}

#define RELAY(test) cmocka_unit_test_setup_teardown(test, setup_relay, teardown)
UNIT_TESTS(RELAY(an_awake_neighbour_is_given_the_packet),
           RELAY(when_one_does_not_do_it_others_are_asked),
           RELAY(where_everybody_sleeps_that_is_the_reason),
           RELAY(who_has_woken_up_meanwhile_may_be_asked),
           RELAY(a_machine_whose_ads_say_that_it_wakes_needs_no_section),
           RELAY(one_that_has_just_gone_gets_the_packet_again_and_again),
           RELAY(it_gets_no_more_when_nobody_wants_it_any_more),
           RELAY(one_that_sleeps_for_long_gets_it_once))
