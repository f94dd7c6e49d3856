/* cli/pool_files.c - finds the nodes and processes of a personal pool by its configuration and lock
 * files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
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

pid_t cli_lock_holder(struct cli *cli, const char *lock_dir, const char *name)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/%s.lock", lock_dir, name);
    return os_lock_holder(cli->os, path);
}
