/* rsyscall_fuse/door.c - one session that all processes of a job share: see door.h.
 *
 * Clients know a handle by a name that this door makes and that no other door makes.  A process
 * that is resumed elsewhere from an image opens its files again by these names, so processes that
 * shared an open file share it again.
 *
 * Locks of ranges belong to an owner, whose number the process chooses (its process id).  The locks
 * end when the last connection with this owner ends.  A process that executes another program keeps
 * its old connection beside the new one, so that its locks stay.
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
#include "base/stream/stream.h"
#include "rsyscall/rsys.h"
#include "rsyscall_fuse/rfs_link.h"

#define CLIENTS_MAX 4096
#define SLOTS       32 /* request slots of a client */
#define LOOKS       5  /* looks during linger_ms for handles that nobody holds */
#define NAME_BITS   32 /* low bits of a handle's name; the bits above tell doors apart */
#define NAME_SHIFT  (NAME_BITS + 1) /* the highest bit marks lock owners */
/* owner of F_OFD_SETLK locks: they belong to the handle */
#define OWNED_BY_FILE ((uint64_t)1 << 63)
/* unread output of a client; above, its requests are not read */
#define UNSENT_MAX ((size_t)16 << 20)

struct held {
    uint64_t name;   /* the number by which clients know the handle */
    uint64_t handle; /* the number by which the server knows it */
    uint32_t holders;
    uint64_t since_ms; /* time since which nobody has held it */
    bool is_locked;    /* it has locks of its own: flock() or F_OFD_SETLK */
    bool owns;         /* it has F_OFD_SETLK locks */
    TAILQ_ENTRY(held) entry;
};
TAILQ_HEAD(held_list, held);

/* A file on which an owner has locks, or waits for some. */
struct locked {
    struct held *held;
    uint64_t owner;
    TAILQ_ENTRY(locked) entry;
};

struct hold {
    struct held *held;
    TAILQ_ENTRY(hold) entry;
};

struct client {
    struct rfs_door *door;
    struct stream *stream;
    bool greeted;
    bool busy[SLOTS];
    uint64_t owner;    /* owner of the client's locks; 0: it has none */
    uint32_t releases; /* own requests to the server for which its CLOSE or BYE waits */
    bool says_goodbye;
    TAILQ_HEAD(, hold) holds;
    TAILQ_HEAD(, passed) calls;
    TAILQ_ENTRY(client) entry;
};

/* A request that was passed on to the server. */
struct passed {
    struct rfs_call call;
    struct rfs_door *door;
    struct client *client; /* NULL: the client is gone, or the request is our own */
    uint16_t slot;
    uint32_t seq;
    uint64_t wanted;  /* for OPEN of a known file: the name that its handle had */
    uint64_t release; /* handle that is closed after its locks are released */
    bool is_tied;     /* our own request; the client's request in that slot waits for it */
    void *bytes;      /* memory to which the request points; NULL: none */
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
    uint32_t under_way; /* requests without an answer of the server */
    struct held_list handles;
    TAILQ_HEAD(, locked) locks;
    uint64_t next_name;
    struct rfs_door_stats stats;
    unsigned char fields[RSYS_FIELDS_MAX];
};

/* ---- handles --------------------------------------------------------------------------------- */

