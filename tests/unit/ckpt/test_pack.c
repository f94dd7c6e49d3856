/* tests/unit/ckpt/test_pack.c - files made smaller, and what they were again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/pack_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/check.h"
#include "tests/support/unit.h"

#define BYTES ((size_t)3 << 20)

struct place {
    char folder[64], plain[128], packed[128], again[128];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/pack.XXXXXX");
    if (mkdtemp(place->folder) == NULL) {
        return -1;
    }
    (void)snprintf(place->plain, sizeof place->plain, "%s/plain", place->folder);
    (void)snprintf(place->packed, sizeof place->packed, "%s/packed", place->folder);
    (void)snprintf(place->again, sizeof place->again, "%s/again", place->folder);
    *state = place;
    return 0;
}

/* Nothing else may be left. */
static int remove_place(void **state)
{
    struct place *place = *state;
    (void)unlink(place->plain);
    (void)unlink(place->packed);
    (void)unlink(place->again);
    int rc = rmdir(place->folder);
    free(place);
    return rc;
}

static unsigned char *contents(size_t bytes)
{
    unsigned char *data = calloc(1, bytes + 1);
    unsigned seed = 1;
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1103515245U + 12345U;
        data[i] =
            i / 65536 % 3 == 0 ? (unsigned char)(seed >> 16) : 0; /* and long runs of zeroes */
    }
    return data;
}

static void write_file(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(name, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void holds(const char *name, const void *data, size_t bytes)
{
    unsigned char *got = calloc(1, bytes + 1);
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, bytes + 1, file), bytes);
    assert_memory_equal(got, data, bytes);
    (void)fclose(file);
    free(got);
}

static int64_t size_of(const char *name, bool on_disk)
{
    struct stat stat;
    assert_int_equal(lstat(name, &stat), 0);
    return on_disk ? stat.st_blocks * 512 : stat.st_size;
}

static void what_is_packed_comes_back_and_zeroes_are_holes(void **state)
{
    struct place *place = *state;
    unsigned char *data = contents(BYTES);
    uint64_t plain = 0;
    write_file(place->plain, data, BYTES);
    assert_int_equal(pack_file(place->plain, place->packed, &plain, NULL), 0);
    assert_int_equal(plain, BYTES);
    assert_true(pack_is_packed(place->packed));
    assert_false(pack_is_packed(place->plain));
    assert_in_range(size_of(place->packed, false), 1, BYTES / 2);
    assert_int_equal(unpack_file(place->packed, place->again, BYTES, NULL), 0);
    holds(place->again, data, BYTES);
    assert_in_range(size_of(place->again, true), 1, BYTES / 2);
    free(data);
}

static void sizes_at_the_edges_come_back(void **state)
{
    static const size_t SIZES[] = {0, 1, 4095, 4096, 4097, (size_t)1 << 20, ((size_t)1 << 20) + 1};
    struct place *place = *state;
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        unsigned char *data = contents(SIZES[i]);
        write_file(place->plain, data, SIZES[i]);
        assert_int_equal(pack_file(place->plain, place->plain, NULL, NULL), 0);
        assert_true(pack_is_packed(place->plain));
        assert_int_equal(unpack_file(place->plain, place->plain, SIZES[i], NULL), 0);
        holds(place->plain, data, SIZES[i]);
        free(data);
    }
}

static void what_is_not_packed_is_taken_as_it_is(void **state)
{
    struct place *place = *state;
    write_file(place->plain, "\177ELF", 4);
    assert_int_equal(unpack_file(place->plain, place->plain, 1, NULL), 0);
    assert_int_equal(unpack_file(place->plain, place->again, 1, NULL), 0);
    holds(place->again, "\177ELF", 4);
    assert_int_equal(access(place->plain, F_OK), -1);
}

