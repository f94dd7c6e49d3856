/* ckpt/dump/dump_fd_inotify_linux.c - what an inotify watches, by name.
 *
 * The kernel tells inodes, and handles that only root may open.  So names are looked for: root asks
 * for the handle's; then where the job works and what it has open, and the directories above; then
 * all below its working directories, /tmp and its root, a bounded number of entries.  Not found is
 * refused.  Events that nobody has read cannot be put into another queue: then it is "try again".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump_fd.h"

#define WALK_MAX     50000 /* entries that are looked at */
#define QUEUE_MAX    10000 /* directories of them */
#define HANDLE_BYTES 128
#define PATH_BYTES   4096 /* most bytes of a path, with the terminating zero */

struct watch {
    int32_t number;
    uint32_t mask;
    uint64_t inode;
    dev_t device;
    struct {
        struct file_handle head;
        unsigned char bytes[HANDLE_BYTES];
    } handle;
    char *path; /* NULL: not found yet */
};

struct search {
    const struct files *files;
    const struct subject *subject;
    struct watch *watches;
    size_t count, missing;
};

/* ---- is it that one? */

static bool full_path(const struct search *search, const char *path, char *ret)
{
    return snprintf(ret, PATH_BYTES, "/proc/%d/root%s", (int)search->subject->tracee.pid, path) <
           PATH_BYTES;
}

static bool is_it(const struct watch *watch, const char *full)
{
    struct stat st;
    struct {
        struct file_handle head;
        unsigned char bytes[HANDLE_BYTES];
    } is = {.head = {.handle_bytes = HANDLE_BYTES}};
    int mount;
    if (lstat(full, &st) != 0 || st.st_ino != watch->inode) {
        return false;
    }
    if (watch->handle.head.handle_bytes > 0 &&
        name_to_handle_at(AT_FDCWD, full, &is.head, &mount, 0) == 0) {
        return is.head.handle_bytes == watch->handle.head.handle_bytes &&
               is.head.handle_type == watch->handle.head.handle_type &&
               memcmp(is.bytes, watch->handle.bytes, is.head.handle_bytes) == 0;
    }
    return st.st_dev == watch->device;
}

/* Notes the watches that are of the file at this path (inode 0: not known yet). */
static void consider_path(struct search *search, const char *path, uint64_t inode)
{
    char full[PATH_BYTES];
    for (size_t i = 0; i < search->count && search->missing > 0; i++) {
        struct watch *watch = &search->watches[i];
        if (watch->path == NULL && (inode == 0 || inode == watch->inode) &&
            full_path(search, path, full) && is_it(watch, full)) {
            watch->path = mem_strdup(path);
            search->missing--;
        }
    }
}

/* ---- where to look */

static void ask_handle(struct search *search, struct watch *watch)
{
    char link[64], path[PATH_BYTES];
    (void)snprintf(link, sizeof link, "/proc/%d/cwd", (int)search->subject->tracee.pid);
    int mount = open(link, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = mount >= 0 && watch->handle.head.handle_bytes > 0
                 ? open_by_handle_at(mount, &watch->handle.head, O_PATH | O_CLOEXEC)
                 : -1;
    if (fd >= 0) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        consider_path(search, fd_inside(search->files, search->subject, path), 0);
        (void)close(fd);
    }
    if (mount >= 0) {
        (void)close(mount);
    }
}

static void consider_above(struct search *search, const char *from)
{
    char path[PATH_BYTES];
    if (from[0] != '/' || (size_t)snprintf(path, sizeof path, "%s", from) >= sizeof path) {
        return;
    }
    while (search->missing > 0) {
        consider_path(search, path[0] != '\0' ? path : "/", 0);
        char *slash = strrchr(path, '/');
        if (slash == NULL) {
            return;
        }
        *slash = '\0';
    }
}

struct queue { /* of directories */
    char *paths[QUEUE_MAX];
    size_t first, count;
};

