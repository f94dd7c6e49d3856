/* tests/unit/base/test_os_enclose.c - the promises of base/os/os_enclose.h, with and without
 * namespaces, as root also as an ordinary user.
 *
 * The victim is a process that tries to escape: its parent is dead, it leads a session of its own,
 * and its environment is empty.  It alone has a FIFO open for writing: when the FIFO ends, the
 * victim is dead, in whatever PID namespace it was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os_enclose.h"
#include "base/os/os_output.h"

#define DEADLINE_MS 20000
#define ALARM_S     60
#define NOBODY      65534

enum way {
    WAY_NAMESPACE,
    WAY_USER_NAMESPACE,
    WAY_SUBREAPER,
    WAYS,
};

struct scene {
    enum way way;
    uint64_t lease_ms;
    char fifo[64];
    int life, told[2], orders[2];
    pid_t watcher, child;
    pid_t victim; /* as it knows itself */
};

static uint64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- inside ---------------------------------------------------------------------------------- */

static void tell(const struct scene *scene, int64_t number)
{
    assert_int_equal(write(scene->told[1], &number, sizeof(number)), sizeof(number));
}

static void make_victim(const struct scene *scene)
{
    pid_t between = fork();
    if (between == 0) {
        (void)setsid();
        if (vfork() == 0) { /* goes on when the victim is what it will be */
            char *const argv[] = {(char *)(uintptr_t) "sleep", (char *)(uintptr_t) "1000", NULL};
            char *const env[] = {NULL};
            close(scene->orders[0]);
            if (open(scene->fifo, O_WRONLY) < 0) { /* NOLINT(android-cloexec-open) */
                _exit(1);
            }
            tell(scene, getpid());
            close(scene->told[1]);
            (void)execve("/bin/sleep", argv, env);
        }
        _exit(0);
    }
    (void)waitpid(between, NULL, 0);
}

static struct os_enclosure *the_enclosure; /* of a process of its own, for its signal handler */

static void on_term(int signal_number)
{
    (void)signal_number;
    os_enclosure_sweep(the_enclosure);
    _exit(9);
}

static void run_again(void *arg)
{
    *(bool *)arg = true;
}

static void outside_said(void *arg, char *text, size_t length)
{
    int64_t *number = arg;
    *number = length > 0 ? strtoll(text, NULL, 10) : -3;
    mem_free(text);
}

static int64_t launch_outside(struct os_enclosure *enclosure)
{
    const char *const argv[] = {"outside", "outside", "a b", NULL};
    struct loop *loop;
    int64_t number = 0;
    if (loop_create(&loop, NULL) != 0 ||
        os_enclosure_launch(enclosure, loop, argv, outside_said, &number, NULL) != 0) {
        return -4;
    }
    while (number == 0) {
        bool again = false;
        loop_defer(loop, run_again, &again);
        loop_run_until(loop, &again);
    }
    loop_destroy(loop);
    return number;
}

/* Does what the orders say: each is a letter. */
static int inside(void *arg, struct os_enclosure *enclosure)
{
    struct scene *scene = arg;
    char order;
    the_enclosure = enclosure;
    (void)signal(SIGTERM, on_term);
    close(scene->life);
    close(scene->told[0]);
    if (os_enclosure_has_others(enclosure)) {
        return 90;
    }
    make_victim(scene);
    if (os_enclosure_is_namespace(enclosure) != (scene->way != WAY_SUBREAPER) ||
        (getpid() == 1) != (scene->way != WAY_SUBREAPER) ||
        (scene->way == WAY_USER_NAMESPACE && (getuid() == 0 || geteuid() == 0))) {
        return 91;
    }
    tell(scene, os_enclosure_outer_pid(enclosure, getpid()));
    while (read(scene->orders[0], &order, 1) == 1) {
        if (order == 'k') { /* kill the others */
            os_enclosure_sweep(enclosure);
            tell(scene, 0);
        } else if (order == 'r') { /* renew: 700 ms */
            os_enclosure_renew(enclosure, now_ms() + 700);
            tell(scene, 0);
        } else if (order == 'o') { /* start a program outside */
            tell(scene, launch_outside(enclosure));
        } else if (order == 'e') { /* end */
            return 7;
        }
    }
    return 93;
}

/* What os_enclosure_launch() starts: this program. */
_Noreturn static void outside(int argc, char **argv)
{
    int64_t number = getpid();
    char byte;
    if (argc != 3 || strcmp(argv[2], "a b") != 0 || getsid(0) != getpid() ||
        read(STDIN_FILENO, &byte, 1) != 0) {
        number = -2;
    }
    (void)printf("%d\n", (int)number);
    (void)fflush(stdout);
    os_output_leave();
    for (;;) {
        (void)pause();
    }
}

