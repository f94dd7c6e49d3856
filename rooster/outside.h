/* rooster/outside.h - what is known of a machine because its method tells, without being asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_OUTSIDE_H
#define ROOSTER_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/power.h"
#include "rooster/wake_plan.h"

struct ad;
struct loop_timer;
struct node;
struct rooster;

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
/* An order has brought it into that state: what was told before is over. */
void outside_assume(struct node *node, enum power_state state);
/* Its method tells that state, and in these words. */
bool outside_has(const struct node *node, enum power_state state, const char **text);
/* Does what is told contradict its ads, or can nobody say?  Then why is said, and since when. */
bool outside_contradicts(const struct node *node, char *why, size_t size, int64_t *since_s);
void outside_put(const struct node *node, struct ad *ad); /* into the ad of the node */

/* ---- outside_watch.c */
void outside_watch_all(struct rooster *rooster); /* as the configuration is now */
void outside_end_all(struct rooster *rooster);   /* before its power is destroyed */

#endif
