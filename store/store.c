/* store/store.c - the queue in front of the disk: group commit, scans in slices, checkpoints.
 *
 * Design note.  The store has a queue of jobs and gives its lane (worker thread) one at a time.  A
 * job is a batch, a slice of a scan, or a checkpoint.  A batch is all transactions that came while
 * another job was under way; it is committed as one.  store_commit() adds to the batch at the end
 * of the queue, or starts a new one when the last job is under way or is a scan.  So a scan sees
 * all transactions that were committed before it, and the order is that of the calls.  When the
 * lane is idle, the first batch does not start at once but at the end of the present turn of the
 * loop (a timer of 0), so all transactions of that moment share one fsync.
 *
 * The next job is given to the lane before the callbacks of the last one are called, so that the
 * disk works while the loop answers; but a batch that these callbacks are still filling is not
 * given.
 *
 * Rejected: SQLite's own threads for transactions (there is one writer at a time anyway); a timer
 * that waits for more transactions (under load the fsync itself has this effect, and without load
 * it only adds latency).
 *
 * Invariant: only the job that is under way is shared with the worker thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/plant.h"
#include "store/store_db.h"

#define SCAN_SLICE_ROWS 500 /* rows looked at before a scan lets waiting commits pass */

struct change {
    struct change *next;
    int table;
    bool is_delete;
    size_t length;
    const char *value; /* points into data */
    char data[];       /* key, zero, value */
};

struct store_txn {
    struct store_txn *next; /* next one of its batch */
    struct store *store;
    struct change *first;
    struct change **end;
    void (*done)(void *arg);
    void *arg;
};

struct scan {
    int table;
    char *from;
    char *to; /* NULL: open end */
    bool reverse;
    size_t limit;
    store_filter_f filter;
    void *filter_arg;
    store_scan_f done;
    void *arg;
    struct store_row *rows;
    size_t count;
    size_t capacity;
    size_t bytes;
    size_t visited; /* rows looked at in this slice */
    char *seen;     /* last key that was looked at; NULL: none yet */
    bool complete;
};

enum job_kind { JOB_BATCH, JOB_SCAN, JOB_CHECKPOINT };

struct job {
    struct job *next;
    struct store *store;
    enum job_kind kind;
    /* JOB_BATCH */
    struct store_txn *first;
    struct store_txn **end;
    struct scan *scan; /* JOB_SCAN */
    /* written by the worker */
    bool executed;
    int code;
    struct err err;
};

struct store {
    struct loop *loop;
    struct log *log;
    struct loop_lane *lane;
    struct loop_timer *kick;
    struct store_db *db;
    char *path;
    struct job *first; /* the head is under way when `running` */
    struct job **end;
    bool running;
    bool calling_back;
    bool checkpoint_queued;
};

static void start_next(struct store *store);

/* ---- memory ---------------------------------------------------------------------------------- */

static void txn_destroy(struct store_txn *txn)
{
    for (struct change *change = txn->first, *next; change; change = next) {
        next = change->next;
        mem_free(change);
    }
    mem_free(txn);
}

static void scan_destroy(struct scan *scan)
{
    if (!scan) {
        return;
    }
    for (size_t i = 0; i < scan->count; i++) {
        mem_free((void *)(uintptr_t)scan->rows[i].key); /* key and value are one block */
    }
    mem_free(scan->rows);
    mem_free(scan->from);
    mem_free(scan->to);
    mem_free(scan->seen);
    mem_free(scan);
}

static void job_destroy(struct job *job)
{
    for (struct store_txn *txn = job->first, *next; txn; txn = next) {
        next = txn->next;
        txn_destroy(txn);
    }
    scan_destroy(job->scan);
    mem_free(job);
}

static struct job *enqueue_job(struct store *store, enum job_kind kind)
{
    struct job *job = mem_zalloc(sizeof(*job));
    job->store = store;
    job->kind = kind;
    job->end = &job->first;
    *store->end = job;
    store->end = &job->next;
    return job;
}

/* Takes the first job out of the queue. */
static struct job *dequeue_job(struct store *store)
{
    struct job *job = store->first;
    store->first = job->next;
    if (!store->first) {
        store->end = &store->first;
    }
    job->next = NULL;
    return job;
}

