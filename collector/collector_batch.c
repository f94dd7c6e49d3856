/* collector/collector_batch.c - see collector_batch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_batch.h"

#include <errno.h>
#include <stdbool.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_awake.h"
#include "collector/collector_offline.h"
#include "collector/collector_state.h"
#include "store/store.h"
#include "wire/secret_list.h"

struct batch {
    struct batch *next;
    struct collector *collector;
    struct store_txn *txn;
    struct vec changes;
    bool must_wait;
    void (*done)(void *arg);
    void (*drop)(void *arg);
    void *arg;
};

struct batch *batch_begin(struct collector *collector)
{
    struct batch *batch = mem_zalloc(sizeof(*batch));
    batch->collector = collector;
    return batch;
}

/* Returns the batch's transaction, begun when first needed, because most batches write nothing. */
static struct store_txn *txn_of(struct batch *batch)
{
    if (!batch->txn) {
        batch->txn = store_begin(batch->collector->store);
    }
    return batch->txn;
}

static struct ads_entry *propose_change(struct batch *batch, const char *type, const char *name,
                                        struct ad *ad, struct secret_list *secrets)
{
    struct ads_change *change;
    if (collector_ads_propose(batch->collector->ads, type, name, ad, secrets, &change) != 0) {
        return NULL;
    }
    vec_push(&batch->changes, change);
    return collector_ads_changed(change);
}

static void note_heard(struct batch *batch, struct ads_entry *entry, const struct plan_stamp *stamp)
{
    entry->heard_ms = (int64_t)loop_now_ms(batch->collector->env.loop);
    if (stamp) {
        entry->stamp = *stamp;
    }
}

int batch_set(struct batch *batch, const char *type, const char *name, struct ad *ad,
              struct secret_list *secrets, const struct plan_stamp *stamp, struct err *err)
{
    struct ads_entry *old = collector_ads_find(batch->collector->ads, type, name);
    const struct plan_traits traits = plan_traits_of(text_equal_nocase(type, "Machine"), ad);
    bool is_durable = traits.offline || traits.absent;
    if (old) {
        return batch_set_at(batch, old, ad, secrets, &traits, false, stamp, err);
    }
    int code = is_durable ? collector_offline_put(txn_of(batch), batch->collector->prototypes, name,
                                                  ad, err)
                          : 0;
    if (code) {
        ad_destroy(ad);
        secret_list_unref(secrets);
        return code;
    }
    struct ads_entry *entry = propose_change(batch, type, name, ad, secrets);
    if (!entry) {
        if (is_durable) {
            collector_offline_delete(txn_of(batch), name);
            batch->must_wait = true; /* see collector_offline_put() */
        }
        return err_set(err, -ENOSPC, "too many ads or types of ads; no room for '%s'", name);
    }
    batch->must_wait = batch->must_wait || is_durable;
    note_heard(batch, entry, stamp);
    return 0;
}

int batch_set_at(struct batch *batch, struct ads_entry *entry, struct ad *ad,
                 struct secret_list *secrets, const struct plan_traits *traits, bool same_machine,
                 const struct plan_stamp *stamp, struct err *err)
{
    bool was_durable = ads_entry_is_durable(entry);
    bool is_durable = traits->offline || traits->absent;
    if (is_durable) {
        int code = collector_offline_put(txn_of(batch), batch->collector->prototypes, entry->name,
                                         ad, err);
        if (code) {
            ad_destroy(ad);
            secret_list_unref(secrets);
            return code;
        }
    } else if (was_durable) {
        collector_offline_delete(txn_of(batch), entry->name);
        (void)collector_awake_keep(batch->collector, txn_of(batch), entry, ad);
    }
    if (is_durable && collector_awake_has(batch->collector, entry)) {
        collector_awake_forget(batch->collector, txn_of(batch), entry);
    }
    batch->must_wait = batch->must_wait || was_durable || is_durable || entry->waiting > 0;
    vec_push(&batch->changes, collector_ads_propose_to(batch->collector->ads, entry, ad, secrets,
                                                       traits, same_machine));
    note_heard(batch, entry, stamp);
    return 0;
}

void batch_remove(struct batch *batch, struct ads_entry *entry)
{
    if (!entry->latest) {
        return;
    }
    if (ads_entry_is_durable(entry)) {
        collector_offline_delete(txn_of(batch), entry->name);
    }
    bool had_copy = collector_awake_has(batch->collector, entry);
    if (had_copy) {
        collector_awake_forget(batch->collector, txn_of(batch), entry);
    }
    batch->must_wait =
        batch->must_wait || had_copy || ads_entry_is_durable(entry) || entry->waiting > 0;
    (void)propose_change(batch, entry->type, entry->name, NULL, NULL);
}

static void apply_batch(struct batch *batch)
{
    for (size_t i = 0; i < batch->changes.count; i++) {
        collector_ads_apply(batch->collector->ads, batch->changes.items[i]);
    }
    vec_fini(&batch->changes, NULL);
    if (batch->done) {
        batch->done(batch->arg);
    }
    mem_free(batch);
}

static void batch_committed(void *arg)
{
    struct batch *batch = arg;
    CHECK(batch->collector->batches == batch); /* the store calls in the order of commits */
    batch->collector->batches = batch->next;
    apply_batch(batch);
}

void batch_end(struct batch *batch, void (*done)(void *arg), void (*drop)(void *arg), void *arg)
{
    batch->done = done;
    batch->drop = drop;
    batch->arg = arg;
    if (!batch->must_wait) {
        if (batch->txn) { /* an ad was too large for it: it is empty */
            store_abort(batch->txn);
            batch->txn = NULL;
        }
        apply_batch(batch);
        return;
    }
    struct collector *collector = batch->collector;
    *(collector->batches ? &collector->last_batch->next : &collector->batches) = batch;
    collector->last_batch = batch;
    struct store_txn *txn = txn_of(batch);
    batch->txn = NULL;
    store_commit(txn, batch_committed, batch);
}

static void drop_change(void *change)
{
    collector_ads_drop(change);
}

void batch_drop_all(struct collector *collector)
{
    while (collector->batches) {
        struct batch *batch = collector->batches;
        collector->batches = batch->next;
        vec_fini(&batch->changes, drop_change);
        if (batch->drop) {
            batch->drop(batch->arg);
        }
        mem_free(batch);
    }
}
