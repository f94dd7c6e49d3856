/* kill -9 of a process that commits as fast as it can, at random moments: what it had called done
 * is there after reopening, and nothing is missing in front of what is there.
 *
 * LINK: store
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/fast_dir.h"
#include "tests/support/unit.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os/os_run.h"
#include "base/random.h"
#include "store/store.h"

#define KILLS       25
#define OUTSTANDING 40

static const char *const TABLES[] = {"jobs", NULL};
static const struct store_schema SCHEMA = {.daemon = "schedd", .tables = TABLES, .version = 1};

struct writer {
    struct store *store;
    int tell;
    uint32_t next; /* number of the next transaction */
    uint32_t done; /* number of the last that was called done */
};

static void told(void *arg);

static void start_txn(struct writer *writer)
{
    char key[16];
    snprintf(key, sizeof(key), "%010u", writer->next++);
    struct store_txn *txn = store_begin(writer->store);
    store_put(txn, "jobs", key, key, 10);
    store_commit(txn, told, writer);
}

static void told(void *arg)
{
    struct writer *writer = arg;
    writer->done++;
    if (write(writer->tell, &writer->done, sizeof(writer->done)) != sizeof(writer->done)) {
        abort();
    }
    start_txn(writer);
}

static _Noreturn void be_writer(const char *path, int tell, uint32_t first)
{
    struct writer writer = {.tell = tell, .next = first, .done = first - 1};
    struct loop *loop = NULL;
    struct os *os = NULL;
    if (loop_create(&loop, NULL) || os_create(loop, &os, NULL) ||
        store_open(loop, os, path, &SCHEMA, NULL, &writer.store, NULL)) {
        abort();
    }
    for (int i = 0; i < OUTSTANDING; i++) {
        start_txn(&writer);
    }
    _exit(loop_run(loop));
}

static int count_up(void *arg, const char *key, const void *value, size_t length)
{
    uint32_t *last = arg;
    assert_int_equal(length, 10);
    assert_memory_equal(key, value, 10);
    assert_int_equal(strtoul(key, NULL, 10), *last + 1);
    (*last)++;
    return 0;
}

/* Number of the last transaction in the store. */
static uint32_t judge(const char *path)
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
    uint32_t last = 0;
    assert_int_equal(store_load(store, "jobs", count_up, &last, NULL), 0);
    store_close(store);
    os_destroy(os);
    loop_destroy(loop);
    return last;
}

static void what_was_told_before_a_kill_is_there_and_nothing_is_missing_before_it(void **state)
{
    (void)state;
    char dir[FAST_DIR_SIZE];
    char path[128];
    assert_true(fast_dir_make(dir));
    snprintf(path, sizeof(path), "%s/queue.db", dir);
    struct rng rng;
    rng_seed(&rng, 2026);
    uint32_t last = 0;
    for (int kills = 0; kills < KILLS; kills++) {
        int tell[2];
        assert_int_equal(pipe(tell), 0);
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            be_writer(path, tell[1], last + 1);
        }
        close(tell[1]);
        uint32_t known = last;
        uint32_t until = last + 1 + (uint32_t)rng_below(&rng, 300);
        while (known < until) {
            assert_int_equal(read(tell[0], &known, sizeof(known)), sizeof(known));
        }
        usleep((useconds_t)rng_below(&rng, 2000));
        assert_int_equal(kill(pid, SIGKILL), 0);
        while (read(tell[0], &known, sizeof(known)) == sizeof(known)) {
            /* what it managed to say before it died */
        }
        close(tell[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        uint32_t found = judge(path);
        assert_true(found >= known);
        assert_true(found <= known + OUTSTANDING);
        last = found;
    }
    char file[160];
    const char *const suffixes[] = {"", "-wal", ".witness"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof(file), "%s%s", path, suffixes[i]);
        (void)unlink(file);
    }
    assert_int_equal(rmdir(dir), 0);
}

UNIT_TESTS(UNIT(what_was_told_before_a_kill_is_there_and_nothing_is_missing_before_it))
