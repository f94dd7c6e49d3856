/* tests/unit/wire/test_hub.c - uplinks that come back, and relays that carry the caller's token.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/check.h"

#include "wire/wire_private.h"

/* {"alg":"ES256","kid":"k1"}, {"sub":"mallory@pool","scope":"ADMINISTRATOR"}, "signature" */
#define FORGED                              \
    "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0."  \
    "eyJzdWIiOiJtYWxsb3J5QHBvb2wiLCJzY29wZ" \
    "SI6IkFETUlOSVNUUkFUT1IifQ.c2lnbmF0dXJl"

/* A worker: an uplink of its own context, which verifies tokens itself. */
struct worker {
    struct world *world;
    struct wire_context *context;
    struct uplink *uplink;
    char token_path[160];
    unsigned ups, downs, requests, gone, parts;
    bool is_up, is_down;
    char why[ERR_TEXT_MAX], identity[256], address[512];
    uint32_t scopes;
    bool relayed;
    struct wire_request *kept;
    bool stream; /* answers with parts until told to stop */
    bool stopped;
};

static void worker_pump(void *arg)
{
    struct worker *worker = arg;
    static char bytes[60000];
    struct wire_body body = {.blob = bytes, .blob_length = sizeof bytes};
    while (worker->parts < 60) {
        worker->parts++;
        if (!wire_reply_part(worker->kept, &body)) {
            return;
        }
    }
    wire_reply_ok(worker->kept, NULL);
}

static void worker_gone(void *arg)
{
    ((struct worker *)arg)->gone++;
}

static void worker_request(void *arg, struct wire_request *request)
{
    struct worker *worker = arg;
    const struct wire_peer *peer = wire_request_peer(request);
    worker->requests++;
    worker->relayed = peer->relayed;
    worker->scopes = peer->scopes;
    (void)snprintf(worker->identity, sizeof worker->identity, "%s", peer->identity);
    (void)snprintf(worker->address, sizeof worker->address, "%s", peer->address);
    if (wire_request_verb(request) == VERB_DIAL_ME) {
        worker->kept = request;
        wire_request_on_gone(request, worker_gone, worker);
        wire_request_on_drained(request, worker_pump, worker);
        if (worker->stream) {
            worker_pump(worker);
        }
        return;
    }
    struct wire_body body = {.args = wire_request_args(request)};
    wire_reply_ok(request, &body);
}

static void worker_up(void *arg, struct wire *wire)
{
    struct worker *worker = arg;
    assert_ptr_equal(uplink_wire(worker->uplink), wire);
    worker->ups++;
    worker->is_up = true;
}

static void worker_down(void *arg, const char *why)
{
    struct worker *worker = arg;
    assert_null(uplink_wire(worker->uplink));
    worker->downs++;
    worker->is_up = false;
    worker->is_down = true;
    (void)snprintf(worker->why, sizeof worker->why, "%s", why);
}

static void worker_start(struct world *world, struct worker *worker, const char *address,
                         const char *name, const struct token *token)
{
    static const struct uplink_events EVENTS = {.up = worker_up,
                                                .down = worker_down,
                                                .request = worker_request};
    *worker = (struct worker){.world = world};
    (void)snprintf(worker->token_path, sizeof worker->token_path, "%s/token.worker", world->dir);
    char *text = world_issue(world, token);
    world_write(world, worker->token_path, text);
    mem_free(text);
    struct wire_context_options options = {.loop = world->loop,
                                           .os = world->os,
                                           .log = world->log,
                                           .token_path = worker->token_path,
                                           .pool_keys = world->keys,
                                           .pool = "pool"};
    struct wire_dial dial = {.address = address,
                             .route = "collector",
                             .name = name,
                             .pin = world->pin};
    MUST(wire_context_create(&options, &worker->context, err));
    MUST(uplink_create(worker->context, &dial, &EVENTS, worker, &worker->uplink, err));
}

static void worker_end(struct worker *worker)
{
    uplink_destroy(worker->uplink);
    wire_context_destroy(worker->context);
}

/* ---- the hub's owner ------------------------------------------------------------------------- */

struct center {
    struct world *world;
    struct hub *hub;
    struct err add_err;
    int add_rc;
};

static struct center *center_of(struct world *world)
{
    return world->handler_arg;
}

static void center_ready(struct world *world, struct wire *wire)
{
    struct center *center = center_of(world);
    int rc = hub_add(center->hub, wire, &center->add_err);
    if (rc != 0) {
        center->add_rc = rc;
        for (size_t i = 0; i < world->accepted_count; i++) {
            if (world->accepted[i].wire == wire) {
                world->accepted[i].wire = NULL;
            }
        }
        wire_close(wire);
    }
}

