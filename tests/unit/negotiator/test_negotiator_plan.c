/* One negotiation cycle: matches, holds, shares; against a naive reference on small random pools.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/random.h"
#include "base/strbuf.h"
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

static size_t holds_of(const struct pool *pool, const struct plan_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->out.held_count; i++) {
        count += &pool->requests[pool->out.held[i].request] == request ? 1 : 0;
    }
    return count;
}

#define ANY "[Requirements = true]"

static void a_running_slot_is_taken_before_a_sleeping_machine_is_held(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *sleeper = asleep(pool, "s1");
    (void)asleep(pool, "s2");
    struct plan_slot *running = live(pool, ANY);
    (void)add_request(pool, "ann", 2, "[Requirements = true; Rank = TARGET.Nice]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_ptr_equal(&pool->slots[pool->out.matches[0].slot], running);
    assert_int_equal(pool->out.held_count, 1);
    assert_ptr_equal(&pool->slots[pool->out.held[0].slot], sleeper);
}

static void never_more_machines_are_held_than_jobs_want(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 6; i++) {
        (void)asleep(pool, i < 3 ? "s1" : "s2");
    }
    struct plan_request *request = add_request(pool, "ann", 4, ANY);
    hold(&pool->slots[1], request, 1);
    request->in_flight = 1;
    cycle(pool);
    assert_int_equal(pool->out.held_count, 2); /* 4 less one in flight less one held */
    assert_int_equal(pool->out.released_count, 0);
}

static void slots_of_a_machine_that_wakes_anyway_are_held_first(void **state)
{
    struct pool *pool = *state;
    struct plan_request *other = add_request(pool, "bob", 1, ANY);
    (void)asleep(pool, "a");
    (void)asleep(pool, "b");
    struct plan_slot *held = asleep(pool, "b");
    hold(held, other, 1);
    (void)asleep(pool, "c");
    struct plan_request *mine = add_request(pool, "ann", 1, ANY);
    cycle(pool);
    assert_int_equal(holds_of(pool, mine), 1);
    assert_string_equal(pool->slots[pool->out.held[0].slot].machine, "b");
}

static void jobs_of_one_cycle_fill_a_machine_before_the_next_is_woken(void **state)
{
    struct pool *pool = *state;
    static const char *const MACHINES[] = {"b", "a", "c", "a", "b", "c", "b", "a"};
    for (size_t i = 0; i < 8; i++) {
        (void)asleep(pool, MACHINES[i]);
    }
    (void)add_request(pool, "ann", 1, ANY);
    (void)add_request(pool, "bob", 2, ANY);
    cycle(pool);
    assert_int_equal(pool->out.held_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(pool->slots[pool->out.held[i].slot].machine, "a");
    }
}

static void a_machine_that_is_being_woken_counts_as_near(void **state)
{
    struct pool *pool = *state;
    (void)asleep(pool, "a");
    asleep(pool, "b")->waking = true;
    (void)add_request(pool, "ann", 1, ANY);
    cycle(pool);
    assert_int_equal(pool->out.held_count, 1);
    assert_string_equal(pool->slots[pool->out.held[0].slot].machine, "b");
}

static void a_machine_is_taken_back_before_another_is_woken_but_behind_those_that_wake(void **state)
{
    struct pool *pool = *state;
    (void)asleep(pool, "a");
    struct plan_slot *back[2] = {asleep(pool, "b"), asleep(pool, "b")};
    back[0]->reclaimable = back[1]->reclaimable = true;
    (void)asleep(pool, "c");
    struct plan_slot *waking = asleep(pool, "d");
    waking->waking = true;
    struct plan_request *mine = add_request(pool, "ann", 1, ANY);
    static const char *const ORDER[] = {"d", "b", "b", "a", "c"};
    for (size_t jobs = 1; jobs <= 5; jobs++) {
        mine->count = (int64_t)jobs;
        cycle(pool);
        assert_int_equal(pool->out.held_count, jobs);
        for (size_t i = 0; i < jobs; i++) {
            assert_string_equal(pool->slots[pool->out.held[i].slot].machine, ORDER[i]);
        }
    }
    (void)live(pool, "[Requirements = true]"); /* a running one comes first */
    mine->count = 1;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.held_count, 0);
}

