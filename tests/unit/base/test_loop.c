/* tests/unit/base/test_loop.c - the promises of base/loop.h and base/loop_run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/loop.h"
#include "base/loop_event.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/symbol_linux.h"

#define DEADLINE_MS \
    60000 /* longer than anything here may take: a test that gets there has failed */

struct fixture {
    struct loop *loop;
    struct loop_timer *deadline;
    struct loop_timer *timer[100];
    char trace[256];
    size_t calls;
    bool done;
};

static void too_late(void *arg)
{
    (void)arg;
    fail_msg("the loop waited too long");
}

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    f->deadline = loop_timer_create(f->loop, too_late, NULL);
    loop_timer_set(f->deadline, DEADLINE_MS);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    loop_timer_destroy(f->deadline);
    for (size_t i = 0; i < 100; i++) {
        loop_timer_destroy(f->timer[i]);
    }
    loop_destroy(f->loop);
    mem_free(f);
    return 0;
}

static void trace(struct fixture *f, char c)
{
    size_t length = strlen(f->trace);
    assert_true(length + 1 < sizeof(f->trace));
    f->trace[length] = c;
}

static void call_a(void *arg)
{
    trace(arg, 'a');
}

static void call_b(void *arg)
{
    trace(arg, 'b');
}

static void call_c(void *arg)
{
    trace(arg, 'c');
}

static void call_done(void *arg)
{
    struct fixture *f = arg;
    f->done = true;
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void timers_run_in_order_of_time_then_of_setting(void **state)
{
    struct fixture *f = *state;
    loop_f calls[] = {call_c, call_a, call_b, call_done};
    uint64_t delays[] = {20, 5, 5, 25};
    for (size_t i = 0; i < 4; i++) {
        f->timer[i] = loop_timer_create(f->loop, calls[i], f);
        loop_timer_set(f->timer[i], delays[i]);
    }
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "abc");
}

static void a_timer_does_not_run_before_its_time(void **state)
{
    struct fixture *f = *state;
    f->timer[0] = loop_timer_create(f->loop, call_done, f);
    uint64_t began_ms = loop_now_ms(f->loop);
    loop_timer_set(f->timer[0], 30);
    assert_true(loop_timer_is_set(f->timer[0]));
    assert_string_equal(f->trace, "");
    loop_run_until(f->loop, &f->done);
    assert_true(loop_now_ms(f->loop) - began_ms >= 30);
    assert_false(loop_timer_is_set(f->timer[0]));
}

struct moments {
    struct fixture *f;
    uint64_t due_ms, ran_ms[2];
    size_t count;
};

static void note_moment(void *arg)
{
    struct moments *moments = arg;
    moments->ran_ms[moments->count++] = loop_now_ms(moments->f->loop);
    moments->f->done = moments->count == 2;
}

static uint64_t kernel_wakes(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
    return (uint64_t)usage.ru_nvcsw;
}

static void timers_of_one_moment_wake_the_process_once_whenever_they_were_set(void **state)
{
    struct fixture *f = *state;
    uint64_t wakes = UINT64_MAX;
    for (int tries = 0; tries < 20 && wakes > 1; tries++) { /* others may take the processor */
        struct moments moments = {.f = f};
        uint64_t begin_ms = loop_now_ms(f->loop);
        f->timer[0] = loop_timer_create(f->loop, note_moment, &moments);
        f->timer[1] = loop_timer_create(f->loop, note_moment, &moments);
        loop_timer_set(f->timer[0], 30);
        while (loop_now_ms(f->loop) == begin_ms) { /* somewhere within a later millisecond */
        }
        loop_timer_set(f->timer[1], begin_ms + 30 - loop_now_ms(f->loop));
        wakes = kernel_wakes();
        f->done = false;
        loop_run_until(f->loop, &f->done);
        wakes = kernel_wakes() - wakes;
        assert_true(moments.ran_ms[0] >= begin_ms + 30);
        loop_timer_destroy(f->timer[0]);
        loop_timer_destroy(f->timer[1]);
    }
    f->timer[0] = f->timer[1] = NULL;
    assert_int_equal(wakes, 1);
}

static void the_grid_is_the_last_of_its_multiples_within_the_delay(void **state)
{
    (void)state;
    for (uint64_t now_ms = 0; now_ms < 3 * LOOP_GRID_MS; now_ms += 7) {
        uint64_t delay_ms = loop_grid_delay_ms(now_ms, 2 * LOOP_GRID_MS);
        assert_int_equal((now_ms + delay_ms) % LOOP_GRID_MS, 0);
        assert_in_range(delay_ms, LOOP_GRID_MS + 1, 2 * LOOP_GRID_MS);
    }
}

