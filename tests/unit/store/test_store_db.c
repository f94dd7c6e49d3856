/* Opening, refusing and reading one SQLite file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/fast_dir.h"
#include "tests/support/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/err.h"
#include "store/store.h"
#include "store/store_db.h"

static const char *const TABLES[] = {"jobs", "claims", NULL};
static const struct store_schema SCHEMA = {.daemon = "schedd", .tables = TABLES, .version = 1};

struct place {
    char dir[FAST_DIR_SIZE];
    char path[128];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_true(fast_dir_make(place->dir));
    snprintf(place->path, sizeof(place->path), "%s/queue.db", place->dir);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    char name[160];
    const char *const suffixes[] = {"", "-wal", "-journal", "-shm"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", place->path, suffixes[i]);
        (void)unlink(name);
    }
    assert_int_equal(rmdir(place->dir), 0);
    free(place);
    return 0;
}

static struct store_db *open_db(const struct place *place, const struct store_schema *schema)
{
    struct store_db *db = NULL;
    struct err err = {""};
    if (store_db_open(place->path, NULL, schema, &db, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return db;
}

static void put(struct store_db *db, int table, const char *key, const char *value)
{
    struct err err = {""};
    if (store_db_begin(db, &err) || store_db_put(db, table, key, value, strlen(value), &err) ||
        store_db_commit(db, &err)) {
        fail_msg("%s", err.text);
    }
}

struct seen {
    char text[1024];
    int stop_after;
    int count;
};

static int note(void *arg, const char *key, const void *value, size_t length)
{
    struct seen *seen = arg;
    size_t used = strlen(seen->text);
    snprintf(seen->text + used, sizeof(seen->text) - used, "%s=%.*s ", key, (int)length,
             (const char *)value);
    seen->count++;
    return seen->count == seen->stop_after ? -ECANCELED : 0;
}

static const char *walk(struct store_db *db, struct seen *seen, const char *from, const char *to,
                        bool reverse, size_t max)
{
    *seen = (struct seen){{0}, 0, 0};
    assert_int_equal(store_db_walk(db, 0, from, to, reverse, max, note, seen, NULL), 0);
    return seen->text;
}

static void sql(const struct place *place, const char *text)
{
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(place->path, &handle), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(handle, text, NULL, NULL, &why) != SQLITE_OK) {
        fail_msg("%s", why);
    }
    assert_int_equal(sqlite3_close(handle), SQLITE_OK);
}

static void what_was_committed_is_there_after_reopening(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "1.0", "idle");
    put(db, 1, "1.0", "claim");
    put(db, 0, "1.0", "running");
    store_db_close(db);
    db = open_db(*state, &SCHEMA);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "1.0=running ");
    store_db_close(db);
}

static void what_was_not_committed_is_not_there_after_reopening(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "a", "1");
    assert_int_equal(store_db_begin(db, NULL), 0);
    assert_int_equal(store_db_put(db, 0, "a", "2", 1, NULL), 0);
    assert_int_equal(store_db_delete(db, 0, "a", NULL), 0);
    store_db_close(db);
    db = open_db(*state, &SCHEMA);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "a=1 ");
    store_db_close(db);
}

static void keys_sort_by_bytes_and_ranges_are_half_open(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    const char *const keys[] = {"b", "a", "B", "a1", "\xc3\xa4", "a\x01"};
    for (size_t i = 0; i < 6; i++) {
        put(db, 0, keys[i], "");
    }
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX),
                        "B= a= a\x01= a1= b= \xc3\xa4= ");
    assert_string_equal(walk(db, &seen, "a", "b", false, SIZE_MAX), "a= a\x01= a1= ");
    assert_string_equal(walk(db, &seen, "a", NULL, true, 3), "\xc3\xa4= b= a1= ");
    store_db_close(db);
}

static void a_walk_goes_on_beyond_the_last_key_seen(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    const char *const keys[] = {"a", "a\x01", "ab", "b"};
    for (size_t i = 0; i < 4; i++) {
        put(db, 0, keys[i], "");
    }
    struct seen seen = {{0}, 0, 0};
    assert_int_equal(store_db_walk_beyond(db, 0, NULL, NULL, false, "a", SIZE_MAX, note, &seen,
                                          NULL),
                     0);
    assert_string_equal(seen.text, "a\x01= ab= b= ");
    seen = (struct seen){{0}, 0, 0};
    assert_int_equal(store_db_walk_beyond(db, 0, "a", NULL, true, "ab", SIZE_MAX, note, &seen,
                                          NULL),
                     0);
    assert_string_equal(seen.text, "a\x01= a= ");
    store_db_close(db);
}

static void the_callers_stop_ends_a_walk_and_the_next_walk_begins_anew(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "a", "1");
    put(db, 0, "b", "2");
    struct seen seen = {{0}, 1, 0};
    assert_int_equal(store_db_walk(db, 0, NULL, NULL, false, SIZE_MAX, note, &seen, NULL),
                     -ECANCELED);
    assert_int_equal(seen.count, 1);
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "a=1 b=2 ");
    store_db_close(db);
}

static void values_are_bytes_and_may_be_empty(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    assert_int_equal(store_db_begin(db, NULL), 0);
    assert_int_equal(store_db_put(db, 0, "empty", NULL, 0, NULL), 0);
    assert_int_equal(store_db_put(db, 0, "zeros", "a\0b", 3, NULL), 0);
    assert_int_equal(store_db_commit(db, NULL), 0);
    struct seen seen;
    (void)walk(db, &seen, NULL, NULL, false, SIZE_MAX);
    assert_int_equal(seen.count, 2);
    store_db_close(db);
    sql(*state, "CREATE TABLE t AS SELECT 1 / (length(value) = 3) AS x FROM jobs WHERE key = "
                "'zeros' UNION SELECT 1 / (length(value) = 0) FROM jobs WHERE key = 'empty'");
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(((struct place *)*state)->path, &handle), SQLITE_OK);
    sqlite3_stmt *stmt = NULL;
    sqlite3_prepare_v2(handle, "SELECT count(*), sum(x) FROM t", -1, &stmt, NULL);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(stmt, 1), 1); /* no NULL of a division by zero */
    sqlite3_finalize(stmt);
    sqlite3_close(handle);
}

