/* Who has used how much: the decay of priorities, and what a restart leaves of them.
 *
 * LINK: negotiator store
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <errno.h>
#include <math.h>
#include <time.h>

#include "classad/ad.h"
#include "negotiator/accountant.h"
#include "store/store.h"

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
    static const char *const TABLES[] = {ACCOUNTANT_TABLES, NULL};
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
    store_close(rig->store);
    accountant_destroy(rig->accountant);
}

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    loop_rig_open(&rig->loop, &rig->os, rig->dir);
    (void)snprintf(rig->path, sizeof rig->path, "%s/n.db", rig->dir);
    open_it(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    close_it(rig);
    loop_rig_close(rig->loop, rig->os, rig->dir);
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
    const struct accountant_policy policy = {.halflife_s = DAY,
                                             .default_factor = 1000,
                                             .remote_factor = 1e7,
                                             .nice_factor = 1e10,
                                             .hours = 72,
                                             .days = 400};
    accountant_set_policy(rig->accountant, &policy); /* before anything else, as it does */
}

/* Until now_s, `user` had so many slots since all was settled last. */
static void use(struct rig *rig, const char *user, double slots, int64_t now_s)
{
    int64_t settled_ms = accountant_settled_ms(rig->accountant);
    if (user != NULL && settled_ms != 0) {
        accountant_charge(rig->accountant, user, slots, (double)(now_s - settled_ms / 1000));
    }
    accountant_settle(rig->accountant, now_s * 1000);
}

static struct account_facts facts_of(struct rig *rig, const char *name)
{
    struct account_facts facts;
    const struct account *account = accountant_find(rig->accountant, name);
    assert_non_null(account);
    accountant_facts(rig->accountant, account, &facts);
    return facts;
}

/* The real priority times a thousand; -1: unknown. */
static int64_t priority(struct rig *rig, const char *user)
{
    return accountant_find(rig->accountant, user) != NULL ? llround(facts_of(rig, user).real * 1000)
                                                          : -1;
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
    use(rig, "ann@x", 10, 1000); /* the first look: nothing is known of the time before */
    assert_int_equal(priority(rig, "ann@x"), -1);
    use(rig, "ann@x", 10, 1000 + DAY);
    assert_int_equal(priority(rig, "ann@x"), 5250); /* 0.5 / 2 + 10 / 2 */
    use(rig, NULL, 0, 1000 + 2 * DAY);
    assert_int_equal(priority(rig, "ann@x"), 2625);
    assert_int_equal(priority(rig, "bob@x"), -1);
}

static void slots_of_one_user_add_up(void **state)
{
    struct rig *rig = *state;
    use(rig, NULL, 0, 1000);
    accountant_charge(rig->accountant, "ann@x", 2, DAY);
    accountant_charge(rig->accountant, "bob@x", 1, DAY);
    accountant_charge(rig->accountant, "ann@x", 6, DAY / 2.0); /* a slot of six, half the time */
    use(rig, NULL, 0, 1000 + DAY);
    assert_int_equal(priority(rig, "ann@x"), 2750);
    assert_int_equal(priority(rig, "bob@x"), 750);
    assert_true(near(facts_of(rig, "ann@x").weighted_s, 5.0 * DAY));
    assert_true(near(facts_of(rig, "ann@x").slots_s, 1.5 * DAY));
    assert_int_equal(facts_of(rig, "ann@x").begin_s, 1000);
    assert_int_equal(facts_of(rig, "ann@x").last_s, 1000 + DAY);
}

static void what_is_in_use_now_is_counted(void **state)
{
    struct rig *rig = *state;
    accountant_occupy(rig->accountant, "ann@x", 4);
    accountant_occupy(rig->accountant, "ann@x", 0.1);
    assert_true(near(facts_of(rig, "ann@x").weight, 4.1));
    assert_true(near(facts_of(rig, "ann@x").slots, 2));
    assert_true(near(facts_of(rig, "<none>").weight, 4.1));
    accountant_vacate(rig->accountant, "ann@x", 4);
    accountant_vacate(rig->accountant, "ann@x", 0.1);
    assert_true(near(facts_of(rig, "ann@x").weight, 0));
    assert_true(near(facts_of(rig, "<none>").slots, 0));
    accountant_vacate(rig->accountant, "nobody@x", 3);
    assert_null(accountant_find(rig->accountant, "nobody@x"));
}

