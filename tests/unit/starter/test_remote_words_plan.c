/* tests/unit/starter/test_remote_words_plan.c - names of the submit machine, and how the mount
 * ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/remote_words_plan.h"

#include <signal.h>
#include <string.h>

#include "tests/support/unit.h"

#include "base/mem.h"
#include "classad/ad.h"

static void goes_to(const char *shadow, const char *expected)
{
    char *route = remote_words_plan_route(shadow);
    assert_string_equal(route, expected);
    mem_free(route);
}

static void the_server_is_where_the_shadow_is(void **state)
{
    (void)state;
    goes_to("shadow/ann", "rsys/ann");
    goes_to("shadowy/ann", "rsys/shadowy/ann");
}

static bool names_tmp(const char *text)
{
    struct ad *job = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &job, NULL), 0);
    bool names = remote_words_plan_names_tmp(job);
    ad_destroy(job);
    return names;
}

static void a_job_that_names_files_in_tmp_has_that_of_home(void **state)
{
    (void)state;
    assert_true(names_tmp("[Iwd = \"/home/ann\"; Out = \"/tmp/out\"]"));
    assert_true(names_tmp("[Iwd = \"/tmp\"; Out = \"/home/ann/out\"]"));
    assert_false(names_tmp("[Iwd = \"/home/tmp\"; Cmd = \"/tmpfs/x\"; In = \"/dev/null\"]"));
}

static void says(const char *text, const char *expected)
{
    char said[24];
    remote_words_plan_said(text, said, sizeof said);
    assert_string_equal(said, expected);
}

static void the_last_line_of_ours_is_what_was_said(void **state)
{
    (void)state;
    says("", "");
    says("ld.so: cannot\nroost-rsys-mountain: x\n", "");
    says("roost-rsys-mount: one\nother: two\n", "one");
    says("roost-rsys-mount: one\nroost-ckpt: two", "two");
    says("roost-rsys-mount: 0123456789012345678901234567890\n", "01234567890123456789012");
}

static void only_what_the_mount_says_makes_a_status_its_own(void **state)
{
    (void)state;
    assert_int_equal(remote_words_plan_end(0, 0, ""), REMOTE_END_JOBS);
    assert_int_equal(remote_words_plan_end(75, 0, ""), REMOTE_END_JOBS);
    assert_int_equal(remote_words_plan_end(126, 0, ""), REMOTE_END_JOBS);
    assert_int_equal(remote_words_plan_end(75, 0, "lost"), REMOTE_END_AGAIN);
    assert_int_equal(remote_words_plan_end(1, 0, "no namespaces"), REMOTE_END_AGAIN);
    assert_int_equal(remote_words_plan_end(126, 0, "/in: not there"), REMOTE_END_REFUSED);
    assert_int_equal(remote_words_plan_end(7, 0, "stats"), REMOTE_END_JOBS);
}

static void a_signal_of_which_it_says_nothing_was_its_own_end(void **state)
{
    (void)state;
    assert_int_equal(remote_words_plan_end(-1, SIGKILL, ""), REMOTE_END_AGAIN);
    assert_int_equal(remote_words_plan_end(-1, SIGSEGV, "the job died of signal 11"),
                     REMOTE_END_JOBS);
}

UNIT_TESTS(UNIT(the_server_is_where_the_shadow_is),
           UNIT(a_job_that_names_files_in_tmp_has_that_of_home),
           UNIT(the_last_line_of_ours_is_what_was_said),
           UNIT(only_what_the_mount_says_makes_a_status_its_own),
           UNIT(a_signal_of_which_it_says_nothing_was_its_own_end))
