/* rooster/ledger.c - the wake ledger: see ledger.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "store/store.h"
#include "wire/wire.h"

#define LEDGER_QUERY_MAX 10000 /* records in one answer */

struct ledger {
    struct loop *loop;
    struct store *store;
    struct vec queries; /* struct query, under way */
};

int ledger_open(const struct daemon_env *env, struct ledger **ret, struct err *err)
{
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    const char *spool = config_path(env->config, "SPOOL");
    struct ledger *ledger = mem_zalloc(sizeof *ledger);
    struct strbuf path;
    ledger->loop = env->loop;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/rooster.db", spool);
    int rc = os_mkdirs(env->os, spool, 0755, err);
    rc = rc != 0 ? rc
                 : store_open(env->loop, env->os, strbuf_text(&path), &SCHEMA, env->log,
                              &ledger->store, err);
    strbuf_fini(&path);
    if (rc != 0) {
        mem_free(ledger);
        return rc;
    }
    *ret = ledger;
    return 0;
}

void ledger_new_id(struct ledger *ledger, char ret[LEDGER_ID_SIZE])
{
    (void)snprintf(ret, LEDGER_ID_SIZE, "%014lld-%08x", (long long)loop_wall_ms(ledger->loop),
                   (unsigned)(rng_next(loop_rng(ledger->loop)) & 0xffffffffU));
}

static void set_text(struct ad *ad, const char *name, const char *text)
{
    if (text != NULL) {
        ad_set_string(ad, name, text);
    }
}

static void set_number(struct ad *ad, const char *name, const int64_t *number)
{
    if (number != NULL) {
        ad_set_int(ad, name, *number);
    }
}

static struct ad *record_to_ad(const struct ledger_record *record, int64_t now_s)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Wake");
    ad_set_string(ad, "Name", record->id);
    ad_set_string(ad, "WakeId", record->id);
    ad_set_string(ad, "Kind", record->kind);
    ad_set_string(ad, "Machine", record->machine);
    ad_set_string(ad, "AskedBy", record->asked_by);
    set_text(ad, "Method", record->method);
    ad_set_int(ad, "StartTime", record->began_s);
    set_number(ad, "Attempts", record->attempts);
    set_number(ad, "JobsWaiting", record->jobs);
    ad_set_string(ad, "Outcome", record->outcome);
    ad_set_string(ad, "Reason", record->reason);
    if (strcmp(record->outcome, "Started") != 0) {
        ad_set_int(ad, "EndTime", now_s);
    }
    set_text(ad, "Fault", record->fault);
    if (record->is_test) {
        ad_set_bool(ad, "Test", true);
    }
    set_number(ad, "Quarantines", record->quarantines);
    if (record->boot_ms != NULL) {
        ad_set_real(ad, "Seconds", (double)*record->boot_ms / 1000.0);
    }
    set_text(ad, "BootId", record->boot_id);
    set_number(ad, "BootTime", record->boot_s);
    set_text(ad, "Differed", record->differed);
    return ad;
}

void ledger_put(struct ledger *ledger, const struct ledger_record *record, void (*done)(void *arg),
                void *arg)
{
    struct ad *ad = record_to_ad(record, loop_wall_s(ledger->loop));
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, false, &bytes);
    struct store_txn *txn = store_begin(ledger->store);
    store_put(txn, "wakes", record->id, bytes.data, bytes.length);
    store_commit(txn, done, arg);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

struct loading {
    void (*each)(void *arg, const struct ad *record);
    void *arg;
};

static int load_record(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *record;
    (void)key; /* is in the record */
    if (ad_decode(value, length, NULL, &record, NULL) != 0) {
        return 0; /* one bad record is left out */
    }
    loading->each(loading->arg, record);
    ad_destroy(record);
    return 0;
}

int ledger_load(struct ledger *ledger, void (*each)(void *arg, const struct ad *record), void *arg,
                struct err *err)
{
    struct loading loading = {.each = each, .arg = arg};
    return store_load(ledger->store, "wakes", load_record, &loading, err);
}

