/* Damage to a store's file: what is flipped or overwritten is refused or named, never served and
 * never lost without a word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/fast_dir.h"
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/err.h"
#include "base/random.h"
#include "store/store.h"
#include "store/store_db.h"

#define ROWS        300
#define PAGE_BYTES  4096
#define VALUE_BYTES 400

static const char *const TABLES[] = {"jobs", NULL};
static const struct store_schema SCHEMA = {.daemon = "schedd", .tables = TABLES, .version = 1};

struct place {
    char dir[FAST_DIR_SIZE];
    char path[128];
    unsigned char *whole; /* the file without damage */
    size_t length;
};

static void write_whole(const struct place *place, const unsigned char *bytes, size_t length)
{
    char wal[160];
    snprintf(wal, sizeof(wal), "%s-wal", place->path);
    (void)unlink(wal);
    int fd = open(place->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
}

static void row_of(int n, char key[32], char value[VALUE_BYTES])
{
    snprintf(key, 32, "%010d.%010d", n, n % 7);
    memset(value, 'a' + n % 26, VALUE_BYTES);
    snprintf(value, VALUE_BYTES, "value of %d", n);
}

static struct store_db *open_db(const struct place *place, struct err *err)
{
    struct store_db *db = NULL;
    return store_db_open(place->path, NULL, &SCHEMA, &db, err) == 0 ? db : NULL;
}

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    assert_true(fast_dir_make(place->dir));
    snprintf(place->path, sizeof(place->path), "%s/queue.db", place->dir);
    struct err err = {""};
    struct store_db *db = open_db(place, &err);
    assert_non_null(db);
    assert_int_equal(store_db_begin(db, NULL), 0);
    for (int n = 0; n < ROWS; n++) {
        char key[32], value[VALUE_BYTES];
        row_of(n * 37 % ROWS, key, value);
        assert_int_equal(store_db_put(db, 0, key, value, sizeof(value), NULL), 0);
    }
    assert_int_equal(store_db_commit(db, NULL), 0);
    store_db_close(db); /* copies the write-ahead log back */
    struct stat st;
    assert_int_equal(stat(place->path, &st), 0);
    place->length = (size_t)st.st_size;
    place->whole = malloc(place->length);
    int fd = open(place->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, place->whole, place->length), st.st_size);
    close(fd);
    *state = place;
    return 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    char name[160];
    const char *const suffixes[] = {"", "-wal", "-journal"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", place->path, suffixes[i]);
        (void)unlink(name);
    }
    assert_int_equal(rmdir(place->dir), 0);
    free(place->whole);
    free(place);
    return 0;
}

/* ---- what a load finds ------------------------------------------------------------------------
 */

struct found {
    bool seen[ROWS];
    size_t count;
    size_t named; /* damaged rows */
    char last[64];
    char why[128];
};

static int look(void *arg, const char *key, const void *value, size_t length)
{
    struct found *found = arg;
    char expected_key[32], expected[VALUE_BYTES];
    long n = strtol(key, NULL, 10);
    assert_true(n >= 0 && n < ROWS);
    row_of((int)n, expected_key, expected);
    assert_string_equal(key, expected_key); /* what is served is what was put */
    assert_int_equal(length, VALUE_BYTES);
    assert_memory_equal(value, expected, VALUE_BYTES);
    assert_false(found->seen[n]);
    found->seen[n] = true;
    found->count++;
    return 0;
}

static void name(void *arg, const char *table, const char *key, const char *why)
{
    struct found *found = arg;
    assert_string_equal(table, "jobs");
    found->named++;
    snprintf(found->last, sizeof(found->last), "%.60s", key);
    snprintf(found->why, sizeof(found->why), "%s", why);
}

