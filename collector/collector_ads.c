/* collector/collector_ads.c - see collector_ads.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_ads.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"

struct ads_table {
    char *type;
    struct strmap *entries; /* by name */
    struct ads_entry *first;
    struct ads_entry *last;
    struct ads_table *next;
};

struct ads_change {
    struct ads_entry *entry;
    struct ad *ad;
};

struct collector_ads {
    struct ads_events events;
    void *arg;
    struct strmap *tables; /* by type */
    struct ads_table *first;
    struct ads_table **end;
    struct strmap *machines; /* Machine -> struct vec of entries */
    size_t count;
    struct ads_cursor *cursors;
    struct ads_due due;
};

struct collector_ads *collector_ads_create(const struct ads_events *events, void *arg)
{
    struct collector_ads *ads = mem_zalloc(sizeof(*ads));
    ads->events = *events;
    ads->arg = arg;
    ads->tables = strmap_create(STRMAP_CASE_IGNORED);
    ads->machines = strmap_create(STRMAP_CASE_IGNORED);
    ads->end = &ads->first;
    return ads;
}

/* ---- entries --------------------------------------------------------------------------------- */

static struct ads_table *table_get(struct collector_ads *ads, const char *type)
{
    struct ads_table *table = strmap_get(ads->tables, type);
    if (!table && strmap_count(ads->tables) < COLLECTOR_TYPES_MAX) {
        table = mem_zalloc(sizeof(*table));
        table->type = mem_strdup(type);
        table->entries = strmap_create(STRMAP_CASE_SENSITIVE);
        (void)strmap_set(ads->tables, type, table);
        *ads->end = table;
        ads->end = &table->next;
    }
    return table;
}

static struct ads_entry *entry_create(struct collector_ads *ads, struct ads_table *table,
                                      const char *name)
{
    struct ads_entry *entry = mem_zalloc(sizeof(*entry));
    entry->table = table;
    entry->type = table->type;
    entry->name = mem_strdup(name);
    entry->previous = table->last;
    if (table->last) {
        table->last->next = entry;
    } else {
        table->first = entry;
    }
    table->last = entry;
    (void)strmap_set(table->entries, name, entry);
    ads->count++;
    ads_due_set_now(&ads->due, &entry->due);
    return entry;
}

static void machine_leave(struct collector_ads *ads, struct ads_entry *entry)
{
    if (!entry->machine) {
        return;
    }
    struct vec *vec = strmap_get(ads->machines, entry->machine);
    for (size_t i = 0; i < vec->count; i++) {
        if (vec->items[i] == entry) {
            vec_remove_at(vec, i);
            break;
        }
    }
    if (vec->count == 0) {
        (void)strmap_remove(ads->machines, entry->machine);
        vec_fini(vec, NULL);
        mem_free(vec);
    }
    mem_free(entry->machine);
    entry->machine = NULL;
}

static void machine_join(struct collector_ads *ads, struct ads_entry *entry, const char *machine)
{
    if (entry->machine && ad_name_compare(entry->machine, machine) == 0) {
        return;
    }
    machine_leave(ads, entry);
    if (!*machine) {
        return;
    }
    struct vec *vec = strmap_get(ads->machines, machine);
    if (!vec) {
        vec = mem_zalloc(sizeof(*vec));
        (void)strmap_set(ads->machines, machine, vec);
    }
    vec_push(vec, entry);
    entry->machine = mem_strdup(machine);
}

static void entry_destroy(struct collector_ads *ads, struct ads_entry *entry)
{
    struct ads_table *table = entry->table;
    for (struct ads_cursor *cursor = ads->cursors; cursor; cursor = cursor->next) {
        if (cursor->entry == entry) {
            cursor->entry = entry->next;
        }
    }
    machine_leave(ads, entry);
    ads_due_remove(&entry->due);
    (void)strmap_remove(table->entries, entry->name);
    if (entry->previous) {
        entry->previous->next = entry->next;
    } else {
        table->first = entry->next;
    }
    if (entry->next) {
        entry->next->previous = entry->previous;
    } else {
        table->last = entry->previous;
    }
    ads->count--;
    ad_destroy(entry->shown);
    ad_destroy(entry->bare);
    mem_free(entry->name);
    mem_free(entry);
}

void collector_ads_destroy(struct collector_ads *ads)
{
    if (!ads) {
        return;
    }
    CHECK(!ads->cursors);
    for (struct ads_table *table = ads->first, *next; table; table = next) {
        next = table->next;
        while (table->first) {
            entry_destroy(ads, table->first);
        }
        strmap_destroy(table->entries, NULL);
        mem_free(table->type);
        mem_free(table);
    }
    strmap_destroy(ads->tables, NULL);
    strmap_destroy(ads->machines, NULL);
    mem_free(ads);
}

struct ads_entry *collector_ads_find(const struct collector_ads *ads, const char *type,
                                     const char *name)
{
    const struct ads_table *table = strmap_get(ads->tables, type);
    return table ? strmap_get(table->entries, name) : NULL;
}

struct ads_entry *const *collector_ads_of_machine(const struct collector_ads *ads,
                                                  const char *machine, size_t *count)
{
    const struct vec *vec = strmap_get(ads->machines, machine);
    *count = vec ? vec->count : 0;
    return vec ? (struct ads_entry *const *)vec->items : NULL;
}

