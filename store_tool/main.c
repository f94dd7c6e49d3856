/* store_tool/main.c - roost-store: looks after the store of a daemon that is stopped.
 *
 * What a store is (its daemon, its tables) is read from its witness, which stays good when the
 * store is not; without a witness, from the first page of the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "store/row_sum.h"
#include "store/store_beside.h"
#include "store/store_db.h"
#include "store/store_wal.h"
#include "store_tool/row_text.h"
#include "store_tool/salvage.h"

#define FILE_BYTES_MAX ((size_t)16 << 30)
#define SLICE_ROWS     10000
#define LINE_NAMED     100 /* damaged rows that are printed by name */

/* LEFT_OUT: salvage has made the new store, but not all rows could be read. */
enum { DONE = 0, FAILED = 1, USAGE = 2, LEFT_OUT = 3 };

static const char USAGE_TEXT[] = "usage: roost store check FILE\n"
                                 "       roost store salvage FILE NEW\n"
                                 "       roost store accept-loss FILE\n"
                                 "       roost store export FILE\n"
                                 "       roost store import FILE\n"
                                 "       roost store import --empty FILE\n"
                                 "`roost help store` says more.\n";

struct tool {
    struct loop *loop;
    struct os *os;
    struct store_witness witness;
    struct store_schema schema; /* as the witness has it */
    struct strmap *named;       /* damaged rows, as "table key" */
    size_t damaged;
    bool keep_log; /* the store has a write-ahead log, which is not to be copied back */
};

static int say(const struct err *err)
{
    (void)fprintf(stderr, "roost store: %s\n", err->text);
    return FAILED;
}

static char *name_beside(const char *path, const char *suffix)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s%s", path, suffix);
    return strbuf_take(&name);
}

static int read_file(struct os *os, const char *path, const char *suffix, char **data,
                     size_t *length, struct err *err)
{
    char *name = name_beside(path, suffix);
    int code = os_read_file(os, name, FILE_BYTES_MAX, data, length, err);
    mem_free(name);
    return code;
}

/* A store and its write-ahead log, read whole. */
struct file_bytes {
    char *file, *wal;
    struct salvage_bytes bytes;
};

static int file_bytes_init(struct tool *tool, const char *path, struct file_bytes *ret,
                           struct err *err)
{
    size_t length = 0, wal_length = 0;
    *ret = (struct file_bytes){.file = NULL};
    int code = read_file(tool->os, path, "", &ret->file, &length, err);
    if (code == 0 && read_file(tool->os, path, "-wal", &ret->wal, &wal_length, NULL) != 0) {
        wal_length = 0; /* a daemon that was stopped leaves none */
    }
    ret->bytes = (struct salvage_bytes){(const uint8_t *)ret->file, length,
                                        (const uint8_t *)ret->wal, wal_length};
    return code;
}

static void file_bytes_fini(struct file_bytes *bytes)
{
    mem_free(bytes->file);
    mem_free(bytes->wal);
}

/* Finds out without a witness what the store is. */
static int identify(struct tool *tool, const char *path, struct err *err)
{
    struct file_bytes file;
    int code = file_bytes_init(tool, path, &file, err);
    if (code == 0) {
        code = salvage_identify(&file.bytes, &tool->witness, err);
        if (code != 0) {
            code = err_set(err, code,
                           "%s: it cannot be read what the store contains, and %s.witness is "
                           "missing, which says it, too; put it beside the store: the witness of "
                           "any other store of the same daemon and version will do",
                           path, path);
        }
    }
    if (code == 0) {
        (void)fprintf(stderr,
                      "roost store: %s.witness is missing; what the store contains was read from "
                      "the store itself\n",
                      path);
    }
    file_bytes_fini(&file);
    return code;
}

