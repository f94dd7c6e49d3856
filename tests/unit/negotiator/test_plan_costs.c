/* What judging strangers' expressions may cost, and that slices of it make no difference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <malloc.h>

#include "base/check.h"
#include "tests/support/plan_pool.h"

static int setup(void **state)
{
    struct pool *pool = calloc(1, sizeof(struct pool));
    pool->policy.offline_last = true;
    *state = pool;
    return 0;
}

static int teardown(void **state)
{
    empty(*state);
    free(*state);
    return 0;
}

#define COSTLY "regexp(\"(a+)+$\", strcat(\"aaaaaaaaaaaaaaaaaaaaaaaaab\", TARGET.Number))"
/* Each evaluation takes a little less than it may; all are true. */
#define HEAVY_OF(n) \
    "regexp(\"(a+)+$\", strcat(\"aaaaaaaaaab\", TARGET.Number, MyNumber, " #n ")) =!= true"
#define HEAVY "(" HEAVY_OF(1) ") && (" HEAVY_OF(2) ")"

/* What its expressions are is its own loss, and its author is told. */
static void what_costs_too_much_matches_nothing_and_is_told_once(void **state)
{
    static const char *const HOSTILE[] = {
        "[Requirements = " COSTLY " || true]",
        "[MyNumber = 7; Requirements = " HEAVY "]",
        "[MyNumber = 8; Requirements = " HEAVY_OF(3) "; Rank = " HEAVY_OF(4) " ? 7 : 8]",
    };
    struct pool *pool = *state;
    struct plan_costly costly;
    for (int i = 0; i < SLOTS; i++) {
        char slot[64];
        (void)snprintf(slot, sizeof slot, "[Requirements = true; Number = %d]", i);
        (void)live(pool, slot);
    }
    for (size_t i = 0; i < ARRAY_COUNT(HOSTILE); i++) {
        (void)add_request(pool, "eve", 1, HOSTILE[i]);
    }
    struct plan_request *honest = add_request(pool, "ann", 3, "[Requirements = TARGET.Number > 5]");
    cycle(pool);
    /* Prepared, as the negotiator does it: what a rank costs is found out before it is used. */
    while (!negotiator_plan_prepare(pool->plan, &NOW, false, 1000)) {
    }
    bool told[ARRAY_COUNT(HOSTILE)] = {false};
    while (negotiator_plan_take_costly(pool->plan, &costly)) {
        assert_false(costly.is_slot);
        assert_true(costly.number < ARRAY_COUNT(HOSTILE));
        assert_false(told[costly.number]);
        told[costly.number] = true;
    }
    for (size_t i = 0; i < ARRAY_COUNT(HOSTILE); i++) {
        assert_true(told[i]);
    }
    assert_int_equal(matches_of(pool, honest), 3);
    cycle(pool);
    assert_int_equal(matches_of(pool, honest), 3);
    assert_int_equal(pool->out.match_count, 3);
    assert_false(negotiator_plan_take_costly(pool->plan, &costly));
}

#define LESS(n) "regexp(\"(a+)+$\", strcat(\"aaaaaaaaab\", TARGET.Number, " #n ")) =!= true && "

static void a_slot_that_costs_too_much_is_told_and_others_match(void **state)
{
    struct pool *pool = *state;
    struct plan_costly costly;
    struct plan_slot *hostile = live(pool, "[Requirements = " LESS(1) LESS(2) LESS(3) LESS(4)
                                               LESS(5) LESS(6) LESS(7) "true]");
    struct plan_slot *honest = live(pool, "[Requirements = true]");
    for (int i = 0; i < REQUESTS; i++) {
        char job[64];
        (void)snprintf(job, sizeof job, "[Requirements = true; Number = %d]", i);
        (void)add_request(pool, "ann", 1, job);
    }
    cycle(pool);
    while (!negotiator_plan_prepare(pool->plan, &NOW, false, 1000)) {
    }
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_ptr_equal(&pool->slots[pool->out.matches[0].slot], honest);
    assert_true(negotiator_plan_take_costly(pool->plan, &costly));
    assert_true(costly.is_slot);
    assert_ptr_equal(&pool->slots[costly.number], hostile);
}