/* ---- on the lane ----------------------------------------------------------------------------- */

static int execute_batch(struct store_db *db, struct job *job)
{
    int code = 0;
    bool begun = false;
    for (struct store_txn *txn = job->first; txn && !code; txn = txn->next) {
        for (struct change *change = txn->first; change && !code; change = change->next) {
            if (!begun) {
                code = store_db_begin(db, &job->err);
                begun = true;
            }
            if (!code && change->is_delete) {
                code = store_db_delete(db, change->table, change->data, &job->err);
            } else if (!code) {
                code = store_db_put(db, change->table, change->data, change->value, change->length,
                                    &job->err);
            }
        }
    }
    if (!code && begun) {
        code = store_db_commit(db, &job->err);
    }
    return code;
}

static int scan_keep(struct scan *scan, const struct store_row *row)
{
    size_t key_size = strlen(row->key) + 1;
    scan->bytes += key_size + row->length;
    if (scan->bytes > STORE_SCAN_BYTES_MAX) {
        return -E2BIG;
    }
    if (scan->count == scan->capacity) {
        size_t capacity = scan->capacity ? scan->capacity * 2 : 64;
        struct store_row *rows = mem_try_realloc(scan->rows, capacity * sizeof(*rows));
        if (!rows) {
            return -ENOMEM;
        }
        scan->rows = rows;
        scan->capacity = capacity;
    }
    char *block = mem_try_alloc(key_size + row->length);
    if (!block) {
        return -ENOMEM;
    }
    memcpy(block, row->key, key_size);
    memcpy(block + key_size, row->value, row->length);
    scan->rows[scan->count++] = (struct store_row){block, block + key_size, row->length};
    return 0;
}

/* Values that end a walk and are not errors. */
#define SCAN_ENOUGH 1
#define SCAN_PAUSE  2

static int scan_look(void *arg, const char *key, const void *value, size_t length)
{
    struct scan *scan = arg;
    struct store_row row = {key, value, length};
    enum store_verdict verdict = STORE_KEEP;
    scan->visited++;
    if (scan->filter) {
        verdict = scan->filter(scan->filter_arg, &row);
    }
    if (verdict == STORE_KEEP || verdict == STORE_KEEP_AND_PAUSE) {
        int code = scan_keep(scan, &row);
        if (code) {
            return code;
        }
        if (scan->count == scan->limit) {
            return SCAN_ENOUGH;
        }
    }
    bool pauses = verdict == STORE_LEAVE_AND_PAUSE || verdict == STORE_KEEP_AND_PAUSE;
    if (pauses || scan->visited == SCAN_SLICE_ROWS) {
        mem_free(scan->seen);
        scan->seen = mem_strdup(key);
    }
    return pauses ? SCAN_PAUSE : 0;
}

static int execute_scan(struct store_db *db, struct job *job)
{
    struct scan *scan = job->scan;
    scan->visited = 0;
    int code;
    if (scan->seen) {
        code = store_db_walk_beyond(db, scan->table, scan->from, scan->to, scan->reverse,
                                    scan->seen, SCAN_SLICE_ROWS, scan_look, scan, &job->err);
    } else {
        code = store_db_walk(db, scan->table, scan->from, scan->to, scan->reverse, SCAN_SLICE_ROWS,
                             scan_look, scan, &job->err);
    }
    scan->complete = code != SCAN_PAUSE && (code != 0 || scan->visited < SCAN_SLICE_ROWS);
    return code == SCAN_ENOUGH || code == SCAN_PAUSE ? 0 : code;
}

static int execute_job(void *arg)
{
    struct job *job = arg;
    struct store_db *db = job->store->db;
    int code = 0;
    switch (job->kind) {
    case JOB_BATCH:
        code = execute_batch(db, job);
        break;
    case JOB_SCAN:
        code = execute_scan(db, job);
        break;
    case JOB_CHECKPOINT:
        code = store_db_checkpoint(db, &job->err);
        break;
    }
    job->executed = true;
    job->code = code;
    return code;
}

/* ---- back on the loop ------------------------------------------------------------------------ */

static void finish_batch(struct store *store, struct job *job)
{
    store->calling_back = true;
    for (struct store_txn *txn = job->first; txn; txn = txn->next) {
        if (txn->done) {
            txn->done(txn->arg);
        }
    }
    store->calling_back = false;
    job_destroy(job);
}

