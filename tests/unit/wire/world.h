/* tests/unit/wire/world.h - a server and a client of the wire protocol in one program, on a real
 * event loop.
 *
 * The server listens on TCP with TLS (the client knows the server's fingerprint) and on a Unix
 * socket.  Tokens are signed with a key in a temporary directory; the client sends the token
 * written last by world_token().  Nothing sleeps: world_until() runs the loop until a condition is
 * true, and fails the test after WORLD_PATIENCE_MS.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_WIRE_WORLD_H
#define TESTS_UNIT_WIRE_WORLD_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "base/text.h"
#include "classad/ad.h"
#include "wire/token.h"
#include "wire/wire.h"

#define WORLD_PATIENCE_MS 20000
#define WORLD_WIRES       16
#define WORLD_NOBODY      65534 /* an admin_uid that is not ours */

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
    struct loop_timer *tick;
    bool (*done)(void *arg);
    void *done_arg;
    bool stop;
    unsigned ticks;
};

/* ---- the loop -------------------------------------------------------------------------------- */

static inline void world_tick(void *arg)
{
    struct world *world = arg;
    world->ticks++;
    world->stop = world->done(world->done_arg) || world->ticks > WORLD_PATIENCE_MS;
    loop_timer_set(world->tick, 1);
}

static inline void world_until(struct world *world, bool (*done)(void *arg), void *arg)
{
    world->done = done;
    world->done_arg = arg;
    world->stop = false;
    world->ticks = 0;
    loop_timer_set(world->tick, 0);
    loop_run_until(world->loop, &world->stop);
    loop_timer_stop(world->tick);
    if (!done(arg)) {
        fail_msg("waited in vain; the log says:\n%s", strbuf_text(&world->log_text));
    }
}

static inline bool world_flag(void *arg)
{
    return *(const bool *)arg;
}

static inline void world_until_flag(struct world *world, const bool *flag)
{
    world_until(world, world_flag, (void *)flag);
}

/* Lets the loop turn a few times, for asserting that something does not happen. */
static inline bool world_counted(void *arg)
{
    return ++*(unsigned *)arg > 20;
}

static inline void world_turns(struct world *world)
{
    unsigned count = 0;
    world_until(world, world_counted, &count);
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
    struct token token = {.scopes = scopes, .issued_s = world_now_s(world)};
    (void)snprintf(token.identity, sizeof token.identity, "%s", identity);
    (void)snprintf(token.id, sizeof token.id, "id-of-%s", identity);
    (void)snprintf(token.pool, sizeof token.pool, "pool");
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
    struct err err = {{0}};
    if (token_issue(world->os, world->key_path, "k1", token, &text, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return text;
}

/* Makes a whole token file, with the private key; the caller frees the text. */
static inline char *world_issue(struct world *world, const struct token *token)
{
    char *text = NULL;
    struct err err = {{0}};
    if (token_issue_file(world->os, world->loop, world->key_path, "k1", token, &text, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return text;
}

/* Sets the token that the client sends from now on. */
static inline void world_use(struct world *world, const struct token *token)
{
    char *text = world_issue(world, token);
    world_write(world, world->token_path, text);
    mem_free(text);
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
    struct err err = {{0}};
    *end = (struct end){0};
    if (wire_dial(context, &dial, &events, end, &end->wire, &err) != 0) {
        fail_msg("%s", err.text);
    }
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

static inline void world_log_write(void *context, const char *line, size_t length)
{
    strbuf_append(context, line, length);
}

static inline int64_t world_log_clock(void *context)
{
    return loop_wall_ms(context);
}

static inline void world_must(int rc, const struct err *err)
{
    if (rc != 0) {
        fail_msg("%s", err->text);
    }
}

static inline void world_start(struct world *world, uid_t admin_uid)
{
    struct err err = {{0}};
    *world = (struct world){0};
    (void)snprintf(world->dir, sizeof world->dir, "/tmp/wire-test-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    (void)snprintf(world->keys, sizeof world->keys, "%s/keys", world->dir);
    (void)snprintf(world->key_path, sizeof world->key_path, "%s/k1.key", world->keys);
    (void)snprintf(world->token_path, sizeof world->token_path, "%s/token", world->dir);
    (void)snprintf(world->local, sizeof world->local, "unix:%s/socket", world->dir);
    world_must(loop_create(&world->loop, &err), &err);
    world_must(os_create(world->loop, &world->os, &err), &err);
    strbuf_init(&world->log_text, 0);
    world->log =
        log_create("test", LOG_LEVEL_DEBUG,
                   (struct log_sink){.write = world_log_write, .context = &world->log_text},
                   (struct log_clock){.utc_ms = world_log_clock, .context = world->loop});
    world->tick = loop_timer_create(world->loop, world_tick, world);
    world_must(os_mkdirs(world->os, world->keys, 0700, &err), &err);
    world_must(token_key_make(world->os, world->loop, world->keys, "k1", &err), &err);
    world_must(tls_identity_ephemeral(world->loop, "server", &world->identity, &err), &err);
    (void)snprintf(world->pin, sizeof world->pin, "%s", tls_identity_pin(world->identity));
    struct wire_context_options options = {.loop = world->loop,
                                           .os = world->os,
                                           .log = world->log,
                                           .pool_keys = world->keys,
                                           .pool = "pool",
                                           .uid_domain = "domain",
                                           .admin_uid = admin_uid};
    world_must(wire_context_create(&options, &world->server, &err), &err);
    options.log = NULL;
    options.token_path = world->token_path;
    world_must(wire_context_create(&options, &world->client, &err), &err);
    world_must(listener_create(world->loop, "tcp:127.0.0.1:0", world_incoming, world,
                               &world->listeners[0], &err),
               &err);
    world_must(listener_create(world->loop, world->local, world_incoming, world,
                               &world->listeners[1], &err),
               &err);
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
    loop_timer_destroy(world->tick);
    (void)os_remove_tree(world->os, world->dir, NULL);
    os_destroy(world->os);
    loop_destroy(world->loop);
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
