/* What PREEMPTION_REQUIREMENTS says is shared between requests only where it says the same of all.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/limit_plan.h"
#include "tests/support/plan_pool.h"

static int setup(void **state)
{
    struct pool *pool = calloc(1, sizeof(struct pool));
    pool->policy.offline_last = true;
    pool->policy.consider_preemption = true;
    *state = pool;
    return 0;
}

static int teardown(void **state)
{
    struct pool *pool = *state;
    ad_expr_destroy((struct ad_expr *)pool->policy.preemption_requirements);
    limit_plan_destroy(pool->limits);
    empty(pool);
    free(pool);
    return 0;
}

static void preempt_if(struct pool *pool, const char *text)
{
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL), 0);
    pool->policy.preemption_requirements = expr;
}

static struct plan_slot *used_by_eve(struct pool *pool, const char *text)
{
    struct plan_slot *slot = live(pool, text);
    slot->use = PLAN_USE_TAKEN;
    slot->user = "eve";
    return slot;
}

static void add_users(struct pool *pool)
{
    static const struct share_user USERS[] = {{.name = "eve", .priority = 100, .ceiling = -1},
                                              {.name = "ann", .priority = 1, .ceiling = -1},
                                              {.name = "bob", .priority = 2, .ceiling = -1}};
    memcpy(pool->users, USERS, sizeof USERS);
    pool->user_count = 3;
}

/* The policy lets the second of ann's requests take slots over, not the first. */
static void expect_the_second(struct pool *pool, const char *policy)
{
    preempt_if(pool, policy);
    add_users(pool);
    for (int i = 0; i < 4; i++) {
        (void)used_by_eve(pool, "[Requirements = true; Likes = TARGET.Weight > 1]");
    }
    (void)add_request(pool, "ann", 2, "[Requirements = true; Weight = 1; Wants = MY.Weight > 1]");
    (void)add_request(pool, "ann", 2, "[Requirements = true; Weight = 2; Wants = MY.Weight > 1]");
    (void)add_request(pool, "ann", 2, "[Requirements = true; Weight = 1; Wants = MY.Weight > 1]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pool->out.matches[i].request, 1);
        assert_int_equal(pool->out.matches[i].preemption, PLAN_BY_PRIORITY);
    }
    assert_int_not_equal(pool->out.matches[0].slot, pool->out.matches[1].slot);
}

static void what_it_reads_of_the_job(void **state)
{
    expect_the_second(*state, "TARGET.Weight > 1");
}

static void an_expression_of_the_job(void **state)
{
    expect_the_second(*state, "TARGET.Wants");
}

static void an_expression_of_the_slot(void **state)
{
    expect_the_second(*state, "MY.Likes");
}

static void a_name_that_is_computed(void **state)
{
    expect_the_second(*state, "eval(\"TARGET.Weight\") > 1");
}

static void two_users_are_two(void **state)
{
    struct pool *pool = *state;
    preempt_if(pool, "TARGET.SubmitterUser == \"bob\"");
    add_users(pool);
    for (int i = 0; i < 3; i++) {
        (void)used_by_eve(pool, "[Requirements = true]");
    }
    (void)add_request(pool, "ann", 3, "[Requirements = true]");
    (void)add_request(pool, "bob", 1, "[Requirements = true]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.matches[0].request, 1);
}

static void requests_alike_do_not_get_one_slot_twice(void **state)
{
    struct pool *pool = *state;
    preempt_if(pool, "true");
    add_users(pool);
    for (int i = 0; i < 6; i++) {
        used_by_eve(pool, i % 2 == 0 ? "[Requirements = true; Rank = 1]"
                                     : "[Requirements = true; Rank = 0]")
            ->current_rank = 0;
    }
    (void)add_request(pool, "ann", 2, "[Requirements = true; A = 1; Rank = TARGET.Rank]");
    (void)add_request(pool, "ann", 2, "[Requirements = true; A = 2; Rank = -TARGET.Rank]");
    (void)add_request(pool, "ann", 4, "[Requirements = true; A = 3]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 6);
    bool seen[6] = {false};
    for (size_t i = 0; i < 6; i++) {
        const struct plan_match *match = &pool->out.matches[i];
        assert_false(seen[match->slot]);
        seen[match->slot] = true;
        assert_int_equal(match->preemption, match->slot % 2 == 0 ? PLAN_BY_RANK : PLAN_BY_PRIORITY);
    }
}

static double one(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return 1;
}

static void a_limit_holds_for_what_is_taken_over_too(void **state)
{
    struct pool *pool = *state;
    preempt_if(pool, "true");
    add_users(pool);
    pool->limits = limit_plan_create();
    limit_plan_configure(pool->limits, one, NULL);
    (void)used_by_eve(pool, "[Requirements = true]");
    (void)used_by_eve(pool, "[Requirements = true]");
    (void)add_request(pool, "ann", 1, "[Requirements = true; A = 1]");
    (void)add_request(pool, "ann", 1, "[Requirements = true; A = 2]");
    pool->requests[0].limits = pool->requests[1].limits = "a";
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
}

#define PLAN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(PLAN(what_it_reads_of_the_job), PLAN(an_expression_of_the_job),
           PLAN(an_expression_of_the_slot), PLAN(a_name_that_is_computed), PLAN(two_users_are_two),
           PLAN(requests_alike_do_not_get_one_slot_twice),
           PLAN(a_limit_holds_for_what_is_taken_over_too))
