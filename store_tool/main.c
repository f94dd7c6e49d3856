/* store_tool/main.c - roost-store: looks after the store of a daemon that is stopped.
 *
 * What a store is (its daemon, its tables) is read from its witness, which stays good when the
 * store is not.
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
#include "classad/ad.h"
#include "store/row_sum.h"
#include "store/store_beside.h"
#include "store/store_db.h"
#include "store_tool/salvage.h"

#define FILE_BYTES_MAX ((size_t)16 << 30)
#define SLICE_ROWS     10000
#define LINE_NAMED     100 /* damaged rows that are printed by name */

enum { DONE = 0, FAILED = 1, USAGE = 2 };

static const char USAGE_TEXT[] = "usage: roost store check FILE\n"
                                 "       roost store salvage FILE NEW\n"
                                 "       roost store export FILE\n"
                                 "       roost store import FILE\n"
                                 "       roost store import --empty FILE\n"
                                 "`roost help store` says more.\n";

struct tool {
    struct loop *loop;
    struct os *os;
    struct store_witness witness;
    struct store_schema schema; /* as the witness has it */
    size_t damaged;
};

static int say(const struct err *err)
{
    (void)fprintf(stderr, "roost store: %s\n", err->text);
    return FAILED;
}

static int read_witness(struct tool *tool, const char *path, struct err *err)
{
    int code = store_witness_read(tool->os, path, &tool->witness, err);
    if (code == 0 && !tool->witness.present) {
        code = err_set(err, -ENOENT,
                       "%s.witness is missing, which says what the store contains; put it beside "
                       "the store.  The store of an older program gets one when its daemon starts",
                       path);
    }
    tool->schema = (struct store_schema){.daemon = tool->witness.daemon,
                                         .tables = tool->witness.tables,
                                         .version = tool->witness.version,
                                         .must_exist = true};
    return code;
}

static int open_store(struct tool *tool, const char *path, struct store_db **ret, struct err *err)
{
    int code = read_witness(tool, path, err);
    code = code ? code : store_witness_holds(tool->os, path, err);
    code = code ? code : store_db_open(path, NULL, &tool->schema, ret, err);
    return code == -EBUSY ? err_prefix(err, code, "stop its daemon first") : code;
}

/* ---- check ------------------------------------------------------------------------------------
 */

static void name_damage(void *arg, const char *table, const char *key, const char *why)
{
    struct tool *tool = arg;
    if (tool->damaged++ < LINE_NAMED) {
        (void)printf("damaged: %s %s: %s\n", table, key, why);
    }
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
    store_db_close(db);
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
    size_t twice;
    struct err err;
};

static int take_row(void *arg, const struct salvage_row *row)
{
    struct salvage *salvage = arg;
    const char *const *tables = salvage->tool->witness.tables;
    int table = 0;
    while (tables[table] != NULL &&
           row->sum != row_sum(tables[table], row->key, row->key_length, row->value, row->length)) {
        table++;
    }
    if (tables[table] == NULL || row->key_length == 0 || row->key_length > STORE_KEY_MAX) {
        if (salvage->tool->damaged++ < LINE_NAMED) {
            (void)printf("damaged: page %u: '%.*s'\n", row->page,
                         (int)(row->key_length < 64 ? row->key_length : 64), row->key);
        }
        return 0;
    }
    char *key = mem_strndup(row->key, row->key_length);
    int code = store_db_put(salvage->into, table, key, row->value, row->length, &salvage->err);
    salvage->rows[table]++;
    mem_free(key);
    return code;
}

static int read_file(struct os *os, const char *path, const char *suffix, char **data,
                     size_t *length, struct err *err)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s%s", path, suffix);
    int code = os_read_file(os, strbuf_text(&name), FILE_BYTES_MAX, data, length, err);
    strbuf_fini(&name);
    return code;
}

static int refuse_existing(struct tool *tool, const char *path, struct err *err)
{
    struct os_stat st;
    return os_stat(tool->os, path, &st) == -ENOENT
               ? 0
               : err_set(err, -EEXIST, "%s exists already; name a new file", path);
}

/* Creates an empty store and begins to fill it. */
static int begin_new(struct tool *tool, const char *path, struct store_db **ret, struct err *err)
{
    struct os_file *file = NULL;
    tool->schema.must_exist = false;
    int code = os_file_open(tool->os, path, OS_WRITE_NEW, 0600, &file, err);
    os_file_close(file);
    code = code ? code : store_db_open(path, NULL, &tool->schema, ret, err);
    return code ? code : store_db_begin(*ret, err);
}

static int end_new(struct tool *tool, const char *path, struct store_db *db, struct err *err)
{
    int code = store_db_commit(db, err);
    return code ? code
                : store_witness_write(tool->os, path, &tool->schema, &tool->witness.marks, err);
}

