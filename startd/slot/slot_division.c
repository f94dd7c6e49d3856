/* startd/slot/slot_division.c - see slot_division.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slot_division.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/text.h"
#include "startd/slot/slot_knobs.h"
#include "startd/slot/slots.h"

#define TYPE_PREFIX "SLOT_TYPE_"
#define PLENTY      "1125899906842624" /* RESOURCE_AMOUNT_MAX */

/* ---- what is configured */

bool slot_division_counts(const struct config *config, const char *name)
{
    size_t count;
    const char *const *names = config_list(config, "MACHINE_RESOURCE_NAMES", &count);
    for (size_t i = 0; i < count; i++) {
        if (text_equal_nocase(names[i], name)) {
            return true;
        }
    }
    return count == 0;
}

void slot_division_machine(const struct config *config, const struct os_machine *machine,
                           struct resources *total)
{
    int64_t cpus = config_int(config, "NUM_CPUS");
    int64_t memory = config_int(config, "MEMORY");
    memory = (memory > 0 ? memory : machine->memory_mib) - config_int(config, "RESERVED_MEMORY");
    total->amount[RESOURCE_CPUS] = cpus > 0 ? cpus : (int64_t)machine->cpus;
    total->amount[RESOURCE_MEMORY] = memory > 0 ? memory : 0;
}

int slot_division_types(const struct config *config, int64_t cpus,
                        struct slot_type types[SLOT_TYPES_MAX], size_t *count, struct err *err)
{
    *count = 0;
    for (int id = 1; id <= SLOT_TYPES_MAX; id++) {
        const char *number = slot_knobs_text(config, "NUM_SLOTS_TYPE_", id, "");
        const char *partitionable = slot_knobs_text(config, "SLOT_TYPE_", id, "_PARTITIONABLE");
        struct slot_type type = {.id = id, .share = slot_knobs_text(config, "SLOT_TYPE_", id, "")};
        if (number == NULL) {
            continue;
        }
        if (text_parse_int64(number, &type.count, NULL) != 0) {
            return err_set(err, -EINVAL, "NUM_SLOTS_TYPE_%d: '%.80s' is not a number", id, number);
        }
        if (partitionable != NULL &&
            text_parse_bool(partitionable, &type.partitionable, NULL) != 0) {
            return err_set(err, -EINVAL, "SLOT_TYPE_%d_PARTITIONABLE: '%.80s' is not true or false",
                           id, partitionable);
        }
        if (type.count != 0) {
            types[(*count)++] = type;
        }
        int rc = slot_knobs_check_type(config, id, err);
        if (rc != 0) {
            return rc;
        }
    }
    if (*count == 0) { /* equal static slots */
        int64_t slots = config_int(config, "NUM_SLOTS");
        slots = slots > 0 ? slots : cpus;
        types[(*count)++] = (struct slot_type){.count = slots};
    }
    return 0;
}

/* ---- the check */

/* Adds the resource of one knob, as the start does; an inventory is taken as plenty. */
static int add_resource(const struct config *config, const char *knob, struct resource_kinds *kinds,
                        struct resources *total, struct err *err)
{
    const char *name = knob + strlen(RESOURCE_PREFIX);
    const char *text = config_text(config, knob);
    if (text_glob(INVENTORY_PREFIX "?*", name, true)) {
        name += strlen(INVENTORY_PREFIX);
        text = PLENTY;
        if (carve_plan_kind(kinds, name) < kinds->count) {
            return 0;
        }
    } else {
        size_t kind = carve_plan_kind(kinds, name);
        if (kind >= RESOURCE_CUSTOM && kind < kinds->count &&
            total->amount[kind] == RESOURCE_AMOUNT_MAX) {
            return share_plan_check_resource(text, err); /* its inventory came first */
        }
    }
    return text != NULL && slot_division_counts(config, name)
               ? carve_plan_kinds_add(kinds, name, text, total, err)
               : 0;
}

/* Says of a knob of slot types that it has no effect. */
static void check_type_knob(const struct daemon_checking *checking, const char *knob)
{
    const char *at = knob + strlen(TYPE_PREFIX);
    char number[24], count[48];
    int64_t id;
    size_t digits = strcspn(at, "_");
    const char *suffix = at[digits] == '_' ? at + digits + 1 : NULL;
    (void)snprintf(number, sizeof number, "%.*s", digits < 20 ? (int)digits : 20, at);
    if (text_parse_int64(number, &id, NULL) != 0 || id < 1 || id > SLOT_TYPES_MAX) {
        daemon_doubt(checking, knob, "%s has no effect: types of slots are numbered 1 to %d", knob,
                     SLOT_TYPES_MAX);
        return;
    }
    if (suffix != NULL && !slot_knobs_is_suffix(suffix)) {
        const char *nearest = slot_knobs_nearest_suffix(suffix);
        if (nearest != NULL) {
            daemon_doubt(checking, knob, "unknown knob '%s' (did you mean " TYPE_PREFIX "%s_%s?)",
                         knob, number, nearest);
        } else {
            daemon_doubt(checking, knob, "unknown knob '%s'", knob);
        }
        return;
    }
    (void)snprintf(count, sizeof count, "NUM_SLOTS_TYPE_%lld", (long long)id);
    if (config_text(checking->config, count) == NULL) {
        daemon_doubt(checking, knob, "%s has no effect without %s, the number of such slots", knob,
                     count);
    }
}

int slot_division_check(const struct daemon_checking *checking, struct err *err)
{
    const struct config *config = checking->config;
    struct os_machine machine;
    struct slot_type types[SLOT_TYPES_MAX];
    struct resources total = {0};
    struct resource_kinds *kinds = mem_zalloc(sizeof *kinds);
    struct slot_share *shares = mem_alloc(STARTD_SLOTS_MAX * sizeof *shares);
    const char *name = NULL;
    const struct knob *knob = NULL;
    size_t at = 0, type_count, count;
    carve_plan_kinds_init(kinds);
    int rc = os_machine(checking->os, &machine, err);
    if (rc == 0) {
        slot_division_machine(config, &machine, &total);
        total.amount[RESOURCE_DISK] = RESOURCE_AMOUNT_MAX;
    }
    while (rc == 0 && config_next(config, &at, &name, &knob)) {
        if (knob == NULL && text_glob(RESOURCE_PREFIX "?*", name, true)) {
            rc = add_resource(config, name, kinds, &total, err);
        } else if (knob == NULL && text_glob(TYPE_PREFIX "?*", name, true)) {
            check_type_knob(checking, name);
        }
    }
    rc = rc != 0
             ? rc
             : slot_division_types(config, total.amount[RESOURCE_CPUS], types, &type_count, err);
    rc = rc != 0 ? rc
                 : slot_types_plan_divide(kinds, &total, types, type_count, STARTD_SLOTS_MAX,
                                          shares, &count, err);
    mem_free(shares);
    carve_plan_kinds_fini(kinds);
    mem_free(kinds);
    return rc;
}
