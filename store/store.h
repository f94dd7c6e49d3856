/* store/store.h - what must survive: tables of key and value behind SQLite.
 *
 * A daemon applies a change in its own memory at once, hands it here in a transaction, and holds
 * replies, watch events and claims until the commit callback: commit, then reply.  Transactions of
 * one moment are committed together, off the loop thread, in the order of store_commit(); while one
 * group is on its way to the disk the next gathers. synchronous=FULL.  A commit that fails ends the
 * daemon (loop_fatal): the master starts it again and it reloads what is durable.
 *
 * Keys are text and sort bytewise: a daemon that needs order pads its numbers.  Values are bytes
 * (usually a binary ad).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct log;
struct loop;
struct os;
struct store;
struct store_txn;

#define STORE_KEY_MAX        1024
#define STORE_VALUE_MAX      ((size_t)16 << 20)
#define STORE_TABLES_MAX     16
#define STORE_SCAN_ROWS_MAX  1000000
#define STORE_SCAN_BYTES_MAX ((size_t)1 << 30) /* of the rows that one scan keeps */

struct store_conversion;

/* Is shown one row of an older store and may put others, or the same one anew, by
 * store_convert_put().  A negative errno, with err filled, leaves the whole store as it was. */
typedef int (*store_convert_f)(struct store_conversion *conversion, const char *table,
                               const char *key, const void *value, size_t length, struct err *err);

/* Brings a store of version N to N+1, all inside one transaction: sql is run, then convert sees
 * each row of the tables named.  Each may be NULL. */
struct store_migration {
    const char *sql;
    const char *const *tables; /* NULL-terminated */
    store_convert_f convert;
};

/* Into a table of the schema that is being made; within convert only. */
int store_convert_put(struct store_conversion *conversion, const char *table, const char *key,
                      const void *value, size_t length, struct err *err);

struct store_schema {
    const char *daemon;                       /* "schedd": a store of another daemon is refused */
    const char *const *tables;                /* names, NULL-terminated; created when missing */
    const struct store_migration *migrations; /* [0] leads from 1 to 2; may be NULL */
    int version; /* 1 + number of migrations; a newer store is refused with -EPROTO */
};

/* Opens or creates the file.  -EBUSY: another process has it; -EREMOTEIO: on a network file system;
 * -EPROTO: newer schema or another daemon's; -EUCLEAN: not a store or damaged. */
int store_open(struct loop *loop, struct os *os, const char *path,
               const struct store_schema *schema, struct log *log, struct store **ret,
               struct err *err);
/* Waits for the commits under way, including what store_commit() was given, calls no callbacks;
 * NULL is allowed. */
void store_close(struct store *store);

/* Reads a whole table in key order, synchronously: at start, before any transaction.  each returns
 * 0, or a negative errno that ends the walk and is returned. */
int store_load(struct store *store, const char *table,
               int (*each)(void *arg, const char *key, const void *value, size_t length), void *arg,
               struct err *err);

/* The table is one of the schema's; a key has 1 to STORE_KEY_MAX bytes, a value at most
 * STORE_VALUE_MAX: the caller has checked what came from outside. */
struct store_txn *store_begin(struct store *store);
void store_put(struct store_txn *txn, const char *table, const char *key, const void *value,
               size_t length);
/* an absent key is fine */
void store_delete(struct store_txn *txn, const char *table, const char *key);
/* Takes txn.  done(arg) is called on the loop thread once it is durable; may be NULL.  Callbacks
 * come in the order of commits.  A transaction without changes is durable when all before it are: a
 * barrier. */
void store_commit(struct store_txn *txn, void (*done)(void *arg), void *arg);
void store_abort(struct store_txn *txn);       /* drops it */
bool store_is_idle(const struct store *store); /* everything committed */

/* Reads a range of keys off the loop thread, after all transactions committed so far: from <= key <
 * to (NULL: open end), highest key first when reverse.  filter runs on the worker thread, must
 * touch only filter_arg and what it is given, and says whether to keep the row (NULL keeps all); at
 * most limit rows are kept (0: STORE_SCAN_ROWS_MAX).  A long scan is done in slices, so that
 * commits do not wait for all of it (a filter that takes long for a row asks for a pause): a row
 * that is changed meanwhile is seen as before or as after, never twice.  done gets the rows, which
 * live until it returns, and 0, -E2BIG (STORE_SCAN_BYTES_MAX) or what the disk said. */
struct store_row {
    const char *key;
    const void *value;
    size_t length;
};
enum store_verdict { STORE_LEAVE, STORE_KEEP, STORE_LEAVE_AND_PAUSE, STORE_KEEP_AND_PAUSE };
typedef enum store_verdict (*store_filter_f)(void *filter_arg, const struct store_row *row);
typedef void (*store_scan_f)(void *arg, int result, const struct store_row *rows, size_t count);
void store_scan(struct store *store, const char *table, const char *from, const char *to,
                bool reverse, size_t limit, store_filter_f filter, void *filter_arg,
                store_scan_f done, void *arg);

#endif
