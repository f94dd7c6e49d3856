/* startd/slot/slot_types_plan.h - how a machine is divided into slots: NUM_SLOTS, SLOT_TYPE_<n>.
 *
 * Without types the machine is divided into NUM_SLOTS equal static slots.  With NUM_SLOTS_TYPE_<n>
 * it is divided by type: what a type names is a number, a percentage, a fraction or "auto", an
 * equal share of what the explicit ones left.  Percentages and fractions are of the whole machine
 * and rounded down; a slot has at least one CPU.  More than there is, is an error: an operator who
 * divides a machine wants to know that the sum is wrong.
 *
 * Pure.  Source: HTCondor's manual, "condor_startd policy: dividing system resources".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_TYPES_PLAN_H
#define STARTD_SLOT_SLOT_TYPES_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "startd/slot/carve_plan.h"

#define SLOT_TYPES_MAX 10 /* SLOT_TYPE_1 ... SLOT_TYPE_10 */

struct err;

struct slot_type {
    int id;            /* n; 0: slots without a type */
    int64_t count;     /* NUM_SLOTS_TYPE_<n> */
    const char *share; /* SLOT_TYPE_<n>; NULL or "": auto for everything */
    bool partitionable;
};

struct slot_share { /* one slot to be */
    int type_id;
    bool partitionable;
    struct resources resources;
};

/* Divides total; ret has room for slots_max.  Slots come in the order of the types.  Returns 0 and
 * *count; or -EINVAL (a share that cannot be read, a resource that the machine has not), -ENOSPC
 * (more than there is), -ERANGE (no slots, or more than slots_max), naming the type at fault. */
int slot_types_plan_divide(const struct resource_kinds *kinds, const struct resources *total,
                           const struct slot_type *types, size_t type_count, size_t slots_max,
                           struct slot_share *ret, size_t *count, struct err *err);

#endif
