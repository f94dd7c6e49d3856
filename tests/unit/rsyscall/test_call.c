/* tests/unit/rsyscall/test_call.c - what each operation does to real files.
 *
 * TIMEOUT: 120
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall/rsys_rig.h"

#include <dirent.h>

static void hello_tells_the_roots_the_limits_and_whose_rights_they_are(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    assert_int_equal(rig->hello.version, RSYS_VERSION);
    assert_int_equal(rig->hello.slots, 64);
    assert_int_equal(rig->hello.lease_ms, 20 * 60 * 1000);
    assert_int_equal(rig->hello.data_max, RSYS_DATA_MAX);
    assert_int_equal(rig->hello.uid, geteuid());
    struct rsys_root root;
    size_t at = 0;
    assert_int_equal(rsys_root_next(rig->hello.data, rig->hello.data_length, &at, &root), 1);
    assert_string_equal(root.view.data, "/");
    assert_int_equal(root.flags, 0);
    assert_int_equal(rsys_root_next(rig->hello.data, rig->hello.data_length, &at, &root), 0);
}

static void a_file_is_made_written_read_and_closed(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "file"), .mode = 0640};
    open.how = RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    const struct rsys_reply *reply = rig_ask(rig, &open);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->value, 1);
    assert_int_equal(reply->attr.mode, S_IFREG | 0640);
    uint64_t handle = reply->handle;
    assert_int_equal(rig_write_at(rig, handle, 0, "hello"), 0);
    assert_int_equal(rig_write_at(rig, handle, 5, " world"), 0);
    struct rsys_request read = {.op = RSYS_READ, .at.handle = handle, .offset = 3, .length = 100};
    reply = rig_ask(rig, &read);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->value, 8);
    assert_int_equal(reply->extent_count, 1);
    assert_int_equal(reply->extents[0].offset, 3);
    assert_memory_equal(reply->data, "lo world", 8);
    char text[64];
    assert_int_equal(rig_get_file(rig, "file", text, sizeof(text)), 11);
    assert_string_equal(text, "hello world");
    reply = rig_ask(rig, &open);
    assert_int_equal(reply->value, 0); /* it was there */
    assert_int_not_equal(reply->handle, handle);
    open.how |= RSYS_OPEN_EXCL;
    assert_int_equal(rig_ask(rig, &open)->status, -EEXIST);
    struct rsys_request close = {.op = RSYS_CLOSE, .at.handle = handle};
    assert_int_equal(rig_ask(rig, &close)->status, 0);
    assert_int_equal(rig_ask(rig, &close)->status, -EBADF);
    assert_int_equal(rig_ask(rig, &read)->status, -EBADF);
}

/* Or a close that comes late would hit, and a process would read, what another one opened since. */
static void the_number_of_a_closed_file_is_never_the_next_ones(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "one", "1");
    rig_put_file(rig, "two", "2");
    rig_open(rig, NULL);
    int64_t one = rig_open_file(rig, "one", RSYS_OPEN_READ);
    struct rsys_request close = {.op = RSYS_CLOSE, .at.handle = (uint64_t)one};
    struct rsys_request read = {.op = RSYS_READ, .at.handle = (uint64_t)one, .length = 10};
    assert_int_equal(rig_ask(rig, &close)->status, 0);
    int64_t two = rig_open_file(rig, "two", RSYS_OPEN_READ);
    assert_int_equal(rig_ask(rig, &read)->status, -EBADF);
    assert_int_equal(rig_ask(rig, &close)->status, -EBADF);
    read.at.handle = (uint64_t)two;
    assert_int_equal(rig_ask(rig, &read)->status, 0);
}