static void more_than_was_said_is_refused(void **state)
{
    struct place *place = *state;
    struct err err = {.text = ""};
    unsigned char *data = contents(BYTES);
    write_file(place->plain, data, BYTES);
    assert_int_equal(pack_file(place->plain, place->packed, NULL, NULL), 0);
    assert_int_equal(unpack_file(place->packed, place->again, BYTES - 1, &err), -EFBIG);
    assert_non_null(strstr(err.text, place->packed));
    assert_int_equal(access(place->again, F_OK), -1);
    free(data);
}

static void each_byte_that_is_changed_is_noticed(void **state)
{
    struct place *place = *state;
    unsigned char *data = contents(70000);
    write_file(place->plain, data, 70000);
    assert_int_equal(pack_file(place->plain, place->packed, NULL, NULL), 0);
    size_t bytes = (size_t)size_of(place->packed, false);
    unsigned char *packed = calloc(1, bytes + 1);
    FILE *file = fopen(place->packed, "re");
    assert_int_equal(fread(packed, 1, bytes, file), bytes);
    (void)fclose(file);
    for (size_t i = 5; i < bytes; i += bytes / 41) { /* before it: the mark, and a bit of no use */
        packed[i] ^= 0x10;
        write_file(place->packed, packed, bytes);
        int rc = unpack_file(place->packed, place->again, 1 << 20, NULL);
        assert_true(rc == -EBADMSG || rc == -EFBIG || rc == -ENOSPC); /* of its size */
        packed[i] ^= 0x10;
    }
    write_file(place->packed, packed, bytes - 1);
    assert_int_equal(unpack_file(place->packed, place->again, 1 << 20, NULL), -EBADMSG);
    write_file(place->packed, packed, bytes + 1);
    assert_int_equal(unpack_file(place->packed, place->again, 1 << 20, NULL), -EBADMSG);
    assert_int_equal(access(place->again, F_OK), -1);
    free(packed);
    free(data);
}

/* zstd would unpack nothing from the first two, and say that all is well. */
static void what_does_not_begin_with_a_frame_is_never_unpacked(void **state)
{
    struct place *place = *state;
    static const struct {
        const char *bytes;
        size_t count;
    } FILES[] = {{"\x50\x2a\x4d\x18\0\0\0\0", 8}, /* a frame to be skipped */
                 {"\x5f\x2a\x4d\x18\x01\0\0\0x", 9},
                 {"\x27\xb5\x2f\xfd\0\0\0\0", 8}, /* zstd 0.7 */
                 {"\x28\xb5\x2f", 3}};
    int out = open(place->again, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(out >= 0);
    for (size_t i = 0; i < ARRAY_COUNT(FILES); i++) {
        struct err err = {.text = ""};
        write_file(place->packed, FILES[i].bytes, FILES[i].count);
        assert_int_equal(unpack_into(place->packed, out, "again", 100, &err), -EBADMSG);
        assert_non_null(strstr(err.text, "the file does not begin with a zstd frame"));
        assert_false(pack_is_packed(place->packed));
    }
    (void)close(out);
}

static void no_link_is_followed(void **state)
{
    struct place *place = *state;
    write_file(place->plain, "secret", 6);
    assert_int_equal(symlink(place->plain, place->packed), 0);
    assert_int_equal(pack_file(place->packed, place->again, NULL, NULL), -ELOOP);
    assert_int_equal(unpack_into(place->packed, -1, "", 100, NULL), -ELOOP);
    assert_int_equal(access(place->again, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_packed_comes_back_and_zeroes_are_holes, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(sizes_at_the_edges_come_back, make_place, remove_place),
        cmocka_unit_test_setup_teardown(what_is_not_packed_is_taken_as_it_is, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(more_than_was_said_is_refused, make_place, remove_place),
        cmocka_unit_test_setup_teardown(each_byte_that_is_changed_is_noticed, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(what_does_not_begin_with_a_frame_is_never_unpacked,
                                        make_place, remove_place),
        cmocka_unit_test_setup_teardown(no_link_is_followed, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