static void center_closed(struct world *world, struct wire *wire)
{
    hub_remove(center_of(world)->hub, wire);
}

static void center_request(void *arg, struct wire_request *request)
{
    struct center *center = arg;
    if (wire_request_verb(request) == VERB_RELAY) {
        hub_relay(center->hub, request);
    } else {
        wire_reply_error(request, -ENOSYS, "not a relay");
    }
}

static void center_start(struct world *world, struct center *center)
{
    *center = (struct center){.world = world, .hub = hub_create(world->server)};
    world->handler = center_request;
    world->handler_arg = center;
    world->accepted_ready = center_ready;
    world->accepted_closed = center_closed;
}

/* ---- callers --------------------------------------------------------------------------------- */

struct answer {
    bool done;
    int status;
    char text[300];
    int64_t number;
    size_t parts, bytes;
};

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->done = !reply->more;
    answer->status = reply->status;
    answer->parts += reply->more;
    answer->bytes += reply->blob_length;
    (void)snprintf(answer->text, sizeof answer->text, "%s", reply->text);
    answer->number = reply->args == NULL ? 0 : ad_int_or(reply->args, "Number", 0);
}

static int64_t relay(struct wire *wire, const char *name, enum wire_verb verb,
                     struct answer *answer)
{
    struct ad *args = ad_create();
    struct wire_body body = {.args = args};
    ad_set_int(args, "Number", 42);
    *answer = (struct answer){0};
    int64_t id = wire_relay(wire, name, verb, &body, 0, on_answer, answer);
    assert_true(id > 0);
    ad_destroy(args);
    return id;
}

static struct token startd_token(struct world *world)
{
    return world_token_of(world, "startd@pool", SCOPE_ADVERTISE);
}

/* A hub with one worker, and a caller with that authority. */
struct pool {
    struct center center;
    struct worker worker;
    struct end caller;
};

static void pool_start(struct world *world, struct pool *pool, const char *identity,
                       uint32_t scopes)
{
    struct token token = startd_token(world);
    center_start(world, &pool->center);
    worker_start(world, &pool->worker, world->tcp, "startd/wn01", &token);
    world_until_flag(world, &pool->worker.is_up);
    world_until_flag(world, &world->accepted[0].ready);
    world_connect(world, identity, scopes, &pool->caller);
}

static void pool_end(struct pool *pool)
{
    worker_end(&pool->worker);
    hub_destroy(pool->center.hub);
    pool->center.world->accepted_closed = NULL;
}

/* ---- relay ----------------------------------------------------------------------------------- */

static void a_relay_reaches_the_worker_as_the_original_caller(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "root@pool", SCOPE_ADMINISTRATOR);
    relay(pool.caller.wire, "startd/wn01", VERB_POWER_DOWN, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.number, 42);
    assert_true(pool.worker.relayed);
    assert_string_equal(pool.worker.identity, "root@pool");
    assert_int_equal(pool.worker.scopes, SCOPE_ADMINISTRATOR);
    assert_non_null(strstr(pool.worker.address, "tcp:127.0.0.1:"));
    assert_non_null(strstr(pool.worker.address, " through tcp:127.0.0.1:"));
    pool_end(&pool);
}

static void the_worker_itself_refuses_a_caller_that_is_too_weak(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "alice@pool", SCOPE_WRITE);
    relay(pool.caller.wire, "startd/wn01", VERB_POWER_DOWN, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    assert_string_equal(answer.text,
                        "token is too weak: POWER_DOWN needs ADMINISTRATOR; alice@pool has WRITE");
    assert_int_equal(pool.worker.requests, 0);
    const char *line = strstr(strbuf_text(&world->log_text), " wire.denied ");
    assert_non_null(line);
    assert_non_null(strstr(line, "identity=alice@pool"));
    pool_end(&pool);
}

static void the_worker_itself_refuses_a_revoked_token(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "root@pool", SCOPE_ADMINISTRATOR);
    wire_context_revoke(pool.worker.context, "id-of-root@pool");
    relay(pool.caller.wire, "startd/wn01", VERB_POWER_DOWN, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EKEYREVOKED);
    assert_non_null(strstr(answer.text, "token revoked (id 'id-of-root@pool'"));
    assert_int_equal(pool.worker.requests, 0);
    pool_end(&pool);
}

