/* tests/unit/schedd/test_job_charge.c - accounting groups at SUBMIT and EDIT of a real schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

static void refused(struct world *world, enum wire_verb verb, const char *args, const char *ad,
                    int status, const char *says)
{
    const char *const ads[] = {ad, NULL};
    struct connection connection;
    struct answer answer;
    char who[80];
    (void)snprintf(who, sizeof(who), "%s@pool", world->me);
    dial_with_token(world, who, SCOPE_READ | SCOPE_WRITE, &connection);
    assert_int_equal(call_on(&connection, verb, args, ad != NULL ? ads : NULL, &answer), status);
    if (strstr(answer.text, says) == NULL) {
        fail_msg("'%s' has not '%s'", answer.text, says);
    }
    answer_fini(&answer);
    wire_close(connection.wire);
}

static void log_has(struct world *world, const char *text)
{
    if (strstr(strbuf_text(&world->log_text), text) == NULL) {
        fail_msg("the log has not '%s':\n%s", text, strbuf_text(&world->log_text));
    }
}

static void nobody_else_is_charged_at_submit(void **state)
{
    struct world *world = *state;
    char line[200];
    refused(world, VERB_SUBMIT, "[" GOOD "; AccountingGroup = \"bob\"]", NULL, -EPERM,
            "AccountingGroup 'bob' would charge another user");
    refused(world, VERB_SUBMIT, "[" GOOD "; AccountingGroup = \"admins.bob\"]", NULL, -EPERM,
            "AccountingGroup 'admins.bob'");
    refused(world, VERB_SUBMIT, "[" GOOD "; AcctGroupUser = \"bob\"]", NULL, -EPERM,
            "AcctGroupUser 'bob'");
    refused(world, VERB_SUBMIT, "[" GOOD "; AccountingGroup = \"bob@pool\"]", NULL, -EINVAL,
            "AccountingGroup 'bob@pool' is not a valid name");
    refused(world, VERB_SUBMIT, "[" GOOD "; AccountingGroup = TARGET.X]", NULL, -EINVAL,
            "AccountingGroup is not a string literal");
    /* also what one job of the cluster says for itself */
    refused(world, VERB_SUBMIT, "[" GOOD "]", "[AccountingGroup = \"bob\"]", -EPERM, "job 0: Acc");
    (void)snprintf(line, sizeof(line), "identity=%s@pool verb=SUBMIT peer=", world->me);
    log_has(world, line);
    count_is(world, "[]", 0);
    (void)snprintf(line, sizeof(line), "[" GOOD "; AccountingGroup = \"physics.%s\"]", world->me);
    (void)submit(world, line);
    (void)snprintf(line, sizeof(line), "[" GOOD "; AccountingGroup = \"nice-user.%s\"]", world->me);
    (void)submit(world, line);
    count_is(world, "[]", 2);
}

static void nobody_else_is_charged_by_an_edit(void **state)
{
    struct world *world = *state;
    char line[200];
    (void)submit(world, "[" GOOD "]");
    refused(world, VERB_EDIT, "[Ids = {\"1.0\"}]", "[AccountingGroup = \"admins.bob\"]", -EPERM,
            "job 1.0: AccountingGroup 'admins.bob' would charge another user");
    refused(world, VERB_EDIT, "[Ids = {\"1.0\"}]", "[AcctGroupUser = \"bob\"]", -EPERM,
            "AcctGroupUser 'bob'");
    refused(world, VERB_EDIT, "[Ids = {\"1.0\"}]",
            "[AccountingGroup = ifThenElse(TARGET.X =?= undefined, \"a\", \"bob\")]", -EINVAL,
            "not a string literal");
    (void)snprintf(line, sizeof(line), "identity=%s@pool verb=EDIT peer=", world->me);
    log_has(world, line);
    count_is(world, "[Constraint = \"AccountingGroup =?= undefined\"]", 1);
    (void)snprintf(line, sizeof(line), "[AccountingGroup = \"physics.%s\"]", world->me);
    refused(world, VERB_EDIT, "[Ids = {\"1.0\"}]", line, 0, "");
    count_is(world, "[Constraint = \"AccountingGroup =!= undefined\"]", 1);
}

static void jobs_that_are_made_later_are_judged_when_they_are_made(void **state)
{
    struct world *world = *state;
    char text[300];
    (void)snprintf(text, sizeof(text),
                   "[Text = \"executable = /bin/true\\n+AccountingGroup = \\\"$(Item)\\\"\\n"
                   "queue Item in (%s bob)\\n\"]",
                   world->me);
    const char *const digest[] = {text, NULL};
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT,
                          "[" GOOD "; Digest = true; JobMaterializeMaxIdle = 2;"
                          " DigestPlace = [Cwd = \"/tmp\"; File = \"a.sub\"; Arch = \"X86_64\";"
                          " OpSys = \"LINUX\"; User = \"me\"; FileSystemDomain = \"here\"]]",
                          digest, &answer),
                     0);
    answer_fini(&answer);
    until_jobs(world, 1);
    for (int i = 0; i < 10000; i++) { /* each question lets the schedd's loop turn */
        count_is(world, "[]", 1);
        if (strstr(strbuf_text(&world->log_text), "factory.paused") != NULL) {
            break;
        }
    }
    log_has(world, "AccountingGroup 'bob' would charge another user");
}

static void a_map_rules_where_there_is_one(void **state)
{
    struct world *world = *state;
    char lines[300], args[200];
    (void)snprintf(lines, sizeof(lines),
                   "ACCOUNTING_MAP = \"accounting\"\nCLASSAD_USER_MAP_NAMES = {\"accounting\"}\n"
                   "CLASSAD_USER_MAPDATA_accounting = \"* %s physics,chem.*\"\n",
                   world->me);
    configure(world, lines);
    restart(world);
    (void)snprintf(args, sizeof(args), "[" GOOD "; AccountingGroup = \"physics.%s\"]", world->me);
    (void)submit(world, args);
    (void)submit(world, "[" GOOD "; AccountingGroup = \"chem.bob\"]");
    (void)snprintf(args, sizeof(args), "[" GOOD "; AccountingGroup = \"admins.%s\"]", world->me);
    refused(world, VERB_SUBMIT, args, NULL, -EPERM, "ACCOUNTING_MAP does not allow that group");
    refused(world, VERB_SUBMIT, "[" GOOD "; AccountingGroup = \"physics.bob\"]", NULL, -EPERM,
            "unless ACCOUNTING_MAP allows more");
    refused(world, VERB_EDIT, "[Ids = {\"1.0\"}]", "[AcctGroup = \"admins\"]", -EPERM,
            "AcctGroup 'admins'");
    count_is(world, "[]", 2);
}

static void a_map_that_is_not_there_is_named_at_the_start(void **state)
{
    struct world *world = *state;
    start_is_refused(world, "ACCOUNTING_MAP = \"accounting\"\n",
                     "'accounting' is not one of CLASSAD_USER_MAP_NAMES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(nobody_else_is_charged_at_submit),
        CASE(nobody_else_is_charged_by_an_edit),
        CASE(jobs_that_are_made_later_are_judged_when_they_are_made),
        CASE(a_map_rules_where_there_is_one),
        CASE(a_map_that_is_not_there_is_named_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
