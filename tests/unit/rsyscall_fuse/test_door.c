/* tests/unit/rsyscall_fuse/test_door.c - one session for several processes: who gets which answer,
 * who holds which handle.
 *
 * LINK: rsyscall
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall_fuse/rfs_rig.h"

#include "rsyscall_fuse/door.h"

#define CLIENTS 3

struct process {
    struct stream *stream;
    struct rsys_reply reply; /* the latest; its pointers are into the frame */
    unsigned char frame[4096];
    unsigned replies;
    bool closed;
};

struct hall {
    struct rig *rig;
    struct rfs_door *door;
    char path[120], address[140];
    struct process processes[CLIENTS];
};

static void process_readable(void *arg)
{
    struct process *process = arg;
    size_t length;
    for (;;) {
        const unsigned char *in = stream_input(process->stream, &length);
        int64_t size = rsys_frame_length(in, length);
        assert_true(size >= 0);
        if (size == 0 || (uint64_t)size > length) {
            return;
        }
        assert_true((size_t)size <= sizeof process->frame);
        memcpy(process->frame, in, (size_t)size);
        assert_int_equal(rsys_decode_reply(process->frame, (size_t)size, &process->reply), 0);
        process->replies++;
        stream_consume(process->stream, (size_t)size);
    }
}

static void process_closed(void *arg, int code, const char *why)
{
    struct process *process = arg;
    (void)code;
    (void)why;
    process->closed = true;
}

static void process_opened(void *arg)
{
    (void)arg;
}

static void say_to(struct process *process, struct rsys_request request)
{
    unsigned char fields[4096];
    int length = rsys_encode_request(&request, fields, sizeof fields);
    assert_true(length > 0);
    assert_int_equal(stream_write(process->stream, fields, (size_t)length), 0);
    if (request.data_length > 0) {
        assert_int_equal(stream_write(process->stream, request.data, request.data_length), 0);
    }
}

static struct process *dial_door(struct hall *hall, int i)
{
    static const struct stream_events EVENTS = {process_opened, process_readable, NULL,
                                                process_closed};
    struct process *process = &hall->processes[i];
    assert_int_equal(stream_connect(hall->rig->loop, hall->address, "rsys",
                                    &(struct stream_trust){.pin = NULL}, &EVENTS, process,
                                    &process->stream, NULL),
                     0);
    return process;
}

static struct process *enter(struct hall *hall, int i)
{
    struct process *process = dial_door(hall, i);
    say_to(process, (struct rsys_request){.op = RSYS_HELLO, .version = RSYS_VERSION, .slots = 16});
    RIG_AWAIT(hall->rig, process->replies == 1);
    assert_int_equal(process->reply.status, 0);
    return process;
}

static void leave(struct process *process)
{
    stream_close(process->stream);
    process->stream = NULL;
}

static struct rsys_request at_handle(uint16_t op, uint32_t seq, uint64_t handle)
{
    return (struct rsys_request){.op = op, .slot = 0, .seq = seq, .at = {.handle = handle}};
}

/* The process opens something, and the server gives it that handle; its name at the door. */
static uint64_t open_as(struct hall *hall, struct process *process, uint32_t seq, uint64_t handle)
{
    unsigned before = process->replies;
    struct rsys_request request = at_handle(RSYS_OPEN, seq, RSYS_ROOT);
    request.at.path = (struct rsys_text){"a", 1};
    request.how = RSYS_OPEN_READ;
    say_to(process, request);
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_OPEN);
    rig_answer(hall->rig, 0, &(struct rsys_reply){.handle = handle, .attr = {.mode = 0100644}});
    RIG_AWAIT(hall->rig, process->replies == before + 1);
    assert_int_equal(process->reply.status, 0);
    return process->reply.handle;
}

static int hall_setup_lingering(void **state, uint64_t linger_ms)
{
    struct hall *hall = mem_zalloc(sizeof *hall);
    void *rig = NULL;
    assert_int_equal(rig_setup(&rig), 0);
    hall->rig = rig;
    rig_add_root(hall->rig, 0, "/");
    rig_begin(hall->rig);
    hall->rig->welcome.data = hall->rig->roots;
    (void)snprintf(hall->path, sizeof hall->path, "%s/door", hall->rig->dir);
    (void)snprintf(hall->address, sizeof hall->address, "unix:%s", hall->path);
    assert_int_equal(rfs_door_create(hall->rig->loop, hall->rig->link, &hall->rig->welcome,
                                     hall->address, linger_ms, &hall->door, NULL),
                     0);
    *state = hall;
    return 0;
}

