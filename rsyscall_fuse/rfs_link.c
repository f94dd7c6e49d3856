/* rsyscall_fuse/rfs_link.c - the job's end of a session: see rfs_link.h.
 *
 * Design note: a call is in one of two lists.  `waiting` has the calls without a slot, `sent` those
 * with one, in the order in which they got it.  After a lost connection all calls of `sent` are
 * sent again in that order.  The bytes of a call are made each time from its request, so nothing is
 * kept except what the caller holds anyway.
 *
 * If the server has forgotten the session, the calls of `sent` move to `held`, and only calls that
 * renew the session are sent, until all files are open again.  Then the caller judges each call of
 * `held`.  Those that must be asked again are sent in their order, before all waiting calls.  If
 * the session is lost a second time meanwhile, that is the end.
 *
 * A connection may be lost silently: when nothing was heard for two intervals of PING, it is closed
 * and another one is made.  Intervals are counted, because the clock goes on while this process is
 * stopped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/rfs_link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/redial.h"
#include "base/stream/stream.h"

#define SLOTS_WANTED RSYS_SLOTS_MAX
/* most bytes in the stream that the kernel has not taken */
#define UNSENT_MAX ((size_t)4 << 20)
/* shorter data is copied behind its fields, to be one record */
#define JOINED_MAX     ((size_t)8 << 10)
#define DIALING_MS     ((uint64_t)120000) /* how long the first connection is tried */
#define PINGS_IN_LEASE 4
#define SILENT_MAX     2
#define REFUSED_MS     ((uint64_t)60000) /* a starting server may not know our ticket yet */

TAILQ_HEAD(call_list, rfs_call);

struct slot {
    struct rfs_call *call;
    uint32_t seq;
};

enum link_phase { LINK_DOWN, LINK_DIALING, LINK_HELLO, LINK_UP, LINK_OVER };

struct rfs_link {
    struct loop *loop;
    struct rfs_link_options options;
    struct rfs_link_events events;
    void *arg;
    enum link_phase phase;
    struct stream *stream;
    struct loop_timer *dial_timer, *ping_timer, *fail_timer;
    unsigned failures;
    uint64_t cut_ms;     /* when the server was last heard, or first dialled */
    uint64_t heard_ms;   /* when anything was last received */
    unsigned silent;     /* intervals of PING since then */
    uint64_t refused_ms; /* since when a once valid ticket is refused; 0: it is not */
    bool begun;
    unsigned char session[RSYS_SESSION_SIZE];
    uint32_t lease_ms, data_max;

    struct call_list waiting, sent;
    struct call_list held; /* sent in a session that the server has forgotten */
    bool renewing, asked_to_renew;
    unsigned char *roots; /* the roots as HELLO listed them */
    size_t roots_length;
    struct call_list failed; /* calls that could not be encoded; answered from fail_timer */
    struct slot slots[RSYS_SLOTS_MAX];
    uint32_t slot_count, used, used_bulk;
    struct rfs_call *next; /* next call of `sent` to send; NULL: all are sent */
    struct rfs_call ping;
    bool pinging;
    struct rfs_link_stats stats;
    unsigned char fields[RSYS_FIELDS_MAX + JOINED_MAX];
};

static void dial_server(void *arg);

/* ---- the end --------------------------------------------------------------------------------- */

static void stop_timers(struct rfs_link *link)
{
    loop_timer_stop(link->dial_timer);
    loop_timer_stop(link->ping_timer);
}

static void is_over(struct rfs_link *link, int code, const char *why)
{
    if (link->phase != LINK_OVER) {
        link->phase = LINK_OVER;
        stream_close(link->stream);
        link->stream = NULL;
        stop_timers(link);
        link->events.lost(link->arg, code, why);
    }
}

static uint64_t patience_ms(const struct rfs_link *link)
{
    if (link->options.give_up_ms > 0) {
        return link->options.give_up_ms;
    }
    return link->begun ? link->lease_ms : DIALING_MS;
}

static void dial_later(struct rfs_link *link, const char *why)
{
    uint64_t away_ms = loop_now_ms(link->loop) - link->cut_ms;
    if (away_ms >= patience_ms(link)) {
        is_over(link, -ETIMEDOUT, why);
        return;
    }
    link->phase = LINK_DOWN;
    uint64_t delay_ms = redial_delay_ms(loop_rng(link->loop), link->failures++);
    uint64_t left_ms = patience_ms(link) - away_ms;
    loop_timer_set(link->dial_timer, delay_ms < left_ms ? delay_ms : left_ms);
}

