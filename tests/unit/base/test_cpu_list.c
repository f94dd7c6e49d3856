/* Lists of CPUs as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <string.h>

#include "base/cpu_list.h"
#include "base/err.h"
#include "base/strbuf.h"

static bool has_cpus(const char *list, uint64_t low, uint64_t high)
{
    uint64_t cpus[OS_CAGE_CPUS_MAX / 64] = {0};
    return cpu_list_parse(list, cpus, NULL) == 0 && cpus[0] == low &&
           cpus[OS_CAGE_CPUS_MAX / 64 - 1] == high;
}

static void a_cpuset_is_told_what_the_list_says(void **state)
{
    (void)state;
    uint64_t cpus[OS_CAGE_CPUS_MAX / 64] = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(cpu_list_parse("0,4-6,1023", cpus, NULL), 0);
    cpu_list_print(cpus, &text);
    assert_string_equal(strbuf_text(&text), "0,4,5,6,1023");
    strbuf_fini(&text);
}

static void a_list_of_cpus_has_numbers_and_ranges(void **state)
{
    (void)state;
    assert_true(has_cpus("0", 1, 0));
    assert_true(has_cpus(" 0, 2 ,4-7", 0xf5, 0));
    assert_true(has_cpus("63,1023", (uint64_t)1 << 63, (uint64_t)1 << 63));
    static const char *const BAD[] = {"", " ", ",", "1,", "x", "1 2", "3-1", "1024", "1-", "-1"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        uint64_t cpus[OS_CAGE_CPUS_MAX / 64] = {7};
        struct err err = {""};
        assert_int_equal(cpu_list_parse(BAD[i], cpus, &err), -EINVAL);
        assert_non_null(strstr(err.text, "' is not a list of CPUs; expected numbers below 1024"));
        assert_int_equal(cpus[0], 7);
    }
}

UNIT_TESTS(UNIT(a_cpuset_is_told_what_the_list_says), UNIT(a_list_of_cpus_has_numbers_and_ranges))