static void a_file_that_is_opened_brings_its_beginning(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "the beginning");
    rig_open(rig, NULL);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "f"), .how = RSYS_OPEN_READ};
    open.length = 9;
    const struct rsys_reply *reply = rig_ask(rig, &open);
    assert_int_equal(reply->status, 0);
    if (reply->data_length > 0) { /* it is a favour: on the disk it may not be in memory */
        assert_int_equal(reply->data_length, 9);
        assert_memory_equal(reply->data, "the begin", 9);
    }
    open.how = RSYS_OPEN_READ | RSYS_OPEN_CREATE; /* by a lane, which may wait for the disk */
    open.length = 100;
    reply = rig_ask(rig, &open);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->data_length, 13);
    assert_memory_equal(reply->data, "the beginning", 13);
    open.how = RSYS_OPEN_WRITE;
    assert_int_equal(rig_ask(rig, &open)->data_length, 0);
    open.how = RSYS_OPEN_READ | RSYS_OPEN_PATH;
    assert_int_equal(rig_ask(rig, &open)->status, -EINVAL);
    open = (struct rsys_request){.op = RSYS_OPEN, .at = AT(0, ""), .length = 100};
    open.how = RSYS_OPEN_READ | RSYS_OPEN_DIRECTORY;
    reply = rig_ask(rig, &open);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->data_length, 0);
}

static void a_new_file_has_the_mode_that_was_asked_for_whatever_our_umask(void **state)
{
    struct rig *rig = *state;
    mode_t before = umask(077);
    rig_open(rig, NULL);
    struct rsys_attr attr;
    struct rsys_request mkdir = {.op = RSYS_MKDIR, .at = AT(0, "dir"), .mode = 01777};
    assert_int_equal(rig_ask(rig, &mkdir)->attr.mode, S_IFDIR | 01777);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "file"), .mode = 0666};
    open.how = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    assert_int_equal(rig_ask(rig, &open)->attr.mode, S_IFREG | 0666);
    assert_int_equal(rig_stat(rig, "file", &attr), 0);
    assert_int_equal(attr.mode, S_IFREG | 0666);
    assert_int_equal(umask(before), 077); /* the process's is as it was */
}

static void writes_of_many_extents_go_where_they_say(void **state)
{
    struct rig *rig = *state;
    char text[64];
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    struct rsys_request write = {.op = RSYS_WRITE,
                                 .flags = RSYS_WANT_ATTR,
                                 .at.handle = (uint64_t)handle,
                                 .extent_count = 3,
                                 .extents = {{6, 2}, {0, 3}, {3, 3}},
                                 .data = "ghabcdef",
                                 .data_length = 8};
    const struct rsys_reply *reply = rig_ask(rig, &write);
    assert_int_equal(reply->value, 8);
    assert_int_equal(reply->attr.size, 8);
    (void)rig_get_file(rig, "f", text, sizeof(text));
    assert_string_equal(text, "abcdefgh");
}

static void an_appending_handle_writes_at_the_end(void **state)
{
    struct rig *rig = *state;
    char text[64];
    rig_put_file(rig, "log", "one ");
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "log", RSYS_OPEN_WRITE | RSYS_OPEN_APPEND);
    assert_int_equal(rig_write_at(rig, (uint64_t)handle, 0, "two "), 0);
    assert_int_equal(rig_write_at(rig, (uint64_t)handle, 0, "three"), 0);
    (void)rig_get_file(rig, "log", text, sizeof(text));
    assert_string_equal(text, "one two three");
}

static void holes_are_not_sent(void **state)
{
    struct rig *rig = *state;
    int fd = open(rig_path(rig, "sparse"), O_RDWR | O_CREAT, 0644);
    assert_int_equal(ftruncate(fd, 4 << 20), 0);
    assert_int_equal(pwrite(fd, "x", 1, 256 << 10), 1);
    assert_int_equal(pwrite(fd, "y", 1, 768 << 10), 1);
    assert_int_equal(close(fd), 0);
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "sparse", RSYS_OPEN_READ);
    struct rsys_request read = {.op = RSYS_READ,
                                .at.handle = (uint64_t)handle,
                                .length = RSYS_DATA_MAX};
    const struct rsys_reply *reply = rig_ask(rig, &read);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->value, RSYS_DATA_MAX);
    assert_int_equal(reply->extent_count, 2);
    assert_true(reply->data_length < (256 << 10));
    assert_int_equal(reply->extents[0].offset, 256 << 10);
    assert_int_equal(((const char *)reply->data)[0], 'x');
    assert_int_equal(reply->extents[1].offset, 768 << 10);
    assert_int_equal(((const char *)reply->data)[reply->extents[0].length], 'y');
    read.offset = 1 << 20;
    reply = rig_ask(rig, &read);
    assert_int_equal(reply->value, RSYS_DATA_MAX);
    assert_int_equal(reply->extent_count, 0);
    read.offset = (4 << 20) - 5;
    assert_int_equal(rig_ask(rig, &read)->value, 5);
    read.offset = 4 << 20;
    assert_int_equal(rig_ask(rig, &read)->value, 0);
    struct rsys_request seek = {.op = RSYS_SEEK, .at.handle = (uint64_t)handle};
    seek.how = RSYS_SEEK_DATA;
    assert_int_equal(rig_ask(rig, &seek)->value, 256 << 10);
    seek.offset = 256 << 10;
    seek.how = RSYS_SEEK_HOLE;
    assert_true(rig_ask(rig, &seek)->value < (768 << 10));
    seek.offset = 2 << 20;
    seek.how = RSYS_SEEK_DATA;
    assert_int_equal(rig_ask(rig, &seek)->status, -ENXIO);
}

