/* tests/unit/rsyscall/test_rsys_codec.c - messages to bytes and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "rsyscall/rsys.h"

#define TEXT(text) ((struct rsys_text){(text), (uint16_t)strlen(text)})

static const struct rsys_attr ATTR = {.mode = S_IFREG | 0644,
                                      .nlink = 2,
                                      .uid = 1000,
                                      .gid = 100,
                                      .blksize = 4096,
                                      .rdev_major = 5,
                                      .rdev_minor = 6,
                                      .dev = 1ULL << 40,
                                      .ino = UINT64_MAX,
                                      .size = INT64_MAX,
                                      .blocks = 77,
                                      .atime = {-1, 0},
                                      .mtime = {1, 999999999},
                                      .ctime = {INT64_MIN, 1}};

/* Every field has a value of its own. */
static struct rsys_request full_request(uint16_t op)
{
    struct rsys_request request = {.op = op,
                                   .slot = 9,
                                   .seq = 0x01020304,
                                   .flags = RSYS_WANT_ATTR,
                                   .at = {11, TEXT("a/b")},
                                   .to = {12, TEXT("c")},
                                   .text = TEXT("some text"),
                                   .how = 13,
                                   .mode = 14,
                                   .offset = 15,
                                   .offset_to = 16,
                                   .length = 17,
                                   .owner = 18,
                                   .wait_ms = 19,
                                   .attr = ATTR,
                                   .lock = {RSYS_LOCK_WRITE, 20, 21, 22},
                                   .slot_of = 23,
                                   .seq_of = 24,
                                   .version = 25,
                                   .slots = 26,
                                   .session = {1, 2, 3},
                                   .extent_count = 2,
                                   .extents = {{100, 3}, {200, 2}},
                                   .data = "abcde",
                                   .data_length = 5};
    return request;
}

static struct rsys_reply full_reply(uint16_t op, int32_t status)
{
    struct rsys_reply reply = {.op = op,
                               .slot = 9,
                               .seq = 10,
                               .status = status,
                               .handle = 11,
                               .value = 12,
                               .how = 1,
                               .text = TEXT("../link"),
                               .attr = ATTR,
                               .statfs = {1, 2, 3, 4, 5, 6, 7},
                               .lock = {RSYS_LOCK_READ, 20, 21, 22},
                               .version = 1,
                               .slots = 64,
                               .lease_ms = 1000,
                               .data_max = RSYS_DATA_MAX,
                               .uid = 5,
                               .gid = 6,
                               .session = {4, 5},
                               .extent_count = 1,
                               .extents = {{7, 5}},
                               .data = "abcde",
                               .data_length = 5};
    return reply;
}

/* With the data behind.  Returns the length. */
static size_t put_request(const struct rsys_request *request, unsigned char *out)
{
    int length = rsys_encode_request(request, out, RSYS_FIELDS_MAX);
    assert_true(length >= RSYS_HEADER_SIZE);
    size_t whole = (size_t)rsys_frame_length(out, (size_t)length);
    if (whole > (size_t)length) {
        assert_int_equal(whole, (size_t)length + request->data_length);
        memcpy(out + length, request->data, request->data_length);
    }
    return whole;
}

static size_t put_reply(const struct rsys_reply *reply, unsigned char *out)
{
    int length = rsys_encode_reply(reply, out, RSYS_FIELDS_MAX);
    assert_true(length >= RSYS_HEADER_SIZE);
    size_t whole = (size_t)rsys_frame_length(out, (size_t)length);
    if (whole > (size_t)length) {
        memcpy(out + length, reply->data, reply->data_length);
    }
    return whole;
}

static void every_request_comes_back_as_it_was(void **state)
{
    (void)state;
    unsigned char bytes[2 * RSYS_FIELDS_MAX], again[2 * RSYS_FIELDS_MAX];
    for (uint16_t op = 1; op < RSYS_OP_END; op++) {
        struct rsys_request request = full_request(op), back;
        size_t length = put_request(&request, bytes);
        assert_int_equal(rsys_decode_request(bytes, length, &back), 0);
        assert_int_equal(back.op, op);
        assert_int_equal(back.slot, 9);
        assert_int_equal(back.seq, 0x01020304);
        assert_int_equal(back.flags, RSYS_WANT_ATTR);
        assert_int_equal(put_request(&back, again), length);
        assert_memory_equal(again, bytes, length);
        for (size_t cut = 0; cut < length; cut++) { /* nothing is read beyond the end */
            assert_int_equal(rsys_decode_request(bytes, cut, &back), -EBADMSG);
        }
    }
}

