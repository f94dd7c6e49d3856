/* base/stream/stream_listen_event.c - listeners, the preface, passing a connection on.
 *
 * Design note: a connection is read up to the newline of its preface and not one byte further, so
 * that what follows - TLS, whose state cannot be handed over - is still in the kernel when the
 * connection goes to another process: peek, then take up to and with the newline, or all if there
 * is none yet.  It is passed as one datagram with the preface as text and the descriptor beside it;
 * datagrams keep their bounds, need no connection, and tell at once when nobody is there.  A
 * receiver whose queue is full is tried again for a while: a hundred machines may dial one shadow
 * at the same moment, and the queue may be as short as ten.
 *
 * Whoever may reach a "pass" socket could make us serve a connection of theirs, so the kernel's
 * word on the sender (SCM_CREDENTIALS) must say root or our own user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_event.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/stream/wait_line.h"

#define BACKLOG       4096
#define ACCEPT_TURN   64  /* connections accepted before others get their turn */
#define EXHAUSTED_MS  100 /* no descriptors left: accept no more for so long */
#define CROWDED_MS    10  /* no room for strangers: looked at again after so long, at most */
#define TELL_MS       500 /* who waits too long in the line is looked for so often */
#define PASS_RETRY_MS 5
#define PASS_FDS_MAX  4 /* descriptors that a stranger's datagram may carry before it is cut */

struct incoming {
    struct loop *loop;
    struct listener *listener;  /* while its preface is awaited */
    LIST_ENTRY(incoming) entry; /* in the listener's list, or in that of the passes */
    int fd;
    struct loop_fd *watch;
    struct loop_timer *timer;
    bool is_tcp;
    char *peer;
    struct stream_credentials credentials;
    char line[STREAM_PREFACE_MAX];
    size_t line_length;
    char route[STREAM_ROUTE_MAX + 1];
    struct stranger stranger;
    char *pass_path; /* on its way to another process */
    uint64_t pass_until_ms;
};

LIST_HEAD(incoming_list, incoming);

struct listener {
    struct loop *loop;
    enum stream_kind kind;
    int fd;
    struct loop_fd *watch;
    struct loop_timer *backoff;
    struct wait_line *line; /* of a TCP port: who was accepted and waits */
    struct loop_fd *heard;  /* readable: a silent one of the line has sent something */
    struct loop_timer *admit, *tell;
    char *address;
    char *path; /* unix, pass: removed at the end if it is still this file */
    dev_t device;
    ino_t inode;
    listener_f call;
    void *arg;
    struct incoming_list unfinished;
    struct listener_stats stats;
    bool *destroyed; /* set when it is destroyed in its own callback */
};

/* ---- incoming connections -------------------------------------------------------------------- */

/* Takes the connection from its listener's list: its preface is complete, or never will be. */
static void incoming_finished(struct incoming *in)
{
    loop_fd_destroy(in->watch);
    in->watch = NULL;
    loop_timer_destroy(in->timer);
    in->timer = NULL;
    if (in->listener != NULL) {
        LIST_REMOVE(in, entry);
        in->listener->stats.unfinished--;
        in->listener = NULL;
    }
}

static void incoming_free(struct incoming *in)
{
    incoming_finished(in);
    strangers_remove(&in->stranger);
    if (in->fd >= 0) {
        close(in->fd);
    }
    if (in->pass_path != NULL) {
        LIST_REMOVE(in, entry);
        mem_free(in->pass_path);
    }
    mem_free(in->peer);
    mem_free(in);
}

static void incoming_drop(struct incoming *in)
{
    in->listener->stats.dropped++;
    incoming_free(in);
}

/* Closes this connection, to make room for another one.  If the listener's owner has it already,
 * the object stays, without its connection. */
static void stranger_leaves(void *arg)
{
    struct incoming *in = arg;
    if (in->listener != NULL) {
        incoming_drop(in);
    } else if (in->pass_path != NULL) {
        incoming_free(in);
    } else {
        close(in->fd);
        in->fd = -1;
    }
}

