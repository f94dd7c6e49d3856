/* LINK: cli
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "cli/wait_log_plan.h"
#include "eventlog/event_reader.h"
#include "eventlog/event_text.h"

static void tell(struct wait_log *wait, int64_t type, int64_t cluster, int64_t proc)
{
    struct event_entry event = {type, cluster, proc, "text\n...\n", 9};
    struct strbuf out;
    strbuf_init(&out, 0);
    wait_log_event(wait, &event, &out);
    assert_string_equal(strbuf_text(&out), "");
    strbuf_fini(&out);
}

static void all_that_were_submitted_must_be_over(void **state)
{
    (void)state;
    struct wait_log wait;
    wait_log_init(&wait);
    assert_false(wait_log_is_done(&wait)); /* an empty log says nothing yet */
    tell(&wait, EVENT_SUBMIT, 1, 0);
    tell(&wait, EVENT_SUBMIT, 1, 1);
    tell(&wait, EVENT_TERMINATED, 1, 0);
    tell(&wait, EVENT_EVICTED, 1, 1);
    tell(&wait, EVENT_HELD, 1, 1);
    assert_false(wait_log_is_done(&wait));
    tell(&wait, EVENT_ABORTED, 1, 1);
    assert_true(wait_log_is_done(&wait));
    wait_log_fini(&wait);
}

static void only_the_job_that_is_named_counts(void **state)
{
    (void)state;
    struct wait_log wait;
    wait_log_init(&wait);
    assert_true(wait_log_set_job(&wait, "1.1"));
    tell(&wait, EVENT_SUBMIT, 1, 0);
    tell(&wait, EVENT_SUBMIT, 2, 1);
    tell(&wait, EVENT_SUBMIT, 1, 1);
    tell(&wait, EVENT_TERMINATED, 2, 1);
    tell(&wait, EVENT_TERMINATED, 1, 0);
    assert_false(wait_log_is_done(&wait));
    tell(&wait, EVENT_TERMINATED, 1, 1);
    assert_true(wait_log_is_done(&wait));
    wait_log_fini(&wait);
}

static void a_cluster_that_makes_its_jobs_later_is_over_when_it_is_removed(void **state)
{
    (void)state;
    struct wait_log wait;
    wait_log_init(&wait);
    assert_true(wait_log_set_job(&wait, "12"));
    tell(&wait, EVENT_CLUSTER_SUBMIT, 12, -1);
    tell(&wait, EVENT_SUBMIT, 12, 0);
    tell(&wait, EVENT_TERMINATED, 12, 0);
    assert_false(wait_log_is_done(&wait));
    tell(&wait, EVENT_CLUSTER_REMOVE, 12, -1);
    assert_true(wait_log_is_done(&wait));
    wait_log_fini(&wait);
}

static void so_many_ends_may_be_enough(void **state)
{
    (void)state;
    struct wait_log wait;
    wait_log_init(&wait);
    wait.number = 2;
    tell(&wait, EVENT_SUBMIT, 1, 0);
    tell(&wait, EVENT_TERMINATED, 1, 0);
    assert_false(wait_log_is_done(&wait));
    tell(&wait, EVENT_SUBMIT, 1, 1);
    tell(&wait, EVENT_SUBMIT, 1, 2);
    tell(&wait, EVENT_ABORTED, 1, 1);
    assert_true(wait_log_is_done(&wait));
    wait_log_fini(&wait);
}

static void events_are_shown_when_asked_for(void **state)
{
    (void)state;
    struct wait_log wait;
    struct event_entry event = {EVENT_EXECUTE, 3, 4, "001 ...\n", 8};
    struct strbuf out;
    wait_log_init(&wait);
    strbuf_init(&out, 0);
    wait.status = true;
    wait_log_event(&wait, &event, &out);
    assert_string_equal(strbuf_text(&out), "3.4.0 executing\n");
    strbuf_clear(&out);
    wait.status = false;
    wait.echo = true;
    wait_log_event(&wait, &event, &out);
    assert_string_equal(strbuf_text(&out), "001 ...\n");
    strbuf_fini(&out);
    wait_log_fini(&wait);
}

static void ids_have_one_to_three_numbers(void **state)
{
    (void)state;
    struct wait_log wait;
    wait_log_init(&wait);
    assert_true(wait_log_set_job(&wait, "12.3.0"));
    assert_int_equal(wait.cluster, 12);
    assert_int_equal(wait.proc, 3);
    assert_true(wait_log_set_job(&wait, "7"));
    assert_int_equal(wait.proc, -1);
    static const char *const BAD[] = {"", "a", "1.", "1.x", "1.2.3.4", "-1", ".1"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_false(wait_log_set_job(&wait, BAD[i]));
    }
    wait_log_fini(&wait);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_were_submitted_must_be_over),
        cmocka_unit_test(only_the_job_that_is_named_counts),
        cmocka_unit_test(a_cluster_that_makes_its_jobs_later_is_over_when_it_is_removed),
        cmocka_unit_test(so_many_ends_may_be_enough),
        cmocka_unit_test(events_are_shown_when_asked_for),
        cmocka_unit_test(ids_have_one_to_three_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
