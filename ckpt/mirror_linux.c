/* ckpt/mirror_linux.c - a copy of a job's files: see mirror_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/mirror_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "ckpt/new_file_linux.h"

#define CHUNK       ((size_t)1 << 20)
#define DEPTH_MAX   200
#define TICK_NS     INT64_C(20000000) /* how far times of files may be behind the clock */
#define INDEX_MAX   ((size_t)512 << 20)
#define INDEX_WORDS "roost mirror 1\n"

struct known { /* of a file, when it was copied */
    uint64_t inode, bytes;
    int64_t changed_ns; /* 0: it may have changed since, without a trace */
    unsigned pass;      /* that saw it last */
};

struct mirror {
    char *folder, *index;
    char **names;
    size_t count;
    struct strmap *known;  /* struct known by path below the folder */
    struct strmap *linked; /* of this pass: inode -> the first path of a file with several */
    uint64_t *mapped;      /* inodes that may be written to as memory; sorted */
    size_t mapped_count, mapped_capacity;
    bool all_mapped;    /* it cannot be told */
    bool notes_changes; /* the file system does */
    bool still;
    unsigned pass;
    int64_t began_ns; /* this pass */
    struct mirror_figures figures;
    int top; /* the folder, while it is changed */
    unsigned char *chunk;
    struct err *err;
};

/* ---- what may be written to as memory */

static void add_mapped(struct mirror *mirror, uint64_t inode)
{
    if (mirror->mapped_count == mirror->mapped_capacity) {
        mirror->mapped_capacity = mirror->mapped_capacity > 0 ? mirror->mapped_capacity * 2 : 64;
        mirror->mapped =
            mem_realloc(mirror->mapped, mirror->mapped_capacity * sizeof *mirror->mapped);
    }
    mirror->mapped[mirror->mapped_count++] = inode;
}

static void look_at_maps(struct mirror *mirror, pid_t pid)
{
    char path[64], line[512];
    bool begins = true;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) { /* it has ended, or it is not to be known */
        mirror->all_mapped = mirror->all_mapped || errno != ENOENT;
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        char access[8];
        uint64_t inode;
        if (begins && sscanf(line, "%*s %7s %*s %*s %" SCNu64, access, &inode) == 2 && inode != 0 &&
            strchr(access, 's') != NULL) { /* it can be made writable at any time */
            add_mapped(mirror, inode);
        }
        begins = strchr(line, '\n') != NULL; /* names may be longer */
    }
    (void)fclose(file);
}

