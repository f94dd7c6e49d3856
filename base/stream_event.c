/* base/stream_event.c - byte streams on real sockets.
 *
 * A stream is a descriptor, a phase, an input buffer in one piece and a list of output chunks.  One
 * function, stream_work(), does all that can be done at the moment: it is called when the socket is
 * ready, and once per turn of the loop for streams that got something to do; then it asks for
 * exactly the readiness it needs next.  So writes of one callback leave together, nothing calls
 * back inside the owner's call.  Only a small write on an idle stream is sent at once.
 *
 * Phases: CONNECTING -> PREFACE -> HANDSHAKE (TLS) -> OPEN -> LINGER (finished: the closing alert
 * is out; waits for the peer's end, because the kernel, when a socket with unread input is closed,
 * throws away what the peer has not read yet) or ENDED.
 *
 * After a failed write the input is read to its end first: the peer's last words say why it went.
 *
 * Invariants: the owner, or finishing, holds one reference, and stream_work() another; the owner is
 * called only while `owned`; in ENDED nothing is open and nothing is unsent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream_event.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/stream_buffer.h"
#include "base/stream_tls.h"
#include "base/stream_socket_tls.h"

#define TURN_BYTES    ((size_t)128 << 10) /* read or written before others get their turn */
#define AT_ONCE_BYTES ((size_t)16 << 10)
#define WHY_MAX       (STREAM_PEER_MAX + ERR_TEXT_MAX)

enum phase { CONNECTING, PREFACE, HANDSHAKE, OPEN, LINGER, ENDED };

struct stream {
    struct hub *hub;
    struct loop *loop;
    struct stream_events events;
    void *arg;
    unsigned refs;
    enum phase phase;
    bool owned;     /* the owner has neither closed nor finished it */
    bool finishing; /* in hub->finishing */
    bool paused;
    bool tell_readable; /* owed to the owner */
    bool was_full;      /* drained is owed once the output has shrunk */
    bool read_due;      /* there may be input although the socket does not say so */
    bool write_blocked;
    unsigned read_wants,
        write_wants; /* LOOP_*: what reading (or shaking hands), writing wait for */
    int write_error; /* negative errno: writing is over */
    bool soon;       /* in hub->soon */
    TAILQ_ENTRY(stream) soon_entry;
    LIST_ENTRY(stream) finishing_entry;

    int fd;
    struct loop_fd *watch;
    struct tls *tls;
    struct loop_timer *deadline;
    struct connector *connector;
    char *peer;
    char *address; /* of a client's Unix socket */
    struct stream_credentials credentials;
    char *preface; /* of a client, until it is sent */
    size_t preface_sent;

    struct stream_inbuf input;
    struct stream_outbuf output;
};

TAILQ_HEAD(stream_queue, stream);

/* All streams of a loop. */
struct hub {
    struct loop *loop;
    struct stream_queue soon;
    size_t soon_count;
    bool tick_deferred;
    LIST_HEAD(, stream) finishing;
    struct resolver *resolver;
    struct tls_sockets *sockets; /* NULL before the first TLS connection */
    unsigned char *block;        /* of STREAM_BLOCK bytes, for the input of one turn; NULL: lent */
};

static void stream_work(struct stream *s, unsigned ready);

/* ---- life ------------------------------------------------------------------------------------ */

static void not_soon(struct stream *s)
{
    if (s->soon) {
        TAILQ_REMOVE(&s->hub->soon, s, soon_entry);
        s->hub->soon_count--;
        s->soon = false;
    }
}

/* Closes all that is open. */
static void teardown(struct stream *s)
{
    not_soon(s);
    connector_destroy(s->connector);
    s->connector = NULL;
    loop_timer_destroy(s->deadline);
    s->deadline = NULL;
    loop_fd_destroy(s->watch);
    s->watch = NULL;
    tls_destroy(s->tls);
    s->tls = NULL;
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
    stream_outbuf_fini(&s->output);
    s->phase = ENDED;
}

static void stream_unref(struct stream *s)
{
    CHECK(s->refs > 0);
    if (--s->refs == 0) {
        CHECK(s->phase == ENDED && !s->finishing);
        stream_inbuf_fini(&s->input);
        mem_free(s->preface);
        mem_free(s->address);
        mem_free(s->peer);
        mem_free(s);
    }
}

