/* rooster/energy.c - see energy.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/energy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "rooster/energy_plan.h"
#include "rooster/rooster.h"
#include "store/store.h"
#include "wire/wire.h"

#define DAY_S          INT64_C(86400)
#define NAME_BYTES_MAX 900 /* of a machine or user; a longer one is not counted */
#define KEY_SIZE       (NAME_BYTES_MAX + 32)
#define TABLE          "energy"

struct energy {
    struct rooster *rooster;
    struct store *store;
    struct strmap *today; /* "n/NAME", "u/NAME" -> struct day_sum */
    int64_t day_s;        /* when today began, UTC */
    bool loaded;          /* what an earlier life wrote of today is in today */
    struct vec queries;   /* struct report, under way */
};

struct day_sum {
    struct energy_sum sum;
    bool changed;
};

struct user_cores {
    char *user;
    double cores;
};

struct energy_draw { /* of a machine, since its last look */
    uint64_t since_ms;
    uint64_t configuration; /* that watts is of */
    enum energy_mode mode;
    struct energy_watts watts;
    double cores, busy_cores;
    struct vec users; /* struct user_cores */
};

/* ---- days */

static void make_key(int64_t day_s, const char *what, char ret[KEY_SIZE])
{
    (void)snprintf(ret, KEY_SIZE, "%012lld/%s", (long long)day_s, what);
}

static struct day_sum *sum_of(struct energy *energy, char kind, const char *name)
{
    char what[NAME_BYTES_MAX + 4];
    (void)snprintf(what, sizeof what, "%c/%s", kind, name);
    struct day_sum *sum = strmap_get(energy->today, what);
    if (sum == NULL) {
        sum = mem_zalloc(sizeof *sum);
        (void)strmap_set(energy->today, what, sum); /* was absent */
    }
    return sum;
}

static void write_changed(struct energy *energy)
{
    struct store_txn *txn = store_begin(energy->store);
    struct strbuf bytes;
    char key[KEY_SIZE];
    size_t at = 0;
    const char *what;
    void *value;
    strbuf_init(&bytes, 0);
    while (strmap_next(energy->today, &at, &what, &value)) {
        struct day_sum *sum = value;
        if (!sum->changed) {
            continue;
        }
        struct ad *ad = ad_create();
        energy_plan_write(&sum->sum, ad);
        strbuf_clear(&bytes);
        ad_encode(ad, false, &bytes);
        ad_destroy(ad);
        make_key(energy->day_s, what, key);
        store_put(txn, TABLE, key, bytes.data, bytes.length);
        sum->changed = false;
    }
    strbuf_fini(&bytes);
    store_commit(txn, NULL, NULL);
}

static void drop_old(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct energy *energy = arg;
    struct store_txn *txn = store_begin(energy->store);
    for (size_t i = 0; result == 0 && i < count; i++) {
        store_delete(txn, TABLE, rows[i].key);
    }
    store_commit(txn, NULL, NULL);
}

/* Another day, unless the clock was put back: yesterday's sums are written and let go, with what is
 * too old. */
static void follow_day(struct energy *energy)
{
    struct rooster *rooster = energy->rooster;
    int64_t now_s = loop_wall_s(rooster->env.loop), day_s = now_s - now_s % DAY_S;
    char until[KEY_SIZE];
    if (day_s <= energy->day_s || !energy->loaded) {
        return;
    }
    write_changed(energy);
    strmap_destroy(energy->today, mem_free);
    energy->today = strmap_create(STRMAP_CASE_SENSITIVE);
    energy->day_s = day_s;
    make_key(day_s - DAY_S * config_int(rooster->env.config, "ROOSTER_ENERGY_DAYS"), "", until);
    store_scan(energy->store, TABLE, NULL, until, false, 0, NULL, NULL, drop_old, energy);
}

static void loaded_today(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct energy *energy = arg;
    if (result != 0) {
        log_error(energy->rooster->env.log, "energy.damaged", err_code_text(result));
    }
    for (size_t i = 0; i < count; i++) {
        const char *what = strchr(rows[i].key, '/');
        struct energy_sum sum;
        struct ad *ad;
        if (what == NULL || strlen(what) < 4 || strlen(what) >= NAME_BYTES_MAX ||
            ad_decode(rows[i].value, rows[i].length, NULL, &ad, NULL) != 0) {
            continue; /* one bad row is left out */
        }
        energy_plan_read(ad, &sum);
        ad_destroy(ad);
        energy_plan_join(&sum_of(energy, what[1], what + 3)->sum, &sum);
    }
    energy->loaded = true;
}