/* Returns 0, or the code of the refusal. */
static int load(const struct place *place, struct found *found, int64_t *set_aside)
{
    struct err err = {""};
    *found = (struct found){.count = 0};
    struct store_db *db = NULL;
    int code = store_db_open(place->path, NULL, &SCHEMA, &db, &err);
    code = code ? code : store_db_quick_check(db, SIZE_MAX, &err);
    if (code == 0) {
        store_db_on_damage(db, name, found);
        code = store_db_load(db, 0, look, found, &err);
    }
    code = code ? code : store_db_set_aside_count(db, set_aside, &err);
    store_db_close(db);
    assert_true(code == 0 || strstr(err.text, place->path) != NULL);
    return code;
}

/* ---- one kind of damage after the other -------------------------------------------------------
 */

static size_t find_text(const struct place *place, const char *text, int occurrence)
{
    size_t length = strlen(text);
    for (size_t at = 0; at + length <= place->length; at++) {
        if (memcmp(place->whole + at, text, length) == 0 && occurrence-- == 0) {
            return at;
        }
    }
    fail_msg("'%s' is not in the file", text);
    return 0;
}

static void flip(struct place *place, size_t at, unsigned char bit)
{
    unsigned char *bytes = malloc(place->length);
    memcpy(bytes, place->whole, place->length);
    bytes[at] ^= bit;
    write_whole(place, bytes, place->length);
    free(bytes);
}

static void a_flipped_bit_in_a_value_sets_the_row_aside_by_name(void **state)
{
    struct place *place = *state;
    struct found found;
    int64_t set_aside = 0;
    flip(place, find_text(place, "value of 123", 0) + 3, 4);
    assert_int_equal(load(place, &found, &set_aside), 0);
    assert_int_equal(found.count, ROWS - 1);
    assert_int_equal(found.named, 1);
    assert_string_equal(found.last, "0000000123.0000000004");
    assert_int_equal(set_aside, 1);
    assert_int_equal(load(place, &found, &set_aside), 0); /* and the next start is quiet */
    assert_int_equal(found.named, 0);
    assert_int_equal(set_aside, 1);
}

/* The key stands in the row and in the entry of the index: one of them is flipped, so the row can
 * be found again by the other. */
static void a_flipped_bit_in_one_of_the_two_keys_loses_nothing(void **state)
{
    struct place *place = *state;
    for (int occurrence = 0; occurrence < 2; occurrence++) {
        struct found found;
        int64_t set_aside = 0;
        flip(place, find_text(place, "0000000124.0000000005", occurrence) + 12, 2);
        assert_int_equal(load(place, &found, &set_aside), 0);
        assert_int_equal(found.count, ROWS);
        assert_true(found.named >= 1);
        assert_int_equal(set_aside, 0);
        assert_int_equal(load(place, &found, &set_aside), 0); /* it is mended */
        assert_int_equal(found.count, ROWS);
        assert_int_equal(found.named, 0);
        struct err err = {""};
        struct store_db *db = open_db(place, &err); /* and the row can be changed and removed */
        assert_non_null(db);
        assert_int_equal(store_db_begin(db, NULL), 0);
        assert_int_equal(store_db_put(db, 0, "0000000124.0000000005", "x", 1, &err), 0);
        assert_int_equal(store_db_delete(db, 0, "0000000124.0000000005", &err), 0);
        assert_int_equal(store_db_commit(db, &err), 0);
        store_db_close(db);
    }
}

