/* QUERY of jobs: the same jobs whatever the way they are found, the same values whatever the way
 * they are sent; batches counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

#include "base/check.h"

static const char *const OWN[] = {
    "[Args = \"a\"]",
    "[Args = \"b\"; JobPrio = 3]",
    "[MemoryUsage = (Grown + 1) * 2; Grown = 4]",
    "[JobBatchName = \"other\"]",
    "[]",
    NULL,
};

/* Three clusters: 1 alike, 2 each with something of its own, 3 that computes; some are held. */
static void fill(struct world *world)
{
    struct answer answer;
    submit(world, "[" GOOD "; ProcCount = 6; JobBatchName = \"survey\"; JobPrio = 1]");
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; JobBatchName = \"survey\"]", OWN,
                          &answer),
                     0);
    answer_fini(&answer);
    submit(world, "[" GOOD "; ProcCount = 2; Wanted = ProcId * 10 + JobStatus;"
                  " RequestMemory = Wanted + 1]");
    act(world, "[Action = \"Hold\"; Ids = {\"1.2\", \"1.3\", \"2.1\", \"3\"}]", "Success", 5);
}

static void id_of(const struct ad *ad, const struct ad *common, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%lld.%lld",
                   (long long)ad_int_or(ad, "ClusterId", ad_int_or(common, "ClusterId", 0)),
                   (long long)ad_int_or(ad, "ProcId", -1));
}

/* "1.0 1.1 ...", of a shared or a flat answer. */
static void ids_of(const struct answer *answer, struct strbuf *out)
{
    const struct ad *common = NULL;
    strbuf_init(out, 0);
    for (size_t i = 0; i < answer->ads.count; i++) {
        struct ad *ad = answer->ads.items[i];
        if (!ad_has(ad, "ProcId")) {
            common = ad;
            continue;
        }
        int64_t count = ad_int_or(ad, "ProcCount", 1), proc = ad_int_or(ad, "ProcId", 0);
        for (int64_t k = 0; k < count; k++) {
            char id[64];
            ad_set_int(ad, "ProcId", proc + k);
            id_of(ad, common != NULL ? common : ad, id, sizeof(id));
            strbuf_printf(out, "%s ", id);
        }
        ad_set_int(ad, "ProcId", proc);
    }
}

static void ask(struct world *world, const char *constraint, const char *more,
                struct answer *answer)
{
    char args[600];
    (void)snprintf(args, sizeof(args), "[Type = \"Job\"; Constraint = \"%s\"; %s]", constraint,
                   more);
    query(world, args, answer);
}

