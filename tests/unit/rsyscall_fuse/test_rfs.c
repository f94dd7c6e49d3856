/* tests/unit/rsyscall_fuse/test_rfs.c - what the kernel is told, and what the server is asked,
 * when.
 *
 * LINK: rsyscall
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>

#include "tests/unit/rsyscall_fuse/rfs_rig.h"

static uint64_t write_at(struct rig *rig, uint64_t node, uint64_t fh, uint64_t offset,
                         size_t length)
{
    static unsigned char data[RFS_WRITE_MAX];
    struct fuse_write_in arg = {.fh = fh, .offset = offset, .size = (uint32_t)length};
    memset(data, 'a' + (int)(offset % 26), length);
    return rig_kernel2(rig, FUSE_WRITE, node, &arg, sizeof arg, data, length);
}

static void answer_write(struct rig *rig, size_t i)
{
    struct rsys_reply reply = {.value = rig_asked(rig, i)->data_length};
    rig_answer(rig, i, &reply);
}

static uint64_t read_at(struct rig *rig, uint64_t node, uint64_t fh, uint64_t offset, uint32_t size)
{
    struct fuse_read_in arg = {.fh = fh, .offset = offset, .size = size};
    return rig_kernel(rig, FUSE_READ, node, &arg, sizeof arg);
}

static void answer_read(struct rig *rig, size_t i)
{
    static unsigned char data[RSYS_DATA_MAX];
    const struct rsys_request *asked = rig_asked(rig, i);
    assert_int_equal(asked->op, RSYS_READ);
    for (size_t at = 0; at < asked->length; at++) {
        data[at] = (unsigned char)((asked->offset + at) % 251);
    }
    struct rsys_reply reply = {.value = asked->length,
                               .extent_count = 1,
                               .extents = {{asked->offset, (uint32_t)asked->length}},
                               .data = data,
                               .data_length = asked->length};
    rig_answer(rig, i, &reply);
}

static void has_bytes_of(const struct told *told, uint64_t offset, size_t length)
{
    assert_int_equal(told->error, 0);
    assert_int_equal(told->length, length);
    for (size_t at = 0; at < length; at++) {
        assert_int_equal(told->data[at], (offset + at) % 251);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void a_name_is_asked_for_by_its_path_and_looks_like_the_jobs_own(void **state)
{
    struct rig *rig = *state;
    struct fuse_entry_out entry;
    mounted(rig);
    struct rsys_attr directory = attr_of(4, 0);
    directory.mode = 040755;
    uint64_t above = look_up(rig, TOP, "dir", directory);
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, above, "file", 5);
    assert_string_equal(rig_asked(rig, 0)->at.path.data, "dir/file");
    answer_attr(rig, 0, attr_of(5, 33));
    memcpy(&entry, rig_await_told(rig, unique)->data, sizeof entry);
    assert_int_equal(entry.attr.uid, 1000);
    assert_int_equal(entry.attr.size, 33);
    assert_int_equal(entry.entry_valid, 60); /* it was changed long ago */
}

static void what_is_not_there_is_believed_for_a_second(void **state)
{
    struct rig *rig = *state;
    struct fuse_entry_out entry;
    mounted(rig);
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, TOP, "none", 5);
    (void)rig_asked(rig, 0);
    rig_answer_status(rig, 0, -ENOENT);
    memcpy(&entry, rig_await_told(rig, unique)->data, sizeof entry);
    assert_int_equal(entry.nodeid, 0);
    assert_int_equal(entry.entry_valid, 1);
}

static void a_directory_that_became_a_link_is_gone_through_anew(void **state)
{
    struct rig *rig = *state;
    mounted(rig);
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, TOP, "file", 5);
    struct rsys_reply reply = {.status = -ELOOP, .value = 4, .text = {"x", 1}};
    rig_answer(rig, 0, &reply);
    assert_int_equal(rig_await_told(rig, unique)->error, -ESTALE);
}

static void after_a_rename_a_file_is_asked_for_by_its_new_name(void **state)
{
    struct rig *rig = *state;
    struct fuse_rename2_in arg = {.newdir = TOP};
    struct fuse_getattr_in getattr = {0};
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "old", attr_of(5, 0));
    uint64_t unique = rig_kernel2(rig, FUSE_RENAME2, TOP, &arg, sizeof arg, "old\0new", 8);
    assert_string_equal(rig_asked(rig, 0)->to.path.data, "new");
    rig_answer_status(rig, 0, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
    (void)rig_kernel(rig, FUSE_GETATTR, node, &getattr, sizeof getattr);
    assert_string_equal(rig_asked(rig, 0)->at.path.data, "new");
    answer_attr(rig, 0, attr_of(5, 0));
}

