/* Tests of base/config/config_number.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_number.h"

#include <errno.h>

#include "base/err.h"
#include "tests/support/unit.h"

static int64_t value_of(const char *text, enum knob_type type)
{
    int64_t value = -77;
    int rc = config_number_int(text, type, &value, NULL);
    return rc < 0 ? rc : value;
}

static void arithmetic_has_its_usual_order(void **state)
{
    (void)state;
    assert_int_equal(value_of("15 * 60", KNOB_INT), 900);
    assert_int_equal(value_of("1 + 2 * 3", KNOB_INT), 7);
    assert_int_equal(value_of("(1 + 2) * 3", KNOB_INT), 9);
    assert_int_equal(value_of("10 - 3 - 2", KNOB_INT), 5);
    assert_int_equal(value_of("100 / 7 % 4", KNOB_INT), 2);
    assert_int_equal(value_of(" - -5 ", KNOB_INT), 5);
    assert_int_equal(value_of("-(2+3)", KNOB_INT), -5);
    assert_int_equal(value_of("2*-3", KNOB_INT), -6);
    assert_int_equal(value_of("\t7\n", KNOB_INT), 7);
}

static void durations_count_in_the_knob_s_unit(void **state)
{
    (void)state;
    assert_int_equal(value_of("90", KNOB_DURATION_S), 90000);
    assert_int_equal(value_of("90", KNOB_DURATION_MS), 90);
    assert_int_equal(value_of("15 * 60", KNOB_DURATION_S), 900000);
    assert_int_equal(value_of("2 * 10m", KNOB_DURATION_S), 1200000);
    assert_int_equal(value_of("10m * 2", KNOB_DURATION_S), 1200000);
    assert_int_equal(value_of("10m / 4", KNOB_DURATION_S), 150000);
    assert_int_equal(value_of("10m + 30", KNOB_DURATION_S), 630000);
    assert_int_equal(value_of("30 + 1h", KNOB_DURATION_S), 3630000);
    assert_int_equal(value_of("1h30m", KNOB_DURATION_S), 5400000);
    assert_int_equal(value_of("1h 30m - 30m", KNOB_DURATION_S), 3600000);
    assert_int_equal(value_of("250ms", KNOB_DURATION_MS), 250);
    assert_int_equal(value_of("2 GiB", KNOB_SIZE_BYTES), INT64_C(2) << 30);
    assert_int_equal(value_of("2 * (1 GiB + 1)", KNOB_SIZE_BYTES), (INT64_C(2) << 30) + 2);
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",     " ",     "x",     "1 +",      "* 2",   "(1",
                               "1)",   "()",    "1 2",   "1,2",      "10m",   "1.5",
                               "0x10", "1 / 0", "1 % 0", "1 /(2-2)", "1 = 1", "1e3"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(value_of(bad[i], KNOB_INT), -EINVAL);
    }
    assert_int_equal(value_of("10m * 10m", KNOB_DURATION_S), -EINVAL);
    assert_int_equal(value_of("2 / 10m", KNOB_DURATION_S), -EINVAL);
    assert_int_equal(value_of("1h / 10m", KNOB_DURATION_S), -EINVAL);
    assert_int_equal(value_of("1h 30", KNOB_DURATION_S), -EINVAL);
    assert_int_equal(value_of("10 GiB", KNOB_DURATION_S), -EINVAL);
    assert_int_equal(value_of("10 min", KNOB_SIZE_BYTES), -EINVAL);
    struct err err;
    int64_t value = 0;
    (void)config_number_int("10 parsecs", KNOB_DURATION_S, &value, &err);
    assert_string_equal(err.text,
                        "'10 parsecs': unknown unit 'parsecs'; expected ms, s, m, h, d or w");
    (void)config_number_int("8 GB", KNOB_INT, &value, &err);
    assert_string_equal(err.text, "'8 GB': unknown unit 'GB'; expected a number without a unit");
    (void)config_number_int("8 GBs", KNOB_SIZE_BYTES, &value, &err);
    assert_string_equal(err.text,
                        "'8 GBs': unknown unit 'GBs'; expected B, KiB, MiB, GiB, TiB or PiB");
    (void)config_number_int("1 + (2", KNOB_INT, &value, &err);
    assert_string_equal(err.text, "'1 + (2': ')' is missing");
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_int_equal(value_of("9223372036854775807", KNOB_INT), INT64_MAX);
    assert_int_equal(value_of("-9223372036854775807 - 1", KNOB_INT), INT64_MIN);
    const char *const bad[] = {"9223372036854775808",
                               "9223372036854775807 + 1",
                               "-9223372036854775807 - 2",
                               "9223372036854775807 * 2",
                               "(-9223372036854775807 - 1) / -1",
                               "-(-9223372036854775807 - 1)"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(value_of(bad[i], KNOB_INT), -ERANGE);
    }
    assert_int_equal(value_of("(-9223372036854775807 - 1) % -1", KNOB_INT), 0);
    assert_int_equal(value_of("9223372036854775807", KNOB_DURATION_S), -ERANGE);
    assert_int_equal(value_of("9223372036854775807 + 1m", KNOB_DURATION_S), -ERANGE);
    assert_int_equal(value_of("9000 P", KNOB_SIZE_BYTES), -ERANGE);
    assert_int_equal(value_of("7000P 7000P", KNOB_SIZE_BYTES), -ERANGE);
    char longer[200];
    memset(longer, '1', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(value_of(longer, KNOB_INT), -ERANGE);
}

static void parentheses_nest_to_a_limit(void **state)
{
    (void)state;
    char text[300];
    for (int depth = 50; depth <= 51; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = '1';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = '\0';
        assert_int_equal(value_of(text, KNOB_INT), depth == 50 ? 1 : -EINVAL);
    }
}

static void reals_compute_too(void **state)
{
    (void)state;
    double value = 0;
    assert_int_equal(config_number_real("0.3", &value, NULL), 0);
    assert_true(value == 0.3);
    assert_int_equal(config_number_real("1 + 1.5e1 / 2 - .25", &value, NULL), 0);
    assert_true(value == 8.25);
    assert_int_equal(config_number_real("-7 % 4", &value, NULL), 0);
    assert_true(value == -3);
    assert_int_equal(config_number_real("2e-3*2", &value, NULL), 0);
    assert_true(value == 4e-3);
    assert_int_equal(config_number_real("1 / 0", &value, NULL), -EINVAL);
    assert_int_equal(config_number_real("1e308 * 10", &value, NULL), -ERANGE);
    assert_int_equal(config_number_real("1.5.2", &value, NULL), -EINVAL);
    assert_int_equal(config_number_real("nan", &value, NULL), -EINVAL);
    assert_int_equal(config_number_real("3m", &value, NULL), -EINVAL);
    assert_true(value == 4e-3);
}

UNIT_TESTS(UNIT(arithmetic_has_its_usual_order), UNIT(durations_count_in_the_knob_s_unit),
           UNIT(what_is_no_number_is_refused), UNIT(what_does_not_fit_is_refused),
           UNIT(parentheses_nest_to_a_limit), UNIT(reals_compute_too))
