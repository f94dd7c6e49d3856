/* schedd/questions/job_history.c - see job_history.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/schedd_state.h"
#include "store/store.h"

#define KEY_SIZE  64   /* bytes of a row's key, with the terminating zero */
#define TRIM_ROWS 1000 /* rows deleted at a time */

static void finished_key(int64_t cluster, int64_t proc, char ret[KEY_SIZE])
{
    (void)snprintf(ret, KEY_SIZE, "%010" PRId64 ".%010" PRId64, cluster, proc); /* fits */
}

/* ---- dropping the oldest -----------------------------------------------------------------------
 */

static void trim_found(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct schedd *schedd = arg;
    schedd->history.trimming = false;
    if (result != 0 || count == 0) {
        log_warn(schedd->log, "history.not_trimmed",
                 "cannot read the history, so its oldest jobs stay", LOG_INT("error", result));
        return;
    }
    struct change *change = change_begin(schedd);
    for (size_t i = 0; i < count; i++) {
        int64_t time_s = 0;
        int64_t cluster = 0;
        int64_t proc = 0;
        change_delete(change, "history", rows[i].key);
        if (sscanf(rows[i].key, "%" SCNd64 ".%" SCNd64 ".%" SCNd64, &time_s, &cluster, &proc) ==
            3) {
            char key[KEY_SIZE];
            finished_key(cluster, proc, key);
            change_delete(change, "finished", key);
        }
    }
    log_info(schedd->log, "history.trimmed", "dropped the oldest jobs of the history",
             LOG_INT("jobs", count));
    schedd->history.count -= (int64_t)count;
    change_counter(change, "history_count", &schedd->history.count);
    change_commit(change, NULL, NULL, NULL);
}

static void trim_history(struct schedd *schedd)
{
    int64_t max = schedd->settings.history_max;
    if (max > 0 && schedd->history.count >= max + TRIM_ROWS && !schedd->history.trimming) {
        schedd->history.trimming = true;
        store_scan(schedd->store, "history", NULL, NULL, false, TRIM_ROWS, NULL, NULL, trim_found,
                   schedd);
    }
}

void history_add(struct change *change, const struct ad *flat, int64_t epoch, int64_t now_s)
{
    struct schedd *schedd = change_schedd(change);
    int64_t cluster = ad_int_or(flat, "ClusterId", 0);
    int64_t proc = ad_int_or(flat, "ProcId", 0);
    char key[KEY_SIZE];
    (void)snprintf(key, sizeof(key), "%012" PRId64 ".%010" PRId64 ".%010" PRId64, now_s, cluster,
                   proc); /* fits */
    change_put(change, "history", key, flat);
    struct ad *finished = ad_create();
    ad_set_int(finished, "ClaimEpoch", epoch);
    ad_set_string(finished, "Owner", ad_string_or(flat, "Owner", ""));
    finished_key(cluster, proc, key);
    change_put(change, "finished", key, finished);
    ad_destroy(finished);
    schedd->history.count++;
    change_counter(change, "history_count", &schedd->history.count);
    trim_history(schedd);
}

/* ---- looking up --------------------------------------------------------------------------------
 */

struct lookup {
    void (*done)(void *arg, int64_t epoch, const char *owner);
    void *arg;
};

static void found_epoch(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct lookup *lookup = arg;
    struct ad *row = NULL;
    int64_t epoch = -1;
    if (result == 0 && count == 1 &&
        ad_decode(rows[0].value, rows[0].length, NULL, &row, NULL) == 0) {
        epoch = ad_int_or(row, "ClaimEpoch", 0);
    }
    lookup->done(lookup->arg, epoch, row != NULL ? ad_string_or(row, "Owner", "") : "");
    ad_destroy(row);
    mem_free(lookup);
}

void history_epoch(struct schedd *schedd, int64_t cluster, int64_t proc,
                   void (*done)(void *arg, int64_t epoch, const char *owner), void *arg)
{
    char from[KEY_SIZE];
    char to[KEY_SIZE + 1];
    finished_key(cluster, proc, from);
    (void)snprintf(to, sizeof(to), "%s!", from); /* the next key */
    struct lookup *lookup = mem_alloc(sizeof(*lookup));
    *lookup = (struct lookup){done, arg};
    store_scan(schedd->store, "finished", from, to, false, 1, NULL, NULL, found_epoch, lookup);
}
