/* tests/unit/wire/test_wire_denied.c - what the log says of requests that are refused for the
 * rights of who asks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

static void on_request(void *arg, struct wire_request *request)
{
    (void)arg;
    wire_reply_ok(request, NULL); /* nothing of this test gets here */
}

static void on_answer(void *arg, struct wire_reply *reply)
{
    assert_int_equal(reply->status, -EACCES);
    *(bool *)arg = true;
}

static void ask(struct world *world, struct wire *wire, enum wire_verb verb)
{
    bool done = false;
    assert_true(wire_call(wire, verb, &(struct wire_body){.args = NULL}, 0, on_answer, &done) > 0);
    world_until_flag(world, &done);
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        count++;
    }
    return count;
}

/* Over one connection, which could be a hub's. */
static void the_noise_of_many_refusals_does_not_hide_another_one(void **state)
{
    struct world *world = *state;
    struct end end;
    world->handler = on_request;
    world_connect(world, "alice@pool", SCOPE_READ, &end);
    for (int i = 0; i < 200; i++) {
        ask(world, end.wire, VERB_SUBMIT);
    }
    ask(world, end.wire, VERB_EDIT);
    assert_int_equal(count_of(strbuf_text(&world->log_text), "verb=SUBMIT"), 16);
    assert_int_equal(count_of(strbuf_text(&world->log_text), "verb=EDIT"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(the_noise_of_many_refusals_does_not_hide_another_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
