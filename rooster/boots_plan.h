/* rooster/boots_plan.h - learns from a machine's boots how long its next wake may take.
 *
 * One deadline for all machines would be wrong for a desktop that is there after 20 s and for a
 * server that tests its memory for 8 minutes: a desktop that does not come would be noticed minutes
 * too late, and the server would be given up while it boots.  So the times of each machine's last
 * boots are kept (they are in the ledger), and the deadline of its next wake is twice their 95th
 * percentile, within bounds.  Twice, because a boot that checks its disks or installs updates is
 * not a failure.
 *
 * Rejected: mean and deviation.  Boot times are not normally distributed: most are alike, and a few
 * have a disk check.
 *
 * Pure: no clock, no I/O.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_BOOTS_PLAN_H
#define ROOSTER_BOOTS_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define BOOTS_KEPT   32 /* number of boots of a machine that are kept, the last ones */
#define BOOTS_ENOUGH 3  /* number of boots that must be known to learn a deadline from them */

struct boots {                   /* boot times of one machine; all zero: none */
    int64_t took_ms[BOOTS_KEPT]; /* a ring buffer: the oldest time is overwritten */
    size_t count;                /* number of boots ever added, also those not kept any more */
};

/* Adds a boot that took took_ms, from the first wake order after which the machine was not known to
 * be off, to the live ad.  A time <= 0 is ignored. */
void boots_add(struct boots *boots, int64_t took_ms);
/* Returns the 95th percentile (nearest rank) of the boot times that are kept; 0: there are none. */
int64_t boots_p95_ms(const struct boots *boots);

/* Bounds of the deadline of a wake, from the configuration. */
struct boots_bounds {
    int64_t unlearned_ms; /* deadline while fewer than BOOTS_ENOUGH boots are known */
    int64_t floor_ms, ceiling_ms;
};
/* Returns the deadline of the next wake, in milliseconds after the order.  Before BOOTS_ENOUGH
 * boots are known it is unlearned_ms, unless one of the few boots took longer: then the deadline
 * follows from that boot, because otherwise the machine would be given up while it boots.  If
 * unlearned_ms is below floor_ms or above ceiling_ms, it replaces that bound, because the
 * administrator configured it. */
int64_t boots_deadline_ms(const struct boots *boots, const struct boots_bounds *bounds);

#endif