static int read_witness(struct tool *tool, const char *path, struct err *err)
{
    struct os_stat st;
    int code = store_witness_read(tool->os, path, &tool->witness, err);
    if (code == 0 && !tool->witness.present) {
        code = os_stat(tool->os, path, &st);
        code = code ? err_set(err, code, "%s: %s", path, err_code_text(code))
                    : identify(tool, path, err);
    }
    tool->schema = (struct store_schema){.daemon = tool->witness.daemon,
                                         .tables = tool->witness.tables,
                                         .version = tool->witness.version,
                                         .must_exist = true};
    return code;
}

/* Opens the store and changes nothing: a write-ahead log stays. */
static int open_store(struct tool *tool, const char *path, struct store_db **ret, struct err *err)
{
    struct os_stat st;
    int code = read_witness(tool, path, err);
    code = code ? code : store_witness_holds(tool->os, path, err);
    code = code ? code : store_wal_judge(tool->os, path, tool->witness.marks.is_open, err);
    if (code == 0) {
        char *log = name_beside(path, "-wal");
        tool->keep_log = os_stat(tool->os, log, &st) == 0;
        mem_free(log);
        code = store_db_open(path, NULL, &tool->schema, ret, err);
    }
    return code == -EBUSY ? err_prefix(err, code, "stop its daemon first") : code;
}

static void close_store(const struct tool *tool, struct store_db *db)
{
    if (db != NULL && tool->keep_log) {
        store_db_keep_wal(db);
    }
    store_db_close(db);
}

/* Gives a file to the owner of another one: who repairs a store is root, and the daemon may not
 * be. */
static int give_to_owner(struct tool *tool, const char *name, const char *other, struct err *err)
{
    struct os_stat st;
    if (os_uid(tool->os) != 0 || os_stat(tool->os, other, &st) != 0) {
        return 0;
    }
    return os_chown(tool->os, name, st.uid, st.gid, err);
}

/* ---- check ------------------------------------------------------------------------------------
 */

static void name_damage(void *arg, const char *table, const char *key, const char *why)
{
    struct tool *tool = arg;
    struct strbuf row;
    strbuf_init(&row, 0);
    strbuf_printf(&row, "%s %s", table, key);
    /* The check of the rows finds a row, and that of the index finds it again. */
    if (strmap_get(tool->named, strbuf_text(&row)) == NULL) {
        (void)strmap_set(tool->named, strbuf_text(&row), tool);
        if (tool->damaged++ < LINE_NAMED) {
            (void)printf("damaged: %s: %s\n", strbuf_text(&row), why);
        }
    }
    strbuf_fini(&row);
}

static int count_row(void *arg, const char *key, const void *value, size_t length)
{
    (void)key;
    (void)value;
    (void)length;
    ++*(size_t *)arg;
    return 0;
}

static int check_tables(struct tool *tool, struct store_db *db, struct err *err)
{
    struct store_db_check check = {.table = 0};
    int code = 0;
    store_db_on_damage(db, name_damage, tool);
    while (code == 0 && !check.complete) {
        code = store_db_check_slice(db, &check, SLICE_ROWS, err);
    }
    store_db_check_fini(&check);
    store_db_on_damage(db, NULL, NULL);
    for (int i = 0; code == 0 && tool->witness.tables[i] != NULL; i++) {
        size_t rows = 0;
        code = store_db_walk(db, i, NULL, NULL, false, SIZE_MAX, count_row, &rows, err);
        (void)printf("%-12s %10zu rows\n", tool->witness.tables[i], rows);
    }
    return code;
}

static int check(struct tool *tool, const char *path)
{
    struct err err = {""};
    struct store_db *db = NULL;
    int64_t set_aside = 0;
    int code = open_store(tool, path, &db, &err);
    code = code ? code : store_db_quick_check(db, SIZE_MAX, &err);
    code = code ? code : check_tables(tool, db, &err);
    code = code ? code : store_db_set_aside_count(db, &set_aside, &err);
    close_store(tool, db);
    if (code != 0) {
        return say(&err);
    }
    (void)printf("store of the %s: %zu damaged rows, %" PRId64 " set aside before\n",
                 tool->witness.daemon, tool->damaged, set_aside);
    return tool->damaged > 0 || set_aside > 0 ? FAILED : DONE;
}

