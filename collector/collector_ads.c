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
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "collector/collector_index.h"
#include "wire/secret_list.h"

/* An earlier shown state of an entry: valid from change `since` until before `until`. */
struct ads_past {
    struct ads_entry *entry;
    struct ad *ad;
    struct secret_list *secrets;
    uint64_t since, until;
    bool absent;
    struct ads_past *older; /* next older state of the same entry */
    struct ads_past *next;  /* list of all, ordered by `until` */
};

struct ads_machine {
    struct vec entries;
    size_t offline_count; /* whose latest ad is offline */
};

struct ads_table {
    char *type;
    bool is_machine;
    struct strmap *entries; /* by name */
    size_t shown_count;
    uint64_t numbers;
    struct ads_indexes *indexes;
    struct ads_entry *first;
    struct ads_entry *last;
    struct ads_table *next;
};

struct ads_change {
    struct ads_entry *entry;
    struct ad *ad;
    struct secret_list *secrets;
    bool offline, absent;
};

struct collector_ads {
    struct ads_events events;
    void *arg;
    struct strmap *tables; /* by type */
    struct ads_table *first;
    struct ads_table **end;
    struct strmap *machines; /* Machine -> struct ads_machine */
    struct vec placed;       /* place -> entry, NULL: free */
    struct vec free_places;  /* free places, as pointers */
    size_t count;            /* number of entries */
    size_t shown_count;      /* number of shown entries */
    size_t absent_count, offline_count;
    struct ads_cursor *cursors;
    struct ads_due due;
    uint64_t version; /* number of the last change that was shown */
    struct ads_snapshot *newest, *oldest;
    struct ads_past *first_past, *last_past;
    size_t past_count;
    struct ads_table *indexing; /* table of indexing_walk; NULL: no walk is under way */
    struct ads_cursor indexing_walk;
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
        table->is_machine = text_equal_nocase(type, "Machine");
        table->entries = strmap_create(STRMAP_CASE_SENSITIVE);
        table->indexes = ads_indexes_create();
        (void)strmap_set(ads->tables, type, table);
        *ads->end = table;
        ads->end = &table->next;
    }
    return table;
}

static void place_give(struct collector_ads *ads, struct ads_entry *entry)
{
    if (ads->free_places.count > 0) {
        entry->place = (uint32_t)(uintptr_t)ads->free_places.items[--ads->free_places.count];
        ads->placed.items[entry->place] = entry;
    } else {
        entry->place = (uint32_t)ads->placed.count;
        vec_push(&ads->placed, entry);
    }
}

static void place_take(struct collector_ads *ads, const struct ads_entry *entry)
{
    ads->placed.items[entry->place] = NULL;
    vec_push(&ads->free_places, (void *)(uintptr_t)entry->place);
}

static struct ads_entry *entry_create(struct collector_ads *ads, struct ads_table *table,
                                      const char *name)
{
    struct ads_entry *entry = mem_zalloc(sizeof(*entry));
    entry->table = table;
    entry->type = table->type;
    entry->is_machine = table->is_machine;
    place_give(ads, entry);
    entry->name = mem_strdup(name);
    entry->number = table->numbers++;
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
    struct ads_machine *group = entry->group;
    struct vec *vec = &group->entries;
    for (size_t i = 0; i < vec->count; i++) {
        if (vec->items[i] == entry) {
            vec_remove_at(vec, i);
            break;
        }
    }
    group->offline_count -= entry->latest_offline;
    if (vec->count == 0) {
        (void)strmap_remove(ads->machines, entry->machine);
        vec_fini(vec, NULL);
        mem_free(group);
    }
    mem_free(entry->machine);
    entry->machine = NULL;
    entry->group = NULL;
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
    struct ads_machine *group = strmap_get(ads->machines, machine);
    if (!group) {
        group = mem_zalloc(sizeof(*group));
        (void)strmap_set(ads->machines, machine, group);
    }
    vec_push(&group->entries, entry);
    group->offline_count += entry->latest_offline;
    entry->group = group;
    entry->machine = mem_strdup(machine);
}

static void entry_destroy(struct collector_ads *ads, struct ads_entry *entry)
{
    struct ads_table *table = entry->table;
    CHECK(!entry->past);
    collector_ads_charge(entry, NULL, 0);
    for (struct ads_cursor *cursor = ads->cursors; cursor; cursor = cursor->next) {
        if (cursor->entry == entry) {
            cursor->entry = entry->next;
        }
    }
    machine_leave(ads, entry);
    ads_due_remove(&entry->due);
    place_take(ads, entry);
    ads_indexes_forget(entry);
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
    secret_list_unref(entry->shown_secrets);
    mem_free(entry->name);
    mem_free(entry);
}

