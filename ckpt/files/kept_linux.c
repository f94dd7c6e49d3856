/* ckpt/files/kept_linux.c - decides which of a job's files need not be sent again: see
 * kept_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/kept_linux.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "ckpt/files/mirror_linux.h"
#include "ckpt/image/new_file_linux.h"

#define LIST_MAX ((size_t)512 << 20)

struct writing {
    const char *folder;
    const struct kept_names *names;
    struct strbuf unchanged, kept;
    struct kept_figures figures;
};

/* Returns whether the file is still what the mirror knows, and tar's list can express its name. */
static bool is_plain(const struct writing *writing, const char *path, uint64_t bytes)
{
    char whole[PATH_MAX];
    struct stat stat;
    size_t length = strlen(path);
    return bytes > 0 && strchr(path, '\n') == NULL && !isspace((unsigned char)path[length - 1]) &&
           (size_t)snprintf(whole, sizeof whole, "%s/%s", writing->folder, path) < sizeof whole &&
           lstat(whole, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_nlink == 1 &&
           (uint64_t)stat.st_size == bytes;
}

static bool is_below(const char *path, const char *above)
{
    size_t length = strlen(above);
    return strncmp(path, above, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_archived(const struct kept_names *names, const char *path)
{
    bool archived = true;
    for (size_t i = 0; i < names->without_count; i++) {
        archived = archived && !is_below(path, names->without[i]);
    }
    return archived;
}

static void add_unchanged(void *arg, const char *path, uint64_t bytes)
{
    struct writing *writing = arg;
    for (size_t i = 0; i < writing->names->count; i++) {
        const struct kept_name *name = &writing->names->names[i];
        if (is_below(path, name->name) && is_archived(writing->names, path) &&
            is_plain(writing, path, bytes)) {
            strbuf_printf(&writing->unchanged, "%s\n", path);
            strbuf_printf(&writing->kept, "%s%s", name->as + 1, path + strlen(name->name));
            strbuf_append(&writing->kept, "", 1);
            writing->figures.files++;
            writing->figures.bytes += bytes;
            return;
        }
    }
}

static int write_list(const struct strbuf *list, const char *folder, const char *suffix,
                      struct err *err)
{
    char path[PATH_MAX];
    struct new_file file;
    if (list->failed || (size_t)snprintf(path, sizeof path, "%s%s", folder, suffix) >= PATH_MAX) {
        return err_set(err, -E2BIG, "%s: the list of unchanged files is too long", folder);
    }
    int rc = new_file_open(&file, path, false, err);
    if (rc == 0) {
        rc = new_file_write(file.fd, list->data, list->length, 0);
        rc = rc != 0 ? err_set(err, rc, "%s: %s", path, err_code_text(rc))
                     : new_file_commit(&file, 0600, err);
        new_file_close(&file, false);
    }
    return rc;
}

int kept_write(const struct mirror *mirror, const char *folder, const char *since,
               const struct kept_names *names, struct kept_figures *ret, struct err *err)
{
    struct writing writing = {.folder = folder, .names = names};
    strbuf_init(&writing.unchanged, LIST_MAX);
    strbuf_init(&writing.kept, LIST_MAX);
    mirror_unchanged(mirror, since, add_unchanged, &writing);
    int rc = write_list(&writing.unchanged, folder, ".unchanged", err);
    rc = rc != 0 ? rc : write_list(&writing.kept, folder, ".kept", err);
    *ret = writing.figures;
    strbuf_fini(&writing.unchanged);
    strbuf_fini(&writing.kept);
    return rc;
}
