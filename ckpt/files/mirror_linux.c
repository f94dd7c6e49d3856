/* ckpt/files/mirror_linux.c - a copy of a job's files: see mirror_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/mirror_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "ckpt/files/mapped_linux.h"
#include "ckpt/files/mirror_copy_linux.h"
#include "ckpt/image/new_file_linux.h"

#define DEPTH_MAX   200
#define TICK_NS     INT64_C(20000000) /* how far times of files may be behind the clock */
#define INDEX_MAX   ((size_t)512 << 20)
#define INDEX_WORDS "roost mirror 1\n"

struct known { /* of a file, when it was copied */
    uint64_t inode, bytes;
    int64_t changed_ns; /* 0: it may have changed since, without a trace */
    unsigned pass;      /* that saw it last */
};

enum times { /* what they say of files that are written to as memory, where these are */
             TIMES_TELL,
             TIMES_ASK, /* an overlay's do, if mappings of its files are known there by their inodes
                         */
             TIMES_OMIT
};

struct mirror {
    char *folder, *index;
    char **names;
    size_t count;
    struct strmap *known;  /* struct known by path below the folder */
    struct strmap *linked; /* of this pass: inode -> the first path of a file with several */
    struct mapped mapped;
    enum times times; /* of what is copied now */
    bool still;
    unsigned pass;
    int64_t began_ns; /* this pass */
    uint64_t files;
    int top; /* the folder, while it is changed */
    struct mirror_copier copier;
};

/* ---- files */

static int64_t ns_of(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Opens a path inside the mirror, whatever somebody has put in its place: never anything
 * outside. */
static int open_below(const struct mirror *mirror, const char *path)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    return (int)syscall(SYS_openat2, mirror->top, path, &how, sizeof how);
}

/* Makes another name of a file that has several. */
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
        (void)mirror_remove(to, name);
        (void)snprintf(whole, sizeof whole, "/proc/self/fd/%d", fd);
    }
    *done = same || linkat(AT_FDCWD, whole, to, name, AT_SYMLINK_FOLLOW) == 0;
    (void)close(fd);
    return 0;
}

/* Reads the times of a file that is not empty. */
static enum times ask_times(int from, const char *name)
{
    int fd = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    enum times times = fd >= 0 && mapped_is_known(fd) ? TIMES_TELL : TIMES_OMIT;
    if (fd >= 0) {
        (void)close(fd);
    }
    return times;
}

/* Returns whether the file may change as memory, without a new time. */
static bool may_change(const struct mirror *mirror, const struct stat *stat)
{
    return mirror->times != TIMES_TELL || mapped_has(&mirror->mapped, stat->st_ino);
}

static void note_file(struct mirror *mirror, const char *path, const struct stat *stat)
{
    struct known *known = strmap_get(mirror->known, path);
    if (known == NULL) {
        known = mem_zalloc(sizeof *known);
        (void)strmap_set(mirror->known, path, known);
    }
    int64_t changed_ns = ns_of(stat->st_ctim);
    bool trusted = changed_ns < mirror->began_ns - TICK_NS && !may_change(mirror, stat);
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
    mirror->files++;
    int rc = link_again(mirror, to, name, path, stat, &linked);
    if (rc != 0 || linked) {
        return rc;
    }
    if (mirror->times == TIMES_ASK && stat->st_size > 0) {
        mirror->times = ask_times(from, name);
    }
    if (known != NULL && known->changed_ns != 0 && known->inode == stat->st_ino &&
        known->bytes == (uint64_t)stat->st_size && known->changed_ns == ns_of(stat->st_ctim) &&
        !may_change(mirror, stat)) {
        known->pass = mirror->pass;
        return 0;
    }
    rc = mirror_copy_file(&mirror->copier, from, to, name, path, stat);
    if (rc == 0) {
        note_file(mirror, path, stat);
    }
    return rc;
}

/* ---- directories */

