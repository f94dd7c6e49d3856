/* tests/unit/schedd/test_job_owner.c - whose jobs are whose, who may touch all, and root has none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_owner.h"

#include "schedd/questions/job_select.h"
#include "schedd/queue/old_rows.h"
#include "store/store.h"
#include "tests/unit/schedd/schedd_world.h"

static void log_has(struct world *world, const char *text)
{
    if (strstr(strbuf_text(&world->log_text), text) == NULL) {
        fail_msg("the log has not '%s':\n%s", text, strbuf_text(&world->log_text));
    }
}

/* As that token: the verb is answered with status, and says text. */
static void call_is(struct world *world, const char *identity, uint32_t scopes, enum wire_verb verb,
                    const char *args, const char *const *ads, int status, const char *text)
{
    struct connection connection;
    struct answer answer;
    dial_with_token(world, identity, scopes, &connection);
    assert_int_equal(call_on(&connection, verb, args, ads, &answer), status);
    if (strstr(answer.text, text) == NULL) {
        fail_msg("'%s' has not '%s'", answer.text, text);
    }
    answer_fini(&answer);
    wire_close(connection.wire);
}

static const char *const RED[] = {"[Color = \"red\"]", NULL};
#define HOLD  "[Action = \"Hold\"; Ids = {\"1.0\"}]"
#define FIRST "[Ids = {\"1.0\"}]"

static void a_token_in_the_name_of_root_touches_nobodys_jobs(void **state)
{
    struct world *world = *state;
    (void)submit(world, "[" GOOD "]");
    static const char *const NAMES[] = {"root@anything", "root@pool", "root"};
    for (size_t i = 0; i < 3; i++) {
        call_is(world, NAMES[i], SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, -EPERM,
                "never run as root");
        call_is(world, NAMES[i], SCOPE_READ | SCOPE_WRITE, VERB_ACT, HOLD, NULL, -EPERM,
                "never run as root");
        call_is(world, NAMES[i], SCOPE_READ | SCOPE_WRITE, VERB_JOB_ACCESS,
                "[Purpose = \"Tail\"; JobId = \"1.0\"]", NULL, -EPERM, "never run as root");
    }
    log_has(world, "identity=root@anything verb=EDIT peer=");
    log_has(world, "identity=root@anything verb=ACT peer=");
    count_is(world, "[Constraint = \"JobStatus == 1 && Color =?= undefined\"]", 1);
    call_is(world, "root@pool", SCOPE_READ | SCOPE_WRITE | SCOPE_ADMINISTRATOR, VERB_ACT, HOLD,
            NULL, 0, "");
    count_is(world, "[Constraint = \"JobStatus == 5\"]", 1);
}

static void a_super_user_is_a_whole_identity(void **state)
{
    struct world *world = *state;
    configure(world, "QUEUE_SUPER_USERS = {\"ops@elsewhere\"}\n");
    restart(world);
    (void)submit(world, "[" GOOD "]");
    call_is(world, "ops@pool", SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, -EPERM,
            "no account");
    call_is(world, "xops@elsewhere", SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, -EPERM,
            "NAME@pool");
    call_is(world, "ops@elsewhere", SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, 0, "");
    count_is(world, "[Constraint = \"Color == \\\"red\\\"\"]", 1);
}

static void an_owner_is_a_whole_identity(void **state)
{
    struct world *world = *state;
    static const char *const DOMAINS[] = {"@elsewhere", "@pool.elsewhere", "@", ""};
    char identity[300];
    (void)submit(world, "[" GOOD "]");
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(identity, sizeof(identity), "%s%s", world->me, DOMAINS[i]);
        call_is(world, identity, SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, -EPERM,
                "NAME@pool");
        call_is(world, identity, SCOPE_READ | SCOPE_WRITE, VERB_ACT, HOLD, NULL, -EPERM,
                "NAME@pool");
        call_is(world, identity, SCOPE_READ | SCOPE_WRITE, VERB_SUBMIT, "[" GOOD "]", NULL, -EPERM,
                "NAME@pool");
    }
    (void)snprintf(identity, sizeof(identity), "%s@POOL", world->me);
    call_is(world, identity, SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, 0, "");
}

