/* rsyscall/wrap/wrap_link.c - the connection to the door (the socket of the server): see wrap.h.
 *
 * A process that was resumed from an image finds its connection closed, because ckpt/ does not save
 * the other end, and another door at the same address.  It connects again, opens its files again by
 * the names of their handles, and repeats its request.  In an image that the program makes of
 * itself no request is under way, because no image is made during a request.
 *
 * Slot 0 is for requests whose answer is waited for; the other slots are for writes without waiting
 * and for reading ahead.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap.h"

#define PREFACE   "ROOST/1 rsys\n"
#define HIGH_FD   900 /* programs do not expect the files that they open up here */
#define SLOTS_ASK (1 + WRAP_WRITES_MAX + WRAP_AHEADS_MAX)

/* An ELF note ("Roost", type 1) by which submit/relinked.h recognizes programs that contain us. */
__asm__(".pushsection .note.roost.remote, \"a\", @note\n"
        ".balign 4\n"
        ".long 6, 4, 1\n"
        ".asciz \"Roost\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");

struct wrap_state wrap_all = {.fd = -1, .kept = -1};

static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t fork_mask;

/* ---- bytes ----------------------------------------------------------------------------------- */

static int send_all(int fd, struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    while (message.msg_iovlen > 0) {
        long sent = syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
        if (sent < 0) {
            return -EPIPE;
        }
        while (message.msg_iovlen > 0 && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= (long)message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen > 0) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

static int receive_more(void)
{
    long got = syscall(SYS_recvfrom, wrap_all.fd, wrap_all.in + wrap_all.have,
                       RSYS_FRAME_MAX - wrap_all.have, 0, NULL, NULL);
    if (got <= 0) {
        return -EPIPE;
    }
    wrap_all.have += (size_t)got;
    return 0;
}

int wrap_receive(struct rsys_reply *reply)
{
    if (wrap_all.used > 0) {
        wrap_all.have -= wrap_all.used;
        memmove(wrap_all.in, wrap_all.in + wrap_all.used, wrap_all.have);
        wrap_all.used = 0;
    }
    for (;;) {
        int64_t size = rsys_frame_length(wrap_all.in, wrap_all.have);
        if (size < 0) {
            return -EIO;
        }
        if (size > 0 && (uint64_t)size <= wrap_all.have) {
            wrap_all.used = (size_t)size;
            return rsys_decode_reply(wrap_all.in, (size_t)size, reply) == 0 ? 0 : -EIO;
        }
        if (receive_more() != 0) {
            return -EPIPE;
        }
    }
}

int wrap_send_on(int fd, const struct rsys_request *request)
{
    int length = rsys_encode_request(request, wrap_all.fields, sizeof wrap_all.fields);
    if (length < 0) {
        return length;
    }
    struct iovec parts[2] = {{wrap_all.fields, (size_t)length},
                             {(void *)(uintptr_t)request->data, request->data_length}};
    return send_all(fd, parts, request->data_length > 0 ? 2 : 1);
}

int wrap_send(struct rsys_request *request, uint16_t slot)
{
    request->slot = slot;
    request->seq = wrap_all.seq[slot] + 1;
    int code = wrap_send_on(wrap_all.fd, request);
    wrap_all.seq[slot] += code == 0 ? 1 : 0;
    return code;
}

static int call_once(struct rsys_request *request, struct rsys_reply *reply)
{
    int code = wrap_send(request, 0);
    while (code == 0) {
        code = wrap_receive(reply);
        if (code == 0 && reply->slot == 0) {
            return reply->seq == wrap_all.seq[0] ? reply->status : -EIO;
        }
        if (code == 0) {
            wrap_file_answered(reply);
        }
    }
    return code == -EPIPE ? WRAP_CUT : code;
}

int wrap_call(struct rsys_request *request, struct rsys_reply *reply)
{
    int code = call_once(request, reply);
    if (code == WRAP_CUT && wrap_renew()) {
        code = call_once(request, reply);
    }
    return code == WRAP_CUT ? -EIO : code;
}

void wrap_settle(void)
{
    struct rsys_reply reply;
    while (wrap_all.writes > 0) {
        int code = wrap_receive(&reply);
        if (code == -EPIPE && wrap_renew()) {
            return; /* the door that is gone had what was sent */
        }
        if (code != 0) {
            __atomic_store_n(&wrap_all.writes, 0, __ATOMIC_RELAXED);
            if (wrap_all.writing != NULL) {
                wrap_all.writing->error = -EIO;
            }
            return;
        }
        wrap_file_answered(&reply);
    }
}

void wrap_settle_for_others(void)
{
    sigset_t old;
    if (__atomic_load_n(&wrap_all.writes, __ATOMIC_RELAXED) > 0 && wrap_enter(&old)) {
        wrap_settle();
        wrap_leave(&old);
    }
}

void wrap_write_no_later(void)
{
    sigset_t old;
    if (wrap_enter(&old)) {
        struct rsys_request bye = {.op = RSYS_BYE};
        struct rsys_reply reply;
        wrap_all.ending = true;
        wrap_settle();
        if (wrap_all.has_locks) {
            (void)wrap_call(&bye, &reply); /* who waits for our end can have them */
        }
        wrap_leave(&old);
    }
}

/* ---- the session ----------------------------------------------------------------------------- */

int wrap_connect(void)
{
    const char *path = wrap_all.door;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length >= sizeof address.sun_path) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, length + 1);
    int low = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (low < 0) {
        return -errno;
    }
    int fd = (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, HIGH_FD);
    if (fd < 0) {
        fd = low;
    } else {
        (void)syscall(SYS_close, low);
    }
    if (syscall(SYS_connect, fd, &address, sizeof address) != 0) {
        int code = -errno;
        (void)syscall(SYS_close, fd);
        return code;
    }
    return fd;
}

