/* collector/collector_offline.h - what the collector keeps on disk: offline ads, revoked tokens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_OFFLINE_H
#define COLLECTOR_COLLECTOR_OFFLINE_H

#include <stddef.h>

struct ad;
struct ad_pool;
struct err;
struct log;
struct loop;
struct os;
struct prototypes;
struct store;
struct store_txn;

#define COLLECTOR_OFFLINE_BYTES_MAX ((size_t)1 << 20) /* of one offline ad in binary form */

/* Opens the store of the collector; errors of store_open(). */
int collector_store_open(struct loop *loop, struct os *os, const char *path, struct log *log,
                         struct store **ret, struct err *err);

typedef void (*collector_loaded_f)(void *arg, const char *key, struct ad *ad); /* takes ad */
/* All offline ads, all revocations.  An entry that cannot be decoded is logged and left out. */
int collector_offline_load(struct store *store, struct prototypes *prototypes, struct ad_pool *pool,
                           struct log *log, collector_loaded_f each, void *arg, struct err *err);
int collector_revoked_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                           struct err *err);

/* After loading: removes from the store what no ad is packed relative to. */
void collector_offline_tidy(struct store *store, struct prototypes *prototypes);

/* -E2BIG: larger than COLLECTOR_OFFLINE_BYTES_MAX; nothing is added to txn then.  The txn must be
 * committed once something was put into it: a prototype may be in it. */
int collector_offline_put(struct store_txn *txn, struct prototypes *prototypes, const char *name,
                          const struct ad *ad, struct err *err);
void collector_offline_delete(struct store_txn *txn, const char *name);

int collector_revoked_put(struct store_txn *txn, const char *token_id, const struct ad *ad,
                          struct err *err);
void collector_revoked_delete(struct store_txn *txn, const char *token_id);

#endif
