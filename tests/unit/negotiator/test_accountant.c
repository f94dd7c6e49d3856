/* Who has used how much: the decay of priorities, and what a restart leaves of them.
 *
 * LINK: negotiator store
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/os_run.h"
#include "negotiator/accountant.h"
#include "negotiator/negotiator_plan.h"
#include "store/store.h"
#include "tests/support/fast_dir.h"

#define DAY 86400

struct rig {
    char dir[FAST_DIR_SIZE], path[128];
    struct loop *loop;
    struct os *os;
    struct store *store;
    struct accountant *accountant;
    bool durable;
};

static void open_it(struct rig *rig)
{
    static const char *const TABLES[] = {"users", NULL};
    static const struct store_schema SCHEMA = {.daemon = "negotiator",
                                               .tables = TABLES,
                                               .version = 1};
    struct err err = {{0}};
    if (store_open(rig->loop, rig->os, rig->path, &SCHEMA, NULL, &rig->store, &err) != 0 ||
        accountant_create(rig->store, &rig->accountant, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void close_it(struct rig *rig)
{
    accountant_destroy(rig->accountant);
    store_close(rig->store);
}

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    assert_true(fast_dir_make(rig->dir));
    (void)snprintf(rig->path, sizeof rig->path, "%s/n.db", rig->dir);
    assert_int_equal(loop_create(&rig->loop, NULL), 0);
    assert_int_equal(os_create(rig->loop, &rig->os, NULL), 0);
    open_it(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    close_it(rig);
    (void)os_remove_tree(rig->os, rig->dir, NULL);
    os_destroy(rig->os);
    loop_destroy(rig->loop);
    mem_free(rig);
    return 0;
}

static void durable(void *arg)
{
    ((struct rig *)arg)->durable = true;
}

/* Reopens the store, as a negotiator that was started anew. */
static void restart(struct rig *rig)
{
    rig->durable = false;
    store_commit(store_begin(rig->store), durable, rig);
    loop_run_until(rig->loop, &rig->durable);
    close_it(rig);
    open_it(rig);
}

static void use(struct rig *rig, const char *user, double slots, int64_t now_s)
{
    accountant_begin(rig->accountant);
    if (user != NULL) {
        accountant_use(rig->accountant, user, slots);
    }
    accountant_end(rig->accountant, now_s, DAY);
}

/* The effective priority times a thousand, with a factor of 1; -1: unknown. */
static int64_t priority(struct rig *rig, const char *user, int64_t *running)
{
    struct arena *arena = arena_create(0, 0);
    size_t count;
    int64_t ret = -1;
    const struct plan_user *users = accountant_users(rig->accountant, 1, arena, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(users[i].name, user) == 0) {
            ret = llround(users[i].priority * 1000);
            if (running != NULL) {
                *running = users[i].running;
            }
        }
    }
    arena_destroy(arena);
    return ret;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void priorities_follow_use_with_a_half_life(void **state)
{
    (void)state;
    assert_true(near(accountant_decay(10, 0, DAY, DAY), 5));
    assert_true(near(accountant_decay(10, 10, DAY, DAY), 10));
    assert_true(near(accountant_decay(10, 20, DAY, DAY), 15));
    assert_true(near(accountant_decay(0.5, 100, DAY, DAY), 50.25));
    assert_true(near(accountant_decay(8, 0, 2 * DAY, DAY), 2));
    assert_true(near(accountant_decay(8, 0, 0, DAY), 8));
    double halves = accountant_decay(accountant_decay(40, 4, DAY / 2.0, DAY), 4, DAY / 2.0, DAY);
    assert_true(near(halves, accountant_decay(40, 4, DAY, DAY))); /* steps do not matter */
}

static void a_priority_is_never_better_than_a_half(void **state)
{
    (void)state;
    assert_true(near(accountant_decay(0.5, 0, DAY, DAY), 0.5));
    assert_true(near(accountant_decay(1, 0, 100.0 * DAY, DAY), 0.5));
    assert_true(near(accountant_decay(7, 3, 1, 0), 3)); /* no half-life: the use of now */
}

