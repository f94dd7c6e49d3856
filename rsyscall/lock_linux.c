/* rsyscall/lock_linux.c - locks of the job's processes on the user's files.
 *
 * Design note: the locks are locks of this machine's kernel, so that programs that run here meet
 * them.  But a lock of fcntl() belongs to a process.  That would be the shadow, so all processes of
 * the job would be one owner, and closing any descriptor would drop all locks.  Therefore each
 * owner has its own descriptor of the file, and takes locks of the open file description
 * (F_OFD_SETLK), which also conflict with locks of processes.  When a process of the job closes a
 * descriptor of the file, FLUSH arrives and closes the owner's descriptor, as close() drops the
 * locks of a process.
 *
 * Nothing here waits for a lock, because that would block a lane.  The loop thread asks again.
 *
 * Ranges are counted, because the kernel has no limit: an owner with millions of ranges would use
 * up the kernel's memory, and the time of everybody who locks anything in that file.  Each call is
 * charged with the most that it can add; now and then the kernel is asked for the real number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall/call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "rsyscall/view.h"

#define RANGES_SLACK 16 /* the count may exceed the real number of ranges by this */

/* An owner's descriptor of a file, for its locks.  A write lock needs a descriptor for writing, a
 * read lock one for reading.  All locks are taken on one descriptor, open for both where the owner
 * may write, else for one of them. */
struct rsys_locker_fds {
    pthread_mutex_t mutex;
    int fd; /* -1: not open yet */
    bool writable, readable;
    uint32_t ranges;   /* upper bound of the number of locked ranges */
    uint32_t ranges_0; /* number of locked ranges when the kernel was last asked */
};

struct rsys_locker_fds *rsys_locker_fds_create(void)
{
    struct rsys_locker_fds *fds = mem_zalloc(sizeof(*fds));
    CHECK(pthread_mutex_init(&fds->mutex, NULL) == 0);
    fds->fd = -1;
    return fds;
}

void rsys_locker_fds_destroy(struct rsys_locker_fds *fds)
{
    if (fds->fd >= 0) {
        close(fds->fd);
    }
    CHECK(pthread_mutex_destroy(&fds->mutex) == 0);
    mem_free(fds);
}

/* Opens fds->fd for the lock, if it is not open.  Returns 0, -EBADF when it is open for the other
 * kind only, or another -errno. */
