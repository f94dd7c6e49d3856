/* startd/slot/carve_plan.c - see carve_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/carve_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"

static const char *const BASIC[RESOURCE_CUSTOM] = {"Cpus", "Memory", "Disk"};
static const int64_t SMALLEST[RESOURCE_CUSTOM] = {1, 128, 1024};

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

static void set_name(struct resource_kind *kind, const char *name)
{
    kind->id_count = 0;
    memset(kind->properties, 0, sizeof kind->properties);
    memcpy(kind->name, name, strlen(name) + 1); /* bounded by the caller */
}

void carve_plan_kinds_init(struct resource_kinds *kinds)
{
    kinds->count = RESOURCE_CUSTOM;
    for (size_t i = 0; i < RESOURCE_CUSTOM; i++) {
        set_name(&kinds->kinds[i], BASIC[i]);
    }
}

void carve_plan_kinds_fini(struct resource_kinds *kinds)
{
    for (size_t i = 0; i < kinds->count; i++) {
        for (size_t unit = 0; unit < RESOURCE_IDS_MAX; unit++) {
            ad_destroy(kinds->kinds[i].properties[unit]);
            kinds->kinds[i].properties[unit] = NULL;
        }
    }
}

size_t carve_plan_kind(const struct resource_kinds *kinds, const char *name)
{
    size_t i = 0;
    while (i < kinds->count && !text_equal_nocase(kinds->kinds[i].name, name)) {
        i++;
    }
    return i;
}

/* The text was checked: no identifier is too long. */
static int read_ids(struct resource_kind *kind, const char *text, struct err *err)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = 0;
        while (at[length] != '\0' && !is_separator(at[length])) {
            length++;
        }
        if (length > 0) {
            if (kind->id_count == RESOURCE_IDS_MAX) {
                return err_set(err, -E2BIG, "MACHINE_RESOURCE_%s: more than %d identifiers",
                               kind->name, RESOURCE_IDS_MAX);
            }
            memcpy(kind->ids[kind->id_count], at, length);
            kind->ids[kind->id_count++][length] = '\0';
        }
        at += length + (at[length] != '\0' ? 1 : 0);
    }
    return 0;
}

bool carve_plan_has_id(const struct resource_ids *ids, size_t unit)
{
    return (ids->word[unit / 64] >> (unit % 64) & 1) != 0;
}

void carve_plan_add_id(struct resource_ids *ids, size_t unit)
{
    ids->word[unit / 64] |= (uint64_t)1 << (unit % 64);
}

static void remove_ids(struct resource_ids *ids, const struct resource_ids *gone)
{
    for (size_t i = 0; i < ARRAY_COUNT(ids->word); i++) {
        ids->word[i] &= ~gone->word[i];
    }
}

static struct resource_ids all_ids(size_t count)
{
    struct resource_ids ids = {{0}};
    for (size_t bit = 0; bit < count; bit++) {
        carve_plan_add_id(&ids, bit);
    }
    return ids;
}

void carve_plan_name_cpus(struct resource_kinds *kinds, const uint32_t *numbers, size_t count,
                          struct resources *total)
{
    struct resource_kind *kind = &kinds->kinds[RESOURCE_CPUS];
    int64_t cpus = total->amount[RESOURCE_CPUS];
    kind->id_count = 0;
    while (kind->id_count < count && (int64_t)kind->id_count < cpus &&
           kind->id_count < RESOURCE_IDS_MAX) {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "%u", numbers[kind->id_count]);
        memcpy(kind->ids[kind->id_count++], strbuf_text(&text), text.length + 1);
        strbuf_fini(&text);
    }
    total->ids[RESOURCE_CPUS] = all_ids(kind->id_count);
}

int carve_plan_kinds_add(struct resource_kinds *kinds, const char *name, const char *text,
                         struct resources *total, struct err *err)
{
    if (strlen(name) > RESOURCE_NAME_MAX || !ad_name_is_valid(name)) {
        return err_set(err, -EINVAL, "MACHINE_RESOURCE_%.80s: not a valid attribute name", name);
    }
    if (kinds->count == RESOURCE_KINDS_MAX) {
        return err_set(err, -E2BIG, "MACHINE_RESOURCE_%s: more than %d kinds of resources", name,
                       RESOURCE_KINDS_MAX);
    }
    if (carve_plan_kind(kinds, name) < kinds->count) {
        return err_set(err, -EINVAL, "MACHINE_RESOURCE_%s: another resource has this name", name);
    }
    int64_t amount = 0;
    int rc = share_plan_check_resource(text, err);
    if (rc != 0) {
        return err_prefix(err, rc, "MACHINE_RESOURCE_%s", name);
    }
    struct resource_kind *kind = &kinds->kinds[kinds->count];
    set_name(kind, name);
    if (text_parse_int64(text, &amount, NULL) != 0) {
        rc = read_ids(kind, text, err);
        if (rc != 0) {
            return rc;
        }
        amount = (int64_t)kind->id_count;
    }
    total->amount[kinds->count] = amount;
    total->ids[kinds->count] = all_ids(kind->id_count);
    kinds->count++;
    return 0;
}

