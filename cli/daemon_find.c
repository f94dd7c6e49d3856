/* cli/daemon_find.c - see daemon_find.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/daemon_find.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "offline_ads/offline_ads.h"

/* A daemon that works answers a PING at once, also one that has much to do. */
#define PING_MS 5000

/* Returns 0, or -ETIMEDOUT when the daemon does not respond: the collector has marked its ad, or it
 * does not answer a PING. */
static int check_responds(struct cli *cli, const struct daemon_find *what, const struct ad *ad,
                          const char *uplink, struct err *err)
{
    const struct wire_body body = {.args = NULL};
    int64_t since_s = ad_int_or(ad, OFFLINE_ADS_SILENT, 0);
    const char *name = ad_string_or(ad, "Name", uplink);
    struct cli_reply reply = {0};
    char since[TEXT_UTC_MAX];
    if (since_s > 0) {
        text_utc_s(since_s, since);
        return err_set(err, -ETIMEDOUT, "the %s %.200s does not respond since %s", what->word, name,
                       since);
    }
    int rc = cli_call(cli, cli->collector, uplink, VERB_PING, &body, PING_MS, &reply, NULL);
    cli_reply_fini(&reply);
    return rc == -ETIMEDOUT ? err_set(err, rc, "the %s %.200s does not respond", what->word, name)
                            : 0;
}

static int not_there(const struct daemon_find *what, struct err *err)
{
    return what->name == NULL
               ? err_set(err, -ENOENT,
                         "the pool has no %s now; check that %s is in DAEMON_LIST and running",
                         what->word, what->knob)
               : err_set(err, -ENOENT,
                         "the pool has no %s %.100s now; check that %s is in its DAEMON_LIST and "
                         "running",
                         what->word, what->name, what->knob);
}

/* Limits the listing to the ad of that name. */
static void add_name(struct listing *listing, const char *name)
{
    struct ad *named = ad_create();
    struct strbuf only;
    strbuf_init(&only, 0);
    ad_set_string(named, "Name", name); /* quoted as it must be */
    strbuf_puts(&only, "Name == ");
    ad_expr_print(ad_lookup(named, "Name"), AD_OLD, &only);
    listing_also(listing, strbuf_text(&only));
    strbuf_fini(&only);
    ad_destroy(named);
}

int daemon_find(struct cli *cli, const struct daemon_find *what, char ret[WIRE_NAME_MAX + 1],
                bool *is_silent, struct err *err)
{
    struct listing one = {.limit = 1};
    struct cli_reply reply = {0};
    *is_silent = false;
    if (what->name != NULL) {
        add_name(&one, what->name);
    }
    int rc = cli_collector(cli, err);
    rc = rc != 0
             ? rc
             : listing_query(cli, cli->collector, NULL, what->type, &one, NULL, NULL, &reply, err);
    if (rc == 0) {
        const char *uplink =
            reply.ads.count > 0 ? ad_string_or(reply.ads.items[0], what->uplink, "") : "";
        rc = uplink[0] == '\0' ? not_there(what, err) : 0;
        (void)snprintf(ret, WIRE_NAME_MAX + 1, "%s", uplink);
        rc = rc != 0 ? rc : check_responds(cli, what, reply.ads.items[0], ret, err);
        *is_silent = rc == -ETIMEDOUT;
    }
    cli_reply_fini(&reply);
    listing_fini(&one);
    return rc;
}
