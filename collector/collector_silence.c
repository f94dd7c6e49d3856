/* collector/collector_silence.c - marks the ads of machines that are not heard of any more.
 *
 * A machine that is cut off or stands still cannot say so, and its ads live on for
 * CLASSAD_LIFETIME.  Meanwhile they would look free or busy.  So the collector marks them with
 * NotRespondingSince as soon as it knows: when the uplink that brought them does not answer a PING
 * (wire_attend()), or has ended and the startd has not sent its ads again within LOST_MS, which is
 * longer than a daemon takes to start again or to dial again.  Who reads the ads decides what the
 * mark means: nobody gives a job to such a slot, or counts it as free, awake or running.
 *
 * The uplinks of schedds, the negotiator, the rooster and factories are watched in the same way,
 * and the mark is in the daemon's ad.  A schedd's Request ads have it, too: the negotiator matches
 * no slot to such a request, and holds no sleeping machine for it.
 *
 * The same is done, a while after the collector's start, with machines that were awake before it
 * and have not come back (collector_awake.h).
 *
 * What is heard last of a peer that was silent may be the end of its uplink: the network is there
 * again, and brings what the peer's host had sent before it died.  So there is no such wait then.
 *
 * The mark goes at once when the peer is heard again: a byte on the same uplink, or its ads on a
 * new one (an UPDATE in full, which does not have the attribute).
 *
 * Rejected: to change State or PowerState in the ad.  The collector would have to remember them for
 * the moment when the peer is heard again, because it then sends only what has changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_offline.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "offline_ads/offline_ads.h"
#include "store/store.h"
#include "wire/secret_list.h"
#include "wire/wire.h"

/* Above the longest back-off of an uplink (5 s) and the usual time of a startd's restart. */
#define LOST_MS 7000

struct lost_uplink {
    struct lost_uplink *next;
    uint64_t session; /* number of the connection */
    uint64_t due_ms;
    int64_t since_s; /* time of its end, seconds since 1970 */
    char machine[];
};

/* The daemons besides startds whose silence is shown: jobs wait for them. */
static const struct watched_daemon {
    const char *type, *silent, *heard; /* type of its ad; events of the log */
} WATCHED_DAEMONS[] = {{"Scheduler", "schedd.silent", "schedd.heard"},
                       {"Negotiator", "negotiator.silent", "negotiator.heard"},
                       {"Rooster", "rooster.silent", "rooster.heard"},
                       {"Factory", "factory.silent", "factory.heard"}};

static const struct watched_daemon *find_daemon(const struct ads_entry *entry)
{
    for (size_t i = 0; i < sizeof WATCHED_DAEMONS / sizeof *WATCHED_DAEMONS; i++) {
        if (text_equal_nocase(entry->type, WATCHED_DAEMONS[i].type)) {
            return &WATCHED_DAEMONS[i];
        }
    }
    return NULL;
}

bool collector_is_watched(const struct ads_entry *entry)
{
    return entry->is_machine || find_daemon(entry) != NULL;
}

void collector_attend(struct session *session, const char *machine)
{
    if (session->machine || !*machine || !*wire_peer(session->wire)->name) {
        return;
    }
    session->machine = mem_strdup(machine);
    wire_attend(session->wire);
}

/* Sets the mark in an ad, or removes it (since_s 0).  That renews nothing. */
static void mark_entry(struct collector *collector, struct batch *batch, struct ads_entry *entry,
                       int64_t since_s)
{
    const char *const over[] = {OFFLINE_ADS_SILENT};
    struct ad *changes = ad_create(), *args = ad_create();
    struct plan_stamp stamp = entry->stamp;
    int64_t heard_ms = entry->heard_ms;
    const struct plan_traits traits = {.lifetime_s = entry->lifetime_s};
    if (since_s) {
        ad_set_int(changes, OFFLINE_ADS_SILENT, since_s);
    } else {
        ad_set_strings(args, "Delete", over, 1);
    }
    (void)batch_set_at(batch, entry, plan_change(collector->pool, entry->latest, changes, args),
                       secret_list_ref(entry->latest_secrets), &traits, true, &stamp,
                       NULL); /* a live ad: nothing that could fail */
    entry->heard_ms = heard_ms;
    ad_destroy(changes);
    ad_destroy(args);
}

