/* base/os/os_below_linux.c - see os_below.h.
 *
 * Design note: openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS) would do the walk in one call, but
 * the pilot runs on kernels that are older; a walk costs one openat(O_PATH) for each directory on
 * the way.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_linux.h"
#include "base/vec.h"

#define NAME_BYTES_MAX 256 /* most bytes of one name in a path, with the terminating zero */

static int below_err(struct err *err, int code, const char *root, const char *path)
{
    const char *between = strcmp(root, "/") == 0 ? "" : "/";
    return err_set(err, code, "%s%s%s: %s", root, between, path, err_code_text(code));
}

/* Copies the next name of *at into name.  1; 0: no name is left; or -errno. */
static int next_name(const char **at, char name[NAME_BYTES_MAX])
{
    size_t length = strcspn(*at, "/");
    if (length == 0) {
        return **at == '\0' ? 0 : -EINVAL;
    }
    if (length >= NAME_BYTES_MAX) {
        return -ENAMETOOLONG;
    }
    memcpy(name, *at, length);
    name[length] = '\0';
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return -EINVAL;
    }
    *at += length;
    if (**at == '/') {
        (*at)++;
        return **at != '\0' ? 1 : -EINVAL;
    }
    return 1;
}

static int step_into(int parent, const char *name, bool make, mode_t mode)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    if (fd < 0 && errno == ENOENT && make) {
        if (mkdirat(parent, name, mode) != 0 && errno != EEXIST) {
            return -errno;
        }
        fd = openat(parent, name, flags);
    }
    return fd >= 0 ? fd : -errno;
}

/* Opens the directory that contains the last name of path, and copies that name into name ("" if
 * path is ""). */
static int open_parent(const char *root, const char *path, bool make, mode_t mode,
                       char name[NAME_BYTES_MAX])
{
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    name[0] = '\0';
    for (const char *at = path;;) {
        char next[NAME_BYTES_MAX];
        int more = next_name(&at, next);
        if (more > 0 && name[0] != '\0') {
            int deeper = step_into(fd, name, make, mode);
            close(fd);
            fd = deeper;
        } else if (more < 0) {
            close(fd);
            fd = more;
        }
        if (more <= 0 || fd < 0) {
            return fd;
        }
        memcpy(name, next, sizeof(next));
    }
}

/* Opens the directory at path itself. */
static int open_directory(const char *root, const char *path)
{
    char name[NAME_BYTES_MAX];
    int parent = open_parent(root, path, false, 0, name);
    if (parent < 0) {
        return parent;
    }
    int fd = openat(parent, name[0] != '\0' ? name : ".",
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int code = fd >= 0 ? fd : -errno;
    close(parent);
    return code;
}

int os_below_stat(struct os *os, const char *root, const char *path, struct os_stat *ret)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    struct stat st;
    int parent = open_parent(root, path, false, 0, name);
    if (parent < 0) {
        return parent;
    }
    int code = fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 ? 0 : -errno;
    close(parent);
    if (code == 0) {
        os_stat_set(ret, &st);
    }
    return code;
}

int os_below_open(struct os *os, const char *root, const char *path, enum os_open how, mode_t mode,
                  struct os_file **ret, struct err *err)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    struct stat st;
    int parent = open_parent(root, path, false, 0, name);
    if (parent < 0 || name[0] == '\0') {
        if (parent >= 0) {
            close(parent);
        }
        return below_err(err, parent < 0 ? parent : -EISDIR, root, path);
    }
    int fd = openat(parent, name,
                    os_file_flags(how) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, mode);
    int code = fd >= 0 ? 0 : -errno;
    close(parent);
    if (code == 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        code = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    }
    if (code != 0) {
        return below_err(err, code, root, path);
    }
    *ret = os_file_of(fd);
    return 0;
}

int os_below_mkdirs(struct os *os, const char *root, const char *path, mode_t mode, struct err *err)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    int parent = open_parent(root, path, true, mode, name);
    int code = parent < 0 ? parent : 0;
    if (code == 0 && name[0] != '\0') {
        int fd = step_into(parent, name, true, mode);
        code = fd < 0 ? fd : 0;
        if (fd >= 0) {
            close(fd);
        }
    }
    if (parent >= 0) {
        close(parent);
    }
    return code == 0 ? 0 : below_err(err, code, root, path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int os_below_list(struct os *os, const char *root, const char *path,
                  void (*each)(void *arg, const char *name), void *arg, struct err *err)
{
    (void)os;
    int fd = open_directory(root, path);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL) {
        int code = fd < 0 ? fd : -errno;
        if (fd >= 0) {
            close(fd);
        }
        return below_err(err, code, root, path);
    }
    struct vec names = {0};
    struct dirent *entry;
    while ((errno = 0, entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            vec_push(&names, mem_strdup(entry->d_name));
        }
    }
    int code = -errno;
    closedir(directory);
    if (code == 0 && names.count > 0) {
        qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
        for (size_t i = 0; i < names.count; i++) {
            each(arg, names.items[i]);
        }
    }
    vec_fini(&names, mem_free);
    return code == 0 ? 0 : below_err(err, code, root, path);
}

