/* rooster/energy_days.c - see energy_days.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/energy_days.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "rooster/energy_plan.h"
#include "store/store.h"
#include "wire/energy_line.h"

#define DAYS_BACK_MAX 8
#define DAY_DIGITS    12  /* of a key */
#define DAYS_END      ":" /* behind all digits, before all letters */

/* Counts days, the newest first, to find rows of days beyond those that are kept. */
struct counting {
    char day[DAY_DIGITS + 1]; /* of the row before */
    int64_t left;             /* days that are still to be kept */
};

struct energy_days {
    const struct daemon_env *env;
    const struct energy_days_events *events;
    void *arg;
    struct store *store;
    struct strmap *sums; /* key -> struct day_sum */
    int64_t from_s;      /* the first day that is in memory */
    int64_t today_s;
    bool loaded;
    bool is_dropping; /* a scan for old rows is under way, and has `counting` */
    struct counting counting;
};

struct day_sum {
    struct energy_sum sum;
    bool changed;
};

void energy_days_key(int64_t day_s, const char *what, char ret[ENERGY_KEY_SIZE])
{
    (void)snprintf(ret, ENERGY_KEY_SIZE, "%012lld/%.920s", (long long)day_s, what);
}

static void key_of(int64_t day_s, char kind, const char *name, char ret[ENERGY_KEY_SIZE])
{
    (void)snprintf(ret, ENERGY_KEY_SIZE, "%012lld/%c/%.900s", (long long)day_s, kind, name);
}

static int64_t day_now_s(const struct energy_days *days)
{
    int64_t now_s = loop_wall_s(days->env->loop);
    return now_s - now_s % ENERGY_DAY_S;
}

static struct day_sum *sum_of(struct energy_days *days, const char *key)
{
    struct day_sum *sum = strmap_get(days->sums, key);
    if (sum == NULL) {
        sum = mem_zalloc(sizeof *sum);
        (void)strmap_set(days->sums, key, sum); /* was absent */
    }
    return sum;
}

/* ---- loading */

static void each_day(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct energy_days *days = arg;
    if (result != 0) {
        log_error(days->env->log, "energy.damaged", err_code_text(result));
    }
    for (size_t i = 0; i < count; i++) {
        struct energy_sum sum;
        struct ad *ad;
        if (strlen(rows[i].key) >= ENERGY_KEY_SIZE ||
            ad_decode(rows[i].value, rows[i].length, NULL, &ad, NULL) != 0) {
            continue; /* one bad row is left out */
        }
        energy_plan_read(ad, &sum);
        ad_destroy(ad);
        energy_plan_join(&sum_of(days, rows[i].key)->sum, &sum, 1);
    }
    days->loaded = true;
    days->events->loaded(days->arg);
}

static void load_days(struct energy_days *days, double back_to_s)
{
    char from[ENERGY_KEY_SIZE];
    int64_t today_s = day_now_s(days), earliest_s = today_s - DAYS_BACK_MAX * ENERGY_DAY_S;
    int64_t from_s = today_s - ENERGY_DAY_S;
    if (back_to_s < (double)from_s) {
        from_s = back_to_s > (double)earliest_s
                     ? (int64_t)back_to_s - (int64_t)back_to_s % ENERGY_DAY_S
                     : earliest_s;
    }
    days->today_s = today_s;
    days->from_s = from_s > 0 ? from_s : 0;
    energy_days_key(days->from_s, "", from);
    store_scan(days->store, ENERGY_TABLE, from, DAYS_END, false, 0, NULL, NULL, each_day, days);
}

static void each_row(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct energy_days *days = arg;
    if (result != 0) {
        log_error(days->env->log, "energy.damaged", err_code_text(result));
    }
    for (size_t i = 0; i < count; i++) {
        struct ad *ad;
        if (ad_decode(rows[i].value, rows[i].length, NULL, &ad, NULL) == 0) {
            days->events->row(days->arg, rows[i].key, ad);
            ad_destroy(ad);
        }
    }
    load_days(days, days->events->back_to(days->arg));
}

