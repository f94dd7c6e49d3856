/* What the owner's expressions make of a claimed slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "classad/ad.h"
#include "startd/owner/policy_plan.h"

static const struct ad_context NOW = {.now_s = 1764000000};

/* Expressions by knob, "SUSPEND=KeyboardIdle < 60"; what is not named is absent. */
struct given {
    struct policy policy;
    struct ad *slot, *job;
};

static struct given given(const char *const *texts, const char *slot, const char *job)
{
    struct given given = {{{0}}, NULL, NULL};
    for (; *texts != NULL; texts++) {
        for (int i = 0; i < POLICY_EXPRS; i++) {
            const char *knob = policy_plan_knob((enum policy_expr)i);
            size_t length = strlen(knob);
            if (strncmp(*texts, knob, length) == 0 && (*texts)[length] == '=') {
                const char *text = *texts + length + 1;
                assert_int_equal(ad_expr_parse(text, strlen(text), AD_OLD, &given.policy.expr[i],
                                               NULL),
                                 0);
            }
        }
    }
    assert_int_equal(ad_parse(slot, strlen(slot), &given.slot, NULL), 0);
    if (job != NULL) {
        assert_int_equal(ad_parse(job, strlen(job), &given.job, NULL), 0);
    }
    return given;
}

static void drop(struct given *given)
{
    for (int i = 0; i < POLICY_EXPRS; i++) {
        ad_expr_destroy(given->policy.expr[i]);
    }
    ad_destroy(given->slot);
    ad_destroy(given->job);
}

static enum policy_step step(const char *const *texts, enum slot_state state,
                             enum slot_activity activity, const char *slot)
{
    struct given one = given(texts, slot, "[Owner = \"ann\"]");
    enum policy_step ret =
        policy_plan_step(&one.policy, state, activity, false, one.slot, one.job, &NOW);
    drop(&one);
    return ret;
}
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void no_policy_moves_nothing(void **state)
{
    (void)state;
    for (int activity = SLOT_IDLE; activity <= SLOT_KILLING; activity++) {
        assert_int_equal(step(TEXTS(""), SLOT_CLAIMED, (enum slot_activity)activity, "[]"),
                         POLICY_STAYS);
    }
}

static void a_running_job_is_suspended_where_that_is_wanted(void **state)
{
    (void)state;
    const char *busy = "[KeyboardIdle = 3]", *idle = "[KeyboardIdle = 300]";
    const char *const *texts = TEXTS("WANT_SUSPEND=true", "SUSPEND=KeyboardIdle < 60");
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_BUSY, busy), POLICY_SUSPENDS);
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_RETIRING, busy), POLICY_SUSPENDS);
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_BUSY, idle), POLICY_STAYS);
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_IDLE, busy), POLICY_STAYS);
    assert_int_equal(step(TEXTS("SUSPEND=true"), SLOT_CLAIMED, SLOT_BUSY, busy), POLICY_STAYS);
}

static void the_policy_may_look_at_the_job(void **state)
{
    (void)state;
    assert_int_equal(step(TEXTS("WANT_SUSPEND=TARGET.Owner == \"ann\"", "SUSPEND=true"),
                          SLOT_CLAIMED, SLOT_BUSY, "[]"),
                     POLICY_SUSPENDS);
    assert_int_equal(step(TEXTS("WANT_SUSPEND=TARGET.Owner == \"bob\"", "SUSPEND=true"),
                          SLOT_CLAIMED, SLOT_BUSY, "[]"),
                     POLICY_STAYS);
}

static void a_suspended_job_goes_on_or_has_to_go(void **state)
{
    (void)state;
    const char *const *texts = TEXTS("CONTINUE=Calm", "PREEMPT=Late");
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_SUSPENDED, "[Calm = true; Late = false]"),
                     POLICY_CONTINUES);
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_SUSPENDED, "[Calm = false; Late = true]"),
                     POLICY_PREEMPTS);
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_SUSPENDED, "[Calm = true; Late = true]"),
                     POLICY_PREEMPTS);
    assert_int_equal(step(texts, SLOT_CLAIMED, SLOT_SUSPENDED, "[Late = false]"), POLICY_STAYS);
}

static void a_job_that_is_not_to_be_suspended_is_preempted(void **state)
{
    (void)state;
    assert_int_equal(step(TEXTS("WANT_SUSPEND=false", "SUSPEND=true", "PREEMPT=true"), SLOT_CLAIMED,
                          SLOT_BUSY, "[]"),
                     POLICY_PREEMPTS);
    assert_int_equal(step(TEXTS("WANT_SUSPEND=true", "SUSPEND=true", "PREEMPT=true"), SLOT_CLAIMED,
                          SLOT_BUSY, "[]"),
                     POLICY_SUSPENDS);
    assert_int_equal(step(TEXTS("PREEMPT=true"), SLOT_CLAIMED, SLOT_RETIRING, "[]"),
                     POLICY_STAYS); /* it is on its way */
    assert_int_equal(step(TEXTS("PREEMPT=true"), SLOT_CLAIMED, SLOT_IDLE, "[]"), POLICY_PREEMPTS);
}

static void an_evicted_job_is_left_alone_until_its_time_is_over(void **state)
{
    (void)state;
    struct given one =
        given(TEXTS("WANT_SUSPEND=true", "SUSPEND=true", "PREEMPT=true"), "[]", "[]");
    assert_int_equal(policy_plan_step(&one.policy, SLOT_CLAIMED, SLOT_RETIRING, true, one.slot,
                                      one.job, &NOW),
                     POLICY_STAYS);
    drop(&one);
}

static void kill_ends_the_vacating(void **state)
{
    (void)state;
    assert_int_equal(step(TEXTS("KILL=true"), SLOT_PREEMPTING, SLOT_VACATING, "[]"), POLICY_KILLS);
    assert_int_equal(step(TEXTS("KILL=true"), SLOT_PREEMPTING, SLOT_KILLING, "[]"), POLICY_STAYS);
    assert_int_equal(step(TEXTS("KILL=true"), SLOT_CLAIMED, SLOT_BUSY, "[]"), POLICY_STAYS);
    assert_int_equal(step(TEXTS("KILL=Unknown"), SLOT_PREEMPTING, SLOT_VACATING, "[]"),
                     POLICY_STAYS);
}

static void only_a_clear_no_takes_the_time_to_vacate(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool vacates;
    } CASES[] = {{"WANT_VACATE=true", true},
                 {"WANT_VACATE=false", false},
                 {"WANT_VACATE=Unknown", true},
                 {"WANT_VACATE=\"word\"", true}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct given one = given(TEXTS(CASES[i].text), "[]", "[]");
        assert_int_equal(policy_plan_vacates(&one.policy, one.slot, one.job, &NOW),
                         CASES[i].vacates);
        drop(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_policy_moves_nothing),
        cmocka_unit_test(a_running_job_is_suspended_where_that_is_wanted),
        cmocka_unit_test(the_policy_may_look_at_the_job),
        cmocka_unit_test(a_suspended_job_goes_on_or_has_to_go),
        cmocka_unit_test(a_job_that_is_not_to_be_suspended_is_preempted),
        cmocka_unit_test(an_evicted_job_is_left_alone_until_its_time_is_over),
        cmocka_unit_test(kill_ends_the_vacating),
        cmocka_unit_test(only_a_clear_no_takes_the_time_to_vacate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
