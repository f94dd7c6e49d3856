/* rooster/outside.h - what is known of a machine because its method tells, without being asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_OUTSIDE_H
#define ROOSTER_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "power/power.h"
#include "rooster/wake_plan.h"

struct loop_timer;
struct node;

struct outside {
    struct power_watch *watch;
    struct loop_timer *settled;
    bool heard, answers;
    enum power_state state;
    int64_t since_s;
    char text[160];
    /* the node, when that was heard */
    enum wake_state node_state;
    int64_t node_since_s;
};

struct outside *outside_of(struct node *node); /* made when it is first asked for */

#endif
