/* tests/unit/rsyscall_fuse/rfs_rig.h - the file system between a kernel and a server that the test
 * plays.
 *
 * The server is the other end of a real connection.  Its requests wait in `asked` until the test
 * answers them, in any order; HELLO is answered at once.  The kernel is a list of answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_RSYSCALL_FUSE_RFS_RIG_H
#define TESTS_UNIT_RSYSCALL_FUSE_RFS_RIG_H

#include <errno.h>
#include <linux/fuse.h>
#include <unistd.h>

#include "base/stream/stream.h"
#include "base/vec.h"
#include "rsyscall_fuse/rfs.h"
#include "rsyscall_fuse/rfs_link.h"
#include "tests/support/loop_rig.h"

struct asked {
    struct rsys_request request; /* its pointers point into the frame */
    unsigned char *frame;
};

struct told { /* an answer to the kernel */
    uint64_t unique;
    int32_t error;
    size_t length;
    unsigned char data[];
};

struct rig {
    bool believes_nothing; /* attributes are not cached */
    struct loop *loop;
    struct os *os;
    char dir[FAST_DIR_SIZE], address[120];
    struct listener *listener;
    struct stream *peer; /* the server's end of the connection; NULL: none */

    struct rsys_reply hello; /* the server's answer to HELLO */
    unsigned char roots[256];
    unsigned hellos, pings;
    bool mute;    /* does not answer PING */
    bool forgets; /* the server does not know the session until a new one is requested */
    bool renews;  /* then reopens what was open */
    struct vec asked;

    struct rfs_link_options options;
    const char *moved; /* the server's new address */
    struct rfs_link *link;
    struct rsys_reply welcome;
    bool ready;
    int lost;

    struct rfs *fs;
    struct vec told;
    uint64_t unique;
    bool nobody_waits, killed;
    unsigned drops;
};

/* ---- turns of the loop ----------------------------------------------------------------------- */

static inline void rig_turn(struct rig *rig)
{
    loop_rig_turn(rig->loop, 1);
}

/* The loop does not turn if the condition is true already. */
#define RIG_AWAIT(rig, condition)                       \
    do {                                                \
        if (!(condition)) {                             \
            LOOP_RIG_UNTIL((rig)->loop, condition, ""); \
        }                                               \
    } while (0)

/* ---- the server ------------------------------------------------------------------------------ */

static inline void rig_send(struct rig *rig, const struct rsys_reply *reply)
{
    static unsigned char fields[RSYS_FIELDS_MAX];
    int length = rsys_encode_reply(reply, fields, sizeof fields);
    assert_true(length > 0);
    assert_int_equal(stream_write(rig->peer, fields, (size_t)length), 0);
    if (reply->data_length > 0) {
        assert_int_equal(stream_write(rig->peer, reply->data, reply->data_length), 0);
    }
}

static inline void rig_take(struct rig *rig, const unsigned char *frame, size_t length)
{
    struct asked *asked = mem_zalloc(sizeof(*asked));
    asked->frame = mem_dup(frame, length);
    assert_int_equal(rsys_decode_request(asked->frame, length, &asked->request), 0);
    bool ping = asked->request.op == RSYS_PING;
    if (asked->request.op == RSYS_HELLO) {
        static const unsigned char NONE[RSYS_SESSION_SIZE];
        bool is_new = memcmp(asked->request.session, NONE, sizeof NONE) == 0;
        rig->hellos++;
        rig->forgets = rig->forgets && !is_new;
        rig_send(rig, rig->forgets ? &(struct rsys_reply){.op = RSYS_HELLO, .status = -ESTALE}
                                   : &rig->hello);
    }
    if (ping) {
        rig->pings++;
        if (!rig->mute) {
            rig_send(rig, &(struct rsys_reply){.op = RSYS_PING,
                                               .slot = asked->request.slot,
                                               .seq = asked->request.seq});
        }
    }
    if (ping || asked->request.op == RSYS_HELLO) {
        mem_free(asked->frame);
        mem_free(asked);
    } else {
        vec_push(&rig->asked, asked);
    }
}