static void one_that_can_be_taken_back_no_more_is_asleep_like_any(void **state)
{
    struct pool *pool = *state;
    (void)asleep(pool, "a");
    struct plan_slot *back = asleep(pool, "b");
    back->reclaimable = true;
    (void)add_request(pool, "ann", 1, ANY);
    cycle(pool);
    assert_string_equal(pool->slots[pool->out.held[0].slot].machine, "b");
    back->reclaimable = false; /* its ad is the same: its time is over */
    cycle(pool);
    assert_string_equal(pool->slots[pool->out.held[0].slot].machine, "a");
}

static void pieces_fill_what_is_taken_back_before_another_machine_is_woken(void **state)
{
    struct pool *pool = *state;
    static const char PARTS[] =
        "[PartitionableSlot = true; Cpus = 8; Memory = 8000; Disk = 8000; Requirements = true]";
    add_slot(pool, "a", PARTS)->offline = true;
    struct plan_slot *back = add_slot(pool, "b", PARTS);
    back->offline = back->reclaimable = true;
    (void)add_request(pool, "ann", 6, "[Requirements = true; RequestCpus = 2; RequestMemory = 1]");
    cycle(pool);
    assert_int_equal(pool->out.held_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(pool->slots[pool->out.held[i].slot].machine, i < 4 ? "b" : "a");
    }
}

static void a_hold_is_taken_back_when_its_request_goes(void **state)
{
    struct pool *pool = *state;
    const struct plan_request gone = {.schedd = "schedd", .auto_cluster = 77};
    const struct plan_request elsewhere = {.schedd = "another", .auto_cluster = 1};
    hold(asleep(pool, "a"), &gone, 1);
    hold(asleep(pool, "b"), &elsewhere, 2);
    struct plan_request *request = add_request(pool, "ann", 1, ANY);
    hold(asleep(pool, "c"), request, 1);
    cycle(pool);
    assert_int_equal(pool->out.released_count, 2);
    assert_int_equal(pool->out.released[0].slot, 0);
    assert_int_equal(pool->out.released[0].auto_cluster, 77);
    assert_int_equal(pool->out.released[1].slot, 1);
    assert_string_equal(pool->out.released[1].schedd, "another");
    assert_int_equal(pool->out.held_count, 0);
}

static void a_machine_that_is_let_go_can_be_held_again_in_the_same_cycle(void **state)
{
    struct pool *pool = *state;
    const struct plan_request gone = {.schedd = "schedd", .auto_cluster = 77};
    (void)asleep(pool, "a");
    struct plan_slot *waking = asleep(pool, "b");
    hold(waking, &gone, 1);
    waking->waking = true;
    (void)add_request(pool, "ann", 1, ANY);
    cycle(pool);
    assert_int_equal(pool->out.released_count, 1);
    assert_int_equal(pool->out.held_count, 1);
    assert_string_equal(pool->slots[pool->out.held[0].slot].machine, "b");
}

static void surplus_holds_go_but_waking_machines_keep_theirs(void **state)
{
    struct pool *pool = *state;
    struct plan_request *request = add_request(pool, "ann", 1, ANY);
    for (int i = 0; i < 3; i++) {
        char machine[16];
        (void)snprintf(machine, sizeof machine, "m%d", i);
        hold(asleep(pool, machine), request, 1);
    }
    pool->slots[2].waking = true;
    cycle(pool);
    assert_int_equal(pool->out.released_count, 2);
    assert_int_equal(pool->out.released[0].slot, 1);
    assert_int_equal(pool->out.released[1].slot, 0);
    pool->requests[0].count = 0;
    pool->slots[1].waking = pool->slots[0].waking = true;
    cycle(pool);
    assert_int_equal(pool->out.released_count, 0);
}

static void what_the_surplus_of_one_frees_another_may_have_at_once(void **state)
{
    struct pool *pool = *state;
    struct plan_request *wants = add_request(pool, "ann", 1, ANY);
    struct plan_request *had = add_request(pool, "bob", 0, ANY);
    hold(asleep(pool, "m"), had, 1);
    cycle(pool);
    assert_int_equal(pool->out.released_count, 1);
    assert_int_equal(holds_of(pool, wants), 1);
}

static void live_slots_that_appear_take_the_place_of_holds(void **state)
{
    struct pool *pool = *state;
    struct plan_request *request = add_request(pool, "ann", 2, ANY);
    hold(asleep(pool, "a"), request, 1);
    hold(asleep(pool, "b"), request, 1);
    (void)live(pool, ANY);
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.released_count, 1);
    assert_int_equal(pool->out.released[0].slot, 1);
}

