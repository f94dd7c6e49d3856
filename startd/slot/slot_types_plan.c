/* startd/slot/slot_types_plan.c - see slot_types_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slot_types_plan.h"

#include <errno.h>

#include "base/err.h"
#include "base/text.h"
#include "startd/slot/share_plan.h"

struct share {
    enum share_how how[RESOURCE_KINDS_MAX];
    int64_t amount[RESOURCE_KINDS_MAX];
};

static void set_share(const struct resources *total, size_t kind, const struct share_item *item,
                      struct share *share)
{
    share->how[kind] = item->how;
    if (item->how != SHARE_AUTO) {
        share->amount[kind] = share_plan_amount(item, total->amount[kind]);
        if (kind == RESOURCE_CPUS && share->amount[kind] == 0) {
            share->amount[kind] = 1;
        }
    }
}

static int read_share(const struct resource_kinds *kinds, const struct resources *total,
                      const char *text, struct share *share, struct err *err)
{
    *share = (struct share){{SHARE_AUTO}, {0}};
    struct share_item item;
    const char *at = text != NULL ? text : "";
    int rc;
    while ((rc = share_plan_next(&at, &item, err)) == 1) {
        if (text_equal_nocase(item.name, "swap") || text_equal_nocase(item.name, "virtualmemory")) {
            continue; /* not divided here; old configurations name it */
        }
        size_t kind = carve_plan_kind(kinds, item.name);
        if (kind == kinds->count && item.name[0] != '\0') {
            return err_set(err, -EINVAL, "this machine has no resource '%s'", item.name);
        }
        for (size_t i = 0; i < kinds->count; i++) {
            if (i == kind || item.name[0] == '\0') {
                set_share(total, i, &item, share);
            }
        }
    }
    return rc;
}

/* Computes what one slot with an automatic share gets of what is left; -ENOSPC: the explicit shares
 * exceed the machine. */
static int automatic_share(const struct resource_kinds *kinds, const struct resources *total,
                           const struct slot_type *types, const struct share *shares,
                           size_t type_count, struct resources *ret, struct err *err)
{
    for (size_t i = 0; i < kinds->count; i++) {
        int64_t left = total->amount[i], takers = 0;
        for (size_t t = 0; t < type_count; t++) {
            if (shares[t].how[i] == SHARE_AUTO) {
                takers += types[t].count;
            } else {
                left -= shares[t].amount[i] * types[t].count;
            }
            if (left < 0) {
                return err_set(
                    err, -ENOSPC,
                    "SLOT_TYPE_%d: its %lld slots request %lld %s each; the machine has %lld",
                    types[t].id, (long long)types[t].count, (long long)shares[t].amount[i],
                    kinds->kinds[i].name, (long long)total->amount[i]);
            }
        }
        ret->amount[i] = takers > 0 ? left / takers : 0;
    }
    return 0;
}

static void divide_slots(const struct resource_kinds *kinds, const struct resources *total,
                         const struct slot_type *types, const struct share *shares,
                         size_t type_count, const struct resources *share_of_auto,
                         struct slot_share *ret)
{
    struct resources left = *total;
    size_t at = 0;
    for (size_t t = 0; t < type_count; t++) {
        for (int64_t n = 0; n < types[t].count; n++, at++) {
            struct slot_share *slot = &ret[at];
            *slot = (struct slot_share){.type_id = types[t].id,
                                        .partitionable = types[t].partitionable};
            for (size_t i = 0; i < kinds->count; i++) {
                slot->resources.amount[i] =
                    shares[t].how[i] == SHARE_AUTO ? share_of_auto->amount[i] : shares[t].amount[i];
            }
            carve_plan_take(kinds, &left, &slot->resources);
            if (slot->resources.amount[RESOURCE_CPUS] < 1) {
                slot->resources.amount[RESOURCE_CPUS] = 1; /* more slots than CPUs */
            }
        }
    }
}

int slot_types_plan_divide(const struct resource_kinds *kinds, const struct resources *total,
                           const struct slot_type *types, size_t type_count, size_t slots_max,
                           struct slot_share *ret, size_t *count, struct err *err)
{
    struct share shares[SLOT_TYPES_MAX + 1];
    int64_t slots = 0;
    if (type_count > SLOT_TYPES_MAX) {
        return err_set(err, -ERANGE, "more than %d types of slots", SLOT_TYPES_MAX);
    }
    for (size_t t = 0; t < type_count; t++) {
        int rc = read_share(kinds, total, types[t].share, &shares[t], err);
        if (rc != 0) {
            return err_prefix(err, rc, "SLOT_TYPE_%d", types[t].id);
        }
        if (types[t].count < 0 || types[t].count > (int64_t)slots_max) {
            return err_set(err, -ERANGE, "NUM_SLOTS_TYPE_%d: %lld slots are not in 0..%zu",
                           types[t].id, (long long)types[t].count, slots_max);
        }
        slots += types[t].count;
    }
    if (slots < 1 || slots > (int64_t)slots_max) {
        return err_set(err, -ERANGE, "NUM_SLOTS: %lld slots are not in 1..%zu", (long long)slots,
                       slots_max);
    }
    struct resources share_of_auto = {0};
    int rc = automatic_share(kinds, total, types, shares, type_count, &share_of_auto, err);
    if (rc != 0) {
        return rc;
    }
    divide_slots(kinds, total, types, shares, type_count, &share_of_auto, ret);
    *count = (size_t)slots;
    return 0;
}
