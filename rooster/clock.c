/* rooster/clock.c - see clock.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/clock.h"

#include <stddef.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"

static void move_stamp(int64_t *stamp_s, int64_t by_s)
{
    if (*stamp_s > 0) { /* else: never */
        *stamp_s += by_s;
    }
}

static void move_node(struct node *node, int64_t by_s)
{
    int64_t *const stamps[] = {&node->since_s,           &node->wake.began_s,
                               &node->sleep.began_s,     &node->test.ended_s,
                               &node->history.nap_s,     &node->history.last.wake_s,
                               &node->history.last.up_s, &node->guard.slept_s,
                               &node->asleep.slept_s,    &node->asleep.reclaim_until_s};
    for (size_t i = 0; i < ARRAY_COUNT(stamps); i++) {
        move_stamp(stamps[i], by_s);
    }
    for (size_t i = 0; i < WAKE_DAY_MAX; i++) {
        move_stamp(&node->history.day.at_s[i], by_s);
        move_stamp(&node->guard.sleeps.at_s[i], by_s);
    }
    if (node->outside != NULL) {
        move_stamp(&node->outside->since_s, by_s);
        move_stamp(&node->outside->node_since_s, by_s);
    }
}

int64_t rooster_now_s(struct rooster *rooster)
{
    int64_t boot_s = loop_wall_of_s(rooster->env.loop, 0), by_s = boot_s - rooster->boot_wall_s;
    if (by_s != 0 && rooster->boot_wall_s != 0) {
        size_t at = 0;
        void *node;
        while (strmap_next(rooster->nodes, &at, NULL, &node)) {
            move_node(node, by_s);
        }
        log_warn(rooster->env.log, "clock.set",
                 "the wall clock was set; the times of wakes and sleeps move with it",
                 LOG_INT("by_s", by_s));
    }
    rooster->boot_wall_s = boot_s;
    return loop_wall_s(rooster->env.loop);
}

int64_t rooster_since_s(struct rooster *rooster, const int64_t *stamp_s)
{
    int64_t now_s = rooster_now_s(rooster);
    return now_s - *stamp_s;
}
