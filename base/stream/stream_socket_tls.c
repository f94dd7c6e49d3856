/* base/stream/stream_socket_tls.c - see stream_socket_tls.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_socket_tls.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "base/mem.h"

#define SHARED_BYTES ((size_t)128 << 10)
#define GATHERED_MAX ((size_t)64 << 10)
#define KEPT_FREE    ((size_t)1 << 20) /* kept by all connections, before read_max counts */

struct tls_sockets {
    BIO_METHOD *method;
    struct tls_socket *user; /* whose bytes are in data[begin..end) */
    size_t begin, end;
    unsigned char data[SHARED_BYTES];
    size_t kept_bytes;         /* of all connections */
    struct tls_socket *writer; /* whose bytes are in gathered[0..gathered_length) */
    size_t gathered_length;
    unsigned char gathered[GATHERED_MAX];
};

struct tls_socket {
    struct tls_sockets *sockets;
    int fd;
    bool drained; /* the kernel has given all there was in this turn */
    bool at_end;  /* the peer sends no more */
    size_t read_max;
    unsigned char *kept;
    size_t kept_begin, kept_end;
    unsigned char *unsent; /* what the kernel did not take */
    size_t unsent_begin, unsent_end;
};

/* ---- reading --------------------------------------------------------------------------------- */

static void forget_kept(struct tls_socket *socket)
{
    if (socket->kept != NULL) {
        socket->sockets->kept_bytes -= socket->kept_end;
        mem_free(socket->kept);
        socket->kept = NULL;
    }
}

static int take_kept(struct tls_socket *socket, void *ret, size_t room)
{
    size_t there = socket->kept_end - socket->kept_begin;
    size_t count = there < room ? there : room;
    memcpy(ret, socket->kept + socket->kept_begin, count);
    socket->kept_begin += count;
    if (socket->kept_begin == socket->kept_end) {
        forget_kept(socket);
    }
    return (int)count;
}

static int take_shared(struct tls_sockets *sockets, void *ret, size_t room)
{
    size_t there = sockets->end - sockets->begin;
    size_t count = there < room ? there : room;
    memcpy(ret, sockets->data + sockets->begin, count);
    sockets->begin += count;
    if (sockets->begin == sockets->end) {
        sockets->user = NULL;
    }
    return (int)count;
}

/* Reads from the kernel. */
static ssize_t receive_input(struct tls_socket *socket, BIO *bio, void *data, size_t room)
{
    ssize_t got = recv(socket->fd, data, room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        BIO_set_retry_read(bio);
    }
    socket->at_end = got == 0;
    socket->drained = got < (ssize_t)room;
    return got;
}

static int bio_read(BIO *bio, char *ret, int room)
{
    struct tls_socket *socket = BIO_get_data(bio);
    struct tls_sockets *sockets = socket->sockets;
    BIO_clear_retry_flags(bio);
    if (room <= 0) {
        return 0;
    }
    if (socket->kept != NULL) {
        return take_kept(socket, ret, (size_t)room);
    }
    if (sockets->user == socket) {
        return take_shared(sockets, ret, (size_t)room);
    }
    if (socket->drained && !socket->at_end) {
        BIO_set_retry_read(bio);
        return -1;
    }
    if (sockets->user != NULL) { /* somebody reads inside another's turn */
        return (int)receive_input(socket, bio, ret,
                                  (size_t)room < socket->read_max ? (size_t)room
                                                                  : socket->read_max);
    }
    size_t most = sockets->kept_bytes < KEPT_FREE ? SHARED_BYTES : socket->read_max;
    ssize_t got = receive_input(socket, bio, sockets->data, most);
    if (got <= 0) {
        return (int)got;
    }
    sockets->user = socket;
    sockets->begin = 0;
    sockets->end = (size_t)got;
    return take_shared(sockets, ret, (size_t)room);
}

void tls_socket_set_read_max(struct tls_socket *socket, size_t bytes)
{
    socket->read_max = bytes < SHARED_BYTES ? bytes : SHARED_BYTES;
}

void tls_socket_is_empty(struct tls_socket *socket)
{
    socket->drained = true;
}

size_t tls_socket_pending(const struct tls_socket *socket)
{
    return socket->unsent != NULL ? socket->unsent_end - socket->unsent_begin : 0;
}

bool tls_socket_may_have_more(const struct tls_socket *socket)
{
    return !socket->drained || socket->at_end || socket->kept != NULL ||
           socket->sockets->user == socket;
}

