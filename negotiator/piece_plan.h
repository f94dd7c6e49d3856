/* negotiator/piece_plan.h - computes what a job takes of a partitionable slot: its piece.
 *
 * The startd makes the piece.  The negotiator rounds in the same way, so that it does not give out
 * more than there is.  A piece is a whole number of Cpus, Memory, Disk and each of
 * MachineResources.  It is the job's Request<name>, changed by the slot's
 * MODIFY_REQUEST_EXPR_REQUEST<NAME>, or by default rounded up to whole Cpus, 128 MiB and 1024 KiB.
 * If the job does not request a resource, or its request is undefined, the piece has the smallest
 * amount of Cpus, Memory or Disk, and nothing of other resources.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_PIECE_PLAN_H
#define NEGOTIATOR_PIECE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of resources of one slot, counting Cpus, Memory and Disk; further resources are
 * ignored. */
#define PIECE_NAMES_MAX 12
#define PIECE_NAME_MAX  41 /* most bytes of a resource's name, with the terminating zero */
/* most bytes of an attribute's name, with the terminating zero */
#define PIECE_ATTR_MAX 96

struct ad;
struct ad_context;

/* Names of a slot's resources: Cpus, Memory, Disk, then custom resources. */
struct piece_names {
    size_t count;
    char names[PIECE_NAMES_MAX][PIECE_NAME_MAX];
};

/* Amounts of a slot's or a piece's resources, in the order of struct piece_names. */
struct piece {
    double amounts[PIECE_NAMES_MAX];
};

/* Lists Cpus, Memory, Disk, and the further resources in the slot's MachineResources. */
void piece_names(const struct ad *slot, struct piece_names *ret);
/* These two write an attribute's name to text, and return text.  piece_request_name(): the
 * attribute of a job that requests this resource; piece_modify_name(): the attribute of a slot that
 * changes such requests. */
const char *piece_request_name(const char *name, char text[PIECE_ATTR_MAX]);
const char *piece_modify_name(const char *name, char text[PIECE_ATTR_MAX]);
/* Reads how much of each resource the slot has. */
void piece_of_slot(const struct ad *slot, const struct piece_names *names, struct piece *ret);
/* Computes how much of each resource the job takes from the slot, and returns true.  Returns false
 * if a request is not a number or is negative. */
bool piece_of_job(const struct ad *job, const struct ad *slot, const struct piece_names *names,
                  const struct ad_context *context, struct piece *ret);

/* These two work on the first count resources.  piece_fits() returns whether `free` has at least
 * the amounts in `wanted`; piece_take() subtracts `wanted` from `free`. */
bool piece_fits(const struct piece *free, const struct piece *wanted, size_t count);
void piece_take(struct piece *free, const struct piece *wanted, size_t count);

#endif
