/* tests/unit/rsyscall_fuse/test_rfs_renew.c - a server that was started again, and what was open.
 *
 * LINK: rsyscall
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall_fuse/rfs_rig.h"

#define FLAG_RDWR   02U
#define FLAG_APPEND 02000U
#define BORN        777U
#define OWNER       31
#define READ_LOCK   0
#define WRITE_LOCK  1
#define NO_LOCK     2

struct file {
    uint64_t node, fh;
};

static void begin(struct rig *rig)
{
    rig->renews = true;
    mounted(rig);
}

/* Its handle is the inode's number and 1000. */
static struct file open_file(struct rig *rig, const char *name, uint64_t ino, uint32_t flags)
{
    struct fuse_open_in arg = {.flags = flags};
    struct fuse_open_out out;
    struct file file = {.node = look_up(rig, TOP, name, attr_of(ino, 100))};
    uint64_t unique = rig_kernel(rig, FUSE_OPEN, file.node, &arg, sizeof arg);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_OPEN);
    struct rsys_reply reply = {.handle = 1000 + ino, .birth = BORN, .attr = attr_of(ino, 100)};
    rig_answer(rig, 0, &reply);
    memcpy(&out, rig_await_told(rig, unique)->data, sizeof out);
    file.fh = out.fh;
    return file;
}

/* The server is another one, which has not been asked for anything. */
static void forget(struct rig *rig)
{
    unsigned hellos = rig->hellos;
    vec_clear(&rig->asked, rig_free_asked);
    rig->forgets = true;
    rig_cut(rig);
    RIG_AWAIT(rig, rig->hellos == hellos + 2 || rig->lost != 0);
}

static const struct rsys_request *asks_to_open(struct rig *rig, size_t i, const char *name,
                                               uint64_t ino)
{
    const struct rsys_request *asked = rig_asked(rig, i);
    assert_int_equal(asked->op, RSYS_OPEN);
    assert_string_equal(asked->at.path.data, name);
    assert_int_equal(asked->at.handle, 0);
    assert_true((asked->how & RSYS_OPEN_SAME) != 0);
    assert_int_equal(asked->attr.dev, 9);
    assert_int_equal(asked->attr.ino, ino);
    assert_int_equal(asked->birth, BORN);
    return asked;
}

static void open_again(struct rig *rig, size_t i, uint64_t handle, struct rsys_attr attr)
{
    struct rsys_reply reply = {.handle = handle, .birth = BORN, .attr = attr};
    rig_answer(rig, i, &reply);
}

static uint64_t write_to(struct rig *rig, struct file file, uint64_t offset, size_t length)
{
    static const unsigned char DATA[4096];
    struct fuse_write_in arg = {.fh = file.fh, .offset = offset, .size = (uint32_t)length};
    return rig_kernel2(rig, FUSE_WRITE, file.node, &arg, sizeof arg, DATA, length);
}

static void is_over(struct rig *rig)
{
    RIG_AWAIT(rig, rig->lost != 0);
    assert_int_equal(rig->lost, -ESTALE);
}

static void what_was_open_is_opened_again_as_the_same_file_and_goes_on(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    struct file one = open_file(rig, "one", 5, FLAG_RDWR), two = open_file(rig, "two", 6, 0);
    (void)write_to(rig, one, 50, 7);
    assert_int_equal(rig_asked(rig, 0)->at.handle, 1005);
    forget(rig);
    (void)asks_to_open(rig, 0, "two", 6);
    assert_int_equal(asks_to_open(rig, 1, "one", 5)->how & RSYS_OPEN_WRITE, RSYS_OPEN_WRITE);
    uint64_t late = rig_kernel(rig, FUSE_LOOKUP, TOP, "late", 5);
    nothing_is_asked(rig, 2);
    /* Numbers that others had in the session before. */
    open_again(rig, 0, 1005, attr_of(6, 100));
    nothing_is_asked(rig, 1);
    open_again(rig, 0, 1006, attr_of(5, 100));
    const struct rsys_request *asked = rig_asked(rig, 0);
    assert_int_equal(asked->op, RSYS_WRITE);
    assert_int_equal(asked->at.handle, 1006);
    assert_int_equal(asked->seq, 2); /* of its slot, in which the file was opened */
    assert_string_equal(rig_asked(rig, 1)->at.path.data, "late");
    rig_answer(rig, 0, &(struct rsys_reply){.value = 7});
    answer_attr(rig, 0, attr_of(9, 1));
    assert_int_equal(rig_await_told(rig, late)->error, 0);
    struct fuse_release_in release = {.fh = two.fh};
    (void)rig_kernel(rig, FUSE_RELEASE, two.node, &release, sizeof release);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_CLOSE);
    assert_int_equal(rig_asked(rig, 0)->at.handle, 1005);
    assert_int_equal(rig->lost, 0);
}