int energy_open(struct rooster *rooster, struct energy **ret, struct err *err)
{
    static const char *const TABLES[] = {TABLE, NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct energy *energy = mem_zalloc(sizeof *energy);
    int64_t now_s = loop_wall_s(rooster->env.loop);
    char from[KEY_SIZE];
    struct strbuf path;
    energy->rooster = rooster;
    energy->day_s = now_s - now_s % DAY_S;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/rooster_energy.db", config_path(rooster->env.config, "SPOOL"));
    int rc = store_open(rooster->env.loop, rooster->env.os, strbuf_text(&path), &SCHEMA,
                        rooster->env.log, &energy->store, err);
    strbuf_fini(&path);
    if (rc != 0) {
        mem_free(energy);
        return rc;
    }
    energy->today = strmap_create(STRMAP_CASE_SENSITIVE);
    make_key(energy->day_s, "", from);
    store_scan(energy->store, TABLE, from, NULL, false, 0, NULL, NULL, loaded_today, energy);
    *ret = energy;
    return 0;
}

/* ---- counting */

static void count_users(struct energy *energy, const struct energy_draw *draw, double seconds)
{
    double most = draw->busy_cores > draw->cores ? draw->busy_cores : draw->cores;
    for (size_t i = 0; i < draw->users.count && most > 0 && seconds > 0; i++) {
        const struct user_cores *user = draw->users.items[i];
        struct day_sum *sum = sum_of(energy, 'u', user->user);
        double share = user->cores / most;
        double joules = energy_plan_jobs_w(&draw->watts, draw->mode, share) * seconds;
        sum->sum.used_j += joules;
        sum->sum.jobs_j += joules;
        sum->sum.busy_core_s += share * draw->cores * seconds;
        sum->changed = true;
    }
}

/* What was until now. */
static void count(struct node *node)
{
    struct energy *energy = node->rooster->energy;
    struct energy_draw *draw = node->draw;
    uint64_t now_ms = loop_now_ms(node->rooster->env.loop);
    double seconds = (double)(now_ms - draw->since_ms) / 1000.0;
    draw->since_ms = now_ms;
    if (draw->mode == ENERGY_UNKNOWN || strlen(node->name) >= NAME_BYTES_MAX) {
        return;
    }
    struct day_sum *sum = sum_of(energy, 'n', node->name);
    energy_plan_add(&sum->sum, &draw->watts, draw->mode, draw->busy_cores, draw->cores, seconds);
    sum->changed = true;
    count_users(energy, draw, seconds);
}

static double figure(const struct config *config, const struct config_section *section,
                     const char *own, const char *of_all)
{
    double watts = section != NULL ? section_real(section, own) : 0;
    return watts > 0 ? watts : config_real(config, of_all);
}

void energy_find_watts(const struct node *node, struct energy_watts *ret)
{
    const struct config *config = node->rooster->env.config;
    const struct config_section *section = config_section_find(config, "node", node->name);
    ret->asleep_w = figure(config, section, "asleep_watts", "ROOSTER_ASLEEP_WATTS");
    ret->idle_w = figure(config, section, "idle_watts", "ROOSTER_IDLE_WATTS");
    ret->busy_w = figure(config, section, "busy_watts", "ROOSTER_BUSY_WATTS");
}

static enum energy_mode mode_of(const struct node *node)
{
    if (node->live) {
        return ENERGY_ON;
    }
    if (!node->offline) {
        return ENERGY_UNKNOWN;
    }
    bool between =
        node->state == WAKE_WAKING || node->state == WAKE_GOING_DOWN || node->state == WAKE_STAYING;
    return between ? ENERGY_ON : ENERGY_ASLEEP;
}

static void add_user(struct energy_draw *draw, const struct ad *slot, double cores)
{
    const char *name = ad_string_or(slot, "RemoteUser", ad_string_or(slot, "RemoteOwner", ""));
    if (name[0] == '\0' || strlen(name) >= NAME_BYTES_MAX) {
        return; /* the machine's, not anybody's */
    }
    for (size_t i = 0; i < draw->users.count; i++) {
        struct user_cores *user = draw->users.items[i];
        if (strcmp(user->user, name) == 0) {
            user->cores += cores;
            return;
        }
    }
    struct user_cores *user = mem_zalloc(sizeof *user);
    user->user = mem_strdup(name);
    user->cores = cores;
    vec_push(&draw->users, user);
}

static void free_user(void *value)
{
    struct user_cores *user = value;
    mem_free(user->user);
    mem_free(user);
}

static void see_slots(const struct node *node, struct energy_draw *draw)
{
    vec_fini(&draw->users, free_user);
    draw->cores = draw->busy_cores = 0;
    for (size_t i = 0; i < node->ads.count && node->live; i++) {
        const struct ad *slot = ((const struct seen *)node->ads.items[i])->ad;
        double cores = ad_real_or(slot, "DetectedCpus", 0);
        if (offline_ads_is(slot)) {
            continue;
        }
        draw->cores = cores > draw->cores ? cores : draw->cores;
        double busy = energy_plan_busy_cores(slot);
        draw->busy_cores += busy;
        if (busy > 0) {
            add_user(draw, slot, busy);
        }
    }
    draw->cores = draw->cores > 0 ? draw->cores : draw->busy_cores;
}

void energy_look(struct node *node)
{
    struct rooster *rooster = node->rooster;
    follow_day(rooster->energy);
    if (node->draw == NULL) {
        node->draw = mem_zalloc(sizeof *node->draw);
    }
    struct energy_draw *draw = node->draw;
    count(node);
    if (draw->configuration != rooster->configuration) {
        draw->configuration = rooster->configuration;
        energy_find_watts(node, &draw->watts);
    }
    draw->mode = mode_of(node);
    see_slots(node, draw);
}

void energy_forget(struct node *node)
{
    if (node->draw != NULL) {
        vec_fini(&node->draw->users, free_user);
        mem_free(node->draw);
        node->draw = NULL;
    }
}

static void count_all(struct energy *energy)
{
    size_t at = 0;
    void *value;
    while (strmap_next(energy->rooster->nodes, &at, NULL, &value)) {
        struct node *node = value;
        if (node->draw != NULL) {
            count(node);
        }
    }
}

void energy_flush(struct energy *energy)
{
    if (!energy->loaded) {
        return; /* else it would write over what an earlier life counted today */
    }
    count_all(energy);
    write_changed(energy);
}

void energy_write(const struct node *node, struct ad *ad)
{
    const struct energy_draw *draw = node->draw;
    char what[NAME_BYTES_MAX + 4];
    if (draw == NULL || !energy_plan_is_known(&draw->watts) || draw->mode == ENERGY_UNKNOWN) {
        return;
    }
    double share = draw->cores > 0 ? draw->busy_cores / draw->cores : 0;
    ad_set_real(ad, "DrawWatts", energy_plan_draw_w(&draw->watts, draw->mode, share));
    (void)snprintf(what, sizeof what, "n/%.900s", node->name);
    const struct day_sum *sum = strmap_get(node->rooster->energy->today, what);
    if (sum != NULL) {
        struct ad *figures = ad_create();
        energy_plan_write(&sum->sum, figures);
        (void)ad_copy_attr(ad, "EnergyToday", figures, "EnergyUsed"); /* both are there */
        (void)ad_copy_attr(ad, "EnergySavedToday", figures, "EnergySaved");
        ad_destroy(figures);
    }
}

/* ---- asking */

struct report {
    struct energy *energy;
    struct wire_request *request; /* NULL: the asker is gone */
    char kind;
    int64_t since_s, until_s;
    struct strmap *sums; /* name -> struct energy_sum; filled on the worker thread */
};

/* Adds the row up where it is read, off the loop; keeps none. */
static bool add_row(void *arg, const struct store_row *row)
{
    struct report *report = arg;
    const char *what = strchr(row->key, '/');
    struct energy_sum sum;
    struct ad *ad;
    if (what == NULL || what[1] != report->kind || what[2] != '/' ||
        ad_decode(row->value, row->length, NULL, &ad, NULL) != 0) {
        return false;
    }
    energy_plan_read(ad, &sum);
    ad_destroy(ad);
    struct energy_sum *all = strmap_get(report->sums, what + 3);
    if (all == NULL) {
        all = mem_zalloc(sizeof *all);
        (void)strmap_set(report->sums, what + 3, all); /* was absent */
    }
    energy_plan_join(all, &sum);
    return false;
}

static void report_destroy(void *arg)
{
    struct report *report = arg;
    strmap_destroy(report->sums, mem_free);
    mem_free(report);
}

static void report_gone(void *arg)
{
    ((struct report *)arg)->request = NULL;
}

static void send_report(const struct report *report)
{
    struct vec ads = {0};
    size_t at = 0, sent = 0;
    const char *name;
    void *sum;
    while (strmap_next(report->sums, &at, &name, &sum)) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "MyType", "Energy");
        ad_set_string(ad, "Kind", report->kind == 'u' ? "User" : "Node");
        ad_set_string(ad, "Name", name);
        ad_set_int(ad, "Since", report->since_s);
        ad_set_int(ad, "Until", report->until_s);
        energy_plan_write(sum, ad);
        vec_push(&ads, ad);
    }
    for (; ads.count - sent > WIRE_ADS_MAX; sent += WIRE_ADS_MAX) {
        const struct wire_body part = {.ads = (const struct ad *const *)ads.items + sent,
                                       .ad_count = WIRE_ADS_MAX};
        (void)wire_reply_part(report->request, &part); /* bounded by machines and users */
    }
    const struct wire_body body = {.ads = (const struct ad *const *)ads.items + sent,
                                   .ad_count = ads.count - sent};
    wire_reply_ok(report->request, &body);
    for (size_t i = 0; i < ads.count; i++) {
        ad_destroy(ads.items[i]);
    }
    vec_fini(&ads, NULL);
}