int os_below_link(struct os *os, const char *root, const char *path, const char *target,
                  struct err *err)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    int parent = open_parent(root, path, false, 0, name);
    int code = parent < 0 ? parent : 0;
    if (code == 0 && symlinkat(target, parent, name) != 0) {
        code = -errno;
        if (code == -EEXIST) {
            code =
                unlinkat(parent, name, 0) == 0 && symlinkat(target, parent, name) == 0 ? 0 : -errno;
        }
    }
    if (parent >= 0) {
        close(parent);
    }
    return code == 0 ? 0 : below_err(err, code, root, path);
}

int os_below_read_link(struct os *os, const char *root, const char *path, char *ret, size_t size)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    int parent = open_parent(root, path, false, 0, name);
    if (parent < 0) {
        return parent;
    }
    ssize_t length = readlinkat(parent, name, ret, size);
    int code = length < 0 ? -errno : (size_t)length >= size ? -ENAMETOOLONG : 0;
    close(parent);
    if (code == 0) {
        ret[length] = '\0';
    }
    return code;
}

int os_below_remove(struct os *os, const char *root, const char *path, struct err *err)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    int parent = open_parent(root, path, false, 0, name);
    int code = parent < 0 ? parent : 0;
    if (code == 0 && unlinkat(parent, name, 0) != 0) {
        code = errno == EISDIR && unlinkat(parent, name, AT_REMOVEDIR) == 0 ? 0 : -errno;
    }
    if (parent >= 0) {
        close(parent);
    }
    return code == 0 || code == -ENOENT ? 0 : below_err(err, code, root, path);
}

int os_below_rename(struct os *os, const char *from_root, const char *from, const char *to_root,
                    const char *to, struct err *err)
{
    (void)os;
    char from_name[NAME_BYTES_MAX], to_name[NAME_BYTES_MAX];
    int from_parent = open_parent(from_root, from, false, 0, from_name);
    if (from_parent < 0) {
        return below_err(err, from_parent, from_root, from);
    }
    int to_parent = open_parent(to_root, to, false, 0, to_name);
    int code = to_parent < 0 ? to_parent : 0;
    if (code == 0 && renameat(from_parent, from_name, to_parent, to_name) != 0) {
        code = -errno;
    }
    close(from_parent);
    if (to_parent >= 0) {
        close(to_parent);
    }
    return code == 0 ? 0 : below_err(err, code, to_root, to);
}

int os_below_chmod(struct os *os, const char *root, const char *path, mode_t mode, struct err *err)
{
    (void)os;
    char name[NAME_BYTES_MAX], proc[64];
    int parent = open_parent(root, path, false, 0, name);
    int fd = parent;
    if (parent >= 0 && name[0] != '\0') {
        fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        fd = fd >= 0 ? fd : -errno;
        close(parent);
    }
    int code = fd < 0 ? fd : 0;
    if (code == 0) {
        struct stat
            st; /* of a link there is nothing to change, and /proc would lead to its target */
        (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
        code = fstat(fd, &st) != 0      ? -errno
               : S_ISLNK(st.st_mode)    ? -ELOOP
               : chmod(proc, mode) != 0 ? -errno
                                        : 0;
        close(fd);
    }
    return code == 0 ? 0 : below_err(err, code, root, path);
}

int os_below_chown(struct os *os, const char *root, const char *path, uid_t uid, gid_t gid,
                   struct err *err)
{
    (void)os;
    char name[NAME_BYTES_MAX];
    int parent = open_parent(root, path, false, 0, name);
    int code = parent < 0 ? parent : 0;
    if (code == 0 && fchownat(parent, name, uid, gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0) {
        code = -errno;
    }
    if (parent >= 0) {
        close(parent);
    }
    return code == 0 ? 0 : below_err(err, code, root, path);
}

int os_below_sync(struct os *os, const char *root, const char *path, struct err *err)
{
    (void)os;
    int fd = open_directory(root, path);
    int code = fd < 0 ? fd : fsync(fd) != 0 ? -errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return code == 0 ? 0 : below_err(err, code, root, path);
}

int os_below_sync_all(struct os *os, const char *root, struct err *err)
{
    (void)os;
    int fd = open_directory(root, "");
    int code = fd < 0 ? fd : syncfs(fd) != 0 ? -errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return code == 0 ? 0 : below_err(err, code, root, "");
}
