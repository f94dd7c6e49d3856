/* As whom a schedd's jobs may run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/owner_plan.h"

#include <string.h>

#include "tests/support/unit.h"

static void owners_of_the_tokens_domain_are_believed(void **state)
{
    (void)state;
    assert_true(owner_plan_is_believed("site", "", "ann@site"));
    assert_true(owner_plan_is_believed("site", "", "ann@SITE"));
    assert_false(owner_plan_is_believed("site", "", "ann@other"));
    assert_false(owner_plan_is_believed("site", "", "ann@site.org"));
    assert_false(owner_plan_is_believed("site", "", "ann@site@other"));
}

static void a_token_without_a_domain_is_believed_nobody(void **state)
{
    (void)state;
    assert_false(owner_plan_is_believed("", "", "ann@site"));
    assert_false(owner_plan_is_believed("", "", "ann@"));
    assert_false(owner_plan_is_believed("", "*", "ann"));
}

static void of_its_domain_only_those_whom_the_pattern_names(void **state)
{
    (void)state;
    assert_true(owner_plan_is_believed("site", "phys-*", "phys-ann@site"));
    assert_false(owner_plan_is_believed("site", "phys-*", "ann@site"));
    assert_false(owner_plan_is_believed("site", "phys-*", "PHYS-ann@site"));
    assert_false(owner_plan_is_believed("site", "*@site", "ann@site"));
}

static void what_is_no_user_is_nobody(void **state)
{
    char longest[300];
    (void)state;
    assert_false(owner_plan_is_believed("site", "", ""));
    assert_false(owner_plan_is_believed("site", "", "ann"));
    assert_false(owner_plan_is_believed("site", "", "@site"));
    memset(longest, 'a', sizeof longest);
    memcpy(longest + 256, "@site", sizeof "@site");
    assert_false(owner_plan_is_believed("site", "", longest));
    assert_true(owner_plan_is_believed("site", "", longest + 1));
}

UNIT_TESTS(cmocka_unit_test(owners_of_the_tokens_domain_are_believed),
           cmocka_unit_test(a_token_without_a_domain_is_believed_nobody),
           cmocka_unit_test(of_its_domain_only_those_whom_the_pattern_names),
           cmocka_unit_test(what_is_no_user_is_nobody))
