/* collector/collector.c - the hub of the pool: wiring, start, configuration, its own ad.
 *
 * Everything that is known in a pool is an ad here, and everything that reacts watches it.  Ads of
 * running daemons are only in memory: their daemons send them again.  Offline ads and revoked
 * tokens are on disk, because nobody would send them again.  See collector/README.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/slices.h"
#include "base/stream/stream.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_lease.h"
#include "collector/collector_offline.h"
#include "collector/collector_prototype.h"
#include "collector/collector_serve.h"
#include "collector/collector_shown.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "collector/knobs.h"
#include "store/store.h"
#include "user_maps/user_world.h"
#include "wire/pool.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define INDEX_ENTRIES 2000 /* looked at in one turn for an index that is to be made */
#define LOOK_MS       1000 /* how often locks are looked through for those whose time is over */

/* ---- now and then ---------------------------------------------------------------------------- */

/* Returns the time until the next look: an idle pool's collector must not wake each second. */
static uint64_t rest_ms(const struct collector *collector)
{
    uint64_t now_ms = loop_now_ms(collector->env.loop);
    uint64_t until_ms = now_ms + loop_grid_delay_ms(now_ms, LOOP_GRID_MS); /* for new ads */
    until_ms = 1000 * collector_ads_due_s(collector->ads, until_ms / 1000);
    uint64_t lost_ms = collector_lost_due_ms(collector);
    if (collector->locks.count > 0) {
        return LOOK_MS;
    }
    until_ms = lost_ms < until_ms ? lost_ms : until_ms;
    return until_ms > now_ms ? until_ms - now_ms : 1;
}

static void look_for_expired(void *arg)
{
    struct collector *collector = arg;
    collector_mark_lost(collector);
    collector_mark_missing(collector);
    collector_expire(collector);
    collector_ads_trim_indexes(collector->ads, loop_now_ms(collector->env.loop));
    collector_revocations_expire(collector);
    collector_locks_expire(collector);
    loop_timer_set(collector->expiry, rest_ms(collector));
}

/* Does one step of building indexes; a timer's callback. */
static void make_indexes(void *arg)
{
    struct collector *collector = arg;
    if (collector_ads_make_indexes(collector->ads, INDEX_ENTRIES)) {
        loop_timer_set(collector->indexing, 0);
    }
}

/* ---- what was on disk ------------------------------------------------------------------------ */

static void load_offline(void *arg, const char *name, struct ad *ad)
{
    struct collector *collector = arg;
    struct ads_change *change;
    if (!plan_is_durable("Machine", ad)) {
        log_error(collector->env.log, "store.bad_ad",
                  "an ad in the store is neither offline nor absent; it is ignored",
                  LOG_TEXT("key", name));
        ad_destroy(ad);
    } else if (collector_ads_propose(collector->ads, "Machine", name, ad, NULL, &change) == 0) {
        collector_ads_changed(change)->heard_ms =
            plan_heard_ms(ad, loop_wall_s(collector->env.loop), loop_now_ms(collector->env.loop));
        collector_ads_apply(collector->ads, change);
    }
}

static void load_revoked(void *arg, const char *token_id, struct ad *ad)
{
    collector_revoked(arg, token_id, ad);
}