static void a_constraint_means_the_same_jobs_however_it_is_asked(void **state)
{
    struct world *world = *state;
    static const char *const CONSTRAINTS[] = {
        "true",
        "false",
        "Nothing",
        "ClusterId == 1",
        "ClusterId != 2",
        "Owner == \\\"nobody\\\"",
        "JobStatus == 5",
        "JobStatus != 5 && ClusterId < 3",
        "ProcId == 1",
        "ProcId % 2 == 0 && JobStatus == 1",
        "JobPrio > 0",
        "JobPrio == 3",
        "Args == \\\"b\\\"",
        "Args =?= undefined",
        "MemoryUsage > 5",
        "Grown == 4 || Wanted > 6",
        "Wanted == 15",
        "TARGET.JobStatus == 5",
        "eval(\\\"JobStatus\\\") == 5",
        "JobBatchName == \\\"survey\\\"",
        "regexp(\\\"#1[.][0-2]#\\\", GlobalJobId)",
        "EnteredCurrentStatus > 0 && LastJobStatus =!= 1",
        "random(10) >= 0",
        "ifThenElse(ClusterId == 3, JobStatus == 5, ProcId == 0)",
    };
    struct answer all;
    fill(world);
    query(world, "[Type = \"Job\"]", &all);
    assert_int_equal(all.ads.count, 13);
    for (size_t i = 0; i < ARRAY_COUNT(CONSTRAINTS); i++) {
        struct answer flat, shared;
        struct strbuf want, got;
        struct ad *args = NULL;
        char text[300];
        const char *plain = NULL;
        (void)snprintf(text, sizeof(text), "[C = \"%s\"]", CONSTRAINTS[i]);
        args = ad_from_text(text);
        assert_int_equal(ad_get_string(args, "C", &plain), 0);
        struct ad_expr *expr = NULL;
        assert_int_equal(ad_expr_parse(plain, strlen(plain), AD_OLD, &expr, NULL), 0);
        strbuf_init(&want, 0);
        for (size_t k = 0; k < all.ads.count; k++) {
            if (ad_eval_bool(expr, all.ads.items[k], NULL, NULL) == AD_TRUE) {
                char id[64];
                id_of(all.ads.items[k], all.ads.items[k], id, sizeof(id));
                strbuf_printf(&want, "%s ", id);
            }
        }
        ask(world, CONSTRAINTS[i], "", &flat);
        ids_of(&flat, &got);
        assert_string_equal(strbuf_text(&got), strbuf_text(&want));
        assert_int_equal(ad_int_or(flat.args, "Count", -1), flat.ads.count);
        strbuf_fini(&got);
        ask(world, CONSTRAINTS[i],
            "Shared = true; WholeIfComputed = true; Projection = {\"ClusterId\"}", &shared);
        ids_of(&shared, &got);
        assert_string_equal(strbuf_text(&got), strbuf_text(&want));
        strbuf_fini(&got);
        strbuf_fini(&want);
        answer_fini(&flat);
        answer_fini(&shared);
        ad_expr_destroy(expr);
        ad_destroy(args);
    }
    answer_fini(&all);
}

/* Each job of a shared answer, chained to what it shares, has the values that its whole ad has. */
static void what_is_shared_is_what_each_has(void **state)
{
    struct world *world = *state;
    static const char *const NAMES[] = {"ClusterId",     "Owner",       "JobStatus", "JobPrio",
                                        "RequestMemory", "MemoryUsage", "Args",      "JobBatchName",
                                        "LastJobStatus", "GlobalJobId"};
    struct answer all, shared;
    fill(world);
    query(world, "[Type = \"Job\"]", &all);
    query(world,
          "[Type = \"Job\"; Shared = true; WholeIfComputed = true; Projection = {\"Owner\","
          " \"JobStatus\", \"JobPrio\", \"RequestMemory\", \"MemoryUsage\", \"Args\","
          " \"JobBatchName\", \"LastJobStatus\", \"GlobalJobId\"}]",
          &shared);
    struct ad *common = NULL;
    size_t at = 0;
    for (size_t i = 0; i < shared.ads.count; i++) {
        struct ad *row = shared.ads.items[i];
        if (!ad_has(row, "ProcId")) {
            common = row;
            continue;
        }
        assert_non_null(common);
        ad_chain(row, common);
        for (size_t k = 0; k < ARRAY_COUNT(NAMES); k++) {
            struct ad_value want, got;
            (void)ad_eval_attr(all.ads.items[at], NULL, NAMES[k], NULL, &want);
            (void)ad_eval_attr(row, NULL, NAMES[k], NULL, &got);
            struct strbuf a, b;
            strbuf_init(&a, 0);
            strbuf_init(&b, 0);
            ad_value_print(&want, &a);
            ad_value_print(&got, &b);
            if (strcmp(strbuf_text(&a), strbuf_text(&b)) != 0) {
                fail_msg("%s of job %zu: %s, not %s", NAMES[k], at, strbuf_text(&b),
                         strbuf_text(&a));
            }
            strbuf_fini(&a);
            strbuf_fini(&b);
            ad_value_fini(&want);
            ad_value_fini(&got);
        }
        ad_chain(row, NULL);
        at++;
    }
    assert_int_equal(at, all.ads.count);
    answer_fini(&all);
    answer_fini(&shared);
}

