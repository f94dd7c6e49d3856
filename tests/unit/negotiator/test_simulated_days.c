/* Days of negotiation in virtual time: the accountant and the plan of shares together, with jobs of
 * random length.  Shares converge to the ratio of priorities within 2 %, and to what quotas say.
 *
 * LINK: negotiator store
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <math.h>

#include "base/arena.h"
#include "base/random.h"
#include "negotiator/accountant.h"
#include "negotiator/share_plan.h"
#include "store/store.h"

#define DAY      86400
#define BEGIN_S  INT64_C(1795000000)
#define CYCLE_S  60
#define SETTLE_S 300
#define SLOTS    400
#define USERS    4
#define SEED     20261120

struct player {
    const char *name;
    double factor;
    size_t group;
    double ceiling; /* < 0: none */
    int64_t from_s; /* has jobs from then on */
    /* measured */
    double used, share; /* slot seconds; sum of its share in each cycle */
};

struct world {
    char dir[FAST_DIR_SIZE];
    struct loop *loop;
    struct os *os;
    struct store *store;
    struct accountant *accountant;
    struct rng rng;
    struct player players[USERS];
    size_t player_count;
    struct group_entry groups[4];
    size_t group_count;
    size_t user_of[SLOTS]; /* USERS: free */
    int64_t end_s[SLOTS], begun_s[SLOTS];
    double cycles;
    bool durable;
};

static const char *group_of(void *arg, const char *submitter)
{
    const struct world *world = arg;
    return world->groups[group_plan_of(world->groups, world->group_count, submitter)].name;
}

static int setup(void **state)
{
    static const char *const TABLES[] = {ACCOUNTANT_TABLES, NULL};
    static const struct store_schema SCHEMA = {.daemon = "negotiator",
                                               .tables = TABLES,
                                               .version = 1};
    struct world *world = mem_zalloc(sizeof *world);
    char path[128];
    struct err err = {{0}};
    loop_rig_open(&world->loop, &world->os, world->dir);
    (void)snprintf(path, sizeof path, "%s/n.db", world->dir);
    if (store_open(world->loop, world->os, path, &SCHEMA, NULL, &world->store, &err) != 0 ||
        accountant_create(world->store, &world->accountant, &err) != 0) {
        fail_msg("%s", err.text);
    }
    rng_seed(&world->rng, SEED);
    world->groups[0] = (struct group_entry){.name = GROUP_ROOT_NAME, .ceiling = -1};
    world->group_count = 1;
    for (size_t i = 0; i < SLOTS; i++) {
        world->user_of[i] = USERS;
    }
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    store_close(world->store);
    accountant_destroy(world->accountant);
    loop_rig_close(world->loop, world->os, world->dir);
    mem_free(world);
    return 0;
}

static struct account_facts facts_of(const struct world *world, const char *name)
{
    struct account_facts facts = {.real = ACCOUNTANT_PRIO_MIN, .ceiling = -1};
    const struct account *account = accountant_find(world->accountant, name);
    assert_non_null(account);
    accountant_facts(world->accountant, account, &facts);
    return facts;
}

static void end_jobs(struct world *world, int64_t now_s)
{
    for (size_t i = 0; i < SLOTS; i++) {
        size_t user = world->user_of[i];
        if (user != USERS && world->end_s[i] <= now_s) {
            accountant_charge(world->accountant, world->players[user].name, 1,
                              (double)(now_s - world->begun_s[i]));
            accountant_vacate(world->accountant, world->players[user].name, 1);
            world->user_of[i] = USERS;
        }
    }
}

static void settle(struct world *world, int64_t now_s)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (world->user_of[i] != USERS) {
            accountant_charge(world->accountant, world->players[world->user_of[i]].name, 1,
                              (double)(now_s - world->begun_s[i]));
            world->begun_s[i] = now_s;
        }
    }
    accountant_settle(world->accountant, now_s * 1000);
}

/* Jobs last from 5 to 55 minutes. */
static void start_job(struct world *world, size_t user, int64_t now_s)
{
    size_t slot = 0;
    while (world->user_of[slot] != USERS) {
        slot++;
    }
    world->user_of[slot] = user;
    world->begun_s[slot] = now_s;
    world->end_s[slot] = now_s + 300 + (int64_t)(rng_next(&world->rng) % 3000);
    accountant_occupy(world->accountant, world->players[user].name, 1);
}

