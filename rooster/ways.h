/* rooster/ways.h - how a machine is switched: its section of the configuration, else
 * ROOSTER_WAKEUP_CMD, else its adapter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_WAYS_H
#define ROOSTER_WAYS_H

#include <stddef.h>
#include <stdint.h>

#include "power/power.h"

struct err;
struct node;

/* By the method whose turn it is in the wake under way; without one, by its first.  -ENOENT: there
 * is no way. */
int node_power(const struct node *node, struct power_node *ret, struct err *err);
size_t node_method_count(const struct node *node); /* at least 1 */
/* By the first of its methods that can; done is called with the node.  Else as power_status() and
 * power_sleep() say of the first. */
int node_ask_state(struct node *node, power_status_f done, struct err *err);
int node_take_down(struct node *node, const char *level, power_done_f done, struct err *err);

/* Of those that can: how long it may take. */
uint64_t node_down_max_ms(const struct node *node, const char *level);
/* By the first that can.  -ENOTSUP or another: none can. */
int node_watch(struct node *node, power_news_f told, struct power_watch **ret);
unsigned node_can(const struct node *node); /* POWER_CAN_..., of all its methods */

#endif
