/* Whose turn it is: slices of the pie, spins, groups, ceilings, floors, submitting machines.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/mem.h"
#include "negotiator/share_plan.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct group_entry none_group(void)
{
    return (struct group_entry){.name = GROUP_ROOT_NAME, .ceiling = -1};
}

static struct share_user user(const char *name, double priority, double in_use, double wanted)
{
    return (struct share_user){
        .name = name, .priority = priority, .in_use = in_use, .wanted = wanted, .ceiling = -1};
}

struct result {
    double got[16];   /* by user */
    size_t order[64]; /* users in the order of the first offers */
    size_t offers, only_rank;
    size_t machine_got[16];
};

/* All slots weigh `cost`, and every user takes all it is given, up to what it wants. */
static struct result run(struct share_input *in, double cost)
{
    struct result result;
    memset(&result, 0, sizeof result);
    double wanted[16];
    struct arena *arena = arena_create(0, (size_t)1 << 24);
    struct share_plan *plan;
    struct share_offer offer;
    double free = in->free;
    for (size_t i = 0; i < in->user_count; i++) {
        wanted[i] = in->users[i].wanted;
    }
    assert_int_equal(share_plan_create(in, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        if (result.offers < COUNT(result.order)) {
            result.order[result.offers] = offer.user;
        }
        result.offers++;
        result.only_rank += offer.only_rank ? 1 : 0;
        assert_true(result.offers < 100000);
        while (wanted[offer.user] >= cost && free >= cost && share_permits(plan, cost, false)) {
            share_took(plan, cost, false);
            wanted[offer.user] -= cost;
            free -= cost;
            result.got[offer.user] += cost;
            if (offer.machine != SHARE_ANY) {
                result.machine_got[offer.machine]++;
            }
        }
        if (wanted[offer.user] < cost) {
            share_exhausted(plan);
        }
    }
    arena_destroy(arena);
    return result;
}

/* total is what is free; the lightest match weighs 1. */
static struct share_input input_of(const struct share_user *users, size_t user_count,
                                   struct group_entry *groups, size_t group_count, double free)
{
    return (struct share_input){.users = users,
                                .user_count = user_count,
                                .groups = groups,
                                .group_count = group_count,
                                .free = free,
                                .total = free,
                                .weight_min = 1};
}

static struct result run_users(const struct share_user *users, size_t count, double free)
{
    struct group_entry groups[] = {none_group()};
    struct share_input in = input_of(users, count, groups, 1, free);
    group_plan_quotas(groups, 1, free, false);
    return run(&in, 1);
}

static void near(double is, double expected)
{
    if (fabs(is - expected) > 1e-6) {
        fail_msg("%f instead of %f", is, expected);
    }
}

static void free_slots_are_shared_in_the_ratio_of_priorities(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 0, 1000), user("b", 1000, 0, 1000),
                                       user("c", 2000, 0, 1000)};
    struct result result = run_users(users, COUNT(users), 70);
    near(result.got[0], 40);
    near(result.got[1], 20);
    near(result.got[2], 10);
}

static void what_a_user_has_counts_for_his_share(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 50, 1000), user("b", 500, 10, 1000)};
    struct result result = run_users(users, COUNT(users), 60);
    near(result.got[0], 10); /* 60 each in the end */
    near(result.got[1], 50);
}

static void who_is_above_his_share_gets_what_others_leave(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 90, 1000), user("b", 500, 0, 3)};
    struct result result = run_users(users, COUNT(users), 10);
    near(result.got[0], 7);
    near(result.got[1], 3);
}

static void slices_are_cut_alike_when_they_are_more_than_what_is_free(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 96, 1000), user("b", 500, 0, 1000),
                                       user("c", 500, 0, 1000)};
    struct result result = run_users(users, COUNT(users), 12);
    near(result.got[0], 0);
    near(result.got[1], 6);
    near(result.got[2], 6);
}

static void no_crumbs_are_left(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 0, 10), user("b", 500, 0, 10),
                                       user("c", 500, 0, 10)};
    struct result result = run_users(users, COUNT(users), 2);
    near(result.got[0], 1); /* a slice of two thirds is rounded up */
    near(result.got[1], 1);
    near(result.got[2], 0);
}

