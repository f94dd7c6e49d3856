/* tests/unit/base/test_file_digest.c - the sum of a file, of its first part, of none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/file_digest.h"

#include "tests/support/unit.h"

#include <errno.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/os/os_run.h"
#include "tests/support/fast_dir.h"

#define LARGE ((size_t)600000) /* more than is read at once, and no multiple of it */

struct fixture {
    struct os *os;
    char root[FAST_DIR_SIZE];
    char *bytes;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    char path[FAST_DIR_SIZE + 16];
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    assert_true(fast_dir_make(f->root));
    f->bytes = mem_alloc(LARGE);
    for (size_t i = 0; i < LARGE; i++) {
        f->bytes[i] = (char)(i * 31 % 251);
    }
    (void)snprintf(path, sizeof(path), "%s/large", f->root);
    assert_int_equal(os_write_file(f->os, path, f->bytes, LARGE, 0600, false, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/empty", f->root);
    assert_int_equal(os_write_file(f->os, path, "", 0, 0600, false, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/link", f->root);
    assert_int_equal(symlink("large", path), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_remove_tree(f->os, f->root, NULL), 0);
    os_destroy(f->os);
    mem_free(f->bytes);
    mem_free(f);
    return 0;
}

static void of_bytes(const char *bytes, size_t length, char ret[DIGEST_HEX_SIZE])
{
    struct digest *digest = digest_create();
    digest_update(digest, bytes, length);
    digest_hex(digest, ret);
    digest_destroy(digest);
}

static void the_sum_of_a_file_is_that_of_its_bytes(void **state)
{
    struct fixture *f = *state;
    char wanted[DIGEST_HEX_SIZE], hex[DIGEST_HEX_SIZE];
    of_bytes(f->bytes, LARGE, wanted);
    assert_int_equal(file_digest_below(f->os, f->root, "large", hex, NULL), 0);
    assert_string_equal(hex, wanted);
    of_bytes("", 0, wanted);
    assert_int_equal(file_digest_below(f->os, f->root, "empty", hex, NULL), 0);
    assert_string_equal(hex, wanted);
}

static void what_cannot_be_read_has_no_sum_and_is_named(void **state)
{
    struct fixture *f = *state;
    char hex[DIGEST_HEX_SIZE] = "untouched";
    struct err err = {""};
    assert_int_equal(file_digest_below(f->os, f->root, "none", hex, &err), -ENOENT);
    assert_non_null(strstr(err.text, "none"));
    assert_int_equal(file_digest_below(f->os, f->root, "link", hex, NULL), -ELOOP);
    assert_string_equal(hex, "untouched");
}

static void a_part_is_added_from_where_it_was_to_its_end_or_the_files(void **state)
{
    struct fixture *f = *state;
    char wanted[DIGEST_HEX_SIZE], hex[DIGEST_HEX_SIZE];
    struct os_file *file = NULL;
    uint64_t at = 0;
    struct digest *digest = digest_create();
    assert_int_equal(os_below_open(f->os, f->root, "large", OS_READ, 0, &file, NULL), 0);
    assert_int_equal(file_digest_add(digest, file, &at, 300001), 0);
    assert_int_equal(at, 300001);
    digest_peek(digest, hex);
    of_bytes(f->bytes, 300001, wanted);
    assert_string_equal(hex, wanted);
    assert_int_equal(file_digest_add(digest, file, &at, at), 0);
    assert_int_equal(at, 300001);
    assert_int_equal(file_digest_add(digest, file, &at, LARGE + 5), 0); /* it is shorter */
    assert_int_equal(at, LARGE);
    digest_hex(digest, hex);
    of_bytes(f->bytes, LARGE, wanted);
    assert_string_equal(hex, wanted);
    digest_destroy(digest);
    os_file_close(file);
}

static void an_error_of_reading_is_told_and_adds_nothing(void **state)
{
    struct fixture *f = *state;
    struct os_file *file = NULL;
    uint64_t at = 0;
    struct digest *digest = digest_create();
    assert_int_equal(os_below_open(f->os, f->root, "large", OS_APPEND, 0600, &file, NULL), 0);
    assert_true(file_digest_add(digest, file, &at, FILE_DIGEST_ALL) < 0); /* not for reading */
    assert_int_equal(at, 0);
    digest_destroy(digest);
    os_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_sum_of_a_file_is_that_of_its_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_has_no_sum_and_is_named, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_part_is_added_from_where_it_was_to_its_end_or_the_files,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_error_of_reading_is_told_and_adds_nothing, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
