/* tests/unit/pcontrol/test_host_name_plan.c - names of hosts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/host_name_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

static void a_name_is_what_a_transport_may_take(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a", "user@host.example.org", "[::1]", "gr\xc3\xbcn",
                                        "a-b"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        assert_int_equal(host_name_check(NAMES[i], NULL), 0);
    }
}

static void other_names_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *name, *expected;
    } CASES[] = {
        {"", "'' is not the name of a host: it is empty"},
        {"-on", "'-on' is not the name of a host: it begins with -"},
        {"a b", "'a b' is not the name of a host: it has a blank"},
        {"a\tb", "'a?b' is not the name of a host: it has a control character"},
        {"x\033[31mRED", "'x?[31mRED' is not the name of a host: it has a control character"},
        {"x\x7f", "'x?' is not the name of a host: it has a control character"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct err err = {""};
        assert_int_equal(host_name_check(CASES[i].name, &err), -EINVAL);
        assert_string_equal(err.text, CASES[i].expected);
    }
}

static void a_long_name_is_cut_in_the_message(void **state)
{
    (void)state;
    char name[1000];
    struct err err = {""};
    memset(name, ' ', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(host_name_check(name, &err), -EINVAL);
    assert_int_equal(strlen(err.text),
                     100 + strlen("'' is not the name of a host: it has a blank"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_what_a_transport_may_take),
        cmocka_unit_test(other_names_are_refused_with_the_reason),
        cmocka_unit_test(a_long_name_is_cut_in_the_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
