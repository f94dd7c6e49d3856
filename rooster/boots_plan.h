/* rooster/boots_plan.h - how long a machine may take to come, learned from how long it took.
 *
 * One deadline for all is wrong for both a desktop that is there after 20 s and a server that
 * tests its memory for 8 minutes: the first is missed for minutes when it does not come, the second
 * is given up while it boots.  So each machine's last boots are kept (they are in the ledger), and
 * the deadline is twice their 95th percentile, within bounds.  Twice, because a boot that checks
 * its disks or fetches its updates is no failure.
 *
 * Rejected: mean and deviation; boots are not normal (most alike, a few with a disk check).
 *
 * Pure: no clock, no I/O.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_BOOTS_PLAN_H
#define ROOSTER_BOOTS_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define BOOTS_KEPT   32 /* the last ones */
#define BOOTS_ENOUGH 3  /* to learn from */

struct boots { /* of one machine; zero-initialized: none */
    int64_t took_ms[BOOTS_KEPT];
    size_t count; /* all that there ever were */
};

/* From the first order to the live ad; what is not above 0 is left out. */
void boots_add(struct boots *boots, int64_t took_ms);
/* The 95th percentile (nearest rank) of those that are kept; 0: none. */
int64_t boots_p95_ms(const struct boots *boots);

struct boots_bounds {
    int64_t unlearned_ms; /* the deadline of a machine of which too little is known */
    int64_t floor_ms, ceiling_ms;
};
/* The deadline of the next wake: unlearned_ms before there are BOOTS_ENOUGH, unless one of those
 * few took longer: that was given up while it booted, and would be again.  Where unlearned_ms is
 * outside of the bounds it takes the bound's place: what somebody configured is not overruled. */
int64_t boots_deadline_ms(const struct boots *boots, const struct boots_bounds *bounds);

#endif