static void a_hold_is_not_cut_when_less_would_be_held_than_wanted(void **state)
{
    struct pool *pool = *state;
    struct plan_request *request = add_request(pool, "ann", 2, ANY);
    hold(asleep(pool, "a"), request, 3);
    cycle(pool);
    assert_int_equal(pool->out.released_count, 0);
    assert_int_equal(pool->out.held_count, 0);
}

static void barred_machines_are_not_held_and_lose_their_holds(void **state)
{
    struct pool *pool = *state;
    struct plan_request *request = add_request(pool, "ann", 1, ANY);
    struct plan_slot *barred = asleep(pool, "a");
    hold(barred, request, 1);
    barred->barred = true;
    (void)asleep(pool, "b");
    cycle(pool);
    assert_int_equal(pool->out.released_count, 1);
    assert_int_equal(pool->out.released[0].slot, 0);
    assert_int_equal(pool->out.held_count, 1);
    assert_int_equal(pool->out.held[0].slot, 1);
}

static void two_users_share_as_their_priorities_say(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 12; i++) {
        (void)live(pool, ANY);
    }
    struct plan_request *ann = add_request(pool, "ann", 100, ANY);
    struct plan_request *bob = add_request(pool, "bob", 100, ANY);
    pool->users[0] = (struct share_user){.ceiling = -1, .name = "ann", .priority = 1000};
    pool->users[1] = (struct share_user){.ceiling = -1, .name = "bob", .priority = 500};
    pool->user_count = 2;
    cycle(pool);
    assert_int_equal(matches_of(pool, ann), 4);
    assert_int_equal(matches_of(pool, bob), 8);
    ann->count = 1; /* what one does not want the other gets, over more rounds */
    cycle(pool);
    assert_int_equal(matches_of(pool, ann), 1);
    assert_int_equal(matches_of(pool, bob), 11);
}

static void the_better_priority_gets_the_last_slot(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    struct plan_request *ann = add_request(pool, "ann", 1, ANY);
    ann->prio = 9; /* JobPrio orders the jobs of one user only */
    struct plan_request *new = add_request(pool, "new", 1, ANY);
    pool->users[0] = (struct share_user){.ceiling = -1, .name = "ann", .priority = 500};
    pool->user_count = 1;
    cycle(pool);
    assert_int_equal(matches_of(pool, ann), 0);
    assert_int_equal(matches_of(pool, new), 1);
}

static void a_users_requests_go_by_priority_then_age(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    struct plan_request *young = add_request(pool, "ann", 1, ANY);
    struct plan_request *old = add_request(pool, "ann", 1, ANY);
    struct plan_request *dear = add_request(pool, "ann", 1, ANY);
    young->qdate_s = 20;
    old->qdate_s = 10;
    dear->qdate_s = 30;
    dear->prio = 5;
    cycle(pool);
    assert_int_equal(matches_of(pool, dear), 1);
    dear->count = 0;
    cycle(pool);
    assert_int_equal(matches_of(pool, old), 1);
}

static void slots_go_by_pre_job_rank_then_rank_then_post_job_rank(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, "[Requirements = true; Pre = 1; Nice = 1; Post = 9]");
    (void)live(pool, "[Requirements = true; Pre = 1; Nice = 2; Post = 1]");
    (void)live(pool, "[Requirements = true; Pre = 1; Nice = 2; Post = 2]");
    (void)live(pool, "[Requirements = true; Pre = 2; Nice = 0; Post = 0]");
    (void)add_request(pool, "ann", 4, "[Requirements = true; Rank = TARGET.Nice]");
    assert_int_equal(ad_expr_parse("MY.Pre", 6, AD_NEW, &pool->pre_job, NULL), 0);
    assert_int_equal(ad_expr_parse("MY.Post", 7, AD_NEW, &pool->post_job, NULL), 0);
    cycle(pool);
    static const size_t ORDER[] = {3, 2, 1, 0};
    assert_int_equal(pool->out.match_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pool->out.matches[i].slot, ORDER[i]);
    }
}

