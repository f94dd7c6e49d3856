/* rooster/boots_plan.c - deadlines learned from boots: see boots_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/boots_plan.h"

#include <stdlib.h>
#include <string.h>

#define PERCENTILE 95

void boots_add(struct boots *boots, int64_t took_ms)
{
    if (took_ms > 0) {
        boots->took_ms[boots->count++ % BOOTS_KEPT] = took_ms;
    }
}

static int by_length(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

int64_t boots_p95_ms(const struct boots *boots)
{
    int64_t sorted[BOOTS_KEPT];
    size_t count = boots->count < BOOTS_KEPT ? boots->count : BOOTS_KEPT;
    if (count == 0) {
        return 0;
    }
    memcpy(sorted, boots->took_ms, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], by_length);
    return sorted[(count * PERCENTILE + 99) / 100 - 1];
}

int64_t boots_deadline_ms(const struct boots *boots, const struct boots_bounds *bounds)
{
    int64_t floor_ms =
        bounds->floor_ms < bounds->unlearned_ms ? bounds->floor_ms : bounds->unlearned_ms;
    int64_t ceiling_ms =
        bounds->ceiling_ms > bounds->unlearned_ms ? bounds->ceiling_ms : bounds->unlearned_ms;
    int64_t p95_ms = boots_p95_ms(boots);
    if (boots->count < BOOTS_ENOUGH && p95_ms <= bounds->unlearned_ms) {
        return bounds->unlearned_ms;
    }
    int64_t deadline_ms = p95_ms > ceiling_ms / 2 ? ceiling_ms : p95_ms * 2;
    return deadline_ms < floor_ms ? floor_ms : deadline_ms;
}