static size_t count_free(const struct world *world)
{
    size_t count = 0;
    for (size_t i = 0; i < SLOTS; i++) {
        count += world->user_of[i] == USERS ? 1 : 0;
    }
    return count;
}

static void negotiate(struct world *world, int64_t now_s)
{
    struct share_user users[USERS];
    struct arena *arena = arena_create(0, (size_t)1 << 20);
    struct share_plan *plan;
    struct share_offer offer;
    for (size_t i = 0; i < world->player_count; i++) {
        const struct player *player = &world->players[i];
        struct account_facts facts = facts_of(world, player->name);
        users[i] = (struct share_user){.name = player->name,
                                       .priority = facts.real * facts.factor,
                                       .in_use = facts.weight,
                                       .wanted = now_s >= player->from_s ? SLOTS : 0,
                                       .ceiling = facts.ceiling,
                                       .group = player->group};
    }
    const struct share_input input = {.users = users,
                                      .user_count = world->player_count,
                                      .groups = world->groups,
                                      .group_count = world->group_count,
                                      .free = (double)count_free(world),
                                      .total = SLOTS,
                                      .weight_min = 1};
    group_plan_quotas(world->groups, world->group_count, SLOTS, false);
    for (size_t i = 0; i < world->group_count; i++) {
        world->groups[i].sort_key = group_plan_sort_key(world->groups, i);
    }
    assert_int_equal(share_plan_create(&input, arena, &plan), 0);
    while (share_next(plan, &offer)) {
        while (share_permits(plan, 1, false)) {
            share_took(plan, 1, false);
            start_job(world, offer.user, now_s);
        }
    }
    arena_destroy(arena);
}

static void measure(struct world *world, int64_t now_s)
{
    double sum = 0;
    for (size_t i = 0; i < world->player_count; i++) {
        struct account_facts facts = facts_of(world, world->players[i].name);
        sum += now_s >= world->players[i].from_s ? 1 / (facts.real * facts.factor) : 0;
    }
    for (size_t i = 0; i < world->player_count; i++) {
        struct account_facts facts = facts_of(world, world->players[i].name);
        world->players[i].used += facts.weight;
        world->players[i].share += 1 / (facts.real * facts.factor) / sum;
    }
    world->cycles++;
}

static void durable(void *arg)
{
    ((struct world *)arg)->durable = true;
}

static void run_days(struct world *world, int64_t from_day, int64_t to_day, int64_t measured_from)
{
    for (int64_t at = from_day * DAY; at < to_day * DAY; at += CYCLE_S) {
        int64_t now_s = BEGIN_S + at;
        end_jobs(world, now_s);
        if (at % SETTLE_S == 0) {
            settle(world, now_s);
        }
        negotiate(world, now_s);
        if (at >= measured_from * DAY) {
            measure(world, now_s);
        }
        if (at % DAY == 0) { /* the disk keeps up */
            world->durable = false;
            store_commit(store_begin(world->store), durable, world);
            loop_run_until(world->loop, &world->durable);
        }
    }
}

static void begin(struct world *world, const struct player *players, size_t count)
{
    const struct accountant_policy policy = {.halflife_s = DAY,
                                             .default_factor = 1000,
                                             .remote_factor = 1e7,
                                             .nice_factor = 1e10,
                                             .hours = 0,
                                             .days = 3,
                                             .group_of = group_of,
                                             .arg = world};
    accountant_set_policy(world->accountant, &policy);
    world->player_count = count;
    for (size_t i = 0; i < count; i++) {
        world->players[i] = players[i];
        assert_int_equal(accountant_set(world->accountant, players[i].name, ACCOUNT_FACTOR,
                                        players[i].factor, NULL, NULL, NULL),
                         0);
        assert_int_equal(accountant_set(world->accountant, players[i].name, ACCOUNT_CEILING,
                                        players[i].ceiling, NULL, NULL, NULL),
                         0);
    }
}

static void within(const char *what, const char *who, double is, double expected, double part)
{
    print_message("%-24s %-12s %8.2f, expected %8.2f: %+.2f %%\n", what, who, is, expected,
                  100 * (is / expected - 1));
    if (fabs(is / expected - 1) > part) {
        fail_msg("%s: %s has %.3f instead of %.3f (seed %d)", what, who, is, expected, SEED);
    }
}

