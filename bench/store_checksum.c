/* bench/store_checksum.c - what the checksums of rows cost, against the work on the rows.
 *
 * CPU time for writing and loading rows of about the size of a job ad, and CPU time for the
 * checksums of the same rows, one after the other in the same run.
 *
 * SHORT: BENCH_PART=25
 * LINK: store
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "bench/bench_env.h"
#include "store/row_sum.h"
#include "store/store.h"
#include "store/store_db.h"

#define ROWS        50000
#define GROUP       1000 /* rows of one commit */
#define VALUE_BYTES 2000

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "store_checksum: %s: %s\n", what, err->text);
    exit(1);
}

static double cpu_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* cannot fail on Linux */
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* A whole number of groups. */
static unsigned row_count(void)
{
    return (unsigned)part_of(ROWS / GROUP) * GROUP;
}

static void fill(char *value, unsigned row)
{
    memset(value, 'v', VALUE_BYTES);
    memcpy(value, &row, sizeof(row));
}

static void write_rows(struct store_db *db, char *value)
{
    struct err err = {""};
    for (unsigned row = 0; row < row_count(); row++) {
        char key[32];
        snprintf(key, sizeof(key), "%010u.%010u", row / 100, row % 100);
        fill(value, row);
        if ((row % GROUP == 0 && store_db_begin(db, &err)) ||
            store_db_put(db, 0, key, value, VALUE_BYTES, &err) ||
            (row % GROUP == GROUP - 1 && store_db_commit(db, &err))) {
            die("writing", &err);
        }
    }
}

static unsigned sum_rows(char *value)
{
    unsigned sums = 0;
    for (unsigned row = 0; row < row_count(); row++) {
        char key[32];
        int length = snprintf(key, sizeof(key), "%010u.%010u", row / 100, row % 100);
        fill(value, row);
        sums += (unsigned)row_sum("jobs", key, (size_t)length, value, VALUE_BYTES);
    }
    return sums;
}

static int count_row(void *arg, const char *key, const void *value, size_t length)
{
    (void)key;
    (void)value;
    (void)length;
    ++*(size_t *)arg;
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const tables[] = {"jobs", NULL};
    const struct store_schema schema = {.daemon = "bench", .tables = tables, .version = 1};
    static char value[VALUE_BYTES];
    char dir[256], path[300];
    struct err err = {""};
    struct store_db *db = NULL;
    size_t rows = 0;
    snprintf(dir, sizeof(dir), "%s/roost-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    if (!mkdtemp(dir)) {
        (void)err_set(&err, -1, "%s: cannot be made", dir);
        die("directory", &err);
    }
    snprintf(path, sizeof(path), "%s/store.db", dir);
    if (store_db_open(path, NULL, &schema, &db, &err)) {
        die("opening", &err);
    }
    double begin = cpu_us();
    write_rows(db, value);
    double written = cpu_us();
    store_db_set_cache(db, STORE_CACHE_LOADING_KIB);
    double loading = cpu_us();
    if (store_db_load(db, 0, count_row, &rows, &err) || rows != row_count()) {
        die("loading", &err);
    }
    double loaded = cpu_us();
    unsigned sums = sum_rows(value);
    double summed = cpu_us();
    store_db_close(db);
    (void)unlink(path);
    (void)rmdir(dir);
    double sum = (summed - loaded) / row_count();
    double write = (written - begin) / row_count(), load = (loaded - loading) / row_count();
    fprintf(stderr, "checksums of %u rows: %08x\n", row_count(), sums);
    printf("BENCH store_row_written %.2f us/row\n", write);
    printf("BENCH store_row_loaded %.2f us/row\n", load);
    printf("BENCH store_checksum %.2f us/row ratio %.3f vs store_row_written\n", sum, sum / write);
    printf("BENCH store_checksum_load %.2f us/row ratio %.3f vs store_row_loaded\n", sum,
           sum / load);
    return 0;
}
