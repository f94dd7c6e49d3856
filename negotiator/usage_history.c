/* negotiator/usage_history.c - keeps use by hour and by day for a while: see accountant.h.
 *
 * There is one row for each account and period in which it used anything.  The key begins with the
 * kind of period and its number, so that old rows are a range.  A row has the sum of its period so
 * far and is written together with the account's own row, so neither is ever ahead of the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "negotiator/accountant_parts.h"
#include "store/store.h"

#define PRUNE_ROWS 5000
#define HOUR_S     3600
#define DAY_S      86400
/* most bytes of a row's key, with the terminating zero */
#define KEY_MAX      (ACCOUNTANT_NAME_MAX + 32)
#define PERIODS_ONCE 1000 /* the last periods over which one charge is spread */

static const int64_t LENGTH_S[PERIODS] = {HOUR_S, DAY_S};
static const char LETTER[PERIODS] = {'h', 'd'};

static void make_key(size_t kind, int64_t number, const char *name, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%c%010" PRId64 " %s", LETTER[kind], number, name);
}

static void put_period(struct store_txn *txn, const struct account *account, size_t kind)
{
    const struct usage_period *period = &account->periods[kind];
    char key[KEY_MAX];
    struct ad *ad = ad_create();
    struct strbuf bytes;
    ad_set_string(ad, "Name", account->name);
    ad_set_int(ad, "BeginTime", period->number * LENGTH_S[kind]);
    ad_set_int(ad, "EndTime", (period->number + 1) * LENGTH_S[kind]);
    ad_set_real(ad, "WeightedUsage", period->weighted_s);
    ad_set_real(ad, "Usage", period->slots_s);
    strbuf_init(&bytes, 0);
    ad_encode(ad, true, &bytes);
    make_key(kind, period->number, account->name, key, sizeof key);
    store_put(txn, "usage", key, bytes.data, bytes.length);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

static void add_use(struct store_txn *txn, struct account *account, size_t kind, int64_t from_ms,
                    int64_t to_ms, double weighted_s, double slots_s)
{
    int64_t length_ms = LENGTH_S[kind] * 1000;
    int64_t first = from_ms / length_ms, last = (to_ms - 1) / length_ms;
    struct usage_period *period = &account->periods[kind];
    first = last - first >= PERIODS_ONCE ? last - PERIODS_ONCE + 1 : first;
    for (int64_t number = first; number <= last; number++) {
        int64_t begin_ms = number * length_ms, end_ms = begin_ms + length_ms;
        begin_ms = begin_ms > from_ms ? begin_ms : from_ms;
        end_ms = end_ms < to_ms ? end_ms : to_ms;
        double part = (double)(end_ms - begin_ms) / (double)(to_ms - from_ms);
        if (period->number != number) {
            *period = (struct usage_period){.number = number};
        }
        period->weighted_s += weighted_s * part;
        period->slots_s += slots_s * part;
        put_period(txn, account, kind);
    }
}

void usage_add(struct accountant *accountant, struct store_txn *txn, struct account *account,
               int64_t from_ms, int64_t to_ms, double weighted_s, double slots_s)
{
    for (size_t kind = 0; kind < PERIODS; kind++) {
        if ((kind == PERIOD_HOUR ? accountant->policy.hours : accountant->policy.days) > 0) {
            add_use(txn, account, kind, from_ms, to_ms, weighted_s, slots_s);
        }
    }
}

/* ---- forgetting */

static void prune_kind(struct accountant *accountant, size_t kind, int64_t now_s);

struct usage_query {
    LIST_ENTRY(usage_query) link;
    struct accountant *accountant;
    size_t kind;
    int64_t now_s; /* time of a pruning, seconds since 1970 */
    char *name;    /* NULL: all */
    accountant_history_f done;
    void *arg;
};

static struct usage_query *query_create(struct accountant *accountant, size_t kind)
{
    struct usage_query *query = mem_zalloc(sizeof *query);
    query->accountant = accountant;
    query->kind = kind;
    LIST_INSERT_HEAD(&accountant->queries, query, link);
    return query;
}

static void query_destroy(struct usage_query *query)
{
    LIST_REMOVE(query, link);
    mem_free(query->name);
    mem_free(query);
}

static void old_found(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct usage_query *query = arg;
    struct accountant *accountant = query->accountant;
    size_t kind = query->kind;
    int64_t now_s = query->now_s;
    query_destroy(query);
    if (result == 0 && count > 0) {
        struct store_txn *txn = store_begin(accountant->store);
        for (size_t i = 0; i < count; i++) {
            store_delete(txn, "usage", rows[i].key);
        }
        store_commit(txn, NULL, NULL);
    }
    if (result == 0 && count == PRUNE_ROWS) {
        prune_kind(accountant, kind, now_s);
    } else if (kind + 1 < PERIODS) {
        prune_kind(accountant, kind + 1, now_s);
    } else {
        accountant->pruning = false;
    }
}

static void prune_kind(struct accountant *accountant, size_t kind, int64_t now_s)
{
    int64_t keep = kind == PERIOD_HOUR ? accountant->policy.hours : accountant->policy.days;
    int64_t oldest = now_s / LENGTH_S[kind] - keep + 1;
    char from[KEY_MAX], to[KEY_MAX];
    struct usage_query *query = query_create(accountant, kind);
    query->now_s = now_s;
    make_key(kind, 0, "", from, sizeof from);
    make_key(kind, oldest > 0 ? oldest : 0, "", to, sizeof to);
    store_scan(accountant->store, "usage", from, to, false, PRUNE_ROWS, NULL, NULL, old_found,
               query);
}

void usage_prune(struct accountant *accountant, int64_t now_s)
{
    int64_t hour = now_s / HOUR_S;
    if (!accountant->pruning && hour != accountant->pruned_hour) {
        accountant->pruning = true;
        accountant->pruned_hour = hour;
        prune_kind(accountant, PERIOD_HOUR, now_s);
    }
}

void usage_fini(struct accountant *accountant)
{
    struct usage_query *query;
    while ((query = LIST_FIRST(&accountant->queries)) != NULL) {
        query_destroy(query); /* the store is closed: nothing calls back */
    }
}

/* ---- asking */

static void rows_found(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct usage_query *query = arg;
    struct ad **ads = mem_alloc((count + 1) * sizeof(struct ad *));
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        if (ad_decode(rows[i].value, rows[i].length, NULL, &ads[good], NULL) == 0) {
            good++;
        }
    }
    query->done(query->arg, result, (const struct ad *const *)ads, good);
    for (size_t i = 0; i < good; i++) {
        ad_destroy(ads[i]);
    }
    mem_free(ads);
    query_destroy(query);
}