/* ---- outside --------------------------------------------------------------------------------- */

static int64_t listen_to(const struct scene *scene)
{
    struct pollfd fd = {.fd = scene->told[0], .events = POLLIN};
    int64_t number = -1;
    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
    assert_int_equal(read(scene->told[0], &number, sizeof(number)), sizeof(number));
    return number;
}

static void order(const struct scene *scene, char letter)
{
    assert_int_equal(write(scene->orders[1], &letter, 1), 1);
}

static bool victim_ended(const struct scene *scene, int wait_ms)
{
    struct pollfd fd = {.fd = scene->life, .events = POLLIN};
    return poll(&fd, 1, wait_ms) == 1;
}

static bool can_unshare(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        (void)execlp("unshare", "unshare", "-rpf", "true", (char *)NULL);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

/* Returns false where this way cannot be tried. */
static bool begin(struct scene *scene, enum way way, uint64_t lease_ms)
{
    *scene = (struct scene){.way = way, .lease_ms = lease_ms};
    if ((way == WAY_NAMESPACE && geteuid() != 0) || !can_unshare()) {
        return way == WAY_SUBREAPER;
    }
    return true;
}

static void start(struct scene *scene)
{
    (void)snprintf(scene->fifo, sizeof(scene->fifo), "/tmp/roost-enclose-%d", (int)getpid());
    (void)unlink(scene->fifo);
    assert_int_equal(mkfifo(scene->fifo, 0600), 0);
    assert_int_equal(chmod(scene->fifo, 0666), 0);
    scene->life = open(scene->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(scene->life >= 0);
    assert_int_equal(pipe(scene->told), 0);
    assert_int_equal(pipe(scene->orders), 0);
    scene->watcher = fork();
    if (scene->watcher == 0) {
        const struct os_enclose spec = {.no_namespaces = scene->way == WAY_SUBREAPER,
                                        .lease_ms = scene->lease_ms};
        struct err err = {""};
        if (scene->way == WAY_USER_NAMESPACE && geteuid() == 0 &&
            (setresgid(NOBODY, NOBODY, NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0)) {
            _exit(94);
        }
        close(scene->orders[1]);
        int status = os_enclose_run(&spec, inside, scene, &err);
        _exit(status);
    }
    close(scene->told[1]);
    close(scene->orders[0]);
    scene->victim = (pid_t)listen_to(scene);
    scene->child = (pid_t)listen_to(scene);
    assert_true(scene->child > 1);
    assert_false(victim_ended(scene, 0));
}

static int watcher_status(const struct scene *scene)
{
    int status = -1;
    assert_int_equal(waitpid(scene->watcher, &status, 0), scene->watcher);
    return status;
}

static void finish(const struct scene *scene)
{
    close(scene->life);
    close(scene->told[0]);
    close(scene->orders[1]);
    (void)unlink(scene->fifo);
}

static void each_way(void (*test)(struct scene *scene), uint64_t lease_ms)
{
    for (int way = 0; way < WAYS; way++) {
        struct scene scene;
        if (begin(&scene, (enum way)way, lease_ms)) {
            (void)alarm(ALARM_S); /* a process that does not end fails the test */
            start(&scene);
            test(&scene);
            finish(&scene);
            (void)alarm(0);
        }
    }
}

static void status_of_end(struct scene *scene)
{
    order(scene, 'e');
    int status = watcher_status(scene);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(victim_ended(scene, DEADLINE_MS));
}

static void the_end_of_the_child_is_the_end_of_all(void **state)
{
    (void)state;
    each_way(status_of_end, 60000);
}

static void others_killed(struct scene *scene)
{
    order(scene, 'k');
    assert_int_equal(listen_to(scene), 0);
    assert_true(victim_ended(scene, DEADLINE_MS));
    assert_int_equal(kill(scene->child, 0), 0);
    status_of_end(scene);
}

static void others_are_killed_and_the_child_goes_on(void **state)
{
    (void)state;
    each_way(others_killed, 60000);
}

static void child_killed(struct scene *scene)
{
    assert_int_equal(kill(scene->child, SIGKILL), 0);
    assert_true(victim_ended(scene, DEADLINE_MS));
    int status = watcher_status(scene);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

static void a_killed_child_leaves_nothing(void **state)
{
    (void)state;
    each_way(child_killed, 60000);
}

static void watcher_killed(struct scene *scene)
{
    assert_int_equal(kill(scene->watcher, SIGKILL), 0);
    assert_true(victim_ended(scene, DEADLINE_MS));
    (void)watcher_status(scene);
}

static void a_killed_watcher_leaves_nothing(void **state)
{
    (void)state;
    each_way(watcher_killed, 60000);
}

static void watcher_terminated(struct scene *scene)
{
    assert_int_equal(kill(scene->watcher, SIGTERM), 0);
    int status = watcher_status(scene);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 9); /* of on_term() */
    assert_true(victim_ended(scene, DEADLINE_MS));
}

static void the_child_hears_of_a_signal_to_the_watcher(void **state)
{
    (void)state;
    each_way(watcher_terminated, 60000);
}

static void term_to_stopped_child(struct scene *scene)
{
    assert_int_equal(kill(scene->child, SIGSTOP), 0);
    assert_int_equal(kill(scene->watcher, SIGTERM), 0);
    int status = watcher_status(scene);
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_true(victim_ended(scene, DEADLINE_MS));
}

static void a_child_that_does_not_end_is_killed(void **state)
{
    (void)state;
    each_way(term_to_stopped_child, 60000);
}

static void child_stopped(struct scene *scene)
{
    assert_int_equal(kill(scene->child, SIGSTOP), 0);
    int status = watcher_status(scene);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), OS_ENCLOSE_LEASE_STATUS);
    assert_true(victim_ended(scene, DEADLINE_MS));
}

static void the_watcher_ends_a_stopped_child_at_the_end_of_the_lease(void **state)
{
    (void)state;
    each_way(child_stopped, 600);
}

static void both_stopped(struct scene *scene)
{
    uint64_t began_ms = now_ms();
    assert_int_equal(kill(scene->watcher, SIGSTOP), 0);
    assert_int_equal(kill(scene->child, SIGSTOP), 0);
    if (scene->way != WAY_SUBREAPER) { /* see os_enclose.h: what is lost then */
        assert_true(victim_ended(scene, DEADLINE_MS));
        assert_true(now_ms() - began_ms < 600 + OS_ENCLOSE_GRACE_MS + 2000);
    }
    int status = watcher_status(scene);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    if (scene->way == WAY_SUBREAPER) { /* the child has a timer of its own */
        while (kill(scene->child, 0) == 0 && now_ms() - began_ms < DEADLINE_MS) {
            (void)waitpid(scene->child, NULL, WNOHANG);
        }
        assert_int_equal(kill(scene->child, 0), -1);
        assert_int_equal(kill(scene->victim, SIGKILL), 0);
    }
}

static void the_kernel_ends_both_when_both_are_stopped(void **state)
{
    (void)state;
    each_way(both_stopped, 600);
}

static void lease_renewed(struct scene *scene)
{
    uint64_t began_ms = now_ms();
    while (now_ms() - began_ms < 1800) { /* three leases */
        order(scene, 'r');
        assert_int_equal(listen_to(scene), 0);
        (void)victim_ended(scene, 20);
    }
    assert_false(victim_ended(scene, 0));
    int status = watcher_status(scene); /* the child waits for an order: it stands still */
    assert_int_equal(WEXITSTATUS(status), OS_ENCLOSE_LEASE_STATUS);
    assert_true(victim_ended(scene, DEADLINE_MS));
}

static void a_lease_goes_on_while_it_is_renewed(void **state)
{
    (void)state;
    each_way(lease_renewed, 600);
}

static void lease_shortened(struct scene *scene)
{
    order(scene, 'r');
    assert_int_equal(listen_to(scene), 0);
    int status = watcher_status(scene);
    assert_int_equal(WEXITSTATUS(status), OS_ENCLOSE_LEASE_STATUS);
    assert_true(victim_ended(scene, DEADLINE_MS));
}

static void a_lease_can_be_made_shorter(void **state)
{
    (void)state;
    each_way(lease_shortened, 3600000);
}

static void launched_outside(struct scene *scene)
{
    order(scene, 'o');
    pid_t pid = (pid_t)listen_to(scene);
    assert_true(pid > 1);
    child_killed(scene);
    assert_int_equal(kill(pid, 0), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

static void a_program_outside_outlives_all(void **state)
{
    (void)state;
    each_way(launched_outside, 60000);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "outside") == 0) {
        outside(argc, argv);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_of_the_child_is_the_end_of_all),
        cmocka_unit_test(others_are_killed_and_the_child_goes_on),
        cmocka_unit_test(a_killed_child_leaves_nothing),
        cmocka_unit_test(a_killed_watcher_leaves_nothing),
        cmocka_unit_test(the_child_hears_of_a_signal_to_the_watcher),
        cmocka_unit_test(a_child_that_does_not_end_is_killed),
        cmocka_unit_test(the_watcher_ends_a_stopped_child_at_the_end_of_the_lease),
        cmocka_unit_test(the_kernel_ends_both_when_both_are_stopped),
        cmocka_unit_test(a_lease_goes_on_while_it_is_renewed),
        cmocka_unit_test(a_lease_can_be_made_shorter),
        cmocka_unit_test(a_program_outside_outlives_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
