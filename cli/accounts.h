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

/* Finds the negotiator by the collector that cli is connected to.  Returns 0, or -ENOENT when the
 * pool has no negotiator now. */
int accounts_find(struct cli *cli, struct accounts_negotiator *ret, struct err *err);

/* Gets the Accounting ads that the listing selects.  Release the reply in any case.  On failure the
 * error is that of asking the negotiator, even though the collector was asked next. */
int accounts_query(struct cli *cli, const struct listing *listing, struct cli_reply *reply,
                   struct err *err);

#endif