static void expect_refusal(const struct place *place, const struct store_schema *schema, int code,
                           const char *words)
{
    struct store_db *db = NULL;
    struct err err = {""};
    assert_int_equal(store_db_open(place->path, NULL, schema, &db, &err), code);
    assert_null(db);
    if (!strstr(err.text, words) || !strstr(err.text, place->path)) {
        fail_msg("the message does not say '%s' and the path: %s", words, err.text);
    }
}

static void a_store_that_is_open_is_refused_as_busy(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    expect_refusal(*state, &SCHEMA, -EBUSY, "another process has it open");
    put(db, 0, "still", "works");
    store_db_close(db);
    store_db_close(open_db(*state, &SCHEMA));
}

static void the_store_of_another_daemon_is_refused(void **state)
{
    store_db_close(open_db(*state, &SCHEMA));
    struct store_schema other = SCHEMA;
    other.daemon = "collector";
    expect_refusal(*state, &other, -EPROTO, "belongs to the schedd, not to the collector");
}

static void a_newer_store_is_refused(void **state)
{
    struct store_schema newer = SCHEMA;
    const struct store_migration nothing[] = {{.sql = "SELECT 1"}};
    newer.version = 2;
    newer.migrations = nothing;
    store_db_close(open_db(*state, &newer));
    expect_refusal(*state, &SCHEMA, -EPROTO, "newer program");
}

