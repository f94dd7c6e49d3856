/* The queue in front of the disk: order, groups, scans, closing.
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
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "store/store.h"

static const char *const TABLES[] = {"jobs", "claims", NULL};
static const struct store_schema SCHEMA = {.daemon = "schedd", .tables = TABLES, .version = 1};

struct bed {
    char dir[FAST_DIR_SIZE];
    char path[128];
    struct loop *loop;
    struct os *os;
    struct store *store;
    char log[4096]; /* what the callbacks noted */
    bool flag;
};

static void open_store(struct bed *bed)
{
    struct err err = {""};
    if (store_open(bed->loop, bed->os, bed->path, &SCHEMA, NULL, &bed->store, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static int make_bed(void **state)
{
    struct bed *bed = calloc(1, sizeof(*bed));
    assert_true(fast_dir_make(bed->dir));
    snprintf(bed->path, sizeof(bed->path), "%s/queue.db", bed->dir);
    assert_int_equal(loop_create(&bed->loop, NULL), 0);
    assert_int_equal(os_create(bed->loop, &bed->os, NULL), 0);
    open_store(bed);
    *state = bed;
    return 0;
}

static int remove_bed(void **state)
{
    struct bed *bed = *state;
    store_close(bed->store);
    os_destroy(bed->os);
    loop_destroy(bed->loop);
    char name[160];
    const char *const suffixes[] = {"", "-wal", "-journal", "-shm", ".witness", ".reserve"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", bed->path, suffixes[i]);
        (void)unlink(name);
    }
    assert_int_equal(rmdir(bed->dir), 0);
    free(bed);
    return 0;
}

static void note(struct bed *bed, const char *text)
{
    size_t used = strlen(bed->log);
    snprintf(bed->log + used, sizeof(bed->log) - used, "%s ", text);
}

struct mark {
    struct bed *bed;
    const char *text;
};

static void on_done(void *arg)
{
    struct mark *mark = arg;
    note(mark->bed, mark->text);
}

static void raise_flag(void *arg)
{
    ((struct bed *)arg)->flag = true;
}

static void put(struct bed *bed, const char *key, const char *value, struct mark *mark)
{
    struct store_txn *txn = store_begin(bed->store);
    store_put(txn, "jobs", key, value, strlen(value));
    store_commit(txn, mark ? on_done : NULL, mark);
}

/* Runs the loop until everything committed so far is durable and told. */
static void settle(struct bed *bed)
{
    bed->flag = false;
    store_commit(store_begin(bed->store), raise_flag, bed);
    loop_run_until(bed->loop, &bed->flag);
}

static int note_row(void *arg, const char *key, const void *value, size_t length)
{
    char text[256];
    snprintf(text, sizeof(text), "%s=%.*s", key, (int)length, (const char *)value);
    note(arg, text);
    return strcmp(key, "stop") == 0 ? -ECANCELED : 0;
}

static const char *load(struct bed *bed)
{
    bed->log[0] = 0;
    assert_int_equal(store_load(bed->store, "jobs", note_row, bed, NULL), 0);
    return bed->log;
}

static const char *reload(struct bed *bed)
{
    store_close(bed->store);
    open_store(bed);
    return load(bed);
}

static void done_is_never_called_inside_commit_and_comes_in_the_order_of_commits(void **state)
{
    struct bed *bed = *state;
    struct mark marks[] = {{bed, "a"}, {bed, "b"}, {bed, "c"}};
    put(bed, "x", "1", &marks[0]);
    store_commit(store_begin(bed->store), on_done, &marks[1]); /* nothing to write */
    put(bed, "y", "2", &marks[2]);
    assert_string_equal(bed->log, "");
    assert_false(store_is_idle(bed->store));
    settle(bed);
    assert_string_equal(bed->log, "a b c ");
    assert_true(store_is_idle(bed->store));
}

static void what_was_told_done_is_there_after_reopening(void **state)
{
    struct bed *bed = *state;
    put(bed, "b", "1", NULL);
    put(bed, "a", "1", NULL);
    put(bed, "b", "2", NULL);
    struct store_txn *txn = store_begin(bed->store);
    store_delete(txn, "jobs", "a");
    store_delete(txn, "jobs", "never was there");
    store_put(txn, "claims", "a", "in another table", 5);
    store_commit(txn, NULL, NULL);
    settle(bed);
    assert_string_equal(reload(bed), "b=2 ");
}

static void a_transaction_that_is_dropped_changes_nothing(void **state)
{
    struct bed *bed = *state;
    struct store_txn *txn = store_begin(bed->store);
    store_put(txn, "jobs", "a", "1", 1);
    store_abort(txn);
    settle(bed);
    assert_string_equal(reload(bed), "");
}

static void the_caller_may_change_key_and_value_after_put(void **state)
{
    struct bed *bed = *state;
    char key[] = "key";
    char value[] = "value";
    struct store_txn *txn = store_begin(bed->store);
    store_put(txn, "jobs", key, value, 5);
    memset(key, 'x', 3);
    memset(value, 'x', 5);
    store_commit(txn, NULL, NULL);
    settle(bed);
    assert_string_equal(reload(bed), "key=value ");
}

static void closing_writes_what_was_committed_and_calls_nobody(void **state)
{
    struct bed *bed = *state;
    struct mark mark = {bed, "called"};
    put(bed, "a", "1", &mark);
    store_close(bed->store);
    assert_string_equal(bed->log, "");
    open_store(bed);
    put(bed, "b", "2", &mark);
    settle(bed);
    put(bed, "c", "3", &mark); /* one under way, one waiting */
    bed->log[0] = 0;
    assert_string_equal(reload(bed), "a=1 b=2 c=3 ");
}

static void the_error_of_a_caller_ends_the_load(void **state)
{
    struct bed *bed = *state;
    put(bed, "a", "1", NULL);
    put(bed, "stop", "2", NULL);
    put(bed, "z", "3", NULL);
    settle(bed);
    bed->log[0] = 0;
    assert_int_equal(store_load(bed->store, "jobs", note_row, bed, NULL), -ECANCELED);
    assert_string_equal(bed->log, "a=1 stop=2 ");
}

static void commit_again(void *arg)
{
    struct bed *bed = arg;
    size_t calls = strlen(bed->log) / 2;
    note(bed, "x");
    if (calls == 20) {
        bed->flag = true;
        return;
    }
    struct store_txn *txn = store_begin(bed->store);
    char key[24];
    snprintf(key, sizeof(key), "%03zu", calls);
    store_put(txn, "jobs", key, "", 0);
    store_commit(txn, commit_again, bed);
}

static void a_callback_may_commit(void **state)
{
    struct bed *bed = *state;
    store_commit(store_begin(bed->store), commit_again, bed);
    loop_run_until(bed->loop, &bed->flag);
    (void)reload(bed);
    assert_non_null(strstr(bed->log, "019="));
}

struct ticker {
    struct bed *bed;
    struct loop_timer *timer;
    int count;
};

static void commit_now_and_then(void *arg)
{
    struct ticker *ticker = arg;
    char key[24];
    snprintf(key, sizeof(key), "%04d", ticker->count++);
    put(ticker->bed, key, "", NULL);
    if (ticker->count < 300) {
        loop_timer_set(ticker->timer, 0);
    } else {
        ticker->bed->flag = true;
    }
}

static void what_is_committed_while_another_commit_is_under_way_is_not_forgotten(void **state)
{
    struct bed *bed = *state;
    struct ticker ticker = {.bed = bed};
    ticker.timer = loop_timer_create(bed->loop, commit_now_and_then, &ticker);
    loop_timer_set(ticker.timer, 0);
    loop_run_until(bed->loop, &bed->flag);
    settle(bed);
    loop_timer_destroy(ticker.timer);
    (void)reload(bed);
    for (int i = 0; i < 300; i++) {
        char key[24];
        snprintf(key, sizeof(key), "%04d= ", i);
        assert_non_null(strstr(bed->log, key));
    }
}

static void note_scan(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct bed *bed = arg;
    assert_int_equal(result, 0);
    for (size_t i = 0; i < count; i++) {
        (void)note_row(bed, rows[i].key, rows[i].value, rows[i].length);
    }
    note(bed, ".");
    bed->flag = true;
}

static enum store_verdict keep_even(void *filter_arg, const struct store_row *row)
{
    (*(size_t *)filter_arg)++;
    return (row->key[strlen(row->key) - 1] - '0') % 2 == 0 ? STORE_KEEP : STORE_LEAVE;
}

static void put_numbers(struct bed *bed, int count)
{
    struct store_txn *txn = store_begin(bed->store);
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%05d", i);
        store_put(txn, "jobs", key, "", 0);
    }
    store_commit(txn, NULL, NULL);
}

static void a_scan_sees_what_was_committed_before_it(void **state)
{
    struct bed *bed = *state;
    put(bed, "a", "1", NULL);
    store_scan(bed->store, "jobs", NULL, NULL, false, 0, NULL, NULL, note_scan, bed);
    put(bed, "b", "2", NULL);
    assert_string_equal(bed->log, "");
    loop_run_until(bed->loop, &bed->flag);
    assert_string_equal(bed->log, "a=1 . ");
    settle(bed);
}

static void a_scan_keeps_range_order_filter_and_limit(void **state)
{
    struct bed *bed = *state;
    put_numbers(bed, 20);
    size_t looked = 0;
    store_scan(bed->store, "jobs", "00003", "00012", true, 3, keep_even, &looked, note_scan, bed);
    loop_run_until(bed->loop, &bed->flag);
    assert_string_equal(bed->log, "00010= 00008= 00006= . ");
    assert_int_equal(looked, 6); /* 11 down to 6 */
}

static enum store_verdict count_row(void *filter_arg, const struct store_row *row)
{
    (void)row;
    (*(size_t *)filter_arg)++;
    return STORE_LEAVE;
}

static void note_end_of_scan(void *arg, int result, const struct store_row *rows, size_t count)
{
    (void)rows;
    assert_int_equal(result, 0);
    assert_int_equal(count, 0);
    note(arg, "scanned");
    ((struct bed *)arg)->flag = true;
}

static void a_long_scan_lets_commits_pass_and_sees_each_row_once(void **state)
{
    struct bed *bed = *state;
    put_numbers(bed, 5000);
    settle(bed);
    size_t looked = 0;
    struct mark mark = {bed, "committed"};
    for (int reverse = 0; reverse < 2; reverse++) {
        bed->log[0] = 0;
        bed->flag = false;
        looked = 0;
        store_scan(bed->store, "jobs", NULL, NULL, reverse == 1, 0, count_row, &looked,
                   note_end_of_scan, bed);
        put(bed, "00007", "", &mark);
        loop_run_until(bed->loop, &bed->flag);
        assert_string_equal(bed->log, "committed scanned ");
        assert_int_equal(looked, 5000);
    }
}

static enum store_verdict pause_at_each(void *filter_arg, const struct store_row *row)
{
    (void)row;
    size_t *looked = filter_arg;
    return (*looked)++ % 2 == 0 ? STORE_KEEP_AND_PAUSE : STORE_LEAVE_AND_PAUSE;
}

static void a_filter_that_takes_long_lets_commits_pass_at_each_row(void **state)
{
    struct bed *bed = *state;
    struct mark mark = {bed, "committed"};
    put_numbers(bed, 6);
    settle(bed);
    size_t looked = 0;
    bed->log[0] = 0;
    bed->flag = false;
    store_scan(bed->store, "jobs", NULL, NULL, false, 0, pause_at_each, &looked, note_scan, bed);
    put(bed, "00003", "x", &mark);
    loop_run_until(bed->loop, &bed->flag);
    assert_int_equal(looked, 6);
    assert_non_null(strstr(bed->log, "committed 00000="));
    assert_non_null(strstr(bed->log, "00002= 00004= "));
}

static void a_scan_of_a_whole_number_of_slices_ends(void **state)
{
    struct bed *bed = *state;
    put_numbers(bed, 1000);
    size_t looked = 0;
    store_scan(bed->store, "jobs", NULL, NULL, false, 0, count_row, &looked, note_end_of_scan, bed);
    loop_run_until(bed->loop, &bed->flag);
    assert_int_equal(looked, 1000);
}

static void closing_drops_a_scan_that_is_under_way(void **state)
{
    struct bed *bed = *state;
    put_numbers(bed, 3000);
    settle(bed);
    size_t looked = 0;
    store_scan(bed->store, "jobs", NULL, NULL, false, 0, count_row, &looked, note_end_of_scan, bed);
    bed->log[0] = 0;
    store_close(bed->store);
    assert_string_equal(bed->log, "");
    open_store(bed);
}

static void the_log_is_copied_back_while_commits_go_on(void **state)
{
    struct bed *bed = *state;
    char value[4000];
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = 0;
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 50; k++) {
            char key[16];
            snprintf(key, sizeof(key), "%02d", k);
            value[0] = (char)('!' + i % 90); /* what is there already would not be written */
            put(bed, key, value, NULL);
        }
        settle(bed);
    }
    char name[160];
    snprintf(name, sizeof(name), "%s-wal", bed->path);
    struct stat st;
    assert_int_equal(stat(name, &st), 0);
    assert_in_range(st.st_size, 1, 3L * 1000 * 4096); /* 5000 pages and more were written */
}

