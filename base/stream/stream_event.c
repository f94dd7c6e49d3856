/* base/stream/stream_event.c - byte streams on real sockets.
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
#include "base/stream/stream_event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/stream/stream_parts_event.h"
#include "base/stream/stream_tls.h"
#include "base/stream/stream_socket_tls.h"

#define AT_ONCE_BYTES ((size_t)16 << 10)
/* most bytes of a reason, with the terminating zero */
#define WHY_MAX (STREAM_PEER_MAX + ERR_TEXT_MAX)

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

static void leave_handshakes(struct stream *s)
{
    if (s->shakes) {
        TAILQ_REMOVE(&s->hub->handshakes, s, shakes_entry);
        s->hub->handshake_count--;
        s->shakes = false;
    }
}

/* Closes all that is open. */
static void close_all(struct stream *s)
{
    not_soon(s);
    leave_handshakes(s);
    strangers_remove(&s->stranger);
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

/* Ends a finished stream, for whatever cause. */
static void finish_end(struct stream *s)
{
    if (s->finishing) {
        LIST_REMOVE(s, finishing_entry);
        s->finishing = false;
        close_all(s);
        stream_unref(s);
    }
}

void stream_call_owner(struct stream *s, const char *what, void (*call)(void *arg))
{
    if (s->owned && call != NULL) {
        loop_call(s->loop, what, call, s->arg);
    }
}

void stream_end(struct stream *s, int code, const char *reason)
{
    close_all(s);
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
        TAILQ_INIT(&hub->handshakes);
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

static void hub_tick(void *arg);

static void hub_defer(struct hub *hub)
{
    if (!hub->tick_deferred) {
        hub->tick_deferred = true;
        loop_defer(hub->loop, hub_tick, hub);
    }
}

/* Lets the first ones of the queue take a step. */
static void some_handshakes(struct hub *hub)
{
    struct stream *s;
    for (int i = 0; i < STREAM_TURN_HANDSHAKES && !loop_is_stopping(hub->loop) &&
                    (s = TAILQ_FIRST(&hub->handshakes)) != NULL;
         i++) {
        leave_handshakes(s);
        stream_work(s, 0);
    }
    if (!TAILQ_EMPTY(&hub->handshakes)) {
        hub_defer(hub);
    }
}

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
    some_handshakes(hub);
}

void stream_soon(struct stream *s)
{
    struct hub *hub = s->hub;
    if (s->soon || s->phase == ENDED) {
        return;
    }
    TAILQ_INSERT_TAIL(&hub->soon, s, soon_entry);
    s->soon = true;
    hub->soon_count++;
    hub_defer(hub);
}

/* Queues an accepted connection whose handshake can go on. */
static void handshake_soon(struct stream *s)
{
    if (s->shakes) {
        return;
    }
    loop_fd_want(s->watch, 0);
    TAILQ_INSERT_TAIL(&s->hub->handshakes, s, shakes_entry);
    s->hub->handshake_count++;
    s->shakes = true;
    hub_defer(s->hub);
}

bool stream_is_crowded(struct loop *loop)
{
    return hub_of(loop)->handshake_count >= STREAM_HANDSHAKES_MAX;
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
        want = s->shakes ? 0 : s->in.wants;
        break;
    case OPEN:
        want = (stream_may_read(s) ? s->in.wants : 0) | (s->out.blocked ? s->out.wants : 0);
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
    s->out.wants = LOOP_WRITE;
    if (s->tls != NULL) {
        return tls_write(s->tls, data, length, &s->out.wants, NULL);
    }
    ssize_t put = send(s->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put >= 0) {
        return put;
    }
    return errno == EINTR ? -EAGAIN : -errno;
}

/* Gives the kernel what TLS has collected. */
static void flush_out(struct stream *s)
{
    int code = s->tls != NULL && s->out.error == 0 ? tls_flush(s->tls) : 0;
    if (code == -EAGAIN) {
        s->out.blocked = true;
        s->out.wants = LOOP_WRITE;
    } else if (code != 0) {
        s->out.error = code == -EPIPE ? -ECONNRESET : code;
        stream_outbuf_fini(&s->output);
    }
}

/* Gives a small write directly to the kernel when nothing is queued: to copy and queue it, and to
 * come back to it, costs as much as the kernel takes for it.  Returns how many bytes went. */
static size_t write_at_once(struct stream *s, const void *data, size_t length)
{
    if (s->phase != OPEN || s->output.length > 0 || s->out.blocked || length > AT_ONCE_BYTES) {
        return 0;
    }
    ssize_t put = transport_write(s, data, length);
    if (put > 0) {
        flush_out(s);
        if (s->out.error != 0) {
            stream_soon(s);
        } else if (s->out.blocked) {
            stream_want(s);
        }
        return (size_t)put;
    }
    if (put == -EAGAIN) {
        s->out.blocked = true;
        stream_want(s);
    } else {
        s->out.error = put == -EPIPE || put == 0 ? -ECONNRESET : (int)put;
        stream_soon(s); /* tells the owner, who is not called back from here */
    }
    return 0;
}

int stream_write(struct stream *s, const void *data, size_t length)
{
    if (s->phase == ENDED || s->out.error != 0) {
        return -EPIPE;
    }
    if (length > STREAM_OUTPUT_MAX - s->output.length) {
        return -ENOBUFS;
    }
    size_t sent = write_at_once(s, data, length);
    if (sent == length || s->out.error != 0) {
        return 0;
    }
    if (!stream_outbuf_append(&s->output, (const unsigned char *)data + sent, length - sent)) {
        /* Part of it is queued, and what follows would be garbage to the peer. */
        s->out.error = -ENOMEM;
        stream_outbuf_fini(&s->output);
        stream_soon(s);
        return -ENOBUFS;
    }
    s->out.was_full = s->out.was_full || s->output.length > STREAM_DRAINED;
    if (s->phase == OPEN && !s->out.blocked) {
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
    size_t budget = STREAM_TURN_BYTES;
    s->out.blocked = false;
    while (s->output.first != NULL && s->out.error == 0) {
        struct stream_chunk *first = s->output.first;
        if (budget == 0) {
            stream_soon(s);
            break;
        }
        ssize_t put = transport_write(s, first->data + first->begin, first->end - first->begin);
        if (put == -EAGAIN) {
            s->out.blocked = true;
            break;
        }
        if (put <= 0) {
            s->out.error = put == -EPIPE || put == 0 ? -ECONNRESET : (int)put;
            stream_outbuf_fini(&s->output);
            break;
        }
        stream_outbuf_sent(&s->output, (size_t)put);
        budget -= (size_t)put < budget ? (size_t)put : budget;
    }
    flush_out(s);
    if (s->out.was_full && s->output.length < STREAM_DRAINED && s->out.error == 0) {
        s->out.was_full = false;
        stream_call_owner(s, "drained", s->events.drained);
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
        stream_end(s, -ETIMEDOUT, "TLS handshake: no answer in time");
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
                stream_end(s, -ECONNRESET, "the connection was lost");
            }
            return;
        }
        s->preface_sent += (size_t)put;
    }
    mem_free(s->preface);
    s->preface = NULL;
    s->phase = HANDSHAKE;
}