static void jobs_alike_are_one_ad(void **state)
{
    struct world *world = *state;
    struct answer answer;
    fill(world);
    query(world,
          "[Type = \"Job\"; Shared = true; Projection = {\"ClusterId\", \"JobStatus\"};"
          " Ids = {\"1\"}]",
          &answer);
    assert_int_equal(answer.ads.count, 4); /* shared; 0 and 1; held; 4 and 5 */
    assert_int_equal(ad_int_or(answer.ads.items[1], "ProcCount", 0), 2);
    assert_int_equal(ad_int_or(answer.ads.items[2], "JobStatus", 0), 5);
    assert_int_equal(ad_int_or(answer.ads.items[3], "ProcId", 0), 4);
    assert_int_equal(ad_int_or(answer.args, "Count", 0), 6);
    assert_int_equal(ad_int_or(answer.args, "HeldJobs", 0), 5);
    assert_int_equal(ad_int_or(answer.args, "IdleJobs", 0), 8);
    assert_string_equal(ad_string_or(answer.args, "Name", ""), "s1");
    answer_fini(&answer);
}

static void ids_name_jobs_once_and_in_order(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct strbuf ids;
    fill(world);
    query(world,
          "[Type = \"Job\"; Ids = {\"3.1\", \"1.4\", \"2\", \"1.4\", \"2.3\", \"99\", \"1.77\"};"
          " Constraint = \"JobStatus == 1 || ClusterId == 3\"]",
          &answer);
    ids_of(&answer, &ids);
    assert_string_equal(strbuf_text(&ids), "1.4 2.0 2.2 2.3 2.4 3.1 ");
    strbuf_fini(&ids);
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"; Ids = {}]", 0);
    count_is(world, "[Type = \"Job\"; Limit = 4]", 4);
    assert_int_equal(call(world, VERB_QUERY, "[Type = \"Job\"; Ids = {\"1.x\"}]", NULL, &answer),
                     -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_QUERY, "[Type = \"Job\"; Ids = {1}]", NULL, &answer),
                     -EINVAL);
    answer_fini(&answer);
}

static void batch_is(const struct ad *ad, const char *name, int64_t first, int64_t last,
                     int64_t idle, int64_t held, int64_t submitted)
{
    assert_string_equal(ad_string_or(ad, "JobBatchName", ""), name);
    assert_int_equal(ad_int_or(ad, "ClusterId", 0), first);
    assert_int_equal(ad_int_or(ad, "LastClusterId", 0), last);
    assert_int_equal(ad_int_or(ad, "IdleJobs", -1), idle);
    assert_int_equal(ad_int_or(ad, "HeldJobs", -1), held);
    assert_int_equal(ad_int_or(ad, "RunningJobs", -1), 0);
    assert_int_equal(ad_int_or(ad, "TotalSubmitProcs", 0), submitted);
}

static void batches_are_counted(void **state)
{
    struct world *world = *state;
    struct answer answer;
    char args[200];
    fill(world);
    (void)snprintf(args, sizeof(args), "[Type = \"JobBatch\"; TotalsOf = \"%s\"]", world->me);
    query(world, args, &answer);
    assert_int_equal(answer.ads.count, 3);
    batch_is(answer.ads.items[0], "survey", 1, 2, 7, 3, 11);
    assert_int_equal(ad_int_or(answer.ads.items[0], "LastProcId", 0), 4);
    batch_is(answer.ads.items[1], "other", 2, 2, 1, 0, 5);
    assert_int_equal(ad_int_or(answer.ads.items[1], "ProcId", 0), 3);
    batch_is(answer.ads.items[2], "", 3, 3, 0, 2, 2);
    assert_string_equal(ad_string_or(answer.ads.items[2], "Owner", ""), world->me);
    assert_int_equal(ad_int_or(answer.args, "OwnerIdleJobs", -1), 8);
    assert_int_equal(ad_int_or(answer.args, "OwnerHeldJobs", -1), 5);
    answer_fini(&answer);
    query(world,
          "[Type = \"JobBatch\"; Constraint = \"JobStatus == 5\"; TotalsOf = \"no-such-owner\"]",
          &answer);
    assert_int_equal(answer.ads.count, 2);
    batch_is(answer.ads.items[0], "survey", 1, 2, 0, 3, 11);
    assert_false(ad_has(answer.args, "OwnerIdleJobs"));
    answer_fini(&answer);
    count_is(world, "[Type = \"JobBatch\"; Ids = {\"77\"}]", 0);
}

