/* startd/sleep/adapter.c - the network adapter that could wake this machine, and waking neighbours
 * with it.
 *
 * The ads tell how a sleeping machine is woken: the rooster knows nothing else about it.  A
 * broadcast does not leave its network: a rooster on another network asks any awake machine of this
 * network to send the packet (MAGIC_PACKET).  We send nothing but magic packets, only on the
 * network that was named, and only by an adapter of ours on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "classad/ad.h"
#include "power/power.h"
#include "startd/sleep/adapter_plan.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define LOOK_MS   60000
#define TRIED_MAX 16
#define DEEP_MAX  4
#define ELSEWHERE 0xc6336401u /* 198.51.100.1, of nobody: it is routed as the world is */

/* Returns our address on the way to the collector, if that is given as a number and is another
 * host; else on the way to the rest of the world. */
static uint32_t own_address(struct startd *startd)
{
    size_t count;
    const char *const *hosts = config_list(startd->env.config, "COLLECTOR_HOST", &count);
    const char *host = count > 0 ? hosts[0] : "";
    char text[NET_TEXT_MAX];
    uint32_t address, source = 0;
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(host, ":"), host);
    if (net_text_ipv4(text, &address, NULL) == 0 && address >> 24 != 127) {
        source = os_route_source(startd->env.os, address);
    }
    return source != 0 ? source : os_route_source(startd->env.os, ELSEWHERE);
}

/* Returns whether the machine's card will be told to wake it.  With the power method "process"
 * there is no card. */
static bool will_arm(const struct startd *startd)
{
    const struct config *config = startd->env.config;
    return config_bool(config, "ENABLE_WAKE_ON_LAN") &&
           strcmp(config_string(config, "POWER_METHOD"), "process") != 0;
}

struct leaves {
    struct startd *startd;
    const struct os_adapter *all;
    size_t all_count, count;
    struct adapter_leaf leaf[ADAPTER_LEAVES_MAX];
};

static void add_leaf(struct leaves *leaves, const char *name, const struct os_adapter_parts *parts)
{
    size_t i = 0;
    while (i < leaves->all_count && strcmp(leaves->all[i].name, name) != 0) {
        i++;
    }
    if (i < leaves->all_count && leaves->all[i].has_hardware &&
        leaves->count < ADAPTER_LEAVES_MAX) {
        struct adapter_leaf *leaf = &leaves->leaf[leaves->count++];
        *leaf = (struct adapter_leaf){.is = leaves->all[i],
                                      .is_wireless = parts->is_wireless,
                                      .has_other_address = parts->has_other_address};
        int rc = os_wake_flags(leaves->startd->env.os, name, &leaf->flags, NULL);
        leaf->flags_known = rc == 0;
        leaf->needs_root = rc == -EPERM;
    }
}

/* Finds the cards below an adapter: a VLAN on a bridge on a bond is the deepest case. */
static void add_leaves(struct leaves *leaves, const char *name, int deeper)
{
    struct os_adapter_parts parts;
    const char *root = config_string(leaves->startd->env.config, "POWER_ROOT");
    os_adapter_parts(leaves->startd->env.os, root, name, &parts);
    if (parts.below_count == 0) {
        add_leaf(leaves, name, &parts);
    }
    for (size_t i = 0; i < parts.below_count && deeper > 0; i++) {
        add_leaves(leaves, parts.below[i], deeper - 1);
    }
}

/* The configuration names a card: returns the bridge, bond or VLAN above it, which has the
 * network. */
static const struct os_adapter *adapter_above(struct leaves *leaves, const struct os_adapter *card)
{
    for (size_t i = 0; i < leaves->all_count; i++) {
        const struct os_adapter *adapter = &leaves->all[i];
        leaves->count = 0;
        if (adapter->address != 0 && adapter->has_hardware) {
            add_leaves(leaves, adapter->name, DEEP_MAX);
        }
        for (size_t j = 0; j < leaves->count; j++) {
            if (strcmp(leaves->leaf[j].is.name, card->name) == 0) {
                return adapter;
            }
        }
    }
    return card;
}

static void choose_adapter(struct startd *startd, const struct os_adapter *all, size_t count)
{
    struct adapter *adapter = &startd->adapter;
    const char *wanted = config_string(startd->env.config, "NETWORK_INTERFACE");
    const struct os_adapter *order[TRIED_MAX];
    struct leaves *leaves = mem_zalloc(sizeof *leaves);
    *leaves = (struct leaves){.startd = startd, .all = all, .all_count = count};
    size_t tried = adapter_plan_order(all, count, wanted != NULL ? wanted : "", own_address(startd),
                                      order, TRIED_MAX);
    for (size_t i = 0; i < tried; i++) {
        leaves->count = 0;
        add_leaves(leaves, order[i]->name, DEEP_MAX);
        const struct adapter_leaf *leaf =
            adapter_plan_leaf(leaves->leaf, leaves->count, will_arm(startd));
        if (leaf != NULL && (!adapter->is_there || adapter_plan_can_wake(leaf, will_arm(startd)))) {
            adapter->is_there = true;
            adapter->leaf = *leaf;
            adapter->is = order[i]->address != 0 ? *order[i] : *adapter_above(leaves, order[i]);
            if (adapter_plan_can_wake(&adapter->leaf, will_arm(startd))) {
                break;
            }
        }
    }
    mem_free(leaves);
}

