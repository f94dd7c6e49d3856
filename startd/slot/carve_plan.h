/* startd/slot/carve_plan.h - arithmetic with the resources of a machine, its slots and its dynamic
 * slots ("pieces").
 *
 * A machine has kinds of resources: Cpus, Memory (MiB), Disk (KiB), and custom ones
 * (MACHINE_RESOURCE_<name>), whose units may have identifiers (GPUs: CUDA0, CUDA1).  A struct
 * resources holds an amount of each.  A slot has one; a piece, a dynamic slot, is taken out of a
 * partitionable slot and later returned.  All amounts are whole numbers: a job that asks for half a
 * CPU gets one.
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

struct ad;
struct ad_context;
struct ad_expr;
struct err;

#define RESOURCE_KINDS_MAX  12 /* including Cpus, Memory and Disk */
#define RESOURCE_NAME_MAX   40
#define RESOURCE_IDS_MAX    256 /* units with identifiers, of one kind; a multiple of 64 */
#define RESOURCE_ID_MAX     64  /* bytes of one identifier */
#define RESOURCE_AMOUNT_MAX ((int64_t)1 << 50)
#define PIECES_OFFERED_MAX  64 /* claim ids in the ad of a partitionable slot */

enum { RESOURCE_CPUS, RESOURCE_MEMORY, RESOURCE_DISK, RESOURCE_CUSTOM };

struct resource_kind {
    char name[RESOURCE_NAME_MAX + 1]; /* "Cpus", "GPUs" */
    size_t id_count;                  /* 0: units have no identifiers */
    char ids[RESOURCE_IDS_MAX][RESOURCE_ID_MAX + 1];
    /* What is known of each unit (inventory_plan.h), owned.  NULL for all units, or for none. */
    struct ad *properties[RESOURCE_IDS_MAX];
};

struct resource_kinds {
    size_t count; /* >= RESOURCE_CUSTOM */
    struct resource_kind kinds[RESOURCE_KINDS_MAX];
};

struct resource_ids { /* a set of units: bit i is the unit ids[i] of the kind */
    uint64_t word[RESOURCE_IDS_MAX / 64];
};

struct resources {
    int64_t amount[RESOURCE_KINDS_MAX]; /* negative: more was given away than exists now */
    struct resource_ids ids[RESOURCE_KINDS_MAX];
    bool picky[RESOURCE_KINDS_MAX]; /* of a request: only the units in `ids` are suitable */
};

void carve_plan_kinds_init(struct resource_kinds *kinds); /* Cpus, Memory, Disk */
void carve_plan_kinds_fini(struct resource_kinds *kinds);
bool carve_plan_has_id(const struct resource_ids *ids, size_t unit);
void carve_plan_add_id(struct resource_ids *ids, size_t unit);
/* Adds MACHINE_RESOURCE_<name> = text, a number or identifiers separated by commas or blanks, and
 * sets its amount in total.  0; -EINVAL: neither a number nor a list, or a bad name; -E2BIG: too
 * many kinds or units. */
int carve_plan_kinds_add(struct resource_kinds *kinds, const char *name, const char *text,
                         struct resources *total, struct err *err);
/* Gives the machine's CPUs identifiers, their numbers, so that each piece gets its own CPUs: as
 * many as the machine offers (total), as numbers has, and at most RESOURCE_IDS_MAX. */
void carve_plan_name_cpus(struct resource_kinds *kinds, const uint32_t *numbers, size_t count,
                          struct resources *total);
/* Returns the index of a kind, ignoring case; kinds->count if there is none. */
size_t carve_plan_kind(const struct resource_kinds *kinds, const char *name);

/* How requests are rounded: MODIFY_REQUEST_EXPR_REQUEST... for each kind; NULL: not at all. */
struct carve_exprs {
    const struct ad_expr *expr[RESOURCE_KINDS_MAX];
};

/* Computes what a job asks of a partitionable slot: Request<kind> through its expression, evaluated
 * in the job's ad with the slot as TARGET.  Undefined: the smallest piece (1 CPU, 128 MiB, 1024
 * KiB, none of a custom kind).  0; -EINVAL: a request is negative, not a number, or beyond all
 * limits. */
int carve_plan_request(const struct resource_kinds *kinds, const struct carve_exprs *exprs,
                       const struct ad *job, const struct ad *slot,
                       const struct ad_context *context, struct resources *ret, struct err *err);

/* Returns whether the request fits: 0, or -ENOSPC, with err saying what is lacking: "asks for 4
 * Cpus, 2 are free", "asks for 2 GPUs that meet its RequireGPUs, 1 are free". */
int carve_plan_fits(const struct resource_kinds *kinds, const struct resources *free,
                    const struct resources *want, struct err *err);

/* Takes the amounts of `want` out of `free`; chooses the units and sets them in want.
 * carve_plan_fits() must have returned 0. */
void carve_plan_take(const struct resource_kinds *kinds, struct resources *free,
                     struct resources *want);
/* The same for a piece that exists already: takes its amounts and exactly its units, even if they
 * are not there (the machine was configured anew while jobs ran); free may become negative.  What
 * is free of a slot is always computed: all of it less this for each piece.  Nothing is ever given
 * back, so nothing can be given back twice. */
void carve_plan_subtract(const struct resource_kinds *kinds, struct resources *free,
                         const struct resources *piece);

/* Returns how many claim ids a partitionable slot offers: one for each free CPU, at most
 * PIECES_OFFERED_MAX; none when no memory or no disk is left. */
size_t carve_plan_offers(const struct resources *free);

/* Sets <prefix><name><suffix> for each kind; negative amounts are written as 0. */
void carve_plan_write(const struct resource_kinds *kinds, const struct resources *resources,
                      const char *prefix, const char *suffix, struct ad *ad);
/* Sets Assigned<name> = "CUDA0,CUDA1" for kinds with identifiers, and MachineResources. */
void carve_plan_write_ids(const struct resource_kinds *kinds, const struct resources *resources,
                          struct ad *ad);
/* Reads what carve_plan_write(.., "", "") and carve_plan_write_ids() wrote.  Kinds that are not
 * configured any more, and units that do not exist any more, are left out. */
void carve_plan_read(const struct resource_kinds *kinds, const struct ad *ad,
                     struct resources *ret);

#endif
