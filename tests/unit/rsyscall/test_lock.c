/* tests/unit/rsyscall/test_lock.c - locks: whose, waited for, given up.
 *
 * TIMEOUT: 120
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall/rsys_rig.h"

static struct rsys_request lock_of(int64_t handle, uint32_t type, uint64_t owner)
{
    return (struct rsys_request){.op = RSYS_LOCK,
                                 .at.handle = (uint64_t)handle,
                                 .lock = {.type = type, .start = 10, .length = 5},
                                 .owner = owner};
}

static void locks_are_those_of_this_machine(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_WRITE, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    assert_int_equal(rig_ask(rig, &lock)->status, 0); /* its own is no hindrance */
    int fd = open(rig_path(rig, "f"), O_RDWR);
    struct flock own = {.l_type = F_WRLCK, .l_start = 12, .l_len = 1};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), -1);
    own.l_start = 15;
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), 0);
    lock.lock.start = 15;
    assert_int_equal(rig_ask(rig, &lock)->status, -EAGAIN);
    lock.how = RSYS_LOCK_GET;
    const struct rsys_reply *reply = rig_ask(rig, &lock);
    assert_int_equal(reply->lock.type, RSYS_LOCK_WRITE);
    assert_int_equal(reply->lock.start, 15);
    assert_int_equal(reply->lock.length, 1);
    lock.lock.start = 30;
    assert_int_equal(rig_ask(rig, &lock)->lock.type, RSYS_UNLOCKED);
    /* Another process of the job is another owner. */
    lock = lock_of(handle, RSYS_LOCK_READ, 2);
    assert_int_equal(rig_ask(rig, &lock)->status, -EAGAIN);
    struct rsys_request unlock = lock_of(handle, RSYS_UNLOCKED, 1);
    assert_int_equal(rig_ask(rig, &unlock)->status, 0);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    assert_int_equal(close(fd), 0);
}

static void locks_go_with_their_owner_and_with_the_last_handle(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, NULL);
    int64_t one = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    int64_t two = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request first = lock_of(one, RSYS_LOCK_WRITE, 1);
    struct rsys_request second = lock_of(two, RSYS_LOCK_WRITE, 2);
    struct rsys_request flush = {.op = RSYS_FLUSH, .at.handle = (uint64_t)one, .owner = 2};
    assert_int_equal(rig_ask(rig, &first)->status, 0);
    assert_int_equal(rig_ask(rig, &flush)->status, 0); /* another's */
    assert_int_equal(rig_ask(rig, &second)->status, -EAGAIN);
    flush.owner = 1;
    flush.at.handle = (uint64_t)two; /* any descriptor of the file will do */
    assert_int_equal(rig_ask(rig, &flush)->status, 0);
    assert_int_equal(rig_ask(rig, &second)->status, 0);
    assert_int_equal(rig_stats(rig).handles, 3); /* the first owner is forgotten */
    struct rsys_request close_one = {.op = RSYS_CLOSE, .at.handle = (uint64_t)one};
    struct rsys_request close_two = {.op = RSYS_CLOSE, .at.handle = (uint64_t)two};
    assert_int_equal(rig_ask(rig, &close_one)->status, 0);
    assert_int_equal(rig_ask(rig, &close_two)->status, 0);
    assert_int_equal(rig_stats(rig).handles, 0);
    int fd = open(rig_path(rig, "f"), O_RDWR);
    struct flock own = {.l_type = F_WRLCK};
    RIG_POLL(rig, fcntl(fd, F_OFD_SETLK, &own) == 0);
    assert_int_equal(close(fd), 0);
}