/* Closes a connection that cannot be used any more, and dials again later. */
static void cut_link(struct rfs_link *link, const char *why)
{
    if (link->phase == LINK_UP) {
        link->cut_ms = link->heard_ms;
        link->failures = 0;
    }
    stream_close(link->stream);
    link->stream = NULL;
    loop_timer_stop(link->ping_timer);
    dial_later(link, why);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void note_heard(struct rfs_link *link)
{
    link->heard_ms = loop_now_ms(link->loop);
    link->silent = 0;
}

static int send_request(struct rfs_link *link, const struct rsys_request *request)
{
    int length = rsys_encode_request(request, link->fields, RSYS_FIELDS_MAX);
    if (length < 0) {
        return length;
    }
    size_t total = (size_t)length;
    bool joined = request->data_length <= JOINED_MAX;
    if (joined && request->data_length > 0) {
        memcpy(link->fields + length, request->data, request->data_length);
        total += request->data_length;
    }
    /* What fails here is told as the end of the stream. */
    int code = stream_write(link->stream, link->fields, total);
    if (code == 0 && !joined) {
        (void)stream_write(link->stream, request->data, request->data_length);
    }
    return 0;
}

static bool has_slot_for(const struct rfs_link *link, const struct rfs_call *call)
{
    return link->used < link->slot_count &&
           (!call->bulk || link->used_bulk < (link->slot_count + 1) / 2);
}

static void take_slot(struct rfs_link *link, struct rfs_call *call)
{
    uint16_t at = 0;
    while (link->slots[at].call != NULL) {
        at++;
    }
    CHECK(at < link->slot_count);
    link->slots[at].call = call;
    call->request.slot = at;
    call->request.seq = ++link->slots[at].seq;
    link->used++;
    link->used_bulk += call->bulk ? 1 : 0;
    call->sent = true;
}

static void free_slot(struct rfs_link *link, struct rfs_call *call)
{
    link->slots[call->request.slot].call = NULL;
    link->used--;
    link->used_bulk -= call->bulk ? 1 : 0;
    call->sent = false;
}

static struct rfs_call *next_waiting(struct rfs_link *link)
{
    struct rfs_call *call;
    TAILQ_FOREACH(call, &link->waiting, entry)
    {
        if (link->renewing && !call->renews) {
            continue;
        }
        if (has_slot_for(link, call)) {
            return call;
        }
        if (!call->bulk) {
            return NULL; /* no slot at all */
        }
    }
    return NULL;
}

/* Sends waiting calls, as many as the stream takes. */
static void send_waiting(struct rfs_link *link)
{
    struct rfs_call *call;
    if (link->phase != LINK_UP) {
        return;
    }
    while (link->next != NULL && stream_pending(link->stream) < UNSENT_MAX) {
        call = link->next;
        link->next = TAILQ_NEXT(call, entry);
        link->stats.resent++;
        CHECK(send_request(link, &call->request) == 0); /* it could be encoded before */
    }
    while (link->next == NULL && stream_pending(link->stream) < UNSENT_MAX &&
           (call = next_waiting(link)) != NULL) {
        TAILQ_REMOVE(&link->waiting, call, entry);
        take_slot(link, call);
        if (send_request(link, &call->request) != 0) {
            link->slots[call->request.slot].seq--;
            free_slot(link, call);
            TAILQ_INSERT_TAIL(&link->failed, call, entry);
            loop_timer_set(link->fail_timer, 0);
        } else {
            TAILQ_INSERT_TAIL(&link->sent, call, entry);
        }
    }
}

static void answer_call(struct rfs_call *call, int status)
{
    struct rsys_reply *reply = mem_zalloc(sizeof(*reply));
    reply->op = call->request.op;
    reply->status = status;
    reply->value = status == 0 ? call->request.data_length : 0;
    call->done(call, reply);
    mem_free(reply);
}

static void answer_failed(void *arg)
{
    struct rfs_link *link = arg;
    struct rfs_call *call;
    while ((call = TAILQ_FIRST(&link->failed)) != NULL) {
        TAILQ_REMOVE(&link->failed, call, entry);
        answer_call(call, -EINVAL);
    }
}

void rfs_link_submit(struct rfs_link *link, struct rfs_call *call)
{
    call->sent = call->doubtful = false;
    TAILQ_INSERT_TAIL(&link->waiting, call, entry);
    send_waiting(link);
}

/* ---- PING ------------------------------------------------------------------------------------ */

static void ping_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    (void)call;
    (void)reply;
}

