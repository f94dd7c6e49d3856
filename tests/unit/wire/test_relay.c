/* tests/unit/wire/test_relay.c - a hub that lies: it alters, repeats, redirects, answers for
 * others.
 *
 * The hub here is a handler of the test that has all that a hub sees: the token and the proof of
 * each caller.  Whatever it does with them, nothing is done that its holder did not ask for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "wire/wire_private.h"

#define TARGET "startd/wn01"

/* Somebody who is asked: an uplink with a context and a token of its own. */
struct asked {
    struct wire_context *context;
    struct end end;
    unsigned requests;
    char token_path[160];
    char identity[256];
};

/* What the hub does with the next RELAY. */
enum lie {
    HONEST,
    OTHER_VERB,
    OTHER_DEADLINE,
    OTHER_BODY,
    OTHER_NUMBER,
    OTHER_TOKEN,
    REPEATED,
    ANSWERS_ITSELF,
    ANSWERS_SIGNED,
    OTHER_ANSWER,
    OTHER_STATUS,
    NO_SIGNATURE,
    STALE_FOR_EVER,
    REFUSES,
};

struct liar {
    struct world *world;
    struct asked asked[2];
    enum lie lie;
    unsigned to;    /* which of asked gets it */
    bool names_old; /* tells the instance of an earlier life */
    char old[INSTANCE_TEXT_SIZE];
    struct wire_request *request; /* of the caller */
    unsigned relays, resolved;
    int second_status; /* of what was repeated */
    bool second_done;
};

static struct liar *liar_of;

static void asked_request(void *arg, struct wire_request *request)
{
    struct end *end = arg;
    for (size_t i = 0; i < 2; i++) {
        if (&liar_of->asked[i].end == end) {
            liar_of->asked[i].requests++;
            (void)snprintf(liar_of->asked[i].identity, sizeof liar_of->asked[i].identity, "%s",
                           wire_request_peer(request)->identity);
        }
    }
    const struct wire_body body = {.args = wire_request_args(request)};
    wire_reply_ok(request, &body);
}

static void asked_start(struct liar *liar, size_t i, const char *name, const char *identity)
{
    struct world *world = liar->world;
    struct asked *asked = &liar->asked[i];
    struct token token = world_token_of(world, identity, SCOPE_ADVERTISE);
    (void)snprintf(token.pattern, sizeof token.pattern, "%s", strchr(name, '/') + 1);
    (void)snprintf(asked->token_path, sizeof asked->token_path, "%s/token.%zu", world->dir, i);
    char *text = world_issue(world, &token);
    world_write(world, asked->token_path, text);
    mem_free(text);
    const struct wire_context_options options = {.loop = world->loop,
                                                 .os = world->os,
                                                 .log = world->log,
                                                 .token_path = asked->token_path,
                                                 .pool_keys = world->keys,
                                                 .pool = "pool"};
    MUST(wire_context_create(&options, &asked->context, err));
    world_dial_as(world, asked->context, world->tcp, name, asked_request, &asked->end);
    world_until(world, end_settled, &asked->end);
    assert_true(asked->end.ready);
}

/* ---- the hub --------------------------------------------------------------------------------- */

static void pass_on(void *arg, const struct frame *reply)
{
    struct liar *liar = arg;
    struct frame altered = *reply;
    switch (liar->lie) {
    case OTHER_ANSWER: {
        struct strbuf body;
        struct ad *args = ad_create();
        ad_set_int(args, "Number", 43);
        strbuf_init(&body, 0);
        frame_put_body(&body, &(struct wire_body){.args = args});
        altered.body = body.data;
        altered.body_length = body.length;
        wire_reply_raw(liar->request, &altered);
        strbuf_fini(&body);
        ad_destroy(args);
        return;
    }
    case OTHER_STATUS:
        altered.status = -EBUSY;
        break;
    case NO_SIGNATURE:
        altered.flags &= (uint8_t)~FRAME_FLAG_SIGNED;
        break;
    default:
        break;
    }
    wire_reply_raw(liar->request, &altered);
}

static void see_second(void *arg, const struct frame *reply)
{
    struct liar *liar = arg;
    liar->second_done = true;
    liar->second_status = reply->status;
}

static void resolve(struct liar *liar, struct wire_request *request)
{
    struct ad *args = ad_create();
    liar->resolved++;
    ad_set_string(args, "Uplink", TARGET);
    ad_set_string(args, "Instance",
                  liar->names_old ? liar->old : liar->asked[0].context->instance.id);
    wire_reply_refusal(request, args, -ESTALE, "");
    ad_destroy(args);
}

