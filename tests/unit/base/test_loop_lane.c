/* tests/unit/base/test_loop_lane.c - work off the loop thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"

struct fixture {
    struct loop *loop;
    struct loop_lane *lane[3];
    pthread_t loop_thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool gate_open;       /* under the mutex */
    bool inside;          /* under the mutex */
    unsigned worked;      /* by works of one lane */
    char trace[64];       /* loop thread */
    unsigned done_count;  /* loop thread */
    unsigned done_wanted; /* loop thread */
    bool done;
};

static int setup(void **state)
{
    struct fixture *f = mem_zalloc(sizeof(*f));
    assert_int_equal(loop_create(&f->loop, NULL), 0);
    assert_int_equal(pthread_mutex_init(&f->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&f->changed, NULL), 0);
    f->loop_thread = pthread_self();
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    loop_destroy(f->loop);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->mutex);
    mem_free(f);
    return 0;
}

static int off_the_loop_thread(void *arg)
{
    struct fixture *f = arg;
    return pthread_equal(pthread_self(), f->loop_thread) ? 1 : 42;
}

static void on_the_loop_thread(void *arg, int result)
{
    struct fixture *f = arg;
    assert_true(pthread_equal(pthread_self(), f->loop_thread));
    assert_int_equal(result, 42);
    f->done = true;
}

static void work_runs_on_a_worker_and_done_on_the_loop_thread(void **state)
{
    struct fixture *f = *state;
    f->lane[0] = loop_lane_create(f->loop);
    loop_lane_run(f->lane[0], off_the_loop_thread, on_the_loop_thread, f);
    assert_false(f->done);
    loop_run_until(f->loop, &f->done);
    assert_true(f->done);
}

static int count_up(void *arg)
{
    struct fixture *f = arg;
    return (int)++f->worked; /* unlocked: works of one lane never overlap (TSan looks) */
}

static void in_order(void *arg, int result)
{
    struct fixture *f = arg;
    assert_int_equal(result, (int)++f->done_count);
    f->done = f->done_count == f->done_wanted;
}

static void jobs_of_one_lane_run_one_after_the_other_in_order(void **state)
{
    struct fixture *f = *state;
    f->lane[0] = loop_lane_create(f->loop);
    f->done_wanted = 2000;
    for (unsigned i = 0; i < f->done_wanted; i++) {
        loop_lane_run(f->lane[0], count_up, in_order, f);
    }
    loop_run_until(f->loop, &f->done);
    assert_int_equal(f->done_count, 2000);
}

static int wait_for_the_gate(void *arg)
{
    struct fixture *f = arg;
    pthread_mutex_lock(&f->mutex);
    f->inside = true;
    pthread_cond_broadcast(&f->changed);
    while (!f->gate_open) {
        pthread_cond_wait(&f->changed, &f->mutex);
    }
    pthread_mutex_unlock(&f->mutex);
    return 0;
}

static int open_the_gate(void *arg)
{
    struct fixture *f = arg;
    pthread_mutex_lock(&f->mutex);
    f->gate_open = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->mutex);
    return 0;
}

static void *open_the_gate_in_a_thread(void *arg)
{
    (void)open_the_gate(arg);
    return NULL;
}

static void count_done(void *arg, int result)
{
    struct fixture *f = arg;
    (void)result;
    f->done = ++f->done_count == f->done_wanted;
}

static void a_lane_that_hangs_does_not_hold_up_another(void **state)
{
    struct fixture *f = *state;
    f->lane[0] = loop_lane_create(f->loop);
    f->lane[1] = loop_lane_create(f->loop);
    f->done_wanted = 2;
    loop_lane_run(f->lane[0], wait_for_the_gate, count_done, f);
    loop_lane_run(f->lane[1], open_the_gate, count_done, f);
    loop_run_until(f->loop, &f->done);
    assert_int_equal(f->done_count, 2);
}

static void wait_until_inside(struct fixture *f)
{
    pthread_mutex_lock(&f->mutex);
    while (!f->inside) {
        pthread_cond_wait(&f->changed, &f->mutex);
    }
    pthread_mutex_unlock(&f->mutex);
}

static void mark_done(void *arg)
{
    struct fixture *f = arg;
    f->done = true;
}

static void destroying_a_lane_waits_for_the_work_and_drops_its_done_calls(void **state)
{
    struct fixture *f = *state;
    f->lane[0] = loop_lane_create(f->loop);
    loop_lane_run(f->lane[0], wait_for_the_gate, count_done, f);
    loop_lane_run(f->lane[0], count_up, count_done, f);
    loop_lane_run(f->lane[0], count_up, count_done, f);
    wait_until_inside(f);
    pthread_t opener;
    assert_int_equal(pthread_create(&opener, NULL, open_the_gate_in_a_thread, f), 0);
    loop_lane_destroy(f->lane[0]);
    assert_true(f->gate_open);
    assert_int_equal(pthread_join(opener, NULL), 0);
    loop_defer(f->loop, mark_done, f);
    loop_run_until(f->loop, &f->done);
    assert_int_equal(f->done_count, 0);
}

static void destroy_the_lane(void *arg, int result)
{
    struct fixture *f = arg;
    (void)result;
    f->done_count++;
    loop_lane_destroy(f->lane[0]);
    loop_defer(f->loop, mark_done, f);
}

static void a_lane_may_be_destroyed_by_its_own_done_call(void **state)
{
    struct fixture *f = *state;
    f->lane[0] = loop_lane_create(f->loop);
    for (int i = 0; i < 50; i++) {
        loop_lane_run(f->lane[0], count_up, destroy_the_lane, f);
    }
    loop_run_until(f->loop, &f->done);
    assert_int_equal(f->done_count, 1);
}

static void destroying_the_loop_waits_for_the_lanes_and_drops_their_done_calls(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        f->lane[i] = loop_lane_create(f->loop);
    }
    loop_lane_run(f->lane[0], wait_for_the_gate, count_done, f);
    wait_until_inside(f);
    pthread_t opener;
    assert_int_equal(pthread_create(&opener, NULL, open_the_gate_in_a_thread, f), 0);
    loop_destroy(f->loop);
    f->loop = NULL;
    assert_true(f->gate_open);
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(f->done_count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(work_runs_on_a_worker_and_done_on_the_loop_thread),
        TEST(jobs_of_one_lane_run_one_after_the_other_in_order),
        TEST(a_lane_that_hangs_does_not_hold_up_another),
        TEST(destroying_a_lane_waits_for_the_work_and_drops_its_done_calls),
        TEST(a_lane_may_be_destroyed_by_its_own_done_call),
        TEST(destroying_the_loop_waits_for_the_lanes_and_drops_their_done_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
