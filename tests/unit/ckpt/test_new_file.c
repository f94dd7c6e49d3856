/* tests/unit/ckpt/test_new_file.c - a file that is whole or not there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/new_file_linux.h"

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
#include "tests/support/unit.h"

struct place {
    char folder[64], name[128], begun[160];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/new_file.XXXXXX");
    if (mkdtemp(place->folder) == NULL) {
        return -1;
    }
    (void)snprintf(place->name, sizeof place->name, "%s/image", place->folder);
    (void)snprintf(place->begun, sizeof place->begun, "%s.new", place->name);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    (void)unlink(place->name);
    (void)unlink(place->begun);
    int rc = rmdir(place->folder);
    free(place);
    return rc;
}

static void holds(const char *path, const char *text)
{
    char got[64] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t length = fread(got, 1, sizeof got - 1, file);
    got[length] = '\0';
    (void)fclose(file);
    assert_string_equal(got, text);
}

static void write_one(const struct place *place, const char *text)
{
    struct new_file file;
    assert_int_equal(new_file_open(&file, place->name, false, NULL), 0);
    assert_int_equal(new_file_write(file.fd, text, strlen(text), 0), 0);
    assert_int_equal(new_file_commit(&file, 0600, NULL), 0);
    new_file_close(&file, false);
}

static void it_has_its_name_only_when_it_is_whole(void **state)
{
    struct place *place = *state;
    struct new_file file;
    write_one(place, "the old one");
    assert_int_equal(new_file_open(&file, place->name, false, NULL), 0);
    assert_int_equal(new_file_write(file.fd, "new", 3, 0), 0);
    holds(place->name, "the old one");
    assert_int_equal(new_file_commit(&file, 0700, NULL), 0);
    holds(place->name, "new");
    struct stat st;
    assert_int_equal(stat(place->name, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(access(place->begun, F_OK), -1);
}

static void one_that_is_given_up_leaves_the_old_one_and_nothing_else(void **state)
{
    struct place *place = *state;
    struct new_file file;
    write_one(place, "the old one");
    assert_int_equal(new_file_open(&file, place->name, false, NULL), 0);
    new_file_close(&file, false);
    holds(place->name, "the old one");
    assert_int_equal(access(place->begun, F_OK), -1);
}

static void what_a_killed_writer_left_is_written_over(void **state)
{
    struct place *place = *state;
    FILE *left = fopen(place->begun, "we");
    assert_non_null(left);
    (void)fputs("much more than the next one", left);
    (void)fclose(left);
    write_one(place, "next");
    holds(place->name, "next");
}

static void two_do_not_write_one_file(void **state)
{
    struct place *place = *state;
    struct new_file file, second;
    struct err err = {.text = ""};
    assert_int_equal(new_file_open(&file, place->name, false, NULL), 0);
    assert_int_equal(new_file_open(&second, place->name, false, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another process is writing"));
    new_file_close(&file, false);
    assert_int_equal(new_file_open(&second, place->name, false, NULL), 0);
    new_file_close(&second, false);
}

static void a_link_that_somebody_laid_there_is_not_followed(void **state)
{
    struct place *place = *state;
    struct new_file file;
    assert_int_equal(symlink("/tmp/elsewhere", place->begun), 0);
    assert_int_equal(new_file_open(&file, place->name, false, NULL), -ELOOP);
    assert_int_equal(access("/tmp/elsewhere", F_OK), -1);
}

static void one_that_is_kept_can_be_continued(void **state)
{
    struct place *place = *state;
    struct new_file file;
    assert_int_equal(new_file_open(&file, place->name, false, NULL), 0);
    assert_int_equal(new_file_write(file.fd, "half", 4, 0), 0);
    new_file_close(&file, true);
    assert_int_equal(new_file_open(&file, place->name, true, NULL), 0);
    assert_int_equal(new_file_write(file.fd, " whole", 6, 4), 0);
    assert_int_equal(new_file_commit(&file, 0600, NULL), 0);
    holds(place->name, "half whole");
}

static void how_much_room_is_missing_is_said(void **state)
{
    struct place *place = *state;
    struct new_file file;
    struct err err = {.text = ""};
    assert_int_equal(new_file_open(&file, place->name, false, NULL), 0);
    assert_int_equal(new_file_room(file.fd, "image", 1, NULL), 0);
    assert_int_equal(new_file_room(file.fd, "image", UINT64_C(1) << 60, &err), -ENOSPC);
    assert_non_null(
        strstr(err.text, "image: the file needs 1152921504606846976 bytes; the disk lacks"));
    new_file_close(&file, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

UNIT_TESTS(TEST(it_has_its_name_only_when_it_is_whole),
           TEST(one_that_is_given_up_leaves_the_old_one_and_nothing_else),
           TEST(what_a_killed_writer_left_is_written_over), TEST(two_do_not_write_one_file),
           TEST(a_link_that_somebody_laid_there_is_not_followed),
           TEST(one_that_is_kept_can_be_continued), TEST(how_much_room_is_missing_is_said))