/* A reply as the hub sees it. */
struct seen {
    bool done;
    int status;
    char text[300];
};

static void see(void *arg, const struct frame *reply)
{
    struct seen *seen = arg;
    seen->done = true;
    seen->status = reply->status;
    (void)snprintf(seen->text, sizeof seen->text, "%.*s", (int)reply->text_length, reply->text);
}

static void the_hub_is_not_believed_about_its_caller(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "alice@pool", SCOPE_WRITE);
    /* The hub's own request, without a token: it has only what the worker gave it: nothing. */
    answer = (struct answer){0};
    assert_true(wire_call(world->accepted[0].wire, VERB_POWER_DOWN, NULL, 0, on_answer, &answer) >
                0);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    /* A token that the hub made up. */
    struct strbuf inner;
    const uint8_t proof[PROOF_BYTES] = {0};
    strbuf_init(&inner, 0);
    frame_put_body(&inner, NULL);
    const struct relayed relayed = {.verb = VERB_POWER_DOWN,
                                    .token = FORGED,
                                    .from = "from",
                                    .instance = pool.worker.context->instance.id,
                                    .proof = proof,
                                    .body = inner.data,
                                    .body_length = inner.length};
    struct seen seen = {0};
    assert_true(wire_call_relayed(world->accepted[0].wire, &relayed, see, &seen) > 0);
    world_until_flag(world, &seen.done);
    assert_int_equal(seen.status, -EKEYREJECTED);
    assert_non_null(strstr(seen.text, "token signature is wrong"));
    strbuf_fini(&inner);
    assert_int_equal(pool.worker.requests, 0);
    pool_end(&pool);
}

static void a_relay_to_nobody_and_one_without_a_body_are_refused_by_the_hub(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "root@pool", SCOPE_ADMINISTRATOR);
    relay(pool.caller.wire, "startd/wn02", VERB_POWER_DOWN, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EHOSTUNREACH);
    assert_string_equal(answer.text, "no daemon 'startd/wn02' is connected to the collector");
    answer = (struct answer){0};
    assert_true(wire_call(pool.caller.wire, VERB_RELAY, NULL, 0, on_answer, &answer) > 0);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EINVAL);
    pool_end(&pool);
}

static void who_has_a_ticket_relays_nothing_else(void **state)
{
    static const enum wire_verb OTHERS[] = {VERB_PING, VERB_POWER_DOWN_ASK, VERB_POOL_FIGURES,
                                            VERB_CONFIG};
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "glidein@pool", SCOPE_TICKET);
    for (size_t i = 0; i < ARRAY_COUNT(OTHERS); i++) {
        relay(pool.caller.wire, "startd/wn01", OTHERS[i], &answer);
        world_until_flag(world, &answer.done);
        assert_int_equal(answer.status, -EACCES);
        assert_non_null(strstr(answer.text, "glidein@pool may not call"));
    }
    assert_int_equal(pool.worker.requests, 0);
    relay(pool.caller.wire, "startd/wn01", VERB_TICKET, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(pool.worker.requests, 1);
    pool_end(&pool);
    pool_start(world, &pool, "glidein@pool", SCOPE_ADVERTISE);
    relay(pool.caller.wire, "startd/wn01", VERB_TICKET, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    pool_end(&pool);
}

static void who_may_only_advertise_relays_nothing_but_questions_about_its_sleep(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "glidein@pool", SCOPE_ADVERTISE);
    relay(pool.caller.wire, "startd/wn01", VERB_PING, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    assert_non_null(strstr(answer.text, "glidein@pool may not call PING"));
    assert_int_equal(pool.worker.requests, 0);
    relay(pool.caller.wire, "startd/wn01", VERB_POWER_DOWN_ASK, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(pool.worker.requests, 1);
    relay(pool.caller.wire, "startd/wn01", VERB_POOL_FIGURES, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(pool.worker.requests, 2);
    relay(pool.caller.wire, "startd/wn01", VERB_USERPRIO, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    pool_end(&pool);
}

static void a_name_that_ends_in_a_slash_means_any_of_that_kind(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "root@pool", SCOPE_ADMINISTRATOR);
    relay(pool.caller.wire, "rooster/", VERB_PING, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EHOSTUNREACH);
    assert_string_equal(answer.text, "no daemon 'rooster/' is connected to the collector");
    for (unsigned i = 1; i <= 2; i++) { /* looked for, then known */
        relay(pool.caller.wire, "startd/", VERB_POWER_DOWN, &answer);
        world_until_flag(world, &answer.done);
        assert_int_equal(answer.status, 0);
        assert_int_equal(pool.worker.requests, i);
    }
    pool_end(&pool);
}

static void parts_and_windows_pass_through_the_hub(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "schedd@pool", SCOPE_SCHEDD);
    pool.worker.stream = true;
    relay(pool.caller.wire, "startd/wn01", VERB_DIAL_ME, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.parts, 60);
    assert_int_equal(answer.bytes, 60 * 60000); /* more than three windows */
    pool_end(&pool);
}

static bool has_request(void *arg)
{
    return ((struct worker *)arg)->requests > 0;
}

static bool has_gone(void *arg)
{
    return ((struct worker *)arg)->gone > 0;
}

static void a_cancel_passes_through_the_hub(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "schedd@pool", SCOPE_SCHEDD);
    int64_t id = relay(pool.caller.wire, "startd/wn01", VERB_DIAL_ME, &answer);
    world_until(world, has_request, &pool.worker);
    wire_cancel(pool.caller.wire, id);
    world_until(world, has_gone, &pool.worker);
    assert_false(answer.done);
    pool_end(&pool);
}

static void a_caller_that_goes_takes_its_relay_along(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "schedd@pool", SCOPE_SCHEDD);
    relay(pool.caller.wire, "startd/wn01", VERB_DIAL_ME, &answer);
    world_until(world, has_request, &pool.worker);
    wire_close(pool.caller.wire);
    world_until(world, has_gone, &pool.worker);
    pool_end(&pool);
}

