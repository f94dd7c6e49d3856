/* tests/unit/schedd/test_schedd_verbs.c - SUBMIT, ACT, QUERY, WATCH on a real schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

static int64_t reserve(struct world *world)
{
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, "[Reserve = true]", NULL, &answer), 0);
    int64_t id = ad_int_or(answer.args, "ClusterId", 0);
    answer_fini(&answer);
    return id;
}

static void refused_reservation(struct world *world, int64_t id)
{
    char args[160];
    struct answer answer;
    (void)snprintf(args, sizeof(args), "[" GOOD "; ReservedClusterId = %lld]", (long long)id);
    assert_int_equal(call(world, VERB_SUBMIT, args, NULL, &answer), -ESTALE);
    answer_fini(&answer);
}

static void a_reserved_id_is_its_owners_cluster_once(void **state)
{
    struct world *world = *state;
    char args[160];
    int64_t first = reserve(world), second = reserve(world);
    assert_int_equal(second, first + 1);
    assert_int_equal(submit(world, "[" GOOD "]"), second + 1);
    count_is(world, "[Type = \"Job\"]", 1); /* a reservation is no cluster */
    (void)snprintf(args, sizeof(args), "[" GOOD "; ReservedClusterId = %lld]", (long long)first);
    assert_int_equal(submit(world, args), first);
    (void)snprintf(args, sizeof(args),
                   "[Type = \"Job\"; Constraint = \"ClusterId == %lld &&"
                   " ReservedClusterId =?= undefined\"]",
                   (long long)first);
    count_is(world, args, 1);
    refused_reservation(world, first);       /* used */
    refused_reservation(world, second + 1);  /* another's */
    refused_reservation(world, second + 99); /* nobody's */
    assert_int_equal(submit(world, "[" GOOD "]"), second + 2);
}

static void a_reservation_ends_with_the_schedd(void **state)
{
    struct world *world = *state;
    int64_t id = reserve(world);
    restart(world);
    refused_reservation(world, id);
    assert_int_equal(submit(world, "[" GOOD "]"), id);
}

static void a_reserved_cluster_that_is_gone_does_not_come_again(void **state)
{
    struct world *world = *state;
    char args[160];
    int64_t id = reserve(world);
    (void)snprintf(args, sizeof(args), "[" GOOD "; ReservedClusterId = %lld]", (long long)id);
    assert_int_equal(submit(world, args), id);
    (void)snprintf(args, sizeof(args), "[Action = \"Remove\"; Ids = {\"%lld\"}]", (long long)id);
    act(world, args, "Success", 1);
    refused_reservation(world, id);
    restart(world);
    assert_int_equal(submit(world, "[" GOOD "]"), id + 1);
}

static void a_submitted_cluster_is_there_after_a_restart(void **state)
{
    struct world *world = *state;
    const char *const procs[] = {"[Args = \"0\"]", "[]", "[Args = \"2\"; JobPrio = 7]", NULL};
    struct answer answer;
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; Args = \"x\"; Owner = \"evil\"]", procs,
                          &answer),
                     0);
    assert_int_equal(ad_int_or(answer.args, "ClusterId", 0), 1);
    assert_int_equal(ad_int_or(answer.args, "FirstProcId", -1), 0);
    assert_int_equal(ad_int_or(answer.args, "LastProcId", -1), 2);
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"; Constraint = \"TotalSubmitProcs == 3\"]", 3);
    for (int i = 0; i < 2; i++) {
        query(world, "[Type = \"Job\"]", &answer);
        assert_int_equal(answer.ads.count, 3);
        static const char *const ARGS[] = {"0", "x", "2"};
        for (size_t k = 0; k < 3; k++) {
            const struct ad *job = answer.ads.items[k];
            assert_string_equal(ad_string_or(job, "Args", ""), ARGS[k]);
            assert_string_equal(ad_string_or(job, "Owner", ""), world->me);
            assert_int_equal(ad_int_or(job, "ProcId", -1), k);
            assert_int_equal(ad_int_or(job, "JobStatus", 0), 1);
            assert_int_equal(ad_int_or(job, "AutoClusterId", 0), 1);
            assert_true(ad_int_or(job, "QDate", 0) > 0);
        }
        assert_int_equal(ad_int_or(answer.args, "IdleJobs", -1), 3);
        answer_fini(&answer);
        restart(world);
    }
    assert_int_equal(submit(world, "[" GOOD "]"), 2); /* ids are not given twice */
}

