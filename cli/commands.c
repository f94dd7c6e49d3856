/* cli/commands.c - the subcommands: a row for each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "cli/cli.h"

static const struct cli_command INIT = {
    "init", cmd_init, "DIR [--nodes N] [--cpus-per-node C] [--idle SECONDS] [--asleep]",
    "write a complete personal pool below DIR",
    "  --nodes N          nodes, each a process group of this machine (4)\n"
    "  --cpus-per-node C  slots of a node (1)\n"
    "  --idle SECONDS     a node that had nothing to do for so long goes to sleep (5)\n"
    "  --asleep           all nodes are asleep when the pool is started\n"};
static const struct cli_command START = {"start", cmd_start, "",
                                         "start the pool's daemons in the background", NULL};
static const struct cli_command STOP = {"stop", cmd_stop, "",
                                        "stop the pool's daemons, and its nodes", NULL};
static const struct cli_command MASTER = {"master", cmd_master, "",
                                          "run the pool's master in the foreground", NULL};

const struct cli_command *const cli_commands[] = {&INIT, &START, &STOP, &MASTER, NULL};