static void a_handle_gives_the_locks_that_fcntl_would_give(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, NULL);
    int64_t reads = rig_open_file(rig, "f", RSYS_OPEN_READ);
    int64_t writes = rig_open_file(rig, "f", RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(reads, RSYS_LOCK_WRITE, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, -EBADF);
    lock = lock_of(writes, RSYS_LOCK_READ, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, -EBADF);
    lock = lock_of(reads, RSYS_LOCK_READ, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    lock = lock_of(writes, RSYS_LOCK_WRITE, 1); /* its own is in nobody's way */
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
}

/* It would be busy for who wants to run it. */
static void a_file_that_is_read_only_is_not_opened_for_writing_to_lock_it(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789abcdef");
    const struct rsys_offer_root root = {.view = "/", .directory = rig->root, .readonly = true};
    struct rsys_offer offer = {.roots = &root, .root_count = 1, .limits = RSYS_LIMITS_DEFAULT};
    rig_open(rig, &offer);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_READ, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    int fd = open(rig_path(rig, "f"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_RDLCK), 0); /* nobody has it open for writing */
    assert_int_equal(close(fd), 0);
}

/* As close() drops a process's locks before it returns. */
static void what_an_owner_locked_is_free_when_its_flush_is_answered(void **state)
{
    struct rig *rig = *state;
    struct flock own = {.l_type = F_WRLCK};
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_WRITE, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    int fd = open(rig_path(rig, "f"), O_RDWR);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), -1);
    struct rsys_request flush = {.op = RSYS_FLUSH, .at.handle = (uint64_t)handle, .owner = 1};
    assert_int_equal(rig_ask(rig, &flush)->status, 0);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), 0);
    assert_int_equal(close(fd), 0);
}

static void a_lock_is_waited_for_without_a_lane(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.lanes = 1;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, &offer);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_WRITE, 1);
    struct rsys_request waits = lock_of(handle, RSYS_LOCK_WRITE, 2);
    struct rsys_request unlock = lock_of(handle, RSYS_UNLOCKED, 1);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    waits.wait_ms = RSYS_LOCK_WAIT_MS_MAX;
    rig_send(rig, 1, &waits);
    assert_int_equal(rig_write_at(rig, (uint64_t)handle, 0, "x"), 0); /* the lane is free */
    assert_false(rig->slots[1].answered);
    assert_int_equal(rig_ask(rig, &unlock)->status, 0);
    assert_int_equal(rig_await(rig, 1)->status, 0);
    /* Of a program of this machine, too. */
    int fd = open(rig_path(rig, "f"), O_RDWR);
    struct flock own = {.l_type = F_WRLCK, .l_start = 100, .l_len = 1};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &own), 0);
    waits.lock.start = 100;
    rig_send(rig, 1, &waits);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(rig_await(rig, 1)->status, 0);
}

static void waiting_for_a_lock_ends_when_told_or_when_its_time_is_over(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_WRITE, 1);
    struct rsys_request waits = lock_of(handle, RSYS_LOCK_WRITE, 2);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    waits.wait_ms = 50;
    rig_send(rig, 1, &waits);
    assert_int_equal(rig_await(rig, 1)->status, -EAGAIN);
    waits.wait_ms = RSYS_LOCK_WAIT_MS_MAX;
    rig_send(rig, 1, &waits);
    struct rsys_request cancel = {.op = RSYS_CANCEL, .slot_of = 1, .seq_of = rig->slots[1].seq - 1};
    assert_int_equal(rig_ask(rig, &cancel)->status, 0); /* of one that is over: nothing */
    assert_false(rig->slots[1].answered);
    cancel.seq_of++;
    assert_int_equal(rig_ask(rig, &cancel)->status, 0);
    assert_int_equal(rig_await(rig, 1)->status, -EINTR);
    struct rsys_request unlock = lock_of(handle, RSYS_UNLOCKED, 1);
    assert_int_equal(rig_ask(rig, &unlock)->status, 0);
    waits.wait_ms = 0;
    assert_int_equal(rig_ask(rig, &waits)->status, 0); /* it was not taken after all */
}

static void a_waiting_lock_survives_a_cut_and_ends_with_its_session(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_WRITE, 1);
    struct rsys_request waits = lock_of(handle, RSYS_LOCK_WRITE, 2);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    waits.wait_ms = RSYS_LOCK_WAIT_MS_MAX;
    rig_send(rig, 1, &waits);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    rig_send_again(rig, 1, &waits);
    struct rsys_request unlock = lock_of(handle, RSYS_UNLOCKED, 1);
    assert_int_equal(rig_ask(rig, &unlock)->status, 0);
    assert_int_equal(rig_await(rig, 1)->status, 0);
    rig_send(rig, 2, &waits); /* owner 2 has it: its own */
    assert_int_equal(rig_await(rig, 2)->status, 0);
    lock.wait_ms = RSYS_LOCK_WAIT_MS_MAX;
    rig_send(rig, 3, &lock);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_BYE}), 0);
    RIG_POLL(rig, rig_stats(rig).handles == 0); /* a lane may still be asking for it */
}

