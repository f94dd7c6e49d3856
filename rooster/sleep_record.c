/* rooster/sleep_record.c - records a sleep under way, and its end, in the ledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/sleep_record.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/clock.h"
#include "rooster/ledger.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "rooster/ways.h"

static void record_why(struct node *node, const char *outcome, const char *reason,
                       void (*done)(void *arg))
{
    struct power_node power = {0};
    (void)node_power(node, &power, NULL); /* else without a method */
    const struct ledger_record record = {.id = node->sleep.id,
                                         .kind = "Sleep",
                                         .machine = node->name,
                                         .asked_by = ASKED_BY_STARTD,
                                         .method = power.method != NULL ? power.method : "none",
                                         .outcome = outcome,
                                         .reason = reason,
                                         .boot_id = node->asleep.boot_id,
                                         .differed = past_differed(&node->history.past),
                                         .began_s = node->sleep.began_s};
    ledger_put(node->rooster->ledger, &record, done, node);
}

void sleep_record_put(struct node *node, const char *outcome, void (*done)(void *node))
{
    record_why(node, outcome, node->reason, done);
}

void sleep_record_end(struct node *node, const char *outcome)
{
    if (node->sleep.id[0] != '\0') {
        sleep_record_put(node, outcome, NULL);
        bool is_asleep = strcmp(outcome, "Asleep") == 0;
        (void)snprintf(node->sleep.past_id, sizeof node->sleep.past_id, "%s",
                       is_asleep ? node->sleep.id : "");
        node->sleep.id[0] = '\0';
    }
}

int64_t sleep_record_down_max_s(const struct node *node)
{
    return node->state == WAKE_GOING_DOWN && node->sleep.is_shown ? node->sleep.down_max_s : 0;
}

bool sleep_record_is_in(const struct node *node, const struct ad *ad)
{
    return ad_int_or(ad, "PowerDownSeconds", 0) == sleep_record_down_max_s(node);
}

void sleep_record_over(struct node *node)
{
    if (node->state == WAKE_GOING_DOWN && node->ordering) {
        power_sleep_cancel(node->rooster->power, node);
    }
    node->sleep.order = 0;
    node->sleep.is_over = node->sleep.is_resumed = false;
    sleep_record_end(node, "Failed");
}

void sleep_record_settled(struct node *node)
{
    sleep_record_end(node, "Asleep");
}

void sleep_record_granted(struct node *node, const char *level, const char *reason,
                          void (*done)(void *node))
{
    if (node->sleep.id[0] == '\0') {
        ledger_new_id(node->rooster->ledger, node->sleep.id);
    }
    node->sleep.began_s = rooster_now_s(node->rooster);
    node->sleep.is_resumed = false;
    (void)snprintf(node->sleep.level, sizeof node->sleep.level, "%s", level);
    record_why(node, "Started", reason, done);
}

void sleep_record_resume(struct node *node, const struct ad *ad)
{
    (void)snprintf(node->sleep.id, sizeof node->sleep.id, "%s", ad_string_or(ad, "WakeId", ""));
    node->sleep.began_s = ad_int_or(ad, "StartTime", 0);
    node->sleep.is_resumed = true;
}