size_t collector_ads_count(const struct collector_ads *ads, const char *type)
{
    if (!type) {
        return ads->count;
    }
    const struct ads_table *table = strmap_get(ads->tables, type);
    return table ? strmap_count(table->entries) : 0;
}

const struct ad *collector_ads_bare(struct ads_entry *entry)
{
    if (entry->bare || !entry->shown) {
        return entry->bare;
    }
    size_t at = 0;
    const char *name;
    bool has_private = false;
    while (ad_next(entry->shown, &at, &name, NULL)) {
        has_private = has_private || ad_attr_is_private(name);
    }
    if (!has_private) {
        return entry->shown;
    }
    entry->bare = ad_create();
    const struct ad_expr *expr;
    at = 0;
    while (ad_next(entry->shown, &at, &name, &expr)) {
        if (!ad_attr_is_private(name)) {
            ad_set(entry->bare, name, ad_expr_ref(expr));
        }
    }
    return entry->bare;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* What else than its renewal decides how long the ad lives. */
static void take_traits(struct collector_ads *ads, struct ads_entry *entry, const struct ad *ad)
{
    bool offline = ad && plan_is_offline(entry->type, ad);
    bool absent = ad && plan_is_absent(entry->type, ad);
    int64_t lifetime_s = ad ? ad_int_or(ad, "ClassAdLifetime", 0) : 0;
    if (offline || absent || offline != entry->latest_offline || absent != entry->latest_absent ||
        lifetime_s != entry->lifetime_s) {
        ads_due_set_now(&ads->due, &entry->due);
    }
    entry->latest_offline = offline;
    entry->latest_absent = absent;
    entry->lifetime_s = lifetime_s;
}

int collector_ads_propose(struct collector_ads *ads, const char *type, const char *name,
                          struct ad *ad, struct ads_change **ret)
{
    struct ads_entry *entry = collector_ads_find(ads, type, name);
    if (!entry) {
        struct ads_table *table = ads->count < COLLECTOR_ADS_MAX ? table_get(ads, type) : NULL;
        if (!table) {
            ad_destroy(ad);
            return -ENOSPC;
        }
        entry = entry_create(ads, table, name);
    }
    struct ads_change *change = mem_zalloc(sizeof(*change));
    change->entry = entry;
    change->ad = ad;
    entry->latest = ad;
    entry->waiting++;
    take_traits(ads, entry, ad);
    if (ad) {
        machine_join(ads, entry, ad_string_or(ad, "Machine", ""));
    }
    *ret = change;
    return 0;
}

struct ads_entry *collector_ads_changed(const struct ads_change *change)
{
    return change->entry;
}

void collector_ads_apply(struct collector_ads *ads, struct ads_change *change)
{
    struct ads_entry *entry = change->entry;
    bool was_watched = entry->shown && !entry->shown_absent;
    ad_destroy(entry->bare);
    ad_destroy(entry->shown);
    entry->bare = NULL;
    entry->shown = change->ad;
    entry->shown_absent = entry->shown && plan_is_absent(entry->type, entry->shown);
    entry->waiting--;
    CHECK(entry->waiting > 0 || entry->latest == entry->shown);
    mem_free(change);
    if (entry->shown && !entry->shown_absent) {
        ads->events.changed(ads->arg, entry->type, entry->name, entry->shown);
    } else if (was_watched) {
        ads->events.gone(ads->arg, entry->type, entry->name);
    }
    if (!entry->shown && entry->waiting == 0) {
        entry_destroy(ads, entry);
    }
}

void collector_ads_drop(struct ads_change *change)
{
    ad_destroy(change->ad);
    mem_free(change);
}

/* ---- whose time may be over ------------------------------------------------------------------ */

struct ads_entry *collector_ads_next_due(struct collector_ads *ads, uint64_t now_s)
{
    struct ads_due_link *link = ads_due_next(&ads->due, now_s);
    return link ? (struct ads_entry *)((char *)link - offsetof(struct ads_entry, due)) : NULL;
}

void collector_ads_look_again(struct collector_ads *ads, struct ads_entry *entry, uint64_t at_s)
{
    ads_due_set(&ads->due, &entry->due, at_s);
}

void collector_ads_look_at_all(struct collector_ads *ads)
{
    for (struct ads_table *table = ads->first; table; table = table->next) {
        for (struct ads_entry *entry = table->first; entry; entry = entry->next) {
            ads_due_set_now(&ads->due, &entry->due);
        }
    }
}

/* ---- walking --------------------------------------------------------------------------------- */

void ads_cursor_init(struct ads_cursor *cursor, struct collector_ads *ads, const char *type)
{
    *cursor = (struct ads_cursor){.ads = ads, .all_types = type == NULL, .next = ads->cursors};
    cursor->table = type ? strmap_get(ads->tables, type) : ads->first;
    cursor->entry = cursor->table ? cursor->table->first : NULL;
    ads->cursors = cursor;
}

struct ads_entry *ads_cursor_next(struct ads_cursor *cursor)
{
    while (!cursor->entry && cursor->all_types && cursor->table && cursor->table->next) {
        cursor->table = cursor->table->next;
        cursor->entry = cursor->table->first;
    }
    struct ads_entry *entry = cursor->entry;
    if (entry) {
        cursor->entry = entry->next;
    }
    return entry;
}

void ads_cursor_fini(struct ads_cursor *cursor)
{
    struct ads_cursor **link = &cursor->ads->cursors;
    while (*link != cursor) {
        link = &(*link)->next;
    }
    *link = cursor->next;
}
