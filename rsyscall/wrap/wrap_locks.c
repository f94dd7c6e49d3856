/* rsyscall/wrap/wrap_locks.c - locks of remote files: see wrap.h.
 *
 * Locks of ranges belong to this process, which the server knows by its number; F_OFD_SETLK locks
 * belong to the handle; flock() locks are the server's own locks of the opened file.  All are locks
 * of the server's machine, so that programs there meet them.
 *
 * A thread waits for a lock on a connection of its own, without our lock and with the program's
 * signals.  So the other threads continue, and a signal handler ends the wait or does not, as it
 * would in the kernel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

#define WAIT_MS  10000 /* the server waits so long in one request */
#define IN_BYTES ((size_t)8 << 10)

/* Converts the kernel's struct to a range from the beginning of the file.  Returns 0 or a negative
 * errno. */
static int range_of(struct wrap_file *file, const struct flock *lock, struct rsys_lock *ret)
{
    struct stat st;
    int64_t start = lock->l_start, base = 0, length = lock->l_len;
    if (lock->l_whence == SEEK_CUR) {
        base = (int64_t)wrap_file_offset(file);
    } else if (lock->l_whence == SEEK_END) {
        int code = wrap_file_stat(file, &st);
        if (code != 0) {
            return code;
        }
        base = st.st_size;
    } else if (lock->l_whence != SEEK_SET) {
        return -EINVAL;
    }
    if (__builtin_add_overflow(base, start, &start)) {
        return -EOVERFLOW;
    }
    if (length < 0) {
        start += length;
        length = -length;
    }
    if (start < 0) {
        return -EINVAL;
    }
    ret->start = (uint64_t)start;
    ret->length = (uint64_t)length;
    ret->type = lock->l_type == F_WRLCK   ? RSYS_LOCK_WRITE
                : lock->l_type == F_RDLCK ? RSYS_LOCK_READ
                                          : RSYS_UNLOCKED;
    return lock->l_type == F_WRLCK || lock->l_type == F_RDLCK || lock->l_type == F_UNLCK ? 0
                                                                                         : -EINVAL;
}