/* Filters rows by name; runs on the worker thread and touches nothing else. */
static enum store_verdict is_of(void *filter_arg, const struct store_row *row)
{
    const char *name = strchr(row->key, ' ');
    return name != NULL && strcmp(name + 1, filter_arg) == 0 ? STORE_KEEP : STORE_LEAVE;
}

static int64_t number_of(int64_t when_s, size_t kind)
{
    int64_t number = when_s / LENGTH_S[kind];
    return number < 0 ? 0 : number > 9999999998 ? 9999999998 : number;
}

void accountant_history(struct accountant *accountant, const char *name, bool by_hour,
                        int64_t from_s, int64_t to_s, size_t limit, accountant_history_f done,
                        void *arg)
{
    size_t kind = by_hour ? PERIOD_HOUR : PERIOD_DAY;
    char from[KEY_MAX], to[KEY_MAX];
    struct usage_query *query = query_create(accountant, kind);
    query->name = name != NULL ? mem_strdup(name) : NULL;
    query->done = done;
    query->arg = arg;
    make_key(kind, number_of(from_s, kind), "", from, sizeof from);
    make_key(kind, number_of(to_s - 1, kind) + 1, "", to, sizeof to);
    store_scan(accountant->store, "usage", from, to, false, limit, name != NULL ? is_of : NULL,
               query->name, rows_found, query);
}
