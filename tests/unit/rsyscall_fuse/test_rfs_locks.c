/* tests/unit/rsyscall_fuse/test_rfs_locks.c - locks: what the server is asked, what is known here.
 *
 * LINK: rsyscall
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>

#include "base/file_locks.h"
#include "tests/unit/rsyscall_fuse/rfs_rig.h"

static uint64_t lock(struct rig *rig, uint64_t node, uint64_t fh, uint32_t opcode)
{
    struct fuse_lk_in arg = {.fh = fh, .owner = 3, .lk = {.start = 5, .end = 9, .type = 1}};
    return rig_kernel(rig, opcode, node, &arg, sizeof arg);
}

static void a_lock_is_granted_with_the_contents_of_who_had_it_before(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    for (int turn = 0; turn < 2; turn++) { /* the same, then changed */
        uint64_t unique = lock(rig, node, fh, FUSE_SETLK);
        const struct rsys_request *asked = rig_asked(rig, 0);
        assert_int_equal(asked->lock.type, RSYS_LOCK_WRITE);
        assert_int_equal(asked->lock.start, 5);
        assert_int_equal(asked->lock.length, 5);
        rig_answer_status(rig, 0, 0);
        assert_int_equal(rig_asked(rig, 0)->op, RSYS_STAT);
        assert_null(rig_find_told(rig, unique));
        answer_attr(rig, 0, attr_of(5, turn == 0 ? 0 : 50));
        assert_int_equal(rig_await_told(rig, unique)->error, 0);
        assert_int_equal(rig->drops, turn);
    }
}

static void take_lock(struct rig *rig, uint64_t node, struct fuse_lk_in arg)
{
    uint64_t unique = rig_kernel(rig, FUSE_SETLK, node, &arg, sizeof arg);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_LOCK);
    rig_answer_status(rig, 0, 0);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_STAT);
    answer_attr(rig, 0, attr_of(5, 0));
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
}

static void locks_of_an_open_file_are_told(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    struct fuse_ioctl_in ask = {.fh = fh,
                                .cmd = FILE_LOCKS_ASK,
                                .out_size = sizeof(struct file_locks_told)};
    struct file_locks_told told;
    /* Of who asks, 77; of another; of the file. */
    take_lock(rig, node, (struct fuse_lk_in){.fh = fh, .owner = 3, .lk = {5, 9, F_WRLCK, 77}});
    take_lock(rig, node,
              (struct fuse_lk_in){.fh = fh, .owner = 4, .lk = {20, INT64_MAX, F_RDLCK, 78}});
    take_lock(rig, node,
              (struct fuse_lk_in){.fh = fh,
                                  .owner = 5,
                                  .lk = {0, INT64_MAX, F_WRLCK, 78},
                                  .lk_flags = FUSE_LK_FLOCK});
    uint64_t unique = rig_kernel(rig, FUSE_IOCTL, node, &ask, sizeof ask);
    const struct told *answer = rig_await_told(rig, unique);
    assert_int_equal(answer->error, 0);
    assert_int_equal(answer->length, sizeof(struct fuse_ioctl_out) + sizeof told);
    memcpy(&told, answer->data + sizeof(struct fuse_ioctl_out), sizeof told);
    assert_int_equal(told.count, 3); /* the latest first */
    assert_int_equal(told.locks[0].flags, FILE_LOCK_WHOLE | FILE_LOCK_WRITES);
    assert_int_equal(told.locks[1].flags, 0);
    assert_int_equal(told.locks[1].start, 20);
    assert_true(told.locks[1].last == UINT64_MAX);
    assert_int_equal(told.locks[2].flags, FILE_LOCK_OWN | FILE_LOCK_WRITES);
    assert_int_equal(told.locks[2].start, 5);
    assert_int_equal(told.locks[2].last, 9);
    ask.cmd++;
    unique = rig_kernel(rig, FUSE_IOCTL, node, &ask, sizeof ask);
    assert_int_equal(rig_await_told(rig, unique)->error, -ENOTTY);
    nothing_is_asked(rig, 0);
}

