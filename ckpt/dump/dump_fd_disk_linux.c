/* ckpt/dump/dump_fd_disk_linux.c - open files that have a name, and removed ones.
 *
 * A file is opened again by its name, if that name leads to it: seen from the job's own root, which
 * may be another one than ours.  If the name under which it was opened was removed, but the file
 * has others, one in the same directory is taken.  So it is with what is mapped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump/dump_fd.h"

#define CHUNK      (256U * 1024)
#define PATH_BYTES 4096 /* most bytes of a path, with the terminating zero */

static const char *const REMOVED = " (deleted)";

/* ---- names */

/* Makes a path that we can use of a path as the job sees it. */
static bool from_root(const struct subject *subject, const char *path, char *ret, size_t size)
{
    return (size_t)snprintf(ret, size, "/proc/%d/root%s", (int)subject->tracee.pid, path) < size;
}

/* device 0: any. */
struct place {
    dev_t device;
    ino_t inode;
};

static bool leads_to(const struct subject *subject, const char *path, const struct place *place)
{
    char full[PATH_BYTES + 64];
    struct stat is;
    return path[0] == '/' && from_root(subject, path, full, sizeof full) && lstat(full, &is) == 0 &&
           (is.st_dev == place->device || place->device == 0) && is.st_ino == place->inode;
}

/* Looks for another name of the file in the directory of `path`, and writes it to path. */
static bool find_sibling(const struct subject *subject, const struct place *place, char *path,
                         size_t size)
{
    char full[PATH_BYTES + 64];
    const struct dirent *entry;
    char *slash = strrchr(path, '/');
    bool found = false;
    if (slash == NULL) {
        return false;
    }
    size_t length = (size_t)(slash - path) + 1;
    path[length] = '\0';
    DIR *folder = from_root(subject, path, full, sizeof full) ? opendir(full) : NULL;
    while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
        if (entry->d_ino == place->inode) {
            found = (size_t)snprintf(path + length, size - length, "%s", entry->d_name) <
                        size - length &&
                    leads_to(subject, path, place);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return found;
}

/* Finds a name that leads to the file; sets saved->path if it differs from the descriptor's. */
static int find_name(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    const struct place place = {.device = file->st.st_dev, .inode = file->st.st_ino};
    char path[PATH_BYTES];
    if (leads_to(file->subject, file->path, &place)) {
        return 0;
    }
    (void)snprintf(path, sizeof path, "%s", file->path);
    if (find_sibling(file->subject, &place, path, sizeof path)) {
        saved->path = tables_text(&files->dump->tables, path);
        return 0;
    }
    size_t length = strlen(file->path), end = strlen(REMOVED);
    bool removed = length > end && strcmp(file->path + length - end, REMOVED) == 0;
    return fd_refuse(files, file,
                     removed
                         ? "this name of the file was removed, and no other name of it was found"
                         : "the name leads to a different file");
}

int fd_save_place(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    saved->kind = CKPT_FILE;
    if (file->st.st_nlink == 0 && S_ISREG(file->st.st_mode)) {
        return fd_refuse(files, file,
                         "the file was removed, and the descriptor cannot be read (O_PATH)");
    }
    return find_name(files, file, saved);
}

int fd_save_folder(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    saved->kind = CKPT_FILE;
    return file->st.st_nlink == 0 ? fd_refuse(files, file, "removed directories are not supported")
                                  : find_name(files, file, saved);
}

int fd_save_device(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    static const char *const NAMES[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                        "/dev/urandom"};
    saved->kind = CKPT_FILE;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(file->path, NAMES[i]) == 0) {
            return 0;
        }
    }
    return fd_refuse(files, file, "device files are not supported");
}

/* ---- names that processes have besides */

static const char *text_of(const struct files *files, uint32_t text)
{
    return (const char *)files->dump->tables.bytes[CKPT_TEXTS].data + text;
}

