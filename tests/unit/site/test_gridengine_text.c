/* tests/unit/site/test_gridengine_text.c - what Grid Engine's programs print.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/gridengine_text.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "tests/support/unit.h"

#define HEAD "<?xml version='1.0'?>\n<job_info xmlns:xsd=\"http://x/qstat.xsd\">\n"
#define JOB(number, name, state, queue, tasks)                                        \
    "<job_list state=\"any\"><JB_job_number>" number "</JB_job_number><JB_name>" name \
    "</JB_name><JB_owner>me</JB_owner><state>" state "</state><queue_name>" queue     \
    "</queue_name><slots>1</slots>" tasks "</job_list>\n"
#define TASKS(ranges) "<tasks>" ranges "</tasks>"
#define TAIL          "</job_info>\n"

struct seen {
    struct strbuf names;
    struct batch_task last;
};

static void see_task(void *arg, const struct batch_task *task)
{
    struct seen *seen = arg;
    strbuf_printf(&seen->names, "%s=%s ", task->name, task->id);
    seen->last = *task;
}

static int read_listing(const char *xml, struct seen *seen)
{
    strbuf_clear(&seen->names);
    return gridengine_text_tasks(xml, strlen(xml), see_task, seen, NULL);
}

static void tasks_are_glideins(void **state)
{
    static const struct {
        const char *state, *reason;
        enum batch_life life;
        bool leaves;
    } CASES[] = {
        {"qw", "", BATCH_QUEUED, false},
        {"Rq", "", BATCH_QUEUED, false},
        {"hqw", "on hold (state hqw)", BATCH_HELD, false},
        {"Eqw", "in error (state Eqw)", BATCH_HELD, false},
        {"dEqw", "in error (state dEqw)", BATCH_HELD, true},
        {"r", "", BATCH_RUNNING, false},
        {"t", "", BATCH_RUNNING, false},
        {"Rr", "", BATCH_RUNNING, false},
        {"hr", "", BATCH_RUNNING, false},
        {"s", "", BATCH_RUNNING, false},
        {"dr", "", BATCH_RUNNING, true},
        {"z", "", BATCH_ENDED, false},
    };
    struct seen seen;
    (void)state;
    strbuf_init(&seen.names, 0);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct strbuf xml;
        strbuf_init(&xml, 0);
        strbuf_printf(&xml,
                      HEAD "<queue_info>" JOB("7", "f-s-1+1000", "%s", "q@h",
                                              TASKS("3")) "</queue_info>" TAIL,
                      CASES[i].state);
        assert_int_equal(read_listing(strbuf_text(&xml), &seen), 0);
        assert_string_equal(strbuf_text(&seen.names), "f-s-1.1003=7.3 ");
        assert_string_equal(seen.last.reason, CASES[i].reason);
        assert_string_equal(seen.last.place, "q@h");
        assert_int_equal(seen.last.life, CASES[i].life);
        assert_int_equal(seen.last.leaves, CASES[i].leaves);
        strbuf_fini(&xml);
    }
    strbuf_fini(&seen.names);
}

static void ranges_of_pending_tasks_are_unfolded(void **state)
{
    struct seen seen;
    (void)state;
    strbuf_init(&seen.names, 0);
    assert_int_equal(read_listing(HEAD
                                  "<job_info>" JOB("9", "f", "qw", "", TASKS("1-3:1,7,10-14:2"))
                                      JOB("10", "sleep", "qw", "", "")
                                          JOB("11", "a b", "qw", "", TASKS("1")) "</job_info>" TAIL,
                                  &seen),
                     0);
    assert_string_equal(strbuf_text(&seen.names),
                        "f.1=9.1 f.2=9.2 f.3=9.3 f.7=9.7 f.10=9.10 f.12=9.12 f.14=9.14 ");
    assert_int_equal(read_listing(HEAD TAIL, &seen), 0);
    assert_string_equal(strbuf_text(&seen.names), "");
    strbuf_fini(&seen.names);
}

static void what_is_not_a_whole_listing_is_none(void **state)
{
    static const char WHOLE[] =
        HEAD "<job_info>" JOB("9", "f", "qw", "", TASKS("1-3:1")) "</job_info>" TAIL;
    static const char *const BAD[] = {
        "",
        "error: commlib error",
        "<html></html>",
        HEAD,
        HEAD JOB("9", "f", "qw", "", TASKS("1-")) TAIL,
        HEAD JOB("9", "f", "qw", "", TASKS("1,")) TAIL,
        HEAD JOB("9", "f", "qw", "", TASKS("1 2")) TAIL,
        HEAD JOB("9", "f", "qw", "", TASKS("1-9:0")) TAIL,
        HEAD JOB("9", "f", "qw", "", TASKS("0")) TAIL,
        HEAD JOB("9", "f", "qw", "", TASKS("1-999999999")) TAIL,
        HEAD JOB("x", "f", "qw", "", TASKS("1")) TAIL,
        HEAD JOB("9", "f", "", "", TASKS("1")) TAIL,
        HEAD TAIL "more",
        "<!DOCTYPE job_info [<!ENTITY a \"b\">]><job_info></job_info>",
    };
    struct seen seen;
    (void)state;
    strbuf_init(&seen.names, 0);
    assert_int_equal(read_listing(WHOLE, &seen), 0);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        if (read_listing(BAD[i], &seen) != -EPROTO) {
            fail_msg("%s", BAD[i]);
        }
    }
    for (size_t length = 0; length < strlen(WHOLE) - 2; length++) { /* all but the last newline */
        assert_int_equal(gridengine_text_tasks(WHOLE, length, see_task, &seen, NULL), -EPROTO);
    }
    strbuf_fini(&seen.names);
}

