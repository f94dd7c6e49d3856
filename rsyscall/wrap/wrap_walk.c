/* rsyscall/wrap/wrap_walk.c - walks through directory trees: glob(), scandir(), ftw(), nftw().  See
 * wrap.h.
 *
 * The C library's versions read directories by internal names that cannot be wrapped.  Its glob()
 * accepts other functions; scandir(), ftw() and nftw() are written again here.  fts_open() is
 * refused, because its result is the C library's own struct.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

/* ---- glob() ---------------------------------------------------------------------------------- */

typedef int (*glob_f)(const char *, int, int (*)(const char *, int), glob_t *);

/* the C library's glob(): in a static program by this name, in others by dlsym(RTLD_NEXT) */
__attribute__((weak)) int __glob(const char *, int, int (*)(const char *, int), glob_t *);
__attribute__((weak)) void *dlsym(void *, const char *);

static struct dirent *glob_read(void *dir)
{
    return readdir(dir);
}

static void *glob_open(const char *name)
{
    return opendir(name);
}

static void glob_close(void *dir)
{
    (void)closedir(dir);
}

WRAP_EXPORT int glob(const char *pattern, int flags, int (*on_error)(const char *, int),
                     glob_t *ret)
{
    glob_f real = __glob;
    if (real == NULL && dlsym != NULL) {
        void *found = dlsym(RTLD_NEXT, "glob");
        memcpy(&real, &found, sizeof real);
    }
    if (real == NULL) {
        errno = ENOSYS;
        return GLOB_ABORTED;
    }
    if ((flags & GLOB_ALTDIRFUNC) == 0 && wrap_is_on()) {
        ret->gl_opendir = glob_open;
        ret->gl_readdir = glob_read;
        ret->gl_closedir = glob_close;
        ret->gl_stat = stat;
        ret->gl_lstat = lstat;
        flags |= GLOB_ALTDIRFUNC;
    }
    int code = real(pattern, flags, on_error, ret);
    ret->gl_flags &= wrap_is_on() ? ~GLOB_ALTDIRFUNC : ~0;
    return code;
}

/* ---- scandir() ------------------------------------------------------------------------------- */

struct found {
    struct dirent **names;
    size_t count, room;
};

static bool keep_entry(struct found *found, const struct dirent *entry)
{
    if (found->count == found->room) {
        size_t room = found->room != 0 ? found->room * 2 : 64;
        struct dirent **more = realloc(found->names, room * sizeof(struct dirent *));
        if (more == NULL) {
            return false;
        }
        found->names = more;
        found->room = room;
    }
    struct dirent *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        return false;
    }
    size_t length = strlen(entry->d_name);
    *copy = (struct dirent){.d_ino = entry->d_ino,
                            .d_off = entry->d_off,
                            .d_reclen = sizeof *copy,
                            .d_type = entry->d_type};
    memcpy(copy->d_name, entry->d_name, length + 1);
    found->names[found->count++] = copy;
    return true;
}

