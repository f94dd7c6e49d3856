/* rooster/ticket.c - tells an administrator that a machine needs attention.
 *
 * Runs ROOSTER_TICKET_CMD with the machine's name as its last argument and an ad that describes the
 * trouble on standard input.  Once for each trouble: when a machine is put into quarantine for the
 * first time in a row, when it fell asleep again at once ROOSTER_WAKE_ATTEMPTS times, when it
 * joined with less than it promised, when it has not responded for a while and is not off. power/'s
 * method `command` runs the program, with its deadline and its quoting, as for programs that switch
 * machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/ticket.h"

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"

#define TICKET_TEXT_MAX 65536 /* most bytes of the text, without the terminating zero */

static void ticket_ended(void *arg, int status, const char *text)
{
    const struct node *node = arg;
    struct log *log = node->rooster->env.log;
    if (status == 0) {
        log_info(log, "ticket.opened", text, LOG_TEXT("machine", node->name));
    } else {
        log_error(log, "ticket.failed", text, LOG_TEXT("machine", node->name));
    }
}

static void describe_node(const struct node *node, const char *fault, struct strbuf *text)
{
    struct ad *ad = node_to_ad(node);
    ad_set_string(ad, "MyType", "Ticket");
    ad_set_string(ad, "Fault", fault != NULL ? fault : "");
    if (node_is_silent(node)) {
        (void)ad_copy_attr(ad, "Reason", ad, "PowerStateReason"); /* it is there */
    } else {
        ad_set_string(ad, "Reason", node->reason);
    }
    ad_set_string(ad, "AskedBy", node->asked.by);
    ad_set_string(ad, "WakeId", node->history.last.wake_id);
    ad_set_int(ad, "Attempts", node->history.last.attempts);
    ad_set_int(ad, "StartTime", node->history.last.wake_s);
    ad_print_long(ad, text);
    ad_destroy(ad);
}

static void open_for(struct node *node, const char *fault)
{
    struct rooster *rooster = node->rooster;
    const char *command = config_string(rooster->env.config, "ROOSTER_TICKET_CMD");
    struct strbuf text;
    struct err err;
    if (command == NULL || command[0] == '\0') {
        return;
    }
    strbuf_init(&text, TICKET_TEXT_MAX);
    describe_node(node, fault, &text);
    const struct power_node power = {.name = node->name,
                                     .method = "command",
                                     .wake_command = command,
                                     .ad_text = text.failed ? NULL : strbuf_text(&text)};
    if (power_wake(rooster->power, &power, ticket_ended, node, &err) != 0) {
        log_error(rooster->env.log, "ticket.failed", err.text, LOG_TEXT("machine", node->name));
    }
    strbuf_fini(&text);
}

void ticket_open(struct node *node)
{
    open_for(node, node->wake.fault);
}

void ticket_open_silent(struct node *node)
{
    open_for(node, "NotResponding");
}