static void the_reason_of_a_task_in_error_is_found(void **state)
{
    static const char JOBS[] = "==============\n"
                               "job_number:                 1\n"
                               "error reason          1:      11/25/2026 13:13:17 error: one\n"
                               "job_number:                 12\n"
                               "error reason          1:      eleven\n"
                               "error reason         11:      can't chdir to /nonexistent\n";
    char reason[BATCH_REASON_MAX] = "unchanged";
    (void)state;
    assert_false(gridengine_text_trouble(JOBS, "1.11", reason));
    assert_false(gridengine_text_trouble(JOBS, "2.1", reason));
    assert_false(gridengine_text_trouble("", "2.1", reason));
    assert_string_equal(reason, "unchanged");
    assert_true(gridengine_text_trouble(JOBS, "12.11", reason));
    assert_string_equal(reason, "can't chdir to /nonexistent");
    assert_true(gridengine_text_trouble(JOBS, "1.1", reason));
    assert_string_equal(reason, "11/25/2026 13:13:17 error: one");
}

static void settings_are_found_by_their_names(void **state)
{
    static const char CONF[] = "#global:\nmin_uid_x    3\nmin_uid                      1000\n"
                               "max_aj_tasks 0\nallocation_rule    $pe_slots\nbad  -7";
    char value[12];
    (void)state;
    assert_int_equal(gridengine_text_number(CONF, "min_uid"), 1000);
    assert_int_equal(gridengine_text_number(CONF, "max_aj_tasks"), 0);
    assert_int_equal(gridengine_text_number(CONF, "bad"), -1);
    assert_int_equal(gridengine_text_number(CONF, "min"), -1);
    assert_true(gridengine_text_value(CONF, "allocation_rule", value, sizeof(value)));
    assert_string_equal(value, "$pe_slots");
    assert_false(gridengine_text_value(CONF, "allocation_rule", value, 9));
    assert_true(gridengine_text_has_line("root\nme\n", "me"));
    assert_false(gridengine_text_has_line("root\nmen\n", "me"));
}

static void a_no_is_told_from_a_failure(void **state)
{
#define NO "Unable to run job: "
    static const struct {
        const char *text;
        enum site_result result;
    } CASES[] = {
        {NO "job rejected: only 1 jobs are allowed per user (current job count: 1) Exiting.",
         SITE_REFUSES},
        {NO "job rejected: only 1 jobs are allowed per cluster Exiting.", SITE_REFUSES},
        {NO "job rejected: the requested project \"x\" does not exist Exiting.", SITE_REFUSES},
        {NO "the advance reservation id 7 is invalid Exiting.", SITE_REFUSES},
        {NO "error: no suitable queues Exiting.", SITE_REFUSES},
        {NO "job rejected: you tried to submit a job with more than 10 tasks Exiting.", SITE_WRONG},
        {NO "Job was rejected because job requests unknown queue \"nope.q\" Exiting.", SITE_WRONG},
        {NO "unknown resource \"nope\" Exiting.", SITE_WRONG},
        {NO "attribute \"h_rt\" is not a time value Exiting.", SITE_WRONG},
        {NO "job rejected: the requested parallel environment \"x\" does not exist Exiting.",
         SITE_WRONG},
        {"qsub: invalid option argument \"-zzz\"", SITE_WRONG},
        {"error: commlib error: got select error (Connection refused) " NO
         "unable to send message to qmaster using port 6444 on host \"h\": got send error Exiting.",
         SITE_FAILS},
        {NO "Error reading answer list from qmaster Exiting.", SITE_FAILS},
        {"something that nobody has seen", SITE_FAILS},
        {"", SITE_FAILS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        if (gridengine_text_refusal(CASES[i].text) != CASES[i].result) {
            fail_msg("%s", CASES[i].text);
        }
    }
}

static void only_harmless_options_are_passed_on(void **state)
{
    static const char *const GOOD[] = {"-p", "-100", "-A", "two words"};
    static const char *const BAD[][2] = {{"-V", "x"}, {"-t", "1"},   {"-v", "A=b"},
                                         {"-o", "x"}, {"x", "-p"},   {"-jsv", "/x"},
                                         {"-@", "x"}, {"-sync", "y"}};
    (void)state;
    assert_int_equal(gridengine_text_extra(GOOD, 4, NULL), 0);
    assert_int_equal(gridengine_text_extra(GOOD, 0, NULL), 0);
    assert_int_equal(gridengine_text_extra(GOOD, 3, NULL), -EINVAL);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_equal(gridengine_text_extra(BAD[i], 2, NULL), -EINVAL);
    }
}

UNIT_TESTS(UNIT(tasks_are_glideins), UNIT(ranges_of_pending_tasks_are_unfolded),
           UNIT(what_is_not_a_whole_listing_is_none), UNIT(the_reason_of_a_task_in_error_is_found),
           UNIT(settings_are_found_by_their_names), UNIT(a_no_is_told_from_a_failure),
           UNIT(only_harmless_options_are_passed_on))
