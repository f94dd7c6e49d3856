/* tests/unit/base/test_os_terminal.c - programs whose standard streams are in our hands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <signal.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_cage.h"
#include "base/os/os_run.h"
#include "base/os/os_terminal.h"
#include "base/strbuf.h"

#define DEADLINE_MS 60000

struct fixture {
    struct loop *loop;
    struct os *os;
    struct loop_timer *deadline;
    struct os_terminal *terminal;
    struct strbuf seen[3];
    bool ended[3];
    const char *until; /* in seen[1]; NULL: the ends of both */
    bool done;
    pid_t pid;
    bool exited;
    struct os_exit how;
};

static void too_late(void *arg)
{
    struct fixture *f = arg;
    fail_msg("waited too long; seen: %s", strbuf_text(&f->seen[1]));
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    assert_int_equal(os_create(f->loop, &f->os, NULL), 0);
    f->deadline = loop_timer_create(f->loop, too_late, f);
    loop_timer_set(f->deadline, DEADLINE_MS);
    strbuf_init(&f->seen[1], 0);
    strbuf_init(&f->seen[2], 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    os_terminal_close(f->terminal);
    os_destroy(f->os);
    loop_timer_destroy(f->deadline);
    loop_destroy(f->loop);
    strbuf_fini(&f->seen[1]);
    strbuf_fini(&f->seen[2]);
    mem_free(f);
    return 0;
}

static void ready(void *arg)
{
    struct fixture *f = arg;
    char data[4096];
    for (int i = 1; i <= 2; i++) {
        ssize_t got;
        while (!f->ended[i] &&
               (got = os_terminal_read(f->terminal, i, data, sizeof(data))) != -EAGAIN) {
            f->ended[i] = got <= 0;
            strbuf_append(&f->seen[i], data, got > 0 ? (size_t)got : 0);
        }
    }
    f->done = f->until != NULL ? strstr(strbuf_text(&f->seen[1]), f->until) != NULL
                               : f->ended[1] && f->ended[2];
    os_terminal_want(f->terminal, false, !f->ended[1], !f->ended[2]);
}

static void wait_for(struct fixture *f, const char *until)
{
    f->until = until;
    f->done = false;
    ready(f);
    if (!f->done) {
        loop_run_until(f->loop, &f->done);
    }
}

static void on_exit_of(void *arg, pid_t pid, const struct os_exit *how)
{
    struct fixture *f = arg;
    (void)pid;
    f->how = *how;
    f->exited = true;
}

static void start(struct fixture *f, bool tty, const char *script, pid_t beside)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const struct os_terminal_spec terminal = {
        .tty = tty, .rows = 12, .columns = 34, .ready = ready, .arg = f};
    struct err err;
    assert_int_equal(os_terminal_open(f->os, &terminal, &f->terminal, NULL), 0);
    const struct os_spawn spec = {.argv = argv,
                                  .new_session = true,
                                  .terminal = f->terminal,
                                  .beside = beside};
    if (os_spawn(f->os, &spec, on_exit_of, f, &f->pid, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void wait_for_exit(struct fixture *f)
{
    if (!f->exited) {
        loop_run_until(f->loop, &f->exited);
    }
}

static void pipes_carry_bytes_both_ways_and_apart(void **state)
{
    struct fixture *f = *state;
    start(f, false, "cat; echo error >&2; exit 3", 0);
    assert_int_equal(os_terminal_write(f->terminal, "a\0b\n", 4), 4);
    os_terminal_end_input(f->terminal);
    assert_int_equal(os_terminal_write(f->terminal, "late", 4), -EPIPE);
    wait_for(f, NULL);
    assert_int_equal(f->seen[1].length, 4);
    assert_memory_equal(f->seen[1].data, "a\0b\n", 4);
    assert_string_equal(strbuf_text(&f->seen[2]), "error\n");
    wait_for_exit(f);
    assert_int_equal(f->how.status, 3);
    assert_int_equal(os_terminal_foreground(f->terminal), 0);
}

static void a_program_that_does_not_read_takes_no_more_than_its_pipe(void **state)
{
    struct fixture *f = *state;
    char bytes[65536] = "";
    ssize_t took = 0;
    size_t total = 0;
    start(f, false, "echo up; exec sleep 1000", 0);
    wait_for(f, "up");
    while ((took = os_terminal_write(f->terminal, bytes, sizeof(bytes))) > 0) {
        total += (size_t)took;
        assert_true(total < 16 * sizeof(bytes));
    }
    assert_int_equal(took, -EAGAIN);
    assert_int_equal(os_kill(f->os, f->pid, SIGKILL), 0);
    wait_for_exit(f);
}

static void a_terminal_has_a_size_an_end_and_is_the_controlling_one(void **state)
{
    struct fixture *f = *state;
    start(f, true,
          "trap 'echo now $(stty size)' WINCH; stty size; : >/dev/tty && echo own; "
          "while ! read x; do :; done; echo got $x; cat; exit 4",
          0);
    wait_for(f, "12 34");
    wait_for(f, "own");
    assert_int_equal(os_terminal_foreground(f->terminal), f->pid);
    os_terminal_resize(f->terminal, 56, 78);
    wait_for(f, "now 56 78");
    assert_int_equal(os_terminal_write(f->terminal, "key\n", 4), 4);
    wait_for(f, "got key");
    os_terminal_end_input(f->terminal);
    f->ended[2] = true; /* there is none */
    wait_for(f, NULL);
    wait_for_exit(f);
    assert_int_equal(f->how.status, 4);
}

static void hanging_up_ends_what_is_on_the_terminal(void **state)
{
    struct fixture *f = *state;
    start(f, true, "echo up; exec sleep 1000", 0);
    wait_for(f, "up");
    os_terminal_close(f->terminal);
    f->terminal = NULL;
    wait_for_exit(f);
    assert_int_equal(f->how.signal, SIGHUP);
}

static void a_program_beside_another_is_in_its_namespaces_and_ends_with_it(void **state)
{
    struct fixture *f = *state;
    const char *const argv[] = {"/bin/sleep", "1000", NULL};
    const struct os_mount proc = {.kind = OS_MOUNT_PROC, .to = "/proc"};
    const struct os_cage cage = {.namespaces = true,
                                 .user_namespace = os_uid(f->os) != 0,
                                 .mounts = &proc,
                                 .mount_count = 1};
    const struct os_spawn spec = {.argv = argv, .new_session = true, .cage = &cage};
    pid_t keeper = 0;
    struct err err;
    if (os_spawn(f->os, &spec, NULL, NULL, &keeper, &err) != 0) {
        print_message("[          ] no namespaces: %s\n", err.text);
        skip();
    }
    pid_t program = os_caged_pid(f->os, keeper);
    start(f, false, "readlink /proc/self/ns/pid /proc/2/ns/pid | uniq | wc -l; exec sleep 1000",
          cage.user_namespace ? program : keeper);
    wait_for(f, "1");
    assert_int_equal(os_kill(f->os, program, SIGKILL), 0);
    wait_for_exit(f);
    assert_int_equal(f->how.signal, SIGKILL);
}

static void who_is_gone_has_no_namespaces_to_join(void **state)
{
    struct fixture *f = *state;
    const char *const argv[] = {"/bin/true", NULL};
    pid_t pid = 0;
    const struct os_spawn spec = {.argv = argv, .beside = 0x3ffffff};
    struct err err;
    assert_int_equal(os_spawn(f->os, &spec, NULL, NULL, &pid, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/bin/true: cannot join the namespaces of process"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pipes_carry_bytes_both_ways_and_apart),
        TEST(a_program_that_does_not_read_takes_no_more_than_its_pipe),
        TEST(a_terminal_has_a_size_an_end_and_is_the_controlling_one),
        TEST(hanging_up_ends_what_is_on_the_terminal),
        TEST(a_program_beside_another_is_in_its_namespaces_and_ends_with_it),
        TEST(who_is_gone_has_no_namespaces_to_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