void tls_socket_turn_over(struct tls_socket *socket)
{
    struct tls_sockets *sockets = socket->sockets;
    socket->drained = false;
    if (sockets->user == socket) {
        size_t left = sockets->end - sockets->begin;
        CHECK(socket->kept == NULL);
        socket->kept = mem_dup(sockets->data + sockets->begin, left);
        socket->kept_begin = 0;
        socket->kept_end = left;
        sockets->kept_bytes += left;
        sockets->user = NULL;
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static ssize_t send_some(const struct tls_socket *socket, const void *data, size_t length)
{
    ssize_t put = send(socket->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    return put >= 0 ? put : errno == EINTR ? -EAGAIN : -errno;
}

static int send_unsent(struct tls_socket *socket)
{
    ssize_t put = send_some(socket, socket->unsent + socket->unsent_begin,
                            socket->unsent_end - socket->unsent_begin);
    socket->unsent_begin += put > 0 ? (size_t)put : 0;
    if (socket->unsent_begin == socket->unsent_end) {
        mem_free(socket->unsent);
        socket->unsent = NULL;
        return 0;
    }
    return put < 0 ? (int)put : -EAGAIN;
}

int tls_socket_flush(struct tls_socket *socket)
{
    struct tls_sockets *sockets = socket->sockets;
    if (socket->unsent != NULL) {
        return send_unsent(socket); /* nothing was gathered behind it */
    }
    if (sockets->writer != socket) {
        return 0;
    }
    size_t length = sockets->gathered_length;
    ssize_t put = send_some(socket, sockets->gathered, length);
    size_t sent = put > 0 ? (size_t)put : 0;
    sockets->writer = NULL;
    if (sent < length && (put >= 0 || put == -EAGAIN)) {
        socket->unsent = mem_dup(sockets->gathered + sent, length - sent);
        socket->unsent_begin = 0;
        socket->unsent_end = length - sent;
        return -EAGAIN;
    }
    return put < 0 ? (int)put : 0;
}

static size_t gather_output(struct tls_socket *socket, const char *data, size_t length)
{
    struct tls_sockets *sockets = socket->sockets;
    size_t before = sockets->writer == socket ? sockets->gathered_length : 0;
    size_t part = length < GATHERED_MAX - before ? length : GATHERED_MAX - before;
    memcpy(sockets->gathered + before, data, part);
    sockets->gathered_length = before + part;
    sockets->writer = socket;
    return part;
}

static int bio_write(BIO *bio, const char *data, int length)
{
    struct tls_socket *socket = BIO_get_data(bio);
    struct tls_sockets *sockets = socket->sockets;
    bool full =
        sockets->writer == socket && (size_t)length > GATHERED_MAX - sockets->gathered_length;
    ssize_t put = socket->unsent != NULL || full ? tls_socket_flush(socket) : 0;
    if (put == 0 && sockets->writer != NULL && sockets->writer != socket) {
        put = send_some(socket, data, (size_t)length); /* inside another's turn */
    } else if (put == 0) {
        put = (ssize_t)gather_output(socket, data, (size_t)length);
    }
    BIO_clear_retry_flags(bio);
    if (put == -EAGAIN) {
        BIO_set_retry_write(bio);
    }
    if (put < 0) {
        errno = (int)-put;
        return -1;
    }
    return (int)put;
}

/* ---- the rest of a BIO ----------------------------------------------------------------------- */

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    struct tls_socket *socket = BIO_get_data(bio);
    int code;
    (void)number;
    (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH: /* of a handshake */
        BIO_clear_retry_flags(bio);
        code = tls_socket_flush(socket);
        if (code == -EAGAIN) {
            BIO_set_retry_write(bio);
        }
        return code == 0 ? 1 : -1;
    case BIO_CTRL_EOF:
        return socket->at_end ? 1 : 0;
    default:
        return 0;
    }
}

static int bio_destroy(BIO *bio)
{
    struct tls_socket *socket = BIO_get_data(bio);
    if (socket != NULL) {
        if (socket->sockets->user == socket) {
            socket->sockets->user = NULL;
        }
        if (socket->sockets->writer == socket) {
            socket->sockets->writer = NULL;
        }
        forget_kept(socket);
        mem_free(socket->unsent);
        mem_free(socket);
        BIO_set_data(bio, NULL);
    }
    return 1;
}

/* ---- making ---------------------------------------------------------------------------------- */

struct tls_sockets *tls_sockets_create(void)
{
    struct tls_sockets *sockets = mem_alloc(sizeof(*sockets));
    sockets->user = NULL;
    sockets->writer = NULL;
    sockets->kept_bytes = 0;
    sockets->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream socket");
    CHECK(sockets->method != NULL);
    CHECK(BIO_meth_set_read(sockets->method, bio_read) == 1 &&
          BIO_meth_set_write(sockets->method, bio_write) == 1 &&
          BIO_meth_set_ctrl(sockets->method, bio_control) == 1 &&
          BIO_meth_set_destroy(sockets->method, bio_destroy) == 1);
    return sockets;
}

void tls_sockets_destroy(struct tls_sockets *sockets)
{
    if (sockets != NULL) {
        BIO_meth_free(sockets->method);
        mem_free(sockets);
    }
}

BIO *tls_socket_bio(struct tls_sockets *sockets, int fd, struct tls_socket **ret)
{
    BIO *bio = BIO_new(sockets->method);
    CHECK(bio != NULL);
    struct tls_socket *socket = mem_zalloc(sizeof(*socket));
    socket->sockets = sockets;
    socket->fd = fd;
    socket->read_max = SHARED_BYTES;
    BIO_set_data(bio, socket);
    BIO_set_init(bio, 1);
    *ret = socket;
    return bio;
}
