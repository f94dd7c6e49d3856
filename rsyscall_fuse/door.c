/* rsyscall_fuse/door.c - a job's session for its processes: see door.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/door.h"

#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream.h"
#include "rsyscall/rsys.h"
#include "rsyscall_fuse/rfs_link.h"

#define CLIENTS_MAX 4096
#define SLOTS       32                 /* of a client */
#define LOOKS       5                  /* for what nobody holds, while it lingers */
#define UNSENT_MAX  ((size_t)16 << 20) /* of a client that does not read: it is not heard above */

struct held {
    uint64_t handle;
    uint32_t holders;
    uint64_t since_ms; /* nobody has held it */
    TAILQ_ENTRY(held) entry;
};
TAILQ_HEAD(held_list, held);

struct hold {
    struct held *held;
    TAILQ_ENTRY(hold) entry;
};

struct client {
    struct rfs_door *door;
    struct stream *stream;
    bool greeted;
    bool busy[SLOTS];
    TAILQ_HEAD(, hold) holds;
    TAILQ_HEAD(, passed) calls;
    TAILQ_ENTRY(client) entry;
};

/* A request that was passed on. */
struct passed {
    struct rfs_call call;
    struct rfs_door *door;
    struct client *client; /* NULL: gone, or never was */
    uint16_t slot;
    uint32_t seq;
    void *bytes; /* what the request points to */
    TAILQ_ENTRY(passed) entry;
};

struct rfs_door {
    struct loop *loop;
    struct rfs_link *link;
    struct listener *listener;
    struct loop_timer *timer;
    struct rsys_reply hello;
    TAILQ_HEAD(, client) clients;
    uint64_t linger_ms;
    uint32_t client_count;
    uint32_t under_way; /* requests that were passed on */
    struct held_list handles;
    struct rfs_door_stats stats;
    unsigned char fields[RSYS_FIELDS_MAX];
};

/* ---- handles --------------------------------------------------------------------------------- */

static struct hold *hold_of(const struct client *client, uint64_t handle)
{
    struct hold *hold;
    TAILQ_FOREACH(hold, &client->holds, entry)
    {
        if (hold->held->handle == handle) {
            return hold;
        }
    }
    return NULL;
}

static void take_hold(struct client *client, struct held *held)
{
    struct hold *hold = mem_zalloc(sizeof *hold);
    hold->held = held;
    held->holders++;
    TAILQ_INSERT_HEAD(&client->holds, hold, entry);
}

static void let_go(struct client *client, struct hold *hold)
{
    hold->held->holders--;
    hold->held->since_ms = loop_now_ms(client->door->loop);
    TAILQ_REMOVE(&client->holds, hold, entry);
    mem_free(hold);
}

/* A handle of the session that a client names; roots are everybody's. */
static bool may_name(struct client *client, uint64_t handle)
{
    struct held *held;
    if (handle < RSYS_ROOTS_MAX || hold_of(client, handle) != NULL) {
        return true;
    }
    TAILQ_FOREACH(held, &client->door->handles, entry)
    {
        if (held->handle == handle) {
            take_hold(client, held);
            return true;
        }
    }
    return false;
}

static void opened(struct rfs_door *door, struct client *client, uint64_t handle)
{
    struct held *held = mem_zalloc(sizeof *held);
    held->handle = handle;
    held->since_ms = loop_now_ms(door->loop);
    TAILQ_INSERT_HEAD(&door->handles, held, entry);
    door->stats.handles++;
    if (client != NULL) {
        take_hold(client, held);
    }
}