static void tell_lock(const struct rsys_lock *found, struct flock *ret)
{
    ret->l_type = (short)(found->type == RSYS_LOCK_WRITE  ? F_WRLCK
                          : found->type == RSYS_LOCK_READ ? F_RDLCK
                                                          : F_UNLCK);
    if (found->type != RSYS_UNLOCKED) {
        ret->l_whence = SEEK_SET;
        ret->l_start = (off_t)found->start;
        ret->l_len = (off_t)found->length;
        ret->l_pid = found->pid != 0 ? (pid_t)found->pid : -1;
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Receives one answer.  Returns 0, -EINTR, or -EPIPE when no answer can come. */
static int receive_answer(int fd, unsigned char *in, size_t *have, struct rsys_reply *reply)
{
    for (;;) {
        int64_t size = rsys_frame_length(in, *have);
        if (size < 0 || size > (int64_t)IN_BYTES) {
            return -EPIPE;
        }
        if (size > 0 && (uint64_t)size <= *have) {
            int code = rsys_decode_reply(in, (size_t)size, reply) == 0 ? 0 : -EPIPE;
            *have = 0; /* one question, one answer; what it pointed to is not looked at */
            return code;
        }
        long got = syscall(SYS_recvfrom, fd, in + *have, IN_BYTES - *have, 0, NULL, NULL);
        if (got <= 0) {
            return got < 0 && errno == EINTR ? -EINTR : -EPIPE;
        }
        *have += (size_t)got;
    }
}

static int send_request(int fd, const struct rsys_request *request)
{
    sigset_t old;
    int code = -EPIPE;
    if (wrap_enter(&old)) { /* for what it is encoded in */
        code = request != NULL ? wrap_send_on(fd, request) : wrap_greet(fd, 1);
        wrap_leave(&old);
    }
    return code;
}

static int wait_for(struct rsys_request *request)
{
    unsigned char in[IN_BYTES];
    struct rsys_reply reply;
    size_t have = 0;
    int fd = wrap_connect();
    if (fd < 0) {
        return -ENOLCK;
    }
    request->wait_ms = WAIT_MS;
    request->slot = 0;
    int code = send_request(fd, NULL);
    code = code != 0 ? code : receive_answer(fd, in, &have, &reply);
    for (request->seq = 1; code == 0; request->seq++) {
        code = send_request(fd, request);
        code = code != 0 ? code : receive_answer(fd, in, &have, &reply);
        if (code == 0 && reply.status != -EAGAIN) {
            code = reply.status;
            break;
        }
    }
    (void)syscall(SYS_close, fd); /* the door takes back what is asked for still */
    return code == -EPIPE ? -ENOLCK : code;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Requests a lock; our lock is held.  Our data is written before, so that other processes can read
 * it, and our buffers are dropped, because earlier owners of the lock may have written. */
static int ask_for_lock(struct wrap_file *file, struct rsys_request *request,
                        struct rsys_reply *reply)
{
    wrap_settle();
    int code = wrap_call(request, reply);
    wrap_file_forget(file->dev, file->ino);
    return code;
}

/* Requests a lock and, with waits, waits until it is granted. */
static int take_lock(int fd, struct wrap_file *file, struct rsys_request *request, bool waits,
                     sigset_t *old)
{
    struct rsys_reply reply;
    uint64_t dev = file->dev, ino = file->ino;
    int code = ask_for_lock(file, request, &reply);
    if (code == -EAGAIN && waits) {
        wrap_leave(old);
        code = wait_for(request);
        if (!wrap_enter(old)) {
            return -EIO;
        }
        file = wrap_file_of(fd);
        wrap_file_forget(dev, ino);
        if (code == 0 && (file == NULL || file->ino != ino || file->dev != dev)) {
            code = -EBADF; /* another thread closed it */
        }
    }
    if (code == 0) {
        wrap_taken_note(file, request);
    }
    return code;
}

int wrap_lock(int fd, int command, struct flock *ret)
{
    bool by_file = command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    bool get = command == F_GETLK || command == F_OFD_GETLK;
    struct rsys_request request = {.op = RSYS_LOCK, .how = get ? RSYS_LOCK_GET : 0};
    struct rsys_reply reply;
    sigset_t old;
    if (!wrap_enter(&old)) {
        return -EBADF;
    }
    struct wrap_file *file = wrap_file_of(fd);
    int code = file == NULL ? -EBADF : file->lost ? -ESTALE : range_of(file, ret, &request.lock);
    if (code == 0) {
        request.at.handle = file->handle;
        request.owner = by_file ? WRAP_OWNED_BY_FILE | file->handle : (uint64_t)getpid();
    }
    if (code == 0 && get) {
        code = ask_for_lock(file, &request, &reply);
        if (code == 0) {
            tell_lock(&reply.lock, ret);
        }
    } else if (code == 0) {
        file->locked = file->locked || !by_file;
        wrap_all.has_locks = true;
        code = take_lock(fd, file, &request, command == F_SETLKW || command == F_OFD_SETLKW, &old);
    }
    wrap_leave(&old);
    return code;
}

int wrap_lock_whole(int fd, int how)
{
    int kind = how & ~LOCK_NB;
    struct rsys_request request = {.op = RSYS_LOCK, .how = RSYS_LOCK_FLOCK};
    sigset_t old;
    if (kind != LOCK_SH && kind != LOCK_EX && kind != LOCK_UN) {
        return -EINVAL;
    }
    if (!wrap_enter(&old)) {
        return -EBADF;
    }
    struct wrap_file *file = wrap_file_of(fd);
    int code = file == NULL ? -EBADF : file->lost ? -ESTALE : 0;
    if (code == 0) {
        request.at.handle = file->handle;
        request.lock.type = kind == LOCK_SH   ? RSYS_LOCK_READ
                            : kind == LOCK_EX ? RSYS_LOCK_WRITE
                                              : RSYS_UNLOCKED;
        wrap_all.has_locks = true;
        code = take_lock(fd, file, &request, (how & LOCK_NB) == 0, &old);
    }
    wrap_leave(&old);
    return code;
}