static int hall_setup(void **state)
{
    return hall_setup_lingering(state, 3600000);
}

static int hall_setup_brief(void **state)
{
    return hall_setup_lingering(state, 5);
}

static int hall_teardown(void **state)
{
    struct hall *hall = *state;
    void *rig = hall->rig;
    rfs_door_close(hall->door);
    rfs_link_destroy(hall->rig->link);
    hall->rig->link = NULL;
    rfs_door_destroy(hall->door);
    for (int i = 0; i < CLIENTS; i++) {
        stream_close(hall->processes[i].stream);
    }
    (void)unlink(hall->path);
    mem_free(hall);
    return rig_teardown(&rig);
}

static void a_process_is_told_the_roots_and_has_no_part_of_the_session(void **state)
{
    static const unsigned char NONE[RSYS_SESSION_SIZE] = {0};
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    struct rsys_root root;
    size_t at = 0;
    assert_int_equal(process->reply.slots, 16);
    assert_memory_equal(process->reply.session, NONE, sizeof NONE);
    assert_int_equal(rsys_root_next(process->reply.data, process->reply.data_length, &at, &root),
                     1);
    assert_string_equal(root.view.data, "/");
    assert_int_equal(hall->rig->hellos, 1); /* the server hears of none of it */
}

static void each_process_gets_the_answers_to_its_own_requests(void **state)
{
    struct hall *hall = *state;
    struct process *one = enter(hall, 0), *other = enter(hall, 1);
    struct rsys_request request = at_handle(RSYS_STAT, 7, RSYS_ROOT);
    request.at.path = (struct rsys_text){"one", 3};
    say_to(one, request);
    (void)rig_asked(hall->rig, 0);
    request.at.path = (struct rsys_text){"other", 5};
    request.slot = 3;
    say_to(other, request);
    assert_string_equal(rig_asked(hall->rig, 1)->at.path.data, "other");
    rig_answer_status(hall->rig, 1, -EACCES);
    RIG_AWAIT(hall->rig, other->replies == 2);
    assert_int_equal(other->reply.status, -EACCES);
    assert_int_equal(other->reply.slot, 3);
    assert_int_equal(other->reply.seq, 7);
    assert_int_equal(one->replies, 1);
    rig_answer_status(hall->rig, 0, -ENOENT);
    RIG_AWAIT(hall->rig, one->replies == 2);
    assert_int_equal(one->reply.status, -ENOENT);
    assert_int_equal(one->reply.slot, 0);
}

static void what_is_written_goes_on_whole(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    struct rsys_request request = at_handle(RSYS_WRITE, 2, open_as(hall, process, 1, 100));
    request.extent_count = 1;
    request.extents[0] = (struct rsys_extent){40, 5};
    request.data = "hello";
    request.data_length = 5;
    say_to(process, request);
    const struct rsys_request *asked = rig_asked(hall->rig, 0);
    assert_int_equal(asked->op, RSYS_WRITE);
    assert_int_equal(asked->at.handle, 100);
    assert_int_equal(asked->extents[0].offset, 40);
    assert_int_equal(asked->data_length, 5);
    assert_memory_equal(asked->data, "hello", 5);
    assert_false(rfs_door_is_quiet(hall->door));
    rig_answer(hall->rig, 0, &(struct rsys_reply){.value = 5});
    RIG_AWAIT(hall->rig, process->replies == 3);
    assert_int_equal(process->reply.value, 5);
    leave(process);
    RIG_AWAIT(hall->rig, rfs_door_is_quiet(hall->door));
}

static void the_last_that_closes_a_handle_closes_it(void **state)
{
    struct hall *hall = *state;
    struct process *one = enter(hall, 0), *other = enter(hall, 1);
    uint64_t name = open_as(hall, one, 1, 100);
    say_to(other, at_handle(RSYS_STAT, 1, name)); /* holds it */
    (void)rig_asked(hall->rig, 0);
    rig_answer_status(hall->rig, 0, -EIO);
    RIG_AWAIT(hall->rig, other->replies == 2);
    say_to(one, at_handle(RSYS_CLOSE, 2, name));
    RIG_AWAIT(hall->rig, one->replies == 3);
    assert_int_equal(one->reply.status, 0);
    assert_int_equal(hall->rig->asked.count, 0);
    say_to(other, at_handle(RSYS_CLOSE, 2, name));
    RIG_AWAIT(hall->rig, other->replies == 3);
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_CLOSE);
    assert_int_equal(rig_asked(hall->rig, 0)->at.handle, 100);
    rig_answer_status(hall->rig, 0, 0);
    say_to(other, at_handle(RSYS_CLOSE, 3, name));
    RIG_AWAIT(hall->rig, other->replies == 4);
    assert_int_equal(other->reply.status, -EBADF);
}

