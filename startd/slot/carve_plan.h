/* startd/slot/carve_plan.h - arithmetic with the resources of a machine, its slots and its dynamic
 * slots ("pieces").
 *
 * A machine has kinds of resources: Cpus, Memory (MiB), Disk (KiB), and custom ones
 * (MACHINE_RESOURCE_<name>), whose units may have identifiers (GPUs: CUDA0, CUDA1).  A struct
 * resources holds an amount of each kind, and each slot has such a struct.  A piece, which is a
 * dynamic slot, is taken out of a partitionable slot and later returned.  All amounts are whole
 * numbers: a job that asks for half a CPU gets one.
 *
 * Pure: ads and numbers in, numbers and ads out.  Rejected: to keep the amounts in ads.  The sum of
 * the pieces must never exceed the slot, and that is easier to see in integers.
 *
 * Names and rounding are HTCondor's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_CARVE_PLAN_H
#define STARTD_SLOT_CARVE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "startd/slot/share_plan.h" /* RESOURCE_ID_MAX, RESOURCE_AMOUNT_MAX */

struct ad;
struct ad_context;
struct ad_expr;
struct err;

/* most kinds of resources on one machine; Cpus, Memory and Disk are three of them */
#define RESOURCE_KINDS_MAX 12
/* most bytes of a resource's name, without the terminating zero */
#define RESOURCE_NAME_MAX 40
/* most units with identifiers of one kind of resource; must be a multiple of 64 */
#define RESOURCE_IDS_MAX   256
#define PIECES_OFFERED_MAX 64 /* most claim ids sent with the ad of a partitionable slot */

enum { RESOURCE_CPUS, RESOURCE_MEMORY, RESOURCE_DISK, RESOURCE_CUSTOM };

struct resource_kind {
    char name[RESOURCE_NAME_MAX + 1]; /* such as "Cpus" or "GPUs" */
    /* number of units with identifiers; 0: the units of this kind have none, only their number
     * counts */
    size_t id_count;
    char ids[RESOURCE_IDS_MAX][RESOURCE_ID_MAX + 1];
    /* The properties of each unit (inventory_plan.h), owned.  Either all id_count units have an ad,
     * or none has. */
    struct ad *properties[RESOURCE_IDS_MAX];
};

struct resource_kinds {
    size_t count; /* number of kinds, at least the three of Cpus, Memory and Disk */
    struct resource_kind kinds[RESOURCE_KINDS_MAX];
};

/* A set of units of one kind of resource: bit i stands for ids[i] of struct resource_kind. */
struct resource_ids {
    uint64_t word[RESOURCE_IDS_MAX / 64];
};

struct resources {
    /* amount of each kind.  In a struct that says what is free, an amount is negative if more is in
     * use than the machine has now. */
    int64_t amount[RESOURCE_KINDS_MAX];
    struct resource_ids ids[RESOURCE_KINDS_MAX];
    /* in a request, for each kind: only the units in `ids` are suitable */
    bool picky[RESOURCE_KINDS_MAX];
};

void carve_plan_kinds_init(struct resource_kinds *kinds); /* sets the kinds Cpus, Memory and Disk */
void carve_plan_kinds_fini(struct resource_kinds *kinds);
bool carve_plan_has_id(const struct resource_ids *ids, size_t unit);
void carve_plan_add_id(struct resource_ids *ids, size_t unit);
/* Adds the kind of resource that the knob MACHINE_RESOURCE_<name> = text defines, and sets its
 * amount in total. text: a number, or identifiers separated by commas or blanks.  Returns 0;
 * -EINVAL if the number or the name is not valid or the name is taken; -E2BIG if there are too many
 * kinds or identifiers, or an identifier is too long. */
int carve_plan_kinds_add(struct resource_kinds *kinds, const char *name, const char *text,
                         struct resources *total, struct err *err);
/* Gives the CPUs identifiers, so that each dynamic slot gets its own CPUs.  The identifiers are the
 * first of numbers[0..count), the kernel's CPU numbers: as many as the amount of Cpus in total, at
 * most RESOURCE_IDS_MAX.  Writes them as texts to the kind Cpus in kinds, and marks all of them as
 * present in total. */
void carve_plan_name_cpus(struct resource_kinds *kinds, const uint32_t *numbers, size_t count,
                          struct resources *total);
/* Returns the index of the kind with that name, ignoring case; kinds->count if no kind has the
 * name. */
size_t carve_plan_kind(const struct resource_kinds *kinds, const char *name);

/* The expressions that round what jobs request, MODIFY_REQUEST_EXPR_REQUEST<kind>, one for each
 * kind of resource; NULL: requests for that kind are not rounded. */
struct carve_exprs {
    const struct ad_expr *expr[RESOURCE_KINDS_MAX];
};

/* Computes what a job requests of a partitionable slot, in *ret: Request<kind> of the job, rounded
 * by exprs, which are evaluated in the job's ad with the slot as TARGET.  Where the job has no
 * Request<kind>: 1 CPU, 128 MiB, 1024 KiB, none of a custom kind.  Returns 0; -EINVAL if a request
 * is negative, not a number or too large. */
int carve_plan_request(const struct resource_kinds *kinds, const struct carve_exprs *exprs,
                       const struct ad *job, const struct ad *slot,
                       const struct ad_context *context, struct resources *ret, struct err *err);

/* Checks whether what is free suffices for a request.  Returns 0 if so; else -ENOSPC, with err
 * saying what is lacking: "requests 4 Cpus, but only 2 are free", "requests 2 GPUs that meet its
 * RequireGPUs, but only 1 are free". */
int carve_plan_fits(const struct resource_kinds *kinds, const struct resources *free,
                    const struct resources *want, struct err *err);

/* Subtracts the amounts in want from free, chooses units with identifiers, removes them from free
 * and sets them in want. carve_plan_fits() must have returned 0 for this request. */
void carve_plan_take(const struct resource_kinds *kinds, struct resources *free,
                     struct resources *want);
/* Subtracts the resources of an existing dynamic slot (piece) from free, with exactly its units.
 * free may become negative, because the machine may have been configured with less while jobs ran.
 * The free resources of a slot are always computed anew: all its resources minus those of each of
 * its dynamic slots.  Nothing is ever given back, so nothing can be given back twice. */
void carve_plan_subtract(const struct resource_kinds *kinds, struct resources *free,
                         const struct resources *piece);

/* Returns how many claim ids a partitionable slot offers: one for each free CPU, at most
 * PIECES_OFFERED_MAX; none when no memory or no disk is left. */
size_t carve_plan_offers(const struct resources *free);

/* Writes the amounts in resources to ad: for each kind of resource the attribute
 * <prefix><kind><suffix>; 0 for a negative amount. */
void carve_plan_write(const struct resource_kinds *kinds, const struct resources *resources,
                      const char *prefix, const char *suffix, struct ad *ad);
/* Writes to ad the units in resources, as Assigned<kind> for each kind with identifiers, such as
 * AssignedGPUs = "CUDA0,CUDA1"; and MachineResources, the list of all kinds. */
void carve_plan_write_ids(const struct resource_kinds *kinds, const struct resources *resources,
                          struct ad *ad);
/* Reads amounts and units from an ad to which carve_plan_write(), with prefix and suffix "", and
 * carve_plan_write_ids() have written.  Leaves out kinds that are no longer configured and units
 * that no longer exist. */
void carve_plan_read(const struct resource_kinds *kinds, const struct ad *ad,
                     struct resources *ret);

#endif
