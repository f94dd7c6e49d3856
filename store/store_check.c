/* store/store_check.c - finding damage in a store's tables, and setting damaged rows aside.
 *
 * Design note.  A table and its index say the same thing twice, and each row has a checksum.  A
 * walk in the order of keys compares all three, because it has to read them anyway; only rows that
 * no entry of the index names need another look, so store_db_load() also counts the rows.  Damage
 * is mended before the daemon writes anything: in one transaction each bad row moves to the table
 * "set_aside", and the index is made anew from the rows that are left.  A row whose key differs in
 * table and index belongs to the key for which the checksum is right.
 *
 * Mending needs deletions for which the index has no entry.  SQLite takes these for damage of the
 * whole file, except while PRAGMA writable_schema is on.
 *
 * Rejected: leaving damaged rows where they are (a later change of a row whose index entry differs
 * ends the daemon); mending a file whose tree is damaged (SQLite would write into pages of other
 * rows): such a file is refused, and "roost store salvage" reads what can be read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store_db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/row_sum.h"
#include "store/store_db_parts.h"

#define UNNAMED_ROW "no entry of the index names the row"
#define BAD_ROW     "the checksum of the row does not match"

struct entry {
    enum store_fault fault;
    int64_t id;
    char *key;
};

/* What has to be mended in one table. */
struct mending {
    struct vec entries; /* struct entry: of the index, with which the table does not agree */
    struct vec bad;     /* struct entry: rows to be set aside */
    struct vec late;    /* struct entry: good rows that the walk did not find */
    int64_t *walked;    /* ids of the good rows that the walk found, ascending */
    size_t walked_count;
    size_t walked_room;
};

static void entry_destroy(void *arg)
{
    struct entry *entry = arg;
    mem_free(entry->key);
    mem_free(entry);
}

static void add_entry(struct vec *entries, enum store_fault fault, int64_t id, const char *key)
{
    struct entry *entry = mem_zalloc(sizeof(*entry));
    entry->fault = fault;
    entry->id = id;
    entry->key = mem_strdup(key);
    vec_push(entries, entry);
}

/* ---- the rows of a table ----------------------------------------------------------------------
 */

static int compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void add_walked(struct mending *found, int64_t id)
{
    if (found->walked_count == found->walked_room) {
        found->walked_room = found->walked_room > 0 ? found->walked_room * 2 : 256;
        found->walked = mem_realloc(found->walked, found->walked_room * sizeof(id));
    }
    found->walked[found->walked_count++] = id;
}

/* Looks at the row on which a statement of STORE_CHECK_ROWS stands. */
static void look_at_row(struct store_db *db, int table, sqlite3_stmt *stmt, struct mending *found)
{
    int64_t id = sqlite3_column_int64(stmt, 0);
    const char *key = (const char *)sqlite3_column_text(stmt, 1);
    size_t key_length = (size_t)sqlite3_column_bytes(stmt, 1);
    const void *value = sqlite3_column_blob(stmt, 2);
    size_t length = (size_t)sqlite3_column_bytes(stmt, 2);
    bool good = key != NULL && strlen(key) == key_length &&
                sqlite3_column_int64(stmt, 3) ==
                    row_sum(db->tables[table].name, key, key_length, value, length);
    bool named = sqlite3_column_type(stmt, 4) != SQLITE_NULL && sqlite3_column_int64(stmt, 4) == id;
    /* A lookup in a damaged index may miss an entry that a walk finds. */
    named = named || (found->walked_count > 0 && bsearch(&id, found->walked, found->walked_count,
                                                         sizeof(id), compare_ids) != NULL);
    if (!good) {
        add_entry(&found->bad, named ? STORE_ROW_GOOD : STORE_ROW_BAD, id, key != NULL ? key : "");
    } else if (!named) {
        add_entry(&found->late, STORE_ROW_BAD, id, key);
    }
}

/* Looks at up to `max` rows (negative: all) with ids above *id, and sets *id to the last of them.
 * Returns how many rows there were, or a negative errno. */
