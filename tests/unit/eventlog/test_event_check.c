/* LINK: eventlog
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "eventlog/event_check.h"
#include "eventlog/event_reader.h"

static const char *turn_of(struct event_check *check, int64_t proc, int64_t type, const char *text)
{
    const struct event_entry event = {type, 7, proc, text, strlen(text)};
    return event_check_next(check, &event);
}

static void the_head_of_a_pools_log_is_of_no_job(void **state)
{
    (void)state;
    struct event_check *check = event_check_create();
    const struct event_entry head = {8, -1, -1, "...\n", 4};
    assert_null(event_check_next(check, &head));
    struct event_totals totals;
    event_check_totals(check, &totals);
    assert_int_equal(totals.events, 1);
    assert_int_equal(totals.jobs, 0);
    event_check_destroy(check);
}

/* A life as numbers of events, "0 1 5"; what is said of the last one, all before must fit. */
static const char *life(const char *numbers)
{
    struct event_check *check = event_check_create();
    const char *wrong = NULL;
    for (char *end = NULL; *numbers != '\0'; numbers = end) {
        assert_null(wrong);
        long type = strtol(numbers, &end, 10);
        const char *text = *end == 'o'   ? "012\n\tCode 12 Subcode 2\n...\n"
                           : *end == 'c' ? "\t(1) Job was checkpointed.\n...\n"
                           : *end == 'l' ? "\t(0) CPU times\n...\n"
                                         : "...\n";
        end += *end == 'o' || *end == 'c' || *end == 'l' ? 1 : 0;
        wrong = turn_of(check, 0, type, text);
    }
    event_check_destroy(check);
    return wrong;
}

static void a_job_is_submitted_executes_and_terminates(void **state)
{
    (void)state;
    assert_null(life("0 40 40 1 28 6 6 40 5"));
    assert_null(life("0 12 13 1 5"));
    assert_null(life("0 13 1 5"));
    assert_null(life("0 9"));
    assert_null(life("0 1 4 1 10 11 4 1 22 23 22 24 1 12 13 1 9"));
    assert_null(life("0 1 10 22 23 11 5"));
    assert_null(life("0 7 1 7 7 1 5"));
}

static void an_eviction_says_whether_its_run_was_checkpointed(void **state)
{
    (void)state;
    assert_null(life("0 1 3 3 4c 1 4l 1 10 3 11 22 3 23 3 5"));
    assert_null(life("0 1 4l 3 12 3 13 1 4l")); /* the last one of a run that was held */
    assert_string_equal(life("0 1 4c"), "was not checkpointed in this run");
    assert_string_equal(life("0 1 3 4l"), "was checkpointed in this run");
    assert_string_equal(life("0 1 3 4c 1 4c"), "was not checkpointed in this run");
    assert_string_equal(life("0 3"), "is submitted");
    assert_string_equal(life("0 1 5 3"), "is over");
    assert_string_equal(life("3"), "was not submitted");
}

static void what_no_life_can_be_is_told_with_what_the_job_had_come_to(void **state)
{
    (void)state;
    assert_string_equal(life("1"), "was not submitted");
    assert_string_equal(life("6"), "was not submitted");
    assert_string_equal(life("8"), "was not submitted");
    assert_string_equal(life("0 0"), "is submitted");
    assert_string_equal(life("0 5"), "is submitted");
    assert_string_equal(life("0 4"), "is submitted");
    assert_string_equal(life("0 1 4 13"), "is idle");
    assert_string_equal(life("0 1 1"), "executes");
    assert_string_equal(life("0 1 23"), "executes");
    assert_string_equal(life("0 1 4 5"), "is idle");
    assert_string_equal(life("0 1 10 10"), "is suspended");
    assert_string_equal(life("0 1 22 1"), "is disconnected");
    assert_string_equal(life("0 1 10 22 11"), "is disconnected and suspended");
    assert_string_equal(life("0 1 7 5"), "is idle");
    assert_string_equal(life("0 12 7"), "is held");
    assert_string_equal(life("0 12 12"), "is held");
    assert_string_equal(life("0 12 1"), "is held");
    assert_string_equal(life("0 1 5 5"), "is over");
    assert_string_equal(life("0 1 5 9"), "is over");
    assert_string_equal(life("0 1 5 8"), "is over");
    assert_string_equal(life("0 9 1"), "is over");
}

