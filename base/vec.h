/* base/vec.h - a growing array of pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>

struct vec {
    void **items; /* NULL until the first vec_push(), and after vec_fini() */
    size_t count;
    size_t capacity;
};

/* Appends an item.  A vector whose bytes are all zero is a valid empty vector. */
void vec_push(struct vec *vec, void *item);
/* Removes the item at this index; the other items keep their order.  O(count). */
void vec_remove_at(struct vec *vec, size_t index);

/* Removes all items. free_item is called for each item; NULL: items are not freed.  Keeps the
 * array's memory. */
void vec_clear(struct vec *vec, void (*free_item)(void *item));
/* Removes all items as vec_clear() does, and also frees the array's memory. */
void vec_fini(struct vec *vec, void (*free_item)(void *item));

#endif
