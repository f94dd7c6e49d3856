/* cli/accounts.c - see accounts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/accounts.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"

int accounts_find(struct cli *cli, struct accounts_negotiator *ret, struct err *err)
{
    struct listing one = {.limit = 1};
    struct cli_reply reply = {0};
    int rc = listing_query(cli, cli->collector, NULL, "Negotiator", &one, NULL, NULL, &reply, err);
    if (rc == 0) {
        const char *name = reply.ads.count > 0 ? ad_string_or(reply.ads.items[0], "Name", "") : "";
        int length = snprintf(ret->uplink, sizeof ret->uplink, "negotiator/%s", name);
        if (name[0] == '\0' || (size_t)length >= sizeof ret->uplink) {
            rc = err_set(err, -ENOENT,
                         "the pool has no negotiator now; check that NEGOTIATOR is in DAEMON_LIST "
                         "and running");
        }
    }
    cli_reply_fini(&reply);
    return rc;
}

int accounts_query(struct cli *cli, const struct listing *listing, struct cli_reply *reply,
                   struct err *err)
{
    static const char TYPE[] = "Accounting";
    struct accounts_negotiator negotiator;
    *reply = (struct cli_reply){0};
    int rc = accounts_find(cli, &negotiator, err);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->collector, negotiator.uplink, TYPE, listing, NULL, NULL,
                                 reply, err);
    if (rc != 0) {
        struct err second;
        cli_reply_fini(reply);
        *reply = (struct cli_reply){0};
        if (listing_query(cli, cli->collector, NULL, TYPE, listing, NULL, NULL, reply, &second) ==
                0 &&
            reply->ads.count > 0) {
            rc = 0;
        }
    }
    return rc;
}
