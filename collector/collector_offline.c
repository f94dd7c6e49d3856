/* collector/collector_offline.c - see collector_offline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_offline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "collector/collector_prototype.h"
#include "store/store.h"

#define OFFLINE_TABLE "offline_ads" /* Name -> ad */
#define REVOKED_TABLE "revoked"     /* token id -> ad */
#define LOCK_TABLE    "locks"       /* machine, in lower case -> ad */
#define AWAKE_TABLE   "awake"       /* Name -> ad; see collector_awake.h */

#define PROTOTYPE_TABLE "prototypes" /* number, in hex -> ad; see collector_prototype.h */

static const char *const TABLES[] = {OFFLINE_TABLE, REVOKED_TABLE, PROTOTYPE_TABLE,
                                     LOCK_TABLE,    AWAKE_TABLE,   NULL};
static const struct store_migration MIGRATIONS[] = {
    {.sql =
         NULL}, /* ads in offline_ads may be packed; the table of prototypes is made by the store */
    {.sql = NULL}, /* the table of locks, which an older collector would not heed */
    {.sql = NULL}, /* the table of copies of live ads, which an older one would not keep true */
};
static const struct store_schema SCHEMA = {.daemon = "collector",
                                           .tables = TABLES,
                                           .migrations = MIGRATIONS,
                                           .version = 4};

int collector_store_open(struct loop *loop, struct os *os, const char *path, struct log *log,
                         struct store **ret, struct err *err)
{
    return store_open(loop, os, path, &SCHEMA, log, ret, err);
}

struct loading {
    struct prototypes *prototypes; /* NULL: nothing is packed in that table */
    struct ad_pool *pool;
    struct log *log;
    const char *table;
    struct strbuf unpacked;
    collector_loaded_f each;
    void *arg;
};

static int load_decode(struct loading *loading, const void *value, size_t length, struct ad **ret,
                       struct err *err)
{
    if (loading->prototypes && length > 0 && *(const unsigned char *)value == COLLECTOR_PACKED) {
        strbuf_clear(&loading->unpacked);
        int code = prototypes_unpack(loading->prototypes, value, length, &loading->unpacked, err);
        if (code) {
            return code;
        }
        value = loading->unpacked.data;
        length = loading->unpacked.length;
    }
    return ad_decode_in(loading->pool, NULL, value, length, NULL, ret, err);
}

static int load_one(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *ad = NULL;
    struct err err;
    if (load_decode(loading, value, length, &ad, &err) != 0) {
        log_error(loading->log, "store.bad_ad",
                  "cannot read an ad in the store; the ad is left out",
                  LOG_TEXT("table", loading->table), LOG_TEXT("key", key),
                  LOG_TEXT("why", err.text));
        return 0;
    }
    loading->each(loading->arg, key, ad);
    return 0;
}

static int load_table(struct store *store, struct loading *loading, struct err *err)
{
    strbuf_init(&loading->unpacked, COLLECTOR_OFFLINE_BYTES_MAX);
    int code = store_load(store, loading->table, load_one, loading, err);
    strbuf_fini(&loading->unpacked);
    return code;
}

static int load_prototype(void *arg, const char *key, const void *value, size_t length)
{
    prototypes_add(arg, (uint32_t)strtoul(key, NULL, 16), value, length);
    return 0;
}

static void prototype_key(uint32_t number, char ret[16])
{
    (void)snprintf(ret, 16, "%08x", number);
}

static void drop_prototype(void *arg, uint32_t number)
{
    char key[16];
    prototype_key(number, key);
    store_delete(arg, PROTOTYPE_TABLE, key);
}

int collector_offline_load(struct store *store, struct prototypes *prototypes, struct ad_pool *pool,
                           struct log *log, collector_loaded_f each, void *arg, struct err *err)
{
    struct loading loading = {.prototypes = prototypes,
                              .pool = pool,
                              .log = log,
                              .table = OFFLINE_TABLE,
                              .each = each,
                              .arg = arg};
    int code = store_load(store, PROTOTYPE_TABLE, load_prototype, prototypes, err);
    return code ? code : load_table(store, &loading, err);
}

