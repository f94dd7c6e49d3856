/* tests/unit/wire/test_wire_turns.c - connections of a process share the timer of their turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#define ENDS 3

struct asked {
    struct end *ends;
    struct wire_request *kept[ENDS]; /* what the server was asked */
    unsigned told;
    bool all_told;
};

static void keep(void *arg, struct wire_request *request)
{
    struct wire_request ***next = arg;
    *(*next)++ = request;
}

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct asked *asked = arg;
    assert_int_equal(reply->status, -ECONNRESET);
    asked->all_told = ++asked->told == ENDS;
}

static void on_first_answer(void *arg, struct wire_reply *reply)
{
    struct asked *asked = arg;
    for (unsigned i = 1; i < ENDS; i++) { /* they wait for their turns, too */
        wire_close(asked->ends[i].wire);
    }
    on_answer(arg, reply);
}

static bool all_kept(void *arg)
{
    struct wire_request **kept = arg;
    return kept[ENDS - 1] != NULL;
}

static void ask_all(struct world *world, struct end *ends, struct asked *asked,
                    wire_reply_f first_answer)
{
    struct wire_request **next = asked->kept;
    world->handler = keep;
    world->handler_arg = &next;
    *asked = (struct asked){.ends = ends};
    for (unsigned i = 0; i < ENDS; i++) {
        world_connect(world, "alice@pool", SCOPE_WRITE, &ends[i]);
        assert_true(wire_call(ends[i].wire, VERB_SUBMIT, NULL, 0, i == 0 ? first_answer : on_answer,
                              asked) > 0);
    }
    world_until(world, all_kept, asked->kept);
}

/* All ends are told; the server answers in vain. */
static void end_all(struct world *world, struct asked *asked)
{
    world_until_flag(world, &asked->all_told);
    for (unsigned i = 0; i < ENDS; i++) {
        wire_reply_ok(asked->kept[i], NULL);
    }
}

static void connections_that_end_in_one_moment_all_tell_it(void **state)
{
    struct world *world = *state;
    struct end ends[ENDS];
    struct asked asked;
    ask_all(world, ends, &asked, on_answer);
    for (unsigned i = 0; i < ENDS; i++) {
        wire_close(ends[i].wire);
    }
    end_all(world, &asked);
}

static void a_connection_may_end_others_in_its_turn(void **state)
{
    struct world *world = *state;
    struct end ends[ENDS];
    struct asked asked;
    ask_all(world, ends, &asked, on_first_answer);
    wire_close(ends[0].wire);
    end_all(world, &asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(connections_that_end_in_one_moment_all_tell_it),
        WORLD_TEST(a_connection_may_end_others_in_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