static int salvage(struct tool *tool, const char *path, const char *new)
{
    struct salvage salvage = {.tool = tool};
    struct err *err = &salvage.err;
    char *file = NULL, *wal = NULL;
    size_t length = 0, wal_length = 0, broken = 0;
    int code = read_witness(tool, path, err);
    code = code ? code : refuse_existing(tool, new, err);
    code = code ? code : read_file(tool->os, path, "", &file, &length, err);
    if (code == 0 && read_file(tool->os, path, "-wal", &wal, &wal_length, NULL) != 0) {
        wal_length = 0; /* a daemon that was stopped leaves none */
    }
    code = code ? code : begin_new(tool, new, &salvage.into, err);
    code = code ? code
                : salvage_rows((const uint8_t *)file, length, (const uint8_t *)wal, wal_length,
                               take_row, &salvage, &broken, err);
    code = code ? code : end_new(tool, new, salvage.into, err);
    store_db_close(salvage.into);
    mem_free(file);
    mem_free(wal);
    if (code != 0) {
        return say(err);
    }
    for (int i = 0; tool->witness.tables[i] != NULL; i++) {
        (void)printf("%-12s %10zu rows\n", tool->witness.tables[i], salvage.rows[i]);
    }
    (void)printf("%s has what could be read of %s; %zu damaged rows and %zu places that cannot be "
                 "read were left out\n",
                 new, path, tool->damaged, broken);
    return DONE;
}

/* ---- export and import ------------------------------------------------------------------------
 */

struct export
{
    const char *table;
    struct strbuf line;
};

/* The value as an ad that anybody can read, if that is all there is to it; else as hex digits. */
static void put_value(struct ad *row, const void *value, size_t length)
{
    struct ad *ad = NULL, *again = NULL;
    size_t used = 0;
    struct strbuf text, bytes;
    strbuf_init(&text, 0);
    strbuf_init(&bytes, 0);
    if (ad_decode(value, length, &used, &ad, NULL) == 0 && used == length) {
        ad_print(ad, &text);
        if (ad_parse(strbuf_text(&text), text.length, &again, NULL) == 0) {
            ad_encode(again, true, &bytes);
        }
    }
    if (bytes.length == length && length > 0 && memcmp(bytes.data, value, length) == 0) {
        ad_set_ad(row, "Ad", ad);
        ad = NULL;
    } else {
        strbuf_clear(&text);
        for (size_t i = 0; i < length; i++) {
            strbuf_printf(&text, "%02x", ((const unsigned char *)value)[i]);
        }
        ad_set_string(row, "Hex", strbuf_text(&text));
    }
    ad_destroy(ad);
    ad_destroy(again);
    strbuf_fini(&text);
    strbuf_fini(&bytes);
}

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
    put_value(row, value, length);
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
    store_db_close(db);
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
    const struct ad *ad = NULL;
    const char *key = ad_string_or(row, "Key", ""), *hex = ad_string_or(row, "Hex", "");
    const int table = store_db_table(db, ad_string_or(row, "Table", ""));
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    int code = table < 0 || key[0] == '\0' || strlen(key) > STORE_KEY_MAX
                   ? err_set(err, -EINVAL, "a row without a table of the store, or without a key")
                   : 0;
    if (ad_get_ad(row, "Ad", &ad) == 0) {
        ad_encode(ad, true, &bytes);
    }
    for (size_t i = 0; code == 0 && ad == NULL && hex[i] != '\0' && hex[i + 1] != '\0'; i += 2) {
        const char pair[3] = {hex[i], hex[i + 1], '\0'};
        const char byte = (char)strtoul(pair, NULL, 16);
        strbuf_append(&bytes, &byte, 1);
    }
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

static int import(struct tool *tool, const char *path, bool empty)
{
    struct err err = {""};
    struct store_db *db = NULL;
    struct os_stat st;
    int code = 0;
    if (empty) {
        code = read_witness(tool, path, &err);
        if (code == 0 && os_stat(tool->os, path, &st) == 0 && st.size_bytes == 0) {
            code = os_remove(tool->os, path, &err);
        }
    }
    code = code ? code : refuse_existing(tool, path, &err);
    if (code == 0) {
        code = empty ? begin_new(tool, path, &db, &err) : import_lines(tool, path, &db, &err);
    }
    code = code ? code : end_new(tool, path, db, &err);
    store_db_close(db);
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
        return import(tool, argv[2], false);
    }
    if (argc == 4 && strcmp(argv[1], "import") == 0 && strcmp(argv[2], "--empty") == 0) {
        return import(tool, argv[3], true);
    }
    (void)fputs(USAGE_TEXT, stderr);
    return USAGE;
}

int main(int argc, char **argv)
{
    struct tool tool = {.damaged = 0};
    struct err err = {""};
    if (loop_create(&tool.loop, &err) != 0 || os_create(tool.loop, &tool.os, &err) != 0) {
        return say(&err);
    }
    int status = run(&tool, argc, argv);
    os_destroy(tool.os);
    loop_destroy(tool.loop);
    if (fflush(stdout) != 0 && status == DONE) {
        (void)fputs("roost store: cannot write to standard output\n", stderr);
        status = FAILED;
    }
    return status;
}
