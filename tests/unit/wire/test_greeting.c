/* tests/unit/wire/test_greeting.c - who gets in: each refusal has its own message and log line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "wire/frame.h"

/* The client is refused with that text, and the log of the server has one line with the peer's
 * address, its identity and the reason. */
static void assert_refused(struct world *world, const char *name, const char *identity,
                           const char *says)
{
    struct end end;
    char who[300];
    strbuf_clear(&world->log_text);
    world_dial(world, name, &end);
    assert_false(end.ready);
    assert_int_equal(end.status, -EACCES);
    if (strstr(end.why, says) == NULL) {
        fail_msg("expected '%s', got '%s'", says, end.why);
    }
    (void)snprintf(who, sizeof who, "identity=%s", identity[0] == '\0' ? "\"\"" : identity);
    const char *line = strstr(strbuf_text(&world->log_text), " wire.refused ");
    assert_non_null(line);
    assert_non_null(strstr(line, "peer=tcp:127.0.0.1:"));
    assert_non_null(strstr(line, says));
    if (strstr(line, who) == NULL) {
        fail_msg("expected '%s' in the log: %s", who, line);
    }
    assert_null(strstr(line + 1, " wire.refused "));
    world_until_flag(world, &world->accepted[world->accepted_count - 1].closed);
    assert_int_equal(world->accepted[world->accepted_count - 1].status, -EACCES);
    assert_false(world->accepted[world->accepted_count - 1].ready);
}

static void a_missing_token_is_noticed_before_anything_is_sent(void **state)
{
    struct world *world = *state;
    struct end end;
    world_dial(world, NULL, &end);
    assert_int_equal(end.status, -EACCES);
    assert_non_null(strstr(end.why, "no token"));
    assert_non_null(strstr(end.why, world->token_path));
}

static void an_expired_token_is_refused(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    token.expires_s = world_now_s(world) - 60;
    world_use(world, &token);
    assert_refused(world, NULL, "alice@pool", "token expired at ");
}

static void a_wrongly_signed_token_is_refused(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    char dir[128], key[160], *text = NULL;
    (void)snprintf(dir, sizeof dir, "%s/other", world->dir);
    (void)snprintf(key, sizeof key, "%s/k1.key", dir);
    assert_int_equal(os_mkdirs(world->os, dir, 0700, NULL), 0);
    assert_int_equal(token_key_make(world->os, world->loop, dir, "k1", NULL), 0);
    assert_int_equal(token_issue_file(world->os, world->loop, key, "k1", &token, &text, NULL), 0);
    world_write(world, world->token_path, text);
    mem_free(text);
    assert_refused(world, NULL, "", "token signature is wrong");
}

static void a_token_of_an_unknown_key_is_refused(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    char *text = NULL;
    assert_int_equal(token_issue_file(world->os, world->loop, world->key_path, "k9", &token, &text,
                                      NULL),
                     0);
    world_write(world, world->token_path, text);
    mem_free(text);
    assert_refused(world, NULL, "", "token is signed with unknown key 'k9'");
}

static void rubbish_for_a_token_is_noticed_before_anything_is_sent(void **state)
{
    struct world *world = *state;
    struct end end;
    world_write(world, world->token_path, "rubbish");
    world_dial(world, NULL, &end);
    assert_int_equal(end.status, -EACCES);
    assert_non_null(strstr(end.why, "malformed token"));
}

static void a_revoked_token_is_refused(void **state)
{
    struct world *world = *state;
    world_token(world, "alice@pool", SCOPE_READ);
    wire_context_revoke(world->server, "id-of-alice@pool");
    assert_true(wire_context_is_revoked(world->server, "id-of-alice@pool"));
    assert_refused(world, NULL, "alice@pool", "token revoked (id 'id-of-alice@pool'");
}

