/* tests/unit/wire/test_wire.c - calls: answers, parts, windows, cancel, deadlines, the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "wire/wire_private.h"

#define ANYBODY (SCOPE_READ | SCOPE_WRITE)

/* What a caller was told. */
struct answer {
    unsigned calls, parts;
    bool done;
    int status;
    char text[200];
    int64_t number;
    size_t ads, bytes;
    struct wire *close_in_callback;
};

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->calls++;
    answer->parts += reply->more;
    answer->done = !reply->more;
    answer->status = reply->status;
    (void)snprintf(answer->text, sizeof answer->text, "%s", reply->text);
    answer->ads += reply->ad_count;
    answer->bytes += reply->blob_length;
    if (reply->args != NULL) {
        answer->number = ad_int_or(reply->args, "Number", 0);
    }
    if (answer->close_in_callback != NULL) {
        wire_close(answer->close_in_callback);
        answer->close_in_callback = NULL;
    }
}

#define NEVER_MS 600000 /* longer than any test */

/* Answers QUERY with Number + 1, the ads and the blob as they came; keeps SUBMIT unanswered. */
struct server {
    struct world *world;
    struct wire_request *kept[8];
    size_t kept_count;
    unsigned requests, gone, drained;
    size_t parts_sent, part_bytes;
    char identity[256];
    bool close_in_handler;
};

static void echo(struct wire_request *request)
{
    const struct ad *ads[WIRE_ADS_MAX];
    struct ad *args = ad_create();
    struct wire_body body = {.args = args, .ads = ads};
    ad_set_int(args, "Number", ad_int_or(wire_request_args(request), "Number", 0) + 1);
    body.ad_count = wire_request_ad_count(request);
    for (size_t i = 0; i < body.ad_count; i++) {
        ads[i] = wire_request_ad(request, i);
    }
    body.blob = wire_request_blob(request, &body.blob_length);
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void on_gone(void *arg)
{
    ((struct server *)arg)->gone++;
}

static void on_request(void *arg, struct wire_request *request)
{
    struct server *server = arg;
    server->requests++;
    (void)snprintf(server->identity, sizeof server->identity, "%s",
                   wire_request_peer(request)->identity);
    if (server->close_in_handler) {
        wire_close(wire_request_wire(request));
        server->world->accepted[0].wire = NULL;
    }
    if (wire_request_verb(request) == VERB_QUERY) {
        echo(request);
    } else if (wire_request_verb(request) == VERB_ACT) {
        wire_reply_error(request, -EPERM, "not your %s", "job");
    } else {
        server->kept[server->kept_count++] = request;
    }
}

static void serve(struct world *world, struct server *server)
{
    *server = (struct server){.world = world};
    world->handler = on_request;
    world->handler_arg = server;
}

static int64_t ask(struct wire *wire, enum wire_verb verb, int64_t number, struct answer *answer)
{
    struct ad *args = ad_create();
    struct wire_body body = {.args = args};
    ad_set_int(args, "Number", number);
    *answer = (struct answer){0};
    int64_t id = wire_call(wire, verb, &body, 0, on_answer, answer);
    assert_int_equal(answer->calls, 0); /* never inside */
    ad_destroy(args);
    return id;
}

static bool has_kept(void *arg)
{
    return ((struct server *)arg)->kept_count > 0;
}

static bool has_kept_two(void *arg)
{
    return ((struct server *)arg)->kept_count > 1;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void a_call_gets_its_answer_with_ads_and_blob(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer = {0};
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    struct ad *ad = ad_create();
    ad_set_string(ad, "Name", "wn01");
    const struct ad *ads[] = {ad, ad, ad};
    struct wire_body body = {.ads = ads, .ad_count = 3, .blob = "bytes", .blob_length = 5};
    assert_true(wire_call(end.wire, VERB_QUERY, &body, 0, on_answer, &answer) > 0);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_string_equal(answer.text, "");
    assert_int_equal(answer.ads, 3);
    assert_int_equal(answer.bytes, 5);
    assert_int_equal(answer.number, 1);
    assert_string_equal(server.identity, "alice@pool");
    ad_destroy(ad);
}

static void many_calls_at_once_each_get_their_own_answer_in_order_of_arrival(void **state)
{
    struct world *world = *state;
    struct server server;
    struct end end;
    struct answer *answers = calloc(1000, sizeof *answers);
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(ask(end.wire, VERB_QUERY, i, &answers[i]), i + 1);
    }
    world_until_flag(world, &answers[999].done);
    for (int64_t i = 0; i < 1000; i++) {
        assert_true(answers[i].done);
        assert_int_equal(answers[i].number, i + 1);
    }
    free(answers);
}

static void both_sides_may_call(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    struct end end;
    serve(world, &(struct server){0});
    world_connect(world, "alice@pool", ANYBODY, &end);
    world_until_flag(world, &world->accepted[0].ready);
    /* The client has no handler and gives the server no scopes. */
    assert_true(ask(world->accepted[0].wire, VERB_PING, 5, &answer) > 0);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.number, 5);
    (void)ask(world->accepted[0].wire, VERB_POWER_DOWN, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    world->handler = NULL;
}

static void an_answered_call_leaves_no_timer_behind(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct end end;
    world_connect(world, "alice@pool", ANYBODY, &end);
    assert_true(wire_call(end.wire, VERB_PING, NULL, WIRE_NO_DEADLINE, on_answer, &answer) > 0);
    for (int i = 0; i < 2; i++) { /* with a call without a deadline on its way, and without */
        (void)ask(end.wire, VERB_PING, 0, &answer);
        assert_true(loop_timer_is_set(end.wire->deadlines));
        world_until_flag(world, &answer.done);
        assert_false(loop_timer_is_set(end.wire->deadlines));
    }
}

static void a_refusal_comes_with_its_text(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_ACT, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EPERM);
    assert_string_equal(answer.text, "not your job");
    const char *line = strstr(strbuf_text(&world->log_text), " wire.denied ");
    assert_true(line != NULL && strstr(line, "peer=tcp:127.0.0.1:") != NULL);
    assert_non_null(strstr(line, "identity=alice@pool"));
    assert_non_null(strstr(line, "verb=ACT"));
    assert_non_null(strstr(line, "not your job"));
}

