/* tests/unit/schedd/test_charge_plan.c - to whose account a job may go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/charge_plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "classad/ad.h"

/* The accounts of the host. */
static bool is_account(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "alice") == 0 || strcmp(name, "bob") == 0 || strcmp(name, "doe") == 0 ||
           strcmp(name, "j.doe") == 0;
}

/* says: part of the message; NULL: it may. */
static void judged(const char *owner, const char *words, const char *text, int status,
                   const char *says)
{
    const struct charge_rules rules = {.owner = owner,
                                       .nice = "nice-user",
                                       .words = words,
                                       .is_account = is_account};
    struct ad *job = NULL;
    struct err err = {""};
    assert_int_equal(ad_parse(text, strlen(text), &job, NULL), 0);
    int rc = charge_plan_check(job, &rules, &err);
    if (rc != status || (says != NULL && strstr(err.text, says) == NULL)) {
        fail_msg("%s of %s: %d '%s', not %d '%s'", text, owner, rc, err.text, status,
                 says != NULL ? says : "");
    }
    ad_destroy(job);
}

static void name_is(const char *owner, const char *words, const char *name, int status)
{
    char text[200];
    (void)snprintf(text, sizeof(text), "[AccountingGroup = \"%s\"]", name);
    judged(owner, words, text, status, status == -EPERM ? name : NULL);
}

static void without_a_map_any_group_and_no_other_user(void **state)
{
    (void)state;
    judged("alice", NULL, "[]", 0, NULL);
    name_is("alice", NULL, "", 0);
    name_is("alice", NULL, "alice", 0);
    name_is("alice", NULL, "physics.alice", 0);
    name_is("alice", NULL, "physics.cms.alice", 0);
    name_is("alice", NULL, "nice-user.alice", 0);
    name_is("alice", NULL, "bob", -EPERM);
    name_is("alice", NULL, "physics.bob", -EPERM);
    name_is("alice", NULL, "admins.bob", -EPERM);
    name_is("alice", NULL, "alice.bob", -EPERM);
    name_is("alice", NULL, "malice", -EPERM);
    name_is("alice", NULL, "Alice", -EPERM);
    judged("alice", NULL, "[AccountingGroup = \"bob\"]", -EPERM,
           "charged to 'alice' or GROUP.alice");
}

static void a_name_with_a_domain_or_odd_letters_is_none(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"bob@pool",  "physics.bob@pool", "alice@pool",
                                        "a b.alice", "a..alice",         ".alice",
                                        "alice.",    "$$(x).alice",      "a#b.alice"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        name_is("alice", NULL, NAMES[i], -EINVAL);
        name_is("alice", "*", NAMES[i], -EINVAL);
    }
    name_is("alice", NULL, "a.b.c.d.e.f.g.h.alice", 0);
    name_is("alice", NULL, "a.b.c.d.e.f.g.h.i.alice", -EINVAL);
}

static void an_expression_is_no_name(void **state)
{
    (void)state;
    judged("alice", NULL, "[AccountingGroup = TARGET.X =?= undefined ? \"alice\" : \"bob\"]",
           -EINVAL, "AccountingGroup is not a string literal");
    judged("alice", "*", "[AcctGroup = strcat(\"a\", \"b\")]", -EINVAL, "AcctGroup is not");
    judged("alice", NULL, "[AcctGroupUser = 5]", -EINVAL, "AcctGroupUser is not");
}

static void the_two_parts_are_judged_alike(void **state)
{
    (void)state;
    judged("alice", NULL,
           "[AcctGroup = \"physics\"; AcctGroupUser = \"alice\"; "
           "AccountingGroup = \"physics.alice\"]",
           0, NULL);
    judged("alice", NULL, "[AcctGroupUser = \"bob\"; AccountingGroup = \"alice\"]", -EPERM,
           "AcctGroupUser 'bob'");
    judged("alice", "physics", "[AcctGroup = \"admins\"]", -EPERM, "AcctGroup 'admins'");
    judged("alice", "physics", "[AcctGroup = \"physics\"; AcctGroupUser = \"bob\"]", -EPERM,
           "AcctGroupUser 'bob'");
    judged("alice", "physics.*", "[AcctGroup = \"physics\"; AcctGroupUser = \"bob\"]", 0, NULL);
}

static void a_user_whose_name_has_a_dot_is_not_taken_for_a_group(void **state)
{
    (void)state;
    name_is("doe", NULL, "j.doe", -EPERM);
    name_is("doe", NULL, "physics.j.doe", -EPERM);
    name_is("doe", NULL, "physics.k.doe", 0);
    name_is("j.doe", NULL, "physics.j.doe", 0);
    name_is("j.doe", NULL, "j.doe", 0);
    name_is("j.doe", NULL, "doe", -EPERM);
    name_is("doe", "*", "physics.j.doe", 0);
}

static void with_a_map_its_words_rule(void **state)
{
    (void)state;
    name_is("alice", "", "alice", 0);
    name_is("alice", "", "nice-user.alice", 0);
    name_is("alice", "", "nice-user.bob", -EPERM);
    name_is("alice", "", "physics.alice", -EPERM);
    name_is("alice", "chem, physics", "physics.alice", 0);
    name_is("alice", "chem, physics", "physics.cms.alice", -EPERM);
    name_is("alice", "chem, physics", "physics.bob", -EPERM);
    name_is("alice", "chem, physics", "phys.alice", -EPERM);
    name_is("alice", "chem.*", "chem.alice", 0);
    name_is("alice", "chem.*", "chem.bob", 0);
    name_is("alice", "chem.*", "chem.lab.bob", 0);
    name_is("alice", "chem.*", "chemistry.bob", -EPERM);
    name_is("alice", "chem.*", "bob", -EPERM);
    name_is("alice", "chem *", "bob", 0);
    name_is("alice", "*", "physics.bob", 0);
    judged("alice", "chem", "[AccountingGroup = \"physics.alice\"]", -EPERM,
           "ACCOUNTING_MAP does not allow that group for 'alice'");
}

static void what_is_judged_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool matters;
    } ADS[] = {{"[Cmd = \"x\"]", false},
               {"[AccountingGroup = \"x\"]", true},
               {"[accountinggroup = 1]", true},
               {"[AcctGroup = \"x\"]", true},
               {"[AcctGroupUser = \"x\"]", true}};
    for (size_t i = 0; i < sizeof(ADS) / sizeof(ADS[0]); i++) {
        struct ad *ad = NULL;
        assert_int_equal(ad_parse(ADS[i].text, strlen(ADS[i].text), &ad, NULL), 0);
        assert_int_equal(charge_plan_matters(ad), ADS[i].matters);
        ad_destroy(ad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_map_any_group_and_no_other_user),
        cmocka_unit_test(a_name_with_a_domain_or_odd_letters_is_none),
        cmocka_unit_test(an_expression_is_no_name),
        cmocka_unit_test(the_two_parts_are_judged_alike),
        cmocka_unit_test(a_user_whose_name_has_a_dot_is_not_taken_for_a_group),
        cmocka_unit_test(with_a_map_its_words_rule),
        cmocka_unit_test(what_is_judged_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
