/* Simulated processes: their loop, their lanes, their heap, their ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "sim/sim.h"
#include "tests/support/toy.h"

struct seen { /* what a process did, where its death does not reach */
    struct loop *loop;
    struct os *os;
    struct loop_lane *lane;
    unsigned works, dones, released, calls, exits;
    uint64_t set_at_ms, ran_at_ms;
    char order[64];
    pid_t child, reported;
    struct os_exit how;
    struct loop_timer *timer;
};

static void note(struct seen *seen, char c)
{
    size_t length = strlen(seen->order);
    if (length + 1 < sizeof(seen->order)) {
        seen->order[length] = c;
    }
}

/* ---- loop ------------------------------------------------------------------------------------ */

static void note_a(void *arg)
{
    note(arg, 'a');
}

static void note_b(void *arg)
{
    note(arg, 'b');
}

static void note_time(void *arg)
{
    struct seen *seen = arg;
    note(seen, 't');
    seen->ran_at_ms = loop_now_ms(seen->loop);
}

static void set_things(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    seen->loop = env->loop;
    seen->set_at_ms = loop_now_ms(env->loop);
    loop_timer_set(loop_timer_create(env->loop, note_time, seen), 500);
    loop_defer(env->loop, note_a, seen);
    loop_defer(env->loop, note_b, seen);
    loop_defer(env->loop, note_a, seen);
    note(seen, 's');
}

static void deferred_calls_keep_their_order_and_timers_are_never_early(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct seen seen = {0};
        struct toy toy = {set_things, &seen};
        struct sim_program program = TOY("toy", &toy);
        const struct sim_program *programs[] = {&program, NULL};
        struct sim *sim = toy_sim(seed, programs);
        assert_non_null(toy_spawn(toy_host(sim, "a", programs), "/bin/toy"));
        sim_run_for(sim, 2 * SIM_S);
        assert_string_equal(seen.order, "sabat");
        assert_true(seen.ran_at_ms >= seen.set_at_ms + 500);
        assert_true(seen.ran_at_ms < seen.set_at_ms + 510);
        sim_destroy(sim);
    }
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static int count_work(void *arg)
{
    ((struct seen *)arg)->works++;
    return 7;
}

static void count_done(void *arg, int result)
{
    struct seen *seen = arg;
    assert_int_equal(result, 7);
    assert_true(seen->works > seen->dones);
    seen->dones++;
}

static void run_lane(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    seen->lane = loop_lane_create(env->loop);
    for (unsigned i = 0; i < 3; i++) {
        loop_lane_run(seen->lane, count_work, count_done, seen);
    }
    seen->works = 0;
}