static void rig_readable(void *arg)
{
    struct rig *rig = arg;
    size_t length;
    for (;;) {
        const unsigned char *in = stream_input(rig->peer, &length);
        int64_t size = rsys_frame_length(in, length);
        assert_true(size >= 0);
        if (size == 0 || (uint64_t)size > length) {
            return;
        }
        rig_take(rig, in, (size_t)size);
        stream_consume(rig->peer, (size_t)size);
    }
}

static void rig_closed(void *arg, int code, const char *why)
{
    struct rig *rig = arg;
    (void)code;
    (void)why;
    stream_close(rig->peer);
    rig->peer = NULL;
}

static void rig_incoming(void *arg, struct incoming *incoming)
{
    static const struct stream_events EVENTS = {NULL, rig_readable, NULL, rig_closed};
    struct rig *rig = arg;
    stream_close(rig->peer);
    rig->peer = incoming_accept(incoming, NULL, &EVENTS, rig);
}

static inline void rig_cut(struct rig *rig)
{
    stream_close(rig->peer);
    rig->peer = NULL;
}

/* The i-th request that is not answered yet. */
static inline struct rsys_request *rig_asked(struct rig *rig, size_t i)
{
    RIG_AWAIT(rig, rig->asked.count > i);
    return &((struct asked *)rig->asked.items[i])->request;
}

static void rig_free_asked(void *item)
{
    struct asked *asked = item;
    mem_free(asked->frame);
    mem_free(asked);
}

/* Answers that request; op, slot and seq of the reply are filled in here. */
static inline void rig_answer(struct rig *rig, size_t i, struct rsys_reply *reply)
{
    const struct rsys_request *request = rig_asked(rig, i);
    reply->op = request->op;
    reply->slot = request->slot;
    reply->seq = request->seq;
    rig_send(rig, reply);
    rig_free_asked(rig->asked.items[i]);
    vec_remove_at(&rig->asked, i);
}

static inline void rig_answer_status(struct rig *rig, size_t i, int status)
{
    struct rsys_reply reply = {.status = status};
    rig_answer(rig, i, &reply);
}

/* ---- callbacks of the link
 * -------------------------------------------------------------------- */

static void rig_ready(void *arg, const struct rsys_reply *hello)
{
    struct rig *rig = arg;
    rig->ready = true;
    rig->welcome = *hello;
}

static void rig_lost(void *arg, int code, const char *why)
{
    struct rig *rig = arg;
    assert_non_null(why);
    rig->lost = code;
}

static void rig_renew(void *arg)
{
    struct rig *rig = arg;
    rfs_renew(rig->fs);
}

static enum rfs_again rig_again(void *arg, struct rfs_call *call, bool was_sent)
{
    struct rig *rig = arg;
    return rfs_judge_again(rig->fs, call, was_sent);
}

static const char *rig_where(void *arg)
{
    const struct rig *rig = arg;
    return rig->moved;
}

static inline void rig_dial(struct rig *rig)
{
    static const struct rfs_link_events ONCE = {rig_ready, rig_lost, NULL, NULL, rig_where};
    static const struct rfs_link_events RENEWED = {rig_ready, rig_lost, rig_renew, rig_again,
                                                   rig_where};
    const struct rfs_link_events *events = rig->renews ? &RENEWED : &ONCE;
    rig->options.address = rig->address;
    rig->options.route = "rsys";
    rig->options.ticket = "ticket";
    assert_int_equal(rfs_link_create(rig->loop, &rig->options, events, rig, &rig->link, NULL), 0);
}

static inline void rig_begin(struct rig *rig)
{
    rig_dial(rig);
    RIG_AWAIT(rig, rig->ready);
}

