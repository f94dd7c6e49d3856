/* tests/unit/schedd/test_many_jobs.c - submissions and commands of many jobs: in slices.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>

#include "base/check.h"
#include "tests/unit/schedd/schedd_world.h"

#define MANY  "[" GOOD "; ProcCount = 20000]"
#define COUNT 20000

/* Some 4,000 steps for each getter that reads one of them, which may take 5,000. */
#define TEXT   "strcat(\"a\", regexp(\"(a+)+$\", \"aaaaaaaaab\"))"
#define COSTLY "[In = " TEXT "; Out = " TEXT "; Err = " TEXT "; Args = " TEXT "; Env = " TEXT "]"
#define ADS    600

static unsigned trims;

/* In the place of libc's. */
int malloc_trim(size_t pad)
{
    (void)pad;
    trims++;
    return 1;
}

struct call {
    struct answer answer;
    struct connection connection;
};

static void begin_call(struct world *world, enum wire_verb verb, const char *args_text,
                       const char *ad_text, size_t count, struct call *call)
{
    const char *ads[ADS + 1] = {NULL};
    assert_true(count <= ADS);
    for (size_t i = 0; i < count; i++) {
        ads[i] = ad_text;
    }
    dial(world, world->local, "schedd", &call->connection);
    assert_true(answer_ask_text(&call->answer, call->connection.wire, NULL, verb, args_text, ads,
                                NULL) > 0);
}

static void begin(struct world *world, const char *args_text, const char *ad_text, size_t count,
                  struct call *call)
{
    begin_call(world, VERB_SUBMIT, args_text, ad_text, count, call);
}

static void end(struct call *call)
{
    wire_close(call->connection.wire);
    wait_for(call->connection.world, &call->answer.over); /* at the latest it tells its end */
    answer_fini(&call->answer);
}

static void wait_for_ids(struct world *world, struct call *call, int64_t cluster, int64_t first,
                         int64_t last)
{
    wait_for(world, &call->answer.over);
    assert_int_equal(call->answer.status, 0);
    assert_int_equal(ad_int_or(call->answer.args, "ClusterId", 0), cluster);
    assert_int_equal(ad_int_or(call->answer.args, "FirstProcId", -1), first);
    assert_int_equal(ad_int_or(call->answer.args, "LastProcId", -1), last);
}

/* Another client's requests that are answered before this one. */
static int pings_until(struct world *world, const bool *done)
{
    struct connection other;
    int pings = 0;
    dial(world, world->local, "schedd", &other);
    while (!*done) {
        struct answer ping;
        assert_int_equal(call_on(&other, VERB_PING, "[]", NULL, &ping), 0);
        answer_fini(&ping);
        pings++;
    }
    wire_close(other.wire);
    return pings;
}

