/* tests/unit/base/test_os_file.c - files, trees and locks of the real body of base/os/os.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"

struct fixture {
    struct os *os;
    char top[64];
    char path[16][512];
    unsigned next;
    struct err err;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(os_create(NULL, &f->os, NULL), 0);
    (void)snprintf(f->top, sizeof(f->top), "/tmp/roost-test-XXXXXX");
    assert_non_null(mkdtemp(f->top));
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

/* A path below the test's directory; good for 15 more calls. */
static const char *at(struct fixture *f, const char *name)
{
    char *path = f->path[f->next++ % 16];
    (void)snprintf(path, sizeof(f->path[0]), "%s/%s", f->top, name);
    return path;
}

static void put(struct fixture *f, const char *name, const char *text)
{
    assert_int_equal(os_write_file(f->os, at(f, name), text, strlen(text), 0644, false, NULL), 0);
}

static void assert_holds(struct fixture *f, const char *name, const char *text)
{
    char *data;
    size_t length;
    assert_int_equal(os_read_file(f->os, at(f, name), 1000, &data, &length, NULL), 0);
    assert_string_equal(data, text);
    assert_int_equal(length, strlen(text));
    mem_free(data);
}

static void collect(void *arg, const char *name)
{
    strbuf_puts(arg, name);
    strbuf_putc(arg, ' ');
}

static void assert_lists(struct fixture *f, const char *name, const char *names)
{
    struct strbuf got;
    strbuf_init(&got, 0);
    assert_int_equal(os_list(f->os, at(f, name), collect, &got, NULL), 0);
    assert_string_equal(strbuf_text(&got), names);
    strbuf_fini(&got);
}

/* ---- whole files ----------------------------------------------------------------------------- */

static void a_file_is_replaced_in_one_step_with_its_mode(void **state)
{
    struct fixture *f = *state;
    put(f, "file", "old and longer");
    assert_int_equal(chmod(at(f, "file"), 0666), 0);
    assert_int_equal(os_write_file(f->os, at(f, "file"), "new", 3, 0640, true, NULL), 0);
    assert_holds(f, "file", "new");
    struct os_stat st;
    assert_int_equal(os_stat(f->os, at(f, "file"), &st), 0);
    assert_true(st.is_file && !st.is_dir && !st.is_link);
    assert_int_equal(st.mode, 0640);
    assert_int_equal(st.size_bytes, 3);
    assert_int_equal(st.uid, geteuid());
    assert_lists(f, "", "file "); /* no temporary file is left */
}

static void a_link_is_replaced_not_followed_when_a_file_is_written(void **state)
{
    struct fixture *f = *state;
    put(f, "target", "safe");
    assert_int_equal(symlink(at(f, "target"), at(f, "link")), 0);
    put(f, "link", "new");
    assert_holds(f, "target", "safe");
    assert_holds(f, "link", "new");
}

static void a_file_that_cannot_be_written_is_named_and_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_write_file(f->os, at(f, "no/such"), "x", 1, 0644, true, &f->err), -ENOENT);
    assert_non_null(strstr(f->err.text, "no/such"));
    assert_int_equal(mkdir(at(f, "dir"), 0755), 0);
    assert_int_equal(os_write_file(f->os, at(f, "dir"), "x", 1, 0644, true, &f->err), -EISDIR);
    assert_lists(f, "", "dir ");
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char much[5000] = {0};
    int code = os_write_file(f->os, at(f, "full"), much, sizeof(much), 0644, false, &f->err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, handler);
    assert_int_equal(code, -EFBIG);
    assert_lists(f, "", "dir ");
}

