/* rsyscall/file_linux.c - requests about open files: opening, contents, directories.
 *
 * Design note: only regular files and directories are opened, because opening other files can have
 * effects (a fifo, a device).  So a file is first held by an O_PATH descriptor, looked at, and then
 * opened through /proc/self/fd, which cannot become another file in between.  New files are made
 * with O_EXCL, so they need no such check.
 *
 * Holes are not read: a reply says where the data is.  The loop thread may read data that the
 * kernel has in memory (RWF_NOWAIT).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/call.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rsyscall/view.h"

#define OPEN_TRIES     16
#define WRITE_AT_ONCE  ((size_t)64 << 10) /* larger writes go to a lane (worker thread) */
#define DIRECTORY_READ ((size_t)32 << 10)
#define BLOCK          ((uint64_t)4096) /* block size of most file systems */

#define OPEN_KNOWN                                                                                 \
    (RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_APPEND | RSYS_OPEN_CREATE | RSYS_OPEN_EXCL |     \
     RSYS_OPEN_TRUNC | RSYS_OPEN_DIRECTORY | RSYS_OPEN_PATH | RSYS_OPEN_SYNC | RSYS_OPEN_TMPFILE | \
     RSYS_OPEN_SAME)

struct rsys_turn {
    pthread_mutex_t mutex;
};

static struct rsys_turn *rsys_turn_create(void)
{
    struct rsys_turn *turn = mem_zalloc(sizeof(*turn));
    CHECK(pthread_mutex_init(&turn->mutex, NULL) == 0);
    return turn;
}

