/* schedd/queue/job_change.c - see job_change.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/job_change.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "store/store.h"
#include "wire/watch.h"

struct note { /* what watchers are told after the commit */
    char id[JOB_ID_SIZE];
    struct ad *ad; /* NULL: only tell that the job is gone */
    bool gone;
};

struct then {
    void (*call)(void *arg);
    void *arg;
};

struct change {
    LIST_ENTRY(change) entry; /* in schedd->changes, while it is with the store */
    struct schedd *schedd;
    struct store_txn *txn;
    struct vec notes;
    struct vec thens;
    const char *counter; /* key of a counter that this change writes; NULL: none */
    const int64_t *counter_value;
    void (*before)(struct change *change); /* called by change_commit(); NULL: none */
    void (*done)(void *arg);
    void (*drop)(void *arg);
    void *arg;
};

static void note_destroy(void *value)
{
    struct note *note = value;
    ad_destroy(note->ad);
    mem_free(note);
}

struct change *change_begin(struct schedd *schedd)
{
    struct change *change = mem_zalloc(sizeof(*change));
    change->schedd = schedd;
    change->txn = store_begin(schedd->store);
    return change;
}

struct schedd *change_schedd(const struct change *change)
{
    return change->schedd;
}

static void note_for_watchers(struct change *change, const struct job *job, const struct ad *ad,
                              bool gone)
{
    if (watch_server_count(change->schedd->watchers) == 0) {
        return; /* a watcher that comes later gets a snapshot */
    }
    struct note *note = mem_zalloc(sizeof(*note));
    job_id(job, note->id);
    note->ad = ad != NULL ? ad_copy(ad) : NULL;
    note->gone = gone;
    vec_push(&change->notes, note);
}

void change_put(struct change *change, const char *table, const char *key, const struct ad *ad)
{
    struct strbuf bytes;
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    CHECK(!bytes.failed); /* ads are bounded where they come in */
    store_put(change->txn, table, key, bytes.data, bytes.length);
    strbuf_fini(&bytes);
}

void change_raise(struct change *change, int64_t number)
{
    store_raise(change->txn, number);
}

void change_put_bytes(struct change *change, const char *table, const char *key, const void *data,
                      size_t length)
{
    store_put(change->txn, table, key, data, length);
}

void change_delete(struct change *change, const char *table, const char *key)
{
    store_delete(change->txn, table, key);
}

void change_counter(struct change *change, const char *key, const int64_t *value)
{
    CHECK(change->counter == NULL || change->counter_value == value);
    change->counter = key;
    change->counter_value = value;
}

static void put_counter(struct change *change)
{
    if (change->counter != NULL) {
        struct ad *ad = ad_create();
        ad_set_int(ad, "Value", *change->counter_value);
        change_put(change, "counters", change->counter, ad);
        ad_destroy(ad);
    }
}

void change_job(struct change *change, struct job *job)
{
    queue_note_own(job);
    char key[JOB_KEY_SIZE];
    job_row_key(job, key);
    struct ad *row = job_row_ad(change->schedd, job);
    change_put(change, "jobs", key, row);
    ad_destroy(row);
    if (watch_server_count(change->schedd->watchers) > 0) {
        struct ad *flat = job_flat(change->schedd, job);
        note_for_watchers(change, job, flat, false);
        ad_destroy(flat);
    }
}

void change_job_gone(struct change *change, const struct job *job, const struct ad *flat)
{
    note_for_watchers(change, job, flat, true);
}

void change_cluster(struct change *change, struct cluster *cluster)
{
    cluster->revision++;
    char key[JOB_KEY_SIZE];
    cluster_row_key(cluster->id, key);
    change_put(change, "clusters", key, cluster->ad);
}

void change_then(struct change *change, void (*call)(void *arg), void *arg)
{
    struct then *then = mem_alloc(sizeof(*then));
    *then = (struct then){call, arg};
    vec_push(&change->thens, then);
}

void change_before_commit(struct change *change, void (*call)(struct change *change))
{
    CHECK(change->before == NULL || change->before == call);
    change->before = call;
}

static void change_committed(void *arg)
{
    struct change *change = arg;
    LIST_REMOVE(change, entry);
    for (size_t i = 0; i < change->notes.count; i++) {
        const struct note *note = change->notes.items[i];
        struct watch_server *watchers = change->schedd->watchers;
        if (note->ad != NULL) {
            watch_server_changed(watchers, "Job", note->id, note->ad);
        }
        if (note->gone) {
            watch_server_gone(watchers, "Job", note->id);
        }
    }
    vec_fini(&change->notes, note_destroy);
    for (size_t i = 0; i < change->thens.count; i++) {
        const struct then *then = change->thens.items[i];
        then->call(then->arg);
    }
    vec_fini(&change->thens, mem_free);
    void (*done)(void *) = change->done;
    void *done_arg = change->arg;
    mem_free(change);
    if (done != NULL) {
        done(done_arg);
    }
}

void change_commit(struct change *change, void (*done)(void *arg), void (*drop)(void *arg),
                   void *arg)
{
    if (change->before != NULL) {
        change->before(change);
    }
    put_counter(change);
    change->done = done;
    change->drop = drop;
    change->arg = arg;
    LIST_INSERT_HEAD(&change->schedd->changes, change, entry);
    store_commit(change->txn, change_committed, change);
}

static void then_destroy(void *value)
{
    struct then *then = value;
    mem_free(then->arg);
    mem_free(then);
}

void changes_drop(struct schedd *schedd)
{
    while (!LIST_EMPTY(&schedd->changes)) {
        struct change *change = LIST_FIRST(&schedd->changes);
        LIST_REMOVE(change, entry);
        vec_fini(&change->notes, note_destroy);
        vec_fini(&change->thens, then_destroy);
        if (change->drop != NULL) {
            change->drop(change->arg);
        }
        mem_free(change);
    }
}
