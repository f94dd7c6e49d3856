/* base/stream/stream_connect_event.c - from an address to a connected socket.
 *
 * Design note: numeric addresses are used at once; names are resolved on worker lanes, of which
 * there are a few so that one dead name server does not hold up every connection.  The addresses of
 * a name are tried one after the other, each for its share of the time that is left.
 *
 * A connect to a port of this machine in the range of temporary ports may meet itself when nobody
 * listens there (TCP's simultaneous open): it would then hold the port that the daemon it looks for
 * wants to bind.  Such a connection is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_event.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"

#define RESOLVER_LANES 4
#define RETRY_MS       10  /* a Unix socket whose backlog is full */
#define ATTEMPT_MIN_MS 500 /* for one of several addresses */

/* A name that a worker looks up. */
struct resolve {
    LIST_ENTRY(resolve) entry;
    struct connector *connector; /* NULL: no longer wanted */
    char host[STREAM_HOST_MAX];
    char port[6];
    struct addrinfo *result;
};

struct resolver {
    LIST_HEAD(, resolve) pending;
    struct loop_lane *lanes[RESOLVER_LANES];
    unsigned next;
};

struct connector {
    struct loop *loop;
    struct stream_address address;
    char *path; /* unix; address.path points to it */
    connector_f call;
    void *arg;
    struct resolve *resolve;
    struct addrinfo *list, *next;
    int fd; /* the attempt under way, or -1 */
    struct loop_fd *watch;
    struct loop_timer *timer;
    uint64_t deadline_ms;
};

/* ---- names ----------------------------------------------------------------------------------- */

static int look_up(const char *host, const char *port, int flags, struct addrinfo **ret)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
    return getaddrinfo(host, port, &hints, ret);
}

static int resolve_work(void *arg)
{
    struct resolve *resolve = arg;
    return look_up(resolve->host, resolve->port, 0, &resolve->result);
}

static void resolve_free(struct resolve *resolve)
{
    LIST_REMOVE(resolve, entry);
    if (resolve->result != NULL) {
        freeaddrinfo(resolve->result);
    }
    mem_free(resolve);
}

static void attempt_or_fail(struct connector *c, int code, const char *reason);

static void resolve_done(void *arg, int result)
{
    struct resolve *resolve = arg;
    struct connector *c = resolve->connector;
    if (c != NULL) {
        c->resolve = NULL;
        c->list = c->next = resolve->result;
        resolve->result = NULL;
    }
    resolve_free(resolve);
    if (c != NULL) {
        char reason[ERR_TEXT_MAX];
        (void)snprintf(reason, sizeof(reason), "cannot resolve '%s': %s", c->address.host,
                       gai_strerror(result));
        attempt_or_fail(c, -EHOSTUNREACH, reason);
    }
}

struct resolver *resolver_create(struct loop *loop)
{
    struct resolver *resolver = mem_zalloc(sizeof(*resolver));
    LIST_INIT(&resolver->pending);
    for (size_t i = 0; i < RESOLVER_LANES; i++) {
        resolver->lanes[i] = loop_lane_create(loop);
    }
    return resolver;
}

void resolver_destroy(struct resolver *resolver)
{
    if (resolver == NULL) {
        return;
    }
    for (size_t i = 0; i < RESOLVER_LANES; i++) {
        loop_lane_destroy(resolver->lanes[i]);
    }
    while (!LIST_EMPTY(&resolver->pending)) {
        resolve_free(LIST_FIRST(&resolver->pending));
    }
    mem_free(resolver);
}

static void resolve_start(struct connector *c)
{
    struct resolver *resolver = stream_resolver(c->loop);
    struct resolve *resolve = mem_zalloc(sizeof(*resolve));
    resolve->connector = c;
    memcpy(resolve->host, c->address.host, sizeof(resolve->host));
    memcpy(resolve->port, c->address.port, sizeof(resolve->port));
    LIST_INSERT_HEAD(&resolver->pending, resolve, entry);
    c->resolve = resolve;
    loop_lane_run(resolver->lanes[resolver->next++ % RESOLVER_LANES], resolve_work, resolve_done,
                  resolve);
}

/* ---- attempts -------------------------------------------------------------------------------- */

static void drop_attempt(struct connector *c)
{
    loop_fd_destroy(c->watch);
    c->watch = NULL;
    if (c->fd >= 0) {
        close(c->fd);
        c->fd = -1;
    }
}

static uint64_t time_left(const struct connector *c)
{
    uint64_t now_ms = loop_now_ms(c->loop);
    return now_ms < c->deadline_ms ? c->deadline_ms - now_ms : 0;
}

static bool is_self(int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t here_length = sizeof(here), there_length = sizeof(there);
    return getsockname(fd, (struct sockaddr *)&here, &here_length) == 0 &&
           getpeername(fd, (struct sockaddr *)&there, &there_length) == 0 &&
           here_length == there_length && memcmp(&here, &there, here_length) == 0;
}

