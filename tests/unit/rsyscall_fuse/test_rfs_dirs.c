/* tests/unit/rsyscall_fuse/test_rfs_dirs.c - listings, views and the ways to them.
 *
 * LINK: rsyscall
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall_fuse/rfs_rig.h"

#define DIR_HANDLE 4712

/* The names of a READDIR's answer, each followed by a blank; returns the offset behind the last. */
static uint64_t names_of(const struct told *told, char *ret, size_t size)
{
    uint64_t off = 0;
    ret[0] = '\0';
    for (size_t at = 0; at < told->length;) {
        const struct fuse_dirent *entry = (const void *)(told->data + at);
        size_t length = strlen(ret);
        (void)snprintf(ret + length, size - length, "%.*s ", (int)entry->namelen, entry->name);
        off = entry->off;
        at += FUSE_DIRENT_SIZE(entry);
    }
    return off;
}

static void put_entry(void *out, size_t size, size_t *at, const char *name, uint64_t cookie)
{
    struct rsys_entry entry = {.cookie = cookie,
                               .ino = cookie,
                               .type = 8,
                               .name = {name, (uint16_t)strlen(name)}};
    assert_true(rsys_entry_put(out, size, at, &entry));
}

static uint64_t open_top(struct rig *rig)
{
    struct fuse_open_in arg = {0};
    struct fuse_open_out out;
    uint64_t unique = rig_kernel(rig, FUSE_OPENDIR, TOP, &arg, sizeof arg);
    assert_true((rig_asked(rig, 0)->how & RSYS_OPEN_DIRECTORY) != 0);
    struct rsys_reply reply = {.handle = DIR_HANDLE, .attr = attr_of(2, 0)};
    rig_answer(rig, 0, &reply);
    memcpy(&out, rig_await_told(rig, unique)->data, sizeof out);
    return out.fh;
}

static uint64_t list(struct rig *rig, uint64_t fh, uint64_t offset, uint32_t size)
{
    struct fuse_read_in arg = {.fh = fh, .offset = offset, .size = size};
    return rig_kernel(rig, FUSE_READDIR, TOP, &arg, sizeof arg);
}

static void a_listing_has_dots_views_and_what_is_there(void **state)
{
    struct rig *rig = *state;
    unsigned char data[600];
    char names[200];
    size_t length = 0;
    rig_add_root(rig, 0, "/");
    rig_add_root(rig, 1, "/data");
    rig_mount(rig);
    uint64_t fh = open_top(rig);
    uint64_t unique = list(rig, fh, 0, 40);
    uint64_t off = names_of(rig_await_told(rig, unique), names, sizeof names);
    assert_string_equal(names, ". ");
    unique = list(rig, fh, off, 80);
    off = names_of(rig_await_told(rig, unique), names, sizeof names);
    assert_string_equal(names, ".. data ");
    unique = list(rig, fh, off, 4096);
    assert_int_equal(rig_asked(rig, 0)->at.handle, DIR_HANDLE);
    assert_int_equal(rig_asked(rig, 0)->offset, 0);
    put_entry(data, sizeof data, &length, "one", 1000);
    put_entry(data, sizeof data, &length, "data", 1001); /* behind the view */
    put_entry(data, sizeof data, &length, "two", 7);
    struct rsys_reply reply = {.data = data, .data_length = length};
    rig_answer(rig, 0, &reply);
    off = names_of(rig_await_told(rig, unique), names, sizeof names);
    assert_string_equal(names, "one two ");
    unique = list(rig, fh, off, 4096);
    assert_int_equal(rig_asked(rig, 0)->offset, 7);
    length = 0;
    put_entry(data, sizeof data, &length, "three", 8);
    reply = (struct rsys_reply){.value = 1, .data = data, .data_length = length};
    rig_answer(rig, 0, &reply);
    off = names_of(rig_await_told(rig, unique), names, sizeof names);
    assert_string_equal(names, "three ");
    unique = list(rig, fh, off, 4096);
    assert_int_equal(rig_await_told(rig, unique)->length, 0);
    nothing_is_asked(rig, 0);
    unique = list(rig, fh, 4, 32); /* back to "two" */
    assert_int_equal(rig_asked(rig, 0)->offset, 0);
    length = 0;
    put_entry(data, sizeof data, &length, "one", 1000);
    put_entry(data, sizeof data, &length, "two", 7);
    reply = (struct rsys_reply){.data = data, .data_length = length};
    rig_answer(rig, 0, &reply);
    (void)names_of(rig_await_told(rig, unique), names, sizeof names);
    assert_string_equal(names, "two ");
}

static void a_listing_that_never_ends_is_an_error(void **state)
{
    struct rig *rig = *state;
    mounted(rig);
    uint64_t fh = open_top(rig);
    uint64_t unique = list(rig, fh, 2, 4096);
    struct rsys_reply reply = {.value = 0};
    (void)rig_asked(rig, 0);
    rig_answer(rig, 0, &reply);
    assert_int_equal(rig_await_told(rig, unique)->error, -EIO);
}

static void ways_to_roots_are_made_up_and_cannot_be_written_to(void **state)
{
    struct rig *rig = *state;
    struct fuse_entry_out entry;
    struct fuse_mkdir_in mkdir = {.mode = 0755};
    rig_add_root(rig, 2, "/home/me");
    rig_mount(rig);
    uint64_t unique = rig_kernel(rig, FUSE_LOOKUP, TOP, "home", 5);
    memcpy(&entry, rig_await_told(rig, unique)->data, sizeof entry);
    assert_int_equal(entry.attr.mode, 040555);
    uint64_t home = entry.nodeid;
    unique = rig_kernel(rig, FUSE_LOOKUP, home, "you", 4);
    memcpy(&entry, rig_await_told(rig, unique)->data, sizeof entry);
    assert_int_equal(entry.nodeid, 0);
    unique = rig_kernel2(rig, FUSE_MKDIR, home, &mkdir, sizeof mkdir, "you", 4);
    assert_int_equal(rig_await_told(rig, unique)->error, -EROFS);
    nothing_is_asked(rig, 0);
    uint64_t me = look_up(rig, home, "me", attr_of(7, 0));
    unique = rig_kernel(rig, FUSE_RMDIR, home, "me", 3);
    assert_int_equal(rig_await_told(rig, unique)->error, -EBUSY);
    (void)rig_kernel2(rig, FUSE_MKDIR, me, &mkdir, sizeof mkdir, "x", 2);
    assert_int_equal(rig_asked(rig, 0)->at.handle, 2);
    assert_string_equal(rig_asked(rig, 0)->at.path.data, "x");
    rig_answer_status(rig, 0, -EEXIST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_listing_has_dots_views_and_what_is_there),
        RIG_TEST(a_listing_that_never_ends_is_an_error),
        RIG_TEST(ways_to_roots_are_made_up_and_cannot_be_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
