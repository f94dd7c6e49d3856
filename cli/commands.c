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

static const struct cli_command SUBMIT = {
    "submit", cmd_submit,
    "[FILE|-] [NAME=VALUE...] [-append LINE] [-queue ARGS] [--dry-run] [-terse]",
    "put the jobs of a submit file into the queue",
    "  -append LINE   a line to be read before the queue statement\n"
    "  -queue ARGS    a queue statement for a file that has none\n"
    "  --dry-run      print the jobs' ads instead of submitting them\n"
    "  -terse         print only the first and the last job's id\n"};

const struct cli_command *const cli_commands[] = {&INIT, &START, &STOP, &MASTER, &SUBMIT, NULL};
