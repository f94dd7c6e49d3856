/* rsyscall/grants_linux.c - which of its owner's files a job may change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/grants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "rsyscall/server.h"
#include "rsyscall/view.h"

/* most files in the list `made`, which serves file systems without usable birth times */
#define MADE_MAX      16384
#define MADE_KEY_SIZE 48        /* bytes of a file's key, with the terminating zero */
#define ELF_MAGIC     "\177ELF" /* first bytes of an ELF file, as in <elf.h> */
#define ELF_IDENT     16
#define ELF_EXEC      2
#define ELF_DYN       3
/* most entries that are looked at before a directory is renamed */
#define WALK_MAX       20000
#define WALK_DEPTH_MAX 64

struct place {
    char *path; /* where the place was when the server began, without symbolic links */
    bool tree;  /* the place includes everything below it */
};

struct rsys_grants {
    struct place *places;
    size_t count;
    char *home; /* the owner's home directory; NULL: not known */
    int64_t began_ms;

    pthread_mutex_t mutex; /* protects: */
    struct strmap *made;   /* "dev:ino" of files that this job made; the value is not used */
};

/* ---- files from before the job --------------------------------------------------------------- */

static void made_key(const struct stat *about, char ret[MADE_KEY_SIZE])
{
    (void)snprintf(ret, MADE_KEY_SIZE, "%llx:%llx", (unsigned long long)about->st_dev,
                   (unsigned long long)about->st_ino);
}

/* True when the file was born after the job began.  False also when the file system has no birth
 * times. */
static bool is_born_after(int fd, int64_t began_ms)
{
    struct statx about;
    return statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BTIME, &about) == 0 &&
           (about.stx_mask & STATX_BTIME) != 0 &&
           about.stx_btime.tv_sec * 1000 + about.stx_btime.tv_nsec / 1000000 > began_ms;
}

/* True for a file of an overlay file system: there a directory is born again when something is made
 * in it, so its birth time says nothing. */
static bool is_overlay(int fd)
{
    struct statfs about;
    return fstatfs(fd, &about) != 0 || about.f_type == OVERLAYFS_SUPER_MAGIC;
}

static bool is_known_new(const struct rsys_grants *grants, int fd, const struct stat *about)
{
    return is_born_after(fd, grants->began_ms) && !(S_ISDIR(about->st_mode) && is_overlay(fd));
}

void rsys_grants_made(struct rsys_grants *grants, int fd)
{
    struct stat about;
    char key[MADE_KEY_SIZE];
    if (fstat(fd, &about) != 0 || is_known_new(grants, fd, &about)) {
        return;
    }
    made_key(&about, key);
    CHECK(pthread_mutex_lock(&grants->mutex) == 0);
    if (strmap_count(grants->made) < MADE_MAX) { /* what is not known counts as the owner's */
        (void)strmap_set(grants->made, key, grants);
    }
    CHECK(pthread_mutex_unlock(&grants->mutex) == 0);
}

static bool is_old(struct rsys_grants *grants, int fd, const struct stat *about)
{
    char key[MADE_KEY_SIZE];
    if (is_known_new(grants, fd, about)) {
        return false;
    }
    made_key(about, key);
    CHECK(pthread_mutex_lock(&grants->mutex) == 0);
    bool made = strmap_get(grants->made, key) != NULL;
    CHECK(pthread_mutex_unlock(&grants->mutex) == 0);
    return !made;
}

bool rsys_grants_is_old(struct rsys_grants *grants, int fd)
{
    struct stat about;
    return fstat(fd, &about) != 0 || is_old(grants, fd, &about);
}

/* True when the file may be a shared object, which the linker loads without the x bit.  A file that
 * cannot be read may be one, too. */
static bool is_shared_object(int fd)
{
    unsigned char head[ELF_IDENT + sizeof(uint16_t)];
    char path[RSYS_FD_PATH_SIZE];
    rsys_fd_path(fd, path);
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) {
        return true;
    }
    ssize_t got = pread(file, head, sizeof(head), 0);
    close(file);
    if (got < (ssize_t)sizeof(head) || memcmp(head, ELF_MAGIC, sizeof(ELF_MAGIC) - 1) != 0) {
        return false;
    }
    uint16_t type;
    memcpy(&type, head + ELF_IDENT, sizeof(type));
    return type == ELF_EXEC || type == ELF_DYN;
}

static bool is_old_program(struct rsys_grants *grants, int fd, const struct stat *about)
{
    return S_ISREG(about->st_mode) && is_old(grants, fd, about) &&
           ((about->st_mode & 0111) != 0 || is_shared_object(fd));
}