static void use_is_charged_between_two_looks(void **state)
{
    struct rig *rig = *state;
    int64_t running = -1;
    use(rig, "ann", 10, 1000); /* the first look: nothing is known of the time before */
    assert_int_equal(priority(rig, "ann", &running), 500);
    assert_int_equal(running, 10);
    use(rig, "ann", 10, 1000 + DAY);
    assert_int_equal(priority(rig, "ann", NULL), 5250); /* 0.5 / 2 + 10 / 2 */
    use(rig, NULL, 0, 1000 + 2 * DAY);
    assert_int_equal(priority(rig, "ann", &running), 2625);
    assert_int_equal(running, 0);
    assert_int_equal(priority(rig, "bob", NULL), -1);
}

static void slots_of_one_user_add_up(void **state)
{
    struct rig *rig = *state;
    int64_t running;
    use(rig, NULL, 0, 1000);
    accountant_begin(rig->accountant);
    accountant_use(rig->accountant, "ann", 2);
    accountant_use(rig->accountant, "bob", 1);
    accountant_use(rig->accountant, "ann", 3);
    accountant_end(rig->accountant, 1000 + DAY, DAY);
    assert_int_equal(priority(rig, "ann", &running), 2750);
    assert_int_equal(running, 5);
    assert_int_equal(priority(rig, "bob", NULL), 750);
}

static void a_clock_that_is_set_back_charges_nothing(void **state)
{
    struct rig *rig = *state;
    use(rig, "ann", 10, 2 * DAY);
    use(rig, "ann", 10, DAY);
    assert_int_equal(priority(rig, "ann", NULL), 500);
    use(rig, "ann", 10, 2 * DAY);
    assert_int_equal(priority(rig, "ann", NULL), 5250); /* a day from where the clock was set to */
}

static void a_restart_forgets_neither_use_nor_when_it_was_settled(void **state)
{
    struct rig *rig = *state;
    use(rig, "ann", 10, 1000);
    use(rig, "ann", 10, 1000 + DAY);
    restart(rig);
    assert_int_equal(priority(rig, "ann", NULL), 5250);
    use(rig, NULL, 0, 1000 + 2 * DAY); /* the day it was away decays */
    assert_int_equal(priority(rig, "ann", NULL), 2625);
    restart(rig);
    assert_int_equal(priority(rig, "ann", NULL), 2625);
}

static void a_use_that_has_decayed_to_the_minimum_is_remembered_so(void **state)
{
    struct rig *rig = *state;
    use(rig, "ann", 1, 1000);
    use(rig, "ann", 1, 1000 + DAY);
    use(rig, NULL, 0, 1000 + 60 * DAY);
    assert_int_equal(priority(rig, "ann", NULL), 500);
    restart(rig);
    assert_int_equal(priority(rig, "ann", NULL), 500);
    use(rig, "ann", 1, 1000 + 61 * DAY);
    assert_int_equal(priority(rig, "ann", NULL), 750);
}

static void the_factor_multiplies_and_a_full_arena_gives_nobody(void **state)
{
    struct rig *rig = *state;
    use(rig, "ann", 1, 1000);
    struct arena *arena = arena_create(0, 0);
    size_t count;
    const struct plan_user *users = accountant_users(rig->accountant, 1000, arena, &count);
    assert_int_equal(count, 1);
    assert_true(near(users[0].priority, 500));
    arena_destroy(arena);
    arena = arena_create(0, 8);
    assert_null(accountant_users(rig->accountant, 1000, arena, &count));
    assert_int_equal(count, 0);
    arena_destroy(arena);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(UNIT(priorities_follow_use_with_a_half_life),
           UNIT(a_priority_is_never_better_than_a_half), RIG(use_is_charged_between_two_looks),
           RIG(slots_of_one_user_add_up), RIG(a_clock_that_is_set_back_charges_nothing),
           RIG(a_restart_forgets_neither_use_nor_when_it_was_settled),
           RIG(a_use_that_has_decayed_to_the_minimum_is_remembered_so),
           RIG(the_factor_multiplies_and_a_full_arena_gives_nobody))