static void a_spin_that_matches_nothing_is_the_last(void **state)
{
    (void)state;
    struct share_user users[] = {user("a", 500, 0, 10), user("b", 500, 0, 10)};
    struct group_entry groups[] = {none_group()};
    users[1].ceiling = 3;
    struct share_input in = input_of(users, 2, groups, 1, 10);
    struct arena *arena = arena_create(0, (size_t)1 << 20);
    struct share_plan *plan;
    struct share_offer offer;
    size_t offers = 0;
    assert_int_equal(share_plan_create(&in, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        if (offers++ == 0) {
            near(offer.weight, 5);
            share_took(plan, 1, false);
        }
    }
    assert_int_equal(offers, 4); /* two spins */
    arena_destroy(arena);
}

static void the_better_priority_comes_first(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 900, 0, 10), user("b", 500, 0, 10),
                                       user("c", 700, 0, 10)};
    struct result result = run_users(users, COUNT(users), 1);
    assert_int_equal(result.order[0], 1);
    near(result.got[1], 1);
}

static void a_user_who_wants_nothing_gets_no_offer(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 50, 0), user("b", 500, 0, 10)};
    struct result result = run_users(users, COUNT(users), 10);
    near(result.got[1], 10);
    for (size_t i = 0; i < result.offers; i++) {
        assert_int_equal(result.order[i], 1);
    }
}

static void a_ceiling_is_never_passed(void **state)
{
    (void)state;
    struct share_user users[] = {user("a", 500, 3, 1000), user("b", 500, 0, 1000)};
    users[0].ceiling = 7.5;
    struct result result = run_users(users, COUNT(users), 100);
    near(result.got[0], 4);
    near(result.got[1], 96);
}

static void a_floor_is_filled_before_anybody_has_his_share(void **state)
{
    (void)state;
    struct share_user users[] = {user("a", 1, 0, 1000), user("b", 1000000, 1, 1000)};
    users[1].floor = 6;
    struct result result = run_users(users, COUNT(users), 20);
    near(result.got[1], 5);
    near(result.got[0], 15);
    assert_int_equal(result.order[0], 1);
}

static void heavy_slots_are_shared_by_weight(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 0, 1000), user("b", 1500, 0, 1000)};
    struct group_entry groups[] = {none_group()};
    struct share_input in = input_of(users, 2, groups, 1, 80);
    in.weight_min = 4;
    struct result result = run(&in, 4);
    near(result.got[0], 60);
    near(result.got[1], 20);
}

static void a_group_stays_within_its_quota(void **state)
{
    (void)state;
    struct share_user users[] = {user("g.a", 500, 0, 1000), user("h.b", 500, 0, 1000),
                                 user("c", 500, 0, 1000)};
    struct group_entry groups[] = {
        none_group(),
        {.name = "g", .config_quota = 30, .ceiling = -1},
        {.name = "h", .config_quota = 0.5, .is_dynamic = true, .ceiling = -1}};
    users[0].group = 1;
    users[1].group = 2;
    struct share_input in = input_of(users, COUNT(users), groups, COUNT(groups), 100);
    group_plan_quotas(groups, COUNT(groups), 100, false);
    struct result result = run(&in, 1);
    near(result.got[0], 30);
    near(result.got[1], 35);
    near(result.got[2], 35);
}

