/* store/store_scan.c - reading rows of a table in slices, between commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store_scan.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_db.h"

#define SLICE_ROWS 500 /* rows looked at before a scan lets waiting commits pass */

struct store_scan {
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

struct store_scan *store_scan_create(int table, const char *from, const char *to, bool reverse,
                                     size_t limit, store_filter_f filter, void *filter_arg,
                                     store_scan_f done, void *arg)
{
    struct store_scan *scan = mem_zalloc(sizeof(*scan));
    scan->table = table;
    scan->from = from ? mem_strdup(from) : NULL;
    scan->to = to ? mem_strdup(to) : NULL;
    scan->reverse = reverse;
    scan->limit = limit;
    scan->filter = filter;
    scan->filter_arg = filter_arg;
    scan->done = done;
    scan->arg = arg;
    return scan;
}

void store_scan_destroy(struct store_scan *scan)
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

static int scan_keep(struct store_scan *scan, const struct store_row *row)
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
    struct store_scan *scan = arg;
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
    if (pauses || scan->visited == SLICE_ROWS) {
        mem_free(scan->seen);
        scan->seen = mem_strdup(key);
    }
    return pauses ? SCAN_PAUSE : 0;
}

int store_scan_slice(struct store_scan *scan, struct store_db *db, struct err *err)
{
    scan->visited = 0;
    int code;
    if (scan->seen) {
        code = store_db_walk_beyond(db, scan->table, scan->from, scan->to, scan->reverse,
                                    scan->seen, SLICE_ROWS, scan_look, scan, err);
    } else {
        code = store_db_walk(db, scan->table, scan->from, scan->to, scan->reverse, SLICE_ROWS,
                             scan_look, scan, err);
    }
    scan->complete = code != SCAN_PAUSE && (code != 0 || scan->visited < SLICE_ROWS);
    return code == SCAN_ENOUGH || code == SCAN_PAUSE ? 0 : code;
}

bool store_scan_is_complete(const struct store_scan *scan)
{
    return scan->complete;
}

void store_scan_tell(const struct store_scan *scan, int code)
{
    scan->done(scan->arg, code, code ? NULL : scan->rows, code ? 0 : scan->count);
}