/* With the token and key of a machine that the hub has taken over. */
static void answer_signed(struct liar *liar, struct wire_request *request)
{
    request->answering = mem_zalloc(sizeof *request->answering);
    mem_free(request->wire->said_name);
    request->wire->said_name = mem_strdup(TARGET);
    credential_change(&liar->world->server->own, liar->asked[1].token_path);
    wire_reply_ok(request, NULL);
}

/* In the receiver's name, with what is made up beside it. */
static void refuse_with_args(struct wire_request *request)
{
    static const char TEXT[] = "no";
    struct ad *args = ad_create();
    struct strbuf body;
    ad_set_int(args, "Number", 43);
    strbuf_init(&body, 0);
    frame_put_body(&body, &(struct wire_body){.args = args});
    const struct frame refusal = {.status = -EACCES,
                                  .text = TEXT,
                                  .text_length = strlen(TEXT),
                                  .body = body.data,
                                  .body_length = body.length};
    wire_reply_raw(request, &refusal);
    strbuf_fini(&body);
    ad_destroy(args);
}

static void lie(void *arg, struct wire_request *request)
{
    struct liar *liar = arg;
    struct world *world = liar->world;
    const struct ad *args = wire_request_args(request);
    if (wire_request_verb(request) != VERB_RELAY) {
        wire_reply_error(request, -ENOSYS, "not a relay");
        return;
    }
    liar->relays++;
    if (!ad_has(args, "Proof") || liar->lie == STALE_FOR_EVER) {
        resolve(liar, request);
        return;
    }
    if (liar->lie == ANSWERS_ITSELF) {
        wire_reply_ok(request, NULL);
        return;
    }
    if (liar->lie == ANSWERS_SIGNED) {
        answer_signed(liar, request);
        return;
    }
    if (liar->lie == REFUSES) {
        refuse_with_args(request);
        return;
    }
    uint8_t proof[PROOF_BYTES];
    assert_true(proof_from_text(ad_string_or(args, "Proof", ""), proof));
    struct relayed relayed = {.verb = (uint16_t)ad_int_or(args, "Verb", 0),
                              .deadline_ms = (uint32_t)ad_int_or(args, "Deadline", 0),
                              .token = ad_string_or(args, "Token", ""),
                              .from = "the liar",
                              .instance = ad_string_or(args, "Instance", ""),
                              .number = (uint64_t)ad_int_or(args, "Number", 0),
                              .proof = proof};
    relayed.body = wire_request_blob(request, &relayed.body_length);
    struct strbuf other_body;
    char *other_token = NULL;
    strbuf_init(&other_body, 0);
    if (liar->lie == OTHER_VERB) {
        relayed.verb = VERB_COMMIT_DRAINING;
    } else if (liar->lie == OTHER_DEADLINE) {
        relayed.deadline_ms++;
    } else if (liar->lie == OTHER_NUMBER) {
        relayed.number++;
    } else if (liar->lie == OTHER_BODY) {
        frame_put_body(&other_body, NULL);
        relayed.body = other_body.data;
        relayed.body_length = other_body.length;
    } else if (liar->lie == OTHER_TOKEN) {
        struct token token = world_token_of(world, "root@pool", SCOPE_ADMINISTRATOR);
        other_token = world_issue_line(world, &token);
        relayed.token = other_token;
    }
    struct wire *down = world->accepted[liar->to].wire;
    liar->request = request;
    assert_true(wire_call_relayed(down, &relayed, pass_on, liar) > 0);
    if (liar->lie == REPEATED) {
        assert_true(wire_call_relayed(down, &relayed, see_second, liar) > 0);
    }
    strbuf_fini(&other_body);
    mem_free(other_token);
}

/* ---- the caller ------------------------------------------------------------------------------ */

struct answer {
    bool done;
    int status;
    char text[300], token_id[64];
    int64_t number;
};

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->done = !reply->more;
    answer->status = reply->status;
    (void)snprintf(answer->text, sizeof answer->text, "%s", reply->text);
    (void)snprintf(answer->token_id, sizeof answer->token_id, "%s", reply->token_id);
    answer->number = reply->args == NULL ? 0 : ad_int_or(reply->args, "Number", 0);
}