/* The byte that both ranges have changes its kind, and nothing else of the first one does. */
static void a_lock_takes_of_its_owners_others_what_both_have(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    struct fuse_lk_in get = {.fh = fh, .owner = 4, .lk = {9, 9, F_WRLCK, 78}};
    struct fuse_lk_out out;
    take_lock(rig, node, (struct fuse_lk_in){.fh = fh, .owner = 3, .lk = {5, 9, F_WRLCK, 77}});
    take_lock(rig, node, (struct fuse_lk_in){.fh = fh, .owner = 3, .lk = {9, 14, F_RDLCK, 77}});
    uint64_t unique = rig_kernel(rig, FUSE_GETLK, node, &get, sizeof get);
    memcpy(&out, rig_await_told(rig, unique)->data, sizeof out);
    assert_int_equal(out.lk.type, F_RDLCK);
    assert_int_equal(out.lk.start, 9);
    get.lk = (struct fuse_file_lock){5, 8, F_RDLCK, 78};
    unique = rig_kernel(rig, FUSE_GETLK, node, &get, sizeof get);
    memcpy(&out, rig_await_told(rig, unique)->data, sizeof out);
    assert_int_equal(out.lk.type, F_WRLCK);
    assert_int_equal(out.lk.end, 8);
}

static void who_of_the_job_has_a_lock_is_known_here(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    struct fuse_lk_in get = {.fh = fh, .owner = 4, .lk = {9, 20, F_RDLCK, 78}};
    struct fuse_lk_out out;
    take_lock(rig, node, (struct fuse_lk_in){.fh = fh, .owner = 3, .lk = {5, 9, F_WRLCK, 77}});
    uint64_t unique = rig_kernel(rig, FUSE_GETLK, node, &get, sizeof get);
    const struct told *answer = rig_await_told(rig, unique);
    assert_int_equal(answer->error, 0);
    memcpy(&out, answer->data, sizeof out);
    assert_int_equal(out.lk.type, F_WRLCK);
    assert_int_equal(out.lk.pid, 77);
    assert_int_equal(out.lk.start, 5);
    assert_int_equal(out.lk.end, 9);
    nothing_is_asked(rig, 0);
    /* Its own is in nobody's way, nor is what is read in that of who reads. */
    get.owner = 3;
    (void)rig_kernel(rig, FUSE_GETLK, node, &get, sizeof get);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_LOCK);
    rig_answer_status(rig, 0, 0);
    get = (struct fuse_lk_in){.fh = fh, .owner = 4, .lk = {10, 20, F_WRLCK, 78}};
    (void)rig_kernel(rig, FUSE_GETLK, node, &get, sizeof get);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_LOCK);
    rig_answer_status(rig, 0, 0);
}

static void who_waits_for_a_lock_asks_again_and_can_be_interrupted(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    uint64_t unique = lock(rig, node, fh, FUSE_SETLKW);
    assert_true(rig_asked(rig, 0)->wait_ms > 0);
    rig_answer_status(rig, 0, -EAGAIN);
    const struct rsys_request *asked = rig_asked(rig, 0);
    assert_int_equal(asked->op, RSYS_LOCK);
    struct fuse_interrupt_in arg = {.unique = unique};
    (void)rig_kernel(rig, FUSE_INTERRUPT, 0, &arg, sizeof arg);
    assert_int_equal(rig_asked(rig, 1)->op, RSYS_CANCEL);
    assert_int_equal(rig_asked(rig, 1)->slot_of, asked->slot);
    assert_int_equal(rig_asked(rig, 1)->seq_of, asked->seq);
    rig_answer_status(rig, 1, 0);
    rig_answer_status(rig, 0, -EINTR);
    assert_int_equal(rig_await_told(rig, unique)->error, -EINTR);
    /* Its time is over just then: it does not wait on. */
    unique = lock(rig, node, fh, FUSE_SETLKW);
    (void)rig_asked(rig, 0);
    arg.unique = unique;
    (void)rig_kernel(rig, FUSE_INTERRUPT, 0, &arg, sizeof arg);
    (void)rig_asked(rig, 1);
    rig_answer_status(rig, 0, -EAGAIN);
    assert_int_equal(rig_await_told(rig, unique)->error, -EINTR);
    rig_answer_status(rig, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_lock_is_granted_with_the_contents_of_who_had_it_before),
        RIG_TEST(locks_of_an_open_file_are_told),
        RIG_TEST(a_lock_takes_of_its_owners_others_what_both_have),
        RIG_TEST(who_of_the_job_has_a_lock_is_known_here),
        RIG_TEST(who_waits_for_a_lock_asks_again_and_can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