static uint64_t ping_ms(const struct rfs_link *link)
{
    uint64_t ms = link->lease_ms / PINGS_IN_LEASE;
    return ms > 0 ? ms : 1;
}

static void ping_server(void *arg)
{
    struct rfs_link *link = arg;
    if (++link->silent > SILENT_MAX) {
        cut_link(link, "the server was silent for too long");
        return;
    }
    if (!link->pinging) {
        link->pinging = true;
        link->ping.request = (struct rsys_request){.op = RSYS_PING};
        link->ping.done = ping_answered;
        link->ping.renews = true;
        rfs_link_submit(link, &link->ping);
    }
    loop_timer_set(link->ping_timer, ping_ms(link));
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void say_hello(struct rfs_link *link)
{
    struct rsys_request *hello = mem_zalloc(sizeof(*hello));
    hello->op = RSYS_HELLO;
    hello->version = RSYS_VERSION;
    hello->slots = SLOTS_WANTED;
    memcpy(hello->session, link->session, RSYS_SESSION_SIZE);
    hello->text.data = link->options.ticket;
    hello->text.length = (uint16_t)strlen(link->options.ticket);
    CHECK(send_request(link, hello) == 0); /* the ticket's length was checked */
    mem_free(hello);
    link->phase = LINK_HELLO;
}

static bool may_be_too_early(struct rfs_link *link)
{
    uint64_t now_ms = loop_now_ms(link->loop);
    if (link->refused_ms == 0) {
        link->refused_ms = now_ms;
    }
    return link->begun && now_ms - link->refused_ms < REFUSED_MS;
}

static void hello_refused(struct rfs_link *link, int status)
{
    char why[128];
    if (status == -EACCES && may_be_too_early(link)) {
        cut_link(link, "the server refuses the ticket");
        return;
    }
    (void)snprintf(why, sizeof why, "%s",
                   status == -ESTALE   ? "the server does not know this session any more"
                   : status == -EACCES ? "the server refuses the ticket"
                                       : err_code_text(status));
    is_over(link, status, why);
}

/* Moves all calls of `sent` to `held`, and frees all slots: they belonged to the lost session. */
static void forget_slots(struct rfs_link *link)
{
    struct rfs_call *call;
    while ((call = TAILQ_FIRST(&link->sent)) != NULL) {
        TAILQ_REMOVE(&link->sent, call, entry);
        call->sent = false;
        if (call == &link->ping) {
            link->pinging = false;
        } else {
            TAILQ_INSERT_TAIL(&link->held, call, entry);
        }
    }
    memset(link->slots, 0, sizeof link->slots);
    link->used = link->used_bulk = 0;
    link->next = NULL;
}

static bool begins_anew(struct rfs_link *link)
{
    if (!link->begun || link->renewing || link->events.renew == NULL) {
        return false;
    }
    link->renewing = true;
    link->asked_to_renew = false;
    memset(link->session, 0, sizeof link->session);
    forget_slots(link);
    say_hello(link);
    return true;
}

/* True when the server offers the same roots as before, and allows requests of the same size.
 * Otherwise open files cannot be found again. */
static bool offers_the_same(const struct rfs_link *link, const struct rsys_reply *reply)
{
    return reply->data_max >= link->data_max && reply->data_length == link->roots_length &&
           memcmp(reply->data, link->roots, link->roots_length) == 0;
}

static bool hello_is_good(const struct rsys_reply *reply)
{
    return reply->version == RSYS_VERSION && reply->slots >= 2 && reply->slots <= RSYS_SLOTS_MAX &&
           reply->lease_ms > 0 && reply->data_max >= 4096 && reply->data_max <= RSYS_DATA_MAX;
}

static void on_welcome(struct rfs_link *link, const struct rsys_reply *reply)
{
    if (reply->status == -ESTALE && begins_anew(link)) {
        return;
    }
    if (reply->status < 0) {
        hello_refused(link, reply->status);
        return;
    }
    if (!hello_is_good(reply) || (link->begun && reply->slots < link->slot_count)) {
        is_over(link, -EPROTO, "malformed reply of the server to HELLO");
        return;
    }
    bool first = !link->begun, renew = link->renewing && !link->asked_to_renew;
    if (first) {
        link->roots = mem_dup(reply->data, reply->data_length);
        link->roots_length = reply->data_length;
    } else if (renew && !offers_the_same(link, reply)) {
        is_over(link, -ESTALE,
                "the server has forgotten this session and offers other directories");
        return;
    }
    link->begun = true;
    link->slot_count = reply->slots;
    link->lease_ms = reply->lease_ms;
    link->data_max = reply->data_max;
    memcpy(link->session, reply->session, RSYS_SESSION_SIZE);
    link->phase = LINK_UP;
    link->failures = 0;
    link->refused_ms = 0;
    link->stats.connections++;
    link->next = TAILQ_FIRST(&link->sent);
    loop_timer_set(link->ping_timer, ping_ms(link));
    if (first) {
        link->events.ready(link->arg, reply);
    } else if (renew) {
        link->asked_to_renew = true;
        link->events.renew(link->arg);
    }
    send_waiting(link);
}

/* Handles one call of `held` as the caller decides: the call is sent again, moved to `done`, or
 * answered as failed.  False: nobody knows whether it was done, so the session is over. */
static bool judge_held(struct rfs_link *link, struct rfs_call *call, struct call_list *done)
{
    switch (link->events.again(link->arg, call, true)) {
    case RFS_AGAIN_IN_DOUBT:
        call->doubtful = true;
        /* fall through */
    case RFS_AGAIN:
        TAILQ_INSERT_HEAD(&link->waiting, call, entry);
        return true;
    case RFS_WAS_DONE:
        TAILQ_INSERT_HEAD(done, call, entry);
        return true;
    case RFS_DROPPED:
        TAILQ_INSERT_HEAD(&link->failed, call, entry);
        loop_timer_set(link->fail_timer, 0);
        return true;
    default: /* RFS_UNKNOWN */
        TAILQ_INSERT_HEAD(&link->waiting, call, entry);
        return false;
    }
}

static void put_right_waiting(struct rfs_link *link)
{
    struct rfs_call *call, *next;
    for (call = TAILQ_FIRST(&link->waiting); call != NULL; call = next) {
        next = TAILQ_NEXT(call, entry);
        if (link->events.again(link->arg, call, false) == RFS_DROPPED) {
            TAILQ_REMOVE(&link->waiting, call, entry);
            TAILQ_INSERT_TAIL(&link->failed, call, entry);
            loop_timer_set(link->fail_timer, 0);
        }
    }
}

void rfs_link_renewed(struct rfs_link *link, int code, const char *why)
{
    struct call_list done;
    struct rfs_call *call;
    bool known = true;
    if (link->phase == LINK_OVER) {
        return;
    }
    if (code != 0) {
        is_over(link, code, why);
        return;
    }
    CHECK(link->renewing);
    TAILQ_INIT(&done);
    put_right_waiting(link);
    while ((call = TAILQ_LAST(&link->held, call_list)) != NULL) {
        TAILQ_REMOVE(&link->held, call, entry);
        known = judge_held(link, call, &done) && known;
    }
    link->renewing = false;
    link->stats.renewed++;
    while ((call = TAILQ_FIRST(&done)) != NULL) {
        TAILQ_REMOVE(&done, call, entry);
        answer_call(call, 0);
    }
    if (known) {
        send_waiting(link);
    } else {
        is_over(link, -ESTALE,
                "the server was restarted, and the last requests may or may not have been done");
    }
}

/* Handles one reply.  False: it fits no request, so the connection cannot be used any more. */
static bool take_answer(struct rfs_link *link, const struct rsys_reply *reply)
{
    struct rfs_call *call = reply->slot < link->slot_count ? link->slots[reply->slot].call : NULL;
    if (call == NULL || call->request.seq != reply->seq || call->request.op != reply->op) {
        return false;
    }
    if (call == link->next) {
        return false; /* an answer to what was not sent on this connection */
    }
    if (call->doubtful && (reply->status == -EEXIST || reply->status == -ENOENT)) {
        is_over(
            link, -ESTALE,
            "the server was restarted, and it cannot be told whether the last request was done");
        return true;
    }
    TAILQ_REMOVE(&link->sent, call, entry);
    free_slot(link, call);
    link->stats.calls++;
    if (call == &link->ping) {
        link->pinging = false;
    }
    call->done(call, reply);
    return true;
}

static bool take_message(struct rfs_link *link, const void *data, size_t length)
{
    struct rsys_reply reply;
    if (rsys_decode_reply(data, length, &reply) != 0) {
        return false;
    }
    if (link->phase == LINK_HELLO) {
        if (reply.op != RSYS_HELLO) {
            return false;
        }
        on_welcome(link, &reply);
        return true;
    }
    return take_answer(link, &reply);
}

static void on_readable(void *arg)
{
    struct rfs_link *link = arg;
    size_t length;
    note_heard(link);
    while (link->phase == LINK_HELLO || link->phase == LINK_UP) {
        const void *in = stream_input(link->stream, &length);
        int64_t size = rsys_frame_length(in, length);
        if (size == 0 || (size > 0 && (uint64_t)size > length)) {
            break;
        }
        if (size < 0 || !take_message(link, in, (size_t)size)) {
            is_over(link, -EPROTO, "malformed message of the server");
            return;
        }
        if (link->stream != NULL) {
            stream_consume(link->stream, (size_t)size);
        }
    }
    send_waiting(link);
}

static void on_opened(void *arg)
{
    struct rfs_link *link = arg;
    note_heard(link);
    say_hello(link);
}

static void on_drained(void *arg)
{
    send_waiting(arg);
}

static void on_closed(void *arg, int code, const char *why)
{
    struct rfs_link *link = arg;
    if (code == -EKEYREJECTED) {
        is_over(link, code, why);
    } else {
        cut_link(link, why);
    }
}

static void dial_server(void *arg)
{
    struct rfs_link *link = arg;
    static const struct stream_events EVENTS = {on_opened, on_readable, on_drained, on_closed};
    struct stream_trust trust = {.pin = link->options.pin};
    struct err err;
    if (loop_now_ms(link->loop) - link->cut_ms >= patience_ms(link)) {
        is_over(link, -ETIMEDOUT, "the server was not reachable for too long");
        return;
    }
    const char *moved = link->events.where != NULL ? link->events.where(link->arg) : NULL;
    link->phase = LINK_DIALING;
    int code = stream_connect(link->loop, moved != NULL ? moved : link->options.address,
                              link->options.route, &trust, &EVENTS, link, &link->stream, &err);
    if (code == -EINVAL) {
        is_over(link, code, err.text);
    } else if (code != 0) {
        link->stream = NULL;
        dial_later(link, err.text);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

int rfs_link_create(struct loop *loop, const struct rfs_link_options *options,
                    const struct rfs_link_events *events, void *arg, struct rfs_link **ret,
                    struct err *err)
{
    if (strlen(options->ticket) > RSYS_TICKET_MAX) {
        return err_set(err, -EINVAL, "the ticket is longer than %d bytes", RSYS_TICKET_MAX);
    }
    struct rfs_link *link = mem_zalloc(sizeof(*link));
    link->loop = loop;
    link->options = *options;
    link->events = *events;
    link->arg = arg;
    TAILQ_INIT(&link->waiting);
    TAILQ_INIT(&link->sent);
    TAILQ_INIT(&link->failed);
    TAILQ_INIT(&link->held);
    link->dial_timer = loop_timer_create(loop, dial_server, link);
    link->ping_timer = loop_timer_create(loop, ping_server, link);
    link->fail_timer = loop_timer_create(loop, answer_failed, link);
    link->cut_ms = loop_now_ms(loop);
    loop_timer_set(link->dial_timer, 0);
    *ret = link;
    return 0;
}

static void answer_all(struct call_list *list)
{
    struct rfs_call *call;
    while ((call = TAILQ_FIRST(list)) != NULL) {
        TAILQ_REMOVE(list, call, entry);
        answer_call(call, -ECONNABORTED);
    }
}

void rfs_link_destroy(struct rfs_link *link)
{
    if (link == NULL) {
        return;
    }
    bool up = link->phase == LINK_UP;
    link->phase = LINK_OVER; /* nothing is sent any more */
    answer_all(&link->sent);
    answer_all(&link->held);
    answer_all(&link->waiting);
    answer_all(&link->failed);
    if (up && link->used < link->slot_count) {
        struct rfs_call bye = {.request = {.op = RSYS_BYE}};
        take_slot(link, &bye);
        (void)send_request(link, &bye.request);
        stream_finish(link->stream);
    } else {
        stream_close(link->stream);
    }
    loop_timer_destroy(link->dial_timer);
    loop_timer_destroy(link->ping_timer);
    loop_timer_destroy(link->fail_timer);
    mem_free(link->roots);
    mem_free(link);
}

uint32_t rfs_link_data_max(const struct rfs_link *link)
{
    return link->data_max;
}

bool rfs_link_is_up(const struct rfs_link *link)
{
    return link->phase == LINK_UP;
}

void rfs_link_get_stats(const struct rfs_link *link, struct rfs_link_stats *ret)
{
    *ret = link->stats;
}
