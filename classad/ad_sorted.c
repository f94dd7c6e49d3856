/* classad/ad_sorted.c - the order in which the attributes of an ad are printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/mem.h"
#include "classad/ad_packed.h"

struct sorted {
    const char *name;
    uint32_t length;
    uint32_t position;
};

static int name_order(const struct sorted *a, const struct sorted *b)
{
    if (a->length != b->length) {
        return a->length < b->length ? -1 : 1;
    }
    return ad_name_compare(a->name, b->name);
}

static void merge_sort(struct sorted *order, struct sorted *spare, uint32_t count)
{
    if (count < 2) {
        return;
    }
    uint32_t half = count / 2;
    merge_sort(order, spare, half);
    merge_sort(order + half, spare, count - half);
    memcpy(spare, order, half * sizeof(*order));
    uint32_t left = 0;
    uint32_t right = half;
    for (uint32_t to = 0; left < half; to++) {
        if (right < count && name_order(&order[right], &spare[left]) < 0) {
            order[to] = order[right++];
        } else {
            order[to] = spare[left++];
        }
    }
}

uint32_t *ad_sorted(const struct ad *ad)
{
    uint32_t count = (uint32_t)ad_count(ad);
    if (count == 0) {
        return NULL;
    }
    uint32_t *order = mem_alloc(count * sizeof(*order));
    if (ad->count == 0 && ad->hidden == NULL) {
        const uint16_t *of_shape = ad_shape_order(ad->body->shape);
        for (uint32_t i = 0; i < count; i++) {
            order[i] = of_shape[i];
        }
        return order;
    }
    struct sorted *names = mem_alloc(2 * (size_t)count * sizeof(*names));
    size_t at = 0;
    struct ad_item item;
    for (uint32_t i = 0; i < count && ad_walk(ad, &at, &item); i++) {
        names[i] = (struct sorted){item.name, item.length, (uint32_t)at - 1};
    }
    merge_sort(names, names + count, count);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = names[i].position;
    }
    mem_free(names);
    return order;
}