static void reading_has_a_limit_and_refuses_what_is_no_file(void **state)
{
    struct fixture *f = *state;
    char *data = NULL;
    size_t length = 0;
    put(f, "ten", "0123456789");
    assert_int_equal(os_read_file(f->os, at(f, "ten"), 9, &data, &length, &f->err), -EFBIG);
    assert_non_null(strstr(f->err.text, "/ten"));
    assert_int_equal(os_read_file(f->os, at(f, "none"), 9, &data, &length, &f->err), -ENOENT);
    assert_int_equal(os_read_file(f->os, f->top, 9, &data, &length, &f->err), -EISDIR);
    assert_int_equal(mkfifo(at(f, "pipe"), 0600), 0);
    assert_int_equal(os_read_file(f->os, at(f, "pipe"), 9, &data, &length, &f->err), -EINVAL);
    assert_null(data);
    assert_int_equal(os_read_file(f->os, at(f, "ten"), 10, &data, &length, NULL), 0);
    assert_int_equal(length, 10);
    mem_free(data);
    /* Its size is said to be 0. */
    assert_int_equal(os_read_file(f->os, "/proc/self/maps", 1 << 20, &data, &length, NULL), 0);
    assert_true(length > 1000);
    assert_int_equal(strlen(data), length);
    mem_free(data);
}

static void directories_are_made_with_their_parents(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(os_mkdirs(f->os, at(f, "a/b//c/"), 0755, NULL), 0);
    assert_int_equal(os_mkdirs(f->os, at(f, "a/b/c"), 0755, NULL), 0);
    assert_lists(f, "a/b", "c ");
    put(f, "a/file", "x");
    assert_int_equal(os_mkdirs(f->os, at(f, "a/file/d"), 0755, &f->err), -ENOTDIR);
    assert_non_null(strstr(f->err.text, "a/file"));
}

static void names_are_removed_renamed_and_listed(void **state)
{
    struct fixture *f = *state;
    put(f, "b", "b");
    put(f, "a", "a");
    put(f, ".c", "c");
    assert_int_equal(mkdir(at(f, "d"), 0755), 0);
    assert_lists(f, "", ".c a b d ");
    assert_int_equal(os_rename(f->os, at(f, "a"), at(f, "d/e"), true, NULL), 0);
    assert_holds(f, "d/e", "a");
    assert_int_equal(os_rename(f->os, at(f, "a"), at(f, "x"), true, &f->err), -ENOENT);
    assert_int_equal(os_remove(f->os, at(f, "d"), &f->err), -ENOTEMPTY);
    assert_int_equal(os_remove(f->os, at(f, "d/e"), NULL), 0);
    assert_int_equal(os_remove(f->os, at(f, "d"), NULL), 0);
    assert_int_equal(os_remove(f->os, at(f, "d"), NULL), 0);
    assert_lists(f, "", ".c b ");
    assert_int_equal(os_list(f->os, at(f, "d"), collect, NULL, &f->err), -ENOENT);
}

