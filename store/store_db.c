/* store/store_db.c - see store_db.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store_db.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include <sqlite3.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "store/store.h"

#define META_TABLE "meta"

enum statement { PUT, DELETE, WALK, WALK_REVERSE, STATEMENTS_PER_TABLE };

static const char *const STATEMENT_SQL[STATEMENTS_PER_TABLE] = {
    [PUT] = "INSERT INTO \"%s\" (key, value) VALUES (?1, ?2)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    [DELETE] = "DELETE FROM \"%s\" WHERE key = ?1",
    [WALK] = "SELECT key, value FROM \"%s\" WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3",
    [WALK_REVERSE] = "SELECT key, value FROM \"%s\" WHERE key >= ?1 AND key < ?2"
                     " ORDER BY key DESC LIMIT ?3",
};

struct table {
    char *name;
    sqlite3_stmt *cached[STATEMENTS_PER_TABLE]; /* prepared at first use */
};

struct store_db {
    sqlite3 *handle;
    char *path;
    struct table tables[STORE_TABLES_MAX];
    int table_count;
    int wal_pages;
};

/* ---- errors ---------------------------------------------------------------------------------- */

static int code_of(int sqlite_code)
{
    switch (sqlite_code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return 0;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return -EUCLEAN;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    default:
        return -EIO;
    }
}

static int db_failed(const struct store_db *db, const char *what, struct err *err)
{
    int code = code_of(sqlite3_errcode(db->handle));
    if (code == -EUCLEAN) {
        return err_set(err, code, "store %s: %s: damaged file: %s", db->path, what,
                       sqlite3_errmsg(db->handle));
    }
    return err_set(err, code ? code : -EIO, "store %s: %s: %s (SQLite code %d)", db->path, what,
                   sqlite3_errmsg(db->handle), sqlite3_extended_errcode(db->handle));
}

/* ---- small statements ------------------------------------------------------------------------ */

static int run_sql(struct store_db *db, const char *sql, const char *what, struct err *err)
{
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return db_failed(db, what, err);
    }
    return 0;
}

/* Runs a statement and gets the first column of its first row as a number. */
static int run_int(struct store_db *db, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK) {
        return db_failed(db, "reading the type and version of the store", err);
    }
    int code = 0;
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        *ret = sqlite3_column_int64(stmt, 0);
    } else {
        code = db_failed(db, "reading the type and version of the store", err);
    }
    sqlite3_finalize(stmt);
    return code;
}

static int prepare_statement(struct store_db *db, int table, enum statement which,
                             sqlite3_stmt **ret, struct err *err)
{
    struct table *t = &db->tables[table];
    if (!t->cached[which]) {
        char *sql = sqlite3_mprintf(STATEMENT_SQL[which], t->name);
        int code = sql ? sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                            &t->cached[which], NULL)
                       : SQLITE_NOMEM;
        sqlite3_free(sql);
        if (code != SQLITE_OK) {
            return db_failed(db, t->name, err);
        }
    }
    *ret = t->cached[which];
    return 0;
}