static void a_file_of_more_holes_than_extents_is_read_right(void **state)
{
    struct rig *rig = *state;
    enum { PIECES = 100, APART = 8192 };
    char *expected = test_calloc(PIECES, APART);
    int fd = open(rig_path(rig, "comb"), O_RDWR | O_CREAT, 0644);
    assert_int_equal(ftruncate(fd, PIECES * APART), 0);
    for (int i = 0; i < PIECES; i++) {
        expected[i * APART] = (char)('a' + i % 26);
        assert_int_equal(pwrite(fd, expected + (ptrdiff_t)i * APART, 1, i * APART), 1);
    }
    assert_int_equal(close(fd), 0);
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "comb", RSYS_OPEN_READ);
    struct rsys_request read = {.op = RSYS_READ,
                                .at.handle = (uint64_t)handle,
                                .length = RSYS_DATA_MAX};
    const struct rsys_reply *reply = rig_ask(rig, &read);
    assert_int_equal(reply->value, PIECES * APART);
    assert_int_equal(reply->extent_count, RSYS_EXTENTS_MAX);
    char *got = test_calloc(PIECES, APART);
    const char *from = reply->data;
    for (size_t i = 0; i < reply->extent_count; i++) {
        memcpy(got + reply->extents[i].offset, from, reply->extents[i].length);
        from += reply->extents[i].length;
    }
    assert_memory_equal(got, expected, PIECES * APART);
    test_free(got);
    test_free(expected);
}

static void a_directory_of_thousands_is_read_in_pages(void **state)
{
    struct rig *rig = *state;
    enum { FILES = 3000 };
    static bool seen[FILES];
    memset(seen, 0, sizeof(seen));
    assert_int_equal(mkdir(rig_path(rig, "many"), 0755), 0);
    for (int i = 0; i < FILES; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "many/file-with-a-name-%d", i);
        rig_put_file(rig, name, "x");
    }
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "many", RSYS_OPEN_READ | RSYS_OPEN_DIRECTORY);
    assert_true(handle > 0);
    struct rsys_request list = {.op = RSYS_READDIR,
                                .at.handle = (uint64_t)handle,
                                .length = 16 << 10,
                                .how = RSYS_DIR_PLUS};
    int count = 0, pages = 0;
    for (bool end = false; !end; pages++) {
        const struct rsys_reply *reply = rig_ask(rig, &list);
        assert_int_equal(reply->status, 0);
        end = reply->value == 1;
        struct rsys_entry entry;
        size_t at = 0;
        int code;
        while ((code = rsys_entry_next(reply->data, reply->data_length, &at, &entry)) == 1) {
            long number = strtol(entry.name.data + strlen("file-with-a-name-"), NULL, 10);
            assert_in_range(number, 0, FILES - 1);
            assert_false(seen[number]);
            seen[number] = true;
            assert_int_equal(entry.type, DT_REG);
            assert_true(entry.has_attr);
            assert_int_equal(entry.attr.ino, entry.ino);
            assert_int_equal(entry.attr.size, 1);
            list.offset = entry.cookie;
            count++;
        }
        assert_int_equal(code, 0);
    }
    assert_int_equal(count, FILES);
    assert_true(pages > 10);
    list.length = 10;
    assert_int_equal(rig_ask(rig, &list)->status, -EINVAL);
}