static void a_handle_that_is_not_the_jobs_is_not_asked_about(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    say_to(process, at_handle(RSYS_STAT, 1, 555));
    RIG_AWAIT(hall->rig, process->replies == 2);
    assert_int_equal(process->reply.status, -ESTALE);
    assert_int_equal(hall->rig->asked.count, 0);
}

static void what_a_process_had_open_lasts_for_those_that_it_made(void **state)
{
    struct hall *hall = *state;
    struct process *parent = enter(hall, 0);
    uint64_t name = open_as(hall, parent, 1, 100);
    leave(parent);
    struct process *child = enter(hall, 1);
    say_to(child, at_handle(RSYS_STAT, 1, name));
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_STAT);
    rig_answer_status(hall->rig, 0, -EIO);
    RIG_AWAIT(hall->rig, child->replies == 2);
}

static void what_nobody_holds_is_closed_after_a_while(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    (void)open_as(hall, process, 1, 100);
    for (int i = 0; i < 20; i++) {
        rig_turn(hall->rig);
    }
    assert_int_equal(hall->rig->asked.count, 0);
    leave(process);
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_CLOSE);
    rig_answer_status(hall->rig, 0, 0);
}

static void what_is_opened_for_a_process_that_is_gone_is_closed(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    struct rsys_request request = at_handle(RSYS_OPEN, 1, RSYS_ROOT);
    request.how = RSYS_OPEN_READ;
    say_to(process, request);
    (void)rig_asked(hall->rig, 0);
    leave(process);
    for (int i = 0; i < 5; i++) {
        rig_turn(hall->rig);
    }
    rig_answer(hall->rig, 0, &(struct rsys_reply){.handle = 100, .attr = {.mode = 0100644}});
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_CLOSE);
    assert_int_equal(rig_asked(hall->rig, 0)->at.handle, 100);
    rig_answer_status(hall->rig, 0, 0);
    RIG_AWAIT(hall->rig, rfs_door_is_quiet(hall->door));
}

static void who_breaks_the_rules_is_closed_and_nobody_else(void **state)
{
    struct hall *hall = *state;
    struct rfs_door_stats stats;
    struct process *bad = dial_door(hall, 0), *good = enter(hall, 1);
    say_to(bad, at_handle(RSYS_STAT, 1, RSYS_ROOT)); /* before HELLO */
    RIG_AWAIT(hall->rig, bad->closed);
    struct process *twice = enter(hall, 2);
    say_to(twice, at_handle(RSYS_STAT, 1, RSYS_ROOT));
    (void)rig_asked(hall->rig, 0);
    say_to(twice, at_handle(RSYS_STAT, 2, RSYS_ROOT)); /* in a slot that has no answer yet */
    RIG_AWAIT(hall->rig, twice->closed);
    rfs_door_get_stats(hall->door, &stats);
    assert_int_equal(stats.refused, 2);
    rig_answer_status(hall->rig, 0, -EIO); /* of one that is gone */
    say_to(good, at_handle(RSYS_STAT, 1, RSYS_ROOT));
    (void)rig_asked(hall->rig, 0);
    rig_answer_status(hall->rig, 0, -ENOENT);
    RIG_AWAIT(hall->rig, good->replies == 2);
    assert_int_equal(good->reply.status, -ENOENT);
}

/* ---- locks ----------------------------------------------------------------------------------- */

#define BY_FILE ((uint64_t)1 << 63)

static struct rsys_request lock_of(uint32_t seq, uint64_t name, uint64_t owner, uint32_t how)
{
    struct rsys_request ret = at_handle(RSYS_LOCK, seq, name);
    ret.owner = owner;
    ret.how = how;
    ret.lock.type = RSYS_LOCK_WRITE;
    return ret;
}

/* It asks for it, and has it. */
static void lock_as(struct hall *hall, struct process *process, const struct rsys_request *request)
{
    unsigned before = process->replies;
    say_to(process, *request);
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_LOCK);
    assert_int_equal(rig_asked(hall->rig, 0)->at.handle, 100);
    assert_int_equal(rig_asked(hall->rig, 0)->owner, request->owner);
    rig_answer_status(hall->rig, 0, 0);
    RIG_AWAIT(hall->rig, process->replies == before + 1);
}

