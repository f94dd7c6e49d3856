/* factory/factory.c - the daemon that has sites start glideins: wiring.
 *
 * The negotiator writes into offline ads, samples, which jobs wait for glideins; the factory sees
 * the change and asks the site that the samples stand for (site.c; grow_plan.c decides how many).
 * A glidein has come when its live ad is in the collector.  Durable: the journal of glideins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/factory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "factory/demand.h"
#include "factory/journal.h"
#include "factory/orders.h"
#include "factory/pause.h"
#include "factory/publish.h"
#include "factory/samples.h"
#include "factory/site.h"
#include "factory/ticket.h"
#include "factory/upload.h"
#include "store/store.h"
#include "wire/p256.h"
#include "wire/pool.h"
#include "wire/proof.h"
#include "wire/revocations.h"
#include "wire/settings.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define PUBLISH_MS 200 /* so long changes are gathered before they are shown */
#define REPEAT_MS  1000
#define MS_PER_S   1000

/* ---- what happens -----------------------------------------------------------------------------
 */

static void changed(void *arg)
{
    struct factory *factory = arg;
    if (!loop_timer_is_set(factory->look)) {
        loop_timer_set(factory->look, 0);
    }
    if (!loop_timer_is_set(factory->publish)) {
        loop_timer_set(factory->publish, PUBLISH_MS);
    }
}

/* Forgets the sites whose sections are gone, when their glideins have gone, too. */
static void drop_sites(struct factory *factory)
{
    struct vec gone = {0};
    size_t at = 0;
    const char *name;
    void *value;
    while (strmap_next(factory->sites, &at, &name, &value)) {
        const struct site *site = value;
        if (site->is_gone && site->busy == SITE_FREE && TAILQ_EMPTY(&site->glideins)) {
            vec_push(&gone, mem_strdup(name));
        }
    }
    for (size_t i = 0; i < gone.count; i++) {
        site_destroy(strmap_remove(factory->sites, gone.items[i]));
    }
    vec_fini(&gone, mem_free);
}

static void look_at_sites(void *arg)
{
    struct factory *factory = arg;
    size_t at = 0;
    void *site;
    demand_count(factory);
    while (strmap_next(factory->sites, &at, NULL, &site)) {
        site_act(site);
    }
    orders_advance(factory);
    drop_sites(factory);
}

static void publish_soon(void *arg)
{
    struct factory *factory = arg;
    if (uplink_wire(factory->uplink) != NULL) {
        publish_changes(factory);
    }
}

/* What the collector has of us may be old or gone. */
static void repeat_all(void *arg)
{
    struct factory *factory = arg;
    publish_forget(factory);
    samples_repeat(factory);
    changed(factory);
}

static void repeat_soon(void *arg)
{
    struct factory *factory = arg;
    if (!loop_timer_is_set(factory->again)) {
        loop_timer_set(factory->again, REPEAT_MS);
    }
}

static void interval_is_over(void *arg)
{
    struct factory *factory = arg;
    publish_forget(factory); /* ads expire in the collector */
    changed(factory);
    loop_timer_set(factory->interval,
                   (uint64_t)config_duration_s(factory->env.config, "FACTORY_INTERVAL") * MS_PER_S);
}

/* ---- the collector ----------------------------------------------------------------------------
 */

static void machine_changed(void *arg, const char *key, const struct ad *ad)
{
    demand_machine_changed(arg, key, ad);
}

static void machine_gone(void *arg, const char *key)
{
    demand_machine_gone(arg, key);
}

static void request_changed(void *arg, const char *key, const struct ad *ad)
{
    (void)key;
    (void)ad;
    changed(arg);
}

static void request_gone(void *arg, const char *key)
{
    (void)key;
    changed(arg);
}

static void machines_synced(void *arg)
{
    repeat_all(arg);
}

static void watch_refused(void *arg, int status, const char *why)
{
    struct factory *factory = arg;
    log_error(factory->env.log, "watch.refused", why, LOG_INT("status", status));
}

static void uplink_up(void *arg, struct wire *wire)
{
    struct factory *factory = arg;
    log_info(factory->env.log, "uplink.up", "connected to the collector");
    revocations_watch(factory->wires, wire);
    int rc = watch_start(factory->machines, wire);
    rc = rc != 0 ? rc : watch_start(factory->requests, wire);
    if (rc != 0) {
        log_warn(factory->env.log, "watch.start", err_code_text(rc));
    }
    if (factory->sequence == 0) { /* what an earlier life has sent may not be true any more */
        upload_all_gone(factory, "Site");
        upload_all_gone(factory, "Glidein");
    }
    publish_forget(factory);
    changed(factory);
}

static void uplink_down(void *arg, const char *why)
{
    struct factory *factory = arg;
    log_warn(factory->env.log, "uplink.down", why);
}

