/* factory/journal.c - see journal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/journal.h"

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "factory/glidein.h"
#include "store/store.h"

struct journal {
    struct store *store;
    char *factory;
};

int journal_open(const struct daemon_env *env, const char *factory, struct journal **ret,
                 struct err *err)
{
    static const char *const TABLES[] = {"glideins", "pauses", NULL};
    static const struct store_schema SCHEMA = {.daemon = "factory", .tables = TABLES, .version = 1};
    const char *spool = config_path(env->config, "SPOOL");
    struct journal *journal = mem_zalloc(sizeof(*journal));
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/factory.db", spool);
    int rc = os_mkdirs(env->os, spool, 0755, err);
    rc = rc != 0 ? rc
                 : store_open(env->loop, env->os, strbuf_text(&path), &SCHEMA, env->log,
                              &journal->store, err);
    strbuf_fini(&path);
    if (rc != 0) {
        mem_free(journal);
        return rc;
    }
    journal->factory = mem_strdup(factory);
    *ret = journal;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (journal != NULL) {
        store_close(journal->store);
        mem_free(journal->factory);
        mem_free(journal);
    }
}

const struct store *journal_store(const struct journal *journal)
{
    return journal->store;
}

struct loading {
    struct store *store;
    const char *table;
    /* one of the two */
    void (*each)(void *arg, const struct ad *row);
    void (*each_pause)(void *arg, const char *site, const struct ad *row);
    void *arg;
};

static int load_row(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *row;
    struct err err;
    if (ad_decode(value, length, NULL, &row, &err) != 0) {
        store_note_damage(loading->store, loading->table, key, err.text);
        return 0;
    }
    if (loading->each != NULL) {
        loading->each(loading->arg, row);
    } else {
        loading->each_pause(loading->arg, key, row);
    }
    ad_destroy(row);
    return 0;
}

int journal_load(struct journal *journal, void (*each)(void *arg, const struct ad *row), void *arg,
                 struct err *err)
{
    struct loading loading = {.store = journal->store,
                              .table = "glideins",
                              .each = each,
                              .arg = arg};
    return store_load(journal->store, "glideins", load_row, &loading, err);
}

int journal_load_pauses(struct journal *journal,
                        void (*each)(void *arg, const char *site, const struct ad *row), void *arg,
                        struct err *err)
{
    struct loading loading = {.store = journal->store,
                              .table = "pauses",
                              .each_pause = each,
                              .arg = arg};
    return store_load(journal->store, "pauses", load_row, &loading, err);
}

static void put_row(struct store_txn *txn, const char *table, const char *key, const struct ad *row)
{
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(row, false, &bytes);
    store_put(txn, table, key, bytes.data, bytes.length);
    strbuf_fini(&bytes);
}

void journal_put(struct journal *journal, struct glidein *const *glideins, size_t count,
                 void (*done)(void *arg), void *arg)
{
    struct store_txn *txn = store_begin(journal->store);
    for (size_t i = 0; i < count; i++) {
        struct ad *ad = glidein_to_ad(glideins[i], journal->factory);
        ad_set_string(ad, GLIDEIN_KEY, glideins[i]->key);
        put_row(txn, "glideins", glideins[i]->name, ad);
        ad_destroy(ad);
    }
    store_commit(txn, done, arg);
}

void journal_delete(struct journal *journal, const struct glidein *glidein)
{
    struct store_txn *txn = store_begin(journal->store);
    store_delete(txn, "glideins", glidein->name);
    store_commit(txn, NULL, NULL);
}

void journal_put_pause(struct journal *journal, const char *site, const struct ad *row,
                       void (*done)(void *arg), void *arg)
{
    struct store_txn *txn = store_begin(journal->store);
    if (row != NULL) {
        put_row(txn, "pauses", site, row);
    } else {
        store_delete(txn, "pauses", site);
    }
    store_commit(txn, done, arg);
}
