/* startd/slots.h - which slots there are: as configured, and the pieces of partitionable ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOTS_H
#define STARTD_SLOTS_H

#include <stdint.h>

#include "startd/carve_plan.h"

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
void slots_reload(struct startd *startd);  /* expressions; the division needs a restart */
void slots_refresh(struct startd *startd); /* all ads anew */
/* A piece for that job, Unclaimed, of which nobody knows yet: slots_keep() or slots_uncarve()
 * follows at once.  -ENOSPC: it does not fit, or there are STARTD_SLOTS_MAX slots; -EINVAL: the
 * job's request is none. */
int slots_carve(struct slot *parent, const struct ad *job, struct slot **ret, struct err *err);
/* May that job run in this piece, which was carved for another?  0 for slots that are no pieces;
 * -ENOSPC, -EINVAL. */
int slots_fit(const struct slot *slot, const struct ad *job, struct err *err);
void slots_keep(struct slot *piece);    /* it is shown, and what is left of its parent */
void slots_uncarve(struct slot *piece); /* it was never there */
/* The same for one that was there before we were started; takes resources whether they are free or
 * not.  NULL: such a slot is no longer configured. */
struct slot *slots_carve_again(struct startd *startd, const char *name, const struct ad *resources);
void slots_remove(struct slot *piece); /* a piece that has no claim any more */

#endif
