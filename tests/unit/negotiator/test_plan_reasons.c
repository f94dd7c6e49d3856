/* Why a request got nothing: one reason, the first that holds, and only of those that ask.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/limit_plan.h"
#include "tests/support/plan_pool.h"

#include "base/strbuf.h"

#define ANY "[Requirements = true]"

static double most(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "a") == 0 ? 1 : strcmp(name, "none") == 0 ? 0 : -1;
}

static int setup(void **state)
{
    struct pool *pool = calloc(1, sizeof(struct pool));
    pool->policy.offline_last = true;
    pool->policy.consider_preemption = true;
    pool->limits = limit_plan_create();
    limit_plan_configure(pool->limits, most, NULL);
    *state = pool;
    return 0;
}

static int teardown(void **state)
{
    struct pool *pool = *state;
    limit_plan_destroy(pool->limits);
    ad_expr_destroy((struct ad_expr *)pool->policy.preemption_requirements);
    empty(pool);
    free(pool);
    return 0;
}

static struct plan_request *asks(struct pool *pool, const char *user, int64_t count,
                                 const char *text)
{
    struct plan_request *request = add_request(pool, user, count, text);
    request->explain = true;
    return request;
}

static void add_user(struct pool *pool, const char *name, double priority, double ceiling)
{
    pool->users[pool->user_count++] =
        (struct share_user){.name = name, .priority = priority, .ceiling = ceiling};
}

static void in_use(struct pool *pool, const char *user, double rank)
{
    struct plan_slot *slot = live(pool, ANY);
    slot->use = PLAN_USE_TAKEN;
    slot->user = user;
    slot->current_rank = rank;
}

static void preempt_if(struct pool *pool, const char *text)
{
    struct ad_expr *expr = NULL;
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL), 0);
    ad_expr_destroy((struct ad_expr *)pool->policy.preemption_requirements);
    pool->policy.preemption_requirements = expr;
}

static void expect_one(struct pool *pool, uint32_t request, enum plan_reason reason)
{
    cycle(pool);
    assert_int_equal(pool->out.rejected_count, 1);
    assert_int_equal(pool->out.rejected[0].request, request);
    assert_int_equal(pool->out.rejected[0].reason, reason);
    cycle(pool); /* a plan that is asked again answers the same */
    assert_int_equal(pool->out.rejected_count, 1);
    assert_int_equal(pool->out.rejected[0].reason, reason);
}

static void who_does_not_ask_or_rests_or_gets_all_hears_nothing(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    (void)asleep(pool, "s");
    asks(pool, "ann", 2, ANY); /* one slot, and one machine that is woken */
    add_request(pool, "bob", 1, "[Requirements = false]");
    asks(pool, "cat", 1, "[Requirements = false]")->resting = true;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.held_count, 1);
    assert_int_equal(pool->out.rejected_count, 0);
}

static void nothing_matches(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    in_use(pool, "eve", 0);
    asks(pool, "ann", 1, "[Requirements = false]");
    expect_one(pool, 0, PLAN_NO_MATCH);
}

static void all_that_matched_was_given_away(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    asks(pool, "ann", 2, ANY);
    expect_one(pool, 0, PLAN_NO_MATCH);
    assert_int_equal(pool->out.match_count, 1);
}

static void a_limit_is_reached(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    (void)live(pool, ANY);
    asks(pool, "ann", 2, ANY)->limits = "a, none:0, free";
    expect_one(pool, 0, PLAN_CONCURRENCY_LIMIT);
    assert_int_equal(pool->out.match_count, 1);
    struct strbuf names;
    strbuf_init(&names, 0);
    limit_plan_reached(pool->limits, "free,a, none,b", &names);
    assert_string_equal(strbuf_text(&names), "a, none");
    strbuf_fini(&names);
}

static void a_limit_that_is_not_reached_is_no_reason(void **state)
{
    struct pool *pool = *state;
    asks(pool, "ann", 2, ANY)->limits = "a"; /* one of the two may run, and finds nothing */
    expect_one(pool, 0, PLAN_NO_MATCH);
}

static void the_ceiling_of_the_user_is_reached(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    (void)live(pool, ANY);
    add_user(pool, "ann", 10, 1);
    asks(pool, "ann", 2, ANY);
    expect_one(pool, 0, PLAN_SUBMITTER_CEILING);
    assert_int_equal(pool->out.match_count, 1);
}

static void slots_in_use_are_another_reason_for_each_user(void **state)
{
    struct pool *pool = *state;
    add_user(pool, "ann", 10, -1);
    add_user(pool, "eve", 20, -1);
    add_user(pool, "bob", 5, -1);
    in_use(pool, "bob", 0);
    asks(pool, "ann", 1, ANY);
    expect_one(pool, 0, PLAN_PRIORITY);
    in_use(pool, "ann", 0); /* its own */
    expect_one(pool, 0, PLAN_PRIORITY);
    in_use(pool, "eve", 1); /* ranked higher by its machine */
    expect_one(pool, 0, PLAN_PRIORITY);
    in_use(pool, "eve", 0);
    expect_one(pool, 0, PLAN_PREEMPTION_POLICY); /* not set: never */
    preempt_if(pool, "RemoteUserPrio > SubmitterUserPrio * 3");
    expect_one(pool, 0, PLAN_PREEMPTION_POLICY);
    pool->policy.consider_preemption = false;
    expect_one(pool, 0, PLAN_NO_MATCH);
    pool->policy.consider_preemption = true;
    preempt_if(pool, "RemoteUserPrio > SubmitterUserPrio * 1.2");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.rejected_count, 0);
}

static void what_the_group_may_have_is_used_up(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    (void)live(pool, ANY);
    add_user(pool, "chem.ann", 10, -1);
    struct group_entry groups[2] = {{.name = GROUP_ROOT_NAME, .ceiling = -1},
                                    {.name = "chem", .config_quota = 1, .ceiling = -1}};
    asks(pool, "chem.ann", 2, ANY);
    cycle(pool); /* feeds the plan */
    pool->users[0].group = 1;
    group_plan_quotas(groups, 2, 2, true);
    const struct share_input shares = {.users = pool->users,
                                       .user_count = 1,
                                       .groups = groups,
                                       .group_count = 2};
    const struct plan_input input = {.shares = &shares, .context = &NOW};
    assert_int_equal(negotiator_plan_cycle(pool->plan, &input, pool->arena, &pool->out), 0);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.rejected_count, 1);
    assert_int_equal(pool->out.rejected[0].reason, PLAN_GROUP_QUOTA);
}

#define PLAN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(PLAN(who_does_not_ask_or_rests_or_gets_all_hears_nothing), PLAN(nothing_matches),
           PLAN(all_that_matched_was_given_away), PLAN(a_limit_is_reached),
           PLAN(a_limit_that_is_not_reached_is_no_reason), PLAN(the_ceiling_of_the_user_is_reached),
           PLAN(slots_in_use_are_another_reason_for_each_user),
           PLAN(what_the_group_may_have_is_used_up))
