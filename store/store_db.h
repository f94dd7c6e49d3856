/* store/store_db.h - one SQLite file with synchronous calls: the part of the store that runs on its
 * lane (worker thread).
 *
 * Only this file uses SQLite.  It knows nothing of loops and callbacks.  A handle is used by one
 * thread at a time: first the loop thread, then the lane.
 *
 * Design note.  WAL with locking_mode=EXCLUSIVE: there is no shared memory file, nobody else can
 * open the store while the daemon has it open, and a reader never waits.  synchronous=FULL: a
 * commit is one append to the WAL and one fsync.  A checkpoint (copying the WAL back into the file)
 * is not done within a commit: the store does it on the lane, after the commit was answered.  A
 * table is (id, key, value) with an index on key, and not WITHOUT ROWID: values are ads of some
 * KiB, and WITHOUT ROWID would put up to a quarter of a page of each row into the tree's inner
 * nodes, so that a node would have only four children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_DB_H
#define STORE_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store_db;
struct store_schema;

#define STORE_APPLICATION_ID  0x526f6f73  /* "Roos": tells a store from other SQLite files */
#define STORE_META_TABLE      "meta"      /* of all stores: what the file says of itself */
#define STORE_SET_ASIDE_TABLE "set_aside" /* damaged rows: home (their table), key, value, sum */
/* user_version of the file is a multiple of this, the format, plus the daemon's schema version */
#define STORE_FORMAT_STEP 1000
#define STORE_CACHE_KIB   2000 /* KiB of pages in memory; SQLite's default */
/* While a table is loaded.  Afterwards the pages are holes between what the daemon has made of the
 * rows, so they must be few. */
#define STORE_CACHE_LOADING_KIB (4 << 10)
/* copy the WAL back into the file when the WAL has so many pages */
#define STORE_CHECKPOINT_PAGES 1000
#define STORE_WAL_KEPT_BYTES   ((size_t)64 << 20) /* a longer WAL file is cut to this size */

/* Opens the file; an empty file becomes a new store.  vfs: name of the SQLite VFS to use.  Returns
 * 0 and sets *ret; or, with err, -EBUSY (another process has it open), -EPROTO (newer schema, or
 * another daemon's store), -EUCLEAN (not a store, or damaged).  A WAL stays when opening fails. */
int store_db_open(const char *path, const char *vfs, const struct store_schema *schema,
                  struct store_db **ret, struct err *err);
/* Closes the file.  SQLite then copies the WAL back into it, and removes the WAL.  NULL is
 * allowed. */
void store_db_close(struct store_db *db);
/* Makes store_db_close() leave the WAL as it is. */
void store_db_keep_wal(struct store_db *db);
/* Returns whether store_db_open() has made the store anew, from an empty file. */
bool store_db_is_new(const struct store_db *db);

/* What the file says of itself beside its rows. */
struct store_db_life {
    int64_t generation; /* grows at each opening and closing; 0: an older program wrote the file */
    int64_t id_floor;   /* ids below may have been given by a later state that is lost; 0: none */
};
/* Returns whether the key is one under which the file says something of itself. */
bool store_db_is_meta_key(const char *key);
int store_db_read_life(struct store_db *db, struct store_db_life *ret, struct err *err);
/* Is called within a transaction. */
int store_db_write_life(struct store_db *db, const struct store_db_life *life, struct err *err);

/* Sets how many KiB of the file may be kept in memory; memory above that is freed at once. */
void store_db_set_cache(struct store_db *db, int kib);

/* Returns the number of the table with this name, for store_db_put() and the other functions on
 * rows; or -ENOENT. */
int store_db_table(const struct store_db *db, const char *name);

/* Begins a transaction.  The changes that store_db_put() and store_db_delete() then make become
 * durable together when store_db_commit() returns 0.  After a failure of any of these four
 * functions, call store_db_close(), which rolls the transaction back.  They return 0, or a negative
 * errno with err. */
int store_db_begin(struct store_db *db, struct err *err);
int store_db_put(struct store_db *db, int table, const char *key, const void *value, size_t length,
                 struct err *err);
int store_db_delete(struct store_db *db, int table, const char *key, struct err *err);
int store_db_commit(struct store_db *db, struct err *err);

/* Rolls back a transaction that failed, if there is one: after -ENOSPC, -EDQUOT or -EROFS the same
 * changes may be tried again. */
void store_db_rollback(struct store_db *db);

/* Returns the number of pages in the WAL after the last commit. */
int store_db_wal_pages(const struct store_db *db);
/* Copies the WAL back into the file.  Returns 0, or a negative errno with err.  -ENOSPC (disk full)
 * leaves the store usable.  After any other failure, changes that the kernel had only cached may be
 * lost, and only opening the file again shows what is there. */
int store_db_checkpoint(struct store_db *db, struct err *err);

/* Callback of store_db_walk(): gets one row.  Returns 0 to go on; another value ends the walk. */
typedef int (*store_db_each_f)(void *arg, const char *key, const void *value, size_t length);
/* Calls `each` for at most visit_max rows with from <= key < to (to NULL: no limit), in ascending
 * order of keys or, with reverse, in descending order.  `each` returns 0; or another value, which
 * ends the walk.  key and value live until `each` returns.  Returns 0, the value with which
 * `each` ended the walk, or a negative errno with err when the table cannot be read. */
int store_db_walk(struct store_db *db, int table, const char *from, const char *to, bool reverse,
                  size_t visit_max, store_db_each_f each, void *arg, struct err *err);

/* Continues a walk of store_db_walk(), with the same arguments and results, after the key `seen`:
 * visits only keys greater than `seen` or, with reverse, less than `seen`. */
int store_db_walk_beyond(struct store_db *db, int table, const char *from, const char *to,
                         bool reverse, const char *seen, size_t visit_max, store_db_each_f each,
                         void *arg, struct err *err);

/* Callback that is told of a damaged row: table, key (as far as it can be read), what is wrong.
 * Walks leave such a row out, unless its checksum proves that the row belongs to the key. */
typedef void (*store_db_damage_f)(void *arg, const char *table, const char *key, const char *why);
void store_db_on_damage(struct store_db *db, store_db_damage_f tell, void *arg);

/* Calls `each` for every good row of a table, in the order of keys, and moves damaged rows to the
 * table "set_aside".  Good rows that the damaged index does not name come last, out of order.  To
 * be called before the first transaction.  Returns 0, the value with which `each` ended the
 * walk, -EUCLEAN with err when the file is so damaged that it must not be written, or another
 * negative errno with err. */
int store_db_load(struct store_db *db, int table, store_db_each_f each, void *arg, struct err *err);
/* Counts the rows in the table "set_aside". */
int store_db_set_aside_count(struct store_db *db, int64_t *ret, struct err *err);
/* Checks the pages of a file of at most bytes_max; a larger one is not checked.  Returns 0,
 * -EUCLEAN with err if the file is damaged, or another negative errno with err. */
int store_db_quick_check(struct store_db *db, size_t bytes_max, struct err *err);

/* Place at which the check of all rows goes on.  When all its bytes are zero the check begins. */
struct store_db_check {
    int table;
    bool in_index; /* the rows of the table have been checked; now the entries of its index */
    int64_t id;    /* last row */
    char *key;     /* last entry; NULL: none yet */
    bool complete;
};
/* Checks up to `max` more rows or entries, telling of damaged ones.  Returns 0, or a negative errno
 * with err when the file cannot be read. */
int store_db_check_slice(struct store_db *db, struct store_db_check *check, size_t max,
                         struct err *err);
void store_db_check_fini(struct store_db_check *check);

#endif
