/* transfer/transfer_walk.c - see transfer_walk.h.
 *
 * Design note: listing a directory and reading its files are two steps, and the job or user that
 * made the files may change them in between.  So the list only decides which files to ask for.
 * Each read goes through base/os/os_below.h, which follows no link, and a path that was resolved
 * here contains none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transfer/transfer_walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "transfer/transfer_names.h"

#define LINKS_MAX 40

struct transfer_entry *transfer_entry_create(enum transfer_type type, const char *name,
                                             const char *path)
{
    struct transfer_entry *entry = mem_zalloc(sizeof(*entry));
    entry->type = type;
    entry->name = mem_strdup(name);
    entry->path = mem_strdup(path);
    entry->mode = type == TRANSFER_DIRECTORY ? 0755 : 0644;
    return entry;
}

void transfer_entry_destroy(void *value)
{
    struct transfer_entry *entry = value;
    if (entry != NULL) {
        mem_free(entry->name);
        mem_free(entry->path);
        mem_free(entry->target);
        mem_free(entry);
    }
}

/* ---- a walk ---------------------------------------------------------------------------------- */

struct walk {
    struct os *os;
    const char *root;
    enum transfer_links links;
    struct vec *entries;
    size_t *left_out;
    struct err *err;
};

static char *join_path(const char *directory, const char *name)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", name);
    return strbuf_take(&text);
}

static int add_entry(struct walk *walk, enum transfer_type type, const char *name, const char *path,
                     const struct os_stat *stat, struct transfer_entry **ret)
{
    if (walk->entries->count >= TRANSFER_FILES_MAX) {
        return err_set(walk->err, -E2BIG, "%s/%s: more than %d files and directories", walk->root,
                       path, TRANSFER_FILES_MAX);
    }
    if (!transfer_path_is_safe(name)) {
        return err_set(walk->err, -E2BIG,
                       "%s/%.200s...: nested too deeply or path too long to transfer", walk->root,
                       path);
    }
    bool followed = walk->links == TRANSFER_LINKS_FOLLOWED;
    char *whole = followed ? join_path(walk->root, path) : mem_strdup(path);
    struct transfer_entry *entry = transfer_entry_create(type, name, whole);
    mem_free(whole);
    if (stat != NULL) {
        entry->mode = stat->mode & 0777;
        entry->size_bytes = stat->size_bytes;
    }
    vec_push(walk->entries, entry);
    *ret = entry;
    return 0;
}

static void leave_out(struct walk *walk)
{
    if (walk->left_out != NULL) {
        (*walk->left_out)++;
    }
}

/* Adds the file that the owner's link leads to. */
static int add_followed(struct walk *walk, const char *name, const char *path)
{
    struct os_file *file = NULL;
    char *whole = join_path(walk->root, path);
    int rc = os_file_open(walk->os, whole, OS_READ, 0, &file, walk->err);
    mem_free(whole);
    if (rc == -EISDIR || rc == -EINVAL || rc == -ELOOP) {
        leave_out(walk);
        return 0;
    }
    struct transfer_entry *entry;
    rc = rc != 0 ? rc : add_entry(walk, TRANSFER_FILE, name, path, NULL, &entry);
    if (rc == 0) {
        entry->size_bytes = os_file_size(file);
    }
    os_file_close(file);
    return rc;
}

static int add_link(struct walk *walk, const char *name, const char *path)
{
    char target[TRANSFER_PATH_MAX + 1], real[TRANSFER_PATH_MAX + 1];
    struct transfer_entry *entry;
    struct os_stat stat;
    if (os_below_read_link(walk->os, walk->root, path, target, sizeof(target)) != 0) {
        leave_out(walk);
        return 0;
    }
    if (transfer_link_is_safe(name, target)) {
        int rc = add_entry(walk, TRANSFER_LINK, name, path, NULL, &entry);
        if (rc == 0) {
            entry->target = mem_strdup(target);
        }
        return rc;
    }
    if (walk->links == TRANSFER_LINKS_FOLLOWED) {
        return add_followed(walk, name, path);
    }
    if (transfer_resolve(walk->os, walk->root, path, real, sizeof(real)) != 0 ||
        os_below_stat(walk->os, walk->root, real, &stat) != 0 || !stat.is_file) {
        leave_out(walk);
        return 0;
    }
    int rc = add_entry(walk, TRANSFER_FILE, name, real, &stat, &entry);
    return rc;
}

static void collect_name(void *arg, const char *name)
{
    vec_push(arg, mem_strdup(name));
}

static int walk_directory(struct walk *walk, const char *path, const char *name);