static size_t count_jobs(struct world *world, const char *constraint)
{
    char args[200];
    struct answer answer;
    (void)snprintf(args, sizeof(args),
                   "[Type = \"Job\"; Constraint = \"%s\"; Projection = {\"ProcId\"}]", constraint);
    query(world, args, &answer);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

static bool first_job_is(struct world *world, const char *constraint)
{
    char args[200];
    struct answer answer;
    (void)snprintf(args, sizeof(args), "[Type = \"Job\"; Ids = {\"1.0\"}; Constraint = \"%s\"]",
                   constraint);
    query(world, args, &answer);
    bool is = answer.ads.count == 1;
    answer_fini(&answer);
    return is;
}

/* Until the first of its jobs are in the queue, and not all. */
static void until_some(struct world *world, const struct call *call)
{
    size_t count = 0;
    while (count == 0) {
        count = count_jobs(world, "ProcId < 10");
        assert_false(call->answer.over);
    }
}

static void others_are_answered_while_many_jobs_are_added(void **state)
{
    struct world *world = *state;
    struct call call;
    begin(world, MANY, NULL, 0, &call);
    int pings = pings_until(world, &call.answer.over);
    if (pings < 20) { /* some 250 slices */
        fail_msg("%d others were answered meanwhile", pings);
    }
    wait_for_ids(world, &call, 1, 0, COUNT - 1);
    end(&call);
    assert_int_equal(count_jobs(world, "true"), COUNT);
    assert_int_equal(count_jobs(world, "TotalSubmitProcs == 20000"), COUNT);
    assert_int_equal(count_jobs(world, "SubmittingFromProcId =!= undefined"), 0);
    restart(world);
    assert_int_equal(count_jobs(world, "JobStatus == 1"), COUNT);
}

static void others_are_answered_while_costly_jobs_are_judged(void **state)
{
    struct world *world = *state;
    struct call call;
    begin(world, "[" GOOD "]", COSTLY, ADS, &call);
    int pings = pings_until(world, &call.answer.over);
    if (pings < 4) { /* one may be on its way; a slice takes a turn of the loop, an answer some */
        fail_msg("%d others were answered meanwhile", pings);
    }
    wait_for_ids(world, &call, 1, 0, ADS - 1);
    end(&call);
    assert_int_equal(count_jobs(world, "true"), ADS);
}

/* What a schedd that ended had added is removed before it could run, and said to be so. */
static void a_submission_that_the_end_of_the_schedd_cuts_off_leaves_no_job(void **state)
{
    struct world *world = *state;
    struct call call;
    struct answer answer;
    begin(world, MANY, NULL, 0, &call);
    until_some(world, &call);
    restart(world);
    wait_for(world, &call.answer.over);
    assert_int_not_equal(call.answer.status, 0);
    end(&call);
    assert_int_equal(count_jobs(world, "true"), 0);
    assert_non_null(strstr(strbuf_text(&world->log_text), "queue.taken_back"));
    query(world, "[Type = \"History\"; Limit = 1]", &answer);
    assert_int_equal(answer.ads.count, 1);
    assert_int_equal(ad_int_or(answer.ads.items[0], "JobStatus", 0), 3);
    assert_non_null(strstr(ad_string_or(answer.ads.items[0], "RemoveReason", ""), "submit again"));
    answer_fini(&answer);
    restart(world);
    assert_int_equal(count_jobs(world, "true"), 0);
    assert_int_equal(submit(world, "[" GOOD "]"), 2);
    assert_int_equal(count_jobs(world, "true"), 1);
}

static void further_jobs_that_the_end_of_the_schedd_cuts_off_leave_the_others(void **state)
{
    struct world *world = *state;
    struct call call;
    submit(world, "[" GOOD "; ProcCount = 3]");
    begin(world, "[ClusterId = 1; ProcCount = 20000]", NULL, 0, &call);
    size_t count = 0;
    while (count == 0) {
        count = count_jobs(world, "ProcId == 3 && SubmittingFromProcId == 3");
        assert_false(call.answer.over);
    }
    restart(world);
    wait_for(world, &call.answer.over);
    end(&call);
    assert_int_equal(count_jobs(world, "SubmittingFromProcId =?= undefined"), 3);
    assert_int_equal(count_jobs(world, "true"), 3);
}

/* The jobs of each have numbers that follow one another. */
static void two_calls_to_one_cluster_come_one_after_the_other(void **state)
{
    struct world *world = *state;
    struct call first, second;
    submit(world, "[" GOOD "; ProcCount = 3]");
    begin(world, "[ClusterId = 1; ProcCount = 2000]", NULL, 0, &first);
    begin(world, "[ClusterId = 1; ProcCount = 2000]", NULL, 0, &second);
    wait_for_ids(world, &first, 1, 3, 2002);
    wait_for_ids(world, &second, 1, 2003, 4002);
    end(&first);
    end(&second);
    assert_int_equal(count_jobs(world, "true"), 4003);
}

static void what_is_removed_while_it_is_added_stays_removed(void **state)
{
    struct world *world = *state;
    struct call call;
    begin(world, MANY, NULL, 0, &call);
    until_some(world, &call);
    act(world, "[Action = \"Remove\"; Ids = {\"1.0\"}]", "Success", 1);
    act(world, "[Action = \"Hold\"; Ids = {\"1.1\"}]", "Success", 1);
    act(world, "[Action = \"Hold\"; Ids = {\"1.2\"}]", "Success", 1);
    act(world, "[Action = \"Release\"; Ids = {\"1.2\"}]", "Success", 1);
    wait_for_ids(world, &call, 1, 0, COUNT - 1);
    end(&call);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(count_jobs(world, "true"), COUNT - 1);
        assert_int_equal(count_jobs(world, "JobStatus == 5 && ProcId == 1"), 1);
        assert_int_equal(count_jobs(world, "JobStatus == 1"), COUNT - 2);
        restart(world);
    }
}

/* Its limits hold for what is still to come. */
static void the_jobs_that_are_coming_count_in_the_limits(void **state)
{
    struct world *world = *state;
    struct call call;
    struct answer answer;
    configure(world, "MAX_JOBS_PER_OWNER = 25000\n");
    restart(world);
    begin(world, MANY, NULL, 0, &call);
    until_some(world, &call);
    assert_int_equal(call_on(&call.connection, VERB_SUBMIT, "[" GOOD "; ProcCount = 6000]", NULL,
                             &answer),
                     -EDQUOT);
    answer_fini(&answer);
    wait_for_ids(world, &call, 1, 0, COUNT - 1);
    end(&call);
    assert_int_equal(submit(world, "[" GOOD "; ProcCount = 5000]"), 2);
}

