/* cli/status_sort_plan.c - see status_sort_plan.h.
 *
 * Keys are evaluated once for each ad.  Names of machines begin alike, so the default order looks
 * first at the eight bytes behind what all have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status_sort_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "classad/ad.h"

/* ---- default */

struct place {
    uint64_t head; /* of machine, behind what is common to all */
    const char *machine, *name;
    int64_t slot;
    const struct ad *ad;
};

static int place_order(const void *a, const void *b)
{
    const struct place *left = a, *right = b;
    if (left->head != right->head) {
        return left->head < right->head ? -1 : 1;
    }
    int order = strcmp(left->machine, right->machine);
    if (order == 0) {
        order = left->slot < right->slot ? -1 : left->slot > right->slot ? 1 : 0;
    }
    return order != 0 ? order : strcmp(left->name, right->name);
}

static size_t common_bytes(const struct place *places, size_t count)
{
    size_t common = strlen(places[0].machine);
    for (size_t i = 1; i < count; i++) {
        size_t same = 0;
        while (same < common && places[0].machine[same] == places[i].machine[same]) {
            same++;
        }
        common = same;
    }
    return common;
}

static uint64_t head_of(const char *text)
{
    uint64_t head = 0;
    for (int i = 0; i < 8; i++) {
        head = head << 8 | (unsigned char)*text;
        text += *text != '\0';
    }
    return head;
}

void status_sort_default(const struct ad **ads, size_t count)
{
    if (count < 2) {
        return;
    }
    struct place *places = mem_alloc(count * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct place){.machine = ad_string_or(ads[i], "Machine", ""),
                                   .name = ad_string_or(ads[i], "Name", ""),
                                   .slot = ad_int_or(ads[i], "SlotID", 0),
                                   .ad = ads[i]};
    }
    size_t common = common_bytes(places, count);
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        places[i].head = head_of(places[i].machine + common);
        sorted = sorted && (i == 0 || place_order(&places[i - 1], &places[i]) <= 0);
    }
    if (!sorted) {
        qsort(places, count, sizeof *places, place_order);
    }
    for (size_t i = 0; i < count; i++) {
        ads[i] = places[i].ad;
    }
    mem_free(places);
}

/* ---- -sort */

struct row {
    const struct ad *ad;
    size_t index;
    size_t key_count;
    struct ad_value *keys;
};

static double number_of(const struct ad_value *value)
{
    switch (value->type) {
    case AD_TYPE_BOOL:
        return value->boolean ? 1 : 0;
    case AD_TYPE_INT:
        return (double)value->integer;
    case AD_TYPE_ABSTIME:
        return (double)value->time.seconds;
    default:
        return value->real;
    }
}

static int kind_of(const struct ad_value *value)
{
    switch (value->type) {
    case AD_TYPE_BOOL:
    case AD_TYPE_INT:
    case AD_TYPE_REAL:
    case AD_TYPE_ABSTIME:
    case AD_TYPE_RELTIME:
        return 0;
    case AD_TYPE_STRING:
        return 1;
    default:
        return 2;
    }
}

static int value_order(const struct ad_value *a, const struct ad_value *b)
{
    int kind = kind_of(a);
    if (kind != kind_of(b)) {
        return kind < kind_of(b) ? -1 : 1;
    }
    if (kind == 1) {
        return strcasecmp(a->string.text, b->string.text);
    }
    if (kind == 2) {
        return 0;
    }
    if (a->type == AD_TYPE_INT && b->type == AD_TYPE_INT) {
        return a->integer < b->integer ? -1 : a->integer > b->integer ? 1 : 0;
    }
    double left = number_of(a), right = number_of(b);
    return left < right ? -1 : left > right ? 1 : 0;
}

static int row_order(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    for (size_t k = 0; k < left->key_count; k++) {
        int order = value_order(&left->keys[k], &right->keys[k]);
        if (order != 0) {
            return order;
        }
    }
    return left->index < right->index ? -1 : 1;
}

void status_sort_by(const struct ad **ads, size_t count, struct ad_expr *const *keys,
                    size_t key_count, const struct ad_context *context)
{
    struct row *rows = mem_alloc((count + 1) * sizeof *rows);
    struct ad_value *values = mem_zalloc((count * key_count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct row){ads[i], i, key_count, values + i * key_count};
        for (size_t k = 0; k < key_count; k++) {
            ad_eval(keys[k], ads[i], NULL, context, &rows[i].keys[k]);
        }
    }
    if (count > 1) {
        qsort(rows, count, sizeof *rows, row_order);
    }
    for (size_t i = 0; i < count; i++) {
        ads[i] = rows[i].ad;
    }
    for (size_t i = 0; i < count * key_count; i++) {
        ad_value_fini(&values[i]);
    }
    mem_free(values);
    mem_free(rows);
}