/* ---- salvage ----------------------------------------------------------------------------------
 */

struct salvage {
    struct tool *tool;
    struct store_db *into;
    size_t rows[STORE_TABLES_MAX];
    struct strmap *keys[STORE_TABLES_MAX + 1]; /* of the rows; NULL-terminated */
    /* Rows that an index names and that were not read: of each table and, last, of pages of an
     * index on which no key says of which table the page is. */
    size_t missing[STORE_TABLES_MAX + 1];
    uint32_t page;      /* of the index */
    struct vec unfound; /* char *: keys of the page */
    int table_of_page;  /* STORE_TABLES_MAX: not known */
    size_t named;
    struct err err;
};

static const char *table_name(const struct salvage *salvage, int table)
{
    return table < STORE_TABLES_MAX ? salvage->tool->witness.tables[table] : "?";
}

/* Counts the keys of a page of an index for which there is no row. */
static void end_page(struct salvage *salvage)
{
    for (size_t i = 0; i < salvage->unfound.count; i++) {
        salvage->missing[salvage->table_of_page]++;
        if (salvage->named++ < LINE_NAMED) {
            (void)printf("missing: %s %s\n", table_name(salvage, salvage->table_of_page),
                         (const char *)salvage->unfound.items[i]);
        }
    }
    vec_fini(&salvage->unfound, mem_free);
    salvage->unfound = (struct vec){0};
    salvage->table_of_page = STORE_TABLES_MAX;
}

static int take_key(void *arg, uint32_t page, const char *text, size_t length)
{
    struct salvage *salvage = arg;
    char *key = mem_strndup(text, length);
    int table = 0;
    if (page != salvage->page) {
        end_page(salvage);
        salvage->page = page;
    }
    while (salvage->keys[table] != NULL && strmap_get(salvage->keys[table], key) == NULL) {
        table++;
    }
    if (salvage->keys[table] != NULL) {
        salvage->table_of_page = table;
    } else if (!store_db_is_meta_key(key)) {
        vec_push(&salvage->unfound, key);
        return 0;
    }
    mem_free(key);
    return 0;
}

static int table_of_row(const struct tool *tool, const struct salvage_row *row)
{
    const char *const *tables = tool->witness.tables;
    int table = 0;
    if (row->is_broken || row->key_length == 0 || row->key_length > STORE_KEY_MAX) {
        return -ENOENT;
    }
    while (tables[table] != NULL &&
           row->sum != row_sum(tables[table], row->key, row->key_length, row->value, row->length)) {
        table++;
    }
    return tables[table] != NULL ? table : -ENOENT;
}

static int take_row(void *arg, const struct salvage_row *row)
{
    struct salvage *salvage = arg;
    const int table = table_of_row(salvage->tool, row);
    if (table < 0) {
        if (salvage->tool->damaged++ < LINE_NAMED && row->is_broken) {
            (void)printf("damaged: page %u: a row that cannot be read\n", row->page);
        } else if (salvage->tool->damaged <= LINE_NAMED) {
            (void)printf("damaged: page %u: '%.*s'\n", row->page,
                         (int)(row->key_length < 64 ? row->key_length : 64), row->key);
        }
        return 0;
    }
    char *key = mem_strndup(row->key, row->key_length);
    int code = store_db_put(salvage->into, table, key, row->value, row->length, &salvage->err);
    (void)strmap_set(salvage->keys[table], key, salvage); /* only presence counts */
    salvage->rows[table]++;
    mem_free(key);
    return code;
}

static int refuse_existing(struct tool *tool, const char *path, struct err *err)
{
    struct os_stat st;
    return os_stat(tool->os, path, &st) == -ENOENT
               ? 0
               : err_set(err, -EEXIST, "%s exists already; name a new file", path);
}

