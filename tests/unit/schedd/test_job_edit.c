/* tests/unit/schedd/test_job_edit.c - EDIT on a real schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

static void edit(struct world *world, const char *args, const char *changes, int status,
                 int64_t changed)
{
    struct answer answer;
    const char *const ads[] = {changes, NULL};
    assert_int_equal(call(world, VERB_EDIT, args, ads, &answer), status);
    if (status == 0) {
        assert_int_equal(ad_int_or(answer.args, "Success", -1), changed);
    }
    answer_fini(&answer);
}

static void what_is_set_is_there_after_a_restart(void **state)
{
    struct world *world = *state;
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    edit(world, "[Ids = {\"1.1\"}]", "[JobPrio = 7; Note = strcat(\"a\", \"b\")]", 0, 1);
    edit(world, "[Ids = {\"1\"}]", "[Color = \"red\"]", 0, 3);
    edit(world, "[Constraint = \"ProcId > 0\"]", "[Color = \"blue\"]", 0, 2);
    edit(world, "[Ids = {\"9.9\", \"1.0\"}]", "[Size = 4]", 0, 1);
    edit(world, "[Ids = {\"9.9\"}]", "[Size = 4]", 0, 0);
    restart(world);
    count_is(world, "[Constraint = \"ProcId == 1 && JobPrio == 7 && Note == \\\"ab\\\"\"]", 1);
    count_is(world, "[Constraint = \"Color == \\\"blue\\\"\"]", 2);
    count_is(world, "[Constraint = \"Color == \\\"red\\\" && Size == 4\"]", 1);
}

static void what_matters_for_matching_divides_the_jobs_anew(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    edit(world, "[Ids = {\"1.2\"}]", "[RequestMemory = 4096]", 0, 1);
    edit(world, "[Ids = {\"1.1\"}]", "[JobPrio = 5]", 0, 1);
    query(world, "[]", &answer);
    static const int IDS[] = {1, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ad_int_or(answer.ads.items[i], "AutoClusterId", 0), IDS[i]);
    }
    answer_fini(&answer);
    act(world, "[Action = \"Hold\"; Ids = {\"1.1\"}]", "Success", 1);
    edit(world, "[Ids = {\"1.1\"}]", "[RequestMemory = 4096]", 0, 1);
    act(world, "[Action = \"Release\"; Ids = {\"1.1\"}]", "Success", 1);
    count_is(world, "[Constraint = \"AutoClusterId == 2 && JobStatus == 1\"]", 2);
}

static void a_refused_edit_changes_nothing(void **state)
{
    struct world *world = *state;
    struct answer answer;
    (void)submit(world, "[" GOOD "; ProcCount = 2]");
    edit(world, "[Ids = {\"1\"}]", "[Color = 1; ClusterId = 5]", -EPERM, 0);
    edit(world, "[Ids = {\"1\"}]", "[Color = 1; Iwd = \"relative\"]", -EINVAL, 0);
    edit(world, "[Ids = {\"1\", \"x\"}]", "[Color = 1]", -EINVAL, 0);
    edit(world, "[Constraint = \"((\"]", "[Color = 1]", -EINVAL, 0);
    assert_int_equal(call(world, VERB_EDIT, "[Ids = {\"1\"}]", NULL, &answer), -EINVAL);
    answer_fini(&answer);
    count_is(world, "[Constraint = \"Color =?= undefined && ClusterId == 1\"]", 2);
}

static void a_policy_that_is_edited_in_is_asked(void **state)
{
    struct world *world = *state;
    (void)submit(world, "[" GOOD "]");
    edit(world, "[Ids = {\"1.0\"}]", "[PeriodicRemove = true]", 0, 1);
    size_t left = 1;
    for (uint64_t end_ms = loop_now_ms(world->loop) + LOOP_RIG_PATIENCE_MS;
         left > 0 && loop_now_ms(world->loop) < end_ms;) {
        struct answer answer;
        query(world, "[]", &answer);
        left = answer.ads.count;
        answer_fini(&answer);
    }
    assert_int_equal(left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_set_is_there_after_a_restart),
        CASE(what_matters_for_matching_divides_the_jobs_anew),
        CASE(a_refused_edit_changes_nothing),
        CASE(a_policy_that_is_edited_in_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
