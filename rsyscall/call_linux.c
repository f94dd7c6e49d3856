/* rsyscall/call_linux.c - requests about names: the system calls.
 *
 * Design note: a change names (descriptor of the directory, one name in it); a look uses an O_PATH
 * descriptor.  No system call here gets a path from the client, except paths that view.h has
 * resolved.  Where the kernel wants a path for a file of which we have a descriptor, it gets
 * /proc/self/fd/N.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/call.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rsyscall/view.h"

/* bytes that one COPY request copies, so that it does not occupy a lane for long */
#define COPY_MAX ((size_t)16 << 20)

void rsys_attr_from_stat(const struct stat *from, struct rsys_attr *ret)
{
    *ret = (struct rsys_attr){
        .mode = from->st_mode,
        .nlink = (uint32_t)from->st_nlink,
        .uid = from->st_uid,
        .gid = from->st_gid,
        .blksize = (uint32_t)from->st_blksize,
        .rdev_major = major(from->st_rdev),
        .rdev_minor = minor(from->st_rdev),
        .dev = from->st_dev,
        .ino = from->st_ino,
        .size = (uint64_t)from->st_size,
        .blocks = (uint64_t)from->st_blocks,
        .atime = {from->st_atim.tv_sec, (uint32_t)from->st_atim.tv_nsec},
        .mtime = {from->st_mtim.tv_sec, (uint32_t)from->st_mtim.tv_nsec},
        .ctime = {from->st_ctim.tv_sec, (uint32_t)from->st_ctim.tv_nsec},
    };
}

/* Sets this thread's umask to 0, so that new files get the mode that the request has: the client
 * has applied the umask of the job already, and the server's umask must not matter.  Where a
 * container forbids a umask per thread, the server's umask applies. */
static void own_umask(void)
{
    if (unshare(CLONE_FS) == 0) {
        (void)umask(0);
    }
}

/* Refuses set-user-id and set-group-id: a job must not make a program that runs with the user's
 * rights, whoever starts it. */
static int judge_mode(uint32_t mode, bool directory)
{
    return (mode & S_ISUID) != 0 || ((mode & S_ISGID) != 0 && !directory) ? -EPERM : 0;
}

/* ---- what a request names -------------------------------------------------------------------- */

/* Finds the file that the request is about: the handle's file, or the path below it.  The caller
 * closes *fd, unless it is the handle's descriptor. */
static int find_at(struct rsys_call *call, bool cached, int *fd, struct stat *about)
{
    const struct rsys_text *path = &call->request.at.path;
    if (path->length > 0) {
        return rsys_view_find(call->view, call->at->fd, path->data, cached, fd, about);
    }
    if (fstat(call->at->fd, about) != 0) {
        return -errno;
    }
    *fd = call->at->fd;
    return 0;
}

static void put_back(const struct rsys_call *call, int fd)
{
    if (fd != call->at->fd) {
        close(fd);
    }
}

struct place {
    int fd; /* descriptor of the directory that contains the name */
    const char *name;
};

/* Finds the directory and the name for a change, and checks that the job may make this change.
 * With makes, a name that exists is reported first (-EEXIST), as the kernel does, because programs
 * make directories without looking. */
