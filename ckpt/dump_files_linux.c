/* ckpt/dump_files_linux.c - the open files of a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump.h"
#include "ckpt/image.h"

#define STDIO        3
#define CHUNK        (256U * 1024)
#define NOT_REOPENED (O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC)

struct open_file { /* a descriptor of a process */
    struct subject *subject;
    int fd;
    uint32_t flags;
    uint64_t offset;
    struct stat st;
    char path[4096];
    uint32_t file; /* index in the table of files */
    bool is_stdio; /* left to whoever resumes it */
};

struct files {
    struct dump *dump;
    struct open_file *items;
    size_t count, capacity;
    struct err *err;
};

struct shared_memory { /* in the table of files */
    uint64_t device, inode;
    uint32_t file;
};

/* ---- what is open */

static pid_t pid_of(const struct open_file *file)
{
    return file->subject->tracee.pid;
}

static int read_info(struct open_file *file)
{
    char path[64], line[256];
    (void)snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid_of(file), file->fd);
    FILE *info = fopen(path, "re");
    if (info == NULL) {
        return -errno;
    }
    while (fgets(line, sizeof line, info) != NULL) {
        (void)sscanf(line, "pos: %" SCNu64, &file->offset);
        (void)sscanf(line, "flags: %" SCNo32, &file->flags);
    }
    (void)fclose(info);
    return 0;
}

static int read_one(struct files *files, struct subject *subject, int fd)
{
    char path[64];
    pid_t pid = subject->tracee.pid;
    if (files->count == files->capacity) {
        files->capacity = files->capacity > 0 ? files->capacity * 2 : 16;
        files->items = mem_realloc(files->items, files->capacity * sizeof *files->items);
    }
    struct open_file *file = &files->items[files->count];
    *file = (struct open_file){.subject = subject, .fd = fd};
    (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    ssize_t length = readlink(path, file->path, sizeof file->path - 1);
    int rc = length < 0 || stat(path, &file->st) != 0 ? -errno : read_info(file);
    if (rc != 0) {
        return err_set(files->err, rc, "process %d: descriptor %d: %s", (int)pid, fd,
                       err_code_text(rc));
    }
    files->count++;
    return 0;
}

static int by_number(const void *a, const void *b)
{
    return ((const struct open_file *)a)->fd - ((const struct open_file *)b)->fd;
}

static int read_all(struct files *files, struct subject *subject)
{
    char path[64];
    struct dirent *entry;
    size_t first = files->count;
    int rc = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)subject->tracee.pid);
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return err_set(files->err, -errno, "%s: %s", path, err_code_text(-errno));
    }
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '.') {
            rc = read_one(files, subject, (int)strtol(entry->d_name, NULL, 10));
        }
    }
    (void)closedir(folder);
    if (files->count > first) {
        qsort(files->items + first, files->count - first, sizeof *files->items, by_number);
    }
    return rc;
}

/* ---- which of them are one open file */

static bool is_same(const struct open_file *a, const struct open_file *b)
{
    return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino &&
           syscall(SYS_kcmp, pid_of(a), pid_of(b), KCMP_FILE, a->fd, b->fd) == 0;
}

static const struct open_file *first_of(const struct files *files, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (is_same(&files->items[i], &files->items[index])) {
            return &files->items[i];
        }
    }
    return NULL;
}

/* ---- what can be saved */

static int refuse(const struct files *files, const struct open_file *file, const char *why)
{
    return err_set(files->err, -EOPNOTSUPP, "process %d: descriptor %d, %s: %s", (int)pid_of(file),
                   file->fd, file->path, why);
}