static bool is_site_name(const char *name, size_t length)
{
    static const char *const NAMES[] = {
        "site-packages", "dist-packages", "node_modules", "perl5",
        "site_perl",     "vendor_perl",   "site_ruby",    "vendor_ruby",
        "gems",          "site-lisp",     "site-library",
    };
    static const char OF_R[] = "-linux-gnu-library"; /* ~/R/x86_64-pc-linux-gnu-library */
    if (length >= sizeof(OF_R) - 1 &&
        memcmp(name + length - (sizeof(OF_R) - 1), OF_R, sizeof(OF_R) - 1) == 0) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (strlen(NAMES[i]) == length && memcmp(NAMES[i], name, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool holds_old(struct rsys_grants *grants, int directory, int depth, unsigned *left);

/* True when an entry of the directory fd is a program or a module directory from before the job;
 * also when the entry cannot be looked at. */
static bool is_old_entry(struct rsys_grants *grants, int fd, const char *name, int depth,
                         unsigned *left)
{
    struct stat about;
    int found = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found < 0) {
        return errno != ENOENT;
    }
    bool old = fstat(found, &about) != 0;
    if (!old && S_ISLNK(about.st_mode) && is_old(grants, found, &about)) {
        int target = openat(fd, name, O_PATH | O_CLOEXEC);
        old = target >= 0 && fstat(target, &about) == 0 &&
              (is_old_program(grants, target, &about) ||
               (depth == 0 && S_ISDIR(about.st_mode) && is_old(grants, target, &about) &&
                holds_old(grants, target, depth + 1, left)));
        if (target >= 0) {
            close(target);
        }
    } else if (!old && S_ISDIR(about.st_mode) && is_old(grants, found, &about)) {
        old = is_site_name(name, strlen(name)) || holds_old(grants, found, depth + 1, left);
    } else if (!old) {
        old = is_old_program(grants, found, &about);
    }
    close(found);
    return old;
}

/* True when the directory contains a program or a module directory from before the job; also when
 * it has more entries, or is deeper, than we look at. */
static bool holds_old(struct rsys_grants *grants, int directory, int depth, unsigned *left)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    bool found = entries == NULL || depth > WALK_DEPTH_MAX;
    if (entries == NULL && fd >= 0) {
        close(fd);
    }
    while (!found) {
        const struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            found = *left == 0 || is_old_entry(grants, fd, entry->d_name, depth, left);
            *left -= *left > 0 ? 1 : 0;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return found;
}

/* True when a part of the path after the place is a module directory from before the job. rest is
 * that part of path. named: the last name is about to be made, so it need not exist. */
static bool is_in_old_site(struct rsys_grants *grants, const char *path, const char *rest,
                           bool named)
{
    char upto[PATH_MAX + RSYS_NAME_MAX + 2];
    for (const char *at = rest; *at != '\0';) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        if (length > 0 && is_site_name(at, length)) {
            struct stat about;
            size_t used = (size_t)(at - path) + length;
            memcpy(upto, path, used);
            upto[used] = '\0';
            int fd = open(upto, O_PATH | O_NOFOLLOW | O_CLOEXEC);
            bool old = fd < 0 ? !(named && at[length] == '\0' && errno == ENOENT)
                              : fstat(fd, &about) != 0 || is_old(grants, fd, &about);
            if (fd >= 0) {
                close(fd);
            }
            if (old) {
                return true;
            }
        }
        at += length;
    }
    return false;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* True when the place allows changes at the path, as far as names tell: the path is within the
 * place, and neither a hidden entry of the home directory nor in a module directory from before the
 * job. */
static bool is_allowed(struct rsys_grants *grants, const struct place *place, const char *path,
                       bool named)
{
    size_t length = strlen(place->path);
    if (!place->tree) {
        return strcmp(path, place->path) == 0;
    }
    if (!rsys_is_below(path, place->path)) {
        return false;
    }
    bool is_home = grants->home != NULL && strcmp(place->path, grants->home) == 0;
    return !(is_home && path[length] == '/' && path[length + 1] == '.') &&
           !is_in_old_site(grants, path, path + length, named);
}

static int judge_path(struct rsys_grants *grants, const char *path, bool named,
                      enum rsys_change change)
{
    bool allowed = false;
    for (size_t i = 0; i < grants->count; i++) {
        if (change == RSYS_CHANGE_PLACE && rsys_is_below(grants->places[i].path, path)) {
            return -EBUSY;
        }
    }
    for (size_t i = 0; i < grants->count && !allowed; i++) {
        allowed = is_allowed(grants, &grants->places[i], path, named);
    }
    return allowed ? 0 : -EROFS;
}

int rsys_grants_judge(struct rsys_grants *grants, int fd, const char *name, enum rsys_change change)
{
    char path[PATH_MAX + RSYS_NAME_MAX + 2];
    struct stat about;
    unsigned left = WALK_MAX;
    int code = rsys_fd_where(fd, path, PATH_MAX);
    if (code != 0) {
        return code;
    }
    if (name != NULL) {
        size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);
        (void)snprintf(path + length, sizeof(path) - length, "/%s", name);
    }
    code = judge_path(grants, path, name != NULL, change);
    if (code != 0) {
        return code;
    }
    bool old = false;
    if (name == NULL) {
        old = fstat(fd, &about) != 0 || is_old_program(grants, fd, &about);
    } else if (change == RSYS_CHANGE_PLACE) {
        old = is_old_entry(grants, fd, name, 0, &left);
    }
    return old ? -EROFS : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_home_or_above(const struct rsys_grants *grants, const char *path)
{
    return strcmp(path, "/") == 0 || (grants->home != NULL && rsys_is_below(grants->home, path));
}

static bool is_granted_tree(const struct rsys_grants *grants, const char *path)
{
    for (size_t i = 0; i < grants->count; i++) {
        if (grants->places[i].tree && rsys_is_below(path, grants->places[i].path)) {
            return true;
        }
    }
    return false;
}

/* True when the path leads through a directory that the job may change: an earlier run may have put
 * a symbolic link there. */
static bool goes_through_tree(const struct rsys_grants *grants, const char *name)
{
    char way[PATH_MAX], path[PATH_MAX];
    bool through = false;
    for (const char *slash = strchr(name + 1, '/'); slash != NULL && !through;
         slash = strchr(slash + 1, '/')) {
        size_t length = (size_t)(slash - name);
        if (length >= sizeof(way)) {
            return true;
        }
        memcpy(way, name, length);
        way[length] = '\0';
        const char *next = slash + strspn(slash, "/");
        if (strcmp(next, "..") == 0 || strncmp(next, "../", 3) == 0) {
            continue; /* out of the place itself: what is in it was looked at before */
        }
        int fd = open(way, O_PATH | O_DIRECTORY | O_CLOEXEC);
        through =
            fd >= 0 && rsys_fd_where(fd, path, sizeof(path)) == 0 && is_granted_tree(grants, path);
        if (fd >= 0) {
            close(fd);
        }
    }
    return through;
}

static void add_place(struct rsys_grants *grants, const char *path, bool tree)
{
    grants->places[grants->count++] = (struct place){.path = mem_strdup(path), .tree = tree};
}

/* True when the file belongs to the user, or is writable for the user and not for everybody.  A
 * user cannot give away what everybody can write. */
static bool is_the_owners(int fd, const struct stat *about)
{
    char path[RSYS_FD_PATH_SIZE];
    rsys_fd_path(fd, path);
    return about->st_uid == geteuid() ||
           ((about->st_mode & S_IWOTH) == 0 && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0);
}

static bool is_in_roots(const struct rsys_offer *offer, const int *roots, const char *path)
{
    char root[PATH_MAX];
    for (size_t i = 0; i < offer->root_count; i++) {
        if (rsys_fd_where(roots[i], root, sizeof(root)) == 0 && rsys_is_below(path, root)) {
            return true;
        }
    }
    return false;
}

/* Adds a place that the job's owner named (remote_write), after checking that the owner may give it
 * away. */
static int add_given(struct rsys_grants *grants, const struct rsys_offer *offer, const int *roots,
                     const char *name, struct err *err)
{
    char path[PATH_MAX];
    struct stat about;
    int code, fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        code = -errno;
        return err_set(err, code, "remote_write: %s: %s", name, err_code_text(code));
    }
    code = fstat(fd, &about) == 0 ? rsys_fd_where(fd, path, sizeof(path)) : -errno;
    bool owners = code == 0 && is_the_owners(fd, &about);
    close(fd);
    if (code != 0) {
        return err_set(err, code, "remote_write: %s: %s", name, err_code_text(code));
    }
    if (!is_in_roots(offer, roots, path)) {
        return err_set(err, -EXDEV, "remote_write: %s is outside of the offered directories", name);
    }
    if (is_home_or_above(grants, path) &&
        (grants->home == NULL || strcmp(path, grants->home) != 0)) {
        return err_set(err, -EPERM, "remote_write: %s is above the home directory", name);
    }
    if (goes_through_tree(grants, name)) {
        return is_granted_tree(grants, path)
                   ? 0 /* it may be changed anyhow */
                   : err_set(err, -EPERM,
                             "remote_write: %s leads out of the initial directory through a link",
                             name);
    }
    if (!owners) {
        return err_set(err, -EPERM, "remote_write: %s does not belong to the job's owner", name);
    }
    add_place(grants, path, true);
    return 0;
}

static void add_start(struct rsys_grants *grants, const char *name)
{
    char path[PATH_MAX];
    int fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && rsys_fd_where(fd, path, sizeof(path)) == 0 && !is_home_or_above(grants, path)) {
        add_place(grants, path, true);
    }
    if (fd >= 0) {
        close(fd);
    }
}