static void a_cluster_without_jobs_yet_has_a_batch(void **state)
{
    struct world *world = *state;
    static const char *const DIGEST[] = {"[Text = \"executable = /bin/true\\nqueue 5\\n\"]", NULL};
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT,
                          "[" GOOD "; Digest = true; JobMaterializeMaxIdle = 2;"
                          " DigestPlace = [Cwd = \"/tmp\"; File = \"a.sub\"; Arch = \"X86_64\";"
                          " OpSys = \"LINUX\"; User = \"me\"; FileSystemDomain = \"here\"]]",
                          DIGEST, &answer),
                     0);
    answer_fini(&answer);
    until_jobs(world, 2);
    query(world, "[Type = \"JobBatch\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "UnmaterializedJobs", -1), 3);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobMaterializePaused", -1), 0);
    answer_fini(&answer);
    act(world, "[Action = \"Hold\"; Ids = {\"1\"}]", "Success", 2);
    act(world, "[Action = \"Remove\"; Ids = {\"1.0\", \"1.1\"}]", "Success", 2);
    count_is(world, "[Type = \"Job\"]", 0);
    query(world, "[Type = \"JobBatch\"; Constraint = \"ClusterId == 1\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobMaterializePaused", -1), 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "TotalSubmitProcs", -1), 5);
    answer_fini(&answer);
    count_is(world, "[Type = \"JobBatch\"; Constraint = \"JobStatus == 5\"]", 0);
    count_is(world, "[Type = \"JobBatch\"; Constraint = \"Owner == \\\"nobody-else\\\"\"]", 0);
    query(world, "[Type = \"JobFactory\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "PresentJobs", -1), 0);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobMaterializeNextProcId", -1), 2);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Owner", ""), world->me);
    answer_fini(&answer);
}

static int submit_digest(struct world *world, const char *digest, struct answer *answer)
{
    struct ad *part = ad_create();
    struct strbuf text;
    ad_set_string(part, "Text", digest);
    strbuf_init(&text, 0);
    ad_print(part, &text);
    const char *const parts[] = {strbuf_text(&text), NULL};
    int status = call(world, VERB_SUBMIT,
                      "[" GOOD "; Digest = true; JobMaterializeLimit = 100000;"
                      " DigestPlace = [Cwd = \"/tmp\"; File = \"a.sub\"; Arch = \"X86_64\";"
                      " OpSys = \"LINUX\"; User = \"me\"; FileSystemDomain = \"here\"]]",
                      parts, answer);
    strbuf_fini(&text);
    ad_destroy(part);
    return status;
}

/* Jobs whose macros are long are made a few at a time, and others are answered between. */
static void jobs_that_are_costly_to_make_are_made_a_few_in_a_turn(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct strbuf digest;
    strbuf_init(&digest, 0);
    strbuf_puts(&digest, "executable = /bin/true\nA = ");
    for (int i = 0; i < 1000; i++) {
        strbuf_puts(&digest, "0123456789");
    }
    strbuf_puts(&digest, "\nL = ");
    for (int i = 0; i < 90; i++) {
        strbuf_puts(&digest, "$(A)");
    }
    strbuf_puts(&digest, "\n+B = \"$SUBSTR(L,0,9)\"\nqueue 20\n");
    assert_int_equal(submit_digest(world, strbuf_text(&digest), &answer), 0);
    strbuf_fini(&digest);
    answer_fini(&answer);
    query(world, "[Type = \"Job\"]", &answer); /* all of them in one turn would be there */
    assert_true(answer.ads.count < 15);
    answer_fini(&answer);
    until_jobs(world, 20);
}

