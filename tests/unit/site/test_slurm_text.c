/* tests/unit/site/test_slurm_text.c - what Slurm's programs print.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/slurm_text.h"

#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

static void tasks_of_arrays_are_glideins(void **state)
{
    static const struct {
        const char *line, *name, *id, *reason;
        enum batch_life life;
    } CASES[] = {
        {"1|2|fab-here-1|PENDING|0|Priority|", "fab-here-1.2", "1_2", "", BATCH_QUEUED},
        {"1|2|fab-here-1|PENDING|0|JobHeldAdmin|", "fab-here-1.2", "1_2", "JobHeldAdmin",
         BATCH_HELD},
        {"99|1|f+1000|RUNNING|0|None|", "f.1001", "99_1", "", BATCH_RUNNING},
        {"99|1|f|COMPLETING|0|None|", "f.1", "99_1", "", BATCH_RUNNING},
        {"99|1|f|FAILED|768|NonZeroExitCode|", "f.1", "99_1", "failed, exit status 3", BATCH_ENDED},
        {"99|1|f|OUT_OF_MEMORY|9|x|", "f.1", "99_1", "out of memory, signal 9", BATCH_ENDED},
        {"99|1|f|COMPLETED|0|None|", "f.1", "99_1", "completed", BATCH_ENDED},
        {"99|1|f|SOMETHING_NEW|0|None|", "f.1", "99_1", "something new", BATCH_ENDED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct batch_task task;
        const char *at = CASES[i].line;
        assert_int_equal(slurm_text_task(&at, &task), 1);
        assert_string_equal(task.name, CASES[i].name);
        assert_string_equal(task.id, CASES[i].id);
        assert_string_equal(task.reason, CASES[i].reason);
        assert_int_equal(task.life, CASES[i].life);
        assert_int_equal(slurm_text_task(&at, &task), 0);
    }
}

static void other_jobs_are_skipped(void **state)
{
    const char *at = "12|N/A|bash|RUNNING|0|None|\n\n|||||\n1|2\n1|0|f|RUNNING|0|None|\n"
                     "1|1|a b|RUNNING|0|None|\n1|1|f+x|RUNNING|0|None|\n7|7|f|RUNNING|0|None|\n";
    struct batch_task task;
    (void)state;
    for (int i = 0; i < 7; i++) {
        assert_int_not_equal(slurm_text_task(&at, &task), 1);
    }
    assert_int_equal(slurm_text_task(&at, &task), 1);
    assert_string_equal(task.name, "f.7");
}

static void a_no_is_told_from_a_failure(void **state)
{
#define NO "sbatch: error: Batch job submission failed: "
    static const struct {
        const char *text;
        enum site_result result;
    } CASES[] = {
        {NO "Invalid account or account/partition combination specified", SITE_REFUSES},
        {NO "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
         SITE_REFUSES},
        {NO "Requested reservation is invalid", SITE_REFUSES},
        {NO "Requested node configuration is not available", SITE_REFUSES},
        {"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
         SITE_REFUSES},
        {NO "Unable to contact slurm controller (connect failure)", SITE_FAILS},
        {NO "Socket timed out on send/recv operation", SITE_FAILS},
        {NO "Zero Bytes were transmitted or received", SITE_FAILS},
        {NO "Protocol authentication error", SITE_FAILS},
        {"sbatch: error: Invalid --time specification", SITE_WRONG},
        {"sbatch: unrecognized option '--gress=1'", SITE_WRONG},
        {"sbatch: error: Invalid generic resource (gres) specification", SITE_WRONG},
        {"something that nobody has seen", SITE_FAILS},
        {"", SITE_FAILS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        if (slurm_text_refusal(CASES[i].text) != CASES[i].result) {
            fail_msg("%s", CASES[i].text);
        }
    }
}

static void the_longest_array_is_in_the_configuration(void **state)
{
    (void)state;
    assert_int_equal(slurm_text_array_max("A = 1\nMaxArraySize            = 1001\nB"), 1001);
    assert_int_equal(slurm_text_array_max("xMaxArraySize = 7"), 0);
    assert_int_equal(slurm_text_array_max(""), 0);
}

static void only_harmless_options_are_passed_on(void **state)
{
    (void)state;
    assert_int_equal(slurm_text_extra("--nice=5", NULL), 0);
    assert_int_equal(slurm_text_extra("--exclusive", NULL), 0);
    static const char *const BAD[] = {"--array=1", "--output=/x", "--wrap=id", "--export=ALL",
                                      "-p",        "nice=5",      "--",        ""};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_not_equal(slurm_text_extra(BAD[i], NULL), 0);
    }
}

UNIT_TESTS(UNIT(tasks_of_arrays_are_glideins), UNIT(other_jobs_are_skipped),
           UNIT(a_no_is_told_from_a_failure), UNIT(the_longest_array_is_in_the_configuration),
           UNIT(only_harmless_options_are_passed_on))