static void a_verb_that_needs_more_than_the_token_has_never_reaches_the_handler(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", SCOPE_READ, &end);
    (void)ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    assert_string_equal(answer.text,
                        "token is too weak: SUBMIT needs WRITE,ADMINISTRATOR; alice@pool has READ");
    assert_int_equal(server.requests, 0);
    const char *line = strstr(strbuf_text(&world->log_text), " wire.denied ");
    assert_non_null(line);
    assert_non_null(strstr(line, "peer=tcp:127.0.0.1:"));
    assert_non_null(strstr(line, "identity=alice@pool"));
    assert_non_null(strstr(line, "SUBMIT needs WRITE"));
}

static void who_answers_nothing_says_so(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct end end;
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_QUERY, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -ENOSYS);
}

static void a_big_blob_arrives_whole(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer = {0};
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    size_t size = (size_t)9 << 20; /* more than a stream holds unread */
    char *bytes = calloc(1, size);
    struct wire_body body = {.blob = bytes, .blob_length = size};
    assert_true(wire_call(end.wire, VERB_QUERY, &body, 0, on_answer, &answer) > 0);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.bytes, size);
    free(bytes);
}

static void a_message_larger_than_a_frame_is_refused_at_home(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer = {0};
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    char *bytes = calloc(1, WIRE_FRAME_MAX);
    struct wire_body body = {.blob = bytes, .blob_length = WIRE_FRAME_MAX};
    assert_int_equal(wire_call(end.wire, VERB_QUERY, &body, 0, on_answer, &answer), -EMSGSIZE);
    (void)ask(end.wire, VERB_QUERY, 7, &answer); /* the connection is as it was */
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.number, 8);
    free(bytes);
}

/* ---- parts and windows ----------------------------------------------------------------------- */

static void stream_more(void *arg)
{
    struct server *server = arg;
    static char bytes[100000];
    struct wire_body body = {.blob = bytes, .blob_length = server->part_bytes};
    server->drained++;
    while (server->parts_sent < 100) {
        server->parts_sent++;
        if (!wire_reply_part(server->kept[0], &body)) {
            return;
        }
    }
    wire_reply_ok(server->kept[0], NULL);
}

static void parts_stop_when_the_window_is_full_and_go_on_when_it_opens(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer;
    struct end end;
    serve(world, &server);
    server.part_bytes = 100000;
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until(world, has_kept, &server);
    wire_request_on_drained(server.kept[0], stream_more, &server);
    stream_more(&server);
    assert_int_equal(server.parts_sent, 2); /* more than twice STREAM_DRAINED is not kept here */
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.parts, 100);
    assert_int_equal(answer.bytes, 100 * 100000);
    assert_true(server.drained > 5);
}

