/* store/store.h - durable tables of keys and values, kept in SQLite.
 *
 * A daemon applies a change in its own memory at once and gives it to the store in a transaction.
 * It holds back replies, watch events and claims until the callback of the commit: first commit,
 * then reply.  Transactions that come at about the same time are committed together, off the loop
 * thread, in the order of store_commit().  While one group is written to the disk the next one
 * gathers (synchronous=FULL).  A commit that fails ends the daemon (loop_fatal()); its master
 * starts it again, and it reloads what is durable.
 *
 * Keys are text and sort bytewise, so numbers in keys must be padded where order matters.  Values
 * are bytes, usually a binary ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct log;
struct loop;
struct os;
struct store;
struct store_txn;

#define STORE_KEY_MAX        1024 /* most bytes of a key, without the terminating zero */
#define STORE_VALUE_MAX      ((size_t)16 << 20)
#define STORE_TABLES_MAX     16
#define STORE_SCAN_ROWS_MAX  1000000
#define STORE_SCAN_BYTES_MAX ((size_t)1 << 30) /* most bytes of all rows that one scan keeps */

struct store_conversion;

/* Callback that converts one row of an older store: with store_convert_put() it may write the row
 * in its new form, or other rows.  Returns 0; a negative errno, with err, ends the migration and
 * leaves the whole store as it was. */
typedef int (*store_convert_f)(struct store_conversion *conversion, const char *table,
                               const char *key, const void *value, size_t length, struct err *err);

/* One step of a migration, from version N to N+1, within one transaction: sql is run, then convert
 * is called for each row of the tables.  Any member may be NULL. */
struct store_migration {
    const char *sql;
    const char *const *tables; /* tables whose rows are given to convert; NULL-terminated */
    store_convert_f convert;
};

/* Puts a row into a table of the new schema.  Call it only from a store_convert_f callback, with
 * the `conversion` that the callback got.  Returns 0, or a negative errno with err. */
int store_convert_put(struct store_conversion *conversion, const char *table, const char *key,
                      const void *value, size_t length, struct err *err);

/* What a daemon's store contains. */
struct store_schema {
    /* name such as "schedd"; store_open() refuses a store of another daemon */
    const char *daemon;
    /* names of the tables, NULL-terminated; created if absent */
    const char *const *tables;
    const struct store_migration *migrations; /* [0]: from version 1 to 2; NULL: no migrations */
    int version; /* 1 + number of migrations; a newer store is refused (-EPROTO) */
    /* name of a file or directory which the daemon makes beside its store, after the store: where
     * it is, a missing store is a loss; NULL: none */
    const char *remains;
    /* set by store_open(): the file was there before, so a missing or empty one is refused */
    bool must_exist;
};

/* Opens the store, or creates it.  Returns 0 and sets *ret; or, with err, -EBUSY (another process
 * has it open), -EREMOTEIO (it is on a network file system), -EPROTO (newer schema, or another
 * daemon's store), -EUCLEAN (not a store, damaged, missing where there was one, or without the
 * write-ahead log that has what was acknowledged). */
int store_open(struct loop *loop, struct os *os, const char *path,
               const struct store_schema *schema, struct log *log, struct store **ret,
               struct err *err);
/* Closes the store: waits for all commits given to store_commit(), but calls no callbacks.  NULL is
 * allowed. */
void store_close(struct store *store);

/* Calls `each` for every row of a table, in the order of keys.  May be called only
 * before the first transaction.  `each` returns 0; or a negative errno, which ends the walk.
 * Returns 0, the negative errno that `each` returned, or a negative errno with err when the table
 * cannot be read. */
int store_load(struct store *store, const char *table,
               int (*each)(void *arg, const char *key, const void *value, size_t length), void *arg,
               struct err *err);

/* Starts a transaction, which store_commit() or store_abort() ends.  For the rows that are put into
 * the transaction: the table must be one of the schema, a key has 1 to STORE_KEY_MAX bytes, a value
 * at most STORE_VALUE_MAX bytes.  Callers must check sizes that come from outside the process. */
struct store_txn *store_begin(struct store *store);
/* Adds or replaces a row; key and value are copied. */
void store_put(struct store_txn *txn, const char *table, const char *key, const void *value,
               size_t length);
