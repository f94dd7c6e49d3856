/* collector/collector_ads.h - the ads in memory: tables by type, in order of arrival.
 *
 * Each entry has two states.  `shown` is what the pool may know: queries, watches.  `latest` is
 * what the next change is based on: it includes changes that wait for their commit.  A change is
 * proposed (latest is changed at once) and later applied (shown is changed, watchers are told), in
 * the order of the proposals.  Where nothing has to be durable both happen in one breath.
 *
 * A *snapshot* is what was shown at one moment.  It costs nothing to take: entries are stamped with
 * the change that made them what they are, and while somebody holds a snapshot, what a change
 * replaces is kept for him.  So a query sees one moment however long its answer takes, and updates
 * wait for nobody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_ADS_H
#define COLLECTOR_COLLECTOR_ADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/collector_due.h"
#include "collector/collector_share.h"
#include "collector/collector_plan.h"

#define COLLECTOR_ADS_MAX   1000000 /* of all types */
#define COLLECTOR_TYPES_MAX 64

struct ad;
struct ads_change;
struct secret_list;

/* What one identity has here. */
struct ads_account {
    size_t ads, bytes;
    struct ads_said { /* log lines about its ads: one now and then, the others are counted */
        uint64_t at_ms, count, unsaid;
    } problems, rejections;
};

struct ads_machine;
struct ads_table;
struct collector_ads;

/* Everything but stamp, heard_ms and inspected is read-only outside collector_ads.c. */
struct ads_entry {
    const char *type; /* MyType as it was first written */
    bool is_machine;
    uint32_t place; /* small, and rising in order of arrival while none go */
    char *name;
    struct ad *shown;                   /* NULL: nothing is public */
    struct secret_list *shown_secrets;  /* beside it: for a NEGOTIATOR; NULL: none */
    struct secret_list *latest_secrets; /* beside latest; borrowed */
    const struct ad *latest;            /* NULL: gone, or going */
    bool latest_offline, latest_absent;
    uint64_t inspected; /* `since` of the ad that collector_inspect.c looked at last */
    bool shown_offline;
    bool shown_absent;  /* hidden from watchers and from queries that do not ask for it */
    int64_t lifetime_s; /* ClassAdLifetime of latest; 0: none */
    unsigned waiting;   /* changes proposed and not applied */
    struct plan_stamp stamp;
    uint64_t heard_ms;            /* loop_now_ms() of the last update */
    struct ads_account *account;  /* whose ad latest is; NULL: nobody's */
    size_t charged_bytes;         /* to it */
    struct share_holding holding; /* in the share of its sender's token and its Machine */
    /* private to collector_ads.c */
    uint64_t number;       /* of arrival in its table */
    uint64_t since;        /* the change from which on shown is shown */
    struct ads_past *past; /* newest first; NULL: nobody needs any */
    struct ads_key *keys;  /* places in the indexes of its table */
    char *machine;
    struct ads_machine *group; /* the entries with this Machine; NULL: it has none */
    struct ads_table *table;
    struct ads_entry *next, *previous;
    struct ads_due_link due; /* collector_due.c */
};

/* An ad that is absent is as good as gone for who watches. */
struct ads_events {
    void (*changed)(void *arg, const char *type, const char *name, const struct ad *ad);
    void (*gone)(void *arg, const char *type, const char *name);
};

struct collector_ads *collector_ads_create(const struct ads_events *events, void *arg);
/* Changes that were not applied must have been dropped before. */
void collector_ads_destroy(struct collector_ads *ads);

/* Is its latest ad one that must survive us: offline, or absent? */
static inline bool ads_entry_is_durable(const struct ads_entry *entry)
{
    return entry->latest_offline || entry->latest_absent;
}

/* Types compare without case, names with.  NULL: no such ad, neither shown nor latest. */
struct ads_entry *collector_ads_find(const struct collector_ads *ads, const char *type,
                                     const char *name);
/* The entry of that place, NULL: there is none.  What a sender updates one after the other usually
 * has places one after the other. */
struct ads_entry *collector_ads_placed(const struct collector_ads *ads, uint32_t place);
/* Is an offline ad among the latest of this entry's Machine? */
bool collector_ads_machine_is_offline(const struct ads_entry *entry);
/* The entries whose latest ad had this Machine (no case), in order of arrival. */
struct ads_entry *const *collector_ads_of_machine(const struct collector_ads *ads,
                                                  const char *machine, size_t *count);
/* Those that are shown. */
size_t collector_ads_count(const struct collector_ads *ads, const char *type); /* NULL: all */
size_t collector_ads_count_absent(const struct collector_ads *ads);
size_t collector_ads_count_offline(const struct collector_ads *ads);