static void a_token_too_weak_for_the_name_it_claims_is_refused(void **state)
{
    struct world *world = *state;
    world_token(world, "alice@pool", SCOPE_READ | SCOPE_WRITE);
    assert_refused(world, "startd/wn01", "alice@pool",
                   "token is too weak: name 'startd/wn01' needs ADVERTISE");
    assert_refused(world, "schedd/a", "alice@pool", "name 'schedd/a' needs SCHEDD");
    assert_refused(world, "rooster/a", "alice@pool", "name 'rooster/a' needs ROOSTER");
    assert_refused(world, "master/a", "alice@pool", "needs ADVERTISE,MASTER");
    assert_refused(world, "other/a", "alice@pool", "needs ADMINISTRATOR");
    world_token(world, "schedd@pool", SCOPE_SCHEDD);
    assert_refused(world, "negotiator/a", "schedd@pool", "needs NEGOTIATOR");
    assert_refused(world, "startd/wn01", "schedd@pool", "needs ADVERTISE");
    assert_refused(world, "rooster/a", "schedd@pool", "needs ROOSTER");
    struct token named = world_token_of(world, "schedd@pool", SCOPE_SCHEDD);
    (void)snprintf(named.pattern, sizeof named.pattern, "submit1");
    world_use(world, &named);
    assert_refused(world, "schedd/submit2", "schedd@pool",
                   "its name pattern 'submit1' does not allow name 'schedd/submit2'");
}

static void a_token_whose_pattern_forbids_the_name_is_refused(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "glidein@pool", SCOPE_ADVERTISE);
    struct end end;
    (void)snprintf(token.pattern, sizeof token.pattern, "glidein-*");
    world_use(world, &token);
    assert_refused(world, "startd/wn01", "glidein@pool",
                   "its name pattern 'glidein-*' does not allow name 'startd/wn01'");
    world_dial(world, "startd/glidein-7", &end);
    assert_true(end.ready);
    const struct wire_peer *peer = wire_peer(world->accepted[1].wire);
    assert_string_equal(peer->name, "startd/glidein-7");
    assert_true(wire_peer_may_advertise(peer, "slot1@GLIDEIN-7"));
    assert_false(wire_peer_may_advertise(peer, "slot1@wn01"));
    assert_false(wire_peer_may_advertise(peer, "glidein-7@wn01"));
}

static void a_name_with_blanks_is_refused(void **state)
{
    struct world *world = *state;
    world_token(world, "schedd@pool", SCOPE_SCHEDD);
    assert_refused(world, "schedd/a b", "schedd@pool", "blanks or control characters");
}

static void a_good_token_gets_in_with_its_identity_and_scopes(void **state)
{
    struct world *world = *state;
    struct end end;
    world_token(world, "schedd@pool", SCOPE_SCHEDD | SCOPE_READ);
    world_dial(world, "schedd/submit.example", &end);
    assert_true(end.ready);
    assert_true(wire_is_ready(end.wire));
    const struct wire_peer *peer = wire_peer(world->accepted[0].wire);
    assert_string_equal(peer->identity, "schedd@pool");
    assert_int_equal(peer->scopes, SCOPE_SCHEDD | SCOPE_READ);
    assert_string_equal(peer->token_id, "id-of-schedd@pool");
    assert_string_equal(peer->name, "schedd/submit.example");
    assert_false(peer->has_uid);
    assert_false(peer->relayed);
    assert_int_equal(strncmp(peer->address, "tcp:127.0.0.1:", 14), 0);
    assert_int_equal(wire_peer(end.wire)->scopes, 0); /* a server has only what we give it */
    assert_null(strstr(strbuf_text(&world->log_text), "wire.refused"));
}

