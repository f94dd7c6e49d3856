/* tests/unit/rsyscall_fuse/test_rfs_link.c - sessions of a client: slots, cuts, ends.
 *
 * LINK: rsyscall
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall_fuse/rfs_rig.h"

struct call {
    struct rfs_call call;
    bool done;
    int status;
};

static void is_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct call *own = (struct call *)call;
    assert_false(own->done);
    own->done = true;
    own->status = reply->status;
}

static void submit(struct rig *rig, struct call *call, uint16_t op, bool bulk)
{
    call->call.request.op = op;
    call->call.done = is_done;
    call->call.bulk = bulk;
    rfs_link_submit(rig->link, &call->call);
    assert_false(call->done);
}

static void calls_are_answered_in_any_order(void **state)
{
    struct rig *rig = *state;
    struct call calls[3] = {0};
    rig_begin(rig);
    for (int i = 0; i < 3; i++) {
        submit(rig, &calls[i], RSYS_STAT, false);
    }
    RIG_AWAIT(rig, rig->asked.count == 3);
    rig_answer_status(rig, 2, -ENOENT);
    RIG_AWAIT(rig, calls[2].done);
    assert_int_equal(calls[2].status, -ENOENT);
    assert_false(calls[0].done || calls[1].done);
    rig_answer_status(rig, 0, 0);
    RIG_AWAIT(rig, calls[0].done);
    rig_answer_status(rig, 0, -EIO);
    RIG_AWAIT(rig, calls[1].done);
    assert_int_equal(calls[1].status, -EIO);
}

static void a_slot_counts_and_is_used_again(void **state)
{
    struct rig *rig = *state;
    rig_begin(rig);
    for (uint32_t i = 1; i <= 3; i++) {
        struct call call = {0};
        submit(rig, &call, RSYS_STAT, false);
        const struct rsys_request *asked = rig_asked(rig, 0);
        assert_int_equal(asked->slot, 0);
        assert_int_equal(asked->seq, i);
        rig_answer_status(rig, 0, 0);
        RIG_AWAIT(rig, call.done);
    }
}

static void what_has_no_slot_waits_and_bulk_takes_half(void **state)
{
    struct rig *rig = *state;
    struct call bulk[6] = {0}, calls[6] = {0};
    rig_begin(rig); /* 8 slots */
    for (int i = 0; i < 6; i++) {
        submit(rig, &bulk[i], RSYS_READ, true);
    }
    for (int i = 0; i < 6; i++) {
        submit(rig, &calls[i], RSYS_STAT, false);
    }
    RIG_AWAIT(rig, rig->asked.count == 8);
    rig_turn(rig);
    rig_turn(rig);
    assert_int_equal(rig->asked.count, 8);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(rig_asked(rig, i)->op, RSYS_READ);
        assert_int_equal(rig_asked(rig, i + 4)->op, RSYS_STAT);
    }
    rig_answer_status(rig, 4, 0);
    RIG_AWAIT(rig, rig->asked.count == 8);
    assert_int_equal(rig_asked(rig, 7)->op, RSYS_STAT);
    rig_answer_status(rig, 0, 0);
    RIG_AWAIT(rig, rig->asked.count == 8);
    assert_int_equal(rig_asked(rig, 7)->op, RSYS_READ);
    while (rig->asked.count > 0) {
        rig_answer_status(rig, 0, 0);
        rig_turn(rig);
    }
    for (int i = 0; i < 6; i++) {
        RIG_AWAIT(rig, bulk[i].done && calls[i].done);
    }
}

