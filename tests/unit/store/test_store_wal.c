/* A write-ahead log that is missing or damaged: what a power cut explains is taken, what it does
 * not explain is refused.
 *
 * LINK: store
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/loop_rig.h"

#include <errno.h>

#include "store/store.h"
#include "store/store_db.h"
#include "store/store_wal.h"

#define FRAME_BYTES (24 + 4096)

static const char *const TABLES[] = {"jobs", NULL};
static const struct store_schema SCHEMA = {.daemon = "schedd", .tables = TABLES, .version = 1};

struct bed {
    char dir[FAST_DIR_SIZE];
    char path[LOOP_RIG_PATH_SIZE];
    struct loop *loop;
    struct os *os;
    struct store_db *db;
};

static int make_bed(void **state)
{
    struct bed *bed = mem_zalloc(sizeof(*bed));
    loop_rig_open(&bed->loop, &bed->os, bed->dir);
    loop_rig_path(bed->dir, "queue.db", bed->path);
    MUST(store_db_open(bed->path, NULL, &SCHEMA, &bed->db, err));
    MUST(store_db_checkpoint(bed->db, err));
    *state = bed;
    return 0;
}

static int remove_bed(void **state)
{
    struct bed *bed = *state;
    store_db_close(bed->db);
    loop_rig_close(bed->loop, bed->os, bed->dir);
    mem_free(bed);
    return 0;
}

/* One transaction of several pages. */
static void put(struct bed *bed, const char *key)
{
    char value[10000];
    memset(value, key[0], sizeof(value));
    MUST(store_db_begin(bed->db, err));
    MUST(store_db_put(bed->db, 0, key, value, sizeof(value), err));
    MUST(store_db_commit(bed->db, err));
}

static char *read_log(const struct bed *bed, size_t *length)
{
    char name[LOOP_RIG_PATH_SIZE + 8];
    char *data = NULL;
    snprintf(name, sizeof(name), "%s-wal", bed->path);
    MUST(os_read_file(bed->os, name, SIZE_MAX / 2, &data, length, err));
    return data;
}

static void write_log(const struct bed *bed, const char *data, size_t length)
{
    char name[LOOP_RIG_PATH_SIZE + 8];
    snprintf(name, sizeof(name), "%s-wal", bed->path);
    MUST(os_write_file(bed->os, name, data, length, 0600, false, err));
}

static void expect(const struct bed *bed, bool must_exist, const char *words)
{
    struct err err = {""};
    int code = store_wal_judge(bed->os, bed->path, must_exist, &err);
    if (words == NULL && code != 0) {
        fail_msg("refused: %s", err.text);
    }
    if (words != NULL && (code != -EUCLEAN || strstr(err.text, words) == NULL ||
                          strstr(err.text, bed->path) == NULL ||
                          strstr(err.text, "roost store accept-loss") == NULL)) {
        fail_msg("expected '%s': %d %s", words, code, err.text);
    }
}

static void a_log_that_is_gone_is_refused_only_where_one_must_exist(void **state)
{
    struct bed *bed = *state;
    char name[LOOP_RIG_PATH_SIZE + 8];
    size_t length = 0;
    put(bed, "a");
    char *log = read_log(bed, &length);
    expect(bed, true, NULL);
    write_log(bed, log, 32); /* a header, and not even one frame */
    expect(bed, true, "is empty");
    expect(bed, false, NULL);
    write_log(bed, "", 0);
    expect(bed, true, "is empty");
    expect(bed, false, NULL);
    snprintf(name, sizeof(name), "%s-wal", bed->path);
    MUST(os_remove(bed->os, name, err));
    expect(bed, true, "is missing");
    expect(bed, false, NULL);
    mem_free(log);
}

static void a_header_that_is_wrong_is_refused_unless_the_log_was_copied_back(void **state)
{
    struct bed *bed = *state;
    size_t length = 0;
    put(bed, "a");
    put(bed, "b");
    char *log = read_log(bed, &length);
    char *zeros = mem_zalloc(length);
    log[3] ^= 0x10;
    write_log(bed, log, length);
    expect(bed, true, "header");
    expect(bed, false, "header");
    MUST(store_db_checkpoint(bed->db, err));
    expect(bed, true, NULL); /* as after a power cut within the new header of the next round */
    log[32 + 100] ^= 1;
    log[length - 100] ^= 1;
    write_log(bed, log, length);
    expect(bed, true, "header");
    write_log(bed, zeros, length);
    expect(bed, true, "header");
    expect(bed, false, "header");
    mem_free(zeros);
    mem_free(log);
}

/* Each byte in turn, with a step that no frame has. */
static void damage_is_refused_exactly_if_two_transactions_stand_behind_it(void **state)
{
    struct bed *bed = *state;
    size_t ends[5] = {0}, length = 0;
    put(bed, "0");
    MUST(store_db_checkpoint(bed->db, err)); /* the next round begins at the front */
    for (size_t i = 0; i < 5; i++) {
        const char key[2] = {(char)('a' + i), '\0'};
        put(bed, key);
        struct store_wal wal;
        MUST(store_wal_read(bed->os, bed->path, &wal, err));
        assert_int_equal(wal.behind, 0);
        ends[i] = wal.good_bytes;
        assert_int_equal((ends[i] - 32) % FRAME_BYTES, 0);
    }
    char *log = read_log(bed, &length);
    for (size_t at = 32; at < ends[4]; at += 997) {
        struct store_wal wal;
        log[at] ^= 4;
        write_log(bed, log, length);
        log[at] ^= 4;
        size_t first = 0; /* the transaction that is damaged */
        while (at >= ends[first]) {
            first++;
        }
        MUST(store_wal_read(bed->os, bed->path, &wal, err));
        assert_int_equal(wal.good_bytes, first == 0 ? 32 : ends[first - 1]);
        /* A flag of a commit, or its salts, may be what is damaged. */
        assert_in_range(wal.behind, 4 - first, 5 - first);
        expect(bed, true, wal.behind >= 2 ? "is damaged behind byte" : NULL);
        expect(bed, false, wal.behind >= 2 ? "is damaged behind byte" : NULL);
    }
    mem_free(log);
}

static void each_cut_of_the_last_transaction_is_taken(void **state)
{
    struct bed *bed = *state;
    size_t before = 0, length = 0;
    put(bed, "a");
    mem_free(read_log(bed, &before));
    put(bed, "b");
    char *log = read_log(bed, &length);
    for (size_t at = before; at < length; at += 497) {
        write_log(bed, log, at);
        expect(bed, true, NULL);
    }
    /* Any part of the transaction may have arrived. */
    for (size_t at = before; at + 512 < length; at += 512) {
        char *torn = mem_dup(log, length);
        memset(torn + at, 0, 512);
        write_log(bed, torn, length);
        mem_free(torn);
        expect(bed, true, NULL);
    }
    mem_free(log);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_bed, remove_bed)

UNIT_TESTS(CASE(a_log_that_is_gone_is_refused_only_where_one_must_exist),
           CASE(a_header_that_is_wrong_is_refused_unless_the_log_was_copied_back),
           CASE(damage_is_refused_exactly_if_two_transactions_stand_behind_it),
           CASE(each_cut_of_the_last_transaction_is_taken))