static void names_are_made_moved_and_removed(void **state)
{
    struct rig *rig = *state;
    struct rsys_attr attr;
    rig_open(rig, NULL);
    assert_int_equal(
        rig_status(rig, (struct rsys_request){.op = RSYS_MKDIR, .at = AT(0, "d"), .mode = 0755}),
        0);
    rig_put_file(rig, "d/a", "text");
    struct rsys_request link = {.op = RSYS_LINK, .at = AT(0, "d/a"), .to = AT(0, "d/b")};
    assert_int_equal(rig_ask(rig, &link)->attr.nlink, 2);
    struct rsys_request rename = {.op = RSYS_RENAME, .at = AT(0, "d/a"), .to = AT(0, "c")};
    assert_int_equal(rig_ask(rig, &rename)->status, 0);
    assert_int_equal(rig_stat(rig, "d/a", NULL), -ENOENT);
    rename.at = AT(0, "c");
    rename.to = AT(0, "d/b");
    rename.how = RSYS_RENAME_NOREPLACE;
    assert_int_equal(rig_ask(rig, &rename)->status, -EEXIST);
    rename.to = AT(0, "d");
    rename.how = RSYS_RENAME_EXCHANGE;
    assert_int_equal(rig_ask(rig, &rename)->status, 0);
    assert_int_equal(rig_stat(rig, "d", &attr), 0);
    assert_int_equal(attr.mode & S_IFMT, S_IFREG);
    assert_int_equal(rig_stat(rig, "c/b", NULL), 0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_RMDIR, .at = AT(0, "c")}),
                     -ENOTEMPTY);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK, .at = AT(0, "c/b")}),
                     0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_RMDIR, .at = AT(0, "c")}), 0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK, .at = AT(0, "d")}),
                     0);
    assert_int_equal(rig_stat(rig, "d", NULL), -ENOENT);
    struct rsys_request fifo = {.op = RSYS_MKNOD, .at = AT(0, "fifo"), .mode = S_IFIFO | 0600};
    assert_int_equal(rig_ask(rig, &fifo)->attr.mode, S_IFIFO | 0600);
    fifo.mode = S_IFCHR | 0600;
    fifo.at = AT(0, "device");
    assert_int_equal(rig_ask(rig, &fifo)->status, -EPERM);
    assert_int_equal(rig_open_file(rig, "fifo", RSYS_OPEN_READ), -ENXIO);
}

static void an_open_file_stays_when_its_name_goes(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "before");
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK, .at = AT(0, "f")}),
                     0);
    assert_int_equal(rig_write_at(rig, handle, 6, " after"), 0);
    struct rsys_request read = {.op = RSYS_READ, .at.handle = handle, .length = 100};
    const struct rsys_reply *reply = rig_ask(rig, &read);
    assert_int_equal(reply->value, 12);
    assert_memory_equal(reply->data, "before after", 12);
    struct rsys_request stat = {.op = RSYS_STAT, .at.handle = handle};
    reply = rig_ask(rig, &stat);
    assert_int_equal(reply->attr.size, 12);
    assert_int_equal(reply->attr.nlink, 0);
}

static void a_nameless_file_is_given_a_name(void **state)
{
    struct rig *rig = *state;
    char text[16];
    assert_int_equal(mkdir(rig_path(rig, "d"), 0755), 0);
    rig_open(rig, NULL);
    int64_t handle = rig_open_file(rig, "d", RSYS_OPEN_TMPFILE | RSYS_OPEN_WRITE);
    assert_true(handle > 0);
    assert_int_equal(rig_write_at(rig, (uint64_t)handle, 0, "whole"), 0);
    struct rsys_request link = {.op = RSYS_LINK, .at.handle = (uint64_t)handle};
    link.to = AT(0, "d/named");
    assert_int_equal(rig_ask(rig, &link)->status, 0);
    (void)rig_get_file(rig, "d/named", text, sizeof(text));
    assert_string_equal(text, "whole");
}