static void a_revoked_token_loses_its_live_connections_and_only_its_own(void **state)
{
    struct world *world = *state;
    struct end alice, bob;
    world_connect(world, "alice@pool", SCOPE_READ, &alice);
    world_connect(world, "bob@pool", SCOPE_READ, &bob);
    wire_context_revoke(world->server, "id-of-alice@pool");
    assert_false(world->accepted[0].closed); /* told later, never inside */
    world_until_flag(world, &alice.closed);
    world_until_flag(world, &world->accepted[0].closed);
    assert_int_equal(world->accepted[0].status, -EKEYREVOKED);
    assert_int_equal(alice.status, -EKEYREVOKED);
    assert_non_null(strstr(alice.why, "token revoked"));
    assert_non_null(strstr(strbuf_text(&world->log_text), " wire.revoked "));
    world_turns(world);
    assert_false(bob.closed);
}

static void a_key_that_was_added_later_is_found(void **state)
{
    struct world *world = *state;
    struct token token = world_token_of(world, "alice@pool", SCOPE_READ);
    struct end end;
    char key2[160], *text = NULL;
    (void)snprintf(key2, sizeof key2, "%s/k2.key", world->keys);
    assert_int_equal(token_key_make(world->os, world->loop, world->keys, "k2", NULL), 0);
    assert_int_equal(token_issue_file(world->os, world->loop, key2, "k2", &token, &text, NULL), 0);
    world_write(world, world->token_path, text);
    mem_free(text);
    /* The server reads its keys again at most every 2 s: until then the client dials in vain. */
    do {
        world->accepted_count = 0;
        world_dial(world, NULL, &end);
        if (end.closed) {
            world_until_flag(world, &world->accepted[0].closed);
        }
        assert_true(end.ready || strstr(end.why, "unknown key 'k2'") != NULL);
    } while (!end.ready);
}

/* ---- Unix sockets ---------------------------------------------------------------------------- */

static void a_user_of_the_machine_needs_no_token_and_may_read_and_write(void **state)
{
    struct world *world = *state;
    struct end end;
    char user[200], identity[256];
    world_dial_as(world, world->client, world->local, NULL, NULL, &end);
    world_until(world, end_settled, &end);
    assert_true(end.ready);
    const struct wire_peer *peer = wire_peer(world->accepted[0].wire);
    assert_int_equal(os_user_name(world->os, getuid(), user, sizeof user, NULL), 0);
    (void)snprintf(identity, sizeof identity, "%s@domain", user);
    assert_string_equal(peer->identity, identity);
    assert_true(peer->has_uid);
    assert_int_equal(peer->uid, getuid());
    assert_string_equal(peer->token_id, "");
    if (getuid() != 0) {
        assert_int_equal(peer->scopes, SCOPE_READ | SCOPE_WRITE);
    }
}

static void root_and_the_pools_administrator_may_everything_over_a_unix_socket(void **state)
{
    (void)state;
    struct world *world = calloc(1, sizeof *world);
    struct end end;
    world_start(world, getuid());
    world_dial_as(world, world->client, world->local, "schedd/a", NULL, &end);
    world_until(world, end_settled, &end);
    assert_true(end.ready);
    assert_int_equal(wire_peer(world->accepted[0].wire)->scopes,
                     SCOPE_READ | SCOPE_WRITE | SCOPE_ADVERTISE | SCOPE_SCHEDD | SCOPE_ROOSTER |
                         SCOPE_MASTER | SCOPE_NEGOTIATOR | SCOPE_FACTORY | SCOPE_ADMINISTRATOR);
    world_end(world);
    free(world);
}

static void a_token_is_not_looked_at_over_a_unix_socket(void **state)
{
    struct world *world = *state;
    struct end end;
    world_write(world, world->token_path, "rubbish");
    world_dial_as(world, world->client, world->local, NULL, NULL, &end);
    world_until(world, end_settled, &end);
    assert_true(end.ready);
    const struct wire_peer *peer = wire_peer(world->accepted[0].wire);
    assert_true(peer->has_uid);
    uint32_t before = peer->scopes;
    world_token(world, "root@pool", SCOPE_NEGOTIATOR | SCOPE_SCHEDD);
    world_dial_as(world, world->client, world->local, NULL, NULL, &end);
    world_until(world, end_settled, &end);
    assert_true(end.ready);
    peer = wire_peer(world->accepted[1].wire);
    assert_int_equal(peer->scopes, before);
    assert_string_equal(peer->token_id, "");
}

