/* A disk that fails at the nth operation, and a machine whose power goes at the nth operation: what
 * the store called done is there afterwards, whole and in order, and the daemon that could not
 * commit is gone.
 *
 * The store runs in a child over an SQLite VFS that counts writes and flushes.  After each flush of
 * a file the VFS copies it aside: that copy is what the platter would hold.  "Power cut" puts the
 * copies back in the place of the files.
 *
 * The store's witness is not SQLite's: os_write_file() writes a new one, flushes it, renames it and
 * flushes the directory.  This program's pwrite(), fsync() and rename() take the place of the C
 * library's, and count these four as operations of the same disk.  A new name is on the platter
 * after the flush of the directory; before that, a power cut may leave the old witness or the new.
 *
 * LINK: store
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/fast_dir.h"
#include "tests/support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os_run.h"
#include "store/store.h"

#define TXNS             20 /* transactions of one child */
#define BALLAST_TXN      15 /* the one that is large enough to bring on a checkpoint */
#define BALLAST_BYTES    4300000
#define EVERY_OPERATION  150 /* up to there each is tried, beyond it (the ballast) every 29th */
#define EXIT_ALL_DONE    0
#define EXIT_NOT_OPENED  10
#define EXIT_POWER_CUT   11
#define EXIT_COMMIT_FAIL 4 /* loop_fatal() */
#define FULL_OPERATIONS  3 /* operations for which FAIL_FULL lasts */
#define OPERATIONS_MAX   10000
#define RAISE_EACH       4 /* each so-many-th transaction gives an id above the high-water mark */
#define WITNESS          ".witness"
#define PLATTER          ".platter"

static const char *const TABLES[] = {"jobs", "ballast", NULL};
static const struct store_schema SCHEMA = {.daemon = "schedd", .tables = TABLES, .version = 1};

/* ---- the disk -------------------------------------------------------------------------------- */

enum failure {
    FAIL_NEVER,
    FAIL_ONCE,
    FAIL_FROM_THEN_ON,
    FAIL_FULL,
    FAIL_LONG_FULL,
    CUT_POWER,        /* a witness whose new name was not flushed is the old one again */
    CUT_POWER_RENAMED /* ... is the new one */
};

struct disk {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    sqlite3_io_methods methods;
    enum failure failure;
    int at;                          /* the operation that fails, from 1 */
    int count;                       /* operations so far */
    char renamed[PATH_MAX];          /* the witness whose directory is not flushed yet; "": none */
    bool of_witness[OPERATIONS_MAX]; /* by the number of the operation */
};

struct disk_file {
    sqlite3_file base;
    struct disk *disk;
    const char *name;
    sqlite3_file *real; /* behind this struct */
};

static void copy_file(const char *from, const char *to)
{
    char block[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t got;
    while ((got = read(in, block, sizeof(block))) > 0) {
        if (write(out, block, (size_t)got) != got) {
            abort();
        }
    }
    close(in);
    close(out);
}

/* SQLITE_OK, or how this operation fails. */
static int operation(struct disk *disk, int error)
{
    disk->count++;
    bool now = disk->count == disk->at;
    bool since = disk->count >= disk->at;
    switch (disk->failure) {
    case FAIL_NEVER:
        return SQLITE_OK;
    case FAIL_ONCE:
        return now ? error : SQLITE_OK;
    case FAIL_FROM_THEN_ON:
        return since ? error : SQLITE_OK;
    case FAIL_FULL:
        return since && disk->count < disk->at + FULL_OPERATIONS && error == SQLITE_IOERR_WRITE
                   ? SQLITE_FULL
                   : SQLITE_OK;
    case FAIL_LONG_FULL:
        return error == SQLITE_IOERR_WRITE ? SQLITE_FULL : SQLITE_OK;
    case CUT_POWER:
    case CUT_POWER_RENAMED:
        if (now) {
            _exit(EXIT_POWER_CUT);
        }
        return SQLITE_OK;
    }
    return SQLITE_OK;
}

static struct disk_file *of(sqlite3_file *file)
{
    return (struct disk_file *)file;
}

static int disk_close(sqlite3_file *file)
{
    return of(file)->real->pMethods->xClose(of(file)->real);
}

static int disk_read(sqlite3_file *file, void *data, int length, sqlite3_int64 offset)
{
    return of(file)->real->pMethods->xRead(of(file)->real, data, length, offset);
}

static int disk_write(sqlite3_file *file, const void *data, int length, sqlite3_int64 offset)
{
    int code = operation(of(file)->disk, SQLITE_IOERR_WRITE);
    if (code != SQLITE_OK) {
        /* Part of it arrives. */
        (void)of(file)->real->pMethods->xWrite(of(file)->real, data, length / 2, offset);
        return code;
    }
    return of(file)->real->pMethods->xWrite(of(file)->real, data, length, offset);
}

static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return of(file)->real->pMethods->xTruncate(of(file)->real, size);
}

