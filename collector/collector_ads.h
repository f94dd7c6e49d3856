/* collector/collector_ads.h - the ads in memory: one table per type, in order of arrival.
 *
 * Each entry has two states.  `shown` is public: queries and watches see it.  `latest` is what the
 * next change is based on; it includes changes that wait for their commit.  A change is first
 * proposed (latest changes at once) and later applied (shown changes, watchers are told), in the
 * order of the proposals.  Where nothing has to be durable, both happen in one step.
 *
 * A *snapshot* is what was shown at one moment.  It costs nothing to take: entries are stamped with
 * the number of their last change, and while somebody holds a snapshot, what a change replaces is
 * kept for him.  So a query sees one moment however long its answer takes, and updates wait for
 * nobody.
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

#define COLLECTOR_ADS_MAX   1000000 /* ads of all types together */
#define COLLECTOR_TYPES_MAX 64

struct ad;
struct ads_change;
struct secret_list;

/* What one identity has in the tables. */
struct ads_account {
    size_t ads, bytes;
    struct ads_said { /* limits log lines about its ads: some are logged, the others are counted */
        uint64_t at_ms, count, unsaid;
    } problems, rejections;
};

struct ads_machine;
struct ads_table;
struct collector_ads;

/* An ad with its states.  Only stamp, heard_ms and inspected may be changed outside
 * collector_ads.c. */
struct ads_entry {
    const char *type; /* MyType, as first written */
    bool is_machine;
    uint32_t place; /* small number, rising in order of arrival as long as no entry is removed */
    char *name;
    struct ad *shown;                   /* the public ad; NULL: nothing is public */
    struct secret_list *shown_secrets;  /* secrets of shown, for a NEGOTIATOR; NULL: none */
    struct secret_list *latest_secrets; /* secrets of latest; borrowed */
    const struct ad *latest;            /* NULL: removed, or waiting to be removed */
    bool latest_offline, latest_absent;
    uint64_t inspected; /* `since` of the ad that collector_inspect.c examined last */
    bool shown_offline;
    bool shown_absent;  /* hidden from watchers, and from queries that do not ask for it */
    int64_t lifetime_s; /* ClassAdLifetime of latest; 0: none */
    unsigned waiting;   /* changes proposed and not yet applied */
    struct plan_stamp stamp;
    uint64_t heard_ms;            /* loop_now_ms() of the last update */
    struct ads_account *account;  /* account of the sender of latest; NULL: none */
    size_t charged_bytes;         /* bytes charged to account */
    struct share_holding holding; /* how latest counts in the share of its token and Machine */
    /* private to collector_ads.c */
    uint64_t number;       /* number of arrival in its table */
    uint64_t since;        /* number of the change that set shown */
    struct ads_past *past; /* earlier states of shown, newest first; NULL: none are kept */
    struct ads_key *keys;  /* its places in the indexes of its table */
    char *machine;
    struct ads_machine *group; /* the entries with this Machine; NULL: no Machine */
    struct ads_table *table;
    struct ads_entry *next, *previous;
    struct ads_due_link due; /* place on the wheel of collector_due.h */
};

/* What becomes public.  An ad that becomes absent is reported as gone. */
struct ads_events {
    void (*changed)(void *arg, const char *type, const char *name, const struct ad *ad);
    void (*gone)(void *arg, const char *type, const char *name);
};

struct collector_ads *collector_ads_create(const struct ads_events *events, void *arg);
/* Frees all.  Changes that were proposed and not applied must have been dropped before. */
void collector_ads_destroy(struct collector_ads *ads);

/* Returns whether the latest ad must be in the store: it is offline or absent. */
static inline bool ads_entry_is_durable(const struct ads_entry *entry)
{
    return entry->latest_offline || entry->latest_absent;
}

/* Finds an entry; types are compared without case, names with case.  NULL: there is no such ad,
 * neither shown nor latest. */
struct ads_entry *collector_ads_find(const struct collector_ads *ads, const char *type,
                                     const char *name);
/* Returns the entry with that place, NULL when there is none.  Ads that a sender updates in a row
 * usually have consecutive places. */
struct ads_entry *collector_ads_placed(const struct collector_ads *ads, uint32_t place);
/* Returns whether any latest ad of this entry's Machine is offline. */
bool collector_ads_machine_is_offline(const struct ads_entry *entry);
/* Returns the entries whose latest ad has this Machine (compared without case), in order of
 * arrival. */
struct ads_entry *const *collector_ads_of_machine(const struct collector_ads *ads,
                                                  const char *machine, size_t *count);
/* Return how many shown ads there are. */
/* Number of shown ads; type NULL: of all types. */
size_t collector_ads_count(const struct collector_ads *ads, const char *type);
size_t collector_ads_count_absent(const struct collector_ads *ads);
size_t collector_ads_count_offline(const struct collector_ads *ads);

/* Makes ad the latest of its name, with its secrets (NULL: none); takes both over.  ad NULL:
 * removes it.  Returns 0 and sets *ret; or -ENOSPC (COLLECTOR_ADS_MAX or COLLECTOR_TYPES_MAX), and
 * both are freed. */