static void another_file_under_its_name_is_stale(void **state)
{
    struct rig *rig = *state;
    struct fuse_getattr_in arg = {0};
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    uint64_t unique = rig_kernel(rig, FUSE_GETATTR, node, &arg, sizeof arg);
    answer_attr(rig, 0, attr_of(6, 0));
    assert_int_equal(rig_await_told(rig, unique)->error, -ESTALE);
}

static void an_open_file_without_a_name_is_asked_for_by_its_handle(void **state)
{
    struct rig *rig = *state;
    struct fuse_getattr_in arg = {0};
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    uint64_t unique = rig_kernel(rig, FUSE_UNLINK, TOP, "file", 5);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_UNLINK);
    rig_answer_status(rig, 0, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
    (void)rig_kernel(rig, FUSE_GETATTR, node, &arg, sizeof arg);
    assert_int_equal(rig_asked(rig, 0)->at.handle, HANDLE);
    assert_int_equal(rig_asked(rig, 0)->at.path.length, 0);
    answer_attr(rig, 0, attr_of(5, 0));
}

static void names_that_are_too_long_are_not_asked_for(void **state)
{
    struct rig *rig = *state;
    char name[300];
    mounted(rig);
    memset(name, 'n', sizeof name);
    name[299] = '\0';
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, TOP, name, sizeof name);
    assert_int_equal(rig_await_told(rig, unique)->error, -ENAMETOOLONG);
    nothing_is_asked(rig, 0);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void the_same_file_is_opened_or_none(void **state)
{
    struct rig *rig = *state;
    struct fuse_open_in arg = {.flags = FLAG_RDWR};
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    uint64_t unique = rig_kernel(rig, FUSE_OPEN, node, &arg, sizeof arg);
    const struct rsys_request *asked = rig_asked(rig, 0);
    assert_int_equal(asked->how, RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_SAME);
    assert_int_equal(asked->attr.dev, 9);
    assert_int_equal(asked->attr.ino, 5);
    rig_answer_status(rig, 0, -ENOENT);
    assert_int_equal(rig_await_told(rig, unique)->error, -ESTALE);
}

static size_t count_notices(const struct rig *rig)
{
    size_t count = 0;
    for (size_t i = 0; i < rig->told.count; i++) {
        const struct told *told = rig->told.items[i];
        count += told->unique == 0 && told->error == FUSE_NOTIFY_INVAL_INODE ? 1 : 0;
    }
    return count;
}

static void contents_are_kept_while_the_server_has_the_same(void **state)
{
    struct rig *rig = *state;
    uint32_t flags;
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 3));
    (void)open_file_as(rig, node, 0, attr_of(5, 3), &flags);
    assert_int_equal(flags, 0);
    (void)open_file_as(rig, node, 0, attr_of(5, 3), &flags);
    assert_int_equal(flags, FOPEN_KEEP_CACHE);
    assert_int_equal(count_notices(rig), 0);
    struct rsys_attr changed = attr_of(5, 3);
    changed.mtime.ns++;
    (void)open_file_as(rig, node, 0, changed, &flags);
    assert_int_equal(flags, 0);
    assert_int_equal(count_notices(rig), 1); /* it asks for the attributes again */
    (void)open_file_as(rig, node, 0, changed, &flags);
    assert_int_equal(flags, FOPEN_KEEP_CACHE);
}

static void contents_that_we_wrote_are_kept(void **state)
{
    struct rig *rig = *state;
    uint32_t flags;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    struct rsys_attr after = attr_of(5, 100);
    after.mtime.s = after.ctime.s = 2000;
    struct rsys_reply reply = {.value = 100, .attr = after};
    assert_int_equal(rig_asked(rig, 0)->flags, RSYS_WANT_ATTR);
    rig_answer(rig, 0, &reply);
    (void)open_file_as(rig, node, 0, after, &flags);
    assert_int_equal(flags, FOPEN_KEEP_CACHE);
}

