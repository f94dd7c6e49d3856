/* collector/collector_offline.h - the collector's store: offline ads and revoked tokens.
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

/* most bytes of one offline ad in binary form */
#define COLLECTOR_OFFLINE_BYTES_MAX ((size_t)1 << 20)

/* Opens the store of the collector, the database at path.  Returns 0 and sets *ret; or an error of
 * store_open(). */
int collector_store_open(struct loop *loop, struct os *os, const char *path, struct log *log,
                         struct store **ret, struct err *err);

/* Called for each ad that is loaded from the store; must take over ad.  key: the name of an offline
 * ad, or the id of a revoked token. */
typedef void (*collector_loaded_f)(void *arg, const char *key, struct ad *ad);
/* These two read the store: collector_offline_load() calls `each` for all offline and absent ads,
 * collector_revoked_load() for all revocations of tokens.  They log and leave out an entry that
 * cannot be decoded, and return 0 or an error of store_load().  prototypes: gets the prototypes
 * of the store; pool: the pool of ads (ad_pool.h) in which the ads are made. */
int collector_offline_load(struct store *store, struct prototypes *prototypes, struct ad_pool *pool,
                           struct log *log, collector_loaded_f each, void *arg, struct err *err);
int collector_revoked_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                           struct err *err);
/* Does the same for all locks of machines (collector_lock.h). */
int collector_lock_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                        struct err *err);
/* Does the same for all copies of live ads (collector_awake.h). */
int collector_awake_load(struct store *store, struct log *log, collector_loaded_f each, void *arg,
                         struct err *err);

/* Removes from the store the prototypes that no stored ad uses.  To be called after
 * collector_offline_load(). */
void collector_offline_tidy(struct store *store, struct prototypes *prototypes);

/* Adds an offline or absent ad to what txn will store.  Returns 0; or -E2BIG: the ad is larger than
 * COLLECTOR_OFFLINE_BYTES_MAX, and txn is unchanged.  A txn to which an ad was added must be
 * committed, because it may contain a new prototype, on which later ads rely. */
int collector_offline_put(struct store_txn *txn, struct prototypes *prototypes, const char *name,
                          const struct ad *ad, struct err *err);
void collector_offline_delete(struct store_txn *txn, const char *name);

int collector_revoked_put(struct store_txn *txn, const char *token_id, const struct ad *ad,
                          struct err *err);
void collector_revoked_delete(struct store_txn *txn, const char *token_id);

int collector_lock_put(struct store_txn *txn, const char *machine, const struct ad *ad,
                       struct err *err);
void collector_lock_delete(struct store_txn *txn, const char *machine);

int collector_awake_put(struct store_txn *txn, const char *name, const struct ad *ad,
                        struct err *err);
void collector_awake_delete(struct store_txn *txn, const char *name);

#endif