static struct incoming *incoming_new(struct loop *loop, int fd, bool is_tcp)
{
    char peer[STREAM_PEER_MAX];
    struct incoming *in = mem_zalloc(sizeof(*in));
    in->loop = loop;
    in->fd = fd;
    in->is_tcp = is_tcp;
    if (is_tcp) {
        stream_peer_of_tcp(fd, peer);
    } else {
        stream_peer_of_unix(fd, NULL, peer, &in->credentials);
    }
    in->peer = mem_strdup(peer);
    strangers_add(stream_strangers_of(loop), &in->stranger, peer, loop_now_ms(loop),
                  stranger_leaves, in);
    return in;
}

static void incoming_too_slow(void *arg)
{
    incoming_drop(arg);
}

/* Gives the connection to the listener's owner. */
static void deliver_incoming(struct listener *listener, struct incoming *in)
{
    struct loop *loop = listener->loop;
    listener_f call = listener->call;
    struct loop_account account;
    incoming_finished(in);
    listener->stats.accepted++;
    loop_account_begin(loop, &account);
    call(listener->arg, in); /* may destroy the listener */
    loop_account_end(loop, &account, "incoming", (void (*)(void))call);
}

static void preface_ready(void *arg, unsigned ready)
{
    (void)ready;
    struct incoming *in = arg;
    size_t room = sizeof(in->line) - in->line_length;
    ssize_t got = recv(in->fd, in->line + in->line_length, room, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        incoming_drop(in);
        return;
    }
    const char *newline = memchr(in->line + in->line_length, '\n', (size_t)got);
    size_t take =
        newline != NULL ? (size_t)(newline - (in->line + in->line_length)) + 1 : (size_t)got;
    got = recv(in->fd, in->line + in->line_length, take, MSG_DONTWAIT);
    if (got != (ssize_t)take) { /* nobody else reads it */
        incoming_drop(in);
        return;
    }
    in->line_length += take;
    if (newline == NULL) {
        if (in->line_length == sizeof(in->line)) {
            incoming_drop(in);
        }
        return;
    }
    if (!stream_preface_parse(in->line, in->line_length - 1, in->route)) {
        incoming_drop(in);
        return;
    }
    deliver_incoming(in->listener, in);
}

static void incoming_begin(struct listener *listener, int fd)
{
    struct incoming *in = incoming_new(listener->loop, fd, listener->kind == STREAM_TCP);
    in->listener = listener;
    LIST_INSERT_HEAD(&listener->unfinished, in, entry);
    listener->stats.unfinished++;
    in->timer = loop_timer_create(listener->loop, incoming_too_slow, in);
    loop_timer_set(in->timer, STREAM_PREFACE_MS);
    in->watch = loop_fd_create(listener->loop, fd, preface_ready, in);
    loop_fd_want(in->watch, LOOP_READ);
}

const char *incoming_route(const struct incoming *in)
{
    return in->route;
}

const char *incoming_peer(const struct incoming *in)
{
    return in->peer;
}

struct stream *incoming_accept(struct incoming *in, const struct tls_identity *identity,
                               const struct stream_events *events, void *arg)
{
    CHECK(!in->is_tcp || identity != NULL);
    struct stream *stream = NULL;
    if (in->fd >= 0) {
        stream = stream_adopt(in->loop, in->fd, &in->stranger, in->peer, &in->credentials,
                              in->is_tcp ? identity : NULL, events, arg);
        in->fd = -1;
    }
    incoming_free(in);
    return stream;
}

void incoming_refuse(struct incoming *in)
{
    incoming_free(in);
}

/* ---- passing on ------------------------------------------------------------------------------ */

/* Frees what a loop still tries to pass on: it belongs to nobody else. */
static void passes_destroy(void *value)
{
    struct incoming_list *passes = value;
    while (!LIST_EMPTY(passes)) {
        incoming_free(LIST_FIRST(passes));
    }
    mem_free(passes);
}

static struct incoming_list *passes_of(struct loop *loop)
{
    struct incoming_list *passes = loop_slot_get(loop, LOOP_SLOT_PASSES);
    if (passes == NULL) {
        passes = mem_alloc(sizeof(*passes));
        LIST_INIT(passes);
        loop_slot_set(loop, LOOP_SLOT_PASSES, passes, passes_destroy);
    }
    return passes;
}