static void attributes_are_set_as_asked(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "0123456789");
    rig_open(rig, NULL);
    struct rsys_request set = {.op = RSYS_SETATTR, .at = AT(0, "f")};
    set.how = RSYS_SET_MODE | RSYS_SET_SIZE | RSYS_SET_ATIME | RSYS_SET_MTIME;
    set.attr = (struct rsys_attr){.mode = 0600,
                                  .size = 4,
                                  .atime = {1000, 5},
                                  .mtime = {-2000, 999999999}};
    const struct rsys_reply *reply = rig_ask(rig, &set);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->attr.mode, S_IFREG | 0600);
    assert_int_equal(reply->attr.size, 4);
    assert_int_equal(reply->attr.atime.s, 1000);
    assert_int_equal(reply->attr.mtime.s, -2000);
    assert_int_equal(reply->attr.mtime.ns, 999999999);
    set.how = RSYS_SET_UID | RSYS_SET_GID;
    set.attr.uid = geteuid();
    set.attr.gid = getegid();
    assert_int_equal(rig_ask(rig, &set)->status, 0);
    set.how = RSYS_SET_MTIME_NOW;
    assert_true(rig_ask(rig, &set)->attr.mtime.s > 1000000000);
    assert_int_equal(rig_ask(rig, &set)->attr.atime.s, 1000);
    /* A handle that may be written is cut whatever its name's mode is now. */
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE);
    assert_int_equal(chmod(rig_path(rig, "f"), 0400), 0);
    set.at = AT(handle, "");
    set.how = RSYS_SET_SIZE;
    set.attr.size = 1;
    assert_int_equal(rig_ask(rig, &set)->attr.size, 1);
}

static void no_program_that_runs_as_the_user_is_made(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "x");
    rig_open(rig, NULL);
    struct rsys_request set = {.op = RSYS_SETATTR, .at = AT(0, "f"), .how = RSYS_SET_MODE};
    set.attr.mode = 04755;
    assert_int_equal(rig_ask(rig, &set)->status, -EPERM);
    set.attr.mode = 02755;
    assert_int_equal(rig_ask(rig, &set)->status, -EPERM);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "g"), .mode = 04755};
    open.how = RSYS_OPEN_CREATE | RSYS_OPEN_WRITE;
    assert_int_equal(rig_ask(rig, &open)->status, -EPERM);
    struct rsys_request node = {.op = RSYS_MKNOD, .at = AT(0, "g"), .mode = 06755};
    assert_int_equal(rig_ask(rig, &node)->status, -EPERM);
    assert_int_equal(rig_stat(rig, "g", NULL), -ENOENT);
    struct rsys_request dir = {.op = RSYS_MKDIR, .at = AT(0, "d"), .mode = 02755};
    assert_int_equal(rig_ask(rig, &dir)->status, 0); /* its group is inherited: no program */
}

static void links_are_read_made_and_never_followed(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    rig_put_file(rig, "file", "x");
    assert_int_equal(mkdir(rig_path(rig, "dir"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "dir/sub"), 0755), 0);
    struct rsys_request make = {.op = RSYS_SYMLINK, .at = AT(0, "dir/link"), .text = TEXT("/a/b")};
    assert_int_equal(rig_ask(rig, &make)->attr.mode & S_IFMT, S_IFLNK);
    struct rsys_request read = {.op = RSYS_READLINK, .at = AT(0, "dir/link")};
    assert_string_equal(rig_ask(rig, &read)->text.data, "/a/b");
    read.at = AT(0, "file");
    assert_int_equal(rig_ask(rig, &read)->status, -EINVAL);
    struct rsys_attr attr;
    assert_int_equal(rig_stat(rig, "dir/link", &attr), 0);
    assert_int_equal(attr.mode & S_IFMT, S_IFLNK);
    /* In the way, or at the end of what is to be opened: the client is told. */
    struct rsys_request stat = {.op = RSYS_STAT, .at = AT(0, "dir/link/deeper/yet")};
    const struct rsys_reply *reply = rig_ask(rig, &stat);
    assert_int_equal(reply->status, -ELOOP);
    assert_int_equal(reply->value, strlen("dir/link"));
    assert_string_equal(reply->text.data, "/a/b");
    assert_int_equal(reply->how, 0);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "dir/link"), .how = RSYS_OPEN_READ};
    reply = rig_ask(rig, &open);
    assert_int_equal(reply->status, -ELOOP);
    assert_int_equal(reply->value, strlen("dir/link"));
    open.how = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    assert_int_equal(rig_ask(rig, &open)->status, -ELOOP);
    struct rsys_request rename = {.op = RSYS_RENAME,
                                  .at = AT(0, "file"),
                                  .to = AT(0, "dir/link/x")};
    reply = rig_ask(rig, &rename);
    assert_int_equal(reply->status, -ELOOP);
    assert_int_equal(reply->how, 1);
    assert_string_equal(reply->text.data, "/a/b");
    open.how = RSYS_OPEN_PATH;
    reply = rig_ask(rig, &open);
    assert_int_equal(reply->status, 0);
    read.at = AT(reply->handle, "");
    assert_string_equal(rig_ask(rig, &read)->text.data, "/a/b");
}