static void remove_new(struct tool *tool, const char *path)
{
    char *log = name_beside(path, "-wal");
    (void)os_remove(tool->os, path, NULL); /* the first error is the one to be told */
    (void)os_remove(tool->os, log, NULL);
    mem_free(log);
}

/* Creates an empty store and begins to fill it. */
static int begin_new(struct tool *tool, const char *path, struct store_db **ret, struct err *err)
{
    struct os_file *file = NULL;
    struct store_db *db = NULL;
    tool->schema.must_exist = false;
    int code = os_file_open(tool->os, path, OS_WRITE_NEW, 0600, &file, err);
    if (code != 0) {
        return code;
    }
    os_file_close(file);
    code = store_db_open(path, NULL, &tool->schema, &db, err);
    code = code ? code : store_db_begin(db, err);
    if (code != 0) {
        store_db_close(db);
        remove_new(tool, path);
        return code;
    }
    *ret = db;
    return 0;
}

/* Ends a new store or, with a code, removes it.  older: ids are to begin above the mark. */
static int end_new(struct tool *tool, const char *path, struct store_db *db, bool older, int code,
                   struct err *err)
{
    struct store_marks marks = tool->witness.marks;
    marks.generation = older ? marks.generation + 1 : 0; /* the new file has none */
    marks.is_open = false;
    code = code ? code : store_db_commit(db, err);
    store_db_close(db);
    code = code ? code : store_witness_write(tool->os, path, &tool->schema, &marks, err);
    if (code != 0 && db != NULL) {
        remove_new(tool, path);
    }
    return code;
}

static int print_salvaged(const struct salvage *salvage, const char *path, const char *new)
{
    const struct tool *tool = salvage->tool;
    size_t missing = salvage->missing[STORE_TABLES_MAX];
    for (int i = 0; tool->witness.tables[i] != NULL; i++) {
        missing += salvage->missing[i];
        (void)printf("%-12s %10zu rows, %zu missing\n", tool->witness.tables[i], salvage->rows[i],
                     salvage->missing[i]);
    }
    if (salvage->missing[STORE_TABLES_MAX] > 0) {
        (void)printf("%-12s %10s       %zu missing\n", "(not known)", "",
                     salvage->missing[STORE_TABLES_MAX]);
    }
    (void)printf("%s has what could be read of %s; %zu rows of the index are missing, %zu damaged "
                 "rows were left out\n",
                 new, path, missing, tool->damaged);
    return missing > 0 || tool->damaged > 0 ? LEFT_OUT : DONE;
}

