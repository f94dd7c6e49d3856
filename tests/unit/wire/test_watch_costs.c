/* tests/unit/wire/test_watch_costs.c - what judging a watcher's constraint may cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/watch_rig.h"

#define COSTLY "regexp(\"(a+)+$\", strcat(\"aaaaaaaaaaaaaaaaaaaaaaaaab\", Name))"

static void a_constraint_that_costs_too_much_is_refused_and_others_go_on(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher costly, plain;
    char key[32];
    const struct watch_spec spec = {.type = "Machine", .constraint = COSTLY};
    table_start(world, &table);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(key, sizeof key, "slot1@wn%d", i);
        table_put(&table, key, i);
    }
    watcher_start(&table, &costly, &spec, SCOPE_READ);
    watcher_start(&table, &plain, &ALL, SCOPE_READ);
    world_until_flag(world, &costly.refused);
    assert_int_equal(costly.status, -EDQUOT);
    assert_non_null(strstr(costly.why, "more than 5000 steps"));
    assert_non_null(strstr(costly.why, "(a+)+$")); /* which constraint it was */
    const char *line = strstr(strbuf_text(&world->log_text), " wire.denied ");
    assert_non_null(line);
    assert_non_null(strstr(line, "verb=WATCH"));
    assert_non_null(strstr(line, "identity="));
    assert_int_equal(watch_server_count(table.server), 1);
    world_until_flag(world, &plain.synced);
    assert_same(&table, &plain);
    watch_destroy(costly.watch);
    watch_destroy(plain.watch);
    table_end(&table);
}

static void a_snapshot_that_costs_too_much_in_all_is_refused(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    const struct watch_spec spec = {.type = "Machine", .constraint = "Cpus >= 0 && Cpus < 10"};
    table_start(world, &table);
    watch_server_limit_steps(table.server, 3000);
    for (int i = 0; i < 1000; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "slot1@wn%d", i);
        table_put(&table, key, i);
    }
    watcher_start(&table, &watcher, &spec, SCOPE_READ);
    world_until_flag(world, &watcher.refused);
    assert_int_equal(watcher.status, -EDQUOT);
    assert_non_null(strstr(watcher.why, "MAX_CONSTRAINT_STEPS"));
    assert_non_null(strstr(watcher.why, "Cpus < 10"));
    watch_destroy(watcher.watch);
    table_end(&table);
}

/* What it costs to judge the changes of ads is paid in slices. */
static void a_slow_constraint_is_not_judged_while_an_ad_is_published(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher slow, quick;
    const struct watch_spec spec = {.type = "Machine",
                                    .constraint = "regexp(\"(a+)+$\", \"aaaaaaab\") =!= true"};
    table_start(world, &table);
    watcher_start(&table, &slow, &spec, SCOPE_READ);
    watcher_start(&table, &quick, &ALL, SCOPE_READ);
    world_until_flag(world, &slow.synced);
    world_until_flag(world, &quick.synced);
    table_put(&table, "slot1@wn1", 0);
    assert_int_equal(watch_server_waiting(table.server), 0); /* nobody knows yet that it is slow */
    for (int i = 2; i < 10; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "slot1@wn%d", i);
        table_put(&table, key, i);
    }
    assert_int_equal(watch_server_waiting(table.server), 8);
    until_count(world, &slow.changed, 9);
    assert_int_equal(watch_server_waiting(table.server), 0);
    assert_same(&table, &slow);
    watch_destroy(slow.watch);
    watch_destroy(quick.watch);
    table_end(&table);
}

static void a_constraint_that_costs_too_much_is_refused_when_ads_change(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher costly;
    const struct watch_spec spec = {.type = "Machine", .constraint = COSTLY};
    table_start(world, &table);
    watcher_start(&table, &costly, &spec, SCOPE_READ);
    world_until_flag(world, &costly.synced); /* there is nothing to be judged */
    for (int i = 0; i < 300; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "slot1@wn%d", i);
        table_put(&table, key, i);
    }
    world_until_flag(world, &costly.refused);
    assert_int_equal(costly.status, -EDQUOT);
    assert_non_null(strstr(costly.why, "(a+)+$")); /* which constraint it was */
    assert_non_null(strstr(strbuf_text(&world->log_text), "verb=WATCH"));
    assert_int_equal(watch_server_count(table.server), 0);
    watch_destroy(costly.watch);
    table_end(&table);
}

static size_t walks;

static void count_walk(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    walks++;
    table_walk(arg, type, each, each_arg);
}