static void work_on_a_lane_happens_later_and_done_after_it(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {run_lane, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_process *process = toy_spawn(toy_host(sim, "a", programs), "/bin/toy");
    sim_run_for(sim, 2 * SIM_S);
    assert_int_equal(seen.works, 3);
    assert_int_equal(seen.dones, 3);
    assert_false(sim_process_in_lane(process));
    sim_destroy(sim);
}

static void a_process_can_be_killed_between_work_and_done(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {run_lane, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_process *process = toy_spawn(toy_host(sim, "a", programs), "/bin/toy");
    while (seen.works == 0) {
        assert_true(sim_step(sim, UINT64_MAX));
    }
    assert_int_equal(seen.dones, 0);
    assert_true(sim_process_in_lane(process));
    sim_kill(process);
    sim_run_for(sim, 2 * SIM_S);
    assert_int_equal(seen.works, 1);
    assert_int_equal(seen.dones, 0);
    assert_int_equal(sim_counted(sim, SIM_COUNT_COMMIT_KILLS), 1);
    sim_destroy(sim);
}

static void destroy_lane_now(void *arg)
{
    struct seen *seen = arg;
    loop_lane_destroy(seen->lane);
    seen->calls++;
}

static void run_and_destroy_lane(const struct sim_env *env, void *arg)
{
    run_lane(env, arg);
    loop_defer(env->loop, destroy_lane_now, arg);
}

static void a_destroyed_lane_calls_no_done(void **state)
{
    (void)state;
    unsigned under_way = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct seen seen = {0};
        struct toy toy = {run_and_destroy_lane, &seen};
        struct sim_program program = TOY("toy", &toy);
        const struct sim_program *programs[] = {&program, NULL};
        struct sim *sim = toy_sim(seed, programs);
        assert_non_null(toy_spawn(toy_host(sim, "a", programs), "/bin/toy"));
        sim_run_for(sim, 2 * SIM_S);
        assert_int_equal(seen.calls, 1);
        assert_true(seen.dones == 0 || seen.works > 0);
        under_way += seen.works > 0;
        sim_destroy(sim);
    }
    assert_in_range(under_way, 5, 25); /* both happen */
}

/* ---- heap ------------------------------------------------------------------------------------ */

static void release(void *handle)
{
    struct seen *seen = *(struct seen **)handle;
    note(seen, *((char *)handle + sizeof(seen)));
}

struct handle {
    struct seen *seen;
    char name;
};

static void use_heap(const struct sim_env *env, void *arg)
{
    static struct handle first, second, closed;
    (void)env;
    first = (struct handle){arg, '1'};
    second = (struct handle){arg, '2'};
    closed = (struct handle){arg, 'x'};
    for (unsigned i = 0; i < 100; i++) {
        (void)mem_realloc(mem_zalloc(10), 1000);
    }
    mem_on_drop(&first, release);
    mem_on_drop(&closed, release);
    mem_on_drop(&second, release);
    mem_off_drop(&closed);
}

static void a_kill_drops_the_heap_and_releases_foreign_handles(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {use_heap, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_process *process = toy_spawn(toy_host(sim, "a", programs), "/bin/toy");
    void *own = mem_alloc(10); /* of no process */
    sim_run_for(sim, SIM_S);
    assert_int_equal(sim_process_blocks(process), 100);
    assert_string_equal(seen.order, "");
    sim_kill(process); /* the sanitizer's leak check sees the rest */
    assert_string_equal(seen.order, "21");
    mem_free(own);
    sim_destroy(sim);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void be_fatal(void *arg)
{
    struct seen *seen = arg;
    note(seen, 'f');
    (void)mem_alloc(1);
    loop_fatal(seen->loop, "the disk said no");
}

static void be_fatal_later(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    seen->loop = env->loop;
    loop_timer_set(loop_timer_create(env->loop, be_fatal, arg), 10);
    loop_timer_set(loop_timer_create(env->loop, note_a, arg), 20);
}

static void on_exit_of_child(void *arg, pid_t pid, const struct os_exit *how)
{
    struct seen *seen = arg;
    seen->exits++;
    seen->reported = pid;
    seen->how = *how;
}

static void spawn_child(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    const char *argv[] = {"/bin/child", NULL};
    struct os_spawn spec = {.argv = argv};
    seen->os = env->os;
    assert_int_equal(os_spawn(env->os, &spec, on_exit_of_child, seen, &seen->child, NULL), 0);
}

static void loop_fatal_ends_that_process_only_and_its_parent_hears_of_it(void **state)
{
    (void)state;
    struct seen parent = {0}, child = {0};
    struct toy parent_toy = {spawn_child, &parent}, child_toy = {be_fatal_later, &child};
    struct sim_program parent_program = TOY("parent", &parent_toy);
    struct sim_program child_program = TOY("child", &child_toy);
    const struct sim_program *programs[] = {&parent_program, &child_program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_process *process = toy_spawn(toy_host(sim, "a", programs), "/bin/parent");
    sim_run_for(sim, SIM_S);
    assert_string_equal(child.order, "f");
    assert_int_equal(parent.exits, 1);
    assert_int_equal(parent.reported, parent.child);
    assert_int_equal(parent.how.status, 4);
    assert_int_equal(parent.how.signal, 0);
    assert_ptr_equal(sim_process_find(sim_host_at(sim, 0), sim_process_pid(process)), process);
    assert_int_equal(sim_counted(sim, SIM_COUNT_FATALS), 1);
    sim_destroy(sim);
}

static void wait_for_term(const struct sim_env *env, void *arg)
{
    loop_on_signal(env->loop, SIGTERM, note_a, arg);
}

static void signals_come_to_their_handler_or_end_the_process(void **state)
{
    (void)state;
    struct seen parent = {0}, child = {0};
    struct toy parent_toy = {spawn_child, &parent}, child_toy = {wait_for_term, &child};
    struct sim_program parent_program = TOY("parent", &parent_toy);
    struct sim_program child_program = TOY("child", &child_toy);
    const struct sim_program *programs[] = {&parent_program, &child_program, NULL};
    struct sim *sim = toy_sim(1, programs);
    assert_non_null(toy_spawn(toy_host(sim, "a", programs), "/bin/parent"));
    sim_run_for(sim, SIM_S);
    assert_int_equal(os_kill(parent.os, parent.child, SIGTERM), 0);
    sim_run_for(sim, SIM_S);
    assert_string_equal(child.order, "a");
    assert_int_equal(parent.exits, 0);
    assert_int_equal(os_kill(parent.os, parent.child, SIGHUP), 0);
    sim_run_for(sim, SIM_S);
    assert_int_equal(parent.exits, 1);
    assert_int_equal(parent.how.signal, SIGHUP);
    assert_int_equal(os_kill(parent.os, parent.child, 0), -ESRCH);
    sim_destroy(sim);
}

/* ---- locks, orphans -------------------------------------------------------------------------- */

static void take_lock(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    struct os_lock *lock = NULL;
    pid_t holder = 0;
    seen->os = env->os;
    int code = os_lock(env->os, "/tmp/x.lock", &lock, &holder, NULL);
    note(seen, code == 0 ? 'L' : code == -EAGAIN && holder > 0 ? 'h' : '?');
}

static void a_lock_dies_with_its_process(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {take_lock, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    struct sim_process *first = toy_spawn(host, "/bin/toy");
    sim_run_for(sim, SIM_S);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, SIM_S);
    assert_string_equal(seen.order, "Lh");
    assert_int_equal(os_lock_holder(seen.os, "/tmp/x.lock"), sim_process_pid(first));
    sim_kill(first);
    assert_int_equal(os_lock_holder(seen.os, "/tmp/x.lock"), 0);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, SIM_S);
    assert_string_equal(seen.order, "LhL");
    sim_destroy(sim);
}

static void spawn_job(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    const char *argv[] = {"/sim/job", "10", "3", "OUTPUT", "hello there", NULL};
    struct os_spawn spec = {.argv = argv, .stdout_path = "/tmp/out", .new_session = true};
    seen->os = env->os;
    assert_int_equal(os_spawn(env->os, &spec, on_exit_of_child, seen, &seen->child, NULL), 0);
}

static void a_job_writes_its_output_and_exits_when_its_time_is_over(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {spawn_job, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, 9 * SIM_S);
    assert_string_equal(sim_file_get(host, "/tmp/out", NULL), "");
    sim_run_for(sim, 2 * SIM_S);
    assert_string_equal(sim_file_get(host, "/tmp/out", NULL), "hello there\n");
    assert_int_equal(seen.how.status, 3);
    sim_destroy(sim);
}

static void time_in_which_a_job_is_stopped_does_not_count(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {spawn_job, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, 5 * SIM_S);
    assert_int_equal(os_kill_group(seen.os, seen.child, SIGSTOP), 0);
    sim_run_for(sim, 60 * SIM_S);
    assert_int_equal(seen.exits, 0);
    assert_int_equal(os_kill_group(seen.os, seen.child, SIGCONT), 0);
    sim_run_for(sim, 4 * SIM_S);
    assert_int_equal(seen.exits, 0);
    sim_run_for(sim, 2 * SIM_S);
    assert_int_equal(seen.exits, 1);
    assert_int_equal(seen.how.status, 3);
    sim_destroy(sim);
}

static void a_machine_that_stands_still_does_nothing_and_its_clock_goes_on(void **state)
{
    (void)state;
    struct seen seen = {0}, timer = {0};
    struct toy toy = {spawn_job, &seen}, timer_toy = {set_things, &timer};
    struct sim_program program = TOY("toy", &toy), timer_program = TOY("timer", &timer_toy);
    const struct sim_program *programs[] = {&program, &timer_program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    assert_non_null(toy_spawn(host, "/bin/timer"));
    sim_run_for(sim, 300 * SIM_MS);
    sim_host_suspend(host, 60 * SIM_S);
    sim_run_for(sim, 59 * SIM_S);
    assert_string_equal(timer.order, "saba");
    sim_run_for(sim, 2 * SIM_S);
    assert_string_equal(timer.order, "sabat");
    assert_true(timer.ran_at_ms >= timer.set_at_ms + 59000);
    sim_run_for(sim, 8 * SIM_S); /* of the job's 10 s, 0.3 were before */
    assert_int_equal(seen.exits, 0);
    sim_run_for(sim, 2 * SIM_S);
    assert_int_equal(seen.exits, 1);
    assert_int_equal(sim_counted(sim, SIM_COUNT_SUSPENDS), 1);
    sim_destroy(sim);
}

static void an_orphan_lives_on_and_can_be_watched_by_pid_and_start_time(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {spawn_job, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    struct sim_process *parent = toy_spawn(host, "/bin/toy");
    sim_run_for(sim, 5 * SIM_S);
    pid_t orphan = seen.child;
    sim_kill(parent);
    struct seen other = {0};
    toy.arg = &other;
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, SIM_S);
    uint64_t start = os_start_time(other.os, orphan);
    assert_int_not_equal(start, 0);
    assert_int_equal(os_watch(other.os, orphan, start, on_exit_of_child, &seen, NULL), 0);
    assert_int_equal(os_watch(other.os, orphan, start + 1, on_exit_of_child, &other, NULL), 0);
    sim_run_for(sim, SIM_S);
    assert_int_equal(other.exits, 1); /* another process with that pid: gone already */
    assert_int_equal(seen.exits, 0);
    sim_run_for(sim, 10 * SIM_S);
    assert_int_equal(seen.exits, 1);
    assert_int_equal(seen.reported, orphan);
    assert_true(seen.how.unknown);
    sim_destroy(sim);
}

/* ---- machines -------------------------------------------------------------------------------- */

static void remember_machine(const struct sim_env *env, void *arg)
{
    struct seen *seen = arg;
    struct os_machine machine;
    seen->calls++;
    assert_int_equal(os_machine(env->os, &machine, NULL), 0);
    (void)memcpy(seen->order, machine.boot_id, OS_BOOT_ID_SIZE);
}

static void each_boot_starts_the_services_under_a_new_boot_id(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {remember_machine, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    const char *argv[] = {"/bin/toy", NULL};
    sim_host_service(host, argv, true);
    sim_run_for(sim, SIM_S);
    char before[64];
    memcpy(before, seen.order, sizeof(before));
    assert_int_equal(strlen(before), 36);
    assert_int_equal(seen.calls, 1);
    sim_host_shut_down(host);
    sim_run_for(sim, 20 * SIM_S);
    assert_int_equal(sim_host_power(host), SIM_HOST_OFF);
    sim_host_fail_boots(host, 1);
    sim_host_boot(host);
    sim_run_for(sim, 60 * SIM_S);
    assert_int_equal(sim_host_power(host), SIM_HOST_OFF);
    sim_host_boot(host);
    sim_run_for(sim, 60 * SIM_S);
    assert_int_equal(sim_host_power(host), SIM_HOST_ON);
    assert_int_equal(seen.calls, 2);
    assert_string_not_equal(before, seen.order);
    sim_destroy(sim);
}

static void a_service_that_dies_is_started_again(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct toy toy = {remember_machine, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(1, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    const char *argv[] = {"/bin/toy", NULL};
    sim_host_service(host, argv, true);
    sim_run_for(sim, SIM_S);
    uint64_t at = 0;
    sim_kill(sim_process_next(sim, &at));
    sim_run_for(sim, 5 * SIM_S);
    assert_int_equal(seen.calls, 2);
    assert_int_equal(sim_counted(sim, SIM_COUNT_RESTARTS), 1);
    sim_destroy(sim);
}

static uint64_t hash_of_a_run(uint64_t seed)
{
    struct seen seen = {0};
    struct toy toy = {spawn_job, &seen};
    struct sim_program program = TOY("toy", &toy);
    const struct sim_program *programs[] = {&program, NULL};
    struct sim *sim = toy_sim(seed, programs);
    struct sim_host *host = toy_host(sim, "a", programs);
    assert_non_null(toy_spawn(host, "/bin/toy"));
    sim_run_for(sim, 15 * SIM_S);
    uint64_t hash = sim_trace_hash(sim);
    sim_destroy(sim);
    return hash;
}

static void one_seed_is_one_run(void **state)
{
    (void)state;
    assert_int_equal(hash_of_a_run(7), hash_of_a_run(7));
    assert_int_not_equal(hash_of_a_run(7), hash_of_a_run(8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deferred_calls_keep_their_order_and_timers_are_never_early),
        cmocka_unit_test(work_on_a_lane_happens_later_and_done_after_it),
        cmocka_unit_test(a_process_can_be_killed_between_work_and_done),
        cmocka_unit_test(a_destroyed_lane_calls_no_done),
        cmocka_unit_test(a_kill_drops_the_heap_and_releases_foreign_handles),
        cmocka_unit_test(loop_fatal_ends_that_process_only_and_its_parent_hears_of_it),
        cmocka_unit_test(signals_come_to_their_handler_or_end_the_process),
        cmocka_unit_test(a_lock_dies_with_its_process),
        cmocka_unit_test(a_job_writes_its_output_and_exits_when_its_time_is_over),
        cmocka_unit_test(time_in_which_a_job_is_stopped_does_not_count),
        cmocka_unit_test(a_machine_that_stands_still_does_nothing_and_its_clock_goes_on),
        cmocka_unit_test(an_orphan_lives_on_and_can_be_watched_by_pid_and_start_time),
        cmocka_unit_test(each_boot_starts_the_services_under_a_new_boot_id),
        cmocka_unit_test(a_service_that_dies_is_started_again),
        cmocka_unit_test(one_seed_is_one_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
