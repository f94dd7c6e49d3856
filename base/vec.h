/* base/vec.h - a growing array of pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

struct vec {
    void **items; /* NULL while empty */
    size_t count;
    size_t capacity;
};

void vec_push(struct vec *vec, void *item);        /* a zeroed struct vec is an empty one */
void vec_remove_at(struct vec *vec, size_t index); /* keeps the order; O(count) */

/* free_item is called for each item; NULL: items are not freed. vec_clear() keeps the array's
 * memory, vec_fini() frees it. */
void vec_clear(struct vec *vec, void (*free_item)(void *item));
void vec_fini(struct vec *vec, void (*free_item)(void *item));

#endif