/* Orders, and requests that any daemon answers. */
static void serve(void *arg, struct wire_request *request)
{
    struct factory *factory = arg;
    if (wire_request_verb(request) == VERB_CONFIG) {
        settings_serve(&factory->env, request);
    } else if (wire_request_verb(request) == VERB_TICKET) {
        ticket_serve(factory, request);
    } else if (wire_request_verb(request) == VERB_FACTORY_ORDER) {
        orders_serve(factory, request);
    } else {
        wire_reply_error(request, -ENOSYS, "the factory does not answer %s",
                         wire_verb_name(wire_request_verb(request)));
    }
}

static int open_uplink(struct factory *factory, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = uplink_up,
                                                .down = uplink_down,
                                                .request = serve};
    char address[POOL_ADDRESS_MAX], name[120];
    int rc = pool_collector_addresses(factory->env.config, address, sizeof(address), err);
    (void)snprintf(name, sizeof(name), "factory/%s", factory->name);
    const struct wire_dial how = {.address = address, .route = "collector", .name = name};
    return rc != 0 ? rc
                   : uplink_create(factory->wires, &how, &EVENTS, factory, &factory->uplink, err);
}

/* ---- sites ------------------------------------------------------------------------------------
 */

/* A recorded glidein whose site has no section: nobody looks after it until the site has one. */
struct stranded {
    char site[SITE_NAME_LENGTH + 1];
    struct glidein glidein;
};

/* The site, which is new, may have had a section before. */
static void adopt_stranded(struct factory *factory, struct site *site)
{
    struct vec *stranded = &factory->stranded;
    for (size_t i = stranded->count; i > 0; i--) {
        struct stranded *left = stranded->items[i - 1];
        if (strcmp(left->site, site->name) == 0) {
            site_adopt(site, &left->glidein);
            vec_remove_at(stranded, i - 1);
            mem_free(left);
        }
    }
}

/* Makes the sites those of the configuration. */
static void take_sections(struct factory *factory)
{
    const struct config *config = factory->env.config;
    size_t at = 0;
    void *value;
    for (size_t i = 0; i < config_section_count(config, "site"); i++) {
        const struct config_section *section = config_section_at(config, "site", i);
        struct site *site = strmap_get(factory->sites, section_title(section));
        if (site != NULL) {
            site_configure(site, section);
        } else {
            site = site_create(factory, section);
            (void)strmap_set(factory->sites, site->name, site);
            adopt_stranded(factory, site);
        }
    }
    while (strmap_next(factory->sites, &at, NULL, &value)) {
        struct site *site = value;
        site->is_gone = config_section_find(config, "site", site->name) == NULL;
        if (site->is_gone && !PLANTED(sample_kept)) {
            samples_withdraw(site);
        }
    }
}

static void recall_glidein(void *arg, const struct ad *row)
{
    struct factory *factory = arg;
    struct glidein recorded;
    const char *name;
    if (!glidein_from_ad(row, &recorded, &name)) {
        return;
    }
    struct site *site = strmap_get(factory->sites, name);
    if (site != NULL) {
        site_adopt(site, &recorded);
        return;
    }
    log_warn(factory->env.log, "glidein.lost",
             "its site has no section: nobody looks after it until the site has one again",
             LOG_TEXT("glidein", recorded.name), LOG_TEXT("site", name));
    struct stranded *stranded = mem_zalloc(sizeof(*stranded));
    (void)snprintf(stranded->site, sizeof(stranded->site), "%s", name);
    stranded->glidein = recorded;
    vec_push(&factory->stranded, stranded);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void factory_destroy(void *state)
{
    struct factory *factory = state;
    watch_destroy(factory->machines);
    watch_destroy(factory->requests);
    uplink_destroy(factory->uplink);
    factory->uplink = NULL;
    strmap_destroy(factory->sites, site_destroy);
    vec_fini(&factory->stranded, mem_free);
    journal_close(factory->journal);
    orders_close(factory);
    pause_free(factory);
    wire_context_destroy(factory->wires);
    demand_free(factory);
    publish_free(factory);
    strmap_destroy(factory->glideins, NULL);
    strmap_destroy(factory->samples, NULL);
    loop_timer_destroy(factory->look);
    loop_timer_destroy(factory->publish);
    loop_timer_destroy(factory->again);
    loop_timer_destroy(factory->interval);
    mem_free(factory);
}

/* Pools of one account on one site may have the same names of factory and site: the tag, which is
 * made of what a pool is called and where it is, tells their glideins apart.  It must not be
 * random: a factory whose journal is lost must know its own. */
static void set_tag(struct factory *factory)
{
    const struct config *config = factory->env.config;
    uint8_t digest[P256_DIGEST_BYTES];
    struct strbuf text;
    size_t count = 0;
    const char *const *hosts = config_list(config, "COLLECTOR_HOST", &count);
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s\n%s\n", config_string(config, "POOL_NAME"),
                  config_string(config, "UID_DOMAIN"));
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&text, "%s\n", hosts[i]);
    }
    proof_digest(text.data, text.length, digest);
    text_hex(digest, (FACTORY_TAG_SIZE - 1) / 2, factory->tag);
    strbuf_fini(&text);
}

