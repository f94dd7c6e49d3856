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
#include "store/row_sum.h"
#include "store/store.h"
#include "store/store_db_parts.h"

#define META_TABLE STORE_META_TABLE

/* user_version is FORMAT * FORMAT_STEP + the version of the daemon's schema.  Format 0 has no
 * checksums.  An older program takes the sum for a newer schema, and refuses it. */
#define FORMAT      1
#define FORMAT_STEP STORE_FORMAT_STEP

/* The walks read the key from the index, and the row by its id: the two must agree. */
#define WALK_SQL                                                                       \
    "SELECT i.key, r.key, r.value, r.sum, i.id FROM \"%w\" AS i LEFT JOIN \"%w\" AS r" \
    " ON r.id = i.id WHERE i.key >= ?1 AND i.key < ?2 ORDER BY i.key"

static const char *const STATEMENT_SQL[STORE_STATEMENT_COUNT] = {
    [STORE_PUT] = "INSERT INTO \"%w\" (key, value, sum) VALUES (?1, ?2, ?3)"
                  " ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
    [STORE_DELETE] = "DELETE FROM \"%w\" WHERE key = ?1",
    [STORE_WALK] = WALK_SQL,
    [STORE_WALK_REVERSE] = WALK_SQL " DESC",
    [STORE_CHECK_ROWS] = "SELECT r.id, r.key, r.value, r.sum,"
                         " (SELECT i.id FROM \"%w\" AS i WHERE i.key = r.key)"
                         " FROM \"%w\" AS r NOT INDEXED WHERE r.id > ?1 ORDER BY r.id LIMIT ?2",
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

int store_db_failed(const struct store_db *db, const char *what, struct err *err)
{
    int code = code_of(sqlite3_errcode(db->handle));
    if (code == -EIO && sqlite3_system_errno(db->handle) == EROFS) {
        code = -EROFS;
    } else if (code == -EIO && sqlite3_system_errno(db->handle) == EDQUOT) {
        code = -EDQUOT;
    }
    if (code == -EUCLEAN) {
        return err_set(
            err, code,
            "store %s: %s: damaged file: %s; restore the file from a backup, or take out "
            "of it what can be read: roost store salvage",
            db->path, what, sqlite3_errmsg(db->handle));
    }
    return err_set(err, code ? code : -EIO, "store %s: %s: %s (SQLite code %d)", db->path, what,
                   sqlite3_errmsg(db->handle), sqlite3_extended_errcode(db->handle));
}

/* ---- small statements ------------------------------------------------------------------------ */

int store_db_run(struct store_db *db, const char *sql, const char *what, struct err *err)
{
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return store_db_failed(db, what, err);
    }
    return 0;
}

/* Runs a statement and gets the first column of its first row as a number. */
int store_db_run_int(struct store_db *db, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK) {
        return store_db_failed(db, "reading the type and version of the store", err);
    }
    int code = 0;
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        *ret = sqlite3_column_int64(stmt, 0);
    } else {
        code = store_db_failed(db, "reading the type and version of the store", err);
    }
    sqlite3_finalize(stmt);
    return code;
}

int store_db_prepare(struct store_db *db, int table, enum store_statement which, sqlite3_stmt **ret,
                     struct err *err)
{
    struct store_table *t = &db->tables[table];
    if (!t->cached[which]) {
        char *sql = sqlite3_mprintf(STATEMENT_SQL[which], t->name, t->name);
        int code = sql ? sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                            &t->cached[which], NULL)
                       : SQLITE_NOMEM;
        sqlite3_free(sql);
        if (code != SQLITE_OK) {
            return store_db_failed(db, t->name, err);
        }
    }
    *ret = t->cached[which];
    return 0;
}