static void forget(struct rfs_door *door, struct held *held)
{
    TAILQ_REMOVE(&door->handles, held, entry);
    door->stats.handles--;
    mem_free(held);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void end_client(struct client *client)
{
    struct hold *hold;
    struct passed *passed;
    while ((hold = TAILQ_FIRST(&client->holds)) != NULL) {
        let_go(client, hold);
    }
    while ((passed = TAILQ_FIRST(&client->calls)) != NULL) {
        TAILQ_REMOVE(&client->calls, passed, entry);
        passed->client = NULL;
    }
    stream_close(client->stream);
    TAILQ_REMOVE(&client->door->clients, client, entry);
    client->door->client_count--;
    mem_free(client);
}

/* What it cannot take is told as the end of its stream. */
static void answer(struct client *client, const struct rsys_reply *reply)
{
    struct rfs_door *door = client->door;
    int length = rsys_encode_reply(reply, door->fields, sizeof door->fields);
    if (length > 0 && stream_write(client->stream, door->fields, (size_t)length) == 0 &&
        reply->data_length > 0) {
        (void)stream_write(client->stream, reply->data, reply->data_length);
    }
}

static void answer_status(struct client *client, const struct rsys_request *request, int status)
{
    struct rsys_reply reply = {.op = request->op,
                               .slot = request->slot,
                               .seq = request->seq,
                               .status = status};
    answer(client, &reply);
}

static void on_answer(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct passed *passed = (struct passed *)call; /* its first member */
    struct client *client = passed->client;
    if (call->request.op == RSYS_OPEN && reply->status == 0) {
        opened(passed->door, client, reply->handle);
    }
    if (client != NULL) {
        struct rsys_reply ours = *reply;
        ours.slot = passed->slot;
        ours.seq = passed->seq;
        client->busy[passed->slot] = false;
        TAILQ_REMOVE(&client->calls, passed, entry);
        answer(client, &ours);
    }
    passed->door->under_way--;
    mem_free(passed->bytes);
    mem_free(passed);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void pass_close(struct rfs_door *door, struct held *held)
{
    struct passed *passed = mem_zalloc(sizeof *passed);
    passed->door = door;
    passed->call.request = (struct rsys_request){.op = RSYS_CLOSE, .at = {.handle = held->handle}};
    passed->call.done = on_answer;
    forget(door, held);
    door->under_way++;
    rfs_link_submit(door->link, &passed->call);
}

static void look_for_unheld(void *arg)
{
    struct rfs_door *door = arg;
    uint64_t now_ms = loop_now_ms(door->loop);
    for (struct held *held = TAILQ_FIRST(&door->handles), *next; held != NULL; held = next) {
        next = TAILQ_NEXT(held, entry);
        if (held->holders == 0 && now_ms - held->since_ms >= door->linger_ms) {
            pass_close(door, held);
        }
    }
    loop_timer_set(door->timer, door->linger_ms / LOOKS);
}

/* The one that closes it is told at once, and what is written was answered before. */
static void close_handle(struct client *client, const struct rsys_request *request)
{
    struct hold *hold = hold_of(client, request->at.handle);
    if (hold == NULL) {
        answer_status(client, request, -EBADF);
        return;
    }
    struct held *held = hold->held;
    let_go(client, hold);
    if (held->holders == 0) {
        pass_close(client->door, held);
    }
    answer_status(client, request, 0);
}

static bool names_its_own(struct client *client, const struct rsys_request *request)
{
    return may_name(client, request->at.handle) && may_name(client, request->to.handle);
}

static void pass_on(struct client *client, const void *data, size_t length)
{
    struct passed *passed = mem_zalloc(sizeof *passed);
    struct rsys_request *request = &passed->call.request;
    passed->door = client->door;
    passed->client = client;
    passed->bytes = mem_dup(data, length);
    (void)rsys_decode_request(passed->bytes, length, request); /* it was good where it came from */
    passed->slot = request->slot;
    passed->seq = request->seq;
    passed->call.done = on_answer;
    client->busy[passed->slot] = true;
    client->door->stats.requests++;
    client->door->under_way++;
    TAILQ_INSERT_TAIL(&client->calls, passed, entry);
    rfs_link_submit(client->door->link, &passed->call);
}

static bool greet(struct client *client, const struct rsys_request *request)
{
    struct rfs_door *door = client->door;
    if (request->op != RSYS_HELLO || request->version != RSYS_VERSION) {
        return false;
    }
    struct rsys_reply reply = door->hello;
    reply.slot = request->slot;
    reply.seq = request->seq;
    reply.slots = request->slots < SLOTS ? request->slots : SLOTS;
    memset(reply.session, 0, sizeof reply.session);
    client->greeted = true;
    door->stats.clients++;
    answer(client, &reply);
    return reply.slots > 0;
}

/* False: nothing of this client is looked at any more. */
static bool take_request(struct client *client, const void *data, size_t length)
{
    struct rsys_request request;
    int code = rsys_decode_request(data, length, &request);
    if (!client->greeted) {
        return code == 0 && greet(client, &request);
    }
    if (request.slot >= SLOTS || client->busy[request.slot] || request.op == RSYS_HELLO) {
        return false;
    }
    if (code != 0) {
        answer_status(client, &request, -EBADMSG);
    } else if (request.op == RSYS_PING || request.op == RSYS_BYE) {
        answer_status(client, &request, 0);
    } else if (request.op == RSYS_CLOSE) {
        close_handle(client, &request);
    } else if (request.op == RSYS_CANCEL) {
        answer_status(client, &request, -EINVAL); /* slots are not the session's */
    } else if (!names_its_own(client, &request)) {
        answer_status(client, &request, -ESTALE);
    } else {
        pass_on(client, data, length);
    }
    return true;
}

static void on_readable(void *arg)
{
    struct client *client = arg;
    for (;;) {
        size_t length;
        if (stream_pending(client->stream) > UNSENT_MAX) {
            stream_pause(client->stream, true);
            return;
        }
        const void *in = stream_input(client->stream, &length);
        int64_t size = rsys_frame_length(in, length);
        if (size == 0 || (size > 0 && (uint64_t)size > length)) {
            return;
        }
        if (size < 0 || !take_request(client, in, (size_t)size)) {
            client->door->stats.refused++;
            end_client(client);
            return;
        }
        stream_consume(client->stream, (size_t)size);
    }
}

static void on_opened(void *arg)
{
    (void)arg; /* it says HELLO */
}

static void on_drained(void *arg)
{
    const struct client *client = arg;
    stream_pause(client->stream, false);
}

static void on_closed(void *arg, int code, const char *why)
{
    (void)code;
    (void)why;
    end_client(arg);
}

static void on_incoming(void *arg, struct incoming *incoming)
{
    static const struct stream_events EVENTS = {on_opened, on_readable, on_drained, on_closed};
    struct rfs_door *door = arg;
    if (door->client_count >= CLIENTS_MAX) {
        incoming_refuse(incoming);
        return;
    }
    struct client *client = mem_zalloc(sizeof *client);
    client->door = door;
    TAILQ_INIT(&client->holds);
    TAILQ_INIT(&client->calls);
    TAILQ_INSERT_TAIL(&door->clients, client, entry);
    door->client_count++;
    client->stream = incoming_accept(incoming, NULL, &EVENTS, client);
}

/* ---- life ------------------------------------------------------------------------------------ */

int rfs_door_create(struct loop *loop, struct rfs_link *link, const struct rsys_reply *hello,
                    const char *address, uint64_t linger_ms, struct rfs_door **ret, struct err *err)
{
    struct rfs_door *door = mem_zalloc(sizeof *door);
    door->loop = loop;
    door->link = link;
    door->linger_ms = linger_ms;
    door->hello = *hello;
    door->hello.data = mem_dup(hello->data, hello->data_length);
    TAILQ_INIT(&door->clients);
    TAILQ_INIT(&door->handles);
    int code = listener_create(loop, address, on_incoming, door, &door->listener, err);
    if (code != 0) {
        mem_free((void *)(uintptr_t)door->hello.data);
        mem_free(door);
        return code;
    }
    door->timer = loop_timer_create(loop, look_for_unheld, door);
    loop_timer_set(door->timer, door->linger_ms / LOOKS);
    *ret = door;
    return 0;
}

void rfs_door_destroy(struct rfs_door *door)
{
    struct client *client;
    struct held *held;
    if (door == NULL) {
        return;
    }
    listener_destroy(door->listener);
    loop_timer_destroy(door->timer);
    while ((client = TAILQ_FIRST(&door->clients)) != NULL) {
        end_client(client);
    }
    while ((held = TAILQ_FIRST(&door->handles)) != NULL) {
        forget(door, held);
    }
    mem_free((void *)(uintptr_t)door->hello.data);
    mem_free(door);
}

bool rfs_door_is_quiet(const struct rfs_door *door)
{
    return door->client_count == 0 && door->under_way == 0;
}

void rfs_door_get_stats(const struct rfs_door *door, struct rfs_door_stats *ret)
{
    *ret = door->stats;
}
