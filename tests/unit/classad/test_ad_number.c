/* tests/unit/classad/test_ad_number.c - numbers print as printf() prints them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>

#include "classad/ad_number.h"
#include "tests/support/unit.h"

static void check_real(double real)
{
    char expected[64];
    char text[AD_NUMBER_MAX + 1];
    for (int exponent = 0; exponent < 2; exponent++) {
        (void)snprintf(expected, sizeof(expected), exponent ? "%.15E" : "%.16G", real);
        size_t length = ad_number_print_real(real, exponent != 0, text);
        assert_in_range(length, 1, AD_NUMBER_MAX);
        text[length] = '\0';
        assert_string_equal(text, expected);
    }
}

static void reals_of_every_size_have_the_digits_of_printf(void **state)
{
    (void)state;
    static const double SOME[] = {1.0,
                                  0.1,
                                  0.25,
                                  -0.5,
                                  9.95,
                                  0.3,
                                  1e-4,
                                  9.9999999999999999e-5,
                                  1e-5,
                                  9.999999999999999e-6,
                                  1e15,
                                  1e16,
                                  999999999999999.9,
                                  9007199254740991.0,
                                  9007199254740992.0,
                                  9007199254740993.0,
                                  123456789.123456789,
                                  0.99999999999999994,
                                  9.9999999999999982,
                                  99999.999999999985,
                                  4503599627370496.5,
                                  4503599627370497.5,
                                  1125899906842624.125,
                                  1125899906842624.375,
                                  140737488355328.03125,
                                  DBL_MAX,
                                  DBL_MIN,
                                  5e-324,
                                  1e300,
                                  -1e-300};
    for (size_t i = 0; i < sizeof(SOME) / sizeof(SOME[0]); i++) {
        check_real(SOME[i]);
        check_real(-SOME[i]);
        check_real(nextafter(SOME[i], 0));
    }
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        double mantissa = (double)(random >> 11) / 9007199254740992.0;
        check_real(ldexp(mantissa, (int)(random % 80) - 20));
        check_real((double)(int64_t)(random % 2000000) / 1000);     /* few digits */
        check_real((double)(int64_t)(random >> 34) / 64 + 1048576); /* halves, exactly */
    }
    for (int power = -10; power < 20; power++) {
        check_real(pow(10, power));
        check_real(nextafter(pow(10, power), 0));
        check_real(5 * pow(10, power));
    }
}

static void integers_have_the_digits_of_printf(void **state)
{
    (void)state;
    static const int64_t SOME[] = {0, 1, -1, 9, 10, -10, 99, 100, INT64_MAX, INT64_MIN, 1234567890};
    for (size_t i = 0; i < sizeof(SOME) / sizeof(SOME[0]); i++) {
        char expected[64];
        char text[AD_NUMBER_MAX + 1];
        (void)snprintf(expected, sizeof(expected), "%lld", (long long)SOME[i]);
        text[ad_number_print_int(SOME[i], text)] = '\0';
        assert_string_equal(text, expected);
    }
}

UNIT_TESTS(UNIT(reals_of_every_size_have_the_digits_of_printf),
           UNIT(integers_have_the_digits_of_printf))