static bool is_plain_device(const struct open_file *file)
{
    static const char *const NAMES[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                        "/dev/urandom"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (strcmp(file->path, NAMES[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_other_end(const struct files *files, const struct open_file *end)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct open_file *other = &files->items[i];
        if (other->st.st_ino == end->st.st_ino && other->st.st_dev == end->st.st_dev &&
            (other->flags & O_ACCMODE) != (end->flags & O_ACCMODE)) {
            return true;
        }
    }
    return false;
}

static int fetch(const struct open_file *file)
{
    int pidfd = pidfd_open(pid_of(file), 0);
    int fd = pidfd >= 0 ? pidfd_getfd(pidfd, file->fd, 0) : -1;
    int rc = fd >= 0 ? fd : -errno;
    if (pidfd >= 0) {
        (void)close(pidfd);
    }
    return rc;
}

/* Nobody has the other end any more: the job will read the end, or be told that nobody reads. */
static bool is_end_gone(const struct open_file *file)
{
    int fd = fetch(file);
    struct pollfd end = {.fd = fd};
    bool gone = fd >= 0 && poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return gone;
}

static int judge(const struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    saved->kind = CKPT_FILE;
    switch (file->st.st_mode & S_IFMT) {
    case S_IFREG:
        saved->kind = file->st.st_nlink == 0 ? CKPT_NAMELESS : CKPT_FILE;
        return 0;
    case S_IFDIR:
        return file->st.st_nlink == 0 ? refuse(files, file, "a removed directory is not saved") : 0;
    case S_IFIFO:
        saved->kind = CKPT_PIPE;
        saved->id = file->st.st_ino;
        if (file->path[0] == '/') {
            return refuse(files, file, "a named pipe is not saved");
        }
        return has_other_end(files, file) || is_end_gone(file)
                   ? 0
                   : refuse(files, file, "the other end of the pipe is another process's");
    case S_IFCHR:
        return is_plain_device(file) ? 0 : refuse(files, file, "a device is not saved");
    case S_IFSOCK:
        return refuse(files, file, "a socket is not saved");
    default:
        return refuse(files, file, "it is of a kind that is not saved");
    }
}

/* ---- contents */

static int put_bytes(struct files *files, struct ckpt_file *saved, int fd, bool is_pipe)
{
    unsigned char *chunk = mem_alloc(CHUNK);
    struct ckpt_extent extent;
    uint64_t at = 0;
    ssize_t got;
    int rc = 0;
    saved->extents.first = files->dump->tables.counts[CKPT_EXTENTS];
    dump_begin_extent(files->dump, &extent, 0);
    while (rc == 0 &&
           (got = is_pipe ? read(fd, chunk, CHUNK) : pread(fd, chunk, CHUNK, (off_t)at)) > 0) {
        rc = dump_put(files->dump, &extent, chunk, (size_t)got, files->err);
        at += (uint64_t)got;
    }
    if (rc == 0 && extent.bytes > 0) {
        (void)tables_add(&files->dump->tables, CKPT_EXTENTS, &extent);
        saved->extents.count = 1;
    }
    mem_free(chunk);
    return rc;
}

/* What waits in it, without taking it out. */
static int put_pipe(struct files *files, struct ckpt_file *saved, int fd)
{
    int ends[2], waiting = 0;
    int bytes = fcntl(fd, F_GETPIPE_SZ);
    saved->pipe_bytes = bytes > 0 ? (uint32_t)bytes : 0;
    if ((saved->flags & O_ACCMODE) == O_WRONLY || ioctl(fd, FIONREAD, &waiting) != 0 ||
        waiting == 0) {
        return 0;
    }
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return -errno;
    }
    (void)fcntl(ends[1], F_SETPIPE_SZ, bytes);
    ssize_t got = tee(fd, ends[1], (size_t)bytes, 0);
    (void)close(ends[1]);
    int rc = got != waiting ? -EIO : put_bytes(files, saved, ends[0], true);
    (void)close(ends[0]);
    saved->bytes = (uint64_t)waiting;
    return rc;
}

static int put_contents(struct files *files, const struct open_file *file, struct ckpt_file *saved)
{
    if (saved->kind != CKPT_NAMELESS && saved->kind != CKPT_PIPE) {
        return 0;
    }
    int fd = fetch(file);
    int rc = fd < 0                     ? fd
             : saved->kind == CKPT_PIPE ? put_pipe(files, saved, fd)
                                        : put_bytes(files, saved, fd, false);
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc != 0 ? err_set(files->err, rc, "process %d: descriptor %d: %s", (int)pid_of(file),
                             file->fd, err_code_text(rc))
                   : 0;
}

static int save_file(struct files *files, struct open_file *file)
{
    struct ckpt_file saved = {.flags = file->flags & ~(uint32_t)NOT_REOPENED,
                              .mode = file->st.st_mode,
                              .offset = file->offset,
                              .bytes = (uint64_t)file->st.st_size};
    int rc = file->is_stdio ? 0 : judge(files, file, &saved);
    bool is_first = file->subject == files->dump->subjects[0];
    if (rc != 0 && file->fd < STDIO && is_first) {
        rc = 0; /* a terminal, a pipe, a socket: whoever resumes has others */
        file->is_stdio = true;
    }
    if (file->is_stdio) {
        saved.kind = CKPT_STDIO;
    }
    saved.stdio = is_first && file->fd < STDIO ? (uint32_t)file->fd + 1 : 0;
    rc = rc != 0 ? rc : put_contents(files, file, &saved);
    if (rc == 0) {
        saved.path = tables_text(&files->dump->tables, file->path);
        file->file = tables_add(&files->dump->tables, CKPT_FILES, &saved);
    }
    return rc;
}

static int save_all(struct files *files)
{
    struct dump *dump = files->dump;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < files->count; i++) {
        struct open_file *file = &files->items[i];
        struct ckpt_span *fds = &file->subject->process.fds;
        const struct open_file *first = first_of(files, i);
        if (first != NULL) {
            file->file = first->file;
            file->is_stdio = first->is_stdio;
        } else {
            rc = save_file(files, file);
        }
        const struct ckpt_fd fd = {.fd = file->fd,
                                   .file = file->file,
                                   .cloexec = (file->flags & O_CLOEXEC) != 0};
        uint32_t index = tables_add(&dump->tables, CKPT_FDS, &fd);
        fds->first =
            fds->count == 0 ? index : fds->first; /* those of a process follow each other */
        fds->count++;
    }
    return rc;
}

int dump_files(struct dump *dump, struct err *err)
{
    struct files files = {.dump = dump, .err = err};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        if ((dump->subjects[i]->process.flags & CKPT_ZOMBIE) == 0) {
            rc = read_all(&files, dump->subjects[i]);
        }
    }
    rc = rc != 0 ? rc : save_all(&files);
    mem_free(files.items);
    return rc;
}

/* ---- memory without a name that is shared */

int dump_shared_memory(struct dump *dump, const struct map *map, uint64_t *ret, struct err *err)
{
    (void)err;
    for (size_t i = 0; i < dump->shared_count; i++) {
        if (dump->shared[i].device == map->device && dump->shared[i].inode == map->inode) {
            *ret = dump->shared[i].file;
            return 0;
        }
    }
    const struct ckpt_file file = {.kind = CKPT_MEMORY_FILE,
                                   .mode = S_IFREG | 0600,
                                   .flags = O_RDWR,
                                   .path = tables_text(&dump->tables, map->name)};
    const struct shared_memory shared = {.device = map->device,
                                         .inode = map->inode,
                                         .file = tables_add(&dump->tables, CKPT_FILES, &file)};
    dump->shared = mem_realloc(dump->shared, (dump->shared_count + 1) * sizeof *dump->shared);
    dump->shared[dump->shared_count++] = shared;
    *ret = shared.file;
    return 0;
}