static inline void rig_add_root(struct rig *rig, uint32_t number, const char *view)
{
    struct rsys_root root = {.number = number,
                             .view = {.data = view, .length = (uint16_t)strlen(view)}};
    assert_true(rsys_root_put(rig->roots, sizeof rig->roots, &rig->hello.data_length, &root));
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static int rig_told(void *arg, const struct rfs_part *parts, size_t count)
{
    struct rig *rig = arg;
    size_t length = 0;
    struct fuse_out_header header;
    if (rig->nobody_waits) {
        return -ENOENT;
    }
    struct told *told = mem_zalloc(sizeof(*told) + RFS_REQUEST_MAX);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].length > 0) {
            memcpy(told->data + length, parts[i].data, parts[i].length);
        }
        length += parts[i].length;
    }
    memcpy(&header, told->data, sizeof header);
    assert_int_equal(header.len, length);
    memmove(told->data, told->data + sizeof header, length - sizeof header);
    told->unique = header.unique;
    told->error = header.error;
    told->length = length - sizeof header;
    vec_push(&rig->told, told);
    return 0;
}

static bool rig_is_killed(void *arg, uint32_t thread)
{
    const struct rig *rig = arg;
    assert_int_equal(thread, 77);
    return rig->killed;
}

static void rig_drop(void *arg, uint64_t number, void (*done)(void *done_arg), void *done_arg)
{
    struct rig *rig = arg;
    (void)number;
    rig->drops++;
    done(done_arg);
}

/* Sends a request as the kernel does; returns its number. */
static inline uint64_t rig_kernel2(struct rig *rig, uint32_t opcode, uint64_t node, const void *arg,
                                   size_t length, const void *more, size_t more_length)
{
    unsigned char *block = mem_zalloc(RFS_REQUEST_MAX);
    struct fuse_in_header header = {.opcode = opcode,
                                    .unique = ++rig->unique,
                                    .nodeid = node,
                                    .pid = 77,
                                    .len = (uint32_t)(sizeof header + length + more_length)};
    memcpy(block, &header, sizeof header);
    if (length > 0) {
        memcpy(block + sizeof header, arg, length);
    }
    if (more_length > 0) {
        memcpy(block + sizeof header + length, more, more_length);
    }
    if (!rfs_take(rig->fs, block, header.len)) {
        mem_free(block);
    }
    return header.unique;
}

static inline uint64_t rig_kernel(struct rig *rig, uint32_t opcode, uint64_t node, const void *arg,
                                  size_t length)
{
    return rig_kernel2(rig, opcode, node, arg, length, NULL, 0);
}

static inline struct told *rig_find_told(struct rig *rig, uint64_t unique)
{
    for (size_t i = 0; i < rig->told.count; i++) {
        struct told *told = rig->told.items[i];
        if (told->unique == unique) {
            return told;
        }
    }
    return NULL;
}

/* Waits for the answer to the kernel's request. */
static inline const struct told *rig_await_told(struct rig *rig, uint64_t unique)
{
    RIG_AWAIT(rig, rig_find_told(rig, unique) != NULL);
    return rig_find_told(rig, unique);
}

static inline void rig_mount(struct rig *rig)
{
    struct rfs_options options = RFS_OPTIONS_DEFAULT;
    struct rfs_device device = {rig_told, rig_is_killed, rig_drop, rig};
    options.uid = options.gid = 1000;
    options.write_behind_max = (size_t)256 << 10;
    options.attr_max_ms = rig->believes_nothing ? 0 : options.attr_max_ms;
    options.attr_min_ms = rig->believes_nothing ? 0 : options.attr_min_ms;
    rig_begin(rig);
    rig->welcome.data = rig->roots;
    assert_int_equal(rfs_create(rig->loop, rig->link, &rig->welcome, &options, &device, &rig->fs,
                                NULL),
                     0);
}

/* ---- files ---------------------------------------------------------------------------------- */

#define TOP 1 /* FUSE_ROOT_ID */