static void open_files_are_read_and_written_at_offsets(void **state)
{
    struct fixture *f = *state;
    struct os_file *file;
    char data[8] = {0};
    assert_int_equal(os_file_open(f->os, at(f, "f"), OS_WRITE_NEW, 0600, &file, NULL), 0);
    assert_int_equal(os_file_write(file, 3, "def", 3), 0);
    assert_int_equal(os_file_write(file, 0, "abc", 3), 0);
    assert_int_equal(os_file_sync(file), 0);
    assert_int_equal(os_file_size(file), 6);
    os_file_close(file);
    assert_int_equal(os_file_open(f->os, at(f, "f"), OS_WRITE_NEW, 0600, &file, &f->err), -EEXIST);
    assert_int_equal(os_file_open(f->os, at(f, "f"), OS_APPEND, 0600, &file, NULL), 0);
    assert_int_equal(os_file_write(file, 0, "!", 1), 0);
    os_file_close(file);
    assert_int_equal(os_file_open(f->os, at(f, "f"), OS_READ, 0, &file, NULL), 0);
    assert_int_equal(os_file_read(file, 2, data, 3), 3);
    assert_string_equal(data, "cde");
    assert_int_equal(os_file_read(file, 7, data, 3), 0);
    assert_int_equal(os_file_write(file, 0, "x", 1), -EBADF);
    os_file_close(file);
    assert_holds(f, "f", "abcdef!");
    assert_int_equal(os_file_open(f->os, at(f, "f"), OS_WRITE_TRUNCATE, 0600, &file, NULL), 0);
    assert_int_equal(os_file_size(file), 0);
    os_file_close(file);
    assert_int_equal(os_file_open(f->os, f->top, OS_READ, 0, &file, &f->err), -EISDIR);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void a_tree_is_removed_and_links_in_it_are_not_followed(void **state)
{
    struct fixture *f = *state;
    put(f, "precious", "keep me");
    assert_int_equal(os_mkdirs(f->os, at(f, "outside/deep"), 0755, NULL), 0);
    put(f, "outside/deep/file", "keep me");
    assert_int_equal(os_mkdirs(f->os, at(f, "sandbox/a/b"), 0755, NULL), 0);
    put(f, "sandbox/a/file", "x");
    assert_int_equal(symlink("../../outside", at(f, "sandbox/a/trap")), 0);
    assert_int_equal(symlink(at(f, "precious"), at(f, "sandbox/trap")), 0);
    assert_int_equal(symlink("..", at(f, "sandbox/a/b/up")), 0);
    assert_int_equal(mkfifo(at(f, "sandbox/pipe"), 0600), 0);
    assert_int_equal(os_remove_tree(f->os, at(f, "sandbox"), NULL), 0);
    assert_lists(f, "", "outside precious ");
    assert_holds(f, "precious", "keep me");
    assert_holds(f, "outside/deep/file", "keep me");
    assert_int_equal(os_remove_tree(f->os, at(f, "sandbox"), NULL), 0);
    assert_int_equal(symlink("outside", at(f, "link")), 0);
    assert_int_equal(os_remove_tree(f->os, at(f, "link"), NULL), 0);
    assert_lists(f, "", "outside precious ");
}

static void a_tree_deeper_than_descriptors_and_paths_is_removed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(at(f, "deep"), 0755), 0);
    int fd = open(at(f, "deep"), O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(mkdirat(fd, "directory", 0755), 0);
        int next = openat(fd, "directory", O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = next;
        if (i % 500 == 0) {
            int file = openat(fd, "file", O_CREAT | O_WRONLY, 0600);
            assert_true(file >= 0);
            close(file);
        }
    }
    close(fd);
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int code = os_remove_tree(f->os, at(f, "deep"), &f->err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (code != 0) {
        fail_msg("%s", f->err.text);
    }
    assert_lists(f, "", "");
}

static void a_tree_whose_owner_took_all_permissions_is_removed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(chmod(f->top, 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        /* As an ordinary user: root is not kept out by permissions. */
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
            _exit(1);
        }
        if (os_mkdirs(f->os, at(f, "t/locked/inner"), 0755, NULL) != 0 ||
            os_write_file(f->os, at(f, "t/locked/inner/file"), "x", 1, 0600, false, NULL) != 0 ||
            chmod(at(f, "t/locked/inner"), 0) != 0 || chmod(at(f, "t/locked"), 0500) != 0 ||
            chmod(at(f, "t"), 0) != 0) {
            _exit(2);
        }
        _exit(os_remove_tree(f->os, at(f, "t"), NULL) == 0 ? 0 : 3);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_lists(f, "", "");
}

static void what_cannot_be_removed_is_named(void **state)
{
    struct fixture *f = *state;
    if (geteuid() != 0) {
        skip(); /* needs a directory of somebody else */
    }
    assert_int_equal(os_mkdirs(f->os, at(f, "t/a"), 0755, NULL), 0);
    put(f, "t/a/roots", "x");
    assert_int_equal(chmod(f->top, 0777), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct err err = {""};
        _exit(setuid(65534) == 0 && os_remove_tree(f->os, at(f, "t"), &err) == -EACCES &&
                      strstr(err.text, "/a: ") != NULL
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_holds(f, "t/a/roots", "x");
}

/* ---- file systems ---------------------------------------------------------------------------- */

static void a_local_file_system_is_no_network_file_system(void **state)
{
    struct fixture *f = *state;
    assert_false(os_is_network_fs(f->os, f->top));
    assert_false(os_is_network_fs(f->os, at(f, "not/there/yet")));
    assert_false(os_is_network_fs(f->os, "/proc"));
    assert_true(os_disk_free_kib(f->os, f->top) > 0);
    assert_int_equal(os_disk_free_kib(f->os, at(f, "none")), -ENOENT);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void a_lock_names_its_holder_and_is_had_once(void **state)
{
    struct fixture *f = *state;
    struct os_lock *lock, *second = NULL;
    pid_t holder = 0;
    assert_int_equal(os_lock_holder(f->os, at(f, "lock")), 0);
    assert_int_equal(mkfifo(at(f, "fifo.lock"), 0600), 0);
    assert_int_equal(os_lock_holder(f->os, at(f, "fifo.lock")), 0); /* and nobody waits */
    assert_int_equal(os_lock(f->os, at(f, "lock"), &lock, &holder, NULL), 0);
    assert_int_equal(os_lock_holder(f->os, at(f, "lock")), getpid());
    assert_int_equal(os_lock(f->os, at(f, "lock"), &second, &holder, &f->err), -EAGAIN);
    assert_int_equal(holder, getpid());
    assert_non_null(strstr(f->err.text, "/lock: process"));
    char expected[64];
    (void)snprintf(expected, sizeof(expected), "%d\n%llu\n", (int)getpid(),
                   (unsigned long long)os_start_time(f->os, getpid()));
    assert_holds(f, "lock", expected);
    os_unlock(lock);
    assert_int_equal(os_lock_holder(f->os, at(f, "lock")), 0);
    assert_int_equal(os_lock(f->os, at(f, "lock"), &lock, &holder, NULL), 0);
    os_unlock(lock);
    os_unlock(NULL);
}

static void a_lock_is_free_when_its_holder_is_killed(void **state)
{
    struct fixture *f = *state;
    struct os_lock *lock = NULL;
    pid_t holder = 0;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)!write(ready[1], os_lock(f->os, at(f, "lock"), &lock, &holder, NULL) == 0 ? "y" : "n",
                     1);
        for (;;) {
            pause();
        }
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(os_lock(f->os, at(f, "lock"), &lock, &holder, NULL), -EAGAIN);
    assert_int_equal(holder, child);
    assert_int_equal(os_lock_holder(f->os, at(f, "lock")), child);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(os_lock_holder(f->os, at(f, "lock")), 0);
    assert_int_equal(os_lock(f->os, at(f, "lock"), &lock, &holder, NULL), 0);
    assert_int_equal(os_lock_holder(f->os, at(f, "lock")), getpid());
    os_unlock(lock);
    close(ready[0]);
    close(ready[1]);
}

static void a_lock_file_that_is_a_link_is_refused(void **state)
{
    struct fixture *f = *state;
    struct os_lock *lock = NULL;
    pid_t holder = 0;
    put(f, "victim", "text");
    assert_int_equal(symlink("victim", at(f, "lock")), 0);
    assert_int_equal(os_lock(f->os, at(f, "lock"), &lock, &holder, &f->err), -ELOOP);
    assert_holds(f, "victim", "text");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_replaced_in_one_step_with_its_mode),
        TEST(a_link_is_replaced_not_followed_when_a_file_is_written),
        TEST(a_file_that_cannot_be_written_is_named_and_leaves_nothing),
        TEST(reading_has_a_limit_and_refuses_what_is_no_file),
        TEST(directories_are_made_with_their_parents),
        TEST(names_are_removed_renamed_and_listed),
        TEST(open_files_are_read_and_written_at_offsets),
        TEST(a_tree_is_removed_and_links_in_it_are_not_followed),
        TEST(a_tree_deeper_than_descriptors_and_paths_is_removed),
        TEST(a_tree_whose_owner_took_all_permissions_is_removed),
        TEST(what_cannot_be_removed_is_named),
        TEST(a_local_file_system_is_no_network_file_system),
        TEST(a_lock_names_its_holder_and_is_had_once),
        TEST(a_lock_is_free_when_its_holder_is_killed),
        TEST(a_lock_file_that_is_a_link_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
