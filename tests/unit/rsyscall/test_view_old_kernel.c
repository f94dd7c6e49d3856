/* tests/unit/rsyscall/test_view_old_kernel.c - resolving of paths on a kernel without openat2(),
 * and with it: the same answers.
 *
 * The kernel is made old by a filter of system calls, which stays: the last test of all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "rsyscall/server.h"
#include "rsyscall/view.h"

#define TEXT(text) ((struct rsys_text){(text), (uint16_t)strlen(text)})

static char base[64];

static const char *below(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof(path), "%s/%s", base, name);
    return path;
}

static int make_tree(void **state)
{
    (void)state;
    static const char *const DIRECTORIES[] = {"root", "root/a", "root/a/b", "outside"};
    (void)snprintf(base, sizeof(base), "/tmp/rsys.XXXXXX");
    assert_non_null(mkdtemp(base));
    for (size_t i = 0; i < sizeof(DIRECTORIES) / sizeof(DIRECTORIES[0]); i++) {
        assert_int_equal(mkdir(below(DIRECTORIES[i]), 0755), 0);
    }
    int fd = open(below("root/a/b/f"), O_WRONLY | O_CREAT, 0644);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(symlink("../outside", below("root/out")), 0);
    assert_int_equal(symlink("b", below("root/a/link")), 0);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"root/a/b/f", "root/a/b", "root/a/link", "root/a",
                                        "root/out",   "root",     "outside",     "."};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]) - 1; i++) {
        assert_int_equal(remove(below(NAMES[i])), 0);
    }
    return rmdir(base);
}

static struct rsys_view *view_of(const char *directory, bool stay)
{
    struct rsys_view *view = NULL;
    const struct rsys_offer_root root = {.view = "/", .directory = directory};
    const struct rsys_offer offer = {.roots = &root, .root_count = 1, .stay_on_device = stay};
    assert_int_equal(rsys_view_create(&offer, &view, NULL), 0);
    return view;
}

static int find(struct rsys_view *view, const char *path)
{
    struct stat about;
    int fd = -1;
    int code = rsys_view_find(view, rsys_view_root_fd(view, 0), path, false, &fd, &about);
    if (code == 0) {
        struct stat again;
        assert_int_equal(fstat(fd, &again), 0);
        assert_int_equal(again.st_ino, about.st_ino);
        assert_int_equal(close(fd), 0);
    }
    return code;
}

static int find_parent(struct rsys_view *view, const char *path, const char *expected)
{
    const struct rsys_text text = TEXT(path);
    const char *name = NULL;
    int fd = -1;
    int code = rsys_view_find_parent(view, rsys_view_root_fd(view, 0), &text, &fd, &name);
    if (code == 0) {
        assert_string_equal(name, expected);
        assert_int_equal(close(fd), 0);
    }
    return code;
}

static void paths_are_resolved(void **state)
{
    (void)state;
    char text[RSYS_PATH_MAX + 1];
    size_t used = 0;
    struct rsys_view *view = view_of(below("root"), false);
    assert_int_equal(find(view, "a"), 0);
    assert_int_equal(find(view, "a/b/f"), 0);
    assert_int_equal(find(view, "a/link"), 0); /* the link itself */
    assert_int_equal(find(view, "out"), 0);
    assert_int_equal(find(view, "a/x"), -ENOENT);
    assert_int_equal(find(view, "x/y"), -ENOENT);
    assert_int_equal(find(view, "a/b/f/x"), -ENOTDIR);
    assert_int_equal(find(view, "a/link/f"), -ELOOP);
    assert_int_equal(find(view, "out/x"), -ELOOP);
    assert_int_equal(find_parent(view, "new", "new"), 0);
    assert_int_equal(find_parent(view, "a/b/new", "new"), 0);
    assert_int_equal(find_parent(view, "a/link/new", "new"), -ELOOP);
    assert_int_equal(find_parent(view, "a/b/f/new", "new"), -ENOTDIR);
    assert_int_equal(find_parent(view, "none/new", "new"), -ENOENT);
    const struct rsys_text path = TEXT("a/link/f");
    assert_int_equal(rsys_view_find_link(view, rsys_view_root_fd(view, 0), &path, &used, text), 1);
    assert_string_equal(text, "b");
    assert_int_equal(used, strlen("a/link"));
    rsys_view_destroy(view);
}

static void other_file_systems_are_left_alone(void **state)
{
    (void)state;
    struct stat here, there;
    struct rsys_view *view = view_of("/", false);
    assert_int_equal(find(view, "proc/version"), -EXDEV);
    assert_int_equal(find(view, "etc/passwd"), 0);
    rsys_view_destroy(view);
    assert_int_equal(stat("/", &here), 0);
    assert_int_equal(stat("/dev/shm", &there), 0);
    if (here.st_dev != there.st_dev) {
        view = view_of("/", true);
        assert_int_equal(find(view, "dev/shm"), -EXDEV);
        assert_int_equal(find(view, "etc/passwd"), 0);
        rsys_view_destroy(view);
    }
}

static void make_the_kernel_old(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    assert_int_equal(syscall(SYS_openat2, 0, 0, 0, 0), -1);
    assert_int_equal(errno, ENOSYS);
}

static void an_old_kernel_gives_the_same_answers(void **state)
{
    make_the_kernel_old();
    paths_are_resolved(state);
    other_file_systems_are_left_alone(state);
    /* And none that could block is given at once. */
    struct rsys_view *view = view_of(below("root"), false);
    struct stat about;
    int fd;
    assert_int_equal(rsys_view_find(view, rsys_view_root_fd(view, 0), "a", true, &fd, &about),
                     -EAGAIN);
    rsys_view_destroy(view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {UNIT(paths_are_resolved),
                                       UNIT(other_file_systems_are_left_alone),
                                       UNIT(an_old_kernel_gives_the_same_answers)};
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