/* ---- admission ------------------------------------------------------------------------------- */

static int admit_nonce(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                       struct err *err)
{
    (void)arg;
    assert_string_equal(peer->identity, "");
    if (strcmp(wire_hello_secret(hello, SECRET_NONCE), "right") != 0) {
        return err_set(err, -EACCES, "no job waits for this starter");
    }
    return 0;
}

static void dial_hello(struct world *world, const char *nonce, struct end *end)
{
    static const struct wire_events EVENTS = {.ready = end_ready, .closed = end_closed};
    const struct wire_secret secret = {SECRET_NONCE, SECRET_OF_ARGS, nonce};
    struct wire_dial dial = {.address = world->tcp,
                             .route = "claim",
                             .pin = world->pin,
                             .secrets = &secret,
                             .secret_count = 1};
    *end = (struct end){0};
    assert_int_equal(wire_dial(world->client, &dial, &EVENTS, end, &end->wire, NULL), 0);
    world_until(world, end_settled, end);
}

static void who_is_admitted_by_its_nonce_needs_no_token(void **state)
{
    struct world *world = *state;
    struct end end;
    world->how =
        (struct wire_accept){.no_token = true, .scopes = SCOPE_ADVERTISE, .admit = admit_nonce};
    dial_hello(world, "wrong", &end);
    assert_int_equal(end.status, -EACCES);
    assert_non_null(strstr(end.why, "no job waits for this starter"));
    assert_non_null(strstr(strbuf_text(&world->log_text), "no job waits for this starter"));
    dial_hello(world, "right", &end);
    assert_true(end.ready);
    assert_int_equal(wire_peer(world->accepted[1].wire)->scopes, SCOPE_ADVERTISE);
}

/* ---- rubbish before the greeting ------------------------------------------------------------- */

struct raw {
    struct stream *stream;
    struct strbuf input;
    bool opened, closed;
};

static void raw_opened(void *arg)
{
    ((struct raw *)arg)->opened = true;
}

static void raw_readable(void *arg)
{
    struct raw *raw = arg;
    size_t length = 0;
    const void *data = stream_input(raw->stream, &length);
    strbuf_append(&raw->input, data, length);
    stream_consume(raw->stream, length);
}

static void raw_closed(void *arg, int code, const char *why)
{
    struct raw *raw = arg;
    (void)code;
    (void)why;
    raw->closed = true;
    stream_close(raw->stream);
    raw->stream = NULL;
}

static const struct stream_events RAW_EVENTS = {.opened = raw_opened,
                                                .readable = raw_readable,
                                                .closed = raw_closed};

static void raw_send(struct world *world, struct raw *raw, const void *data, size_t length)
{
    struct stream_trust trust = {.pin = world->pin};
    *raw = (struct raw){0};
    strbuf_init(&raw->input, 0);
    assert_int_equal(stream_connect(world->loop, world->tcp, "collector", &trust, &RAW_EVENTS, raw,
                                    &raw->stream, NULL),
                     0);
    assert_int_equal(stream_write(raw->stream, data, length), 0);
    world_until_flag(world, &raw->closed);
}

static void rubbish_is_dropped_with_one_line_and_the_others_go_on(void **state)
{
    struct world *world = *state;
    struct end good;
    struct raw raw;
    world_connect(world, "alice@pool", SCOPE_READ, &good);
    strbuf_clear(&world->log_text);
    raw_send(world, &raw, "GET / HTTP/1.1\r\nHost: pool\r\n\r\n", 30);
    const char *line = strstr(strbuf_text(&world->log_text), " wire.dropped ");
    assert_non_null(line);
    assert_null(strstr(line + 1, " wire.dropped "));
    strbuf_fini(&raw.input);
    world_turns(world);
    assert_false(good.closed);
    assert_true(wire_is_ready(good.wire));
}

