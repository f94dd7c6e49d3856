/* tests/unit/starter/test_job_filter.c - what the filters of system calls refuse, and what not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "starter/job_filter.h"

/* What the check says in a child under that filter: its errno, or 0. */
static int under(const struct os_filter *filter, int (*check)(void))
{
    pid_t child = fork();
    if (child == 0) {
        struct sock_fprog program = {.len = filter->count,
                                     .filter = (struct sock_filter *)(uintptr_t)filter->codes};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
            _exit(255);
        }
        _exit(check() & 0xff);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 255);
    return WEXITSTATUS(status);
}

static int result(long rc)
{
    return rc < 0 ? errno : 0;
}

static int load_bpf(void)
{
    return result(syscall(SYS_bpf, 9999, NULL, 0));
}

static int read_key(void)
{
    return result(syscall(SYS_keyctl, 9999, 0, 0, 0, 0));
}

static int load_module(void)
{
    return result(syscall(SYS_init_module, NULL, 0, ""));
}

static int open_by_handle(void)
{
    return result(syscall(SYS_open_by_handle_at, -1, NULL, 0));
}

/* Flags that no kernel knows: one that is asked says EINVAL. */
static int hold_kernel_faults(void)
{
    return result(syscall(SYS_userfaultfd, 0x40000000));
}

static int see_own_faults(void)
{
    return result(syscall(SYS_userfaultfd, 0x40000001));
}

/* Asked for with what no kernel knows: one that looks says EINVAL, or ENOSYS where it has none. */
static int make_secret_memory(void)
{
#ifdef SYS_memfd_secret
    return result(syscall(SYS_memfd_secret, 0x40000000));
#else
    return ENOSYS;
#endif
}

/* 0: all that images and debuggers want can be had, and nothing else. */
static int take_personalities(void)
{
    static const unsigned long GOOD[] = {0xffffffff,
                                         0xffffffffffffffff,
                                         PER_LINUX32,
                                         ADDR_NO_RANDOMIZE,
                                         PER_LINUX32 | ADDR_NO_RANDOMIZE,
                                         PER_LINUX};
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        if (syscall(SYS_personality, GOOD[i]) < 0) {
            return 1;
        }
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned long set = 1UL << bit, clear = 0xffffffff & ~set;
        bool good = set == PER_LINUX32 || set == ADDR_NO_RANDOMIZE;
        if (!good && (result(syscall(SYS_personality, set)) != EPERM ||
                      result(syscall(SYS_personality, set | ADDR_NO_RANDOMIZE)) != EPERM ||
                      result(syscall(SYS_personality, set | 0xffffffff00000000)) != EPERM)) {
            return 2;
        }
        if (result(syscall(SYS_personality, clear)) != EPERM) {
            return 3;
        }
    }
    return syscall(SYS_personality, 0xffffffff) == PER_LINUX ? 0 : 4;
}

static int make_ring(void)
{
    return result(syscall(SYS_io_uring_setup, 0, NULL));
}

static int terminal_ioctl(unsigned long call)
{
    char letter = 'x';
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    return terminal < 0 ? 254 : result(syscall(SYS_ioctl, terminal, call, &letter));
}

static int type_into_terminal(void)
{
    return terminal_ioctl(TIOCSTI);
}

static int type_with_high_bits(void)
{
    return terminal_ioctl(TIOCSTI | 0x100000000UL); /* the kernel does not look at them */
}

static int ask_terminal(void)
{
    struct winsize size;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    return terminal < 0 ? 254 : result(ioctl(terminal, TIOCGWINSZ, &size));
}

static int trace_me(void)
{
    return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int leave_users(void)
{
    return result(unshare(CLONE_NEWUSER)) == EPERM ? EPERM : 0; /* ENOSPC: this kernel's limit */
}

static int leave_mounts_as_well(void)
{
    return result(unshare(CLONE_FS | CLONE_NEWNS)) == EPERM ? EPERM : 0;
}

static int child_main(void *arg)
{
    (void)arg;
    return 0;
}

static int clone_users(void)
{
    static char stack[65536];
    pid_t child = clone(child_main, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, NULL);
    int code = result(child);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
    }
    return code == EPERM ? EPERM : 0;
}

static int mount_something(void)
{
    return result(mount("none", "/nowhere/at/all", "tmpfs", 0, NULL));
}

static void *thread_main(void *arg)
{
    return arg;
}

static int ordinary_life(void)
{
    pthread_t thread;
    int pipes[2], status;
    pid_t child = fork();
    if (child == 0) {
        _exit(7);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) {
        return 1;
    }
    int rc = pthread_create(&thread, NULL, thread_main, NULL);
    if (rc != 0) {
        return rc;
    }
    rc = pthread_join(thread, NULL);
    rc = rc != 0 ? rc : result(pipe(pipes));
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return rc != 0 ? rc : memory == MAP_FAILED ? errno : result(unshare(CLONE_FS));
}

