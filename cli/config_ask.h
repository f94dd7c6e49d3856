/* cli/config_ask.h - configurations of other machines: asked for, set, read again, through the
 * relay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CONFIG_ASK_H
#define CLI_CONFIG_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

struct config_peer {
    const char *node;      /* NULL: with no other subsystem than COLLECTOR */
    const char *subsystem; /* NULL: STARTD */
};

/* The knobs and macros whose names fit one of the patterns (none: all), as settings_describe()
 * makes them; release the reply in any case. */
int config_ask_get(struct cli *cli, const struct config_peer *peer, const char *const *patterns,
                   size_t count, struct cli_reply *reply, struct err *err);

/* "KNOB=VALUE", or only the knob to take back what was set; prints what came of it.  An exit
 * status. */
int config_ask_set(struct cli *cli, const struct config_peer *peer, const char *word, bool unset);

/* Has the daemon read its configuration again (subsystem NULL: all of the node); prints what
 * changed.  An exit status. */
int config_ask_reload(struct cli *cli, const struct config_peer *peer);

#endif