static int salvage(struct tool *tool, const char *path, const char *new)
{
    struct salvage salvage = {.tool = tool, .table_of_page = STORE_TABLES_MAX};
    struct err *err = &salvage.err;
    struct file_bytes file = {.file = NULL};
    int code = read_witness(tool, path, err);
    code = code ? code : refuse_existing(tool, new, err);
    code = code ? code : file_bytes_init(tool, path, &file, err);
    for (int i = 0; code == 0 && tool->witness.tables[i] != NULL; i++) {
        salvage.keys[i] = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    if (code == 0) {
        code = begin_new(tool, new, &salvage.into, err);
        code = code ? code : salvage_rows(&file.bytes, take_row, &salvage, err);
        code = code ? code : salvage_keys(&file.bytes, take_key, &salvage, err);
        end_page(&salvage);
        code = end_new(tool, new, salvage.into, true, code, err);
    }
    file_bytes_fini(&file);
    int status = code != 0 ? say(err) : print_salvaged(&salvage, path, new);
    for (int i = 0; i < STORE_TABLES_MAX; i++) {
        strmap_destroy(salvage.keys[i], NULL);
    }
    return status;
}

/* ---- accept-loss ------------------------------------------------------------------------------
 */

/* Keeps the log as FILE-wal.damaged, and puts its good part in its place.  Each step can be
 * interrupted: the witness, which is last, still has the store refused. */
static int cut_log(struct tool *tool, const char *path, const struct store_wal *wal,
                   struct err *err)
{
    const size_t good = wal->kind == STORE_WAL_READABLE ? (size_t)wal->good_bytes : 0;
    char *log = name_beside(path, "-wal"), *kept = name_beside(path, "-wal.damaged"), *data = NULL;
    size_t length = 0;
    int code = refuse_existing(tool, kept, err);
    code = code ? code : os_read_file(tool->os, log, FILE_BYTES_MAX, &data, &length, err);
    code = code ? code : os_write_file(tool->os, kept, data, length, 0600, true, err);
    code = code
               ? code
               : os_write_file(tool->os, log, data, good < length ? good : length, 0600, true, err);
    code = code ? code : give_to_owner(tool, log, path, err);
    mem_free(data);
    mem_free(kept);
    mem_free(log);
    return code;
}

static int accept_loss(struct tool *tool, const char *path)
{
    struct err err = {""};
    struct store_wal wal;
    int code = read_witness(tool, path, &err);
    code = code ? code : store_witness_holds(tool->os, path, &err);
    code = code ? code : store_wal_read(tool->os, path, &wal, &err);
    if (code == 0 && store_wal_judge(tool->os, path, tool->witness.marks.is_open, NULL) == 0) {
        (void)printf("%s: nothing of its write-ahead log is lost; nothing was changed\n", path);
        return DONE;
    }
    if (code == 0 && wal.kind != STORE_WAL_MISSING) {
        code = cut_log(tool, path, &wal, &err);
    }
    if (code == 0) {
        struct store_marks marks = tool->witness.marks;
        char *witness = name_beside(path, ".witness");
        marks.generation++; /* the store is an older copy now: ids begin above the mark */
        marks.is_open = false;
        code = store_witness_write(tool->os, path, &tool->schema, &marks, &err);
        code = code ? code : give_to_owner(tool, witness, path, &err);
        mem_free(witness);
    }
    if (code != 0) {
        return say(&err);
    }
    (void)printf("%s: its daemon will go on without the changes that were lost%s\n", path,
                 wal.kind != STORE_WAL_MISSING ? "; the log is kept beside it as -wal.damaged"
                                               : "");
    return DONE;
}

/* ---- export and import ------------------------------------------------------------------------
 */

struct export
{
    const char *table;
    struct strbuf line;
};

static void print_row(struct export *export, struct ad *row)
{
    strbuf_clear(&export->line);
    ad_print(row, &export->line);
    (void)puts(strbuf_text(&export->line));
    ad_destroy(row);
}

static int export_row(void *arg, const char *key, const void *value, size_t length)
{
    struct export *export = arg;
    struct ad *row = ad_create();
    ad_set_string(row, "Table", export->table);
    ad_set_string(row, "Key", key);
    row_text_put(row, value, length);
    print_row(export, row);
    return 0;
}

static int export(struct tool *tool, const char *path)
{
    struct err err = {""};
    struct store_db *db = NULL;
    struct export export = {.table = NULL};
    strbuf_init(&export.line, 0);
    int code = open_store(tool, path, &db, &err);
    if (code == 0) {
        size_t count = 0;
        while (tool->witness.tables[count] != NULL) {
            count++;
        }
        struct ad *head = ad_create();
        ad_set_string(head, "Store", tool->witness.daemon);
        ad_set_int(head, "Version", tool->witness.version);
        ad_set_int(head, "HighWater", tool->witness.marks.high_water);
        ad_set_strings(head, "Tables", tool->witness.tables, count);
        print_row(&export, head);
    }
    for (int i = 0; code == 0 && tool->witness.tables[i] != NULL; i++) {
        export.table = tool->witness.tables[i];
        code = store_db_walk(db, i, NULL, NULL, false, SIZE_MAX, export_row, &export, &err);
    }
    close_store(tool, db);
    strbuf_fini(&export.line);
    return code == 0 ? DONE : say(&err);
}

static int take_head(struct tool *tool, const struct ad *head, struct err *err)
{
    struct store_witness *witness = &tool->witness;
    size_t used = 0, count = 0;
    const struct ad_expr *list = ad_lookup(head, "Tables");
    (void)snprintf(witness->daemon, sizeof(witness->daemon), "%s", ad_string_or(head, "Store", ""));
    witness->version = (int)ad_int_or(head, "Version", 0);
    witness->marks.high_water = ad_int_or(head, "HighWater", 0);
    struct strbuf text;
    strbuf_init(&text, 0);
    if (list != NULL) {
        ad_expr_print(list, AD_NEW, &text);
    }
    /* {"one","two"} */
    const char *at = strbuf_text(&text);
    while ((at = strchr(at, '"')) != NULL && count < STORE_TABLES_MAX) {
        const size_t length = strcspn(++at, "\"");
        if (length == 0 || used + length + 1 > sizeof(witness->names)) {
            break;
        }
        memcpy(witness->names + used, at, length);
        witness->names[used + length] = '\0';
        witness->tables[count++] = witness->names + used;
        used += length + 1;
        at += length + 1;
    }
    witness->tables[count] = NULL;
    strbuf_fini(&text);
    if (witness->daemon[0] == '\0' || witness->version < 1 || count == 0) {
        return err_set(err, -EINVAL, "the first line is not one of `roost store export`");
    }
    tool->schema = (struct store_schema){.daemon = witness->daemon,
                                         .tables = witness->tables,
                                         .version = witness->version};
    return 0;
}

static int import_row(struct store_db *db, const struct ad *row, struct err *err)
{
    const char *key = ad_string_or(row, "Key", "");
    const int table = store_db_table(db, ad_string_or(row, "Table", ""));
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    int code = table < 0 || key[0] == '\0' || strlen(key) > STORE_KEY_MAX
                   ? err_set(err, -EINVAL, "a row without a table of the store, or without a key")
                   : row_text_get(row, &bytes, err);
    code = code ? code : store_db_put(db, table, key, bytes.data, bytes.length, err);
    strbuf_fini(&bytes);
    return code;
}

static int import_lines(struct tool *tool, const char *path, struct store_db **db, struct err *err)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    int code = 0;
    while (code == 0 && (length = getline(&line, &room, stdin)) > 0) {
        struct ad *ad = NULL;
        number++;
        code = ad_parse(line, (size_t)length, &ad, err);
        if (code == 0 && number == 1) {
            code = take_head(tool, ad, err);
            code = code ? code : begin_new(tool, path, db, err);
        } else if (code == 0) {
            code = import_row(*db, ad, err);
        }
        ad_destroy(ad);
    }
    free(line);
    if (code == 0 && number == 0) {
        code = err_set(err, -EINVAL, "nothing on standard input");
    }
    return code ? err_prefix(err, code, "line %zu", number) : 0;
}

