/* tests/unit/base/test_os_below.c - nothing outside is reached, whatever lies below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "tests/support/fast_dir.h"

struct fixture {
    struct os *os;
    char top[FAST_DIR_SIZE], root[FAST_DIR_SIZE + 8], outside[FAST_DIR_SIZE + 8];
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    char path[128];
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    assert_true(fast_dir_make(f->top));
    (void)snprintf(f->root, sizeof(f->root), "%s/root", f->top);
    (void)snprintf(f->outside, sizeof(f->outside), "%s/out", f->top);
    assert_int_equal(os_mkdirs(f->os, f->root, 0700, NULL), 0);
    assert_int_equal(os_mkdirs(f->os, f->outside, 0700, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/file", f->outside);
    assert_int_equal(os_write_file(f->os, path, "keep", 4, 0600, false, NULL), 0);
    assert_int_equal(os_below_mkdirs(f->os, f->root, "d/e", 0750, NULL), 0);
    (void)snprintf(path, sizeof(path), "%s/way", f->root);
    assert_int_equal(symlink(f->outside, path), 0);
    (void)snprintf(path, sizeof(path), "%s/d/link", f->root);
    assert_int_equal(symlink("../../out/file", path), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_remove_tree(f->os, f->top, NULL), 0);
    os_destroy(f->os);
    mem_free(f);
    return 0;
}

static void write_below(struct fixture *f, const char *path, const char *text)
{
    struct os_file *file = NULL;
    assert_int_equal(os_below_open(f->os, f->root, path, OS_WRITE_TRUNCATE, 0640, &file, NULL), 0);
    assert_int_equal(os_file_write(file, 0, text, strlen(text)), 0);
    os_file_close(file);
}

static void what_is_written_below_is_read_below(void **state)
{
    struct fixture *f = *state;
    struct os_stat stat;
    struct os_file *file = NULL;
    char text[16] = "";
    write_below(f, "d/e/x", "hello");
    assert_int_equal(os_below_open(f->os, f->root, "d/e/x", OS_WRITE, 0600, &file, NULL), 0);
    assert_int_equal(os_file_write(file, 1, "E", 1), 0);
    os_file_close(file);
    assert_int_equal(os_below_chmod(f->os, f->root, "d/e/x", 0751, NULL), 0);
    assert_int_equal(os_below_rename(f->os, f->root, "d/e/x", f->root, "y", NULL), 0);
    assert_int_equal(os_below_stat(f->os, f->root, "d/e/x", &stat), -ENOENT);
    assert_int_equal(os_below_stat(f->os, f->root, "y", &stat), 0);
    assert_int_equal(stat.mode, 0751);
    assert_true(stat.is_file);
    assert_int_equal(os_below_open(f->os, f->root, "y", OS_READ, 0, &file, NULL), 0);
    assert_int_equal(os_file_read(file, 0, text, sizeof(text)), 5);
    assert_string_equal(text, "hEllo");
    os_file_close(file);
    assert_int_equal(os_below_stat(f->os, f->root, "d/e", &stat), 0);
    assert_int_equal(stat.mode, 0750);
    assert_int_equal(os_below_remove(f->os, f->root, "d/e", NULL), 0);
    assert_int_equal(os_below_remove(f->os, f->root, "d/e", NULL), 0);
    assert_int_equal(os_below_sync(f->os, f->root, "d", NULL), 0);
    assert_int_equal(os_below_sync_all(f->os, f->root, NULL), 0);
}

static void ignore(void *arg, const char *name)
{
    strbuf_printf(arg, "%s;", name);
}

static void no_call_goes_through_a_link(void **state)
{
    struct fixture *f = *state;
    struct os_file *file = NULL;
    struct os_stat stat;
    struct strbuf names;
    char text[8];
    strbuf_init(&names, 0);
    static const enum os_open HOW[] = {OS_READ, OS_WRITE_TRUNCATE, OS_WRITE, OS_APPEND,
                                       OS_WRITE_NEW};
    for (size_t i = 0; i < sizeof(HOW) / sizeof(HOW[0]); i++) {
        assert_int_not_equal(os_below_open(f->os, f->root, "d/link", HOW[i], 0600, &file, NULL), 0);
        assert_int_equal(os_below_open(f->os, f->root, "way/file", HOW[i], 0600, &file, NULL),
                         -ENOTDIR);
    }
    assert_int_equal(os_below_stat(f->os, f->root, "way/file", &stat), -ENOTDIR);
    assert_int_equal(os_below_mkdirs(f->os, f->root, "way/new", 0700, NULL), -ENOTDIR);
    assert_int_equal(os_below_mkdirs(f->os, f->root, "way", 0700, NULL), -ENOTDIR);
    assert_int_equal(os_below_list(f->os, f->root, "way", ignore, &names, NULL), -ENOTDIR);
    assert_int_equal(os_below_remove(f->os, f->root, "way/file", NULL), -ENOTDIR);
    assert_int_equal(os_below_link(f->os, f->root, "way/l", "x", NULL), -ENOTDIR);
    assert_int_equal(os_below_chmod(f->os, f->root, "d/link", 0777, NULL), -ELOOP);
    assert_int_equal(os_below_rename(f->os, f->root, "way/file", f->root, "z", NULL), -ENOTDIR);
    assert_int_equal(os_below_rename(f->os, f->root, "d/link", f->root, "way/z", NULL), -ENOTDIR);
    assert_int_equal(os_below_sync(f->os, f->root, "way", NULL), -ENOTDIR);
    assert_int_equal(os_below_stat(f->os, f->root, "d/link", &stat), 0);
    assert_true(stat.is_link);
    assert_int_equal(os_below_read_link(f->os, f->root, "d/link", text, sizeof(text)),
                     -ENAMETOOLONG);
    assert_int_equal(os_below_list(f->os, f->outside, "", ignore, &names, NULL), 0);
    assert_string_equal(strbuf_text(&names), "file;");
    strbuf_fini(&names);
}

static void names_that_lead_up_are_no_names(void **state)
{
    struct fixture *f = *state;
    struct os_stat stat;
    static const char *const BAD[] = {"..",   "../out/file", "d/../../out/file",
                                      "d//e", "/etc",        "d/",
                                      "./d",  "d/."};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_equal(os_below_stat(f->os, f->root, BAD[i], &stat), -EINVAL);
    }
    assert_int_equal(os_below_stat(f->os, f->root, "", &stat), 0);
    assert_true(stat.is_dir);
}

static void a_link_takes_the_place_of_a_file_but_not_of_a_directory(void **state)
{
    struct fixture *f = *state;
    char text[32];
    write_below(f, "l", "old");
    assert_int_equal(os_below_link(f->os, f->root, "l", "d/e", NULL), 0);
    assert_int_equal(os_below_read_link(f->os, f->root, "l", text, sizeof(text)), 0);
    assert_string_equal(text, "d/e");
    assert_int_not_equal(os_below_link(f->os, f->root, "d", "x", NULL), 0);
}

static void only_files_are_opened(void **state)
{
    struct fixture *f = *state;
    struct os_file *file = NULL;
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/pipe", f->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(os_below_open(f->os, f->root, "pipe", OS_READ, 0, &file, NULL), -EINVAL);
    assert_int_equal(os_below_open(f->os, f->root, "d", OS_READ, 0, &file, NULL), -EISDIR);
    assert_int_equal(os_below_open(f->os, f->root, "", OS_READ, 0, &file, NULL), -EISDIR);
    struct err err = {{0}};
    assert_int_equal(os_below_open(f->os, "/", "none/x", OS_READ, 0, &file, &err), -ENOENT);
    assert_memory_equal(err.text, "/none/x: ", 9); /* and not "//none" */
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(what_is_written_below_is_read_below), CASE(no_call_goes_through_a_link),
           CASE(names_that_lead_up_are_no_names),
           CASE(a_link_takes_the_place_of_a_file_but_not_of_a_directory),
           CASE(only_files_are_opened))
