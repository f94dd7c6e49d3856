/* Tests of wire/wire_limits.h: what a peer that has proved nothing, and one identity, may use.
 *
 * What takes seconds is tested on virtual time, in tests/sim/test_wire.c.
 *
 * TIMEOUT: 120
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "wire/frame.h"
#include "wire/wire_private.h"

#define LARGE ((size_t)12 << 20) /* one fits beside nothing else of its size */

static struct wire_figures figures_of(const struct world *world)
{
    struct wire_figures figures;
    wire_context_figures(world->server, &figures);
    return figures;
}

/* The head of a request that will have so many bytes behind its length, and the first `sent` of
 * them: zeros, which nobody looks at before the frame is there. */
static void send_unfinished(const struct end *end, size_t length, size_t sent)
{
    unsigned char *bytes = calloc(1, sent + 4);
    for (int i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(length >> (8 * i));
    }
    bytes[4] = FRAME_REQUEST;
    assert_int_equal(stream_write(end->wire->stream, bytes, sent + 4), 0);
    free(bytes);
}

static bool is_closed(void *arg)
{
    return ((const struct end *)arg)->closed;
}

struct held {
    struct world *world;
    size_t bytes;
};

static bool is_held(void *arg)
{
    const struct held *held = arg;
    return figures_of(held->world).frame_bytes == held->bytes;
}

static void until_held(struct world *world, size_t bytes)
{
    struct held held = {world, bytes};
    world_until(world, is_held, &held);
}

static size_t count_lines(struct world *world, const char *what)
{
    size_t count = 0;
    for (const char *at = strbuf_text(&world->log_text); (at = strstr(at, what)) != NULL; at++) {
        count++;
    }
    return count;
}

static void answer_ok(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_reply_ok(request, NULL);
}

struct answer {
    bool done;
    int status;
};

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->done = true;
    answer->status = reply->status;
}

static void ask_with(struct end *end, size_t size, struct answer *answer)
{
    char *bytes = calloc(1, size);
    const struct wire_body body = {.blob = bytes, .blob_length = size};
    *answer = (struct answer){.done = false};
    assert_true(wire_call(end->wire, VERB_QUERY, &body, 0, on_answer, answer) > 0);
    free(bytes);
}

