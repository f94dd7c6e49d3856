/* tests/unit/rsyscall/rsys_rig.h - a server of remote system calls and its client on one event
 * loop, and a directory that is offered.
 *
 *     struct rig *rig = *state;
 *     rig_open(rig, NULL);
 *     struct rsys_request stat = {.op = RSYS_STAT, .at = AT(0, "a/b")};
 *     assert_int_equal(rig_ask(rig, &stat)->status, 0);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_RSYSCALL_RSYS_RIG_H
#define TESTS_UNIT_RSYSCALL_RSYS_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stream/stream.h"
#include "rsyscall/rsys.h"
#include "rsyscall/server.h"
#include "tests/support/loop_rig.h"

#define RIG_DEADLINE_MS 60000
#define TICKET          "0123456789abcdef"

#define TEXT(text)       ((struct rsys_text){(text), (uint16_t)strlen(text)})
#define AT(number, path) ((struct rsys_at){(number), TEXT(path)})

/* The last reply in a slot.  The message is kept, so that texts and data can be examined. */
struct rig_slot {
    uint32_t seq;
    bool answered;
    unsigned char *message;
    struct rsys_reply reply;
};

struct rig {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline;
    char base[64]; /* directory that contains root, outside and the socket */
    char root[96]; /* the directory offered at "/" */
    char outside[96];
    struct listener *listener;
    struct rsys_server *server;
    struct rsys_job *job;
    struct stream *client;
    bool opened, closed;
    int closed_code;
    unsigned replies; /* number of replies on this connection */
    unsigned char session[RSYS_SESSION_SIZE];
    struct rsys_reply hello;
    struct rig_slot hello_slot;
    struct rig_slot slots[RSYS_SLOTS_MAX];
    bool awake;
};

static inline void rig_late(void *arg)
{
    (void)arg;
    fail_msg("nothing happened for too long");
}

#define RIG_AWAIT(rig, condition)                         \
    do {                                                  \
        loop_timer_set((rig)->deadline, RIG_DEADLINE_MS); \
        while (!(condition)) {                            \
            (rig)->awake = false;                         \
            loop_run_until((rig)->loop, &(rig)->awake);   \
        }                                                 \
        loop_timer_stop((rig)->deadline);                 \
    } while (0)

/* Waits for a condition that no callback reports. */
#define RIG_POLL(rig, condition) LOOP_RIG_UNTIL((rig)->loop, condition, "")

static inline void rig_keep(struct rig_slot *slot, const void *message, size_t length)
{
    mem_free(slot->message);
    slot->message = mem_dup(message, length);
    assert_int_equal(rsys_decode_reply(slot->message, length, &slot->reply), 0);
    slot->answered = true;
}

static inline void rig_input(void *arg)
{
    struct rig *rig = arg;
    for (;;) {
        size_t have;
        const void *input = stream_input(rig->client, &have);
        int64_t whole = rsys_frame_length(input, have);
        assert_true(whole >= 0);
        if (whole == 0 || (size_t)whole > have) {
            break;
        }
        struct rsys_reply reply;
        assert_int_equal(rsys_decode_reply(input, (size_t)whole, &reply), 0);
        assert_true(reply.slot < RSYS_SLOTS_MAX);
        rig_keep(reply.op == RSYS_HELLO ? &rig->hello_slot : &rig->slots[reply.slot], input,
                 (size_t)whole);
        rig->replies++;
        stream_consume(rig->client, (size_t)whole);
    }
    rig->awake = true;
}

static inline void rig_opened(void *arg)
{
    struct rig *rig = arg;
    rig->opened = rig->awake = true;
}

static inline void rig_closed(void *arg, int code, const char *why)
{
    struct rig *rig = arg;
    (void)why;
    rig->closed_code = code;
    rig->closed = rig->awake = true;
}

static inline void rig_incoming(void *arg, struct incoming *incoming)
{
    struct rig *rig = arg;
    rsys_server_take(rig->server, incoming, NULL);
}