static void locks_go_with_the_last_connection_of_their_owner(void **state)
{
    struct hall *hall = *state;
    struct process *one = enter(hall, 0), *same = enter(hall, 1);
    uint64_t name = open_as(hall, one, 1, 100);
    struct rsys_request lock = lock_of(2, name, 77, 0);
    lock_as(hall, one, &lock);
    lock.seq = 1;
    lock_as(hall, same, &lock);
    leave(one);
    for (int i = 0; i < 5; i++) {
        rig_turn(hall->rig);
    }
    assert_int_equal(hall->rig->asked.count, 0);
    leave(same);
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_FLUSH);
    assert_int_equal(rig_asked(hall->rig, 0)->owner, 77);
    assert_int_equal(rig_asked(hall->rig, 0)->at.handle, 100);
    rig_answer_status(hall->rig, 0, 0);
}

static void a_lock_of_the_file_is_given_back_before_its_last_close_is_answered(void **state)
{
    static const struct {
        uint64_t owner;
        uint32_t how;
        uint16_t op;
    } KINDS[] = {{0, RSYS_LOCK_FLOCK, RSYS_LOCK}, {BY_FILE | 5, 0, RSYS_FLUSH}};
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    uint32_t seq = 1;
    for (size_t i = 0; i < 2; i++) {
        uint64_t name = open_as(hall, process, seq, 100);
        struct rsys_request lock = lock_of(seq + 1, name, KINDS[i].owner, KINDS[i].how);
        lock_as(hall, process, &lock);
        unsigned before = process->replies;
        say_to(process, at_handle(RSYS_CLOSE, seq + 2, name));
        const struct rsys_request *asked = rig_asked(hall->rig, 0);
        assert_int_equal(asked->op, KINDS[i].op);
        assert_int_equal(asked->lock.type, RSYS_UNLOCKED);
        assert_int_equal(process->replies, before);
        rig_answer_status(hall->rig, 0, 0);
        RIG_AWAIT(hall->rig, process->replies == before + 1);
        assert_int_equal(process->reply.op, RSYS_CLOSE);
        assert_int_equal(process->reply.seq, seq + 2);
        assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_CLOSE);
        rig_answer_status(hall->rig, 0, 0);
        seq += 3;
    }
}

static void who_says_goodbye_is_answered_when_its_locks_are_gone(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    uint64_t name = open_as(hall, process, 1, 100);
    struct rsys_request lock = lock_of(2, name, 77, 0);
    lock_as(hall, process, &lock);
    lock = lock_of(3, name, 0, RSYS_LOCK_FLOCK);
    lock_as(hall, process, &lock);
    unsigned before = process->replies;
    say_to(process, (struct rsys_request){.op = RSYS_BYE, .slot = 0, .seq = 4});
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_FLUSH);
    assert_int_equal(rig_asked(hall->rig, 1)->op, RSYS_LOCK);
    rig_answer_status(hall->rig, 1, 0);
    assert_int_equal(rig_asked(hall->rig, 1)->op, RSYS_CLOSE);
    assert_int_equal(process->replies, before);
    rig_answer_status(hall->rig, 0, 0);
    RIG_AWAIT(hall->rig, process->replies == before + 1);
    assert_int_equal(process->reply.op, RSYS_BYE);
    rig_answer_status(hall->rig, 0, 0);
    say_to(process, (struct rsys_request){.op = RSYS_BYE, .slot = 0, .seq = 5});
    RIG_AWAIT(hall->rig, process->replies == before + 2); /* it has none any more */
}

static void a_lock_that_nobody_waits_for_any_more_is_given_back(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0), *waiter = enter(hall, 1);
    uint64_t name = open_as(hall, process, 1, 100);
    struct rsys_request lock = lock_of(1, name, 78, 0);
    lock.wait_ms = 10000;
    say_to(waiter, lock);
    uint16_t slot = rig_asked(hall->rig, 0)->slot;
    leave(waiter);
    assert_int_equal(rig_asked(hall->rig, 1)->op, RSYS_FLUSH);
    assert_int_equal(rig_asked(hall->rig, 2)->op, RSYS_CANCEL);
    assert_int_equal(rig_asked(hall->rig, 2)->slot_of, slot);
    rig_answer_status(hall->rig, 0, 0); /* it was faster */
    assert_int_equal(rig_asked(hall->rig, 2)->op, RSYS_LOCK);
    assert_int_equal(rig_asked(hall->rig, 2)->lock.type, RSYS_UNLOCKED);
    assert_int_equal(rig_asked(hall->rig, 2)->wait_ms, 0);
    for (int i = 0; i < 3; i++) {
        rig_answer_status(hall->rig, 0, 0);
    }
}

