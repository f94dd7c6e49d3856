/* store/store_trouble.c - damaged rows, and a disk that is full or takes no writes.
 *
 * Damaged rows are noted by the thread that finds them, and logged and counted on the loop.  While
 * the disk is full, commits use the reserve; when that is used up, too, the first batch is tried
 * again ten times a second.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/store_trouble.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "store/store_beside.h"
#include "store/store_db.h"

#define FULL_RETRY_MS 100
#define ROOM_BYTES    (INT64_C(1) << 20) /* a disk with less free space stays full */
#define DAMAGED_NAMED 1000               /* damaged rows that are logged by name */
#define PROBLEM_NAMED 3                  /* damaged rows that store_problem() names */

/* A damaged row that was found: by the worker thread, or while the store was loaded. */
struct damage {
    char *row; /* "table key" */
    const char *why;
};

struct store_trouble {
    struct os *os;
    struct log *log;
    char *path;
    struct strbuf text; /* of store_problem() */
    void (*changed)(void *arg);
    void *changed_arg;
    /* damage */
    struct vec found;       /* struct damage; not told yet */
    struct strmap *damaged; /* rows found in this life of the store, as in struct damage */
    size_t set_aside;       /* rows that an earlier life set aside */
    char *unreadable;       /* why the check of all rows failed; NULL: it did not */
    /* disk space */
    struct loop_timer *retry;
    void (*go_on)(void *arg);
    void *go_on_arg;
    int64_t reserve_bytes;
    bool dropped; /* the worker has removed the reserve */
    bool full;
    bool read_only;
    bool stuck; /* the first batch waits for room */
};

static void write_problem(struct store_trouble *trouble)
{
    const size_t rows = store_trouble_rows(trouble);
    size_t at = 0, named = 0;
    const char *row = NULL;
    char disk[512];
    strbuf_clear(&trouble->text);
    if (rows > 0) {
        strbuf_printf(&trouble->text, "%zu damaged row%s of %s set aside", rows,
                      rows == 1 ? "" : "s", trouble->path);
        while (named < PROBLEM_NAMED && strmap_next(trouble->damaged, &at, &row, NULL)) {
            strbuf_printf(&trouble->text, "%s%s", named++ == 0 ? ": " : ", ", row);
        }
    }
    if (trouble->unreadable != NULL) {
        strbuf_printf(&trouble->text, "%s%s", rows > 0 ? "; " : "", trouble->unreadable);
    }
    if (trouble->full) {
        (void)os_disk_name(trouble->os, trouble->path, disk, sizeof(disk));
        strbuf_printf(&trouble->text, "%s%s, the disk of %s, is %s",
                      trouble->text.length > 0 ? "; " : "", disk, trouble->path,
                      trouble->read_only ? "mounted for reading only" : "full");
    }
    if (trouble->changed != NULL) {
        trouble->changed(trouble->changed_arg);
    }
}

const char *store_trouble_text(const struct store_trouble *trouble)
{
    return trouble->text.length > 0 ? trouble->text.data : "";
}

void store_trouble_on_change(struct store_trouble *trouble, void (*changed)(void *arg), void *arg)
{
    trouble->changed = changed;
    trouble->changed_arg = arg;
}

/* ---- damage ---------------------------------------------------------------------------------- */

static char *damage_row(const char *table, const char *key)
{
    struct strbuf row;
    strbuf_init(&row, 0);
    strbuf_printf(&row, "%s %s", table, key);
    return strbuf_take(&row);
}

/* Called by store_db, on the thread that uses the file. */
static void note_damage(void *arg, const char *table, const char *key, const char *why)
{
    struct store_trouble *trouble = arg;
    struct damage *damage = mem_zalloc(sizeof(*damage));
    damage->row = damage_row(table, key);
    damage->why = why;
    vec_push(&trouble->found, damage);
}

static void damage_destroy(void *arg)
{
    struct damage *damage = arg;
    mem_free(damage->row);
    mem_free(damage);
}

/* Returns whether the row is a new one. */
static bool log_damage(struct store_trouble *trouble, const char *row, const char *why)
{
    if (strmap_get(trouble->damaged, row) != NULL) {
        return false;
    }
    (void)strmap_set(trouble->damaged, row, trouble); /* only presence counts */
    if (strmap_count(trouble->damaged) <= DAMAGED_NAMED && !PLANTED(damage_unsaid)) {
        log_error(trouble->log, "store.row_damaged",
                  "a row of the store is damaged and is left out; see docs/howto/damaged-store.md",
                  LOG_TEXT("path", trouble->path), LOG_TEXT("row", row), LOG_TEXT("error", why));
    }
    return true;
}

void store_trouble_tell(struct store_trouble *trouble)
{
    bool changed = false;
    for (size_t i = 0; i < trouble->found.count; i++) {
        const struct damage *damage = trouble->found.items[i];
        changed = log_damage(trouble, damage->row, damage->why) || changed;
    }
    vec_fini(&trouble->found, damage_destroy);
    trouble->found = (struct vec){0};
    if (changed) {
        write_problem(trouble);
    }
}

void store_trouble_note(struct store_trouble *trouble, const char *table, const char *key,
                        const char *why)
{
    char *row = damage_row(table, key);
    if (log_damage(trouble, row, why)) {
        write_problem(trouble);
    }
    mem_free(row);
}

size_t store_trouble_rows(const struct store_trouble *trouble)
{
    return trouble->set_aside + strmap_count(trouble->damaged);
}

