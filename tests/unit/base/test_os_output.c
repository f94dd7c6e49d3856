/* tests/unit/base/test_os_output.c - standard output that never blocks its writer, for each kind of
 * file that standard output can be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os_output.h"

#define DEADLINE_MS 60000
#define QUIET_MS    50
#define SOMEBODY    54321
#define MUCH        ((size_t)64 << 20) /* more than any pipe or socket takes */

struct fixture {
    struct loop *loop;
    struct loop_timer *timer;
    struct os_output *output;
    int before;  /* the real standard output */
    int ends[2]; /* [0]: who reads what is written */
    unsigned calls;
    bool woken;
};

static void wake(void *arg)
{
    struct fixture *f = arg;
    f->woken = true;
}

static void can_be_written(void *arg)
{
    struct fixture *f = arg;
    f->calls++;
    os_output_want(f->output, false);
    f->woken = true;
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    f->timer = loop_timer_create(f->loop, wake, f);
    f->ends[0] = f->ends[1] = -1;
    (void)fflush(stdout);
    f->before = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    assert_true(f->before >= 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    (void)!seteuid(getuid());
    os_output_close(f->output);
    (void)dup2(f->before, STDOUT_FILENO);
    close(f->before);
    for (int i = 0; i < 2; i++) {
        if (f->ends[i] >= 0) {
            close(f->ends[i]);
        }
    }
    loop_timer_destroy(f->timer);
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

/* Makes ends[1] standard output. */
static void redirect(struct fixture *f)
{
    assert_int_equal(dup2(f->ends[1], STDOUT_FILENO), STDOUT_FILENO);
    close(f->ends[1]);
    f->ends[1] = -1;
}

static void open_output(struct fixture *f)
{
    redirect(f);
    assert_int_equal(os_output_open(f->loop, can_be_written, f, &f->output, NULL), 0);
}

static bool others_block(void)
{
    return (fcntl(STDOUT_FILENO, F_GETFL) & O_NONBLOCK) == 0;
}

/* Writes until nothing is taken any more. */
static size_t fill(struct fixture *f)
{
    static const char block[65536];
    size_t total = 0;
    for (;;) {
        ssize_t took = os_output_write(f->output, block, sizeof(block));
        if (took == -EAGAIN) {
            return total;
        }
        assert_true(took > 0);
        total += (size_t)took;
        assert_true(total < MUCH);
    }
}

static void drain(const struct fixture *f, size_t length)
{
    char block[65536];
    while (length > 0) {
        ssize_t got = read(f->ends[0], block, length < sizeof(block) ? length : sizeof(block));
        assert_true(got > 0);
        length -= (size_t)got;
    }
}

/* Returns whether writable() was called within that time. */
static bool is_called(struct fixture *f, unsigned wait_ms)
{
    unsigned before = f->calls;
    f->woken = false;
    loop_timer_set(f->timer, wait_ms);
    loop_run_until(f->loop, &f->woken);
    loop_timer_stop(f->timer);
    return f->calls > before;
}

/* What is promised of whatever can be full. */
static void fills_and_goes_on(struct fixture *f)
{
    size_t length = fill(f);
    assert_true(length > 0);
    assert_false(is_called(f, QUIET_MS)); /* not wanted */
    os_output_want(f->output, true);
    assert_false(is_called(f, QUIET_MS)); /* full */
    drain(f, length);
    assert_true(is_called(f, DEADLINE_MS));
    assert_false(is_called(f, QUIET_MS)); /* not wanted any more */
    assert_int_equal(os_output_write(f->output, "end", 3), 3);
    drain(f, 3);
}

static void a_full_pipe_blocks_nobody_and_blocks_others_as_before(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pipe2(f->ends, O_CLOEXEC), 0);
    open_output(f);
    fills_and_goes_on(f);
    assert_true(others_block());
    os_output_close(f->output);
    f->output = NULL;
    assert_int_equal(write(STDOUT_FILENO, "more", 4), 4); /* it is still open */
}

static void a_full_socket_blocks_nobody_and_blocks_others_as_before(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->ends), 0);
    open_output(f);
    fills_and_goes_on(f);
    assert_true(others_block());
}