static void setting_a_timer_again_replaces_the_earlier_setting(void **state)
{
    struct fixture *f = *state;
    f->timer[0] = loop_timer_create(f->loop, call_a, f);
    f->timer[1] = loop_timer_create(f->loop, call_b, f);
    f->timer[2] = loop_timer_create(f->loop, call_done, f);
    loop_timer_set(f->timer[0], 1);
    loop_timer_set(f->timer[0], 20);
    loop_timer_set(f->timer[1], DEADLINE_MS * 2);
    loop_timer_set(f->timer[1], 10);
    loop_timer_set(f->timer[2], 30);
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "ba");
}

static void a_stopped_timer_does_not_run(void **state)
{
    struct fixture *f = *state;
    f->timer[0] = loop_timer_create(f->loop, call_a, f);
    f->timer[1] = loop_timer_create(f->loop, call_done, f);
    loop_timer_set(f->timer[0], 1);
    loop_timer_set(f->timer[1], 10);
    loop_timer_stop(f->timer[0]);
    loop_timer_stop(f->timer[0]);
    assert_false(loop_timer_is_set(f->timer[0]));
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "");
}

static void set_again_twice(void *arg)
{
    struct fixture *f = arg;
    trace(f, 'x');
    if (strlen(f->trace) < 3) {
        loop_timer_set(f->timer[0], 0);
    } else {
        loop_timer_destroy(f->timer[0]);
        f->timer[0] = NULL;
        f->done = true;
    }
}

static void a_timer_may_set_and_destroy_itself_in_its_callback(void **state)
{
    struct fixture *f = *state;
    f->timer[0] = loop_timer_create(f->loop, set_again_twice, f);
    loop_timer_set(f->timer[0], 0);
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "xxx");
}

static void destroy_all_others(void *arg)
{
    struct fixture *f = arg;
    f->calls++;
    for (size_t i = 1; i < 100; i++) {
        loop_timer_destroy(f->timer[i]);
        f->timer[i] = NULL;
    }
    loop_defer(f->loop, call_done, f);
}

static void a_timer_destroyed_by_another_of_the_same_batch_does_not_run(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < 100; i++) {
        f->timer[i] = loop_timer_create(f->loop, destroy_all_others, f);
        loop_timer_set(f->timer[i], 0);
    }
    loop_run_until(f->loop, &f->done);
    assert_int_equal(f->calls, 1);
}

/* When a timer falls due is known as a range: the clock goes on while it is set. */
struct numbered {
    struct fixture *f;
    uint64_t due_min_ms, due_max_ms;
    uint64_t *last_min_ms;
};

static void check_order(void *arg)
{
    struct numbered *n = arg;
    assert_true(*n->last_min_ms <= n->due_max_ms);
    *n->last_min_ms = n->due_min_ms;
    n->f->calls++;
    n->f->done = n->f->calls == 60;
}

static void many_timers_set_moved_and_stopped_at_random_keep_their_order(void **state)
{
    struct fixture *f = *state;
    struct rng rng;
    rng_seed(&rng, 7);
    struct numbered numbered[100];
    uint64_t last_min_ms = 0;
    for (size_t i = 0; i < 100; i++) {
        numbered[i] = (struct numbered){.f = f, .last_min_ms = &last_min_ms};
        f->timer[i] = loop_timer_create(f->loop, check_order, &numbered[i]);
        loop_timer_set(f->timer[i], 100 + rng_below(&rng, 100));
    }
    for (size_t i = 0; i < 100; i++) {
        if (i % 5 < 2) {
            loop_timer_stop(f->timer[i]);
        } else {
            uint64_t delay_ms = 20 + rng_below(&rng, 50);
            numbered[i].due_min_ms = loop_now_ms(f->loop) + delay_ms;
            loop_timer_set(f->timer[i], delay_ms);
            numbered[i].due_max_ms = loop_now_ms(f->loop) + delay_ms;
        }
    }
    loop_run_until(f->loop, &f->done);
    assert_int_equal(f->calls, 60);
}