static int64_t look_at_rows(struct store_db *db, int table, int64_t *id, int max,
                            struct mending *found, struct err *err)
{
    sqlite3_stmt *stmt;
    int code = store_db_prepare(db, table, STORE_CHECK_ROWS, &stmt, err);
    if (code) {
        return code;
    }
    int64_t count = 0;
    int step = SQLITE_ERROR;
    if (sqlite3_bind_int64(stmt, 1, *id) == SQLITE_OK &&
        sqlite3_bind_int(stmt, 2, max) == SQLITE_OK) {
        while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
            look_at_row(db, table, stmt, found);
            *id = sqlite3_column_int64(stmt, 0);
            count++;
        }
    }
    if (step != SQLITE_DONE) {
        count = store_db_failed(db, db->tables[table].name, err);
    }
    (void)sqlite3_reset(stmt); /* tells again what step() told */
    return count;
}

static void found_fini(struct mending *found)
{
    vec_fini(&found->entries, entry_destroy);
    vec_fini(&found->bad, entry_destroy);
    vec_fini(&found->late, entry_destroy);
    mem_free(found->walked);
}

/* ---- mending ----------------------------------------------------------------------------------
 */

/* Collects the entries of the index with which the table does not agree. */
static int look_at_index(struct store_db *db, int table, struct mending *found, struct err *err)
{
    sqlite3_stmt *stmt;
    int code = store_db_prepare(db, table, STORE_WALK, &stmt, err);
    if (code) {
        return code;
    }
    int step = SQLITE_ERROR;
    if (sqlite3_bind_text(stmt, 1, "", 0, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_zeroblob(stmt, 2, 0) == SQLITE_OK) {
        while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
            struct store_walked row;
            store_db_read_walked(db, table, stmt, &row);
            if (row.key && (row.fault == STORE_ROW_LOST || row.fault == STORE_ROW_KEY_DIFFERS)) {
                add_entry(&found->entries, row.fault, row.id, row.key);
            }
            if (row.key && (row.fault == STORE_ROW_GOOD || row.fault == STORE_ROW_KEY_DIFFERS)) {
                add_walked(found, row.id);
            }
        }
    }
    code = step == SQLITE_DONE ? 0 : store_db_failed(db, db->tables[table].name, err);
    (void)sqlite3_reset(stmt); /* tells again what step() told */
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

/* Runs a statement that has the name of the table up to four times, and ?1 for the row's id, ?2 for
 * a key and ?3 for the table's name, as far as they occur in the statement. */
static int run_on(struct store_db *db, const char *format, int table, const struct entry *entry,
                  struct err *err)
{
    const char *name = db->tables[table].name;
    char *sql = sqlite3_mprintf(format, name);
    sqlite3_stmt *stmt = NULL;
    int code = sql != NULL ? sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (code == SQLITE_OK && entry != NULL) {
        (void)sqlite3_bind_int64(stmt, 1, entry->id); /* a place that is missing is not an error */
        (void)sqlite3_bind_text(stmt, 2, entry->key, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(stmt, 3, name, -1, SQLITE_STATIC);
    }
    int result = 0;
    if (code != SQLITE_OK || sqlite3_step(stmt) != SQLITE_DONE) {
        result = store_db_failed(db, "setting damaged rows aside", err);
    }
    (void)sqlite3_finalize(stmt);
    return result;
}

static int mend_entries(struct store_db *db, int table, const struct mending *found,
                        struct err *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < found->entries.count; i++) {
        const struct entry *entry = found->entries.items[i];
        code = run_on(db,
                      entry->fault == STORE_ROW_KEY_DIFFERS
                          ? "UPDATE \"%w\" SET key = ?2 WHERE id = ?1"
                          : "INSERT INTO " STORE_SET_ASIDE_TABLE " (home, key) VALUES (?3, ?2)",
                      table, entry, err);
    }
    return code;
}

static int set_rows_aside(struct store_db *db, int table, const struct mending *found,
                          struct err *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < found->bad.count; i++) {
        const struct entry *entry = found->bad.items[i];
        if (entry->fault != STORE_ROW_GOOD) { /* the walk did not name the row */
            store_db_tell_damage(db, table, entry->key, BAD_ROW);
        }
        code = run_on(db,
                      "INSERT INTO " STORE_SET_ASIDE_TABLE
                      " (home, key, value, sum) SELECT ?3, key, value, sum FROM \"%w\""
                      " WHERE id = ?1",
                      table, entry, err);
        if (code == 0) {
            code = run_on(db, "DELETE FROM \"%w\" WHERE id = ?1", table, entry, err);
        }
    }
    return code;
}