static inline int rig_setup_in(void **state, const char *above)
{
    struct rig *rig = mem_zalloc(sizeof(*rig));
    char address[128];
    assert_int_equal(loop_create(&rig->loop, NULL), 0);
    assert_int_equal(os_create(rig->loop, &rig->os, NULL), 0);
    rig->deadline = loop_timer_create(rig->loop, rig_late, rig);
    (void)snprintf(rig->base, sizeof(rig->base), "%s/rsys.XXXXXX", above);
    assert_non_null(mkdtemp(rig->base));
    (void)snprintf(rig->root, sizeof(rig->root), "%s/root", rig->base);
    (void)snprintf(rig->outside, sizeof(rig->outside), "%s/outside", rig->base);
    assert_int_equal(mkdir(rig->root, 0755), 0);
    assert_int_equal(mkdir(rig->outside, 0755), 0);
    rig->server = rsys_server_create(&(struct rsys_server_options){.loop = rig->loop});
    (void)snprintf(address, sizeof(address), "unix:%s/socket", rig->base);
    assert_int_equal(listener_create(rig->loop, address, rig_incoming, rig, &rig->listener, NULL),
                     0);
    *state = rig;
    return 0;
}

static inline int rig_setup(void **state)
{
    return rig_setup_in(state, "/tmp");
}

/* Setup with files in memory, where the server executes much at once that lanes do elsewhere. */
static inline int rig_setup_memory(void **state)
{
    return rig_setup_in(state, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}

static inline void rig_cut(struct rig *rig)
{
    stream_close(rig->client);
    rig->client = NULL;
}

static inline int rig_teardown(void **state)
{
    struct rig *rig = *state;
    rig_cut(rig);
    rsys_server_destroy(rig->server);
    listener_destroy(rig->listener);
    for (size_t i = 0; i < RSYS_SLOTS_MAX; i++) {
        mem_free(rig->slots[i].message);
    }
    mem_free(rig->hello_slot.message);
    assert_int_equal(os_remove_tree(rig->os, rig->base, NULL), 0);
    loop_timer_destroy(rig->deadline);
    os_destroy(rig->os);
    loop_destroy(rig->loop);
    mem_free(rig);
    return 0;
}

static inline void rig_dial(struct rig *rig)
{
    static const struct stream_events EVENTS = {.opened = rig_opened,
                                                .readable = rig_input,
                                                .closed = rig_closed};
    char address[128];
    const struct stream_trust trust = {0};
    rig_cut(rig);
    rig->opened = rig->closed = false;
    rig->replies = 0;
    (void)snprintf(address, sizeof(address), "unix:%s/socket", rig->base);
    assert_int_equal(stream_connect(rig->loop, address, "rsys", &trust, &EVENTS, rig, &rig->client,
                                    NULL),
                     0);
    RIG_AWAIT(rig, rig->opened);
}

static inline void rig_write(struct rig *rig, const struct rsys_request *request)
{
    unsigned char fields[RSYS_FIELDS_MAX];
    int length = rsys_encode_request(request, fields, sizeof(fields));
    assert_true(length > 0);
    assert_int_equal(stream_write(rig->client, fields, (size_t)length), 0);
    if (request->data_length > 0) {
        assert_int_equal(stream_write(rig->client, request->data, request->data_length), 0);
    }
}

/* Sends HELLO on a new connection; resume: continues the session before. */
static inline int rig_hello(struct rig *rig, const char *ticket, bool resume)
{
    struct rsys_request hello = {.op = RSYS_HELLO, .version = RSYS_VERSION, .text = TEXT(ticket)};
    if (resume) {
        memcpy(hello.session, rig->session, sizeof(rig->session));
    }
    rig->hello_slot.answered = false;
    rig_write(rig, &hello);
    RIG_AWAIT(rig, rig->hello_slot.answered || rig->closed);
    assert_true(rig->hello_slot.answered);
    rig->hello = rig->hello_slot.reply;
    if (rig->hello.status == 0) {
        memcpy(rig->session, rig->hello.session, sizeof(rig->session));
    }
    return rig->hello.status;
}

/* Opens the job (offer NULL: rig->root at "/", default limits), connects and begins a session. */
static inline void rig_open(struct rig *rig, const struct rsys_offer *offer)
{
    const struct rsys_offer_root root = {.view = "/", .directory = rig->root};
    const struct rsys_offer plain = {.roots = &root,
                                     .root_count = 1,
                                     .limits = RSYS_LIMITS_DEFAULT};
    struct rsys_offer full = offer != NULL ? *offer : plain;
    if (full.root_count == 0) {
        full.roots = &root;
        full.root_count = 1;
    }
    assert_int_equal(rsys_job_open(rig->server, TICKET, &full, &rig->job), 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, false), 0);
}

