/* Concurrency limits and ceilings in a negotiation cycle: never more is matched, or waited for,
 * than they let through.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/limit_plan.h"
#include "tests/support/plan_pool.h"

#define ANY "[Requirements = true]"

static double most(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "a") == 0 ? 3 : -1;
}

static int setup(void **state)
{
    struct pool *pool = calloc(1, sizeof(struct pool));
    pool->policy.offline_last = true;
    pool->limits = limit_plan_create();
    limit_plan_configure(pool->limits, most, NULL);
    *state = pool;
    return 0;
}

static int teardown(void **state)
{
    struct pool *pool = *state;
    limit_plan_destroy(pool->limits);
    empty(pool);
    free(pool);
    return 0;
}

static void requests_share_a_limit(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 10; i++) {
        (void)live(pool, ANY);
    }
    add_request(pool, "ann", 2, ANY)->limits = "a";
    add_request(pool, "bob", 5, ANY)->limits = "a,free";
    add_request(pool, "bob", 1, ANY)->limits = "free";
    cycle(pool);
    assert_int_equal(pool->out.match_count, 4);
    limit_plan_use(pool->limits, "a", 1);
    cycle(pool);
    assert_int_equal(pool->out.match_count, 3);
    limit_plan_use(pool->limits, "a:2", 1);
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1); /* of the one that has no such limit */
    assert_int_equal(pool->out.matches[0].request, 2);
}

static void no_machine_is_woken_for_a_job_that_may_not_run(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    for (int i = 0; i < 6; i++) {
        (void)asleep(pool, "s");
    }
    add_request(pool, "ann", 5, ANY)->limits = "a";
    add_request(pool, "bob", 5, ANY)->limits = "A";
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.held_count, 2);
}

static void holds_that_a_limit_does_not_let_through_any_more_are_taken_back(void **state)
{
    struct pool *pool = *state;
    struct plan_request *request = add_request(pool, "ann", 5, ANY);
    request->limits = "a";
    for (int i = 0; i < 3; i++) {
        hold(asleep(pool, i == 0 ? "s" : i == 1 ? "t" : "u"), request, 1);
    }
    cycle(pool);
    assert_int_equal(pool->out.released_count, 0);
    assert_int_equal(pool->out.held_count, 0);
    limit_plan_use(pool->limits, "a:2", 1);
    cycle(pool);
    assert_int_equal(pool->out.released_count, 2);
    assert_int_equal(pool->out.held_count, 0);
}

static void what_is_held_for_one_is_not_promised_to_another(void **state)
{
    struct pool *pool = *state;
    struct plan_request *first = add_request(pool, "ann", 2, ANY);
    first->limits = "a";
    hold(asleep(pool, "s"), first, 1);
    hold(asleep(pool, "t"), first, 1);
    (void)asleep(pool, "u");
    (void)asleep(pool, "v");
    add_request(pool, "bob", 4, ANY)->limits = "a";
    cycle(pool);
    assert_int_equal(pool->out.released_count, 0);
    assert_int_equal(pool->out.held_count, 1);
}

/* Else the machines would wake, get no job, sleep, and wake again. */
static void no_more_is_held_than_a_ceiling_allows(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 4; i++) {
        (void)asleep(pool, "wn09");
    }
    pool->users[0] = (struct share_user){.name = "ann", .in_use = 1, .ceiling = 3, .priority = 1};
    pool->user_count = 1;
    struct plan_request *ann = add_request(pool, "ann", 4, ANY);
    ann->explain = true;
    cycle(pool);
    assert_int_equal(pool->out.held_count, 2);
    assert_int_equal(pool->out.rejected_count, 1);
    assert_int_equal(pool->out.rejected[0].reason, PLAN_SUBMITTER_CEILING);
    hold(&pool->slots[0], ann, 1); /* those that are held already count, too */
    hold(&pool->slots[1], ann, 1);
    cycle(pool);
    assert_int_equal(pool->out.held_count, 0);
    (void)add_request(pool, "bob", 1, ANY); /* has no ceiling */
    cycle(pool);
    assert_int_equal(pool->out.held_count, 1);
}

