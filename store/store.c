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
#include "store/store_beside.h"
#include "store/store_db.h"
#include "store/store_scan.h"
#include "store/store_trouble.h"
#include "store/store_wal.h"

/* The check of all rows: a slice each CHECK_PAUSE_MS, so that a million rows take half an hour. */
#define CHECK_FIRST_MS   ((uint64_t)10 * 60 * 1000)
#define CHECK_AGAIN_MS   ((uint64_t)24 * 60 * 60 * 1000)
#define CHECK_PAUSE_MS   200
#define CHECK_SLICE_ROWS 200
#define QUICK_CHECK_MAX  ((size_t)64 << 20) /* most bytes of a file that is checked at opening */

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
    int64_t number; /* of store_raise(); 0: none */
    struct change *first;
    struct change **end;
    void (*done)(void *arg);
    void *arg;
};

enum job_kind { JOB_BATCH, JOB_SCAN, JOB_CHECKPOINT, JOB_CHECK };

struct job {
    struct job *next;
    struct store *store;
    enum job_kind kind;
    /* JOB_BATCH */
    struct store_txn *first;
    struct store_txn **end;
    struct store_scan *scan; /* JOB_SCAN */
    /* written by the worker */
    bool executed;
    int code;
    struct err err;
};

struct store {
    struct loop *loop;
    struct os *os;
    struct store_schema schema;
    struct store_marks marks; /* what the witness says; the worker's while a batch is under way */
    int64_t mark_read;        /* the high-water mark as it was when the store was opened */
    /* Written into the file with the opening; if the disk refuses that, with the first batch. */
    struct store_db_life life;
    bool begun; /* file and witness say that the store is open; the worker's, too */
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
    struct store_trouble *trouble;
    struct loop_timer *check;          /* starts the next slice of the check of all rows */
    struct store_db_check check_place; /* the worker's while a JOB_CHECK is under way */
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

static void job_destroy(struct job *job)
{
    for (struct store_txn *txn = job->first, *next; txn; txn = next) {
        next = txn->next;
        txn_destroy(txn);
    }
    store_scan_destroy(job->scan);
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

static int write_marks(struct store *store, const struct store_marks *marks, struct err *err)
{
    int code = store_witness_write(store->os, store->path, &store->schema, marks, err);
    store->marks = code ? store->marks : *marks;
    return code;
}

/* Writes the witness if an id of the batch has reached the high-water mark. */
static int raise_mark(struct store *store, struct job *job)
{
    int64_t number = 0;
    for (const struct store_txn *txn = job->first; txn; txn = txn->next) {
        number = txn->number > number ? txn->number : number;
    }
    if (number == 0 || number < store->marks.high_water) {
        return 0;
    }
    struct store_marks marks = store->marks;
    marks.high_water = number + STORE_WATER_STEP;
    return write_marks(store, &marks, &job->err);
}

/* Says in the witness that the store is open.  The file has the new generation, so the write-ahead
 * log has frames. */
static int witness_open(struct store *store, struct err *err)
{
    struct store_marks marks = store->marks;
    marks.generation = store->life.generation;
    marks.is_open = true;
    int code = write_marks(store, &marks, err);
    store->begun = code == 0;
    return code;
}

static int try_batch(struct store_db *db, struct job *job)
{
    int code = raise_mark(job->store, job);
    bool begun = false;
    for (struct store_txn *txn = job->first; txn && !code; txn = txn->next) {
        for (struct change *change = txn->first; change && !code; change = change->next) {
            if (!begun) {
                code = store_db_begin(db, &job->err);
                begun = true;
                if (!code && !job->store->begun) {
                    code = store_db_write_life(db, &job->store->life, &job->err);
                }
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
    if (code) {
        store_db_rollback(db);
    }
    if (!code && begun && !job->store->begun) {
        code = witness_open(job->store, &job->err);
    }
    return code;
}

static int execute_batch(struct store_db *db, struct job *job)
{
    struct store *store = job->store;
    int code = try_batch(db, job);
    if (code == -EIO && store_disk_is_read_only(store->os, store->path)) {
        code = -EROFS;
    }
    if (store_trouble_is_of_disk(code) && store_trouble_use_reserve(store->trouble)) {
        code = try_batch(db, job);
    }
    return code;
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
        code = store_scan_slice(job->scan, db, &job->err);
        break;
    case JOB_CHECKPOINT:
        code = store_db_checkpoint(db, &job->err);
        break;
    case JOB_CHECK:
        code = store_db_check_slice(db, &job->store->check_place, CHECK_SLICE_ROWS, &job->err);
        break;
    }
    job->executed = true;
    job->code = code;
    return code;
}

/* Ends the daemon: a commit has failed, and only opening the file again tells what is in it. */
static _Noreturn void end_daemon(const struct store *store, const char *why)
{
    log_error(store->log, "store.failed", why, LOG_TEXT("path", store->path));
    loop_fatal(store->loop, why);
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
    if (!code && !store_scan_is_complete(job->scan)) {
        *store->end = job;
        store->end = &job->next;
        return;
    }
    store->calling_back = true;
    store_scan_tell(job->scan, code);
    store->calling_back = false;
    job_destroy(job);
}

static void finish_checkpoint(struct store *store, struct job *job, int code)
{
    store->checkpoint_queued = false;
    if (store_trouble_is_of_disk(code)) {
        /* the write-ahead log grows meanwhile */
        store_trouble_refused(store->trouble, code, job->err.text);
    } else if (code) {
        end_daemon(store, job->err.text);
    }
    job_destroy(job);
}

/* Ends a slice of the check of all rows. */
static void finish_check(struct store *store, struct job *job, int code)
{
    struct store_db_check *place = &store->check_place;
    bool over = code != 0 || place->complete;
    if (code) {
        log_error(store->log, "store.unreadable", job->err.text);
    }
    if (over) {
        store_trouble_set_unreadable(store->trouble, code ? job->err.text : NULL);
        store_db_check_fini(place);
        *place = (struct store_db_check){0};
    }
    loop_timer_set(store->check, over ? CHECK_AGAIN_MS : CHECK_PAUSE_MS);
    job_destroy(job);
}

static void on_check(void *arg)
{
    struct store *store = arg;
    (void)enqueue_job(store, JOB_CHECK);
    start_next(store);
}

static void job_finished(void *arg, int code)
{
    struct job *job = arg;
    struct store *store = job->store;
    CHECK(store->running && store->first == job);
    store->running = false;
    store_trouble_tell(store->trouble);
    if (job->kind == JOB_BATCH && store_trouble_is_of_disk(code)) {
        store_trouble_hold_up(store->trouble);
        job->executed = false; /* it is tried again */
        store_trouble_refused(store->trouble, code, job->err.text);
        start_next(store);
        return;
    }
    if (store_trouble_has_used_reserve(store->trouble)) {
        store_trouble_refused(store->trouble, -ENOSPC, "commits use the reserve");
    }
    (void)dequeue_job(store);
    if (job->kind == JOB_BATCH) {
        if (code) {
            end_daemon(store, job->err.text);
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
    case JOB_CHECK:
        finish_check(store, job, code);
        break;
    }
    start_next(store);
}

/* Moves the first scan to the head of the queue.  Returns false if there is none. */
static bool bring_scan_forward(struct store *store)
{
    struct job **at = &store->first;
    while (*at && (*at)->kind != JOB_SCAN) {
        at = &(*at)->next;
    }
    struct job *scan = *at;
    if (!scan || scan == store->first) {
        return scan != NULL;
    }
    *at = scan->next;
    if (!*at) {
        store->end = at;
    }
    scan->next = store->first;
    store->first = scan;
    return true;
}

/* Gives the lane its next job, if there is one and the lane is free.  While the disk refuses a
 * commit, the scans behind it are not made to wait: they find what is stored so far. */
static void start_next(struct store *store)
{
    if (store->running || !store->first || store->calling_back ||
        (store_trouble_holds_up(store->trouble) && !bring_scan_forward(store))) {
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

/* Judges what is there before SQLite sees it: the file and its write-ahead log, by the witness. */
static int judge_files(struct os *os, const char *path, struct store_schema *schema,
                       struct store_witness *witness, struct err *err)
{
    int code = refuse_network_fs(os, path, err);
    if (!code) {
        code = store_witness_read(os, path, witness, err);
    }
    if (!code && witness->present) {
        schema->must_exist = true;
        code = store_witness_holds(os, path, err);
    } else if (!code) {
        code = store_refuse_remains(os, path, schema->remains, err);
    }
    return code ? code : store_wal_judge(os, path, witness->marks.is_open, err);
}

/* Opens the file.  When it must be refused, its write-ahead log stays as it is. */
static int open_db_anyhow(struct os *os, const char *path, const struct store_schema *schema,
                          int64_t *set_aside, struct store_db **ret, struct err *err)
{
    const char *vfs = os_sqlite_vfs(os);
    if (!schema->must_exist && !vfs) {
        create_private(os, path);
    }
    struct store_db *db = NULL;
    int code = store_db_open(path, vfs, schema, &db, err);
    if (code) {
        return code;
    }
    code = store_db_quick_check(db, QUICK_CHECK_MAX, err);
    if (!code) {
        code = store_db_set_aside_count(db, set_aside, err);
    }
    if (code) {
        store_db_keep_wal(db);
        store_db_close(db);
        return code;
    }
    *ret = db;
    return 0;
}

/* Opens the file, and says what SQLite does not: that its disk takes no writes. */
static int open_db(struct os *os, const char *path, const struct store_schema *schema,
                   int64_t *set_aside, struct store_db **ret, struct err *err)
{
    int code = open_db_anyhow(os, path, schema, set_aside, ret, err);
    char disk[512];
    if (code != -EIO && code != -EROFS && code != -EACCES) {
        return code;
    }
    if (os_disk_name(os, path, disk, sizeof(disk)) || store_disk_is_read_only(os, path)) {
        return err_set(err, -EROFS,
                       "store %s: its file system, %s, is mounted for reading only; mount it for "
                       "writing",
                       path, disk);
    }
    return code;
}

/* Logs what an operator may want to know of the opening: that there was no store, or that the
 * witness says something else than the store. */
static void log_opening(const struct store *store, const struct store_witness *witness, bool older,
                        int64_t generation)
{
    if (store_db_is_new(store->db)) {
        log_info(store->log, "store.created", "there was no store; a new one was made",
                 LOG_TEXT("path", store->path));
    } else if (!witness->present) {
        log_warn(store->log, "store.witness_missing",
                 "the witness of the store was missing; a new one was made",
                 LOG_TEXT("path", store->path));
    } else if (strcmp(witness->daemon, store->schema.daemon) != 0) {
        log_warn(store->log, "store.witness_foreign",
                 "the witness belonged to the store of another daemon; a new one was made",
                 LOG_TEXT("path", store->path), LOG_TEXT("daemon", witness->daemon));
    } else if (older) {
        log_warn(store->log, "store.older_copy",
                 "the store is an older copy than the one that its witness saw last; ids start "
                 "above all that were given",
                 LOG_TEXT("path", store->path), LOG_INT("generation", generation),
                 LOG_INT("witness", witness->marks.generation),
                 LOG_INT("ids_from", store->life.id_floor));
    }
}

/* Begins a new generation, in the file and in the witness.  A disk that is full or takes no writes
 * does not keep the daemon from coming up: the first batch then begins the generation. */
static int begin_life(struct store *store, const struct store_witness *witness, struct err *err)
{
    struct store_db_life was = {0};
    int code = store_db_read_life(store->db, &was, err);
    if (code) {
        return code;
    }
    if (witness->present && strcmp(witness->daemon, store->schema.daemon) == 0) {
        store->marks = witness->marks;
    }
    const int64_t seen = store->marks.generation;
    const bool older = was.generation < seen && !store_db_is_new(store->db);
    store->life = was;
    store->life.generation = (was.generation > seen ? was.generation : seen) + 1;
    if (older && store->marks.high_water > was.id_floor) {
        store->life.id_floor = store->marks.high_water;
    }
    store->mark_read = store->marks.high_water;
    code = store_db_begin(store->db, err);
    code = code ? code : store_db_write_life(store->db, &store->life, err);
    code = code ? code : store_db_commit(store->db, err);
    if (code) {
        store_db_rollback(store->db);
    }
    code = code ? code : witness_open(store, err);
    if (code == -EIO && store_disk_is_read_only(store->os, store->path)) {
        code = -EROFS;
    }
    if (code && !store_trouble_is_of_disk(code)) {
        return code;
    }
    log_opening(store, witness, older, was.generation);
    return 0;
}

int store_open(struct loop *loop, struct os *os, const char *path,
               const struct store_schema *schema, struct log *log, struct store **ret,
               struct err *err)
{
    struct store_schema own = *schema;
    struct store_witness witness = {.present = false};
    struct store_db *db = NULL;
    int64_t set_aside = 0;
    int code = judge_files(os, path, &own, &witness, err);
    if (!code) {
        code = open_db(os, path, &own, &set_aside, &db, err);
    }
    if (code) {
        return code;
    }
    struct store *store = mem_zalloc(sizeof(*store));
    store->os = os;
    store->log = log;
    store->db = db;
    store->schema = *schema;
    store->path = mem_strdup(path);
    code = begin_life(store, &witness, err);
    if (code) {
        store_db_keep_wal(db);
        store_db_close(db);
        mem_free(store->path);
        mem_free(store);
        return code;
    }
    store->loop = loop;
    store->end = &store->first;
    store->lane = loop_lane_create(loop);
    store->kick = loop_timer_create(loop, on_kick, store);
    store->check = loop_timer_create(loop, on_check, store);
    loop_timer_set(store->check, CHECK_FIRST_MS);
    store->trouble =
        store_trouble_create(loop, os, log, path, db, (size_t)set_aside, on_kick, store);
    *ret = store;
    return 0;
}

/* Says in the witness that the store is closed, before SQLite removes the write-ahead log.  The
 * generation grows, so that a copy which was made while the store was open is an older one.  What
 * fails here leaves the file as after a crash. */
static void end_life(struct store *store)
{
    if (store->begun) {
        struct store_db_life life = store->life;
        life.generation++;
        int code = store_db_begin(store->db, NULL);
        code = code ? code : store_db_write_life(store->db, &life, NULL);
        code = code ? code : store_db_commit(store->db, NULL);
        if (code) {
            store_db_rollback(store->db);
        } else {
            store->life = life;
        }
    }
    if (store->marks.is_open) {
        struct store_marks marks = store->marks;
        marks.generation = store->begun ? store->life.generation : marks.generation;
        marks.is_open = false;
        if (write_marks(store, &marks, NULL) != 0) {
            store_db_keep_wal(store->db);
        }
    }
}

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    CHECK(!store->calling_back);
    loop_timer_destroy(store->check);
    loop_timer_destroy(store->kick);
    loop_lane_destroy(store->lane);
    while (store->first) {
        struct job *job = dequeue_job(store);
        if (job->kind == JOB_BATCH) {
            if (!job->executed) {
                (void)execute_job(job); /* its code is in the job */
            }
            if (store_trouble_is_of_disk(job->code)) {
                log_error(store->log, "store.full",
                          "changes that nobody was told of are not stored: the disk is full",
                          LOG_TEXT("path", store->path), LOG_TEXT("error", job->err.text));
            } else if (job->code) {
                end_daemon(store, job->err.text);
            }
        }
        job_destroy(job);
    }
    end_life(store);
    store_db_close(store->db);
    store_trouble_destroy(store->trouble);
    store_db_check_fini(&store->check_place);
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
    int code = store_db_load(store->db, index, each, arg, err);
    store_db_set_cache(store->db, STORE_CACHE_KIB);
    store_trouble_tell(store->trouble);
    return code;
}

/* ---- trouble: store_trouble.c knows it ------------------------------------------------------- */

int64_t store_high_water(const struct store *store)
{
    return store->mark_read;
}

int64_t store_id_floor(const struct store *store)
{
    return store->life.id_floor;
}

void store_keep_reserve(struct store *store, int64_t bytes)
{
    store_trouble_keep_reserve(store->trouble, bytes);
}

int store_full(const struct store *store)
{
    return store == NULL ? 0 : store_trouble_full(store->trouble);
}

size_t store_damaged_rows(const struct store *store)
{
    return store == NULL ? 0 : store_trouble_rows(store->trouble);
}

const char *store_problem(const struct store *store)
{
    return store == NULL ? "" : store_trouble_text(store->trouble);
}

void store_note_damage(struct store *store, const char *table, const char *key, const char *why)
{
    store_trouble_note(store->trouble, table, key, why);
}

void store_on_problem(struct store *store, void (*changed)(void *arg), void *arg)
{
    store_trouble_on_change(store->trouble, changed, arg);
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

void store_raise(struct store_txn *txn, int64_t number)
{
    txn->number = number > txn->number ? number : txn->number;
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
    enqueue_job(store, JOB_SCAN)->scan =
        store_scan_create(index, from, to, reverse,
                          limit > 0 && limit < STORE_SCAN_ROWS_MAX ? limit : STORE_SCAN_ROWS_MAX,
                          filter, filter_arg, done, arg);
    if (!store->running && !store->calling_back && !loop_timer_is_set(store->kick)) {
        loop_timer_set(store->kick, 0);
    }
}