static void a_file_that_is_another_one_ends_the_session(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    (void)open_file(rig, "one", 5, 0);
    forget(rig);
    (void)asks_to_open(rig, 0, "one", 5);
    rig_answer_status(rig, 0, -ESTALE);
    is_over(rig);
}

static void a_file_without_a_name_ends_the_session(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    (void)open_file(rig, "one", 5, 0);
    uint64_t unique = rig_kernel(rig, FUSE_UNLINK, TOP, "one", 4);
    (void)rig_asked(rig, 0);
    rig_answer_status(rig, 0, 0);
    (void)rig_await_told(rig, unique);
    forget(rig);
    is_over(rig);
}

static void a_server_that_offers_something_else_ends_the_session(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    rig_add_root(rig, 1, "/other");
    forget(rig);
    is_over(rig);
}

static void a_second_loss_while_files_are_opened_ends_the_session(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    (void)open_file(rig, "one", 5, 0);
    forget(rig);
    (void)asks_to_open(rig, 0, "one", 5);
    rig->forgets = true;
    rig_cut(rig);
    is_over(rig);
}

static void a_cut_while_files_are_opened_is_a_pause(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    (void)open_file(rig, "one", 5, 0);
    forget(rig);
    (void)asks_to_open(rig, 0, "one", 5);
    vec_clear(&rig->asked, rig_free_asked);
    rig_cut(rig);
    (void)asks_to_open(rig, 0, "one", 5);
    open_again(rig, 0, 1, attr_of(5, 100));
    (void)rig_kernel(rig, FUSE_LOOKUP, TOP, "late", 5);
    assert_string_equal(rig_asked(rig, 0)->at.path.data, "late");
    assert_int_equal(rig->lost, 0);
}

static void a_file_that_was_being_closed_is_closed(void **state)
{
    struct rig *rig = *state;
    struct fuse_release_in release = {0};
    begin(rig);
    struct file file = open_file(rig, "one", 5, 0);
    release.fh = file.fh;
    (void)rig_kernel(rig, FUSE_RELEASE, file.node, &release, sizeof release);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_CLOSE);
    forget(rig);
    nothing_is_asked(rig, 0);
    assert_int_equal(rig->lost, 0);
}

/* ---- in doubt -------------------------------------------------------------------------------- */

static void appended(struct rig *rig, uint64_t size_now)
{
    begin(rig);
    struct file log = open_file(rig, "log", 5, FLAG_RDWR | FLAG_APPEND);
    (void)write_to(rig, log, 100, 10);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_WRITE);
    forget(rig);
    (void)asks_to_open(rig, 0, "log", 5);
    open_again(rig, 0, 77, attr_of(5, size_now));
}

static void what_was_appended_is_not_appended_twice(void **state)
{
    struct rig *rig = *state;
    appended(rig, 110);
    nothing_is_asked(rig, 0);
    assert_true(rfs_all_is_written(rig->fs));
    assert_int_equal(rig->lost, 0);
}

static void what_was_not_appended_is_appended(void **state)
{
    struct rig *rig = *state;
    appended(rig, 100);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_WRITE);
    assert_int_equal(rig_asked(rig, 0)->at.handle, 77);
    assert_int_equal(rig->lost, 0);
}

static void an_append_of_which_nobody_knows_ends_the_session(void **state)
{
    struct rig *rig = *state;
    appended(rig, 105);
    is_over(rig);
}

static uint64_t make_directory(struct rig *rig)
{
    struct fuse_mkdir_in arg = {.mode = 0755};
    begin(rig);
    uint64_t unique = rig_kernel2(rig, FUSE_MKDIR, TOP, &arg, sizeof arg, "new", 4);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_MKDIR);
    forget(rig);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_MKDIR);
    return unique;
}

static void a_directory_that_could_be_made_now_was_not_made_before(void **state)
{
    struct rig *rig = *state;
    uint64_t unique = make_directory(rig);
    struct rsys_attr attr = attr_of(8, 0);
    attr.mode = 040755;
    answer_attr(rig, 0, attr);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
    assert_int_equal(rig->lost, 0);
}

static void one_that_is_there_may_have_been_anybodys(void **state)
{
    struct rig *rig = *state;
    (void)make_directory(rig);
    rig_answer_status(rig, 0, -EEXIST);
    is_over(rig);
}

