/* rsyscall/view_linux.c - which of this machine's files a job can reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "rsyscall/server.h"

#define DEVICES_MAX     32
#define DEVICE_KNOWN_MS 5000 /* later, a device number may belong to another file system */

enum kind { UNKNOWN, KERNEL_VIEW, MEMORY, LOCAL, OTHER };

struct device {
    uint64_t dev;
    enum kind kind;
    uint64_t since_ms;
};

struct rsys_view {
    struct {
        int fd;
        bool readonly;
    } roots[RSYS_ROOTS_MAX];
    uint32_t root_count;
    bool stay_on_device;
    bool no_openat2;
    struct rsys_parts *parts;
    struct rsys_grants *grants; /* which files may be changed; NULL: all that are not read-only */
    pthread_mutex_t names;

    pthread_mutex_t mutex; /* protects all below */
    struct device devices[DEVICES_MAX];
    size_t device_next;
};

static void lock_view(struct rsys_view *view)
{
    CHECK(pthread_mutex_lock(&view->mutex) == 0);
}

static void unlock_view(struct rsys_view *view)
{
    CHECK(pthread_mutex_unlock(&view->mutex) == 0);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void rsys_fd_path(int fd, char ret[RSYS_FD_PATH_SIZE])
{
    (void)snprintf(ret, RSYS_FD_PATH_SIZE, "/proc/self/fd/%d", fd);
}

/* ---- file systems ---------------------------------------------------------------------------- */

static enum kind kind_of(long type)
{
    /* Some are not in <linux/magic.h>. */
    enum { CONFIGFS = 0x62656570, FUSECTL = 0x65735543, MQUEUE = 0x19800202, NFSD = 0x6e667364 };
    enum { RPC_PIPEFS = 0x67596969, PIDFS = 0x50494446, XFS = 0x58465342, ZFS = 0x2fc12fc1 };
    enum { RAMFS = 0x858458f6 };
    switch ((unsigned long)type & 0xffffffffUL) {
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP_SUPER_MAGIC:
    case CGROUP2_SUPER_MAGIC:
    case DEBUGFS_MAGIC:
    case TRACEFS_MAGIC:
    case SECURITYFS_MAGIC:
    case SELINUX_MAGIC:
    case SMACK_MAGIC:
    case AAFS_MAGIC:
    case PSTOREFS_MAGIC:
    case EFIVARFS_MAGIC:
    case BPF_FS_MAGIC:
    case DEVPTS_SUPER_MAGIC:
    case BINFMTFS_MAGIC:
    case NSFS_MAGIC:
    case HUGETLBFS_MAGIC:
    case USBDEVICE_SUPER_MAGIC:
    case SOCKFS_MAGIC:
    case ANON_INODE_FS_MAGIC:
    case XENFS_SUPER_MAGIC:
    case CONFIGFS:
    case FUSECTL:
    case MQUEUE:
    case NFSD:
    case RPC_PIPEFS:
    case PIDFS:
        return KERNEL_VIEW;
    case TMPFS_MAGIC:
    case RAMFS:
        return MEMORY;
    case EXT4_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case XFS:
    case ZFS:
        return LOCAL;
    default:
        return OTHER; /* overlays, too: what is below them may be anywhere */
    }
}

static enum kind device_known(struct rsys_view *view, uint64_t dev)
{
    enum kind kind = UNKNOWN;
    uint64_t now = now_ms();
    lock_view(view);
    for (size_t i = 0; i < DEVICES_MAX && kind == UNKNOWN; i++) {
        const struct device *each = &view->devices[i];
        if (each->kind != UNKNOWN && each->dev == dev && now - each->since_ms < DEVICE_KNOWN_MS) {
            kind = each->kind;
        }
    }
    unlock_view(view);
    return kind;
}

static void device_learn(struct rsys_view *view, uint64_t dev, enum kind kind)
{
    lock_view(view);
    struct device *place = &view->devices[view->device_next];
    for (size_t i = 0; i < DEVICES_MAX; i++) {
        if (view->devices[i].kind != UNKNOWN && view->devices[i].dev == dev) {
            place = &view->devices[i];
        }
    }
    if (place == &view->devices[view->device_next]) {
        view->device_next = (view->device_next + 1) % DEVICES_MAX;
    }
    *place = (struct device){.dev = dev, .kind = kind, .since_ms = now_ms()};
    unlock_view(view);
}

/* Returns 0 when the job may enter the file system of fd, else -errno. cached: -EAGAIN instead of a
 * call that could block. */
static int device_judge(struct rsys_view *view, int fd, uint64_t dev, bool cached)
{
    enum kind kind = device_known(view, dev);
    if (kind == UNKNOWN) {
        struct statfs about;
        if (cached) {
            return -EAGAIN;
        }
        if (fstatfs(fd, &about) != 0) {
            return -errno;
        }
        kind = kind_of((long)about.f_type);
        device_learn(view, dev, kind);
    }
    /* What could block even with all names cached is not for the loop thread. */
    return kind == KERNEL_VIEW ? -EXDEV : cached && kind == OTHER ? -EAGAIN : 0;
}

bool rsys_view_is_local(struct rsys_view *view, uint64_t dev)
{
    enum kind kind = device_known(view, dev);
    return kind == LOCAL || kind == MEMORY;
}

bool rsys_view_is_memory(struct rsys_view *view, uint64_t dev)
{
    return device_known(view, dev) == MEMORY;
}

int rsys_view_judge(struct rsys_view *view, uint32_t root, int fd, const char *name,
                    enum rsys_change change, bool cached)
{
    if (change != RSYS_CHANGE_NOTHING && view->roots[root].readonly) {
        return -EROFS;
    }
    int code = rsys_parts_judge(view->parts, fd, name, change, cached);
    if (code != 0 || change == RSYS_CHANGE_NOTHING || view->grants == NULL) {
        return code;
    }
    return cached ? -EAGAIN : rsys_grants_judge(view->grants, fd, name, change);
}

bool rsys_view_is_old(struct rsys_view *view, int fd)
{
    return view->grants != NULL && rsys_grants_is_old(view->grants, fd);
}

void rsys_view_made(struct rsys_view *view, int fd)
{
    if (view->grants != NULL) {
        rsys_grants_made(view->grants, fd);
    }
}

bool rsys_view_is_above_part(struct rsys_view *view, int fd)
{
    return rsys_parts_judge(view->parts, fd, NULL, RSYS_CHANGE_PLACE, false) != 0;
}

void rsys_view_lock_names(struct rsys_view *view)
{
    CHECK(pthread_mutex_lock(&view->names) == 0);
}

void rsys_view_unlock_names(struct rsys_view *view)
{
    CHECK(pthread_mutex_unlock(&view->names) == 0);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* True when the file of fd is within one of the places where roots are allowed, both as they are
 * now. */
static bool is_within(const struct rsys_offer *offer, int fd)
{
    char path[PATH_MAX], outer[PATH_MAX];
    bool found = offer->within_count == 0;
    int code = found ? 0 : rsys_fd_where(fd, path, sizeof(path));
    for (size_t i = 0; i < offer->within_count && !found && code == 0; i++) {
        int place = open(offer->within[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
        found = place >= 0 && rsys_fd_where(place, outer, sizeof(outer)) == 0 &&
                rsys_is_below(path, outer);
        if (place >= 0) {
            close(place);
        }
    }
    return found;
}

static int root_open(struct rsys_view *view, const struct rsys_offer *offer,
                     const struct rsys_offer_root *root, struct err *err)
{
    struct stat about;
    int fd = open(root->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, -errno, "%s: %s", root->directory, err_code_text(-errno));
    }
    int code = fstat(fd, &about) == 0 ? device_judge(view, fd, about.st_dev, false) : -errno;
    code = code == 0 && !is_within(offer, fd) ? -EXDEV : code;
    if (code != 0) {
        close(fd);
        return err_set(err, code, "%s: cannot be offered: %s", root->directory,
                       err_code_text(code));
    }
    view->roots[view->root_count].fd = fd;
    view->roots[view->root_count++].readonly = root->readonly;
    return 0;
}

static bool knows_openat2(void)
{
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS};
    long fd = syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));
    if (fd >= 0) {
        close((int)fd);
    }
    /* EPERM: a container's filter that has not heard of it. */
    return fd >= 0 || (errno != ENOSYS && errno != EPERM);
}

