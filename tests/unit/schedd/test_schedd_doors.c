/* tests/unit/schedd/test_schedd_doors.c - who may do what at the schedd's doors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

static void from_elsewhere_the_token_says_whose_the_jobs_are(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection connection;
    char path[96];
    char *address = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.address", world->dir);
    assert_int_equal(os_read_file(world->os, path, 1000, &address, &length, NULL), 0);
    address[strcspn(address, "\n")] = '\0';
    (void)submit(world, "[" GOOD "]");

    use_token(world, "nobody-has-this-account@pool", SCOPE_WRITE);
    dial(world, address, "schedd", &connection);
    assert_int_equal(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer), -EPERM);
    assert_non_null(strstr(answer.text, "no account"));
    answer_fini(&answer);
    wire_close(connection.wire);

    use_token(world, "daemon@pool", SCOPE_WRITE | SCOPE_READ);
    dial(world, address, "schedd", &connection);
    bool is_root = os_uid(world->os) == 0; /* else it serves its own account only */
    assert_int_equal(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer),
                     is_root ? 0 : -EPERM);
    answer_fini(&answer);
    if (is_root) {
        assert_int_equal(call_on(&connection, VERB_ACT, "[Action = \"Remove\"; Ids = {\"1.0\"}]",
                                 NULL, &answer),
                         0);
        assert_int_equal(ad_int_or(answer.args, "PermissionDenied", 0), 1);
        answer_fini(&answer);
        assert_int_equal(call_on(&connection, VERB_ACT,
                                 "[Action = \"Remove\"; Constraint = \"true\"]", NULL, &answer),
                         0);
        assert_int_equal(ad_int_or(answer.args, "PermissionDenied", 0), 1);
        assert_int_equal(ad_int_or(answer.args, "Success", 0), 1);
        answer_fini(&answer);
        /* Another owner's shadow hears nothing of the job that has left. */
        struct connection shadow;
        char own[96];
        (void)snprintf(own, sizeof(own), "[Owner = \"%s\"; Pid = 1]", world->me);
        dial_as_shadow(world, &shadow);
        assert_int_equal(call_on(&shadow, VERB_SHADOW_HELLO, own, NULL, &answer), 0);
        answer_fini(&answer);
        assert_int_equal(call_on(&shadow, VERB_JOB_RESULT, "[JobId = \"2.0\"; ClaimEpoch = 1]",
                                 NULL, &answer),
                         -EPERM);
        answer_fini(&answer);
        wire_close(shadow.wire);
    }
    wire_close(connection.wire);
    use_token(world, "daemon@pool", SCOPE_READ);
    dial(world, address, "schedd", &connection);
    assert_int_equal(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer), -EACCES);
    answer_fini(&answer);
    wire_close(connection.wire);
    mem_free(address);
}

static void a_shadow_must_be_of_its_owner(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection connection;
    dial_as_shadow(world, &connection);
    assert_int_equal(call_on(&connection, VERB_JOB_RESULT, "[JobId = \"1.0\"; ClaimEpoch = 1]",
                             NULL, &answer),
                     -EACCES);
    answer_fini(&answer);
    const char *other = os_uid(world->os) == 0 ? "[Owner = \"daemon\"]" : "[Owner = \"root\"]";
    assert_int_equal(call_on(&connection, VERB_SHADOW_HELLO, other, NULL, &answer), -EACCES);
    answer_fini(&answer);
    char own[96];
    (void)snprintf(own, sizeof(own), "[Owner = \"%s\"; Pid = 1]", world->me);
    assert_int_equal(call_on(&connection, VERB_SHADOW_HELLO, own, NULL, &answer), 0);
    answer_fini(&answer);
    (void)submit(world, "[" GOOD "]");
    assert_int_equal(call_on(&connection, VERB_JOB_RESULT, "[JobId = \"1.0\"; ClaimEpoch = 1]",
                             NULL, &answer),
                     -ESTALE);
    answer_fini(&answer);
    assert_int_equal(call_on(&connection, VERB_JOB_RESULT, "[JobId = \"5.0\"; ClaimEpoch = 1]",
                             NULL, &answer),
                     -ESTALE);
    answer_fini(&answer);
    wire_close(connection.wire);
}

static void a_second_shadow_takes_nothing_from_the_first(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection first, second;
    char own[96];
    (void)snprintf(own, sizeof(own), "[Owner = \"%s\"; Pid = 1]", world->me);
    dial_as_shadow(world, &first);
    dial_as_shadow(world, &second);
    assert_int_equal(call_on(&first, VERB_SHADOW_HELLO, own, NULL, &answer), 0);
    answer_fini(&answer);
    assert_int_equal(call_on(&second, VERB_SHADOW_HELLO, own, NULL, &answer), -EBUSY);
    answer_fini(&answer);
    assert_int_equal(call_on(&second, VERB_JOB_RESULT, "[JobId = \"5.0\"; ClaimEpoch = 1]", NULL,
                             &answer),
                     -EACCES);
    answer_fini(&answer);
    assert_int_equal(call_on(&first, VERB_JOB_RESULT, "[JobId = \"5.0\"; ClaimEpoch = 1]", NULL,
                             &answer),
                     -ESTALE);
    answer_fini(&answer);
    /* When it has gone, another one is let in. */
    wire_close(first.wire);
    int status;
    do {
        status = call_on(&second, VERB_SHADOW_HELLO, own, NULL, &answer);
        answer_fini(&answer);
    } while (status == -EBUSY);
    assert_int_equal(status, 0);
    wire_close(second.wire);
}

static void a_claim_id_that_nobody_gave_is_refused(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct connection connection;
    char path[96];
    char *address = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.address", world->dir);
    assert_int_equal(os_read_file(world->os, path, 1000, &address, &length, NULL), 0);
    address[strcspn(address, "\n")] = '\0';
    dial(world, address, "claim", &connection);
    assert_int_equal(call_on(&connection, VERB_CLAIM, "[ClaimId = \"x\"; Machine = \"m\"]", NULL,
                             &answer),
                     -ENOKEY);
    answer_fini(&answer);
    assert_int_equal(call_on(&connection, VERB_ALIVE, "[ClaimId = \"x\"]", NULL, &answer), -ENOKEY);
    answer_fini(&answer);
    assert_true(call_on(&connection, VERB_SUBMIT, "[" GOOD "]", NULL, &answer) < 0);
    answer_fini(&answer);
    wire_close(connection.wire);
    mem_free(address);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(from_elsewhere_the_token_says_whose_the_jobs_are),
        CASE(a_shadow_must_be_of_its_owner),
        CASE(a_second_shadow_takes_nothing_from_the_first),
        CASE(a_claim_id_that_nobody_gave_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
