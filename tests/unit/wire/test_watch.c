/* tests/unit/wire/test_watch.c - a watcher's copy follows the table, however slow or cut it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/watch_rig.h"

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_snapshot_comes_first_then_changes_in_order(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    table_start(world, &table);
    table_put(&table, "a", 1);
    table_put(&table, "b", 2);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    assert_string_equal(strbuf_text(&table.order), "+a +b synced ");
    table_put(&table, "c", 3);
    table_put(&table, "a", 4);
    table_drop(&table, "b");
    table_put(&table, "c", 5);
    until_count(world, &watcher.changed, 5);
    assert_string_equal(strbuf_text(&table.order), "+a +b synced +c +a -b +c ");
    assert_same(&table, &watcher);
    assert_null(watch_secrets(watcher.watch, "a"));
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void an_empty_table_is_synced_at_once(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    table_start(world, &table);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    assert_int_equal(watch_count(watcher.watch), 0);
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_snapshot_larger_than_a_window_arrives_whole_with_its_changes(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    char key[32];
    table_start(world, &table);
    for (int i = 0; i < 40000; i++) {
        (void)snprintf(key, sizeof key, "slot1@wn%d", i);
        table_put(&table, key, i);
    }
    table.hold = true;
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    while (table.held == NULL) {
        world_turns(world);
    }
    watch_server_add(table.server, table.held);
    until_count(world, &watcher.changed, 2); /* sent in slices: most of it waits */
    assert_true(watcher.changed < 20000);
    table_put(&table, "slot1@wn0", 77);     /* sent already */
    table_put(&table, "slot1@wn39999", 78); /* waits */
    table_drop(&table, "slot1@wn39998");    /* waits */
    table_drop(&table, "slot1@wn1");        /* sent already */
    table_put(&table, "new", 79);
    world_until_flag(world, &watcher.synced);
    until_count(world, &watcher.gone, 1);
    while (watcher.watch != NULL && watch_get(watcher.watch, "new") == NULL) {
        world_turns(world);
    }
    assert_same(&table, &watcher);
    assert_int_equal(watcher.gone, 1);
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_constraint_shows_only_what_meets_it_and_tells_when_it_no_longer_does(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    const struct watch_spec spec = {.type = "Machine", .constraint = "Cpus >= 8"};
    table_start(world, &table);
    table_put(&table, "small", 1);
    table_put(&table, "large", 8);
    watcher_start(&table, &watcher, &spec, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    table_put(&table, "small", 2); /* not told */
    table_put(&table, "large", 4); /* gone for the watcher */
    table_put(&table, "small", 16);
    table_drop(&table, "large"); /* was gone already */
    table_drop(&table, "small");
    until_count(world, &watcher.gone, 2);
    assert_string_equal(strbuf_text(&table.order), "+large synced -large +small -small ");
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_projection_sends_only_its_attributes(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    const char *const names[] = {"cpus", "ClaimId", NULL};
    const struct watch_spec spec = {.type = "Machine", .projection = names};
    table_start(world, &table);
    table_put(&table, "a", 3);
    watcher_start(&table, &watcher, &spec, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    const struct ad *ad = watch_get(watcher.watch, "a");
    assert_int_equal(ad_count(ad), 1);
    assert_int_equal(ad_int_or(ad, "Cpus", 0), 3);
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void claim_ids_are_for_negotiators_only(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    const struct watch_spec spec = {.type = "Machine", .with_secrets = true};
    table_start(world, &table);
    table_put(&table, "a", 3);
    watcher_start(&table, &watcher, &spec, SCOPE_READ | SCOPE_SCHEDD | SCOPE_ADMINISTRATOR);
    world_until_flag(world, &watcher.refused);
    assert_int_equal(watcher.status, -EACCES);
    assert_non_null(strstr(watcher.why, "NEGOTIATOR"));
    watch_destroy(watcher.watch);
    watcher_start(&table, &watcher, &spec, SCOPE_NEGOTIATOR);
    world_until_flag(world, &watcher.synced);
    assert_string_equal(secret_list_find(watch_secrets(watcher.watch, "a"), SECRET_CLAIM_ID),
                        "secret");
    table_put(&table, "b", 3);
    until_count(world, &watcher.changed, 2);
    assert_string_equal(secret_list_find(watch_secrets(watcher.watch, "b"), SECRET_CLAIM_ID),
                        "secret");
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void what_does_not_parse_is_refused_with_the_reason(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    const struct watch_spec bad = {.type = "Machine", .constraint = "Cpus >="};
    const struct watch_spec none = {.type = ""};
    table_start(world, &table);
    watcher_start(&table, &watcher, &bad, SCOPE_READ);
    world_until_flag(world, &watcher.refused);
    assert_int_equal(watcher.status, -EINVAL);
    assert_int_equal(strncmp(watcher.why, "Constraint: ", 12), 0);
    watch_destroy(watcher.watch);
    watcher_start(&table, &watcher, &none, SCOPE_READ);
    world_until_flag(world, &watcher.refused);
    assert_string_equal(watcher.why, "WATCH: Type is missing");
    assert_int_equal(watch_server_count(table.server), 0);
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_watcher_that_was_cut_learns_what_went_away_meanwhile(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    table_start(world, &table);
    table_put(&table, "a", 1);
    table_put(&table, "b", 2);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    wire_close(world->accepted[0].wire);
    world->accepted[0].wire = NULL;
    world_until_flag(world, &watcher.end.closed);
    assert_int_equal(watcher.lost, 1);
    assert_int_equal(watch_count(watcher.watch), 2); /* stale, but kept */
    table_drop(&table, "a");
    table_put(&table, "c", 3);
    strbuf_clear(&table.order);
    world_dial(world, NULL, &watcher.end);
    assert_int_equal(watch_start(watcher.watch, watcher.end.wire), 0);
    world_until_flag(world, &watcher.synced);
    assert_string_equal(strbuf_text(&table.order), "+b +c -a synced ");
    assert_same(&table, &watcher);
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_slow_watcher_sees_the_newest_state_of_each_key(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    char key[32];
    table_start(world, &table);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    for (int round = 0; round < 40; round++) { /* far more than a window, in one turn */
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(key, sizeof key, "k%d", i);
            table_put(&table, key, round);
        }
    }
    table_put(&table, "last", 1);
    while (watch_get(watcher.watch, "last") == NULL) {
        world_turns(world);
    }
    assert_same(&table, &watcher);
    assert_true(watcher.changed < 20000); /* of 40,001 changes */
    assert_int_equal(watcher.lost, 0);
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_slow_watcher_sees_keys_in_the_order_of_their_last_changes(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    char key[32];
    table_start(world, &table);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    for (int i = 0; i < 20000; i++) { /* fills the window */
        (void)snprintf(key, sizeof key, "k%d", i);
        table_put(&table, key, i);
    }
    table_put(&table, "first", 1);
    table_put(&table, "second", 1);
    table_put(&table, "first", 2);
    while (watch_get(watcher.watch, "second") == NULL ||
           watch_get(watcher.watch, "first") == NULL) {
        world_turns(world);
    }
    assert_non_null(strstr(strbuf_text(&table.order), "+second +first "));
    assert_null(strstr(strbuf_text(&table.order), "+first +second "));
    watch_destroy(watcher.watch);
    table_end(&table);
}

static void a_watcher_too_far_behind_is_told_to_resync(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    char key[32];
    table_start(world, &table);
    table_put(&table, "stays", 1);
    table_put(&table, "goes", 1);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    table_drop(&table, "goes");
    for (int i = 0; i < WATCH_BACKLOG_MAX + 30000; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        table_put(&table, key, i);
        if (i >= 1000) {
            table_drop(&table, key);
        }
    }
    until_count(world, &watcher.syncs, 2);
    assert_int_equal(watcher.lost, 1);
    assert_same(&table, &watcher);
    watch_destroy(watcher.watch);
    table_end(&table);
}

/* ---- several watchers ------------------------------------------------------------------------ */

static void watchers_of_several_kinds_are_each_told_what_they_want(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher first, second, few, large, owner;
    const char *const names[] = {"Cpus", NULL};
    const struct watch_spec of_few = {.type = "Machine", .projection = names};
    const struct watch_spec of_large = {.type = "Machine", .constraint = "Cpus >= 8"};
    const struct watch_spec private = {.type = "Machine", .with_secrets = true};
    table_start(world, &table);
    watcher_start(&table, &first, &ALL, SCOPE_READ);
    watcher_start(&table, &second, &ALL, SCOPE_READ);
    watcher_start(&table, &few, &of_few, SCOPE_READ);
    watcher_start(&table, &large, &of_large, SCOPE_READ);
    watcher_start(&table, &owner, &private, SCOPE_NEGOTIATOR);
    struct watcher *all[] = {&first, &second, &few, &large, &owner};
    for (size_t i = 0; i < 5; i++) {
        world_until_flag(world, &all[i]->synced);
    }
    assert_int_equal(watch_server_count(table.server), 5);
    assert_int_equal(watch_server_kinds(table.server), 4);
    table_put(&table, "a", 8);
    table_put(&table, "b", 2);
    table_put(&table, "a", 3);
    for (size_t i = 0; i < 5; i++) {
        until_count(world, &all[i]->changed, all[i] == &large ? 1 : 3);
    }
    until_count(world, &large.gone, 1);
    assert_int_equal(large.changed, 1);
    assert_same(&table, &first);
    assert_same(&table, &second);
    assert_null(watch_secrets(second.watch, "a"));
    assert_int_equal(ad_count(watch_get(few.watch, "a")), 1);
    assert_string_equal(secret_list_find(watch_secrets(owner.watch, "a"), SECRET_CLAIM_ID),
                        "secret");
    table_drop(&table, "b");
    for (size_t i = 0; i < 5; i++) {
        if (all[i] != &large) {
            until_count(world, &all[i]->gone, 1);
        }
    }
    assert_int_equal(large.gone, 1); /* b never was there for it */
    for (size_t i = 0; i < 5; i++) {
        watch_destroy(all[i]->watch);
    }
    table_end(&table);
}

/* A watcher of bytes: it says hello and WATCH, reads, and never gives back any window. */
static void stuck_readable(void *arg)
{
    struct stream **stream = arg;
    size_t length = 0;
    (void)stream_input(*stream, &length);
    stream_consume(*stream, length);
}

static void stuck_closed(void *arg, int code, const char *why)
{
    (void)arg;
    fail_msg("the watcher that takes nothing was cut: %d %s", code, why);
}

static void stuck_start(struct world *world, struct stream **ret)
{
    static const struct stream_events STUCK = {.readable = stuck_readable, .closed = stuck_closed};
    struct stream_trust trust = {0};
    struct strbuf out;
    struct ad *args = ad_create();
    struct wire_body body = {.args = args};
    strbuf_init(&out, 0);
    size_t begin = frame_begin(&out, FRAME_HELLO, 0, 0, 0);
    frame_put_u16(&out, WIRE_VERSION);
    frame_put_u16(&out, WIRE_VERSION_MIN);
    frame_put_body(&out, NULL);
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    ad_set_string(args, "Type", "Machine");
    begin = frame_begin(&out, FRAME_REQUEST, 0, VERB_WATCH, 1);
    frame_put_u32(&out, 0);
    frame_put_body(&out, &body);
    assert_int_equal(frame_end(&out, begin, 0, WIRE_FRAME_MAX), 0);
    MUST(stream_connect(world->loop, world->local, "collector", &trust, &STUCK, ret, ret, err));
    assert_int_equal(stream_write(*ret, out.data, out.length), 0);
    strbuf_fini(&out);
    ad_destroy(args);
}

static void a_watcher_that_takes_nothing_costs_keys_up_to_a_limit_and_delays_nobody(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher quick;
    struct stream *stuck = NULL;
    char key[32];
    unsigned told = 0;
    table_start(world, &table);
    watcher_start(&table, &quick, &ALL, SCOPE_READ);
    world_until_flag(world, &quick.synced);
    stuck_start(world, &stuck);
    while (watch_server_count(table.server) < 2) {
        world_turns(world);
    }
    assert_int_equal(watch_server_kinds(table.server), 1);
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 1000; i++) {
            (void)snprintf(key, sizeof key, "k%d", i);
            table_put(&table, key, round);
            told++;
        }
        until_count(world, &quick.changed, told); /* each change, while the other is stuck */
    }
    assert_same(&table, &quick);
    assert_int_equal(watch_server_waiting(table.server), 1000);
    size_t most = 0;
    for (int i = 0; i < WATCH_BACKLOG_MAX + 2000; i++) {
        (void)snprintf(key, sizeof key, "gone%d", i);
        table_drop(&table, key);
        size_t waiting = watch_server_waiting(table.server);
        most = waiting > most ? waiting : most;
        if (i % 2000 == 0) {
            world_turns(world);
        }
    }
    assert_true(most >= WATCH_BACKLOG_MAX);
    assert_true(most <= WATCH_BACKLOG_MAX + 2000);   /* and what the quick one had not read yet */
    while (watch_server_waiting(table.server) > 0) { /* of the quick one: the other starts over */
        world_turns(world);
    }
    assert_int_equal(quick.lost, 0);
    stream_close(stuck);
    watch_destroy(quick.watch);
    table_end(&table);
}

static void on_update_answered(void *arg, struct wire_reply *reply)
{
    struct table *table = arg;
    assert_int_equal(reply->status, 0);
    strbuf_puts(&table->order, "answered ");
}

static void the_event_of_an_update_arrives_before_the_answer_to_a_later_request(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    table_start(world, &table);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ | SCOPE_ADVERTISE);
    world_until_flag(world, &watcher.synced);
    strbuf_clear(&table.order);
    assert_true(wire_call(watcher.end.wire, VERB_UPDATE, NULL, 0, on_update_answered, &table) > 0);
    until_count(world, &watcher.changed, 1);
    while (strstr(strbuf_text(&table.order), "answered") == NULL) {
        world_turns(world);
    }
    assert_string_equal(strbuf_text(&table.order), "+updated answered ");
    watch_destroy(watcher.watch);
    table_end(&table);
}

static bool has_no_watchers(void *arg)
{
    return watch_server_count(((struct table *)arg)->server) == 0;
}

static void a_destroyed_watch_is_forgotten_by_the_server(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher, other;
    table_start(world, &table);
    table_put(&table, "a", 1);
    table_put(&table, "b", 1);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    watcher.destroy_when_changed = true; /* inside a callback */
    until_count(world, &watcher.changed, 1);
    world_until(world, has_no_watchers, &table);
    assert_int_equal(watcher.changed, 1);
    watcher_start(&table, &other, &ALL, SCOPE_READ);
    world_until_flag(world, &other.synced);
    wire_close(other.end.wire);
    world_until(world, has_no_watchers, &table);
    assert_int_equal(other.lost, 1);
    watch_destroy(other.watch);
    table_end(&table);
}

static void a_server_that_stops_leaves_its_watchers_lost(void **state)
{
    struct world *world = *state;
    struct table table;
    struct watcher watcher;
    table_start(world, &table);
    watcher_start(&table, &watcher, &ALL, SCOPE_READ);
    world_until_flag(world, &watcher.synced);
    table_end(&table);
    strbuf_init(&table.order, 0);
    until_count(world, &watcher.lost, 1);
    assert_false(watcher.refused);
    watch_destroy(watcher.watch);
    strbuf_fini(&table.order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_snapshot_comes_first_then_changes_in_order),
        WORLD_TEST(an_empty_table_is_synced_at_once),
        WORLD_TEST(a_snapshot_larger_than_a_window_arrives_whole_with_its_changes),
        WORLD_TEST(a_constraint_shows_only_what_meets_it_and_tells_when_it_no_longer_does),
        WORLD_TEST(a_projection_sends_only_its_attributes),
        WORLD_TEST(claim_ids_are_for_negotiators_only),
        WORLD_TEST(what_does_not_parse_is_refused_with_the_reason),
        WORLD_TEST(a_watcher_that_was_cut_learns_what_went_away_meanwhile),
        WORLD_TEST(a_slow_watcher_sees_the_newest_state_of_each_key),
        WORLD_TEST(a_slow_watcher_sees_keys_in_the_order_of_their_last_changes),
        WORLD_TEST(a_watcher_too_far_behind_is_told_to_resync),
        WORLD_TEST(watchers_of_several_kinds_are_each_told_what_they_want),
        WORLD_TEST(a_watcher_that_takes_nothing_costs_keys_up_to_a_limit_and_delays_nobody),
        WORLD_TEST(the_event_of_an_update_arrives_before_the_answer_to_a_later_request),
        WORLD_TEST(a_destroyed_watch_is_forgotten_by_the_server),
        WORLD_TEST(a_server_that_stops_leaves_its_watchers_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
