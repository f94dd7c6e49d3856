/* collector/collector_figures.c - the collector's own ad: what it holds, what it did, what it
 * costs.
 *
 * Names are HTCondor's where it has one.  Names that begin with Recent are for the last ten to
 * twenty minutes: two samples are kept, and these figures count from the older one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "offline_ads/offline_ads.h"
#include "store/store.h"
#include "wire/daemon_ad.h"
#include "wire/settings.h"
#include "wire/door.h"
#include "wire/watch.h"

#define RECENT_S       600
#define PROC_TEXT_MAX  4096
#define TICKS_PER_S    100 /* clock ticks of /proc/self/stat, the same on every Linux */
#define PAGE_KIB       4
#define STAT_CPU_FIELD 11 /* utime, behind the name in parentheses and one word */

static const char *const COUNTED[] = {"Machine",      "Request",    "Submitter",
                                      "Scheduler",    "Negotiator", "Rooster",
                                      "DaemonMaster", "Accounting", "Generic"};

static void put_counts(const struct collector *collector, struct ad *ad)
{
    struct collector_ads *ads = collector->ads;
    for (size_t i = 0; i < ARRAY_COUNT(COUNTED); i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%sAds", COUNTED[i]);
        ad_set_int(ad, name, (int64_t)collector_ads_count(ads, COUNTED[i]));
    }
    ad_set_int(ad, "TotalAds", (int64_t)collector_ads_count(ads, NULL));
    ad_set_int(ad, "OfflineAds", (int64_t)collector_ads_count_offline(ads));
    ad_set_int(ad, "AbsentAds", (int64_t)collector_ads_count_absent(ads));
    ad_set_int(ad, "Identities", (int64_t)strmap_count(collector->accounts));
    ad_set_int(ad, "QueryIndexes", (int64_t)collector_ads_index_count(ads));
    ad_set_int(ad, "SnapshotAds", (int64_t)collector_ads_past_count(ads));
    ad_set_int(ad, "Watches", (int64_t)watch_server_count(collector->watches));
    ad_set_int(ad, "WatchKinds", (int64_t)watch_server_kinds(collector->watches));
    ad_set_int(ad, "WatchChangesWaiting", (int64_t)watch_server_waiting(collector->watches));
}

/* Sets figures of the pool's machines and submitters, from their ads. */
static void put_pool(const struct collector *collector, struct ad *ad)
{
    static const char *const STATES[] = {"Owner", "Unclaimed", "Claimed"};
    int64_t hosts[ARRAY_COUNT(STATES)] = {0}, total = 0, idle = 0, running = 0, silent = 0;
    struct ads_cursor cursor;
    const struct ads_entry *entry;
    ads_cursor_init(&cursor, collector->ads, "Machine");
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        if (!entry->shown || entry->shown_absent) {
            continue;
        }
        const char *state = ad_string_or(entry->shown, "State", "");
        total++;
        silent += offline_ads_is_silent(entry->shown);
        if (offline_ads_is_silent(entry->shown)) {
            continue; /* its State is of the past */
        }
        for (size_t i = 0; i < ARRAY_COUNT(STATES); i++) {
            hosts[i] += strcmp(state, STATES[i]) == 0;
        }
    }
    ads_cursor_fini(&cursor);
    ads_cursor_init(&cursor, collector->ads, "Submitter");
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        idle += entry->shown ? ad_int_or(entry->shown, "IdleJobs", 0) : 0;
        running += entry->shown ? ad_int_or(entry->shown, "RunningJobs", 0) : 0;
    }
    ads_cursor_fini(&cursor);
    ad_set_int(ad, "HostsTotal", total);
    ad_set_int(ad, "HostsOwner", hosts[0]);
    ad_set_int(ad, "HostsUnclaimed", hosts[1]);
    ad_set_int(ad, "HostsClaimed", hosts[2]);
    ad_set_int(ad, "HostsNotResponding", silent);
    ad_set_int(ad, "IdleJobs", idle);
    ad_set_int(ad, "RunningJobs", running);
}

static const struct {
    const char *name;
    size_t offset; /* in struct collector_counts */
    bool recent;   /* shown as Recent..., too */
} COUNTS[] = {
    {"UpdatesTotal", offsetof(struct collector_counts, updates), true},
    {"UpdatesInitial", offsetof(struct collector_counts, updates_initial), true},
    {"UpdatesLost", offsetof(struct collector_counts, updates_lost), true},
    {"UpdatesStale", offsetof(struct collector_counts, stale), false},
    {"AdsRejected", offsetof(struct collector_counts, rejected), true},
    {"AdsWithPrivateAttributes", offsetof(struct collector_counts, private_dropped), true},
    {"AdsOverQuota", offsetof(struct collector_counts, over_quota), false},
    {"AdsExpired", offsetof(struct collector_counts, expired), false},
    {"AdsNotResponding", offsetof(struct collector_counts, silent), false},
    {"AdsGoneAbsent", offsetof(struct collector_counts, gone_absent), false},
    {"OfflineAdsReplaced", offsetof(struct collector_counts, replaced), false},
    {"MergesTotal", offsetof(struct collector_counts, merges), false},
    {"QueriesTotal", offsetof(struct collector_counts, queries), true},
    {"QueriesIndexed", offsetof(struct collector_counts, queries_indexed), false},
    {"QueriesTimeMs", offsetof(struct collector_counts, queries_ms), true},
    {"QueryAdsLookedAt", offsetof(struct collector_counts, ads_looked_at), false},
    {"QueryAdsSent", offsetof(struct collector_counts, ads_sent), true},
    {"ActiveQueryWorkers", offsetof(struct collector_counts, queries_active), false},
    {"ConnectionsTotal", offsetof(struct collector_counts, connections), false},
};