/* Returns in how many seconds the loop's timerfd expires, by /proc; -1: it is not set. */
static long timerfd_expires_s(void)
{
    char path[64], text[512] = "";
    long seconds = -1, nanoseconds = 0;
    for (int fd = 0; fd < 100; fd++) {
        (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
        FILE *file = fopen(path, "re");
        if (file == NULL) {
            continue;
        }
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        (void)fclose(file);
        const char *value = strstr(text, "it_value: (");
        if (value != NULL && sscanf(value, "it_value: (%ld, %ld)", &seconds, &nanoseconds) == 2) {
            return seconds > 0 || nanoseconds > 0 ? seconds : -1;
        }
    }
    fail_msg("no timerfd");
    return -1;
}

static void a_process_at_rest_is_not_woken_for_a_timer_that_was_stopped(void **state)
{
    struct fixture *f = *state;
    f->timer[0] = loop_timer_create(f->loop, call_a, f);
    loop_timer_set(f->timer[0], 5000000);
    assert_in_range(timerfd_expires_s(), 0, DEADLINE_MS / 1000);
    loop_timer_stop(f->deadline);
    assert_in_range(timerfd_expires_s(), 4000, 5000);
}

static void nor_for_one_that_was_stopped_just_after_another(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < 3; i++) {
        f->timer[i] = loop_timer_create(f->loop, call_a, f);
        loop_timer_set(f->timer[i], 10000 * (i + 1));
    }
    for (size_t i = 0; i < 3; i++) {
        loop_timer_stop(f->timer[i]);
    }
    assert_in_range(timerfd_expires_s(), 31, DEADLINE_MS / 1000);
}

static void a_process_at_rest_is_not_woken_for_a_timer_that_was_put_off(void **state)
{
    struct fixture *f = *state;
    loop_timer_set(f->deadline, 5000000);
    assert_in_range(timerfd_expires_s(), 4000, 5000);
}

static void a_delay_of_for_ever_is_no_overflow(void **state)
{
    struct fixture *f = *state;
    f->timer[0] = loop_timer_create(f->loop, call_a, f);
    f->timer[1] = loop_timer_create(f->loop, call_done, f);
    loop_timer_set(f->timer[0], UINT64_MAX);
    loop_timer_set(f->timer[1], 5);
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "");
    assert_true(loop_timer_is_set(f->timer[0]));
}

static void now_is_the_clock_that_counts_suspends(void **state)
{
    struct fixture *f = *state;
    struct timespec ts;
    assert_int_equal(clock_gettime(CLOCK_BOOTTIME, &ts), 0);
    uint64_t before_ms = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
    uint64_t now_ms = loop_now_ms(f->loop);
    assert_in_range(now_ms, before_ms, before_ms + DEADLINE_MS);
    assert_in_range(loop_wall_s(f->loop), time(NULL) - 1, time(NULL) + 1);
}

/* A suspend cannot be had here: the kernel says which clock the timer was made with. */
static void timers_go_on_while_the_machine_sleeps(void **state)
{
    (void)state;
    bool found = false;
    for (int fd = 3; fd < 100 && !found; fd++) {
        char path[64], text[512] = {0};
        (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
        FILE *file = fopen(path, "re");
        if (file != NULL) {
            (void)!fread(text, 1, sizeof(text) - 1, file);
            assert_int_equal(fclose(file), 0);
        }
        found = strstr(text, "clockid: 7\n") != NULL; /* CLOCK_BOOTTIME */
    }
    assert_true(found);
}

/* ---- deferred calls, stop -------------------------------------------------------------------- */

static void deferred_calls_run_in_order_after_the_caller(void **state)
{
    struct fixture *f = *state;
    loop_defer(f->loop, call_a, f);
    loop_defer(f->loop, call_b, f);
    loop_defer(f->loop, call_done, f);
    assert_string_equal(f->trace, "");
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "ab");
}

static void defer_again(void *arg)
{
    struct fixture *f = arg;
    f->calls++;
    loop_defer(f->loop, defer_again, f);
}

static void calls_that_defer_for_ever_do_not_keep_timers_from_running(void **state)
{
    struct fixture *f = *state;
    loop_defer(f->loop, defer_again, f);
    f->timer[0] = loop_timer_create(f->loop, call_done, f);
    loop_timer_set(f->timer[0], 10);
    loop_run_until(f->loop, &f->done);
    assert_true(f->calls > 1);
}

static void stop_with_7(void *arg)
{
    struct fixture *f = arg;
    trace(f, 's');
    loop_stop(f->loop, 7);
    loop_stop(f->loop, 8);
}