static void whoever_leaves_before_his_jobs_are_judged_leaves_nothing(void **state)
{
    struct world *world = *state;
    struct call call;
    struct answer answer;
    begin(world, "[" GOOD "]", COSTLY, ADS, &call);
    assert_int_equal(call_on(&call.connection, VERB_PING, "[]", NULL, &answer), 0);
    answer_fini(&answer); /* the schedd has the other one, too */
    assert_false(call.answer.over);
    end(&call);
    assert_int_equal(submit(world, "[" GOOD "]"), 1); /* nobody has used that id */
    assert_int_equal(count_jobs(world, "true"), 1);
}

/* ---- commands ---- */

static void submit_many(struct world *world)
{
    struct call call;
    begin(world, MANY, NULL, 0, &call);
    wait_for_ids(world, &call, 1, 0, COUNT - 1);
    end(&call);
}

static void others_are_answered_while_many_jobs_are_changed(void **state)
{
    struct world *world = *state;
    static const struct {
        enum wire_verb verb;
        const char *args, *ad, *meant;
    } COMMANDS[] = {
        {VERB_EDIT, "[Constraint = \"true\"]", "[Wanted = 7]", "Wanted == 7"},
        {VERB_EDIT, "[Ids = {\"1\"}]", "[Wanted = 8]", "Wanted == 8"},
        {VERB_ACT, "[Action = \"Hold\"; Ids = {\"1\"}]", NULL, "JobStatus == 5"},
        {VERB_ACT, "[Action = \"Release\"; Constraint = \"true\"]", NULL, "JobStatus == 1"},
    };
    submit_many(world);
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        struct call call;
        begin_call(world, COMMANDS[i].verb, COMMANDS[i].args, COMMANDS[i].ad,
                   COMMANDS[i].ad != NULL ? 1 : 0, &call);
        int pings = pings_until(world, &call.answer.over);
        if (pings < 20) { /* some 250 slices */
            fail_msg("command %zu: %d others were answered meanwhile", i, pings);
        }
        assert_int_equal(call.answer.status, 0);
        assert_int_equal(ad_int_or(call.answer.args, "Success", 0), COUNT);
        /* the caller is told that the command goes on, and waits on */
        assert_in_range(call.answer.parts, 3, 20);
        end(&call);
        assert_int_equal(count_jobs(world, COMMANDS[i].meant), COUNT);
    }
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", COUNT);
    restart(world);
    assert_int_equal(count_jobs(world, "true"), 0);
}

static void whoever_leaves_in_the_middle_of_a_command_leaves_the_rest_undone(void **state)
{
    struct world *world = *state;
    struct call call;
    submit_many(world);
    begin_call(world, VERB_ACT, "[Action = \"Hold\"; Ids = {\"1\"}]", NULL, 0, &call);
    while (!first_job_is(world, "JobStatus == 5")) {
        assert_false(call.answer.over);
    }
    assert_false(call.answer.over);
    end(&call);
    size_t held = count_jobs(world, "JobStatus == 5"), later = count_jobs(world, "JobStatus == 5");
    assert_true(held > 0 && held < COUNT);
    assert_int_equal(held, later);
}

/* Each of those that the schedd's end cuts off was done, or was not. */
static void the_end_of_the_schedd_cuts_a_command_off(void **state)
{
    struct world *world = *state;
    static const struct {
        enum wire_verb verb;
        const char *args, *ad, *done;
    } COMMANDS[] = {
        {VERB_EDIT, "[Ids = {\"1\"}]", "[Wanted = 8]", "Wanted =?= 8"},
        {VERB_ACT, "[Action = \"Hold\"; Ids = {\"1\"}]", NULL, "JobStatus == 5"},
    };
    submit_many(world);
    for (size_t i = 0; i < ARRAY_COUNT(COMMANDS); i++) {
        struct call call;
        begin_call(world, COMMANDS[i].verb, COMMANDS[i].args, COMMANDS[i].ad,
                   COMMANDS[i].ad != NULL ? 1 : 0, &call);
        while (!first_job_is(world, COMMANDS[i].done)) {
            assert_false(call.answer.over);
        }
        restart(world);
        wait_for(world, &call.answer.over);
        assert_int_not_equal(call.answer.status, 0);
        end(&call);
        assert_true(first_job_is(world, COMMANDS[i].done));
        assert_int_equal(count_jobs(world, "true"), COUNT);
    }
}