static void look_at_adapter(struct startd *startd)
{
    struct adapter *adapter = &startd->adapter;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    if (adapter->seen_ms != 0 && now_ms - adapter->seen_ms < LOOK_MS) {
        return;
    }
    struct os_adapter *all = mem_alloc(OS_ADAPTERS_MAX * sizeof *all);
    size_t count = 0;
    adapter->seen_ms = now_ms;
    adapter->is_there = false;
    if (os_adapters(startd->env.os, all, &count, NULL) == 0) { /* else: none is shown */
        choose_adapter(startd, all, count);
    }
    mem_free(all);
}

void adapter_write(struct startd *startd, struct ad *ad)
{
    const struct adapter *adapter = &startd->adapter;
    look_at_adapter(startd);
    if (adapter->is_there) {
        adapter_plan_write(&adapter->is, &adapter->leaf,
                           config_int(startd->env.config, "WAKE_PORT"), ad);
    }
}

bool adapter_can_wake(struct startd *startd, char *why, size_t size)
{
    const struct adapter *adapter = &startd->adapter;
    bool arms = will_arm(startd);
    look_at_adapter(startd);
    const struct adapter_leaf *leaf = adapter->is_there ? &adapter->leaf : NULL;
    adapter_plan_why_not(leaf, arms, why, size);
    if (leaf != NULL && strcmp(leaf->is.name, adapter->refusing) == 0 &&
        !adapter_plan_can_wake(leaf, false)) {
        (void)snprintf(why, size, "%s", adapter->refusal);
        return false;
    }
    return adapter_plan_can_wake(leaf, arms);
}

/* ---- before it sleeps */

static int read_password(struct startd *startd, const char *path, uint8_t ret[NET_MAC_BYTES],
                         struct err *err)
{
    char text[64];
    int rc = secret_file_read(startd->env.os, path, text, sizeof text, err);
    if (rc == 0 && net_text_mac(text, ret, NULL) != 0) {
        rc = err_set(err, -EINVAL,
                     "%s: the adapter's password must have six bytes, as in 01:23:45:67:89:ab",
                     path);
    }
    secret_wipe(text, sizeof text);
    return rc;
}

int adapter_arm(struct startd *startd, bool is_needed, struct err *err)
{
    const char *path = config_path(startd->env.config, "WAKE_PASSWORD_FILE");
    struct adapter *adapter = &startd->adapter;
    bool has_password = path != NULL && path[0] != '\0';
    uint8_t password[NET_MAC_BYTES] = {0};
    struct err why = {.text = "the machine has no network adapter that could wake it"};
    if (!will_arm(startd)) {
        return 0;
    }
    adapter->seen_ms = 0;
    look_at_adapter(startd);
    const struct os_wake_flags *flags =
        adapter->is_there && adapter->leaf.flags_known ? &adapter->leaf.flags : NULL;
    if (!adapter_plan_needs_arming(flags, has_password)) {
        return 0;
    }
    int rc = has_password ? read_password(startd, path, password, &why) : 0;
    if (rc == 0) {
        rc = adapter->is_there ? os_wake_on_magic(startd->env.os, adapter->leaf.is.name,
                                                  has_password ? password : NULL, &why)
                               : -ENODEV;
    }
    secret_wipe(password, sizeof password);
    adapter->seen_ms = 0; /* the offline ads say how it is now */
    if (rc == 0) {
        log_info(startd->env.log, "wake.armed",
                 "Wake-on-LAN is switched on; magic packets wake this machine",
                 LOG_TEXT("adapter", adapter->leaf.is.name),
                 LOG_TEXT("password", has_password ? "yes" : "no"));
        return 0;
    }
    if (has_password) {
        return err_set(err, rc, "magic packets with a password would not wake the machine: %.300s",
                       why.text);
    }
    if (adapter->is_there) { /* it will not the next time either: not to be asked for each sleep */
        (void)snprintf(adapter->refusing, sizeof adapter->refusing, "%s", adapter->leaf.is.name);
        (void)snprintf(adapter->refusal, sizeof adapter->refusal, "%.110s", why.text);
    }
    if (is_needed) {
        return err_set(err, rc,
                       "the machine could not be woken: %.300s (HIBERNATION_OVERRIDE_WOL = true "
                       "skips this check)",
                       why.text);
    }
    log_warn(startd->env.log, "wake.not_armed", why.text); /* perhaps others can wake it */
    return 0;
}

/* ---- neighbours */

static void packet_sent(void *arg, int status, const char *text)
{
    struct wire_request *request = arg;
    if (status != 0) {
        wire_reply_error(request, status, "%s", text);
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Text", text);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

void adapter_wake_neighbour(struct startd *startd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *subnet = ad_string_or(args, "Subnet", "");
    struct power_node node = {.name = ad_string_or(args, "Machine", "unnamed"),
                              .method = "wol",
                              .subnet = subnet[0] != '\0' ? subnet : NULL,
                              .wake_port = ad_int_or(args, "Port", 0),
                              .wake_repeats = ad_int_or(args, "Repeats", 0)};
    struct err err;
    node.packet = wire_request_blob(request, &node.packet_length);
    if (node.packet == NULL) {
        node.packet = "";
        node.packet_length = 0;
    }
    log_info(startd->env.log, "wake.neighbour", "sending a magic packet",
             LOG_TEXT("machine", node.name), LOG_TEXT("by", wire_request_peer(request)->identity));
    int rc = power_wake(startd->power, &node, packet_sent, request, &err);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s", err.text);
    }
}
