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

struct division { /* what the machine has, to be divided among its slots */
    struct resource_kinds *kinds;
    struct ad *inventory;   /* further attributes that its inventory scripts print */
    struct resources total; /* of the machine, without what is reserved */
    struct ad_expr *modify[RESOURCE_KINDS_MAX]; /* MODIFY_REQUEST_EXPR_REQUEST...; NULL: none */
    int64_t disk_free_kib;                      /* free in EXECUTE, when last measured */
    uint64_t disk_seen_ms;                      /* when that was, loop time; 0: never */
};

/* Makes the configured slots.  0 or -errno. */
int slots_create(struct startd *startd, struct err *err);
void slots_destroy(struct startd *startd);
/* Reads expressions again; the division needs a restart. */
void slots_reload(struct startd *startd);
void slots_refresh(struct startd *startd); /* makes all ads anew */

/* Makes a dynamic slot for that job.  It is Unclaimed, and nobody knows of it yet: slots_keep() or
 * slots_uncarve() must follow at once.  0; -ENOSPC: the job does not fit, or there are
 * STARTD_SLOTS_MAX slots; -EINVAL: the job's request cannot be understood. */
int slots_carve(struct slot *parent, const struct ad *job, struct slot **ret, struct err *err);
void slots_keep(struct slot *piece);    /* shows the dynamic slot, and what is left of its parent */
void slots_uncarve(struct slot *piece); /* removes it as if it had never existed */
/* Makes the dynamic slot of a claim that is older than this process, whether its resources are free
 * or not.  NULL: such a slot is not configured any more. */
struct slot *slots_carve_again(struct startd *startd, const char *name, const struct ad *resources);
void slots_remove(struct slot *piece); /* removes a dynamic slot whose claim is gone */
/* Checks whether that job may run in this dynamic slot, which was made for another job.  0, also
 * for other slots; -ENOSPC; -EINVAL. */
int slots_fit(const struct slot *slot, const struct ad *job, struct err *err);

#endif