int rsys_view_create(const struct rsys_offer *offer, struct rsys_view **ret, struct err *err)
{
    struct rsys_view *view = mem_zalloc(sizeof(*view));
    bool mixed = false;
    CHECK(pthread_mutex_init(&view->mutex, NULL) == 0);
    CHECK(pthread_mutex_init(&view->names, NULL) == 0);
    view->stay_on_device = offer->stay_on_device;
    view->no_openat2 = !knows_openat2();
    view->parts = rsys_parts_create(RSYS_PARTS_MAX + RSYS_ROOTS_MAX);
    for (size_t i = 0; i < offer->root_count; i++) {
        int code = root_open(view, offer, &offer->roots[i], err);
        if (code != 0) {
            rsys_view_destroy(view);
            return code;
        }
        mixed |= !offer->roots[i].readonly;
    }
    for (size_t i = 0; i < offer->part_count; i++) {
        rsys_parts_add(view->parts, offer->parts[i].path, offer->parts[i].hidden);
    }
    /* A read-only root may be below another one. */
    for (size_t i = 0; i < offer->root_count && mixed && offer->root_count > 1; i++) {
        if (offer->roots[i].readonly) {
            rsys_parts_add(view->parts, offer->roots[i].directory, false);
        }
    }
    if (offer->guarded) {
        int roots[RSYS_ROOTS_MAX];
        for (size_t i = 0; i < view->root_count; i++) {
            roots[i] = view->roots[i].fd;
        }
        int code = rsys_grants_create(offer, roots, &view->grants, err);
        if (code != 0) {
            rsys_view_destroy(view);
            return code;
        }
    }
    *ret = view;
    return 0;
}

