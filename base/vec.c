/* base/vec.c - an array that doubles when it is full.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define CAPACITY_MIN 8

void vec_push(struct vec *vec, void *item)
{
    if (vec->count == vec->capacity) {
        CHECK(vec->capacity <= SIZE_MAX / sizeof(void *) / 2);
        vec->capacity = vec->capacity == 0 ? CAPACITY_MIN : vec->capacity * 2;
        vec->items = mem_realloc(vec->items, vec->capacity * sizeof(void *));
    }
    vec->items[vec->count++] = item;
}

void vec_remove_at(struct vec *vec, size_t index)
{
    CHECK(index < vec->count);
    vec->count--;
    memmove(vec->items + index, vec->items + index + 1, (vec->count - index) * sizeof(void *));
}

void vec_clear(struct vec *vec, void (*free_item)(void *item))
{
    if (free_item) {
        for (size_t i = 0; i < vec->count; i++) {
            free_item(vec->items[i]);
        }
    }
    vec->count = 0;
}

void vec_fini(struct vec *vec, void (*free_item)(void *item))
{
    vec_clear(vec, free_item);
    mem_free(vec->items);
    *vec = (struct vec){0};
}