static int descriptor_for(struct rsys_locker_fds *fds, const struct rsys_call *call, bool write)
{
    char path[RSYS_FD_PATH_SIZE];
    if (fds->fd >= 0) {
        return (write ? fds->writable : fds->readable) ? 0 : -EBADF;
    }
    rsys_fd_path(call->at->fd, path);
    /* Read-only parts are not opened for writing, though nothing would be written. */
    bool may_write = rsys_view_judge(call->view, call->at->root, call->at->fd, NULL,
                                     RSYS_CHANGE_FILE, false) == 0;
    fds->fd = may_write ? open(path, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;
    fds->writable = fds->readable = fds->fd >= 0;
    if (fds->fd < 0) {
        bool for_write = (call->at->how & RSYS_OPEN_WRITE) != 0;
        fds->fd = open(path, (for_write ? O_WRONLY : O_RDONLY) | O_CLOEXEC | O_NOCTTY);
        fds->writable = fds->fd >= 0 && for_write;
        fds->readable = fds->fd >= 0 && !for_write;
    }
    if (fds->fd < 0) {
        return -errno;
    }
    return (write ? fds->writable : fds->readable) ? 0 : -EBADF;
}

/* Returns how many locks the kernel shows for the descriptor; UINT32_MAX: it does not say. */
static uint32_t ranges_of(int fd)
{
    char path[RSYS_FD_PATH_SIZE], text[4096], before = '\n';
    uint32_t count = 0;
    (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    int info = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    while (info >= 0 && (got = read(info, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            count += before == '\n' && text[i] == 'l' ? 1 : 0; /* "lock:" */
            before = text[i];
        }
    }
    if (info >= 0) {
        close(info);
    }
    return info >= 0 ? count : UINT32_MAX;
}

static void count_ranges(struct rsys_locker_fds *fds, const struct flock *lock)
{
    bool all = lock->l_start == 0 && lock->l_len == 0;
    if (lock->l_type == F_UNLCK) {
        fds->ranges = all ? 0 : fds->ranges + 1; /* one may have become two */
    } else {
        fds->ranges = all ? 1 : fds->ranges + 2;
    }
    if (fds->ranges >= 2 * fds->ranges_0 + RANGES_SLACK) {
        uint32_t there = ranges_of(fds->fd);
        fds->ranges = fds->ranges_0 = there < fds->ranges ? there : fds->ranges;
    }
}

static int range_lock(struct rsys_call *call, struct rsys_locker_fds *fds)
{
    static const short TYPES[] = {F_UNLCK, F_RDLCK, F_WRLCK};
    const struct rsys_lock *wanted = &call->request.lock;
    bool get = (call->request.how & RSYS_LOCK_GET) != 0;
    struct flock lock = {.l_type = TYPES[wanted->type],
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)wanted->start,
                         .l_len = (off_t)wanted->length};
    if (wanted->type == RSYS_UNLOCKED && (get || fds->fd < 0)) {
        return get ? -EINVAL : 0; /* nothing is locked */
    }
    if (wanted->type != RSYS_UNLOCKED) {
        int code = descriptor_for(fds, call, wanted->type == RSYS_LOCK_WRITE);
        if (code != 0) {
            return code;
        }
    }
    if (fcntl(fds->fd, get ? F_OFD_GETLK : F_OFD_SETLK, &lock) != 0) {
        return errno == EACCES ? -EAGAIN : -errno;
    }
    if (!get) {
        count_ranges(fds, &lock);
    }
    struct rsys_lock *found = &call->reply.lock;
    *found =
        (struct rsys_lock){.type = wanted->type, .start = wanted->start, .length = wanted->length};
    if (get) {
        found->type = lock.l_type == F_UNLCK   ? RSYS_UNLOCKED
                      : lock.l_type == F_WRLCK ? RSYS_LOCK_WRITE
                                               : RSYS_LOCK_READ;
    }
    if (get && lock.l_type != F_UNLCK) {
        found->start = (uint64_t)lock.l_start;
        found->length = (uint64_t)lock.l_len;
        found->pid = lock.l_pid > 0 ? (uint32_t)lock.l_pid : 0;
    }
    return 0;
}

static int whole_lock(struct rsys_call *call)
{
    static const int HOWS[] = {LOCK_UN, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB};
    if ((call->request.how & RSYS_LOCK_GET) != 0) {
        return -EINVAL;
    }
    call->reply.lock = call->request.lock;
    return flock(call->at->fd, HOWS[call->request.lock.type]) == 0 ? 0 : -errno;
}

int rsys_do_lock(struct rsys_call *call)
{
    uint32_t how = call->request.how;
    const struct rsys_handle *handle = call->at;
    if ((how & ~(RSYS_LOCK_GET | RSYS_LOCK_FLOCK)) != 0) {
        return -EINVAL;
    }
    if ((handle->how & RSYS_OPEN_PATH) != 0) {
        return -EBADF;
    }
    if ((how & RSYS_LOCK_FLOCK) != 0) {
        return whole_lock(call);
    }
    uint32_t type = call->request.lock.type;
    if (handle->directory) {
        return -EINVAL;
    }
    if ((how & RSYS_LOCK_GET) == 0 &&
        ((type == RSYS_LOCK_WRITE && (handle->how & RSYS_OPEN_WRITE) == 0) ||
         (type == RSYS_LOCK_READ && (handle->how & RSYS_OPEN_READ) == 0))) {
        return -EBADF; /* as fcntl() says of the job's descriptor */
    }
    struct rsys_locker_fds *fds = call->locker->fds;
    CHECK(pthread_mutex_lock(&fds->mutex) == 0);
    int code = range_lock(call, fds);
    call->ranges = fds->ranges;
    CHECK(pthread_mutex_unlock(&fds->mutex) == 0);
    return code;
}

int rsys_do_flush(struct rsys_call *call)
{
    int code = 0;
    if (call->locker != NULL) {
        struct rsys_locker_fds *fds = call->locker->fds;
        CHECK(pthread_mutex_lock(&fds->mutex) == 0);
        if (fds->fd >= 0) {
            close(fds->fd);
            fds->fd = -1;
        }
        fds->ranges = fds->ranges_0 = 0;
        CHECK(pthread_mutex_unlock(&fds->mutex) == 0);
    }
    if ((call->at->how & RSYS_OPEN_PATH) == 0) {
        /* A file server tells of what it could not write when a descriptor is closed. */
        int copy = fcntl(call->at->fd, F_DUPFD_CLOEXEC, 0);
        code = copy < 0 ? -errno : close(copy) == 0 ? 0 : -errno;
    }
    return code;
}
