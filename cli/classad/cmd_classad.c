/* cli/classad/cmd_classad.c - `roost classad VERB`: the ClassAd language at the command line.
 *
 * The command reads files and standard input and makes no connections, so it works without a pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cli/classad/classad_tool.h"
#include "cli/cli.h"

int cmd_classad(struct cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *cli);
    } VERBS[] = {{"eval", classad_tool_eval},
                 {"unparse", classad_tool_eval},
                 {"match", classad_tool_match},
                 {"convert", classad_tool_convert},
                 {"check", classad_tool_check}};
    for (size_t i = 0; cli->argc > 1 && i < sizeof VERBS / sizeof VERBS[0]; i++) {
        if (strcmp(cli->argv[1], VERBS[i].name) == 0) {
            return VERBS[i].run(cli);
        }
    }
    return cli->argc > 1 ? cli_usage(cli, "unknown action '%s'", cli->argv[1])
                         : cli_usage(cli, "the action is missing");
}
