/* collector/collector_awake.h - copies of the live ads of machines, in the store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_AWAKE_H
#define COLLECTOR_COLLECTOR_AWAKE_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct ads_entry;
struct collector;
struct store_txn;
struct strmap;

/* The copies that were loaded at the start and are not examined yet. */
struct awake_copies {
    struct strmap *ads; /* Name -> struct ad; NULL: all are examined */
    uint64_t due_ms;    /* when they are examined, ms of the loop's clock */
};

/* Callback of loading: takes over the ad of the slot `name`. */
void collector_awake_loaded(void *collector, const char *name, struct ad *ad);
/* Frees the copies that were loaded. */
void collector_awake_drop(struct collector *collector);

/* Has txn store a copy of this live ad of the entry, if it is the ad of a configured slot and there
 * is no copy yet.  Returns whether anything is to be stored. */
bool collector_awake_keep(struct collector *collector, struct store_txn *txn,
                          struct ads_entry *entry, const struct ad *ad);
/* Returns whether keep() would store a copy. */
bool collector_awake_lacks(const struct collector *collector, const struct ads_entry *entry,
                           const struct ad *ad);
/* Returns whether there is a copy for the entry. */
bool collector_awake_has(const struct collector *collector, const struct ads_entry *entry);
/* Has txn delete the copy, because the machine sleeps now or is withdrawn. */
void collector_awake_forget(struct collector *collector, struct store_txn *txn,
                            struct ads_entry *entry);

#endif