static void a_part_too_large_ends_the_answer_not_the_server(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until(world, has_kept, &server);
    char *bytes = calloc(1, WIRE_FRAME_MAX);
    struct wire_body body = {.blob = bytes, .blob_length = WIRE_FRAME_MAX};
    assert_true(wire_reply_part(server.kept[0], &body));
    assert_true(wire_reply_part(server.kept[0], NULL));
    wire_reply_ok(server.kept[0], NULL);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EMSGSIZE);
    assert_int_equal(answer.calls, 1);
    world_turns(world);
    assert_int_equal(answer.calls, 1);
    free(bytes);
}

/* ---- cancel, deadline, limits ---------------------------------------------------------------- */

static bool has_gone(void *arg)
{
    return ((struct server *)arg)->gone > 0;
}

static void a_cancelled_call_is_not_answered_and_its_handler_is_told(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer, other;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    int64_t id = ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until(world, has_kept, &server);
    wire_request_on_gone(server.kept[0], on_gone, &server);
    wire_cancel(end.wire, id);
    world_until(world, has_gone, &server);
    (void)ask(end.wire, VERB_QUERY, 1, &other);
    world_until_flag(world, &other.done);
    assert_int_equal(answer.calls, 0);
    assert_int_equal(server.gone, 1);
}

static void a_handler_that_does_not_ask_may_answer_a_cancelled_call_in_vain(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer, other;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    int64_t id = ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until(world, has_kept, &server);
    wire_cancel(end.wire, id);
    (void)ask(end.wire, VERB_QUERY, 1, &other);
    world_until_flag(world, &other.done);
    wire_reply_ok(server.kept[0], NULL);
    (void)ask(end.wire, VERB_QUERY, 2, &other);
    world_until_flag(world, &other.done);
    assert_int_equal(answer.calls, 0);
    assert_false(end.closed);
}

static void a_call_without_an_answer_ends_at_its_deadline(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer late = {0}, later = {0}, other;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    uint64_t start_ms = loop_now_ms(world->loop);
    assert_true(wire_call(end.wire, VERB_SUBMIT, NULL, NEVER_MS, on_answer, &later) > 0);
    world_until(world, has_kept, &server);
    assert_true(wire_call(end.wire, VERB_SUBMIT, NULL, 30, on_answer, &late) > 0);
    world_until_flag(world, &late.done);
    assert_true(loop_now_ms(world->loop) - start_ms >= 30);
    assert_int_equal(late.status, -ETIMEDOUT);
    assert_false(later.done); /* its own deadline counts */
    world_until(world, has_kept_two, &server);
    wire_reply_ok(server.kept[1], NULL); /* too late, and no harm */
    wire_reply_ok(server.kept[0], NULL);
    world_until_flag(world, &later.done);
    assert_int_equal(later.status, 0);
    (void)ask(end.wire, VERB_QUERY, 2, &other);
    world_until_flag(world, &other.done);
    assert_int_equal(late.calls, 1);
    assert_false(end.closed);
}

static void more_calls_than_allowed_are_refused_at_home(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    struct end end;
    world_connect(world, "alice@pool", ANYBODY, &end);
    for (int i = 0; i < WIRE_REQUESTS_MAX; i++) {
        assert_true(wire_call(end.wire, VERB_PING, NULL, 0, on_answer, &answer) > 0);
    }
    assert_int_equal(wire_call(end.wire, VERB_PING, NULL, 0, on_answer, &answer), -EBUSY);
}

static void bytes_of_unanswered_requests_are_limited(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answers[5] = {{0}};
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    size_t size = (size_t)4800 << 10;
    char *bytes = calloc(1, size);
    struct wire_body body = {.blob = bytes, .blob_length = size};
    for (size_t i = 0; i < 5; i++) { /* the fifth is above 20 MiB */
        assert_true(wire_call(end.wire, VERB_SUBMIT, &body, 0, on_answer, &answers[i]) > 0);
        while (server.kept_count <= i && !answers[i].done) {
            world_turns(world);
        }
    }
    assert_int_equal(server.kept_count, 4);
    assert_int_equal(answers[4].status, -EBUSY);
    for (size_t i = 0; i < 4; i++) {
        wire_reply_ok(server.kept[i], NULL);
    }
    world_until_flag(world, &answers[3].done);
    answers[4] = (struct answer){0};
    assert_true(wire_call(end.wire, VERB_SUBMIT, &body, 0, on_answer, &answers[4]) > 0);
    while (server.kept_count < 5) {
        world_turns(world);
    }
    wire_reply_ok(server.kept[4], NULL);
    free(bytes);
}