/* F16: connections of one identity, each with most of a large frame. */
static void unfinished_frames_of_one_identity_share_its_room(void **state)
{
    struct world *world = *state;
    struct end ends[4], bob;
    struct answer answer;
    world->handler = answer_ok;
    for (size_t i = 0; i < 4; i++) {
        world_connect(world, "alice@pool", SCOPE_READ, &ends[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        send_unfinished(&ends[i], LARGE, LARGE - 1);
    }
    until_held(world, LARGE + 4);
    world_connect(world, "bob@pool", SCOPE_READ, &bob);
    ask_with(&bob, (size_t)2 << 20, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    struct wire_figures figures = figures_of(world);
    assert_int_equal(figures.frame_bytes, LARGE + 4);
    assert_int_equal(figures.identities, 2);
    assert_int_equal(figures.connections, 5);
    assert_string_equal(figures.busiest, "alice@pool");
    size_t large = 0;
    for (size_t i = 0; i < 4; i++) { /* what waits holds no more than is read without room */
        size_t length = 0;
        (void)stream_input(world->accepted[i].wire->stream, &length);
        large += length > WIRE_FRAME_FREE;
    }
    assert_in_range(large, 0, 1);
    /* They stand still while others wait: one after the other goes, with one line of log. */
    for (size_t i = 0; i < 3; i++) {
        world_until(world, is_closed, &ends[i]);
        assert_int_equal(ends[i].status, -ETIMEDOUT);
    }
    assert_int_equal(count_lines(world, "wire.limit"), 1);
    assert_non_null(strstr(strbuf_text(&world->log_text), "identity=alice@pool"));
    assert_string_equal(figures_of(world).last_offender, "alice@pool");
    assert_true(figures_of(world).complaints >= 3);
    assert_false(bob.closed);
}

static void a_frame_that_waited_for_room_is_read_when_there_is_some(void **state)
{
    struct world *world = *state;
    struct end first, second;
    struct answer answer;
    world->handler = answer_ok;
    world_connect(world, "alice@pool", SCOPE_READ, &first);
    world_connect(world, "alice@pool", SCOPE_READ, &second);
    send_unfinished(&first, LARGE, 1);
    until_held(world, LARGE + 4);
    ask_with(&second, LARGE, &answer);
    world_turns(world);
    assert_true(world->accepted[1].wire->share.waits);
    assert_false(answer.done);
    wire_close(first.wire); /* gives its room back */
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    until_held(world, 0);
    ask_with(&second, 100, &answer); /* and the small ones behind it */
    world_until_flag(world, &answer.done);
}

static void frames_of_all_identities_together_have_a_limit_but_daemons_have_their_own(void **state)
{
    struct world *world = *state;
    struct end ends[3], schedd;
    struct answer answer;
    static const char *const NAMES[] = {"a@pool", "b@pool", "c@pool"};
    world->handler = answer_ok;
    for (size_t i = 0; i < 3; i++) {
        world_connect(world, NAMES[i], SCOPE_READ, &ends[i]);
        send_unfinished(&ends[i], (size_t)11 << 20, 1);
    }
    world_connect(world, "schedd@pool", SCOPE_SCHEDD | SCOPE_READ, &schedd);
    until_held(world, 2 * (((size_t)11 << 20) + 4));
    assert_true(world->accepted[2].wire->share.waits);
    ask_with(&schedd, (size_t)15 << 20, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
}

static void an_identity_has_so_many_connections_and_no_more(void **state)
{
    struct world *world = *state;
    struct end first, second, bob;
    world_connect(world, "alice@pool", SCOPE_READ, &first);
    struct wire *wire = world->accepted[0].wire;
    struct wire_account *account = wire->share.account;
    assert_non_null(account);
    struct wire many[WIRE_CONNECTIONS_USER - 1]; /* stand-ins: the account only counts them */
    memset(many, 0, sizeof many);
    for (size_t i = 0; i < WIRE_CONNECTIONS_USER - 1; i++) {
        many[i].context = world->server;
        many[i].caller = wire->caller;
        many[i].stream = wire->stream;
        assert_int_equal(wire_limits_join(&many[i], NULL), 0);
    }
    world_token(world, "alice@pool", SCOPE_READ);
    world_dial(world, NULL, &second);
    assert_true(second.closed);
    assert_non_null(strstr(second.why, "alice@pool has too many connections to this daemon (512)"));
    assert_int_equal(count_lines(world, "too many connections of one identity"), 1);
    world_connect(world, "bob@pool", SCOPE_READ, &bob);
    wire_limits_leave(&many[0]);
    world_token(world, "alice@pool", SCOPE_READ);
    world_dial(world, NULL, &second);
    assert_true(second.ready);
    for (size_t i = 1; i < WIRE_CONNECTIONS_USER - 1; i++) {
        wire_limits_leave(&many[i]);
    }
    assert_int_equal(figures_of(world).connections, 3);
}

/* ---- before the proof ------------------------------------------------------------------------ */

static int admit_anybody(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                         struct err *err)
{
    (void)arg, (void)peer, (void)hello, (void)err;
    return 0;
}

static void prove(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_proved(wire_request_wire(request));
    wire_reply_ok(request, NULL);
}

/* F16 on the route `claim`: a greeting that proves nothing. */
static void before_the_proof_frames_are_small(void **state)
{
    struct world *world = *state;
    struct end small, large;
    struct answer answer;
    struct stream_strangers strangers;
    world->how = (struct wire_accept){.no_token = true,
                                      .proves_later = true,
                                      .scopes = SCOPE_READ,
                                      .admit = admit_anybody};
    world->handler = prove;
    world_connect(world, "alice@pool", SCOPE_READ, &small);
    world_connect(world, "alice@pool", SCOPE_READ, &large);
    assert_int_equal(wire_peer_frame_max(large.wire), FRAME_GREETING_MAX);
    stream_get_strangers(world->loop, &strangers);
    assert_int_equal(strangers.now, 2);
    assert_int_equal(figures_of(world).strangers, 2);
    assert_int_equal(figures_of(world).connections, 0);
    ask_with(&large, 9000, &answer);
    world_until(world, is_closed, &large);
    assert_non_null(strstr(large.why, "limit 8192"));
    ask_with(&small, 4000, &answer); /* the proof */
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(figures_of(world).request_bytes, 0); /* the proof was counted once each way */
    ask_with(&small, (size_t)15 << 20, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    stream_get_strangers(world->loop, &strangers);
    assert_int_equal(strangers.now, 0);
    assert_int_equal(figures_of(world).connections, 1);
}

static void keep(void *arg, struct wire_request *request)
{
    struct wire_request **kept = arg;
    for (size_t i = 0; i <= WIRE_STRANGER_REQUESTS; i++) {
        if (kept[i] == NULL) {
            kept[i] = request;
            return;
        }
    }
    wire_reply_error(request, -EIO, "more than were to be kept");
}

static void before_the_proof_few_requests_are_kept(void **state)
{
    struct world *world = *state;
    struct end end;
    struct wire_request *kept[WIRE_STRANGER_REQUESTS + 1] = {NULL};
    struct answer answers[WIRE_STRANGER_REQUESTS + 1];
    world->how = (struct wire_accept){.no_token = true,
                                      .proves_later = true,
                                      .scopes = SCOPE_READ,
                                      .admit = admit_anybody};
    world->handler = keep;
    world->handler_arg = kept;
    world_connect(world, "alice@pool", SCOPE_READ, &end);
    for (size_t i = 0; i <= WIRE_STRANGER_REQUESTS; i++) {
        ask_with(&end, 10, &answers[i]);
    }
    world_until_flag(world, &answers[WIRE_STRANGER_REQUESTS].done);
    assert_int_equal(answers[WIRE_STRANGER_REQUESTS].status, -EBUSY);
    assert_null(kept[WIRE_STRANGER_REQUESTS]);
    for (size_t i = 0; i < WIRE_STRANGER_REQUESTS; i++) {
        wire_reply_ok(kept[i], NULL);
    }
    world_until_flag(world, &answers[WIRE_STRANGER_REQUESTS - 1].done);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void reply_megabytes(void *arg, struct wire_request *request)
{
    static char bytes[(size_t)1 << 20];
    const struct wire_body body = {.blob = bytes, .blob_length = sizeof bytes};
    (void)arg;
    wire_reply_ok(request, &body);
}

static void who_does_not_read_goes_when_all_such_output_is_too_much(void **state)
{
    struct world *world = *state;
    struct end ends[2], reader;
    struct answer answer;
    world->handler = reply_megabytes;
    world_connect(world, "alice@pool", SCOPE_READ, &ends[0]);
    world_connect(world, "carol@pool", SCOPE_READ, &ends[1]);
    world_connect(world, "bob@pool", SCOPE_READ, &reader);
    struct answer many[2][40];
    for (size_t i = 0; i < 2; i++) {
        stream_pause(ends[i].wire->stream, true);
        for (size_t k = 0; k < (i == 0 ? 40 : 8); k++) {
            ask_with(&ends[i], 10, &many[i][k]);
        }
        world_turns(world);
    }
    /* Some more, but less in all than one connection may have: that is another limit. */
    for (size_t k = 0; k < 20; k++) {
        ask_with(&ends[0], 10, &many[0][k]);
    }
    world_until(world, is_closed, &world->accepted[0]);
    assert_non_null(strstr(strbuf_text(&world->log_text), "the peer does not read"));
    assert_false(world->accepted[1].closed);
    ask_with(&reader, 10, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(unfinished_frames_of_one_identity_share_its_room),
        WORLD_TEST(a_frame_that_waited_for_room_is_read_when_there_is_some),
        WORLD_TEST(frames_of_all_identities_together_have_a_limit_but_daemons_have_their_own),
        WORLD_TEST(an_identity_has_so_many_connections_and_no_more),
        WORLD_TEST(before_the_proof_frames_are_small),
        WORLD_TEST(before_the_proof_few_requests_are_kept),
        WORLD_TEST(who_does_not_read_goes_when_all_such_output_is_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