/* Ends a job of a scan; a scan with more rows to see goes to the end of the queue. */
static void finish_scan(struct store *store, struct job *job, int code)
{
    if (!code && !job->scan->complete) {
        *store->end = job;
        store->end = &job->next;
        return;
    }
    store->calling_back = true;
    job->scan->done(job->scan->arg, code, code ? NULL : job->scan->rows,
                    code ? 0 : job->scan->count);
    store->calling_back = false;
    job_destroy(job);
}

static void finish_checkpoint(struct store *store, struct job *job, int code)
{
    store->checkpoint_queued = false;
    if (code == -ENOSPC) {
        log_error(store->log, "store.full",
                  "the disk is full; the write-ahead log cannot be copied back and grows",
                  LOG_TEXT("path", store->path));
    } else if (code) {
        loop_fatal(store->loop, job->err.text);
    }
    job_destroy(job);
}

static void job_finished(void *arg, int code)
{
    struct job *job = arg;
    struct store *store = job->store;
    CHECK(store->running && store->first == job);
    store->running = false;
    (void)dequeue_job(store);
    if (job->kind == JOB_BATCH) {
        if (code) {
            loop_fatal(store->loop, job->err.text);
        }
        if (!store->checkpoint_queued && store_db_wal_pages(store->db) >= STORE_CHECKPOINT_PAGES) {
            store->checkpoint_queued = true;
            (void)enqueue_job(store, JOB_CHECKPOINT);
        }
    }
    start_next(store);
    switch (job->kind) {
    case JOB_BATCH:
        finish_batch(store, job);
        break;
    case JOB_SCAN:
        finish_scan(store, job, code);
        break;
    case JOB_CHECKPOINT:
        finish_checkpoint(store, job, code);
        break;
    }
    start_next(store);
}

/* Gives the lane its next job, if there is one and the lane is free. */
static void start_next(struct store *store)
{
    if (store->running || !store->first || store->calling_back) {
        return;
    }
    store->running = true;
    loop_timer_stop(store->kick);
    loop_lane_run(store->lane, execute_job, job_finished, store->first);
}

