/* Files with secrets: who may have them, and what is in them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/secret_file.h"

#include "tests/support/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "tests/support/fast_dir.h"

struct rig {
    char dir[FAST_DIR_SIZE], path[128];
    struct os *os;
    char text[16];
    struct err err;
};

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    assert_true(fast_dir_make(rig->dir));
    (void)snprintf(rig->path, sizeof rig->path, "%s/secret", rig->dir);
    assert_int_equal(os_create(NULL, &rig->os, NULL), 0);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    (void)os_remove_tree(rig->os, rig->dir, NULL);
    os_destroy(rig->os);
    mem_free(rig);
    return 0;
}

static int read_back(struct rig *rig, const void *data, size_t length, mode_t mode)
{
    assert_int_equal(os_write_file(rig->os, rig->path, data, length, mode, false, NULL), 0);
    memset(rig->text, 'x', sizeof rig->text);
    rig->err.text[0] = '\0';
    int rc = secret_file_read(rig->os, rig->path, rig->text, sizeof rig->text, &rig->err);
    if (rc != 0) { /* it names the file and has put nothing out */
        assert_non_null(strstr(rig->err.text, rig->path));
        assert_int_equal(rig->text[0], 'x');
        assert_true(length < 4 || strstr(rig->err.text, "open") == NULL);
    }
    return rc;
}

static void a_secret_is_read_without_the_white_space_at_its_end(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(read_back(rig, "open sesame \r\n", 14, 0600), 0);
    assert_string_equal(rig->text, "open sesame");
    assert_int_equal(read_back(rig, " open", 5, 0400), 0);
    assert_string_equal(rig->text, " open");
    assert_int_equal(read_back(rig, "open67890123456", 15, 0600), 0);
    assert_string_equal(rig->text, "open67890123456");
}

static void what_others_may_use_is_refused(void **state)
{
    static const mode_t MODES[] = {0640, 0604, 0620, 0602, 0610, 0601, 0644};
    struct rig *rig = *state;
    for (size_t i = 0; i < ARRAY_COUNT(MODES); i++) {
        assert_int_equal(read_back(rig, "open", 4, MODES[i]), -EACCES);
        assert_non_null(strstr(rig->err.text, "chmod 0600"));
    }
}

static void a_file_of_somebody_else_is_refused(void **state)
{
    struct rig *rig = *state;
    if (os_uid(rig->os) != 0) {
        skip();
    }
    assert_int_equal(os_write_file(rig->os, rig->path, "open", 4, 0600, false, NULL), 0);
    assert_int_equal(os_chown(rig->os, rig->path, 65534, 65534, NULL), 0);
    assert_int_equal(secret_file_read(rig->os, rig->path, rig->text, sizeof rig->text, &rig->err),
                     -EACCES);
    assert_non_null(strstr(rig->err.text, "another user"));
}

static void what_is_no_text_of_that_length_is_refused(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(read_back(rig, "", 0, 0600), -EINVAL);
    assert_int_equal(read_back(rig, " \n\n", 3, 0600), -EINVAL);
    assert_int_equal(read_back(rig, "open678901234567", 16, 0600), -EINVAL);
    assert_int_equal(read_back(rig, "open\0sesame", 11, 0600), -EINVAL);
    char *large = mem_alloc(100000);
    memset(large, 'o', 100000);
    assert_int_equal(read_back(rig, large, 100000, 0600), -EINVAL);
    mem_free(large);
}

static void what_is_no_file_is_refused(void **state)
{
    struct rig *rig = *state;
    struct err err;
    assert_int_equal(secret_file_read(rig->os, rig->path, rig->text, sizeof rig->text, &err),
                     -ENOENT);
    assert_non_null(strstr(err.text, rig->path));
    assert_true(secret_file_read(rig->os, rig->dir, rig->text, sizeof rig->text, &err) < 0);
    assert_non_null(strstr(err.text, rig->dir));
}

static void what_is_wiped_is_zero(void **state)
{
    char text[] = "secret";
    (void)state;
    secret_wipe(text, 3);
    assert_memory_equal(text, "\0\0\0ret", 7);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_secret_is_read_without_the_white_space_at_its_end),
        TEST(what_others_may_use_is_refused),
        TEST(a_file_of_somebody_else_is_refused),
        TEST(what_is_no_text_of_that_length_is_refused),
        TEST(what_is_no_file_is_refused),
        cmocka_unit_test(what_is_wiped_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
