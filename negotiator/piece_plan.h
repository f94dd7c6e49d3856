/* negotiator/piece_plan.h - what a job takes of a partitionable slot.
 *
 * The startd makes the piece; the negotiator counts with the same rounding, so that it gives no
 * more than is there: whole numbers of Cpus, Memory, Disk and each of MachineResources,
 * Request<name> of the job through the slot's MODIFY_REQUEST_EXPR_REQUEST<NAME>, or by default to
 * whole Cpus, 128 MiB and 1024 KiB.  What is absent or undefined is the smallest piece, and none of
 * a custom resource.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_PIECE_PLAN_H
#define NEGOTIATOR_PIECE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define PIECE_NAMES_MAX 12 /* Cpus, Memory and Disk among them; more are not counted */
#define PIECE_NAME_MAX  41
#define PIECE_ATTR_MAX  96

struct ad;
struct ad_context;

struct piece_names {
    size_t count;
    char names[PIECE_NAMES_MAX][PIECE_NAME_MAX];
};

struct piece {
    double amounts[PIECE_NAMES_MAX];
};

/* Cpus, Memory, Disk, and what MachineResources of the slot names beside. */
void piece_names(const struct ad *slot, struct piece_names *ret);
/* The attribute of a job that asks for one of them, and that of a slot that changes what is asked:
 * written to text, which is returned. */
const char *piece_request_name(const char *name, char text[PIECE_ATTR_MAX]);
const char *piece_modify_name(const char *name, char text[PIECE_ATTR_MAX]);
/* How much of them the slot has. */
void piece_of_slot(const struct ad *slot, const struct piece_names *names, struct piece *ret);
/* What the job takes; false: it asks for what is no number, or negative. */
bool piece_of_job(const struct ad *job, const struct ad *slot, const struct piece_names *names,
                  const struct ad_context *context, struct piece *ret);

bool piece_fits(const struct piece *free, const struct piece *wanted, size_t count);
void piece_take(struct piece *free, const struct piece *wanted, size_t count);

#endif