static void indexing_end(struct collector_ads *ads)
{
    if (ads->indexing) {
        ads_cursor_fini(&ads->indexing_walk);
        ads->indexing = NULL;
    }
}

void collector_ads_destroy(struct collector_ads *ads)
{
    if (!ads) {
        return;
    }
    indexing_end(ads);
    CHECK(!ads->cursors && !ads->newest);
    for (struct ads_table *table = ads->first, *next; table; table = next) {
        next = table->next;
        while (table->first) {
            entry_destroy(ads, table->first);
        }
        strmap_destroy(table->entries, NULL);
        ads_indexes_destroy(table->indexes);
        mem_free(table->type);
        mem_free(table);
    }
    strmap_destroy(ads->tables, NULL);
    strmap_destroy(ads->machines, NULL);
    vec_fini(&ads->placed, NULL);
    vec_fini(&ads->free_places, NULL);
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
    const struct ads_machine *group = strmap_get(ads->machines, machine);
    *count = group ? group->entries.count : 0;
    return group ? (struct ads_entry *const *)group->entries.items : NULL;
}

struct ads_entry *collector_ads_placed(const struct collector_ads *ads, uint32_t place)
{
    return place < ads->placed.count ? ads->placed.items[place] : NULL;
}

bool collector_ads_machine_is_offline(const struct ads_entry *entry)
{
    return entry->group && entry->group->offline_count > 0;
}

size_t collector_ads_count(const struct collector_ads *ads, const char *type)
{
    if (!type) {
        return ads->shown_count;
    }
    const struct ads_table *table = strmap_get(ads->tables, type);
    return table ? table->shown_count : 0;
}

size_t collector_ads_count_absent(const struct collector_ads *ads)
{
    return ads->absent_count;
}

