/* rsyscall/server_link.c - connections: from bytes to messages, HELLO, and when to stop reading.
 *
 * Design note: a link that has said HELLO belongs to its session.  A link that waits until the
 * directories of its job are open is not read meanwhile.  One callback handles only a limited
 * number of messages and bytes, so that other connections have their turn.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "rsyscall/server_state.h"
#include "rsyscall/view.h"

#define TURN_MESSAGES 64
#define TURN_BYTES    ((size_t)1 << 20) /* bytes of data in both directions */
/* bytes of replies that the client has not read; above, its requests are not read */
#define OUTPUT_MAX ((size_t)4 << 20)
#define LINKS_MAX  4096
/* links without a session; when there are more, the oldest is closed */
#define STRANGERS_MAX 128
/* longest message from a stranger, that is before HELLO was accepted */
#define HELLO_MAX 1024

struct rsys_link {
    struct rsys_server *server;
    struct stream *stream;
    struct rsys_session *session;
    /* HELLO arrived, and the directories of this job are being opened */
    struct rsys_job *waits_for;
    uint32_t slots;
    unsigned char id[RSYS_SESSION_SIZE];
    struct loop_timer *hello; /* limits the time until HELLO */
    struct loop_timer *more;  /* continues in the next turn of the loop */
    bool paused;
    bool broken; /* nothing more is read; the link is closed in the next turn of the loop */
};

static void link_destroy(struct rsys_link *link)
{
    struct vec *links = &link->server->links;
    for (size_t i = 0; i < links->count; i++) {
        if (links->items[i] == link) {
            vec_remove_at(links, i);
            break;
        }
    }
    if (link->session != NULL) {
        rsys_session_attach(link->session, NULL);
    }
    loop_timer_destroy(link->hello);
    loop_timer_destroy(link->more);
    mem_free(link);
}

void rsys_link_close(struct rsys_link *link, const char *why)
{
    log_debug(link->server->log, "rsys.closed", "a connection was closed", LOG_TEXT("why", why),
              LOG_TEXT("peer", stream_peer(link->stream)));
    struct stream *stream = link->stream;
    link_destroy(link);
    stream_close(stream);
}

void rsys_link_finish(struct rsys_link *link)
{
    struct stream *stream = link->stream;
    link_destroy(link);
    stream_finish(stream);
}

void rsys_link_flow(struct rsys_link *link)
{
    const struct rsys_session *session = link->session;
    bool paused =
        link->broken || link->waits_for != NULL || stream_pending(link->stream) > OUTPUT_MAX ||
        (session != NULL && session->job->queued_bytes >= session->job->offer.limits.queued_max);
    if (paused != link->paused) {
        link->paused = paused;
        stream_pause(link->stream, paused);
    }
}

bool rsys_link_is_paused(const struct rsys_link *link)
{
    return link->paused;
}

void rsys_link_send(struct rsys_link *link, const void *data, size_t length)
{
    if (stream_write(link->stream, data, length) == -ENOBUFS) {
        link->broken = true; /* cannot be: rsys_link_flow() */
        loop_timer_set(link->more, 0);
    }
    rsys_link_flow(link);
}

/* ---- HELLO ----------------------------------------------------------------------------------- */

static void send_reply(struct rsys_link *link, const struct rsys_reply *reply)
{
    unsigned char buffer[RSYS_FIELDS_MAX];
    int length = rsys_encode_reply(reply, buffer, sizeof(buffer));
    CHECK(length > 0);
    rsys_link_send(link, buffer, (size_t)length);
}

/* Answers HELLO with the status, and closes the link. */
static void refuse_link(struct rsys_link *link, int status)
{
    const struct rsys_reply reply = {.op = RSYS_HELLO, .status = status};
    send_reply(link, &reply);
    rsys_link_finish(link);
}

