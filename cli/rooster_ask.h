/* cli/rooster_ask.h - finds the pool's rooster and asks it about machines.
 *
 * The requests are relayed by the collector to the uplink that the rooster's ad names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ROOSTER_ASK_H
#define CLI_ROOSTER_ASK_H

#include <stdbool.h>

#include "wire/wire.h"

struct ad;
struct cli;
struct cli_reply;
struct err;

struct rooster_ask {
    char uplink[WIRE_NAME_MAX + 1];
    bool is_silent; /* the pool has a rooster, which does not respond */
};

/* Finds the rooster of the caller's pool.  Returns 0; -ENOENT when the pool has none now; within
 * seconds -ETIMEDOUT, with its name in err, when it does not respond. */
int rooster_ask_find(struct cli *cli, struct rooster_ask *ret, struct err *err);

/* Gets the ads of all nodes that the rooster manages.  Release the reply in any case. */
int rooster_ask_nodes(struct cli *cli, const struct rooster_ask *rooster, struct cli_reply *reply,
                      struct err *err);

/* Returns the ad of a node from the reply of rooster_ask_nodes(); NULL: the rooster does not know
 * such a node. */
const struct ad *rooster_ask_node(const struct cli_reply *reply, const char *node);

/* Gets the newest `limit` records about one machine from the rooster's ledger.  Release the reply
 * in any case. */
int rooster_ask_records(struct cli *cli, const struct rooster_ask *rooster, const char *machine,
                        int limit, struct cli_reply *reply, struct err *err);

#endif
