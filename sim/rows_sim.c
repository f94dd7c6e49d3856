/* sim/rows_sim.c - damages rows of a simulated machine's store, as a disk does that flips bits.
 *
 * The row is written with its old checksum through SQLite, so that the file's structure stays
 * right: damage of the structure makes a daemon refuse the whole file, and the pool would need an
 * operator (tests/integration/damaged_store.sh).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "base/check.h"
#include "classad/ad.h"
#include "classad/ad_binary.h"
#include "sim/host_faults.h"
#include "sim/sim_private.h"
#include "store/row_sum.h"

#define KEY_FLIPS 25 /* percent of flips that are in a key */

static int64_t count_rows(sqlite3 *db, const char *table)
{
    int64_t count = 0;
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", table);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        count = sqlite3_column_int64(stmt, 0);
    }
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return count;
}

/* Writes the row with the new key and value; false: SQLite refuses, e.g. another row has the key.
 */
static bool write_row(sqlite3 *db, const struct sim_row *row, const unsigned char *value,
                      size_t length)
{
    sqlite3_stmt *stmt = NULL;
    char *sql =
        sqlite3_mprintf("UPDATE \"%w\" SET key = ?1, value = ?2 WHERE key = ?3", row->table);
    bool written = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
                   sqlite3_bind_text(stmt, 1, row->key_now, -1, SQLITE_STATIC) == SQLITE_OK &&
                   sqlite3_bind_blob(stmt, 2, value, (int)length, SQLITE_STATIC) == SQLITE_OK &&
                   sqlite3_bind_text(stmt, 3, row->key, -1, SQLITE_STATIC) == SQLITE_OK &&
                   sqlite3_step(stmt) == SQLITE_DONE;
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return written;
}

/* Sets whose row it is. */
static void read_ad(const void *value, size_t length, struct sim_row *row)
{
    struct ad *ad = NULL;
    row->number = row->batch = -1;
    if (ad_decode(value, length, NULL, &ad, NULL) == 0) {
        row->number = ad_int_or(ad, "SimNumber", -1);
        row->batch = ad_int_or(ad, "SimBatch", -1);
        ad_destroy(ad);
    }
}

static bool flip_in(struct sim *sim, sqlite3 *db, int64_t nth, struct sim_row *row)
{
    sqlite3_stmt *stmt = NULL;
    unsigned char *value = NULL;
    size_t length = 0;
    bool is_good = false;
    char *sql =
        sqlite3_mprintf("SELECT key, value, sum FROM \"%w\" ORDER BY key LIMIT 1 OFFSET %lld",
                        row->table, (long long)nth);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        (void)snprintf(row->key, sizeof(row->key), "%s",
                       (const char *)sqlite3_column_text(stmt, 0));
        length = (size_t)sqlite3_column_bytes(stmt, 1);
        value = sim_alloc(length + 1);
        memcpy(value, sqlite3_column_blob(stmt, 1), length);
        is_good = sqlite3_column_int64(stmt, 2) ==
                  row_sum(row->table, row->key, strlen(row->key), value, length);
    }
    (void)sqlite3_finalize(stmt);
    sqlite3_free(sql);
    (void)snprintf(row->key_now, sizeof(row->key_now), "%s", row->key);
    if (!is_good || length == 0) { /* or damaged before, and not found yet */
        sim_free(value);
        return false;
    }
    read_ad(value, length, row);
    if (sim_between(sim, 0, 99) < KEY_FLIPS) {
        row->key_now[sim_between(sim, 0, strlen(row->key) - 1)] ^= 2; /* stays printable */
    } else {
        value[sim_between(sim, 0, length - 1)] ^= (unsigned char)(1U << sim_between(sim, 0, 7));
    }
    bool written = write_row(db, row, value, length);
    sim_free(value);
    return written;
}

static bool flip_any(struct sim *sim, sqlite3 *db, struct sim_row *row)
{
    int64_t count = count_rows(db, row->table);
    return count > 0 && flip_in(sim, db, (int64_t)sim_between(sim, 0, (uint64_t)count - 1), row);
}

bool sim_row_flip(struct sim_host *host, const char *path, const char *table, struct sim_row *ret)
{
    struct sim *sim = host->sim;
    sqlite3 *db = NULL;
    CHECK(sim->current == NULL);
    struct sim_row row = {.table = ""};
    (void)snprintf(row.table, sizeof(row.table), "%s", table);
    bool flipped =
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, host->vfs_name) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;", NULL, NULL,
                     NULL) == SQLITE_OK &&
        /* a daemon that was killed left the log; a disk's damage does not take it away */
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
        flip_any(sim, db, &row);
    (void)sqlite3_close(db);
    if (flipped) {
        sim_count(sim, SIM_COUNT_ROW_FLIPS);
        sim_trace(sim, NULL, "%s: a bit flips in row %s %s of %s", host->name, row.table, row.key,
                  path);
        *ret = row;
    }
    return flipped;
}