static void on_kick(void *arg)
{
    start_next(arg);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int refuse_network_fs(struct os *os, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char *directory =
        slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");
    int code = 0;
    if (os_is_network_fs(os, directory)) {
        code = err_set(err, -EREMOTEIO,
                       "store %s: %s is on a network file system, where locks and flushes are not "
                       "reliable; use a local disk",
                       path, directory);
    }
    mem_free(directory);
    return code;
}

/* Creates the file with mode 0600, because SQLite would make it readable by everybody; SQLite's log
 * gets the mode of the file. */
static void create_private(struct os *os, const char *path)
{
    struct os_file *file = NULL;
    if (os_file_open(os, path, OS_WRITE_NEW, 0600, &file, NULL) == 0) {
        os_file_close(file);
    }
    /* there already, or cannot be: opening it tells */
}

int store_open(struct loop *loop, struct os *os, const char *path,
               const struct store_schema *schema, struct log *log, struct store **ret,
               struct err *err)
{
    const char *vfs = os_sqlite_vfs(os);
    int code = refuse_network_fs(os, path, err);
    if (!code && !vfs) {
        create_private(os, path);
    }
    struct store_db *db = NULL;
    if (!code) {
        code = store_db_open(path, vfs, schema, &db, err);
    }
    if (code) {
        return code;
    }
    struct store *store = mem_zalloc(sizeof(*store));
    store->loop = loop;
    store->log = log;
    store->db = db;
    store->path = mem_strdup(path);
    store->end = &store->first;
    store->lane = loop_lane_create(loop);
    store->kick = loop_timer_create(loop, on_kick, store);
    *ret = store;
    return 0;
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    CHECK(!store->calling_back);
    loop_timer_destroy(store->kick);
    loop_lane_destroy(store->lane);
    while (store->first) {
        struct job *job = dequeue_job(store);
        if (job->kind == JOB_BATCH) {
            if (!job->executed) {
                (void)execute_job(job); /* its code is in the job */
            }
            if (job->code) {
                loop_fatal(store->loop, job->err.text);
            }
        }
        job_destroy(job);
    }
    store_db_close(store->db);
    mem_free(store->path);
    mem_free(store);
}

int store_load(struct store *store, const char *table,
               int (*each)(void *arg, const char *key, const void *value, size_t length), void *arg,
               struct err *err)
{
    int index = store_db_table(store->db, table);
    CHECK(index >= 0 && !store->first);
    /* In the order of keys, which is not that of the rows: each page is needed many times. */
    store_db_set_cache(store->db, STORE_CACHE_LOADING_KIB);
    int code = store_db_walk(store->db, index, NULL, NULL, false, SIZE_MAX, each, arg, err);
    store_db_set_cache(store->db, STORE_CACHE_KIB);
    return code;
}

/* ---- transactions ---------------------------------------------------------------------------- */

struct store_txn *store_begin(struct store *store)
{
    struct store_txn *txn = mem_zalloc(sizeof(*txn));
    txn->store = store;
    txn->end = &txn->first;
    return txn;
}

static void add_change(struct store_txn *txn, const char *table, const char *key, bool is_delete,
                       const void *value, size_t length)
{
    int index = store_db_table(txn->store->db, table);
    size_t key_length = strlen(key);
    CHECK(index >= 0 && key_length > 0 && key_length <= STORE_KEY_MAX && length <= STORE_VALUE_MAX);
    struct change *change = mem_alloc(sizeof(*change) + key_length + 1 + length);
    change->next = NULL;
    change->table = index;
    change->is_delete = is_delete;
    change->length = length;
    memcpy(change->data, key, key_length + 1);
    if (length) {
        memcpy(change->data + key_length + 1, value, length);
    }
    change->value = change->data + key_length + 1;
    *txn->end = change;
    txn->end = &change->next;
}

void store_put(struct store_txn *txn, const char *table, const char *key, const void *value,
               size_t length)
{
    add_change(txn, table, key, false, value, length);
}

void store_delete(struct store_txn *txn, const char *table, const char *key)
{
    add_change(txn, table, key, true, NULL, 0);
}

/* Returns the last job of the queue if the worker thread has not got it yet, else NULL. */
static struct job *last_waiting(const struct store *store)
{
    struct job *job = store->first;
    if (job && store->running) {
        job = job->next;
    }
    while (job && job->next) {
        job = job->next;
    }
    return job;
}

void store_commit(struct store_txn *txn, void (*done)(void *arg), void *arg)
{
    struct store *store = txn->store;
    if (PLANTED(reply_before_commit) && done) {
        loop_defer(store->loop, done, arg);
        done = NULL;
    }
    txn->done = done;
    txn->arg = arg;
    struct job *batch = last_waiting(store);
    if (!batch || batch->kind != JOB_BATCH) {
        batch = enqueue_job(store, JOB_BATCH);
    }
    *batch->end = txn;
    batch->end = &txn->next;
    if (!store->running && !store->calling_back && !loop_timer_is_set(store->kick)) {
        loop_timer_set(store->kick, 0);
    }
}

void store_abort(struct store_txn *txn)
{
    txn_destroy(txn);
}

bool store_is_idle(const struct store *store)
{
    for (const struct job *job = store->first; job; job = job->next) {
        if (job->kind == JOB_BATCH) {
            return false;
        }
    }
    return true;
}

void store_scan(struct store *store, const char *table, const char *from, const char *to,
                bool reverse, size_t limit, store_filter_f filter, void *filter_arg,
                store_scan_f done, void *arg)
{
    int index = store_db_table(store->db, table);
    CHECK(index >= 0 && done);
    struct scan *scan = mem_zalloc(sizeof(*scan));
    scan->table = index;
    scan->from = from ? mem_strdup(from) : NULL;
    scan->to = to ? mem_strdup(to) : NULL;
    scan->reverse = reverse;
    scan->limit = limit > 0 && limit < STORE_SCAN_ROWS_MAX ? limit : STORE_SCAN_ROWS_MAX;
    scan->filter = filter;
    scan->filter_arg = filter_arg;
    scan->done = done;
    scan->arg = arg;
    enqueue_job(store, JOB_SCAN)->scan = scan;
    if (!store->running && !store->calling_back && !loop_timer_is_set(store->kick)) {
        loop_timer_set(store->kick, 0);
    }
}