static void a_cancel_that_crosses_the_answer_wins_at_the_caller(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer, other;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    wire_cancel(end.wire, ask(end.wire, VERB_QUERY, 0, &answer));
    (void)ask(end.wire, VERB_QUERY, 1, &other);
    world_until_flag(world, &other.done);
    assert_int_equal(server.requests, 2); /* it was answered before the cancel came */
    assert_int_equal(answer.calls, 0);
}

static void a_handler_is_told_when_the_callers_deadline_is_over(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer = {0};
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    assert_true(wire_call(end.wire, VERB_SUBMIT, NULL, 100, on_answer, &answer) > 0);
    world_until(world, has_kept, &server);
    wire_request_on_gone(server.kept[0], on_gone, &server);
    world_until(world, has_gone, &server);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -ETIMEDOUT);
}

struct ticker {
    struct server *server;
    struct loop_timer *timer;
    unsigned ticks;
};

static void tick_part(void *arg)
{
    struct ticker *ticker = arg;
    if (++ticker->ticks < 15) {
        (void)wire_reply_part(ticker->server->kept[0], NULL);
        loop_timer_set(ticker->timer, 40);
    } else {
        wire_reply_ok(ticker->server->kept[0], NULL);
    }
}

static void each_part_gives_the_deadline_anew(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer = {0};
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    struct ticker ticker = {.server = &server};
    ticker.timer = loop_timer_create(world->loop, tick_part, &ticker);
    assert_true(wire_call(end.wire, VERB_SUBMIT, NULL, 400, on_answer, &answer) > 0);
    world_until(world, has_kept, &server);
    loop_timer_set(ticker.timer, 0); /* 560 ms in all */
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.parts, 14);
    loop_timer_destroy(ticker.timer);
}

/* ---- a peer that does not read --------------------------------------------------------------- */

static void nothing(void *arg)
{
    (void)arg;
}

static void mute_closed(void *arg, int code, const char *why)
{
    (void)code;
    (void)why;
    *(bool *)arg = true;
}

static void a_peer_that_does_not_read_is_dropped_before_it_fills_the_memory(void **state)
{
    static const struct stream_events MUTE = {.opened = nothing,
                                              .readable = nothing,
                                              .closed = mute_closed};
    struct world *world = *state;
    struct stream_trust trust = {0};
    struct stream *stream = NULL;
    struct answer answer = {0};
    struct strbuf out;
    bool closed = false;
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(&out, WIRE_VERSION);
    frame_put_u16(&out, WIRE_VERSION_MIN);
    frame_put_body(&out, NULL);
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    assert_int_equal(stream_connect(world->loop, world->local, "collector", &trust, &MUTE, &closed,
                                    &stream, NULL),
                     0);
    stream_pause(stream, true);
    assert_int_equal(stream_write(stream, out.data, out.length), 0);
    world_until_flag(world, &world->accepted[0].ready);
    size_t size = (size_t)8 << 20;
    char *bytes = calloc(1, size);
    struct wire_body body = {.blob = bytes, .blob_length = size};
    int64_t id = 1;
    for (int i = 0; i < 7; i++) {
        assert_true(wire_call(world->accepted[0].wire, VERB_PING, &body, 0, on_answer, &answer) >
                    0);
    }
    assert_true(wire_is_ready(world->accepted[0].wire)); /* 56 MiB may wait */
    for (int i = 0; i < 3 && id > 0; i++) {
        id = wire_call(world->accepted[0].wire, VERB_PING, &body, 0, on_answer, &answer);
    }
    assert_int_equal(id, -ENOTCONN);
    world_until_flag(world, &world->accepted[0].closed);
    assert_int_equal(world->accepted[0].status, -ENOBUFS);
    assert_non_null(strstr(strbuf_text(&world->log_text), "the peer does not read"));
    stream_close(stream);
    strbuf_fini(&out);
    free(bytes);
}