/* Adds the file of an output of the job.  Symbolic links below another place are not followed,
 * because the job may have made them. */
static void add_output(struct rsys_grants *grants, const char *name)
{
    char path[PATH_MAX + RSYS_NAME_MAX + 2], above[PATH_MAX];
    struct stat about;
    const char *slash = strrchr(name, '/');
    size_t length = slash == name ? 1 : (size_t)(slash - name);
    if (length >= sizeof(above) || slash[1] == '\0' || strlen(slash + 1) > RSYS_NAME_MAX ||
        goes_through_tree(grants, name)) {
        return;
    }
    memcpy(above, name, length);
    above[length] = '\0';
    int directory = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code = directory >= 0 ? rsys_fd_where(directory, path, PATH_MAX) : -errno;
    if (code == 0 && !is_granted_tree(grants, path)) {
        int fd = openat(directory, slash + 1, O_PATH | O_CLOEXEC);
        if (fd >= 0) { /* the owner's link may have led there */
            code = fstat(fd, &about) == 0 ? rsys_fd_where(fd, path, PATH_MAX) : -errno;
            close(fd);
        } else {
            length = strcmp(path, "/") == 0 ? 0 : strlen(path);
            (void)snprintf(path + length, sizeof(path) - length, "%s", slash);
            about.st_mode = 0;
        }
        if (code == 0 && !is_home_or_above(grants, path)) {
            add_place(grants, path, fd >= 0 && S_ISDIR(about.st_mode));
        }
    }
    if (directory >= 0) {
        close(directory);
    }
}

