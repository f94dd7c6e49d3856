/* pilot/no_store.c - another implementation of store/store.h, which stores nothing.
 *
 * A pilot's claims do not survive its startd, because nobody would start the startd again, and
 * whoever ends the pilot wants nothing left over.  So there is no disk to wait for (scratch
 * directories of clusters are often on network file systems, which the real store refuses), and no
 * SQLite in the file.  Callbacks are as the header promises: from the loop, never inside the call,
 * in order.  Only functions that the startd calls are here; the linker reports others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store.h"

#include "base/loop.h"
#include "base/mem.h"

struct store_txn {
    struct store *store;
    struct store_txn *next;
    void (*done)(void *arg);
    void *arg;
};

struct store {
    struct store_txn *first, **end;
    struct loop_timer *timer;
};

static void commit_all(void *arg)
{
    struct store *store = arg;
    struct store_txn *txn = store->first;
    store->first = NULL;
    store->end = &store->first;
    while (txn != NULL) {
        struct store_txn *next = txn->next;
        if (txn->done != NULL) {
            txn->done(txn->arg);
        }
        mem_free(txn);
        txn = next;
    }
}

int store_open(struct loop *loop, struct os *os, const char *path,
               const struct store_schema *schema, struct log *log, struct store **ret,
               struct err *err)
{
    (void)os;
    (void)path;
    (void)schema;
    (void)log;
    (void)err;
    struct store *store = mem_zalloc(sizeof *store);
    store->end = &store->first;
    store->timer = loop_timer_create(loop, commit_all, store);
    *ret = store;
    return 0;
}

void store_close(struct store *store)
{
    if (store == NULL) {
        return;
    }
    loop_timer_destroy(store->timer);
    for (struct store_txn *txn = store->first, *next; txn != NULL; txn = next) {
        next = txn->next;
        mem_free(txn);
    }
    mem_free(store);
}

int store_load(struct store *store, const char *table,
               int (*each)(void *arg, const char *key, const void *value, size_t length), void *arg,
               struct err *err)
{
    (void)store;
    (void)table;
    (void)each;
    (void)arg;
    (void)err;
    return 0;
}

struct store_txn *store_begin(struct store *store)
{
    struct store_txn *txn = mem_zalloc(sizeof *txn);
    txn->store = store;
    return txn;
}

int store_convert_put(struct store_conversion *conversion, const char *table, const char *key,
                      const void *value, size_t length, struct err *err)
{
    (void)conversion;
    (void)table;
    (void)key;
    (void)value;
    (void)length;
    (void)err;
    return 0; /* there is no older store */
}

void store_put(struct store_txn *txn, const char *table, const char *key, const void *value,
               size_t length)
{
    (void)txn;
    (void)table;
    (void)key;
    (void)value;
    (void)length;
}

void store_delete(struct store_txn *txn, const char *table, const char *key)
{
    (void)txn;
    (void)table;
    (void)key;
}

void store_commit(struct store_txn *txn, void (*done)(void *arg), void *arg)
{
    struct store *store = txn->store;
    txn->done = done;
    txn->arg = arg;
    *store->end = txn;
    store->end = &txn->next;
    loop_timer_set(store->timer, 0);
}

/* A disk that is never written is never full. */
void store_keep_reserve(struct store *store, int64_t bytes)
{
    (void)store;
    (void)bytes;
}

int store_full(const struct store *store)
{
    (void)store;
    return 0;
}

size_t store_damaged_rows(const struct store *store)
{
    (void)store;
    return 0;
}

const char *store_problem(const struct store *store)
{
    (void)store;
    return "";
}

void store_on_problem(struct store *store, void (*changed)(void *arg), void *arg)
{
    (void)store;
    (void)changed;
    (void)arg;
}