void rsys_view_destroy(struct rsys_view *view)
{
    if (view == NULL) {
        return;
    }
    for (size_t i = 0; i < view->root_count; i++) {
        close(view->roots[i].fd);
    }
    rsys_grants_destroy(view->grants);
    rsys_parts_destroy(view->parts);
    CHECK(pthread_mutex_destroy(&view->names) == 0);
    CHECK(pthread_mutex_destroy(&view->mutex) == 0);
    mem_free(view);
}

void rsys_view_who(uint32_t *uid, uint32_t *gid)
{
    *uid = geteuid();
    *gid = getegid();
}

uint32_t rsys_view_descriptors_max(void)
{
    struct rlimit files;
    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    return files.rlim_cur < UINT32_MAX ? (uint32_t)files.rlim_cur : UINT32_MAX;
}

uint32_t rsys_view_root_count(const struct rsys_view *view)
{
    return view->root_count;
}

int rsys_view_root_fd(const struct rsys_view *view, uint32_t number)
{
    CHECK(number < view->root_count);
    return view->roots[number].fd;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Opens one name below `from`: with directory, a directory to continue from, else the end of the
 * path. */
static int step_into(const struct rsys_view *view, int from, const char *name, bool directory,
                     uint64_t *dev, int *ret)
{
    struct stat about;
    int fd = openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int code = fstat(fd, &about) == 0 ? 0 : -errno;
    if (code == 0 && directory && !S_ISDIR(about.st_mode)) {
        code = S_ISLNK(about.st_mode) ? -ELOOP : -ENOTDIR;
    }
    if (code == 0 && view->stay_on_device && *dev != 0 && *dev != about.st_dev) {
        code = -EXDEV;
    }
    if (code != 0) {
        close(fd);
        return code;
    }
    *dev = about.st_dev;
    *ret = fd;
    return 0;
}

/* Follows the path name by name, up to the first name that is not a directory.  *used is the number
 * of bytes up to and including this name. */
static int walk_path(const struct rsys_view *view, int from, const char *path, bool directory,
                     size_t *used, int *ret)
{
    char name[RSYS_NAME_MAX + 1];
    struct stat about;
    int fd = -1, code = fstat(from, &about) == 0 ? 0 : -errno;
    uint64_t dev = about.st_dev;
    for (size_t at = 0; code == 0;) {
        size_t length = strcspn(path + at, "/");
        CHECK(length <= RSYS_NAME_MAX);
        memcpy(name, path + at, length);
        name[length] = '\0';
        bool last = path[at + length] == '\0';
        int next = -1;
        code = step_into(view, fd >= 0 ? fd : from, name, directory || !last, &dev, &next);
        *used = at + length;
        if (fd >= 0) {
            close(fd);
        }
        fd = next;
        at += length + 1;
        if (last) {
            break;
        }
    }
    if (code == 0) {
        *ret = fd;
    }
    return code;
}

static int find_path(const struct rsys_view *view, int from, const char *path, bool directory,
                     bool cached, int *ret)
{
    if (view->no_openat2) {
        size_t used;
        return cached ? -EAGAIN : walk_path(view, from, path, directory, &used, ret);
    }
    struct open_how how = {.flags = (uint64_t)(O_PATH | O_CLOEXEC |
                                               (directory ? O_DIRECTORY : O_NOFOLLOW)),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS |
                                      (view->stay_on_device ? (uint64_t)RESOLVE_NO_XDEV : 0) |
                                      (cached ? (uint64_t)RESOLVE_CACHED : 0)};
    long fd = syscall(SYS_openat2, from, path, &how, sizeof(how));
    if (fd < 0) {
        /* A kernel without RESOLVE_CACHED says EINVAL. */
        return cached && errno == EINVAL ? -EAGAIN : -errno;
    }
    *ret = (int)fd;
    return 0;
}

int rsys_view_find(struct rsys_view *view, int from, const char *path, bool cached, int *ret,
                   struct stat *about)
{
    int fd = -1;
    int code = find_path(view, from, path, false, cached, &fd);
    if (code != 0) {
        return code;
    }
    code = fstat(fd, about) == 0 ? device_judge(view, fd, about->st_dev, cached) : -errno;
    if (code == 0) {
        code = rsys_view_judge(view, 0, fd, NULL, RSYS_CHANGE_NOTHING, cached);
    }
    if (code != 0) {
        close(fd);
        return code;
    }
    *ret = fd;
    return 0;
}

int rsys_view_find_parent(struct rsys_view *view, int from, const struct rsys_text *path, int *ret,
                          const char **name)
{
    char directory[RSYS_PATH_MAX + 1];
    struct stat about;
    size_t last;
    int fd = -1, code = 0;
    size_t length = rsys_path_split(path->data, path->length, &last);
    if (length == 0) {
        fd = fcntl(from, F_DUPFD_CLOEXEC, 0);
        code = fd >= 0 ? 0 : -errno;
    } else {
        memcpy(directory, path->data, length);
        directory[length] = '\0';
        code = find_path(view, from, directory, true, false, &fd);
    }
    if (code != 0) {
        return code;
    }
    code = fstat(fd, &about) == 0 ? device_judge(view, fd, about.st_dev, false) : -errno;
    if (code == 0 && !S_ISDIR(about.st_mode)) {
        code = -ENOTDIR;
    }
    if (code == 0) {
        code = rsys_view_judge(view, 0, fd, NULL, RSYS_CHANGE_NOTHING, false);
    }
    if (code != 0) {
        close(fd);
        return code;
    }
    *ret = fd;
    *name = path->data + last;
    return 0;
}

int rsys_view_find_link(struct rsys_view *view, int from, const struct rsys_text *path,
                        size_t *used, char *text)
{
    char upto[RSYS_PATH_MAX + 1];
    size_t length = 0;
    int fd = -1;
    /* As far as there are directories; what stops it is the link, unless it was changed since. */
    int code = walk_path(view, from, path->data, true, &length, &fd);
    if (code == 0) {
        close(fd);
        return -ENOENT;
    }
    if (code != -ELOOP) {
        return code;
    }
    memcpy(upto, path->data, length);
    upto[length] = '\0';
    struct stat about;
    code = rsys_view_find(view, from, upto, false, &fd, &about);
    if (code != 0) {
        return code;
    }
    ssize_t got = readlinkat(fd, "", text, RSYS_PATH_MAX + 1);
    code = got < 0 ? -errno : got > RSYS_PATH_MAX ? -ENAMETOOLONG : (int)got;
    close(fd);
    if (code >= 0) {
        text[code] = '\0';
        *used = length;
    }
    return code;
}