static void who_does_not_wait_leaves_nothing_open(void **state)
{
    struct rig *rig = *state;
    struct fuse_open_in arg = {0};
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    (void)rig_kernel(rig, FUSE_OPEN, node, &arg, sizeof arg);
    (void)rig_asked(rig, 0);
    rig->nobody_waits = true;
    struct rsys_reply reply = {.handle = HANDLE, .attr = attr_of(5, 0)};
    rig_answer(rig, 0, &reply);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_CLOSE);
    assert_int_equal(rig_asked(rig, 0)->at.handle, HANDLE);
}

static void a_file_is_closed_when_all_that_was_asked_of_it_is_done(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    struct fuse_release_in arg = {.fh = fh};
    (void)write_at(rig, node, fh, 0, 10);
    (void)rig_asked(rig, 0);
    uint64_t unique = rig_kernel(rig, FUSE_RELEASE, node, &arg, sizeof arg);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
    nothing_is_asked(rig, 1);
    answer_write(rig, 0);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_CLOSE);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void a_write_is_answered_before_it_is_at_the_server(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    uint64_t unique = write_at(rig, node, fh, 7, 100);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
    const struct rsys_request *asked = rig_asked(rig, 0);
    assert_int_equal(asked->op, RSYS_WRITE);
    assert_int_equal(asked->extents[0].offset, 7);
    assert_int_equal(asked->data_length, 100);
    assert_false(rfs_all_is_written(rig->fs));
    answer_write(rig, 0);
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
}

static void above_the_limit_a_writer_waits_for_its_own_write(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    uint64_t unique = write_at(rig, node, fh, 0, (size_t)300 << 10);
    (void)rig_asked(rig, 0);
    assert_null(rig_find_told(rig, unique));
    answer_write(rig, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
}

static void small_writes_that_follow_each_other_are_gathered(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    for (uint64_t i = 0; i < 5; i++) {
        uint64_t unique = write_at(rig, node, fh, i * 100, 100);
        assert_non_null(rig_find_told(rig, unique));
    }
    RIG_AWAIT(rig, rig->asked.count == 1);
    nothing_is_asked(rig, 1);
    answer_write(rig, 0);
    const struct rsys_request *asked = rig_asked(rig, 0);
    assert_int_equal(asked->extents[0].offset, 100);
    assert_int_equal(asked->data_length, 400);
    assert_int_equal(((const char *)asked->data)[399], 'a' + 400 % 26);
    answer_write(rig, 0);
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
}

static void a_write_to_a_place_that_is_on_the_way_waits(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    (void)write_at(rig, node, fh, 500, 100);  /* gathers */
    (void)write_at(rig, node, fh, 5000, 100); /* elsewhere: both go */
    uint64_t unique = write_at(rig, node, fh, 50, 100);
    RIG_AWAIT(rig, rig->asked.count >= 2);
    nothing_is_asked(rig, rig->asked.count);
    size_t before = rig->asked.count;
    assert_null(rig_find_told(rig, unique));
    for (size_t i = 0; i < before; i++) {
        assert_int_not_equal(rig_asked(rig, i)->extents[0].offset, 50);
    }
    while (rig_find_told(rig, unique) == NULL) {
        answer_write(rig, 0);
        rig_turn(rig);
        rig_turn(rig);
    }
    while (!rfs_all_is_written(rig->fs)) {
        answer_write(rig, 0);
        rig_turn(rig);
    }
}

/* Else what was written first would be there last. */
static void a_write_to_a_place_that_another_one_waits_for_waits_behind_it(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, RFS_WRITE_MAX / 2);
    (void)write_at(rig, node, fh, RFS_WRITE_MAX / 4, RFS_WRITE_MAX / 2); /* waits for that */
    (void)write_at(rig, node, fh, RFS_WRITE_MAX / 2, RFS_WRITE_MAX / 2); /* for the second only */
    static const uint64_t WANTED[] = {0, RFS_WRITE_MAX / 4, RFS_WRITE_MAX / 2};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rig_asked(rig, 0)->extents[0].offset, WANTED[i]);
        nothing_is_asked(rig, 1);
        answer_write(rig, 0);
    }
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
}

static void what_is_gathered_does_not_reach_over_what_is_on_the_way(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    (void)write_at(rig, node, fh, 200, 100); /* goes when the next begins */
    (void)write_at(rig, node, fh, 100, 100);
    uint64_t unique = write_at(rig, node, fh, 200, 100);
    assert_null(rig_find_told(rig, unique));
    while (!rfs_all_is_written(rig->fs) || rig_find_told(rig, unique) == NULL) {
        answer_write(rig, 0);
        for (int i = 0; i < 3; i++) {
            rig_turn(rig);
        }
    }
}