static int pass_send(struct incoming *in, const char *path, struct err *err)
{
    struct sockaddr_un address;
    socklen_t length;
    int directory_fd;
    int code = stream_unix_address(path, &address, &length, &directory_fd, err);
    if (code != 0) {
        return code == -ENOENT ? -ECONNREFUSED : code;
    }
    char text[STREAM_PREFACE_MAX + 1];
    int text_length = snprintf(text, sizeof(text), STREAM_PREFACE_WORD "%s\n", in->route);
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {text, (size_t)text_length};
    struct msghdr message = {.msg_name = &address,
                             .msg_namelen = length,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof(control.space)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &in->fd, sizeof(int));

    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
        code = errno == ENOENT ? -ECONNREFUSED : errno == ETOOMANYREFS ? -EAGAIN : -errno;
        (void)err_set(err, code, "pass:%s: %s", path, strerror(-code));
    }
    if (fd >= 0) {
        close(fd);
    }
    if (directory_fd >= 0) {
        close(directory_fd);
    }
    return code;
}

static void pass_again(void *arg)
{
    struct incoming *in = arg;
    if (pass_send(in, in->pass_path, NULL) == -EAGAIN &&
        loop_now_ms(in->loop) < in->pass_until_ms) {
        loop_timer_set(in->timer, PASS_RETRY_MS);
        return;
    }
    incoming_free(in);
}

int incoming_pass(struct incoming *in, const char *pass_address, struct err *err)
{
    struct stream_address address;
    int code = in->fd >= 0 ? stream_address_parse(pass_address, &address, err)
                           : err_set(err, -ECONNABORTED,
                                     "%s: connection closed to make room for others", in->peer);
    if (code == 0 && address.kind != STREAM_PASS) {
        code = err_set(err, -EINVAL, "'%s' is not an address of the form pass:PATH", pass_address);
    }
    if (code == 0) {
        code = pass_send(in, address.path, err);
    }
    if (code == -EAGAIN) {
        in->pass_path = mem_strdup(address.path);
        LIST_INSERT_HEAD(passes_of(in->loop), in, entry);
        in->pass_until_ms = loop_now_ms(in->loop) + STREAM_PREFACE_MS;
        in->timer = loop_timer_create(in->loop, pass_again, in);
        loop_timer_set(in->timer, PASS_RETRY_MS);
        return 0;
    }
    incoming_free(in);
    return code;
}

/* What a control message carries. */
struct passed {
    int fds[PASS_FDS_MAX];
    size_t fd_count;
    bool trusted;
};

static void read_control(struct msghdr *message, struct passed *ret)
{
    for (struct cmsghdr *each = CMSG_FIRSTHDR(message); each != NULL;
         each = CMSG_NXTHDR(message, each)) {
        if (each->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (each->cmsg_type == SCM_RIGHTS) {
            size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            CHECK(count <= PASS_FDS_MAX - ret->fd_count); /* the buffer holds no more */
            memcpy(ret->fds + ret->fd_count, CMSG_DATA(each), count * sizeof(int));
            ret->fd_count += count;
        } else if (each->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(each), sizeof(sender));
            ret->trusted = sender.uid == 0 || sender.uid == geteuid();
        }
    }
}

/* Returns whether it is a connected socket of a kind that we serve. */
static bool is_connection(int fd, bool *is_tcp)
{
    int type = 0, domain = 0;
    socklen_t type_length = sizeof(type), domain_length = sizeof(domain);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_length) != 0 || type != SOCK_STREAM ||
        getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_length) != 0) {
        return false;
    }
    *is_tcp = domain == AF_INET || domain == AF_INET6;
    return *is_tcp || domain == AF_UNIX;
}

/* Makes room for one more stranger; false when that ended the listener. */
static bool make_room(const struct listener *listener)
{
    const bool *destroyed = listener->destroyed;
    strangers_make_room(stream_strangers_of(listener->loop), loop_now_ms(listener->loop));
    return !*destroyed;
}