static int factory_start(const struct daemon_env *env, void **state, struct err *err)
{
    static const struct watch_spec MACHINES = {.type = "Machine"}, REQUESTS = {.type = "Request"};
    static const struct watch_events MACHINE_EVENTS = {.changed = machine_changed,
                                                       .gone = machine_gone,
                                                       .synced = machines_synced,
                                                       .refused = watch_refused};
    static const struct watch_events REQUEST_EVENTS = {.changed = request_changed,
                                                       .gone = request_gone,
                                                       .synced = changed,
                                                       .refused = watch_refused};
    struct factory *factory = mem_zalloc(sizeof(*factory));
    factory->env = *env;
    factory->epoch = (uint64_t)loop_wall_ms(env->loop);
    factory->started_ms = (int64_t)loop_now_ms(env->loop);
    factory->changed = changed;
    factory->repeat = repeat_soon;
    (void)snprintf(factory->name, sizeof(factory->name), "%s",
                   config_string(env->config, "FACTORY_NAME"));
    set_tag(factory);
    factory->sites = strmap_create(STRMAP_CASE_SENSITIVE);
    factory->glideins = strmap_create(STRMAP_CASE_SENSITIVE);
    factory->slots = strmap_create(STRMAP_CASE_SENSITIVE);
    factory->samples = strmap_create(STRMAP_CASE_SENSITIVE);
    factory->pauses = strmap_create(STRMAP_CASE_SENSITIVE);
    factory->shown = strmap_create(STRMAP_CASE_SENSITIVE);
    factory->look = loop_timer_create(env->loop, look_at_sites, factory);
    factory->again = loop_timer_create(env->loop, repeat_all, factory);
    factory->publish = loop_timer_create(env->loop, publish_soon, factory);
    factory->interval = loop_timer_create(env->loop, interval_is_over, factory);
    orders_open(factory);
    factory->machines = watch_create(env->loop, &MACHINES, &MACHINE_EVENTS, factory);
    factory->requests = watch_create(env->loop, &REQUESTS, &REQUEST_EVENTS, factory);
    int rc = journal_open(env, factory->name, &factory->journal, err);
    if (rc == 0) {
        take_sections(factory);
        rc = journal_load(factory->journal, recall_glidein, factory, err);
        rc = rc != 0 ? rc : pause_load(factory, err);
    }
    rc = rc != 0 ? rc : pool_context_create(env, &factory->wires, err);
    rc = rc != 0 ? rc : open_uplink(factory, err);
    if (rc != 0) {
        factory_destroy(factory);
        return rc;
    }
    interval_is_over(factory);
    *state = factory;
    return 0;
}

static void factory_reload(void *state, const struct config *config)
{
    struct factory *factory = state;
    factory->env.config = config;
    pool_context_reload(factory->wires, config, factory->env.log);
    pool_uplink_reload(factory->uplink, config, factory->env.log);
    take_sections(factory);
    interval_is_over(factory);
}

/* Says what will be missing: the key that signs tickets, where a site has no bundle. */
static void doubt_key(const struct daemon_checking *checking)
{
    const char *path = config_path(checking->config, "FACTORY_KEY");
    const char *wrong = daemon_doubt_path(checking, path, false);
    for (size_t i = 0; wrong != NULL && i < config_section_count(checking->config, "site"); i++) {
        const struct config_section *section = config_section_at(checking->config, "site", i);
        if (section_path(section, "token") == NULL) {
            daemon_doubt(checking, "FACTORY_KEY",
                         "%s %s: site %s can start no glideins; make the key with `roost token key "
                         "create NAME --names '%s-*'`, or name a bundle (token) in the section",
                         path, wrong, section_title(section),
                         config_string(checking->config, "FACTORY_NAME"));
            return;
        }
    }
}

static int factory_check(const struct daemon_checking *checking, struct err *err)
{
    const char *name = config_string(checking->config, "FACTORY_NAME");
    if (!site_section_is_name(name, false)) {
        return err_set(err, -EINVAL, "FACTORY_NAME: '%s' is not 1 to %d letters and digits", name,
                       SITE_NAME_LENGTH);
    }
    doubt_key(checking);
    return 0;
}

static const struct knob_table *const TABLES[] = {&factory_knobs, &knobs_common};

const struct daemon factory_daemon = {
    .name = "factory",
    .check_expr = ad_expr_check,
    .check = factory_check,
    .check_section = site_section_check,
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = factory_start,
    .reload = factory_reload,
    .destroy = factory_destroy,
};
