/* startd/slot/slots.h - which slots exist: the configured ones, and the dynamic ones ("pieces") of
 * partitionable slots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOTS_H
#define STARTD_SLOT_SLOTS_H

#include <stdint.h>

#include "startd/slot/carve_plan.h"

struct ad;
struct ad_expr;
struct err;
struct slot;
struct startd;

#define STARTD_SLOTS_MAX 1024

/* The machine's resources, which are divided among its slots. */
struct division {
    struct resource_kinds *kinds;
    /* further attributes that the machine's inventory scripts printed, for all slots' ads */
    struct ad *inventory;
    /* resources of the machine, without RESERVED_MEMORY and RESERVED_DISK */
    struct resources total;
    /* The expressions MODIFY_REQUEST_EXPR_REQUEST<kind>, one for each kind of resource, owned;
     * NULL: not set. */
    struct ad_expr *modify[RESOURCE_KINDS_MAX];
    int64_t disk_free_kib; /* disk space free in EXECUTE when last measured, KiB */
    uint64_t disk_seen_ms; /* when disk_free_kib was measured, ms of the loop's clock; 0: never */
};

/* Finds out the machine's resources and makes the configured slots.  Returns 0 or -errno. */
int slots_create(struct startd *startd, struct err *err);
void slots_destroy(struct startd *startd);
/* To be called when the configuration has changed: reads the slots' policy expressions again.
 * Numbers and sizes of slots change only with a restart of the startd. */
void slots_reload(struct startd *startd);
/* Divides the disk anew when it has clearly more room than when the startd began: then it was full,
 * or what earlier jobs left was not removed yet.  A disk that has less room needs no division: a
 * slot's ad never shows more than is free. */
void slots_divide_more_disk(struct startd *startd);
/* Replaces the claim ids that are on offer: a DIAL_ME with one of them may have been lost with the
 * uplink, and the negotiator would count it as given for long.  Who has one of them is refused. */
void slots_replace_ids(struct startd *startd);
/* Divides the disk anew if that is due, builds the ads of all slots again and lets them be sent. */
void slots_refresh(struct startd *startd);

/* Splits a dynamic slot for that job off the partitionable slot parent.  The new slot is Unclaimed
 * and no ad of it is sent: slots_keep() or slots_uncarve() must be called for it at once.  Returns
 * 0; -ENOSPC if the job does not fit or there are STARTD_SLOTS_MAX slots; -EINVAL if the job's
 * request cannot be understood. */
int slots_carve(struct slot *parent, const struct ad *job, struct slot **ret, struct err *err);
/* keeps a slot made by slots_carve(): lets its ad and its partitionable slot's ad be sent */
void slots_keep(struct slot *piece);
/* removes a slot made by slots_carve(), of which no ad was sent */
void slots_uncarve(struct slot *piece);
/* After a restart of the startd: makes the dynamic slot of a restored claim again, with this name
 * and these resources, even if they are not free.  Returns NULL if that is not possible, for
 * example because its partitionable slot is no longer configured. */
struct slot *slots_carve_again(struct startd *startd, const char *name, const struct ad *resources);
/* removes a dynamic slot whose claim has ended; the collector is told */
void slots_remove(struct slot *piece);
/* Checks whether another job of the claim fits into this slot.  Returns 0 if the slot is not
 * dynamic, or if it has what the job requests; -ENOSPC if it has less; -EINVAL if the job's request
 * is not valid. */
int slots_fit(const struct slot *slot, const struct ad *job, struct err *err);

#endif
