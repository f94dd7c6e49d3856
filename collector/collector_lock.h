/* collector/collector_lock.h - machines that administrators have locked (POWER_LOCK).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_LOCK_H
#define COLLECTOR_COLLECTOR_LOCK_H

#include <stddef.h>

struct ad;
struct collector;
struct locking;
struct wire_request;

/* The part of struct collector that these functions own. */
struct collector_locks {
    size_t count;            /* locked machines */
    struct locking *waiting; /* list of requests that wait for their commit */
};

/* Answers POWER_LOCK (docs/protocol/wire.md). */
void collector_power_lock(struct collector *collector, struct wire_request *request);
/* Replaces *ad, a Machine ad that was just received, by one with the attributes of its machine's
 * lock, if there is one. */
void collector_lock_stamp(struct collector *collector, struct ad **ad);
/* Ends the locks whose time is over. */
void collector_locks_expire(struct collector *collector);

/* At the start: a lock of the store, a collector_loaded_f.  After all locks and offline ads are
 * loaded, collector_locks_compare() makes the ads say what the locks say. */
void collector_lock_loaded(void *collector, const char *name, struct ad *ad);
void collector_locks_compare(struct collector *collector);
/* Drops the requests that wait for their commit.  To be called after the store was closed. */
void collector_locks_drop(struct collector *collector);

#endif
