/* tests/unit/shadow/test_sandbox_name_plan.c - names that a client may name, and all that it may
 * not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "shadow/sandbox_name_plan.h"

static void input_is_put_below_in_alone(void **state)
{
    (void)state;
    assert_true(sandbox_name_is_allowed("in/0123/a", SANDBOX_PUT_FILE));
    assert_false(sandbox_name_is_allowed("in", SANDBOX_PUT_FILE));
    assert_false(sandbox_name_is_allowed("input/a", SANDBOX_PUT_FILE));
    assert_false(sandbox_name_is_allowed("out/0/a", SANDBOX_PUT_FILE));
    assert_false(sandbox_name_is_allowed("log/0/a", SANDBOX_PUT_FILE));
    assert_false(sandbox_name_is_allowed("part/0/a", SANDBOX_PUT_FILE));
    assert_true(sandbox_name_is_allowed("out/0", SANDBOX_PUT_DIRECTORY));
    assert_false(sandbox_name_is_allowed("part/0", SANDBOX_PUT_DIRECTORY));
}

static void output_and_logs_are_fetched_and_nothing_else(void **state)
{
    (void)state;
    assert_true(sandbox_name_is_allowed("out/0/d/f", SANDBOX_FETCH));
    assert_true(sandbox_name_is_allowed("log/0123/l", SANDBOX_FETCH));
    assert_false(sandbox_name_is_allowed("in/0123/a", SANDBOX_FETCH));
    assert_true(sandbox_name_is_allowed("in/0123", SANDBOX_LOOK));
}

static void no_name_leads_out(void **state)
{
    (void)state;
    static const char *const NAMES[] = {
        "",      "..",    "../in/x",     "in/../../x", "/in/x",     "in//x",        "in/./x",
        "in/x/", "in/..", "/etc/passwd", "out/",       "out/../in", "in/x/../../.."};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        for (int use = SANDBOX_PUT_FILE; use <= SANDBOX_FETCH; use++) {
            if (sandbox_name_is_allowed(NAMES[i], (enum sandbox_use)use)) {
                fail_msg("'%s' is allowed for %d", NAMES[i], use);
            }
        }
    }
}

static void a_cluster_is_a_number(void **state)
{
    (void)state;
    assert_true(sandbox_id_is_valid("12"));
    assert_false(sandbox_id_is_valid(""));
    assert_false(sandbox_id_is_valid("12.3"));
    assert_false(sandbox_id_is_valid("../1"));
    assert_false(sandbox_id_is_valid("11111111111111111111111111111111"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_is_put_below_in_alone),
        cmocka_unit_test(output_and_logs_are_fetched_and_nothing_else),
        cmocka_unit_test(no_name_leads_out),
        cmocka_unit_test(a_cluster_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
