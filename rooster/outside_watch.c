/* rooster/outside_watch.c - receives the reports of power methods: see outside.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "power/power.h"
#include "rooster/look.h"
#include "rooster/clock.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"
#include "rooster/still_up.h"
#include "rooster/wakes.h"
#include "rooster/ways.h"

static void news_told(void *arg, const struct power_news *news)
{
    struct node *node = arg;
    struct rooster *rooster = node->rooster;
    struct outside *outside = node->outside;
    char why[ROOSTER_TEXT_MAX];
    int64_t since_s = 0;
    outside->heard = true;
    outside->answers = news->answers;
    outside->state = news->state;
    outside->since_s = rooster_now_s(rooster);
    outside->node_state = node->state;
    outside->node_since_s = node->since_s;
    (void)snprintf(outside->text, sizeof outside->text, "%s", news->text);
    log_info(rooster->env.log, "node.outside", outside->text, LOG_TEXT("machine", node->name),
             LOG_TEXT("state", news->answers ? power_state_name(news->state) : "silent"));
    if (news->state == POWER_OFF && node->state == WAKE_WAKING) {
        node_went_off(node);
    } else if (news->state == POWER_OFF && node->state == WAKE_GOING_DOWN && !node->ordering) {
        loop_timer_set(node->deadline, 0); /* it need not be asked again later */
    }
    if (news->state == POWER_OFF) {
        still_up_went_off(node);
    }
    if (node->state != WAKE_UP && outside_contradicts(node, why, sizeof why, &since_s)) {
        node_show(node); /* it may be shown as Unknown already, for another reason */
    }
    look_at(node);
}

void outside_watch_all(struct rooster *rooster)
{
    const struct config *config = rooster->env.config;
    size_t at = 0;
    void *value;
    while (strmap_next(rooster->nodes, &at, NULL, &value)) {
        struct node *node = value;
        if (node->outside != NULL) { /* its section may be gone, or say something else */
            power_watch_end(node->outside->watch);
            node->outside->watch = NULL;
            node->outside->heard = false;
        }
    }
    for (size_t i = 0; i < config_section_count(config, "node"); i++) {
        struct node *node = node_of(rooster, section_title(config_section_at(config, "node", i)));
        struct outside *outside = outside_of(node);
        if (node_watch(node, news_told, &outside->watch) != 0) {
            outside->watch = NULL; /* it is asked when there is a question */
        }
    }
}

static void outside_forget(struct node *node)
{
    if (node->outside != NULL) {
        power_watch_end(node->outside->watch);
        loop_timer_destroy(node->outside->settled);
        mem_free(node->outside);
        node->outside = NULL;
    }
}

void outside_end_all(struct rooster *rooster)
{
    size_t at = 0;
    void *node;
    while (strmap_next(rooster->nodes, &at, NULL, &node)) {
        outside_forget(node);
    }
}