static void a_cluster_can_come_in_several_calls_and_by_count(void **state)
{
    struct world *world = *state;
    struct answer answer;
    assert_int_equal(submit(world, "[" GOOD "; ProcCount = 5]"), 1);
    const char *const more[] = {"[]", "[]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[ClusterId = 1]", more, &answer), 0);
    assert_int_equal(ad_int_or(answer.args, "FirstProcId", -1), 5);
    assert_int_equal(ad_int_or(answer.args, "LastProcId", -1), 6);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[ClusterId = 99]", more, &answer), -ENOENT);
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"]", 7);
}

static void a_refused_submission_leaves_nothing_and_says_why(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const second_bad[] = {"[]", "[Iwd = \"relative\"]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", second_bad, &answer), -EINVAL);
    assert_non_null(strstr(answer.text, "job 1"));
    assert_non_null(strstr(answer.text, "Iwd"));
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[Cmd = \"/bin/true\"]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; ProcCount = 16]", NULL, &answer),
                     -EDQUOT);
    assert_non_null(strstr(answer.text, "MAX_JOBS_PER_SUBMISSION"));
    answer_fini(&answer);
    /* The others would follow in further requests. */
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; TotalSubmitProcs = 16]", NULL, &answer),
                     -EDQUOT);
    assert_non_null(strstr(answer.text, "one submission: 16"));
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"]", 0);
    int64_t cluster = submit(world, "[" GOOD "; ProcCount = 15; TotalSubmitProcs = 15]");
    char more[64];
    (void)snprintf(more, sizeof more, "[ClusterId = %lld]", (long long)cluster);
    assert_int_equal(call(world, VERB_SUBMIT, more, (const char *const[]){"[]", NULL}, &answer),
                     -EDQUOT);
    assert_non_null(strstr(answer.text, "MAX_JOBS_PER_SUBMISSION is 15"));
    answer_fini(&answer);
    act(world, "[Action = \"Remove\"; Constraint = \"true\"]", "Success", 15);
    count_is(world, "[Type = \"Job\"]", 0);
    (void)submit(world, "[" GOOD "; ProcCount = 15]");
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "; ProcCount = 6]", NULL, &answer), -EDQUOT);
    assert_non_null(strstr(answer.text, "MAX_JOBS_PER_OWNER"));
    answer_fini(&answer);
    count_is(world, "[Type = \"Job\"]", 15);
}

static void jobs_are_held_released_and_removed_and_stay_so(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\", \"1.1\"}; Reason = \"because\"]", "Success", 2);
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}]", "AlreadyDone", 1);
    act(world, "[Action = \"Release\"; Ids = {\"1.2\"}]", "BadStatus", 1);
    restart(world);
    query(world, "[Type = \"Job\"; Constraint = \"JobStatus == 5\"]", &answer);
    assert_int_equal(answer.ads.count, 2);
    assert_string_equal(ad_string_or(answer.ads.items[0], "HoldReason", ""), "because");
    assert_int_equal(ad_int_or(answer.ads.items[0], "HoldReasonCode", -1), 1);
    assert_int_equal(ad_int_or(answer.args, "HeldJobs", -1), 2);
    assert_int_equal(ad_int_or(answer.args, "IdleJobs", -1), 1);
    answer_fini(&answer);
    act(world, "[Action = \"Release\"; Ids = {\"1.0\"}]", "Success", 1);
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", 3);
    act(world, "[Action = \"Remove\"; Ids = {\"1\", \"1.0\", \"7.0\"}]", "NotFound", 3);
    act(world, "[Action = \"Remove\"; Ids = {\"x\"}]", "Error", 1);
    count_is(world, "[Type = \"Job\"]", 0);
    restart(world);
    count_is(world, "[Type = \"Job\"]", 0);
    query(world, "[Type = \"History\"; Constraint = \"ProcId > 0\"]", &answer);
    assert_int_equal(answer.ads.count, 2);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 3);
    assert_non_null(strstr(ad_string_or(answer.ads.items[0], "RemoveReason", ""), world->me));
    answer_fini(&answer);
}