/* Takes away what says that there was a store: an empty file, and what stood beside the store.  A
 * log is kept, because rows may be read from it. */
static int clear_place(struct tool *tool, const char *path, struct err *err)
{
    static const char *const SUFFIXES[] = {".reserve", "-shm"};
    char *log = name_beside(path, "-wal"), *kept = name_beside(path, "-wal.damaged");
    struct os_stat st;
    int code = 0;
    if (os_stat(tool->os, path, &st) == 0 && st.size_bytes == 0) {
        code = os_remove(tool->os, path, err);
    }
    code = code ? code : refuse_existing(tool, path, err);
    if (code == 0 && os_stat(tool->os, log, &st) == 0) {
        code = st.size_bytes > 0 ? os_rename(tool->os, log, kept, true, err)
                                 : os_remove(tool->os, log, err);
    }
    for (size_t i = 0; code == 0 && i < 2; i++) {
        char *name = name_beside(path, SUFFIXES[i]);
        code = os_remove(tool->os, name, err);
        mem_free(name);
    }
    mem_free(log);
    mem_free(kept);
    return code;
}

/* Nothing says what the store contained: an empty file lets its daemon make a new one. */
static int let_begin(struct tool *tool, const char *path, struct err *err)
{
    int code = clear_place(tool, path, err);
    code = code ? code : os_write_file(tool->os, path, "", 0, 0600, true, err);
    if (code == 0) {
        (void)fprintf(stderr,
                      "roost store: %s.witness is missing: nothing says which ids were given, and "
                      "the daemon will begin with 1\n",
                      path);
    }
    return code;
}

