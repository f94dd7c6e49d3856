/* collector/collector_lock.c - POWER_LOCK: machines that administrators have locked.
 *
 * A lock must hold whether the machine is awake, asleep or away, and over a restart of every
 * daemon.  So the collector keeps it, not the machine: in the store, and as a public ad of type
 * PowerLock with the machine's name.  While a machine is locked, each of its Machine ads gets the
 * attributes of the lock, whoever sends it: negotiator, rooster and people see them where they look
 * anyway, and there is no moment in which a machine that comes up is not locked.
 *
 * A lock is written first.  After its commit it becomes public, and the machine's ads change; then
 * the caller gets its answer.  After a restart the ads that were stored are compared with the
 * locks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_lock.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_offline.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "store/store.h"
#include "wire/wire.h"

#define LOCK_TYPE  "PowerLock"
#define NODES_MAX  10000 /* machines in one request */
#define REASON_MAX 1000  /* bytes of a reason */

/* The attributes of a lock, in its own ad and in the ads of its machine. */
static const char *const STAMPS[] = {"PowerLocked",      "PowerLockedBy",    "PowerLockedReason",
                                     "PowerLockedSince", "PowerLockedUntil", "PowerLockedByDrain"};

/* Locks that wait for their commit. */
struct locking {
    struct locking *next;
    struct collector *collector;
    struct wire_request *request; /* NULL: nobody waits, locks have ended */
    struct vec names;             /* of machines, in lower case */
    struct ad *lock;              /* the lock's attributes; NULL: unlock */
    struct ad *answer;
};

static void locking_destroy(struct locking *locking)
{
    vec_fini(&locking->names, mem_free);
    ad_destroy(locking->lock);
    ad_destroy(locking->answer);
    mem_free(locking);
}

/* Machine names are compared without case; names of ads are not. */
static bool lower_name(const char *machine, char ret[PLAN_NAME_MAX + 1])
{
    size_t length = strlen(machine);
    if (length == 0 || length > PLAN_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i <= length; i++) {
        ret[i] = text_lower(machine[i]);
        if (i < length && ((unsigned char)machine[i] < 0x20 || machine[i] == 0x7f)) {
            return false;
        }
    }
    return true;
}

/* Returns the lock of a machine; NULL: it is not locked. */
static const struct ad *lock_of(const struct collector *collector, const char *machine)
{
    char name[PLAN_NAME_MAX + 1];
    if (collector->locks.count == 0 || !lower_name(machine, name)) {
        return NULL;
    }
    const struct ads_entry *entry = collector_ads_find(collector->ads, LOCK_TYPE, name);
    return entry != NULL ? entry->shown : NULL;
}

/* Returns the attributes that the ads of the machine get. */
static struct ad *stamps_of(const struct ad *lock)
{
    struct ad *stamps = ad_create();
    for (size_t i = 0; i < ARRAY_COUNT(STAMPS); i++) {
        if (ad_has(lock, STAMPS[i])) {
            (void)ad_copy_attr(stamps, STAMPS[i], lock, STAMPS[i]); /* it is there */
        }
    }
    return stamps;
}

void collector_lock_stamp(struct collector *collector, struct ad **ad)
{
    const struct ad *lock = lock_of(collector, ad_string_or(*ad, "Machine", ""));
    if (lock == NULL) {
        return;
    }
    struct ad *stamps = stamps_of(lock);
    struct ad *stamped = ad_change(collector->pool, *ad, stamps);
    ad_destroy(stamps);
    ad_destroy(*ad);
    *ad = stamped;
}

/* Makes the ad of the entry say what the lock says, or that there is none. */
static void restamp(struct collector *collector, struct batch *batch, struct ads_entry *entry)
{
    struct err err = {""};
    if (entry->latest == NULL || !entry->is_machine) {
        return;
    }
    const struct ad *lock = lock_of(collector, ad_string_or(entry->latest, "Machine", ""));
    if (lock == NULL && !ad_has(entry->latest, STAMPS[0])) {
        return;
    }
    struct ad *stamps = lock != NULL ? stamps_of(lock) : ad_create();
    struct ad *args = ad_create();
    ad_set_strings(args, "Delete", STAMPS, ARRAY_COUNT(STAMPS));
    struct ad *ad = plan_change(collector->pool, entry->latest, stamps, args);
    struct plan_stamp stamp = entry->stamp; /* stays the owner's */
    int64_t heard_ms = entry->heard_ms;
    if (batch_set(batch, entry->type, entry->name, ad, secret_list_ref(entry->latest_secrets),
                  &stamp, &err) == 0) {
        entry->heard_ms = heard_ms; /* a lock renews nothing */
    } else {
        log_error(collector->env.log, "lock.not_shown", err.text, LOG_TEXT("name", entry->name));
    }
    ad_destroy(stamps);
    ad_destroy(args);
}

