/* power/method_wol.c - wakes a machine by its network adapter: Wake-on-LAN.
 *
 * The magic packet is sent in every form that some adapter, switch or driver may need: a datagram
 * to the broadcast address of the machine's network, one to 255.255.255.255, and a frame of type
 * 0x0842; each several times, because there is no answer.  Frames need CAP_NET_RAW; without it only
 * datagrams are sent, and the outcome says so.
 *
 * A broadcast does not leave its network.  If none of our adapters is on the machine's network, an
 * awake machine on it is asked to send the packet (power_relay_by()).  If there is none, the
 * datagram is sent to the network's broadcast address, which works where routers allow it.
 *
 * Only for waking: a sleeping machine does not report a status, and it goes to sleep by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_net.h"
#include "base/secret_file.h"
#include "base/loop.h"
#include "power/method.h"
#include "power/wol_packet.h"

#define WAYS_MAX       16 /* adapters by which one machine is woken */
#define REPEATS        3  /* unless the node says */
#define REPEATS_MAX    20
#define REPEAT_MS      100 /* between the rounds: what loses one packet has recovered */
#define FULL_MS        5   /* after the way was full */
#define PASSWORD_CHARS 64

enum form { TO_NETWORK, TO_ALL, FRAME, FORM_COUNT };

struct wol {
    struct wol_packet packet;
    uint8_t mac[NET_MAC_BYTES];
    bool has_subnet;
    struct net_subnet subnet;
    struct os_adapter ways[WAYS_MAX];
    size_t way_count;
    bool as_routed; /* by no adapter in particular, and only TO_NETWORK */
    uint16_t port;
    int64_t rounds, round;
    size_t way;     /* the next one */
    enum form form; /* and how */
    unsigned sent;
    int failure, frame_failure; /* the last ones */
    char relay_failure[160];
};

static void wol_free(void *own)
{
    secret_wipe(own, sizeof(struct wol));
    mem_free(own);
}

/* ---- what was asked */

static int read_target(const struct power_node *node, uint8_t mac[NET_MAC_BYTES], struct err *err)
{
    struct wol_packet packet;
    if (node->packet != NULL) {
        return wol_packet_read(node->packet, node->packet_length, &packet, mac)
                   ? 0
                   : err_set(err, -EINVAL, "node %s: the packet to be sent is not a magic packet",
                             node->name);
    }
    if (node->hardware_address == NULL || node->hardware_address[0] == '\0') {
        return err_set(err, -EINVAL, "node %s: method wol needs hardware_address", node->name);
    }
    int rc = net_text_mac(node->hardware_address, mac, err);
    if (rc == 0 && !wol_packet_can_wake(mac)) {
        rc = err_set(err, -EINVAL,
                     "%s is all zero or a group address; expected the address of one adapter",
                     node->hardware_address);
    }
    return rc == 0 ? 0 : err_prefix(err, rc, "node %s: hardware_address", node->name);
}

static bool relay_is(const struct power_node *node, const char *word)
{
    return strcmp(node->relay != NULL ? node->relay : "auto", word) == 0;
}

static int wol_check(const struct power_node *node, enum power_operation operation, struct err *err)
{
    uint8_t mac[NET_MAC_BYTES];
    struct net_subnet subnet;
    if (operation != POWER_DO_WAKE) {
        return err_set(err, -ENOTSUP, "node %s: method wol can only wake machines", node->name);
    }
    int rc = read_target(node, mac, err);
    if (rc == 0 && node->subnet != NULL && net_text_subnet(node->subnet, &subnet, err) != 0) {
        rc = err_prefix(err, -EINVAL, "node %s: subnet", node->name);
    }
    if (rc == 0 && !relay_is(node, "auto") && !relay_is(node, "always") &&
        !relay_is(node, "never")) {
        rc = err_set(err, -EINVAL, "node %s: relay must be auto, always or never, not '%s'",
                     node->name, node->relay);
    }
    if (rc == 0 && (node->wake_port < 0 || node->wake_port > UINT16_MAX || node->wake_repeats < 0 ||
                    node->wake_repeats > REPEATS_MAX)) {
        rc = err_set(err, -EINVAL, "node %s: wake_port is at most %d, wake_repeats at most %d",
                     node->name, UINT16_MAX, REPEATS_MAX);
    }
    return rc;
}