static void take_roots(const struct rsys_reply *hello)
{
    struct rsys_root root;
    size_t at = 0;
    while (wrap_all.root_count < RSYS_ROOTS_MAX &&
           rsys_root_next(hello->data, hello->data_length, &at, &root) == 1) {
        if (root.view.length < sizeof wrap_all.roots[0].view) {
            size_t i = wrap_all.root_count++;
            wrap_all.roots[i].number = root.number;
            memcpy(wrap_all.roots[i].view, root.view.data, root.view.length);
            wrap_all.roots[i].view[root.view.length] = '\0';
        }
    }
}

int wrap_greet(int fd, uint32_t slots)
{
    struct iovec preface = {(void *)(uintptr_t)PREFACE, sizeof PREFACE - 1};
    struct rsys_request hello = {.op = RSYS_HELLO, .version = RSYS_VERSION, .slots = slots};
    int code = send_all(fd, &preface, 1);
    return code != 0 ? code : wrap_send_on(fd, &hello);
}

static int say_hello(void)
{
    struct rsys_reply reply;
    int code = wrap_greet(wrap_all.fd, SLOTS_ASK);
    code = code != 0 ? code : wrap_receive(&reply);
    if (code != 0 || reply.op != RSYS_HELLO || reply.status < 0 || reply.slots < 1) {
        return code != 0 ? code : -EIO;
    }
    wrap_all.slots = reply.slots < SLOTS_ASK ? reply.slots : SLOTS_ASK;
    wrap_all.data_max = reply.data_max < RSYS_DATA_MAX ? reply.data_max : RSYS_DATA_MAX;
    wrap_all.root_count = 0;
    take_roots(&reply);
    return 0;
}

