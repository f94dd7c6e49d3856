/* cli/power_keep.c - see power_keep.h.
 *
 * Only the startd can promise that its machine stays up.  So a machine that is asleep is not kept,
 * but one that is being woken is waited for: `roost power on` returns when the order is given.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/power_keep.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/rooster_ask.h"
#include "wire/verbs.h"
#include "wire/wire.h"

#define LOOK_MS 1000

bool power_keep_is_asleep(struct cli *cli, const char *node)
{
    struct listing offline = {.limit = 1};
    struct cli_reply reply;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "Offline =?= true && Machine == \"%s\"", node);
    listing_also(&offline, strbuf_text(&text));
    strbuf_fini(&text);
    bool found = listing_query(cli, cli->collector, NULL, "Machine", &offline, NULL, NULL, &reply,
                               NULL) == 0 &&
                 reply.ads.count > 0;
    cli_reply_fini(&reply);
    listing_fini(&offline);
    return found;
}

/* Returns whether the rooster is waking the machine, or is about to because of an order. */
static bool is_being_woken(struct cli *cli, const char *node)
{
    struct rooster_ask rooster;
    struct cli_reply reply = {0};
    struct err err;
    bool is_told = rooster_ask_find(cli, &rooster, &err) == 0 &&
                   rooster_ask_nodes(cli, &rooster, &reply, &err) == 0;
    const struct ad *ad = is_told ? rooster_ask_node(&reply, node) : NULL;
    bool is_woken = ad != NULL && (strcmp(ad_string_or(ad, "PowerState", ""), "Waking") == 0 ||
                                   ad_has(ad, "WakeOrderedBy"));
    cli_reply_fini(&reply);
    return is_woken;
}

static int send_keep(struct cli *cli, const char *node, const struct ad *args, struct err *err)
{
    struct cli_reply reply = {0};
    char uplink[WIRE_NAME_MAX + 1];
    (void)snprintf(uplink, sizeof uplink, "startd/%s", node);
    const struct wire_body body = {.args = args};
    int rc = cli_call(cli, cli->collector, uplink, VERB_POWER_KEEP, &body, 0, &reply, err);
    cli_reply_fini(&reply);
    return rc;
}

/* Sends the request, again and again while the machine is being woken. */
static int send_keep_when_up(struct cli *cli, const char *node, const struct ad *args,
                             struct err *err)
{
    int rc = send_keep(cli, node, args, err);
    bool has_waited = false;
    while (rc == -EHOSTUNREACH && is_being_woken(cli, node)) {
        if (!has_waited) {
            (void)printf("%s is being woken; waiting until it is up\n", node);
            (void)fflush(stdout);
        }
        has_waited = true;
        cli_pause(cli, LOOK_MS);
        rc = send_keep(cli, node, args, err);
    }
    /* It may have come up between the two questions. */
    return has_waited && rc == -EHOSTUNREACH ? send_keep(cli, node, args, err) : rc;
}

int power_keep_up(struct cli *cli, const char *node, int64_t until_s, const char *reason)
{
    struct ad *args = ad_create();
    struct err err;
    ad_set_int(args, "Until", until_s);
    if (reason != NULL) {
        ad_set_string(args, "Reason", reason);
    }
    int rc = send_keep_when_up(cli, node, args, &err);
    ad_destroy(args);
    if (rc == -EHOSTUNREACH && power_keep_is_asleep(cli, node)) {
        return cli_fail(cli, "%s is asleep; run `roost power on %s` first", node, node);
    }
    if (rc == -EHOSTUNREACH) {
        return cli_fail(cli, "%s is not connected to the collector", node);
    }
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    char text[TEXT_UTC_MAX];
    text_utc_s(until_s, text);
    if (until_s > 0) {
        (void)printf("%s stays up until %s\n", node, text);
    } else {
        (void)printf("%s is no longer kept up\n", node);
    }
    return CLI_OK;
}