static void an_exchange_of_names_is_not_done_twice(void **state)
{
    struct rig *rig = *state;
    struct fuse_rename2_in arg = {.newdir = TOP, .flags = 2};
    begin(rig);
    (void)rig_kernel2(rig, FUSE_RENAME2, TOP, &arg, sizeof arg, "a\0b", 4);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_RENAME);
    forget(rig);
    is_over(rig);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void lock(struct rig *rig, struct file file, uint64_t start, uint64_t end, uint32_t type)
{
    struct fuse_lk_in arg = {.fh = file.fh,
                             .owner = OWNER,
                             .lk = {.start = start, .end = end, .type = type}};
    uint64_t unique = rig_kernel(rig, FUSE_SETLK, file.node, &arg, sizeof arg);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_LOCK);
    rig_answer_status(rig, 0, 0);
    if (type != NO_LOCK) {
        assert_int_equal(rig_asked(rig, 0)->op, RSYS_STAT);
        answer_attr(rig, 0, attr_of(5, 100));
    }
    (void)rig_await_told(rig, unique);
}

/* A lock of 0 to 99 of which 40 to 49 was given back, and another that is given back. */
static void with_locks(struct rig *rig)
{
    begin(rig);
    struct file file = open_file(rig, "one", 5, FLAG_RDWR);
    lock(rig, file, 0, 99, WRITE_LOCK);
    lock(rig, file, 40, 49, NO_LOCK);
    lock(rig, file, 200, 300, READ_LOCK);
    lock(rig, file, 150, 400, NO_LOCK);
    forget(rig);
    (void)asks_to_open(rig, 0, "one", 5);
}

static void locks_are_taken_again(void **state)
{
    struct rig *rig = *state;
    uint64_t bytes = 0;
    with_locks(rig);
    open_again(rig, 0, 77, attr_of(5, 100));
    for (int i = 0; i < 2; i++) {
        const struct rsys_request *asked = rig_asked(rig, 0);
        assert_int_equal(asked->op, RSYS_LOCK);
        assert_int_equal(asked->at.handle, 77);
        assert_int_equal(asked->owner, OWNER);
        assert_int_equal(asked->lock.type, RSYS_LOCK_WRITE);
        assert_int_equal(asked->wait_ms, 0);
        assert_int_equal(asked->lock.start % 50, 0);
        bytes += asked->lock.length;
        nothing_is_asked(rig, 1);
        rig_answer_status(rig, 0, 0);
    }
    assert_int_equal(bytes, 40 + 50);
    (void)rig_kernel(rig, FUSE_LOOKUP, TOP, "late", 5);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_STAT);
    assert_int_equal(rig->lost, 0);
}

static void a_lock_that_is_anothers_now_ends_the_session(void **state)
{
    struct rig *rig = *state;
    with_locks(rig);
    open_again(rig, 0, 77, attr_of(5, 100));
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_LOCK);
    rig_answer_status(rig, 0, -EAGAIN);
    is_over(rig);
}

static void a_locked_file_that_was_changed_ends_the_session(void **state)
{
    struct rig *rig = *state;
    with_locks(rig);
    open_again(rig, 0, 77, attr_of(5, 101));
    is_over(rig);
}

static void locks_of_a_descriptor_that_was_closed_are_not_taken_again(void **state)
{
    struct rig *rig = *state;
    begin(rig);
    struct file file = open_file(rig, "one", 5, FLAG_RDWR);
    lock(rig, file, 0, 99, WRITE_LOCK);
    struct fuse_flush_in flush = {.fh = file.fh, .lock_owner = OWNER};
    uint64_t unique = rig_kernel(rig, FUSE_FLUSH, file.node, &flush, sizeof flush);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_FLUSH);
    rig_answer_status(rig, 0, 0);
    (void)rig_await_told(rig, unique);
    forget(rig);
    (void)asks_to_open(rig, 0, "one", 5);
    open_again(rig, 0, 77, attr_of(5, 100));
    nothing_is_asked(rig, 0);
    assert_int_equal(rig->lost, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_was_open_is_opened_again_as_the_same_file_and_goes_on),
        RIG_TEST(a_file_that_is_another_one_ends_the_session),
        RIG_TEST(a_file_without_a_name_ends_the_session),
        RIG_TEST(a_server_that_offers_something_else_ends_the_session),
        RIG_TEST(a_second_loss_while_files_are_opened_ends_the_session),
        RIG_TEST(a_cut_while_files_are_opened_is_a_pause),
        RIG_TEST(a_file_that_was_being_closed_is_closed),
        RIG_TEST(what_was_appended_is_not_appended_twice),
        RIG_TEST(what_was_not_appended_is_appended),
        RIG_TEST(an_append_of_which_nobody_knows_ends_the_session),
        RIG_TEST(a_directory_that_could_be_made_now_was_not_made_before),
        RIG_TEST(one_that_is_there_may_have_been_anybodys),
        RIG_TEST(an_exchange_of_names_is_not_done_twice),
        RIG_TEST(locks_are_taken_again),
        RIG_TEST(a_lock_that_is_anothers_now_ends_the_session),
        RIG_TEST(a_locked_file_that_was_changed_ends_the_session),
        RIG_TEST(locks_of_a_descriptor_that_was_closed_are_not_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