static void must_wait(struct stream *s)
{
    uint64_t now_ms = loop_now_ms(s->loop);
    s->wait.since_ms = s->wait.since_ms > 0 ? s->wait.since_ms : now_ms;
    if (now_ms - s->wait.since_ms < STREAM_WAIT_MS && !s->finishing) {
        set_deadline(s, STREAM_HANDSHAKE_MS);
    }
}

/* Takes the words STREAM_WAIT_WORD that a server may send before TLS.  Returns whether what comes
 * next is for TLS. */
static bool take_wait_words(struct stream *s)
{
    const char *word = STREAM_WAIT_WORD;
    char bytes[sizeof(STREAM_WAIT_WORD)];
    for (;;) {
        ssize_t got = recv(s->fd, bytes, strlen(word) - s->wait.length, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return false;
        }
        if (got <= 0 || memcmp(bytes, word + s->wait.length, (size_t)got) != 0) {
            return true; /* TLS says what is wrong with anything else */
        }
        (void)recv(s->fd, bytes, (size_t)got, MSG_DONTWAIT); /* the same bytes */
        s->wait.length += (unsigned)got;
        if (word[s->wait.length] == '\0') {
            s->wait.length = 0;
            must_wait(s);
        }
    }
}

static void shake_hands(struct stream *s)
{
    struct err err;
    s->in.wants = LOOP_READ;
    if (s->tls != NULL && !s->accepted && !s->wait.over) {
        s->wait.over = take_wait_words(s);
        if (!s->wait.over) {
            tls_no_input(s->tls);
        }
    }
    int code = s->tls != NULL ? tls_handshake(s->tls, &s->in.wants, &err) : 0;
    if (s->tls != NULL) {
        tls_turn_over(s->tls);
    }
    if (code == -EAGAIN) {
        if (s->tls != NULL && tls_has_begun(s->tls)) {
            strangers_begin(&s->stranger);
        }
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
    s->in.wants = LOOP_READ;
    s->in.due = true;
    stream_call_owner(s, "opened", s->events.opened);
}

static void say_bye(struct stream *s)
{
    unsigned want = LOOP_WRITE;
    if (s->tls != NULL && tls_say_bye(s->tls, &want) == -EAGAIN) {
        s->out.blocked = true;
        s->out.wants = want;
        return;
    }
    (void)shutdown(s->fd, SHUT_WR); /* fails when the peer is gone: then lingering ends at once */
    s->phase = LINGER;
}

static void drop_input(struct stream *s)
{
    char nobody_reads[4096];
    size_t budget = STREAM_TURN_BYTES / sizeof(nobody_reads);
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
    if (s->phase == HANDSHAKE && !s->shakes) {
        shake_hands(s);
    }
    if (s->phase == OPEN && (!s->out.blocked || (ready & s->out.wants) != 0)) {
        write_out(s);
    }
    if (s->phase == OPEN &&
        (s->in.due || s->in.tell || s->out.error != 0 || (ready & s->in.wants) != 0)) {
        stream_read_in(s);
    }
    if (s->phase == OPEN && s->finishing && s->output.length == 0 && !s->out.blocked) {
        say_bye(s);
    }
    if (s->phase == LINGER) {
        drop_input(s);
    }
    stream_want(s);
    stream_unref(s);
}

static void stream_ready(void *arg, unsigned ready)
{
    struct stream *s = arg;
    if (s->phase == HANDSHAKE && s->accepted && s->tls != NULL) {
        handshake_soon(s);
    } else {
        stream_work(s, ready);
    }
}

/* ---- making and ending ----------------------------------------------------------------------- */

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
    s->input_max = STREAM_INPUT_MAX;
    s->peer = mem_strdup(peer);
    s->in.wants = LOOP_READ;
    s->out.wants = LOOP_WRITE;
    return s;
}