static int update_directory(struct mirror *mirror, int from, int to, const char *name,
                            const char *path, const struct stat *stat, unsigned depth);

static int update_one(struct mirror *mirror, int from, int to, const char *name, const char *path,
                      unsigned depth)
{
    struct stat stat;
    int rc;
    do { /* again, if it has become something else meanwhile */
        if (fstatat(from, name, &stat, AT_SYMLINK_NOFOLLOW) != 0) {
            rc = errno == ENOENT && !mirror->still ? 0 : mirror_failed(&mirror->copier, path);
            return rc == 0 ? mirror_remove(to, name) : rc;
        }
        rc = S_ISREG(stat.st_mode)   ? update_file(mirror, from, to, name, path, &stat)
             : S_ISDIR(stat.st_mode) ? update_directory(mirror, from, to, name, path, &stat, depth)
             : S_ISLNK(stat.st_mode)
                 ? mirror_copy_link(&mirror->copier, from, to, name, path, &stat)
             : S_ISFIFO(stat.st_mode) ? mirror_copy_fifo(&mirror->copier, to, name, path, &stat)
                                      : mirror_remove(to, name);
    } while (rc == -ESTALE);
    return rc != 0 && !mirror->still && (rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP) ? 0 : rc;
}

/* Updates all names that exist, and removes those that do not. */
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
                rc = strmap_get(seen, name->d_name) == NULL ? mirror_remove(dirfd(to), name->d_name)
                                                            : 0;
                continue;
            }
            (void)strmap_set(seen, name->d_name, seen);
            rc = (size_t)snprintf(whole, sizeof whole, "%s/%s", path, name->d_name) >= sizeof whole
                     ? err_set(mirror->copier.err, -ENAMETOOLONG, "%s: the path is too long", path)
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
        (void)mirror_remove(to, name); /* it was something else */
        fd = mkdirat(to, name, 0700) == 0 ? openat(to, name, how) : -1;
    }
    if (fd >= 0 && fchmod(fd, 0700) == 0) {
        return fd;
    }
    int rc = mirror_failed(&mirror->copier, path);
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}

static int update_directory(struct mirror *mirror, int from, int to, const char *name,
                            const char *path, const struct stat *stat, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        return err_set(mirror->copier.err, -ELOOP, "%s: directories are nested too deeply", path);
    }
    int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0) {
        return mirror_failed(&mirror->copier, path);
    }
    int out = open_copy(mirror, to, name, path);
    DIR *names = out >= 0 ? fdopendir(in) : NULL, *copies = names != NULL ? fdopendir(out) : NULL;
    int rc = out < 0 ? out : copies == NULL ? mirror_failed(&mirror->copier, path) : 0;
    rc = rc != 0 ? rc : update_names(mirror, names, copies, path, depth);
    if (rc == 0 && (mirror_set_times(out, stat) != 0 || fchmod(out, stat->st_mode & 07777) != 0)) {
        rc = mirror_failed(&mirror->copier, path);
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

static enum times times_of(const char *name)
{
    static const struct {
        long system;
        enum times times;
    } TIMES[] = {{EXT4_SUPER_MAGIC, TIMES_TELL},  {XFS_SUPER_MAGIC, TIMES_TELL},
                 {BTRFS_SUPER_MAGIC, TIMES_TELL}, {F2FS_SUPER_MAGIC, TIMES_TELL},
                 {TMPFS_MAGIC, TIMES_TELL},       {OVERLAYFS_SUPER_MAGIC, TIMES_ASK}};
    struct statfs system;
    for (size_t i = 0; statfs(name, &system) == 0 && i < sizeof TIMES / sizeof TIMES[0]; i++) {
        if (system.f_type == TIMES[i].system) {
            return TIMES[i].times;
        }
    }
    return TIMES_OMIT;
}

/* Forgets files that are gone. */
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

/* A directory that cannot be made is reported when something is copied into it. */
static void make_above(const struct mirror *mirror, const char *name)
{
    const char *slash = strchr(name, '/');
    if (slash != NULL) {
        char *above = mem_strndup(name, (size_t)(slash - name));
        (void)mkdirat(mirror->top, above, 0700); /* from the second pass on it is there */
        mem_free(above);
    }
}

static int update_all(struct mirror *mirror)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < mirror->count; i++) {
        mirror->times = times_of(mirror->names[i]);
        make_above(mirror, mirror->names[i]);
        rc = update_one(mirror, AT_FDCWD, mirror->top, mirror->names[i], mirror->names[i], 0);
    }
    return rc;
}

