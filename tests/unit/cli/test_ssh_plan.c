/* tests/unit/cli/test_ssh_plan.c - keys that end `roost ssh`, and all others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "cli/ssh_plan.h"

static struct ssh_escape escape;

static int setup(void **state)
{
    (void)state;
    escape = (struct ssh_escape){0};
    return 0;
}

static bool typed(const char *keys, const char *wanted)
{
    char out[256];
    size_t length = 0;
    bool goes_on = ssh_escape_keys(&escape, keys, strlen(keys), out, &length);
    out[length] = '\0';
    assert_string_equal(out, wanted);
    return goes_on;
}

static void keys_go_through_as_they_are(void **state)
{
    (void)state;
    assert_true(typed("ls ~/x\r\003\004", "ls ~/x\r\003\004"));
    assert_true(typed("a~.b", "a~.b"));
}

static void tilde_dot_at_the_beginning_of_a_line_ends_it(void **state)
{
    (void)state;
    assert_false(typed("~.", ""));
    (void)setup(NULL);
    assert_false(typed("ls\r~.rest", "ls\r"));
    (void)setup(NULL);
    assert_false(typed("ls\n~.", "ls\n"));
}

static void the_keys_may_come_one_by_one(void **state)
{
    (void)state;
    assert_true(typed("x\r", "x\r"));
    assert_true(typed("~", ""));
    assert_false(typed(".", ""));
}

static void two_tildes_are_one_and_other_keys_bring_it_back(void **state)
{
    (void)state;
    assert_true(typed("~~.", "~."));
    assert_true(typed("\r~/bin\r", "\r~/bin\r"));
    assert_true(typed("~\r", "~\r"));
    assert_false(typed("~.", ""));
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_go_through_as_they_are),
        TEST(tilde_dot_at_the_beginning_of_a_line_ends_it),
        TEST(the_keys_may_come_one_by_one),
        TEST(two_tildes_are_one_and_other_keys_bring_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