static void ranges_are_limited_as_many_as_are_locked_at_once(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.ranges = 200;
    rig_put_file(rig, "f", "0123456789abcdef");
    rig_open(rig, &offer);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    struct rsys_request lock = lock_of(handle, RSYS_LOCK_WRITE, 1);
    struct rsys_request unlock = lock_of(handle, RSYS_UNLOCKED, 1);
    /* Who gives back what it took goes on for ever. */
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(rig_ask(rig, &lock)->status, 0);
        assert_int_equal(rig_ask(rig, &unlock)->status, 0);
    }
    struct rsys_request wrong = lock_of(handle, RSYS_LOCK_WRITE, 1);
    int status = 0, count = 0;
    wrong.how = RSYS_LOCK_GET | 64;
    while (status == 0 && count < 1000) {
        lock.lock = (struct rsys_lock){.type = RSYS_LOCK_WRITE,
                                       .start = 10 * (uint64_t)count++,
                                       .length = 1};
        lock.owner = (uint64_t)(count % 3);
        status = rig_ask(rig, &lock)->status;
        wrong.owner = lock.owner;
        assert_int_equal(rig_ask(rig, &wrong)->status, -EINVAL); /* does not hide them */
    }
    assert_int_equal(status, -ENOLCK);
    assert_in_range(count, 90, 201);
    /* What one owner gave back is there for another, however he did it. */
    unlock.owner = 0;
    unlock.lock = (struct rsys_lock){.type = RSYS_UNLOCKED};
    assert_int_equal(rig_ask(rig, &unlock)->status, 0);
    assert_int_equal(rig_ask(rig, &lock)->status, 0);
    struct rsys_request flush = {.op = RSYS_FLUSH, .at.handle = (uint64_t)handle, .owner = 1};
    assert_int_equal(rig_ask(rig, &flush)->status, 0);
    for (int i = 0; i < 50; i++) {
        lock.lock.start += 10;
        assert_int_equal(rig_ask(rig, &lock)->status, 0);
    }
}

static void whole_files_are_locked_by_their_handle(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "x");
    rig_open(rig, NULL);
    struct rsys_request one = lock_of(rig_open_file(rig, "f", RSYS_OPEN_READ), RSYS_LOCK_WRITE, 0);
    struct rsys_request two = lock_of(rig_open_file(rig, "f", RSYS_OPEN_READ), RSYS_LOCK_READ, 0);
    one.how = two.how = RSYS_LOCK_FLOCK;
    assert_int_equal(rig_ask(rig, &one)->status, 0);
    assert_int_equal(rig_ask(rig, &two)->status, -EAGAIN);
    one.lock.type = RSYS_UNLOCKED;
    assert_int_equal(rig_ask(rig, &one)->status, 0);
    assert_int_equal(rig_ask(rig, &two)->status, 0);
}

UNIT_TESTS(RIG_UNIT(locks_are_those_of_this_machine),
           RIG_UNIT(locks_go_with_their_owner_and_with_the_last_handle),
           RIG_UNIT(a_handle_gives_the_locks_that_fcntl_would_give),
           RIG_UNIT(a_file_that_is_read_only_is_not_opened_for_writing_to_lock_it),
           RIG_UNIT(what_an_owner_locked_is_free_when_its_flush_is_answered),
           RIG_UNIT(a_lock_is_waited_for_without_a_lane),
           RIG_UNIT(waiting_for_a_lock_ends_when_told_or_when_its_time_is_over),
           RIG_UNIT(a_waiting_lock_survives_a_cut_and_ends_with_its_session),
           RIG_UNIT(ranges_are_limited_as_many_as_are_locked_at_once),
           RIG_UNIT(whole_files_are_locked_by_their_handle))