static void a_new_file_can_be_read_by_its_owner_only(void **state)
{
    struct bed *bed = *state;
    put(bed, "a", "1", NULL);
    settle(bed);
    const char *const suffixes[] = {"", "-wal"};
    for (size_t i = 0; i < 2; i++) {
        char name[160];
        snprintf(name, sizeof(name), "%s%s", bed->path, suffixes[i]);
        struct stat st;
        assert_int_equal(stat(name, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
}

static void a_second_opener_is_refused(void **state)
{
    struct bed *bed = *state;
    struct store *second = NULL;
    struct err err = {""};
    assert_int_equal(store_open(bed->loop, bed->os, bed->path, &SCHEMA, NULL, &second, &err),
                     -EBUSY);
    assert_null(second);
    assert_non_null(strstr(err.text, bed->path));
}

/* ---- a store that is lost or damaged ----------------------------------------------------------
 */

static void expect_refusal(const struct bed *bed, const char *words)
{
    struct store *store = NULL;
    struct err err = {""};
    assert_int_equal(store_open(bed->loop, bed->os, bed->path, &SCHEMA, NULL, &store, &err),
                     -EUCLEAN);
    assert_null(store);
    if (strstr(err.text, words) == NULL || strstr(err.text, bed->path) == NULL) {
        fail_msg("the message does not say '%s' and the path: %s", words, err.text);
    }
}

static void a_missing_or_empty_file_is_refused_where_there_was_one(void **state)
{
    struct bed *bed = *state;
    struct stat st;
    put(bed, "a", "1", NULL);
    settle(bed);
    store_close(bed->store);
    bed->store = NULL;
    char kept[160];
    snprintf(kept, sizeof(kept), "%s.kept", bed->path);
    assert_int_equal(rename(bed->path, kept), 0);
    expect_refusal(bed, "the file is missing");
    assert_int_equal(stat(bed->path, &st), -1); /* nothing was put in its place */
    FILE *file = fopen(bed->path, "w");
    assert_non_null(file);
    fclose(file);
    expect_refusal(bed, "the file is empty");
    sqlite3 *handle = NULL; /* an SQLite file without anything, as its own shell leaves it */
    assert_int_equal(sqlite3_open(bed->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, "VACUUM; PRAGMA user_version = 0", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(handle);
    expect_refusal(bed, "empty");
    assert_int_equal(rename(kept, bed->path), 0);
    open_store(bed);
    assert_string_equal(load(bed), "a=1 ");
}

static void the_high_water_mark_of_the_witness_is_above_each_id_given(void **state)
{
    struct bed *bed = *state;
    assert_int_equal(store_high_water(bed->store), 0);
    for (int64_t id = 1; id < 3 * STORE_WATER_STEP; id += STORE_WATER_STEP / 2) {
        struct store_txn *txn = store_begin(bed->store);
        store_put(txn, "jobs", "id", "x", 1);
        store_raise(txn, id);
        store_commit(txn, NULL, NULL);
        settle(bed);
        (void)reload(bed);
        assert_in_range(store_high_water(bed->store), id + 1, id + STORE_WATER_STEP);
    }
}

/* ---- copies -----------------------------------------------------------------------------------
 */

static void copy_beside(const struct bed *bed, const char *from, const char *to, const char *suffix)
{
    char name[180], *data = NULL;
    size_t length = 0;
    snprintf(name, sizeof(name), "%s%s%s", bed->path, from, suffix);
    assert_int_equal(os_read_file(bed->os, name, SIZE_MAX / 2, &data, &length, NULL), 0);
    snprintf(name, sizeof(name), "%s%s%s", bed->path, to, suffix);
    assert_int_equal(os_write_file(bed->os, name, data, length, 0600, false, NULL), 0);
    mem_free(data);
}

static void remove_copy(const struct bed *bed, const char *copy, const char *suffix)
{
    char name[180];
    snprintf(name, sizeof(name), "%s%s%s", bed->path, copy, suffix);
    (void)unlink(name);
}

static const char *const PARTS[] = {"", "-wal", ".witness"};

/* What a daemon leaves that is killed now, as the files PATH.killed... */
static void copy_killed(const struct bed *bed)
{
    for (size_t i = 0; i < 3; i++) {
        copy_beside(bed, "", ".killed", PARTS[i]);
    }
}

static void open_killed(struct bed *bed)
{
    for (size_t i = 0; i < 3; i++) {
        copy_beside(bed, ".killed", "", PARTS[i]);
        remove_copy(bed, ".killed", PARTS[i]);
    }
    open_store(bed);
}

static void a_log_that_is_lost_after_a_kill_is_refused_and_after_a_stop_is_not(void **state)
{
    struct bed *bed = *state;
    char log_name[180];
    snprintf(log_name, sizeof(log_name), "%s-wal", bed->path);
    put(bed, "a", "1", NULL);
    settle(bed);
    copy_killed(bed);
    store_close(bed->store);
    bed->store = NULL;
    assert_int_equal(access(log_name, F_OK), -1);
    open_store(bed); /* nothing is missing after a stop in order */
    store_close(bed->store);
    bed->store = NULL;
    copy_beside(bed, ".killed", "", ".witness");
    expect_refusal(bed, "-wal is missing");
    assert_int_equal(access(log_name, F_OK), -1); /* it changes nothing */
    expect_refusal(bed, "-wal is missing");
    open_killed(bed);
    assert_string_equal(load(bed), "a=1 ");
}

static void a_refused_file_keeps_its_log(void **state)
{
    struct bed *bed = *state;
    char log_name[180];
    snprintf(log_name, sizeof(log_name), "%s-wal", bed->path);
    put(bed, "a", "1", NULL);
    settle(bed);
    copy_killed(bed);
    store_close(bed->store);
    bed->store = NULL;
    for (size_t i = 0; i < 3; i++) {
        copy_beside(bed, ".killed", "", PARTS[i]);
    }
    const struct store_schema other = {.daemon = "collector", .tables = TABLES, .version = 1};
    assert_int_equal(store_open(bed->loop, bed->os, bed->path, &other, NULL, &bed->store, NULL),
                     -EPROTO);
    open_killed(bed);
    assert_string_equal(load(bed), "a=1 ");
}

static void give_id(struct bed *bed, int64_t id)
{
    struct store_txn *txn = store_begin(bed->store);
    store_put(txn, "jobs", "id", "x", 1);
    store_raise(txn, id);
    store_commit(txn, NULL, NULL);
    settle(bed);
}

static void ids_of_an_older_copy_begin_above_the_mark_and_those_of_a_restart_do_not(void **state)
{
    struct bed *bed = *state;
    give_id(bed, 5);
    (void)reload(bed);
    assert_int_equal(store_id_floor(bed->store), 0); /* a normal restart */
    copy_killed(bed);                                /* a copy of the open store is one, too */
    store_close(bed->store);
    bed->store = NULL;
    copy_beside(bed, "", ".old", "");
    open_store(bed);
    assert_int_equal(store_id_floor(bed->store), 0);
    store_close(bed->store);
    bed->store = NULL;
    for (int round = 0; round < 2; round++) {
        copy_beside(bed, round == 0 ? ".old" : ".killed", "", "");
        open_store(bed);
        assert_int_equal(store_id_floor(bed->store), 5 + STORE_WATER_STEP);
        (void)reload(bed); /* the number stays, also if no id was given */
        assert_int_equal(store_id_floor(bed->store), 5 + STORE_WATER_STEP);
        store_close(bed->store);
        bed->store = NULL;
    }
    remove_copy(bed, ".old", "");
    for (size_t i = 0; i < 3; i++) {
        remove_copy(bed, ".killed", PARTS[i]);
    }
    open_store(bed);
}

static void a_store_and_a_witness_of_an_older_program_open(void **state)
{
    struct bed *bed = *state;
    char name[180];
    snprintf(name, sizeof(name), "%s.witness", bed->path);
    give_id(bed, 5);
    store_close(bed->store);
    bed->store = NULL;
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(bed->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, "DELETE FROM meta WHERE key <> 'daemon'", NULL, NULL,
                                  NULL),
                     SQLITE_OK);
    sqlite3_close(handle);
    static const char OLD[] =
        "roost-store-witness 1\ndaemon schedd\nversion 1\nhigh_water 1005\ntables jobs claims\n";
    assert_int_equal(os_write_file(bed->os, name, OLD, sizeof(OLD) - 1, 0600, false, NULL), 0);
    open_store(bed);
    assert_int_equal(store_id_floor(bed->store), 0);
    assert_int_equal(store_high_water(bed->store), 1005);
    assert_string_equal(load(bed), "id=x ");
}

static void a_witness_that_is_missing_or_of_another_daemon_is_made_anew(void **state)
{
    struct bed *bed = *state;
    char name[180];
    snprintf(name, sizeof(name), "%s.witness", bed->path);
    put(bed, "a", "1", NULL);
    settle(bed);
    store_close(bed->store);
    bed->store = NULL;
    assert_int_equal(unlink(name), 0);
    open_store(bed);
    assert_string_equal(load(bed), "a=1 ");
    store_close(bed->store);
    bed->store = NULL;
    static const char OTHER[] = "roost-store-witness 1\ndaemon collector\nversion 7\nhigh_water 9\n"
                                "tables ads\ngeneration 99\nstate closed\n";
    assert_int_equal(os_write_file(bed->os, name, OTHER, sizeof(OTHER) - 1, 0600, false, NULL), 0);
    open_store(bed);
    assert_string_equal(load(bed), "a=1 ");
    assert_int_equal(store_id_floor(bed->store), 0);
    store_close(bed->store);
    bed->store = NULL;
    assert_int_equal(unlink(bed->path), 0);
    expect_refusal(bed, "the file is missing"); /* so there is a witness again */
    assert_int_equal(unlink(name), 0);
    open_store(bed);
}

static void what_stands_beside_a_lost_store_says_that_there_was_one(void **state)
{
    struct bed *bed = *state;
    char name[180];
    store_close(bed->store);
    bed->store = NULL;
    remove_copy(bed, "", "");
    remove_copy(bed, "", ".witness");
    snprintf(name, sizeof(name), "%s.reserve", bed->path);
    assert_int_equal(os_write_file(bed->os, name, "x", 1, 0600, false, NULL), 0);
    expect_refusal(bed, ".reserve says that there was a store");
    expect_refusal(bed, "roost store import --empty");
    remove_copy(bed, "", ".reserve");
    struct store_schema schema = SCHEMA;
    schema.remains = "owner";
    snprintf(name, sizeof(name), "%s/owner", bed->dir);
    assert_int_equal(os_mkdirs(bed->os, name, 0700, NULL), 0);
    assert_int_equal(store_open(bed->loop, bed->os, bed->path, &schema, NULL, &bed->store, NULL),
                     -EUCLEAN);
    assert_int_equal(rmdir(name), 0);
    open_store(bed);
}

static void a_damaged_row_is_left_out_counted_and_named(void **state)
{
    struct bed *bed = *state;
    put(bed, "bad", "1", NULL);
    put(bed, "good", "2", NULL);
    settle(bed);
    assert_string_equal(store_problem(bed->store), "");
    store_close(bed->store);
    sqlite3 *handle = NULL;
    assert_int_equal(sqlite3_open(bed->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, "UPDATE jobs SET value = '9' WHERE key = 'bad'", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(handle);
    open_store(bed);
    bed->log[0] = 0;
    assert_string_equal(load(bed), "good=2 ");
    assert_int_equal(store_damaged_rows(bed->store), 1);
    assert_non_null(strstr(store_problem(bed->store), "1 damaged row of "));
    assert_non_null(strstr(store_problem(bed->store), "set aside: jobs bad"));
    bed->log[0] = 0;
    assert_string_equal(reload(bed), "good=2 "); /* and the count stays */
    assert_int_equal(store_damaged_rows(bed->store), 1);
}

static void note_problem(void *arg)
{
    ((struct bed *)arg)->flag = true;
}

static void a_row_that_the_daemon_finds_wrong_is_counted_once(void **state)
{
    struct bed *bed = *state;
    bed->flag = false;
    store_on_problem(bed->store, note_problem, bed);
    store_note_damage(bed->store, "jobs", "k", "it contradicts another row");
    store_note_damage(bed->store, "jobs", "k", "it contradicts another row");
    assert_true(bed->flag);
    assert_int_equal(store_damaged_rows(bed->store), 1);
    store_on_problem(bed->store, NULL, NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_bed, remove_bed)

UNIT_TESTS(CASE(done_is_never_called_inside_commit_and_comes_in_the_order_of_commits),
           CASE(what_was_told_done_is_there_after_reopening),
           CASE(a_transaction_that_is_dropped_changes_nothing),
           CASE(the_caller_may_change_key_and_value_after_put),
           CASE(closing_writes_what_was_committed_and_calls_nobody),
           CASE(the_error_of_a_caller_ends_the_load), CASE(a_callback_may_commit),
           CASE(what_is_committed_while_another_commit_is_under_way_is_not_forgotten),
           CASE(a_scan_sees_what_was_committed_before_it),
           CASE(a_scan_keeps_range_order_filter_and_limit),
           CASE(a_long_scan_lets_commits_pass_and_sees_each_row_once),
           CASE(a_scan_of_a_whole_number_of_slices_ends),
           CASE(a_filter_that_takes_long_lets_commits_pass_at_each_row),
           CASE(a_filter_that_takes_long_lets_commits_pass_at_each_row),
           CASE(closing_drops_a_scan_that_is_under_way),
           CASE(the_log_is_copied_back_while_commits_go_on),
           CASE(a_new_file_can_be_read_by_its_owner_only), CASE(a_second_opener_is_refused),
           CASE(a_missing_or_empty_file_is_refused_where_there_was_one),
           CASE(the_high_water_mark_of_the_witness_is_above_each_id_given),
           CASE(a_log_that_is_lost_after_a_kill_is_refused_and_after_a_stop_is_not),
           CASE(a_refused_file_keeps_its_log),
           CASE(ids_of_an_older_copy_begin_above_the_mark_and_those_of_a_restart_do_not),
           CASE(a_store_and_a_witness_of_an_older_program_open),
           CASE(a_witness_that_is_missing_or_of_another_daemon_is_made_anew),
           CASE(what_stands_beside_a_lost_store_says_that_there_was_one),
           CASE(a_damaged_row_is_left_out_counted_and_named),
           CASE(a_row_that_the_daemon_finds_wrong_is_counted_once))
