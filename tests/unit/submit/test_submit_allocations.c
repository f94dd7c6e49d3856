/* tests/unit/submit/test_submit_allocations.c - what each further job of a submit file costs.
 *
 * LINK: submit
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/allocations.h"
#include "tests/unit/submit/submit_case.h"

#define COMMANDS 21 /* of MANY, that are the same for all jobs */

static size_t allocations_for(const char *commands, int jobs)
{
    struct submit_place place = PLACE;
    struct vec ads = {0};
    char text[2000];
    place.obeyed_only = true;
    (void)snprintf(text, sizeof text, "executable = run.sh\n%squeue %d\n", commands, jobs);
    size_t before = allocations;
    struct err err = {{0}};
    if (make_at(&place, text, &ads, &err) != 0) {
        fail_msg("%s", err.text);
    }
    size_t made = allocations - before;
    assert_int_equal(ads.count, jobs);
    vec_fini(&ads, destroy_ad);
    return made;
}

static size_t allocations_a_job(const char *commands)
{
    return (allocations_for(commands, 202) - allocations_for(commands, 2)) / 200;
}

/* Whoever submits 10,000 jobs waits for each command that is looked up for each of them. */
static void commands_that_are_the_same_for_all_jobs_cost_a_further_job_nothing(void **state)
{
    static const char
        FEW[] = "arguments = $(Process)\n",
        MANY[] =
            "arguments = $(Process)\nenvironment = A=1\ninput = in\noutput = out\nerror = err\n"
            "log = log\nrequest_memory = 2G\nrequest_disk = 1G\nrequest_cpus = 2\n"
            "requirements = TARGET.Big\nrank = Memory\npriority = 3\nnotification = error\n"
            "transfer_input_files = a, b\nshould_transfer_files = yes\nperiodic_hold = x > 3\n"
            "on_exit_remove = ExitCode == 0\nmax_retries = 3\nconcurrency_limits = x, y\n"
            "+Mine = 7\njob_lease_duration = 100\nbatch_name = b\n";
    (void)state;
    size_t few = allocations_a_job(FEW), many = allocations_a_job(MANY);
    assert_true(!COUNTS_ALLOCATIONS || few > 0);
    assert_in_range(many, few, few + COMMANDS / 2); /* some leave a mark of a block or two */
}

UNIT_TESTS(UNIT(commands_that_are_the_same_for_all_jobs_cost_a_further_job_nothing))