static int make_packet(struct power_call *call, struct wol *wol, struct err *err)
{
    const struct power_node *node = &call->node;
    struct wol_password password = {.length = 0};
    char text[PASSWORD_CHARS];
    if (node->packet != NULL) {
        (void)wol_packet_read(node->packet, node->packet_length, &wol->packet,
                              wol->mac); /* checked before */
        return 0;
    }
    int rc = read_target(node, wol->mac, err);
    if (rc == 0 && node->password_file != NULL && node->password_file[0] != '\0') {
        rc = secret_file_read(call->os, node->password_file, text, sizeof text, err);
        if (rc == 0) {
            rc = wol_password_parse(text, &password, err);
            rc = rc == 0 ? 0 : err_prefix(err, rc, "%s", node->password_file);
        }
        secret_wipe(text, sizeof text);
    }
    if (rc == 0) {
        wol_packet_make(wol->mac, &password, &wol->packet);
    }
    secret_wipe(&password, sizeof password);
    return rc;
}

/* ---- the adapters that lead there */

static bool leads_there(const struct wol *wol, const struct os_adapter *adapter)
{
    if (!adapter->is_up) {
        return false;
    }
    if (wol->has_subnet) {
        return adapter->address != 0 && adapter->subnet.address == wol->subnet.address &&
               adapter->subnet.mask == wol->subnet.mask;
    }
    return !adapter->is_loopback && adapter->can_broadcast;
}

/* Returns whether another address of that adapter on the same network was found before. */
static bool is_found(const struct wol *wol, const struct os_adapter *adapter)
{
    for (size_t i = 0; i < wol->way_count; i++) {
        const struct os_adapter *way = &wol->ways[i];
        if (way->index == adapter->index && way->subnet.address == adapter->subnet.address &&
            way->subnet.mask == adapter->subnet.mask) {
            return true;
        }
    }
    return false;
}

static int find_ways(struct power_call *call, struct wol *wol, struct err *err)
{
    const struct os_adapter *all;
    size_t count;
    int rc = power_adapters(call->power, &all, &count, err);
    for (size_t i = 0; rc == 0 && i < count && wol->way_count < WAYS_MAX; i++) {
        if (leads_there(wol, &all[i]) && !is_found(wol, &all[i])) {
            wol->ways[wol->way_count++] = all[i];
        }
    }
    return rc;
}

/* ---- sending */

static int send_one(struct power_call *call, const struct wol *wol)
{
    struct os_caster *caster = power_caster(call->power);
    const struct os_adapter *by = wol->as_routed ? NULL : &wol->ways[wol->way];
    const struct wol_packet *packet = &wol->packet;
    if (wol->form == FRAME) {
        return os_cast_frame(caster, by, WOL_FRAME_TYPE, packet->bytes, packet->length);
    }
    uint32_t to = wol->form == TO_ALL
                      ? UINT32_MAX
                      : net_subnet_broadcast(by != NULL ? &by->subnet : &wol->subnet);
    return os_cast_datagram(caster, by, to, wol->port, packet->bytes, packet->length);
}

/* Returns whether there is something to send now. */
static bool makes_sense(const struct wol *wol)
{
    const struct os_adapter *by = &wol->ways[wol->way];
    if (wol->as_routed) {
        return wol->form == TO_NETWORK;
    }
    switch (wol->form) {
    case TO_NETWORK:
        return by->address != 0 && net_subnet_broadcast(&by->subnet) != UINT32_MAX;
    case TO_ALL:
        return by->address != 0;
    case FRAME: /* once, if the adapter has several addresses */
        return (by->has_hardware || by->is_loopback) &&
               (wol->way == 0 || by[-1].index != by->index);
    case FORM_COUNT:
        break;
    }
    return false;
}

static void say_ways(const struct wol *wol, char *ret, size_t size)
{
    size_t used = 0;
    char address[NET_TEXT_MAX];
    ret[0] = '\0';
    if (wol->as_routed) {
        (void)snprintf(ret, size, " to %s (routed), because %s",
                       net_text_put_ipv4(net_subnet_broadcast(&wol->subnet), address),
                       wol->relay_failure);
        return;
    }
    for (size_t i = 0; i < wol->way_count && used + 40 < size; i++) {
        used += (size_t)snprintf(ret + used, size - used, "%s %s", i == 0 ? " by" : ",",
                                 wol->ways[i].name);
    }
}