void collector_offline_tidy(struct store *store, struct prototypes *prototypes)
{
    struct store_txn *txn = store_begin(store);
    prototypes_drop_unused(prototypes, drop_prototype, txn);
    store_commit(txn, NULL, NULL); /* if it never comes to that: at the next start */
}

int collector_revoked_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                           struct err *err)
{
    struct loading loading = {.log = log, .table = REVOKED_TABLE, .each = each, .arg = arg};
    return load_table(store, &loading, err);
}

int collector_lock_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                        struct err *err)
{
    struct loading loading = {.log = log, .table = LOCK_TABLE, .each = each, .arg = arg};
    return load_table(store, &loading, err);
}

int collector_awake_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                         struct err *err)
{
    struct loading loading = {.log = log, .table = AWAKE_TABLE, .each = each, .arg = arg};
    return load_table(store, &loading, err);
}

static int encode_ad(const char *key, const struct ad *ad, struct strbuf *ret, struct err *err)
{
    strbuf_init(ret, COLLECTOR_OFFLINE_BYTES_MAX);
    ad_encode(ad, true, ret);
    if (ret->failed) {
        strbuf_fini(ret);
        return err_set(err, -E2BIG, "the ad '%s' has more than %zu bytes", key,
                       COLLECTOR_OFFLINE_BYTES_MAX);
    }
    return 0;
}

int collector_offline_put(struct store_txn *txn, struct prototypes *prototypes, const char *name,
                          const struct ad *ad, struct err *err)
{
    if (PLANTED(offline_ad_lost_on_restart)) {
        return 0;
    }
    struct strbuf bytes, packed;
    int code = encode_ad(name, ad, &bytes, err);
    if (code) {
        return code;
    }
    bool is_new;
    uint32_t number;
    strbuf_init(&packed, 2 * COLLECTOR_OFFLINE_BYTES_MAX);
    if (prototypes_pack(prototypes, bytes.data, bytes.length, &packed, &is_new, &number)) {
        if (is_new) {
            char key[16];
            prototype_key(number, key);
            store_put(txn, PROTOTYPE_TABLE, key, bytes.data, bytes.length);
        }
        store_put(txn, OFFLINE_TABLE, name, packed.data, packed.length);
    } else {
        store_put(txn, OFFLINE_TABLE, name, bytes.data, bytes.length);
    }
    strbuf_fini(&packed);
    strbuf_fini(&bytes);
    return 0;
}

void collector_offline_delete(struct store_txn *txn, const char *name)
{
    store_delete(txn, OFFLINE_TABLE, name);
}

/* Adds a small ad to what txn will store in a table without prototypes. */
static int put_ad(struct store_txn *txn, const char *table, const char *key, const struct ad *ad,
                  struct err *err)
{
    struct strbuf bytes;
    int code = encode_ad(key, ad, &bytes, err);
    if (!code) {
        store_put(txn, table, key, bytes.data, bytes.length);
        strbuf_fini(&bytes);
    }
    return code;
}

int collector_revoked_put(struct store_txn *txn, const char *token_id, const struct ad *ad,
                          struct err *err)
{
    return put_ad(txn, REVOKED_TABLE, token_id, ad, err);
}

void collector_revoked_delete(struct store_txn *txn, const char *token_id)
{
    store_delete(txn, REVOKED_TABLE, token_id);
}

int collector_lock_put(struct store_txn *txn, const char *machine, const struct ad *ad,
                       struct err *err)
{
    return put_ad(txn, LOCK_TABLE, machine, ad, err);
}

void collector_lock_delete(struct store_txn *txn, const char *machine)
{
    store_delete(txn, LOCK_TABLE, machine);
}

int collector_awake_put(struct store_txn *txn, const char *name, const struct ad *ad,
                        struct err *err)
{
    return put_ad(txn, AWAKE_TABLE, name, ad, err);
}

void collector_awake_delete(struct store_txn *txn, const char *name)
{
    store_delete(txn, AWAKE_TABLE, name);
}