static void a_clock_that_is_set_back_charges_when_it_goes_on(void **state)
{
    struct rig *rig = *state;
    use(rig, NULL, 0, 2 * DAY);
    accountant_charge(rig->accountant, "ann@x", 10, DAY);
    accountant_settle(rig->accountant, DAY * (int64_t)1000);
    assert_int_equal(priority(rig, "ann@x"), 500);
    accountant_settle(rig->accountant, 2 * DAY * (int64_t)1000);
    assert_int_equal(priority(rig, "ann@x"), 5250); /* nothing is lost, nothing is doubled */
    restart(rig);
    assert_int_equal(accountant_settled_ms(rig->accountant), 2 * DAY * (int64_t)1000);
}

static void a_restart_forgets_neither_use_nor_when_it_was_settled(void **state)
{
    struct rig *rig = *state;
    use(rig, NULL, 0, 1000);
    restart(rig);
    assert_int_equal(accountant_settled_ms(rig->accountant), 1000 * 1000);
    use(rig, "ann@x", 10, 1000 + DAY);
    accountant_charge(rig->accountant, "ann@x", 10, 77); /* not settled: it is charged anew */
    restart(rig);
    assert_int_equal(priority(rig, "ann@x"), 5250);
    assert_int_equal(accountant_settled_ms(rig->accountant), (1000 + DAY) * (int64_t)1000);
    assert_true(near(facts_of(rig, "ann@x").weighted_s, 10.0 * DAY));
    use(rig, NULL, 0, 1000 + 2 * DAY); /* the day it was away decays */
    assert_int_equal(priority(rig, "ann@x"), 2625);
    restart(rig);
    assert_int_equal(priority(rig, "ann@x"), 2625);
    assert_true(near(facts_of(rig, "ann@x").weighted_s, 10.0 * DAY));
    assert_int_equal(facts_of(rig, "ann@x").begin_s, 1000);
    assert_int_equal(facts_of(rig, "ann@x").last_s, 1000 + DAY);
}

static void a_use_that_has_decayed_to_the_minimum_is_remembered_so(void **state)
{
    struct rig *rig = *state;
    use(rig, NULL, 0, 1000);
    use(rig, "ann@x", 1, 1000 + DAY);
    use(rig, NULL, 0, 1000 + 60 * DAY);
    assert_int_equal(priority(rig, "ann@x"), 500);
    restart(rig);
    assert_int_equal(priority(rig, "ann@x"), 500);
    use(rig, "ann@x", 1, 1000 + 61 * DAY);
    assert_int_equal(priority(rig, "ann@x"), 750);
}

static void a_clock_that_is_set_neither_charges_nor_decays(void **state)
{
    struct rig *rig = *state;
    use(rig, NULL, 0, 1000);
    use(rig, "ann@x", 10, 1000 + DAY);
    for (int64_t years = 10; years >= -10; years -= 20) { /* forth, and back to where it was */
        accountant_clock_set(rig->accountant, years * 365 * DAY * 1000);
        int64_t now_ms = accountant_settled_ms(rig->accountant) + 1000;
        accountant_charge(rig->accountant, "ann@x", 10, 1);
        accountant_settle(rig->accountant, now_ms);
        assert_in_range(priority(rig, "ann@x"), 5245, 5255);
    }
    assert_true(near(facts_of(rig, "ann@x").weighted_s, 10.0 * DAY + 20));
    restart(rig); /* while nobody looked, the clock was set by ten years */
    accountant_settle(rig->accountant, (1000 + 3650 * DAY) * (int64_t)1000);
    assert_in_range(priority(rig, "ann@x"), 5245, 5255);
}

static double cpu_s(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Who only decays is not written: that follows from when his row was. */
static void many_users_who_do_nothing_cost_no_rows(void **state)
{
    struct rig *rig = *state;
    use(rig, NULL, 0, 1000);
    char name[32];
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof name, "u%d@x", i);
        accountant_charge(rig->accountant, name, 10, DAY);
    }
    double begin_s = cpu_s();
    accountant_settle(rig->accountant, (1000 + DAY) * (int64_t)1000);
    double all_s = cpu_s() - begin_s;
    begin_s = cpu_s();
    accountant_charge(rig->accountant, "u7@x", 10, DAY);
    accountant_settle(rig->accountant, (1000 + 2 * DAY) * (int64_t)1000);
    double one_s = cpu_s() - begin_s;
    print_message("20,000 users settled: %.1f ms when all used something, %.1f ms when one did\n",
                  all_s * 1e3, one_s * 1e3);
    assert_true(one_s < all_s / 2);
    restart(rig);
    assert_int_equal(accountant_settled_ms(rig->accountant), (1000 + 2 * DAY) * (int64_t)1000);
    assert_int_equal(priority(rig, "u7@x"), 7625); /* 10 - (10 - 5.25) / 2 */
    assert_int_equal(priority(rig, "u8@x"), 2625);
    accountant_settle(rig->accountant, (1000 + 3 * DAY) * (int64_t)1000);
    assert_int_equal(priority(rig, "u8@x"), 1313);
    restart(rig);
    assert_int_equal(priority(rig, "u8@x"), 1313);
}