static void an_answer_from_before_a_write_is_known_as_such(void **state)
{
    struct rig *rig = *state;
    struct fuse_entry_out entry;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    (void)rig_asked(rig, 0);
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, TOP, "file", 5);
    (void)rig_asked(rig, 1);
    struct rsys_reply reply = {.value = 100, .attr = attr_of(5, 100)};
    rig_answer(rig, 0, &reply);
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
    answer_attr(rig, 0, attr_of(5, 0));
    memcpy(&entry, rig_await_told(rig, unique)->data, sizeof entry);
    assert_int_equal(entry.attr.size, 100);
    assert_int_equal(entry.attr_valid + entry.attr_valid_nsec, 0);
}

static void what_is_appended_goes_one_after_the_other(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR | FLAG_APPEND, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    (void)write_at(rig, node, fh, 100, 100);
    (void)write_at(rig, node, fh, 200, 100);
    (void)write_at(rig, node, fh, 0, 100); /* the kernel may be wrong about the end */
    RIG_AWAIT(rig, rig->asked.count == 1);
    nothing_is_asked(rig, 1);
    answer_write(rig, 0);
    assert_int_equal(rig_asked(rig, 0)->data_length, 200);
    nothing_is_asked(rig, 1);
    answer_write(rig, 0);
    assert_int_equal(rig_asked(rig, 0)->data_length, 100);
    answer_write(rig, 0);
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
}

static void an_error_of_a_write_is_told_by_close_once(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    struct fuse_flush_in arg = {.fh = fh};
    (void)write_at(rig, node, fh, 0, 100);
    uint64_t unique = rig_kernel(rig, FUSE_FLUSH, node, &arg, sizeof arg);
    (void)rig_asked(rig, 0);
    assert_null(rig_find_told(rig, unique)); /* it waits for the write */
    rig_answer_status(rig, 0, -EDQUOT);
    assert_int_equal(rig_await_told(rig, unique)->error, -EDQUOT);
    unique = rig_kernel(rig, FUSE_FLUSH, node, &arg, sizeof arg);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
}

static void an_error_of_a_write_is_told_by_the_next_write_once(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    rig_answer_status(rig, 0, -EDQUOT);
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
    uint64_t unique = write_at(rig, node, fh, 100, 100);
    assert_int_equal(rig_await_told(rig, unique)->error, -EDQUOT);
    unique = write_at(rig, node, fh, 100, 100);
    assert_int_equal(rig_await_told(rig, unique)->error, 0);
    answer_write(rig, 0);
}

static void a_write_that_says_more_than_came_is_refused(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    struct fuse_write_in arg = {.fh = fh, .size = 100};
    uint64_t unique = rig_kernel2(rig, FUSE_WRITE, node, &arg, sizeof arg, "short", 5);
    assert_int_equal(rig_await_told(rig, unique)->error, -EIO);
    nothing_is_asked(rig, 0);
}

static void files_belong_to_the_job_and_are_given_to_nobody(void **state)
{
    struct rig *rig = *state;
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    struct fuse_setattr_in arg = {.valid = FATTR_UID, .uid = 1001};
    uint64_t unique = rig_kernel(rig, FUSE_SETATTR, node, &arg, sizeof arg);
    assert_int_equal(rig_await_told(rig, unique)->error, -EPERM);
    arg = (struct fuse_setattr_in){.valid = FATTR_GID, .gid = 1001};
    unique = rig_kernel(rig, FUSE_SETATTR, node, &arg, sizeof arg);
    assert_int_equal(rig_await_told(rig, unique)->error, -EPERM);
    nothing_is_asked(rig, 0);
    arg = (struct fuse_setattr_in){.valid = FATTR_UID, .uid = 1000};
    (void)rig_kernel(rig, FUSE_SETATTR, node, &arg, sizeof arg);
    answer_attr(rig, 0, attr_of(5, 0));
}

static uint64_t may(struct rig *rig, uint64_t node, uint32_t mask)
{
    const struct fuse_access_in arg = {.mask = mask};
    return rig_kernel(rig, FUSE_ACCESS, node, &arg, sizeof arg);
}