static void summed(void *arg, int result, const struct store_row *rows, size_t row_count)
{
    struct report *report = arg;
    struct vec *queries = &report->energy->queries;
    (void)rows;
    (void)row_count; /* none are kept */
    if (report->request != NULL && result != 0) {
        wire_reply_error(report->request, result, "the energy of the past cannot be read: %s",
                         err_code_text(result));
    } else if (report->request != NULL) {
        send_report(report);
    }
    for (size_t i = 0; i < queries->count; i++) {
        if (queries->items[i] == report) {
            vec_remove_at(queries, i);
            break;
        }
    }
    report_destroy(report);
}

void energy_query(struct energy *energy, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    int64_t now_s = loop_wall_s(energy->rooster->env.loop);
    int64_t since_s = ad_int_or(args, "Since", 0), until_s = ad_int_or(args, "Until", now_s);
    char from[KEY_SIZE], to[KEY_SIZE];
    if (since_s < 0 || until_s < since_s || until_s > INT64_C(253402300799)) {
        wire_reply_error(request, -EINVAL, "Since and Until are no time");
        return;
    }
    struct report *report = mem_zalloc(sizeof *report);
    report->energy = energy;
    report->request = request;
    report->kind = strcmp(ad_string_or(args, "Kind", "Node"), "User") == 0 ? 'u' : 'n';
    report->since_s = since_s - since_s % DAY_S;
    report->until_s = until_s;
    report->sums = strmap_create(STRMAP_CASE_SENSITIVE);
    make_key(report->since_s, "", from);
    make_key(until_s - until_s % DAY_S, "~", to); /* that day is in it */
    energy_flush(energy);
    wire_request_on_gone(request, report_gone, report);
    vec_push(&energy->queries, report);
    store_scan(energy->store, TABLE, from, to, false, 0, add_row, report, summed, report);
}

void energy_close(struct energy *energy)
{
    if (energy == NULL) {
        return;
    }
    energy_flush(energy);
    store_close(energy->store);
    for (size_t i = 0; i < energy->queries.count; i++) { /* their scans went with the store */
        struct report *report = energy->queries.items[i];
        if (report->request != NULL) {
            wire_reply_error(report->request, -ESHUTDOWN, "the rooster stops");
        }
    }
    vec_fini(&energy->queries, report_destroy);
    strmap_destroy(energy->today, mem_free);
    mem_free(energy);
}
