/* cli/cmd_help.c - `roost help`: the help of commands, and the manual pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/knob.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/help_plan.h"
#include "cli/listing.h"
#include "cli/options_plan.h"
#include "cli/remote.h"

static const char *more_of(const char *command)
{
    return remote_is_for(command) ? remote_help : NULL;
}

static const struct cli_command *find_command(const struct cli *cli, const char *name)
{
    for (size_t i = 0; cli->commands[i] != NULL; i++) {
        if (strcmp(cli->commands[i]->name, name) == 0) {
            return cli->commands[i];
        }
    }
    return NULL;
}

static int no_page(const struct cli *cli, const char *name)
{
    const char *near = options_nearest_command(cli->commands, name);
    return near != NULL
               ? cli_usage(cli, "unknown command '%s'; did you mean `roost %s`?", name, near)
               : cli_usage(cli, "unknown command '%s'; `roost --help` lists all commands", name);
}

static int print_manual(const struct cli *cli, struct strbuf *out)
{
    for (int i = 2; i < cli->argc; i++) {
        if (!help_page(cli->commands, knob_tables, more_of, cli->argv[i], out)) {
            return no_page(cli, cli->argv[i]);
        }
    }
    struct vec names = {0};
    help_pages(cli->commands, &names);
    for (size_t i = 0; cli->argc == 2 && i < names.count; i++) {
        strbuf_printf(out, "%s\n", (const char *)names.items[i]);
    }
    vec_fini(&names, mem_free);
    return CLI_OK;
}

int cmd_help(struct cli *cli)
{
    struct strbuf out;
    int status = CLI_OK;
    strbuf_init(&out, 0);
    if (cli->argc > 1 && strcmp(cli->argv[1], "--man") == 0) {
        status = print_manual(cli, &out);
    } else if (cli->argc < 2) {
        help_summary(cli->commands, &out);
    }
    for (int i = 1; i < cli->argc && out.length == 0 && status == CLI_OK; i++) {
        const struct cli_command *command = find_command(cli, cli->argv[i]);
        if (command == NULL) {
            status = no_page(cli, cli->argv[i]);
        } else {
            help_command(command, more_of(command->name), &out);
        }
    }
    if (status == CLI_OK) {
        return listing_write(cli, &out);
    }
    strbuf_fini(&out);
    return status;
}
