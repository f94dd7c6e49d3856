/* collector/collector_ads.h - the ads in memory: one table per type, in order of arrival.
 *
 * Each entry has two states.  `shown` is public: queries and watches see it.  `latest` is what the
 * next change is based on; it includes changes that wait for their commit.  A change is first
 * proposed (latest changes at once) and later applied (shown changes, watchers are told), in the
 * order of the proposals.  Where nothing has to be durable, both happen in one step.
 *
 * A *snapshot* is what was shown at one moment.  It costs nothing to take: entries are stamped with
 * the number of their last change, and while a snapshot is held, the ads that changes replace are
 * kept for its reader.  So a query sees one moment however long its answer takes, and updates do
 * not wait for queries.
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

#define COLLECTOR_ADS_MAX   1000000 /* most ads in the tables, all types together */
#define COLLECTOR_TYPES_MAX 64

struct ad;
struct ads_change;
struct secret_list;

/* The ads in the tables whose sender's token has one identity: their number, their bytes. */
struct ads_account {
    size_t ads, bytes;
    /* how often there was something to log about the ads of one identity (collector_may_say());
     * unsaid: how often since the last line that was logged */
    struct ads_said {
        uint64_t at_ms, count, unsaid;
    } problems, rejections;
};

struct ads_machine;
struct ads_table;
struct collector_ads;

/* An ad with its states.  Only stamp, heard_ms and inspected may be changed outside
 * collector_ads.c. */
struct ads_entry {
    const char *type; /* MyType, spelled as in the first ad of this type */
    bool is_machine;
    /* Number by which collector_ads_placed() finds the entry.  The number of a removed entry is
     * used again; until an entry is removed, numbers rise in order of arrival. */
    uint32_t place;
    char *name;
    struct ad *shown; /* the public ad; NULL: nothing is public */
    /* secrets of the public ad `shown`; only callers with scope NEGOTIATOR get them; NULL: none */
    struct secret_list *shown_secrets;
    struct secret_list *latest_secrets; /* secrets of the ad `latest`, not owned by the entry */
    /* the ad after all proposed changes; NULL: the changes remove the ad */
    const struct ad *latest;
    bool latest_offline, latest_absent;
    /* number of the change (member `since`) that had set the public ad when collector_inspect.c
     * last examined this ad */
    uint64_t inspected;
    bool shown_offline;
    bool shown_absent;  /* `shown` is an absent ad: only queries for absent ads see it */
    int64_t lifetime_s; /* ClassAdLifetime of the ad `latest`; 0: it has none */
    unsigned waiting;   /* number of changes that are proposed and not yet applied */
    struct plan_stamp stamp;
    /* moment of loop_now_ms() of the last update; of an ad from the store: plan_heard_ms() */
    int64_t heard_ms;
    /* when the store got a copy of a live ad of this entry (collector_awake.h), seconds since 1970;
     * 0: the store has none */
    int64_t kept_s;
    /* the account that counts `latest` among the ads of its sender; NULL: no account counts it */
    struct ads_account *account;
    size_t charged_bytes; /* bytes with which the ad `latest` counts in the sender's account */
    /* how the ad `latest` counts toward the limits of its sender's token (collector_share.h) */
    struct share_holding holding;
    /* The members from here on are private to collector_ads.c. */
    uint64_t number;       /* number of the entry in its table, in order of arrival */
    uint64_t since;        /* number of the change that set `shown` */
    struct ads_past *past; /* earlier public ads, kept for snapshots, newest first; NULL: none */
    struct ads_key *keys;  /* places of this entry in the indexes of its table */
    char *machine;
    struct ads_machine *group; /* all entries with the same Machine; NULL: the ad has no Machine */
    struct ads_table *table;
    struct ads_entry *next, *previous;
    struct ads_due_link due; /* place of the entry on the timer wheel (collector_due.h) */
};

/* Functions that are called when an ad becomes public or changes (`changed`), and when it is
 * removed or becomes absent (`gone`). */
struct ads_events {
    void (*changed)(void *arg, const char *type, const char *name, const struct ad *ad);
    void (*gone)(void *arg, const char *type, const char *name);
};

struct collector_ads *collector_ads_create(const struct ads_events *events, void *arg);
/* Frees the tables and their ads.  The caller has applied or dropped all proposed changes. */
void collector_ads_destroy(struct collector_ads *ads);

/* Returns whether the latest ad must be in the store: it is offline or absent. */
static inline bool ads_entry_is_durable(const struct ads_entry *entry)
{
    return entry->latest_offline || entry->latest_absent;
}

/* Finds an entry; types are compared without case, names with case.  NULL: there is no such
 * entry: no such ad is public, and no change that waits to be applied makes one. */
struct ads_entry *collector_ads_find(const struct collector_ads *ads, const char *type,
                                     const char *name);
/* Returns the entry with that number (the member `place` of struct ads_entry); NULL: there is no
 * such entry.  Ads that a sender updates in a row usually have consecutive numbers. */
struct ads_entry *collector_ads_placed(const struct collector_ads *ads, uint32_t place);
/* Returns whether any latest ad of this entry's Machine is offline. */
bool collector_ads_machine_is_offline(const struct ads_entry *entry);
/* Returns the entries whose latest ad has this Machine (compared without case), in order of
 * arrival. */
struct ads_entry *const *collector_ads_of_machine(const struct collector_ads *ads,
                                                  const char *machine, size_t *count);
/* Returns the number of shown ads of that type; type NULL: of all types. */
size_t collector_ads_count(const struct collector_ads *ads, const char *type);
size_t collector_ads_count_absent(const struct collector_ads *ads);
size_t collector_ads_count_offline(const struct collector_ads *ads);