/* The end of a finished stream, however it came. */
static void finish_end(struct stream *s)
{
    if (s->finishing) {
        LIST_REMOVE(s, finishing_entry);
        s->finishing = false;
        teardown(s);
        stream_unref(s);
    }
}

static void call_owner(struct stream *s, const char *what, void (*call)(void *arg))
{
    if (s->owned && call != NULL) {
        loop_call(s->loop, what, call, s->arg);
    }
}

/* The connection is over: tells the owner.  The caller holds a reference. */
static void stream_end(struct stream *s, int code, const char *reason)
{
    teardown(s);
    if (!s->owned) {
        finish_end(s);
    } else if (s->events.closed != NULL) {
        char why[WHY_MAX];
        (void)snprintf(why, sizeof(why), "%s: %s", s->peer, reason);
        struct loop_account account;
        void (*closed)(void *arg, int code, const char *why) = s->events.closed;
        loop_account_begin(s->loop, &account);
        closed(s->arg, code, why);
        loop_account_end(s->loop, &account, "closed", (void (*)(void))closed);
    }
}

static void hub_destroy(void *value)
{
    struct hub *hub = value;
    while (!LIST_EMPTY(&hub->finishing)) { /* one last try to send; then they are cut */
        struct stream *s = LIST_FIRST(&hub->finishing);
        s->refs++;
        size_t before;
        do {
            before = s->output.length;
            stream_work(s, LOOP_WRITE);
        } while (s->output.length > 0 && s->output.length < before);
        finish_end(s);
        stream_unref(s);
    }
    resolver_destroy(hub->resolver);
    tls_sockets_destroy(hub->sockets);
    mem_free(hub->block);
    mem_free(hub);
}

static struct hub *hub_of(struct loop *loop)
{
    struct hub *hub = loop_slot_get(loop, LOOP_SLOT_STREAMS);
    if (hub == NULL) {
        hub = mem_zalloc(sizeof(*hub));
        hub->loop = loop;
        TAILQ_INIT(&hub->soon);
        LIST_INIT(&hub->finishing);
        loop_slot_set(loop, LOOP_SLOT_STREAMS, hub, hub_destroy);
    }
    return hub;
}

struct resolver *stream_resolver(struct loop *loop)
{
    struct hub *hub = hub_of(loop);
    if (hub->resolver == NULL) {
        hub->resolver = resolver_create(loop);
    }
    return hub->resolver;
}

/* ---- once per turn of the loop --------------------------------------------------------------- */

static void hub_tick(void *arg)
{
    struct hub *hub = arg;
    struct stream *s;
    hub->tick_deferred = false;
    /* As many as there are now: what they put in waits for the next turn. */
    for (size_t left = hub->soon_count; left > 0 && !loop_is_stopping(hub->loop); left--) {
        if ((s = TAILQ_FIRST(&hub->soon)) == NULL) {
            break;
        }
        not_soon(s);
        stream_work(s, 0);
    }
}