/* Jobs that are made later are no jobs yet that a quota counts: what they take is counted. */
static void an_owner_has_room_for_so_many_items_of_jobs_that_are_made_later(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct strbuf digest;
    int status = 0;
    size_t count = 0;
    strbuf_init(&digest, 0);
    strbuf_puts(&digest, "executable = /bin/true\nmax_idle = 1\nqueue x from (\n");
    for (int i = 0; i < 150000; i++) {
        strbuf_puts(&digest, "i\n");
    }
    strbuf_puts(&digest, ")\n");
    for (; count < 20 && status == 0; count++) {
        status = submit_digest(world, strbuf_text(&digest), &answer);
        if (status != 0) {
            assert_non_null(strstr(answer.text, "max_materialize"));
        }
        answer_fini(&answer);
        assert_int_equal(call(world, VERB_ACT, "[Action = \"Hold\"; Constraint = \"true\"]", NULL,
                              &answer),
                         0);
        answer_fini(&answer);
    }
    assert_int_equal(status, -EDQUOT);
    assert_int_equal(count, 9);
    assert_int_equal(call(world, VERB_ACT, "[Action = \"Remove\"; Ids = {\"1\"}]", NULL, &answer),
                     0);
    answer_fini(&answer);
    assert_int_equal(submit_digest(world, strbuf_text(&digest), &answer), 0);
    answer_fini(&answer);
    strbuf_fini(&digest);
}

static void a_projection_has_a_limit(void **state)
{
    struct world *world = *state;
    struct answer answer;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "[Type = \"Job\"; Projection = {\"Cmd\"");
    for (int i = 0; i < 1000; i++) {
        strbuf_puts(&text, ", \"Cmd\"");
    }
    strbuf_puts(&text, "}]");
    assert_int_equal(call(world, VERB_QUERY, strbuf_text(&text), NULL, &answer), -E2BIG);
    answer_fini(&answer);
    strbuf_fini(&text);
}

static void batches_are_the_same_after_a_restart(void **state)
{
    struct world *world = *state;
    struct answer answer;
    fill(world);
    restart(world);
    query(world, "[Type = \"JobBatch\"]", &answer);
    assert_int_equal(answer.ads.count, 3);
    batch_is(answer.ads.items[0], "survey", 1, 2, 7, 3, 11);
    batch_is(answer.ads.items[1], "other", 2, 2, 1, 0, 5);
    answer_fini(&answer);
}

static void private_attributes_do_not_leave(void **state)
{
    struct world *world = *state;
    static const char *const ASKED[] = {
        "[Type = \"Job\"]",
        "[Type = \"Job\"; Projection = {\"ClaimId\", \"Capability\", \"Owner\"}]",
        ("[Type = \"Job\"; Shared = true; WholeIfComputed = true;"
         " Projection = {\"ClaimId\", \"RequestMemory\", \"Capability\"}]"),
    };
    struct answer answer;
    submit(world, "[" GOOD "; RequestMemory = 1 + 1; ClaimId = \"secret\"]");
    for (size_t i = 0; i < ARRAY_COUNT(ASKED); i++) {
        query(world, ASKED[i], &answer);
        assert_true(answer.ads.count > 0);
        for (size_t k = 0; k < answer.ads.count; k++) {
            assert_false(ad_has_private(answer.ads.items[k]));
        }
        answer_fini(&answer);
    }
}

