/* cli/accounts.h - the current accounts of users and groups.
 *
 * The negotiator is asked through the collector.  If that is not possible (the token has only READ,
 * or no negotiator runs), the collector's Accounting ads are used, which are up to a minute old.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ACCOUNTS_H
#define CLI_ACCOUNTS_H

#include "wire/wire.h"

struct cli;
struct cli_reply;
struct err;
struct listing;

struct accounts_negotiator {
    char uplink[WIRE_NAME_MAX + 1];
};

/* Asks the collector that cli is connected to for the negotiator; *ret gets its uplink name.
 * Returns 0; -ENOENT: the pool has no negotiator now; or another -errno. */
int accounts_find(struct cli *cli, struct accounts_negotiator *ret, struct err *err);

/* Gets the Accounting ads that meet the constraints and the limit of the listing.  Release the
 * reply in any case.  If both the negotiator and the collector cannot answer, the error is that of
 * asking the negotiator. */
int accounts_query(struct cli *cli, const struct listing *listing, struct cli_reply *reply,
                   struct err *err);

#endif
