/* tests/unit/schedd/test_edit_plan.c - which attributes may be changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/edit_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "classad/ad.h"

static const char *const IMMUTABLE[] = {"Project", NULL};
static const char *const SYSTEM[] = {"MyType", NULL};
static const char *const PROTECTED[] = {"Quota", NULL};

static int check(const char *text, bool is_super, struct err *err)
{
    struct ad *changes = NULL;
    const struct edit_rules rules = {
        .immutable = {IMMUTABLE, SYSTEM},
        .protected = {NULL, PROTECTED},
        .is_super = is_super,
    };
    assert_int_equal(ad_parse(text, strlen(text), &changes, NULL), 0);
    int result = edit_plan_check(changes, &rules, err);
    ad_destroy(changes);
    return result;
}

static void attributes_are_refused_by_the_rule_that_is_theirs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int user, super;
        const char *word;
    } ROWS[] = {
        {"[JobPrio = 7; Anything = {1, 2}]", 0, 0, ""},
        {"[]", -EINVAL, -EINVAL, "attributes"},
        {"[JobPrio = 7; clusterid = 1]", -EPERM, -EPERM, "clusterid"},
        {"[JobStatus = 4]", -EPERM, -EPERM, "JobStatus"},
        {"[HoldReason = 4]", -EPERM, -EPERM, "maintained by the schedd"},
        {"[ClaimId = 4]", -EPERM, -EPERM, "ClaimId"},
        {"[ExitVerdict = 4]", -EPERM, -EPERM, "ExitVerdict"},
        {"[PROJECT = 4]", -EPERM, -EPERM, "immutable"},
        {"[mytype = 4]", -EPERM, -EPERM, "immutable"},
        {"[quota = 4]", -EPERM, 0, "protected"},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct err err = {{0}};
        assert_int_equal(check(ROWS[i].text, false, &err), ROWS[i].user);
        if (ROWS[i].user != 0) {
            assert_non_null(strstr(err.text, ROWS[i].word));
        }
        assert_int_equal(check(ROWS[i].text, true, &err), ROWS[i].super);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_refused_by_the_rule_that_is_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