/* ClusterIds, in the order they came. */
static void past_is(struct world *world, const char *args, const char *text)
{
    struct answer answer;
    struct strbuf ids;
    query(world, args, &answer);
    strbuf_init(&ids, 0);
    for (size_t i = 0; i < answer.ads.count; i++) {
        strbuf_printf(&ids, "%lld.%lld ", (long long)ad_int_or(answer.ads.items[i], "ClusterId", 0),
                      (long long)ad_int_or(answer.ads.items[i], "ProcId", -1));
    }
    assert_string_equal(strbuf_text(&ids), text);
    assert_int_equal(ad_int_or(answer.args, "Count", -1), answer.ads.count);
    strbuf_fini(&ids);
    answer_fini(&answer);
}

static void the_history_is_read_from_either_end_up_to_where_it_is_said(void **state)
{
    struct world *world = *state;
    struct answer answer;
    for (int i = 0; i < 3; i++) {
        submit(world, "[" GOOD "; ProcCount = 2]");
    }
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", 2);
    act(world, "[Action = \"Remove\"; Ids = {\"2\"}]", "Success", 2);
    act(world, "[Action = \"Remove\"; Ids = {\"3\"}]", "Success", 2);
    past_is(world, "[Type = \"History\"]", "3.1 3.0 2.1 2.0 1.1 1.0 ");
    past_is(world, "[Type = \"History\"; Forwards = true]", "1.0 1.1 2.0 2.1 3.0 3.1 ");
    past_is(world, "[Type = \"History\"; Limit = 3]", "3.1 3.0 2.1 ");
    past_is(world, "[Type = \"History\"; Since = \"2.0\"]", "3.1 3.0 2.1 ");
    past_is(world, "[Type = \"History\"; Since = \"2\"]", "3.1 3.0 ");
    past_is(world, "[Type = \"History\"; Since = \"ClusterId < 2\"]", "3.1 3.0 2.1 2.0 ");
    past_is(world, "[Type = \"History\"; Constraint = \"ProcId == 0\"; ScanLimit = 4]", "3.0 2.0 ");
    past_is(world, "[Type = \"History\"; Constraint = \"ProcId == 1\"; Forwards = true; Limit = 2]",
            "1.1 2.1 ");
    assert_int_equal(call(world, VERB_QUERY, "[Type = \"History\"; Since = \"((\"]", NULL, &answer),
                     -EINVAL);
    answer_fini(&answer);
    query(world, "[Type = \"History\"; Projection = {\"JobStatus\", \"ClaimId\"}; Limit = 1]",
          &answer);
    assert_int_equal(ad_count(answer.ads.items[0]), 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 3);
    answer_fini(&answer);
}

static void a_history_of_several_pages_comes_whole(void **state)
{
    struct world *world = *state;
    struct answer answer;
    int64_t last = 0;
    for (int i = 0; i < 60; i++) {
        submit(world, "[" GOOD "; ProcCount = 15]");
        act(world, "[Action = \"Remove\"; Constraint = \"true\"]", "Success", 15);
    }
    query(world, "[Type = \"History\"; Forwards = true]", &answer);
    for (size_t i = 0; i < answer.ads.count; i++) {
        int64_t at = ad_int_or(answer.ads.items[i], "ClusterId", 0) * 100 +
                     ad_int_or(answer.ads.items[i], "ProcId", 0);
        assert_true(at > last);
        last = at;
    }
    assert_true(answer.ads.count == 900);
    size_t all = answer.ads.count;
    answer_fini(&answer);
    count_is(world, "[Type = \"History\"]", all);
    count_is(world, "[Type = \"History\"; Limit = 777]", 777);
}

/* ---- costly constraints ------------------------------------------------------------------------
 */

/* Different for each job, so that nothing is judged once for all; some 60,000 steps, and all that
 * an evaluation may take. */
#define HEAVY    "regexp(\\\"(a+)+$\\\", strcat(\\\"aaaaaaaaaaaaab\\\", ProcId))"
#define TOO_MUCH "regexp(\\\"(a+)+$\\\", strcat(\\\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\\\", ProcId))"