static void stop_ends_the_loop_after_the_running_callback(void **state)
{
    struct fixture *f = *state;
    loop_defer(f->loop, stop_with_7, f);
    loop_defer(f->loop, call_a, f);
    assert_int_equal(loop_run(f->loop), 7);
    assert_string_equal(f->trace, "s");
}

static void a_loop_stopped_before_it_runs_does_not_run(void **state)
{
    struct fixture *f = *state;
    loop_defer(f->loop, call_a, f);
    loop_stop(f->loop, 2);
    assert_int_equal(loop_run(f->loop), 2);
    assert_string_equal(f->trace, "");
}

static void fatal_ends_the_process_with_status_4_and_says_why(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], 2);
        loop_fatal(f->loop, "commit failed");
    }
    close(ends[1]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
    char text[64] = {0};
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, "commit failed\n");
    close(ends[0]);
}

/* ---- signals, descriptors, accounting -------------------------------------------------------- */

static void a_signal_becomes_a_call_on_the_loop(void **state)
{
    struct fixture *f = *state;
    loop_on_signal(f->loop, SIGUSR1, call_a, f);
    loop_on_signal(f->loop, SIGUSR2, call_a, f);
    loop_on_signal(f->loop, SIGUSR2, call_done, f); /* replaces */
    assert_int_equal(raise(SIGUSR1), 0);
    assert_string_equal(f->trace, "");
    assert_int_equal(raise(SIGUSR2), 0);
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "a");
}

static void writing_to_a_dead_peer_is_no_death(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(write(ends[1], "x", 1), -1);
    close(ends[1]);
}

struct watch {
    struct fixture *f;
    struct loop_fd *watch;
    int fd;
};

static void fd_ready(void *arg, unsigned ready)
{
    struct watch *w = arg;
    char byte;
    w->f->calls++;
    if (ready == LOOP_WRITE) {
        trace(w->f, 'w');
        loop_fd_want(w->watch, LOOP_READ);
        assert_int_equal(write(w->fd, "x", 1), 1);
    } else {
        trace(w->f, 'r');
        assert_int_equal(read(w->fd, &byte, 1), 1);
        loop_fd_destroy(w->watch);
        w->f->done = true;
    }
}

static void fd_echo(void *arg, unsigned ready)
{
    struct watch *w = arg;
    char byte;
    assert_int_equal(ready, LOOP_READ);
    assert_int_equal(read(w->fd, &byte, 1), 1);
    assert_int_equal(write(w->fd, &byte, 1), 1);
}

static void a_descriptor_is_watched_for_what_is_wanted_only(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct watch here = {.f = f, .fd = ends[0]}, there = {.f = f, .fd = ends[1]};
    here.watch = loop_fd_create(f->loop, ends[0], fd_ready, &here);
    there.watch = loop_fd_create(f->loop, ends[1], fd_echo, &there);
    loop_fd_want(here.watch, LOOP_WRITE);
    loop_fd_want(there.watch, LOOP_READ);
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "wr");
    loop_fd_destroy(there.watch);
    close(ends[0]);
    close(ends[1]);
}

struct ticks {
    struct fixture *f;
    size_t fast, readable;
    int fd;
};

static void tick_again(void *arg)
{
    struct ticks *ticks = arg;
    ticks->fast++;
    loop_timer_set(ticks->f->timer[0], 0);
}

static void tick_read(void *arg, unsigned ready)
{
    struct ticks *ticks = arg;
    char byte;
    assert_int_equal(ready, LOOP_READ);
    assert_int_equal(read(ticks->fd, &byte, 1), 1);
    ticks->readable++;
}

static void a_timer_that_is_always_due_keeps_neither_others_nor_descriptors_waiting(void **state)
{
    struct fixture *f = *state;
    int ends[2];
    struct ticks ticks = {.f = f};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ticks.fd = ends[0];
    struct loop_fd *watch = loop_fd_create(f->loop, ends[0], tick_read, &ticks);
    loop_fd_want(watch, LOOP_READ);
    assert_int_equal(write(ends[1], "x", 1), 1);
    f->timer[1] = loop_timer_create(f->loop, call_done, f);
    loop_timer_set(f->timer[1], 20);
    f->timer[0] = loop_timer_create(f->loop, tick_again, &ticks);
    loop_timer_set(f->timer[0], 0);
    loop_run_until(f->loop, &f->done);
    assert_int_equal(ticks.readable, 1);
    assert_true(ticks.fast > 1);
    /* Without it the later ones come as before: the timerfd was not forgotten. */
    loop_timer_stop(f->timer[0]);
    f->done = false;
    loop_timer_set(f->timer[1], 5);
    loop_run_until(f->loop, &f->done);
    loop_fd_destroy(watch);
    close(ends[0]);
    close(ends[1]);
}