static void what_is_left_as_it_is_is_logged_with_who_asked(void **state)
{
    struct world *world = *state;
    if (os_uid(world->os) != 0) {
        skip(); /* it serves its own account only */
    }
    (void)submit(world, "[" GOOD "]");
    call_is(world, "daemon@pool", SCOPE_READ | SCOPE_WRITE, VERB_EDIT, FIRST, RED, 0, "");
    log_has(world, "jobs=1 identity=daemon@pool verb=EDIT peer=");
    call_is(world, "daemon@pool", SCOPE_READ | SCOPE_WRITE, VERB_ACT, HOLD, NULL, 0, "");
    log_has(world, "jobs=1 identity=daemon@pool verb=ACT peer=");
    count_is(world, "[Constraint = \"JobStatus == 1 && Color =?= undefined\"]", 1);
}

static void a_name_without_a_domain_is_refused_with_what_to_write(void **state)
{
    (void)state;
    static const char *const BARE[] = {"ops@elsewhere", "root", NULL};
    static const char *const HALF[] = {"@pool", NULL};
    static const char *const GOOD_ONES[] = {"ops@elsewhere", "ann@pool", NULL};
    struct err err = {{0}};
    assert_int_equal(caller_check_super_users(NULL, "pool", &err), 0);
    assert_int_equal(caller_check_super_users(GOOD_ONES, "pool", &err), 0);
    assert_int_equal(caller_check_super_users(BARE, "pool", &err), -EINVAL);
    assert_non_null(strstr(err.text, "'root'"));
    assert_non_null(strstr(err.text, "write 'root@pool'"));
    assert_int_equal(caller_check_super_users(HALF, "pool", &err), -EINVAL);
    assert_non_null(strstr(err.text, "'@pool'"));
}

static void a_schedd_does_not_start_with_a_bare_super_user(void **state)
{
    start_is_refused(*state, "QUEUE_SUPER_USERS = {\"root\"}\n", "write 'root@pool'");
}

static void root_is_not_what_root_submits_as(void **state)
{
    start_is_refused(*state, "SUBMIT_ROOT_AS = \"root\"\n", "jobs never run as root");
}

static void root_submits_nothing_by_a_token(void **state)
{
    struct world *world = *state;
    call_is(world, "root@anything", SCOPE_READ | SCOPE_WRITE, VERB_SUBMIT, "[" GOOD "]", NULL,
            -EPERM, "never run as root");
    call_is(world, "root@pool", SCOPE_READ | SCOPE_WRITE | SCOPE_ADMINISTRATOR, VERB_SUBMIT,
            "[" GOOD "; Owner = \"daemon\"]", NULL, -EPERM, "never run as root");
    call_is(world, "root@pool", SCOPE_READ | SCOPE_WRITE, VERB_SUBMIT, "[Reserve = true]", NULL,
            -EPERM, "never run as root");
    log_has(world, "identity=root@anything verb=SUBMIT peer=");
    count_is(world, "[]", 0);
}

static void root_submits_over_the_socket_as_an_ordinary_account_or_not_at_all(void **state)
{
    struct world *world = *state;
    struct answer answer;
    if (os_uid(world->os) != 0) {
        skip();
    }
    (void)submit(world, "[" GOOD "; Owner = \"root\"; User = \"root@pool\"]");
    count_is(world, "[Constraint = \"Owner == \\\"nobody\\\" && User == \\\"nobody@pool\\\"\"]", 1);
    configure(world, "SUBMIT_ROOT_AS = \"no-such-account\"\n");
    restart(world);
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", NULL, &answer), -EPERM);
    assert_non_null(strstr(answer.text, "'no-such-account' (SUBMIT_ROOT_AS) has no account"));
    answer_fini(&answer);
    configure(world, "SUBMIT_ROOT_AS = \"\"\n");
    restart(world);
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", NULL, &answer), -EPERM);
    assert_non_null(strstr(answer.text, "submit from an ordinary account (su - ACCOUNT), or set "
                                        "SUBMIT_ROOT_AS"));
    answer_fini(&answer);
    count_is(world, "[]", 1);
}

static void root_has_no_shadow(void **state)
{
    struct world *world = *state;
    struct connection connection;
    struct answer answer;
    dial(world, world->local, "shadow", &connection);
    assert_int_equal(call_on(&connection, VERB_SHADOW_HELLO, "[Owner = \"root\"; Pid = 1]", NULL,
                             &answer),
                     -EACCES);
    assert_non_null(strstr(answer.text, "root has no shadow"));
    answer_fini(&answer);
    wire_close(connection.wire);
}