static struct hold *hold_of(const struct client *client, uint64_t name)
{
    struct hold *hold;
    TAILQ_FOREACH(hold, &client->holds, entry)
    {
        if (hold->held->name == name) {
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

/* Finds the handle by its name, and makes the client one of its holders.  NULL: no such name. */
static struct held *held_by(struct client *client, uint64_t name)
{
    struct held *held;
    const struct hold *hold = hold_of(client, name);
    if (hold != NULL) {
        return hold->held;
    }
    TAILQ_FOREACH(held, &client->door->handles, entry)
    {
        if (held->name == name) {
            take_hold(client, held);
            return held;
        }
    }
    return NULL;
}

/* Replaces the client's name of a handle by the server's number.  The roots have the same numbers
 * for everybody.  False: no such name. */
static bool translate_handle(struct client *client, uint64_t *handle)
{
    const struct held *held = *handle >= RSYS_ROOTS_MAX ? held_by(client, *handle) : NULL;
    if (held != NULL) {
        *handle = held->handle;
    }
    return held != NULL || *handle < RSYS_ROOTS_MAX;
}

/* Adds a handle that was opened for the client.  Returns its name: `wanted`, or a new one if that
 * is 0. */
static uint64_t hold_opened(struct rfs_door *door, struct client *client, uint64_t handle,
                            uint64_t wanted)
{
    struct held *held = mem_zalloc(sizeof *held);
    held->name = wanted != 0 ? wanted : door->next_name++;
    held->handle = handle;
    held->since_ms = loop_now_ms(door->loop);
    TAILQ_INSERT_HEAD(&door->handles, held, entry);
    door->stats.handles++;
    if (client != NULL) {
        take_hold(client, held);
    }
    return held->name;
}

static void forget_lock(struct rfs_door *door, struct locked *locked)
{
    TAILQ_REMOVE(&door->locks, locked, entry);
    mem_free(locked);
}

static void forget_held(struct rfs_door *door, struct held *held)
{
    for (struct locked *locked = TAILQ_FIRST(&door->locks), *next; locked != NULL; locked = next) {
        next = TAILQ_NEXT(locked, entry);
        if (locked->held == held) {
            forget_lock(door, locked); /* the server's go with the handle */
        }
    }
    TAILQ_REMOVE(&door->handles, held, entry);
    door->stats.handles--;
    mem_free(held);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Sends a reply.  If the client cannot take it, its connection is ended. */
static void answer_client(struct client *client, const struct rsys_reply *reply)
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
    answer_client(client, &reply);
}

static void on_answer(struct rfs_call *call, const struct rsys_reply *reply);

/* Sends a request of our own; no client gets its answer. */
static struct passed *ask_for_us(struct rfs_door *door, const struct rsys_request *request)
{
    struct passed *passed = mem_zalloc(sizeof *passed);
    passed->door = door;
    passed->call.request = *request;
    passed->call.done = on_answer;
    door->under_way++;
    rfs_link_submit(door->link, &passed->call);
    return passed;
}

/* Makes the client's request wait for our own one. */
static void tie_call(struct passed *passed, struct client *client,
                     const struct rsys_request *request)
{
    passed->client = client;
    passed->slot = request->slot;
    passed->seq = request->seq;
    passed->is_tied = true;
    client->releases++;
    client->busy[request->slot] = true;
    TAILQ_INSERT_TAIL(&client->calls, passed, entry);
}

static void close_at_server(struct rfs_door *door, uint64_t handle)
{
    (void)ask_for_us(door, &(struct rsys_request){.op = RSYS_CLOSE, .at = {.handle = handle}});
}

/* Closes a handle that nobody holds any more.  Its locks are released first, and only then is the
 * client's request answered (client may be NULL): who asks for the locks after the answer gets
 * them. */
static void release_held(struct rfs_door *door, struct held *held, struct client *client,
                         const struct rsys_request *request)
{
    uint64_t handle = held->handle, owner = OWNED_BY_FILE | held->name;
    bool is_locked = held->is_locked, owns = held->owns;
    forget_held(door, held);
    if (!is_locked) {
        close_at_server(door, handle);
        return;
    }
    struct rsys_request give =
        owns ? (struct rsys_request){.op = RSYS_FLUSH, .at = {.handle = handle}, .owner = owner}
             : (struct rsys_request){.op = RSYS_LOCK,
                                     .at = {.handle = handle},
                                     .how = RSYS_LOCK_FLOCK};
    struct passed *passed = ask_for_us(door, &give);
    passed->release = handle;
    if (client != NULL) {
        tie_call(passed, client, request);
    }
}

/* Returns the name for a file that was opened again.  If another process has opened it by the
 * wanted name meanwhile, that handle is used and ours is closed; otherwise ours is added. */
static uint64_t opened_again(struct passed *passed, uint64_t handle)
{
    struct rfs_door *door = passed->door;
    struct held *held;
    TAILQ_FOREACH(held, &door->handles, entry)
    {
        if (held->name == passed->wanted) {
            close_at_server(door, handle);
            if (passed->client != NULL && hold_of(passed->client, held->name) == NULL) {
                take_hold(passed->client, held);
            }
            return held->name;
        }
    }
    return hold_opened(door, passed->client, handle, passed->wanted);
}

/* Releases a lock for which nobody waits any more. */
static void give_back(struct rfs_door *door, const struct rsys_request *request)
{
    struct rsys_request back = *request;
    back.lock.type = RSYS_UNLOCKED;
    back.wait_ms = 0;
    (void)ask_for_us(door, &back);
}

/* Answers the client's waiting request when the last of our own requests for it is done. */
static void answer_tied(const struct passed *passed)
{
    struct client *client = passed->client;
    struct rsys_request done = {.op = client->says_goodbye ? RSYS_BYE : RSYS_CLOSE,
                                .slot = passed->slot,
                                .seq = passed->seq};
    if (--client->releases == 0) {
        client->busy[passed->slot] = false;
        client->says_goodbye = false;
        answer_status(client, &done, 0);
    }
}

static void on_answer(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct passed *passed = (struct passed *)call; /* its first member */
    struct rfs_door *door = passed->door;
    struct client *client = passed->client;
    struct rsys_reply ours = *reply;
    bool over = reply->status == -ECONNABORTED; /* the link is being destroyed */
    if (passed->bytes != NULL && call->request.op == RSYS_OPEN && reply->status == 0) {
        ours.handle = opened_again(passed, reply->handle);
    }
    if (passed->release != 0 && !over) {
        close_at_server(door, passed->release);
    }
    if (client != NULL) {
        TAILQ_REMOVE(&client->calls, passed, entry);
    }
    if (client != NULL && passed->is_tied) {
        answer_tied(passed);
    } else if (client != NULL) {
        ours.slot = passed->slot;
        ours.seq = passed->seq;
        client->busy[passed->slot] = false;
        answer_client(client, &ours);
    } else if (passed->bytes != NULL && call->request.op == RSYS_LOCK && reply->status == 0 &&
               (call->request.how & RSYS_LOCK_GET) == 0 &&
               call->request.lock.type != RSYS_UNLOCKED) {
        give_back(door, &call->request);
    }
    door->under_way--;
    mem_free(passed->bytes);
    mem_free(passed);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void note_lock(struct client *client, struct held *held, const struct rsys_request *request)
{
    struct rfs_door *door = client->door;
    struct locked *locked;
    bool of_file = (request->how & RSYS_LOCK_FLOCK) != 0 || (request->owner & OWNED_BY_FILE) != 0;
    if (held == NULL || (request->how & RSYS_LOCK_GET) != 0) {
        return;
    }
    if (of_file) {
        held->is_locked = true;
        held->owns = held->owns || (request->how & RSYS_LOCK_FLOCK) == 0;
        return;
    }
    client->owner = request->owner;
    TAILQ_FOREACH(locked, &door->locks, entry)
    {
        if (locked->held == held && locked->owner == request->owner) {
            return;
        }
    }
    locked = mem_zalloc(sizeof *locked);
    locked->held = held;
    locked->owner = request->owner;
    TAILQ_INSERT_HEAD(&door->locks, locked, entry);
}

static void drop_locks(struct client *client, const struct rsys_request *bye)
{
    struct rfs_door *door = client->door;
    uint64_t owner = client->owner;
    for (struct locked *locked = TAILQ_FIRST(&door->locks), *next; locked != NULL; locked = next) {
        next = TAILQ_NEXT(locked, entry);
        if (locked->owner == owner) {
            struct rsys_request flush = {.op = RSYS_FLUSH,
                                         .at = {.handle = locked->held->handle},
                                         .owner = owner};
            struct passed *passed = ask_for_us(door, &flush);
            if (bye != NULL) {
                tie_call(passed, client, bye);
            }
            forget_lock(door, locked);
        }
    }
}

static void cancel_call(struct passed *passed)
{
    if (passed->call.sent) {
        (void)ask_for_us(passed->door, &(struct rsys_request){.op = RSYS_CANCEL,
                                                              .slot_of = passed->call.request.slot,
                                                              .seq_of = passed->call.request.seq});
    }
}

/* ---- the end of a client --------------------------------------------------------------------- */

static bool has_other(const struct client *client)
{
    const struct client *other;
    TAILQ_FOREACH(other, &client->door->clients, entry)
    {
        if (other != client && other->owner == client->owner) {
            return true;
        }
    }
    return false;
}

/* Releases all that the client holds; bye: its BYE request, answered when that is done, or NULL.
 * Handles without locks stay for a while, because other processes may share them and may not have
 * said so yet. */
static void let_go_of_all(struct client *client, const struct rsys_request *bye)
{
    struct rfs_door *door = client->door;
    struct hold *hold;
    if (client->owner != 0 && !has_other(client)) {
        drop_locks(client, bye);
    }
    while ((hold = TAILQ_FIRST(&client->holds)) != NULL) {
        struct held *held = hold->held;
        let_go(client, hold);
        if (held->holders == 0 && held->is_locked) {
            release_held(door, held, bye != NULL ? client : NULL, bye);
        }
    }
}

static void end_client(struct client *client)
{
    struct rfs_door *door = client->door;
    struct passed *passed;
    let_go_of_all(client, NULL);
    while ((passed = TAILQ_FIRST(&client->calls)) != NULL) {
        TAILQ_REMOVE(&client->calls, passed, entry);
        passed->client = NULL;
        if (passed->call.request.op == RSYS_LOCK) {
            cancel_call(passed);
        }
    }
    stream_close(client->stream);
    TAILQ_REMOVE(&door->clients, client, entry);
    door->client_count--;
    mem_free(client);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void look_for_unheld(void *arg)
{
    struct rfs_door *door = arg;
    uint64_t now_ms = loop_now_ms(door->loop);
    for (struct held *held = TAILQ_FIRST(&door->handles), *next; held != NULL; held = next) {
        next = TAILQ_NEXT(held, entry);
        if (held->holders == 0 && now_ms - held->since_ms >= door->linger_ms) {
            release_held(door, held, NULL, NULL);
        }
    }
    loop_timer_set(door->timer, door->linger_ms / LOOKS);
}

/* Handles CLOSE.  The answer waits only for locks of the handle to be released; all data was
 * written before. */
static void close_handle(struct client *client, const struct rsys_request *request)
{
    struct hold *hold = hold_of(client, request->at.handle);
    if (hold == NULL) {
        answer_status(client, request, -EBADF);
        return;
    }
    struct held *held = hold->held;
    let_go(client, hold);
    bool waits = held->holders == 0 && held->is_locked && client->releases == 0;
    if (held->holders == 0) {
        release_held(client->door, held, waits ? client : NULL, request);
    }
    if (!waits) {
        answer_status(client, request, 0);
    }
}

/* Handles an OPEN that asks for a known name again.  True: another process has opened it already,
 * and the request is answered. */
static bool is_here_again(struct client *client, const struct rsys_request *request)
{
    struct held *held = NULL;
    if (request->op == RSYS_OPEN && (request->how & RSYS_OPEN_SAME) != 0 &&
        request->attr.size >= RSYS_ROOTS_MAX) {
        held = held_by(client, request->attr.size);
    }
    if (held == NULL) {
        return false;
    }
    struct rsys_reply reply = {.op = request->op,
                               .slot = request->slot,
                               .seq = request->seq,
                               .handle = held->name};
    answer_client(client, &reply);
    return true;
}

/* Handles BYE.  It is answered when the locks are released, so that whoever waits for the process's
 * end can have them. */
static void say_goodbye(struct client *client, const struct rsys_request *request)
{
    if (client->releases > 0) { /* in another slot */
        answer_status(client, request, -EBUSY);
        return;
    }
    client->says_goodbye = true;
    let_go_of_all(client, request);
    if (client->releases == 0) {
        client->says_goodbye = false;
        answer_status(client, request, 0);
    }
}

static void cancel_for(struct client *client, const struct rsys_request *request)
{
    struct passed *passed;
    TAILQ_FOREACH(passed, &client->calls, entry)
    {
        if (passed->slot == request->slot_of && passed->seq == request->seq_of) {
            cancel_call(passed);
            break;
        }
    }
    answer_status(client, request, 0);
}

static void pass_on(struct client *client, const void *data, size_t length)
{
    struct passed *passed = mem_zalloc(sizeof *passed);
    struct rsys_request *request = &passed->call.request;
    passed->door = client->door;
    passed->client = client;
    passed->bytes = mem_dup(data, length);
    (void)rsys_decode_request(passed->bytes, length, request); /* it was good where it came from */
    (void)translate_handle(client, &request->at.handle);
    (void)translate_handle(client, &request->to.handle);
    if (request->op == RSYS_OPEN && (request->how & RSYS_OPEN_SAME) != 0) {
        passed->wanted = request->attr.size >= RSYS_ROOTS_MAX ? request->attr.size : 0;
        request->attr.size = 0;
    }
    passed->slot = request->slot;
    passed->seq = request->seq;
    passed->call.done = on_answer;
    client->busy[passed->slot] = true;
    client->door->stats.requests++;
    client->door->under_way++;
    TAILQ_INSERT_TAIL(&client->calls, passed, entry);
    rfs_link_submit(client->door->link, &passed->call);
}

static bool greet_client(struct client *client, const struct rsys_request *request)
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
    answer_client(client, &reply);
    return reply.slots > 0;
}

static void ask_server(struct client *client, const struct rsys_request *request, const void *data,
                       size_t length)
{
    uint64_t at = request->at.handle, to = request->to.handle;
    if (!translate_handle(client, &at) || !translate_handle(client, &to)) {
        answer_status(client, request, -ESTALE);
        return;
    }
    if (request->op == RSYS_LOCK) {
        note_lock(client, held_by(client, request->at.handle), request);
    }
    pass_on(client, data, length);
}

/* Handles one request.  False: the client broke the protocol, and nothing more is read from it. */
static bool take_request(struct client *client, const void *data, size_t length)
{
    struct rsys_request request;
    int code = rsys_decode_request(data, length, &request);
    if (!client->greeted) {
        return code == 0 && greet_client(client, &request);
    }
    if (request.slot >= SLOTS || client->busy[request.slot] || request.op == RSYS_HELLO) {
        return false;
    }
    if (code != 0) {
        answer_status(client, &request, -EBADMSG);
    } else if (request.op == RSYS_PING) {
        answer_status(client, &request, 0);
    } else if (request.op == RSYS_BYE) {
        say_goodbye(client, &request);
    } else if (request.op == RSYS_CLOSE) {
        close_handle(client, &request);
    } else if (request.op == RSYS_CANCEL) {
        cancel_for(client, &request);
    } else if (!is_here_again(client, &request)) {
        ask_server(client, &request, data, length);
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
    stream_known(client->stream); /* who reaches this socket is in the job's sandbox */
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
    TAILQ_INIT(&door->locks);
    loop_secret(loop, &door->next_name, sizeof door->next_name);
    door->next_name = (door->next_name >> NAME_SHIFT << NAME_BITS) + RSYS_ROOTS_MAX;
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

void rfs_door_close(struct rfs_door *door)
{
    struct client *client;
    if (door == NULL) {
        return;
    }
    listener_destroy(door->listener);
    door->listener = NULL;
    while ((client = TAILQ_FIRST(&door->clients)) != NULL) {
        end_client(client);
    }
}

void rfs_door_destroy(struct rfs_door *door)
{
    struct held *held;
    if (door == NULL) {
        return;
    }
    listener_destroy(door->listener);
    loop_timer_destroy(door->timer);
    while ((held = TAILQ_FIRST(&door->handles)) != NULL) {
        forget_held(door, held);
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