static void after_a_cut_what_has_no_answer_is_sent_again_in_its_slot(void **state)
{
    struct rig *rig = *state;
    struct call calls[3] = {0};
    struct rfs_link_stats stats;
    rig_begin(rig);
    for (int i = 0; i < 3; i++) {
        calls[i].call.request.at.handle = (uint64_t)i + 100;
        submit(rig, &calls[i], RSYS_CLOSE, false);
    }
    RIG_AWAIT(rig, rig->asked.count == 3);
    rig_answer_status(rig, 1, 0);
    RIG_AWAIT(rig, calls[1].done);
    vec_clear(&rig->asked, rig_free_asked);
    rig_cut(rig);
    RIG_AWAIT(rig, !rfs_link_is_up(rig->link));
    struct call late = {0};
    submit(rig, &late, RSYS_STAT, false);
    RIG_AWAIT(rig, rig->asked.count == 3);
    assert_int_equal(rig->hellos, 2);
    assert_int_equal(rig_asked(rig, 0)->at.handle, 100);
    assert_int_equal(rig_asked(rig, 0)->slot, 0);
    assert_int_equal(rig_asked(rig, 0)->seq, 1);
    assert_int_equal(rig_asked(rig, 1)->at.handle, 102);
    assert_int_equal(rig_asked(rig, 1)->slot, 2);
    assert_int_equal(rig_asked(rig, 2)->op, RSYS_STAT);
    assert_int_equal(rig_asked(rig, 2)->slot, 1);
    assert_int_equal(rig_asked(rig, 2)->seq, 2);
    while (rig->asked.count > 0) {
        rig_answer_status(rig, 0, 0);
    }
    RIG_AWAIT(rig, calls[0].done && calls[2].done && late.done);
    rfs_link_get_stats(rig->link, &stats);
    assert_int_equal(stats.connections, 2);
    assert_int_equal(stats.resent, 2);
    assert_int_equal(rig->lost, 0);
}

static void a_server_that_is_silent_is_dialled_again(void **state)
{
    struct rig *rig = *state;
    struct call call = {0};
    rig->hello.lease_ms = 1600;
    rig->mute = true;
    rig_begin(rig);
    submit(rig, &call, RSYS_STAT, false);
    RIG_AWAIT(rig, rig->hellos >= 2);
    assert_true(rig->pings >= 1);
    RIG_AWAIT(rig, rig->asked.count >= 2); /* sent again */
    rig->mute = false;
    rig_answer_status(rig, rig->asked.count - 1, 0);
    RIG_AWAIT(rig, call.done);
    assert_int_equal(rig->lost, 0);
}

static void pings_keep_a_quiet_session(void **state)
{
    struct rig *rig = *state;
    rig->hello.lease_ms = 400;
    rig_begin(rig);
    RIG_AWAIT(rig, rig->pings >= 5);
    assert_int_equal(rig->hellos, 1);
}

static void a_client_that_was_held_up_does_not_take_that_for_silence(void **state)
{
    struct rig *rig = *state;
    rig->hello.lease_ms = 400;
    rig_begin(rig);
    for (unsigned i = 1; i <= 2; i++) {
        unsigned before = rig->pings;
        RIG_AWAIT(rig, rig->pings > before);
        uint64_t since = loop_now_ms(rig->loop);
        while (loop_now_ms(rig->loop) < since + 500) { /* five intervals */
        }
    }
    RIG_AWAIT(rig, rig->pings >= 5);
    assert_int_equal(rig->hellos, 1);
}

static void a_session_that_the_server_does_not_know_is_over(void **state)
{
    struct rig *rig = *state;
    struct call call = {0};
    rig_begin(rig);
    submit(rig, &call, RSYS_STAT, false);
    (void)rig_asked(rig, 0);
    rig->hello.status = -ESTALE;
    rig_cut(rig);
    RIG_AWAIT(rig, rig->lost != 0);
    assert_int_equal(rig->lost, -ESTALE);
    assert_false(call.done);
    rfs_link_destroy(rig->link);
    rig->link = NULL;
    assert_true(call.done);
    assert_int_equal(call.status, -ECONNABORTED);
}

static void a_wrong_ticket_is_told(void **state)
{
    struct rig *rig = *state;
    rig->hello.status = -EACCES;
    rig_dial(rig);
    RIG_AWAIT(rig, rig->lost == -EACCES);
    assert_false(rig->ready);
}

