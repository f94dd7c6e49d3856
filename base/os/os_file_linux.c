/* base/os/os_file_linux.c - files.
 *
 * Design note: what is read or replaced as a whole goes through os_read_file and os_write_file. The
 * latter writes a temporary file beside the target and renames it, so that a reader sees the old or
 * the new text and a crash leaves one of them; durable adds fsync of the file before the rename and
 * of the directory after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#define READ_BLOCK      ((size_t)16 << 10)
#define TEMPORARY_TRIES 100
#define PATH_BYTES_MAX  4096

static int path_err(struct err *err, const char *path)
{
    int error = errno;
    return err_set(err, -error, "%s: %s", path, strerror(error));
}

void os_stat_set(struct os_stat *ret, const struct stat *st)
{
    *ret = (struct os_stat){.is_dir = S_ISDIR(st->st_mode),
                            .is_file = S_ISREG(st->st_mode),
                            .is_link = S_ISLNK(st->st_mode),
                            .size_bytes = st->st_size,
                            .mtime_s = st->st_mtim.tv_sec,
                            .mode = st->st_mode & 07777,
                            .uid = st->st_uid,
                            .gid = st->st_gid};
}

int os_stat(struct os *os, const char *path, struct os_stat *ret)
{
    (void)os;
    struct stat st;
    if (lstat(path, &st) != 0) {
        return -errno;
    }
    os_stat_set(ret, &st);
    return 0;
}

/* ---- whole files ----------------------------------------------------------------------------- */

/* Files of /proc say that their size is 0: so this reads until the end, whatever the size. */
static int read_all(int fd, const char *path, size_t max_bytes, char **data, size_t *length,
                    struct err *err)
{
    size_t size = 0, room = READ_BLOCK;
    struct stat st;
    if (fstat(fd, &st) == 0 && st.st_size > 0 && (uint64_t)st.st_size <= max_bytes) {
        room = (size_t)st.st_size + 2;
    }
    char *text = mem_try_alloc(room);
    for (;;) {
        if (text == NULL) {
            return err_set(err, -ENOMEM, "%s: not enough memory to read the file", path);
        }
        ssize_t got = read(fd, text + size, room - size - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            mem_free(text);
            return path_err(err, path);
        }
        if (got == 0) {
            break;
        }
        size += (size_t)got;
        if (size > max_bytes) {
            mem_free(text);
            return err_set(err, -EFBIG, "%s: larger than %zu bytes", path, max_bytes);
        }
        if (room - size < 2) {
            char *grown = mem_try_realloc(text, room * 2);
            if (grown == NULL) {
                mem_free(text);
            }
            text = grown;
            room *= 2;
        }
    }
    text[size] = '\0';
    *data = text;
    *length = size;
    return 0;
}

int os_read_file(struct os *os, const char *path, size_t max_bytes, char **data, size_t *length,
                 struct err *err)
{
    (void)os;
    struct stat st;
    /* NONBLOCK: opening a named pipe must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return path_err(err, path);
    }
    int code = 0;
    if (fstat(fd, &st) != 0) {
        code = path_err(err, path);
    } else if (S_ISDIR(st.st_mode)) {
        code = err_set(err, -EISDIR, "%s: is a directory", path);
    } else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
        code = err_set(err, -EINVAL, "%s: is not a file", path);
    } else {
        code = read_all(fd, path, max_bytes, data, length, err);
    }
    close(fd);
    return code;
}

static int write_all(int fd, const void *data, size_t length, uint64_t offset)
{
    const char *at = data;
    while (length > 0) {
        ssize_t put = pwrite(fd, at, length, (off_t)offset);
        if (put < 0 && errno == ESPIPE) {
            put = write(fd, at, length); /* a terminal has no offsets */
        }
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return -errno;
        }
        at += put;
        offset += (uint64_t)put;
        length -= (size_t)put;
    }
    return 0;
}

/* Calls fsync on the directory that contains path. */
static int sync_directory_of(const char *path)
{
    char *copy = mem_strdup(path);
    char *slash = strrchr(copy, '/');
    const char *directory = ".";
    if (slash == copy) {
        directory = "/";
    } else if (slash != NULL) {
        *slash = '\0';
        directory = copy;
    }
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int code = fd < 0 || fsync(fd) != 0 ? -errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    mem_free(copy);
    return code;
}

/* Makes a new file beside path and sets its name, which has room for PATH_BYTES_MAX. */
static int open_temporary(const char *path, char *name)
{
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        int printed = snprintf(name, PATH_BYTES_MAX, "%s.tmp.%d.%d", path, (int)getpid(), i);
        if (printed < 0 || printed >= PATH_BYTES_MAX) {
            return -ENAMETOOLONG;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd >= 0 ? fd : -errno;
        }
    }
    return -EEXIST;
}