static struct liar *liar_start(struct world *world, struct end *caller)
{
    struct liar *liar = mem_zalloc(sizeof *liar);
    liar_of = liar;
    liar->world = world;
    world->handler = lie;
    world->handler_arg = liar;
    asked_start(liar, 0, TARGET, "wn01@pool");
    asked_start(liar, 1, "startd/wn02", "wn02@pool");
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, caller);
    return liar;
}

static void liar_end(struct liar *liar)
{
    for (size_t i = 0; i < 2; i++) {
        wire_context_destroy(liar->asked[i].context);
    }
    liar->world->handler = NULL;
    mem_free(liar);
}

static void ask(struct liar *liar, struct end *caller, enum lie how, struct answer *answer)
{
    struct ad *args = ad_create();
    *answer = (struct answer){0};
    liar->lie = how;
    ad_set_int(args, "Number", 42);
    assert_true(wire_relay(caller->wire, TARGET, VERB_POWER_DOWN, &(struct wire_body){.args = args},
                           0, on_answer, answer) > 0);
    ad_destroy(args);
    world_until_flag(liar->world, &answer->done);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void an_honest_hub_carries_request_and_answer(void **state)
{
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    ask(liar, &caller, HONEST, &answer);
    assert_int_equal(answer.status, 0);
    assert_int_equal(answer.number, 42);
    assert_string_equal(answer.token_id, "id-of-wn01@pool");
    assert_string_equal(liar->asked[0].identity, "root@pool");
    assert_int_equal(liar->relays, 2); /* what to sign for, then the request */
    ask(liar, &caller, HONEST, &answer);
    assert_int_equal(answer.status, 0);
    assert_int_equal(liar->relays, 3); /* the instance is known now */
    liar_end(liar);
}

static void a_request_that_the_hub_altered_is_refused(void **state)
{
    static const enum lie LIES[] = {OTHER_VERB, OTHER_DEADLINE, OTHER_BODY, OTHER_NUMBER,
                                    OTHER_TOKEN};
    struct world *world = *state;
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(world, &caller);
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        ask(liar, &caller, LIES[i], &answer);
        assert_int_equal(answer.status, -EKEYREJECTED);
        assert_non_null(strstr(answer.text, "has not signed this request for 'startd/wn01'"));
    }
    assert_int_equal(liar->asked[0].requests, 0);
    const char *line = strstr(strbuf_text(&world->log_text), " wire.denied ");
    assert_non_null(line);
    assert_non_null(strstr(line, "identity=root@pool"));
    assert_non_null(strstr(line, "verb=COMMIT_DRAINING"));
    assert_non_null(strstr(line, "the liar through tcp:127.0.0.1:"));
    liar_end(liar);
}

/* What a receiver's instance is it says itself, over its own connection. */
static void an_instance_is_not_relayed(void **state)
{
    struct world *world = *state;
    struct end caller;
    struct answer answer = {0};
    struct liar *liar = liar_start(world, &caller);
    struct ad *args = ad_create();
    ad_set_string(args, "Instance", "00000000000000000000000000000000");
    liar->lie = HONEST;
    assert_true(wire_relay(caller.wire, TARGET, VERB_INSTANCE, &(struct wire_body){.args = args}, 0,
                           on_answer, &answer) > 0);
    ad_destroy(args);
    world_until_flag(world, &answer.done);
    assert_int_equal(answer.status, -EACCES);
    const char *line = strstr(strbuf_text(&world->log_text), " wire.denied ");
    assert_non_null(line);
    assert_non_null(strstr(line, "verb=INSTANCE"));
    liar_end(liar);
}

static void a_request_that_the_hub_sends_elsewhere_is_refused(void **state)
{
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    liar->to = 1; /* another machine: another instance, whose id the hub may lie about, too */
    ask(liar, &caller, STALE_FOR_EVER, &answer);
    assert_int_equal(answer.status, -ESTALE);
    memcpy(liar->asked[1].context->instance.id, liar->asked[0].context->instance.id,
           INSTANCE_TEXT_SIZE);
    ask(liar, &caller, HONEST, &answer);
    assert_int_equal(answer.status, -EKEYREJECTED);
    assert_non_null(strstr(answer.text, "has not signed this request for 'startd/wn02'"));
    assert_int_equal(liar->asked[1].requests, 0);
    liar_end(liar);
}

