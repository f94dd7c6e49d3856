/* store/store_db_parts.h - what the files of one SQLite store share: store_db.c, store_check.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_STORE_DB_PARTS_H
#define STORE_STORE_DB_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "store/store.h"
#include "store/store_db.h"

enum store_statement {
    STORE_PUT,
    STORE_DELETE,
    STORE_WALK,
    STORE_WALK_REVERSE,
    STORE_CHECK_ROWS,
    STORE_STATEMENT_COUNT
};

struct store_table {
    char *name;
    sqlite3_stmt *cached[STORE_STATEMENT_COUNT]; /* prepared at first use */
};

struct store_db {
    sqlite3 *handle;
    char *path;
    struct store_table tables[STORE_TABLES_MAX];
    int table_count;
    int wal_pages;
    bool is_new;
    size_t faults; /* damaged rows told of so far */
    size_t walked; /* rows of the table that walks have seen, damaged ones too */
    store_db_damage_f on_damage;
    void *on_damage_arg;
};

/* What is wrong with one entry of a table's index and the row that belongs to the entry. */
enum store_fault {
    STORE_ROW_GOOD,
    STORE_ROW_LOST,       /* the index names a row that the table does not have */
    STORE_ROW_BAD,        /* the checksum does not match */
    STORE_ROW_KEY_DIFFERS /* by its checksum the row is good, but its key in the table is not */
};

/* The row on which a statement of STORE_WALK or STORE_WALK_REVERSE stands. */
struct store_walked {
    const char *key; /* as the index has it; NULL: no memory */
    size_t key_length;
    const void *value;
    size_t length;
    int64_t id;
    enum store_fault fault;
};
void store_db_read_walked(struct store_db *db, int table, sqlite3_stmt *stmt,
                          struct store_walked *ret);

/* Fills err from the last failure of SQLite, and returns its negative errno. */
int store_db_failed(const struct store_db *db, const char *what, struct err *err);
int store_db_run(struct store_db *db, const char *sql, const char *what, struct err *err);
/* Runs a statement and gets the first column of its first row as a number. */
int store_db_run_int(struct store_db *db, const char *sql, int64_t *ret, struct err *err);
int store_db_prepare(struct store_db *db, int table, enum store_statement which, sqlite3_stmt **ret,
                     struct err *err);
/* Tells whoever asked with store_db_on_damage(). */
void store_db_tell_damage(struct store_db *db, int table, const char *key, const char *why);

#endif
