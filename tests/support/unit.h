/* tests/support/unit.h - includes cmocka and the headers that cmocka.h needs before it, and makes
 * the list of a file's tests.
 *
 *     UNIT_TESTS(UNIT(a_bad_ad_is_refused), UNIT(a_good_one_is_kept))
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_UNIT_H
#define TESTS_SUPPORT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNIT(test) cmocka_unit_test(test)

#define UNIT_TESTS(...)                                   \
    int main(void)                                        \
    {                                                     \
        const struct CMUnitTest tests[] = {__VA_ARGS__};  \
        return cmocka_run_group_tests(tests, NULL, NULL); \
    }

#endif
