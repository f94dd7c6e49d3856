/* store/store_db.h - one SQLite file, synchronously: what the store's lane does.
 *
 * The only user of SQLite.  Nothing here knows of loops or callbacks; a handle is used by one
 * thread at a time (first the loop thread, then the lane).
 *
 * Design note.  WAL with locking_mode=EXCLUSIVE: no shared memory file, nobody else can open the
 * store while we live, and a reader never waits.  synchronous=FULL: a commit is one append and one
 * fsync of the WAL.  Checkpoints are not left to the commit that happens to cross a limit: the
 * store runs them on the lane after the commit has been answered.  A table is (id, key, value) with
 * an index on key rather than WITHOUT ROWID: values are ads of some KiB, and SQLite keeps at most a
 * quarter of a page of such a row in the tree itself, which would leave a fan-out of four.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_DB_H
#define STORE_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct store_db;
struct store_schema;

#define STORE_APPLICATION_ID    0x526f6f73 /* "Roos": tells our files from other SQLite files */
#define STORE_CACHE_KIB         2000       /* of pages, SQLite's own default */
#define STORE_CACHE_LOADING_KIB (128 << 10)
#define STORE_CHECKPOINT_PAGES  1000               /* of the WAL: beyond it, it is copied back */
#define STORE_WAL_KEPT_BYTES    ((size_t)64 << 20) /* a WAL that grew larger is cut to this */

/* The errors of store_open() but for the network file system.  An empty file is a new store. */
int store_db_open(const char *path, const char *vfs, const struct store_schema *schema,
                  struct store_db **ret, struct err *err);
void store_db_close(struct store_db *db); /* NULL is allowed */

/* Index of the table, or -ENOENT. */
/* How much of the file may be kept in memory; what is above is freed at once. */
void store_db_set_cache(struct store_db *db, int kib);

int store_db_table(const struct store_db *db, const char *name);

/* Changes between begin and commit are durable together when commit returned 0.  A failure of any
 * of them leaves the transaction to be rolled back by store_db_close(). */
int store_db_begin(struct store_db *db, struct err *err);
int store_db_put(struct store_db *db, int table, const char *key, const void *value, size_t length,
                 struct err *err);
int store_db_delete(struct store_db *db, int table, const char *key, struct err *err);
int store_db_commit(struct store_db *db, struct err *err);

/* Pages in the WAL after the last commit. */
int store_db_wal_pages(const struct store_db *db);
/* -ENOSPC leaves the store usable; every other failure may have lost what the kernel had cached,
 * and only opening the file anew tells what is there. */
int store_db_checkpoint(struct store_db *db, struct err *err);

/* Walks at most visit_max rows of from <= key < to (to NULL: open end), in key order or against it.
 * each returns 0, or a value other than 0 that ends the walk and is returned; key and value live
 * until it returns. */
typedef int (*store_db_each_f)(void *arg, const char *key, const void *value, size_t length);
int store_db_walk(struct store_db *db, int table, const char *from, const char *to, bool reverse,
                  size_t visit_max, store_db_each_f each, void *arg, struct err *err);

/* The same range after (or, in reverse, before) a key that was seen. */
int store_db_walk_beyond(struct store_db *db, int table, const char *from, const char *to,
                         bool reverse, const char *seen, size_t visit_max, store_db_each_f each,
                         void *arg, struct err *err);

#endif
