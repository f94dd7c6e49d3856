/* tests/unit/wire/test_proof.c - a token is worth nothing without the key that it names.
 *
 * The thief here has all that the server of somebody's connection ever saw: the token, the proofs
 * of other connections, and a key of his own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "wire/wire_private.h"

/* What the thief says in his HELLO. */
enum theft {
    OWN_KEY,          /* signs rightly, but with a key of his own */
    NO_PROOF,         /* shows the token alone */
    OTHER_CONNECTION, /* a proof of the holder's for another connection */
    OTHER_ROUTE,
    OTHER_NAME,
    RELAY_AS_GREETING, /* a signature of the holder's for another purpose */
    HOLDER,            /* the holder himself, to see that the rest is right */
};

struct thief {
    struct world *world;
    struct stream *stream;
    struct strbuf input;
    char *token;
    struct evp_pkey_st *holder, *own;
    enum theft how;
    bool closed, welcome;
    char why[600];
};

static void proof_of(struct thief *thief, const uint8_t *binding, char text[PROOF_TEXT_SIZE])
{
    uint8_t other[STREAM_BINDING_BYTES], digest[P256_DIGEST_BYTES] = {0}, proof[PROOF_BYTES];
    struct strbuf statement;
    struct proof_greeting greeting = {.pool = "pool",
                                      .token = thief->token,
                                      .route = "collector",
                                      .name = "",
                                      .binding = binding};
    memcpy(other, binding, sizeof other);
    other[0] ^= 1;
    if (thief->how == OTHER_CONNECTION) {
        greeting.binding = other;
    } else if (thief->how == OTHER_ROUTE) {
        greeting.route = "schedd";
    } else if (thief->how == OTHER_NAME) {
        greeting.name = "startd/wn01";
    }
    strbuf_init(&statement, 0);
    if (thief->how == RELAY_AS_GREETING) {
        proof_put_relay(&(struct proof_relay){.pool = "pool",
                                              .token = thief->token,
                                              .caller = "collector",
                                              .target = "",
                                              .instance = "",
                                              .body_digest = digest},
                        &statement);
    } else {
        proof_put_greeting(&greeting, &statement);
    }
    assert_int_equal(p256_sign(thief->how == OWN_KEY ? thief->own : thief->holder,
                               strbuf_text(&statement), statement.length, proof),
                     0);
    proof_text(proof, text);
    strbuf_fini(&statement);
}

static void thief_opened(void *arg)
{
    struct thief *thief = arg;
    uint8_t binding[STREAM_BINDING_BYTES];
    char text[PROOF_TEXT_SIZE];
    struct ad *args = ad_create();
    struct strbuf out;
    assert_true(stream_binding(thief->stream, binding));
    proof_of(thief, binding, text);
    ad_set_string(args, "Token", thief->token);
    if (thief->how != NO_PROOF) {
        ad_set_string(args, "Proof", text);
    }
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(&out, WIRE_VERSION);
    frame_put_u16(&out, WIRE_VERSION_MIN);
    frame_put_body(&out, &(struct wire_body){.args = args});
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    assert_int_equal(stream_write(thief->stream, out.data, out.length), 0);
    strbuf_fini(&out);
    ad_destroy(args);
}

static void thief_readable(void *arg)
{
    struct thief *thief = arg;
    size_t length = 0, size = 0;
    struct frame frame;
    struct frame_message message;
    const void *data = stream_input(thief->stream, &length);
    strbuf_append(&thief->input, data, length);
    stream_consume(thief->stream, length);
    if (frame_decode(thief->input.data, thief->input.length, WIRE_FRAME_MAX, &frame, &size, NULL) !=
        1) {
        return;
    }
    thief->welcome = frame.type == FRAME_WELCOME;
    assert_int_equal(frame_message_decode(frame.body, frame.body_length, &message, NULL), 0);
    (void)snprintf(thief->why, sizeof thief->why, "%s",
                   ad_string_or(message.args, "ErrorString", ""));
    frame_message_fini(&message);
    thief->closed = true;
}

static void thief_closed(void *arg, int code, const char *why)
{
    (void)code;
    (void)why;
    ((struct thief *)arg)->closed = true;
}

