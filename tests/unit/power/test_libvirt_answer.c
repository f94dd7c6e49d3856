/* What roost-libvirt answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "power/libvirt_answer.h"

static struct libvirt_answer read_line(const char *line)
{
    struct libvirt_answer answer;
    assert_true(libvirt_answer_read(line, &answer));
    return answer;
}

static void shows(const char *line, int status, const char *text)
{
    struct libvirt_answer answer = read_line(line);
    assert_int_equal(answer.id, 7);
    assert_int_equal(answer.status, status);
    assert_string_equal(answer.text, text);
}

static void an_order_ends_well_or_with_a_number_and_words(void **state)
{
    (void)state;
    shows("7 ok started", 0, "started");
    shows("7 ok", 0, "");
    shows("7 error 110 not done after 5 s", -ETIMEDOUT, "not done after 5 s");
    shows("7 error 4095 x", -4095, "x");
    shows("7 error 2", -2, "");
}

static void an_error_without_a_number_is_one_of_input_and_output(void **state)
{
    (void)state;
    shows("7 error", -EIO, "");
    shows("7 error gone", -EIO, "gone");
    shows("7 error 0 none", -EIO, "none");
    shows("7 error 4096 x", -EIO, "x");
    shows("7 error -5 x", -EIO, "-5 x");
    shows("7 error 5x y", -EIO, "5x y");
    shows("7 fine 5 x", -EIO, "5 x");
    shows("7 okay x", -EIO, "x");
    shows("7 ", -EIO, "");
}

static void a_state_is_on_or_off_or_unknown(void **state)
{
    (void)state;
    struct libvirt_answer answer = read_line("18446744073709551615 on running (booted)");
    assert_true(answer.id == UINT64_MAX);
    assert_int_equal(answer.state, POWER_ON);
    assert_string_equal(answer.text, "running (booted)");
    assert_int_equal(read_line("7 off shut off").state, POWER_OFF);
    assert_int_equal(read_line("7 unknown paused").state, POWER_UNKNOWN);
    assert_int_equal(read_line("7 offline x").state, POWER_UNKNOWN);
    assert_false(read_line("7 unknown paused").is_silent);
    assert_true(read_line("7 silent gone").is_silent);
    assert_int_equal(read_line("7 silent on").state, POWER_UNKNOWN);
}

static void what_has_no_number_in_front_is_no_answer(void **state)
{
    (void)state;
    static const char *const LINES[] = {"",        " ",       "7",
                                        "ok",      " 7 ok x", "-7 ok x",
                                        "+7 ok x", "7x ok x", "18446744073709551616 ok x"};
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        struct libvirt_answer answer = {.id = 5};
        assert_false(libvirt_answer_read(LINES[i], &answer));
        assert_int_equal(answer.id, 5);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_ends_well_or_with_a_number_and_words),
        cmocka_unit_test(an_error_without_a_number_is_one_of_input_and_output),
        cmocka_unit_test(a_state_is_on_or_off_or_unknown),
        cmocka_unit_test(what_has_no_number_in_front_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