static void what_is_allowed_for_sure_is_not_asked_for(void **state)
{
    struct rig *rig = *state;
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    assert_int_equal(rig_await_told(rig, may(rig, node, 4))->error, 0); /* R_OK, by 0644 */
    nothing_is_asked(rig, 0);
    for (uint32_t mask = 1; mask <= 2; mask++) {
        uint64_t unique = may(rig, node, mask);
        assert_int_equal(rig_asked(rig, 0)->op, RSYS_ACCESS);
        assert_int_equal(rig_asked(rig, 0)->how, mask);
        rig_answer_status(rig, 0, -EACCES);
        assert_int_equal(rig_await_told(rig, unique)->error, -EACCES);
    }
}

static void what_was_allowed_once_is_asked_for_again(void **state)
{
    struct rig *rig = *state;
    rig->believes_nothing = true;
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    for (int i = 0; i < 3; i++) {
        rig_turn(rig); /* of a millisecond */
    }
    uint64_t unique = may(rig, node, 4);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_ACCESS);
    rig_answer_status(rig, 0, -EACCES);
    assert_int_equal(rig_await_told(rig, unique)->error, -EACCES);
}

static void of_two_changes_the_later_one_counts_whichever_is_answered_first(void **state)
{
    struct rig *rig = *state;
    uint64_t unique[2];
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    for (size_t i = 0; i < 2; i++) {
        struct fuse_setattr_in arg = {.valid = FATTR_MODE, .mode = i == 0 ? 0100200 : 0100644};
        unique[i] = rig_kernel(rig, FUSE_SETATTR, node, &arg, sizeof arg);
    }
    struct rsys_attr first = attr_of(5, 0), second = attr_of(5, 0);
    first.mode = 0100200;
    first.ctime.ns = 7;
    second.ctime.ns = 8;
    (void)rig_asked(rig, 1);
    answer_attr(rig, 1, second);
    assert_int_equal(rig_await_told(rig, unique[1])->error, 0);
    answer_attr(rig, 0, first);
    assert_int_equal(rig_await_told(rig, unique[0])->error, 0);
    assert_int_equal(rig_await_told(rig, may(rig, node, 4))->error, 0);
    nothing_is_asked(rig, 0);
}

/* By somebody who sets the time back: only the time of the last change of its attributes tells. */
static void contents_with_another_time_of_change_are_not_kept(void **state)
{
    struct rig *rig = *state;
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 10));
    struct rsys_attr later = attr_of(5, 10);
    uint32_t flags;
    (void)open_file_as(rig, node, 0, attr_of(5, 10), &flags);
    (void)open_file_as(rig, node, 0, attr_of(5, 10), &flags);
    assert_int_equal(flags & FOPEN_KEEP_CACHE, FOPEN_KEEP_CACHE);
    later.ctime.ns++;
    (void)open_file_as(rig, node, 0, later, &flags);
    assert_int_equal(flags & FOPEN_KEEP_CACHE, 0);
}

static void what_the_server_did_not_write_is_sent_again(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    struct rsys_reply reply = {.value = 60};
    (void)rig_asked(rig, 0);
    rig_answer(rig, 0, &reply);
    assert_int_equal(rig_asked(rig, 0)->extents[0].offset, 60);
    assert_int_equal(rig_asked(rig, 0)->data_length, 40);
    answer_write(rig, 0);
    RIG_AWAIT(rig, rfs_all_is_written(rig->fs));
}

static void a_stat_waits_for_writes_and_a_lookup_knows_of_them(void **state)
{
    struct rig *rig = *state;
    struct fuse_getattr_in arg = {0};
    struct fuse_entry_out entry;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 0, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    (void)rig_asked(rig, 0);
    uint64_t look = rig_kernel(rig, FUSE_LOOKUP, TOP, "file", 5);
    assert_int_equal(rig_asked(rig, 1)->op, RSYS_STAT);
    uint64_t stat = rig_kernel(rig, FUSE_GETATTR, node, &arg, sizeof arg);
    nothing_is_asked(rig, 2);
    answer_attr(rig, 1, attr_of(5, 0)); /* as it was before the write */
    memcpy(&entry, rig_await_told(rig, look)->data, sizeof entry);
    assert_int_equal(entry.attr.size, 100);
    assert_int_equal(entry.attr_valid + entry.attr_valid_nsec, 0);
    answer_write(rig, 0);
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_STAT);
    answer_attr(rig, 0, attr_of(5, 100));
    assert_int_equal(rig_await_told(rig, stat)->error, 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void a_read_waits_for_writes(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 4096, &fh);
    (void)write_at(rig, node, fh, 0, 100);
    (void)rig_asked(rig, 0);
    uint64_t unique = read_at(rig, node, fh, 0, 4096);
    nothing_is_asked(rig, 1);
    answer_write(rig, 0);
    answer_read(rig, 0);
    has_bytes_of(rig_await_told(rig, unique), 0, 4096);
}