static int find_place(struct rsys_call *call, const struct rsys_handle *from,
                      const struct rsys_text *path, enum rsys_change change, bool makes,
                      struct place *ret)
{
    if (path->length == 0) {
        return makes ? -EEXIST : -EBUSY; /* it is a handle */
    }
    int code = rsys_view_find_parent(call->view, from->fd, path, &ret->fd, &ret->name);
    if (code != 0) {
        return code;
    }
    code = rsys_view_judge(call->view, from->root, ret->fd, ret->name, change, false);
    if (makes && (code == -EROFS || code == -EBUSY) &&
        faccessat(ret->fd, ret->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        code = -EEXIST;
    }
    if (code != 0) {
        close(ret->fd);
        ret->fd = -1;
    }
    return code;
}

static int find_new(struct rsys_call *call, enum rsys_change change, struct place *ret)
{
    return find_place(call, call->at, &call->request.at.path, change, true, ret);
}

/* Puts the attributes of the file that was made at the place into the reply; or the errno when
 * result is not 0. */
static int finish_made(struct rsys_call *call, const struct place *place, int result)
{
    struct stat about;
    int code = result == 0 ? 0 : -errno, fd = -1;
    if (code == 0) {
        fd = openat(place->fd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        code = fd >= 0 && fstat(fd, &about) == 0 ? 0 : -errno;
    }
    if (code == 0) {
        rsys_attr_from_stat(&about, &call->reply.attr);
        if (call->request.op != RSYS_LINK) { /* a name more of what was there */
            rsys_view_made(call->view, fd);
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    close(place->fd);
    return code;
}

/* ---- looking --------------------------------------------------------------------------------- */

static int do_stat_how(struct rsys_call *call, bool cached)
{
    struct stat about;
    int fd = -1;
    int code = find_at(call, cached, &fd, &about);
    if (code == 0) {
        put_back(call, fd);
        rsys_attr_from_stat(&about, &call->reply.attr);
    }
    return code;
}

static int do_stat(struct rsys_call *call)
{
    return do_stat_how(call, false);
}

static int do_access(struct rsys_call *call)
{
    struct stat about;
    int fd = -1;
    int how = (int)call->request.how;
    if ((how & ~(R_OK | W_OK | X_OK)) != 0) {
        return -EINVAL;
    }
    int code = find_at(call, false, &fd, &about);
    if (code != 0) {
        return code;
    }
    if (S_ISLNK(about.st_mode)) {
        code = 0; /* anybody may follow it */
    } else {
        char path[RSYS_FD_PATH_SIZE];
        rsys_fd_path(fd, path);
        code = faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0 ? 0 : -errno;
    }
    if (code == 0 && (how & W_OK) != 0) {
        code = rsys_view_judge(call->view, call->at->root, fd, NULL, RSYS_CHANGE_FILE, false);
    }
    put_back(call, fd);
    return code;
}

static int do_readlink(struct rsys_call *call)
{
    struct stat about;
    int fd = -1;
    int code = find_at(call, false, &fd, &about);
    if (code != 0) {
        return code;
    }
    call->link = mem_alloc(RSYS_PATH_MAX + 1);
    ssize_t got = readlinkat(fd, "", call->link, RSYS_PATH_MAX + 1);
    if (got < 0) {
        code = errno == ENOENT ? -EINVAL : -errno; /* what an O_PATH descriptor of no link says */
    } else if (got > RSYS_PATH_MAX) {
        code = -ENAMETOOLONG;
    } else {
        call->reply.text = (struct rsys_text){call->link, (uint16_t)got};
    }
    put_back(call, fd);
    return code;
}

static int do_statfs(struct rsys_call *call)
{
    struct stat about;
    struct statvfs fs;
    int fd = -1;
    int code = find_at(call, false, &fd, &about);
    if (code != 0) {
        return code;
    }
    if (fstatvfs(fd, &fs) != 0) {
        code = -errno;
    } else {
        call->reply.statfs = (struct rsys_statfs){.blocks = fs.f_blocks,
                                                  .bfree = fs.f_bfree,
                                                  .bavail = fs.f_bavail,
                                                  .files = fs.f_files,
                                                  .ffree = fs.f_ffree,
                                                  .frsize = (uint32_t)fs.f_frsize,
                                                  .namelen = (uint32_t)fs.f_namemax};
    }
    put_back(call, fd);
    return code;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static int set_size(struct rsys_call *call, int fd, const char *path, uint64_t size)
{
    /* Who has it open for writing may cut it, whatever its mode has become since. */
    if (fd == call->at->fd && (call->at->how & RSYS_OPEN_WRITE) != 0) {
        return ftruncate(fd, (off_t)size) == 0 ? 0 : -errno;
    }
    return truncate(path, (off_t)size) == 0 ? 0 : -errno;
}

static int set_times(int fd, const char *path, bool link, uint32_t how,
                     const struct rsys_attr *attr)
{
    struct timespec times[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_nsec = UTIME_OMIT},
    };
    if ((how & RSYS_SET_ATIME_NOW) != 0) {
        times[0].tv_nsec = UTIME_NOW;
    } else if ((how & RSYS_SET_ATIME) != 0) {
        times[0] = (struct timespec){attr->atime.s, (long)attr->atime.ns};
    }
    if ((how & RSYS_SET_MTIME_NOW) != 0) {
        times[1].tv_nsec = UTIME_NOW;
    } else if ((how & RSYS_SET_MTIME) != 0) {
        times[1] = (struct timespec){attr->mtime.s, (long)attr->mtime.ns};
    }
    int result =
        link ? utimensat(fd, "", times, AT_EMPTY_PATH) : utimensat(AT_FDCWD, path, times, 0);
    return result == 0 ? 0 : -errno;
}

/* Refuses to open directories from before the job to other users or groups; grants.h explains
 * why. */
static int judge_directory(struct rsys_call *call, int fd, const struct stat *about)
{
    const struct rsys_attr *attr = &call->request.attr;
    uint32_t how = call->request.how;
    bool opens = (how & RSYS_SET_MODE) != 0 && (attr->mode & 022 & ~about->st_mode) != 0;
    bool gives = (how & RSYS_SET_GID) != 0 && attr->gid != about->st_gid;
    return S_ISDIR(about->st_mode) && (opens || gives) && rsys_view_is_old(call->view, fd) ? -EPERM
                                                                                           : 0;
}

static int set_all(struct rsys_call *call, int fd, const struct stat *about)
{
    char path[RSYS_FD_PATH_SIZE];
    const struct rsys_attr *attr = &call->request.attr;
    uint32_t how = call->request.how;
    bool link = S_ISLNK(about->st_mode);
    int code = 0;
    rsys_fd_path(fd, path);
    if ((how & RSYS_SET_SIZE) != 0) {
        code = S_ISREG(about->st_mode)   ? set_size(call, fd, path, attr->size)
               : S_ISDIR(about->st_mode) ? -EISDIR
                                         : -EINVAL;
    }
    if (code == 0 && (how & (RSYS_SET_UID | RSYS_SET_GID)) != 0) {
        uid_t uid = (how & RSYS_SET_UID) != 0 ? attr->uid : (uid_t)-1;
        gid_t gid = (how & RSYS_SET_GID) != 0 ? attr->gid : (gid_t)-1;
        code = fchownat(fd, "", uid, gid, AT_EMPTY_PATH) == 0 ? 0 : -errno;
    }
    if (code == 0 && (how & RSYS_SET_MODE) != 0) {
        code = link ? -EOPNOTSUPP : judge_mode(attr->mode, S_ISDIR(about->st_mode));
        if (code == 0) {
            code = chmod(path, attr->mode & 07777) == 0 ? 0 : -errno;
        }
    }
    if (code == 0 &&
        (how & (RSYS_SET_ATIME | RSYS_SET_MTIME | RSYS_SET_ATIME_NOW | RSYS_SET_MTIME_NOW)) != 0) {
        code = set_times(fd, path, link, how, attr);
    }
    return code;
}

static int do_setattr(struct rsys_call *call)
{
    struct stat about;
    int fd = -1;
    int code = find_at(call, false, &fd, &about);
    if (code != 0) {
        return code;
    }
    code = rsys_view_judge(call->view, call->at->root, fd, NULL, RSYS_CHANGE_FILE, false);
    code = code != 0 ? code : judge_directory(call, fd, &about);
    if (code == 0) {
        code = set_all(call, fd, &about);
    }
    if (code == 0) {
        code = fstat(fd, &about) == 0 ? 0 : -errno;
        rsys_attr_from_stat(&about, &call->reply.attr);
    }
    put_back(call, fd);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

static int do_mkdir(struct rsys_call *call)
{
    struct place place;
    int code = judge_mode(call->request.mode, true);
    if (code == 0) {
        code = find_new(call, RSYS_CHANGE_FILE, &place);
    }
    if (code != 0) {
        return code;
    }
    own_umask();
    return finish_made(call, &place, mkdirat(place.fd, place.name, call->request.mode & 07777));
}

static int do_mknod(struct rsys_call *call)
{
    struct place place;
    uint32_t mode = call->request.mode;
    if ((mode & S_IFMT) == 0) {
        mode |= S_IFREG;
    }
    if (!S_ISFIFO(mode) && !S_ISREG(mode)) {
        return -EPERM;
    }
    int code = judge_mode(mode, false);
    if (code == 0) {
        code = find_new(call, RSYS_CHANGE_FILE, &place);
    }
    if (code != 0) {
        return code;
    }
    own_umask();
    return finish_made(call, &place, mknodat(place.fd, place.name, mode & (S_IFMT | 07777), 0));
}

static int do_symlink(struct rsys_call *call)
{
    struct place place;
    if (call->request.text.length == 0) {
        return -ENOENT;
    }
    int code = find_new(call, RSYS_CHANGE_PLACE, &place);
    return code != 0 ? code
                     : finish_made(call, &place,
                                   symlinkat(call->request.text.data, place.fd, place.name));
}

/* Checks whether the job may change the file that has the name. */
static int judge_source(struct rsys_call *call, const struct place *from)
{
    int fd = openat(from->fd, from->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    int code = fd >= 0
                   ? rsys_view_judge(call->view, call->at->root, fd, NULL, RSYS_CHANGE_FILE, false)
                   : -errno;
    if (fd >= 0) {
        close(fd);
    }
    return code;
}

static int do_link(struct rsys_call *call)
{
    struct place to, from = {.fd = -1};
    char path[RSYS_FD_PATH_SIZE];
    int code = 0, result;
    if (call->request.at.path.length > 0) {
        /* A second name of what may not be changed would be a way to change it. */
        code = find_place(call, call->at, &call->request.at.path, RSYS_CHANGE_FILE, false, &from);
        code = code != 0 ? code : judge_source(call, &from);
    } else {
        code = rsys_view_judge(call->view, call->at->root, call->at->fd, NULL, RSYS_CHANGE_FILE,
                               false);
    }
    if (code == 0) {
        code = find_place(call, call->to, &call->request.to.path, RSYS_CHANGE_PLACE, true, &to);
        if (code == -ELOOP) {
            call->reply.how = 1;
        }
    }
    if (code != 0) {
        if (from.fd >= 0) {
            close(from.fd);
        }
        return code;
    }
    if (from.fd >= 0) {
        result = linkat(from.fd, from.name, to.fd, to.name, 0);
    } else {
        rsys_fd_path(call->at->fd, path);
        result = linkat(AT_FDCWD, path, to.fd, to.name, AT_SYMLINK_FOLLOW);
    }
    int error = errno;
    if (from.fd >= 0) {
        close(from.fd);
    }
    errno = error;
    return finish_made(call, &to, result);
}

/* Renames, and notes in call->replaced whether that removed a file.  Counted removals are made
 * under a lock, so that no file is subtracted twice. */
static int rename_counted(struct rsys_call *call, const struct place *from, const struct place *to)
{
    struct stat before, after;
    rsys_view_lock_names(call->view);
    int code =
        renameat2(from->fd, from->name, to->fd, to->name, RENAME_NOREPLACE) == 0 ? 0 : -errno;
    if (code == -EEXIST || code == -EINVAL) { /* or it cannot be asked for so */
        int target = openat(to->fd, to->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        bool known = target >= 0 && fstat(target, &before) == 0;
        code = renameat(from->fd, from->name, to->fd, to->name) == 0 ? 0 : -errno;
        call->replaced = code == 0 && known && fstat(target, &after) == 0 &&
                         (after.st_nlink == 0 || after.st_nlink < before.st_nlink);
        if (target >= 0) {
            close(target);
        }
    }
    rsys_view_unlock_names(call->view);
    return code;
}

static int do_rename(struct rsys_call *call)
{
    struct place from, to;
    uint32_t how = call->request.how;
    if ((how & ~(RSYS_RENAME_NOREPLACE | RSYS_RENAME_EXCHANGE)) != 0) {
        return -EINVAL;
    }
    int code = find_place(call, call->at, &call->request.at.path, RSYS_CHANGE_PLACE, false, &from);
    if (code != 0) {
        return code;
    }
    code = find_place(call, call->to, &call->request.to.path, RSYS_CHANGE_PLACE, false, &to);
    if (code != 0) {
        call->reply.how = 1;
        close(from.fd);
        return code;
    }
    unsigned flags = ((how & RSYS_RENAME_NOREPLACE) != 0 ? (unsigned)RENAME_NOREPLACE : 0U) |
                     ((how & RSYS_RENAME_EXCHANGE) != 0 ? (unsigned)RENAME_EXCHANGE : 0U);
    if (flags == 0 && call->counted) {
        code = rename_counted(call, &from, &to);
    } else {
        int result = flags == 0 ? renameat(from.fd, from.name, to.fd, to.name)
                                : renameat2(from.fd, from.name, to.fd, to.name, flags);
        code = result == 0 ? 0 : -errno;
    }
    close(from.fd);
    close(to.fd);
    return code;
}

static int remove_name(struct rsys_call *call, int flags)
{
    struct place place;
    int code = find_place(call, call->at, &call->request.at.path, RSYS_CHANGE_PLACE, false, &place);
    if (code != 0) {
        return code;
    }
    if (call->counted) {
        rsys_view_lock_names(call->view);
    }
    code = unlinkat(place.fd, place.name, flags) == 0 ? 0 : -errno;
    if (call->counted) {
        rsys_view_unlock_names(call->view);
    }
    close(place.fd);
    return code;
}

static int do_unlink(struct rsys_call *call)
{
    return remove_name(call, 0);
}

static int do_rmdir(struct rsys_call *call)
{
    return remove_name(call, AT_REMOVEDIR);
}

/* ---- open files ------------------------------------------------------------------------------ */

static int do_fsync(struct rsys_call *call)
{
    int result =
        (call->request.how & RSYS_SYNC_DATA) != 0 ? fdatasync(call->at->fd) : fsync(call->at->fd);
    return result == 0 ? 0 : -errno;
}

static int do_fallocate(struct rsys_call *call)
{
    const struct rsys_request *request = &call->request;
    struct stat before, about;
    if (fstat(call->at->fd, &before) != 0 ||
        fallocate(call->at->fd, (int)request->how, (off_t)request->offset,
                  (off_t)request->length) != 0 ||
        fstat(call->at->fd, &about) != 0) {
        return -errno;
    }
    /* Whole blocks, or large pages, for what may be a byte. */
    if (call->counted && about.st_blocks > before.st_blocks) {
        call->taken = (uint64_t)(about.st_blocks - before.st_blocks) * 512;
    }
    rsys_attr_from_stat(&about, &call->reply.attr);
    return 0;
}

static int do_seek(struct rsys_call *call)
{
    uint32_t how = call->request.how;
    if ((how != RSYS_SEEK_DATA && how != RSYS_SEEK_HOLE) || call->at->directory) {
        return -EINVAL;
    }
    off_t found = lseek(call->at->fd, (off_t)call->request.offset,
                        how == RSYS_SEEK_DATA ? SEEK_DATA : SEEK_HOLE);
    if (found < 0) {
        return -errno;
    }
    call->reply.value = (uint64_t)found;
    return 0;
}

static int do_copy(struct rsys_call *call)
{
    off_t from = (off_t)call->request.offset, to = (off_t)call->request.offset_to;
    size_t length = call->request.length < COPY_MAX ? (size_t)call->request.length : COPY_MAX;
    struct stat before;
    if (call->counted && fstat(call->to->fd, &before) != 0) {
        return -errno;
    }
    ssize_t got = copy_file_range(call->at->fd, &from, call->to->fd, &to, length, 0);
    if (got < 0) {
        return -errno;
    }
    call->reply.value = (uint64_t)got;
    if (call->counted) {
        call->taken = rsys_room_taken(&before, call->request.offset_to, (uint64_t)got);
    }
    return 0;
}

static int do_xattr(struct rsys_call *call)
{
    (void)call;
    return -EOPNOTSUPP;
}

/* ---- all of them ----------------------------------------------------------------------------- */

typedef int (*do_f)(struct rsys_call *call);

/* Returns the function for an operation; NULL for operations that the loop thread does itself. */
static do_f do_of(uint16_t op)
{
    static const do_f ALL[RSYS_OP_END] = {
        [RSYS_STAT] = do_stat,
        [RSYS_SETATTR] = do_setattr,
        [RSYS_ACCESS] = do_access,
        [RSYS_READLINK] = do_readlink,
        [RSYS_OPEN] = rsys_do_open,
        [RSYS_FLUSH] = rsys_do_flush,
        [RSYS_READ] = rsys_do_read,
        [RSYS_WRITE] = rsys_do_write,
        [RSYS_READDIR] = rsys_do_readdir,
        [RSYS_MKDIR] = do_mkdir,
        [RSYS_MKNOD] = do_mknod,
        [RSYS_SYMLINK] = do_symlink,
        [RSYS_LINK] = do_link,
        [RSYS_RENAME] = do_rename,
        [RSYS_UNLINK] = do_unlink,
        [RSYS_RMDIR] = do_rmdir,
        [RSYS_STATFS] = do_statfs,
        [RSYS_FSYNC] = do_fsync,
        [RSYS_LOCK] = rsys_do_lock,
        [RSYS_XATTR] = do_xattr,
        [RSYS_FALLOCATE] = do_fallocate,
        [RSYS_SEEK] = do_seek,
        [RSYS_COPY] = do_copy,
    };
    CHECK(op < RSYS_OP_END && ALL[op] != NULL);
    return ALL[op];
}

/* Tells the client which symbolic link is in the way, with its target, so that the client can
 * follow it. */
static int say_link(struct rsys_call *call)
{
    bool second = call->reply.how == 1;
    const struct rsys_handle *from = second ? call->to : call->at;
    const struct rsys_text *path = second ? &call->request.to.path : &call->request.at.path;
    size_t used = 0;
    if (from == NULL || path->length == 0) {
        return -ELOOP; /* a handle of a link; no more is known */
    }
    if (call->link == NULL) {
        call->link = mem_alloc(RSYS_PATH_MAX + 1);
    }
    int length = rsys_view_find_link(call->view, from->fd, path, &used, call->link);
    if (length < 0) {
        return length == -ELOOP ? -EAGAIN : length; /* it was changed meanwhile */
    }
    call->reply.value = used;
    call->reply.text = (struct rsys_text){call->link, (uint16_t)length};
    return -ELOOP;
}

void rsys_call_run(struct rsys_call *call)
{
    int code = do_of(call->request.op)(call);
    if (code == -ELOOP) {
        code = say_link(call);
    }
    call->reply.status = code;
}

static bool stat_at_once(struct rsys_call *call)
{
    if (call->request.at.path.length == 0 && !rsys_view_is_local(call->view, call->at->dev)) {
        return false;
    }
    int code = do_stat_how(call, true);
    call->reply.status = code;
    return code != -EAGAIN && code != -ELOOP;
}

bool rsys_call_at_once(struct rsys_call *call)
{
    switch (call->request.op) {
    case RSYS_READ:
        return rsys_read_at_once(call);
    case RSYS_WRITE:
        return rsys_write_at_once(call);
    case RSYS_STAT:
        return stat_at_once(call);
    case RSYS_OPEN:
        return rsys_open_at_once(call);
    case RSYS_FLUSH:
        if (!rsys_view_is_local(call->view, call->at->dev)) {
            return false;
        }
        call->reply.status = rsys_do_flush(call);
        return true;
    default:
        return false;
    }
}

void rsys_call_fini(struct rsys_call *call)
{
    if (call->opened.fd >= 0) {
        close(call->opened.fd);
        rsys_turn_destroy(call->opened.turn);
        call->opened.fd = -1;
    }
    if (call->out != call->scratch) {
        mem_free(call->out);
    }
    mem_free(call->link);
    call->out = NULL;
    call->link = NULL;
}