static void a_request_number_used_twice_is_a_fault(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct end end;
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_PING, 0, &answer);
    world_until_flag(world, &answer.done);
    end.wire->last_call = 0;
    (void)ask(end.wire, VERB_PING, 0, &answer);
    world_until_flag(world, &end.closed);
    assert_int_equal(end.status, -EPROTO);
    assert_non_null(strstr(strbuf_text(&world->log_text), "unexpected request number 1 after 1"));
}

/* ---- the end --------------------------------------------------------------------------------- */

static void when_a_wire_dies_all_its_calls_are_told(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answers[3];
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    for (size_t i = 0; i < 3; i++) {
        (void)ask(end.wire, VERB_SUBMIT, 0, &answers[i]);
    }
    world_until(world, has_kept, &server);
    wire_close(world->accepted[0].wire);
    world->accepted[0].wire = NULL;
    world_until_flag(world, &end.closed);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(answers[i].calls, 1);
        assert_int_equal(answers[i].status, -ECONNRESET);
    }
    assert_false(world->accepted[0].closed); /* who closes is not called back */
    for (size_t i = 0; i < server.kept_count; i++) {
        assert_null(wire_request_wire(server.kept[i]));
        wire_reply_ok(server.kept[i], NULL);
    }
}

static void closing_tells_the_calls_later_and_the_owner_nothing(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until(world, has_kept, &server);
    wire_request_on_gone(server.kept[0], on_gone, &server);
    wire_close(end.wire);
    assert_int_equal(answer.calls, 0);
    assert_int_equal(wire_call(end.wire, VERB_PING, NULL, 0, on_answer, &answer), -ENOTCONN);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -ECONNRESET);
    assert_false(end.closed);
    world_until(world, has_gone, &server);
    world_until_flag(world, &world->accepted[0].closed);
    world_turns(world);
    assert_null(world->client->first); /* both ends are freed, not kept for the context's end */
    assert_null(world->server->first);
}

static void a_wire_may_be_closed_in_an_answer_and_in_a_handler(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer first, second;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_QUERY, 0, &first);
    (void)ask(end.wire, VERB_QUERY, 0, &second);
    first.close_in_callback = end.wire;
    world_until_flag(world, &second.done);
    assert_int_equal(first.status, 0);
    assert_int_equal(second.status, -ECONNRESET);

    world_until_flag(world, &world->accepted[0].closed);
    world->accepted_count = 0;
    world_connect(world, "alice@pool", ANYBODY, &end);
    server.close_in_handler = true;
    (void)ask(end.wire, VERB_QUERY, 0, &first);
    world_until_flag(world, &end.closed);
    assert_int_equal(first.status, -ECONNRESET);
}

static void finishing_sends_what_is_queued_first(void **state)
{
    struct world *world = *state;
    struct server server;
    struct answer answer;
    struct end end;
    serve(world, &server);
    world_connect(world, "alice@pool", ANYBODY, &end);
    (void)ask(end.wire, VERB_SUBMIT, 0, &answer);
    world_until(world, has_kept, &server);
    wire_reply_ok(server.kept[0], NULL);
    wire_finish(world->accepted[0].wire);
    world->accepted[0].wire = NULL;
    world_until_flag(world, &end.closed);
    assert_int_equal(answer.calls, 1);
    assert_int_equal(answer.status, 0);
    assert_int_equal(end.status, 0);
}

static void count_at_end(void *arg, struct wire_request *request)
{
    struct end *end = arg;
    end->handled++;
    wire_reply_ok(request, NULL);
}

static void what_was_sent_before_the_end_is_handled_however_much_it_is(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    struct end end;
    world_token(world, "alice@pool", ANYBODY);
    world_dial_as(world, world->client, world->tcp, NULL, count_at_end, &end);
    world_until_flag(world, &end.ready);
    world_until_flag(world, &world->accepted[0].ready);
    for (int i = 0; i < 2000; i++) {
        assert_true(
            wire_call(world->accepted[0].wire, VERB_JOB_USAGE, NULL, 0, on_answer, &answer) > 0);
    }
    wire_finish(world->accepted[0].wire);
    world->accepted[0].wire = NULL;
    world_until_flag(world, &end.closed);
    assert_int_equal(end.handled, 2000);
}