static void look_at_family(struct mirror *mirror, pid_t pid, unsigned depth)
{
    char path[288];
    look_at_maps(mirror, pid);
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    struct dirent *task;
    while (tasks != NULL && (task = readdir(tasks)) != NULL) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, task->d_name);
        FILE *file = task->d_name[0] != '.' ? fopen(path, "re") : NULL;
        int child;
        while (file != NULL && depth < DEPTH_MAX && fscanf(file, "%d", &child) == 1) {
            look_at_family(mirror, (pid_t)child, depth + 1);
        }
        if (file != NULL) {
            (void)fclose(file);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_mapped(const struct mirror *mirror, uint64_t inode)
{
    return mirror->all_mapped ||
           (mirror->mapped_count > 0 &&
            bsearch(&inode, mirror->mapped, mirror->mapped_count, sizeof inode, by_number) != NULL);
}

/* ---- files */

static int failed(struct mirror *mirror, const char *path)
{
    int rc = -errno;
    return err_set(mirror->err, rc, "%s: %s", path, err_code_text(rc));
}

static int64_t ns_of(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int copy_bytes(struct mirror *mirror, int in, int out, uint64_t bytes, const char *path)
{
    uint64_t at = 0;
    if (bytes == 0 || ioctl(out, FICLONE, in) == 0) {
        return 0;
    }
    while (at < bytes) {
        off_t data = lseek(in, (off_t)at, SEEK_DATA);
        off_t hole = data >= 0 ? lseek(in, data, SEEK_HOLE) : -1;
        if (data < 0 && errno == ENXIO) {
            break; /* a hole, to the end */
        }
        at = data >= 0 ? (uint64_t)data : at;
        uint64_t end = hole > data ? (uint64_t)hole : bytes;
        while (at < end) {
            size_t wanted = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
            ssize_t got = pread(in, mirror->chunk, wanted, (off_t)at);
            if (got < 0) {
                return failed(mirror, path);
            }
            if (got == 0) {
                return 0; /* it has become shorter: seen again when it stands still */
            }
            int rc = new_file_write(out, mirror->chunk, (size_t)got, at);
            if (rc != 0) {
                errno = -rc;
                return failed(mirror, path);
            }
            at += (uint64_t)got;
            mirror->figures.copied_bytes += (uint64_t)got;
        }
    }
    return 0;
}

static int set_times(int fd, const struct stat *stat)
{
    const struct timespec times[2] = {stat->st_mtim, stat->st_mtim};
    return futimens(fd, times);
}

static int remove_below(int folder, const char *name, unsigned depth);

/* Anew, so that nothing of the old one is in the way: not its mode, not its other names. */
static int copy_file(struct mirror *mirror, int from, int to, const char *name, const char *path,
                     struct stat *ret)
{
    int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (in < 0) {
        return failed(mirror, path);
    }
    int rc = fstat(in, ret) != 0 ? failed(mirror, path) : 0;
    if (rc == 0 && !S_ISREG(ret->st_mode)) { /* another one by now */
        (void)close(in);
        return -ESTALE;
    }
    (void)remove_below(to, name, 0); /* not there: fine */
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    rc = rc == 0 && out < 0 ? failed(mirror, path) : rc;
    rc = rc != 0 ? rc : copy_bytes(mirror, in, out, (uint64_t)ret->st_size, path);
    if (rc == 0 && (ftruncate(out, ret->st_size) != 0 || fchmod(out, ret->st_mode & 07777) != 0 ||
                    set_times(out, ret) != 0)) {
        rc = failed(mirror, path);
    }
    if (out >= 0) {
        (void)close(out);
    }
    (void)close(in);
    mirror->figures.copied++;
    return rc;
}

/* Whatever somebody has put in its place: nothing outside of the mirror. */
static int open_below(const struct mirror *mirror, const char *path)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, mirror->top, path, &how, sizeof how);
}

/* One of a file that has several names. */
static int link_again(struct mirror *mirror, int to, const char *name, const char *path,
                      const struct stat *stat, bool *done)
{
    char key[24];
    *done = false;
    if (stat->st_nlink < 2) {
        return 0;
    }
    (void)snprintf(key, sizeof key, "%" PRIu64, (uint64_t)stat->st_ino);
    const char *first = strmap_get(mirror->linked, key);
    if (first == NULL) {
        void *was = strmap_set(mirror->linked, key, mem_strdup(path));
        mem_free(was);
        return 0;
    }
    int fd = open_below(mirror, first);
    if (fd < 0) {
        return 0; /* a copy of its own */
    }
    struct stat ours, its;
    char whole[64];
    bool same = fstat(fd, &its) == 0 && fstatat(to, name, &ours, AT_SYMLINK_NOFOLLOW) == 0 &&
                its.st_ino == ours.st_ino;
    if (!same) {
        (void)remove_below(to, name, 0);
        (void)snprintf(whole, sizeof whole, "/proc/self/fd/%d", fd);
    }
    *done = same || linkat(AT_FDCWD, whole, to, name, AT_SYMLINK_FOLLOW) == 0;
    (void)close(fd);
    return 0;
}

static void note_file(struct mirror *mirror, const char *path, const struct stat *stat)
{
    struct known *known = strmap_get(mirror->known, path);
    if (known == NULL) {
        known = mem_zalloc(sizeof *known);
        (void)strmap_set(mirror->known, path, known);
    }
    int64_t changed_ns = ns_of(stat->st_ctim);
    bool trusted = mirror->notes_changes && changed_ns < mirror->began_ns - TICK_NS &&
                   !is_mapped(mirror, stat->st_ino);
    *known = (struct known){.inode = stat->st_ino,
                            .bytes = (uint64_t)stat->st_size,
                            .changed_ns = trusted ? changed_ns : 0,
                            .pass = mirror->pass};
}