static void find_home(struct rsys_grants *grants, const char *home)
{
    char path[PATH_MAX];
    int fd = home != NULL ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        grants->home = rsys_fd_where(fd, path, sizeof(path)) == 0 ? mem_strdup(path) : NULL;
        close(fd);
    }
}

int rsys_grants_create(const struct rsys_offer *offer, const int *roots, struct rsys_grants **ret,
                       struct err *err)
{
    struct rsys_grants *grants = mem_zalloc(sizeof(*grants));
    int code = 0;
    CHECK(pthread_mutex_init(&grants->mutex, NULL) == 0);
    grants->places = mem_zalloc((offer->grant_count + 1) * sizeof(*grants->places));
    grants->made = strmap_create(STRMAP_CASE_SENSITIVE);
    grants->began_ms = offer->began_ms;
    find_home(grants, offer->home);
    for (size_t i = 0; i < offer->grant_count && code == 0; i++) {
        const struct rsys_offer_grant *grant = &offer->grants[i];
        if (grant->kind == RSYS_GRANT_GIVEN) {
            code = add_given(grants, offer, roots, grant->path, err);
        } else if (grant->kind == RSYS_GRANT_START) {
            add_start(grants, grant->path);
        }
    }
    for (size_t i = 0; i < offer->grant_count && code == 0; i++) {
        if (offer->grants[i].kind == RSYS_GRANT_OUTPUT) { /* when all trees are known */
            add_output(grants, offer->grants[i].path);
        }
    }
    if (code != 0) {
        rsys_grants_destroy(grants);
        return code;
    }
    *ret = grants;
    return 0;
}

void rsys_grants_destroy(struct rsys_grants *grants)
{
    if (grants == NULL) {
        return;
    }
    for (size_t i = 0; i < grants->count; i++) {
        mem_free(grants->places[i].path);
    }
    mem_free(grants->places);
    mem_free(grants->home);
    strmap_destroy(grants->made, NULL);
    CHECK(pthread_mutex_destroy(&grants->mutex) == 0);
    mem_free(grants);
}