/* ---- a store in which root has jobs ------------------------------------------------------------
 */

struct rewriting {
    struct store_txn *txn;
};

static int rewrite_cluster(void *arg, const char *key, const void *value, size_t length)
{
    const struct rewriting *rewriting = arg;
    struct ad *ad = NULL;
    struct strbuf bytes;
    assert_int_equal(ad_decode(value, length, NULL, &ad, NULL), 0);
    ad_set_string(ad, "Owner", "root");
    ad_set_string(ad, "User", "root@pool");
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    store_put(rewriting->txn, "clusters", key, bytes.data, bytes.length);
    strbuf_fini(&bytes);
    ad_destroy(ad);
    return 0;
}

static void give_all_jobs_to_root(struct world *world)
{
    static const char *const TABLES[] = {"counters", "clusters", "jobs",      "nonces", "claims",
                                         "history",  "finished", "factories", "events", NULL};
    static const struct store_schema SCHEMA = {.daemon = "schedd",
                                               .tables = TABLES,
                                               .version = SCHEDD_STORE_VERSION};
    struct store *store = NULL;
    char path[96];
    (void)snprintf(path, sizeof(path), "%s/spool/schedd.db", world->dir);
    assert_int_equal(store_open(world->loop, world->os, path, &SCHEMA, NULL, &store, NULL), 0);
    struct rewriting rewriting = {.txn = store_begin(store)};
    assert_int_equal(store_load(store, "clusters", rewrite_cluster, &rewriting, NULL), 0);
    store_commit(rewriting.txn, NULL, NULL);
    store_close(store);
}

static void jobs_of_root_in_a_store_are_held_for_good(void **state)
{
    struct world *world = *state;
    struct answer answer;
    static const char *const DIGEST[] = {"[Text = \"executable = /bin/true\\nqueue 5\\n\"]", NULL};
    (void)submit(world, "[" GOOD "; ProcCount = 2; PeriodicRelease = true]");
    act(world, "[Action = \"Hold\"; Ids = {\"1.1\"}]", "Success", 1);
    assert_int_equal(call(world, VERB_SUBMIT,
                          "[" GOOD "; Digest = true; JobMaterializeMaxIdle = 1;"
                          " DigestPlace = [Cwd = \"/tmp\"; File = \"a.sub\"; Arch = \"X86_64\";"
                          " OpSys = \"LINUX\"; User = \"me\"; FileSystemDomain = \"here\"]]",
                          DIGEST, &answer),
                     0);
    answer_fini(&answer);
    until_jobs(world, 3);
    daemon_run_destroy(world->run);
    world->run = NULL;
    give_all_jobs_to_root(world);
    start(world);
    count_is(world,
             "[Constraint = \"ClusterId == 1 && ProcId == 0 && JobStatus == 5 &&"
             " HoldReasonCode == 23 && regexp(\\\"never run as root\\\", HoldReason)\"]",
             1);
    count_is(world, "[Constraint = \"JobStatus != 5\"]", 0);
    log_has(world, "job.of_root");
    act(world, "[Action = \"Release\"; Constraint = \"true\"]", "Success", 0);
    act(world, "[Action = \"Release\"; Ids = {\"1\", \"2\"}]", "Success", 0);
    count_is(world, "[Constraint = \"JobStatus != 5\"]", 0);
    act(world, "[Action = \"Remove\"; Ids = {\"1\", \"2\"}]", "Success", 3);
    count_is(world, "[]", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_token_in_the_name_of_root_touches_nobodys_jobs),
        CASE(an_owner_is_a_whole_identity),
        CASE(a_super_user_is_a_whole_identity),
        CASE(what_is_left_as_it_is_is_logged_with_who_asked),
        cmocka_unit_test(a_name_without_a_domain_is_refused_with_what_to_write),
        CASE(a_schedd_does_not_start_with_a_bare_super_user),
        CASE(root_is_not_what_root_submits_as),
        CASE(root_submits_nothing_by_a_token),
        CASE(root_submits_over_the_socket_as_an_ordinary_account_or_not_at_all),
        CASE(root_has_no_shadow),
        CASE(jobs_of_root_in_a_store_are_held_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
