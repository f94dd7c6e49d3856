/* cli/classad/cmd_classad.c - `roost classad VERB`: the ClassAd language at the command line.
 *
 * The command reads files and standard input and makes no connections, so it works without a pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "classad/ad.h"
#include "cli/classad/classad_input.h"
#include "cli/classad/classad_tool.h"
#include "cli/cli.h"
#include "cli/listing.h"

int classad_tool_ad(struct cli *cli, const char *path, struct ad **ret, struct err *err)
{
    const struct ad_context context = listing_context(cli);
    struct classad_input *input;
    struct ad_place place;
    bool refused;
    int rc = classad_input_open(path, CLASSAD_GUESS, &context, &input, err);
    if (rc == 0) {
        rc = classad_input_next(input, ret, &place, &refused, err);
        if (rc == 0) {
            rc = err_set(err, -ENOENT, "%s: the file contains no ad", path);
        }
        classad_input_close(input);
    }
    return rc > 0 ? 0 : rc;
}

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