/* Deletes a row; an absent key is not an error. */
void store_delete(struct store_txn *txn, const char *table, const char *key);
/* Commits txn and frees it.  done(arg), unless NULL, is called on the loop thread when the
 * transaction is durable.  Callbacks come in the order of commits.  A transaction without changes
 * is a barrier: its callback comes when all earlier transactions are durable. */
void store_commit(struct store_txn *txn, void (*done)(void *arg), void *arg);
/* Says that the daemon gives the id `number` in this transaction: the high-water mark of the
 * store's witness is above the number before the transaction is durable. */
void store_raise(struct store_txn *txn, int64_t number);
void store_abort(struct store_txn *txn);       /* frees txn without committing */
bool store_is_idle(const struct store *store); /* true: no commit is under way */

/* ---- trouble: damaged rows, a full disk --------------------------------------------------------
 */

/* Returns the high-water mark of the witness as it was when the store was opened: each id that a
 * lost or older store gave is below the number.  0: there was no witness.  The mark runs ahead of
 * the ids by up to STORE_WATER_STEP. */
int64_t store_high_water(const struct store *store);
/* Returns a number: ids below may have been given by a later state of the store, which is lost,
 * because the file once came back from an older copy.  0: it never did. */
int64_t store_id_floor(const struct store *store);
#define STORE_WATER_STEP 1000

/* Keeps `bytes` of the disk for commits while the disk is full (0: nothing).  Commits that find the
 * disk full or mounted for reading only are tried again until they succeed, so their callbacks
 * come late, but come. */
void store_keep_reserve(struct store *store, int64_t bytes);
/* Returns 0; or, while commits use the reserve or wait for room, -ENOSPC, or -EROFS if the disk is
 * mounted for reading only. */
int store_full(const struct store *store);
/* Returns how many damaged rows were set aside or found.  store may be NULL, here, in store_full()
 * and in store_problem(). */
size_t store_damaged_rows(const struct store *store);
/* Returns what an operator has to know of the store, for the daemon's ad; "": nothing. */
const char *store_problem(const struct store *store);
/* Counts, logs and names in store_problem() a row that the daemon itself found to be damaged: the
 * checksum is right, but the row contradicts another one or cannot be understood. */
void store_note_damage(struct store *store, const char *table, const char *key, const char *why);
/* Calls changed(arg) on the loop each time the text of store_problem() has changed. */
void store_on_problem(struct store *store, void (*changed)(void *arg), void *arg);

/* One row of a table. */
struct store_row {
    const char *key;
    const void *value;
    size_t length;
};
/* What a filter of store_scan() decides about a row: leave it out of the result or keep it.  With
 * ..._AND_PAUSE the scan then lets waiting commits go first. */
enum store_verdict { STORE_LEAVE, STORE_KEEP, STORE_LEAVE_AND_PAUSE, STORE_KEEP_AND_PAUSE };
/* Two callbacks of store_scan(): store_filter_f decides whether a row is kept; store_scan_f gets
 * the result (0 or a negative errno) and the kept rows. */
typedef enum store_verdict (*store_filter_f)(void *filter_arg, const struct store_row *row);
typedef void (*store_scan_f)(void *arg, int result, const struct store_row *rows, size_t count);
/* Reads the rows with from <= key < to (NULL: no limit) off the loop thread, after all transactions
 * committed so far (but for those that a full disk holds up: a row that moves from one place to
 * another, as a removed job does from the queue to the history, may be in neither then); with
 * reverse, the highest key first. filter (NULL: keep all) is called on the worker thread, may touch
 * only filter_arg and the row, and says whether to keep the row.  At most limit rows are kept (0:
 * STORE_SCAN_ROWS_MAX).  A long scan is done in slices, so that commits do not wait for all of it;
 * a filter that needs much time for a row can ask for a pause.  A row that is changed meanwhile is
 * seen as before or as after the change, and never twice.  done is called on the loop with the
 * rows, which live until it returns, and 0; or with -E2BIG (more than STORE_SCAN_BYTES_MAX) or the
 * error of the disk. */
void store_scan(struct store *store, const char *table, const char *from, const char *to,
                bool reverse, size_t limit, store_filter_f filter, void *filter_arg,
                store_scan_f done, void *arg);

#endif