static void a_hold_for_output_keeps_the_end_of_the_run(void **state)
{
    (void)state;
    assert_null(life("0 1 12o 13 5"));
    assert_null(life("0 1 12o 13 12o 13 5"));
    assert_null(life("0 1 12o 9"));
    assert_string_equal(life("0 1 12 13 5"), "is idle");
    assert_string_equal(life("0 12o 13 5"), "is idle");
    assert_string_equal(life("0 1 12o 5"), "is held with its output");
    assert_string_equal(life("0 1 12o 13 13"), "has its output to be placed");
}

static void a_hold_for_output_that_was_not_taken_ends_in_another_run(void **state)
{
    (void)state;
    assert_null(life("0 1 12o 13 1 5"));
    assert_null(life("0 1 12o 13 12 13 1 5"));
    assert_string_equal(life("0 1 12o 1"), "is held with its output");
    assert_string_equal(life("0 1 12o 13 1 1"), "executes");
}

static void a_cluster_made_job_by_job_has_a_life_of_its_own(void **state)
{
    (void)state;
    struct event_check *check = event_check_create();
    assert_null(turn_of(check, -1, 35, "...\n"));
    assert_null(turn_of(check, 0, 0, "...\n"));
    assert_null(turn_of(check, 0, 9, "...\n"));
    assert_null(turn_of(check, -1, 36, "...\n"));
    assert_string_equal(turn_of(check, -1, 36, "...\n"), "is over");
    struct event_totals totals;
    event_check_totals(check, &totals);
    assert_int_equal(totals.jobs, 1);
    assert_int_equal(totals.aborted, 1);
    event_check_destroy(check);
}

static void jobs_are_counted_and_do_not_touch_one_another(void **state)
{
    (void)state;
    struct event_check *check = event_check_create();
    assert_null(turn_of(check, 0, 0, "...\n"));
    assert_null(turn_of(check, 1, 0, "...\n"));
    assert_null(turn_of(check, 0, 1, "...\n"));
    assert_null(turn_of(check, 1, 1, "...\n"));
    assert_null(turn_of(check, 0, 4, "...\n"));
    assert_non_null(turn_of(check, 0, 5, "...\n"));
    assert_null(turn_of(check, 0, 1, "...\n"));
    assert_null(turn_of(check, 0, 5, "...\n"));
    struct event_totals totals;
    event_check_totals(check, &totals);
    assert_int_equal(totals.events, 8);
    assert_int_equal(totals.jobs, 2);
    assert_int_equal(totals.runs, 3);
    assert_int_equal(totals.terminated, 1);
    assert_int_equal(totals.aborted, 0);
    assert_int_equal(totals.illegal, 1);
    event_check_destroy(check);
}

/* Lives that HTCondor's own jobs had. */
static void logs_of_htcondor_are_legal(void **state)
{
    (void)state;
    static const char *const LIVES[] = {"ctl",   "exit3",  "factory", "hold",     "idlerm",
                                        "multi", "normal", "perrm",   "segv",     "policy",
                                        "retry", "unmet",  "xfer",    "timelimit"};
    for (size_t i = 0; i < sizeof(LIVES) / sizeof(LIVES[0]); i++) {
        char path[512], piece[4096];
        (void)snprintf(path, sizeof(path), "%s/tests/conformance/eventlog/default/%s.log",
                       getenv("ROOST_SRC"), LIVES[i]);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        struct event_reader *reader = event_reader_create();
        struct event_check *check = event_check_create();
        struct event_entry event;
        size_t length = 0;
        while ((length = fread(piece, 1, sizeof(piece), file)) > 0) {
            event_reader_feed(reader, piece, length);
            while (event_reader_next(reader, &event)) {
                const char *wrong = event_check_next(check, &event);
                if (wrong != NULL) {
                    fail_msg("%s: %s: %s", LIVES[i], wrong, event.text);
                }
            }
        }
        struct event_totals totals;
        event_check_totals(check, &totals);
        assert_true(totals.jobs > 0);
        (void)fclose(file);
        event_check_destroy(check);
        event_reader_destroy(reader);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_submitted_executes_and_terminates),
        cmocka_unit_test(an_eviction_says_whether_its_run_was_checkpointed),
        cmocka_unit_test(what_no_life_can_be_is_told_with_what_the_job_had_come_to),
        cmocka_unit_test(a_hold_for_output_keeps_the_end_of_the_run),
        cmocka_unit_test(a_hold_for_output_that_was_not_taken_ends_in_another_run),
        cmocka_unit_test(a_cluster_made_job_by_job_has_a_life_of_its_own),
        cmocka_unit_test(jobs_are_counted_and_do_not_touch_one_another),
        cmocka_unit_test(the_head_of_a_pools_log_is_of_no_job),
        cmocka_unit_test(logs_of_htcondor_are_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
