/* rooster/ways.h - finds how a machine is switched on and off: as its `node` section of the
 * configuration says, else by ROOSTER_WAKEUP_CMD, else by magic packets to its network adapter.
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

/* Fills *ret for the method whose turn it is in the wake under way, or for the first method if no
 * wake is under way.  Returns 0; -ENOENT: no method to switch the machine is known. */
int node_power(const struct node *node, struct power_node *ret, struct err *err);
size_t node_method_count(const struct node *node); /* number of the node's methods, at least 1 */
/* These two: node_ask_state() asks for the machine's state, node_take_down() powers it down, by the
 * first of the machine's methods that can.  done is called with the node.  If no method can, they
 * return the error of power_status() or power_sleep() for the first method. */
int node_ask_state(struct node *node, power_status_f done, struct err *err);
int node_take_down(struct node *node, const char *level, power_done_f done, struct err *err);

/* Returns how long node_take_down() may take for this level of sleep ("S3"): the longest time of
 * the methods that can power the machine down; 0: none can. */
uint64_t node_down_max_ms(const struct node *node, const char *level);
/* Watches the machine by the first of its methods that can.  told is called, with the node, for
 * each report of the method.  Returns 0; -ENOTSUP or another error of power_watch() when no method
 * can watch. */
int node_watch(struct node *node, power_news_f told, struct power_watch **ret);
unsigned node_can(const struct node *node); /* bits POWER_CAN_... of all its methods together */

#endif