/* Gives each() the good rows that the index did not name. */
static int give_late_rows(struct store_db *db, int table, const struct mending *found,
                          store_db_each_f each, void *arg, struct err *err)
{
    char *sql =
        sqlite3_mprintf("SELECT key, value FROM \"%w\" WHERE id = ?1", db->tables[table].name);
    sqlite3_stmt *stmt = NULL;
    int code = sql != NULL ? sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    int result = code == SQLITE_OK ? 0 : store_db_failed(db, db->tables[table].name, err);
    for (size_t i = 0; result == 0 && i < found->late.count; i++) {
        const struct entry *entry = found->late.items[i];
        store_db_tell_damage(db, table, entry->key, UNNAMED_ROW);
        (void)sqlite3_bind_int64(stmt, 1, entry->id); /* the one place there is */
        if (sqlite3_step(stmt) != SQLITE_ROW) {
            result = store_db_failed(db, db->tables[table].name, err);
            break;
        }
        const char *key = (const char *)sqlite3_column_text(stmt, 0);
        const void *value = sqlite3_column_blob(stmt, 1);
        result = each(arg, key, value ? value : "", (size_t)sqlite3_column_bytes(stmt, 1));
        (void)sqlite3_reset(stmt); /* the row was read */
    }
    (void)sqlite3_finalize(stmt);
    return result;
}

static int mend_table(struct store_db *db, int table, struct mending *found, struct err *err)
{
    int64_t id = INT64_MIN;
    int code = look_at_index(db, table, found, err);
    if (found->walked_count > 0) {
        qsort(found->walked, found->walked_count, sizeof(found->walked[0]), compare_ids);
    }
    code = code ? code : mend_entries(db, table, found, err);
    if (!code) {
        int64_t count = look_at_rows(db, table, &id, -1, found, err);
        code = count < 0 ? (int)count : set_rows_aside(db, table, found, err);
    }
    return code ? code : run_on(db, "REINDEX \"%w\"", table, NULL, err);
}

static bool disk_refuses(int code)
{
    return code == -ENOSPC || code == -EDQUOT || code == -EROFS;
}

int store_db_load(struct store_db *db, int table, store_db_each_f each, void *arg, struct err *err)
{
    const size_t faults = db->faults;
    char sql[STORE_KEY_MAX];
    int64_t count = 0;
    db->walked = 0;
    int code = store_db_walk(db, table, NULL, NULL, false, SIZE_MAX, each, arg, err);
    if (!code) {
        (void)sqlite3_snprintf(sizeof(sql), sql, "SELECT count(*) FROM \"%w\" NOT INDEXED",
                               db->tables[table].name);
        code = store_db_run_int(db, sql, &count, err);
    }
    bool counts_differ = count != (int64_t)db->walked;
    if (code || (db->faults == faults && !counts_differ)) {
        return code;
    }
    struct mending found = {.late = {0}};
    code =
        store_db_run(db, "BEGIN IMMEDIATE; PRAGMA writable_schema = ON", "setting rows aside", err);
    code = code ? code : mend_table(db, table, &found, err);
    code = code ? code : store_db_run(db, "COMMIT", "setting rows aside", err);
    if (code) {
        store_db_rollback(db);
    }
    (void)store_db_run(db, "PRAGMA writable_schema = OFF", "setting rows aside", NULL);
    if (disk_refuses(code) && !counts_differ) {
        code = 0; /* the rows are left out, and named; they are set aside at another start */
    } else if (!code) {
        code = give_late_rows(db, table, &found, each, arg, err);
    }
    found_fini(&found);
    return code;
}