static void what_a_group_cannot_use_goes_to_others_in_a_later_round(void **state)
{
    (void)state;
    struct share_user users[] = {user("g.a", 500, 0, 1000), user("h.b", 500, 0, 1000)};
    struct group_entry groups[] = {
        none_group(),
        {.name = "g", .config_quota = 60, .ceiling = -1},
        {.name = "h", .config_quota = 40, .ceiling = -1, .accept_surplus = true}};
    users[0].group = 1;
    users[1].group = 2;
    struct share_input in = input_of(users, COUNT(users), groups, COUNT(groups), 100);
    struct arena *arena = arena_create(0, (size_t)1 << 24);
    struct share_plan *plan;
    struct share_offer offer;
    double got = 0;
    group_plan_quotas(groups, COUNT(groups), 100, false);
    assert_int_equal(share_plan_create(&in, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        if (offer.user == 0) { /* asks for 1000, but nothing matches */
            share_exhausted(plan);
            continue;
        }
        while (share_permits(plan, 1, false)) {
            share_took(plan, 1, false);
            got++;
        }
    }
    near(got, 100);
    arena_destroy(arena);
}

static void users_of_a_group_share_its_quota(void **state)
{
    (void)state;
    struct share_user users[] = {user("g.a", 500, 0, 1000), user("g.b", 1500, 0, 1000),
                                 user("c", 500, 0, 1000)};
    struct group_entry groups[] = {none_group(), {.name = "g", .config_quota = 40, .ceiling = -1}};
    users[0].group = users[1].group = 1;
    struct share_input in = input_of(users, COUNT(users), groups, COUNT(groups), 100);
    group_plan_quotas(groups, COUNT(groups), 100, false);
    struct result result = run(&in, 1);
    near(result.got[0], 30);
    near(result.got[1], 10);
    near(result.got[2], 60);
}

static void who_regroups_competes_for_what_is_left_at_the_end(void **state)
{
    (void)state;
    struct share_user users[] = {user("g.a", 500, 0, 1000), user("h.b", 500, 0, 1000),
                                 user("h.c", 1000, 0, 1000)};
    struct group_entry groups[] = {
        none_group(),
        {.name = "g", .config_quota = 10, .ceiling = -1},
        {.name = "h", .config_quota = 30, .ceiling = -1, .autoregroup = true}};
    users[0].group = 1;
    users[1].group = users[2].group = 2;
    struct share_input in = input_of(users, COUNT(users), groups, COUNT(groups), 100);
    group_plan_quotas(groups, COUNT(groups), 100, false);
    groups[0].sort_key = -5; /* last all the same */
    struct result result = run(&in, 1);
    near(result.got[0], 10);
    near(result.got[1], 60);
    near(result.got[2], 30);
}

static void the_round_robin_lets_groups_take_turns(void **state)
{
    (void)state;
    struct share_user users[] = {user("g.a", 500, 0, 1000), user("h.b", 500, 0, 1000)};
    struct group_entry groups[] = {none_group(),
                                   {.name = "g", .config_quota = 40, .ceiling = -1},
                                   {.name = "h", .config_quota = 40, .ceiling = -1}};
    users[0].group = 1;
    users[1].group = 2;
    struct share_input in = input_of(users, COUNT(users), groups, COUNT(groups), 20);
    in.total = 80;
    in.round_robin = 2;
    group_plan_quotas(groups, COUNT(groups), 80, false);
    struct result result = run(&in, 1);
    near(result.got[0], 10);
    near(result.got[1], 10);
    in.round_robin = 0;
    result = run(&in, 1);
    near(result.got[0], 20);
}

static void the_ceiling_of_a_group_binds_all_its_users(void **state)
{
    (void)state;
    struct share_user users[] = {user("g.a", 500, 2, 1000), user("g.b", 500, 0, 1000)};
    struct group_entry groups[] = {
        none_group(), {.name = "g", .config_quota = 100, .ceiling = 12, .autoregroup = true}};
    users[0].group = users[1].group = 1;
    struct share_input in = input_of(users, COUNT(users), groups, COUNT(groups), 100);
    group_plan_quotas(groups, COUNT(groups), 100, false);
    struct result result = run(&in, 1);
    near(result.got[0] + result.got[1], 10);
    near(result.got[1], 6);
}

static void with_preemption_shares_are_of_the_whole_pool(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 90, 1000), user("b", 500, 10, 1000)};
    struct group_entry groups[] = {none_group()};
    struct share_input in = input_of(users, 2, groups, 1, 0);
    in.total = 100;
    in.consider_preemption = true;
    struct arena *arena = arena_create(0, (size_t)1 << 24);
    struct share_plan *plan;
    struct share_offer offer;
    double taken = 0;
    size_t only_rank = 0;
    assert_int_equal(share_plan_create(&in, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        only_rank += offer.only_rank ? 1 : 0;
        assert_int_equal(offer.only_rank, offer.user == 0);
        assert_false(share_permits(plan, 1, false)); /* nothing is free */
        while (share_permits(plan, 1, true)) {
            share_took(plan, 1, true);
            taken++;
        }
    }
    near(taken, 40);
    assert_int_equal(only_rank, 1);
    arena_destroy(arena);
}