static void a_rank_that_is_no_number_does_not_upset_the_order(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 20; i++) {
        char text[80];
        (void)snprintf(text, sizeof text, "[Requirements = true; Nice = %s]",
                       i % 3 == 0   ? "real(\"NaN\")"
                       : i % 3 == 1 ? "-1.0"
                                    : "2.0");
        (void)live(pool, text);
    }
    (void)add_request(pool, "ann", 20, "[Requirements = true; Rank = TARGET.Nice]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 20);
    for (size_t i = 0; i < 20; i++) { /* 6 of 2.0, then 7 of NaN (as 0), then 7 of -1.0 */
        assert_int_equal(pool->out.matches[i].slot % 3, i < 6 ? 2 : i < 13 ? 0 : 1);
    }
}

static void what_is_in_flight_is_not_matched_again(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    (void)live(pool, ANY);
    struct plan_request *request = add_request(pool, "ann", 2, ANY);
    request->in_flight = 2;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 0);
    request->in_flight = 1;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    request->count = INT64_MIN; /* nonsense of a request's ad is nothing wanted */
    cycle(pool);
    assert_int_equal(pool->out.match_count, 0);
}

static void a_job_that_waits_for_a_slot_in_use_gets_a_free_one_only(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *slot = live(pool, ANY);
    (void)asleep(pool, "wn09");
    struct plan_request *request = add_request(pool, "ann", 0, ANY);
    request->waiting = 1;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.held_count, 0);
    request->in_flight = 1; /* that match was sent */
    cycle(pool);
    assert_int_equal(pool->out.match_count, 0);
    request->in_flight = 0;
    slot->use = PLAN_USE_BUSY;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 0);
    assert_int_equal(pool->out.held_count, 0); /* no machine is woken for it */
}

static void a_job_that_waits_leaves_the_slots_to_others_while_its_schedd_rests(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, ANY);
    (void)live(pool, ANY);
    struct plan_request *ann = add_request(pool, "ann", 0, ANY);
    ann->waiting = INT64_MAX;
    ann->resting = true;
    (void)add_request(pool, "bob", 2, ANY);
    cycle(pool);
    assert_int_equal(pool->out.match_count, 2);
    assert_int_equal(pool->out.matches[0].request, 1);
    assert_int_equal(pool->out.matches[1].request, 1);
    pool->requests[1].count = 1;
    pool->requests[0].resting = false;
    pool->requests[0].count = INT64_MAX;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 2); /* and each has one */
}

static void a_request_that_rests_gets_nothing_new_and_keeps_what_it_has(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *sleeper = asleep(pool, "s1");
    (void)asleep(pool, "s2");
    (void)add_request(pool, "ann", 2, ANY);
    struct offline_holds *holds = offline_holds_create();
    const struct offline_hold hold = {.schedd = pool->requests[0].schedd,
                                      .auto_cluster = pool->requests[0].auto_cluster,
                                      .count = 1,
                                      .until_s = NOW.now_s + 100};
    assert_int_equal(offline_holds_add(holds, &hold), 0);
    sleeper->holds = holds;
    (void)live(pool, ANY);
    pool->requests[0].resting = true;
    cycle(pool);
    assert_int_equal(pool->out.match_count, 0);
    assert_int_equal(pool->out.held_count, 0);
    assert_int_equal(pool->out.released_count, 0);
    (void)add_request(pool, "bob", 1, ANY); /* others are not kept waiting */
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.matches[0].request, 1);
}

static void slots_that_are_not_free_are_left_alone(void **state)
{
    struct pool *pool = *state;
    live(pool, ANY)->use = PLAN_USE_BUSY;
    (void)add_request(pool, "ann", 1, ANY);
    cycle(pool);
    assert_int_equal(pool->out.match_count, 0);
}

static void ads_alike_are_judged_once_and_not_again(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 5; i++) {
        (void)live(pool, "[Requirements = TARGET.Owner == 3; Memory = 2; X = MY.Name]");
    }
    for (int i = 0; i < 3; i++) {
        (void)add_request(pool, "ann", 1, "[Requirements = TARGET.Memory > 1; Owner = 2]");
    }
    cycle(pool);
    size_t once = pool->out.evaluated;
    assert_int_equal(pool->out.slot_kinds, 1);
    assert_int_equal(pool->out.request_kinds, 1);
    assert_in_range(once, 1, 6); /* two clauses, each with a side of its own and of the other */
    cycle(pool);
    assert_int_equal(pool->out.evaluated, 0);
    ad_destroy((struct ad *)pool->slots[3].ad);
    pool->slots[3].ad = parse("[Requirements = true; Memory = 2]");
    pool->slots[3].serial = ++pool->serial;
    cycle(pool);
    assert_in_range(pool->out.evaluated, 1, 2);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.matches[0].slot, 3);
    cycle(pool); /* a remembered yes is a yes */
    assert_int_equal(pool->out.evaluated, 0);
    assert_int_equal(pool->out.match_count, 1);
}