static void a_request_before_the_greeting_is_rubbish(void **state)
{
    struct world *world = *state;
    struct raw raw;
    struct strbuf out;
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_REQUEST, 0, VERB_PING, 1);
    frame_put_u32(&out, 0);
    frame_put_body(&out, NULL);
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    raw_send(world, &raw, out.data, out.length);
    assert_non_null(strstr(strbuf_text(&world->log_text), "frame of type 4 before the greeting"));
    strbuf_fini(&raw.input);
    strbuf_fini(&out);
}

static void a_stranger_cannot_announce_a_large_frame(void **state)
{
    struct world *world = *state;
    struct raw raw;
    raw_send(world, &raw, "\x00\x00\x02\x00", 4); /* 128 KiB, of which nothing is waited for */
    assert_non_null(strstr(strbuf_text(&world->log_text), "frame of 131076 bytes, limit 8192"));
    strbuf_fini(&raw.input);
}

static void a_caller_of_another_version_is_told_both(void **state)
{
    struct world *world = *state;
    struct raw raw;
    struct strbuf out;
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(&out, 9);
    frame_put_u16(&out, 8);
    frame_put_body(&out, NULL);
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    raw_send(world, &raw, out.data, out.length);
    struct frame frame;
    struct frame_message message;
    size_t size = 0;
    assert_int_equal(frame_decode(raw.input.data, raw.input.length, WIRE_FRAME_MAX, &frame, &size,
                                  NULL),
                     1);
    assert_int_equal(frame.type, FRAME_REFUSED);
    assert_int_equal(frame_message_decode(frame.body, frame.body_length, &message, NULL), 0);
    assert_int_equal(ad_int_or(message.args, "ErrorCode", 0), -EPROTONOSUPPORT);
    assert_string_equal(ad_string_or(message.args, "ErrorString", ""),
                        "protocol version mismatch: the peer supports 8 to 9, this daemon 2 to 2");
    frame_message_fini(&message);
    strbuf_fini(&raw.input);
    strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_missing_token_is_noticed_before_anything_is_sent),
        WORLD_TEST(an_expired_token_is_refused),
        WORLD_TEST(a_wrongly_signed_token_is_refused),
        WORLD_TEST(a_token_of_an_unknown_key_is_refused),
        WORLD_TEST(rubbish_for_a_token_is_noticed_before_anything_is_sent),
        WORLD_TEST(a_revoked_token_is_refused),
        WORLD_TEST(a_token_too_weak_for_the_name_it_claims_is_refused),
        WORLD_TEST(a_token_whose_pattern_forbids_the_name_is_refused),
        WORLD_TEST(a_name_with_blanks_is_refused),
        WORLD_TEST(a_good_token_gets_in_with_its_identity_and_scopes),
        WORLD_TEST(a_revoked_token_loses_its_live_connections_and_only_its_own),
        WORLD_TEST(a_key_that_was_added_later_is_found),
        WORLD_TEST(a_user_of_the_machine_needs_no_token_and_may_read_and_write),
        cmocka_unit_test(root_and_the_pools_administrator_may_everything_over_a_unix_socket),
        WORLD_TEST(a_token_is_not_looked_at_over_a_unix_socket),
        WORLD_TEST(who_is_admitted_by_its_nonce_needs_no_token),
        WORLD_TEST(rubbish_is_dropped_with_one_line_and_the_others_go_on),
        WORLD_TEST(a_request_before_the_greeting_is_rubbish),
        WORLD_TEST(a_stranger_cannot_announce_a_large_frame),
        WORLD_TEST(a_caller_of_another_version_is_told_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