/* A cycle in which user i is of group i + 1. */
static void cycle_with_groups(struct pool *pool, struct group_entry *groups, size_t count,
                              double total)
{
    for (size_t i = 0; i < pool->user_count; i++) {
        pool->users[i].group = 0;
    }
    cycle(pool); /* feeds the plan */
    for (size_t i = 0; i < pool->user_count; i++) {
        pool->users[i].group = i + 1;
    }
    group_plan_quotas(groups, count, total, true);
    const struct share_input shares = {.users = pool->users,
                                       .user_count = pool->user_count,
                                       .groups = groups,
                                       .group_count = count};
    const struct plan_input input = {.shares = &shares, .context = &NOW};
    assert_int_equal(negotiator_plan_cycle(pool->plan, &input, pool->arena, &pool->out), 0);
}

static size_t held_for(const struct pool *pool, const struct plan_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->out.held_count; i++) {
        count += &pool->requests[pool->out.held[i].request] == request ? 1 : 0;
    }
    return count;
}

/* Users 0 and 1 are of group 1 and 2, which may use half of the pool each. */
static void add_halves(struct pool *pool, struct group_entry groups[3], bool surplus)
{
    for (size_t i = 0; i < 8; i++) {
        (void)asleep(pool, "s");
    }
    groups[0] = (struct group_entry){.name = GROUP_ROOT_NAME, .ceiling = -1};
    for (size_t i = 1; i < 3; i++) {
        groups[i] = (struct group_entry){.name = i == 1 ? "chem" : "phys",
                                         .config_quota = 0.5,
                                         .is_dynamic = true,
                                         .accept_surplus = surplus,
                                         .ceiling = -1};
        pool->users[i - 1] = (struct share_user){.name = i == 1 ? "chem.ann" : "phys.bob",
                                                 .ceiling = -1,
                                                 .priority = 1};
    }
    pool->user_count = 2;
}

static void no_more_is_held_than_the_quota_of_the_group_allows(void **state)
{
    struct pool *pool = *state;
    struct group_entry groups[3];
    add_halves(pool, groups, false);
    struct plan_request *ann = add_request(pool, "chem.ann", 8, ANY);
    ann->explain = true;
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(pool->out.held_count, 4);
    assert_int_equal(pool->out.rejected_count, 1);
    assert_int_equal(pool->out.rejected[0].reason, PLAN_GROUP_QUOTA);
    pool->users[0].in_use = 3; /* slots in use and those that are held share the quota */
    hold(&pool->slots[0], ann, 1);
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(pool->out.held_count, 0);
    pool->users[0].in_use = 2;
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(pool->out.held_count, 1);
}

static void a_group_that_accepts_surplus_holds_what_others_leave(void **state)
{
    struct pool *pool = *state;
    struct group_entry groups[3];
    add_halves(pool, groups, true);
    struct plan_request *ann = add_request(pool, "chem.ann", 8, ANY);
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(pool->out.held_count, 8);
    struct plan_request *bob = add_request(pool, "phys.bob", 1, ANY); /* less than his quota */
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(held_for(pool, ann), 7);
    assert_int_equal(held_for(pool, bob), 1);
    bob->count = 8;
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(held_for(pool, ann), 4);
    assert_int_equal(held_for(pool, bob), 4);
}

static void what_a_group_wants_and_cannot_hold_is_surplus_too(void **state)
{
    struct pool *pool = *state;
    struct group_entry groups[3];
    add_halves(pool, groups, true);
    struct plan_request *ann = add_request(pool, "chem.ann", 8, ANY);
    struct plan_request *bob = add_request(pool, "phys.bob", 8, "[Requirements = false]");
    cycle_with_groups(pool, groups, 3, 8);
    assert_int_equal(held_for(pool, ann), 8);
    assert_int_equal(held_for(pool, bob), 0);
}

#define PLAN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(PLAN(requests_share_a_limit), PLAN(no_machine_is_woken_for_a_job_that_may_not_run),
           PLAN(holds_that_a_limit_does_not_let_through_any_more_are_taken_back),
           PLAN(what_is_held_for_one_is_not_promised_to_another),
           PLAN(no_more_is_held_than_a_ceiling_allows),
           PLAN(no_more_is_held_than_the_quota_of_the_group_allows),
           PLAN(a_group_that_accepts_surplus_holds_what_others_leave),
           PLAN(what_a_group_wants_and_cannot_hold_is_surplus_too))