static bool is_to_mark(const struct ads_entry *entry, uint64_t session, int64_t since_s)
{
    return entry->latest && !ads_entry_is_durable(entry) && entry->stamp.session == session &&
           offline_ads_is_silent(entry->latest) == (since_s == 0);
}

/* Marks the Request ads that this connection brought.  Returns their number. */
static size_t mark_requests(struct collector *collector, struct batch *batch, uint64_t session,
                            int64_t since_s)
{
    struct ads_cursor cursor;
    size_t marked = 0;
    ads_cursor_init(&cursor, collector->ads, "Request");
    for (struct ads_entry *entry; (entry = ads_cursor_next(&cursor)) != NULL;) {
        if (is_to_mark(entry, session, since_s)) {
            mark_entry(collector, batch, entry, since_s);
            marked++;
        }
    }
    ads_cursor_fini(&cursor);
    return marked;
}

/* Marks the live ads of the Machine that this connection brought; since_s 0: takes the marks away.
 */
static void mark_session(struct collector *collector, uint64_t session, const char *machine,
                         int64_t since_s, const char *why)
{
    size_t count, marked = 0, requests = 0;
    struct ads_entry *const *entries = collector_ads_of_machine(collector->ads, machine, &count);
    struct batch *batch = batch_begin(collector);
    const struct watched_daemon *daemon = NULL;
    for (size_t i = 0; i < count; i++) {
        struct ads_entry *entry = entries[i];
        if (collector_is_watched(entry) && is_to_mark(entry, session, since_s)) {
            daemon = entry->is_machine ? daemon : find_daemon(entry);
            mark_entry(collector, batch, entry, since_s);
            marked += entry->is_machine ? 1 : 0;
        }
    }
    /* Only a schedd's connection brings requests. */
    requests = daemon ? mark_requests(collector, batch, session, since_s) : 0;
    batch_end(batch, NULL, NULL, NULL);
    if (daemon && since_s) {
        log_warn(collector->env.log, daemon->silent, why, LOG_TEXT("machine", machine),
                 LOG_INT("requests", (int64_t)requests));
    } else if (daemon) {
        log_info(collector->env.log, daemon->heard, why, LOG_TEXT("machine", machine),
                 LOG_INT("requests", (int64_t)requests));
    }
    if (marked == 0) {
        return;
    }
    if (since_s) {
        collector->counts.silent += (int64_t)marked;
        log_warn(collector->env.log, "machine.silent", why, LOG_TEXT("machine", machine),
                 LOG_INT("slots", (int64_t)marked));
    } else {
        log_info(collector->env.log, "machine.heard", why, LOG_TEXT("machine", machine),
                 LOG_INT("slots", (int64_t)marked));
    }
}

void collector_on_silent(void *arg, struct wire *wire, uint64_t silent_ms)
{
    (void)wire;
    struct session *session = arg;
    struct collector *collector = session->collector;
    if (!session->machine) {
        return;
    }
    if (silent_ms == 0) {
        session->heard_ms = loop_now_ms(collector->env.loop);
        mark_session(collector, session->number, session->machine, 0, "the machine is heard again");
        return;
    }
    session->silent_s = loop_wall_s(collector->env.loop) - (int64_t)(silent_ms / 1000);
    mark_session(collector, session->number, session->machine, session->silent_s,
                 "the machine does not answer on its uplink");
}

void collector_session_lost(struct session *session)
{
    struct collector *collector = session->collector;
    if (!session->machine) {
        return;
    }
    uint64_t now_ms = loop_now_ms(collector->env.loop);
    if (session->silent_s != 0 && now_ms - session->heard_ms < LOST_MS) {
        mark_session(collector, session->number, session->machine, session->silent_s,
                     "the machine's uplink has ended, after the machine did not answer");
        return;
    }
    size_t size = strlen(session->machine) + 1;
    struct lost_uplink *lost = mem_alloc(sizeof(*lost) + size);
    *lost = (struct lost_uplink){.session = session->number,
                                 .due_ms = now_ms + LOST_MS,
                                 .since_s = loop_wall_s(collector->env.loop)};
    memcpy(lost->machine, session->machine, size);
    *collector->lost_end = lost;
    collector->lost_end = &lost->next;
}