/* Receives one passed connection; false when there is none at the moment. */
static bool receive_passed(struct listener *listener)
{
    char text[STREAM_PREFACE_MAX + 1], route[STREAM_ROUTE_MAX + 1];
    union {
        char space[CMSG_SPACE(PASS_FDS_MAX * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec part = {text, sizeof(text)};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof(control.space)};
    struct passed passed = {.fd_count = 0};
    ssize_t got = recvmsg(listener->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) {
        return false;
    }
    read_control(&message, &passed);
    bool is_tcp = false;
    bool good = passed.trusted && passed.fd_count == 1 && is_connection(passed.fds[0], &is_tcp) &&
                got >= 1 && text[got - 1] == '\n' &&
                stream_preface_parse(text, (size_t)got - 1, route) &&
                fcntl(passed.fds[0], F_SETFL, O_RDWR | O_NONBLOCK) == 0;
    if (!good) {
        for (size_t i = 0; i < passed.fd_count; i++) {
            close(passed.fds[i]);
        }
        listener->stats.dropped++;
        return true;
    }
    if (!make_room(listener)) {
        close(passed.fds[0]);
        return false;
    }
    struct incoming *in = incoming_new(listener->loop, passed.fds[0], is_tcp);
    memcpy(in->route, route, sizeof(route));
    deliver_incoming(listener, in);
    return true;
}

/* ---- listeners ------------------------------------------------------------------------------- */

static void backoff_over(void *arg)
{
    struct listener *listener = arg;
    loop_fd_want(listener->watch, LOOP_READ);
}

/* Accepts one connection: -1 when there is none at the moment, or none can be had. */
static int accept_fd(struct listener *listener)
{
    int fd;
    do { /* all but these errors is the bad luck of one connection, such as ECONNABORTED */
        fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (fd < 0 && errno != EAGAIN && errno != EMFILE && errno != ENFILE && errno != ENOBUFS &&
             errno != ENOMEM);
    if (fd < 0 && errno != EAGAIN) {
        /* They wait in the kernel; without a pause the loop would turn for nothing but this. */
        listener->stats.exhausted++;
        loop_fd_want(listener->watch, 0);
        loop_timer_set(listener->backoff, EXHAUSTED_MS);
    }
    return fd;
}

/* Begins to serve a connection.  Returns false when that ended the listener. */
static bool admit_one(struct listener *listener, int fd)
{
    if (!make_room(listener)) {
        close(fd);
        return false;
    }
    incoming_begin(listener, fd);
    return true;
}

/* Admits one connection from a Unix socket.  Such a peer has its uid as address, and does not wait
 * for those of a network. */
static bool accept_local(struct listener *listener)
{
    int fd = accept_fd(listener);
    return fd >= 0 && admit_one(listener, fd);
}

/* Returns after how many ms the next connection may be admitted; 0: now. */
static uint64_t admission_wait_ms(const struct listener *listener)
{
    struct loop *loop = listener->loop;
    bool hurry = listener->line != NULL && wait_line_is_full(listener->line);
    uint64_t wait_ms = stream_is_crowded(loop)
                           ? CROWDED_MS
                           : strangers_wait_ms(stream_strangers_of(loop), loop_now_ms(loop), hurry);
    return wait_ms < CROWDED_MS ? wait_ms : CROWDED_MS;
}

/* Receives one passed connection, unless those that are here must be given time first: then it
 * waits in the socket's queue. */
static bool receive_in_turn(struct listener *listener)
{
    uint64_t wait_ms = admission_wait_ms(listener);
    if (wait_ms == 0) {
        return receive_passed(listener);
    }
    loop_fd_want(listener->watch, 0);
    loop_timer_set(listener->backoff, wait_ms);
    return false;
}

/* Admits from the line while there is room.  Returns false when that ended the listener. */
static bool admit_some(struct listener *listener)
{
    uint64_t wait_ms = 0;
    for (int i = 0; i < ACCEPT_TURN && (wait_ms = admission_wait_ms(listener)) == 0; i++) {
        int fd = wait_line_next(listener->line);
        if (fd < 0) {
            wait_ms = TELL_MS;
            break;
        }
        if (!admit_one(listener, fd)) {
            return false;
        }
    }
    if (wait_line_count(listener->line) > 0) {
        loop_timer_set(listener->admit, wait_ms);
        if (!loop_timer_is_set(listener->tell)) {
            loop_timer_set(listener->tell, TELL_MS);
        }
    }
    return true;
}

/* Admits from the line, and watches the port while the line has room.  A full line cannot stop this
 * for good: as long as anybody waits, admit_some() sets the timer that calls this again.  Returns
 * false when the listener is gone. */
static bool admit_turn(struct listener *listener)
{
    if (!admit_some(listener)) {
        return false;
    }
    bool room = wait_line_make_room(listener->line, loop_now_ms(listener->loop));
    bool paused = loop_timer_is_set(listener->backoff); /* no descriptors are left */
    loop_fd_want(listener->watch, room && !paused ? LOOP_READ : 0);
    return true;
}

/* Accepts all that have come, up to ACCEPT_TURN, and admits those whose turn it is. */
static bool accept_tcp(struct listener *listener)
{
    uint64_t now_ms = loop_now_ms(listener->loop);
    int fd = -1;
    for (int i = 0; i < ACCEPT_TURN && wait_line_make_room(listener->line, now_ms); i++) {
        fd = accept_fd(listener);
        if (fd < 0) {
            break;
        }
        wait_line_add(listener->line, fd, now_ms);
    }
    return admit_turn(listener);
}

static void listener_work(struct listener *listener, bool (*work)(struct listener *), int times)
{
    bool destroyed = false;
    listener->destroyed = &destroyed;
    for (int i = 0; i < times && work(listener) && !destroyed; i++) {
    }
    if (!destroyed) {
        listener->destroyed = NULL;
    }
}

static void listener_ready(void *arg, unsigned ready)
{
    (void)ready;
    struct listener *listener = arg;
    if (listener->kind == STREAM_TCP) {
        listener_work(listener, accept_tcp, 1);
    } else {
        listener_work(listener, listener->kind == STREAM_PASS ? receive_in_turn : accept_local,
                      ACCEPT_TURN);
    }
}

static void admit_again(void *arg)
{
    listener_work(arg, admit_turn, 1);
}

static void hear_silent(void *arg, unsigned ready)
{
    (void)ready;
    struct listener *listener = arg;
    wait_line_hear(listener->line);
    listener_work(listener, admit_turn, 1);
}

static void tell_waiting(void *arg)
{
    struct listener *listener = arg;
    wait_line_tell(listener->line, loop_now_ms(listener->loop));
    if (wait_line_count(listener->line) > 0) {
        loop_timer_set(listener->tell, TELL_MS);
    }
    loop_timer_set(listener->admit, 0);
}

static int listen_tcp(struct listener *listener, const struct stream_address *address,
                      struct err *err)
{
    bool any = strcmp(address->host, "*") == 0;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    int looked = getaddrinfo(any ? "::" : address->host, address->port, &hints, &list);
    if (looked != 0) {
        return err_set(err, -EADDRNOTAVAIL, "tcp:%s:%s: %s", address->host, address->port,
                       gai_strerror(looked));
    }
    int on = 1, off = 0;
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in any_v4 = {.sin_family = AF_INET};
    const struct sockaddr *bind_to = list->ai_addr;
    socklen_t bind_length = list->ai_addrlen;
    if (fd < 0 && any && errno == EAFNOSUPPORT) { /* a kernel without IPv6 */
        any_v4.sin_port = ((struct sockaddr_in6 *)list->ai_addr)->sin6_port;
        bind_to = (struct sockaddr *)&any_v4;
        bind_length = sizeof(any_v4);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }
    int code = 0;
    if (fd >= 0) {
        stream_tune_tcp(fd); /* each accepted connection inherits it */
    }
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        (bind_to->sa_family == AF_INET6 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, any ? &off : &on, sizeof(on)) != 0) ||
        bind(fd, bind_to, bind_length) != 0 || listen(fd, BACKLOG) != 0) {
        code = err_set(err, -errno, "cannot listen on tcp:%s:%s: %s", address->host, address->port,
                       strerror(errno));
    }
    freeaddrinfo(list);
    if (code != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return code;
    }
    char own[STREAM_PEER_MAX];
    stream_own_tcp(fd, own);
    listener->address = mem_strdup(own);
    listener->fd = fd;
    return 0;
}

/* Removes a socket file that nobody listens on. */
static int remove_dead_socket(const struct sockaddr_un *address, socklen_t length, int type,
                              const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode)) {
        return err_set(err, -EADDRINUSE, "%s: a file of this name exists and is not a socket",
                       path);
    }
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    int result = connect(fd, (const struct sockaddr *)address, length);
    int error = errno;
    close(fd);
    if (result == 0 || error != ECONNREFUSED) {
        return err_set(err, -EADDRINUSE, "%s: another process listens on this socket", path);
    }
    if (unlink(path) != 0 && errno != ENOENT) {
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    return 0;
}