static void shares_converge_to_the_ratio_of_priorities(void **state)
{
    struct world *world = *state;
    static const struct player PLAYERS[] = {{.name = "ann@x", .factor = 1000, .ceiling = -1},
                                            {.name = "bob@x", .factor = 2000, .ceiling = -1},
                                            {.name = "cat@x", .factor = 4000, .ceiling = -1}};
    begin(world, PLAYERS, 3);
    run_days(world, 0, 10, 8);
    double roots = 1 + 1 / sqrt(2) + 0.5;
    for (size_t i = 0; i < 3; i++) {
        const struct player *player = &world->players[i];
        double used = player->used / world->cycles;
        within("ratio of priorities", player->name, used, SLOTS * player->share / world->cycles,
               0.02);
        /* real priority follows use, so the fixed point is one over the root of the factor */
        within("fixed point", player->name, used, SLOTS / sqrt(player->factor / 1000) / roots,
               0.02);
    }
}

static void who_comes_late_gets_his_share_and_no_more(void **state)
{
    struct world *world = *state;
    static const struct player PLAYERS[] = {
        {.name = "ann@x", .factor = 1000, .ceiling = -1},
        {.name = "bob@x", .factor = 1000, .ceiling = -1},
        {.name = "late@x", .factor = 1000, .ceiling = -1, .from_s = BEGIN_S + 4 * DAY}};
    begin(world, PLAYERS, 3);
    run_days(world, 0, 4, 3);
    within("before", "ann@x", world->players[0].used / world->cycles, SLOTS / 2.0, 0.02);
    run_days(world, 4, 5, 99);
    struct account_facts late = facts_of(world, "late@x");
    assert_true(late.weight > SLOTS / 3.0); /* its priority is better still */
    for (size_t i = 0; i < 3; i++) {
        world->players[i].used = world->players[i].share = 0;
    }
    world->cycles = 0;
    run_days(world, 5, 13, 11);
    for (size_t i = 0; i < 3; i++) {
        within("after", PLAYERS[i].name, world->players[i].used / world->cycles, SLOTS / 3.0, 0.02);
    }
}

static void a_ceiling_leaves_the_rest_to_the_others(void **state)
{
    struct world *world = *state;
    static const struct player PLAYERS[] = {{.name = "ann@x", .factor = 1000, .ceiling = 50},
                                            {.name = "bob@x", .factor = 4000, .ceiling = -1}};
    begin(world, PLAYERS, 2);
    run_days(world, 0, 2, 1);
    within("ceiling", "ann@x", world->players[0].used / world->cycles, 50, 0.02);
    within("ceiling", "bob@x", world->players[1].used / world->cycles, SLOTS - 50, 0.02);
}

static void quotas_divide_groups_and_priorities_their_users(void **state)
{
    struct world *world = *state;
    world->groups[1] = (struct group_entry){.name = "physics", .config_quota = 300, .ceiling = -1};
    world->groups[2] = (struct group_entry){.name = "chem",
                                            .config_quota = 0.25,
                                            .is_dynamic = true,
                                            .ceiling = -1,
                                            .accept_surplus = true};
    world->group_count = 3;
    static const struct player PLAYERS[] = {
        {.name = "physics.ann@x", .factor = 1000, .ceiling = -1, .group = 1},
        {.name = "physics.bob@x", .factor = 4000, .ceiling = -1, .group = 1},
        {.name = "chem.cat@x", .factor = 1000000, .ceiling = -1, .group = 2}};
    begin(world, PLAYERS, 3);
    run_days(world, 0, 10, 8);
    double cycles = world->cycles;
    /* chem: a quarter of the 100 that physics leaves, and the 75 that nobody else may use */
    within("quota", "chem.cat@x", world->players[2].used / cycles, 100, 0.02);
    within("quota", "physics.ann@x", world->players[0].used / cycles, 200, 0.02);
    within("quota", "physics.bob@x", world->players[1].used / cycles, 100, 0.02);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(RIG(shares_converge_to_the_ratio_of_priorities),
           RIG(who_comes_late_gets_his_share_and_no_more),
           RIG(a_ceiling_leaves_the_rest_to_the_others),
           RIG(quotas_divide_groups_and_priorities_their_users))
