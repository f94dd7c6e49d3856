/* rooster/silence.c - what becomes of a machine that does not respond.
 *
 * A PC whose power was cut, or whose owner held its button down, leaves no offline ads, and would
 * be lost to the pool when its ads end.  The collector marks its ads as not responding within
 * seconds.  From then on its power method is asked for its state, again and again:
 *
 *   off: its live ads are turned into offline ads, so that jobs wake it.
 *   no method can tell (Wake-on-LAN alone): the same, after ROOSTER_ASSUME_ASLEEP.  A magic packet
 *     does no harm to a machine that is on, and one that does not come is put into quarantine as
 *     always.
 *   on, or the method does not answer: after ROOSTER_ASSUME_ASLEEP its live ads are turned into
 *     offline ads that keep the mark.  They last longer than live ads, so that the machine is not
 *     forgotten; it is Unknown, and jobs wake it only when its method says that it is off.
 *
 * The machine's next live ad, of whatever boot, ends all that.
 *
 * The collector turns the ads into offline ads, and only while they are marked and their uplink is
 * gone: a machine that is heard again in the same moment is never taken for asleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/silence.h"

#include <errno.h>
#include <stdio.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/plant.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "power/power.h"
#include "rooster/clock.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/ticket.h"
#include "rooster/ways.h"
#include "wire/wire.h"

/* The pause between two questions: at first short, because most machines that went without a word
 * were just switched off. */
#define AGAIN_MS    5000
#define LATER_MS    30000
#define LATER_S     120
#define PLAUSIBLE_S ((int64_t)24 * 3600) /* a longer silence is believed only as it goes on */
#define TICKET_S    30 /* a machine that is heard again earlier, or is off, needs no administrator */

static void merged(void *arg, struct wire_reply *reply)
{
    const struct node *node = arg;
    if (reply->status != 0 && reply->status != -EBUSY) { /* busy: its uplink has not ended yet */
        log_info(node->rooster->env.log, "silence.kept", reply->text,
                 LOG_TEXT("machine", node->name), LOG_INT("status", reply->status));
    }
}

/* Has the collector turn the machine's marked ads into offline ads.  is_off false: they keep the
 * mark, and PowerState is Unknown. */
static void take_as_asleep(struct node *node, bool is_off, const char *reason)
{
    struct wire *wire = uplink_wire(node->rooster->uplink);
    if (wire == NULL) {
        return;
    }
    struct ad *change = ad_create();
    const struct ad *ads[1] = {change};
    ad_set_bool(change, "Offline", true);
    ad_set_string(change, "PowerState", is_off ? "Off" : "Unknown");
    ad_set_string(change, "PowerStateReason", reason);
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct seen *seen = node->ads.items[i];
        if (!offline_ads_is_silent(seen->ad) || (!is_off && offline_ads_is(seen->ad))) {
            continue;
        }
        struct ad *args = ad_create();
        ad_set_string(args, "Type", "Machine");
        ad_set_string(args, "Name", seen->key);
        const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
        (void)wire_call(wire, VERB_MERGE, &body, 0, merged, node); /* else: the next time */
        ad_destroy(args);
    }
    ad_destroy(change);
}

static int64_t age_s(const struct node *node)
{
    return loop_since_s(node->rooster->env.loop, node->silence.since_ms);
}

static bool is_long(const struct node *node)
{
    int64_t assume_s = config_duration_s(node->rooster->env.config, "ROOSTER_ASSUME_ASLEEP");
    return assume_s > 0 && age_s(node) >= assume_s;
}

static void ask_again(struct node *node)
{
    if (age_s(node) >= TICKET_S && !node->silence.told) {
        node->silence.told = true;
        ticket_open_silent(node);
    }
    loop_timer_set(node->silence.timer, age_s(node) < LATER_S ? AGAIN_MS : LATER_MS);
}

static void state_told(void *arg, enum power_state state, const char *text)
{
    struct node *node = arg;
    char reason[ROOSTER_TEXT_MAX];
    node->silence.asking = false;
    if (!node_is_silent(node)) {
        return;
    }
    (void)snprintf(node->silence.says, sizeof node->silence.says, "%s", text);
    if (state == POWER_OFF) {
        (void)snprintf(reason, sizeof reason,
                       "the machine went without a word; its power method says: %.200s", text);
        take_as_asleep(node, true, reason);
        loop_timer_set(node->silence.timer, AGAIN_MS);
        return;
    }
    if (is_long(node)) {
        node_silent_why(node, reason);
        take_as_asleep(node, false, reason);
    }
    ask_again(node);
}

void silence_ask(void *arg)
{
    struct node *node = arg;
    struct power_node power;
    if (!node_is_silent(node) || node->silence.asking || PLANTED(silent_not_asked)) {
        return;
    }
    node->silence.asking = true;
    if (node_ask_state(node, state_told, NULL) == 0) {
        return;
    }
    node->silence.asking = false;
    if (is_long(node) && node_power(node, &power, NULL) == 0) {
        take_as_asleep(node, true,
                       "taken as asleep: nothing was heard of the machine for "
                       "ROOSTER_ASSUME_ASLEEP, and no power method can tell its state");
    }
    ask_again(node);
}

/* The machine is down after all: its offline ads say why. */
static void is_known_again(struct node *node)
{
    node->silence.told = node->silence.was = false;
    node->silence.says[0] = '\0';
    loop_timer_stop(node->silence.timer);
    if (node->asleep.has_ads && !node->awake.has_ads && node->state == WAKE_OFF) {
        node_move(node, WAKE_OFF, ad_string_or(node->asleep.ad, "PowerStateReason", "asleep"));
    }
}

/* The collector's clock may differ from ours, or may have been set since. */
static void note_begin(struct node *node)
{
    int64_t age_s = rooster_since_s(node->rooster, &node->silence.since_s);
    age_s = age_s < 0 || age_s > PLAUSIBLE_S ? 0 : age_s;
    node->silence.since_ms = (int64_t)loop_now_ms(node->rooster->env.loop) - age_s * 1000;
}

void silence_look(struct node *node)
{
    if (!node_is_silent(node)) {
        if (node->silence.was) {
            is_known_again(node);
        }
        return;
    }
    if (!node->silence.was) {
        node->silence.was = true;
        note_begin(node);
    }
    if (!node->silence.asking && !loop_timer_is_set(node->silence.timer)) {
        loop_timer_set(node->silence.timer, 0);
    }
}