/* ad (taken; NULL: remove) becomes latest, with its secrets (taken; NULL: none) beside it.
 * -ENOSPC: COLLECTOR_ADS_MAX or COLLECTOR_TYPES_MAX; both are destroyed then. */
int collector_ads_propose(struct collector_ads *ads, const char *type, const char *name,
                          struct ad *ad, struct secret_list *secrets, struct ads_change **ret);
/* The same for an entry that is there, when its traits are known; same_machine: its Machine is what
 * it was, letter by letter.  ad is not NULL. */
struct ads_change *collector_ads_propose_to(struct collector_ads *ads, struct ads_entry *entry,
                                            struct ad *ad, struct secret_list *secrets,
                                            const struct plan_traits *traits, bool same_machine);
/* Counts the entry among those of account (NULL: of nobody) with so many bytes, no more among those
 * of another.  When the ad goes away that ends by itself.  account outlives the ads. */
void collector_ads_charge(struct ads_entry *entry, struct ads_account *account, size_t bytes);
/* What it is held as from now on, until its ad goes away; taken. */
void collector_ads_hold(struct ads_entry *entry, struct share_holding *holding);
struct ads_entry *collector_ads_changed(const struct ads_change *change);
/* Shows it, tells the events, frees change; the entry, too, when nothing is left of it. */
void collector_ads_apply(struct collector_ads *ads, struct ads_change *change);
void collector_ads_drop(struct ads_change *change); /* only before collector_ads_destroy() */

/* The next entry whose time may be over, NULL when there is none now: each that is new, or whose ad
 * became another kind or says another lifetime than before, and each whose time has come as told to
 * collector_ads_look_again().  A renewal changes nothing here: whoever looks at an entry finds out
 * whether its time is over, and tells when to look again. */
struct ads_entry *collector_ads_next_due(struct collector_ads *ads, uint64_t now_s);
/* at_s, in the same seconds; at the earliest in the next one.  The entry was just returned by
 * collector_ads_next_due(). */
void collector_ads_look_again(struct collector_ads *ads, struct ads_entry *entry, uint64_t at_s);
void collector_ads_look_at_all(struct collector_ads *ads); /* the configuration has changed */

/* The entries of the type (not NULL) that may meet the constraint, appended to ret in order of
 * arrival; false: all of them may, as far as is known.  Entries that are shown stay valid while a
 * snapshot is held.  What is asked for often gets an index (collector_index.h), in small tables at
 * once, else in the steps of collector_ads_make_indexes(). */
struct ad_clauses;
struct vec;
bool collector_ads_select(struct collector_ads *ads, const char *type,
                          const struct ad_clauses *constraint, uint64_t now_ms, struct vec *ret);
/* Looks at so many entries for indexes that are to be made; false: there is nothing more to do. */
bool collector_ads_make_indexes(struct collector_ads *ads, size_t entries);
void collector_ads_trim_indexes(struct collector_ads *ads, uint64_t now_ms);
size_t collector_ads_index_count(const struct collector_ads *ads);

/* A walk that may be left and taken up again while the tables change: it sees every entry that is
 * there from begin to end, and none twice. */
struct ads_cursor {
    struct collector_ads *ads;
    struct ads_table *table;
    bool all_types;
    struct ads_entry *entry; /* the next */
    struct ads_cursor *next;
};
/* type NULL: all */
void ads_cursor_init(struct ads_cursor *cursor, struct collector_ads *ads, const char *type);
struct ads_entry *ads_cursor_next(struct ads_cursor *cursor); /* NULL at the end */
void ads_cursor_fini(struct ads_cursor *cursor);

/* ---- snapshots */

struct ads_snapshot {
    struct collector_ads *ads;
    uint64_t version;
    struct ads_snapshot *newer, *older;
};
/* O(1). */
void ads_snapshot_begin(struct ads_snapshot *snapshot, struct collector_ads *ads);
/* Frees what was kept for it alone.  One that is zeroed is allowed. */
void ads_snapshot_end(struct ads_snapshot *snapshot);

/* What was shown of entry when the snapshot was begun; NULL: nothing.  Valid until the next change.
 * An entry that was shown then exists until the snapshot ends. */
struct ads_seen {
    const struct ad *ad;
    const struct secret_list *secrets; /* for a NEGOTIATOR */
    bool absent;
};
const struct ad *ads_snapshot_see(const struct ads_snapshot *snapshot,
                                  const struct ads_entry *entry, struct ads_seen *ret);
size_t collector_ads_past_count(const struct collector_ads *ads); /* ads kept for snapshots */

#endif
