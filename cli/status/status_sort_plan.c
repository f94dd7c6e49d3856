/* cli/status/status_sort_plan.c - see status_sort_plan.h.
 *
 * Keys are evaluated once for each ad.  Names of machines often have a common prefix, so the
 * default order compares first the eight bytes after this prefix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status/status_sort_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/mem.h"
#include "classad/ad.h"

/* ---- default */

struct place {
    uint64_t head; /* the eight bytes of machine after the prefix that all have in common */
    const char *machine, *name;
    int64_t slot;
    size_t index; /* place in the order of arrival */
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

/* Sorts; false when the places were in order before. */
static bool sort_places(struct place *places, size_t count)
{
    if (count < 2) {
        return false;
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
    return !sorted;
}

static struct place place_of(const struct ad *ad, size_t index)
{
    return (struct place){.machine = ad_string_or(ad, "Machine", ""),
                          .name = ad_string_or(ad, "Name", ""),
                          .slot = ad_int_or(ad, "SlotID", 0),
                          .index = index};
}

void status_sort_default(const struct ad **ads, size_t count)
{
    struct place *places = mem_alloc((count + 1) * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        places[i] = place_of(ads[i], i);
    }
    if (sort_places(places, count)) {
        const struct ad **before = mem_alloc(count * sizeof *before);
        memcpy(before, ads, count * sizeof *before);
        for (size_t i = 0; i < count; i++) {
            ads[i] = before[places[i].index];
        }
        mem_free(before);
    }
    mem_free(places);
}

struct status_order {
    struct arena *texts;
    struct place *places;
    size_t count, room;
    uint32_t *list;
};

struct status_order *status_order_create(void)
{
    struct status_order *order = mem_zalloc(sizeof *order);
    order->texts = arena_create(0, 0);
    return order;
}

void status_order_destroy(struct status_order *order)
{
    if (order != NULL) {
        arena_destroy(order->texts);
        mem_free(order->places);
        mem_free(order->list);
        mem_free(order);
    }
}

static const char *keep_text(struct arena *texts, const char *text)
{
    const char *kept = arena_strdup(texts, text);
    return kept != NULL ? kept : ""; /* no memory: the order suffers */
}

void status_order_add(struct status_order *order, const struct ad *ad)
{
    if (order->count == order->room) {
        order->room = order->room > 0 ? order->room * 2 : 64;
        order->places = mem_realloc(order->places, order->room * sizeof *order->places);
    }
    struct place *place = &order->places[order->count];
    const char *before = order->count > 0 ? place[-1].machine : "";
    *place = place_of(ad, order->count++);
    /* The slots of a machine come in a row. */
    place->machine =
        strcmp(before, place->machine) == 0 ? before : keep_text(order->texts, place->machine);
    place->name = keep_text(order->texts, place->name);
}

const uint32_t *status_order_list(struct status_order *order)
{
    if (!sort_places(order->places, order->count)) {
        return NULL;
    }
    order->list = mem_alloc(order->count * sizeof *order->list);
    for (size_t i = 0; i < order->count; i++) {
        order->list[i] = (uint32_t)order->places[i].index;
    }
    return order->list;
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
