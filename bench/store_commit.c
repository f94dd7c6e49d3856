/* bench/store_commit.c - commits of the store against plain flushes.
 *
 * How many commits per second, with one outstanding and with 1000, against a plain loop of append
 * and fsync on the same file system in the same run.
 *
 * SHORT: BENCH_PART=20
 * LINK: store
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "bench/bench_env.h"
#include "store/store.h"

#define VALUE_BYTES 2000 /* about a job ad */
#define RUN_MS      2000
#define KEYS        5000

struct bench {
    struct loop *loop;
    struct store *store;
    char value[VALUE_BYTES];
    uint64_t end_ms;
    unsigned long committed;
    unsigned long serial;
    unsigned outstanding;
    bool over;
};

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "store_commit: %s: %s\n", what, err->text);
    exit(1);
}

static void commit_next(void *arg);

static void start_one(struct bench *bench)
{
    char key[32];
    snprintf(key, sizeof(key), "%08lu", bench->serial * 7919 % KEYS);
    /* A value that is there already would cost no write. */
    memcpy(bench->value, &bench->serial, sizeof(bench->serial));
    bench->serial++;
    struct store_txn *txn = store_begin(bench->store);
    store_put(txn, "jobs", key, bench->value, sizeof(bench->value));
    bench->outstanding++;
    store_commit(txn, commit_next, bench);
}

static void commit_next(void *arg)
{
    struct bench *bench = arg;
    bench->outstanding--;
    bench->committed++;
    if (loop_now_ms(bench->loop) < bench->end_ms) {
        start_one(bench);
    } else if (bench->outstanding == 0) {
        bench->over = true;
    }
}

static double store_rate(struct bench *bench, unsigned outstanding)
{
    uint64_t start_ms = loop_now_ms(bench->loop);
    bench->end_ms = start_ms + (uint64_t)part_of(RUN_MS);
    bench->committed = 0;
    bench->over = false;
    for (unsigned i = 0; i < outstanding; i++) {
        start_one(bench);
    }
    loop_run_until(bench->loop, &bench->over);
    return (double)bench->committed * 1000 / (double)(loop_now_ms(bench->loop) - start_ms);
}

static double plain_rate(struct bench *bench, struct os *os, const char *path)
{
    struct os_file *file = NULL;
    struct err err = {""};
    if (os_file_open(os, path, OS_WRITE_TRUNCATE, 0600, &file, &err)) {
        die("plain file", &err);
    }
    uint64_t start_ms = loop_now_ms(bench->loop);
    uint64_t now_ms = start_ms;
    uint64_t offset = 0;
    unsigned long count = 0;
    while (now_ms < start_ms + (uint64_t)part_of(RUN_MS)) {
        if (os_file_write(file, offset, bench->value, sizeof(bench->value)) || os_file_sync(file)) {
            die("plain file", &err);
        }
        offset += sizeof(bench->value);
        count++;
        now_ms = loop_now_ms(bench->loop);
    }
    os_file_close(file);
    return (double)count * 1000 / (double)(now_ms - start_ms);
}

int main(int argc, char **argv)
{
    static const char *const tables[] = {"jobs", NULL};
    const struct store_schema schema = {.daemon = "bench", .tables = tables, .version = 1};
    const char *above = argc > 1 ? argv[1] : "/tmp";
    char dir[256];
    char path[300];
    char plain[300];
    snprintf(dir, sizeof(dir), "%s/roost-bench-XXXXXX", above);
    struct err err = {""};
    struct os *os = NULL;
    struct bench *bench = mem_zalloc(sizeof(*bench));
    memset(bench->value, 'v', sizeof(bench->value));
    if (!mkdtemp(dir)) {
        (void)err_set(&err, -1, "%s: cannot be made", dir);
        die("directory", &err);
    }
    snprintf(path, sizeof(path), "%s/store.db", dir);
    snprintf(plain, sizeof(plain), "%s/plain", dir);
    if (loop_create(&bench->loop, &err) || os_create(bench->loop, &os, &err) ||
        store_open(bench->loop, os, path, &schema, NULL, &bench->store, &err)) {
        die("start", &err);
    }
    double fsyncs = plain_rate(bench, os, plain);
    double one = store_rate(bench, 1);
    double many = store_rate(bench, 1000);
    store_close(bench->store);
    (void)os_remove_tree(os, dir, NULL);
    os_destroy(os);
    loop_destroy(bench->loop);
    mem_free(bench);
    printf("BENCH store_plain_fsync %.0f fsyncs/s\n", fsyncs);
    printf("BENCH store_commit_1 %.0f commits/s ratio %.2f vs plain_fsync\n", one, one / fsyncs);
    printf("BENCH store_commit_1000 %.0f commits/s ratio %.2f vs plain_fsync\n", many,
           many / fsyncs);
    return 0;
}
