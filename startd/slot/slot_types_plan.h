/* startd/slot/slot_types_plan.h - divides a machine into slots: NUM_SLOTS, SLOT_TYPE_<n>.
 *
 * Without types the machine is divided into NUM_SLOTS equal static slots.  With NUM_SLOTS_TYPE_<n>
 * it is divided by type.  A type's share of a resource is a number, a percentage, a fraction, or
 * "auto": an equal part of what the other shares leave.  Percentages and fractions are of the whole
 * machine and rounded down; a slot has at least one CPU.  To name more than the machine has is an
 * error: an operator who divides a machine wants to know that the sum is wrong.
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

#define SLOT_TYPES_MAX 10 /* slot types: SLOT_TYPE_1 to SLOT_TYPE_10 */

struct err;

struct slot_type {
    int id;        /* the number n of the type; 0: slots without a type */
    int64_t count; /* how many slots of the type, NUM_SLOTS_TYPE_<n> */
    /* text of SLOT_TYPE_<n>: how much of each resource; NULL or "": "auto" for all */
    const char *share;
    bool partitionable;
};

/* One slot into which the machine is divided. */
struct slot_share {
    int type_id;
    bool partitionable;
    struct resources resources;
};

/* Divides the resources in total into slots, in the order of types, and writes them to ret, which
 * has room for slots_max.  Returns 0 and sets *count; -EINVAL if a share cannot be read or names a
 * resource that the machine does not have; -ENOSPC if the shares exceed total; -ERANGE if there
 * would be no slots, or more than slots_max. err names the type at fault. */
int slot_types_plan_divide(const struct resource_kinds *kinds, const struct resources *total,
                           const struct slot_type *types, size_t type_count, size_t slots_max,
                           struct slot_share *ret, size_t *count, struct err *err);

#endif
