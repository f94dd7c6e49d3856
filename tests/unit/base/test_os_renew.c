/* tests/unit/base/test_os_renew.c - directories and files that are used again in place of new ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"

#define MANY_FILES 400 /* more than a directory of one block names */

struct fixture {
    struct os *os;
    char top[64], path[128], other[128];
    struct err err;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof *f);
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    (void)snprintf(f->top, sizeof f->top, "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->top));
    (void)snprintf(f->path, sizeof f->path, "%s/used", f->top);
    (void)snprintf(f->other, sizeof f->other, "%s/other", f->top);
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

static ino_t inode(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_ino;
}

static void put(const char *directory, const char *name)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
}

static int renew(struct fixture *f)
{
    return os_renew_directory(f->os, f->path, NULL, 0700, &f->err);
}

static void a_used_directory_is_empty_and_ours_and_the_same(void **state)
{
    struct fixture *f = *state;
    char deep[256];
    struct stat st;
    (void)snprintf(deep, sizeof deep, "%s/a/b", f->path);
    assert_int_equal(os_mkdirs(f->os, deep, 0755, NULL), 0);
    put(deep, "file");
    put(f->path, ".hidden");
    assert_int_equal(mkdir(f->other, 0755), 0);
    put(f->other, "precious");
    (void)snprintf(deep, sizeof deep, "%s/a/trap", f->path);
    assert_int_equal(symlink(f->other, deep), 0);
    assert_int_equal(chmod(f->path, 01777), 0);
    if (getuid() == 0) {
        assert_int_equal(chown(f->path, 65534, 65534), 0);
    }
    ino_t before = inode(f->path);
    assert_int_equal(renew(f), 0);
    assert_int_equal(lstat(f->path, &st), 0);
    assert_int_equal(st.st_ino, before);
    assert_int_equal(st.st_uid, getuid());
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(rmdir(f->path), 0); /* it is empty */
    (void)snprintf(deep, sizeof deep, "%s/precious", f->other);
    assert_int_equal(access(deep, F_OK), 0);
}

static void a_directory_in_it_is_kept_and_renewed_too(void **state)
{
    struct fixture *f = *state;
    char inner[256], deep[300];
    struct stat st;
    (void)snprintf(inner, sizeof inner, "%s/in", f->path);
    (void)snprintf(deep, sizeof deep, "%s/a/in", inner); /* only the one at the top is kept */
    assert_int_equal(os_mkdirs(f->os, deep, 0755, NULL), 0);
    put(deep, "file");
    put(f->path, "beside");
    assert_int_equal(chmod(inner, 01777), 0);
    if (getuid() == 0) {
        assert_int_equal(chown(inner, 65534, 65534), 0);
    }
    ino_t before = inode(inner);
    assert_int_equal(os_renew_directory(f->os, f->path, "in", 0700, &f->err), 0);
    assert_int_equal(lstat(inner, &st), 0);
    assert_int_equal(st.st_ino, before);
    assert_int_equal(st.st_uid, getuid());
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(rmdir(inner), 0); /* both are empty */
    assert_int_equal(rmdir(f->path), 0);
}

static void what_has_the_name_of_the_kept_one_and_is_no_directory_goes(void **state)
{
    struct fixture *f = *state;
    char inner[256];
    (void)snprintf(inner, sizeof inner, "%s/in", f->path);
    assert_int_equal(mkdir(f->path, 0755), 0);
    assert_int_equal(mkdir(f->other, 0755), 0);
    put(f->other, "precious");
    assert_int_equal(symlink(f->other, inner), 0);
    assert_int_equal(os_renew_directory(f->os, f->path, "in", 0700, &f->err), 0);
    assert_int_equal(rmdir(f->path), 0);
    (void)snprintf(inner, sizeof inner, "%s/precious", f->other);
    assert_int_equal(access(inner, F_OK), 0);
    /* None there at all: nothing is made. */
    assert_int_equal(mkdir(f->path, 0755), 0);
    assert_int_equal(os_renew_directory(f->os, f->path, "in", 0700, &f->err), 0);
    assert_int_equal(rmdir(f->path), 0);
}

static void a_kept_directory_with_an_attribute_is_not_as_new(void **state)
{
    struct fixture *f = *state;
    char inner[256];
    (void)snprintf(inner, sizeof inner, "%s/in", f->path);
    assert_int_equal(os_mkdirs(f->os, inner, 0755, NULL), 0);
    if (setxattr(inner, "user.note", "x", 1, 0) != 0) {
        skip(); /* this file system has none */
    }
    assert_int_equal(os_renew_directory(f->os, f->path, "in", 0700, &f->err), -ESTALE);
}