/* ---- factors and groups */

static const char *group_of(void *arg, const char *submitter)
{
    (void)arg;
    return strncmp(submitter, "physics.", 8) == 0 ? "physics" : "<none>";
}

static double group_factor(void *arg, const char *group)
{
    (void)arg;
    return strcmp(group, "physics") == 0 ? 50 : 0;
}

static const struct accountant_policy POLICY = {.halflife_s = DAY,
                                                .default_factor = 1000,
                                                .remote_factor = 1e7,
                                                .nice_factor = 1e10,
                                                .local_domain = "x",
                                                .hours = 3,
                                                .days = 2,
                                                .group_of = group_of,
                                                .group_factor = group_factor};

static void the_factor_is_the_users_own_or_its_groups_or_that_of_its_kind(void **state)
{
    struct rig *rig = *state;
    accountant_set_policy(rig->accountant, &POLICY);
    assert_true(near(accountant_priority(rig->accountant, "ann@x"), 500));
    assert_true(near(accountant_priority(rig->accountant, "ann@X"), 500));
    assert_true(near(accountant_priority(rig->accountant, "ann@far"), 5e6));
    assert_true(near(accountant_priority(rig->accountant, "nice-user.ann@x"), 5e9));
    assert_true(near(accountant_priority(rig->accountant, "physics.ann@far"), 25));
    assert_int_equal(accountant_set(rig->accountant, "physics.ann@far", ACCOUNT_FACTOR, 7, NULL,
                                    NULL, NULL),
                     0);
    assert_true(near(accountant_priority(rig->accountant, "physics.ann@far"), 3.5));
    assert_true(facts_of(rig, "physics.ann@far").has_factor);
    assert_int_equal(accountant_set(rig->accountant, "physics.ann@far", ACCOUNT_FACTOR, 0, NULL,
                                    NULL, NULL),
                     0);
    assert_true(near(accountant_priority(rig->accountant, "physics.ann@far"), 25));
}

static void a_group_is_charged_with_its_users(void **state)
{
    struct rig *rig = *state;
    accountant_set_policy(rig->accountant, &POLICY);
    use(rig, NULL, 0, 1000);
    accountant_charge(rig->accountant, "physics.ann@x", 2, DAY);
    accountant_charge(rig->accountant, "physics.bob@x", 3, DAY);
    accountant_charge(rig->accountant, "cat@x", 8, DAY);
    accountant_occupy(rig->accountant, "physics.bob@x", 3);
    use(rig, NULL, 0, 1000 + DAY);
    assert_int_equal(priority(rig, "physics"), 2750);
    assert_int_equal(priority(rig, "<none>"), 4250);
    assert_true(facts_of(rig, "physics").is_group);
    assert_false(facts_of(rig, "cat@x").is_group);
    assert_string_equal(facts_of(rig, "physics.bob@x").group, "physics");
    struct accountant_policy flat = POLICY;
    flat.group_of = NULL; /* GROUP_NAMES was emptied */
    accountant_set_policy(rig->accountant, &flat);
    assert_true(near(facts_of(rig, "physics").weight, 0));
    assert_true(near(facts_of(rig, "<none>").weight, 3));
    accountant_vacate(rig->accountant, "physics.bob@x", 3);
    assert_true(near(facts_of(rig, "<none>").weight, 0));
}

/* ---- changing */

