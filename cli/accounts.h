/* cli/accounts.h - the accounts of users and groups, as they are now.
 *
 * The negotiator is asked, through the collector; who may not have that carried there (a token with
 * READ only), or while no negotiator runs, gets the Accounting ads of the collector, which are up
 * to a minute old.
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

/* Of the collector that cli is connected to.  -ENOENT: the pool has none now. */
int accounts_find(struct cli *cli, struct accounts_negotiator *ret, struct err *err);

/* The Accounting ads that the listing chooses.  Release the reply in any case.  Errors: those of
 * asking the negotiator, when the collector has no such ads either. */
int accounts_query(struct cli *cli, const struct listing *listing, struct cli_reply *reply,
                   struct err *err);

#endif
