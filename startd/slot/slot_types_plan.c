/* startd/slot/slot_types_plan.c - see slot_types_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slot_types_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

#define WORD_MAX 80 /* most bytes of a word, without the terminating zero */

enum share_how { SHARE_AUTO, SHARE_AMOUNT };

struct share {
    enum share_how how[RESOURCE_KINDS_MAX];
    int64_t amount[RESOURCE_KINDS_MAX];
};

/* Reads "25%" or "1/4", of whole; or "4096", "4G". */
static int read_amount(size_t kind, const char *text, int64_t whole, int64_t *ret, struct err *err)
{
    char word[WORD_MAX + 1];
    size_t length = strlen(text);
    double share = 0.0, below = 1.0;
    int64_t amount = 0;
    if (length > WORD_MAX) {
        return err_set(err, -EINVAL, "'%.80s' is not a valid share", text);
    }
    memcpy(word, text, length + 1);
    char *slash = strchr(word, '/');
    if (length > 1 && word[length - 1] == '%') {
        word[length - 1] = '\0';
        if (text_parse_double(word, &share, NULL) != 0 || !(share >= 0.0 && share <= 100.0)) {
            return err_set(err, -EINVAL, "'%s' is not a valid percentage", text);
        }
        amount = (int64_t)((double)whole * share / 100.0 + 1e-9);
    } else if (slash != NULL) {
        *slash = '\0';
        if (text_parse_double(word, &share, NULL) != 0 ||
            text_parse_double(slash + 1, &below, NULL) != 0 || !(share >= 0.0 && below >= share) ||
            !(below > 0.0)) {
            return err_set(err, -EINVAL, "'%s' is not a valid fraction", text);
        }
        amount = (int64_t)((double)whole * share / below + 1e-9);
    } else if (text_parse_int64(word, &amount, NULL) == 0) {
        if (amount < 0 || amount > RESOURCE_AMOUNT_MAX) {
            return err_set(err, -EINVAL, "'%s' is not a valid amount", text);
        }
    } else if ((kind != RESOURCE_MEMORY && kind != RESOURCE_DISK) ||
               text_parse_size(word, &amount, NULL) != 0 || amount < 0) {
        return err_set(err, -EINVAL, "'%s' is not a number, a percentage, a fraction or 'auto'",
                       text);
    } else {
        amount = kind == RESOURCE_MEMORY ? amount >> 20 : amount >> 10;
    }
    *ret = amount;
    return 0;
}

static int set_share(const struct resources *total, size_t kind, const char *text,
                     struct share *share, struct err *err)
{
    if (text_equal_nocase(text, "auto") || text_equal_nocase(text, "automatic")) {
        share->how[kind] = SHARE_AUTO;
        return 0;
    }
    share->how[kind] = SHARE_AMOUNT;
    int rc = read_amount(kind, text, total->amount[kind], &share->amount[kind], err);
    if (rc == 0 && kind == RESOURCE_CPUS && share->amount[kind] == 0) {
        share->amount[kind] = 1;
    }
    return rc;
}

/* Reads one item: "cpus=2", or "25%" for everything. */
static int read_item(const struct resource_kinds *kinds, const struct resources *total, char *item,
                     struct share *share, struct err *err)
{
    char *equals = strchr(item, '=');
    if (equals == NULL) {
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < kinds->count; i++) {
            if (strpbrk(item, "%/") == NULL && !text_equal_nocase(item, "auto")) {
                return err_set(err, -EINVAL, "'%s': the name of the resource is missing", item);
            }
            rc = set_share(total, i, item, share, err);
        }
        return rc;
    }
    char *end = equals;
    while (end > item && text_is_gap(end[-1])) {
        end--;
    }
    *end = '\0';
    const char *value = equals + 1;
    while (text_is_gap(*value)) {
        value++;
    }
    const char *name = text_equal_nocase(item, "ram") ? "Memory" : item;
    if (text_equal_nocase(name, "swap") || text_equal_nocase(name, "virtualmemory")) {
        return 0; /* not divided here; old configurations name it */
    }
    size_t kind = carve_plan_kind(kinds, name);
    if (kind == kinds->count) {
        return err_set(err, -EINVAL, "this machine has no resource '%s'", name);
    }
    return set_share(total, kind, value, share, err);
}

static int read_share(const struct resource_kinds *kinds, const struct resources *total,
                      const char *text, struct share *share, struct err *err)
{
    *share = (struct share){{SHARE_AUTO}, {0}};
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        char item[2 * WORD_MAX + 1];
        size_t length = strcspn(at, ",;\n");
        const char *next = at + length + (at[length] != '\0' ? 1 : 0);
        while (length > 0 && text_is_gap(*at)) {
            at++;
            length--;
        }
        while (length > 0 && text_is_gap(at[length - 1])) {
            length--;
        }
        if (length >= sizeof item) {
            return err_set(err, -EINVAL, "'%.60s...': too long for the share of one resource", at);
        }
        memcpy(item, at, length);
        item[length] = '\0';
        int rc = length > 0 ? read_item(kinds, total, item, share, err) : 0;
        if (rc != 0) {
            return rc;
        }
        at = next;
    }
    return 0;
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
