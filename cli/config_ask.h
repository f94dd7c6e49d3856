/* cli/config_ask.h - reads and sets the configuration of daemons on other machines, relayed by the
 * collector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CONFIG_ASK_H
#define CLI_CONFIG_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/cli.h"

struct config_peer {
    const char *node;      /* name of the daemon's machine; NULL only when subsystem is COLLECTOR */
    const char *subsystem; /* kind of daemon, such as SCHEDD; NULL: STARTD */
};

/* Gets the knobs and macros whose names match one of the patterns (no patterns: all).  The
 * reply has one ad for each: Name, IsKnob, Value, Layer, File, Line, Written, Help.  Release the
 * reply in any case. */
int config_ask_get(struct cli *cli, const struct config_peer *peer, const char *const *patterns,
                   size_t count, struct cli_reply *reply, struct err *err);

/* Sets a knob (word "KNOB=VALUE") or, with unset, takes the setting of a knob back (word "KNOB");
 * prints the result. Returns an exit status. */
int config_ask_set(struct cli *cli, const struct config_peer *peer, const char *word, bool unset);

/* Makes the daemon read its configuration again (subsystem NULL: all daemons of the node); prints
 * what changed.  Returns an exit status. */
int config_ask_reload(struct cli *cli, const struct config_peer *peer);

#endif