void rsys_turn_destroy(struct rsys_turn *turn)
{
    if (turn != NULL) {
        CHECK(pthread_mutex_destroy(&turn->mutex) == 0);
        mem_free(turn);
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static int flags_of(uint32_t how)
{
    int flags = O_CLOEXEC | O_NOCTTY;
    if ((how & RSYS_OPEN_WRITE) != 0) {
        flags |= (how & RSYS_OPEN_READ) != 0 ? O_RDWR : O_WRONLY;
    }
    flags |= (how & RSYS_OPEN_APPEND) != 0 ? O_APPEND : 0;
    flags |= (how & RSYS_OPEN_SYNC) != 0 ? O_SYNC : 0;
    return flags;
}

/* Makes a file with the mode of the request, without a umask of the server's.  Returns a descriptor
 * or -errno. */
static int open_new(struct rsys_call *call, int directory, const char *name, int flags)
{
    uint32_t mode = call->request.mode;
    if (unshare(CLONE_FS) == 0) {
        (void)umask(0);
    }
    int fd = openat(directory, name, flags, (mode_t)(mode & 07777));
    if (fd < 0) {
        return -errno;
    }
    rsys_view_made(call->view, fd);
    return fd;
}

/* Makes the file that the request names.  Returns a descriptor; -EEXIST when the name exists; or
 * another -errno. */
static int create_file(struct rsys_call *call)
{
    const struct rsys_request *request = &call->request;
    const char *name;
    int directory = -1;
    int code =
        rsys_view_find_parent(call->view, call->at->fd, &request->at.path, &directory, &name);
    if (code != 0) {
        return code;
    }
    code = rsys_view_judge(call->view, call->at->root, directory, name, RSYS_CHANGE_FILE, false);
    if (code == 0) {
        code =
            open_new(call, directory, name, flags_of(request->how) | O_CREAT | O_EXCL | O_NOFOLLOW);
    } else if (code == -EROFS && faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        code = -EEXIST; /* which may be read */
    }
    close(directory);
    return code;
}

static int create_nameless(struct rsys_call *call, int directory)
{
    int code =
        rsys_view_judge(call->view, call->at->root, directory, NULL, RSYS_CHANGE_FILE, false);
    if (code != 0) {
        return code;
    }
    char path[RSYS_FD_PATH_SIZE];
    rsys_fd_path(directory, path);
    return open_new(call, AT_FDCWD, path, flags_of(call->request.how) | O_TMPFILE);
}

/* Returns the file's birth time in nanoseconds; it tells a file from a later one with the same
 * inode number. 0: the file system has no birth times. */
static uint64_t birth_of(int fd)
{
    struct statx about;
    bool known = statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &about) == 0 &&
                 (about.stx_mask & STATX_BTIME) != 0 && about.stx_btime.tv_sec >= 0;
    return known ? (uint64_t)about.stx_btime.tv_sec * 1000000000U + about.stx_btime.tv_nsec : 0;
}

static bool is_same(const struct rsys_request *request, int found, const struct stat *about)
{
    uint64_t birth = request->birth != 0 ? birth_of(found) : 0;
    return request->attr.dev == about->st_dev && request->attr.ino == about->st_ino &&
           (birth == 0 || birth == request->birth);
}

/* Opens the file of the O_PATH descriptor `found`. more: further flags of open(); with O_NONBLOCK,
 * -EAGAIN when opening could block or another process has a lease on the file. */
static int open_found(struct rsys_call *call, int found, const struct stat *about, int more)
{
    const struct rsys_request *request = &call->request;
    uint32_t how = request->how;
    bool directory = S_ISDIR(about->st_mode);
    bool changes = (how & (RSYS_OPEN_WRITE | RSYS_OPEN_TRUNC)) != 0;
    char path[RSYS_FD_PATH_SIZE];
    if ((how & RSYS_OPEN_SAME) != 0 && !is_same(request, found, about)) {
        return -ESTALE;
    }
    if ((how & RSYS_OPEN_TMPFILE) != 0) {
        return directory ? create_nameless(call, found) : -ENOTDIR;
    }
    if ((how & RSYS_OPEN_DIRECTORY) != 0 && !directory) {
        return S_ISLNK(about->st_mode) ? -ELOOP : -ENOTDIR;
    }
    if ((how & RSYS_OPEN_PATH) != 0) {
        int fd = fcntl(found, F_DUPFD_CLOEXEC, 0);
        return fd >= 0 ? fd : -errno;
    }
    if (S_ISLNK(about->st_mode)) {
        return -ELOOP;
    }
    if (!directory && !S_ISREG(about->st_mode)) {
        return -ENXIO;
    }
    if (directory && changes) {
        return -EISDIR;
    }
    int code = changes ? rsys_view_judge(call->view, call->at->root, found, NULL, RSYS_CHANGE_FILE,
                                         more != 0)
                       : 0;
    if (code != 0) {
        return code;
    }
    rsys_fd_path(found, path);
    int fd = open(path, flags_of(how) | more | ((how & RSYS_OPEN_TRUNC) != 0 ? O_TRUNC : 0));
    return fd >= 0 ? fd : -errno;
}

static int open_there(struct rsys_call *call)
{
    const struct rsys_text *path = &call->request.at.path;
    struct stat about;
    int found = -1, code;
    if (path->length == 0) {
        /* Another descriptor of the handle's file. */
        return fstat(call->at->fd, &about) == 0 ? open_found(call, call->at->fd, &about, 0)
                                                : -errno;
    }
    code = rsys_view_find(call->view, call->at->fd, path->data, false, &found, &about);
    if (code != 0) {
        return code;
    }
    code = open_found(call, found, &about, 0);
    close(found);
    return code;
}

static int open_or_create(struct rsys_call *call, bool *created)
{
    uint32_t how = call->request.how;
    *created = (how & RSYS_OPEN_TMPFILE) != 0;
    if ((how & RSYS_OPEN_CREATE) == 0) {
        return open_there(call);
    }
    if (call->request.at.path.length == 0) {
        return -EISDIR;
    }
    /* What is there may go between two looks: a few of them. */
    for (int i = 0; i < OPEN_TRIES; i++) {
        int fd = create_file(call);
        if (fd != -EEXIST || (how & RSYS_OPEN_EXCL) != 0) {
            *created = fd >= 0;
            return fd;
        }
        fd = open_there(call);
        if (fd != -ENOENT) {
            return fd;
        }
    }
    return -EAGAIN;
}

static int judge_how(uint32_t how, uint32_t mode)
{
    bool makes = (how & (RSYS_OPEN_CREATE | RSYS_OPEN_TMPFILE)) != 0;
    bool opens = (how & (RSYS_OPEN_READ | RSYS_OPEN_WRITE)) != 0;
    if ((how & ~OPEN_KNOWN) != 0) {
        return -EINVAL;
    }
    if ((how & RSYS_OPEN_PATH) != 0) {
        return (how & ~(RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY | RSYS_OPEN_SAME)) == 0 ? 0 : -EINVAL;
    }
    if ((how & RSYS_OPEN_DIRECTORY) != 0) {
        return !makes && (how & (RSYS_OPEN_WRITE | RSYS_OPEN_TRUNC)) == 0 ? 0 : -EINVAL;
    }
    if (!opens || ((how & RSYS_OPEN_TMPFILE) != 0 &&
                   (how & (RSYS_OPEN_CREATE | RSYS_OPEN_WRITE)) != RSYS_OPEN_WRITE)) {
        return -EINVAL;
    }
    return makes && (mode & (S_ISUID | S_ISGID)) != 0 ? -EPERM : 0;
}

/* True when the file has no holes.  Files with holes are read on a lane, which looks for them. */
static bool is_dense(const struct stat *about)
{
    return about->st_blocks * 512 >= about->st_size;
}

static int make_room(struct rsys_call *call, size_t length)
{
    call->out = call->scratch != NULL ? call->scratch : mem_try_alloc(RSYS_HEADROOM + length);
    if (call->out == NULL) {
        return -ENOMEM;
    }
    call->out_size = length;
    call->reply.data = call->out + RSYS_HEADROOM;
    return 0;
}

/* Adds the beginning of the file to the reply, so that the client need not ask for it.  It is left
 * out where it would cost too much. at_once: do not wait for a disk. */
static void read_beginning(struct rsys_call *call, const struct stat *about, int fd, bool at_once)
{
    uint64_t wanted = call->request.length < RSYS_OPEN_DATA ? call->request.length : RSYS_OPEN_DATA;
    bool waits = !at_once || rsys_view_is_memory(call->view, about->st_dev);
    if (wanted == 0 || !S_ISREG(about->st_mode) || (call->request.how & RSYS_OPEN_READ) == 0 ||
        about->st_size == 0 || !is_dense(about) || make_room(call, (size_t)wanted) != 0) {
        return;
    }
    struct iovec into = {call->out + RSYS_HEADROOM, (size_t)wanted};
    ssize_t got = preadv2(fd, &into, 1, 0, waits ? 0 : RWF_NOWAIT);
    call->reply.data_length = got > 0 ? (size_t)got : 0;
}

static int open_result(struct rsys_call *call, int fd, bool created, bool at_once)
{
    struct stat about;
    if (fstat(fd, &about) != 0) {
        int code = -errno;
        close(fd);
        return code;
    }
    rsys_attr_from_stat(&about, &call->reply.attr);
    call->reply.birth = birth_of(fd);
    call->reply.value = created ? 1 : 0;
    call->opened = (struct rsys_handle){.fd = fd,
                                        .how = call->request.how,
                                        .root = call->at->root,
                                        .directory = S_ISDIR(about.st_mode),
                                        .dev = about.st_dev,
                                        .ino = about.st_ino};
    if (call->opened.directory) {
        call->opened.turn = rsys_turn_create();
    }
    read_beginning(call, &about, fd, at_once);
    return 0;
}

int rsys_do_open(struct rsys_call *call)
{
    bool created = false;
    int code = judge_how(call->request.how, call->request.mode);
    if (code != 0) {
        return code;
    }
    int fd = open_or_create(call, &created);
    return fd < 0 ? fd : open_result(call, fd, created, false);
}

bool rsys_open_at_once(struct rsys_call *call)
{
    const struct rsys_request *request = &call->request;
    struct stat about;
    int found = -1;
    if (request->at.path.length == 0 ||
        (request->how & (RSYS_OPEN_CREATE | RSYS_OPEN_TRUNC | RSYS_OPEN_TMPFILE)) != 0 ||
        judge_how(request->how, request->mode) != 0) {
        return false;
    }
    int code =
        rsys_view_find(call->view, call->at->fd, request->at.path.data, true, &found, &about);
    if (code == 0) {
        code = open_found(call, found, &about, O_NONBLOCK);
        close(found);
    }
    if (code == -EAGAIN || code == -ELOOP) {
        return false;
    }
    call->reply.status = code < 0 ? code : open_result(call, code, false, true);
    return true;
}

/* ---- contents -------------------------------------------------------------------------------- */

static size_t length_of(const struct rsys_call *call)
{
    uint64_t wanted = call->request.length;
    return wanted < call->data_max ? (size_t)wanted : call->data_max;
}

/* Reads until length bytes or the end of the file.  Returns the number of bytes, or -errno when
 * there are none. */
static ssize_t read_all(int fd, unsigned char *data, size_t length, off_t offset)
{
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(fd, data + done, length - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && done == 0) {
            return -errno;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static void add_extent(struct rsys_call *call, off_t offset, size_t length)
{
    struct rsys_reply *reply = &call->reply;
    if (length > 0) {
        reply->extents[reply->extent_count++] =
            (struct rsys_extent){(uint64_t)offset, (uint32_t)length};
        reply->data_length += length;
    }
}

static int read_dense(struct rsys_call *call, off_t offset, size_t length)
{
    ssize_t got = read_all(call->at->fd, call->out + RSYS_HEADROOM, length, offset);
    if (got < 0) {
        return (int)got;
    }
    add_extent(call, offset, (size_t)got);
    call->reply.value = (uint64_t)got;
    return 0;
}

/* Reads a file with holes: adds extents of data up to end, which is not beyond the end of the
 * file. */
static int read_sparse(struct rsys_call *call, off_t offset, off_t end)
{
    off_t at = offset;
    int fd = call->at->fd;
    while (at < end) {
        off_t data = lseek(fd, at, SEEK_DATA), hole;
        if ((data < 0 && errno == ENXIO) || data >= end) {
            at = end;
            break;
        }
        if (data < 0) { /* a file system that cannot tell */
            data = at;
            hole = end;
        } else {
            /* The last extent there is room for takes the holes, too. */
            hole =
                call->reply.extent_count < RSYS_EXTENTS_MAX - 1 ? lseek(fd, data, SEEK_HOLE) : end;
            hole = hole < 0 || hole > end ? end : hole;
        }
        size_t length = (size_t)(hole - data);
        ssize_t got =
            read_all(fd, call->out + RSYS_HEADROOM + call->reply.data_length, length, data);
        if (got < 0) {
            return (int)got;
        }
        add_extent(call, data, (size_t)got);
        at = data + (off_t)got;
        if ((size_t)got < length) { /* it was cut meanwhile */
            break;
        }
        at = hole;
    }
    call->reply.value = (uint64_t)(at - offset);
    return 0;
}

int rsys_do_read(struct rsys_call *call)
{
    struct stat about;
    size_t length = length_of(call);
    off_t offset = (off_t)call->request.offset;
    if (call->at->directory) {
        return -EISDIR;
    }
    if (fstat(call->at->fd, &about) != 0) {
        return -errno;
    }
    int code = make_room(call, length);
    if (code != 0) {
        return code;
    }
    if (offset >= about.st_size || is_dense(&about)) {
        return read_dense(call, offset, length);
    }
    off_t left = about.st_size - offset;
    return read_sparse(call, offset, offset + (left < (off_t)length ? left : (off_t)length));
}

bool rsys_read_at_once(struct rsys_call *call)
{
    struct stat about;
    const struct rsys_handle *file = call->at;
    size_t length = length_of(call);
    off_t offset = (off_t)call->request.offset;
    if (file->directory || (file->how & (RSYS_OPEN_READ | RSYS_OPEN_PATH)) != RSYS_OPEN_READ ||
        !rsys_view_is_local(call->view, file->dev) || fstat(file->fd, &about) != 0 ||
        !is_dense(&about) || make_room(call, length) != 0) {
        return false;
    }
    struct iovec into = {call->out + RSYS_HEADROOM, length};
    int how = rsys_view_is_memory(call->view, file->dev) ? 0 : RWF_NOWAIT;
    ssize_t got = preadv2(file->fd, &into, 1, offset, how);
    /* Less is the end of the file, or the end of what is in memory. */
    if (got < 0 || ((size_t)got < length && offset + got < about.st_size)) {
        if (call->out != call->scratch) {
            mem_free(call->out);
        }
        call->out = NULL;
        call->reply.data = NULL;
        return false;
    }
    add_extent(call, offset, (size_t)got);
    call->reply.value = (uint64_t)got;
    return true;
}

/* Writes one extent.  Returns the bytes that were written; when not all were, *code is the
 * reason. */
static size_t write_extent(int fd, const unsigned char *data, size_t length, off_t offset,
                           int *code)
{
    size_t done = 0;
    while (done < length) {
        ssize_t put = pwrite(fd, data + done, length - done, offset + (off_t)done);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            *code = put < 0 ? -errno : -EIO;
            break;
        }
        done += (size_t)put;
    }
    return done;
}

/* A byte in a hole takes a whole block.  Otherwise bytes take their own number. */
uint64_t rsys_room_taken(struct stat *before, uint64_t offset, uint64_t length)
{
    uint64_t end = offset + length, size = (uint64_t)before->st_size;
    bool in_hole = !is_dense(before) || offset > size;
    if (end > size) {
        before->st_size = (off_t)end;
        before->st_blocks += in_hole ? 0 : (blkcnt_t)(end - size + 511) / 512;
    }
    return in_hole && length > 0 ? (end + BLOCK - 1) / BLOCK * BLOCK - offset / BLOCK * BLOCK
                                 : length;
}

int rsys_do_write(struct rsys_call *call)
{
    const struct rsys_request *request = &call->request;
    const unsigned char *data = request->data;
    struct stat before = {0};
    size_t done = 0;
    int code = call->counted && fstat(call->at->fd, &before) != 0 ? -errno : 0;
    for (size_t i = 0; i < request->extent_count && code == 0; i++) {
        const struct rsys_extent *extent = &request->extents[i];
        size_t put =
            write_extent(call->at->fd, data + done, extent->length, (off_t)extent->offset, &code);
        bool at_end = (call->at->how & RSYS_OPEN_APPEND) != 0;
        call->taken +=
            !call->counted
                ? 0
                : rsys_room_taken(&before, at_end ? (uint64_t)before.st_size : extent->offset, put);
        done += put;
    }
    if (code != 0 && done == 0) {
        return code;
    }
    call->reply.value = done;
    if ((request->flags & RSYS_WANT_ATTR) != 0) {
        struct stat about;
        if (fstat(call->at->fd, &about) == 0) {
            rsys_attr_from_stat(&about, &call->reply.attr);
        }
    }
    return 0;
}

bool rsys_write_at_once(struct rsys_call *call)
{
    const struct rsys_handle *file = call->at;
    if (call->request.data_length > WRITE_AT_ONCE || file->directory ||
        !rsys_view_is_memory(call->view, file->dev)) {
        return false;
    }
    call->reply.status = rsys_do_write(call);
    return true;
}

/* ---- directories ----------------------------------------------------------------------------- */

struct kernel_entry {
    uint64_t ino;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* Appends an entry.  With picks, entries that are hidden from the job get no attributes.  False:
 * the reply is full. */
static bool put_entry(struct rsys_call *call, const struct kernel_entry *from, bool picks)
{
    struct rsys_entry entry = {.cookie = (uint64_t)from->next,
                               .ino = from->ino,
                               .type = from->type};
    struct stat about;
    entry.name = (struct rsys_text){from->name, (uint16_t)strlen(from->name)};
    if ((call->request.how & RSYS_DIR_PLUS) != 0 &&
        (!picks || rsys_view_judge(call->view, call->at->root, call->at->fd, from->name,
                                   RSYS_CHANGE_NOTHING, false) == 0) &&
        fstatat(call->at->fd, from->name, &about, AT_SYMLINK_NOFOLLOW) == 0) {
        entry.has_attr = true;
        rsys_attr_from_stat(&about, &entry.attr);
    }
    return rsys_entry_put(call->out + RSYS_HEADROOM, call->out_size, &call->reply.data_length,
                          &entry);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Reads entries from the cookie of the request on, until the reply is full or the directory
 * ends. */
static int read_entries(struct rsys_call *call, char *buffer)
{
    int fd = call->at->fd;
    bool picks = rsys_view_is_above_part(call->view, fd);
    if (lseek(fd, (off_t)call->request.offset, SEEK_SET) < 0) {
        return -errno;
    }
    for (;;) {
        long got = syscall(SYS_getdents64, fd, buffer, DIRECTORY_READ);
        if (got < 0) {
            return -errno;
        }
        if (got == 0) {
            call->reply.value = 1;
            return 0;
        }
        for (long at = 0; at < got;) {
            const struct kernel_entry *entry = (const void *)(buffer + at);
            if (!is_dots(entry->name) && !put_entry(call, entry, picks)) {
                return 0;
            }
            at += entry->length;
        }
    }
}

int rsys_do_readdir(struct rsys_call *call)
{
    size_t length = length_of(call);
    if (!call->at->directory) {
        return -ENOTDIR;
    }
    if ((call->at->how & RSYS_OPEN_PATH) != 0) {
        return -EBADF;
    }
    if (length < RSYS_ENTRY_MAX || (call->request.how & ~RSYS_DIR_PLUS) != 0) {
        return -EINVAL;
    }
    int code = make_room(call, length);
    if (code != 0) {
        return code;
    }
    char *buffer = mem_alloc(DIRECTORY_READ);
    CHECK(pthread_mutex_lock(&call->at->turn->mutex) == 0);
    code = read_entries(call, buffer);
    CHECK(pthread_mutex_unlock(&call->at->turn->mutex) == 0);
    mem_free(buffer);
    return code;
}