static void holds_are_counted_by_their_reasons_and_their_story_is_kept(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const held[] = {"[JobStatus = 5]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", held, &answer), 0);
    answer_fini(&answer);
    act(world, "[Action = \"Release\"; Ids = {\"1.0\"}; Reason = \"go\"]", "Success", 1);
    count_is(world,
             "[Constraint = \"LastJobStatus == 5 && LastHoldReasonCode == 15 && "
             "ReleaseReason == \\\"go\\\" && HoldReason =?= undefined\"]",
             1);
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}; ReasonSubCode = 7]", "Success", 1);
    act(world, "[Action = \"Release\"; Ids = {\"1.0\"}]", "Success", 1);
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}]", "Success", 1);
    restart(world);
    query(world, "[]", &answer);
    const struct ad *job = answer.ads.items[0], *counts = NULL;
    assert_int_equal(ad_int_or(job, "NumHolds", 0), 3);
    assert_int_equal(ad_get_ad(job, "NumHoldsByReason", &counts), 0);
    assert_int_equal(ad_int_or(counts, "SubmittedOnHold", 0), 1);
    assert_int_equal(ad_int_or(counts, "UserRequest", 0), 2);
    assert_int_equal(ad_int_or(job, "LastHoldReasonSubCode", 0), 7);
    assert_int_equal(ad_int_or(job, "LastJobStatus", 0), 1);
    assert_false(ad_has(job, "ReleaseReason"));
    assert_int_equal(ad_int_or(job, "NumJobStarts", -1), 0); /* policies may count on it */
    answer_fini(&answer);
    act(world, "[Action = \"Remove\"; Ids = {\"1.0\"}]", "Success", 1);
    count_is(world, "[Type = \"History\"; Constraint = \"LastJobStatus == 5 && JobStatus == 3\"]",
             1);
}

static void what_was_asked_for_by_id_is_answered_one_by_one(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 2]");
    assert_int_equal(call(world, VERB_ACT,
                          "[Action = \"Hold\"; Ids = {\"1.1\", \"9.9\", \"1\"}; ReasonCode = 3]",
                          NULL, &answer),
                     0);
    static const char *const RESULTS[] = {"Success", "NotFound", "Success"};
    assert_int_equal(answer.ads.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(ad_string_or(answer.ads.items[i], "Result", ""), RESULTS[i]);
    }
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 1);
    assert_int_equal(ad_int_or(answer.args, "Success", 0), 2);
    assert_int_equal(ad_int_or(answer.args, "AlreadyDone", 0), 1);
    answer_fini(&answer);
    act(world, "[Action = \"Remove\"; Constraint = \"HoldReasonCode == 3 && ProcId == 1\"]",
        "Success", 1);
    count_is(world, "[Type = \"Job\"]", 1);
    assert_int_equal(call(world, VERB_ACT, "[Action = \"Remove\"; Constraint = \"1 +\"]", NULL,
                          &answer),
                     -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_ACT, "[Action = \"Melt\"; Ids = {\"1\"}]", NULL, &answer),
                     -EINVAL);
    answer_fini(&answer);
}