static void an_older_store_is_migrated_once(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "1", "x");
    store_db_close(db);
    const struct store_migration migrations[] = {
        {.sql = "UPDATE jobs SET value = value || 'y'"},
        {.sql = "UPDATE jobs SET value = value || 'z', sum = row_sum('jobs', key, value || 'z')"},
    };
    struct store_schema newer = SCHEMA;
    newer.version = 3;
    newer.migrations = migrations;
    store_db_close(open_db(*state, &newer));
    db = open_db(*state, &newer);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "1=xyz ");
    store_db_close(db);
}

static void a_migration_that_fails_leaves_the_old_store(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "1", "x");
    store_db_close(db);
    const struct store_migration migrations[] = {
        {.sql = "UPDATE jobs SET value = value || 'y'"},
        {.sql = "UPDATE no_such_table SET value = 1"},
    };
    struct store_schema newer = SCHEMA;
    newer.version = 3;
    newer.migrations = migrations;
    expect_refusal(*state, &newer, -EIO, "no_such_table");
    db = open_db(*state, &SCHEMA);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "1=x ");
    store_db_close(db);
}

/* Doubles the values of "jobs", and puts what they were into "claims". */
static int double_row(struct store_conversion *conversion, const char *table, const char *key,
                      const void *value, size_t length, struct err *err)
{
    char twice[64];
    assert_string_equal(table, "jobs");
    if (length == 0) {
        return err_set(err, -EUCLEAN, "row %s is empty", key);
    }
    (void)snprintf(twice, sizeof twice, "%.*s%.*s", (int)length, (const char *)value, (int)length,
                   (const char *)value);
    int rc = store_convert_put(conversion, "claims", key, value, length, err);
    return rc != 0 ? rc : store_convert_put(conversion, "jobs", key, twice, strlen(twice), err);
}

static const char *const JOBS[] = {"jobs", NULL};
static const struct store_migration DOUBLING[] = {{.tables = JOBS, .convert = double_row}};

static void each_row_of_an_older_store_is_converted_once(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "2", "b");
    put(db, 0, "1", "a");
    put(db, 0, "3", "cc");
    store_db_close(db);
    struct store_schema newer = SCHEMA;
    newer.version = 2;
    newer.migrations = DOUBLING;
    store_db_close(open_db(*state, &newer));
    db = open_db(*state, &newer);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "1=aa 2=bb 3=cccc ");
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "1=aa 2=bb 3=cccc ");
    store_db_close(db);
}

static void a_row_that_cannot_be_converted_leaves_the_old_store(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "1", "a");
    put(db, 0, "2", "");
    store_db_close(db);
    struct store_schema newer = SCHEMA;
    newer.version = 2;
    newer.migrations = DOUBLING;
    struct err err = {""};
    assert_int_equal(store_db_open(((struct place *)*state)->path, NULL, &newer, &db, &err),
                     -EUCLEAN);
    assert_string_equal(err.text, "row 2 is empty");
    db = open_db(*state, &SCHEMA);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "1=a 2= ");
    store_db_close(db);
}

static void a_table_that_is_missing_is_created(void **state)
{
    const char *const fewer[] = {"jobs", NULL};
    struct store_schema old = SCHEMA;
    old.tables = fewer;
    store_db_close(open_db(*state, &old));
    struct store_db *db = open_db(*state, &SCHEMA);
    assert_int_equal(store_db_table(db, "claims"), 1);
    assert_int_equal(store_db_table(db, "meta"), -ENOENT);
    put(db, 1, "a", "1");
    store_db_close(db);
}

