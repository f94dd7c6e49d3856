/* tests/unit/wire/world.h - a server and a client of the wire protocol in one program, on a real
 * event loop.
 *
 * The server listens on TCP with TLS (the client knows the server's fingerprint) and on a Unix
 * socket.  Tokens are signed with a key in a temporary directory; the client sends the token
 * written last by world_token().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_WIRE_WORLD_H
#define TESTS_UNIT_WIRE_WORLD_H

#include <errno.h>
#include <unistd.h>

#include "base/stream/stream.h"
#include "base/text.h"
#include "classad/ad.h"
#include "tests/support/pool_rig.h"
#include "wire/wire.h"

#define WORLD_WIRES  16
#define WORLD_NOBODY 65534 /* an admin_uid that is not ours */

/* One end of a connection and the events that its owner got. */
struct end {
    struct wire *wire;
    bool ready, closed;
    int status;
    unsigned handled; /* number of requests, where the test counts them */
    char why[ERR_TEXT_MAX];
};

struct world {
    struct loop *loop;
    struct os *os;
    char dir[64], tcp[128], local[128], token_path[128], keys[128], key_path[160];
    char pin[STREAM_PIN_SIZE];
    struct tls_identity *identity;
    struct listener *listeners[2];
    struct wire_context *server, *client;
    struct strbuf log_text;
    struct log *log;
    struct wire_accept how;
    struct end accepted[WORLD_WIRES];
    size_t accepted_count;
    wire_handler_f handler; /* handler of the server; NULL: refuses all requests */
    void *handler_arg;
    void (*accepted_ready)(struct world *world, struct wire *wire);
    void (*accepted_closed)(struct world *world, struct wire *wire);
};

/* ---- the loop -------------------------------------------------------------------------------- */

static inline void world_until(struct world *world, bool (*done)(void *arg), void *arg)
{
    LOOP_RIG_UNTIL(world->loop, done(arg), "the log is:\n%s", strbuf_text(&world->log_text));
}

static inline void world_until_flag(struct world *world, const bool *flag)
{
    loop_rig_await(world->loop, flag, &world->log_text);
}

/* Lets the loop turn a few times, for asserting that something does not happen. */
static inline void world_turns(struct world *world)
{
    for (int i = 0; i < 20; i++) {
        loop_rig_turn(world->loop, 1);
    }
}

/* ---- owners of connections
 * -------------------------------------------------------------------- */

static inline void end_ready(void *arg, struct wire *wire)
{
    struct end *end = arg;
    assert_ptr_equal(end->wire, wire);
    end->ready = true;
}

static inline void end_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct end *end = arg;
    end->closed = true;
    end->status = status;
    (void)snprintf(end->why, sizeof end->why, "%s", why);
    wire_close(wire);
    end->wire = NULL;
}

static inline void accepted_ready(void *arg, struct wire *wire)
{
    struct world *world = arg;
    for (size_t i = 0; i < world->accepted_count; i++) {
        world->accepted[i].ready = world->accepted[i].ready || world->accepted[i].wire == wire;
    }
    if (world->accepted_ready != NULL) {
        world->accepted_ready(world, wire);
    }
}

static inline void accepted_request(void *arg, struct wire_request *request)
{
    struct world *world = arg;
    if (world->handler == NULL) {
        wire_reply_error(request, -ENOSYS, "not in this test");
        return;
    }
    world->handler(world->handler_arg, request);
}

static inline void accepted_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct world *world = arg;
    if (world->accepted_closed != NULL) {
        world->accepted_closed(world, wire);
    }
    for (size_t i = 0; i < world->accepted_count; i++) {
        if (world->accepted[i].wire == wire) {
            end_closed(&world->accepted[i], wire, status, why);
        }
    }
}

static inline void world_incoming(void *arg, struct incoming *incoming)
{
    static const struct wire_events EVENTS = {.ready = accepted_ready,
                                              .request = accepted_request,
                                              .closed = accepted_closed};
    struct world *world = arg;
    struct end *end = &world->accepted[world->accepted_count++];
    struct wire_accept how = world->how;
    assert_true(world->accepted_count <= WORLD_WIRES);
    assert_true(strcmp(incoming_route(incoming), "collector") == 0 ||
                strcmp(incoming_route(incoming), "claim") == 0);
    how.identity = strncmp(incoming_peer(incoming), "unix:", 5) == 0 ? NULL : world->identity;
    assert_int_equal(wire_accept(world->server, incoming, &how, &EVENTS, world, &end->wire, NULL),
                     0);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static inline void world_write(struct world *world, const char *path, const char *text)
{
    assert_int_equal(os_write_file(world->os, path, text, strlen(text), 0600, false, NULL), 0);
}

static inline int64_t world_now_s(struct world *world)
{
    return loop_wall_s(world->loop);
}

static inline struct token world_token_of(struct world *world, const char *identity,
                                          uint32_t scopes)
{
    char id[64];
    (void)snprintf(id, sizeof id, "id-of-%s", identity);
    struct token token = pool_rig_token(world->loop, identity, id, scopes);
    /* The base point of the curve, which is a valid public key.  world_issue() makes a real key. */
    assert_int_equal(text_unhex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                                "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
                                token.holder, sizeof token.holder, NULL),
                     0);
    return token;
}

