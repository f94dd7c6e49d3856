/* tests/unit/wire/test_wire_tell.c - requests that are answered only if there is something to say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#define ANYBODY (SCOPE_READ | SCOPE_WRITE)

/* The client's connection, and what it was told. */
struct client {
    struct world *world;
    struct end end;
    unsigned complaints, answers;
    bool answered, complained;
    int status;
    char text[200];
    int64_t number;
    bool close_in_complaint;
};

static void on_complaint(void *arg, struct wire_reply *reply)
{
    struct client *client = arg;
    client->complaints++;
    client->complained = true;
    client->status = reply->status;
    (void)snprintf(client->text, sizeof client->text, "%s", reply->text);
    client->number = reply->args == NULL ? 0 : ad_int_or(reply->args, "Number", 0);
    if (client->close_in_complaint) {
        wire_close(client->end.wire);
        client->end.wire = NULL;
    }
}

static void on_ready(void *arg, struct wire *wire)
{
    struct client *client = arg;
    assert_ptr_equal(client->end.wire, wire);
    client->end.ready = true;
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct client *client = arg;
    end_closed(&client->end, wire, status, why);
}

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct client *client = arg;
    assert_int_equal(reply->status, 0);
    client->answers++;
    client->answered = true;
}

/* QUERY is done, with nothing to say; SUBMIT is answered with Number; ACT fails. */
static void on_request(void *arg, struct wire_request *request)
{
    unsigned *requests = arg;
    ++*requests;
    if (wire_request_verb(request) == VERB_ACT) {
        wire_reply_error(request, -EPERM, "not your job");
        return;
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Number", 7);
    struct wire_body body = {.args = wire_request_verb(request) == VERB_SUBMIT ? args : NULL};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void dial(struct world *world, struct client *client, uint32_t scopes, unsigned *requests)
{
    static const struct wire_events EVENTS = {.ready = on_ready,
                                              .complaint = on_complaint,
                                              .closed = on_closed};
    struct wire_dial how = {.address = world->tcp, .route = "collector", .pin = world->pin};
    world->handler = on_request;
    world->handler_arg = requests;
    world_token(world, "alice@pool", scopes);
    *client = (struct client){.world = world};
    assert_int_equal(wire_dial(world->client, &how, &EVENTS, client, &client->end.wire, NULL), 0);
    assert_int_equal(wire_tell(client->end.wire, VERB_QUERY, NULL), -ENOTCONN);
    world_until_flag(world, &client->end.ready);
}

/* What was told before it is handled, and what there was to say has come. */
static void settle(struct client *client)
{
    client->answered = false;
    assert_true(wire_call(client->end.wire, VERB_QUERY, NULL, 0, on_answer, client) > 0);
    world_until_flag(client->world, &client->answered);
}

static void what_is_told_and_done_is_not_answered(void **state)
{
    struct world *world = *state;
    struct client client;
    unsigned requests = 0;
    dial(world, &client, ANYBODY, &requests);
    for (int i = 0; i < WIRE_REQUESTS_MAX + 10; i++) { /* none of them waits for anything */
        assert_true(wire_tell(client.end.wire, VERB_QUERY, NULL) > 0);
    }
    settle(&client);
    assert_int_equal(requests, WIRE_REQUESTS_MAX + 11);
    assert_int_equal(client.complaints, 0);
    assert_int_equal(client.answers, 1);
}

static void what_fails_is_a_complaint_with_its_text(void **state)
{
    struct world *world = *state;
    struct client client;
    unsigned requests = 0;
    dial(world, &client, ANYBODY, &requests);
    assert_true(wire_tell(client.end.wire, VERB_ACT, NULL) > 0);
    settle(&client);
    assert_int_equal(client.complaints, 1);
    assert_int_equal(client.status, -EPERM);
    assert_string_equal(client.text, "not your job");
}

static void a_success_that_says_more_is_heard(void **state)
{
    struct world *world = *state;
    struct client client;
    unsigned requests = 0;
    dial(world, &client, ANYBODY, &requests);
    assert_true(wire_tell(client.end.wire, VERB_SUBMIT, NULL) > 0);
    settle(&client);
    assert_int_equal(client.complaints, 1);
    assert_int_equal(client.status, 0);
    assert_int_equal(client.number, 7);
}

static void a_verb_that_may_not_be_called_is_a_complaint(void **state)
{
    struct world *world = *state;
    struct client client;
    unsigned requests = 0;
    dial(world, &client, SCOPE_READ, &requests);
    assert_true(wire_tell(client.end.wire, VERB_SUBMIT, NULL) > 0);
    settle(&client);
    assert_int_equal(client.complaints, 1);
    assert_int_equal(client.status, -EACCES);
    assert_int_equal(requests, 1);
}

static void a_wire_may_be_closed_in_a_complaint(void **state)
{
    struct world *world = *state;
    struct client client;
    unsigned requests = 0;
    dial(world, &client, ANYBODY, &requests);
    client.close_in_complaint = true;
    assert_true(wire_tell(client.end.wire, VERB_ACT, NULL) > 0);
    assert_true(wire_tell(client.end.wire, VERB_ACT, NULL) > 0);
    world_until_flag(world, &client.complained);
    world_turns(world);
    assert_int_equal(client.complaints, 1);
    assert_false(client.end.closed);
}

static void what_is_too_large_to_be_told_is_refused_at_home(void **state)
{
    struct world *world = *state;
    struct client client;
    unsigned requests = 0;
    dial(world, &client, ANYBODY, &requests);
    char *much = mem_zalloc(WIRE_FRAME_MAX);
    struct wire_body body = {.blob = much, .blob_length = WIRE_FRAME_MAX};
    assert_int_equal(wire_tell(client.end.wire, VERB_QUERY, &body), -EMSGSIZE);
    mem_free(much);
    settle(&client);
    assert_int_equal(requests, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(what_is_told_and_done_is_not_answered),
        WORLD_TEST(what_fails_is_a_complaint_with_its_text),
        WORLD_TEST(a_success_that_says_more_is_heard),
        WORLD_TEST(a_verb_that_may_not_be_called_is_a_complaint),
        WORLD_TEST(a_wire_may_be_closed_in_a_complaint),
        WORLD_TEST(what_is_too_large_to_be_told_is_refused_at_home),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