static void every_reply_comes_back_as_it_was(void **state)
{
    (void)state;
    static const int32_t STATUS[] = {0, -ELOOP, -EIO};
    unsigned char bytes[2 * RSYS_FIELDS_MAX], again[2 * RSYS_FIELDS_MAX];
    for (uint16_t op = 1; op < RSYS_OP_END; op++) {
        for (size_t i = 0; i < 3; i++) {
            struct rsys_reply reply = full_reply(op, STATUS[i]), back;
            size_t length = put_reply(&reply, bytes);
            assert_int_equal(rsys_decode_reply(bytes, length, &back), 0);
            assert_int_equal(back.op, op);
            assert_int_equal(back.status, STATUS[i]);
            assert_int_equal(put_reply(&back, again), length);
            assert_memory_equal(again, bytes, length);
            if (STATUS[i] == -ELOOP) {
                assert_int_equal(back.value, 12);
                assert_int_equal(back.how, 1);
                assert_string_equal(back.text.data, "../link");
            }
            for (size_t cut = 0; cut < length; cut++) {
                assert_int_equal(rsys_decode_reply(bytes, cut, &back), -EBADMSG);
            }
        }
    }
}

static void fields_arrive_under_their_names(void **state)
{
    (void)state;
    unsigned char bytes[RSYS_FIELDS_MAX];
    struct rsys_request request = full_request(RSYS_COPY), back;
    assert_int_equal(rsys_decode_request(bytes, put_request(&request, bytes), &back), 0);
    assert_int_equal(back.at.handle, 11);
    assert_int_equal(back.offset, 15);
    assert_int_equal(back.to.handle, 12);
    assert_int_equal(back.offset_to, 16);
    assert_int_equal(back.length, 17);
    assert_int_equal(back.how, 0); /* not one of COPY's */
    request = full_request(RSYS_LOCK);
    assert_int_equal(rsys_decode_request(bytes, put_request(&request, bytes), &back), 0);
    assert_int_equal(back.lock.type, RSYS_LOCK_WRITE);
    assert_int_equal(back.lock.pid, 20);
    assert_int_equal(back.lock.start, 21);
    assert_int_equal(back.lock.length, 22);
    assert_int_equal(back.owner, 18);
    assert_int_equal(back.wait_ms, 19);
    request = full_request(RSYS_OPEN);
    assert_int_equal(rsys_decode_request(bytes, put_request(&request, bytes), &back), 0);
    assert_string_equal(back.at.path.data, "a/b");
    assert_memory_equal(&back.attr.mtime.ns, &ATTR.mtime.ns, sizeof(ATTR.mtime.ns));
    assert_int_equal(back.attr.ctime.s, INT64_MIN);
    assert_int_equal(back.attr.ino, UINT64_MAX);
    assert_int_equal(back.mode, 14);
    request = full_request(RSYS_WRITE);
    assert_int_equal(rsys_decode_request(bytes, put_request(&request, bytes), &back), 0);
    assert_int_equal(back.extents[1].offset, 200);
    assert_int_equal(back.data_length, 5);
    assert_memory_equal(back.data, "abcde", 5);
}

/* docs/protocol/rsyscall.md says so. */
static void the_bytes_are_those_of_the_document(void **state)
{
    (void)state;
    static const unsigned char STAT[] = {30, 0, 0, 0, 4, 0, 3, 0, 7, 0, 0, 0,   0,   0,   0,
                                         0,  9, 0, 0, 0, 0, 0, 0, 0, 3, 0, 'a', '/', 'b', 0};
    static const unsigned char ERROR[] = {16, 0, 0, 0, 4,    0x80, 3,    0,
                                          7,  0, 0, 0, 0xfe, 0xff, 0xff, 0xff};
    unsigned char bytes[RSYS_FIELDS_MAX];
    const struct rsys_request request = {.op = RSYS_STAT,
                                         .slot = 3,
                                         .seq = 7,
                                         .at = {9, TEXT("a/b")}};
    assert_int_equal(put_request(&request, bytes), sizeof(STAT));
    assert_memory_equal(bytes, STAT, sizeof(STAT));
    const struct rsys_reply reply = {.op = RSYS_STAT, .slot = 3, .seq = 7, .status = -ENOENT};
    assert_int_equal(put_reply(&reply, bytes), sizeof(ERROR));
    assert_memory_equal(bytes, ERROR, sizeof(ERROR));
}