int os_write_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                  bool durable, struct err *err)
{
    (void)os;
    char *name = mem_alloc(PATH_BYTES_MAX);
    int fd = open_temporary(path, name);
    int code = fd < 0 ? fd : 0;
    if (code == 0) {
        code = write_all(fd, data, length, 0);
        if (code == 0 && (fchmod(fd, mode) != 0 || (durable && fsync(fd) != 0))) {
            code = -errno;
        }
        if (close(fd) != 0 && code == 0) {
            code = -errno;
        }
        if (code == 0 && rename(name, path) != 0) {
            code = -errno;
        }
        if (code != 0) {
            (void)unlink(name);
        } else if (durable) {
            code = sync_directory_of(path);
        }
    }
    mem_free(name);
    return code == 0 ? 0 : err_set(err, code, "cannot write %s: %s", path, strerror(-code));
}

int os_rewrite_file(struct os *os, const char *path, const void *data, size_t length, mode_t mode,
                    struct err *err)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
        st.st_uid != geteuid() || (st.st_mode & 07777) != mode) {
        if (fd >= 0) {
            close(fd);
        }
        return os_write_file(os, path, data, length, mode, false, err);
    }
    int code = write_all(fd, data, length, 0);
    if (code == 0 && (off_t)length != st.st_size && ftruncate(fd, (off_t)length) != 0) {
        code = -errno;
    }
    if (close(fd) != 0 && code == 0) {
        code = -errno;
    }
    return code == 0 ? 0 : err_set(err, code, "cannot write %s: %s", path, strerror(-code));
}

/* ---- names ----------------------------------------------------------------------------------- */

int os_mkdirs(struct os *os, const char *path, mode_t mode, struct err *err)
{
    (void)os;
    struct stat st;
    if (mkdir(path, mode) == 0 ||
        (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))) {
        return 0; /* nearly always: no need to go there from the root */
    }
    char *copy = mem_strdup(path);
    int code = 0;
    for (char *at = copy; code == 0; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char end = *at;
        *at = '\0';
        if (at > copy && mkdir(copy, mode) != 0 &&
            (errno != EEXIST || stat(copy, &st) != 0 || !S_ISDIR(st.st_mode))) {
            code = errno == EEXIST ? err_set(err, -ENOTDIR, "%s: is not a directory", copy)
                                   : path_err(err, copy);
        }
        *at = end;
        if (end == '\0') {
            break;
        }
    }
    mem_free(copy);
    return code;
}

int os_remove(struct os *os, const char *path, struct err *err)
{
    (void)os;
    if (unlink(path) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno == EISDIR && (rmdir(path) == 0 || errno == ENOENT)) {
        return 0;
    }
    return path_err(err, path);
}

int os_rename(struct os *os, const char *from, const char *to, bool durable, struct err *err)
{
    (void)os;
    int code = rename(from, to) == 0 ? 0 : -errno;
    if (code == 0 && durable) {
        code = sync_directory_of(to);
        if (code == 0) {
            code = sync_directory_of(from);
        }
    }
    return code == 0 ? 0
                     : err_set(err, code, "cannot rename %s to %s: %s", from, to, strerror(-code));
}

int os_chown(struct os *os, const char *path, uid_t uid, gid_t gid, struct err *err)
{
    (void)os;
    return lchown(path, uid, gid) == 0 ? 0 : path_err(err, path);
}