static const char *path_below(const char *root, const char *path)
{
    size_t length = strlen(root);
    if (length <= 1 || strncmp(path, root, length) != 0) {
        return path;
    }
    return path[length] == '/' ? path + length : path[length] == '\0' ? "/" : path;
}

const char *fd_inside(const struct files *files, const struct subject *subject, const char *path)
{
    return path_below(text_of(files, subject->process.root), path);
}

/* In the list of mappings a newline within a name is written "\012". */
static void unescape_name(const char *name, char *path, size_t size)
{
    static const char *const END = "\\012";
    size_t length = 0;
    for (; *name != '\0' && length + 1 < size; length++) {
        bool is_end = strncmp(name, END, strlen(END)) == 0;
        path[length] = is_end ? '\n' : *name;
        name += is_end ? strlen(END) : 1;
    }
    path[length] = '\0';
}

bool dump_mapped_name(const struct subject *subject, const struct map *map, char *path, size_t size)
{
    const struct place place = {.inode = (ino_t)map->inode};
    char link[64], root[PATH_BYTES];
    (void)snprintf(link, sizeof link, "/proc/%d/root", (int)subject->tracee.pid);
    ssize_t length = readlink(link, root, sizeof root - 1);
    root[length > 0 ? length : 0] = '\0';
    const char *name = path_below(root, map->name);
    (void)snprintf(path, size, "%s", name);
    if (leads_to(subject, path, &place)) {
        return true;
    }
    unescape_name(name, path, size);
    if (leads_to(subject, path, &place) || find_sibling(subject, &place, path, size)) {
        return true;
    }
    (void)snprintf(path, size, "%s", name);
    return false;
}

static int save_cwd(struct files *files, struct subject *subject)
{
    char link[64], path[PATH_BYTES];
    struct stat st;
    (void)snprintf(link, sizeof link, "/proc/%d/cwd", (int)subject->tracee.pid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    int rc = length < 0 || stat(link, &st) != 0 ? -errno : 0;
    path[length > 0 ? length : 0] = '\0';
    if (rc == 0 && st.st_nlink == 0) {
        return err_set(files->err, -EOPNOTSUPP, "process %d: its working directory %s was removed",
                       (int)subject->tracee.pid, path);
    }
    if (rc != 0) {
        return err_set(files->err, rc, "process %d: cannot examine its working directory: %s",
                       (int)subject->tracee.pid, err_code_text(rc));
    }
    subject->process.cwd = tables_text(&files->dump->tables, fd_inside(files, subject, path));
    return 0;
}

static bool is_same_link(pid_t a, pid_t b, const char *name)
{
    char path[64];
    struct stat one, other;
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)a, name);
    if (stat(path, &one) != 0) {
        return true; /* unknown to this kernel */
    }
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)b, name);
    return stat(path, &other) != 0 || (one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

/* Checks that all processes of the job see the same file there, because whoever resumes it gives
 * all of them the same. */
static int check_sight(const struct files *files, const struct subject *subject)
{
    static const struct {
        const char *name, *why;
    } SIGHTS[] = {{"root", "has another root directory"},
                  {"ns/user", "is in another user namespace"},
                  {"ns/mnt", "is in another mount namespace"},
                  {"ns/pid", "is in another process namespace"},
                  {"ns/net", "is in another network namespace"},
                  {"ns/ipc", "is in another IPC namespace"},
                  {"ns/uts", "is in another UTS namespace"}};
    const struct dump *dump = files->dump;
    pid_t first = dump->subjects[0]->tracee.pid;
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)dump->keeper);
    if (dump->keeper > 0 &&
        access(path, F_OK) == 0) { /* that of roost-rsys-mount is closed to us */
        first = dump->keeper;
    }
    for (size_t i = 0; i < sizeof SIGHTS / sizeof SIGHTS[0]; i++) {
        if (!is_same_link(first, subject->tracee.pid, SIGHTS[i].name)) {
            return err_set(files->err, -EOPNOTSUPP, "process %d %s than the job was started with",
                           (int)subject->tracee.pid, SIGHTS[i].why);
        }
    }
    return 0;
}