/* The socket is connected: the stream takes over fd. */
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

int stream_connect(struct loop *loop, const char *address, const char *route,
                   const struct stream_trust *trust, const struct stream_events *events, void *arg,
                   struct stream **ret, struct err *err)
{
    struct stream_address parsed;
    struct tls *tls = NULL;
    int code = stream_connect_check(address, route, trust, &parsed, err);
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
        close_all(s);
        stream_unref(s);
        return code;
    }
    *ret = s;
    return 0;
}

/* Closes this connection, to make room for another one. */
static void stranger_leaves(void *arg)
{
    struct stream *s = arg;
    s->refs++;
    stream_end(s, -EBUSY,
               "closed to make room: the peer did not prove its identity in time, and others wait");
    stream_unref(s);
}

struct stream *stream_adopt(struct loop *loop, int fd, struct stranger *stranger, const char *peer,
                            const struct stream_credentials *credentials,
                            const struct tls_identity *identity, const struct stream_events *events,
                            void *arg)
{
    struct stream *s = stream_new(loop, peer, events, arg);
    s->credentials = *credentials;
    s->tls = identity != NULL ? tls_server_create(identity) : NULL;
    strangers_replace(stranger, &s->stranger, stranger_leaves, s);
    stream_use(s, fd, HANDSHAKE);
    s->accepted = true;
    if (s->tls != NULL) {
        handshake_soon(s);
    } else {
        stream_soon(s);
    }
    return s;
}

void stream_close(struct stream *s)
{
    if (s == NULL) {
        return;
    }
    CHECK(s->owned);
    s->owned = false;
    if (s->phase == OPEN && s->tls != NULL && s->output.length == 0 && s->out.error == 0) {
        unsigned want;
        (void)tls_say_bye(s->tls, &want); /* a courtesy: if there is no room for it, it is cut */
    }
    close_all(s);
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
        close_all(s);
        stream_unref(s);
        return;
    }
    if (!s->in.busy) {
        stream_inbuf_fini(&s->input);
    }
    s->finishing = true;
    LIST_INSERT_HEAD(&s->hub->finishing, s, finishing_entry);
    set_deadline(s, STREAM_FINISH_MS);
    stream_soon(s);
}

bool stream_must_wait(const struct stream *s)
{
    return s->phase == HANDSHAKE && s->deadline != NULL && s->wait.since_ms > 0;
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
