/* cli/closed_dir.c - see closed_dir.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/closed_dir.h"

#include <stdio.h>

#include "base/os/os.h"
#include "cli/cli.h"

#define LOOK_MS 5000

void closed_dir_warn(struct cli *cli, const char *account, const char *dir)
{
    uid_t uid = 0;
    gid_t gid = 0;
    struct os_exit how;
    const char *const argv[] = {"/bin/sh", "-c", "cd \"$0\"", dir, NULL};
    struct os_spawn spec = {.argv = argv, .new_session = true, .change_user = true};
    if (os_uid(cli->os) != 0 || os_user_find(cli->os, account, &uid, &gid, NULL) != 0) {
        return;
    }
    spec.uid = uid;
    spec.gid = gid;
    if (os_run(cli->os, &spec, LOOK_MS, &how, NULL) == 0 && how.status != 0) {
        (void)
            fprintf(stderr,
                    "WARNING: the account %s cannot enter %s: no job of the account will run until "
                    "it can (run chmod 0755 on the closed directories, or use another directory)\n",
                    account, dir);
    }
}