int os_chmod(struct os *os, const char *path, mode_t mode, struct err *err)
{
    (void)os;
    return chmod(path, mode) == 0 ? 0 : path_err(err, path);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int os_list(struct os *os, const char *path, void (*each)(void *arg, const char *name), void *arg,
            struct err *err)
{
    (void)os;
    struct vec names = {0};
    DIR *directory = opendir(path);
    struct dirent *entry;
    if (directory == NULL) {
        return path_err(err, path);
    }
    int code = 0;
    for (;;) {
        errno = 0;
        entry = readdir(directory);
        if (entry == NULL) {
            code = errno != 0 ? path_err(err, path) : 0;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            vec_push(&names, mem_strdup(entry->d_name));
        }
    }
    closedir(directory);
    if (code == 0 && names.count > 0) {
        qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
        for (size_t i = 0; i < names.count; i++) {
            each(arg, names.items[i]);
        }
    }
    vec_fini(&names, mem_free);
    return code;
}

/* ---- file systems ---------------------------------------------------------------------------- */

/* Numbers (statfs(2)) of file systems whose other end is another machine. */
static const uint32_t NETWORK_MAGIC[] = {
    0x6969,     /* NFS */
    0x517B,     /* SMB */
    0xFF534D42, /* CIFS */
    0xFE534D42, /* SMB2 */
    0x5346414F, /* AFS (OpenAFS) */
    0x6B414653, /* AFS (kernel) */
    0x73757245, /* Coda */
    0x00C36400, /* Ceph */
    0x0BD00BD0, /* Lustre */
    0x47504653, /* GPFS */
    0x01021997, /* 9P */
    0x19830326, /* BeeGFS */
    0x20030528, /* OrangeFS */
    0x7461636F, /* OCFS2 */
    0x01161970, /* GFS2 */
    0x786F4256, /* VirtualBox's shared folders */
};
#define FUSE_MAGIC 0x65735546u

/* Finds, in /proc/self/mountinfo, the file system with this device number: its type, or, with
 * `place`, where it is mounted and what is mounted there. */
static void mount_text(dev_t device, bool place, char *ret, size_t size)
{
    char *line = NULL, wanted[64];
    size_t room = 0;
    (void)snprintf(wanted, sizeof(wanted), "%u:%u", major(device), minor(device));
    ret[0] = '\0';
    FILE *file = fopen("/proc/self/mountinfo", "re");
    while (file != NULL && getline(&line, &room, file) > 0) {
        /* "36 35 98:0 /root /mount options ... - type source options" */
        char number[64];
        char *separator = strstr(line, " - ");
        char mount[256], type[64], source[256];
        if (separator == NULL || sscanf(line, "%*s %*s %63s %*s %255s", number, mount) != 2 ||
            sscanf(separator + 3, "%63s %255s", type, source) != 2 || strcmp(number, wanted) != 0) {
            continue;
        }
        if (place) {
            (void)snprintf(ret, size, "%s (%s)", mount, source); /* cut if too long */
        } else {
            (void)snprintf(ret, size, "%s", type);
        }
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file); /* was only read */
    }
}

/* Anything may be behind FUSE; these types are known to be local. */
static bool is_network_fuse(const char *path)
{
    static const char *const LOCAL[] = {"fuseblk", "fuse.fuse-overlayfs", "virtiofs", "fuse.bindfs",
                                        "fuse.mergerfs"};
    struct stat st;
    char type[64];
    if (stat(path, &st) != 0) {
        return true;
    }
    mount_text(st.st_dev, false, type, sizeof(type));
    for (size_t i = 0; i < ARRAY_COUNT(LOCAL); i++) {
        if (strcmp(type, LOCAL[i]) == 0) {
            return false;
        }
    }
    return true;
}