static int64_t count_at(const struct collector_counts *counts, size_t offset)
{
    int64_t value;
    memcpy(&value, (const char *)counts + offset, sizeof(value));
    return value;
}

static void put_work(const struct collector *collector, struct ad *ad)
{
    const struct collector_counts *before = &collector->samples[0].counts;
    for (size_t i = 0; i < ARRAY_COUNT(COUNTS); i++) {
        int64_t value = count_at(&collector->counts, COUNTS[i].offset);
        ad_set_int(ad, COUNTS[i].name, value);
        if (COUNTS[i].recent) {
            char name[64];
            (void)snprintf(name, sizeof(name), "Recent%s", COUNTS[i].name);
            ad_set_int(ad, name, value - count_at(before, COUNTS[i].offset));
        }
    }
    struct ad_pool_figures figures;
    ad_pool_figures(collector->pool, &figures);
    ad_set_int(ad, "AdShapes", (int64_t)figures.shapes);
    ad_set_int(ad, "AdPrototypes", (int64_t)figures.prototypes);
    ad_set_int(ad, "AdSharedBytes", (int64_t)figures.bytes);
}

/* ---- memory and CPU: what /proc says; nothing where there is none ------------------------------
 */

static char *read_proc(const struct collector *collector, const char *path)
{
    char *text = NULL;
    size_t length;
    return os_read_file(collector->env.os, path, PROC_TEXT_MAX, &text, &length, NULL) == 0 ? text
                                                                                           : NULL;
}

/* Returns the CPU seconds used since the start; below 0: not known. */
static double cpu_s(const struct collector *collector)
{
    double ticks = -1;
    char *text = read_proc(collector, "/proc/self/stat");
    char *at = text ? strrchr(text, ')') : NULL;
    for (int field = 0; at && field <= STAT_CPU_FIELD; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at) {
        char *end;
        ticks = (double)strtoull(at, &end, 10);
        ticks += (double)strtoull(end, NULL, 10);
    }
    mem_free(text);
    return ticks / TICKS_PER_S;
}

static void put_self(struct collector *collector, double cpu, struct ad *ad)
{
    const struct loop *loop = collector->env.loop;
    const struct collector_sample *before = &collector->samples[0];
    int64_t up_s = loop_since_s(loop, collector->started_ms);
    int64_t recent_s = loop_since_s(loop, before->at_ms);
    ad_set_int(ad, "MonitorSelfTime", loop_wall_s(loop));
    ad_set_int(ad, "MonitorSelfAge", up_s);
    if (cpu >= 0 && up_s > 0) {
        ad_set_real(ad, "MonitorSelfCPUUsage", 100 * cpu / (double)up_s);
        ad_set_real(ad, "DaemonCoreDutyCycle", cpu / (double)up_s);
    }
    if (cpu >= 0 && recent_s > 0) {
        ad_set_real(ad, "RecentDaemonCoreDutyCycle", (cpu - before->cpu_s) / (double)recent_s);
    }
    char *text = read_proc(collector, "/proc/self/statm");
    if (text) {
        char *end;
        ad_set_int(ad, "MonitorSelfImageSize", (int64_t)strtoull(text, &end, 10) * PAGE_KIB);
        ad_set_int(ad, "MonitorSelfResidentSetSize", (int64_t)strtoull(end, NULL, 10) * PAGE_KIB);
    }
    mem_free(text);
}

static void take_sample(struct collector *collector, double cpu)
{
    int64_t now_ms = (int64_t)loop_now_ms(collector->env.loop);
    const struct collector_sample now = {now_ms, cpu, collector->counts};
    if (collector->samples[0].at_ms == 0) {
        collector->samples[0] = (struct collector_sample){.at_ms = collector->started_ms};
        collector->samples[1] = now;
    } else if (loop_since_s(collector->env.loop, collector->samples[1].at_ms) >= RECENT_S) {
        collector->samples[0] = collector->samples[1];
        collector->samples[1] = now;
    }
}

void collector_show_figures(void *arg)
{
    struct collector *collector = arg;
    int64_t now_s = loop_wall_s(collector->env.loop);
    double cpu = cpu_s(collector);
    take_sample(collector, cpu);
    collector->own_ad_s = now_s;
    struct ad *ad = ad_create();
    daemon_ad_put(ad, collector->env.os, "Collector", collector->own_name,
                  loop_wall_of_s(collector->env.loop, collector->started_ms));
    settings_put(ad, collector->env.config);
    ad_set_string(ad, "Machine", collector->own_name);
    ad_set_string(ad, "CollectorName", config_string(collector->env.config, "COLLECTOR_NAME"));
    ad_set_string(ad, "MyAddress", door_address(collector->door));
    ad_set_int(ad, "MyCurrentTime", now_s);
    ad_set_int(ad, "LastHeardFrom", now_s);
    put_counts(collector, ad);
    put_pool(collector, ad);
    put_work(collector, ad);
    put_self(collector, cpu, ad);
    daemon_ad_put_wire(ad, collector->context);
    daemon_ad_put_store(ad, store_problem(collector->store), store_damaged_rows(collector->store));
    struct ads_change *change;
    if (collector_ads_propose(collector->ads, "Collector", collector->own_name, ad, NULL,
                              &change) == 0) {
        collector_ads_apply(collector->ads, change);
    }
    loop_timer_set(collector->own_ad, collector->settings.own_ad_interval_ms);
}

void collector_renew_figures(struct collector *collector)
{
    if (loop_wall_s(collector->env.loop) != collector->own_ad_s) {
        collector_show_figures(collector);
    }
}
