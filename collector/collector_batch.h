/* collector/collector_batch.h - changes that become public together, after what must be durable is.
 *
 * An offline or absent ad is in the store exactly while it is the latest of its name: a batch
 * compares what was and what will be, and writes or deletes accordingly.  When that is nothing, and
 * no change of the same ads is on its way to the disk, the batch is applied at once; otherwise
 * after its commit, which also keeps the order of changes of one ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_BATCH_H
#define COLLECTOR_COLLECTOR_BATCH_H

#include <stdbool.h>

struct ad;
struct ads_entry;
struct batch;
struct collector;
struct err;
struct plan_stamp;
struct plan_traits;
struct secret_list;

struct batch *batch_begin(struct collector *collector);
/* The ad (taken) of that type and name, with these secrets (taken; NULL: none) beside it; stamp may
 * be NULL.  -ENOSPC: too many ads; -E2BIG: an
 * offline ad that is too large: nothing is changed then. */
int batch_set(struct batch *batch, const char *type, const char *name, struct ad *ad,
              struct secret_list *secrets, const struct plan_stamp *stamp, struct err *err);
/* The same for an entry that is there, when its traits are known: see collector_ads_propose_to().
 */
int batch_set_at(struct batch *batch, struct ads_entry *entry, struct ad *ad,
                 struct secret_list *secrets, const struct plan_traits *traits, bool same_machine,
                 const struct plan_stamp *stamp, struct err *err);
void batch_remove(struct batch *batch, struct ads_entry *entry);
/* Takes batch; calls done(arg) when its changes are durable and public: at once, or later; done may
 * be NULL.  Where that comes no more, because the collector ends first, drop(arg) is called. */
void batch_end(struct batch *batch, void (*done)(void *arg), void (*drop)(void *arg), void *arg);
/* Drops those that wait for their commit, after the store was closed. */
void batch_drop_all(struct collector *collector);

#endif