static void begin_call(struct connection *connection, enum wire_verb verb, const char *args_text,
                       const char *ad_text, struct answer *answer)
{
    const char *const ads[] = {ad_text, NULL};
    assert_true(answer_ask_text(answer, connection->wire, NULL, verb, args_text, ads, NULL) > 0);
}

/* How often another client is answered before the answer comes. */
static int pings_until(struct connection *other, const bool *done)
{
    int pings = 0;
    while (!*done) {
        struct answer ping;
        assert_int_equal(call_on(other, VERB_PING, "[]", NULL, &ping), 0);
        answer_fini(&ping);
        pings++;
    }
    return pings;
}

static void others_are_answered_while_a_costly_constraint_is_judged(void **state)
{
    struct world *world = *state;
    static const struct {
        enum wire_verb verb;
        const char *args, *ad, *count;
    } REQUESTS[] = {
        {VERB_QUERY, "[Type = \"Job\"; Constraint = \"" HEAVY "\"]", NULL, "Count"},
        {VERB_QUERY, "[Type = \"JobBatch\"; Constraint = \"" HEAVY "\"]", NULL, "Count"},
        {VERB_ACT, "[Action = \"Hold\"; Constraint = \"" HEAVY "\"]", NULL, "Success"},
        {VERB_EDIT, "[Constraint = \"" HEAVY "\"]", "[JobPrio = 7]", "Success"},
        {VERB_JOB_CHECKPOINT, "[Constraint = \"" HEAVY "\"]", NULL, "Success"},
    };
    struct connection heavy, other;
    submit(world, "[" GOOD "; ProcCount = 14]");
    dial(world, world->local, "schedd", &heavy);
    dial(world, world->local, "schedd", &other);
    for (size_t i = 0; i < ARRAY_COUNT(REQUESTS); i++) {
        struct answer answer;
        begin_call(&heavy, REQUESTS[i].verb, REQUESTS[i].args, REQUESTS[i].ad, &answer);
        int pings = pings_until(&other, &answer.over);
        if (pings <
            2) { /* one may be on its way; a slice takes a turn of the loop, an answer some */
            fail_msg("request %zu: %d others were answered meanwhile", i, pings);
        }
        assert_int_equal(answer.status, 0);
        assert_int_equal(ad_int_or(answer.args, REQUESTS[i].count, -1), 0); /* 14 false ones */
        answer_fini(&answer);
    }
    wire_close(heavy.wire);
    wire_close(other.wire);
}

static void a_caller_with_many_costly_requests_does_not_starve_the_others(void **state)
{
    struct world *world = *state;
    struct connection heavy, other;
    struct answer many[8], answer;
    submit(world, "[" GOOD "; ProcCount = 14]");
    dial(world, world->local, "schedd", &heavy);
    dial(world, world->local, "schedd", &other);
    for (size_t i = 0; i < ARRAY_COUNT(many); i++) {
        begin_call(&heavy, VERB_QUERY, "[Type = \"Job\"; Constraint = \"" HEAVY "\"]", NULL,
                   &many[i]);
    }
    assert_int_equal(call_on(&other, VERB_QUERY, "[Type = \"Job\"; Constraint = \"ProcId == 3\"]",
                             NULL, &answer),
                     0);
    assert_int_equal(answer.ads.count, 1);
    answer_fini(&answer);
    for (size_t i = 0; i < ARRAY_COUNT(many); i++) {
        assert_false(many[i].over);
    }
    wire_close(heavy.wire); /* nobody waits for those any more */
    assert_int_equal(call_on(&other, VERB_PING, "[]", NULL, &answer), 0);
    answer_fini(&answer);
    for (size_t i = 0; i < ARRAY_COUNT(many); i++) {
        wait_for(world, &many[i].over); /* the connection is over */
        answer_fini(&many[i]);
    }
    wire_close(other.wire);
}