static void what_is_below_a_handle_is_found_there(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(mkdir(rig_path(rig, "a"), 0755), 0);
    assert_int_equal(mkdir(rig_path(rig, "a/b"), 0755), 0);
    rig_put_file(rig, "a/b/f", "deep");
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "a", RSYS_OPEN_PATH | RSYS_OPEN_DIRECTORY);
    struct rsys_request stat = {.op = RSYS_STAT, .at = AT(handle, "b/f")};
    assert_int_equal(rig_ask(rig, &stat)->attr.size, 4);
    /* The handle is the directory, whatever it is called. */
    struct rsys_request move = {.op = RSYS_RENAME, .at = AT(0, "a"), .to = AT(0, "z")};
    (void)rig_ask(rig, &move);
    assert_int_equal(rig_ask(rig, &stat)->attr.size, 4);
    uint64_t file = (uint64_t)rig_open_file(rig, "z/b/f", RSYS_OPEN_READ);
    stat.at = AT(file, "x");
    assert_int_equal(rig_ask(rig, &stat)->status, -ENOTDIR);
    struct rsys_request read = {.op = RSYS_READ, .at.handle = handle, .length = 10};
    assert_int_equal(rig_ask(rig, &read)->status, -EISDIR);
}

static void a_file_is_opened_again_only_if_it_is_the_same(void **state)
{
    struct rig *rig = *state;
    struct rsys_attr attr;
    rig_put_file(rig, "f", "x");
    rig_open(rig, NULL);
    assert_int_equal(rig_stat(rig, "f", &attr), 0);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "f"), .attr = attr};
    open.how = RSYS_OPEN_READ | RSYS_OPEN_SAME;
    assert_int_equal(rig_ask(rig, &open)->status, 0);
    rig_put_file(rig, "other", "y");
    struct rsys_request move = {.op = RSYS_RENAME, .at = AT(0, "other"), .to = AT(0, "f")};
    assert_int_equal(rig_ask(rig, &move)->status, 0);
    assert_int_equal(rig_ask(rig, &open)->status, -ESTALE);
}

static void space_is_given_copied_and_told(void **state)
{
    struct rig *rig = *state;
    char text[64];
    rig_put_file(rig, "from", "0123456789");
    rig_open(rig, NULL);
    uint64_t from = (uint64_t)rig_open_file(rig, "from", RSYS_OPEN_READ);
    uint64_t to = (uint64_t)rig_open_file(rig, "to", RSYS_OPEN_CREATE | RSYS_OPEN_WRITE);
    struct rsys_request copy = {.op = RSYS_COPY, .at.handle = from, .to.handle = to};
    copy.offset = 2;
    copy.length = 100;
    assert_int_equal(rig_ask(rig, &copy)->value, 8);
    (void)rig_get_file(rig, "to", text, sizeof(text));
    assert_string_equal(text, "23456789");
    struct rsys_request more = {.op = RSYS_FALLOCATE, .at.handle = to, .length = 4096};
    assert_int_equal(rig_ask(rig, &more)->attr.size, 4096);
    struct rsys_request sync = {.op = RSYS_FSYNC, .at.handle = to, .how = RSYS_SYNC_DATA};
    assert_int_equal(rig_ask(rig, &sync)->status, 0);
    struct rsys_request fs = {.op = RSYS_STATFS, .at = AT(0, "")};
    assert_true(rig_ask(rig, &fs)->statfs.blocks > 0);
    struct rsys_request access = {.op = RSYS_ACCESS, .at = AT(0, "from"), .how = R_OK | W_OK};
    assert_int_equal(rig_ask(rig, &access)->status, 0);
    access.how = X_OK;
    assert_int_equal(rig_ask(rig, &access)->status, -EACCES);
    struct rsys_request xattr = {.op = RSYS_XATTR, .at = AT(0, "from"), .text = TEXT("user.x")};
    assert_int_equal(rig_ask(rig, &xattr)->status, -EOPNOTSUPP);
}

