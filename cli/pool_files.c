/* cli/pool_files.c - finds the machines that the configuration names, and the processes of a
 * personal pool by its lock files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/hostlist.h"
#include "base/node_groups.h"
#include "base/os/os.h"
#include "cli/cli.h"

size_t cli_node_count(const struct cli *cli)
{
    return config_section_count(cli->config, "node");
}

bool cli_node_at(const struct cli *cli, size_t index, struct cli_node *ret)
{
    const struct config_section *section = config_section_at(cli->config, "node", index);
    const char *method = section_string(section, "method");
    if (method == NULL || strcmp(method, "process") != 0 ||
        section_path(section, "config") == NULL || section_path(section, "lock_dir") == NULL) {
        return false;
    }
    *ret = (struct cli_node){.name = section_title(section),
                             .config = section_path(section, "config"),
                             .lock_dir = section_path(section, "lock_dir")};
    return true;
}

static int machines_of(void *arg, const char *name, const char **ret, struct err *err)
{
    struct cli *cli = arg;
    int rc = cli_config(cli, err);
    return rc != 0 ? rc : node_groups_find(cli->config, name, ret, err);
}

struct hostlist_groups cli_groups(struct cli *cli)
{
    return (struct hostlist_groups){.machines_of = machines_of, .arg = cli};
}

pid_t cli_lock_holder(struct cli *cli, const char *lock_dir, const char *name)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/%s.lock", lock_dir, name);
    return os_lock_holder(cli->os, path);
}
