/* startd/slot/slot_division.h - what the configuration says about the division of the machine, and
 * whether the machine can be divided so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_DIVISION_H
#define STARTD_SLOT_SLOT_DIVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "startd/slot/slot_types_plan.h"

#define RESOURCE_PREFIX  "MACHINE_RESOURCE_"
#define INVENTORY_PREFIX "INVENTORY_" /* behind that */

struct config;
struct daemon_checking;
struct err;
struct os_machine;

/* Returns whether MACHINE_RESOURCE_NAMES has the name, or is empty. */
bool slot_division_counts(const struct config *config, const char *name);
/* Sets the amounts of Cpus and Memory in *total: those of the configuration, else of the machine.
 */
void slot_division_machine(const struct config *config, const struct os_machine *machine,
                           struct resources *total);
/* Reads the types of slots and their numbers; without types, one type of NUM_SLOTS equal slots, or
 * of as many as there are `cpus`.  The texts belong to the configuration.  Returns 0 or -EINVAL. */
int slot_division_types(const struct config *config, int64_t cpus,
                        struct slot_type types[SLOT_TYPES_MAX], size_t *count, struct err *err);
/* Checks whether this machine can be divided as the configuration says.  What only the start can
 * tell is taken as enough: the free disk, and what inventory scripts report.  Doubts: knobs of
 * types that have no effect.  Returns 0, or an error of slot_types_plan_divide(). */
int slot_division_check(const struct daemon_checking *checking, struct err *err);

#endif
