/* collector/collector_batch.h - changes that become public together, after the durable ones are
 * committed.
 *
 * An offline or absent ad is in the store exactly while it is the newest ad of its type and name.
 * A batch compares the ads before and after its changes, and writes to the store or deletes from it
 * accordingly.  If there is nothing to write, and no earlier change of the same ads still waits for
 * its commit, the batch is applied at once; otherwise after its commit.  This also keeps the
 * changes of an ad in order.
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

/* Begins a batch; end it by batch_end(). */
struct batch *batch_begin(struct collector *collector);
/* Adds a change to the batch: ad becomes the ad of that type and name, with its secrets (NULL:
 * none).  Takes over ad and secrets.  stamp: place of the sender's message in the order of its
 * messages; NULL: unknown.  Returns 0; or -ENOSPC: there are too many ads, or -E2BIG: an offline ad
 * that is too large; the batch is then unchanged. */
int batch_set(struct batch *batch, const char *type, const char *name, struct ad *ad,
              struct secret_list *secrets, const struct plan_stamp *stamp, struct err *err);
/* Does what batch_set() does, for an entry that exists.  traits: what plan_traits_of() returns for
 * ad.  same_machine: ad has the Machine of the entry's latest ad, byte for byte. */
int batch_set_at(struct batch *batch, struct ads_entry *entry, struct ad *ad,
                 struct secret_list *secrets, const struct plan_traits *traits, bool same_machine,
                 const struct plan_stamp *stamp, struct err *err);
/* Adds a change to the batch: the entry's ad is removed. */
void batch_remove(struct batch *batch, struct ads_entry *entry);
/* Ends and takes over the batch.  done(arg), unless NULL, is called when the changes of the batch
 * are durable and public: at once, or later.  If the collector ends before that, drop(arg) is
 * called instead. */
void batch_end(struct batch *batch, void (*done)(void *arg), void (*drop)(void *arg), void *arg);
/* Drops the batches that wait for their commit.  To be called after the store was closed. */
void batch_drop_all(struct collector *collector);

#endif
