/* startd/slot/slots.h - which slots there are: as configured, and the pieces of partitionable ones.
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
    struct ad *inventory;                       /* what its scripts say beside that */
    struct resources total;                     /* of the machine, less what is reserved */
    struct ad_expr *modify[RESOURCE_KINDS_MAX]; /* MODIFY_REQUEST_EXPR_REQUEST...; NULL: none */
    int64_t disk_free_kib;                      /* of EXECUTE, as it was seen last */
    uint64_t disk_seen_ms;                      /* 0: never */
};

int slots_create(struct startd *startd, struct err *err);
void slots_destroy(struct startd *startd);
void slots_reload(struct startd *startd);  /* reads expressions; the division needs a restart */
void slots_refresh(struct startd *startd); /* makes all ads anew */

/* Makes a piece for that job.  The piece is Unclaimed, and nobody knows of it yet: slots_keep() or
 * slots_uncarve() follows at once.  -ENOSPC: the job does not fit, or there are STARTD_SLOTS_MAX
 * slots; -EINVAL: the job's request cannot be understood. */
int slots_carve(struct slot *parent, const struct ad *job, struct slot **ret, struct err *err);
void slots_keep(struct slot *piece);    /* shows the piece, and what is left of its parent */
void slots_uncarve(struct slot *piece); /* takes the piece back as if it had never been there */
/* Makes the piece of a claim that was there before our start, whether its resources are free or
 * not.  NULL: such a slot is no longer configured. */
struct slot *slots_carve_again(struct startd *startd, const char *name, const struct ad *resources);
void slots_remove(struct slot *piece); /* a piece whose claim is gone */
/* May that job run in this piece, which was carved for another one?  0, also for a slot that is not
 * a piece; -ENOSPC, -EINVAL. */
int slots_fit(const struct slot *slot, const struct ad *job, struct err *err);

#endif