size_t collector_ads_count_offline(const struct collector_ads *ads)
{
    return ads->offline_count;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Updates what decides on the ad's lifetime, besides its renewal. */
static void take_traits(struct collector_ads *ads, struct ads_entry *entry,
                        const struct plan_traits *traits)
{
    if (traits->offline || traits->absent || traits->offline != entry->latest_offline ||
        traits->absent != entry->latest_absent || traits->lifetime_s != entry->lifetime_s) {
        ads_due_set_now(&ads->due, &entry->due);
    }
    if (entry->group) {
        entry->group->offline_count += traits->offline;
        entry->group->offline_count -= entry->latest_offline;
    }
    entry->latest_offline = traits->offline;
    entry->latest_absent = traits->absent;
    entry->lifetime_s = traits->lifetime_s;
}

static struct ads_change *change_create(struct ads_entry *entry, struct ad *ad,
                                        struct secret_list *secrets)
{
    struct ads_change *change = mem_alloc(sizeof(*change));
    *change = (struct ads_change){.entry = entry,
                                  .ad = ad,
                                  .secrets = secrets,
                                  .offline = entry->latest_offline,
                                  .absent = entry->latest_absent};
    entry->latest = ad;
    entry->latest_secrets = secrets;
    entry->waiting++;
    return change;
}

void collector_ads_charge(struct ads_entry *entry, struct ads_account *account, size_t bytes)
{
    if (entry->account) {
        entry->account->ads--;
        entry->account->bytes -= entry->charged_bytes;
    }
    entry->account = account;
    entry->charged_bytes = account ? bytes : 0;
    if (account) {
        account->ads++;
        account->bytes += bytes;
    } else {
        share_hold(&entry->holding, NULL);
    }
}

void collector_ads_hold(struct ads_entry *entry, struct share_holding *holding)
{
    share_hold(&entry->holding, holding);
}

int collector_ads_propose(struct collector_ads *ads, const char *type, const char *name,
                          struct ad *ad, struct secret_list *secrets, struct ads_change **ret)
{
    struct ads_entry *entry = collector_ads_find(ads, type, name);
    if (!entry) {
        struct ads_table *table = ads->count < COLLECTOR_ADS_MAX ? table_get(ads, type) : NULL;
        if (!table) {
            ad_destroy(ad);
            secret_list_unref(secrets);
            return -ENOSPC;
        }
        entry = entry_create(ads, table, name);
    }
    if (ad) {
        const struct plan_traits traits = plan_traits_of(entry->is_machine, ad);
        *ret = collector_ads_propose_to(ads, entry, ad, secrets, &traits, false);
    } else {
        static const struct plan_traits NONE;
        take_traits(ads, entry, &NONE);
        collector_ads_charge(entry, NULL, 0);
        secret_list_unref(secrets);
        *ret = change_create(entry, NULL, NULL);
    }
    return 0;
}

struct ads_change *collector_ads_propose_to(struct collector_ads *ads, struct ads_entry *entry,
                                            struct ad *ad, struct secret_list *secrets,
                                            const struct plan_traits *traits, bool same_machine)
{
    take_traits(ads, entry, traits);
    if (!same_machine) {
        machine_join(ads, entry, ad_string_or(ad, "Machine", ""));
    }
    return change_create(entry, ad, secrets);
}

struct ads_entry *collector_ads_changed(const struct ads_change *change)
{
    return change->entry;
}

static void count_shown(struct collector_ads *ads, const struct ads_entry *entry, bool add)
{
    if (!entry->shown) {
        return;
    }
    size_t one = add ? 1 : (size_t)-1;
    entry->table->shown_count += one;
    ads->shown_count += one;
    ads->absent_count += entry->shown_absent ? one : 0;
    ads->offline_count += entry->shown_offline ? one : 0;
}

/* Removes what is shown; keeps it where a snapshot needs it. */
static void retire_shown(struct collector_ads *ads, struct ads_entry *entry)
{
    if (entry->shown && ads->newest && ads->newest->version >= entry->since) {
        struct ads_past *past = mem_alloc(sizeof(*past));
        *past = (struct ads_past){.entry = entry,
                                  .ad = entry->shown,
                                  .secrets = entry->shown_secrets,
                                  .since = entry->since,
                                  .until = ads->version,
                                  .absent = entry->shown_absent,
                                  .older = entry->past};
        entry->past = past;
        *(ads->last_past ? &ads->last_past->next : &ads->first_past) = past;
        ads->last_past = past;
        ads->past_count++;
    } else {
        ad_destroy(entry->shown);
        secret_list_unref(entry->shown_secrets);
    }
    entry->shown = NULL;
    entry->shown_secrets = NULL;
}

static void destroy_if_over(struct collector_ads *ads, struct ads_entry *entry)
{
    if (!entry->shown && entry->waiting == 0 && !entry->past) {
        entry_destroy(ads, entry);
    }
}

void collector_ads_apply(struct collector_ads *ads, struct ads_change *change)
{
    struct ads_entry *entry = change->entry;
    bool was_watched = entry->shown && !entry->shown_absent;
    ads->version++;
    count_shown(ads, entry, false);
    retire_shown(ads, entry);
    entry->since = ads->version;
    entry->shown = change->ad;
    entry->shown_secrets = change->secrets;
    entry->shown_absent = change->absent;
    entry->shown_offline = change->offline;
    count_shown(ads, entry, true);
    ads_indexes_note(entry->table->indexes, entry);
    entry->waiting--;
    CHECK(entry->waiting > 0 || entry->latest == entry->shown);
    mem_free(change);
    if (entry->shown && !entry->shown_absent) {
        ads->events.changed(ads->arg, entry->type, entry->name, entry->shown);
    } else if (was_watched) {
        ads->events.gone(ads->arg, entry->type, entry->name);
    }
    destroy_if_over(ads, entry);
}

void collector_ads_drop(struct ads_change *change)
{
    ad_destroy(change->ad);
    secret_list_unref(change->secrets);
    mem_free(change);
}

/* ---- whose time may be over ------------------------------------------------------------------ */

struct ads_entry *collector_ads_next_due(struct collector_ads *ads, uint64_t now_s)
{
    struct ads_due_link *link = ads_due_next(&ads->due, now_s);
    return link ? (struct ads_entry *)((char *)link - offsetof(struct ads_entry, due)) : NULL;
}

uint64_t collector_ads_due_s(const struct collector_ads *ads, uint64_t until_s)
{
    return ads_due_first_s(&ads->due, until_s);
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

/* ---- snapshots ------------------------------------------------------------------------------- */

void ads_snapshot_begin(struct ads_snapshot *snapshot, struct collector_ads *ads)
{
    *snapshot = (struct ads_snapshot){.ads = ads, .version = ads->version, .older = ads->newest};
    *(ads->newest ? &ads->newest->newer : &ads->oldest) = snapshot;
    ads->newest = snapshot;
}

/* Frees an earlier state.  The entry's list is newest first, and the oldest is freed first. */
static void past_destroy(struct collector_ads *ads, struct ads_past *past)
{
    struct ads_entry *entry = past->entry;
    struct ads_past **link = &entry->past;
    while (*link != past) {
        link = &(*link)->older;
    }
    *link = past->older;
    ad_destroy(past->ad);
    secret_list_unref(past->secrets);
    mem_free(past);
    ads->past_count--;
    destroy_if_over(ads, entry);
}

void ads_snapshot_end(struct ads_snapshot *snapshot)
{
    struct collector_ads *ads = snapshot->ads;
    if (!ads) {
        return;
    }
    *(snapshot->newer ? &snapshot->newer->older : &ads->newest) = snapshot->older;
    *(snapshot->older ? &snapshot->older->newer : &ads->oldest) = snapshot->newer;
    *snapshot = (struct ads_snapshot){0};
    while (ads->first_past && (!ads->oldest || ads->first_past->until <= ads->oldest->version)) {
        struct ads_past *past = ads->first_past;
        ads->first_past = past->next;
        ads->last_past = ads->first_past ? ads->last_past : NULL;
        past_destroy(ads, past);
    }
}

const struct ad *ads_snapshot_see(const struct ads_snapshot *snapshot,
                                  const struct ads_entry *entry, struct ads_seen *ret)
{
    uint64_t version = snapshot->version;
    if (entry->since <= version) {
        *ret = (struct ads_seen){entry->shown, entry->shown_secrets, entry->shown_absent};
        return ret->ad;
    }
    const struct ads_past *past = entry->past;
    while (past && past->since > version) {
        past = past->older;
    }
    if (!past || past->until <= version) {
        *ret = (struct ads_seen){.ad = NULL};
        return NULL;
    }
    *ret = (struct ads_seen){past->ad, past->secrets, past->absent};
    return ret->ad;
}

size_t collector_ads_past_count(const struct collector_ads *ads)
{
    return ads->past_count;
}

/* ---- indexes --------------------------------------------------------------------------------- */

#define SMALL_TABLE 2000 /* entries that are looked at in one go */

/* Does the next step of the table's indexes; false: they are complete. */
static bool index_some(struct collector_ads *ads, struct ads_table *table, size_t entries)
{
    if (ads->indexing != table) {
        indexing_end(ads);
        ads_cursor_init(&ads->indexing_walk, ads, table->type);
        ads->indexing = table;
    }
    for (size_t i = 0; i < entries; i++) {
        struct ads_entry *entry = ads_cursor_next(&ads->indexing_walk);
        if (!entry) {
            indexing_end(ads);
            ads_indexes_done(table->indexes);
            return false;
        }
        ads_indexes_add(table->indexes, entry);
    }
    return true;
}

bool collector_ads_make_indexes(struct collector_ads *ads, size_t entries)
{
    for (struct ads_table *table = ads->first; table; table = table->next) {
        if (ads_indexes_are_wanted(table->indexes)) {
            return index_some(ads, table, entries) || table->next;
        }
    }
    return false;
}

bool collector_ads_select(struct collector_ads *ads, const char *type,
                          const struct ad_clauses *constraint, uint64_t now_ms, struct vec *ret)
{
    struct ads_table *table = strmap_get(ads->tables, type);
    if (!table) {
        return true;
    }
    uint64_t before = ads_indexes_begun(table->indexes);
    if (ads_indexes_find(table->indexes, constraint, now_ms, ret)) {
        return true;
    }
    if (ads_indexes_begun(table->indexes) == before) {
        return false;
    }
    if (ads->indexing == table) {
        indexing_end(ads); /* the walk began before the newest of them */
    }
    if (strmap_count(table->entries) > SMALL_TABLE) {
        return false;
    }
    (void)index_some(ads, table, SIZE_MAX);
    return ads_indexes_find(table->indexes, constraint, now_ms, ret);
}

void collector_ads_trim_indexes(struct collector_ads *ads, uint64_t now_ms)
{
    for (struct ads_table *table = ads->first; table; table = table->next) {
        ads_indexes_trim(table->indexes, now_ms);
    }
}

size_t collector_ads_index_count(const struct collector_ads *ads)
{
    size_t count = 0;
    for (const struct ads_table *table = ads->first; table; table = table->next) {
        count += ads_indexes_count(table->indexes);
    }
    return count;
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