/* 100,000 names of 20,000 jobs are not 2,000,000,000 jobs. */
static void a_cluster_that_is_named_again_and_again_is_one(void **state)
{
    struct world *world = *state;
    struct call call;
    struct strbuf args;
    submit_many(world);
    strbuf_init(&args, 0);
    strbuf_puts(&args, "[Ids = {");
    for (int i = 0; i < 50000; i++) {
        strbuf_puts(&args, "\"1\", ");
    }
    strbuf_puts(&args, "\"1\", \"1.0\"}]");
    begin_call(world, VERB_EDIT, strbuf_text(&args), "[Wanted = 7]", 1, &call);
    wait_for(world, &call.answer.over);
    assert_int_equal(ad_int_or(call.answer.args, "Success", 0), COUNT + 1);
    end(&call);
    strbuf_fini(&args);
}

/* Under a sanitizer mallinfo2() knows nothing. */
static void jobs_that_were_loaded_share_what_they_have_in_common(void **state)
{
    struct world *world = *state;
    struct call call;
    submit_many(world);
    begin_call(world, VERB_EDIT, "[Constraint = \"true\"]",
               "[Wanted = 7; Arguments = \"one two\"; Out = \"out.1\"; MemoryUsage = 3]", 1, &call);
    wait_for(world, &call.answer.over);
    assert_int_equal(ad_int_or(call.answer.args, "Success", 0), COUNT);
    end(&call);
    daemon_run_destroy(world->run);
    world->run = NULL;
    struct mallinfo2 before = mallinfo2();
    start(world);
    struct mallinfo2 after = mallinfo2();
    size_t each_bytes =
        after.uordblks > before.uordblks ? (after.uordblks - before.uordblks) / COUNT : 0;
    assert_in_range(each_bytes, 0, 420);
    assert_int_equal(count_jobs(world, "Wanted == 7 && MemoryUsage == 3"), COUNT);
}

/* Returns the bytes in use; the log that the test keeps is emptied, as it has a line for each job.
 */
static size_t heap_bytes(struct world *world)
{
    strbuf_fini(&world->log_text);
    strbuf_init(&world->log_text, 0);
    return mallinfo2().uordblks;
}

static void what_jobs_took_is_given_back_when_they_have_left(void **state)
{
    struct world *world = *state;
    submit_many(world); /* what a schedd takes for its first jobs stays */
    act(world, "[Action = \"Remove\"; Ids = {\"1\"}]", "Success", COUNT);
    struct call call;
    size_t before = heap_bytes(world);
    begin(world, MANY, NULL, 0, &call);
    wait_for_ids(world, &call, 2, 0, COUNT - 1);
    end(&call);
    size_t most = heap_bytes(world);
    act(world, "[Action = \"Remove\"; Ids = {\"2\"}]", "Success", COUNT);
    trims = 0;
    LOOP_RIG_UNTIL(world->loop, trims > 0, "");
    size_t after = heap_bytes(world);
    assert_true(most == before || most - before > COUNT * 50); /* it does measure */
    assert_true(after < before + (most - before) / 10 + 1);
}

static int set_up_many(void **state)
{
    int result = set_up(state);
    configure(*state,
              "MAX_JOBS_PER_SUBMISSION = 0\nMAX_JOBS_PER_OWNER = 0\nMAX_CONSTRAINT_STEPS = 0\n");
    restart(*state);
    return result;
}

#define MANY_CASE(test) cmocka_unit_test_setup_teardown(test, set_up_many, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MANY_CASE(others_are_answered_while_many_jobs_are_added),
        MANY_CASE(others_are_answered_while_costly_jobs_are_judged),
        MANY_CASE(a_submission_that_the_end_of_the_schedd_cuts_off_leaves_no_job),
        MANY_CASE(further_jobs_that_the_end_of_the_schedd_cuts_off_leave_the_others),
        MANY_CASE(two_calls_to_one_cluster_come_one_after_the_other),
        MANY_CASE(what_is_removed_while_it_is_added_stays_removed),
        MANY_CASE(the_jobs_that_are_coming_count_in_the_limits),
        MANY_CASE(whoever_leaves_before_his_jobs_are_judged_leaves_nothing),
        MANY_CASE(others_are_answered_while_many_jobs_are_changed),
        MANY_CASE(whoever_leaves_in_the_middle_of_a_command_leaves_the_rest_undone),
        MANY_CASE(the_end_of_the_schedd_cuts_a_command_off),
        MANY_CASE(a_cluster_that_is_named_again_and_again_is_one),
        MANY_CASE(jobs_that_were_loaded_share_what_they_have_in_common),
        MANY_CASE(what_jobs_took_is_given_back_when_they_have_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
