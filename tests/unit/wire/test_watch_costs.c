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

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_constraint_that_costs_too_much_is_refused_and_others_go_on),
        WORLD_TEST(a_snapshot_that_costs_too_much_in_all_is_refused),
        WORLD_TEST(a_slow_constraint_is_not_judged_while_an_ad_is_published),
        WORLD_TEST(a_constraint_that_costs_too_much_is_refused_when_ads_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