static int disk_sync(sqlite3_file *file, int flags)
{
    int code = operation(of(file)->disk, SQLITE_IOERR_FSYNC);
    if (code == SQLITE_OK) {
        code = of(file)->real->pMethods->xSync(of(file)->real, flags);
    }
    if (code == SQLITE_OK && of(file)->name) {
        char name[256];
        snprintf(name, sizeof(name), "%s" PLATTER, of(file)->name);
        copy_file(of(file)->name, name);
    }
    return code;
}

static int disk_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return of(file)->real->pMethods->xFileSize(of(file)->real, size);
}

static int disk_lock(sqlite3_file *file, int level)
{
    return of(file)->real->pMethods->xLock(of(file)->real, level);
}

static int disk_unlock(sqlite3_file *file, int level)
{
    return of(file)->real->pMethods->xUnlock(of(file)->real, level);
}

static int disk_check_lock(sqlite3_file *file, int *ret)
{
    return of(file)->real->pMethods->xCheckReservedLock(of(file)->real, ret);
}

static int disk_control(sqlite3_file *file, int op, void *arg)
{
    return of(file)->real->pMethods->xFileControl(of(file)->real, op, arg);
}

static int disk_sector(sqlite3_file *file)
{
    return of(file)->real->pMethods->xSectorSize(of(file)->real);
}

/* No promises: neither that appends are safe nor that sectors are. */
static int disk_traits(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static int disk_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
    struct disk *disk = vfs->pAppData;
    struct disk_file *ours = (struct disk_file *)file;
    memset(ours, 0, sizeof(*ours));
    ours->disk = disk;
    ours->name = name;
    ours->real = (sqlite3_file *)(void *)(ours + 1);
    int code = disk->real->xOpen(disk->real, name, ours->real, flags, out);
    if (code == SQLITE_OK) {
        ours->base.pMethods = &disk->methods;
    }
    return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
    struct disk *disk = vfs->pAppData;
    char platter[256];
    snprintf(platter, sizeof(platter), "%s" PLATTER, name);
    (void)unlink(platter);
    return disk->real->xDelete(disk->real, name, sync_directory);
}

/* Makes it SQLite's default, which is what a real os uses. */
static void disk_insert(struct disk *disk, enum failure failure, int at)
{
    memset(disk, 0, sizeof(*disk));
    disk->failure = failure;
    disk->at = at;
    disk->real = sqlite3_vfs_find(NULL);
    disk->vfs = *disk->real;
    disk->vfs.zName = "failing-disk";
    disk->vfs.pNext = NULL;
    disk->vfs.pAppData = disk;
    disk->vfs.szOsFile = (int)sizeof(struct disk_file) + disk->real->szOsFile;
    disk->vfs.xOpen = disk_open;
    disk->vfs.xDelete = disk_delete;
    disk->methods = (sqlite3_io_methods){
        .iVersion = 1,
        .xClose = disk_close,
        .xRead = disk_read,
        .xWrite = disk_write,
        .xTruncate = disk_truncate,
        .xSync = disk_sync,
        .xFileSize = disk_size,
        .xLock = disk_lock,
        .xUnlock = disk_unlock,
        .xCheckReservedLock = disk_check_lock,
        .xFileControl = disk_control,
        .xSectorSize = disk_sector,
        .xDeviceCharacteristics = disk_traits,
    };
    if (sqlite3_vfs_register(&disk->vfs, 1) != SQLITE_OK) {
        abort();
    }
}