/* What is asked for and taken back at once costs little: a flood of it holds up nobody. */
static void a_watch_that_is_cancelled_before_its_turn_has_looked_at_nothing(void **state)
{
    static const struct watch_server_source SOURCE = {.walk = count_walk, .get = table_get};
    struct world *world = *state;
    struct table table;
    struct watcher first, watcher;
    table_start(world, &table);
    watch_server_destroy(table.server);
    table.server = watch_server_create(world->loop, &SOURCE, &table);
    table_put(&table, "a", 1);
    watcher_start(&table, &first, &ALL, SCOPE_READ);
    world_until_flag(world, &first.synced);
    walks = 0;
    for (int i = 0; i < 50; i++) { /* in one write: they arrive together */
        watcher.watch = watch_create(world->loop, &ALL, &EVENTS, &watcher);
        assert_int_equal(watch_start(watcher.watch, first.end.wire), 0);
        watch_destroy(watcher.watch);
    }
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    assert_true(walks < 25);
    watch_destroy(watcher.watch);
    watch_destroy(first.watch);
    table_end(&table);
}

/* Another one on the same connection. */
static void watcher_also(const struct watcher *first, struct watcher *watcher,
                         const struct watch_spec *spec)
{
    *watcher = (struct watcher){.table = first->table};
    watcher->watch = watch_create(first->table->world->loop, spec, &EVENTS, watcher);
    assert_int_equal(watch_start(watcher->watch, first->end.wire), 0);
}

static void an_identity_has_so_many_watches_and_the_pools_daemons_have_theirs(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher many[WATCH_CALLER_MAX + 1], schedd;
    table_start(world, &table);
    table_put(&table, "a", 1);
    watcher_start(&table, &many[0], &ALL, SCOPE_READ | SCOPE_WRITE);
    world_until_flag(world, &many[0].synced);
    for (size_t i = 1; i <= WATCH_CALLER_MAX; i++) {
        watcher_also(&many[0], &many[i], &ALL);
        if (i < WATCH_CALLER_MAX) {
            world_until_flag(world, &many[i].synced);
        }
    }
    world_until_flag(world, &many[WATCH_CALLER_MAX].refused);
    assert_int_equal(many[WATCH_CALLER_MAX].status, -EBUSY);
    assert_non_null(strstr(many[WATCH_CALLER_MAX].why, "64 watches of watcher@pool"));
    watcher_start(&table, &schedd, &ALL, SCOPE_READ | SCOPE_SCHEDD);
    world_until_flag(world, &schedd.synced);
    for (size_t i = 0; i <= WATCH_CALLER_MAX; i++) {
        watch_destroy(many[i].watch);
    }
    watch_destroy(schedd.watch);
    table_end(&table);
}

static void watches_with_large_constraints_count_as_bytes_of_their_caller(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watchers[WATCH_CALLER_MAX];
    struct strbuf text;
    size_t count = 0;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "Cpus");
    for (int i = 0; i < 60000; i++) {
        strbuf_puts(&text, "||Cpus");
    }
    const struct watch_spec spec = {.type = "Machine", .constraint = strbuf_text(&text)};
    table_start(world, &table);
    do {
        if (count == 0) {
            watcher_start(&table, &watchers[0], &spec, SCOPE_READ);
        } else {
            watcher_also(&watchers[0], &watchers[count], &spec);
        }
        while (!watchers[count].synced && !watchers[count].refused) {
            world_turns(world);
        }
        count++;
    } while (count < WATCH_CALLER_MAX && !watchers[count - 1].refused);
    assert_int_equal(watchers[count - 1].status, -EBUSY);
    assert_true(count < 20);
    for (size_t i = 0; i < count; i++) {
        watch_destroy(watchers[i].watch);
    }
    strbuf_fini(&text);
    table_end(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_constraint_that_costs_too_much_is_refused_and_others_go_on),
        WORLD_TEST(a_snapshot_that_costs_too_much_in_all_is_refused),
        WORLD_TEST(a_slow_constraint_is_not_judged_while_an_ad_is_published),
        WORLD_TEST(a_constraint_that_costs_too_much_is_refused_when_ads_change),
        WORLD_TEST(a_watch_that_is_cancelled_before_its_turn_has_looked_at_nothing),
        WORLD_TEST(an_identity_has_so_many_watches_and_the_pools_daemons_have_theirs),
        WORLD_TEST(watches_with_large_constraints_count_as_bytes_of_their_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