static void what_is_no_directory_is_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(renew(f), -ENOENT);
    assert_int_equal(mkdir(f->other, 0755), 0);
    assert_int_equal(symlink(f->other, f->path), 0);
    assert_int_not_equal(renew(f), 0);
    assert_int_equal(unlink(f->path), 0);
    put(f->top, "used");
    assert_int_equal(renew(f), -ENOTDIR);
}

static void a_directory_with_an_attribute_is_not_as_new(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(f->path, 0755), 0);
    if (setxattr(f->path, "user.note", "x", 1, 0) != 0) {
        skip(); /* this file system has none */
    }
    put(f->path, "file");
    assert_int_equal(renew(f), -ESTALE);
    assert_int_equal(rmdir(f->path), 0); /* emptied all the same */
}

static void a_directory_with_a_list_of_who_may_is_not_as_new(void **state)
{
    struct fixture *f = *state;
    /* Version 2: user::rwx, user:65534:rwx, group::r-x, mask::rwx, other::r-x. */
    static const unsigned char LIST[] = {2,   0,   0,   0,   1,   0,   7,   0,   255, 255, 255,
                                         255, 2,   0,   7,   0,   254, 255, 0,   0,   4,   0,
                                         5,   0,   255, 255, 255, 255, 16,  0,   7,   0,   255,
                                         255, 255, 255, 32,  0,   5,   0,   255, 255, 255, 255};
    assert_int_equal(mkdir(f->path, 0755), 0);
    if (setxattr(f->path, "system.posix_acl_default", LIST, sizeof LIST, 0) != 0) {
        skip();
    }
    assert_int_equal(renew(f), -ESTALE);
}

static void a_directory_with_a_flag_is_not_as_new(void **state)
{
    struct fixture *f = *state;
    int flags = 0;
    assert_int_equal(mkdir(f->path, 0755), 0);
    int fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool has = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
    flags |= FS_SYNC_FL;
    has = has && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    close(fd);
    if (!has) {
        skip();
    }
    assert_int_equal(renew(f), -ESTALE);
}

static void a_directory_that_grew_is_not_as_new(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    char name[64];
    assert_int_equal(mkdir(f->path, 0755), 0);
    for (int i = 0; i < MANY_FILES; i++) {
        (void)snprintf(name, sizeof name, "a-name-of-some-length-%d", i);
        put(f->path, name);
    }
    assert_int_equal(lstat(f->path, &st), 0);
    if (st.st_size <= 4096) {
        skip(); /* directories do not grow here */
    }
    assert_int_equal(renew(f), -ESTALE);
}

static void assert_text(struct fixture *f, const char *text)
{
    char *data;
    size_t length;
    assert_int_equal(os_read_file(f->os, f->path, 1000, &data, &length, NULL), 0);
    assert_string_equal(data, text);
    assert_int_equal(length, strlen(text));
    mem_free(data);
}

static void rewrite(struct fixture *f, const char *text)
{
    assert_int_equal(os_rewrite_file(f->os, f->path, text, strlen(text), 0600, &f->err), 0);
    assert_text(f, text);
}

static void a_file_is_written_anew_in_its_place(void **state)
{
    struct fixture *f = *state;
    rewrite(f, "the first text");
    ino_t before = inode(f->path);
    rewrite(f, "short");
    rewrite(f, "a longer text than the first");
    rewrite(f, "");
    assert_int_equal(inode(f->path), before);
}

static void a_file_that_others_could_have_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    rewrite(f, "one");
    assert_int_equal(link(f->path, f->other), 0); /* another name */
    ino_t before = inode(f->path);
    rewrite(f, "two");
    assert_int_not_equal(inode(f->path), before);
    assert_int_equal(chmod(f->path, 0644), 0); /* another mode */
    before = inode(f->path);
    rewrite(f, "three");
    assert_int_not_equal(inode(f->path), before);
    assert_int_equal(lstat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    if (getuid() == 0) {
        assert_int_equal(chown(f->path, 65534, 65534), 0);
        rewrite(f, "four");
        assert_int_equal(lstat(f->path, &st), 0);
        assert_int_equal(st.st_uid, 0);
    }
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(symlink(f->other, f->path), 0); /* a link is not followed */
    rewrite(f, "five");
    assert_int_equal(lstat(f->path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_used_directory_is_empty_and_ours_and_the_same),
        TEST(a_directory_in_it_is_kept_and_renewed_too),
        TEST(what_has_the_name_of_the_kept_one_and_is_no_directory_goes),
        TEST(a_kept_directory_with_an_attribute_is_not_as_new),
        TEST(what_is_no_directory_is_refused),
        TEST(a_directory_with_an_attribute_is_not_as_new),
        TEST(a_directory_with_a_list_of_who_may_is_not_as_new),
        TEST(a_directory_with_a_flag_is_not_as_new),
        TEST(a_directory_that_grew_is_not_as_new),
        TEST(a_file_is_written_anew_in_its_place),
        TEST(a_file_that_others_could_have_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