static void what_nobody_looks_at_makes_no_kind_of_its_own(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 8; i++) {
        char text[120];
        (void)snprintf(text, sizeof text,
                       "[Requirements = START; START = LoadAvg < 3; LoadAvg = %d; Disk = %d; "
                       "CurrentTime = time()]",
                       i % 2, i);
        (void)live(pool, text);
    }
    (void)add_request(pool, "ann", 8, "[Requirements = TARGET.Arch =?= undefined]");
    cycle(pool);
    assert_int_equal(pool->out.slot_kinds, 2);
    assert_int_equal(pool->out.match_count, 8);
    struct plan_request *other = add_request(pool, "ann", 8, "[Requirements = Disk > 3]");
    other->prio = 1;
    cycle(pool); /* now Disk matters */
    assert_true(pool->out.slot_kinds >= 8);
    assert_int_equal(matches_of(pool, other), 4);
}

static void an_attribute_that_begins_to_matter_through_another_is_found(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, "[Requirements = A; A = B; B = TARGET.C; N = 1]");
    (void)live(pool, "[Requirements = A; A = B; B = TARGET.C; N = 2]");
    (void)add_request(pool, "ann", 2, "[Requirements = true; C = D; D = TARGET.N == E; E = 2]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.matches[0].slot, 1);
}

static void what_computes_names_is_judged_with_the_whole_ads(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, "[Requirements = true; Hidden = 1]");
    (void)live(pool, "[Requirements = true; Hidden = 2]");
    (void)add_request(pool, "ann", 2,
                      "[Requirements = eval(strcat(\"TARGET.Hid\", \"den\")) == 2]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 1);
    assert_int_equal(pool->out.matches[0].slot, 1);
    (void)live(pool, "[Requirements = true; Other = 3; Hidden = 2]");
    cycle(pool);
    assert_int_equal(pool->out.match_count, 2);
}

static void a_piece_on_its_way_is_not_given_a_second_time(void **state)
{
    struct pool *pool = *state;
    struct plan_slot *slot = live(
        pool,
        "[Requirements = true; PartitionableSlot = true; Cpus = 8; Memory = 8000; Disk = 9999]");
    struct plan_request *request =
        add_request(pool, "ann", 9, "[Requirements = true; RequestCpus = 3]");
    slot->pieces = 8;
    cycle(pool);
    assert_int_equal(matches_of(pool, request), 2);
    const struct ad *jobs[] = {request->ad};
    slot->under_way = jobs;
    slot->under_way_count = 1;
    cycle(pool);
    assert_int_equal(matches_of(pool, request), 1);
    slot->under_way_count = 0;
    cycle(pool);
    assert_int_equal(matches_of(pool, request), 2);
}

static void hostile_ads_hurt_only_themselves(void **state)
{
    struct pool *pool = *state;
    static const char *const SLOTS_BAD[] = {
        "[Requirements = error]", "[Requirements = MY.Requirements]",
        "[Requirements = A; A = B; B = A]",
        "[Requirements = regexp(\"(a+)+$\", TARGET.Long) && false]"};
    for (int i = 0; i < 6; i++) {
        (void)live(pool, "[Requirements = true; Memory = 5]");
    }
    for (size_t i = 0; i < 4; i++) {
        (void)live(pool, SLOTS_BAD[i]);
    }
    struct ad *large = (struct ad *)(uintptr_t)live(pool, "[Requirements = true; Memory = 9]")->ad;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text,
                "[Long = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"; Requirements = true");
    for (int i = 0; i < 10000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "Much%d", i);
        ad_set_int(large, name, i);
        if (i < 500) {
            strbuf_printf(&text, " && TARGET.Much%d =?= %d", i, i);
        }
    }
    strbuf_puts(&text, "]");
    struct plan_request *good = add_request(pool, "ann", 20, "[Requirements = TARGET.Memory < 6]");
    struct plan_request *dear = add_request(pool, "bob", 2, strbuf_text(&text));
    struct plan_request *all = add_request(pool, "cat", 1, "[Requirements = eval(\"error\")]");
    pool->users[0] = (struct share_user){.name = "ann", .ceiling = 6, .priority = 1};
    pool->users[1] = (struct share_user){.name = "bob", .ceiling = -1, .priority = 1};
    pool->user_count = 2;
    cycle(pool);
    assert_int_equal(matches_of(pool, good), 6);
    assert_int_equal(matches_of(pool, dear), 1); /* the large one is what it wants */
    assert_int_equal(matches_of(pool, all), 0);
    for (size_t i = 0; i < pool->out.match_count; i++) {
        assert_true(pool->out.matches[i].slot < 6 || pool->out.matches[i].slot == 10);
    }
    strbuf_fini(&text);
}