static void paths_are_names_and_slashes_and_no_more(void **state)
{
    (void)state;
    static const char *const BAD[] = {"/",    "/a",  "a/",   "a//b",  ".",      "..",   "./a",
                                      "../a", "a/.", "a/..", "a/./b", "a/../b", "a/b/", "//"};
    static const char *const GOOD[] = {"",    "a",       "a/b", "...", ".a",  "..a",
                                       "a..", "a/.../b", "a b", "\n",  "\xff"};
    char longest[RSYS_PATH_MAX + 2];
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_false(rsys_path_is_good(BAD[i], strlen(BAD[i])));
    }
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        assert_true(rsys_path_is_good(GOOD[i], strlen(GOOD[i])));
    }
    assert_false(rsys_path_is_good("a\0b", 3));
    memset(longest, 'x', sizeof(longest));
    assert_true(rsys_path_is_good(longest, RSYS_NAME_MAX));
    assert_false(rsys_path_is_good(longest, RSYS_NAME_MAX + 1));
    for (size_t i = 1; i < sizeof(longest); i += 2) {
        longest[i] = '/';
    }
    assert_true(rsys_path_is_good(longest, RSYS_PATH_MAX));
    longest[RSYS_PATH_MAX] = 'x';
    assert_false(rsys_path_is_good(longest, RSYS_PATH_MAX + 1));
    size_t name;
    assert_int_equal(rsys_path_split("a/bc/d", 6, &name), 4);
    assert_int_equal(name, 5);
    assert_int_equal(rsys_path_split("abc", 3, &name), 0);
    assert_int_equal(name, 0);
}

static void what_a_peer_would_refuse_is_not_encoded(void **state)
{
    (void)state;
    unsigned char bytes[RSYS_FIELDS_MAX];
    struct rsys_request request = full_request(RSYS_STAT);
    request.at.path = TEXT("a/../b");
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request = full_request(RSYS_READ);
    request.offset = (uint64_t)INT64_MAX + 1;
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request = full_request(RSYS_WRITE);
    request.data_length = 6; /* more than the extents' */
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request.data_length = 5;
    request.extents[0].offset = INT64_MAX - 1; /* its end cannot be an offset */
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request.extent_count = RSYS_EXTENTS_MAX + 1;
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request = full_request(RSYS_SYMLINK);
    request.text = (struct rsys_text){"a\0b", 3};
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request = full_request(RSYS_OP_END);
    assert_int_equal(rsys_encode_request(&request, bytes, sizeof(bytes)), -EINVAL);
    request = full_request(RSYS_OPEN);
    assert_int_equal(rsys_encode_request(&request, bytes, 40), -EMSGSIZE);
}

static void lengths_that_no_message_has_are_told(void **state)
{
    (void)state;
    unsigned char bytes[RSYS_HEADER_SIZE] = {0};
    assert_int_equal(rsys_frame_length(bytes, 15), 0);
    assert_int_equal(rsys_frame_length(bytes, 16), -EMSGSIZE);
    bytes[0] = 15;
    assert_int_equal(rsys_frame_length(bytes, 16), -EMSGSIZE);
    bytes[0] = 16;
    assert_int_equal(rsys_frame_length(bytes, 16), 16);
    uint32_t most = (uint32_t)RSYS_FRAME_MAX;
    for (int i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(most >> (8 * i));
    }
    assert_int_equal(rsys_frame_length(bytes, 16), most);
    bytes[0]++;
    assert_int_equal(rsys_frame_length(bytes, 16), -EMSGSIZE);
}

