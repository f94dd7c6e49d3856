/* cli/rooster_ask.h - where the pool's rooster is, and what it says of machines.
 *
 * It is asked through the collector, to whose uplink its ad points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ROOSTER_ASK_H
#define CLI_ROOSTER_ASK_H

#include "wire/wire.h"

struct cli;
struct cli_reply;
struct err;

struct rooster_ask {
    char uplink[WIRE_NAME_MAX + 1];
};

/* Of the caller's pool.  -ENOENT: it has none now. */
int rooster_ask_find(struct cli *cli, struct rooster_ask *ret, struct err *err);

/* Its nodes, all of them.  Release the reply in any case. */
int rooster_ask_nodes(struct cli *cli, const struct rooster_ask *rooster, struct cli_reply *reply,
                      struct err *err);

/* The newest `limit` records of its ledger that are of that machine.  Release as above. */
int rooster_ask_records(struct cli *cli, const struct rooster_ask *rooster, const char *machine,
                        int limit, struct cli_reply *reply, struct err *err);

#endif