static void handles_do_no_more_than_they_were_opened_for(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "text");
    rig_open(rig, NULL);
    uint64_t reads = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_READ);
    uint64_t writes = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE);
    uint64_t path = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_PATH);
    assert_int_equal(rig_write_at(rig, reads, 0, "x"), -EBADF);
    assert_int_equal(rig_write_at(rig, path, 0, "x"), -EBADF);
    assert_int_equal(rig_write_at(rig, 0, 0, "x"), -EBADF); /* the root */
    struct rsys_request read = {.op = RSYS_READ, .at.handle = writes, .length = 4};
    assert_int_equal(rig_ask(rig, &read)->status, -EBADF);
    read.at.handle = path;
    assert_int_equal(rig_ask(rig, &read)->status, -EBADF);
    assert_int_equal(rig_open_file(rig, "f", 0), -EINVAL);
    assert_int_equal(rig_open_file(rig, "f", 1U << 30 | RSYS_OPEN_READ), -EINVAL);
    assert_int_equal(rig_open_file(rig, "", RSYS_OPEN_WRITE), -EISDIR);
    assert_int_equal(rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_DIRECTORY), -ENOTDIR);
}

static void handles_of_all_jobs_are_limited(void **state)
{
    struct rig *rig = *state;
    rsys_server_destroy(rig->server);
    rig->server =
        rsys_server_create(&(struct rsys_server_options){.loop = rig->loop, .handles_total = 2});
    rig_put_file(rig, "f", "x");
    rig_open(rig, NULL);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    assert_int_equal(rig_open_file(rig, "f", RSYS_OPEN_READ), -ENFILE);
}

UNIT_TESTS(RIG_BOTH(hello_tells_the_roots_the_limits_and_whose_rights_they_are),
           RIG_BOTH(a_file_is_made_written_read_and_closed),
           RIG_BOTH(the_number_of_a_closed_file_is_never_the_next_ones),
           RIG_BOTH(a_file_that_is_opened_brings_its_beginning),
           RIG_BOTH(a_new_file_has_the_mode_that_was_asked_for_whatever_our_umask),
           RIG_BOTH(writes_of_many_extents_go_where_they_say),
           RIG_BOTH(an_appending_handle_writes_at_the_end), RIG_BOTH(holes_are_not_sent),
           RIG_BOTH(a_file_of_more_holes_than_extents_is_read_right),
           RIG_BOTH(a_directory_of_thousands_is_read_in_pages),
           RIG_BOTH(names_are_made_moved_and_removed),
           RIG_BOTH(an_open_file_stays_when_its_name_goes),
           RIG_BOTH(a_nameless_file_is_given_a_name), RIG_BOTH(attributes_are_set_as_asked),
           RIG_BOTH(no_program_that_runs_as_the_user_is_made),
           RIG_BOTH(links_are_read_made_and_never_followed),
           RIG_BOTH(what_is_below_a_handle_is_found_there),
           RIG_BOTH(a_file_is_opened_again_only_if_it_is_the_same),
           RIG_BOTH(space_is_given_copied_and_told),
           RIG_BOTH(handles_do_no_more_than_they_were_opened_for),
           RIG_UNIT(handles_of_all_jobs_are_limited))