int energy_days_open(const struct daemon_env *env, const struct energy_days_events *events,
                     void *arg, struct energy_days **ret, struct err *err)
{
    static const char *const TABLES[] = {ENERGY_TABLE, NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct energy_days *days = mem_zalloc(sizeof *days);
    struct strbuf path;
    days->env = env;
    days->events = events;
    days->arg = arg;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/rooster_energy.db", config_path(env->config, "SPOOL"));
    int rc =
        store_open(env->loop, env->os, strbuf_text(&path), &SCHEMA, env->log, &days->store, err);
    strbuf_fini(&path);
    if (rc != 0) {
        mem_free(days);
        return rc;
    }
    days->sums = strmap_create(STRMAP_CASE_SENSITIVE);
    store_scan(days->store, ENERGY_TABLE, DAYS_END, NULL, false, 0, NULL, NULL, each_row, days);
    *ret = days;
    return 0;
}

bool energy_days_are_loaded(const struct energy_days *days)
{
    return days->loaded;
}

struct store *energy_days_store(struct energy_days *days)
{
    return days->store;
}

void energy_days_close(struct energy_days *days)
{
    if (days != NULL) {
        store_close(days->store);
        strmap_destroy(days->sums, mem_free);
        mem_free(days);
    }
}

/* ---- counting */

void energy_days_add(struct energy_days *days, char kind, const char *name,
                     const struct energy_sum *sum, double from_s, double to_s)
{
    struct energy_part parts[ENERGY_PARTS_MAX];
    char key[ENERGY_KEY_SIZE];
    if (strlen(name) > ENERGY_NAME_MAX) {
        return;
    }
    size_t count = energy_plan_days(from_s, to_s, days->from_s, parts);
    for (size_t i = 0; i < count; i++) {
        key_of(parts[i].day_s, kind, name, key);
        struct day_sum *into = sum_of(days, key);
        energy_plan_join(&into->sum, sum, parts[i].share);
        into->changed = true;
    }
}

const struct energy_sum *energy_days_find(const struct energy_days *days, int64_t day_s, char kind,
                                          const char *name)
{
    char key[ENERGY_KEY_SIZE];
    key_of(day_s, kind, name, key);
    const struct day_sum *sum = strmap_get(days->sums, key);
    return sum != NULL ? &sum->sum : NULL;
}

void energy_days_write(struct energy_days *days, struct store_txn *txn)
{
    struct strbuf bytes;
    size_t at = 0;
    const char *key;
    void *value;
    strbuf_init(&bytes, 0);
    while (strmap_next(days->sums, &at, &key, &value)) {
        struct day_sum *sum = value;
        if (!sum->changed) {
            continue;
        }
        struct ad *ad = ad_create();
        energy_plan_write(&sum->sum, ad);
        strbuf_clear(&bytes);
        ad_encode(ad, false, &bytes);
        ad_destroy(ad);
        store_put(txn, ENERGY_TABLE, key, bytes.data, bytes.length);
        sum->changed = false;
    }
    strbuf_fini(&bytes);
}

/* ---- days end */

static enum store_verdict is_beyond(void *arg, const struct store_row *row)
{
    struct counting *counting = arg;
    if (strncmp(row->key, counting->day, DAY_DIGITS) != 0) {
        (void)snprintf(counting->day, sizeof counting->day, "%s", row->key);
        counting->left--;
    }
    return counting->left < 0 ? STORE_KEEP : STORE_LEAVE;
}

static void drop_old(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct energy_days *days = arg;
    days->is_dropping = false;
    struct store_txn *txn = store_begin(days->store);
    for (size_t i = 0; result == 0 && i < count; i++) {
        store_delete(txn, ENERGY_TABLE, rows[i].key);
    }
    store_commit(txn, NULL, NULL);
}

static void write_all(struct energy_days *days)
{
    struct store_txn *txn = store_begin(days->store);
    energy_days_write(days, txn);
    store_commit(txn, NULL, NULL);
}

/* Drops the days before from_s from memory. */
static void forget_before(struct energy_days *days, int64_t from_s)
{
    struct strmap *kept = strmap_create(STRMAP_CASE_SENSITIVE);
    char from[ENERGY_KEY_SIZE];
    size_t at = 0;
    const char *key;
    void *value;
    energy_days_key(from_s, "", from);
    while (strmap_next(days->sums, &at, &key, &value)) {
        if (strcmp(key, from) >= 0) {
            (void)strmap_set(kept, key, value); /* was absent */
        } else {
            mem_free(value);
        }
    }
    strmap_destroy(days->sums, NULL);
    days->sums = kept;
    days->from_s = from_s;
}

void energy_days_follow(struct energy_days *days, int64_t now_s, int64_t keep_days)
{
    int64_t today_s = now_s - now_s % ENERGY_DAY_S;
    if (!days->loaded || today_s == days->today_s) {
        return;
    }
    write_all(days);
    if (today_s < days->from_s) { /* the clock was put back to days that are not in memory */
        strmap_destroy(days->sums, mem_free);
        days->sums = strmap_create(STRMAP_CASE_SENSITIVE);
        days->loaded = false;
        load_days(days, (double)now_s);
        return;
    }
    if (today_s > days->today_s) {
        /* By the number of days, not by their dates: a clock that is years ahead must not take all
         * that there is. */
        if (!days->is_dropping) { /* else: the next time */
            days->is_dropping = true;
            days->counting = (struct counting){.left = keep_days};
            store_scan(days->store, ENERGY_TABLE, NULL, DAYS_END, true, 0, is_beyond,
                       &days->counting, drop_old, days);
        }
        forget_before(days, today_s - ENERGY_DAY_S);
    }
    days->today_s = today_s;
}