/* A slot that is taken over counts as used twice, by both its users. */
static void what_is_free_is_shared_though_all_have_their_shares(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", 500, 14, 10), user("b", 500, 8, 10)};
    struct group_entry groups[] = {none_group()};
    struct share_input in = input_of(users, 2, groups, 1, 4);
    in.total = 12;
    in.consider_preemption = true;
    group_plan_quotas(groups, 1, in.total, false);
    struct arena *arena = arena_create(0, (size_t)1 << 24);
    struct share_plan *plan;
    struct share_offer offer;
    double got[2] = {0, 0};
    assert_int_equal(share_plan_create(&in, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        assert_false(share_permits(plan, 1, true)); /* nobody may take more over */
        while (share_permits(plan, 1, false)) {
            share_took(plan, 1, false);
            got[offer.user]++;
        }
    }
    near(got[0] + got[1], 4);
    near(got[1], 4); /* b has less than half */
    arena_destroy(arena);
}

/* ---- submitting machines */

static struct result run_machines(const struct share_machine *machines, size_t machine_count,
                                  const struct share_pair *pairs, size_t pair_count,
                                  const struct share_user *users, size_t user_count, double free)
{
    struct group_entry groups[] = {none_group()};
    struct share_input in = input_of(users, user_count, groups, 1, free);
    in.machines = machines;
    in.machine_count = machine_count;
    in.pairs = pairs;
    in.pair_count = pair_count;
    return run(&in, 1);
}

static void the_submitting_machine_of_the_highest_prio_is_first(void **state)
{
    (void)state;
    const struct share_machine machines[] = {{"low", -5}, {"high", 5}};
    const struct share_user users[] = {user("a", 1, 0, 100), user("b", 1000, 0, 100)};
    const struct share_pair pairs[] = {{0, 0}, {1, 1}};
    struct result result = run_machines(machines, 2, pairs, 2, users, 2, 8);
    near(result.got[0], 0);
    near(result.got[1], 8); /* whatever the users' priorities say */
}

static void submitting_machines_that_are_equal_take_turns(void **state)
{
    (void)state;
    const struct share_machine machines[] = {{"x", 3}, {"y", 0}, {"z", 0}};
    const struct share_user users[] = {user("a", 1, 0, 100), user("b", 9, 0, 100),
                                       user("c", 5, 0, 100)};
    const struct share_pair pairs[] = {{0, 0}, {1, 1}, {2, 2}};
    struct result result = run_machines(machines, 3, pairs, 3, users, 3, 12);
    near(result.got[0], 6); /* three ahead, then nine for three */
    near(result.got[1], 3);
    near(result.got[2], 3);
}

static void users_of_one_submitting_machine_come_by_priority(void **state)
{
    (void)state;
    const struct share_machine machines[] = {{"x", 0}};
    struct share_user users[] = {user("a", 9, 0, 100), user("b", 1, 0, 4), user("c", 5, 0, 100)};
    const struct share_pair pairs[] = {{0, 0}, {1, 0}, {2, 0}};
    users[2].ceiling = 3;
    struct result result = run_machines(machines, 1, pairs, 3, users, 3, 10);
    near(result.got[1], 4);
    near(result.got[2], 3);
    near(result.got[0], 3);
}

/* ---- limits */

static void a_hundred_thousand_users_are_no_pause(void **state)
{
    (void)state;
    const size_t count = 100000;
    struct share_user *users = mem_alloc(count * sizeof *users);
    char *names = mem_alloc(count * 16);
    struct group_entry groups[] = {none_group()};
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(names + i * 16, 16, "u%zu", i);
        users[i] =
            user(names + i * 16, 500 + (double)(i % 977), (double)(i % 13), i % 3 == 0 ? 2 : 50);
    }
    struct share_input in = input_of(users, count, groups, 1, 1000000);
    in.total = 2000000;
    struct arena *arena = arena_create(0, (size_t)1 << 28);
    struct share_plan *plan;
    struct share_offer offer;
    double *left = mem_alloc(count * sizeof *left), taken = 0;
    for (size_t i = 0; i < count; i++) {
        left[i] = users[i].wanted;
    }
    struct timespec begin, end;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    assert_int_equal(share_plan_create(&in, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        while (left[offer.user] > 0 && share_permits(plan, 1, false)) {
            share_took(plan, 1, false);
            left[offer.user]--;
            taken++;
        }
        if (left[offer.user] <= 0) {
            share_exhausted(plan);
        }
    }
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double spent_s =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    near(taken, 1000000);
    print_message("%zu users, 1,000,000 jobs: %.3f s\n", count, spent_s);
    assert_true(spent_s < 5); /* some tenths; quadratic cost would be minutes */
    arena_destroy(arena);
    mem_free(left);
    mem_free(names);
    mem_free(users);
}

static void too_many_users_are_refused(void **state)
{
    (void)state;
    struct group_entry groups[] = {none_group()};
    struct share_input in = {.user_count = SHARE_USERS_MAX + 1, .groups = groups, .group_count = 1};
    struct arena *arena = arena_create(0, (size_t)1 << 20);
    struct share_plan *plan = NULL;
    assert_int_equal(share_plan_create(&in, arena, &plan), -E2BIG);
    in.user_count = 0;
    in.group_count = 0;
    assert_int_equal(share_plan_create(&in, arena, &plan), -E2BIG);
    assert_null(plan);
    arena_destroy(arena);
}

static void a_priority_that_is_none_hurts_nobody(void **state)
{
    (void)state;
    const struct share_user users[] = {user("a", NAN, 0, 5), user("b", 500, 0, 5),
                                       user("c", 0, 0, 5)};
    struct result result = run_users(users, COUNT(users), 15);
    near(result.got[0], 5);
    near(result.got[1], 5);
    near(result.got[2], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_slots_are_shared_in_the_ratio_of_priorities),
        cmocka_unit_test(what_a_user_has_counts_for_his_share),
        cmocka_unit_test(who_is_above_his_share_gets_what_others_leave),
        cmocka_unit_test(slices_are_cut_alike_when_they_are_more_than_what_is_free),
        cmocka_unit_test(no_crumbs_are_left),
        cmocka_unit_test(a_spin_that_matches_nothing_is_the_last),
        cmocka_unit_test(the_better_priority_comes_first),
        cmocka_unit_test(a_user_who_wants_nothing_gets_no_offer),
        cmocka_unit_test(a_ceiling_is_never_passed),
        cmocka_unit_test(a_floor_is_filled_before_anybody_has_his_share),
        cmocka_unit_test(heavy_slots_are_shared_by_weight),
        cmocka_unit_test(a_group_stays_within_its_quota),
        cmocka_unit_test(what_a_group_cannot_use_goes_to_others_in_a_later_round),
        cmocka_unit_test(users_of_a_group_share_its_quota),
        cmocka_unit_test(who_regroups_competes_for_what_is_left_at_the_end),
        cmocka_unit_test(the_round_robin_lets_groups_take_turns),
        cmocka_unit_test(the_ceiling_of_a_group_binds_all_its_users),
        cmocka_unit_test(with_preemption_shares_are_of_the_whole_pool),
        cmocka_unit_test(what_is_free_is_shared_though_all_have_their_shares),
        cmocka_unit_test(the_submitting_machine_of_the_highest_prio_is_first),
        cmocka_unit_test(submitting_machines_that_are_equal_take_turns),
        cmocka_unit_test(users_of_one_submitting_machine_come_by_priority),
        cmocka_unit_test(a_hundred_thousand_users_are_no_pause),
        cmocka_unit_test(too_many_users_are_refused),
        cmocka_unit_test(a_priority_that_is_none_hurts_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
