/* cli/cmd_completion.c - `roost completion`: the script with which a shell completes the command
 * line of `roost`.
 *
 * `make install` puts the script where bash and zsh look for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/completion_plan.h"
#include "cli/listing.h"

int cmd_completion(struct cli *cli)
{
    struct strbuf out;
    if (cli->argc != 2) {
        return cli_usage(cli, "the shell is missing: bash or zsh");
    }
    strbuf_init(&out, 0);
    if (strcmp(cli->argv[1], "bash") == 0) {
        completion_bash(cli->commands, &out);
    } else if (strcmp(cli->argv[1], "zsh") == 0) {
        completion_zsh(cli->commands, &out);
    } else {
        strbuf_fini(&out);
        return cli_usage(cli, "unknown shell '%s'; expected bash or zsh", cli->argv[1]);
    }
    return listing_write(cli, &out);
}