static int step_and_reset(struct store_db *db, int table, sqlite3_stmt *stmt, struct err *err)
{
    int code = 0;
    if (sqlite3_step(stmt) != SQLITE_DONE) {
        code = store_db_failed(db, db->tables[table].name, err);
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
    return store_db_failed(db, "opening", err);
}

static int busy_text(const struct store_db *db, int code, struct err *err)
{
    if (code == -EBUSY) {
        return err_set(err, code, "store %s: another process has it open", db->path);
    }
    return code;
}

/* Checks that the file is a Roost store.  Sets *created when the file is empty: new, or left by a
 * process that died while it created the store.  must_exist: such a file is refused. */
static int judge_file(struct store_db *db, bool must_exist, bool *created, struct err *err)
{
    int64_t application_id = 0;
    int64_t objects = 0;
    int code = store_db_run_int(db, "PRAGMA application_id", &application_id, err);
    if (!code) {
        code = store_db_run_int(db, "SELECT count(*) FROM sqlite_schema", &objects, err);
    }
    if (code == -EUCLEAN && (sqlite3_errcode(db->handle) & 0xff) == SQLITE_NOTADB) {
        return err_set(err, code, "store %s: not a Roost store", db->path);
    }
    if (code) {
        return busy_text(db, code, err);
    }
    *created = application_id == 0 && objects == 0;
    if (*created && must_exist) {
        return err_set(err, -EUCLEAN,
                       "store %s: the file is an empty SQLite file, where a store is expected",
                       db->path);
    }
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
        return store_db_failed(db, "reading which daemon the store belongs to", err);
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
        code = store_db_failed(db, "reading which daemon the store belongs to", err);
    }
    sqlite3_finalize(stmt);
    if (code) {
        return code;
    }
    int64_t version = 0;
    code = store_db_run_int(db, "PRAGMA user_version", &version, err);
    if (!code && (version > FORMAT * FORMAT_STEP + schema->version ||
                  version % FORMAT_STEP > schema->version)) {
        code = err_set(err, -EPROTO,
                       "store %s: the schema has version %lld, but this program supports only "
                       "versions up to %d; a newer program wrote the store",
                       db->path, (long long)version, FORMAT * FORMAT_STEP + schema->version);
    }
    if (!code && version % FORMAT_STEP < 1) {
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
    int result = code == SQLITE_OK ? 0 : store_db_failed(db, table, err);
    int64_t last = INT64_MIN;
    while (result == 0) {
        (void)sqlite3_bind_int64(stmt, 1, last); /* the one place there is */
        code = sqlite3_step(stmt);
        if (code != SQLITE_ROW) {
            result = code == SQLITE_DONE ? 0 : store_db_failed(db, table, err);
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
    int code = migration->sql != NULL ? store_db_run(db, migration->sql, "migrating", err) : 0;
    for (size_t i = 0; code == 0 && migration->tables != NULL && migration->tables[i] != NULL;
         i++) {
        code = convert_table(db, migration->tables[i], migration->convert, err);
    }
    return code;
}

/* row_sum(table, key, value) for SQL. */
static void sql_row_sum(sqlite3_context *context, int count, sqlite3_value **values)
{
    CHECK(count == 3);
    const char *table = (const char *)sqlite3_value_text(values[0]);
    const void *key = sqlite3_value_text(values[1]);
    const void *value = sqlite3_value_blob(values[2]);
    sqlite3_result_int(context, row_sum(table != NULL ? table : "", key != NULL ? key : "",
                                        (size_t)sqlite3_value_bytes(values[1]), value,
                                        (size_t)sqlite3_value_bytes(values[2])));
}

static int table_exists(struct store_db *db, const char *name, bool *ret, struct err *err)
{
    char sql[128 + STORE_KEY_MAX];
    int64_t count = 0;
    (void)sqlite3_snprintf(
        sizeof(sql), sql, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%q'",
        name);
    int code = store_db_run_int(db, sql, &count, err);
    *ret = code == 0 && count > 0;
    return code;
}

static int all_tables_exist(struct store_db *db, bool *ret, struct err *err)
{
    int code = table_exists(db, STORE_SET_ASIDE_TABLE, ret, err);
    for (int i = 0; code == 0 && *ret && i < db->table_count; i++) {
        code = table_exists(db, db->tables[i].name, ret, err);
    }
    return code;
}

/* Gives each row of a store without checksums its checksum. */
static int add_sums(struct store_db *db, struct err *err)
{
    int code = 0;
    for (int i = 0; code == 0 && i < db->table_count; i++) {
        const char *name = db->tables[i].name;
        bool exists = false;
        code = table_exists(db, name, &exists, err);
        char *sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;"
                                    "UPDATE \"%w\" SET sum = row_sum('%q', key, value);",
                                    name, name, name);
        if (code == 0 && exists) {
            code = store_db_run(db, sql, "adding checksums", err);
        }
        sqlite3_free(sql);
    }
    return code;
}

static int create_tables(struct store_db *db, const struct store_schema *schema, bool created,
                         struct err *err)
{
    struct strbuf sql;
    strbuf_init(&sql, 0);
    if (created) {
        strbuf_printf(&sql,
                      "CREATE TABLE " META_TABLE " (key TEXT NOT NULL PRIMARY KEY, value TEXT);"
                      "INSERT INTO " META_TABLE " VALUES ('daemon', '%s');"
                      "PRAGMA application_id = %d;",
                      schema->daemon, STORE_APPLICATION_ID);
    }
    strbuf_printf(&sql, "CREATE TABLE IF NOT EXISTS " STORE_SET_ASIDE_TABLE
                        " (id INTEGER PRIMARY KEY, home TEXT NOT NULL, key, value, sum);");
    for (int i = 0; i < db->table_count; i++) {
        strbuf_printf(&sql,
                      "CREATE TABLE IF NOT EXISTS \"%s\" (id INTEGER PRIMARY KEY,"
                      " key TEXT NOT NULL UNIQUE, value BLOB NOT NULL,"
                      " sum INTEGER NOT NULL DEFAULT 0);",
                      db->tables[i].name);
    }
    int code = store_db_run(db, strbuf_text(&sql), "creating the tables", err);
    strbuf_fini(&sql);
    return code;
}

/* Makes the file a store of this schema, in one transaction: owner, tables, checksums, migrations,
 * version.  Writes nothing if the file is one already: the disk may be full. */
static int bring_up_to_date(struct store_db *db, const struct store_schema *schema, bool created,
                            struct err *err)
{
    const int wanted = FORMAT * FORMAT_STEP + schema->version;
    int64_t version = wanted;
    bool complete = false;
    int code = created ? 0 : store_db_run_int(db, "PRAGMA user_version", &version, err);
    if (!code && !created) {
        code = all_tables_exist(db, &complete, err);
    }
    if (code || (complete && version == wanted)) {
        return code;
    }
    code = store_db_run(db, "BEGIN IMMEDIATE", "beginning to create or convert the tables", err);
    if (!code && version < FORMAT_STEP) {
        code = add_sums(db, err);
    }
    if (!code) {
        code = create_tables(db, schema, created, err);
    }
    for (int64_t v = version % FORMAT_STEP; !code && v < schema->version; v++) {
        code = migrate_step(db, &schema->migrations[v - 1], err);
    }
    char sql[64];
    (void)sqlite3_snprintf(sizeof(sql), sql, "PRAGMA user_version = %d", wanted);
    if (!code) {
        code = store_db_run(db, sql, "writing the schema version", err);
    }
    if (!code) {
        code = store_db_run(db, "COMMIT", "committing the created or converted tables", err);
    }
    return code;
}

static int configure_db(struct store_db *db, struct err *err)
{
    /* Before the first access: only then does EXCLUSIVE spare the shared memory file. */
    int code = store_db_run(db,
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
        code = store_db_failed(db, "switching to a write-ahead log", err);
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
    code = store_db_run(db, strbuf_text(&sql), "opening", err);
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
    CHECK(name_is_plain(schema->daemon) && schema->version >= 1 && schema->version < FORMAT_STEP);
    for (size_t i = 0; schema->tables[i]; i++) {
        const char *name = schema->tables[i];
        CHECK(i < STORE_TABLES_MAX && name_is_plain(name) && strcmp(name, META_TABLE) != 0 &&
              strcmp(name, STORE_SET_ASIDE_TABLE) != 0);
        db->tables[db->table_count++].name = mem_strdup(name);
    }
    int code = open_file(db, vfs, err);
    if (db->handle) {
        mem_on_drop(db->handle, drop_handle);
    }
    if (!code) {
        code = configure_db(db, err);
    }
    if (!code) {
        code = judge_file(db, schema->must_exist, &db->is_new, err);
    }
    if (!code && !db->is_new) {
        code = judge_owner(db, schema, err);
    }
    if (!code) {
        code = go_wal(db, err);
    }
    if (!code && sqlite3_create_function_v2(db->handle, "row_sum", 3, SQLITE_UTF8, NULL,
                                            sql_row_sum, NULL, NULL, NULL) != SQLITE_OK) {
        code = store_db_failed(db, "opening", err);
    }
    if (!code) {
        (void)sqlite3_wal_hook(db->handle, on_wal_grown, db);
        code = busy_text(db, bring_up_to_date(db, schema, db->is_new, err), err);
    }
    if (code) {
        store_db_keep_wal(db);
        store_db_close(db);
        return code;
    }
    *ret = db;
    return 0;
}

void store_db_keep_wal(struct store_db *db)
{
    if (db->handle != NULL) {
        (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
}

bool store_db_is_new(const struct store_db *db)
{
    return db->is_new;
}

/* ---- the file's life ---------------------------------------------------------------------------
 */

#define GENERATION "generation"
#define ID_FLOOR   "id_floor"

bool store_db_is_meta_key(const char *key)
{
    return strcmp(key, "daemon") == 0 || strcmp(key, GENERATION) == 0 || strcmp(key, ID_FLOOR) == 0;
}

int store_db_read_life(struct store_db *db, struct store_db_life *ret, struct err *err)
{
    static const char SQL[] =
        "SELECT ifnull(max(CAST(value AS INTEGER)), 0) FROM " META_TABLE " WHERE key = ";
    char sql[sizeof(SQL) + 32];
    struct store_db_life life = {0};
    (void)sqlite3_snprintf(sizeof(sql), sql, "%s'" GENERATION "'", SQL);
    int code = store_db_run_int(db, sql, &life.generation, err);
    (void)sqlite3_snprintf(sizeof(sql), sql, "%s'" ID_FLOOR "'", SQL);
    code = code ? code : store_db_run_int(db, sql, &life.id_floor, err);
    *ret = life;
    return code;
}

int store_db_write_life(struct store_db *db, const struct store_db_life *life, struct err *err)
{
    char sql[256];
    (void)sqlite3_snprintf(sizeof(sql), sql,
                           "INSERT INTO " META_TABLE " VALUES ('" GENERATION "', '%lld'),"
                           " ('" ID_FLOOR "', '%lld')"
                           " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                           (long long)life->generation, (long long)life->id_floor);
    return store_db_run(db, sql, "noting the generation", err);
}

void store_db_close(struct store_db *db)
{
    if (!db) {
        return;
    }
    for (int i = 0; i < db->table_count; i++) {
        for (int k = 0; k < STORE_STATEMENT_COUNT; k++) {
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
    return store_db_run(db, "BEGIN IMMEDIATE", "beginning a transaction", err);
}

static int bind_failed(struct store_db *db, int table, sqlite3_stmt *stmt, struct err *err)
{
    int code = store_db_failed(db, db->tables[table].name, err);
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

int store_db_put(struct store_db *db, int table, const char *key, const void *value, size_t length,
                 struct err *err)
{
    sqlite3_stmt *stmt;
    int code = store_db_prepare(db, table, STORE_PUT, &stmt, err);
    if (code) {
        return code;
    }
    /* An empty value has to be a value of length 0, and a null pointer would bind NULL. */
    if (sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_blob64(stmt, 2, length ? value : "", length, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_bind_int(stmt, 3,
                         row_sum(db->tables[table].name, key, strlen(key), value, length)) !=
            SQLITE_OK) {
        return bind_failed(db, table, stmt, err);
    }
    return step_and_reset(db, table, stmt, err);
}

int store_db_delete(struct store_db *db, int table, const char *key, struct err *err)
{
    sqlite3_stmt *stmt;
    int code = store_db_prepare(db, table, STORE_DELETE, &stmt, err);
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
    return store_db_run(db, "COMMIT", "commit", err);
}

void store_db_rollback(struct store_db *db)
{
    if (!sqlite3_get_autocommit(db->handle)) {
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL); /* it cannot fail for long */
    }
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
        return store_db_failed(db, "copying back the write-ahead log", err);
    }
    db->wal_pages = in_log - copied;
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct bound {
    const char *text; /* NULL: larger than every key */
    size_t length;
};

void store_db_read_walked(struct store_db *db, int table, sqlite3_stmt *stmt,
                          struct store_walked *ret)
{
    const char *name = db->tables[table].name;
    ret->key = (const char *)sqlite3_column_text(stmt, 0);
    ret->key_length = (size_t)sqlite3_column_bytes(stmt, 0);
    ret->value = sqlite3_column_blob(stmt, 2);
    ret->length = (size_t)sqlite3_column_bytes(stmt, 2);
    ret->id = sqlite3_column_int64(stmt, 4);
    ret->fault = STORE_ROW_GOOD;
    if (ret->key == NULL || (!ret->value && sqlite3_errcode(db->handle) == SQLITE_NOMEM)) {
        ret->key = NULL;
        return;
    }
    if (sqlite3_column_type(stmt, 1) == SQLITE_NULL &&
        sqlite3_column_type(stmt, 2) == SQLITE_NULL) {
        ret->fault = STORE_ROW_LOST;
    } else if (strlen(ret->key) != ret->key_length || ret->key_length > STORE_KEY_MAX ||
               sqlite3_column_int64(stmt, 3) !=
                   row_sum(name, ret->key, ret->key_length, ret->value, ret->length)) {
        ret->fault = STORE_ROW_BAD;
    } else if (sqlite3_column_bytes(stmt, 1) != (int)ret->key_length ||
               memcmp(sqlite3_column_blob(stmt, 1), ret->key, ret->key_length) != 0) {
        ret->fault = STORE_ROW_KEY_DIFFERS;
    }
    if (ret->value == NULL) {
        ret->value = "";
    }
}

static const char *const FAULT_TEXTS[] = {
    [STORE_ROW_LOST] = "the index of the table names the row, but the table does not have it",
    [STORE_ROW_BAD] = "the checksum of the row does not match",
    [STORE_ROW_KEY_DIFFERS] = "the row has another key in the table than in the index",
};

static int walk_rows(struct store_db *db, int table, const struct bound *from,
                     const struct bound *to, bool reverse, size_t visit_max, store_db_each_f each,
                     void *arg, struct err *err)
{
    sqlite3_stmt *stmt;
    int code = store_db_prepare(db, table, reverse ? STORE_WALK_REVERSE : STORE_WALK, &stmt, err);
    if (code) {
        return code;
    }
    CHECK(from->length <= INT_MAX && to->length <= INT_MAX);
    /* Every text sorts below every blob, so an empty blob is the open end. */
    int to_bound = to->text ? sqlite3_bind_text(stmt, 2, to->text, (int)to->length, SQLITE_STATIC)
                            : sqlite3_bind_zeroblob(stmt, 2, 0);
    if (sqlite3_bind_text(stmt, 1, from->text, (int)from->length, SQLITE_STATIC) != SQLITE_OK ||
        to_bound != SQLITE_OK) {
        return bind_failed(db, table, stmt, err);
    }
    int step = SQLITE_DONE;
    for (size_t visited = 0; visited < visit_max && (step = sqlite3_step(stmt)) == SQLITE_ROW;) {
        struct store_walked row;
        store_db_read_walked(db, table, stmt, &row);
        step = SQLITE_DONE; /* if this row is the last */
        if (!row.key) {
            code = err_set(err, -ENOMEM, "store %s: %s: out of memory", db->path,
                           db->tables[table].name);
            break;
        }
        db->walked += row.fault != STORE_ROW_LOST;
        if (row.fault != STORE_ROW_GOOD) {
            store_db_tell_damage(db, table, row.key, FAULT_TEXTS[row.fault]);
        }
        if (row.fault == STORE_ROW_GOOD || row.fault == STORE_ROW_KEY_DIFFERS) {
            visited++;
            code = each(arg, row.key, row.value, row.length);
            if (code) {
                break;
            }
        }
    }
    if (!code && step != SQLITE_DONE) {
        code = store_db_failed(db, db->tables[table].name, err);
    }
    (void)sqlite3_reset(stmt); /* tells again what step() told */
    (void)sqlite3_clear_bindings(stmt);
    return code;
}

void store_db_on_damage(struct store_db *db, store_db_damage_f tell, void *arg)
{
    db->on_damage = tell;
    db->on_damage_arg = arg;
}

void store_db_tell_damage(struct store_db *db, int table, const char *key, const char *why)
{
    db->faults++;
    if (db->on_damage != NULL) {
        db->on_damage(db->on_damage_arg, db->tables[table].name, key, why);
    }
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