static void a_full_terminal_blocks_nobody_and_blocks_others_as_before(void **state)
{
    struct fixture *f = *state;
    f->ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (f->ends[0] < 0 || grantpt(f->ends[0]) != 0 || unlockpt(f->ends[0]) != 0) {
        skip();
    }
    f->ends[1] = open(ptsname(f->ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(f->ends[1] >= 0);
    open_output(f);
    size_t length = fill(f); /* a terminal may be called writable although it takes nothing */
    drain(f, length);
    os_output_want(f->output, true);
    assert_true(is_called(f, DEADLINE_MS));
    assert_true(others_block());
}

/* Such a pipe cannot be opened a second time. */
static void the_flags_of_another_users_pipe_are_restored(void **state)
{
    struct fixture *f = *state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(pipe2(f->ends, O_CLOEXEC), 0);
    assert_int_equal(seteuid(SOMEBODY), 0);
    open_output(f);
    fills_and_goes_on(f);
    assert_false(others_block());
    os_output_close(f->output);
    f->output = NULL;
    assert_true(others_block());
}

static void a_file_takes_everything_and_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    static const char block[1 << 20];
    char path[] = "/tmp/roost-output-XXXXXX";
    f->ends[1] = mkstemp(path);
    assert_true(f->ends[1] >= 0);
    f->ends[0] = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(unlink(path), 0);
    open_output(f);
    os_output_want(f->output, true);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(os_output_write(f->output, block, sizeof(block)), sizeof(block));
    }
    assert_false(is_called(f, QUIET_MS));
    drain(f, 8 * sizeof(block));
}

static void a_reader_that_has_gone_is_reported(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(pipe2(f->ends, O_CLOEXEC), 0);
    open_output(f);
    close(f->ends[0]);
    f->ends[0] = -1;
    assert_int_equal(os_output_write(f->output, "x", 1), -EPIPE);
}

/* A socket needs nobody to ignore SIGPIPE. */
static void a_reader_of_a_socket_that_has_gone_is_reported(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f->ends), 0);
    open_output(f);
    close(f->ends[0]);
    f->ends[0] = -1;
    void (*before)(int) = signal(SIGPIPE, SIG_DFL);
    ssize_t took = os_output_write(f->output, "x", 1);
    (void)signal(SIGPIPE, before);
    assert_int_equal(took, -EPIPE);
}

static void a_closed_standard_output_is_refused_by_name(void **state)
{
    struct fixture *f = *state;
    struct err err = {""};
    close(STDOUT_FILENO);
    assert_int_equal(os_output_open(f->loop, can_be_written, f, &f->output, &err), -EBADF);
    assert_non_null(strstr(err.text, "standard output: "));
    os_output_close(NULL);
}

static void who_leaves_shows_the_reader_the_end(void **state)
{
    struct fixture *f = *state;
    char byte;
    assert_int_equal(pipe2(f->ends, O_CLOEXEC), 0);
    redirect(f);
    os_output_leave();
    assert_int_equal(read(f->ends[0], &byte, 1), 0);
    assert_int_equal(write(STDOUT_FILENO, "x", 1), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        TEST(a_full_pipe_blocks_nobody_and_blocks_others_as_before),
        TEST(a_full_socket_blocks_nobody_and_blocks_others_as_before),
        TEST(a_full_terminal_blocks_nobody_and_blocks_others_as_before),
        TEST(the_flags_of_another_users_pipe_are_restored),
        TEST(a_file_takes_everything_and_is_not_waited_for),
        TEST(a_reader_that_has_gone_is_reported),
        TEST(a_reader_of_a_socket_that_has_gone_is_reported),
        TEST(a_closed_standard_output_is_refused_by_name),
        TEST(who_leaves_shows_the_reader_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