static void finish_call(struct power_call *call, const struct wol *wol)
{
    char mac[NET_TEXT_MAX], ways[200], frames[100] = "";
    (void)net_text_put_mac(wol->mac, mac);
    say_ways(wol, ways, sizeof ways);
    if (wol->sent == 0) {
        int status = wol->failure != 0         ? wol->failure
                     : wol->frame_failure != 0 ? wol->frame_failure
                                               : -ENETUNREACH;
        power_call_done(call, status, "no magic packet for %s could be sent%s: %s", mac, ways,
                        err_code_text(status));
        return;
    }
    if (wol->frame_failure != 0) {
        (void)snprintf(frames, sizeof frames, "; no frames: %s",
                       wol->frame_failure == -EPERM ? "CAP_NET_RAW is missing"
                                                    : err_code_text(wol->frame_failure));
    }
    power_call_done(call, 0, "%u magic packets for %s sent%s%s", wol->sent, mac, ways, frames);
}

static void note_failure(struct wol *wol, int rc)
{
    if (wol->form == FRAME) {
        wol->frame_failure = rc;
    } else {
        wol->failure = rc;
    }
}

/* Sends the remaining packets of this round. */
static void go_on(struct power_call *call)
{
    struct wol *wol = call->own;
    size_t ways = wol->as_routed ? 1 : wol->way_count;
    for (; wol->way < ways; wol->way++, wol->form = TO_NETWORK) {
        for (; wol->form < FORM_COUNT; wol->form++) {
            if (!makes_sense(wol)) {
                continue;
            }
            int rc = send_one(call, wol);
            if ((rc == -EAGAIN || rc == -ENOBUFS) && loop_now_ms(call->loop) < call->end_ms) {
                power_call_later(call, FULL_MS, go_on);
                return;
            }
            if (rc == 0) {
                wol->sent++;
            } else {
                note_failure(wol, rc);
            }
        }
    }
    wol->way = 0;
    if (++wol->round < wol->rounds) {
        power_call_later(call, REPEAT_MS, go_on);
    } else {
        finish_call(call, wol);
    }
}

static void send_as_routed(struct power_call *call, const char *why)
{
    struct wol *wol = call->own;
    if (!wol->has_subnet) {
        power_call_done(call, -ENETUNREACH, "%s, and the machine's network is not known", why);
        return;
    }
    wol->as_routed = true;
    (void)snprintf(wol->relay_failure, sizeof wol->relay_failure, "%s", why);
    go_on(call);
}

static void relay_done(void *arg, int status, const char *text)
{
    struct power_call *call = arg;
    if (status == 0 || relay_is(&call->node, "always")) {
        power_call_done(call, status, "%s", text);
    } else {
        send_as_routed(call, text);
    }
}

static void ask_relay(struct power_call *call)
{
    const struct wol *wol = call->own;
    const struct power_relay what = {.node = call->node.name,
                                     .subnet = call->node.subnet,
                                     .packet = wol->packet.bytes,
                                     .packet_length = wol->packet.length,
                                     .port = wol->port,
                                     .repeats = wol->rounds};
    if (!power_ask_relay(call->power, &what, relay_done, call)) {
        relay_done(call, -ENOENT, "this daemon cannot ask another machine to send the packet");
    }
}

static void wol_begin(struct power_call *call)
{
    const struct power_node *node = &call->node;
    struct wol *wol = mem_zalloc(sizeof *wol);
    struct err err;
    call->own = wol;
    call->own_free = wol_free;
    wol->port = node->wake_port != 0 ? (uint16_t)node->wake_port : WOL_PORT;
    wol->rounds = node->wake_repeats != 0 ? node->wake_repeats : REPEATS;
    wol->has_subnet =
        node->subnet != NULL && net_text_subnet(node->subnet, &wol->subnet, NULL) == 0;
    int rc = make_packet(call, wol, &err);
    rc = rc != 0 ? rc : find_ways(call, wol, &err);
    if (rc != 0) {
        power_call_done(call, rc, "%s", err.text);
    } else if (node->packet != NULL && wol->way_count == 0) {
        power_call_done(call, -ENETUNREACH, "no adapter of this host is on %s",
                        node->subnet != NULL ? node->subnet : "any network");
    } else if (node->packet == NULL && relay_is(node, "always")) {
        ask_relay(call);
    } else if (wol->way_count > 0) {
        go_on(call);
    } else if (relay_is(node, "never")) {
        send_as_routed(call, "this host is not on that network");
    } else {
        ask_relay(call);
    }
}

const struct power_method power_method_wol = {.name = "wol",
                                              .may_repeat = true,
                                              .check = wol_check,
                                              .begin = wol_begin};
