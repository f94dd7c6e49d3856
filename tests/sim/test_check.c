/* The judge: each promise that can be broken from outside is seen to be broken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <string.h>

#include "base/os/os.h"
#include "sim/check.h"
#include "sim/sim.h"
#include "tests/support/toy.h"

struct court {
    struct judge *judge;
    struct sim *sim;
    struct sim_host *central, *node, *other;
    struct os *os; /* of a process on the central machine */
    struct toy toy;
    struct sim_program program;
    const struct sim_program *list[2];
};

static void keep_os(const struct sim_env *env, void *arg)
{
    ((struct court *)arg)->os = env->os;
}

static void open_court(struct court *court)
{
    memset(court, 0, sizeof(*court));
    court->toy = (struct toy){keep_os, court};
    court->program = (struct sim_program)TOY("toy", &court->toy);
    court->list[0] = &court->program;
    struct judge_options judge_options = {.jobs = 10,
                                          .output_directory = "/out",
                                          .central = "central"};
    court->judge = judge_create(&judge_options);
    struct sim_options options = {.seed = 1, .programs = court->list};
    judge_observe(court->judge, &options.observer);
    court->sim = sim_create(&options);
    judge_attach(court->judge, court->sim);
    court->central = toy_host(court->sim, "central", court->list);
    court->node = toy_host(court->sim, "node", court->list);
    court->other = toy_host(court->sim, "other", court->list);
    sim_program_put(court->central, "/sim/wake", "wake");
    sim_program_put(court->node, "/sim/poweroff", "poweroff");
    assert_non_null(toy_spawn(court->central, "/bin/toy"));
    sim_run_for(court->sim, SIM_S);
}

/* The verdict begins so; "" for none. */
static void close_court(struct court *court, const char *promise)
{
    const char *verdict = judge_verdict(court->judge);
    char name[64] = "";
    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(verdict, ":"), verdict);
    assert_string_equal(name, promise);
    sim_destroy(court->sim);
    judge_destroy(court->judge);
}

static void run_job(struct sim_host *host, const char *number)
{
    const char *argv[] = {"/sim/job", "100", "0", "OUTPUT", number, NULL};
    assert_non_null(sim_spawn(host, argv));
}

static void one_job_after_the_other_is_fine(void **state)
{
    (void)state;
    struct court court;
    open_court(&court);
    run_job(court.node, "1");
    run_job(court.other, "2");
    sim_run_for(court.sim, 200 * SIM_S);
    run_job(court.other, "1"); /* in vain, but not at one time */
    sim_run_for(court.sim, 200 * SIM_S);
    assert_int_equal(judge_runs(court.judge), 3);
    close_court(&court, "");
}

static void a_job_that_runs_twice_at_one_time_is_seen(void **state)
{
    (void)state;
    struct court court;
    open_court(&court);
    run_job(court.node, "1");
    sim_run_for(court.sim, 50 * SIM_S);
    run_job(court.other, "1");
    sim_run_for(court.sim, SIM_S);
    close_court(&court, "job_twice");
}

static void two_jobs_in_one_slot_are_seen(void **state)
{
    (void)state;
    struct court court;
    open_court(&court);
    run_job(court.node, "1"); /* both say the same of their slot: nothing */
    run_job(court.node, "2");
    sim_run_for(court.sim, SIM_S);
    close_court(&court, "slot_shared");
}

static void a_wake_for_nobody_is_seen_once_the_news_had_time(void **state)
{
    (void)state;
    const char *argv[] = {"/sim/wake", "node", NULL};
    struct court court;
    open_court(&court);
    assert_non_null(sim_spawn(court.central, argv));
    sim_run_for(court.sim, WAKE_TOLERANCE_US);
    assert_string_equal(judge_verdict(court.judge), "");
    assert_non_null(sim_spawn(court.central, argv));
    sim_run_for(court.sim, SIM_S);
    assert_int_equal(judge_wakes(court.judge), 2);
    close_court(&court, "wake_without_demand");
}

static void a_machine_that_goes_down_under_a_job_is_seen(void **state)
{
    (void)state;
    const char *argv[] = {"/sim/poweroff", "node", NULL};
    struct court court;
    open_court(&court);
    run_job(court.node, "1");
    sim_run_for(court.sim, SIM_S);
    assert_non_null(sim_spawn(court.node, argv));
    sim_run_for(court.sim, SIM_S);
    close_court(&court, "off_while_claimed");
}

static void a_wrong_result_is_seen_and_a_right_one_is_not(void **state)
{
    (void)state;
    struct court court;
    open_court(&court);
    assert_int_equal(os_mkdirs(court.os, "/out", 0755, NULL), 0);
    assert_int_equal(os_write_file(court.os, "/out/job.7.out", "7\n", 2, 0644, true, NULL), 0);
    assert_int_equal(os_write_file(court.os, "/out/job.8.tmp", "x", 1, 0644, true, NULL), 0);
    assert_string_equal(judge_verdict(court.judge), "");
    assert_int_equal(os_write_file(court.os, "/out/job.8.out", "7\n", 2, 0644, true, NULL), 0);
    close_court(&court, "result_wrong");
}

static void what_is_not_done_in_the_end_is_seen(void **state)
{
    (void)state;
    struct court court;
    open_court(&court);
    judge_finish(court.judge);
    close_court(&court, "job_unfinished");
}

UNIT_TESTS(UNIT(one_job_after_the_other_is_fine), UNIT(a_job_that_runs_twice_at_one_time_is_seen),
           UNIT(two_jobs_in_one_slot_are_seen),
           UNIT(a_wake_for_nobody_is_seen_once_the_news_had_time),
           UNIT(a_machine_that_goes_down_under_a_job_is_seen),
           UNIT(a_wrong_result_is_seen_and_a_right_one_is_not),
           UNIT(what_is_not_done_in_the_end_is_seen))
