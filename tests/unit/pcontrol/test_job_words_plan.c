/* tests/unit/pcontrol/test_job_words_plan.c - the command "job".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/job_words_plan.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/vec.h"
#include "pclient/protocol.h"
#include "tests/support/unit.h"

static int read_text(const char *text, struct pjob_wish *ret, struct err *err)
{
    struct vec words = {0};
    assert_int_equal(shell_words_parse(text, strlen(text), &words, err), 0);
    int rc = job_words_read((char *const *)words.items, words.count, ret, err);
    vec_fini(&words, mem_free);
    return rc;
}

static void each_option_is_read(void **state)
{
    (void)state;
    struct pjob_wish wish;
    struct err err;
    assert_int_equal(read_text("-host a -timeout 1.5 -stdout o -stderr e -priority -3 -retries 2 "
                               "sh -c 'exit 1' -host",
                               &wish, &err),
                     0);
    assert_int_equal(wish.place, PJOB_PREFERS);
    assert_string_equal(wish.host, "a");
    assert_int_equal(wish.timeout_ms, 1500);
    assert_string_equal(wish.paths[0], "o");
    assert_string_equal(wish.paths[1], "e");
    assert_int_equal(wish.priority, -3);
    assert_int_equal(wish.retries, 2);
    assert_string_equal(wish.command, "-- sh -c 'exit 1' -host");
    pjob_wish_fini(&wish);
}

static void a_plain_command_runs_anywhere_for_ever(void **state)
{
    (void)state;
    struct pjob_wish wish;
    struct err err;
    assert_int_equal(read_text("true", &wish, &err), 0);
    assert_int_equal(wish.place, PJOB_ANYWHERE);
    assert_null(wish.host);
    assert_int_equal(wish.timeout_ms, 0);
    assert_int_equal(wish.retries, 0);
    pjob_wish_fini(&wish);
    assert_int_equal(read_text("+host b -- -x", &wish, &err), 0);
    assert_int_equal(wish.place, PJOB_NEEDS);
    assert_string_equal(wish.command, "-- -x");
    pjob_wish_fini(&wish);
}

static void of_an_option_that_is_there_twice_the_last_counts(void **state)
{
    (void)state;
    struct pjob_wish wish;
    struct err err;
    assert_int_equal(read_text("-stdout a -stderr b -stdout c -stderr d true", &wish, &err), 0);
    assert_string_equal(wish.paths[0], "c");
    assert_string_equal(wish.paths[1], "d");
    pjob_wish_fini(&wish);
}

/* The request of the longest command, with the longest timeout, is one line of a pclient. */
static void a_command_that_is_longer_than_a_request_is_refused(void **state)
{
    (void)state;
    static char word[PCLIENT_LINE_MAX + 1];
    char *const words[] = {word};
    const size_t longest = PCLIENT_LINE_MAX - strlen("job -timeout 31622400.000 ");
    struct pjob_wish wish;
    struct err err = {""};
    size_t length = PCLIENT_LINE_MAX / 2;
    for (size_t step = length / 2; step > 0; step /= 2) {
        memset(word, 'x', sizeof(word) - 1);
        word[length + step] = '\0';
        if (job_words_read(words, 1, &wish, &err) == 0) {
            length += step;
            assert_true(strlen(wish.command) <= longest);
            pjob_wish_fini(&wish);
        }
    }
    assert_in_range(length, longest - 100, longest);
    assert_non_null(strstr(err.text, "the command has more than 1048536 bytes"));
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } CASES[] = {
        {"", "the command of the job is missing"},
        {"-host a", "the command of the job is missing"},
        {"''", "the command of the job is missing"},
        {"-host", "-host: a value is missing"},
        {"-host a +host b true", "+host: a job has one host"},
        {"-host -on true", "-host: '-on' is not the name of a host: it begins with -"},
        {"+host 'a b' true", "+host: 'a b' is not the name of a host: it has a blank"},
        {"-timeout 0 true", "-timeout: expected seconds, from 0.001 to 31622400, not '0'"},
        {"-timeout soon true", "-timeout: expected seconds, from 0.001 to 31622400, not 'soon'"},
        {"-timeout nan true", "-timeout: expected seconds, from 0.001 to 31622400, not 'nan'"},
        {"-priority 1.5 true",
         "-priority: expected a number from -1000000000 to 1000000000, not '1.5'"},
        {"-retries -1 true", "-retries: expected a number from 0 to 1000000, not '-1'"},
        {"-stdout '' true", "-stdout: expected the name of a file"},
        {"-hots a true", "unknown option -hots; did you mean -host (a command that begins so needs "
                         "-- before it)"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct pjob_wish wish;
        struct err err = {""};
        assert_true(read_text(CASES[i].text, &wish, &err) < 0);
        assert_string_equal(err.text, CASES[i].expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_is_read),
        cmocka_unit_test(a_plain_command_runs_anywhere_for_ever),
        cmocka_unit_test(of_an_option_that_is_there_twice_the_last_counts),
        cmocka_unit_test(a_command_that_is_longer_than_a_request_is_refused),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
