/* rooster/node_ad.c - makes the ad of a machine for the rooster's answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/err.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "power/power.h"
#include "rooster/energy.h"
#include "rooster/clock.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/queue_ask.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/still_up.h"
#include "rooster/ways.h"

/* Copies from the machine's own ads why it stays up, or off. */
static void copy_facts(const struct node *node, struct ad *ad)
{
    static const char *const FACTS[] = {
        "HibernationHeldBy",  "PowerKeepUntil",     "PowerKeepBy",       "PowerKeepReason",
        "PowerKeptOff",       "PowerKeptOffReason", "PowerKeptOffBy",    "PowerLocked",
        "PowerLockedBy",      "PowerLockedReason",  "PowerLockedSince",  "PowerLockedUntil",
        "PowerLockedByDrain", "Draining",           "DrainingRequester", "DrainReason"};
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct ad *seen = ((const struct seen *)node->ads.items[i])->ad;
        if (node->awake.has_ads && offline_ads_is(seen)) {
            continue; /* of its sleep, which is over */
        }
        for (size_t j = 0; j < sizeof FACTS / sizeof FACTS[0]; j++) {
            if (ad_has(seen, FACTS[j])) {
                (void)ad_copy_attr(ad, FACTS[j], seen, FACTS[j]); /* it is there */
            }
        }
    }
}

/* Sets what the machine's methods can do. */
static void put_can(const struct node *node, struct ad *ad)
{
    static const char *const NAMES[] = {"Wake", "Sleep", "Status", "Watch"}; /* POWER_CAN_... */
    const char *names[4];
    size_t count = 0;
    unsigned can = node_can(node);
    for (unsigned i = 0; i < 4; i++) {
        if ((can & (1U << i)) != 0) {
            names[count++] = NAMES[i];
        }
    }
    ad_set_strings(ad, "PowerMethodCan", names, count);
}

/* Sets what is known of a machine that does not respond. */
static void put_silent(const struct node *node, struct ad *ad)
{
    char reason[ROOSTER_TEXT_MAX];
    node_silent_why(node, reason);
    ad_set_int(ad, OFFLINE_ADS_SILENT, node->silence.since_s);
    if (node->state == WAKE_UP || node->state == WAKE_OFF) { /* else it is being woken by name */
        ad_set_string(ad, "PowerState", "Unknown");
        ad_set_string(ad, "PowerStateReason", reason);
        ad_set_int(ad, "EnteredPowerState", node->silence.since_s);
    }
}

struct ad *node_to_ad(const struct node *node)
{
    struct power_node power;
    struct err err;
    char reason[ROOSTER_TEXT_MAX];
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Node");
    ad_set_string(ad, "Name", node->name);
    ad_set_string(ad, "Machine", node->name);
    ad_set_string(ad, "PowerState", wake_state_name(node->state));
    ad_set_string(ad, "PowerStateReason", node->reason);
    ad_set_int(ad, "EnteredPowerState", node->since_s);
    ad_set_int(ad, "JobsWaiting", node->jobs.waiting);
    ad_set_int(ad, "WakeAttempts", node->wake.attempts);
    if (node->history.last_boot_ms > 0) {
        ad_set_real(ad, "LastWakeSeconds", (double)node->history.last_boot_ms / 1000.0);
    }
    ad_set_int(ad, "WakeDeadline", (int64_t)(node_deadline_ms(node) / 1000));
    ad_set_int(ad, "WakesToday", wake_day_count(&node->history.day, rooster_now_s(node->rooster)));
    past_put(&node->history.past, ad);
    if (node->wake.is_dry) {
        ad_set_bool(ad, "WouldWake", true);
    }
    if (node->wake.fault != NULL) {
        ad_set_string(ad, "LastWakeFault", node->wake.fault);
    }
    if (node->asked.by_name && node->state != WAKE_UP) {
        ad_set_string(ad, "WakeOrderedBy", node->asked.by); /* its wake may not have begun yet */
    }
    if (node->test.is_under_way) {
        ad_set_bool(ad, "UnderTest", true);
    }
    if (node->test.ended_s > 0) {
        ad_set_int(ad, "LastTestTime", node->test.ended_s);
        ad_set_bool(ad, "LastTestPassed", node->test.is_passed);
    }
    if (node->state == WAKE_QUARANTINED) {
        ad_set_int(ad, "PowerQuarantineUntil", node_quarantine_until_s(node));
    }
    copy_facts(node, ad);
    put_can(node, ad);
    if (node_is_silent(node)) {
        put_silent(node, ad);
    }
    outside_put(node, ad);
    energy_write(node, ad);
    queue_print(node, reason, sizeof reason);
    if (reason[0] != '\0' && node->state == WAKE_OFF) {
        ad_set_string(ad, "WakeHeldBy", reason);
    }
    if (still_up_held(node) != NULL) {
        ad_set_string(ad, "WakeHeldBy", still_up_held(node));
    }
    guards_write_node(node, ad);
    if (node->awake.has_ads && node->awake.boot_id[0] != '\0') {
        ad_set_string(ad, "BootId", node->awake.boot_id);
        ad_set_int(ad, "BootTime", node->awake.boot_s);
    }
    if (node_power(node, &power, &err) == 0) {
        ad_set_string(ad, "PowerMethod", power.method);
    } else {
        ad_set_string(ad, "PowerMethod", "none");
    }
    return ad;
}