static void lists_in_data_come_back(void **state)
{
    (void)state;
    unsigned char data[1200];
    size_t length = 0, at = 0;
    struct rsys_entry entry = {.cookie = 5, .ino = 6, .type = 8, .name = TEXT("name")}, back;
    assert_true(rsys_entry_put(data, sizeof(data), &length, &entry));
    entry.has_attr = true;
    entry.attr = ATTR;
    entry.name = TEXT("other");
    assert_true(rsys_entry_put(data, sizeof(data), &length, &entry));
    assert_int_equal(rsys_entry_next(data, length, &at, &back), 1);
    assert_string_equal(back.name.data, "name");
    assert_int_equal(back.cookie, 5);
    assert_false(back.has_attr);
    size_t second = at;
    assert_int_equal(rsys_entry_next(data, length, &at, &back), 1);
    assert_string_equal(back.name.data, "other");
    assert_int_equal(back.attr.size, ATTR.size);
    assert_int_equal(rsys_entry_next(data, length, &at, &back), 0);
    for (size_t cut = second + 1; cut < length; cut++) {
        at = second;
        assert_int_equal(rsys_entry_next(data, cut, &at, &back), -EBADMSG);
    }
    at = length;
    assert_false(rsys_entry_put(data, length + 20, &at, &entry)); /* no room: nothing is put */
    assert_int_equal(at, length);
    char longest[RSYS_NAME_MAX + 1];
    memset(longest, 'x', sizeof(longest));
    entry.name = (struct rsys_text){longest, RSYS_NAME_MAX};
    length = 0;
    assert_true(rsys_entry_put(data, RSYS_ENTRY_MAX, &length, &entry));
    entry.name = TEXT("a/b"); /* of a server that lies */
    length = at = 0;
    assert_true(rsys_entry_put(data, sizeof(data), &length, &entry));
    assert_int_equal(rsys_entry_next(data, length, &at, &back), -EBADMSG);
    struct rsys_root root = {.number = 2, .flags = 1, .view = TEXT("/usr/lib")}, found;
    length = at = 0;
    assert_true(rsys_root_put(data, sizeof(data), &length, &root));
    assert_int_equal(rsys_root_next(data, length, &at, &found), 1);
    assert_string_equal(found.view.data, "/usr/lib");
    root.view = TEXT("/usr/../lib");
    length = at = 0;
    assert_true(rsys_root_put(data, sizeof(data), &length, &root));
    assert_int_equal(rsys_root_next(data, length, &at, &found), -EBADMSG);
}

static void what_is_not_repeatable_changes_something(void **state)
{
    (void)state;
    static const uint16_t CHANGES[] = {RSYS_SETATTR, RSYS_OPEN,      RSYS_CLOSE,  RSYS_FLUSH,
                                       RSYS_WRITE,   RSYS_MKDIR,     RSYS_MKNOD,  RSYS_SYMLINK,
                                       RSYS_LINK,    RSYS_RENAME,    RSYS_UNLINK, RSYS_RMDIR,
                                       RSYS_LOCK,    RSYS_FALLOCATE, RSYS_COPY};
    size_t count = 0;
    for (uint16_t op = 1; op < RSYS_OP_END; op++) {
        count += rsys_op_is_repeatable(op) ? 0 : 1;
        assert_string_not_equal(rsys_op_name(op), "?");
    }
    for (size_t i = 0; i < sizeof(CHANGES) / sizeof(CHANGES[0]); i++) {
        assert_false(rsys_op_is_repeatable(CHANGES[i]));
    }
    assert_int_equal(count, sizeof(CHANGES) / sizeof(CHANGES[0]));
    assert_false(rsys_op_is_repeatable(RSYS_OP_END));
    assert_string_equal(rsys_op_name(0), "?");
    assert_string_equal(rsys_op_name(65535), "?");
}

UNIT_TESTS(UNIT(every_request_comes_back_as_it_was), UNIT(every_reply_comes_back_as_it_was),
           UNIT(fields_arrive_under_their_names), UNIT(the_bytes_are_those_of_the_document),
           UNIT(paths_are_names_and_slashes_and_no_more),
           UNIT(what_a_peer_would_refuse_is_not_encoded),
           UNIT(lengths_that_no_message_has_are_told), UNIT(lists_in_data_come_back),
           UNIT(what_is_not_repeatable_changes_something))