int fd_save_names(struct files *files, struct subject *subject)
{
    int rc = check_sight(files, subject);
    return rc != 0 ? rc : save_cwd(files, subject);
}

/* ---- removed files */

static int put_range(struct files *files, struct ckpt_span *extents, int fd, uint64_t from,
                     uint64_t to, unsigned char *chunk)
{
    struct ckpt_extent extent;
    int rc = 0;
    dump_begin_extent(files->dump, &extent, from);
    while (rc == 0 && from < to) {
        size_t bytes = to - from < CHUNK ? (size_t)(to - from) : CHUNK;
        ssize_t got = pread(fd, chunk, bytes, (off_t)from);
        if (got <= 0) {
            return got < 0 ? -errno : -EIO; /* nobody may shorten it: the job stands still */
        }
        rc = dump_put(files->dump, &extent, chunk, (size_t)got, files->err);
        from += (uint64_t)got;
    }
    if (rc == 0) {
        (void)tables_add(&files->dump->tables, CKPT_EXTENTS, &extent);
        extents->count++;
    }
    return rc;
}

/* Saves the contents without holes. */
static int put_contents(struct files *files, uint32_t index, int fd, uint64_t bytes)
{
    struct ckpt_span extents = {.first = files->dump->tables.counts[CKPT_EXTENTS]};
    unsigned char *chunk = mem_alloc(CHUNK);
    off_t at = 0;
    int rc = 0;
    while (rc == 0 && (uint64_t)at < bytes) {
        off_t data = lseek(fd, at, SEEK_DATA);
        off_t hole = data >= 0 ? lseek(fd, data, SEEK_HOLE) : -1;
        if (data < 0 && errno == ENXIO) {
            break; /* nothing but a hole up to its end */
        }
        if (data < 0 || hole < 0) { /* a file system that cannot tell */
            data = at;
            hole = (off_t)bytes;
        }
        rc = put_range(files, &extents, fd, (uint64_t)data, (uint64_t)hole, chunk);
        at = hole;
    }
    mem_free(chunk);
    struct ckpt_file *object = tables_at(&files->dump->tables, CKPT_FILES, index);
    object->extents = extents;
    object->bytes = bytes;
    return rc;
}

/* Opens the file once more, for reading, with a position of our own. */
static int open_again(const struct open_file *file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)file->subject->tracee.pid, file->fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return fd >= 0 ? fd : -errno;
}

static int save_nameless(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    bool is_new;
    struct statfs fs;
    uint32_t index = dump_nameless_file(files->dump, &file->st, file->path, &is_new);
    saved->kind = CKPT_NAMELESS;
    saved->id = index;
    if (!is_new) {
        return 0;
    }
    int fd = open_again(file);
    if (fd < 0) {
        return fd_fail(files, file, fd);
    }
    int rc;
    if (fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC) {
        rc = fd_refuse(files, file, "files on huge pages are not supported");
    } else {
        struct ckpt_file *object = tables_at(&files->dump->tables, CKPT_FILES, index);
        int seals = fcntl(fd, F_GET_SEALS);
        object->seals = seals > 0 ? (uint32_t)seals : 0;
        object->mode = file->st.st_mode;
        rc = put_contents(files, index, fd, (uint64_t)file->st.st_size);
        rc = rc != 0 ? fd_fail(files, file, rc) : 0;
    }
    (void)close(fd);
    return rc;
}

int fd_save_regular(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    saved->kind = CKPT_FILE;
    saved->flags &= ~(uint32_t)O_TMPFILE; /* it has been made */
    if (strncmp(file->path, "/secretmem", strlen("/secretmem")) == 0) {
        return fd_refuse(files, file, "secret memory (memfd_secret) is not supported");
    }
    return file->st.st_nlink == 0 ? save_nameless(files, file, saved)
                                  : find_name(files, file, saved);
}