static void who_reads_on_is_read_ahead_for(void **state)
{
    struct rig *rig = *state;
    const uint32_t part = 128 << 10;
    struct rfs_stats stats;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, (uint64_t)3 << 20, &fh);
    for (uint64_t at = 0; at < (uint64_t)3 << 20; at += part) {
        uint64_t unique = read_at(rig, node, fh, at, part);
        for (int left = LOOP_RIG_PATIENCE_MS; rig_find_told(rig, unique) == NULL && left > 0;
             left--) {
            while (rig->asked.count > 0) {
                answer_read(rig, rig->asked.count - 1); /* the latest first */
            }
            rig_turn(rig);
        }
        has_bytes_of(rig_await_told(rig, unique), at, part);
    }
    rfs_get_stats(rig->fs, &stats);
    assert_int_equal(stats.reads, 24);
    assert_in_range(stats.ahead, 20, 24);
}

static void who_reads_here_and_there_is_not(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, (uint64_t)64 << 20, &fh);
    for (uint64_t i = 1; i < 6; i++) {
        uint64_t at = (i * 7919 % 13) << 20;
        uint64_t unique = read_at(rig, node, fh, at, 4096);
        answer_read(rig, 0);
        has_bytes_of(rig_await_told(rig, unique), at, 4096);
        nothing_is_asked(rig, 0);
    }
}

static void what_was_read_ahead_is_worth_nothing_after_a_write(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, (uint64_t)3 << 20, &fh);
    for (uint64_t at = 0; at < 2; at++) {
        (void)read_at(rig, node, fh, at * 4096, 4096);
    }
    RIG_AWAIT(rig, rig->asked.count >= 3); /* two, and pieces */
    while (rig->asked.count > 0) {
        answer_read(rig, 0);
    }
    rig_turn(rig);
    (void)write_at(rig, node, fh, 8192, 10);
    answer_write(rig, 0);
    uint64_t unique = read_at(rig, node, fh, 8192, 4096);
    assert_int_equal(rig_asked(rig, 0)->offset, 8192);
    while (rig_find_told(rig, unique) == NULL) {
        if (rig->asked.count > 0) {
            answer_read(rig, 0);
        }
        rig_turn(rig);
    }
}

static void holes_are_zeros(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 4096, &fh);
    uint64_t unique = read_at(rig, node, fh, 0, 4096);
    (void)rig_asked(rig, 0);
    struct rsys_reply reply = {.value = 4096,
                               .extent_count = 2,
                               .extents = {{0, 3}, {4000, 2}},
                               .data = "abcde",
                               .data_length = 5};
    rig_answer(rig, 0, &reply);
    const struct told *told = rig_await_told(rig, unique);
    assert_int_equal(told->length, 4096);
    assert_memory_equal(told->data, "abc\0", 4);
    assert_memory_equal(told->data + 3999, "\0de\0", 4);
}

static void an_answer_that_says_what_cannot_be_is_an_error(void **state)
{
    struct rig *rig = *state;
    uint64_t fh, node = with_file(rig, FLAG_RDWR, 4096, &fh);
    uint64_t unique = read_at(rig, node, fh, 0, 4096);
    (void)rig_asked(rig, 0);
    struct rsys_reply reply = {
        .value = 10, .extent_count = 1, .extents = {{8, 5}}, .data = "abcde", .data_length = 5};
    rig_answer(rig, 0, &reply);
    assert_int_equal(rig_await_told(rig, unique)->error, -EIO);
}

/* ---- interrupts ------------------------------------------------------------------------------ */