static void rows_that_come_under_each_others_keys_are_set_aside(void **state)
{
    struct place *place = *state;
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(place->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle,
                                  "UPDATE jobs SET key = 'x' WHERE key LIKE '0000000010.%';"
                                  "UPDATE jobs SET key = '0000000010.0000000003' WHERE key LIKE "
                                  "'0000000011.%'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(handle);
    struct found found;
    int64_t set_aside = 0;
    assert_int_equal(load(place, &found, &set_aside), 0);
    assert_int_equal(found.count, ROWS - 2);
    assert_int_equal(found.named, 2);
    assert_int_equal(set_aside, 2);
}

/* ---- any damage -------------------------------------------------------------------------------
 */

static void judge(const struct place *place, const char *what, uint64_t seed)
{
    struct found found;
    int64_t set_aside = 0;
    int code = load(place, &found, &set_aside);
    if (code == 0 && found.count < ROWS && found.named < ROWS - found.count) {
        fail_msg("%s, seed %llu: %zu rows served, %zu named damaged", what,
                 (unsigned long long)seed, found.count, found.named);
    }
    if (code != 0 && code != -EUCLEAN && code != -EPROTO && code != -EIO) {
        fail_msg("%s, seed %llu: code %d", what, (unsigned long long)seed, code);
    }
}

static void no_flipped_bit_is_served_or_loses_a_row_without_a_word(void **state)
{
    struct place *place = *state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rng rng;
        rng_seed(&rng, seed);
        flip(place, (size_t)rng_below(&rng, place->length),
             (unsigned char)(1u << rng_below(&rng, 8)));
        judge(place, "a bit", seed);
    }
}

static void no_overwritten_block_is_served_or_loses_a_row_without_a_word(void **state)
{
    struct place *place = *state;
    const size_t pages = place->length / PAGE_BYTES;
    unsigned char *bytes = malloc(place->length);
    for (size_t page = 0; page < pages; page++) {
        for (int how = 0; how < 3; how++) {
            unsigned char *block = bytes + page * PAGE_BYTES;
            memcpy(bytes, place->whole, place->length);
            if (how == 0) {
                memset(block, 0, PAGE_BYTES);
            } else if (how == 1) {
                memset(block, 0xa5, PAGE_BYTES);
            } else { /* a good page of this file in the wrong place */
                memcpy(block, place->whole + (page + 5) % pages * PAGE_BYTES, PAGE_BYTES);
            }
            write_whole(place, bytes, place->length);
            judge(place, how == 2 ? "a block of the same file" : "a block", page);
        }
    }
    free(bytes);
}

static void a_file_that_was_cut_short_is_refused(void **state)
{
    struct place *place = *state;
    struct found found;
    int64_t set_aside = 0;
    write_whole(place, place->whole, place->length / 2);
    assert_int_equal(load(place, &found, &set_aside), -EUCLEAN);
}

/* ---- the check of all rows --------------------------------------------------------------------
 */

static size_t check_all(struct store_db *db, struct found *found)
{
    struct store_db_check check = {.table = 0};
    size_t slices = 0;
    *found = (struct found){.count = 0};
    store_db_on_damage(db, name, found);
    while (!check.complete) {
        assert_int_equal(store_db_check_slice(db, &check, 64, NULL), 0);
        slices++;
    }
    store_db_check_fini(&check);
    return slices;
}

static void the_check_of_all_rows_goes_in_slices_and_names_what_is_damaged(void **state)
{
    struct place *place = *state;
    struct found found;
    struct err err = {""};
    struct store_db *db = open_db(place, &err);
    assert_int_equal(check_all(db, &found), 2 * (ROWS / 64 + 1)); /* rows, then their index */
    assert_int_equal(found.named, 0);
    store_db_close(db);
    flip(place, find_text(place, "value of 200", 0) + 3, 4);
    db = open_db(place, &err);
    (void)check_all(db, &found);
    assert_true(found.named >= 1);
    assert_string_equal(found.last, "0000000200.0000000004");
    store_db_close(db);
}

#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
UNIT_TESTS(IN_A_PLACE(a_flipped_bit_in_a_value_sets_the_row_aside_by_name),
           IN_A_PLACE(a_flipped_bit_in_one_of_the_two_keys_loses_nothing),
           IN_A_PLACE(rows_that_come_under_each_others_keys_are_set_aside),
           IN_A_PLACE(no_flipped_bit_is_served_or_loses_a_row_without_a_word),
           IN_A_PLACE(no_overwritten_block_is_served_or_loses_a_row_without_a_word),
           IN_A_PLACE(a_file_that_was_cut_short_is_refused),
           IN_A_PLACE(the_check_of_all_rows_goes_in_slices_and_names_what_is_damaged))