static void a_lost_uplink_answers_what_was_relayed_to_it(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "schedd@pool", SCOPE_SCHEDD);
    relay(pool.caller.wire, "startd/wn01", VERB_DIAL_ME, &answer);
    world_until(world, has_request, &pool.worker);
    uplink_destroy(pool.worker.uplink);
    pool.worker.uplink = NULL;
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -ECONNRESET);
    pool_end(&pool);
}

static void a_hub_that_stops_answers_its_relays(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "schedd@pool", SCOPE_SCHEDD);
    relay(pool.caller.wire, "startd/wn01", VERB_DIAL_ME, &answer);
    world_until(world, has_request, &pool.worker);
    hub_destroy(pool.center.hub);
    pool.center.hub = NULL;
    world->accepted_closed = NULL;
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -ECONNRESET);
    worker_end(&pool.worker);
}

static void ignore(void *arg, const struct frame *reply)
{
    (void)arg;
    (void)reply;
}

static void a_stranger_cannot_send_relayed_requests(void **state)
{
    struct world *world = *state;
    struct center center;
    struct end end;
    center_start(world, &center);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &end);
    const uint8_t proof[PROOF_BYTES] = {0};
    const struct relayed relayed = {.verb = VERB_POWER_DOWN,
                                    .token = "token",
                                    .from = "from",
                                    .instance = "",
                                    .proof = proof,
                                    .body = ""};
    (void)wire_call_relayed(end.wire, &relayed, ignore, NULL);
    end.ready = false;
    world_until_flag(world, &end.closed);
    assert_non_null(
        strstr(strbuf_text(&world->log_text), "a relayed request from a peer that is not a hub"));
    hub_destroy(center.hub);
    world->accepted_closed = NULL;
}

/* ---- names and uplinks ----------------------------------------------------------------------- */

static bool is_up_twice(void *arg)
{
    return ((struct worker *)arg)->ups >= 2;
}