int collector_ads_propose(struct collector_ads *ads, const char *type, const char *name,
                          struct ad *ad, struct secret_list *secrets, struct ads_change **ret);
/* Like collector_ads_propose() for an existing entry whose new traits are known.  same_machine: its
 * Machine is unchanged, byte for byte.  ad must not be NULL. */
struct ads_change *collector_ads_propose_to(struct collector_ads *ads, struct ads_entry *entry,
                                            struct ad *ad, struct secret_list *secrets,
                                            const struct plan_traits *traits, bool same_machine);
/* Counts the entry with that many bytes in account, and no longer in its previous account (NULL: in
 * none).  Ends by itself when the ad is removed.  account must outlive the ads. */
void collector_ads_charge(struct ads_entry *entry, struct ads_account *account, size_t bytes);
/* Sets how the entry counts in a share (collector_share.h) until its ad is removed; takes over
 * holding. */
void collector_ads_hold(struct ads_entry *entry, struct share_holding *holding);
/* Returns the entry that a change is about. */
struct ads_entry *collector_ads_changed(const struct ads_change *change);
/* Makes the change public: sets shown, reports the event, frees change; frees the entry if nothing
 * is left of it. */
void collector_ads_apply(struct collector_ads *ads, struct ads_change *change);
/* Frees a change that will not be applied; only before collector_ads_destroy(). */
void collector_ads_drop(struct ads_change *change);

/* Returns the next entry whose lifetime may be over, NULL when there is none now.  These are new
 * entries, entries whose kind or lifetime changed, and entries whose time for
 * collector_ads_look_again() has come.  A renewal is not noted here: the caller checks whether the
 * lifetime of the entry is really over, and says when to look again. */
struct ads_entry *collector_ads_next_due(struct collector_ads *ads, uint64_t now_s);
/* Returns the entry from collector_ads_next_due() again at at_s (same clock as now_s), but not
 * before the next second. */
void collector_ads_look_again(struct collector_ads *ads, struct ads_entry *entry, uint64_t at_s);
/* The configuration changed: collector_ads_next_due() returns all entries once. */
void collector_ads_look_at_all(struct collector_ads *ads);

/* Appends to ret, in order of arrival, the entries of the type that may meet the constraint.
 * Returns false when that is all of them, as far as is known; ret is then unchanged.  Shown entries
 * stay valid while a snapshot is held.  Frequent constraints get an index (collector_index.h), in
 * small tables at once, else by collector_ads_make_indexes(). */
struct ad_clauses;
struct vec;
bool collector_ads_select(struct collector_ads *ads, const char *type,
                          const struct ad_clauses *constraint, uint64_t now_ms, struct vec *ret);
/* Adds up to that many entries to indexes under construction.  Returns false when nothing is left
 * to do. */
bool collector_ads_make_indexes(struct collector_ads *ads, size_t entries);
/* Removes indexes that were not used for a long time. */
void collector_ads_trim_indexes(struct collector_ads *ads, uint64_t now_ms);
size_t collector_ads_index_count(const struct collector_ads *ads);

/* A walk that may be interrupted and continued while the tables change.  It returns every entry
 * that exists all the time from begin to end, and none twice. */
struct ads_cursor {
    struct collector_ads *ads;
    struct ads_table *table;
    bool all_types;
    struct ads_entry *entry; /* next entry to return */
    struct ads_cursor *next;
};
/* Begins a walk; type NULL: all types. */
void ads_cursor_init(struct ads_cursor *cursor, struct collector_ads *ads, const char *type);
struct ads_entry *ads_cursor_next(struct ads_cursor *cursor); /* NULL at the end */
void ads_cursor_fini(struct ads_cursor *cursor);

/* ---- snapshots */

/* A moment whose shown ads can be read, see above. */
struct ads_snapshot {
    struct collector_ads *ads;
    uint64_t version;
    struct ads_snapshot *newer, *older;
};
/* Takes a snapshot.  O(1). */
void ads_snapshot_begin(struct ads_snapshot *snapshot, struct collector_ads *ads);
/* Ends a snapshot and frees what was kept for it alone.  A zeroed snapshot is allowed. */
void ads_snapshot_end(struct ads_snapshot *snapshot);

/* What ads_snapshot_see() found. */
struct ads_seen {
    const struct ad *ad;
    const struct secret_list *secrets; /* NULL: none; for a NEGOTIATOR only */
    bool absent;
};
/* Returns what was shown of entry when the snapshot was taken, and fills *ret; NULL: nothing was.
 * Valid until the next change.  An entry that was shown then exists until the snapshot ends. */
const struct ad *ads_snapshot_see(const struct ads_snapshot *snapshot,
                                  const struct ads_entry *entry, struct ads_seen *ret);
/* Returns how many ads are kept for snapshots. */
size_t collector_ads_past_count(const struct collector_ads *ads);

#endif