static void a_full_cycle_judges_anew_what_looked_at_the_clock_and_nothing_else(void **state)
{
    struct pool *pool = *state;
    (void)live(pool, "[Requirements = false]");
    (void)live(pool, "[Requirements = time() < 0]");
    (void)asleep(pool, "old");
    (void)add_request(pool, "ann", 2, "[Requirements = TARGET.Machine =!= 3]");
    cycle(pool);
    cycle(pool);
    assert_int_equal(pool->out.evaluated, 0);
    pool->full = true;
    cycle(pool);
    assert_in_range(pool->out.evaluated, 1, 2);
    assert_int_equal(pool->out.held_count, 1);
}

static void a_full_arena_and_too_much_of_all_are_refused(void **state)
{
    struct pool *pool = *state;
    for (int i = 0; i < 10; i++) {
        (void)asleep(pool, "m");
    }
    (void)add_request(pool, "ann", 3, ANY);
    cycle(pool);
    size_t enough = arena_bytes(pool->arena);
    struct plan_output untouched = pool->out;
    for (size_t max = 1; max < enough; max += 8) {
        assert_int_equal(try_cycle(pool, max), -ENOMEM);
        assert_memory_equal(&pool->out, &untouched, sizeof untouched);
    }
    assert_int_equal(try_cycle(pool, enough), 0);
    const struct plan_slot many = {.number = NEGOTIATOR_SLOTS_MAX};
    assert_int_equal(negotiator_plan_set_slot(pool->plan, &many), -E2BIG);
    const struct plan_request more = {.number = NEGOTIATOR_REQUESTS_MAX};
    assert_int_equal(negotiator_plan_set_request(pool->plan, &more), -E2BIG);
}

/* ---- random pools */

static void make_random(struct pool *pool, struct rng *rng)
{
    static const char *const USERS[] = {"ann", "bob", "cat"};
    static const char *const MACHINES[] = {"m0", "m1", "m2", "m3", "m4"};
    size_t requests = rng_below(rng, 6), slots = rng_below(rng, 14);
    for (size_t i = 0; i < requests; i++) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "[Owner = %d; Requirements = TARGET.Kind %s %d; Rank = TARGET.Nice * %d]",
                       (int)rng_below(rng, 3),
                       rng_below(rng, 2) == 0 ? "!=" : ">=", (int)rng_below(rng, 3),
                       (int)rng_below(rng, 3) - 1);
        struct plan_request *request =
            add_request(pool, USERS[rng_below(rng, 3)], (int64_t)rng_below(rng, 6), text);
        request->in_flight = rng_below(rng, 4) == 0 ? (int64_t)rng_below(rng, 3) : 0;
        request->prio = (int64_t)rng_below(rng, 2);
        request->qdate_s = (int64_t)rng_below(rng, 3);
    }
    for (size_t i = 0; i < slots; i++) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "[Kind = %d; Nice = %d; Requirements = TARGET.Owner != %d]",
                       (int)rng_below(rng, 3), (int)rng_below(rng, 3), (int)rng_below(rng, 5));
        struct plan_slot *slot = add_slot(pool, MACHINES[rng_below(rng, 5)], text);
        slot->offline = rng_below(rng, 2) == 0;
        slot->use = slot->offline || rng_below(rng, 4) != 0 ? PLAN_USE_FREE : PLAN_USE_BUSY;
        slot->waking = slot->offline && rng_below(rng, 4) == 0;
        slot->barred = slot->offline && !slot->waking && rng_below(rng, 6) == 0;
        for (int j = 0; slot->offline && j < 2 && rng_below(rng, 3) == 0; j++) {
            const struct plan_request gone = {.schedd = "schedd", .auto_cluster = 900};
            size_t which = rng_below(rng, requests + 1);
            hold(slot, which < requests ? &pool->requests[which] : &gone, 1);
        }
    }
    for (size_t i = 0; i < slots * slots; i++) { /* a machine wakes as a whole */
        const struct plan_slot *a = &pool->slots[i / slots];
        struct plan_slot *b = &pool->slots[i % slots];
        b->waking = b->waking || (a->waking && b->offline && strcmp(a->machine, b->machine) == 0);
        b->barred = b->barred && !b->waking;
    }
    pool->users[0] = (struct share_user){.ceiling = -1, .name = "ann", .priority = 0.5};
    pool->users[1] = (struct share_user){.ceiling = -1, .name = "bob", .priority = 3};
    pool->user_count = 2;
}