static void a_signal_ends_no_request_but_being_killed_does(void **state)
{
    struct rig *rig = *state;
    struct fuse_open_in open = {0};
    mounted(rig);
    uint64_t node = look_up(rig, TOP, "file", attr_of(5, 0));
    uint64_t unique = rig_kernel(rig, FUSE_OPEN, node, &open, sizeof open);
    (void)rig_asked(rig, 0);
    struct fuse_interrupt_in arg = {.unique = unique};
    (void)rig_kernel(rig, FUSE_INTERRUPT, 0, &arg, sizeof arg);
    for (uint64_t began = loop_now_ms(rig->loop); loop_now_ms(rig->loop) < began + 1500;) {
        rig_turn(rig);
    }
    assert_null(rig_find_told(rig, unique));
    rig->killed = true;
    assert_int_equal(rig_await_told(rig, unique)->error, -EINTR);
    struct rsys_reply reply = {.handle = HANDLE, .attr = attr_of(5, 0)};
    rig_answer(rig, 0, &reply); /* later */
    assert_int_equal(rig_asked(rig, 0)->op, RSYS_CLOSE);
}

static void what_we_do_not_know_is_refused(void **state)
{
    struct rig *rig = *state;
    mounted(rig);
    uint64_t unique = rig_kernel(rig, FUSE_IOCTL, TOP, NULL, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, -EIO);
    unique = rig_kernel(rig, FUSE_BMAP, TOP, NULL, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, -ENOSYS);
    unique = rig_kernel(rig, 4711, TOP, NULL, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, -ENOSYS);
    unique = rig_kernel(rig, FUSE_OPEN, TOP, NULL, 0);
    assert_int_equal(rig_await_told(rig, unique)->error, -EIO);
    unique = rig_kernel(rig, FUSE_LOOKUP, TOP, "not ended", 9);
    assert_int_equal(rig_await_told(rig, unique)->error, -EIO);
    nothing_is_asked(rig, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_name_is_asked_for_by_its_path_and_looks_like_the_jobs_own),
        RIG_TEST(what_is_not_there_is_believed_for_a_second),
        RIG_TEST(a_directory_that_became_a_link_is_gone_through_anew),
        RIG_TEST(after_a_rename_a_file_is_asked_for_by_its_new_name),
        RIG_TEST(another_file_under_its_name_is_stale),
        RIG_TEST(an_open_file_without_a_name_is_asked_for_by_its_handle),
        RIG_TEST(names_that_are_too_long_are_not_asked_for),
        RIG_TEST(the_same_file_is_opened_or_none),
        RIG_TEST(contents_are_kept_while_the_server_has_the_same),
        RIG_TEST(contents_that_we_wrote_are_kept),
        RIG_TEST(who_does_not_wait_leaves_nothing_open),
        RIG_TEST(a_file_is_closed_when_all_that_was_asked_of_it_is_done),
        RIG_TEST(a_write_is_answered_before_it_is_at_the_server),
        RIG_TEST(above_the_limit_a_writer_waits_for_its_own_write),
        RIG_TEST(small_writes_that_follow_each_other_are_gathered),
        RIG_TEST(a_write_to_a_place_that_is_on_the_way_waits),
        RIG_TEST(what_is_gathered_does_not_reach_over_what_is_on_the_way),
        RIG_TEST(an_answer_from_before_a_write_is_known_as_such),
        RIG_TEST(what_is_appended_goes_one_after_the_other),
        RIG_TEST(an_error_of_a_write_is_told_by_close_once),
        RIG_TEST(a_write_to_a_place_that_another_one_waits_for_waits_behind_it),
        RIG_TEST(an_error_of_a_write_is_told_by_the_next_write_once),
        RIG_TEST(a_write_that_says_more_than_came_is_refused),
        RIG_TEST(files_belong_to_the_job_and_are_given_to_nobody),
        RIG_TEST(what_is_allowed_for_sure_is_not_asked_for),
        RIG_TEST(what_was_allowed_once_is_asked_for_again),
        RIG_TEST(of_two_changes_the_later_one_counts_whichever_is_answered_first),
        RIG_TEST(contents_with_another_time_of_change_are_not_kept),
        RIG_TEST(what_the_server_did_not_write_is_sent_again),
        RIG_TEST(a_stat_waits_for_writes_and_a_lookup_knows_of_them),
        RIG_TEST(a_read_waits_for_writes),
        RIG_TEST(who_reads_on_is_read_ahead_for),
        RIG_TEST(who_reads_here_and_there_is_not),
        RIG_TEST(what_was_read_ahead_is_worth_nothing_after_a_write),
        RIG_TEST(holes_are_zeros),
        RIG_TEST(an_answer_that_says_what_cannot_be_is_an_error),
        RIG_TEST(a_signal_ends_no_request_but_being_killed_does),
        RIG_TEST(what_we_do_not_know_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