static void a_job_can_be_submitted_on_hold(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const procs[] = {"[]", "[JobStatus = 5]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    query(world, "[Type = \"Job\"; Constraint = \"JobStatus == 5\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "ProcId", -1), 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "HoldReasonCode", 0), 15);
    answer_fini(&answer);
}

static void queries_project_limit_and_hide(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 4; ClaimId = \"secret\"]");
    query(world, "[Type = \"Job\"; Projection = {\"ProcId\", \"Nope\"}; Limit = 3]", &answer);
    assert_int_equal(answer.ads.count, 3);
    assert_int_equal(ad_count(answer.ads.items[2]), 1);
    assert_int_equal(ad_int_or(answer.ads.items[2], "ProcId", -1), 2);
    answer_fini(&answer);
    query(world, "[Type = \"Job\"; Limit = 1]", &answer);
    assert_false(ad_has(answer.ads.items[0], "ClaimId"));
    answer_fini(&answer);
    query(world, "[Type = \"Scheduler\"]", &answer);
    assert_string_equal(ad_string_or(answer.ads.items[0], "Name", ""), "s1");
    assert_int_equal(ad_int_or(answer.ads.items[0], "TotalIdleJobs", -1), 4);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_QUERY, "[Type = \"Machine\"]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
    assert_int_equal(call(world, VERB_QUERY, "[Constraint = \"((\"]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
}

static void history_is_newest_first_and_stops_where_it_is_told(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", 3);
    query(world, "[Type = \"History\"]", &answer);
    assert_int_equal(answer.ads.count, 3);
    assert_int_equal(ad_int_or(answer.ads.items[0], "ProcId", -1), 2);
    answer_fini(&answer);
    query(world, "[Type = \"History\"; Since = \"1.1\"]", &answer);
    assert_int_equal(answer.ads.count, 1);
    answer_fini(&answer);
    count_is(world, "[Type = \"History\"; Limit = 2]", 2);
}

static void the_history_keeps_the_newest(void **state)
{
    struct world *world = *state;
    struct answer answer;
    /* MAX_HISTORY_JOBS is 5; the oldest go a thousand at a time. */
    for (int i = 0; i < 67; i++) {
        char args[96];
        (void)submit(world, "[" GOOD "; ProcCount = 15]");
        (void)snprintf(args, sizeof(args), "[Action = \"Remove\"; Ids = {\"%d\"}]", i + 1);
        act(world, args, "Success", 15);
        if (i == 30) {
            restart(world); /* it still knows how many there are */
        }
    }
    size_t count = 1005;
    for (int i = 0; i < 1000 && count > 5; i++) { /* it takes a moment */
        query(world, "[Type = \"History\"; Projection = {\"ClusterId\", \"ProcId\"}]", &answer);
        count = answer.ads.count;
        if (count == 5) {
            assert_int_equal(ad_int_or(answer.ads.items[0], "ClusterId", 0), 67);
            assert_int_equal(ad_int_or(answer.ads.items[4], "ProcId", 0), 10);
        }
        answer_fini(&answer);
    }
    assert_int_equal(count, 5);
}

static void jobs_alike_share_a_request_and_others_do_not(void **state)
{
    struct world *world = *state;
    struct answer answer;
    const char *const procs[] = {"[]", "[RequestMemory = 4096]", "[JobPrio = 3]", NULL};
    assert_int_equal(call(world, VERB_SUBMIT, "[" GOOD "]", procs, &answer), 0);
    answer_fini(&answer);
    (void)submit(world, "[" GOOD "; Args = \"other\"]");
    query(world, "[Type = \"Job\"]", &answer);
    static const int IDS[] = {1, 2, 1, 1};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(ad_int_or(answer.ads.items[i], "AutoClusterId", 0), IDS[i]);
    }
    answer_fini(&answer);
    act(world, "[Action = \"Remove\"; Constraint = \"AutoClusterId == 1\"]", "Success", 3);
    restart(world);
    query(world, "[Type = \"Job\"]", &answer); /* and they stay the same */
    assert_int_equal(ad_int_or(answer.ads.items[0], "AutoClusterId", 0), 2);
    answer_fini(&answer);
    (void)submit(world, "[" GOOD "]");
    query(world, "[Type = \"Job\"; Constraint = \"ClusterId == 3\"]", &answer);
    assert_int_equal(ad_int_or(answer.ads.items[0], "AutoClusterId", 0), 3); /* not 1 again */
    answer_fini(&answer);
}

struct watched {
    bool synced, changed, gone;
    int64_t status;
};

static void watch_changed(void *arg, const char *key, const struct ad *ad)
{
    struct watched *watched = arg;
    assert_string_equal(key, "1.0");
    watched->changed = true;
    watched->status = ad_int_or(ad, "JobStatus", 0);
}

static void watch_gone(void *arg, const char *key)
{
    struct watched *watched = arg;
    assert_string_equal(key, "1.0");
    watched->gone = true;
}

static void watch_synced(void *arg)
{
    ((struct watched *)arg)->synced = true;
}

static void a_watcher_sees_a_job_change_and_go(void **state)
{
    struct world *world = *state;
    struct watched watched = {0};
    static const struct watch_events EVENTS = {.changed = watch_changed,
                                               .gone = watch_gone,
                                               .synced = watch_synced};
    const struct watch_spec spec = {.type = "Job"};
    struct connection connection;
    (void)submit(world, "[" GOOD "]");
    dial(world, world->local, "schedd", &connection);
    struct watch *watch = watch_create(world->loop, &spec, &EVENTS, &watched);
    assert_int_equal(watch_start(watch, connection.wire), 0);
    wait_for(world, &watched.synced);
    assert_int_equal(watched.status, 1);
    watched.changed = false;
    act(world, "[Action = \"Hold\"; Ids = {\"1.0\"}]", "Success", 1);
    wait_for(world, &watched.changed);
    assert_int_equal(watched.status, 5);
    act(world, "[Action = \"Remove\"; Ids = {\"1.0\"}]", "Success", 1);
    wait_for(world, &watched.gone);
    watch_destroy(watch);
    wire_close(connection.wire);
}

/* The PING is answered at once, the others wait for the disk: under LeakSanitizer this shows that
 * nothing of them stays behind. */
static void what_waits_for_the_disk_when_the_schedd_ends_is_durable(void **state)
{
    static const struct {
        enum wire_verb verb;
        const char *args;
    } CALLS[] = {
        {VERB_SUBMIT, "[" GOOD "]"},
        {VERB_ACT, "[Action = \"Hold\"; Ids = {\"1.0\"}]"},
        {VERB_QUERY, "[Type = \"Job\"; Constraint = \"true\"; Projection = {\"ProcId\"}]"},
        {VERB_QUERY, "[Type = \"History\"; Constraint = \"true\"]"},
        {VERB_WATCH, "[Type = \"Job\"]"},
        {VERB_PING, "[]"},
    };
    enum { COUNT = sizeof(CALLS) / sizeof(CALLS[0]) };
    struct world *world = *state;
    struct answer answers[COUNT];
    struct connection connection;
    submit(world, "[" GOOD "]");
    dial(world, world->local, "schedd", &connection);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(answer_ask_text(&answers[i], connection.wire, NULL, CALLS[i].verb,
                                    CALLS[i].args, NULL, NULL) > 0);
    }
    wait_for(world, &answers[COUNT - 1].over);
    restart(world);
    wait_for(world, &connection.closed);
    for (size_t i = 0; i < COUNT; i++) {
        wait_for(world, &answers[i].over);
        answer_fini(&answers[i]);
    }
    count_is(world, "[Type = \"Job\"; Constraint = \"JobStatus == 5\"]", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_submitted_cluster_is_there_after_a_restart),
        CASE(a_reserved_id_is_its_owners_cluster_once),
        CASE(a_reservation_ends_with_the_schedd),
        CASE(a_reserved_cluster_that_is_gone_does_not_come_again),
        CASE(a_cluster_can_come_in_several_calls_and_by_count),
        CASE(a_refused_submission_leaves_nothing_and_says_why),
        CASE(jobs_are_held_released_and_removed_and_stay_so),
        CASE(what_was_asked_for_by_id_is_answered_one_by_one),
        CASE(holds_are_counted_by_their_reasons_and_their_story_is_kept),
        CASE(a_job_can_be_submitted_on_hold),
        CASE(queries_project_limit_and_hide),
        CASE(history_is_newest_first_and_stops_where_it_is_told),
        CASE(the_history_keeps_the_newest),
        CASE(jobs_alike_share_a_request_and_others_do_not),
        CASE(a_watcher_sees_a_job_change_and_go),
        CASE(what_waits_for_the_disk_when_the_schedd_ends_is_durable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