static int update_file(struct mirror *mirror, int from, int to, const char *name, const char *path,
                       struct stat *stat)
{
    struct known *known = strmap_get(mirror->known, path);
    bool linked = false;
    mirror->figures.files++;
    int rc = link_again(mirror, to, name, path, stat, &linked);
    if (rc != 0 || linked) {
        return rc;
    }
    if (known != NULL && known->changed_ns != 0 && known->inode == stat->st_ino &&
        known->bytes == (uint64_t)stat->st_size && known->changed_ns == ns_of(stat->st_ctim) &&
        !is_mapped(mirror, stat->st_ino)) {
        known->pass = mirror->pass;
        return 0;
    }
    rc = copy_file(mirror, from, to, name, path, stat);
    if (rc == 0) {
        note_file(mirror, path, stat);
    }
    return rc;
}

static int update_link(struct mirror *mirror, int from, int to, const char *name, const char *path,
                       const struct stat *stat)
{
    char target[PATH_MAX], there[PATH_MAX];
    const struct timespec times[2] = {stat->st_mtim, stat->st_mtim};
    ssize_t length = readlinkat(from, name, target, sizeof target - 1);
    if (length < 0) {
        return failed(mirror, path);
    }
    target[length] = '\0';
    ssize_t before = readlinkat(to, name, there, sizeof there);
    if (before != length || memcmp(target, there, (size_t)length) != 0) {
        (void)remove_below(to, name, 0);
        if (symlinkat(target, to, name) != 0) {
            return failed(mirror, path);
        }
    }
    (void)utimensat(to, name, times, AT_SYMLINK_NOFOLLOW); /* not everywhere */
    return 0;
}

static int update_fifo(struct mirror *mirror, int to, const char *name, const char *path,
                       const struct stat *stat)
{
    struct stat there;
    if (fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_mode == stat->st_mode) {
        return 0;
    }
    (void)remove_below(to, name, 0);
    return mkfifoat(to, name, stat->st_mode & 07777) != 0 ? failed(mirror, path) : 0;
}

/* ---- directories */

static int remove_all(int fd, unsigned depth)
{
    DIR *names = fdopendir(fd);
    struct dirent *name;
    int rc = 0;
    if (names == NULL) {
        rc = -errno;
        (void)close(fd);
        return rc;
    }
    while (rc == 0 && (name = readdir(names)) != NULL) {
        if (strcmp(name->d_name, ".") != 0 && strcmp(name->d_name, "..") != 0) {
            rc = remove_below(dirfd(names), name->d_name, depth + 1);
        }
    }
    (void)closedir(names);
    return rc;
}

/* A file, or a directory with all that is in it. */
static int remove_below(int folder, const char *name, unsigned depth)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno != EISDIR && errno != EPERM) {
        return -errno;
    }
    int fd = depth < DEPTH_MAX
                 ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                 : -1;
    if (fd < 0) {
        return depth < DEPTH_MAX ? -errno : -ELOOP;
    }
    (void)fchmod(fd, 0700); /* ours: else what follows fails */
    int rc = remove_all(fd, depth);
    return rc == 0 && unlinkat(folder, name, AT_REMOVEDIR) != 0 ? -errno : rc;
}

static int update_directory(struct mirror *mirror, int from, int to, const char *name,
                            const char *path, const struct stat *stat, unsigned depth);

static int update_one(struct mirror *mirror, int from, int to, const char *name, const char *path,
                      unsigned depth)
{
    struct stat stat;
    int rc;
    do { /* again, if it has become something else meanwhile */
        if (fstatat(from, name, &stat, AT_SYMLINK_NOFOLLOW) != 0) {
            rc = errno == ENOENT && !mirror->still ? 0 : failed(mirror, path);
            return rc == 0 ? remove_below(to, name, 0) : rc;
        }
        rc = S_ISREG(stat.st_mode)    ? update_file(mirror, from, to, name, path, &stat)
             : S_ISDIR(stat.st_mode)  ? update_directory(mirror, from, to, name, path, &stat, depth)
             : S_ISLNK(stat.st_mode)  ? update_link(mirror, from, to, name, path, &stat)
             : S_ISFIFO(stat.st_mode) ? update_fifo(mirror, to, name, path, &stat)
                                      : remove_below(to, name, 0);
    } while (rc == -ESTALE);
    return rc != 0 && !mirror->still && (rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP) ? 0 : rc;
}