/* Jobs that the slot is held for after the plan, of one request (NULL: of all). */
static int64_t held_after(const struct pool *pool, size_t slot, const struct plan_request *request)
{
    int64_t count = 0;
    const struct offline_holds *holds = pool->slots[slot].holds;
    for (size_t i = 0; i < offline_holds_entries(holds); i++) {
        const struct offline_hold *entry = offline_holds_at(holds, i);
        bool released = false;
        for (size_t j = 0; j < pool->out.released_count; j++) {
            const struct plan_release *release = &pool->out.released[j];
            released = released ||
                       (release->slot == slot && release->auto_cluster == entry->auto_cluster &&
                        strcmp(release->schedd, entry->schedd) == 0);
        }
        bool counts = request == NULL || request->auto_cluster == entry->auto_cluster;
        count += counts && !released ? entry->count : 0;
    }
    for (size_t i = 0; i < pool->out.held_count; i++) {
        const struct plan_hold *held = &pool->out.held[i];
        count +=
            held->slot == slot && (request == NULL || &pool->requests[held->request] == request)
                ? 1
                : 0;
    }
    return count;
}

static void check_uses(const struct pool *pool)
{
    bool used[SLOTS] = {false};
    for (size_t i = 0; i < pool->out.match_count; i++) {
        const struct plan_match *match = &pool->out.matches[i];
        const struct plan_slot *slot = &pool->slots[match->slot];
        assert_true(slot->use == PLAN_USE_FREE && !slot->offline && !used[match->slot]);
        assert_true(ad_match(pool->requests[match->request].ad, slot->ad, &NOW));
        used[match->slot] = true;
    }
    for (size_t i = 0; i < pool->out.held_count; i++) {
        const struct plan_hold *held = &pool->out.held[i];
        const struct plan_slot *slot = &pool->slots[held->slot];
        assert_true(slot->offline && !slot->barred && !used[held->slot]);
        assert_true(ad_match(pool->requests[held->request].ad, slot->ad, &NOW));
        assert_int_equal(held_after(pool, held->slot, NULL), 1);
        used[held->slot] = true;
    }
}

/* Nothing that a request still wants is left lying; nothing is held beyond what it wants, but on
 * machines that come anyway. */
static void check_wants(const struct pool *pool, const struct plan_request *request)
{
    int64_t wanted = request->count - request->in_flight;
    wanted = (wanted > 0 ? wanted : 0) - (int64_t)matches_of(pool, request);
    assert_true(wanted >= 0);
    for (size_t i = 0; i < pool->slot_count; i++) {
        wanted -= held_after(pool, i, request);
    }
    for (size_t i = 0; i < pool->slot_count && wanted < 0; i++) { /* none could go whole */
        int64_t held = held_after(pool, i, request);
        assert_true(pool->slots[i].waking || held == 0 || wanted + held > 0);
    }
    assert_true(wanted >= 0 || holds_of(pool, request) == 0);
    bool held_new = holds_of(pool, request) > 0;
    for (size_t i = 0; i < pool->slot_count; i++) {
        const struct plan_slot *slot = &pool->slots[i];
        bool used = held_after(pool, i, NULL) > 0;
        for (size_t j = 0; j < pool->out.match_count; j++) {
            used = used || pool->out.matches[j].slot == i;
        }
        bool could = slot->use == PLAN_USE_FREE && !slot->barred && !used &&
                     ad_match(request->ad, slot->ad, &NOW);
        assert_false(could && wanted > 0);
        assert_false(could && held_new && !slot->offline);
    }
}