/* ---- requests */

static void print_attribute(char *ret, size_t size, const char *prefix, const char *name,
                            const char *suffix)
{
    struct strbuf text;
    strbuf_init(&text, size);
    strbuf_puts(&text, prefix);
    strbuf_puts(&text, name);
    strbuf_puts(&text, suffix);
    size_t length = strlen(strbuf_text(&text));
    CHECK(length < size);
    memcpy(ret, strbuf_text(&text), length + 1);
    strbuf_fini(&text);
}

/* most bytes of an attribute's name, with the terminating zero */
#define ATTRIBUTE_MAX (RESOURCE_NAME_MAX + 40)

/* Returns the value as a whole number; -1: not a number, negative, or too large. */
static int64_t amount_of(const struct ad_value *value)
{
    double amount = -1.0;
    if (value->type == AD_TYPE_INT) {
        amount = (double)value->integer;
    } else if (value->type == AD_TYPE_REAL) {
        amount = ceil(value->real);
    }
    return amount >= 0.0 && amount <= (double)RESOURCE_AMOUNT_MAX ? (int64_t)amount : -1;
}

static int request_one(const struct resource_kinds *kinds, size_t at, const struct ad_expr *expr,
                       const struct ad *job, const struct ad *slot,
                       const struct ad_context *context, int64_t *ret, struct err *err)
{
    char name[ATTRIBUTE_MAX];
    print_attribute(name, sizeof name, "Request", kinds->kinds[at].name, "");
    struct ad_value value;
    (void)ad_eval_attr(job, slot, name, context, &value); /* absent: undefined */
    if (value.type == AD_TYPE_UNDEFINED) {
        *ret = at < RESOURCE_CUSTOM ? SMALLEST[at] : 0;
        ad_value_fini(&value);
        return 0;
    }
    int64_t amount = amount_of(&value); /* rounding would make something of a negative one */
    ad_value_fini(&value);
    if (expr != NULL && amount >= 0) {
        ad_eval(expr, job, slot, context, &value);
        amount = amount_of(&value);
        ad_value_fini(&value);
    }
    if (amount < 0) {
        return err_set(err, -EINVAL, "the job's %s is not a valid amount", name);
    }
    *ret = amount;
    if (at == RESOURCE_CPUS && *ret == 0) {
        *ret = 1; /* a piece without any CPU could not be counted */
    }
    return 0;
}

int carve_plan_request(const struct resource_kinds *kinds, const struct carve_exprs *exprs,
                       const struct ad *job, const struct ad *slot,
                       const struct ad_context *context, struct resources *ret, struct err *err)
{
    struct resources want = {0};
    for (size_t i = 0; i < kinds->count; i++) {
        int rc = request_one(kinds, i, exprs->expr[i], job, slot, context, &want.amount[i], err);
        if (rc != 0) {
            return rc;
        }
    }
    *ret = want;
    return 0;
}

static long long count_both(const struct resource_ids *a, const struct resource_ids *b)
{
    long long count = 0;
    for (size_t unit = 0; unit < RESOURCE_IDS_MAX; unit++) {
        count += carve_plan_has_id(a, unit) && carve_plan_has_id(b, unit) ? 1 : 0;
    }
    return count;
}

int carve_plan_fits(const struct resource_kinds *kinds, const struct resources *free,
                    const struct resources *want, struct err *err)
{
    for (size_t i = 0; i < kinds->count; i++) {
        if (want->amount[i] > 0 && want->picky[i] &&
            count_both(&free->ids[i], &want->ids[i]) < want->amount[i]) {
            return err_set(err, -ENOSPC,
                           "requests %lld %s that meet its Require%s, but only %lld are free",
                           (long long)want->amount[i], kinds->kinds[i].name, kinds->kinds[i].name,
                           count_both(&free->ids[i], &want->ids[i]));
        }
        if (want->amount[i] > 0 && want->amount[i] > free->amount[i]) {
            return err_set(err, -ENOSPC, "requests %lld %s, but only %lld are free",
                           (long long)want->amount[i], kinds->kinds[i].name,
                           (long long)(free->amount[i] > 0 ? free->amount[i] : 0));
        }
    }
    return 0;
}