/* Removes the uplink that was lost first. */
static void drop_first(struct collector *collector)
{
    struct lost_uplink *lost = collector->lost;
    collector->lost = lost->next;
    if (!collector->lost) {
        collector->lost_end = &collector->lost;
    }
    mem_free(lost);
}

void collector_mark_lost(struct collector *collector)
{
    uint64_t now_ms = loop_now_ms(collector->env.loop);
    while (collector->lost && collector->lost->due_ms <= now_ms) {
        mark_session(collector, collector->lost->session, collector->lost->machine,
                     collector->lost->since_s, "the machine's uplink has ended");
        drop_first(collector);
    }
}

uint64_t collector_lost_due_ms(const struct collector *collector)
{
    uint64_t due_ms = collector->lost ? collector->lost->due_ms : UINT64_MAX;
    return collector->awake.ads && collector->awake.due_ms < due_ms ? collector->awake.due_ms
                                                                    : due_ms;
}

void collector_lost_drop(struct collector *collector)
{
    while (collector->lost) {
        drop_first(collector);
    }
}

/* Makes the copy public, as a live ad that is marked. */
static void show_missing(struct collector *collector, struct batch *batch, const char *name,
                         struct ad *ad)
{
    struct err err = {""};
    int64_t started_s = loop_wall_of_s(collector->env.loop, collector->started_ms);
    ad_set_int(ad, OFFLINE_ADS_SILENT, started_s);
    log_warn(collector->env.log, "machine.silent",
             "the machine has not come back since the collector was started",
             LOG_TEXT("machine", ad_string_or(ad, "Machine", "")), LOG_INT("slots", 1));
    collector->counts.silent++;
    if (batch_set(batch, "Machine", name, ad, NULL, NULL, &err) == 0) {
        collector_ads_find(collector->ads, "Machine", name)->kept_s = started_s;
    } else {
        log_warn(collector->env.log, "store.bad_ad", err.text, LOG_TEXT("key", name));
    }
}

/* Examines a copy; returns whether its machine has not come back. */
static bool is_missing(struct collector *collector, struct store_txn *txn, const char *name,
                       const struct ad *ad)
{
    size_t count;
    struct ads_entry *entry = collector_ads_find(collector->ads, "Machine", name);
    if (entry && entry->latest && !ads_entry_is_durable(entry)) {
        entry->kept_s = loop_wall_of_s(collector->env.loop, collector->started_ms);
        return false;
    }
    (void)collector_ads_of_machine(collector->ads, ad_string_or(ad, "Machine", ""), &count);
    if (count > 0) { /* it came back with other slots */
        collector_awake_delete(txn, name);
    }
    return count == 0;
}

void collector_mark_missing(struct collector *collector)
{
    struct strmap *copies = collector->awake.ads;
    if (!copies || loop_now_ms(collector->env.loop) < collector->awake.due_ms) {
        return;
    }
    collector->awake.ads = NULL;
    struct strmap *missing = strmap_create(STRMAP_CASE_IGNORED);
    struct store_txn *txn = store_begin(collector->store);
    size_t at = 0;
    const char *name;
    void *ad;
    while (strmap_next(copies, &at, &name, &ad)) {
        if (is_missing(collector, txn, name, ad)) {
            (void)strmap_set(missing, name, ad_copy(ad)); /* was absent */
        }
    }
    store_commit(txn, NULL, NULL); /* if it never comes to that: at the next start */
    strmap_destroy(copies, ad_destroy_item);
    struct batch *batch = batch_begin(collector);
    for (at = 0; strmap_next(missing, &at, &name, &ad);) {
        show_missing(collector, batch, name, ad);
    }
    batch_end(batch, NULL, NULL, NULL);
    strmap_destroy(missing, NULL); /* the batch has the ads */
}