static void both_refuse_what_no_job_needs(void **state)
{
    (void)state;
    const struct os_filter *const filters[] = {&job_filter_standard, &job_filter_strict};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(under(filters[i], load_bpf), EPERM);
        assert_int_equal(under(filters[i], read_key), EPERM);
        assert_int_equal(under(filters[i], load_module), EPERM);
        assert_int_equal(under(filters[i], open_by_handle), EPERM);
        assert_int_equal(under(filters[i], type_into_terminal), EPERM);
        assert_int_equal(under(filters[i], type_with_high_bits), EPERM);
        assert_int_equal(under(filters[i], make_ring), ENOSYS);
        assert_int_equal(under(filters[i], make_secret_memory), ENOSYS);
        assert_int_equal(under(filters[i], take_personalities), 0);
        assert_int_equal(under(filters[i], hold_kernel_faults), EPERM);
        assert_int_not_equal(under(filters[i], see_own_faults), EPERM); /* for checkpoints */
    }
}

static void both_let_programs_live(void **state)
{
    (void)state;
    assert_int_equal(under(&job_filter_standard, ordinary_life), 0);
    assert_int_equal(under(&job_filter_strict, ordinary_life), 0);
    assert_int_equal(under(&job_filter_standard, ask_terminal), 0);
    assert_int_equal(under(&job_filter_strict, ask_terminal), 0);
}

static void standard_lets_debuggers_and_containers_work(void **state)
{
    (void)state;
    assert_int_equal(under(&job_filter_standard, trace_me), 0);
    assert_int_equal(under(&job_filter_standard, leave_users), 0);
    assert_int_equal(under(&job_filter_standard, clone_users), 0);
    if (getuid() == 0) {
        assert_int_equal(under(&job_filter_standard, mount_something), ENOENT);
    }
}

static const int HELD_FAMILIES[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

/* 0: those that a network namespace holds can be had, and no others. */
static int make_sockets(void)
{
    for (int family = 0; family < AF_MAX; family++) {
        bool held = false;
        for (size_t i = 0; i < sizeof HELD_FAMILIES / sizeof HELD_FAMILIES[0]; i++) {
            held = held || family == HELD_FAMILIES[i];
        }
        int fd = socket(family, SOCK_DGRAM, 0);
        bool known = family != AF_PACKET; /* for who has rights in his namespace: root, here */
        if (known && (held != (fd >= 0) || (!held && errno != EAFNOSUPPORT))) {
            return family != 0 ? family : 200;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    /* The kernel takes 32 bits. */
    return result(syscall(SYS_socket, 0x100000028, SOCK_STREAM, 0)) == EAFNOSUPPORT ? 0 : AF_VSOCK;
}

#ifdef __x86_64__
static void no_such_calls(int number)
{
    (void)number;
    _exit(ENOSYS); /* a kernel without 32 bits */
}

/* As programs of 32 bits did it: socketcall(SYS_SOCKET, ...).  Anybody can. */
static int make_socket_of_32_bits(void)
{
    int *arguments =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    long rc;
    (void)signal(SIGSEGV, no_such_calls);
    if (arguments == MAP_FAILED) {
        return 254;
    }
    arguments[0] = AF_VSOCK;
    arguments[1] = SOCK_STREAM;
    __asm__ volatile("int $0x80" : "=a"(rc) : "a"(102L), "b"(1L), "c"(arguments) : "memory");
    return rc >= 0 ? 0 : (int)-rc;
}
#endif

static void offline_leaves_the_sockets_of_a_network_namespace(void **state)
{
    (void)state;
    assert_int_equal(under(&job_filter_offline, make_sockets), 0);
    assert_int_equal(under(&job_filter_offline, ordinary_life), 0);
#ifdef __x86_64__
    int code = under(&job_filter_offline, make_socket_of_32_bits);
    assert_true(code == EAFNOSUPPORT || code == ENOSYS);
#endif
}

static void strict_refuses_tracing_namespaces_and_mounts(void **state)
{
    (void)state;
    assert_int_equal(under(&job_filter_strict, trace_me), EPERM);
    assert_int_equal(under(&job_filter_strict, leave_users), EPERM);
    assert_int_equal(under(&job_filter_strict, leave_mounts_as_well), EPERM);
    assert_int_equal(under(&job_filter_strict, clone_users), EPERM);
    assert_int_equal(under(&job_filter_strict, mount_something), EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_refuse_what_no_job_needs),
        cmocka_unit_test(both_let_programs_live),
        cmocka_unit_test(standard_lets_debuggers_and_containers_work),
        cmocka_unit_test(offline_leaves_the_sockets_of_a_network_namespace),
        cmocka_unit_test(strict_refuses_tracing_namespaces_and_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
