/* tests/unit/pcontrol/test_script_line_plan.c - lines of a script, and what is said of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/script_line_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "tests/support/unit.h"

static int read_text(const char *text, size_t length, size_t *count, struct err *err)
{
    struct vec words = {0};
    int rc = script_line_read(text, length, &words, err);
    *count = words.count;
    vec_fini(&words, mem_free);
    return rc;
}

static void a_line_is_split_into_words(void **state)
{
    (void)state;
    size_t count;
    struct err err;
    assert_int_equal(read_text("job 'a b' # c", 13, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(read_text("", 0, &count, &err), 0);
    assert_int_equal(count, 0);
    assert_int_equal(read_text("job |", 5, &count, &err), -EINVAL);
}

static void the_longest_line_is_read_and_a_longer_one_is_refused(void **state)
{
    (void)state;
    size_t count;
    struct err err;
    char *text = mem_alloc(SCRIPT_LINE_MAX + 1);
    memset(text, 'x', SCRIPT_LINE_MAX + 1);
    assert_int_equal(read_text(text, SCRIPT_LINE_MAX, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_int_equal(read_text(text, SCRIPT_LINE_MAX + 1, &count, &err), -E2BIG);
    assert_int_equal(count, 0);
    assert_string_equal(err.text, "the line has more than 1048576 bytes");
    mem_free(text);
}

static void a_carriage_return_at_the_end_is_refused_by_name(void **state)
{
    (void)state;
    size_t count;
    struct err err;
    assert_int_equal(read_text("wait\r", 5, &count, &err), -EINVAL);
    assert_non_null(strstr(err.text, "the line ends with a carriage return"));
    assert_int_equal(read_text("\r", 1, &count, &err), -EINVAL);
    assert_int_equal(read_text("job $'a\\r'", 10, &count, &err), 0);
}

static void expect_blame(uint64_t number, const char *why, const char *expected)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    script_line_blame(number, why, strlen(why), &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
}

static void each_line_of_an_error_names_the_line_of_the_script(void **state)
{
    (void)state;
    expect_blame(0, "a\nb", "pcontrol: a\npcontrol: b\n");
    expect_blame(12, "a\nb\n", "pcontrol: line 12: a\npcontrol: line 12: b\n");
    expect_blame(1, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_split_into_words),
        cmocka_unit_test(the_longest_line_is_read_and_a_longer_one_is_refused),
        cmocka_unit_test(a_carriage_return_at_the_end_is_refused_by_name),
        cmocka_unit_test(each_line_of_an_error_names_the_line_of_the_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