static int listen_unix(struct listener *listener, const struct stream_address *address,
                       struct err *err)
{
    bool pass = address->kind == STREAM_PASS;
    int type = pass ? SOCK_DGRAM : SOCK_STREAM, on = 1, fd = -1, directory_fd = -1;
    struct sockaddr_un to;
    socklen_t length;
    struct stat st;
    int code = stream_unix_address(address->path, &to, &length, &directory_fd, err);
    if (code != 0) {
        return code;
    }
    code = remove_dead_socket(&to, length, type, address->path, err);
    if (code != 0) {
        goto out;
    }
    fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || (pass && setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) ||
        bind(fd, (struct sockaddr *)&to, length) != 0 ||
        chmod(address->path, pass ? 0600 : 0666) != 0 || lstat(address->path, &st) != 0 ||
        (!pass && listen(fd, BACKLOG) != 0)) {
        code = err_set(err, -errno, "cannot listen on %s: %s", address->path, strerror(errno));
        goto out;
    }
    listener->path = mem_strdup(address->path);
    listener->device = st.st_dev;
    listener->inode = st.st_ino;
    listener->fd = fd;
    fd = -1;
out:
    if (fd >= 0) {
        close(fd);
    }
    if (directory_fd >= 0) {
        close(directory_fd);
    }
    return code;
}