/* much more than a busy machine takes from a callback that does nothing */
#define BURNT_MS ((uint64_t)20 * LOOP_CALLBACK_BUDGET_MS)

static void burn(uint64_t ms)
{
    struct timespec began, now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &began), 0);
    do {
        assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    } while ((uint64_t)((now.tv_sec - began.tv_sec) * 1000 +
                        (now.tv_nsec - began.tv_nsec) / 1000000) < ms);
}

static void slow_inner(void *arg)
{
    (void)arg;
    burn(BURNT_MS);
}

static void quick_outer(void *arg)
{
    struct fixture *f = arg;
    loop_call(f->loop, "inner", slow_inner, f);
    f->done = true;
}

static void note_overrun(void *arg, const char *what, uintptr_t function, uint64_t took_ms)
{
    struct fixture *f = arg;
    char name[80] = "";
    if (took_ms < BURNT_MS / 2) {
        return; /* somebody else had the processor */
    }
    trace(f, what[0]);
    assert_true(symbol_name(function, name, sizeof(name)));
    assert_string_equal(name, "slow_inner (test_loop.c)");
    assert_true(symbol_name((uintptr_t)loop_run_until + 1, name, sizeof(name)));
    assert_string_equal(name, "loop_run_until");
    assert_false(symbol_name(1, name, sizeof(name)));
    assert_string_equal(name, "loop_run_until");
}

static void an_overrun_is_laid_at_the_door_of_the_inner_callback(void **state)
{
    struct fixture *f = *state;
    loop_on_overrun(f->loop, note_overrun, f);
    loop_defer(f->loop, quick_outer, f);
    loop_run_until(f->loop, &f->done);
    assert_string_equal(f->trace, "i");
    struct loop_stats stats;
    loop_get_stats(f->loop, &stats);
    assert_true(stats.overruns >= 1);
    assert_int_equal(stats.callbacks, 2);
    assert_true(stats.longest_ms >= LOOP_CALLBACK_BUDGET_MS);
}

static void secrets_differ(void **state)
{
    struct fixture *f = *state;
    unsigned char a[32] = {0}, b[32] = {0}, zero[32] = {0};
    loop_secret(f->loop, a, sizeof(a));
    loop_secret(f->loop, b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a, zero, sizeof(a));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(timers_run_in_order_of_time_then_of_setting),
        TEST(a_timer_does_not_run_before_its_time),
        TEST(timers_of_one_moment_wake_the_process_once_whenever_they_were_set),
        TEST(the_grid_is_the_last_of_its_multiples_within_the_delay),
        TEST(setting_a_timer_again_replaces_the_earlier_setting),
        TEST(a_stopped_timer_does_not_run),
        TEST(a_timer_may_set_and_destroy_itself_in_its_callback),
        TEST(a_timer_destroyed_by_another_of_the_same_batch_does_not_run),
        TEST(many_timers_set_moved_and_stopped_at_random_keep_their_order),
        TEST(a_process_at_rest_is_not_woken_for_a_timer_that_was_stopped),
        TEST(nor_for_one_that_was_stopped_just_after_another),
        TEST(a_process_at_rest_is_not_woken_for_a_timer_that_was_put_off),
        TEST(a_delay_of_for_ever_is_no_overflow),
        TEST(now_is_the_clock_that_counts_suspends),
        TEST(timers_go_on_while_the_machine_sleeps),
        TEST(deferred_calls_run_in_order_after_the_caller),
        TEST(calls_that_defer_for_ever_do_not_keep_timers_from_running),
        TEST(stop_ends_the_loop_after_the_running_callback),
        TEST(a_loop_stopped_before_it_runs_does_not_run),
        TEST(fatal_ends_the_process_with_status_4_and_says_why),
        TEST(a_signal_becomes_a_call_on_the_loop),
        TEST(writing_to_a_dead_peer_is_no_death),
        TEST(a_descriptor_is_watched_for_what_is_wanted_only),
        TEST(a_timer_that_is_always_due_keeps_neither_others_nor_descriptors_waiting),
        TEST(an_overrun_is_laid_at_the_door_of_the_inner_callback),
        TEST(secrets_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