static void welcome_client(struct rsys_link *link)
{
    unsigned char buffer[RSYS_FIELDS_MAX], *roots = NULL;
    const struct rsys_session *session = link->session;
    const struct rsys_job *job = session->job;
    size_t size = (RSYS_PATH_MAX + 16) * RSYS_ROOTS_MAX, at = 0;
    struct rsys_reply reply = {.op = RSYS_HELLO,
                               .version = RSYS_VERSION,
                               .slots = session->slot_count,
                               .lease_ms = job->offer.limits.lease_ms,
                               .data_max = RSYS_DATA_MAX};
    rsys_view_who(&reply.uid, &reply.gid);
    memcpy(reply.session, session->id, RSYS_SESSION_SIZE);
    roots = mem_alloc(size);
    for (uint32_t i = 0; i < job->offer.root_count; i++) {
        const char *view = job->offer.roots[i].view;
        struct rsys_root root = {.number = i,
                                 .flags = job->offer.roots[i].readonly ? RSYS_ROOT_READONLY : 0,
                                 .view = {view, (uint16_t)strlen(view)}};
        CHECK(rsys_root_put(roots, size, &at, &root));
    }
    reply.data = roots;
    reply.data_length = at;
    int length = rsys_encode_reply(&reply, buffer, sizeof(buffer));
    CHECK(length > 0);
    rsys_link_send(link, buffer, (size_t)length);
    rsys_link_send(link, roots, at);
    mem_free(roots);
}

/* Makes place for one more session by ending the oldest session without a connection.  False: all
 * have one. */
static bool make_place(struct rsys_job *job)
{
    for (size_t i = 0; job->sessions.count >= job->offer.limits.sessions; i++) {
        if (i == job->sessions.count) {
            return false;
        }
        struct rsys_session *session = job->sessions.items[i];
        if (session->link == NULL) {
            rsys_session_end(session, "replaced by a new connection");
            i = (size_t)-1;
        }
    }
    return true;
}

void rsys_link_offered(struct rsys_link *link, struct rsys_job *job, int code)
{
    static const unsigned char NEW[RSYS_SESSION_SIZE] = {0};
    if (link->waits_for != job) {
        return;
    }
    link->waits_for = NULL;
    if (code != 0) {
        refuse_link(link, code);
        return;
    }
    struct rsys_session *session = NULL;
    if (memcmp(link->id, NEW, sizeof(NEW)) != 0) {
        session = rsys_session_find(job, link->id);
        if (session == NULL) {
            const struct rsys_reply reply = {.op = RSYS_HELLO, .status = -ESTALE};
            send_reply(link, &reply);
            loop_timer_set(link->hello, RSYS_HELLO_MS);
            rsys_link_flow(link);
            return;
        }
    } else if (!make_place(job)) {
        refuse_link(link, -EUSERS);
        return;
    } else {
        session = rsys_session_create(job, link->slots);
    }
    stream_known(link->stream);
    stream_set_input_max(link->stream, STREAM_INPUT_MAX);
    rsys_session_attach(session, link);
    link->session = session;
    welcome_client(link);
    rsys_link_flow(link);
}

/* Handles the first message.  Returns 0, or -EPROTO when it is not a valid HELLO.  *gone: the link
 * was closed and freed. */