static int import_empty(struct tool *tool, const char *path)
{
    struct err err = {""};
    struct store_db *db = NULL;
    char *witness = name_beside(path, ".witness");
    const char *slash = strrchr(path, '/');
    char *directory =
        slash != NULL ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup("./");
    int code = store_witness_read(tool->os, path, &tool->witness, &err);
    if (code == 0 && !tool->witness.present) {
        code = let_begin(tool, path, &err);
    } else if (code == 0) {
        code = read_witness(tool, path, &err);
        code = code ? code : clear_place(tool, path, &err);
        code = code ? code : begin_new(tool, path, &db, &err);
        code = end_new(tool, path, db, true, code, &err);
        code = code ? code : give_to_owner(tool, witness, directory, &err);
    }
    code = code ? code : give_to_owner(tool, path, directory, &err);
    mem_free(directory);
    mem_free(witness);
    return code == 0 ? DONE : say(&err);
}

static int import(struct tool *tool, const char *path)
{
    struct err err = {""};
    struct store_db *db = NULL;
    struct store_witness before = {.present = false};
    int code = refuse_existing(tool, path, &err);
    code = code ? code : store_witness_read(tool->os, path, &before, &err);
    if (code == 0) {
        code = import_lines(tool, path, &db, &err);
        /* Lines that were exported before the store was lost are an older copy. */
        const bool older = before.marks.high_water > tool->witness.marks.high_water;
        tool->witness.marks.high_water =
            older ? before.marks.high_water : tool->witness.marks.high_water;
        code = end_new(tool, path, db, before.present, code, &err);
    }
    return code == 0 ? DONE : say(&err);
}

/* ---- the program ------------------------------------------------------------------------------
 */

static int run(struct tool *tool, int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "check") == 0) {
        return check(tool, argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "salvage") == 0) {
        return salvage(tool, argv[2], argv[3]);
    }
    if (argc == 3 && strcmp(argv[1], "export") == 0) {
        return export(tool, argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "import") == 0 && argv[2][0] != '-') {
        return import(tool, argv[2]);
    }
    if (argc == 4 && strcmp(argv[1], "import") == 0 && strcmp(argv[2], "--empty") == 0) {
        return import_empty(tool, argv[3]);
    }
    if (argc == 3 && strcmp(argv[1], "accept-loss") == 0) {
        return accept_loss(tool, argv[2]);
    }
    (void)fputs(USAGE_TEXT, stderr);
    return USAGE;
}

int main(int argc, char **argv)
{
    struct tool tool = {.named = strmap_create(STRMAP_CASE_SENSITIVE)};
    struct err err = {""};
    if (loop_create(&tool.loop, &err) != 0 || os_create(tool.loop, &tool.os, &err) != 0) {
        return say(&err);
    }
    int status = run(&tool, argc, argv);
    os_destroy(tool.os);
    loop_destroy(tool.loop);
    strmap_destroy(tool.named, NULL);
    if (fflush(stdout) != 0 && status == DONE) {
        (void)fputs("roost store: cannot write to standard output\n", stderr);
        status = FAILED;
    }
    return status;
}
