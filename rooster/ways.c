/* rooster/ways.c - finds how a machine is switched: by its `node` section, else by
 * ROOSTER_WAKEUP_CMD, else by the network adapter in its ads.
 *
 * A section names one method, and perhaps others (next_methods) that are tried if the first does
 * not bring the machine up: a magic packet first, then the BMC.  The number of the attempt decides
 * which method is used (wake_plan_method()); it is in the ledger, so a restarted rooster continues
 * where the last one was.  The state is asked for, and a machine is taken down, by the first method
 * that can do so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/ways.h"

#include <errno.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "power/power.h"
#include "power/power_section.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Uses what the machine's ads say where the configuration says nothing. */
static void add_adapter(const struct node *node, struct power_node *power)
{
    const struct node_adapter *adapter = &node->way.adapter;
    if (power->hardware_address == NULL) {
        power->hardware_address = or_null(adapter->hardware_address);
    }
    if (power->subnet == NULL) {
        power->subnet = or_null(adapter->subnet);
    }
    if (power->wake_port == 0) {
        power->wake_port = adapter->port;
    }
}

static const struct config_section *section_of(const struct node *node)
{
    return config_section_find(node->rooster->env.config, "node", node->name);
}

size_t node_method_count(const struct node *node)
{
    const struct config_section *section = section_of(node);
    size_t others = 0;
    if (section != NULL) {
        (void)section_list(section, "next_methods", &others); /* only how many */
    }
    return others + 1;
}

/* Finds method number `index`, which must be below node_method_count(). */
static int power_at(const struct node *node, size_t index, struct power_node *ret, struct err *err)
{
    const struct config_section *section = section_of(node);
    const char *command = config_string(node->rooster->env.config, "ROOSTER_WAKEUP_CMD");
    struct power_node power = {.name = node->name};
    if (section != NULL) {
        size_t others = 0;
        const char *const *next = section_list(section, "next_methods", &others);
        power_section_read(section,
                           index > 0 && index <= others ? next[index - 1]
                                                        : section_string(section, "method"),
                           &power);
    } else if (command != NULL && command[0] != '\0') {
        power.method = "command";
        power.wake_command = command;
    } else if (node->way.adapter.wakes) {
        power.method = "wol";
    } else {
        return err_set(err, -ENOENT,
                       "%s: no way to wake the machine: no 'node' section, ROOSTER_WAKEUP_CMD is "
                       "not set, and its ads name no network adapter that could wake it",
                       node->name);
    }
    add_adapter(node, &power);
    *ret = power;
    return 0;
}

int node_power(const struct node *node, struct power_node *ret, struct err *err)
{
    const struct wake_retry retry = {.attempts_max = config_int(node->rooster->env.config,
                                                                "ROOSTER_WAKE_ATTEMPTS"),
                                     .methods = (int64_t)node_method_count(node)};
    struct power_node power;
    int rc = power_at(node, wake_plan_method(&retry, node->wake.attempts), &power, err);
    rc = rc != 0 ? rc : power_check(&power, err);
    if (rc == 0) {
        *ret = power;
    }
    return rc;
}

int node_ask_state(struct node *node, power_status_f done, struct err *err)
{
    int first = 0;
    for (size_t i = 0; i < node_method_count(node); i++) {
        struct power_node power;
        int rc = power_at(node, i, &power, i == 0 ? err : NULL);
        rc = rc != 0 ? rc
                     : power_status(node->rooster->power, &power, done, node, i == 0 ? err : NULL);
        if (rc == 0) {
            return 0;
        }
        first = i == 0 ? rc : first;
    }
    return first; /* err is the first one's, too */
}

int node_take_down(struct node *node, const char *level, power_done_f done, struct err *err)
{
    int first = 0;
    for (size_t i = 0; i < node_method_count(node); i++) {
        struct power_node power;
        struct err *say = i == 0 ? err : NULL;
        int rc = power_at(node, i, &power, say);
        rc = rc != 0 ? rc : power_sleep(node->rooster->power, &power, level, done, node, say);
        if (rc == 0) {
            return 0;
        }
        first = i == 0 ? rc : first;
    }
    return first;
}

uint64_t node_down_max_ms(const struct node *node, const char *level)
{
    uint64_t most_ms = 0;
    for (size_t i = 0; i < node_method_count(node); i++) {
        struct power_node power;
        if (power_at(node, i, &power, NULL) == 0 && (power_can(&power) & POWER_CAN_SLEEP) != 0) {
            uint64_t max_ms = power_sleep_max_ms(&power, level);
            most_ms = max_ms > most_ms ? max_ms : most_ms;
        }
    }
    return most_ms;
}

int node_watch(struct node *node, power_news_f told, struct power_watch **ret)
{
    int rc = -ENOTSUP;
    for (size_t i = 0; rc != 0 && i < node_method_count(node); i++) {
        struct power_node power;
        rc = power_at(node, i, &power, NULL);
        rc = rc != 0 ? rc : power_watch(node->rooster->power, &power, told, node, ret, NULL);
    }
    return rc;
}

unsigned node_can(const struct node *node)
{
    unsigned can = 0;
    for (size_t i = 0; i < node_method_count(node); i++) {
        struct power_node power;
        can |= power_at(node, i, &power, NULL) == 0 ? power_can(&power) : 0;
    }
    return can;
}