static void an_uplink_that_is_cut_comes_back(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct answer answer;
    pool_start(world, &pool, "root@pool", SCOPE_ADMINISTRATOR);
    hub_remove(pool.center.hub, world->accepted[0].wire);
    wire_close(world->accepted[0].wire);
    world->accepted[0].wire = NULL;
    world_until_flag(world, &pool.worker.is_down);
    world_until(world, is_up_twice, &pool.worker);
    relay(pool.caller.wire, "STARTD/WN01", VERB_POWER_DOWN, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    pool_end(&pool);
}

static void an_uplink_tries_the_addresses_of_its_list_in_turn(void **state)
{
    struct world *world = *state;
    struct center center;
    struct worker worker;
    struct token token = startd_token(world);
    char list[300];
    center_start(world, &center);
    (void)snprintf(list, sizeof list, "unix:%s/nobody, %s ,", world->dir, world->tcp);
    worker_start(world, &worker, list, "startd/wn01", &token);
    world_until_flag(world, &worker.is_up);
    assert_int_equal(worker.downs, 1);
    worker_end(&worker);
    hub_destroy(center.hub);
    world->accepted_closed = NULL;
}

static void an_uplink_that_is_refused_goes_on_trying_and_says_why(void **state)
{
    struct world *world = *state;
    struct center center;
    struct worker worker;
    struct token weak = world_token_of(world, "startd@pool", SCOPE_READ);
    struct token good = startd_token(world);
    center_start(world, &center);
    worker_start(world, &worker, world->tcp, "startd/wn01", &weak);
    world_until_flag(world, &worker.is_down);
    assert_non_null(strstr(worker.why, "token is too weak"));
    char *text = world_issue(world, &good); /* the file is mended while it runs */
    world_write(world, worker.token_path, text);
    mem_free(text);
    world_until_flag(world, &worker.is_up);
    worker_end(&worker);
    hub_destroy(center.hub);
    world->accepted_closed = NULL;
}

static void an_uplink_without_an_address_is_refused(void **state)
{
    struct world *world = *state;
    struct uplink *uplink = NULL;
    struct wire_dial dial = {.address = " , ", .route = "collector"};
    struct uplink_events events = {.up = worker_up};
    assert_int_equal(uplink_create(world->client, &dial, &events, NULL, &uplink, NULL), -EINVAL);
}

static void a_newer_uplink_of_the_same_identity_replaces_the_older(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct end newer;
    struct answer answer;
    pool_start(world, &pool, "startd@pool", SCOPE_ADVERTISE | SCOPE_WRITE);
    world_dial(world, "startd/wn01", &newer);
    assert_true(newer.ready);
    world_until_flag(world, &pool.worker.is_down);
    assert_non_null(strstr(pool.worker.why, "replaced by a newer connection of 'startd/wn01'"));
    assert_int_equal(world->accepted[0].status, -ESTALE);
    assert_int_equal(pool.center.add_rc, 0);
    uplink_destroy(pool.worker.uplink); /* else it would dial and take the name back */
    pool.worker.uplink = NULL;
    /* The end of the older does not take the name from the newer (which has no keys to judge by).
     */
    relay(pool.caller.wire, "startd/wn01", VERB_PING, &answer);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, 0);
    pool_end(&pool);
}

static void an_uplink_name_of_another_identity_is_not_taken_over(void **state)
{
    struct world *world = *state;
    struct pool pool;
    struct end thief;
    pool_start(world, &pool, "thief@pool", SCOPE_ADVERTISE);
    world_dial(world, "startd/wn01", &thief);
    world_until_flag(world, &thief.closed);
    assert_int_equal(thief.status, -EEXIST);
    assert_non_null(strstr(thief.why, "uplink name 'startd/wn01' is in use by startd@pool"));
    assert_int_equal(pool.center.add_rc, -EEXIST);
    assert_string_equal(pool.center.add_err.text,
                        "uplink name 'startd/wn01' is in use by startd@pool");
    assert_true(pool.worker.is_up);
    pool_end(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_relay_reaches_the_worker_as_the_original_caller),
        WORLD_TEST(the_worker_itself_refuses_a_caller_that_is_too_weak),
        WORLD_TEST(the_worker_itself_refuses_a_revoked_token),
        WORLD_TEST(the_hub_is_not_believed_about_its_caller),
        WORLD_TEST(a_relay_to_nobody_and_one_without_a_body_are_refused_by_the_hub),
        WORLD_TEST(who_has_a_ticket_relays_nothing_else),
        WORLD_TEST(who_may_only_advertise_relays_nothing_but_questions_about_its_sleep),
        WORLD_TEST(a_name_that_ends_in_a_slash_means_any_of_that_kind),
        WORLD_TEST(parts_and_windows_pass_through_the_hub),
        WORLD_TEST(a_cancel_passes_through_the_hub),
        WORLD_TEST(a_caller_that_goes_takes_its_relay_along),
        WORLD_TEST(a_lost_uplink_answers_what_was_relayed_to_it),
        WORLD_TEST(a_hub_that_stops_answers_its_relays),
        WORLD_TEST(a_stranger_cannot_send_relayed_requests),
        WORLD_TEST(an_uplink_that_is_cut_comes_back),
        WORLD_TEST(an_uplink_tries_the_addresses_of_its_list_in_turn),
        WORLD_TEST(an_uplink_that_is_refused_goes_on_trying_and_says_why),
        WORLD_TEST(an_uplink_without_an_address_is_refused),
        WORLD_TEST(a_newer_uplink_of_the_same_identity_replaces_the_older),
        WORLD_TEST(an_uplink_name_of_another_identity_is_not_taken_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