static void steal(struct thief *thief, enum theft how)
{
    static const struct stream_events EVENTS = {.opened = thief_opened,
                                                .readable = thief_readable,
                                                .closed = thief_closed};
    const struct stream_trust trust = {.pin = thief->world->pin};
    thief->how = how;
    thief->closed = thief->welcome = false;
    thief->why[0] = '\0';
    strbuf_init(&thief->input, 0);
    assert_int_equal(stream_connect(thief->world->loop, thief->world->tcp, "collector", &trust,
                                    &EVENTS, thief, &thief->stream, NULL),
                     0);
    world_until_flag(thief->world, &thief->closed);
    stream_close(thief->stream);
    thief->stream = NULL;
    strbuf_fini(&thief->input);
}

static void a_stolen_token_gets_nobody_in(void **state)
{
    struct world *world = *state;
    struct thief thief = {.world = world};
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ | SCOPE_ADMINISTRATOR);
    struct err err = {""};
    char *file = world_issue(world, &token);
    assert_int_equal(token_file_parse(file, &thief.token, &thief.holder, &err), 0);
    assert_int_equal(p256_make(world->loop, &thief.own), 0);
    for (int how = OWN_KEY; how < HOLDER; how++) {
        strbuf_clear(&world->log_text);
        steal(&thief, (enum theft)how);
        assert_false(thief.welcome);
        assert_non_null(strstr(thief.why, "did not prove that it holds the key of token "
                                          "'id-of-alice@pool' of alice@pool"));
        const char *line = strstr(strbuf_text(&world->log_text), " wire.refused ");
        assert_non_null(line);
        assert_non_null(strstr(line, "identity=alice@pool"));
        assert_non_null(strstr(line, "peer=tcp:127.0.0.1:"));
    }
    steal(&thief, HOLDER);
    assert_true(thief.welcome);
    p256_free(thief.holder);
    p256_free(thief.own);
    mem_free(thief.token);
    mem_free(file);
}

/* ---- token files ----------------------------------------------------------------------------- */

static void a_token_file_without_its_key_says_so_before_anything_is_sent(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct end end;
    char *line = world_issue_line(world, &token);
    world_write(world, world->token_path, line);
    world_dial(world, NULL, &end);
    assert_int_equal(end.status, -EACCES);
    assert_non_null(strstr(end.why, "the private key of the token is missing"));
    mem_free(line);
}

static void a_token_file_with_another_key_says_so(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct evp_pkey_st *key = NULL;
    struct strbuf file;
    struct end end;
    char *line = world_issue_line(world, &token);
    strbuf_init(&file, 0);
    strbuf_printf(&file, "%s\n", line);
    assert_int_equal(p256_make(world->loop, &key), 0);
    assert_int_equal(p256_put_private(key, &file), 0);
    world_write(world, world->token_path, strbuf_text(&file));
    world_dial(world, NULL, &end);
    assert_int_equal(end.status, -EACCES);
    assert_non_null(strstr(end.why, "the private key does not belong to the token"));
    p256_free(key);
    strbuf_fini(&file);
    mem_free(line);
}

static void a_token_of_another_pool_is_refused(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct end end;
    (void)snprintf(token.pool, sizeof token.pool, "elsewhere");
    world_use(world, &token);
    world_dial(world, NULL, &end);
    assert_int_equal(end.status, -EACCES);
    assert_non_null(strstr(end.why, "token is for pool 'elsewhere', this is pool 'pool'"));
}

/* ---- where no token is looked at ------------------------------------------------------------- */

struct ear {
    struct world *world;
    struct stream *stream;
    struct strbuf input;
    bool heard, over;
};

static void ear_readable(void *arg)
{
    struct ear *ear = arg;
    size_t length = 0, size = 0;
    struct frame frame;
    const void *data = stream_input(ear->stream, &length);
    strbuf_append(&ear->input, data, length);
    stream_consume(ear->stream, length);
    ear->heard =
        frame_decode(ear->input.data, ear->input.length, WIRE_FRAME_MAX, &frame, &size, NULL) == 1;
}

static void ear_opened(void *arg)
{
    (void)arg;
}