/* ---- the witness ----------------------------------------------------------------------------- */

static struct disk *witness_disk; /* counts the operations of the witness; NULL: they are not */

/* Returns 0, or -1 with errno if this operation of the witness fails. */
static int witness_operation(int error)
{
    int code = operation(witness_disk, error);
    if (witness_disk->count < OPERATIONS_MAX) {
        witness_disk->of_witness[witness_disk->count] = true;
    }
    errno = code == SQLITE_FULL ? ENOSPC : EIO;
    return code == SQLITE_OK ? 0 : -1;
}

/* Returns whether the descriptor is that of a witness, or of the file that will be one. */
static bool is_witness(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = witness_disk != NULL ? readlink(link, path, sizeof(path) - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    return strstr(path, WITNESS) != NULL;
}

static bool is_directory(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    if (is_witness(fd) && witness_operation(SQLITE_IOERR_WRITE) != 0) {
        int error = errno;
        (void)syscall(SYS_pwrite64, fd, data, length / 2, offset); /* part of it arrives */
        errno = error;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, data, length, offset);
}

int fsync(int fd)
{
    bool flushes_name =
        witness_disk != NULL && witness_disk->renamed[0] != '\0' && is_directory(fd);
    if ((flushes_name || is_witness(fd)) && witness_operation(SQLITE_IOERR_FSYNC) != 0) {
        return -1;
    }
    int code = (int)syscall(SYS_fsync, fd);
    if (code == 0 && flushes_name) {
        char platter[PATH_MAX + sizeof(PLATTER)];
        snprintf(platter, sizeof(platter), "%s" PLATTER, witness_disk->renamed);
        copy_file(witness_disk->renamed, platter);
        witness_disk->renamed[0] = '\0';
    }
    return code;
}

int rename(const char *from, const char *to)
{
    size_t length = strlen(to);
    bool makes_witness = witness_disk != NULL && length >= strlen(WITNESS) &&
                         strcmp(to + length - strlen(WITNESS), WITNESS) == 0;
    if (makes_witness && witness_operation(SQLITE_IOERR_WRITE) != 0) {
        return -1;
    }
    int code = (int)syscall(SYS_rename, from, to);
    if (code == 0 && makes_witness) {
        snprintf(witness_disk->renamed, sizeof(witness_disk->renamed), "%s", to);
    }
    return code;
}

/* ---- the daemon ------------------------------------------------------------------------------ */

struct writer {
    struct loop *loop;
    struct store *store;
    int tell; /* descriptor: a byte for each transaction called done */
    int started;
    int done;
    bool over;
};

static void told(void *arg)
{
    struct writer *writer = arg;
    unsigned char number = (unsigned char)++writer->done;
    if (write(writer->tell, &number, 1) != 1) {
        abort();
    }
    writer->over = writer->done == writer->started;
}

/* Returns the id that a transaction gives; 0: none. */
static int64_t raised_by(int n)
{
    return n % RAISE_EACH == 0 ? (int64_t)n * STORE_WATER_STEP : 0;
}

/* Transaction n writes its number under its own key and under "last", and takes away the key of
 * transaction n - 3. */
static void start_txn(struct writer *writer)
{
    int n = ++writer->started;
    char key[16];
    char value[1500];
    memset(value, '.', sizeof(value));
    snprintf(key, sizeof(key), "%03d", n);
    snprintf(value, sizeof(value), "%03d", n);
    struct store_txn *txn = store_begin(writer->store);
    store_put(txn, "jobs", key, value, sizeof(value));
    store_put(txn, "jobs", "last", value, 4);
    snprintf(key, sizeof(key), "%03d", n - 3);
    store_delete(txn, "jobs", key);
    store_raise(txn, raised_by(n));
    if (n == BALLAST_TXN) {
        char *ballast = mem_zalloc(BALLAST_BYTES);
        store_put(txn, "ballast", "b", ballast, BALLAST_BYTES);
        mem_free(ballast);
    }
    store_commit(txn, told, writer);
}

static _Noreturn void be_writer(const char *path, int tell, enum failure failure, int at,
                                int operations)
{
    struct writer writer = {.tell = tell};
    struct os *os = NULL;
    FILE *quiet = freopen("/dev/null", "w", stderr); /* loop_fatal's last words */
    if (!quiet || loop_create(&writer.loop, NULL) || os_create(writer.loop, &os, NULL)) {
        abort();
    }
    static struct disk disk;
    disk_insert(&disk, failure, at);
    witness_disk = &disk;
    if (store_open(writer.loop, os, path, &SCHEMA, NULL, &writer.store, NULL)) {
        _exit(EXIT_NOT_OPENED);
    }
    store_close(writer.store); /* a daemon that stops in order and starts again */
    if (store_open(writer.loop, os, path, &SCHEMA, NULL, &writer.store, NULL)) {
        _exit(EXIT_NOT_OPENED);
    }
    while (writer.started < TXNS) {
        start_txn(&writer);
        if (writer.started % 3 != 0) {
            start_txn(&writer);
        }
        writer.over = false;
        loop_run_until(writer.loop, &writer.over);
    }
    store_close(writer.store);
    if (write(operations, &disk.count, sizeof(disk.count)) != sizeof(disk.count) ||
        write(operations, disk.of_witness, sizeof(disk.of_witness)) != sizeof(disk.of_witness)) {
        abort();
    }
    _exit(EXIT_ALL_DONE);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

struct outcome {
    int status;
    int told;       /* transactions called done */
    int operations; /* of a child that came to its end */
    bool of_witness[OPERATIONS_MAX];
};

static struct outcome run_writer(const char *path, enum failure failure, int at)
{
    int tell[2];
    int operations[2];
    assert_int_equal(pipe(tell), 0);
    assert_int_equal(pipe(operations), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        be_writer(path, tell[1], failure, at, operations[1]);
    }
    close(tell[1]);
    close(operations[1]);
    struct outcome outcome = {0};
    unsigned char number;
    while (read(tell[0], &number, 1) == 1) {
        outcome.told++;
        assert_int_equal(number, outcome.told); /* in order */
    }
    (void)!read(operations[0], &outcome.operations, sizeof(outcome.operations));
    (void)!read(operations[0], outcome.of_witness, sizeof(outcome.of_witness));
    close(tell[0]);
    close(operations[0]);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    outcome.status = WEXITSTATUS(status);
    return outcome;
}

struct found {
    int last;
    int lowest, highest, count;
};

static int find(void *arg, const char *key, const void *value, size_t length)
{
    struct found *found = arg;
    assert_true(length >= 4);
    int number = (int)strtol(value, NULL, 10);
    if (strcmp(key, "last") == 0) {
        found->last = number;
        return 0;
    }
    assert_int_equal(length, 1500);
    assert_int_equal(strtol(key, NULL, 10), number);
    if (found->count++ == 0) {
        found->lowest = number;
    }
    found->highest = number;
    return 0;
}

/* Opens what the writer left over an ordinary disk: some prefix of the transactions, no part of
 * one, and all that were called done. */
static void judge(const char *path, const struct outcome *outcome)
{
    struct loop *loop = NULL;
    struct os *os = NULL;
    struct store *store = NULL;
    struct err err = {""};
    assert_int_equal(loop_create(&loop, NULL), 0);
    assert_int_equal(os_create(loop, &os, NULL), 0);
    if (store_open(loop, os, path, &SCHEMA, NULL, &store, &err) != 0) {
        fail_msg("%s", err.text);
    }
    struct found found = {0};
    if (store_load(store, "jobs", find, &found, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_true(found.last >= outcome->told);
    assert_int_equal(found.highest, found.last);
    assert_int_equal(found.count, found.last < 3 ? found.last : 3);
    assert_int_equal(found.lowest, found.last < 3 ? (found.last ? 1 : 0) : found.last - 2);
    const int64_t given = raised_by(outcome->told - outcome->told % RAISE_EACH);
    assert_true(store_high_water(store) > given || given == 0); /* no id is given twice */
    store_close(store);
    if (store_open(loop, os, path, &SCHEMA, NULL, &store, &err) != 0) {
        fail_msg("after a stop in order: %s", err.text);
    }
    assert_int_equal(store_id_floor(store), 0);
    store_close(store);
    os_destroy(os);
    loop_destroy(loop);
}

static const char *const SUFFIXES[] = {"", "-wal", "-journal", WITNESS};

static void put_platters_in_place(const char *path, enum failure failure)
{
    const size_t count = sizeof(SUFFIXES) / sizeof(SUFFIXES[0]);
    for (size_t i = 0; i < (failure == CUT_POWER ? count : count - 1); i++) {
        char file[200];
        char platter[220];
        snprintf(file, sizeof(file), "%s%s", path, SUFFIXES[i]);
        snprintf(platter, sizeof(platter), "%s" PLATTER, file);
        if (rename(platter, file) != 0) {
            (void)unlink(file);
        }
    }
}

/* Also what a process that ended in the middle of it has left: the file by which the store tries
 * whether there is room, and the new witness. */
static void remove_files(const char *path)
{
    char pattern[200];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s*", path);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            (void)unlink(found.gl_pathv[i]);
        }
        globfree(&found);
    }
}

/* Plays it with the failure at each operation in turn, until one run gets to its end before it. */
static void try_every_operation(enum failure failure, int expected_status, int silent_max)
{
    char dir[FAST_DIR_SIZE];
    char path[128];
    assert_true(fast_dir_make(dir));
    snprintf(path, sizeof(path), "%s/queue.db", dir);
    struct outcome whole = run_writer(path, FAIL_NEVER, 0);
    assert_int_equal(whole.status, EXIT_ALL_DONE);
    assert_int_equal(whole.told, TXNS);
    judge(path, &whole);
    remove_files(path);
    int hit = 0;
    int silent = 0;
    assert_true(whole.operations > 2 * BALLAST_BYTES / 4096); /* to the log, and copied back */
    assert_true(whole.operations < OPERATIONS_MAX);
    /* Each run on a full disk waits until the store tries again. */
    const int step = failure == FAIL_FULL ? 13 : 1;
    int of_witness = 0;
    for (int at = 1; at <= whole.operations; at++) {
        of_witness += whole.of_witness[at] ? 1 : 0;
        if (!whole.of_witness[at] && at % (at < EVERY_OPERATION ? step : 29 * step) != 0) {
            continue;
        }
        struct outcome outcome = run_writer(path, failure, at);
        assert_true(outcome.status == expected_status || outcome.status == EXIT_ALL_DONE ||
                    (outcome.status == EXIT_NOT_OPENED && outcome.told == 0));
        /* Only a closing may fail in silence, because its daemon has answered all: the generation
         * and the copying back of the log.  So may what fails for want of space. */
        assert_true(outcome.status != EXIT_ALL_DONE || outcome.told == TXNS);
        silent += outcome.status == EXIT_ALL_DONE;
        hit += outcome.status == expected_status;
        if (failure == CUT_POWER || failure == CUT_POWER_RENAMED) {
            put_platters_in_place(path, failure);
        }
        judge(path, &outcome);
        remove_files(path);
    }
    assert_true(hit * step > 3 * TXNS);
    /* Two openings, two closings, and the marks: each writes, flushes, renames, flushes. */
    assert_int_equal(of_witness, 4 * (4 + TXNS / RAISE_EACH));
    if (silent > silent_max) {
        fail_msg("%d runs failed in silence", silent);
    }
    assert_int_equal(rmdir(dir), 0);
}

static void a_write_or_flush_that_fails_once_ends_the_daemon_and_loses_nothing_told(void **state)
{
    (void)state;
    try_every_operation(FAIL_ONCE, EXIT_COMMIT_FAIL, 40);
}

static void a_disk_that_is_gone_ends_the_daemon_and_loses_nothing_told(void **state)
{
    (void)state;
    try_every_operation(FAIL_FROM_THEN_ON, EXIT_COMMIT_FAIL, 5);
}

static void a_disk_that_is_full_for_a_while_delays_commits_and_loses_nothing(void **state)
{
    (void)state;
    try_every_operation(FAIL_FULL, EXIT_ALL_DONE, INT_MAX);
}

static void a_power_cut_at_any_operation_loses_nothing_told(void **state)
{
    (void)state;
    try_every_operation(CUT_POWER, EXIT_POWER_CUT, 0);
    try_every_operation(CUT_POWER_RENAMED, EXIT_POWER_CUT, 0);
}

/* ---- reading while the disk is full ---------------------------------------------------------- */

struct reader {
    struct loop *loop;
    size_t rows;
    bool committed, scanned, over;
};

static void committed(void *arg)
{
    struct reader *reader = arg;
    reader->committed = true;
    reader->over = reader->scanned;
}

static void scanned(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct reader *reader = arg;
    (void)rows;
    assert_int_equal(result, 0);
    reader->rows = count;
    reader->scanned = true;
    reader->over = true;
}

static void put_job(struct store *store, const char *key, struct reader *reader)
{
    struct store_txn *txn = store_begin(store);
    store_put(txn, "jobs", key, "job", 4);
    store_commit(txn, committed, reader);
}

static void a_scan_is_answered_while_a_full_disk_delays_a_commit(void **state)
{
    (void)state;
    struct reader reader = {.scanned = true};
    struct os *os = NULL;
    struct store *store = NULL;
    struct disk disk;
    char dir[FAST_DIR_SIZE], path[128];
    assert_true(fast_dir_make(dir));
    snprintf(path, sizeof(path), "%s/queue.db", dir);
    assert_int_equal(loop_create(&reader.loop, NULL), 0);
    assert_int_equal(os_create(reader.loop, &os, NULL), 0);
    disk_insert(&disk, FAIL_NEVER, 0);
    assert_int_equal(store_open(reader.loop, os, path, &SCHEMA, NULL, &store, NULL), 0);
    put_job(store, "1", &reader);
    loop_run_until(reader.loop, &reader.over);

    disk.failure = FAIL_LONG_FULL;
    reader = (struct reader){.loop = reader.loop};
    put_job(store, "2", &reader);
    store_scan(store, "jobs", NULL, NULL, false, 0, NULL, NULL, scanned, &reader);
    loop_run_until(reader.loop, &reader.over);
    assert_false(reader.committed);
    assert_int_equal(reader.rows, 1); /* what is stored so far */

    disk.failure = FAIL_NEVER;
    reader.over = false;
    loop_run_until(reader.loop, &reader.over);
    assert_true(reader.committed);
    reader.over = false;
    store_scan(store, "jobs", NULL, NULL, false, 0, NULL, NULL, scanned, &reader);
    loop_run_until(reader.loop, &reader.over);
    assert_int_equal(reader.rows, 2);

    store_close(store);
    os_destroy(os);
    loop_destroy(reader.loop);
    (void)sqlite3_vfs_unregister(&disk.vfs);
    remove_files(path);
    assert_int_equal(rmdir(dir), 0);
}

UNIT_TESTS(UNIT(a_write_or_flush_that_fails_once_ends_the_daemon_and_loses_nothing_told),
           UNIT(a_disk_that_is_gone_ends_the_daemon_and_loses_nothing_told),
           UNIT(a_disk_that_is_full_for_a_while_delays_commits_and_loses_nothing),
           UNIT(a_power_cut_at_any_operation_loses_nothing_told),
           UNIT(a_scan_is_answered_while_a_full_disk_delays_a_commit))