/* ---- asking */

struct query {
    struct ledger *ledger;
    struct wire_request *request; /* NULL: the asker is gone */
    struct ad_expr *constraint;   /* used on the worker thread only, while the scan lasts */
    struct ad_context context;
    int64_t limit;
};

static enum store_verdict is_wanted(void *arg, const struct store_row *row)
{
    const struct query *query = arg;
    struct ad *record;
    if (query->constraint == NULL) {
        return STORE_KEEP;
    }
    if (ad_decode(row->value, row->length, NULL, &record, NULL) != 0) {
        return STORE_LEAVE;
    }
    bool wanted = ad_eval_bool(query->constraint, record, NULL, &query->context) == AD_TRUE;
    ad_destroy(record);
    return wanted ? STORE_KEEP : STORE_LEAVE;
}

static void query_destroy(void *arg)
{
    struct query *query = arg;
    ad_expr_destroy(query->constraint);
    mem_free(query);
}

static void query_gone(void *arg)
{
    struct query *query = arg;
    query->request = NULL;
}

static void records_read(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct query *query = arg;
    if (query->request != NULL && result != 0) {
        wire_reply_error(query->request, result, "cannot read the ledger: %s",
                         err_code_text(result));
    } else if (query->request != NULL) {
        struct ad **ads = mem_alloc((count + 1) * sizeof *ads);
        size_t used = 0;
        for (size_t i = 0; i < count; i++) {
            used += ad_decode(rows[i].value, rows[i].length, NULL, &ads[used], NULL) == 0 ? 1 : 0;
        }
        size_t at = 0;
        for (; used - at > WIRE_ADS_MAX; at += WIRE_ADS_MAX) {
            const struct wire_body part = {.ads = (const struct ad *const *)ads + at,
                                           .ad_count = WIRE_ADS_MAX};
            (void)wire_reply_part(query->request, &part); /* bounded by LEDGER_QUERY_MAX */
        }
        const struct wire_body body = {.ads = (const struct ad *const *)ads + at,
                                       .ad_count = used - at};
        wire_reply_ok(query->request, &body);
        for (size_t i = 0; i < used; i++) {
            ad_destroy(ads[i]);
        }
        mem_free(ads);
    }
    for (size_t i = 0; i < query->ledger->queries.count; i++) {
        if (query->ledger->queries.items[i] == query) {
            vec_remove_at(&query->ledger->queries, i);
            break;
        }
    }
    query_destroy(query);
}

void ledger_query(struct ledger *ledger, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *constraint = ad_string_or(args, "Constraint", "");
    struct query *query = mem_zalloc(sizeof *query);
    struct err err;
    query->ledger = ledger;
    query->request = request;
    query->context.now_s = loop_wall_s(ledger->loop);
    query->limit = ad_int_or(args, "Limit", LEDGER_QUERY_MAX);
    if (query->limit < 1 || query->limit > LEDGER_QUERY_MAX) {
        query->limit = LEDGER_QUERY_MAX;
    }
    if (constraint[0] != '\0' &&
        ad_expr_parse(constraint, strlen(constraint), AD_OLD, &query->constraint, &err) != 0) {
        wire_reply_error(request, -EINVAL, "constraint: %s", err.text);
        mem_free(query);
        return;
    }
    wire_request_on_gone(request, query_gone, query);
    vec_push(&ledger->queries, query);
    store_scan(ledger->store, "wakes", NULL, NULL, true, (size_t)query->limit, is_wanted, query,
               records_read, query);
}

struct store *ledger_store(struct ledger *ledger)
{
    return ledger->store;
}

void ledger_close(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    store_close(ledger->store);
    for (size_t i = 0; i < ledger->queries.count;
         i++) { /* their scans were dropped with the store */
        struct query *query = ledger->queries.items[i];
        if (query->request != NULL) {
            wire_reply_error(query->request, -ESHUTDOWN, "the rooster is stopping");
        }
    }
    vec_fini(&ledger->queries, query_destroy);
    mem_free(ledger);
}