static void restamp_machine(struct collector *collector, struct batch *batch, const char *machine)
{
    size_t count;
    struct ads_entry *const *entries = collector_ads_of_machine(collector->ads, machine, &count);
    struct vec all = {0};
    for (size_t i = 0; i < count; i++) {
        vec_push(&all, entries[i]);
    }
    for (size_t i = 0; i < all.count; i++) {
        restamp(collector, batch, all.items[i]);
    }
    vec_fini(&all, NULL);
}

/* Makes the lock public, or removes it (lock NULL).  Takes over lock. */
static void set_lock(struct collector *collector, const char *name, struct ad *lock)
{
    struct ads_change *change;
    bool was = collector_ads_find(collector->ads, LOCK_TYPE, name) != NULL;
    if (!was && lock == NULL) {
        return;
    }
    collector->locks.count += (size_t)(lock != NULL) - (size_t)was;
    if (collector_ads_propose(collector->ads, LOCK_TYPE, name, lock, NULL, &change) == 0) {
        collector_ads_apply(collector->ads, change);
    }
}

static struct ad *lock_named(const struct ad *lock, const char *name)
{
    struct ad *ad = ad_copy(lock);
    ad_set_string(ad, "MyType", LOCK_TYPE);
    ad_set_string(ad, "Name", name);
    ad_set_string(ad, "Machine", name);
    return ad;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void locking_shown(void *arg)
{
    struct locking *locking = arg;
    if (locking->request != NULL) {
        const struct wire_body body = {.args = locking->answer};
        wire_reply_ok(locking->request, &body);
    }
    locking_destroy(locking);
}

static void locking_drop(void *arg)
{
    struct locking *locking = arg;
    if (locking->request != NULL) {
        collector_drop_request(locking->request);
    }
    locking_destroy(locking);
}

static void locking_committed(void *arg)
{
    struct locking *locking = arg;
    struct collector *collector = locking->collector;
    struct locking **link = &collector->locks.waiting;
    while (*link != locking) {
        link = &(*link)->next;
    }
    *link = locking->next;
    struct batch *batch = batch_begin(collector);
    for (size_t i = 0; i < locking->names.count; i++) {
        const char *name = locking->names.items[i];
        set_lock(collector, name, locking->lock != NULL ? lock_named(locking->lock, name) : NULL);
        restamp_machine(collector, batch, name);
        log_info(collector->env.log, locking->lock != NULL ? "power.locked" : "power.unlocked",
                 locking->lock != NULL ? ad_string_or(locking->lock, "PowerLockedReason", "") : "",
                 LOG_TEXT("machine", name));
    }
    batch_end(batch, locking_shown, locking_drop, locking);
}

/* Writes the locks, then continues in locking_committed(). */
static void commit_locks(struct locking *locking)
{
    struct collector *collector = locking->collector;
    struct store_txn *txn = store_begin(collector->store);
    for (size_t i = 0; i < locking->names.count; i++) {
        const char *name = locking->names.items[i];
        if (locking->lock != NULL) {
            struct ad *ad = lock_named(locking->lock, name);
            (void)collector_lock_put(txn, name, ad, NULL); /* its parts are bounded: it fits */
            ad_destroy(ad);
        } else {
            collector_lock_delete(txn, name);
        }
    }
    locking->next = collector->locks.waiting;
    collector->locks.waiting = locking;
    store_commit(txn, locking_committed, locking);
}

/* Reads Nodes into locking->names, and into the answer which machines have no ad (Unknown), or
 * have no lock that could be removed (NotLocked). */
static int read_names(struct locking *locking, const struct ad *args, bool locks, struct err *err)
{
    struct ad_value list;
    struct vec others = {0};
    int code = 0;
    bool drains = ad_bool_or(args, "Drain", false);
    (void)ad_eval_attr(args, NULL, "Nodes", NULL, &list);
    size_t count = ad_value_count(&list);
    if (list.type != AD_TYPE_LIST || count == 0 || count > NODES_MAX) {
        code = err_set(err, -EINVAL, "Nodes must be a list of 1 to %d machine names", NODES_MAX);
    }
    for (size_t i = 0; i < count && code == 0; i++) {
        char name[PLAN_NAME_MAX + 1];
        struct ad_value item;
        size_t ads = 0;
        ad_value_item(&list, i, &item);
        if (item.type != AD_TYPE_STRING || !lower_name(item.string.text, name)) {
            code = err_set(err, -EINVAL, "Nodes must be a list of machine names");
        }
        ad_value_fini(&item);
        if (code != 0) {
            break;
        }
        const struct ad *old = lock_of(locking->collector, name);
        (void)collector_ads_of_machine(locking->collector->ads, name, &ads);
        /* Cancelling a drain does not undo the lock of somebody else. */
        bool is_removable =
            old != NULL && (!drains || ad_bool_or(old, "PowerLockedByDrain", false));
        if (locks ? ads == 0 : !is_removable) {
            vec_push(&others, mem_strdup(name));
        }
        if (locks ? !(drains && old != NULL) : is_removable) {
            vec_push(&locking->names, mem_strdup(name));
        }
    }
    ad_set_strings(locking->answer, locks ? "Unknown" : "NotLocked",
                   (const char *const *)others.items, others.count);
    vec_fini(&others, mem_free);
    ad_value_fini(&list);
    return code;
}

static int read_lock(struct locking *locking, const struct ad *args, struct err *err)
{
    const char *reason = ad_string_or(args, "Reason", "");
    int64_t now_s = loop_wall_s(locking->collector->env.loop);
    int64_t until_s = ad_int_or(args, "Until", 0);
    if (strlen(reason) > REASON_MAX) {
        return err_set(err, -EINVAL, "Reason is longer than %d bytes", REASON_MAX);
    }
    if (until_s != 0 && until_s <= now_s) {
        return err_set(err, -EINVAL, "Until is in the past");
    }
    locking->lock = ad_create();
    ad_set_bool(locking->lock, "PowerLocked", true);
    ad_set_string(locking->lock, "PowerLockedBy", wire_request_peer(locking->request)->identity);
    ad_set_int(locking->lock, "PowerLockedSince", now_s);
    if (reason[0] != '\0') {
        ad_set_string(locking->lock, "PowerLockedReason", reason);
    }
    if (until_s != 0) {
        ad_set_int(locking->lock, "PowerLockedUntil", until_s);
    }
    if (ad_bool_or(args, "Drain", false)) {
        ad_set_bool(locking->lock, "PowerLockedByDrain", true);
    }
    return 0;
}

void collector_power_lock(struct collector *collector, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    bool locks = ad_bool_or(args, "Lock", true);
    struct err err = {""};
    struct locking *locking = mem_zalloc(sizeof *locking);
    locking->collector = collector;
    locking->request = request;
    locking->answer = ad_create();
    int code = read_names(locking, args, locks, &err);
    if (code == 0 && locks) {
        code = read_lock(locking, args, &err);
    }
    if (code != 0) {
        wire_reply_error(request, code, "%s", err.text);
        locking_destroy(locking);
        return;
    }
    commit_locks(locking);
}

void collector_locks_expire(struct collector *collector)
{
    int64_t now_s = loop_wall_s(collector->env.loop);
    struct ads_cursor cursor;
    struct ads_entry *entry;
    struct locking *locking = NULL;
    if (collector->locks.count == 0) {
        return;
    }
    ads_cursor_init(&cursor, collector->ads, LOCK_TYPE);
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        int64_t until_s = entry->shown ? ad_int_or(entry->shown, "PowerLockedUntil", 0) : 0;
        if (until_s == 0 || until_s > now_s) {
            continue;
        }
        if (locking == NULL) {
            locking = mem_zalloc(sizeof *locking);
            locking->collector = collector;
        }
        vec_push(&locking->names, mem_strdup(entry->name));
    }
    ads_cursor_fini(&cursor);
    if (locking != NULL) {
        commit_locks(locking);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

void collector_lock_loaded(void *arg, const char *name, struct ad *ad)
{
    set_lock(arg, name, ad);
}

void collector_locks_compare(struct collector *collector)
{
    struct batch *batch = batch_begin(collector);
    struct ads_cursor cursor;
    struct ads_entry *entry;
    ads_cursor_init(&cursor, collector->ads, "Machine");
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        restamp(collector, batch, entry);
    }
    ads_cursor_fini(&cursor);
    batch_end(batch, NULL, NULL, NULL);
}

void collector_locks_drop(struct collector *collector)
{
    while (collector->locks.waiting != NULL) {
        struct locking *locking = collector->locks.waiting;
        collector->locks.waiting = locking->next;
        locking_drop(locking);
    }
}