/* All names that are there, and none that is not. */
static int update_names(struct mirror *mirror, DIR *from, DIR *to, const char *path, unsigned depth)
{
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    struct dirent *name;
    int rc = 0;
    for (int i = 0; i < 2; i++) {
        DIR *names = i == 0 ? from : to;
        while (rc == 0 && (name = readdir(names)) != NULL) {
            char whole[PATH_MAX];
            if (strcmp(name->d_name, ".") == 0 || strcmp(name->d_name, "..") == 0) {
                continue;
            }
            if (i == 1) {
                rc = strmap_get(seen, name->d_name) == NULL
                         ? remove_below(dirfd(to), name->d_name, 0)
                         : 0;
                continue;
            }
            (void)strmap_set(seen, name->d_name, seen);
            rc = (size_t)snprintf(whole, sizeof whole, "%s/%s", path, name->d_name) >= sizeof whole
                     ? err_set(mirror->err, -ENAMETOOLONG, "%s: the names are too long", path)
                     : update_one(mirror, dirfd(from), dirfd(to), name->d_name, whole, depth + 1);
        }
    }
    strmap_destroy(seen, NULL);
    return rc;
}

static int open_copy(struct mirror *mirror, int to, const char *name, const char *path)
{
    const int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    int fd = openat(to, name, how);
    if (fd < 0) {
        (void)remove_below(to, name, 0); /* it was something else */
        fd = mkdirat(to, name, 0700) == 0 ? openat(to, name, how) : -1;
    }
    if (fd >= 0 && fchmod(fd, 0700) == 0) {
        return fd;
    }
    int rc = failed(mirror, path);
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}

static int update_directory(struct mirror *mirror, int from, int to, const char *name,
                            const char *path, const struct stat *stat, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        return err_set(mirror->err, -ELOOP, "%s: too many directories in each other", path);
    }
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0) {
        return failed(mirror, path);
    }
    int out = open_copy(mirror, to, name, path);
    DIR *names = out >= 0 ? fdopendir(in) : NULL, *copies = names != NULL ? fdopendir(out) : NULL;
    int rc = out < 0 ? out : copies == NULL ? failed(mirror, path) : 0;
    rc = rc != 0 ? rc : update_names(mirror, names, copies, path, depth);
    if (rc == 0 && (set_times(out, stat) != 0 || fchmod(out, stat->st_mode & 07777) != 0)) {
        rc = failed(mirror, path);
    }
    if (copies != NULL) {
        (void)closedir(copies);
    } else if (out >= 0) {
        (void)close(out);
    }
    if (names != NULL) {
        (void)closedir(names);
    } else {
        (void)close(in);
    }
    return rc;
}

/* ---- a pass */

static bool notes_changes(const char *name)
{
    struct statfs system;
    return statfs(name, &system) == 0 &&
           (system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC ||
            system.f_type == BTRFS_SUPER_MAGIC || system.f_type == F2FS_SUPER_MAGIC);
}

/* Of files that are gone nothing is known any more. */
static void forget_gone(struct mirror *mirror)
{
    size_t at = 0;
    const char *path;
    void *value;
    while (strmap_next(mirror->known, &at, &path, &value)) {
        if (((struct known *)value)->pass != mirror->pass) {
            mem_free(strmap_remove(mirror->known, path));
        }
    }
}