static int step_and_reset(struct store_db *db, int table, sqlite3_stmt *stmt, struct err *err)
{
    int code = 0;
    if (sqlite3_step(stmt) != SQLITE_DONE) {
        code = db_failed(db, db->tables[table].name, err);
    }
    (void)sqlite3_reset(stmt); /* tells again what step() told */
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool name_is_plain(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static int open_file(struct store_db *db, const char *vfs, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(db->path, &db->handle, flags, vfs);
    if (code == SQLITE_OK) {
        return 0;
    }
    if (!db->handle) {
        return err_set(err, -ENOMEM, "store %s: out of memory", db->path);
    }
    int os_code = sqlite3_system_errno(db->handle);
    if ((code & 0xff) == SQLITE_CANTOPEN) {
        os_code = os_code > 0 ? -os_code : -EACCES;
        return err_set(err, os_code, "store %s: cannot open the file: %s", db->path,
                       err_code_text(os_code));
    }
    return db_failed(db, "opening", err);
}

static int busy_text(const struct store_db *db, int code, struct err *err)
{
    if (code == -EBUSY) {
        return err_set(err, code, "store %s: another process has it open", db->path);
    }
    return code;
}

/* Checks that the file is a Roost store.  Sets *created when the file is empty: new, or left by a
 * process that died while it created the store. */
static int judge_file(struct store_db *db, bool *created, struct err *err)
{
    int64_t application_id = 0;
    int64_t objects = 0;
    int code = run_int(db, "PRAGMA application_id", &application_id, err);
    if (!code) {
        code = run_int(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
    }
    if (code == -EUCLEAN && (sqlite3_errcode(db->handle) & 0xff) == SQLITE_NOTADB) {
        return err_set(err, code, "store %s: not a Roost store", db->path);
    }
    if (code) {
        return busy_text(db, code, err);
    }
    *created = application_id == 0 && objects == 0;
    if (!*created && application_id != STORE_APPLICATION_ID) {
        return err_set(err, -EUCLEAN, "store %s: an SQLite file, but not a Roost store", db->path);
    }
    return 0;
}

static int judge_owner(struct store_db *db, const struct store_schema *schema, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *sql = "SELECT value FROM " META_TABLE " WHERE key = 'daemon'";
    if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK) {
        return db_failed(db, "reading which daemon the store belongs to", err);
    }
    int code = 0;
    int step = sqlite3_step(stmt);
    if (step == SQLITE_ROW) {
        const char *daemon = (const char *)sqlite3_column_text(stmt, 0);
        if (!daemon || strcmp(daemon, schema->daemon) != 0) {
            code = err_set(err, -EPROTO, "store %s: this store belongs to the %s, not to the %s",
                           db->path, daemon ? daemon : "?", schema->daemon);
        }
    } else if (step == SQLITE_DONE) {
        code = err_set(err, -EUCLEAN,
                       "store %s: the file does not say which daemon it belongs to; restore the "
                       "file from a backup",
                       db->path);
    } else {
        code = db_failed(db, "reading which daemon the store belongs to", err);
    }
    sqlite3_finalize(stmt);
    if (code) {
        return code;
    }
    int64_t version = 0;
    code = run_int(db, "PRAGMA user_version", &version, err);
    if (!code && version > schema->version) {
        code = err_set(err, -EPROTO,
                       "store %s: the schema has version %lld, but this program supports only "
                       "versions up to %d; a newer program wrote the store",
                       db->path, (long long)version, schema->version);
    }
    if (!code && version < 1) {
        code = err_set(
            err, -EUCLEAN,
            "store %s: the schema version %lld is not valid; restore the file from a backup",
            db->path, (long long)version);
    }
    return code;
}

/* ---- migrating ------------------------------------------------------------------------------- */

struct store_conversion {
    struct store_db *db;
};

int store_convert_put(struct store_conversion *conversion, const char *table, const char *key,
                      const void *value, size_t length, struct err *err)
{
    int index = store_db_table(conversion->db, table);
    CHECK(index >= 0);
    return store_db_put(conversion->db, index, key, value, length, err);
}

/* Converts a table row by row, in the order of ids.  Putting a row keeps its id, so it is not seen
 * twice.  Rows that convert adds to this table are seen, too. */
static int convert_table(struct store_db *db, const char *table, store_convert_f convert,
                         struct err *err)
{
    struct store_conversion conversion = {.db = db};
    sqlite3_stmt *stmt = NULL;
    char *sql =
        sqlite3_mprintf("SELECT id, key, value FROM \"%s\" WHERE id > ?1 ORDER BY id LIMIT 1",
                        table);
    int code = sql != NULL ? sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    int result = code == SQLITE_OK ? 0 : db_failed(db, table, err);
    int64_t last = INT64_MIN;
    while (result == 0) {
        (void)sqlite3_bind_int64(stmt, 1, last); /* the one place there is */
        code = sqlite3_step(stmt);
        if (code != SQLITE_ROW) {
            result = code == SQLITE_DONE ? 0 : db_failed(db, table, err);
            break;
        }
        last = sqlite3_column_int64(stmt, 0);
        char *key = mem_strdup((const char *)sqlite3_column_text(stmt, 1));
        size_t length = (size_t)sqlite3_column_bytes(stmt, 2);
        void *value = mem_dup(sqlite3_column_blob(stmt, 2), length);
        (void)sqlite3_reset(stmt); /* before the row is changed */
        result = convert(&conversion, table, key, value, length, err);
        mem_free(value);
        mem_free(key);
    }
    (void)sqlite3_finalize(stmt);
    return result;
}

static int migrate_step(struct store_db *db, const struct store_migration *migration,
                        struct err *err)
{
    int code = migration->sql != NULL ? run_sql(db, migration->sql, "migrating", err) : 0;
    for (size_t i = 0; code == 0 && migration->tables != NULL && migration->tables[i] != NULL;
         i++) {
        code = convert_table(db, migration->tables[i], migration->convert, err);
    }
    return code;
}

/* Makes the file a store of this schema, in one transaction: owner, tables, migrations, version. */
static int bring_up_to_date(struct store_db *db, const struct store_schema *schema, bool created,
                            struct err *err)
{
    int64_t version = schema->version;
    int code = run_sql(db, "BEGIN IMMEDIATE", "beginning to create or convert the tables", err);
    if (!code && !created) {
        code = run_int(db, "PRAGMA user_version", &version, err);
    }
    struct strbuf sql;
    strbuf_init(&sql, 0);
    if (created) {
        strbuf_printf(&sql,
                      "CREATE TABLE " META_TABLE " (key TEXT NOT NULL PRIMARY KEY, value TEXT);"
                      "INSERT INTO " META_TABLE " VALUES ('daemon', '%s');"
                      "PRAGMA application_id = %d;",
                      schema->daemon, STORE_APPLICATION_ID);
    }
    for (int i = 0; i < db->table_count; i++) {
        strbuf_printf(&sql,
                      "CREATE TABLE IF NOT EXISTS \"%s\" (id INTEGER PRIMARY KEY,"
                      " key TEXT NOT NULL UNIQUE, value BLOB NOT NULL);",
                      db->tables[i].name);
    }
    if (!code) {
        code = run_sql(db, strbuf_text(&sql), "creating the tables", err);
    }
    for (int64_t v = version; !code && v < schema->version; v++) {
        code = migrate_step(db, &schema->migrations[v - 1], err);
    }
    strbuf_clear(&sql);
    strbuf_printf(&sql, "PRAGMA user_version = %d", schema->version);
    if (!code) {
        code = run_sql(db, strbuf_text(&sql), "writing the schema version", err);
    }
    if (!code) {
        code = run_sql(db, "COMMIT", "committing the created or converted tables", err);
    }
    strbuf_fini(&sql);
    return code;
}

static int configure_db(struct store_db *db, struct err *err)
{
    /* Before the first access: only then does EXCLUSIVE spare the shared memory file. */
    int code = run_sql(db,
                       "PRAGMA locking_mode = EXCLUSIVE;"
                       "PRAGMA trusted_schema = OFF;"
                       "PRAGMA cell_size_check = ON;"
                       "PRAGMA temp_store = MEMORY;",
                       "opening", err);
    return busy_text(db, code, err);
}

static int go_wal(struct store_db *db, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = 0;
    bool wal = false;
    if (sqlite3_prepare_v2(db->handle, "PRAGMA journal_mode = WAL", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        const char *mode = (const char *)sqlite3_column_text(stmt, 0);
        wal = mode && strcmp(mode, "wal") == 0;
    }
    if (!wal) {
        code = db_failed(db, "switching to a write-ahead log", err);
    }
    sqlite3_finalize(stmt);
    if (code) {
        return busy_text(db, code, err);
    }
    struct strbuf sql;
    strbuf_init(&sql, 0);
    strbuf_printf(&sql,
                  "PRAGMA synchronous = FULL;"
                  "PRAGMA wal_autocheckpoint = 0;"
                  "PRAGMA journal_size_limit = %zu;",
                  STORE_WAL_KEPT_BYTES);
    code = run_sql(db, strbuf_text(&sql), "opening", err);
    strbuf_fini(&sql);
    return code;
}

static int on_wal_grown(void *arg, sqlite3 *handle, const char *schema_name, int pages)
{
    (void)handle;
    (void)schema_name;
    ((struct store_db *)arg)->wal_pages = pages;
    return SQLITE_OK;
}

/* To be called when the process's heap was dropped: struct store_db is gone, and only SQLite's
 * handle is left.  The file must stay as after a kill -9. */
static void drop_handle(void *arg)
{
    sqlite3 *handle = arg;
    (void)sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    for (sqlite3_stmt *stmt; (stmt = sqlite3_next_stmt(handle, NULL)) != NULL;) {
        (void)sqlite3_finalize(stmt);
    }
    (void)sqlite3_close_v2(handle);
}

int store_db_open(const char *path, const char *vfs, const struct store_schema *schema,
                  struct store_db **ret, struct err *err)
{
    struct store_db *db = mem_zalloc(sizeof(*db));
    db->path = mem_strdup(path);
    CHECK(name_is_plain(schema->daemon) && schema->version >= 1);
    for (size_t i = 0; schema->tables[i]; i++) {
        const char *name = schema->tables[i];
        CHECK(i < STORE_TABLES_MAX && name_is_plain(name) && strcmp(name, META_TABLE) != 0);
        db->tables[db->table_count++].name = mem_strdup(name);
    }
    bool is_new = false;
    int code = open_file(db, vfs, err);
    if (db->handle) {
        mem_on_drop(db->handle, drop_handle);
    }
    if (!code) {
        code = configure_db(db, err);
    }
    if (!code) {
        code = judge_file(db, &is_new, err);
    }
    if (!code && !is_new) {
        code = judge_owner(db, schema, err);
    }
    if (!code) {
        code = go_wal(db, err);
    }
    if (!code) {
        (void)sqlite3_wal_hook(db->handle, on_wal_grown, db);
        code = busy_text(db, bring_up_to_date(db, schema, is_new, err), err);
    }
    if (code) {
        store_db_close(db);
        return code;
    }
    *ret = db;
    return 0;
}

void store_db_close(struct store_db *db)
{
    if (!db) {
        return;
    }
    for (int i = 0; i < db->table_count; i++) {
        for (int k = 0; k < STATEMENTS_PER_TABLE; k++) {
            (void)sqlite3_finalize(db->tables[i].cached[k]);
        }
        mem_free(db->tables[i].name);
    }
    if (db->handle) {
        mem_off_drop(db->handle);
        CHECK(sqlite3_close(db->handle) == SQLITE_OK); /* refused only while statements are left */
    }
    mem_free(db->path);
    mem_free(db);
}

void store_db_set_cache(struct store_db *db, int kib)
{
    char sql[64];
    (void)sqlite3_snprintf(sizeof(sql), sql, "PRAGMA cache_size = -%d", kib);
    (void)sqlite3_exec(db->handle, sql, NULL, NULL, NULL); /* only slower without */
    (void)sqlite3_db_release_memory(db->handle);
}

int store_db_table(const struct store_db *db, const char *name)
{
    for (int i = 0; i < db->table_count; i++) {
        if (strcmp(db->tables[i].name, name) == 0) {
            return i;
        }
    }
    return -ENOENT;
}

/* ---- changing -------------------------------------------------------------------------------- */

int store_db_begin(struct store_db *db, struct err *err)
{
    return run_sql(db, "BEGIN IMMEDIATE", "beginning a transaction", err);
}

static int bind_failed(struct store_db *db, int table, sqlite3_stmt *stmt, struct err *err)
{
    int code = db_failed(db, db->tables[table].name, err);
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

int store_db_put(struct store_db *db, int table, const char *key, const void *value, size_t length,
                 struct err *err)
{
    sqlite3_stmt *stmt;
    int code = prepare_statement(db, table, PUT, &stmt, err);
    if (code) {
        return code;
    }
    /* An empty value has to be a value of length 0, and a null pointer would bind NULL. */
    if (sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_blob64(stmt, 2, length ? value : "", length, SQLITE_STATIC) != SQLITE_OK) {
        return bind_failed(db, table, stmt, err);
    }
    return step_and_reset(db, table, stmt, err);
}

int store_db_delete(struct store_db *db, int table, const char *key, struct err *err)
{
    sqlite3_stmt *stmt;
    int code = prepare_statement(db, table, DELETE, &stmt, err);
    if (code) {
        return code;
    }
    if (sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC) != SQLITE_OK) {
        return bind_failed(db, table, stmt, err);
    }
    return step_and_reset(db, table, stmt, err);
}

int store_db_commit(struct store_db *db, struct err *err)
{
    return run_sql(db, "COMMIT", "commit", err);
}

int store_db_wal_pages(const struct store_db *db)
{
    return db->wal_pages;
}

int store_db_checkpoint(struct store_db *db, struct err *err)
{
    int in_log = 0;
    int copied = 0;
    if (sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &copied) !=
        SQLITE_OK) {
        return db_failed(db, "copying back the write-ahead log", err);
    }
    db->wal_pages = in_log - copied;
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct bound {
    const char *text; /* NULL: larger than every key */
    size_t length;
};

static int walk_rows(struct store_db *db, int table, const struct bound *from,
                     const struct bound *to, bool reverse, size_t visit_max, store_db_each_f each,
                     void *arg, struct err *err)
{
    sqlite3_stmt *stmt;
    int code = prepare_statement(db, table, reverse ? WALK_REVERSE : WALK, &stmt, err);
    if (code) {
        return code;
    }
    CHECK(from->length <= INT_MAX && to->length <= INT_MAX);
    /* Every text sorts below every blob, so an empty blob is the open end. */
    int to_bound = to->text ? sqlite3_bind_text(stmt, 2, to->text, (int)to->length, SQLITE_STATIC)
                            : sqlite3_bind_zeroblob(stmt, 2, 0);
    sqlite3_int64 limit = visit_max > INT64_MAX ? INT64_MAX : (sqlite3_int64)visit_max;
    if (sqlite3_bind_text(stmt, 1, from->text, (int)from->length, SQLITE_STATIC) != SQLITE_OK ||
        to_bound != SQLITE_OK || sqlite3_bind_int64(stmt, 3, limit) != SQLITE_OK) {
        return bind_failed(db, table, stmt, err);
    }
    int step;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *key = (const char *)sqlite3_column_text(stmt, 0);
        const void *value = sqlite3_column_blob(stmt, 1);
        size_t length = (size_t)sqlite3_column_bytes(stmt, 1);
        if (!key || (!value && sqlite3_errcode(db->handle) == SQLITE_NOMEM)) {
            step = SQLITE_NOMEM;
            break;
        }
        code = each(arg, key, value ? value : "", length);
        if (code) {
            break;
        }
    }
    if (!code && step != SQLITE_DONE) {
        code = db_failed(db, db->tables[table].name, err);
    }
    (void)sqlite3_reset(stmt); /* tells again what step() told */
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

int store_db_walk(struct store_db *db, int table, const char *from, const char *to, bool reverse,
                  size_t visit_max, store_db_each_f each, void *arg, struct err *err)
{
    struct bound low = {from ? from : "", from ? strlen(from) : 0};
    struct bound high = {to, to ? strlen(to) : 0};
    return walk_rows(db, table, &low, &high, reverse, visit_max, each, arg, err);
}

int store_db_walk_beyond(struct store_db *db, int table, const char *from, const char *to,
                         bool reverse, const char *seen, size_t visit_max, store_db_each_f each,
                         void *arg, struct err *err)
{
    struct bound low = {from ? from : "", from ? strlen(from) : 0};
    struct bound high = {to, to ? strlen(to) : 0};
    if (reverse) {
        high = (struct bound){seen, strlen(seen)};
    } else {
        low = (struct bound){seen, strlen(seen) + 1}; /* with its zero: the next text there is */
    }
    return walk_rows(db, table, &low, &high, reverse, visit_max, each, arg, err);
}
