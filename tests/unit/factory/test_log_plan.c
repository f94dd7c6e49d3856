/* tests/unit/factory/test_log_plan.c - the end of a log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/log_plan.h"
#include "tests/support/unit.h"

static void the_end_has_whole_characters(void **state)
{
    (void)state;
    assert_string_equal(log_plan_end("abc", 10), "abc");
    assert_string_equal(log_plan_end("abc", 2), "bc");
    assert_string_equal(log_plan_end("\xc3\xa4", 2), "\xc3\xa4");
    assert_string_equal(log_plan_end("\xc3\xa4z", 2), "z"); /* not the half of a character */
    assert_string_equal(log_plan_end("", 4), "");
}

static void ends_with(const char *text, const char *line)
{
    char got[8];
    log_plan_last_line(text, got, sizeof(got));
    assert_string_equal(got, line);
}

static void the_last_line_is_short_and_clean(void **state)
{
    (void)state;
    ends_with("one\ntwo\n\n \r\n", "two");
    ends_with("one", "one");
    ends_with("", "");
    ends_with("\n\n", "");
    ends_with("a\x1b[31m\n", "a?[31m");
    ends_with("123456789\n", "1234567");
    ends_with("123456\xc3\xa4\n", "123456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_has_whole_characters),
        cmocka_unit_test(the_last_line_is_short_and_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
