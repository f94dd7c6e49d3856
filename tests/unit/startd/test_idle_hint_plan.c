/* What desktops tell logind of their users.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/idle_hint_plan.h"

#include "tests/support/unit.h"

#define NOW    1700000000
#define AGO(s) "IdleSinceHint=" s "000000\n"

static int64_t idle(const char *text)
{
    return idle_hint_plan_idle_s(text, NOW);
}

static void who_went_idle_is_so_since_then(void **state)
{
    (void)state;
    assert_int_equal(idle("Type=wayland\nIdleHint=yes\n" AGO("1699999400")), 600);
    assert_int_equal(idle("IdleHint=yes\nType=x11\n" AGO("1699999400") "\n"), 600);
    assert_int_equal(idle("IdleHint=yes\nIdleSinceHint=1699999400000000"), 600);
    assert_int_equal(idle("Type=x11\nIdleHint=yes\n" AGO("1700000600")), 0); /* its clock is off */
}

static void who_is_back_is_not_idle(void **state)
{
    (void)state;
    assert_int_equal(idle("Type=x11\nIdleHint=no\n" AGO("1699990000")), 0);
}

static void a_desktop_that_never_said_so_counts_where_nobody_else_could_say(void **state)
{
    (void)state;
    assert_int_equal(idle("Type=wayland\nIdleHint=no\nIdleSinceHint=0\n"), 0);
    assert_int_equal(idle("Type=x11\nIdleHint=no\nIdleSinceHint=0\n"), -1);
    assert_int_equal(idle(""), -1);
    assert_int_equal(idle("Type=wayland\n\n\n"), -1);
    assert_int_equal(idle("Failed to get session path\n"), -1);
}

static void of_several_sessions_the_one_that_was_used_last_counts(void **state)
{
    (void)state;
    assert_int_equal(
        idle("Type=x11\nIdleHint=yes\n" AGO(
            "1699999400") "\nType=wayland\nIdleHint="
                          "yes\n" AGO("1699999970") "\nType=x11\nIdleHint=no\nIdleSinceHint=0\n"),
        30);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_went_idle_is_so_since_then),
        cmocka_unit_test(who_is_back_is_not_idle),
        cmocka_unit_test(a_desktop_that_never_said_so_counts_where_nobody_else_could_say),
        cmocka_unit_test(of_several_sessions_the_one_that_was_used_last_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