int mirror_update(struct mirror *mirror, pid_t job, pid_t keeper, bool still, struct err *err)
{
    struct timespec now;
    int rc = 0, folder = open(mirror->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    mirror->top = folder;
    mirror->copier.err = err;
    mirror->still = still;
    mirror->pass++;
    mirror->files = mirror->copier.copied = mirror->copier.copied_bytes = 0;
    if (folder < 0 || (unlink(mirror->index) != 0 && errno != ENOENT)) {
        rc = mirror_failed(&mirror->copier, mirror->folder);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
    mirror->began_ns = ns_of(now);
    mirror->linked = strmap_create(STRMAP_CASE_SENSITIVE);
    mapped_look(&mirror->mapped, job, keeper);
    rc = rc != 0 ? rc : update_all(mirror);
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
    *ret = (struct mirror_figures){.files = mirror->files,
                                   .copied = mirror->copier.copied,
                                   .copied_bytes = mirror->copier.copied_bytes};
}

/* ---- what is known */

/* Each entry is "INODE BYTES CHANGED PATH", ended by a zero: names may contain all other bytes. */
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
    int rc = text.failed
                 ? err_set(err, -E2BIG, "%s: too many files, so the index would be too long",
                           mirror->index)
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

static void load_one(struct strmap *ret, const char *text)
{
    struct known known = {.pass = 0};
    int at = 0;
    if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64 "%n", &known.inode, &known.bytes,
               &known.changed_ns, &at) == 3 &&
        text[at] == ' ') {
        mem_free(strmap_set(ret, text + at + 1, mem_dup(&known, sizeof known)));
    }
}

/* What cannot be read counts as unknown. */
static void load_index(const char *index, struct strmap *ret)
{
    struct stat stat;
    size_t first = sizeof INDEX_WORDS - 1;
    int fd = open(index, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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
            load_one(ret, text + at);
        }
    }
    mem_free(text);
    if (fd >= 0) {
        (void)close(fd);
    }
}

void mirror_unchanged(const struct mirror *mirror, const char *since,
                      void (*each)(void *arg, const char *path, uint64_t bytes), void *arg)
{
    struct strmap *then = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t at = 0;
    const char *path;
    void *value;
    load_index(since, then);
    while (strmap_next(mirror->known, &at, &path, &value)) {
        const struct known *now = value, *was = strmap_get(then, path);
        if (was != NULL && now->changed_ns != 0 && now->changed_ns == was->changed_ns &&
            now->inode == was->inode && now->bytes == was->bytes) {
            each(arg, path, now->bytes);
        }
    }
    strmap_destroy(then, mem_free);
}

int mirror_open(const char *folder, const char *const *names, size_t count, struct mirror **ret,
                struct err *err)
{
    struct strbuf index;
    bool is_new = mkdir(folder, 0700) == 0;
    if (!is_new && errno != EEXIST) {
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
    mirror->copier.chunk = mem_alloc(MIRROR_CHUNK);
    if (!is_new) { /* else what is known is of a copy that somebody has removed */
        load_index(mirror->index, mirror->known);
    }
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
    mem_free(mirror->copier.chunk);
    mapped_fini(&mirror->mapped);
    strmap_destroy(mirror->known, mem_free);
    mem_free(mirror);
}
