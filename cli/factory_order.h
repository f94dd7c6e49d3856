/* cli/factory_order.h - orders to factories: `roost factory pause` and the like.
 *
 * An order goes to the factory of the site that it names, relayed by the collector
 * (docs/protocol/wire.md, FACTORY_ORDER).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_FACTORY_ORDER_H
#define CLI_FACTORY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct cli;
struct listing;

/* What an order is made of; all borrowed. */
struct factory_order {
    const char *name;   /* of the order: "Pause" */
    struct vec sites;   /* words: SITE or SITE@FACTORY; none: all sites */
    const char *reason; /* NULL: none */
    int64_t count;      /* 0: none */
    int64_t timeout_s;  /* of a step of a test; 0: the factory's */
    bool force;
    bool one_site; /* a word that names the sites of several factories is refused */
};

/* Sends the order for each site, and prints the answers as the listing says.  Returns an exit
 * status: CLI_FAILED if one of them was refused. */
int factory_order_sites(struct cli *cli, const struct listing *listing,
                        const struct factory_order *order);

/* Tests a site by one glidein, and prints each step when it is done.  Returns an exit status:
 * CLI_FAILED if the test has not passed. */
int factory_order_test(struct cli *cli, const struct listing *listing,
                       const struct factory_order *order);

/* Has the log of a glidein fetched, and prints it.  Returns an exit status. */
int factory_order_log(struct cli *cli, const struct listing *listing, const char *glidein);

#endif