bool os_is_device(struct os *os, const char *path)
{
    (void)os;
    struct stat st;
    return stat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

bool os_is_network_fs(struct os *os, const char *path)
{
    (void)os;
    struct statfs st;
    char *copy = mem_strdup(path);
    bool network = false;
    while (statfs(copy, &st) != 0) { /* of what does not exist yet, where it would be */
        char *slash = strrchr(copy, '/');
        if (slash == NULL || slash == copy) {
            (void)snprintf(copy, strlen(path) + 1, "%s", slash == NULL ? "." : "/");
            if (statfs(copy, &st) != 0) {
                mem_free(copy);
                return false;
            }
            break;
        }
        *slash = '\0';
    }
    uint32_t magic = (uint32_t)st.f_type;
    for (size_t i = 0; i < ARRAY_COUNT(NETWORK_MAGIC); i++) {
        network = network || magic == NETWORK_MAGIC[i];
    }
    network = network || (magic == FUSE_MAGIC && is_network_fuse(copy));
    mem_free(copy);
    return network;
}

/* ---- open files ------------------------------------------------------------------------------ */

struct os_file {
    int fd;
};

int os_file_flags(enum os_open how)
{
    static const int FLAGS[] = {
        [OS_READ] = O_RDONLY | O_NONBLOCK,
        [OS_WRITE_NEW] = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
        [OS_WRITE_TRUNCATE] = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK,
        [OS_APPEND] = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
        [OS_WRITE] = O_WRONLY | O_CREAT | O_NONBLOCK,
    };
    return FLAGS[how];
}

struct os_file *os_file_of(int fd)
{
    struct os_file *file = mem_zalloc(sizeof(*file));
    file->fd = fd;
    return file;
}

int os_file_open(struct os *os, const char *path, enum os_open how, mode_t mode,
                 struct os_file **ret, struct err *err)
{
    (void)os;
    /* Non-blocking: a FIFO, which nobody has at its other end, is no file either. */
    int fd = open(path, os_file_flags(how) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
    if (fd < 0) {
        return path_err(err, path);
    }
    struct stat st;
    if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || S_ISFIFO(st.st_mode)) {
        close(fd);
        return err_set(err, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL, "%s: is not a file", path);
    }
    *ret = os_file_of(fd);
    return 0;
}

/* Changes the account for files, of this thread only, by the kernel's own calls, because libc's
 * change the whole process.  With another fsuid than 0 the capabilities that bypass permissions are
 * gone, too. */
static int set_file_account(uid_t uid, gid_t gid, const gid_t *groups, size_t count)
{
    if (syscall(SYS_setgroups, count, groups) != 0) {
        return -errno;
    }
    (void)syscall(SYS_setfsgid, gid); /* say nothing of success: asked below */
    (void)syscall(SYS_setfsuid, uid);
    return syscall(SYS_setfsgid, -1) == (long)gid && syscall(SYS_setfsuid, -1) == (long)uid
               ? 0
               : -EPERM;
}

/* Without supplementary groups, as jobs run. */
int os_file_open_as(struct os *os, const char *path, uid_t uid, gid_t gid, struct os_file **ret,
                    struct err *err)
{
    struct stat st;
    if (geteuid() != 0) {
        return os_file_open(os, path, OS_READ, 0, ret, err);
    }
    int count = getgroups(0, NULL);
    gid_t *own = mem_alloc(((size_t)(count > 0 ? count : 0) + 1) * sizeof(*own));
    count = getgroups(count, own);
    int rc = count < 0 ? -EPERM : set_file_account(uid, gid, NULL, 0);
    int fd = rc == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    rc = rc == 0 && fd < 0 ? -errno : rc;
    if (count >= 0) {
        CHECK(set_file_account(0, getegid(), own, (size_t)count) == 0); /* else who are we? */
    }
    mem_free(own);
    if (rc == 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        rc = -EINVAL;
    }
    if (rc != 0) {
        return err_set(err, rc, "%s: %s", path, rc == -EINVAL ? "is not a file" : strerror(-rc));
    }
    *ret = os_file_of(fd);
    return 0;
}

ssize_t os_file_read(struct os_file *file, uint64_t offset, void *data, size_t length)
{
    ssize_t got;
    do {
        got = pread(file->fd, data, length, (off_t)offset);
    } while (got < 0 && errno == EINTR);
    return got >= 0 ? got : -errno;
}

int os_file_write(struct os_file *file, uint64_t offset, const void *data, size_t length)
{
    return write_all(file->fd, data, length, offset); /* the kernel ignores offset when appending */
}

bool os_disk_name(struct os *os, const char *path, char *ret, size_t size)
{
    struct stat st;
    struct statvfs vfs;
    (void)os;
    ret[0] = '\0';
    if (stat(path, &st) == 0) {
        mount_text(st.st_dev, true, ret, size);
    }
    if (ret[0] == '\0') {
        (void)snprintf(ret, size, "%s", path); /* cut if too long */
    }
    return statvfs(path, &vfs) == 0 && (vfs.f_flag & ST_RDONLY) != 0;
}

int os_file_allocate(struct os_file *file, uint64_t length)
{
    return fallocate(file->fd, 0, 0, (off_t)length) == 0 ? 0 : -errno;
}

int os_file_sync(struct os_file *file)
{
    return fsync(file->fd) == 0 ? 0 : -errno;
}

int64_t os_file_size(const struct os_file *file)
{
    struct stat st;
    return fstat(file->fd, &st) == 0 ? st.st_size : -errno;
}

int os_file_chmod(struct os_file *file, mode_t mode)
{
    return fchmod(file->fd, mode) == 0 ? 0 : -errno;
}

int os_file_chown(struct os_file *file, uid_t uid, gid_t gid)
{
    return fchown(file->fd, uid, gid) == 0 ? 0 : -errno;
}

void os_file_stat(const struct os_file *file, struct os_stat *ret)
{
    struct stat st;
    *ret = (struct os_stat){0};
    if (fstat(file->fd, &st) == 0) {
        os_stat_set(ret, &st);
    }
}

int os_file_lock(struct os_file *file)
{
    /* An open file description's: closing another descriptor of the same file does not drop it. */
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file->fd, F_OFD_SETLK, &whole) == 0) {
        return 0;
    }
    return errno == EACCES ? -EAGAIN : -errno;
}

int os_file_end(struct os_file *file)
{
    int rc = close(file->fd) == 0 ? 0 : -errno;
    mem_free(file);
    return rc;
}

void os_file_close(struct os_file *file)
{
    if (file != NULL) {
        (void)os_file_end(file); /* who wants to know that it is on the disk has synced it */
    }
}