/* Judging an honest job with very many kinds of slots is no reason to leave it out. */
static void what_takes_a_little_for_each_of_many_slots_matches_them_all(void **state)
{
    enum { MANY = 800 };
    (void)state;
    struct negotiator_plan *plan = negotiator_plan_create();
    const struct plan_policy policy = {.offline_last = true};
    struct ad **ads = calloc(MANY + 1, sizeof *ads);
    char(*names)[32] = calloc(MANY, sizeof *names);
    negotiator_plan_set_policy(plan, &policy);
    for (uint32_t i = 0; i < MANY; i++) {
        ads[i] = parse("[Requirements = true]");
        ad_set_int(ads[i], "Number", (int64_t)i);
        (void)snprintf(names[i], sizeof names[i], "slot1@node%04u", i);
        const struct plan_slot slot = {.name = names[i],
                                       .machine = names[i] + 6,
                                       .ad = ads[i],
                                       .serial = i + 1,
                                       .number = i,
                                       .use = PLAN_USE_FREE};
        assert_int_equal(negotiator_plan_set_slot(plan, &slot), 0);
    }
    ads[MANY] =
        parse("[Requirements = regexp(\"(a+)+$\", strcat(\"aaaaaab\", TARGET.Number)) =!= 1]");
    const struct plan_request request = {.name = "request",
                                         .schedd = "schedd",
                                         .user = "ann",
                                         .auto_cluster = 1,
                                         .ad = ads[MANY],
                                         .serial = MANY + 1,
                                         .count = MANY};
    assert_int_equal(negotiator_plan_set_request(plan, &request), 0);
    struct arena *arena = arena_create(0, 0);
    const struct plan_input input = {.context = &NOW};
    struct plan_output out;
    struct plan_costly costly;
    assert_int_equal(negotiator_plan_cycle(plan, &input, arena, &out), 0);
    assert_int_equal(out.match_count, MANY);
    assert_false(negotiator_plan_take_costly(plan, &costly));
    arena_destroy(arena);
    negotiator_plan_destroy(plan);
    for (size_t i = 0; i <= MANY; i++) {
        ad_destroy(ads[i]);
    }
    free(names);
    free(ads);
}

/* The same verdicts as all at once, however small the slices are. */
static void a_cycle_that_was_prepared_in_slices_gives_the_same(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < SLOTS; i++) {
        char slot[80];
        (void)snprintf(slot, sizeof slot, "[Requirements = TARGET.Wish != %d; Number = %d]", i % 7,
                       i);
        (void)live(pool, slot);
    }
    for (int i = 0; i < REQUESTS; i++) {
        char job[160];
        (void)snprintf(job, sizeof job,
                       "[Wish = %d; Requirements = TARGET.Number %% 12 == %d && time() > 0;"
                       " Rank = TARGET.Number * MY.Wish]",
                       i, i);
        (void)add_request(pool, "ann", 2, job);
    }
    cycle(pool);
    size_t count = pool->out.match_count;
    assert_true(count > 0);
    struct plan_match *before = calloc(count, sizeof *before);
    memcpy(before, pool->out.matches, count * sizeof *before);
    size_t slices = 1;
    while (!negotiator_plan_prepare(pool->plan, &NOW, slices == 1, 50)) {
        slices++;
    }
    assert_true(slices > 5); /* what looked at the clock was judged anew */
    cycle(pool);
    assert_int_equal(pool->out.match_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pool->out.matches[i].slot, before[i].slot);
        assert_int_equal(pool->out.matches[i].request, before[i].request);
    }
    free(before);
}

/* A user's jobs with Requirements of their own, which leave again. */
static void what_is_kept_of_kinds_that_have_left_is_dropped(void **state)
{
    enum { JOBS = 2000 };
    struct pool *pool = *state;
    struct plan_request *requests = calloc(JOBS, sizeof *requests);
    char(*names)[32] = calloc(JOBS, sizeof *names);
    (void)live(pool, "[Requirements = true; Memory = 100]");
    (void)add_request(pool, "ann", 1, "[Requirements = true]");
    cycle(pool);
    size_t before = mallinfo2().uordblks;
    for (uint32_t i = 0; i < JOBS; i++) {
        char text[96];
        (void)snprintf(text, sizeof text, "[Requirements = TARGET.Memory > 1000 + %u]", i);
        (void)snprintf(names[i], sizeof names[i], "job%u", i);
        requests[i] = (struct plan_request){.name = names[i],
                                            .schedd = "schedd",
                                            .user = "bob",
                                            .auto_cluster = 100 + (int64_t)i,
                                            .ad = parse(text),
                                            .serial = ++pool->serial,
                                            .number = 100 + i,
                                            .count = 1};
        assert_int_equal(negotiator_plan_set_request(pool->plan, &requests[i]), 0);
    }
    cycle(pool);
    for (uint32_t i = 0; i < JOBS; i++) {
        negotiator_plan_drop_request(pool->plan, 100 + i);
        ad_destroy((struct ad *)requests[i].ad);
    }
    cycle(pool);
    size_t left = mallinfo2().uordblks;
    if (left > before + JOBS * 1000) {
        fail_msg("%zu bytes are left of each job", (left - before) / JOBS);
    }
    free(requests);
    free(names);
}

#define PLAN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_TESTS(cmocka_unit_test(what_takes_a_little_for_each_of_many_slots_matches_them_all),
           PLAN(what_costs_too_much_matches_nothing_and_is_told_once),
           PLAN(a_slot_that_costs_too_much_is_told_and_others_match),
           PLAN(a_cycle_that_was_prepared_in_slices_gives_the_same),
           PLAN(what_is_kept_of_kinds_that_have_left_is_dropped))