static int load_store(struct collector *collector, struct err *err)
{
    struct log *log = collector->env.log;
    int code = collector_offline_load(collector->store, collector->prototypes, collector->pool, log,
                                      load_offline, collector, err);
    if (!code) {
        code = collector_revoked_load(collector->store, log, load_revoked, collector, err);
    }
    if (!code) {
        code = collector_lock_load(collector->store, log, collector_lock_loaded, collector, err);
    }
    if (!code) {
        code = collector_awake_load(collector->store, log, collector_awake_loaded, collector, err);
    }
    if (!code) {
        collector_offline_tidy(collector->store, collector->prototypes);
        collector_locks_compare(collector);
        log_info(log, "store.loaded", "loaded the ads and revocations of the store",
                 LOG_INT("offline_ads", collector_ads_count(collector->ads, "Machine")),
                 LOG_INT("revocations", collector_ads_count(collector->ads, "Revocation")));
    }
    return code;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void read_settings(struct collector *collector, const struct config *config)
{
    collector->settings.classad_lifetime_s = config_duration_s(config, "CLASSAD_LIFETIME");
    collector->settings.offline_expire_s = config_duration_s(config, "OFFLINE_EXPIRE_ADS_AFTER");
    collector->settings.constraint_steps_max = (uint64_t)config_int(config, "MAX_CONSTRAINT_STEPS");
    if (collector->watches) {
        watch_server_limit_steps(collector->watches, collector->settings.constraint_steps_max);
    }
    collector->settings.identity_ads_max =
        (size_t)config_int(config, "COLLECTOR_MAX_ADS_PER_IDENTITY");
    collector->settings.identity_bytes_max =
        (size_t)config_bytes(config, "COLLECTOR_MAX_BYTES_PER_IDENTITY");
    collector->settings.ad_bytes_max = (size_t)config_bytes(config, "COLLECTOR_MAX_BYTES_PER_AD");
    collector->settings.ad_attributes_max =
        (size_t)config_int(config, "COLLECTOR_MAX_ATTRIBUTES_PER_AD");
    collector->settings.absent_expire_s = config_duration_s(config, "ABSENT_EXPIRE_ADS_AFTER");
    collector->settings.expire_invalidated = config_bool(config, "EXPIRE_INVALIDATED_ADS");
    const char *absent = config_expr(config, "ABSENT_REQUIREMENTS"); /* parsed by the loader, too */
    ad_expr_destroy(collector->settings.absent_requirements);
    collector->settings.absent_requirements = NULL;
    (void)ad_expr_parse(absent, strlen(absent), AD_OLD, &collector->settings.absent_requirements,
                        NULL);
    collector->settings.own_ad_interval_ms =
        (uint64_t)config_duration_s(config, "COLLECTOR_UPDATE_INTERVAL") * 1000;
}

static void collector_destroy(void *state)
{
    struct collector *collector = state;
    if (!collector) {
        return;
    }
    loop_timer_destroy(collector->expiry);
    loop_timer_destroy(collector->own_ad);
    loop_timer_destroy(collector->indexing);
    collector->inspection.rests = false; /* nothing begins it any more */
    loop_timer_destroy(collector->inspection.timer);
    slice_work_destroy(collector->invalidating);
    store_close(collector->store);
    batch_drop_all(collector);
    collector_revocations_drop(collector);
    collector_locks_drop(collector);
    collector_awake_drop(collector);
    collector_queries_drop(collector);
    collector_invalidations_drop(collector);
    slices_destroy(collector->slices);
    watch_server_destroy(collector->watches);
    hub_destroy(collector->hub);
    collector_hang_up(collector);
    collector_lost_drop(collector);
    wire_context_destroy(collector->context);
    collector_leases_destroy(collector->leases);
    if (collector->inspection.cursor.ads) {
        ads_cursor_fini(&collector->inspection.cursor);
    }
    collector_ads_destroy(collector->ads);
    strmap_destroy(collector->accounts, mem_free);
    shares_destroy(collector->shares);
    ad_given_destroy(collector->heard);
    ad_pool_destroy(collector->pool);
    prototypes_destroy(collector->prototypes);
    ad_expr_destroy(collector->settings.absent_requirements);
    user_world_destroy(collector->users);
    mem_free(collector);
}

/* Opens the store, and makes its directory if needed. */
static int open_store(struct collector *collector, struct err *err)
{
    const struct daemon_env *env = &collector->env;
    const char *path = config_path(env->config, "COLLECTOR_STORE");
    const char *slash = strrchr(path, '/');
    char *directory = mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    int code = os_mkdirs(env->os, directory, 0755, err);
    mem_free(directory);
    return code ? code
                : collector_store_open(env->loop, env->os, path, env->log, &collector->store, err);
}

static int open_everything(struct collector *collector, struct err *err)
{
    const struct daemon_env *env = &collector->env;
    struct os_machine machine;
    int code = os_machine(env->os, &machine, err);
    if (!code) {
        (void)snprintf(collector->own_name, sizeof(collector->own_name), "%s", machine.hostname);
        code = pool_context_create(env, &collector->context, err);
    }
    if (!code) {
        code = open_store(collector, err);
    }
    if (!code) {
        collector->hub = hub_create(collector->context);
        code = load_store(collector, err);
    }
    return code ? code : collector_listen(collector, err);
}

static int collector_start(const struct daemon_env *env, void **state, struct err *err)
{
    struct collector *collector = mem_zalloc(sizeof(*collector));
    collector->env = *env;
    collector->users = user_world_create(env->os, env->config);
    collector->started_ms = (int64_t)loop_now_ms(env->loop);
    collector->lost_end = &collector->lost;
    read_settings(collector, env->config);
    collector->pool = ad_pool_create();
    collector->prototypes = prototypes_create();
    collector->ads = collector_ads_create(&collector_shown_events, collector);
    collector->watches = watch_server_create(env->loop, &collector_shown_source, collector);
    collector->leases = collector_leases_create();
    collector->accounts = strmap_create(STRMAP_CASE_SENSITIVE);
    collector->shares = shares_create();
    collector->expiry = loop_timer_create(env->loop, look_for_expired, collector);
    collector->own_ad = loop_timer_create(env->loop, collector_show_figures, collector);
    collector->indexing = loop_timer_create(env->loop, make_indexes, collector);
    collector->slices = slices_create(env->loop);
    collector->invalidating =
        slice_work_create(collector->slices, "", collector_invalidate_some, collector);
    collector->inspection.timer = loop_timer_create(env->loop, collector_inspect_some, collector);
    ads_cursor_init(&collector->inspection.cursor, collector->ads, "Machine");
    int code = open_everything(collector, err);
    if (code) {
        collector_destroy(collector);
        return code;
    }
    collector_show_figures(collector);
    look_for_expired(collector);
    collector_inspect_some(collector);
    *state = collector;
    return 0;
}

static void collector_reload(void *state, const struct config *config)
{
    struct collector *collector = state;
    collector->env.config = config;
    user_world_destroy(collector->users);
    collector->users = user_world_create(collector->env.os, config);
    read_settings(collector, config);
    pool_context_reload(collector->context, config, collector->env.log);
    collector_listen_anew(collector);
    collector_ads_look_at_all(collector->ads);
    loop_timer_set(collector->own_ad, 0);
}

static const struct knob_table *const TABLES[] = {&collector_knobs, &knobs_common};

const struct daemon collector_daemon = {
    .name = "collector",
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = collector_start,
    .reload = collector_reload,
    .destroy = collector_destroy,
};