static void stream_soon(struct stream *s)
{
    struct hub *hub = s->hub;
    if (s->soon || s->phase == ENDED) {
        return;
    }
    TAILQ_INSERT_TAIL(&hub->soon, s, soon_entry);
    s->soon = true;
    hub->soon_count++;
    if (!hub->tick_deferred) {
        hub->tick_deferred = true;
        loop_defer(s->loop, hub_tick, hub);
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static bool may_read(const struct stream *s)
{
    return s->phase == OPEN && !s->paused && s->owned &&
           s->input.end - s->input.begin < STREAM_INPUT_MAX;
}

static ssize_t transport_read(struct stream *s, void *data, size_t room, struct err *err)
{
    s->read_wants = LOOP_READ;
    if (s->tls != NULL) {
        return tls_read(s->tls, data, room, &s->read_wants, err);
    }
    ssize_t got = recv(s->fd, data, room, MSG_DONTWAIT);
    if (got >= 0) {
        return got;
    }
    if (errno == EINTR) {
        return -EAGAIN;
    }
    return err_set(err, -errno, "%s",
                   errno == ECONNRESET ? "the connection was cut" : strerror(errno));
}

static void tell_readable(struct stream *s)
{
    if (s->tell_readable && !s->paused) {
        s->tell_readable = false;
        call_owner(s, "readable", s->events.readable);
    }
}

static void read_in(struct stream *s)
{
    struct err err;
    size_t budget = TURN_BYTES;
    int code = -EAGAIN;
    s->read_due = false;
    stream_inbuf_borrow(&s->input, &s->hub->block);
    while (may_read(s)) {
        if (budget == 0) {
            s->read_due = true;
            stream_soon(s);
            break;
        }
        if (!stream_inbuf_reserve(&s->input)) {
            code = err_set(&err, -ENOMEM, "no memory for its input");
            break;
        }
        size_t room = s->input.capacity - s->input.end;
        size_t most = STREAM_INPUT_MAX - (s->input.end - s->input.begin);
        room = room < most ? room : most;
        room = room < budget ? room : budget;
        ssize_t got = transport_read(s, s->input.data + s->input.end, room, &err);
        if (got <= 0) {
            code = (int)got;
            break;
        }
        s->input.end += (size_t)got;
        budget -= (size_t)got;
        s->tell_readable = true;
        bool all = s->tls != NULL ? !tls_may_have_more(s->tls) : (size_t)got < room;
        if (all && s->write_error == 0) {
            break; /* what comes later makes the socket ready again */
        }
    }
    if (code == -EAGAIN && s->write_error != 0 && !s->read_due) {
        code = err_set(&err, s->write_error, "%s", "the connection was cut");
    }
    if (s->tls != NULL) {
        tls_turn_over(s->tls);
    }
    tell_readable(s);
    stream_inbuf_give_back(&s->input, &s->hub->block);
    if (s->phase == OPEN && code != -EAGAIN) {
        stream_end(s, code, code == 0 ? "closed" : err.text);
    }
}

const void *stream_input(const struct stream *s, size_t *length)
{
    *length = s->input.end - s->input.begin;
    return s->input.data != NULL ? s->input.data + s->input.begin : (const unsigned char *)"";
}

void stream_consume(struct stream *s, size_t length)
{
    size_t had = s->input.end - s->input.begin;
    stream_inbuf_consume(&s->input, length);
    if (had >= STREAM_INPUT_MAX && had - length < STREAM_INPUT_MAX) {
        s->read_due = true;
        stream_soon(s);
    }
}

void stream_pause(struct stream *s, bool paused)
{
    if (s->paused != paused) {
        s->paused = paused;
        if (!paused) {
            s->tell_readable = s->input.end > s->input.begin;
            s->read_due = true;
        }
        stream_soon(s);
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static void stream_want(struct stream *s)
{
    unsigned want = 0;
    switch (s->phase) {
    case PREFACE:
        want = LOOP_WRITE;
        break;
    case HANDSHAKE:
        want = s->read_wants;
        break;
    case OPEN:
        want = (may_read(s) ? s->read_wants : 0) | (s->write_blocked ? s->write_wants : 0);
        break;
    case LINGER:
        want = LOOP_READ;
        break;
    case CONNECTING:
    case ENDED:
        return;
    }
    loop_fd_want(s->watch, want);
}

static ssize_t transport_write(struct stream *s, const void *data, size_t length)
{
    s->write_wants = LOOP_WRITE;
    if (s->tls != NULL) {
        return tls_write(s->tls, data, length, &s->write_wants, NULL);
    }
    ssize_t put = send(s->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
        return put;
    }
    return errno == EINTR ? -EAGAIN : -errno;
}

/* What TLS has gathered goes to the kernel. */
static void flush_out(struct stream *s)
{
    int code = s->tls != NULL && s->write_error == 0 ? tls_flush(s->tls) : 0;
    if (code == -EAGAIN) {
        s->write_blocked = true;
        s->write_wants = LOOP_WRITE;
    } else if (code != 0) {
        s->write_error = code == -EPIPE ? -ECONNRESET : code;
        stream_outbuf_fini(&s->output);
    }
}

/* A small write with nothing queued before it goes to the kernel from where it lies: what is
 * copied, queued and visited again costs as much as the kernel takes for it.  Returns how much
 * went. */
static size_t write_at_once(struct stream *s, const void *data, size_t length)
{
    if (s->phase != OPEN || s->output.length > 0 || s->write_blocked || length > AT_ONCE_BYTES) {
        return 0;
    }
    ssize_t put = transport_write(s, data, length);
    if (put > 0) {
        flush_out(s);
        if (s->write_error != 0) {
            stream_soon(s);
        } else if (s->write_blocked) {
            stream_want(s);
        }
        return (size_t)put;
    }
    if (put == -EAGAIN) {
        s->write_blocked = true;
        stream_want(s);
    } else {
        s->write_error = put == -EPIPE || put == 0 ? -ECONNRESET : (int)put;
        stream_soon(s); /* tells the owner, who is not called back from here */
    }
    return 0;
}

int stream_write(struct stream *s, const void *data, size_t length)
{
    if (s->phase == ENDED || s->write_error != 0) {
        return -EPIPE;
    }
    if (length > STREAM_OUTPUT_MAX - s->output.length) {
        return -ENOBUFS;
    }
    size_t sent = write_at_once(s, data, length);
    if (sent == length || s->write_error != 0) {
        return 0;
    }
    if (!stream_outbuf_append(&s->output, (const unsigned char *)data + sent, length - sent)) {
        /* Part of it is queued, and what follows would be garbage to the peer. */
        s->write_error = -ENOMEM;
        stream_outbuf_fini(&s->output);
        stream_soon(s);
        return -ENOBUFS;
    }
    s->was_full = s->was_full || s->output.length > STREAM_DRAINED;
    if (s->phase == OPEN && !s->write_blocked) {
        stream_soon(s);
    }
    return 0;
}

size_t stream_pending(const struct stream *s)
{
    return s->output.length + (s->tls != NULL ? tls_pending(s->tls) : 0);
}

static void write_out(struct stream *s)
{
    size_t budget = TURN_BYTES;
    s->write_blocked = false;
    while (s->output.first != NULL && s->write_error == 0) {
        struct stream_chunk *first = s->output.first;
        if (budget == 0) {
            stream_soon(s);
            break;
        }
        ssize_t put = transport_write(s, first->data + first->begin, first->end - first->begin);
        if (put == -EAGAIN) {
            s->write_blocked = true;
            break;
        }
        if (put <= 0) {
            s->write_error = put == -EPIPE || put == 0 ? -ECONNRESET : (int)put;
            stream_outbuf_fini(&s->output);
            break;
        }
        stream_outbuf_sent(&s->output, (size_t)put);
        budget -= (size_t)put < budget ? (size_t)put : budget;
    }
    flush_out(s);
    if (s->was_full && s->output.length < STREAM_DRAINED && s->write_error == 0) {
        s->was_full = false;
        call_owner(s, "drained", s->events.drained);
    }
}

/* ---- the way from connected to open, and out ------------------------------------------------- */

static void deadline_passed(void *arg)
{
    struct stream *s = arg;
    s->refs++;
    if (s->finishing) {
        finish_end(s);
    } else {
        stream_end(s, -ETIMEDOUT, "TLS was not agreed on in time");
    }
    stream_unref(s);
}

static void set_deadline(struct stream *s, uint64_t delay_ms)
{
    if (s->deadline == NULL) {
        s->deadline = loop_timer_create(s->loop, deadline_passed, s);
    }
    loop_timer_set(s->deadline, delay_ms);
}

static void send_preface(struct stream *s)
{
    size_t length = strlen(s->preface);
    while (s->preface_sent < length) {
        ssize_t put = send(s->fd, s->preface + s->preface_sent, length - s->preface_sent,
                           MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0) {
            if (errno != EAGAIN && errno != EINTR) {
                stream_end(s, -ECONNRESET, "the connection was cut");
            }
            return;
        }
        s->preface_sent += (size_t)put;
    }
    mem_free(s->preface);
    s->preface = NULL;
    s->phase = HANDSHAKE;
}

static void shake_hands(struct stream *s)
{
    struct err err;
    s->read_wants = LOOP_READ;
    int code = s->tls != NULL ? tls_handshake(s->tls, &s->read_wants, &err) : 0;
    if (s->tls != NULL) {
        tls_turn_over(s->tls);
    }
    if (code == -EAGAIN) {
        return;
    }
    if (code != 0) {
        stream_end(s, code, err.text);
        return;
    }
    if (!s->finishing) { /* the time for that goes on */
        loop_timer_destroy(s->deadline);
        s->deadline = NULL;
    }
    s->phase = OPEN;
    s->read_wants = LOOP_READ;
    s->read_due = true;
    call_owner(s, "opened", s->events.opened);
}

static void say_bye(struct stream *s)
{
    unsigned want = LOOP_WRITE;
    if (s->tls != NULL && tls_say_bye(s->tls, &want) == -EAGAIN) {
        s->write_blocked = true;
        s->write_wants = want;
        return;
    }
    (void)shutdown(s->fd, SHUT_WR); /* fails when the peer is gone: then lingering ends at once */
    s->phase = LINGER;
}

static void linger(struct stream *s)
{
    char nobody_reads[4096];
    size_t budget = TURN_BYTES / sizeof(nobody_reads);
    ssize_t got;
    do {
        got = recv(s->fd, nobody_reads, sizeof(nobody_reads), MSG_DONTWAIT);
    } while (got > 0 && --budget > 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        finish_end(s);
    }
}

static void stream_work(struct stream *s, unsigned ready)
{
    s->refs++;
    if (s->phase == PREFACE) {
        send_preface(s);
    }
    if (s->phase == HANDSHAKE) {
        shake_hands(s);
    }
    if (s->phase == OPEN && (!s->write_blocked || (ready & s->write_wants) != 0)) {
        write_out(s);
    }
    if (s->phase == OPEN &&
        (s->read_due || s->tell_readable || s->write_error != 0 || (ready & s->read_wants) != 0)) {
        read_in(s);
    }
    if (s->phase == OPEN && s->finishing && s->output.length == 0 && !s->write_blocked) {
        say_bye(s);
    }
    if (s->phase == LINGER) {
        linger(s);
    }
    stream_want(s);
    stream_unref(s);
}

static void stream_ready(void *arg, unsigned ready)
{
    stream_work(arg, ready);
}

/* ---- making and ending ----------------------------------------------------------------------- */

void stream_tune_tcp(int fd)
{
    int on = 1;
    /* Neither can fail on a TCP socket that is not yet broken; a broken one shows itself soon. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

static struct stream *stream_new(struct loop *loop, const char *peer,
                                 const struct stream_events *events, void *arg)
{
    struct stream *s = mem_zalloc(sizeof(*s));
    s->loop = loop;
    s->hub = hub_of(loop);
    s->events = *events;
    s->arg = arg;
    s->refs = 1;
    s->owned = true;
    s->fd = -1;
    s->peer = mem_strdup(peer);
    s->read_wants = LOOP_READ;
    s->write_wants = LOOP_WRITE;
    return s;
}

/* The socket is connected: fd is the stream's now. */
static void stream_use(struct stream *s, int fd, enum phase phase)
{
    s->fd = fd;
    s->watch = loop_fd_create(s->loop, fd, stream_ready, s);
    if (s->tls != NULL) {
        if (s->hub->sockets == NULL) {
            s->hub->sockets = tls_sockets_create();
        }
        tls_attach(s->tls, s->hub->sockets, fd);
    }
    s->phase = phase;
    if (!s->finishing) {
        set_deadline(s, STREAM_HANDSHAKE_MS);
    }
}

static void stream_connected(void *arg, int fd, int code, const char *reason)
{
    struct stream *s = arg;
    s->refs++;
    connector_destroy(s->connector);
    s->connector = NULL;
    if (code != 0) {
        stream_end(s, code, reason);
    } else {
        if (s->address != NULL) {
            char peer[STREAM_PEER_MAX];
            stream_peer_of_unix(fd, s->address, peer, &s->credentials);
            mem_free(s->peer);
            s->peer = mem_strdup(peer);
        }
        stream_use(s, fd, PREFACE);
        stream_work(s, 0);
    }
    stream_unref(s);
}

static int connect_check(const char *address, const char *route, const struct stream_trust *trust,
                         struct stream_address *parsed, struct err *err)
{
    int code = stream_address_parse(address, parsed, err);
    if (code != 0) {
        return code;
    }
    if (parsed->kind == STREAM_PASS || (parsed->kind == STREAM_TCP && parsed->host[0] == '*')) {
        return err_set(err, -EINVAL, "'%s' is only an address to listen on", address);
    }
    if (!stream_route_is_good(route)) {
        return err_set(err, -EINVAL, "'%s' is not a route: 1 to %d characters without blanks",
                       route, STREAM_ROUTE_MAX);
    }
    if (parsed->kind == STREAM_TCP &&
        (trust == NULL || (trust->ca_file == NULL) == (trust->pin == NULL))) {
        return err_set(err, -EINVAL, "%s: needs either a CA file or a pin", address);
    }
    return 0;
}

int stream_connect(struct loop *loop, const char *address, const char *route,
                   const struct stream_trust *trust, const struct stream_events *events, void *arg,
                   struct stream **ret, struct err *err)
{
    struct stream_address parsed;
    struct tls *tls = NULL;
    int code = connect_check(address, route, trust, &parsed, err);
    if (code == 0 && parsed.kind == STREAM_TCP) {
        code = tls_client_create(loop, trust, &tls, err);
    }
    if (code != 0) {
        return code;
    }
    struct stream *s = stream_new(loop, address, events, arg);
    s->tls = tls;
    s->address = parsed.kind == STREAM_UNIX ? mem_strdup(parsed.path) : NULL;
    size_t room = STREAM_PREFACE_MAX + 1;
    s->preface = mem_alloc(room);
    (void)snprintf(s->preface, room, STREAM_PREFACE_WORD "%s\n", route);
    code = connector_start(loop, &parsed, stream_connected, s, &s->connector, err);
    if (code != 0) {
        (void)err_prefix(err, code, "%s", address);
        s->owned = false;
        teardown(s);
        stream_unref(s);
        return code;
    }
    *ret = s;
    return 0;
}

struct stream *stream_adopt(struct loop *loop, int fd, const char *peer,
                            const struct stream_credentials *credentials,
                            const struct tls_identity *identity, const struct stream_events *events,
                            void *arg)
{
    struct stream *s = stream_new(loop, peer, events, arg);
    s->credentials = *credentials;
    s->tls = identity != NULL ? tls_server_create(identity) : NULL;
    stream_use(s, fd, HANDSHAKE);
    stream_soon(s);
    return s;
}

void stream_close(struct stream *s)
{
    if (s == NULL) {
        return;
    }
    CHECK(s->owned);
    s->owned = false;
    if (s->phase == OPEN && s->tls != NULL && s->output.length == 0 && s->write_error == 0) {
        unsigned want;
        (void)tls_say_bye(s->tls, &want); /* a courtesy: if there is no room for it, it is cut */
    }
    teardown(s);
    stream_unref(s);
}

void stream_finish(struct stream *s)
{
    if (s == NULL) {
        return;
    }
    CHECK(s->owned);
    s->owned = false;
    if (s->phase == ENDED || (s->phase != OPEN && s->output.length == 0)) {
        teardown(s);
        stream_unref(s);
        return;
    }
    s->finishing = true;
    LIST_INSERT_HEAD(&s->hub->finishing, s, finishing_entry);
    set_deadline(s, STREAM_FINISH_MS);
    stream_soon(s);
}

const char *stream_peer(const struct stream *s)
{
    return s->peer;
}

bool stream_binding(const struct stream *s, uint8_t ret[STREAM_BINDING_BYTES])
{
    return s->tls != NULL && tls_binding(s->tls, ret, STREAM_BINDING_BYTES);
}

bool stream_peer_uid(const struct stream *s, uid_t *uid, pid_t *pid)
{
    if (s->credentials.known) {
        *uid = s->credentials.uid;
        *pid = s->credentials.pid;
    }
    return s->credentials.known;
}
