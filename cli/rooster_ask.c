/* cli/rooster_ask.c - see rooster_ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/rooster_ask.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "offline_ads/offline_ads.h"

/* A rooster that works answers a PING at once, also one that has much to do. */
#define PING_MS 5000

/* Returns 0, or -ETIMEDOUT when the rooster does not respond: the collector has marked its ad, or
 * it does not answer a PING. */
static int check_responds(struct cli *cli, const struct ad *ad, const char *uplink, struct err *err)
{
    const struct wire_body body = {.args = NULL};
    int64_t since_s = ad_int_or(ad, OFFLINE_ADS_SILENT, 0);
    const char *name = ad_string_or(ad, "Name", uplink);
    struct cli_reply reply = {0};
    char since[TEXT_UTC_MAX];
    if (since_s > 0) {
        text_utc_s(since_s, since);
        return err_set(err, -ETIMEDOUT, "the rooster %.200s does not respond since %s", name,
                       since);
    }
    int rc = cli_call(cli, cli->collector, uplink, VERB_PING, &body, PING_MS, &reply, NULL);
    cli_reply_fini(&reply);
    return rc == -ETIMEDOUT ? err_set(err, rc, "the rooster %.200s does not respond", name) : 0;
}

int rooster_ask_find(struct cli *cli, struct rooster_ask *ret, struct err *err)
{
    const struct listing one = {.limit = 1};
    struct cli_reply reply = {0};
    *ret = (struct rooster_ask){.is_silent = false};
    int rc = cli_collector(cli, err);
    rc = rc != 0
             ? rc
             : listing_query(cli, cli->collector, NULL, "Rooster", &one, NULL, NULL, &reply, err);
    if (rc == 0) {
        const char *uplink =
            reply.ads.count > 0 ? ad_string_or(reply.ads.items[0], "RoosterUplink", "") : "";
        if (uplink[0] == '\0') {
            rc = err_set(
                err, -ENOENT,
                "the pool has no rooster now; check that ROOSTER is in DAEMON_LIST and running");
        }
        (void)snprintf(ret->uplink, sizeof ret->uplink, "%s", uplink);
        rc = rc != 0 ? rc : check_responds(cli, reply.ads.items[0], ret->uplink, err);
        ret->is_silent = rc == -ETIMEDOUT;
    }
    cli_reply_fini(&reply);
    return rc;
}

int rooster_ask_nodes(struct cli *cli, const struct rooster_ask *rooster, struct cli_reply *reply,
                      struct err *err)
{
    const struct wire_body body = {.args = NULL};
    return cli_call(cli, cli->collector, rooster->uplink, VERB_POWER_STATUS, &body, 0, reply, err);
}

const struct ad *rooster_ask_node(const struct cli_reply *reply, const char *node)
{
    for (size_t i = 0; i < reply->ads.count; i++) {
        if (strcasecmp(ad_string_or(reply->ads.items[i], "Name", ""), node) == 0) {
            return reply->ads.items[i];
        }
    }
    return NULL;
}

int rooster_ask_records(struct cli *cli, const struct rooster_ask *rooster, const char *machine,
                        int limit, struct cli_reply *reply, struct err *err)
{
    struct listing listing = {.limit = limit};
    struct ad *named = ad_create();
    struct strbuf only;
    strbuf_init(&only, 0);
    ad_set_string(named, "Machine", machine); /* quoted as it must be */
    strbuf_puts(&only, "Machine == ");
    ad_expr_print(ad_lookup(named, "Machine"), AD_OLD, &only);
    listing_also(&listing, strbuf_text(&only));
    int rc = listing_query(cli, cli->collector, rooster->uplink, "Wake", &listing, NULL, NULL,
                           reply, err);
    strbuf_fini(&only);
    ad_destroy(named);
    listing_fini(&listing);
    return rc;
}
