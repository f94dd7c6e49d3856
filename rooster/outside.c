/* rooster/outside.c - compares what a power method reports of a machine with what its ads say.
 *
 * A hypervisor tells at once when somebody starts, pauses or destroys a guest.  If that contradicts
 * the machine's ads:
 *
 *   asleep by its ads, reported on: somebody else has started it.  It is Unknown until it joins the
 *     pool or is off again; no job is held on it, and no job wakes it.
 *   asleep by its ads, reported paused or unknown, or the method cannot tell: Unknown.
 *   awake by its ads, reported off or paused: Unknown, until its ads are gone too, or it is back.
 *   being woken, reported off: it did not stay up, and its deadline is not waited for.
 *
 * A hypervisor that cannot be asked does not matter for a machine with live ads.  A report from
 * before the last change of the ads may be outdated: it counts only if no other comes within
 * SETTLE_S.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/outside.h"

#include <stdio.h>

#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/clock.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"

#define SETTLE_S 60

static void ads_settled(void *arg)
{
    look_at(arg);
}

struct outside *outside_of(struct node *node)
{
    if (node->outside == NULL) {
        node->outside = mem_zalloc(sizeof *node->outside);
        node->outside->settled = loop_timer_create(node->rooster->env.loop, ads_settled, node);
    }
    return node->outside;
}

void outside_assume(struct node *node, enum power_state state)
{
    struct outside *outside = node->outside;
    if (outside != NULL && outside->heard && outside->state != state) {
        outside->state = state;
        outside->answers = true;
        outside->since_s = rooster_now_s(node->rooster);
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

/* Returns what contradicts the ads, in words; NULL: nothing. */
static const char *conflict_of(const struct node *node)
{
    const struct outside *outside = node->outside;
    if (outside == NULL || !outside->heard) {
        return NULL;
    }
    if (node->state == WAKE_OFF && node->asleep.has_ads && !node->awake.has_ads) {
        return outside->state == POWER_ON
                   ? "the machine was switched on from outside and has not joined the pool"
               : outside->state == POWER_UNKNOWN && outside->answers
                   ? "the machine's ads say that it is asleep"
               : outside->state == POWER_UNKNOWN ? "the state of the machine is not known"
                                                 : NULL;
    }
    if (node->state == WAKE_UP && node->awake.has_ads && outside->answers &&
        outside->state != POWER_ON) {
        return "the machine's ads say that it is on";
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
    int64_t age_s = rooster_since_s(node->rooster, &node->since_s);
    if (!is_newer && age_s >= 0 && age_s < SETTLE_S) {
        loop_timer_set(outside->settled, (uint64_t)(SETTLE_S - age_s) * 1000);
        return false;
    }
    (void)snprintf(why, size, "%s; its power method says: %s", conflict,
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