static inline struct rsys_attr attr_of(uint64_t ino, uint64_t size)
{
    return (struct rsys_attr){.mode = 0100644,
                              .nlink = 1,
                              .uid = 500,
                              .gid = 500,
                              .dev = 9,
                              .ino = ino,
                              .size = size,
                              .mtime = {1000, 5},
                              .ctime = {1000, 5}};
}

static inline void mounted(struct rig *rig)
{
    rig_add_root(rig, 0, "/");
    rig_mount(rig);
}

static inline void answer_attr(struct rig *rig, size_t i, struct rsys_attr attr)
{
    struct rsys_reply reply = {.attr = attr};
    rig_answer(rig, i, &reply);
}

static inline uint64_t look_up(struct rig *rig, uint64_t parent, const char *name,
                               struct rsys_attr attr)
{
    struct fuse_entry_out entry;
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, parent, name, strlen(name) + 1);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_STAT);
    answer_attr(rig, 0, attr);
    const struct told *told = rig_await_told(rig, unique);
    assert_int_equal(told->error, 0);
    memcpy(&entry, told->data, sizeof entry);
    return entry.nodeid;
}

#define FLAG_RDWR   02U
#define FLAG_APPEND 02000U
#define HANDLE      4711

/* Opens a file, with these attributes as the server's answer; returns the kernel's handle. */
static inline uint64_t open_file_as(struct rig *rig, uint64_t node, uint32_t flags,
                                    struct rsys_attr attr, uint32_t *open_flags)
{
    struct fuse_open_in arg = {.flags = flags};
    struct fuse_open_out out;
    uint64_t unique = rig_kernel(rig, FUSE_OPEN, node, &arg, sizeof arg);
    const struct rsys_request *asked = rig_asked(rig, 0);
    assert_int_equal(asked->op, RSYS_OPEN);
    struct rsys_reply reply = {.handle = HANDLE, .attr = attr};
    rig_answer(rig, 0, &reply);
    const struct told *told = rig_await_told(rig, unique);
    assert_int_equal(told->error, 0);
    memcpy(&out, told->data, sizeof out);
    if (open_flags != NULL) {
        *open_flags = out.open_flags;
    }
    return out.fh;
}

/* Makes an open file; returns its node. */
static inline uint64_t with_file(struct rig *rig, uint32_t flags, uint64_t size, uint64_t *fh)
{
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, size));
    *fh = open_file_as(rig, node, flags, attr_of(5, size), NULL);
    return node;
}

/* Asserts that after some turns of the loop exactly `but` requests wait for an answer. */
static inline void nothing_is_asked(struct rig *rig, size_t but)
{
    for (int i = 0; i < 3; i++) {
        rig_turn(rig);
    }
    assert_int_equal(rig->asked.count, but);
}

/* ---- setup and end
 * ---------------------------------------------------------------------------- */

static inline int rig_setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof(*rig));
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    (void)snprintf(rig->address, sizeof rig->address, "unix:%s/s", rig->dir);
    assert_int_equal(listener_create(rig->loop, rig->address, rig_incoming, rig, &rig->listener,
                                     NULL),
                     0);
    rig->hello = (struct rsys_reply){.op = RSYS_HELLO,
                                     .version = RSYS_VERSION,
                                     .slots = 8,
                                     .lease_ms = 60000,
                                     .data_max = RSYS_DATA_MAX,
                                     .uid = 500,
                                     .gid = 500,
                                     .session = {1, 2, 3},
                                     .data = rig->roots};
    *state = rig;
    return 0;
}

static inline int rig_teardown(void **state)
{
    struct rig *rig = *state;
    rfs_link_destroy(rig->link);
    rfs_destroy(rig->fs);
    listener_destroy(rig->listener);
    stream_close(rig->peer);
    loop_rig_close(rig->loop, rig->os, rig->dir);
    vec_fini(&rig->asked, rig_free_asked);
    vec_fini(&rig->told, mem_free);
    mem_free(rig);
    return 0;
}

#define RIG_TEST(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)

#endif