static int take_hello(struct rsys_link *link, const void *frame, size_t length, bool *gone)
{
    struct rsys_request request;
    if (rsys_decode_request(frame, length, &request) != 0 || request.op != RSYS_HELLO ||
        request.slot != 0 || request.seq != 0) {
        return -EPROTO;
    }
    struct rsys_job *job = rsys_server_find_job(link->server, &request.text);
    if (job == NULL || request.version != RSYS_VERSION) {
        log_warn(link->server->log, "rsys.refused",
                 job == NULL ? "a client was refused, because its ticket is unknown"
                             : "a client was refused, because it has another protocol version",
                 LOG_TEXT("peer", stream_peer(link->stream)));
        *gone = true;
        refuse_link(link, job == NULL ? -EACCES : -EPROTONOSUPPORT);
        return 0;
    }
    loop_timer_stop(link->hello);
    memcpy(link->id, request.session, RSYS_SESSION_SIZE);
    link->slots = request.slots;
    link->waits_for = job;
    if (job->view != NULL) {
        /* At once; refused, too, it is over in rsys_link_offered(). */
        struct rsys_server *server = link->server;
        rsys_link_offered(link, job, 0);
        *gone = true;
        for (size_t i = 0; i < server->links.count; i++) {
            *gone &= server->links.items[i] != link;
        }
        return 0;
    }
    rsys_link_flow(link);
    rsys_job_prepare(job);
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Finds the next message in the input.  Returns 1; 0 when it has not arrived completely;
 * -EPROTO. */
static int next_message(const struct rsys_link *link, const void **frame, size_t *length)
{
    size_t have;
    const void *input = stream_input(link->stream, &have);
    int64_t whole = rsys_frame_length(input, have);
    if (whole < 0 || (whole > HELLO_MAX && link->session == NULL)) {
        return -EPROTO;
    }
    if (whole == 0 || (size_t)whole > have) {
        return 0;
    }
    *frame = input;
    *length = (size_t)whole;
    return 1;
}

static bool is_there(const struct rsys_server *server, const struct rsys_link *link)
{
    for (size_t i = 0; i < server->links.count; i++) {
        if (server->links.items[i] == link) {
            return true;
        }
    }
    return false;
}

static void on_input(void *arg)
{
    struct rsys_link *link = arg;
    struct rsys_server *server = link->server;
    size_t bytes = 0;
    if (link->broken) {
        rsys_link_close(link, "the client broke the protocol");
        return;
    }
    if (link->session != NULL) {
        rsys_session_heard(link->session);
    }
    for (int i = 0; !link->paused; i++) {
        const void *frame;
        size_t length;
        bool gone = false;
        int code = next_message(link, &frame, &length);
        if (code == 0) {
            return;
        }
        if (code > 0 && (i == TURN_MESSAGES || bytes > TURN_BYTES)) {
            loop_timer_set(link->more, 0);
            return;
        }
        if (code > 0) {
            /* The bytes stay where they are until they are consumed. */
            code = link->session != NULL ? rsys_session_take(link->session, frame, length, &bytes)
                                         : take_hello(link, frame, length, &gone);
            if (gone || !is_there(server, link)) {
                return;
            }
            bytes += length;
            stream_consume(link->stream, length);
        }
        if (code < 0) {
            if (link->session != NULL) {
                link->session->job->stats.malformed++;
            }
            rsys_link_close(link, "the client broke the protocol");
            return;
        }
    }
}

static void on_drained(void *arg)
{
    rsys_link_flow(arg);
}

static void on_closed(void *arg, int code, const char *why)
{
    (void)code;
    rsys_link_close(arg, why);
}

static void on_hello_late(void *arg)
{
    rsys_link_close(arg, "the client did not send HELLO in time");
}

/* Closes the oldest link without a session when there are STRANGERS_MAX of them: only an attacker
 * needs that many. */
static void make_room_for_stranger(struct rsys_server *server)
{
    struct rsys_link *oldest = NULL;
    size_t strangers = 0;
    for (size_t i = server->links.count; i > 0; i--) {
        struct rsys_link *link = server->links.items[i - 1];
        if (link->session == NULL) {
            oldest = link;
            strangers++;
        }
    }
    if (strangers >= STRANGERS_MAX) {
        rsys_link_close(oldest, "too many clients have not sent HELLO yet");
    }
}

void rsys_server_take(struct rsys_server *server, struct incoming *incoming,
                      const struct tls_identity *identity)
{
    static const struct stream_events EVENTS = {.readable = on_input,
                                                .drained = on_drained,
                                                .closed = on_closed};
    if (server->links.count >= LINKS_MAX) {
        incoming_refuse(incoming);
        return;
    }
    make_room_for_stranger(server);
    struct rsys_link *link = mem_zalloc(sizeof(*link));
    link->stream = incoming_accept(incoming, identity, &EVENTS, link);
    if (link->stream == NULL) { /* it had to make room for another stranger */
        mem_free(link);
        return;
    }
    stream_set_input_max(link->stream, 2 * (size_t)HELLO_MAX);
    link->server = server;
    link->hello = loop_timer_create(server->loop, on_hello_late, link);
    link->more = loop_timer_create(server->loop, on_input, link);
    loop_timer_set(link->hello, RSYS_HELLO_MS);
    vec_push(&server->links, link);
}