static void a_server_that_does_not_know_of_the_ticket_yet_is_dialled_again(void **state)
{
    struct rig *rig = *state;
    struct call call = {0};
    rig_begin(rig);
    rig->hello.status = -EACCES;
    rig_cut(rig);
    RIG_AWAIT(rig, rig->hellos >= 3);
    rig->hello.status = 0;
    submit(rig, &call, RSYS_STAT, false);
    (void)rig_asked(rig, 0);
    assert_int_equal(rig->lost, 0);
    rig_answer_status(rig, 0, 0);
    RIG_AWAIT(rig, call.done);
}

static void a_cut_that_lasts_too_long_ends_the_session(void **state)
{
    struct rig *rig = *state;
    rig->options.give_up_ms = 100;
    rig_begin(rig);
    listener_destroy(rig->listener);
    rig->listener = NULL;
    rig_cut(rig);
    RIG_AWAIT(rig, rig->lost != 0);
    assert_int_equal(rig->lost, -ETIMEDOUT);
}

static void answers_to_what_was_not_asked_end_the_session(void **state)
{
    struct rig *rig = *state;
    rig_begin(rig);
    rig_send(rig, &(struct rsys_reply){.op = RSYS_STAT, .slot = 5, .seq = 1, .status = -ENOENT});
    RIG_AWAIT(rig, rig->lost != 0);
    assert_int_equal(rig->lost, -EPROTO);
}

static void a_hello_that_makes_no_sense_ends_the_session(void **state)
{
    struct rig *rig = *state;
    rig->hello.slots = RSYS_SLOTS_MAX + 1;
    rig_dial(rig);
    RIG_AWAIT(rig, rig->lost != 0);
    assert_int_equal(rig->lost, -EPROTO);
}

static void what_cannot_be_said_is_refused_later(void **state)
{
    struct rig *rig = *state;
    struct call call = {0};
    rig_begin(rig);
    call.call.request.at.path.data = "a//b";
    call.call.request.at.path.length = 4;
    submit(rig, &call, RSYS_STAT, false);
    RIG_AWAIT(rig, call.done);
    assert_int_equal(call.status, -EINVAL);
    struct call next = {0};
    submit(rig, &next, RSYS_STAT, false);
    assert_int_equal(rig_asked(rig, 0)->seq, 1); /* no number is left out */
    rig_answer_status(rig, 0, 0);
    RIG_AWAIT(rig, next.done);
}

static void a_server_that_has_moved_is_dialled_where_it_is_now(void **state)
{
    struct rig *rig = *state;
    char address[sizeof rig->address + 8];
    rig_begin(rig);
    listener_destroy(rig->listener);
    (void)snprintf(address, sizeof address, "%s-moved", rig->address);
    assert_int_equal(listener_create(rig->loop, address, rig_incoming, rig, &rig->listener, NULL),
                     0);
    rig_cut(rig);
    RIG_AWAIT(rig, !rfs_link_is_up(rig->link));
    rig->moved = address;
    RIG_AWAIT(rig, rfs_link_is_up(rig->link));
    assert_int_equal(rig->hellos, 2);
    assert_int_equal(rig->lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(calls_are_answered_in_any_order),
        RIG_TEST(a_slot_counts_and_is_used_again),
        RIG_TEST(what_has_no_slot_waits_and_bulk_takes_half),
        RIG_TEST(after_a_cut_what_has_no_answer_is_sent_again_in_its_slot),
        RIG_TEST(a_server_that_is_silent_is_dialled_again),
        RIG_TEST(pings_keep_a_quiet_session),
        RIG_TEST(a_client_that_was_held_up_does_not_take_that_for_silence),
        RIG_TEST(a_session_that_the_server_does_not_know_is_over),
        RIG_TEST(a_server_that_has_moved_is_dialled_where_it_is_now),
        RIG_TEST(a_wrong_ticket_is_told),
        RIG_TEST(a_server_that_does_not_know_of_the_ticket_yet_is_dialled_again),
        RIG_TEST(a_cut_that_lasts_too_long_ends_the_session),
        RIG_TEST(answers_to_what_was_not_asked_end_the_session),
        RIG_TEST(a_hello_that_makes_no_sense_ends_the_session),
        RIG_TEST(what_cannot_be_said_is_refused_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