static void check_releases(const struct pool *pool)
{
    for (size_t i = 0; i < pool->slot_count; i++) {
        const struct plan_slot *slot = &pool->slots[i];
        const struct plan_request gone = {.auto_cluster = 900};
        if (slot->barred) {
            assert_int_equal(held_after(pool, i, NULL), 0);
        }
        assert_int_equal(held_after(pool, i, &gone), 0);
        for (size_t j = 0; slot->waking && j < pool->request_count; j++) {
            const struct plan_request *request = &pool->requests[j];
            assert_true(held_after(pool, i, request) >=
                        offline_holds_of(slot->holds, "schedd", request->auto_cluster));
        }
    }
    for (size_t i = 0; i < pool->out.released_count; i++) {
        const struct plan_release *release = &pool->out.released[i];
        assert_true(offline_holds_of(pool->slots[release->slot].holds, release->schedd,
                                     release->auto_cluster) > 0);
    }
}

static void what_holds_of_any_pool_holds_of_two_thousand_random_ones(void **state)
{
    struct pool *pool = *state;
    size_t matches = 0, holds = 0, releases = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        make_random(pool, &rng);
        for (int again = 0; again < 2; again++) { /* from the judge, then from memory */
            cycle(pool);
            check_uses(pool);
            check_releases(pool);
            for (size_t i = 0; i < pool->request_count; i++) {
                check_wants(pool, &pool->requests[i]);
            }
        }
        assert_int_equal(pool->out.evaluated, 0);
        matches += pool->out.match_count;
        holds += pool->out.held_count;
        releases += pool->out.released_count;
        empty(pool);
    }
    assert_true(matches > 2000 && holds > 1000 && releases > 500);
}

#define PLAN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(PLAN(a_running_slot_is_taken_before_a_sleeping_machine_is_held),
           PLAN(never_more_machines_are_held_than_jobs_want),
           PLAN(slots_of_a_machine_that_wakes_anyway_are_held_first),
           PLAN(jobs_of_one_cycle_fill_a_machine_before_the_next_is_woken),
           PLAN(a_machine_that_is_being_woken_counts_as_near),
           PLAN(a_machine_is_taken_back_before_another_is_woken_but_behind_those_that_wake),
           PLAN(one_that_can_be_taken_back_no_more_is_asleep_like_any),
           PLAN(pieces_fill_what_is_taken_back_before_another_machine_is_woken),
           PLAN(a_hold_is_taken_back_when_its_request_goes),
           PLAN(a_machine_that_is_let_go_can_be_held_again_in_the_same_cycle),
           PLAN(surplus_holds_go_but_waking_machines_keep_theirs),
           PLAN(what_the_surplus_of_one_frees_another_may_have_at_once),
           PLAN(live_slots_that_appear_take_the_place_of_holds),
           PLAN(a_hold_is_not_cut_when_less_would_be_held_than_wanted),
           PLAN(barred_machines_are_not_held_and_lose_their_holds),
           PLAN(two_users_share_as_their_priorities_say),
           PLAN(the_better_priority_gets_the_last_slot),
           PLAN(a_users_requests_go_by_priority_then_age),
           PLAN(slots_go_by_pre_job_rank_then_rank_then_post_job_rank),
           PLAN(a_rank_that_is_no_number_does_not_upset_the_order),
           PLAN(what_is_in_flight_is_not_matched_again),
           PLAN(a_job_that_waits_for_a_slot_in_use_gets_a_free_one_only),
           PLAN(a_job_that_waits_leaves_the_slots_to_others_while_its_schedd_rests),
           PLAN(a_request_that_rests_gets_nothing_new_and_keeps_what_it_has),
           PLAN(slots_that_are_not_free_are_left_alone),
           PLAN(ads_alike_are_judged_once_and_not_again),
           PLAN(what_nobody_looks_at_makes_no_kind_of_its_own),
           PLAN(an_attribute_that_begins_to_matter_through_another_is_found),
           PLAN(what_computes_names_is_judged_with_the_whole_ads),
           PLAN(a_piece_on_its_way_is_not_given_a_second_time),
           PLAN(hostile_ads_hurt_only_themselves),
           PLAN(a_full_cycle_judges_anew_what_looked_at_the_clock_and_nothing_else),
           PLAN(a_full_arena_and_too_much_of_all_are_refused),
           PLAN(what_holds_of_any_pool_holds_of_two_thousand_random_ones))