/* Makes another client of the same server; end it with rig_second_fini(). */
static inline void rig_second(const struct rig *rig, struct rig *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->loop = rig->loop;
    ret->deadline = rig->deadline;
    memcpy(ret->base, rig->base, sizeof(ret->base));
    memcpy(ret->root, rig->root, sizeof(ret->root));
    rig_dial(ret);
}

static inline void rig_second_fini(struct rig *rig)
{
    rig_cut(rig);
    for (size_t i = 0; i < RSYS_SLOTS_MAX; i++) {
        mem_free(rig->slots[i].message);
    }
    mem_free(rig->hello_slot.message);
}

/* Sends the last request of the slot again. */
static inline void rig_send_again(struct rig *rig, uint16_t slot, struct rsys_request *request)
{
    request->slot = slot;
    request->seq = rig->slots[slot].seq;
    rig->slots[slot].answered = false;
    rig_write(rig, request);
}

static inline struct rsys_stats rig_stats(const struct rig *rig)
{
    struct rsys_stats stats;
    rsys_job_get_stats(rig->job, &stats);
    return stats;
}

/* Sends a request in that slot, with the slot's next number. */
static inline void rig_send(struct rig *rig, uint16_t slot, struct rsys_request *request)
{
    request->slot = slot;
    request->seq = ++rig->slots[slot].seq;
    rig->slots[slot].answered = false;
    rig_write(rig, request);
}

static inline const struct rsys_reply *rig_await(struct rig *rig, uint16_t slot)
{
    RIG_AWAIT(rig, rig->slots[slot].answered || rig->closed);
    assert_true(rig->slots[slot].answered);
    assert_int_equal(rig->slots[slot].reply.seq, rig->slots[slot].seq);
    return &rig->slots[slot].reply;
}

static inline const struct rsys_reply *rig_ask(struct rig *rig, struct rsys_request *request)
{
    rig_send(rig, 0, request);
    return rig_await(rig, 0);
}

/* ---- frequent requests ----------------------------------------------------------------------- */

static inline int rig_status(struct rig *rig, struct rsys_request request)
{
    return rig_ask(rig, &request)->status;
}

/* Opens a file; returns its handle, or a negative errno. */
static inline int64_t rig_open_file(struct rig *rig, const char *path, uint32_t how)
{
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, path), .how = how, .mode = 0644};
    const struct rsys_reply *reply = rig_ask(rig, &open);
    return reply->status == 0 ? (int64_t)reply->handle : reply->status;
}

static inline int rig_write_at(struct rig *rig, uint64_t handle, uint64_t offset, const char *text)
{
    struct rsys_request write = {.op = RSYS_WRITE,
                                 .at.handle = handle,
                                 .extent_count = 1,
                                 .extents = {{offset, (uint32_t)strlen(text)}},
                                 .data = text,
                                 .data_length = strlen(text)};
    return rig_status(rig, write);
}

static inline int rig_stat(struct rig *rig, const char *path, struct rsys_attr *ret)
{
    struct rsys_request stat = {.op = RSYS_STAT, .at = AT(0, path)};
    const struct rsys_reply *reply = rig_ask(rig, &stat);
    if (ret != NULL) {
        *ret = reply->attr;
    }
    return reply->status;
}

/* The path on the real machine, below rig->root. */
static inline const char *rig_path(struct rig *rig, const char *path)
{
    static char full[512];
    (void)snprintf(full, sizeof(full), "%s/%s", rig->root, path);
    return full;
}

static inline void rig_put_file(struct rig *rig, const char *path, const char *text)
{
    int fd = open(rig_path(rig, path), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(close(fd), 0);
}

/* Reads a file; -1 on failure. */
static inline ssize_t rig_get_file(struct rig *rig, const char *path, char *text, size_t size)
{
    int fd = open(rig_path(rig, path), O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0) {
        assert_int_equal(close(fd), 0);
    }
    text[got > 0 ? got : 0] = '\0';
    return got;
}

#define RIG_UNIT(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)
#define RIG_BOTH(test)                                                  \
    RIG_UNIT(test),                                                     \
    {                                                                   \
        "in memory: " #test, test, rig_setup_memory, rig_teardown, NULL \
    }

#endif