static void write_file(const struct place *place, const void *data, size_t length)
{
    FILE *file = fopen(place->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void a_file_of_another_kind_is_refused(void **state)
{
    char text[8192];
    memset(text, 'x', sizeof(text));
    write_file(*state, text, sizeof(text));
    expect_refusal(*state, &SCHEMA, -EUCLEAN, "not a Roost store");
}

static void an_sqlite_file_that_is_no_store_is_refused_and_left_as_it_is(void **state)
{
    sql(*state, "CREATE TABLE mine (x); INSERT INTO mine VALUES (1)");
    expect_refusal(*state, &SCHEMA, -EUCLEAN, "not a Roost store");
    sql(*state, "INSERT INTO mine VALUES (2)");
}

static void an_empty_file_is_a_new_store(void **state)
{
    write_file(*state, "", 0);
    store_db_close(open_db(*state, &SCHEMA));
}

static void a_damaged_page_is_told_as_damage(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    char value[3000];
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = 0;
    for (int i = 0; i < 50; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%04d", i);
        put(db, 0, key, value);
    }
    store_db_close(db);
    FILE *file = fopen(((struct place *)*state)->path, "r+b");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    char noise[4096];
    memset(noise, 0xee, sizeof(noise));
    for (long at = 5L * 4096; at < size; at += 4096) {
        fseek(file, at, SEEK_SET);
        fwrite(noise, 1, sizeof(noise), file);
    }
    fclose(file);
    struct err err = {""};
    struct seen seen = {{0}, 0, 0};
    int code = store_db_open(((struct place *)*state)->path, NULL, &SCHEMA, &db, &err);
    if (!code) {
        code = store_db_walk(db, 0, NULL, NULL, false, SIZE_MAX, note, &seen, &err);
        store_db_close(db);
    }
    assert_int_equal(code, -EUCLEAN);
    assert_non_null(strstr(err.text, "damaged"));
}

static void a_directory_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct place place = {"", "/tmp/roost-no-such-directory/queue.db"};
    expect_refusal(&place, &SCHEMA, -ENOENT, "cannot open the file");
}

static void a_checkpoint_empties_the_log_and_loses_nothing(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "a", "1");
    assert_true(store_db_wal_pages(db) > 0);
    assert_int_equal(store_db_checkpoint(db, NULL), 0);
    assert_int_equal(store_db_wal_pages(db), 0);
    put(db, 0, "b", "2");
    store_db_close(db);
    db = open_db(*state, &SCHEMA);
    struct seen seen;
    assert_string_equal(walk(db, &seen, NULL, NULL, false, SIZE_MAX), "a=1 b=2 ");
    store_db_close(db);
}

static void there_is_no_shared_memory_file(void **state)
{
    struct store_db *db = open_db(*state, &SCHEMA);
    put(db, 0, "a", "1");
    char name[160];
    snprintf(name, sizeof(name), "%s-shm", ((struct place *)*state)->path);
    struct stat st;
    assert_int_equal(stat(name, &st), -1);
    snprintf(name, sizeof(name), "%s-wal", ((struct place *)*state)->path);
    assert_int_equal(stat(name, &st), 0);
    store_db_close(db);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_committed_is_there_after_reopening),
        CASE(what_was_not_committed_is_not_there_after_reopening),
        CASE(keys_sort_by_bytes_and_ranges_are_half_open),
        CASE(a_walk_goes_on_beyond_the_last_key_seen),
        CASE(the_callers_stop_ends_a_walk_and_the_next_walk_begins_anew),
        CASE(values_are_bytes_and_may_be_empty),
        CASE(a_store_that_is_open_is_refused_as_busy),
        CASE(the_store_of_another_daemon_is_refused),
        CASE(a_newer_store_is_refused),
        CASE(an_older_store_is_migrated_once),
        CASE(a_migration_that_fails_leaves_the_old_store),
        CASE(each_row_of_an_older_store_is_converted_once),
        CASE(a_row_that_cannot_be_converted_leaves_the_old_store),
        CASE(a_table_that_is_missing_is_created),
        CASE(a_file_of_another_kind_is_refused),
        CASE(an_sqlite_file_that_is_no_store_is_refused_and_left_as_it_is),
        CASE(an_empty_file_is_a_new_store),
        CASE(a_damaged_page_is_told_as_damage),
        CASE(a_directory_that_is_not_there_is_named),
        CASE(a_checkpoint_empties_the_log_and_loses_nothing),
        CASE(there_is_no_shared_memory_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