/* Makes a token as one line; the caller frees the text. */
static inline char *world_issue_line(struct world *world, const struct token *token)
{
    char *text = NULL;
    MUST(token_issue(world->os, world->key_path, "k1", token, &text, err));
    return text;
}

/* Makes a whole token file, with the private key; the caller frees the text. */
static inline char *world_issue(struct world *world, const struct token *token)
{
    char *text = NULL;
    MUST(token_issue_file(world->os, world->loop, world->key_path, "k1", token, &text, err));
    return text;
}

/* Sets the token that the client sends from now on. */
static inline void world_use(struct world *world, const struct token *token)
{
    pool_rig_issue(world->loop, world->os, world->dir, token, "token");
}

static inline void world_token(struct world *world, const char *identity, uint32_t scopes)
{
    struct token token = world_token_of(world, identity, scopes);
    world_use(world, &token);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static inline void world_dial_as(struct world *world, struct wire_context *context,
                                 const char *address, const char *name, wire_handler_f handler,
                                 struct end *end)
{
    struct wire_events events = {.ready = end_ready, .request = handler, .closed = end_closed};
    bool is_tcp = strcmp(address, world->tcp) == 0;
    struct wire_dial dial = {.address = address,
                             .route = "collector",
                             .name = name,
                             .pin = is_tcp ? world->pin : NULL};
    *end = (struct end){0};
    MUST(wire_dial(context, &dial, &events, end, &end->wire, err));
}

static inline bool end_settled(void *arg)
{
    const struct end *end = arg;
    return end->ready || end->closed;
}

/* Connects over TCP and waits for the outcome. */
static inline void world_dial(struct world *world, const char *name, struct end *end)
{
    world_dial_as(world, world->client, world->tcp, name, NULL, end);
    world_until(world, end_settled, end);
}

/* Connects with that identity and these scopes, and asserts that this succeeds. */
static inline void world_connect(struct world *world, const char *identity, uint32_t scopes,
                                 struct end *end)
{
    world_token(world, identity, scopes);
    world_dial(world, NULL, end);
    if (!end->ready) {
        fail_msg("%s", end->why);
    }
}

/* ---- setup and end --------------------------------------------------------------------------- */

static inline void world_start(struct world *world, uid_t admin_uid)
{
    *world = (struct world){0};
    loop_rig_open(&world->loop, &world->os, world->dir);
    (void)snprintf(world->keys, sizeof world->keys, "%s/keys", world->dir);
    (void)snprintf(world->key_path, sizeof world->key_path, "%s/k1.key", world->keys);
    (void)snprintf(world->token_path, sizeof world->token_path, "%s/token", world->dir);
    (void)snprintf(world->local, sizeof world->local, "unix:%s/socket", world->dir);
    strbuf_init(&world->log_text, 0);
    world->log = loop_rig_log(world->loop, LOG_LEVEL_DEBUG, &world->log_text);
    pool_rig_make_key(world->loop, world->os, world->dir);
    MUST(tls_identity_ephemeral(world->loop, "server", &world->identity, err));
    (void)snprintf(world->pin, sizeof world->pin, "%s", tls_identity_pin(world->identity));
    struct wire_context_options options = {.loop = world->loop,
                                           .os = world->os,
                                           .log = world->log,
                                           .pool_keys = world->keys,
                                           .pool = "pool",
                                           .uid_domain = "domain",
                                           .admin_uid = admin_uid};
    MUST(wire_context_create(&options, &world->server, err));
    options.log = NULL;
    options.token_path = world->token_path;
    MUST(wire_context_create(&options, &world->client, err));
    MUST(listener_create(world->loop, "tcp:127.0.0.1:0", world_incoming, world,
                         &world->listeners[0], err));
    MUST(listener_create(world->loop, world->local, world_incoming, world, &world->listeners[1],
                         err));
    (void)snprintf(world->tcp, sizeof world->tcp, "%s", listener_address(world->listeners[0]));
}

/* contexts free the rest of their connections */
static inline void world_end(struct world *world)
{
    wire_context_destroy(world->client);
    wire_context_destroy(world->server);
    listener_destroy(world->listeners[0]);
    listener_destroy(world->listeners[1]);
    tls_identity_destroy(world->identity);
    loop_rig_close(world->loop, world->os, world->dir);
    log_destroy(world->log);
    strbuf_fini(&world->log_text);
}

static inline int world_setup(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    world_start(world, WORLD_NOBODY);
    *state = world;
    return 0;
}

static inline int world_teardown(void **state)
{
    world_end(*state);
    free(*state);
    return 0;
}

#define WORLD_TEST(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

#endif