static int walk_entry(struct walk *walk, const char *path, const char *name)
{
    struct os_stat stat;
    struct transfer_entry *entry;
    if (os_below_stat(walk->os, walk->root, path, &stat) != 0) {
        return 0; /* removed meanwhile */
    }
    if (stat.is_link) {
        return add_link(walk, name, path);
    }
    if (stat.is_dir) {
        int rc = add_entry(walk, TRANSFER_DIRECTORY, name, path, &stat, &entry);
        return rc != 0 ? rc : walk_directory(walk, path, name);
    }
    if (stat.is_file) {
        return add_entry(walk, TRANSFER_FILE, name, path, &stat, &entry);
    }
    leave_out(walk);
    return 0;
}

static int walk_directory(struct walk *walk, const char *path, const char *name)
{
    struct vec names = {0};
    int rc = os_below_list(walk->os, walk->root, path, collect_name, &names, walk->err);
    for (size_t i = 0; i < names.count && rc == 0; i++) {
        char *below = join_path(path, names.items[i]);
        char *as = join_path(name, names.items[i]);
        rc = walk_entry(walk, below, as);
        mem_free(below);
        mem_free(as);
    }
    vec_fini(&names, mem_free);
    return rc;
}

int transfer_walk(struct os *os, const char *root, const char *path, const char *name,
                  enum transfer_links links, struct vec *entries, size_t *left_out, struct err *err)
{
    struct walk walk = {os, root, links, entries, left_out, err};
    return walk_directory(&walk, path, name);
}

/* ---- where a name leads ---------------------------------------------------------------------- */

/* Removes the last name from the path. */
static void go_up(char *path)
{
    char *slash = strrchr(path, '/');
    *(slash != NULL ? slash : path) = '\0';
}

/* Puts the link's target in front of the rest of the path.  Returns 0; -EXDEV when it leads out of
 * root. */
static int follow_link(const char *root, char *done, const char *target, const char *left,
                       char *way, size_t size)
{
    char next[2 * TRANSFER_PATH_MAX + 3];
    if (target[0] == '/') {
        const char *inside = transfer_path_below(target, root);
        if (inside == NULL) {
            return -EXDEV;
        }
        target = inside;
        done[0] = '\0';
    } else {
        go_up(done);
    }
    int length = snprintf(next, sizeof(next), "%s/%s", target, left);
    if (length < 0 || (size_t)length >= size) {
        return -ENAMETOOLONG;
    }
    memcpy(way, next, (size_t)length + 1);
    return 0;
}

/* Goes one name further.  Returns 1 when it is a link, 0 when not, or a negative errno. */
static int take_step(struct os *os, const char *root, char *done, const char *name, size_t length)
{
    size_t used = strlen(done);
    if (length == 0 || (length == 1 && name[0] == '.')) {
        return 0;
    }
    if (length == 2 && name[0] == '.' && name[1] == '.') {
        if (used == 0) {
            return -EXDEV;
        }
        go_up(done);
        return 0;
    }
    if (used + length + 2 > TRANSFER_PATH_MAX) {
        return -ENAMETOOLONG;
    }
    (void)snprintf(done + used, TRANSFER_PATH_MAX - used, "%s%.*s", used > 0 ? "/" : "",
                   (int)length, name);
    struct os_stat stat;
    int rc = os_below_stat(os, root, done, &stat);
    return rc != 0 ? rc : stat.is_link ? 1 : 0;
}

int transfer_resolve(struct os *os, const char *root, const char *path, char *ret, size_t size)
{
    char done[TRANSFER_PATH_MAX + 1] = "", way[2 * TRANSFER_PATH_MAX + 3];
    char target[TRANSFER_PATH_MAX + 1];
    if ((size_t)snprintf(way, sizeof(way), "%s", path) > TRANSFER_PATH_MAX) {
        return -ENAMETOOLONG;
    }
    const char *at = way;
    for (unsigned links = 0; *at != '\0';) {
        size_t length = strcspn(at, "/");
        int rc = take_step(os, root, done, at, length);
        at += length + (at[length] == '/' ? 1 : 0);
        if (rc == 1) {
            rc = ++links > LINKS_MAX ? -ELOOP
                                     : os_below_read_link(os, root, done, target, sizeof(target));
            rc = rc != 0 ? rc : follow_link(root, done, target, at, way, sizeof(way));
            at = way;
        }
        if (rc != 0) {
            return rc;
        }
    }
    if (strlen(done) >= size) {
        return -ENAMETOOLONG;
    }
    memcpy(ret, done, strlen(done) + 1);
    return 0;
}