static int begin_session(void)
{
    memset(wrap_all.in_slot, 0, sizeof wrap_all.in_slot);
    __atomic_store_n(&wrap_all.writes, 0, __ATOMIC_RELAXED);
    wrap_all.writing = NULL;
    wrap_all.have = wrap_all.used = 0;
    if (wrap_all.in == NULL) {
        void *in =
            mmap(NULL, RSYS_FRAME_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (in == MAP_FAILED) {
            return -ENOMEM;
        }
        wrap_all.in = in;
    }
    int code = wrap_connect();
    if (code >= 0) {
        wrap_all.fd = code;
        code = say_hello();
    }
    if (code != 0 && wrap_all.fd >= 0) {
        (void)syscall(SYS_close, wrap_all.fd);
        wrap_all.fd = -1;
    }
    return code;
}

bool wrap_renew(void)
{
    if (wrap_all.renewing) {
        return false;
    }
    if (wrap_all.fd >= 0) {
        (void)syscall(SYS_close, wrap_all.fd);
        wrap_all.fd = -1;
    }
    wrap_all.renewing = true;
    wrap_files_unread();
    bool ret = begin_session() == 0;
    if (ret) {
        wrap_files_hold();
        wrap_taken_again();
    }
    wrap_all.renewing = false;
    return ret;
}

static void take_locals(void)
{
    static const char ALWAYS[] = "/proc:/dev:/sys";
    const char *more = getenv("ROOST_REMOTE_LOCAL");
    const char *lists[] = {ALWAYS, more != NULL ? more : ""};
    for (size_t i = 0; i < 2; i++) {
        for (const char *at = lists[i]; *at != '\0';) {
            size_t length = strcspn(at, ":");
            if (length > 1 && length < sizeof wrap_all.locals[0] &&
                wrap_all.local_count < WRAP_LOCALS_MAX) {
                char *to = wrap_all.locals[wrap_all.local_count++];
                memcpy(to, at, length);
                to[length] = '\0';
            }
            at += length + (at[length] == ':' ? 1 : 0);
        }
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

/* Functions of the checkpoint library; NULL in programs that were not linked with it. */
__attribute__((weak)) void roost_checkpoint_disable(void);
__attribute__((weak)) void roost_checkpoint_enable(void);

static void lock_state(sigset_t *old)
{
    sigset_t all;
    if (roost_checkpoint_disable != NULL) {
        roost_checkpoint_disable();
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, old);
    (void)pthread_mutex_lock(&the_lock);
}

static void unlock_state(const sigset_t *old)
{
    (void)pthread_mutex_unlock(&the_lock);
    (void)pthread_sigmask(SIG_SETMASK, old, NULL);
    if (roost_checkpoint_enable != NULL) {
        roost_checkpoint_enable();
    }
}

/* Before fork(): makes a connection for the child, which holds our open files before the child
 * exists, so that they are held at any time.  Nothing is under way on our connection, and a new one
 * may begin with any numbers, so both continue with the same. */
static void make_for_child(void)
{
    int ours = wrap_all.fd;
    wrap_all.childs = -1;
    if (ours >= 0) {
        wrap_all.fd = -1;
        wrap_all.renewing = true; /* the new one is not made anew */
        if (begin_session() == 0) {
            wrap_files_hold();
        }
        wrap_all.renewing = false;
        wrap_all.childs = wrap_all.fd;
        wrap_all.fd = ours;
    }
}

static void before_fork(void)
{
    sigset_t old;
    lock_state(&old);
    fork_mask = old;
    wrap_settle();
    wrap_files_share();
    make_for_child();
}

static void after_fork(void)
{
    sigset_t old = fork_mask;
    if (wrap_all.childs >= 0) {
        (void)syscall(SYS_close, wrap_all.childs);
        wrap_all.childs = -1;
    }
    unlock_state(&old);
}

/* After fork(), in the child: closes the parent's connection and uses the one that was made for
 * it. */
static void in_child(void)
{
    if (wrap_all.on) {
        (void)syscall(SYS_close, wrap_all.fd);
        wrap_all.fd = -1;
        if (wrap_all.kept >= 0) {
            (void)syscall(SYS_close, wrap_all.kept);
            wrap_all.kept = -1;
        }
        wrap_files_unlocked();
        wrap_all.fd = wrap_all.childs;
        wrap_all.childs = -1;
        if (wrap_all.fd < 0 && begin_session() == 0) {
            wrap_files_hold();
        }
    }
    after_fork();
}

/* Takes the connection of the program that executed this one.  It holds the inherited files until
 * we do, and their locks belong to it. */
static void take_kept(void)
{
    const char *number = getenv(WRAP_KEPT_NAME);
    wrap_all.kept = -1;
    if (number != NULL) {
        char *end;
        long fd = strtol(number, &end, 10);
        bool locks = *end == WRAP_KEPT_LOCKS;
        end += locks ? 1 : 0;
        if (*number != '\0' && (*end == '\0' || *end == WRAP_KEPT_TAKEN) && fd > STDERR_FILENO &&
            fd < INT_MAX) {
            wrap_all.kept = (int)fd;
            wrap_all.has_locks = locks;
            (void)snprintf(wrap_all.kept_taken, sizeof wrap_all.kept_taken, "%s", end);
            (void)syscall(SYS_fcntl, wrap_all.kept, F_SETFD, FD_CLOEXEC);
        }
        (void)unsetenv(WRAP_KEPT_NAME);
    }
}

static void begin_process(void)
{
    const char *cwd = getenv("ROOST_REMOTE_CWD");
    const char *door = getenv("ROOST_REMOTE_SOCKET");
    if (door == NULL) {
        return;
    }
    (void)snprintf(wrap_all.door, sizeof wrap_all.door, "%s", door);
    take_kept();
    (void)snprintf(wrap_all.cwd, sizeof wrap_all.cwd, "%s", cwd != NULL && *cwd == '/' ? cwd : "/");
    take_locals();
    wrap_all.on = true; /* without a door its files are not this machine's all the same */
    if (begin_session() == 0) {
        wrap_files_adopt();
    }
    if (wrap_all.kept >= 0 && !wrap_all.has_locks) {
        (void)syscall(SYS_close, wrap_all.kept);
        wrap_all.kept = -1;
    }
    (void)pthread_atfork(before_fork, after_fork, in_child);
}

bool wrap_is_begun(void)
{
    return __atomic_load_n(&wrap_all.begun, __ATOMIC_ACQUIRE);
}

bool wrap_enter(sigset_t *old)
{
    if (wrap_is_begun() && !wrap_all.on) {
        return false;
    }
    lock_state(old);
    if (!wrap_all.begun) {
        begin_process();
        __atomic_store_n(&wrap_all.begun, true, __ATOMIC_RELEASE);
    }
    if (!wrap_all.on) {
        wrap_leave(old);
        return false;
    }
    return true;
}

void wrap_leave(const sigset_t *old)
{
    int saved = errno;
    unlock_state(old);
    errno = saved;
}