static void a_dialled_server_may_ask_what_it_was_given(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct end end = {0};
    struct wire_events events = {.ready = end_ready, .request = count_at_end, .closed = end_closed};
    struct wire_dial dial = {.address = world->tcp,
                             .route = "collector",
                             .pin = world->pin,
                             .server_scopes = SCOPE_SCHEDD};
    world_token(world, "startd@pool", SCOPE_ADVERTISE);
    assert_int_equal(wire_dial(world->client, &dial, &events, &end, &end.wire, NULL), 0);
    world_until_flag(world, &end.ready);
    world_until_flag(world, &world->accepted[0].ready);
    (void)ask(world->accepted[0].wire, VERB_ACTIVATE, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    (void)ask(world->accepted[0].wire, VERB_POWER_DOWN, 0, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    assert_int_equal(end.handled, 1);
}

static void a_dial_that_reaches_nobody_is_told_as_closed(void **state)
{
    struct world *world = *state;
    struct end end;
    listener_destroy(world->listeners[0]);
    world->listeners[0] = NULL;
    world_token(world, "alice@pool", ANYBODY);
    world_dial(world, NULL, &end);
    assert_false(end.ready);
    assert_true(end.status < 0);
    assert_non_null(strstr(end.why, "127.0.0.1"));
}

static void a_server_with_the_wrong_certificate_is_not_spoken_to(void **state)
{
    struct world *world = *state;
    struct end end;
    memset(world->pin, '0', 64);
    world_token(world, "alice@pool", ANYBODY);
    world_dial(world, NULL, &end);
    assert_false(end.ready);
    assert_true(end.status < 0);
}

static void tcp_without_a_ca_or_a_pin_is_not_dialled(void **state)
{
    struct world *world = *state;
    struct wire_dial dial = {.address = world->tcp, .route = "collector"};
    struct wire_events events = {.closed = end_closed};
    struct wire *wire = NULL;
    assert_int_equal(wire_dial(world->client, &dial, &events, NULL, &wire, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_call_gets_its_answer_with_ads_and_blob),
        WORLD_TEST(many_calls_at_once_each_get_their_own_answer_in_order_of_arrival),
        WORLD_TEST(both_sides_may_call),
        WORLD_TEST(an_answered_call_leaves_no_timer_behind),
        WORLD_TEST(a_refusal_comes_with_its_text),
        WORLD_TEST(a_verb_that_needs_more_than_the_token_has_never_reaches_the_handler),
        WORLD_TEST(who_answers_nothing_says_so),
        WORLD_TEST(a_big_blob_arrives_whole),
        WORLD_TEST(a_message_larger_than_a_frame_is_refused_at_home),
        WORLD_TEST(parts_stop_when_the_window_is_full_and_go_on_when_it_opens),
        WORLD_TEST(a_part_too_large_ends_the_answer_not_the_server),
        WORLD_TEST(a_cancelled_call_is_not_answered_and_its_handler_is_told),
        WORLD_TEST(a_handler_that_does_not_ask_may_answer_a_cancelled_call_in_vain),
        WORLD_TEST(a_call_without_an_answer_ends_at_its_deadline),
        WORLD_TEST(more_calls_than_allowed_are_refused_at_home),
        WORLD_TEST(bytes_of_unanswered_requests_are_limited),
        WORLD_TEST(a_cancel_that_crosses_the_answer_wins_at_the_caller),
        WORLD_TEST(a_handler_is_told_when_the_callers_deadline_is_over),
        WORLD_TEST(each_part_gives_the_deadline_anew),
        WORLD_TEST(a_peer_that_does_not_read_is_dropped_before_it_fills_the_memory),
        WORLD_TEST(a_request_number_used_twice_is_a_fault),
        WORLD_TEST(when_a_wire_dies_all_its_calls_are_told),
        WORLD_TEST(closing_tells_the_calls_later_and_the_owner_nothing),
        WORLD_TEST(a_wire_may_be_closed_in_an_answer_and_in_a_handler),
        WORLD_TEST(finishing_sends_what_is_queued_first),
        WORLD_TEST(what_was_sent_before_the_end_is_handled_however_much_it_is),
        WORLD_TEST(a_dialled_server_may_ask_what_it_was_given),
        WORLD_TEST(a_dial_that_reaches_nobody_is_told_as_closed),
        WORLD_TEST(a_server_with_the_wrong_certificate_is_not_spoken_to),
        WORLD_TEST(tcp_without_a_ca_or_a_pin_is_not_dialled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