static void a_client_cancels_by_its_own_slot(void **state)
{
    struct hall *hall = *state;
    struct process *process = enter(hall, 0);
    uint64_t name = open_as(hall, process, 1, 100);
    struct rsys_request lock = lock_of(9, name, 78, 0);
    lock.slot = 3;
    say_to(process, lock);
    uint16_t slot = rig_asked(hall->rig, 0)->slot;
    say_to(process, (struct rsys_request){
                        .op = RSYS_CANCEL, .slot = 0, .seq = 2, .slot_of = 3, .seq_of = 9});
    assert_int_equal(rig_asked(hall->rig, 1)->op, RSYS_CANCEL);
    assert_int_equal(rig_asked(hall->rig, 1)->slot_of, slot);
    RIG_AWAIT(hall->rig, process->replies == 3);
    rig_answer_status(hall->rig, 0, -EINTR);
    RIG_AWAIT(hall->rig, process->replies == 4);
    assert_int_equal(process->reply.status, -EINTR);
    assert_int_equal(process->reply.slot, 3);
    rig_answer_status(hall->rig, 0, 0);
}

/* ---- another door ---------------------------------------------------------------------------- */

static void what_was_open_at_another_door_is_opened_by_the_name_that_it_had(void **state)
{
    struct hall *hall = *state;
    struct process *one = enter(hall, 0), *other = enter(hall, 1);
    struct rsys_request request = at_handle(RSYS_OPEN, 1, RSYS_ROOT);
    request.how = RSYS_OPEN_READ | RSYS_OPEN_SAME;
    request.attr = (struct rsys_attr){.dev = 3, .ino = 4, .size = 0x1234500000};
    say_to(one, request);
    say_to(other, request); /* it has the same file in common */
    assert_int_equal(rig_asked(hall->rig, 1)->attr.size, 0);
    assert_int_equal(rig_asked(hall->rig, 0)->attr.ino, 4);
    rig_answer(hall->rig, 0, &(struct rsys_reply){.handle = 100, .attr = {.mode = 0100644}});
    rig_answer(hall->rig, 0, &(struct rsys_reply){.handle = 101, .attr = {.mode = 0100644}});
    RIG_AWAIT(hall->rig, one->replies == 2 && other->replies == 2);
    assert_int_equal(one->reply.handle, 0x1234500000);
    assert_int_equal(other->reply.handle, 0x1234500000);
    assert_int_equal(rig_asked(hall->rig, 0)->op, RSYS_CLOSE); /* once is enough */
    uint64_t twice = rig_asked(hall->rig, 0)->at.handle;
    rig_answer_status(hall->rig, 0, 0);
    say_to(other, at_handle(RSYS_STAT, 2, 0x1234500000));
    assert_int_equal(rig_asked(hall->rig, 0)->at.handle, twice == 100 ? 101 : 100);
    rig_answer_status(hall->rig, 0, 0);
    struct process *third = enter(hall, 2);
    say_to(third, request);
    RIG_AWAIT(hall->rig, third->replies == 2); /* it is here again */
    assert_int_equal(third->reply.handle, 0x1234500000);
    assert_int_equal(hall->rig->asked.count, 0);
}

#define HALL_TEST(test)  cmocka_unit_test_setup_teardown(test, hall_setup, hall_teardown)
#define BRIEF_TEST(test) cmocka_unit_test_setup_teardown(test, hall_setup_brief, hall_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HALL_TEST(a_process_is_told_the_roots_and_has_no_part_of_the_session),
        HALL_TEST(each_process_gets_the_answers_to_its_own_requests),
        HALL_TEST(what_is_written_goes_on_whole),
        HALL_TEST(the_last_that_closes_a_handle_closes_it),
        HALL_TEST(a_handle_that_is_not_the_jobs_is_not_asked_about),
        HALL_TEST(what_a_process_had_open_lasts_for_those_that_it_made),
        BRIEF_TEST(what_nobody_holds_is_closed_after_a_while),
        BRIEF_TEST(what_is_opened_for_a_process_that_is_gone_is_closed),
        HALL_TEST(who_breaks_the_rules_is_closed_and_nobody_else),
        HALL_TEST(locks_go_with_the_last_connection_of_their_owner),
        HALL_TEST(a_lock_of_the_file_is_given_back_before_its_last_close_is_answered),
        HALL_TEST(who_says_goodbye_is_answered_when_its_locks_are_gone),
        HALL_TEST(a_lock_that_nobody_waits_for_any_more_is_given_back),
        HALL_TEST(a_client_cancels_by_its_own_slot),
        HALL_TEST(what_was_open_at_another_door_is_opened_by_the_name_that_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
