/* tests/unit/schedd/test_transfer_turns.c - who may transfer, and who waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

struct asked {
    bool begun, over;
    int status;
    int64_t call;
};

static void on_turn(void *arg, struct wire_reply *reply)
{
    struct asked *asked = arg;
    if (reply->more) {
        asked->begun = ad_bool_or(reply->args, "Begin", false);
    } else {
        asked->over = true;
        asked->status = reply->status;
    }
}

static void become_shadow(struct world *world, struct connection *shadow)
{
    struct answer answer;
    char hello[256];
    dial_as_shadow(world, shadow);
    (void)snprintf(hello, sizeof(hello), "[Owner = \"%s\"; Pid = 1]", world->me);
    int status;
    do { /* the one before may not be seen to have gone */
        status = call_on(shadow, VERB_SHADOW_HELLO, hello, NULL, &answer);
        answer_fini(&answer);
    } while (status == -EBUSY);
    assert_int_equal(status, 0);
}

static void ask(struct connection *shadow, const char *id, bool output, struct asked *asked)
{
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", id);
    ad_set_int(args, "ClaimEpoch", 0);
    ad_set_bool(args, "Output", output);
    const struct wire_body body = {.args = args};
    *asked = (struct asked){0};
    asked->call =
        wire_call(shadow->wire, VERB_TRANSFER_TURN, &body, WIRE_NO_DEADLINE, on_turn, asked);
    assert_true(asked->call > 0);
    ad_destroy(args);
}

/* What was said before has been heard. */
static void settle(struct connection *shadow)
{
    struct answer answer;
    (void)call_on(shadow, VERB_JOB_STATUS, "[JobId = \"1.0\"; ClaimEpoch = 7; Event = \"Ask\"]",
                  NULL, &answer);
    answer_fini(&answer);
}

static void shows(struct world *world, const char *constraint, size_t count)
{
    char args[256];
    (void)snprintf(args, sizeof(args), "[Type = \"Job\"; Constraint = \"%s\"]", constraint);
    count_is(world, args, count);
}

static void only_so_many_transfer_at_once_and_the_next_follows(void **state)
{
    struct world *world = *state;
    struct connection shadow;
    struct asked first, second, third, output;
    assert_int_equal(setenv("ROOST_MAX_CONCURRENT_UPLOADS", "1", 1), 0);
    restart(world);
    assert_int_equal(unsetenv("ROOST_MAX_CONCURRENT_UPLOADS"), 0);
    assert_int_equal(submit(world, "[" GOOD "]"), 1);
    become_shadow(world, &shadow);
    ask(&shadow, "1.0", false, &first);
    ask(&shadow, "1.0", false, &second);
    ask(&shadow, "1.0", false, &third);
    ask(&shadow, "1.0", true, &output);
    wait_for(world, &first.begun);
    wait_for(world, &output.begun); /* the other way has a limit of its own */
    assert_false(second.begun);
    wire_cancel(shadow.wire, second.call); /* while it waits */
    wire_cancel(shadow.wire, first.call);
    wait_for(world, &third.begun);
    settle(&shadow);
    assert_false(second.begun);
    shows(world, "TransferringInput && !TransferQueued", 1);
    wire_cancel(shadow.wire, output.call);
    wire_cancel(shadow.wire, third.call);
    settle(&shadow);
    shows(world, "TransferringInput =!= undefined || TransferQueued =!= undefined", 0);
    wire_close(shadow.wire);
}

static void a_shadow_that_dies_gives_its_turns_back(void **state)
{
    struct world *world = *state;
    struct connection shadow, another;
    struct asked first, second, stranger;
    assert_int_equal(setenv("ROOST_MAX_CONCURRENT_UPLOADS", "1", 1), 0);
    restart(world);
    assert_int_equal(unsetenv("ROOST_MAX_CONCURRENT_UPLOADS"), 0);
    assert_int_equal(submit(world, "[" GOOD "]"), 1);
    become_shadow(world, &shadow);
    ask(&shadow, "1.0", false, &first);
    wait_for(world, &first.begun);
    shows(world, "TransferringInput", 1);
    ask(&shadow, "9.0", false, &stranger);
    wait_for(world, &stranger.over);
    assert_int_equal(stranger.status, -ESTALE);
    wire_close(shadow.wire);
    become_shadow(world, &another); /* as soon as the first is seen to have gone */
    ask(&another, "1.0", false, &second);
    wait_for(world, &second.begun);
    wire_close(another.wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(only_so_many_transfer_at_once_and_the_next_follows),
        CASE(a_shadow_that_dies_gives_its_turns_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
