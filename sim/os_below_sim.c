/* sim/os_below_sim.c - base/os/os_below.h for a simulated process.  Simulated file systems have no
 * symbolic links, so the ordinary calls cannot leave the directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_below.h"

#include <errno.h>
#include <stdio.h>

#include "base/err.h"
#include "sim/sim_private.h"

static const char *join_path(const char *root, const char *path, char ret[SIM_PATH_MAX])
{
    int length = snprintf(ret, SIM_PATH_MAX, "%s%s%s", root, path[0] != '\0' ? "/" : "", path);
    return length > 0 && length < SIM_PATH_MAX ? ret : "";
}

int os_below_stat(struct os *os, const char *root, const char *path, struct os_stat *ret)
{
    char full[SIM_PATH_MAX];
    return os_stat(os, join_path(root, path, full), ret);
}

int os_below_open(struct os *os, const char *root, const char *path, enum os_open how, mode_t mode,
                  struct os_file **ret, struct err *err)
{
    char full[SIM_PATH_MAX];
    return os_file_open(os, join_path(root, path, full), how, mode, ret, err);
}

int os_below_mkdirs(struct os *os, const char *root, const char *path, mode_t mode, struct err *err)
{
    char full[SIM_PATH_MAX];
    return os_mkdirs(os, join_path(root, path, full), mode, err);
}

int os_below_list(struct os *os, const char *root, const char *path,
                  void (*each)(void *arg, const char *name), void *arg, struct err *err)
{
    char full[SIM_PATH_MAX];
    return os_list(os, join_path(root, path, full), each, arg, err);
}

int os_below_link(struct os *os, const char *root, const char *path, const char *target,
                  struct err *err)
{
    (void)os;
    (void)target;
    return err_set(err, -EPERM, "%s/%s: there are no links here", root, path);
}

int os_below_read_link(struct os *os, const char *root, const char *path, char *ret, size_t size)
{
    (void)os;
    (void)root;
    (void)path;
    (void)ret;
    (void)size;
    return -EINVAL;
}

int os_below_remove(struct os *os, const char *root, const char *path, struct err *err)
{
    char full[SIM_PATH_MAX];
    return os_remove(os, join_path(root, path, full), err);
}

int os_below_rename(struct os *os, const char *from_root, const char *from, const char *to_root,
                    const char *to, struct err *err)
{
    char full_from[SIM_PATH_MAX], full_to[SIM_PATH_MAX];
    return os_rename(os, join_path(from_root, from, full_from), join_path(to_root, to, full_to),
                     false, err);
}

int os_below_chmod(struct os *os, const char *root, const char *path, mode_t mode, struct err *err)
{
    char full[SIM_PATH_MAX];
    return os_chmod(os, join_path(root, path, full), mode, err);
}

int os_below_chown(struct os *os, const char *root, const char *path, uid_t uid, gid_t gid,
                   struct err *err)
{
    char full[SIM_PATH_MAX];
    return os_chown(os, join_path(root, path, full), uid, gid, err);
}

int os_below_sync(struct os *os, const char *root, const char *path, struct err *err)
{
    int code = sim_tree_sync_dirs(os->process->host);
    return code == 0 ? 0 : err_set(err, code, "%s/%s: %s", root, path, err_code_text(code));
}

int os_below_sync_all(struct os *os, const char *root, struct err *err)
{
    int code = sim_tree_sync_dirs(os->process->host);
    if (code == 0) {
        sim_tree_sync_all(os->process->host);
    }
    return code == 0 ? 0 : err_set(err, code, "%s: %s", root, err_code_text(code));
}