/* Proposes a change: ad, with its secrets (NULL: none), becomes the latest ad of that type and
 * name, but is not public yet.  ad NULL: the change removes the latest ad.  Takes over ad and
 * secrets, and frees them if it fails.  Returns 0 and sets *ret to the change; or -ENOSPC: there
 * are COLLECTOR_ADS_MAX ads or COLLECTOR_TYPES_MAX types already. */
int collector_ads_propose(struct collector_ads *ads, const char *type, const char *name,
                          struct ad *ad, struct secret_list *secrets, struct ads_change **ret);
/* Proposes a change and returns it: ad (not NULL) becomes the latest ad of an existing entry, but
 * is not public yet.  Takes over ad and secrets (NULL: none).  traits: what plan_traits_of()
 * returns for ad.  same_machine: ad has the Machine of the entry's latest ad, byte for byte. */
struct ads_change *collector_ads_propose_to(struct collector_ads *ads, struct ads_entry *entry,
                                            struct ad *ad, struct secret_list *secrets,
                                            const struct plan_traits *traits, bool same_machine);
/* Counts the entry, with that many bytes, in account, and no longer in the account that counted it
 * before.  account NULL: no account counts it.  When the entry is freed, its account counts it no
 * longer.  account must live until the tables are destroyed. */
void collector_ads_charge(struct ads_entry *entry, struct ads_account *account, size_t bytes);
/* Sets how the entry's latest ad counts, until the entry is freed, toward the limits of its
 * sender's token (collector_share.h).  Takes over holding. */
void collector_ads_hold(struct ads_entry *entry, struct share_holding *holding);
/* Returns the entry that a change is about. */
struct ads_entry *collector_ads_changed(const struct ads_change *change);
/* Makes the change public: sets shown, calls `changed` or `gone` of struct ads_events, and frees
 * change.  Frees the entry too if it then has neither an ad nor a proposed change. */
void collector_ads_apply(struct collector_ads *ads, struct ads_change *change);
/* Frees a change that will not be applied.  To be used only when the collector ends, just before
 * collector_ads_destroy(). */
void collector_ads_drop(struct ads_change *change);

/* Returns the next entry whose lifetime may be over, NULL when there is none now.  These are new
 * entries, entries whose ad became live, offline or absent or got another lifetime, and entries
 * whose time at_s of collector_ads_look_again() has come.  Renewals have no effect here: the caller
 * checks whether the entry's lifetime is really over, and calls collector_ads_look_again().  now_s:
 * the loop's clock in seconds. */
struct ads_entry *collector_ads_next_due(struct collector_ads *ads, uint64_t now_s);
/* Makes collector_ads_next_due() return the entry again when the loop's clock in seconds, its
 * argument now_s, has reached at_s, but not before the next second. */
void collector_ads_look_again(struct collector_ads *ads, struct ads_entry *entry, uint64_t at_s);
/* To be called when collector_ads_next_due() has returned NULL: returns the next second in which it
 * returns an entry that it has returned before, or until_s if that comes before. */
uint64_t collector_ads_due_s(const struct collector_ads *ads, uint64_t until_s);
/* Makes collector_ads_next_due() return every entry once.  To be called when the configuration has
 * changed. */
void collector_ads_look_at_all(struct collector_ads *ads);

struct ad_clauses;
struct vec;
/* Appends to ret, in order of arrival, the entries (struct ads_entry) of the type that may meet the
 * constraint, and returns true.  now_ms: loop_now_ms(); the index counts as used at this time.
 * Returns false and leaves ret unchanged when no index helps: the caller must then examine all
 * entries of the type.  Shown entries stay valid while a snapshot is held.  An index for the
 * constraint (collector_index.h) is made at once in a small table, else by calls of
 * collector_ads_make_indexes(). */
bool collector_ads_select(struct collector_ads *ads, const char *type,
                          const struct ad_clauses *constraint, uint64_t now_ms, struct vec *ret);
/* Continues the construction of indexes: adds at most that many entries to them.  Returns false
 * when no index is under construction any more. */
bool collector_ads_make_indexes(struct collector_ads *ads, size_t entries);
/* Removes indexes that were not used for INDEX_IDLE_MS (collector_index.h) before now_ms, which is
 * loop_now_ms(). */
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
/* Returns the next entry of the walk, NULL at its end. */
struct ads_entry *ads_cursor_next(struct ads_cursor *cursor);
void ads_cursor_fini(struct ads_cursor *cursor);

/* ---- snapshots */

/* A snapshot: its holder reads the ads that were shown at the moment when it was taken. */
struct ads_snapshot {
    struct collector_ads *ads;
    uint64_t version;
    struct ads_snapshot *newer, *older;
};
/* Takes a snapshot.  Its cost does not depend on the number of ads. */
void ads_snapshot_begin(struct ads_snapshot *snapshot, struct collector_ads *ads);
/* Ends a snapshot and frees the ads that were kept only for it.  snapshot may be all zero: then
 * nothing is done. */
void ads_snapshot_end(struct ads_snapshot *snapshot);

/* What ads_snapshot_see() found. */
struct ads_seen {
    const struct ad *ad;
    /* secrets of the ad; only callers with scope NEGOTIATOR get them; NULL: none */
    const struct secret_list *secrets;
    bool absent;
};
/* Returns the ad of entry that was shown when the snapshot was taken, and fills *ret; NULL: no ad
 * of the entry was shown.  The result is valid until the next change of the tables.  An entry that
 * was shown at that moment exists until the snapshot ends. */
const struct ad *ads_snapshot_see(const struct ads_snapshot *snapshot,
                                  const struct ads_entry *entry, struct ads_seen *ret);
/* Returns the number of replaced ads that are kept only because a snapshot may read them. */
size_t collector_ads_past_count(const struct collector_ads *ads);

#endif