static void attempt_ready(void *arg, unsigned ready)
{
    (void)ready;
    struct connector *c = arg;
    int error = 0;
    socklen_t length = sizeof(error);
    CHECK(getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
    if (error == 0 && c->address.kind == STREAM_TCP && is_self(c->fd)) {
        error = ECONNREFUSED;
    }
    if (error != 0) {
        drop_attempt(c);
        attempt_or_fail(c, -error, strerror(error));
        return;
    }
    int fd = c->fd;
    c->fd = -1; /* the callee's now */
    drop_attempt(c);
    loop_timer_stop(c->timer);
    c->call(c->arg, fd, 0, "");
}

/* Starts to connect to one address; -errno if that fails at once. */
static int attempt_address(struct connector *c, const struct sockaddr *address, socklen_t length)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    if (address->sa_family != AF_UNIX) {
        stream_tune_tcp(fd);
    }
    if (connect(fd, address, length) != 0 && errno != EINPROGRESS) {
        int code = -errno;
        close(fd);
        return code;
    }
    c->fd = fd;
    c->watch = loop_fd_create(c->loop, fd, attempt_ready, c);
    loop_fd_want(c->watch, LOOP_WRITE);
    return 0;
}

static int attempt_unix(struct connector *c, struct err *err)
{
    struct sockaddr_un address;
    socklen_t length;
    int directory_fd;
    int code = stream_unix_address(c->address.path, &address, &length, &directory_fd, err);
    if (code != 0) {
        return code;
    }
    code = attempt_address(c, (struct sockaddr *)&address, length);
    if (directory_fd >= 0) {
        close(directory_fd);
    }
    if (code == -EAGAIN && time_left(c) > 0) {
        loop_timer_set(c->timer, RETRY_MS);
        return 0;
    }
    if (code == -EAGAIN) {
        code = -ETIMEDOUT;
    }
    return code == 0 ? 0 : err_set(err, code, "%s", strerror(-code));
}

/* Tries the addresses that are left; code and reason are reported if there are none. */
static int attempt_tcp(struct connector *c, int code, const char *reason, struct err *err)
{
    (void)err_set(err, code, "%s", reason);
    while (c->next != NULL && time_left(c) > 0) {
        struct addrinfo *each = c->next;
        unsigned count = 0;
        for (struct addrinfo *rest = each; rest != NULL; rest = rest->ai_next) {
            count++;
        }
        c->next = each->ai_next;
        code = attempt_address(c, each->ai_addr, each->ai_addrlen);
        if (code == 0) {
            uint64_t share_ms = time_left(c) / count;
            loop_timer_set(c->timer, share_ms > ATTEMPT_MIN_MS ? share_ms : ATTEMPT_MIN_MS);
            return 0;
        }
        (void)err_set(err, code, "%s", strerror(-code));
    }
    return code;
}

static void attempt_or_fail(struct connector *c, int code, const char *reason)
{
    struct err err;
    if (c->address.kind == STREAM_TCP) {
        code = attempt_tcp(c, code, reason, &err);
        if (code == 0) {
            return;
        }
        reason = err.text;
    }
    loop_timer_stop(c->timer);
    c->call(c->arg, -1, code, reason);
}

static void timer_ran_out(void *arg)
{
    struct connector *c = arg;
    struct err err;
    if (c->address.kind == STREAM_UNIX && c->fd < 0) {
        int code = attempt_unix(c, &err);
        if (code != 0) {
            c->call(c->arg, -1, code, err.text);
        }
        return;
    }
    drop_attempt(c);
    attempt_or_fail(c, -ETIMEDOUT,
                    c->resolve != NULL ? "the host name was not resolved in time"
                                       : "no answer in time");
}

int connector_start(struct loop *loop, const struct stream_address *address, connector_f call,
                    void *arg, struct connector **ret, struct err *err)
{
    struct connector *c = mem_zalloc(sizeof(*c));
    c->loop = loop;
    c->address = *address;
    c->call = call;
    c->arg = arg;
    c->fd = -1;
    c->timer = loop_timer_create(loop, timer_ran_out, c);
    c->deadline_ms = loop_now_ms(loop) + STREAM_HANDSHAKE_MS;
    int code = 0;
    if (address->kind == STREAM_UNIX) {
        c->path = mem_strdup(address->path);
        c->address.path = c->path;
        code = attempt_unix(c, err);
    } else if (look_up(address->host, address->port, AI_NUMERICHOST, &c->list) == 0) {
        c->next = c->list;
        code = attempt_tcp(c, -EHOSTUNREACH, "the host has no address", err);
    } else {
        loop_timer_set(c->timer, STREAM_HANDSHAKE_MS);
        resolve_start(c);
    }
    if (code != 0) {
        connector_destroy(c);
        return code;
    }
    *ret = c;
    return 0;
}

void connector_destroy(struct connector *c)
{
    if (c == NULL) {
        return;
    }
    if (c->resolve != NULL) {
        c->resolve->connector = NULL;
    }
    if (c->list != NULL) {
        freeaddrinfo(c->list);
    }
    drop_attempt(c);
    loop_timer_destroy(c->timer);
    mem_free(c->path);
    mem_free(c);
}