void store_trouble_set_unreadable(struct store_trouble *trouble, const char *why)
{
    if (why == NULL && trouble->unreadable == NULL) {
        return;
    }
    mem_free(trouble->unreadable);
    trouble->unreadable = why == NULL ? NULL : mem_strdup(why);
    write_problem(trouble);
}

/* ---- disk space ------------------------------------------------------------------------------ */

bool store_trouble_is_of_disk(int code)
{
    return !PLANTED(full_disk_ends) && (code == -ENOSPC || code == -EDQUOT || code == -EROFS);
}

static void set_full(struct store_trouble *trouble, bool full, const char *why)
{
    if (trouble->full == full) {
        return;
    }
    trouble->full = full;
    write_problem(trouble);
    if (full) {
        log_error(trouble->log, "store.full",
                  "the disk is full or mounted for reading only; changes wait or use the reserve",
                  LOG_TEXT("path", trouble->path), LOG_TEXT("disk", trouble->text.data),
                  LOG_TEXT("error", why));
    } else {
        log_info(trouble->log, "store.room", "the disk has room again",
                 LOG_TEXT("path", trouble->path));
    }
}

static bool disk_has_room(const struct store_trouble *trouble)
{
    char disk[16];
    const int64_t reserve = trouble->reserve_bytes;
    return !os_disk_name(trouble->os, trouble->path, disk, sizeof(disk)) &&
           os_disk_free_kib(trouble->os, trouble->path) * 1024 >
               (reserve > ROOM_BYTES ? reserve : ROOM_BYTES);
}

/* While the disk is full: tries the first batch again, and to get the reserve back. */
static void on_retry(void *arg)
{
    struct store_trouble *trouble = arg;
    if (trouble->stuck) {
        trouble->stuck = false;
        trouble->go_on(trouble->go_on_arg);
    } else if (disk_has_room(trouble) && (trouble->reserve_bytes == 0 ||
                                          store_reserve_make(trouble->os, trouble->path,
                                                             trouble->reserve_bytes, NULL) == 0)) {
        trouble->dropped = false;
        set_full(trouble, false, NULL);
        return;
    }
    loop_timer_set(trouble->retry, FULL_RETRY_MS);
}

void store_trouble_refused(struct store_trouble *trouble, int code, const char *why)
{
    trouble->read_only = code == -EROFS;
    set_full(trouble, true, why);
    if (!loop_timer_is_set(trouble->retry)) {
        loop_timer_set(trouble->retry, FULL_RETRY_MS);
    }
}

void store_trouble_hold_up(struct store_trouble *trouble)
{
    trouble->stuck = true;
}

bool store_trouble_holds_up(const struct store_trouble *trouble)
{
    return trouble->stuck;
}

bool store_trouble_use_reserve(struct store_trouble *trouble)
{
    bool used = store_reserve_drop(trouble->os, trouble->path);
    trouble->dropped = trouble->dropped || used;
    return used;
}

bool store_trouble_has_used_reserve(const struct store_trouble *trouble)
{
    return trouble->dropped;
}

void store_trouble_keep_reserve(struct store_trouble *trouble, int64_t bytes)
{
    struct err err = {""};
    trouble->reserve_bytes = bytes;
    int code = bytes > 0 ? store_reserve_make(trouble->os, trouble->path, bytes, &err) : 0;
    if (code == -EOPNOTSUPP || code == -ENOSYS) {
        trouble->reserve_bytes = 0;
        log_warn(trouble->log, "store.no_reserve", err.text);
    } else if (code) {
        store_trouble_refused(trouble, code, err.text);
    }
    if (trouble->reserve_bytes == 0) {
        (void)store_reserve_drop(trouble->os, trouble->path); /* of another configuration */
    }
}

int store_trouble_full(const struct store_trouble *trouble)
{
    if (!trouble->full || (!trouble->stuck && disk_has_room(trouble))) {
        return 0; /* the next try, in a moment, succeeds */
    }
    return trouble->read_only ? -EROFS : -ENOSPC;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

struct store_trouble *store_trouble_create(struct loop *loop, struct os *os, struct log *log,
                                           const char *path, struct store_db *db, size_t set_aside,
                                           void (*go_on)(void *arg), void *arg)
{
    struct store_trouble *trouble = mem_zalloc(sizeof(*trouble));
    trouble->os = os;
    trouble->log = log;
    trouble->path = mem_strdup(path);
    trouble->go_on = go_on;
    trouble->go_on_arg = arg;
    trouble->damaged = strmap_create(STRMAP_CASE_SENSITIVE);
    trouble->set_aside = set_aside;
    strbuf_init(&trouble->text, 0);
    trouble->retry = loop_timer_create(loop, on_retry, trouble);
    store_db_on_damage(db, note_damage, trouble);
    if (set_aside > 0) {
        log_error(log, "store.rows_set_aside",
                  "damaged rows were set aside before; see docs/howto/damaged-store.md",
                  LOG_TEXT("path", path), LOG_INT("rows", (int64_t)set_aside));
        write_problem(trouble);
    }
    return trouble;
}

void store_trouble_destroy(struct store_trouble *trouble)
{
    loop_timer_destroy(trouble->retry);
    vec_fini(&trouble->found, damage_destroy);
    strmap_destroy(trouble->damaged, NULL);
    mem_free(trouble->unreadable);
    mem_free(trouble->path);
    strbuf_fini(&trouble->text);
    mem_free(trouble);
}
