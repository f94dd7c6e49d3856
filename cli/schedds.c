/* cli/schedds.c - see schedds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/schedds.h"

#include <errno.h>

#include "base/err.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "wire/wire.h"

int schedds_option(struct schedds_wish *wish, struct cli *cli, int *at, struct err *err)
{
    const char *arg = cli->argv[*at];
    if (listing_is(arg, "global", 2)) {
        wish->global = true;
        return 1;
    }
    if (!listing_is(arg, "submitter", 3)) {
        return 0;
    }
    if (*at + 1 >= cli->argc) {
        return err_set(err, -EINVAL, "%s needs the name of a user", arg);
    }
    wish->submitter = cli->argv[++*at];
    return 1;
}

bool schedds_is_one(const struct cli *cli, const struct schedds_wish *wish)
{
    return !wish->global && (wish->submitter == NULL || cli->remote_schedd != NULL);
}

int schedds_find(struct cli *cli, struct vec *ads, struct err *err)
{
    struct listing all = {0};
    struct cli_reply reply = {0};
    int rc = cli->remote_pool != NULL ? cli_collector_at(cli, cli->remote_pool, err)
                                      : cli_collector(cli, err);
    if (rc == 0) {
        rc = listing_query(cli, cli->collector, NULL, "Scheduler", &all, NULL, NULL, &reply, err);
    }
    for (size_t i = 0; rc == 0 && i < reply.ads.count; i++) {
        vec_push(ads, reply.ads.items[i]);
        reply.ads.items[i] = NULL; /* ad_destroy() allows it */
    }
    cli_reply_fini(&reply);
    return rc == 0 && ads->count == 0 ? err_set(err, -ENOENT, "the pool has no schedd") : rc;
}

int schedds_dial(struct cli *cli, const struct ad *schedd, struct err *err)
{
    const char *name = ad_string_or(schedd, "Name", "");
    const struct wire_dial how = {.address = ad_string_or(schedd, "MyAddress", ""),
                                  .route = "schedd",
                                  .name = "",
                                  .server = name};
    wire_close(cli->schedd);
    cli->schedd = NULL;
    int rc = how.address[0] == '\0' ? err_set(err, -EINVAL, "the schedd's ad has no MyAddress")
                                    : cli_dial_as(cli, &how, &cli->schedd, err);
    return rc != 0 ? err_prefix(err, rc, "cannot reach the schedd %s", name) : 0;
}