int mirror_update(struct mirror *mirror, pid_t job, bool still, struct err *err)
{
    struct timespec now;
    int rc = 0, folder = open(mirror->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    mirror->top = folder;
    mirror->err = err;
    mirror->still = still;
    mirror->pass++;
    mirror->figures = (struct mirror_figures){.files = 0};
    if (folder < 0 || (unlink(mirror->index) != 0 && errno != ENOENT)) {
        rc = failed(mirror, mirror->folder);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
    mirror->began_ns = ns_of(now);
    mirror->mapped_count = 0;
    mirror->all_mapped = false;
    mirror->linked = strmap_create(STRMAP_CASE_SENSITIVE);
    look_at_family(mirror, job, 0);
    if (mirror->mapped_count > 0) {
        qsort(mirror->mapped, mirror->mapped_count, sizeof *mirror->mapped, by_number);
    }
    for (size_t i = 0; rc == 0 && i < mirror->count; i++) {
        mirror->notes_changes = notes_changes(mirror->names[i]);
        rc = update_one(mirror, AT_FDCWD, folder, mirror->names[i], mirror->names[i], 0);
    }
    if (rc == 0) {
        forget_gone(mirror);
    }
    strmap_destroy(mirror->linked, mem_free);
    mirror->linked = NULL;
    if (folder >= 0) {
        (void)close(folder);
    }
    return rc;
}

void mirror_figures(const struct mirror *mirror, struct mirror_figures *ret)
{
    *ret = mirror->figures;
}

/* ---- what is known */

/* "INODE BYTES CHANGED PATH", each ended by a zero: names have all bytes but that one. */
int mirror_save(struct mirror *mirror, struct err *err)
{
    struct strbuf text;
    struct new_file file;
    size_t at = 0;
    const char *path;
    void *value;
    strbuf_init(&text, INDEX_MAX);
    strbuf_puts(&text, INDEX_WORDS);
    while (strmap_next(mirror->known, &at, &path, &value)) {
        const struct known *known = value;
        strbuf_printf(&text, "%" PRIu64 " %" PRIu64 " %" PRId64 " ", known->inode, known->bytes,
                      known->changed_ns);
        strbuf_append(&text, path, strlen(path) + 1);
    }
    int rc = text.failed ? err_set(err, -E2BIG, "%s: too many files", mirror->index)
                         : new_file_open(&file, mirror->index, false, err);
    if (rc == 0) {
        rc = new_file_write(file.fd, text.data, text.length, 0);
        rc = rc != 0 ? err_set(err, rc, "%s: %s", mirror->index, err_code_text(rc))
                     : new_file_commit(&file, 0600, err);
        new_file_close(&file, false);
    }
    strbuf_fini(&text);
    return rc;
}

static void load_one(struct mirror *mirror, const char *text)
{
    struct known known = {.pass = 0};
    int at = 0;
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64 "%n", &known.inode, &known.bytes,
               &known.changed_ns, &at) == 3 &&
        text[at] == ' ') {
        mem_free(strmap_set(mirror->known, text + at + 1, mem_dup(&known, sizeof known)));
    }
}

/* What cannot be read is not known. */
static void load(struct mirror *mirror)
{
    struct stat stat;
    size_t first = sizeof INDEX_WORDS - 1;
    int fd = open(mirror->index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool good = fd >= 0 && fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) &&
                (uint64_t)stat.st_size <= INDEX_MAX && (size_t)stat.st_size >= first;
    size_t size = good ? (size_t)stat.st_size : 0, got = 0;
    char *text = mem_alloc(size + 1);
    while (good && got < size) {
        ssize_t more = pread(fd, text + got, size - got, (off_t)got);
        good = more > 0;
        got += good ? (size_t)more : 0;
    }
    text[got] = '\0';
    if (good && memcmp(text, INDEX_WORDS, first) == 0) {
        for (size_t at = first; at < size; at += strlen(text + at) + 1) {
            load_one(mirror, text + at);
        }
    }
    mem_free(text);
    if (fd >= 0) {
        (void)close(fd);
    }
}

int mirror_open(const char *folder, const char *const *names, size_t count, struct mirror **ret,
                struct err *err)
{
    struct strbuf index;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        int rc = -errno;
        return err_set(err, rc, "%s: %s", folder, err_code_text(rc));
    }
    struct mirror *mirror = mem_zalloc(sizeof *mirror);
    strbuf_init(&index, 0);
    strbuf_printf(&index, "%s.index", folder);
    mirror->folder = mem_strdup(folder);
    mirror->index = strbuf_take(&index);
    mirror->names = mem_alloc(count * sizeof *mirror->names);
    mirror->count = count;
    for (size_t i = 0; i < count; i++) {
        mirror->names[i] = mem_strdup(names[i]);
    }
    mirror->known = strmap_create(STRMAP_CASE_SENSITIVE);
    mirror->chunk = mem_alloc(CHUNK);
    load(mirror);
    *ret = mirror;
    return 0;
}

void mirror_destroy(struct mirror *mirror)
{
    if (mirror == NULL) {
        return;
    }
    for (size_t i = 0; i < mirror->count; i++) {
        mem_free(mirror->names[i]);
    }
    mem_free(mirror->names);
    mem_free(mirror->folder);
    mem_free(mirror->index);
    mem_free(mirror->mapped);
    mem_free(mirror->chunk);
    strmap_destroy(mirror->known, mem_free);
    mem_free(mirror);
}