void carve_plan_take(const struct resource_kinds *kinds, struct resources *free,
                     struct resources *want)
{
    for (size_t i = 0; i < kinds->count; i++) {
        free->amount[i] -= want->amount[i];
        const struct resource_ids wanted = want->ids[i];
        want->ids[i] = (struct resource_ids){{0}};
        int64_t left = kinds->kinds[i].id_count > 0 ? want->amount[i] : 0;
        for (size_t bit = 0; bit < kinds->kinds[i].id_count && left > 0; bit++) {
            if (carve_plan_has_id(&free->ids[i], bit) &&
                (!want->picky[i] || carve_plan_has_id(&wanted, bit))) {
                carve_plan_add_id(&want->ids[i], bit);
                left--;
            }
        }
        want->picky[i] = false;
        remove_ids(&free->ids[i], &want->ids[i]);
    }
}

void carve_plan_subtract(const struct resource_kinds *kinds, struct resources *free,
                         const struct resources *piece)
{
    for (size_t i = 0; i < kinds->count; i++) {
        free->amount[i] -= piece->amount[i];
        remove_ids(&free->ids[i], &piece->ids[i]);
    }
}

size_t carve_plan_offers(const struct resources *free)
{
    if (free->amount[RESOURCE_MEMORY] <= 0 || free->amount[RESOURCE_DISK] <= 0 ||
        free->amount[RESOURCE_CPUS] <= 0) {
        return 0;
    }
    return free->amount[RESOURCE_CPUS] < PIECES_OFFERED_MAX ? (size_t)free->amount[RESOURCE_CPUS]
                                                            : PIECES_OFFERED_MAX;
}

/* ---- ads */

void carve_plan_write(const struct resource_kinds *kinds, const struct resources *resources,
                      const char *prefix, const char *suffix, struct ad *ad)
{
    for (size_t i = 0; i < kinds->count; i++) {
        char name[ATTRIBUTE_MAX];
        print_attribute(name, sizeof name, prefix, kinds->kinds[i].name, suffix);
        ad_set_int(ad, name, resources->amount[i] > 0 ? resources->amount[i] : 0);
    }
}

void carve_plan_write_ids(const struct resource_kinds *kinds, const struct resources *resources,
                          struct ad *ad)
{
    struct strbuf names, ids;
    strbuf_init(&names, 0);
    strbuf_init(&ids, 0);
    for (size_t i = 0; i < kinds->count; i++) {
        const struct resource_kind *kind = &kinds->kinds[i];
        strbuf_printf(&names, "%s%s", i > 0 ? " " : "", kind->name);
        if (kind->id_count == 0) {
            continue;
        }
        strbuf_clear(&ids);
        bool first = true;
        for (size_t bit = 0; bit < kind->id_count; bit++) {
            if (carve_plan_has_id(&resources->ids[i], bit)) {
                strbuf_printf(&ids, "%s%s", first ? "" : ",", kind->ids[bit]);
                first = false;
            }
        }
        char name[ATTRIBUTE_MAX];
        print_attribute(name, sizeof name, "Assigned", kind->name, "");
        ad_set_string(ad, name, strbuf_text(&ids));
    }
    ad_set_string(ad, "MachineResources", strbuf_text(&names));
    strbuf_fini(&names);
    strbuf_fini(&ids);
}

static bool lists_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == text || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

void carve_plan_read(const struct resource_kinds *kinds, const struct ad *ad, struct resources *ret)
{
    *ret = (struct resources){0};
    for (size_t i = 0; i < kinds->count; i++) {
        const struct resource_kind *kind = &kinds->kinds[i];
        int64_t amount = ad_int_or(ad, kind->name, 0);
        ret->amount[i] = amount > 0 && amount <= RESOURCE_AMOUNT_MAX ? amount : 0;
        char name[ATTRIBUTE_MAX];
        print_attribute(name, sizeof name, "Assigned", kind->name, "");
        const char *ids = ad_string_or(ad, name, "");
        for (size_t bit = 0; bit < kind->id_count; bit++) {
            if (lists_word(ids, kind->ids[bit])) {
                carve_plan_add_id(&ret->ids[i], bit);
            }
        }
    }
}
