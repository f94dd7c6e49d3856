/* collector/collector_offline.c - see collector_offline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_offline.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "store/store.h"

#define OFFLINE_TABLE "offline_ads" /* Name -> ad */
#define REVOKED_TABLE "revoked"     /* token id -> ad */

static const char *const TABLES[] = {OFFLINE_TABLE, REVOKED_TABLE, NULL};
static const struct store_schema SCHEMA = {.daemon = "collector", .tables = TABLES, .version = 1};

int collector_store_open(struct loop *loop, struct os *os, const char *path, struct log *log,
                         struct store **ret, struct err *err)
{
    return store_open(loop, os, path, &SCHEMA, log, ret, err);
}

struct loading {
    struct ad_pool *pool;
    struct log *log;
    const char *table;
    collector_loaded_f each;
    void *arg;
};

static int load_one(void *arg, const char *key, const void *value, size_t length)
{
    const struct loading *loading = arg;
    struct ad *ad = NULL;
    struct err err;
    if (ad_decode_in(loading->pool, NULL, value, length, NULL, &ad, &err) != 0) {
        log_error(loading->log, "store.bad_ad", "an ad of the store cannot be read and is left out",
                  LOG_TEXT("table", loading->table), LOG_TEXT("key", key),
                  LOG_TEXT("why", err.text));
        return 0;
    }
    loading->each(loading->arg, key, ad);
    return 0;
}

static int load(struct store *store, struct ad_pool *pool, struct log *log, const char *table,
                collector_loaded_f each, void *arg, struct err *err)
{
    struct loading loading = {pool, log, table, each, arg};
    return store_load(store, table, load_one, &loading, err);
}

int collector_offline_load(struct store *store, struct ad_pool *pool, struct log *log,
                           collector_loaded_f each, void *arg, struct err *err)
{
    return load(store, pool, log, OFFLINE_TABLE, each, arg, err);
}

int collector_revoked_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                           struct err *err)
{
    return load(store, NULL, log, REVOKED_TABLE, each, arg, err);
}

static int put(struct store_txn *txn, const char *table, const char *key, const struct ad *ad,
               struct err *err)
{
    struct strbuf bytes;
    strbuf_init(&bytes, COLLECTOR_OFFLINE_BYTES_MAX);
    ad_encode(ad, true, &bytes);
    int code = 0;
    if (bytes.failed) {
        code = err_set(err, -E2BIG, "the ad '%s' has more than %zu bytes", key,
                       COLLECTOR_OFFLINE_BYTES_MAX);
    } else {
        store_put(txn, table, key, bytes.data, bytes.length);
    }
    strbuf_fini(&bytes);
    return code;
}

int collector_offline_put(struct store_txn *txn, const char *name, const struct ad *ad,
                          struct err *err)
{
    if (PLANTED(offline_ad_lost_on_restart)) {
        return 0;
    }
    return put(txn, OFFLINE_TABLE, name, ad, err);
}

void collector_offline_delete(struct store_txn *txn, const char *name)
{
    store_delete(txn, OFFLINE_TABLE, name);
}

int collector_revoked_put(struct store_txn *txn, const char *token_id, const struct ad *ad,
                          struct err *err)
{
    return put(txn, REVOKED_TABLE, token_id, ad, err);
}

void collector_revoked_delete(struct store_txn *txn, const char *token_id)
{
    store_delete(txn, REVOKED_TABLE, token_id);
}