static void what_is_set_survives_a_restart(void **state)
{
    struct rig *rig = *state;
    static const struct {
        enum account_value which;
        double value;
    } SET[] = {{ACCOUNT_PRIORITY, 12.5},   {ACCOUNT_FACTOR, 20}, {ACCOUNT_CEILING, 7},
               {ACCOUNT_FLOOR, 2},         {ACCOUNT_BEGIN, 99},  {ACCOUNT_LAST, 101},
               {ACCOUNT_ACCUMULATED, 3600}};
    for (size_t i = 0; i < sizeof SET / sizeof SET[0]; i++) {
        assert_int_equal(accountant_set(rig->accountant, "ann@x", SET[i].which, SET[i].value, NULL,
                                        NULL, NULL),
                         0);
    }
    restart(rig);
    struct account_facts facts = facts_of(rig, "ann@x");
    assert_true(near(facts.real, 12.5));
    assert_true(near(facts.factor, 20));
    assert_true(near(facts.ceiling, 7));
    assert_true(near(facts.floor, 2));
    assert_true(near(facts.weighted_s, 3600));
    assert_int_equal(facts.begin_s, 99);
    assert_int_equal(facts.last_s, 101);
}

static void values_that_cannot_be_are_refused(void **state)
{
    struct rig *rig = *state;
    struct accountant *accountant = rig->accountant;
    struct err err;
    assert_int_equal(accountant_set(accountant, "a@x", ACCOUNT_PRIORITY, 0.4, NULL, NULL, &err),
                     -ERANGE);
    assert_int_equal(accountant_set(accountant, "a@x", ACCOUNT_FACTOR, 0.5, NULL, NULL, &err),
                     -ERANGE);
    assert_int_equal(accountant_set(accountant, "a@x", ACCOUNT_FLOOR, -1, NULL, NULL, &err),
                     -ERANGE);
    assert_int_equal(accountant_set(accountant, "a@x", ACCOUNT_CEILING, NAN, NULL, NULL, &err),
                     -EINVAL);
    assert_int_equal(accountant_set(accountant, "", ACCOUNT_FACTOR, 2, NULL, NULL, &err), -EINVAL);
    assert_int_equal(accountant_set(accountant, "a b", ACCOUNT_FACTOR, 2, NULL, NULL, &err),
                     -EINVAL);
    assert_null(accountant_find(accountant, "a@x"));
    char lengthy[ACCOUNTANT_NAME_MAX + 2];
    memset(lengthy, 'a', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    accountant_occupy(accountant, lengthy, 1); /* a machine that says so hurts nobody */
    accountant_charge(accountant, lengthy, 1, 10);
    assert_null(accountant_find(accountant, lengthy));
}

static void usage_can_be_reset_and_accounts_deleted(void **state)
{
    struct rig *rig = *state;
    struct err err;
    use(rig, NULL, 0, 1000);
    use(rig, "ann@x", 10, 1000 + DAY);
    use(rig, "bob@x", 10, 1000 + 2 * DAY);
    accountant_occupy(rig->accountant, "bob@x", 1);
    assert_int_equal(accountant_reset(rig->accountant, "no@x", 5, NULL, NULL, &err), -ENOENT);
    assert_int_equal(accountant_reset(rig->accountant, "ann@x", 5000, NULL, NULL, &err), 0);
    assert_int_equal(accountant_delete(rig->accountant, "bob@x", NULL, NULL, &err), -EBUSY);
    assert_int_equal(accountant_delete(rig->accountant, "<none>", NULL, NULL, &err), -EBUSY);
    assert_int_equal(accountant_delete(rig->accountant, "no@x", NULL, NULL, &err), -ENOENT);
    restart(rig);
    assert_true(near(facts_of(rig, "ann@x").weighted_s, 0));
    assert_int_equal(facts_of(rig, "ann@x").begin_s, 5000);
    assert_int_equal(priority(rig, "ann@x"), 2625); /* the priority stays */
    assert_true(near(facts_of(rig, "bob@x").weighted_s, 10.0 * DAY));
    assert_int_equal(accountant_reset(rig->accountant, NULL, 6000, NULL, NULL, &err), 0);
    assert_true(near(facts_of(rig, "bob@x").weighted_s, 0));
    assert_int_equal(accountant_delete(rig->accountant, "bob@x", NULL, NULL, &err), 0);
    restart(rig);
    assert_null(accountant_find(rig->accountant, "bob@x"));
    assert_non_null(accountant_find(rig->accountant, "ann@x"));
}

/* ---- history */

struct seen {
    bool done;
    int result;
    size_t count;
    double weighted_s[64];
    int64_t begin_s[64];
};

static void note(void *arg, int result, const struct ad *const *ads, size_t count)
{
    struct seen *seen = arg;
    seen->done = true;
    seen->result = result;
    seen->count = count;
    for (size_t i = 0; i < count && i < 64; i++) {
        seen->weighted_s[i] = ad_real_or(ads[i], "WeightedUsage", -1);
        seen->begin_s[i] = ad_int_or(ads[i], "BeginTime", -1);
    }
}

static struct seen history(struct rig *rig, const char *name, bool by_hour)
{
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    accountant_history(rig->accountant, name, by_hour, 0, 1000 * (int64_t)DAY, 60, note, &seen);
    loop_run_until(rig->loop, &seen.done);
    assert_int_equal(seen.result, 0);
    return seen;
}

static void use_is_kept_by_the_hour_and_by_the_day(void **state)
{
    struct rig *rig = *state;
    struct accountant_policy policy = POLICY;
    policy.hours = 10;
    accountant_set_policy(rig->accountant, &policy);
    use(rig, NULL, 0, 10 * DAY + 22 * 3600);
    use(rig, "ann@x", 2, 10 * DAY + 22 * 3600 + 1800);
    use(rig, "ann@x", 2, 10 * DAY + 22 * 3600 + 1860);
    restart(rig); /* a period that is cut by a death is one all the same */
    accountant_set_policy(rig->accountant, &policy);
    use(rig, "ann@x", 4, 11 * DAY + 3600);
    struct seen hours = history(rig, "ann@x", true);
    assert_int_equal(hours.count, 3);
    assert_int_equal(hours.begin_s[0], 10 * DAY + 22 * 3600);
    assert_true(fabs(hours.weighted_s[0] - (2 * 1860 + 4 * 1740)) < 1e-6);
    assert_true(fabs(hours.weighted_s[1] - 4 * 3600) < 1e-6);
    assert_true(fabs(hours.weighted_s[2] - 4 * 3600) < 1e-6);
    struct seen days = history(rig, "ann@x", false);
    assert_int_equal(days.count, 2);
    assert_true(fabs(days.weighted_s[0] - (2 * 1860 + 4 * (1740 + 3600))) < 1e-6);
    assert_true(fabs(days.weighted_s[1] - 4 * 3600) < 1e-6);
    assert_int_equal(history(rig, "bob@x", true).count, 0);
    assert_int_equal(history(rig, NULL, true).count, 6); /* ann and <none> */
}

static void old_history_is_forgotten(void **state)
{
    struct rig *rig = *state;
    accountant_set_policy(rig->accountant, &POLICY);
    use(rig, NULL, 0, 10 * DAY);
    struct seen seen;
    for (int64_t hour = 1; hour <= 30; hour++) {
        accountant_clock_set(rig->accountant, hour % 2 ? 3 : -3); /* a time service's correction */
        use(rig, "ann@x", 1, 10 * DAY + hour * 3600);
        /* what was too old when the last hour began is gone when this is answered twice */
        seen = history(rig, "ann@x", true);
        seen = history(rig, "ann@x", true);
        assert_true(seen.count <= 4);
    }
    assert_true(seen.count >= 2); /* of hour 30, which begins, nothing is used yet */
    assert_true(seen.begin_s[0] >= 10 * DAY + 27 * 3600);
    assert_int_equal(seen.begin_s[seen.count - 1], 10 * DAY + 29 * 3600);
    assert_true(history(rig, "ann@x", false).count <= 3);
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(UNIT(priorities_follow_use_with_a_half_life),
           UNIT(a_priority_is_never_better_than_a_half), RIG(use_is_charged_between_two_looks),
           RIG(slots_of_one_user_add_up), RIG(what_is_in_use_now_is_counted),
           RIG(a_clock_that_is_set_back_charges_when_it_goes_on),
           RIG(a_restart_forgets_neither_use_nor_when_it_was_settled),
           RIG(a_clock_that_is_set_neither_charges_nor_decays),
           RIG(a_use_that_has_decayed_to_the_minimum_is_remembered_so),
           RIG(the_factor_is_the_users_own_or_its_groups_or_that_of_its_kind),
           RIG(many_users_who_do_nothing_cost_no_rows), RIG(a_group_is_charged_with_its_users),
           RIG(what_is_set_survives_a_restart), RIG(values_that_cannot_be_are_refused),
           RIG(usage_can_be_reset_and_accounts_deleted),
           RIG(use_is_kept_by_the_hour_and_by_the_day), RIG(old_history_is_forgotten))