static void look_into(struct search *search, struct queue *queue, const char *path, size_t *seen)
{
    char full[PATH_BYTES], name[PATH_BYTES];
    const struct dirent *entry;
    DIR *folder = full_path(search, path, full) ? opendir(full) : NULL;
    while (folder != NULL && search->missing > 0 && *seen < WALK_MAX &&
           (entry = readdir(folder)) != NULL) {
        const char *end = strcmp(path, "/") == 0 ? "" : "/";
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (size_t)snprintf(name, sizeof name, "%s%s%s", path, end, entry->d_name) >=
                sizeof name) {
            continue;
        }
        (*seen)++;
        consider_path(search, name, entry->d_ino);
        bool kernels = strcmp(name, "/proc") == 0 || strcmp(name, "/sys") == 0;
        if (entry->d_type == DT_DIR && queue->count < QUEUE_MAX && !kernels) {
            consider_path(search, name, 0); /* where something is mounted, it has another inode */
            queue->paths[queue->count++] = mem_strdup(name);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
}

static void walk_tree(struct search *search, const char *from)
{
    struct queue *queue = mem_zalloc(sizeof *queue);
    size_t seen = 0;
    queue->paths[queue->count++] = mem_strdup(from);
    while (queue->first < queue->count && search->missing > 0 && seen < WALK_MAX) {
        look_into(search, queue, queue->paths[queue->first++], &seen);
    }
    for (size_t i = 0; i < queue->count; i++) {
        mem_free(queue->paths[i]);
    }
    mem_free(queue);
}

static void find_names(struct search *search)
{
    const struct files *files = search->files;
    const struct dump *dump = files->dump;
    const char *texts = (const char *)dump->tables.bytes[CKPT_TEXTS].data;
    for (size_t i = 0; i < search->count; i++) {
        if (search->watches[i].path == NULL) {
            ask_handle(search, &search->watches[i]);
        }
    }
    for (size_t i = 0; i < dump->count; i++) {
        consider_above(search, texts + dump->subjects[i]->process.cwd);
    }
    for (size_t i = 0; i < files->count && search->missing > 0; i++) {
        consider_above(search, files->items[i].path);
    }
    for (size_t i = 0; i < dump->count && search->missing > 0; i++) {
        walk_tree(search, texts + dump->subjects[i]->process.cwd);
    }
    if (search->missing > 0) {
        walk_tree(search, "/tmp");
    }
    if (search->missing > 0) {
        walk_tree(search, "/");
    }
}

/* ---- the watches */

static void parse_handle(struct watch *watch, const char *digits)
{
    unsigned bytes = watch->handle.head.handle_bytes;
    for (unsigned i = 0; i < bytes; i++) {
        unsigned byte;
        if (sscanf(digits + (size_t)i * 2, "%2x", &byte) != 1) {
            watch->handle.head.handle_bytes = 0;
            return;
        }
        watch->handle.bytes[i] = (unsigned char)byte;
    }
}

/* "inotify wd:1 ino:3c51a sdev:fe00000 mask:2 ignored_mask:0 fhandle-bytes:8 fhandle-type:1
 * f_handle:1ac5030000000000" */
static bool parse_watch(const char *line, struct watch *watch)
{
    unsigned number, device, bytes = 0;
    int type = 0, at = 0;
    *watch = (struct watch){.number = 0};
    int got = sscanf(line,
                     "inotify wd:%x ino:%" SCNx64 " sdev:%x mask:%" SCNx32
                     " ignored_mask:%*x fhandle-bytes:%x fhandle-type:%x f_handle:%n",
                     &number, &watch->inode, &device, &watch->mask, &bytes, (unsigned *)&type, &at);
    if (got < 4) {
        return false;
    }
    watch->number = (int32_t)number;
    watch->device = makedev(device >> 20, device & 0xfffff);
    if (at > 0 && bytes <= HANDLE_BYTES) {
        watch->handle.head.handle_bytes = bytes;
        watch->handle.head.handle_type = type;
        parse_handle(watch, line + at);
    }
    return true;
}

static int check_queue(struct files *files, const struct open_file *file)
{
    int waiting = 0, fd = fd_fetch(file);
    int rc = fd < 0 ? fd : ioctl(fd, FIONREAD, &waiting) != 0 ? -errno : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (rc == 0 && waiting > 0) {
        return fd_busy(files, file, "the inotify has events that are not read yet; try again");
    }
    return rc != 0 ? fd_fail(files, file, rc) : 0;
}

static int save_watches(struct files *files, const struct open_file *file,
                        const struct search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        const struct watch *watch = &search->watches[i];
        if (watch->path == NULL) {
            char why[96];
            (void)snprintf(why, sizeof why,
                           "cannot find a name for a watched file (inode %" PRIu64 ")",
                           watch->inode);
            return fd_refuse(files, file, why);
        }
        const struct ckpt_watch saved = {.in = file->file,
                                         .file = CKPT_NOBODY,
                                         .process = CKPT_NOBODY,
                                         .number = watch->number,
                                         .events = watch->mask,
                                         .path = tables_text(&files->dump->tables, watch->path)};
        (void)tables_add(&files->dump->tables, CKPT_WATCHES, &saved);
    }
    return 0;
}

int fd_save_inotify(struct files *files, const struct open_file *file)
{
    struct search search = {.files = files, .subject = file->subject};
    size_t capacity = 0;
    for (const char *line = file->info; line != NULL && *line != '\0';) {
        struct watch watch;
        if (parse_watch(line, &watch)) {
            if (search.count == capacity) {
                capacity = capacity > 0 ? capacity * 2 : 16;
                search.watches = mem_realloc(search.watches, capacity * sizeof *search.watches);
            }
            search.watches[search.count++] = watch;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    search.missing = search.count;
    int rc = check_queue(files, file);
    if (rc == 0) {
        find_names(&search);
        rc = save_watches(files, file, &search);
    }
    for (size_t i = 0; i < search.count; i++) {
        mem_free(search.watches[i].path);
    }
    mem_free(search.watches);
    return rc;
}
