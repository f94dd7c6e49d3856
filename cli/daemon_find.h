/* cli/daemon_find.h - finds a daemon of the pool by its ad, for requests that the collector relays
 * to the uplink that the ad names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DAEMON_FIND_H
#define CLI_DAEMON_FIND_H

#include <stdbool.h>

#include "wire/wire.h"

struct cli;
struct err;

/* What is looked for. */
struct daemon_find {
    const char *type;   /* MyType of its ad */
    const char *uplink; /* the attribute of its ad that has its uplink */
    const char *word;   /* what it is called in messages: "rooster" */
    const char *knob;   /* what it is called in DAEMON_LIST */
    const char *name;   /* NULL: any of the type */
};

/* Finds the daemon in the caller's pool, and copies the name of its uplink to ret.  Returns 0;
 * -ENOENT when the pool has none now; within seconds -ETIMEDOUT, with its name in err, when it does
 * not respond: then *is_silent is true, else false. */
int daemon_find(struct cli *cli, const struct daemon_find *what, char ret[WIRE_NAME_MAX + 1],
                bool *is_silent, struct err *err);

#endif
