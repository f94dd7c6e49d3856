/* cli/rooster_ask.c - see rooster_ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/rooster_ask.h"

#include <strings.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/daemon_find.h"
#include "cli/listing.h"

int rooster_ask_find(struct cli *cli, struct rooster_ask *ret, struct err *err)
{
    static const struct daemon_find ROOSTER = {.type = "Rooster",
                                               .uplink = "RoosterUplink",
                                               .word = "rooster",
                                               .knob = "ROOSTER"};
    *ret = (struct rooster_ask){.is_silent = false};
    return daemon_find(cli, &ROOSTER, ret->uplink, &ret->is_silent, err);
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