static void a_request_that_the_hub_repeats_is_done_once(void **state)
{
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    ask(liar, &caller, REPEATED, &answer);
    assert_int_equal(answer.status, 0);
    world_until_flag(liar->world, &liar->second_done);
    assert_int_equal(liar->second_status, -EALREADY);
    assert_int_equal(liar->asked[0].requests, 1);
    liar_end(liar);
}

static void what_was_signed_for_an_earlier_instance_is_signed_again(void **state)
{
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    (void)snprintf(liar->old, sizeof liar->old, "%032d", 7);
    liar->names_old = true;
    ask(liar, &caller, HONEST, &answer);
    assert_int_equal(answer.status, 0); /* the receiver itself said what to sign for */
    assert_int_equal(liar->asked[0].requests, 1);
    assert_int_equal(liar->resolved, 1);
    liar_end(liar);
}

static void a_caller_gives_up_on_a_hub_that_always_names_another_instance(void **state)
{
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    ask(liar, &caller, STALE_FOR_EVER, &answer);
    assert_int_equal(answer.status, -ESTALE);
    assert_true(liar->resolved < 20);
    liar_end(liar);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void an_answer_that_the_receiver_did_not_sign_is_refused(void **state)
{
    static const enum lie LIES[] = {ANSWERS_ITSELF, OTHER_ANSWER, OTHER_STATUS, NO_SIGNATURE,
                                    ANSWERS_SIGNED};
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    for (size_t i = 0; i < sizeof LIES / sizeof LIES[0]; i++) {
        ask(liar, &caller, LIES[i], &answer);
        assert_int_equal(answer.status, -EBADMSG);
        assert_non_null(
            strstr(answer.text, "startd/wn01: the answer is not signed by this daemon"));
        assert_string_equal(answer.token_id, "");
    }
    /* The last was signed by a machine that may not have the name. */
    assert_non_null(
        strstr(answer.text, "its name pattern 'wn02' does not allow name 'startd/wn01'"));
    liar_end(liar);
}

static void a_refusal_of_the_hub_brings_a_sentence_and_nothing_else(void **state)
{
    struct end caller;
    struct answer answer;
    struct liar *liar = liar_start(*state, &caller);
    ask(liar, &caller, REFUSES, &answer);
    assert_int_equal(answer.status, -EACCES);
    assert_string_equal(answer.text, "no");
    assert_int_equal(answer.number, 0);
    liar_end(liar);
}

/* ---- instances ------------------------------------------------------------------------------- */

static void an_instance_takes_a_thousand_requests_each_once(void **state)
{
    struct world *world = *state;
    struct instance instance;
    uint8_t digest[P256_DIGEST_BYTES] = {0};
    char id[INSTANCE_TEXT_SIZE];
    instance_init(&instance, world->loop);
    memcpy(id, instance.id, sizeof id);
    assert_int_equal(strlen(id), INSTANCE_TEXT_SIZE - 1);
    for (uint32_t i = 1; i <= INSTANCE_NUMBERS; i++) {
        memcpy(digest + 8, &i, sizeof i); /* all in one bucket: the worst */
        assert_false(instance_renew(&instance, world->loop));
        assert_true(instance_take(&instance, world->loop, digest));
        assert_true(i == INSTANCE_NUMBERS || !instance_take(&instance, world->loop, digest));
    }
    assert_string_equal(instance.id, id);
    assert_true(instance_renew(&instance, world->loop));
    assert_string_not_equal(instance.id, id);
    assert_false(instance_renew(&instance, world->loop));
    assert_true(instance_take(&instance, world->loop, digest));
    /* Its time is counted from the first request. */
    instance.first_ms = loop_now_ms(world->loop) - INSTANCE_MS;
    assert_true(instance_renew(&instance, world->loop));
    instance_fini(&instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(an_honest_hub_carries_request_and_answer),
        WORLD_TEST(a_request_that_the_hub_altered_is_refused),
        WORLD_TEST(an_instance_is_not_relayed),
        WORLD_TEST(a_request_that_the_hub_sends_elsewhere_is_refused),
        WORLD_TEST(a_request_that_the_hub_repeats_is_done_once),
        WORLD_TEST(what_was_signed_for_an_earlier_instance_is_signed_again),
        WORLD_TEST(a_caller_gives_up_on_a_hub_that_always_names_another_instance),
        WORLD_TEST(an_answer_that_the_receiver_did_not_sign_is_refused),
        WORLD_TEST(a_refusal_of_the_hub_brings_a_sentence_and_nothing_else),
        WORLD_TEST(an_instance_takes_a_thousand_requests_each_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