int store_db_set_aside_count(struct store_db *db, int64_t *ret, struct err *err)
{
    return store_db_run_int(db, "SELECT count(*) FROM " STORE_SET_ASIDE_TABLE, ret, err);
}

/* ---- checks -----------------------------------------------------------------------------------
 */

int store_db_quick_check(struct store_db *db, size_t bytes_max, struct err *err)
{
    int64_t pages = 0;
    int64_t page_bytes = 0;
    int code = store_db_run_int(db, "PRAGMA page_count", &pages, err);
    code = code ? code : store_db_run_int(db, "PRAGMA page_size", &page_bytes, err);
    if (code || pages * page_bytes > (int64_t)bytes_max) {
        return code;
    }
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &stmt, NULL) != SQLITE_OK) {
        return store_db_failed(db, "checking the file", err);
    }
    int step = sqlite3_step(stmt);
    const char *said = step == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    static const char TREE[] = "*** in database main ***";
    if (step != SQLITE_ROW && step != SQLITE_DONE) {
        code = store_db_failed(db, "checking the file", err);
    } else if (said != NULL && strncmp(said, TREE, sizeof(TREE) - 1) == 0) {
        const char *what = said + sizeof(TREE) - 1;
        code = err_set(err, -EUCLEAN,
                       "store %s: damaged file: %s; restore the file from a backup, or take out of "
                       "it what can be read: roost store salvage",
                       db->path, *what == '\n' ? what + 1 : what);
    }
    (void)sqlite3_finalize(stmt);
    return code;
}

struct slice {
    struct store_db_check *check;
    size_t count;
    size_t max;
};

static int note_key(void *arg, const char *key, const void *value, size_t length)
{
    struct slice *slice = arg;
    (void)value;
    (void)length;
    if (++slice->count == slice->max) {
        mem_free(slice->check->key);
        slice->check->key = mem_strdup(key);
    }
    return 0;
}

static int check_rows(struct store_db *db, struct store_db_check *check, size_t max,
                      struct err *err)
{
    struct mending found = {.late = {0}};
    int64_t count = look_at_rows(db, check->table, &check->id, (int)max, &found, err);
    for (size_t i = 0; i < found.bad.count; i++) {
        store_db_tell_damage(db, check->table, ((struct entry *)found.bad.items[i])->key, BAD_ROW);
    }
    for (size_t i = 0; i < found.late.count; i++) {
        store_db_tell_damage(db, check->table, ((struct entry *)found.late.items[i])->key,
                             UNNAMED_ROW);
    }
    found_fini(&found);
    check->in_index = count >= 0 && count < (int64_t)max;
    return count < 0 ? (int)count : 0;
}

static int check_index(struct store_db *db, struct store_db_check *check, size_t max,
                       struct err *err)
{
    struct slice slice = {check, 0, max};
    int code = check->key != NULL
                   ? store_db_walk_beyond(db, check->table, NULL, NULL, false, check->key, max,
                                          note_key, &slice, err)
                   : store_db_walk(db, check->table, NULL, NULL, false, max, note_key, &slice, err);
    if (!code && slice.count < max) {
        check->table++;
        store_db_check_fini(check);
    }
    return code;
}

int store_db_check_slice(struct store_db *db, struct store_db_check *check, size_t max,
                         struct err *err)
{
    CHECK(max > 0 && max < INT32_MAX);
    if (check->id == 0) {
        check->id = INT64_MIN;
    }
    int code = check->in_index ? check_index(db, check, max, err) : check_rows(db, check, max, err);
    check->complete = check->table == db->table_count;
    return code;
}

void store_db_check_fini(struct store_db_check *check)
{
    mem_free(check->key);
    *check = (struct store_db_check){.table = check->table};
}