static void ear_closed(void *arg, int code, const char *why)
{
    (void)code;
    (void)why;
    ((struct ear *)arg)->over = true;
}

static void ear_incoming(void *arg, struct incoming *incoming)
{
    static const struct stream_events EVENTS = {.opened = ear_opened,
                                                .readable = ear_readable,
                                                .closed = ear_closed};
    struct ear *ear = arg;
    ear->stream = incoming_accept(incoming, ear->world->identity, &EVENTS, ear);
}

/* Everything that a caller says on that route at that address before it is answered. */
static void listen_to(struct world *world, const char *address, const char *route, bool has_token)
{
    static const struct wire_events EVENTS = {.closed = end_closed};
    struct ear ear = {.world = world};
    struct listener *listener = NULL;
    struct end end = {0};
    strbuf_init(&ear.input, 0);
    assert_int_equal(listener_create(world->loop, address, ear_incoming, &ear, &listener, NULL), 0);
    const struct wire_dial dial = {.address = listener_address(listener),
                                   .route = route,
                                   .pin = address[0] == 't' ? world->pin : NULL};
    assert_int_equal(wire_dial(world->client, &dial, &EVENTS, &end, &end.wire, NULL), 0);
    world_until_flag(world, &ear.heard);
    assert_int_equal(memmem(ear.input.data, ear.input.length, "eyJ", 3) != NULL, has_token);
    assert_null(memmem(ear.input.data, ear.input.length, "PRIVATE", 7));
    wire_close(end.wire);
    stream_close(ear.stream);
    listener_destroy(listener);
    strbuf_fini(&ear.input);
    world_turns(world);
}

static void no_token_is_offered_where_none_is_looked_at(void **state)
{
    struct world *world = *state;
    char local[160];
    world_token(world, "alice@pool", SCOPE_READ);
    (void)snprintf(local, sizeof local, "unix:%s/ear", world->dir);
    listen_to(world, "tcp:127.0.0.1:0", "collector", true);
    listen_to(world, "tcp:127.0.0.1:0", "schedd", true);
    listen_to(world, "tcp:127.0.0.1:0", "claim", false);
    listen_to(world, "tcp:127.0.0.1:0", "shadow/alice", false);
    listen_to(world, "tcp:127.0.0.1:0", "rsys/alice", false);
    listen_to(world, local, "collector", false);
    listen_to(world, local, "schedd", false);
}

/* ---- statements ------------------------------------------------------------------------------ */

#define GREETING_DIGEST "4f8949a8cd78b502c0c7ca802a79c6c065a4f4ac31ddcf196efeb563cce44361"

/* The bytes that docs/protocol/wire.md section 5.2 prints. */
static void a_statement_has_the_bytes_of_the_document(void **state)
{
    (void)state;
    struct strbuf statement;
    uint8_t binding[STREAM_BINDING_BYTES], digest[P256_DIGEST_BYTES];
    char hex[2 * P256_DIGEST_BYTES + 1];
    for (size_t i = 0; i < sizeof binding; i++) {
        binding[i] = (uint8_t)i;
    }
    strbuf_init(&statement, 0);
    proof_put_greeting(&(struct proof_greeting){.pool = "campus",
                                                .token = "e30.e30.AA",
                                                .route = "collector",
                                                .name = "startd/wn01",
                                                .binding = binding},
                       &statement);
    proof_digest(statement.data, statement.length, digest);
    text_hex(digest, sizeof digest, hex);
    assert_int_equal(statement.length, 17 + (4 + 6) + (4 + 32) + (4 + 9) + (4 + 11) + (4 + 32));
    assert_string_equal(hex, GREETING_DIGEST);
    strbuf_fini(&statement);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_stolen_token_gets_nobody_in),
        WORLD_TEST(a_token_file_without_its_key_says_so_before_anything_is_sent),
        WORLD_TEST(a_token_file_with_another_key_says_so),
        WORLD_TEST(a_token_of_another_pool_is_refused),
        WORLD_TEST(no_token_is_offered_where_none_is_looked_at),
        cmocka_unit_test(a_statement_has_the_bytes_of_the_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