WRAP_EXPORT int scandirat(int fd, const char *name, struct dirent ***ret,
                          int (*wanted)(const struct dirent *),
                          int (*compare)(const struct dirent **, const struct dirent **))
{
    struct found found = {0};
    int dir_fd = wrap_open(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *dir = dir_fd >= 0 ? fdopendir(dir_fd) : NULL;
    struct dirent *entry;
    bool good = true;
    if (dir == NULL) {
        return -1;
    }
    errno = 0;
    while (good && (entry = readdir(dir)) != NULL) {
        if (wanted == NULL || wanted(entry) != 0) {
            good = keep_entry(&found, entry);
        }
        errno = good ? 0 : ENOMEM;
    }
    int error = errno;
    (void)closedir(dir);
    if (error != 0) {
        while (found.count > 0) {
            free(found.names[--found.count]);
        }
        free((void *)found.names);
        return (int)wrap_result(-error);
    }
    if (compare != NULL && found.count > 0) {
        int (*by)(const void *, const void *);
        memcpy(&by, &compare, sizeof by);
        qsort((void *)found.names, found.count, sizeof(struct dirent *), by);
    }
    *ret = found.names != NULL ? found.names : malloc(1);
    return (int)found.count;
}

WRAP_EXPORT int scandir(const char *name, struct dirent ***ret,
                        int (*wanted)(const struct dirent *),
                        int (*compare)(const struct dirent **, const struct dirent **))
{
    return scandirat(AT_FDCWD, name, ret, wanted, compare);
}

/* Replaces the C library's readdir_r(), which would look into our DIR. */
WRAP_EXPORT int readdir_r(DIR *dir, struct dirent *to, struct dirent **ret)
{
    int before = errno;
    errno = 0;
    const struct dirent *entry = readdir(dir);
    int code = errno;
    errno = before;
    *ret = entry != NULL ? to : NULL;
    if (entry != NULL) {
        memcpy(to, entry, offsetof(struct dirent, d_name) + strlen(entry->d_name) + 1);
    }
    return entry != NULL ? 0 : code;
}

/* ---- nftw() ---------------------------------------------------------------------------------- */

struct walk {
    char path[WRAP_PATH_SIZE];
    __ftw_func_t plain; /* one of plain and full is set */
    __nftw_func_t full;
    int flags;
    bool has_start;
    dev_t start;
    /* visited directories, used when links are followed: each directory is visited once */
    struct been {
        struct been *next;
        dev_t dev;
        ino_t ino;
    } * been;
};

static int tell_caller(struct walk *walk, const struct stat *st, int kind, size_t base, int level)
{
    struct FTW about = {.base = (int)base, .level = level};
    return walk->full != NULL ? walk->full(walk->path, st, kind, &about)
                              : walk->plain(walk->path, st, kind == FTW_SLN ? FTW_NS : kind);
}

/* Notes a directory as visited.  Returns 1 when it was visited before, 0 when it is new, -1 with
 * errno. */
static int was_there(struct walk *walk, const struct stat *st)
{
    for (const struct been *at = walk->been; at != NULL; at = at->next) {
        if (at->dev == st->st_dev && at->ino == st->st_ino) {
            return 1;
        }
    }
    struct been *been = malloc(sizeof *been);
    if (been == NULL) {
        return -1;
    }
    *been = (struct been){walk->been, st->st_dev, st->st_ino};
    walk->been = been;
    return 0;
}

static int visit_path(struct walk *walk, size_t base, int level);

static int visit_entries(struct walk *walk, DIR *dir, int level)
{
    size_t length = strlen(walk->path);
    size_t base = length + (length > 0 && walk->path[length - 1] == '/' ? 0 : 1);
    const struct dirent *entry;
    int code = 0;
    while (code == 0 && (entry = readdir(dir)) != NULL) {
        size_t name = strlen(entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (base + name >= sizeof walk->path) {
            return (int)wrap_result(-ENAMETOOLONG);
        }
        walk->path[base - 1] = '/';
        memcpy(walk->path + base, entry->d_name, name + 1);
        code = visit_path(walk, base, level + 1);
        walk->path[length] = '\0';
        if (code == FTW_SKIP_SIBLINGS && (walk->flags & FTW_ACTIONRETVAL) != 0) {
            return 0;
        }
        code = code == FTW_SKIP_SUBTREE && (walk->flags & FTW_ACTIONRETVAL) != 0 ? 0 : code;
    }
    return code;
}

static int visit_directory(struct walk *walk, const struct stat *st, size_t base, int level)
{
    bool after = (walk->flags & FTW_DEPTH) != 0;
    DIR *dir = opendir(walk->path);
    if (dir == NULL) {
        return errno == EACCES ? tell_caller(walk, st, FTW_DNR, base, level) : -1;
    }
    int code = after ? 0 : tell_caller(walk, st, FTW_D, base, level);
    if (code == 0) {
        code = visit_entries(walk, dir, level);
    }
    int error = errno;
    (void)closedir(dir);
    errno = error;
    return code == 0 && after ? tell_caller(walk, st, FTW_DP, base, level) : code;
}

static int visit_path(struct walk *walk, size_t base, int level)
{
    struct stat st = {0};
    bool physical = (walk->flags & FTW_PHYS) != 0;
    if ((physical ? lstat(walk->path, &st) : stat(walk->path, &st)) != 0) {
        if (level == 0 || (errno != EACCES && errno != ENOENT)) {
            return -1;
        }
        int kind =
            !physical && lstat(walk->path, &st) == 0 && S_ISLNK(st.st_mode) ? FTW_SLN : FTW_NS;
        return tell_caller(walk, &st, kind, base, level);
    }
    if ((walk->flags & FTW_MOUNT) != 0 && walk->has_start && st.st_dev != walk->start) {
        return 0;
    }
    walk->start = walk->has_start ? walk->start : st.st_dev;
    walk->has_start = true;
    if (S_ISDIR(st.st_mode)) {
        int was = physical ? 0 : was_there(walk, &st);
        return was != 0 ? (was > 0 ? 0 : -1) : visit_directory(walk, &st, base, level);
    }
    return tell_caller(walk, &st, S_ISLNK(st.st_mode) ? FTW_SL : FTW_F, base, level);
}

static int walk_from(const char *name, __ftw_func_t plain, __nftw_func_t full, int flags)
{
    struct walk walk = {.plain = plain, .full = full, .flags = flags};
    size_t length = strlen(name);
    if (length == 0 || length >= sizeof walk.path) {
        return (int)wrap_result(length == 0 ? -ENOENT : -ENAMETOOLONG);
    }
    if ((flags & FTW_CHDIR) != 0) {
        return (int)wrap_result(-EOPNOTSUPP);
    }
    memcpy(walk.path, name, length + 1);
    const char *slash = strrchr(walk.path, '/');
    size_t base = slash != NULL && slash[1] != '\0' ? (size_t)(slash + 1 - walk.path) : 0;
    int code = visit_path(&walk, base, 0), error = errno;
    while (walk.been != NULL) {
        struct been *been = walk.been;
        walk.been = been->next;
        free(been);
    }
    errno = error;
    return code;
}

WRAP_EXPORT int ftw(const char *name, __ftw_func_t call, int descriptors)
{
    (void)descriptors;
    return walk_from(name, call, NULL, 0);
}

WRAP_EXPORT int nftw(const char *name, __nftw_func_t call, int descriptors, int flags)
{
    (void)descriptors;
    return walk_from(name, NULL, call, flags);
}

/* ---- fts ------------------------------------------------------------------------------------- */

WRAP_EXPORT FTS *fts_open(char *const *names, int options,
                          int (*compare)(const FTSENT **, const FTSENT **))
{
    typedef FTS *(*open_f)(char *const *, int, int (*)(const FTSENT **, const FTSENT **));
    open_f real = NULL;
    if (dlsym != NULL && !wrap_is_on()) {
        void *found = dlsym(RTLD_NEXT, "fts_open");
        memcpy(&real, &found, sizeof real);
    }
    errno = EOPNOTSUPP;
    return real != NULL ? real(names, options, compare) : NULL;
}

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#pragma GCC diagnostic ignored "-Wmissing-attributes"
#endif
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define ALSO(OTHER, NAME) \
    extern __typeof__(OTHER) OTHER __attribute__((alias(#NAME), visibility("default")))
ALSO(glob64, glob);
ALSO(scandir64, scandir);
ALSO(scandirat64, scandirat);
ALSO(readdir64_r, readdir_r);
ALSO(ftw64, ftw);
ALSO(nftw64, nftw);
