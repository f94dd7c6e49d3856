/* cli/cmd_store.c - `roost store`: checks, salvages, exports and imports the file of a daemon that
 * is stopped.
 *
 * The work is done by the program roost-store, because `roost` itself does not load SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int cmd_store(struct cli *cli)
{
    char path[sizeof cli->program_dir + 16];
    (void)snprintf(path, sizeof path, "%s/roost-store", cli->program_dir);
    (void)execv(path, cli->argv);
    return cli_fail(cli, "cannot start %s: %s", path, strerror(errno));
}