static void a_request_beyond_its_budget_is_refused_and_its_caller_is_named(void **state)
{
    struct world *world = *state;
    static const struct {
        enum wire_verb verb;
        const char *args, *ad, *in_log;
    } REQUESTS[] = {
        {VERB_QUERY, "[Type = \"Job\"; Constraint = \"" TOO_MUCH "\"]", NULL, "verb=QUERY"},
        {VERB_ACT, "[Action = \"Remove\"; Constraint = \"" TOO_MUCH " =!= 1\"]", NULL, "verb=ACT"},
        {VERB_EDIT, "[Constraint = \"" TOO_MUCH " =!= 1\"]", "[JobPrio = 7]", "verb=EDIT"},
    };
    char identity[100];
    struct connection connection;
    (void)snprintf(identity, sizeof(identity), "identity=%s@pool",
                   os_uid(world->os) == 0 ? "root" : world->me);
    submit(world, "[" GOOD "; ProcCount = 14]"); /* 14 * 200,000 steps are more than the budget */
    dial(world, world->local, "schedd", &connection);
    for (size_t i = 0; i < ARRAY_COUNT(REQUESTS); i++) {
        struct answer answer;
        strbuf_clear(&world->log_text);
        begin_call(&connection, REQUESTS[i].verb, REQUESTS[i].args, REQUESTS[i].ad, &answer);
        wait_for(world, &answer.over);
        assert_int_equal(answer.status, -EDQUOT);
        assert_non_null(strstr(answer.text, "MAX_CONSTRAINT_STEPS"));
        assert_non_null(strstr(answer.text, "(a+)+$"));
        answer_fini(&answer);
        const char *line = strstr(strbuf_text(&world->log_text), "request.too_costly");
        assert_non_null(line);
        assert_non_null(strstr(line, identity));
        assert_non_null(strstr(line, REQUESTS[i].in_log));
        assert_non_null(strstr(line, "(a+)+$"));
    }
    wire_close(connection.wire);
    count_is(world, "[Type = \"Job\"; Constraint = \"JobPrio =!= 7\"]", 14); /* nothing was done */
}

static void an_evaluation_beyond_its_limit_is_told(void **state)
{
    struct world *world = *state;
    struct answer answer;
    submit(world, "[" GOOD "; ProcCount = 3]");
    query(world, "[Type = \"Job\"; Constraint = \"" TOO_MUCH " =!= 1\"]", &answer);
    assert_int_equal(answer.ads.count, 0); /* error, though =!= 1 would hide an error */
    assert_int_equal(ad_int_or(answer.args, "TooCostly", 0), 3);
    answer_fini(&answer);
    assert_non_null(strstr(strbuf_text(&world->log_text), "request.costly"));
    query(world, "[Type = \"Job\"; Constraint = \"ProcId == 1\"]", &answer);
    assert_false(ad_has(answer.args, "TooCostly"));
    answer_fini(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_constraint_means_the_same_jobs_however_it_is_asked),
        CASE(what_is_shared_is_what_each_has),
        CASE(jobs_alike_are_one_ad),
        CASE(ids_name_jobs_once_and_in_order),
        CASE(batches_are_counted),
        CASE(a_cluster_without_jobs_yet_has_a_batch),
        CASE(batches_are_the_same_after_a_restart),
        CASE(jobs_that_are_costly_to_make_are_made_a_few_in_a_turn),
        CASE(an_owner_has_room_for_so_many_items_of_jobs_that_are_made_later),
        CASE(a_projection_has_a_limit),
        CASE(the_history_is_read_from_either_end_up_to_where_it_is_said),
        CASE(a_history_of_several_pages_comes_whole),
        CASE(private_attributes_do_not_leave),
        CASE(others_are_answered_while_a_costly_constraint_is_judged),
        CASE(a_caller_with_many_costly_requests_does_not_starve_the_others),
        CASE(a_request_beyond_its_budget_is_refused_and_its_caller_is_named),
        CASE(an_evaluation_beyond_its_limit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