int listener_create(struct loop *loop, const char *address, listener_f call, void *arg,
                    struct listener **ret, struct err *err)
{
    struct stream_address parsed;
    int code = stream_address_parse(address, &parsed, err);
    if (code != 0) {
        return code;
    }
    struct listener *listener = mem_zalloc(sizeof(*listener));
    listener->loop = loop;
    listener->kind = parsed.kind;
    listener->call = call;
    listener->arg = arg;
    listener->fd = -1;
    LIST_INIT(&listener->unfinished);
    if (parsed.kind == STREAM_TCP) {
        listener->line = wait_line_create(WAIT_LINE_MAX);
        code = listener->line == NULL
                   ? err_set(err, -errno, "cannot listen on %s: %s", address, strerror(errno))
                   : listen_tcp(listener, &parsed, err);
    } else {
        code = listen_unix(listener, &parsed, err);
    }
    if (code != 0) {
        wait_line_destroy(listener->line);
        mem_free(listener);
        return code;
    }
    if (listener->address == NULL) {
        listener->address = mem_strdup(address);
    }
    listener->backoff = loop_timer_create(loop, backoff_over, listener);
    if (parsed.kind == STREAM_TCP) {
        listener->heard =
            loop_fd_create(loop, wait_line_silent_fd(listener->line), hear_silent, listener);
        loop_fd_want(listener->heard, LOOP_READ);
        listener->admit = loop_timer_create(loop, admit_again, listener);
        listener->tell = loop_timer_create(loop, tell_waiting, listener);
    }
    listener->watch = loop_fd_create(loop, listener->fd, listener_ready, listener);
    loop_fd_want(listener->watch, LOOP_READ);
    *ret = listener;
    return 0;
}

void listener_destroy(struct listener *listener)
{
    if (listener == NULL) {
        return;
    }
    if (listener->destroyed != NULL) {
        *listener->destroyed = true;
    }
    while (!LIST_EMPTY(&listener->unfinished)) {
        incoming_free(LIST_FIRST(&listener->unfinished));
    }
    struct stat st;
    if (listener->path != NULL && lstat(listener->path, &st) == 0 &&
        st.st_dev == listener->device && st.st_ino == listener->inode) {
        (void)unlink(listener->path); /* a file that stays is found dead by the next listener */
    }
    loop_fd_destroy(listener->watch);
    loop_timer_destroy(listener->backoff);
    loop_timer_destroy(listener->admit);
    loop_timer_destroy(listener->tell);
    loop_fd_destroy(listener->heard);
    wait_line_destroy(listener->line);
    close(listener->fd);
    mem_free(listener->path);
    mem_free(listener->address);
    mem_free(listener);
}

const char *listener_address(const struct listener *listener)
{
    return listener->address;
}

void listener_get_stats(const struct listener *listener, struct listener_stats *ret)
{
    *ret = listener->stats;
    ret->dropped += listener->line != NULL ? wait_line_dropped(listener->line) : 0;
}
