/* tests/unit/wire/watch_rig.h - a published table of ads, and watchers of that table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_WIRE_WATCH_RIG_H
#define TESTS_UNIT_WIRE_WATCH_RIG_H

#include "tests/unit/wire/world.h"

#include "base/strmap.h"
#include "wire/frame.h"
#include "wire/watch.h"

/* The published table: key -> ad, all of type "Machine". */
struct table {
    struct world *world;
    struct strmap *ads;
    struct watch_server *server;
    struct wire_request *held; /* a WATCH request that the test passes to the server later */
    bool hold;
    struct strbuf order;
    /* events that the client got, in order: "+key " "-key " "query " */
    struct secret_list *secrets;
};

static inline void table_walk(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    struct table *table = arg;
    size_t at = 0;
    const char *key = NULL;
    void *ad = NULL;
    assert_string_equal(type, "Machine");
    while (strmap_next(table->ads, &at, &key, &ad) && each(each_arg, key)) {
    }
}

static inline const struct ad *table_get(void *arg, const char *type, const char *key)
{
    assert_string_equal(type, "Machine");
    return strmap_get(((struct table *)arg)->ads, key);
}

/* Gives each ad a secret beside it. */
static inline const struct secret_list *table_secrets(void *arg, const char *type, const char *key)
{
    struct table *table = arg;
    assert_string_equal(type, "Machine");
    assert_non_null(strmap_get(table->ads, key));
    return table->secrets;
}

static inline void table_put(struct table *table, const char *key, int64_t cpus)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "Name", key);
    ad_set_int(ad, "Cpus", cpus);
    ad_destroy(strmap_set(table->ads, key, ad));
    watch_server_changed(table->server, "Machine", key, ad);
}

static inline void table_drop(struct table *table, const char *key)
{
    ad_destroy(strmap_remove(table->ads, key));
    watch_server_gone(table->server, "Machine", key);
}

static inline void table_request(void *arg, struct wire_request *request)
{
    struct table *table = arg;
    if (wire_request_verb(request) == VERB_WATCH && table->hold) {
        table->held = request;
    } else if (wire_request_verb(request) == VERB_WATCH) {
        watch_server_add(table->server, request);
    } else if (wire_request_verb(request) == VERB_UPDATE) {
        table_put(table, "updated", ad_int_or(wire_request_args(request), "Cpus", 0));
        wire_reply_ok(request, NULL);
    } else {
        wire_reply_ok(request, NULL);
    }
}

static inline void table_start(struct world *world, struct table *table)
{
    static const struct watch_server_source SOURCE = {.walk = table_walk,
                                                      .get = table_get,
                                                      .secrets = table_secrets};
    static const struct wire_secret SECRET = {.kind = SECRET_CLAIM_ID, .text = "secret"};
    *table = (struct table){.world = world, .ads = strmap_create(STRMAP_CASE_SENSITIVE)};
    table->secrets = secret_list_create(&SECRET, 1);
    strbuf_init(&table->order, 0);
    table->server = watch_server_create(world->loop, &SOURCE, table);
    world->handler = table_request;
    world->handler_arg = table;
}

static inline void table_end(struct table *table)
{
    watch_server_destroy(table->server);
    strmap_destroy(table->ads, ad_destroy_item);
    secret_list_unref(table->secrets);
    strbuf_fini(&table->order);
}

/* ---- a watcher ------------------------------------------------------------------------------- */

struct watcher {
    struct table *table;
    struct watch *watch;
    struct end end;
    unsigned changed, gone, syncs, lost;
    bool synced, refused;
    int status;
    char why[300];
    int64_t cpus;
    bool destroy_when_changed;
};

static inline void on_changed(void *arg, const char *key, const struct ad *ad)
{
    struct watcher *watcher = arg;
    watcher->changed++;
    watcher->cpus = ad_int_or(ad, "Cpus", -1);
    assert_ptr_equal(watch_get(watcher->watch, key), ad);
    strbuf_printf(&watcher->table->order, "+%s ", key);
    if (watcher->destroy_when_changed) {
        watch_destroy(watcher->watch);
        watcher->watch = NULL;
    }
}

static inline void on_gone(void *arg, const char *key)
{
    struct watcher *watcher = arg;
    watcher->gone++;
    assert_null(watch_get(watcher->watch, key));
    strbuf_printf(&watcher->table->order, "-%s ", key);
}

static inline void on_synced(void *arg)
{
    struct watcher *watcher = arg;
    watcher->syncs++;
    watcher->synced = true;
    assert_true(watch_is_synced(watcher->watch));
    strbuf_puts(&watcher->table->order, "synced ");
}

static inline void on_lost(void *arg)
{
    struct watcher *watcher = arg;
    watcher->lost++;
    watcher->synced = false;
    assert_false(watch_is_synced(watcher->watch));
}

static inline void on_refused(void *arg, int status, const char *why)
{
    struct watcher *watcher = arg;
    watcher->refused = true;
    watcher->status = status;
    (void)snprintf(watcher->why, sizeof watcher->why, "%s", why);
}

static const struct watch_events EVENTS = {.changed = on_changed,
                                           .gone = on_gone,
                                           .synced = on_synced,
                                           .lost = on_lost,
                                           .refused = on_refused};

static inline void watcher_start(struct table *table, struct watcher *watcher,
                                 const struct watch_spec *spec, uint32_t scopes)
{
    *watcher = (struct watcher){.table = table};
    world_connect(table->world, "watcher@pool", scopes, &watcher->end);
    watcher->watch = watch_create(table->world->loop, spec, &EVENTS, watcher);
    assert_int_equal(watch_start(watcher->watch, watcher->end.wire), 0);
}

static const struct watch_spec ALL = {.type = "Machine"};

struct count {
    const unsigned *value;
    unsigned wanted;
};

static inline bool has_count(void *arg)
{
    const struct count *count = arg;
    return *count->value >= count->wanted;
}

static inline void until_count(struct world *world, const unsigned *value, unsigned wanted)
{
    struct count count = {value, wanted};
    world_until(world, has_count, &count);
}

/* Asserts that the watcher's copy equals the table, ad by ad. */
static inline void assert_same(struct table *table, const struct watcher *watcher)
{
    size_t at = 0;
    const char *key = NULL;
    const struct ad *ad = NULL;
    assert_int_equal(watch_count(watcher->watch), strmap_count(table->ads));
    while (watch_next(watcher->watch, &at, &key, &ad)) {
        const struct ad *there = strmap_get(table->ads, key);
        assert_non_null(there);
        assert_int_equal(ad_int_or(ad, "Cpus", -1), ad_int_or(there, "Cpus", -2));
    }
}

#endif
