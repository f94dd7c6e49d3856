/* rooster/outside.c - what others do to a machine: told by its method, without being asked.
 *
 * A hypervisor tells at once when somebody starts, pauses or destroys a guest.  What it says is
 * held against what the machine's ads say:
 *
 *   asleep by its ads, and on: somebody else has started it.  It is Unknown until it joins the pool
 *       or is off again: nothing is held on it, and no job wakes it.
 *   asleep by its ads, and paused, unknown to its hypervisor, or that cannot be asked: Unknown.
 *   awake by its ads, and off or paused: Unknown, until its ads are gone, too, or it is back.
 *   being woken, and off: it did not stay up, and its deadline is not waited for.
 *
 * A hypervisor that cannot be asked is nothing against live ads.  What was told before the ads
 * changed may have been overtaken: it counts only if nothing else is heard for SETTLE_S.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/rooster.h"

#define SETTLE_S 60

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

static void settled(void *arg)
{
    look_at(arg);
}

static void told(void *arg, const struct power_news *news)
{
    struct node *node = arg;
    struct rooster *rooster = node->rooster;
    struct outside *outside = node->outside;
    char why[ROOSTER_TEXT_MAX];
    int64_t since_s = 0;
    outside->heard = true;
    outside->answers = news->answers;
    outside->state = news->state;
    outside->since_s = loop_wall_s(rooster->env.loop);
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
    if (node->state != WAKE_UP && outside_contradicts(node, why, sizeof why, &since_s)) {
        node_show(node); /* it may be shown as Unknown already, for another reason */
    }
    look_at(node);
}

static struct outside *outside_of(struct node *node)
{
    if (node->outside == NULL) {
        node->outside = mem_zalloc(sizeof *node->outside);
        node->outside->settled = loop_timer_create(node->rooster->env.loop, settled, node);
    }
    return node->outside;
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
        if (node_watch(node, told, &outside->watch) != 0) {
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

void outside_assume(struct node *node, enum power_state state)
{
    struct outside *outside = node->outside;
    if (outside != NULL && outside->heard && outside->state != state) {
        outside->state = state;
        outside->answers = true;
        outside->since_s = loop_wall_s(node->rooster->env.loop);
        outside->text[0] = '\0';
    }
}

bool outside_has(const struct node *node, enum power_state state, const char **text)
{
    const struct outside *outside = node->outside;
    if (outside == NULL || !outside->heard || !outside->answers || outside->state != state) {
        return false;
    }
    *text = outside->text[0] != '\0' ? outside->text : power_state_name(state);
    return true;
}

/* What is wrong, in words; NULL: nothing. */
static const char *conflict_of(const struct node *node)
{
    const struct outside *outside = node->outside;
    if (outside == NULL || !outside->heard) {
        return NULL;
    }
    if (node->state == WAKE_OFF && node->offline && !node->live) {
        return outside->state == POWER_ON ? "somebody else has switched it on, and it has not "
                                            "joined the pool"
               : outside->state == POWER_UNKNOWN && outside->answers
                   ? "its ads say that it is asleep"
               : outside->state == POWER_UNKNOWN ? "its state cannot be asked for"
                                                 : NULL;
    }
    if (node->state == WAKE_UP && node->live && outside->answers && outside->state != POWER_ON) {
        return "its ads say that it is on";
    }
    return NULL;
}

bool outside_contradicts(const struct node *node, char *why, size_t size, int64_t *since_s)
{
    const struct outside *outside = node->outside;
    const char *conflict = conflict_of(node);
    if (conflict == NULL) {
        return false;
    }
    bool is_newer = node->state == outside->node_state && node->since_s == outside->node_since_s;
    int64_t age_s = loop_wall_s(node->rooster->env.loop) - node->since_s;
    if (!is_newer && age_s >= 0 && age_s < SETTLE_S) {
        loop_timer_set(outside->settled, (uint64_t)(SETTLE_S - age_s) * 1000);
        return false;
    }
    (void)snprintf(why, size, "%s; it is: %s", conflict,
                   outside->text[0] != '\0' ? outside->text : power_state_name(outside->state));
    *since_s = outside->since_s;
    return true;
}

void outside_put(const struct node *node, struct ad *ad)
{
    char why[ROOSTER_TEXT_MAX];
    int64_t since_s = 0;
    const struct outside *outside = node->outside;
    if (outside == NULL || !outside->heard) {
        return;
    }
    ad_set_string(ad, "PowerMethodSays",
                  outside->answers ? power_state_name(outside->state) : "Silent");
    ad_set_string(ad, "PowerMethodReason", outside->text);
    ad_set_int(ad, "PowerMethodSince", outside->since_s);
    if (outside_contradicts(node, why, sizeof why, &since_s)) {
        ad_set_string(ad, "PowerState", "Unknown");
        ad_set_string(ad, "PowerStateReason", why);
        ad_set_int(ad, "EnteredPowerState", since_s);
    }
}
