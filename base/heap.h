/* base/heap.h - a binary heap of pointers: the first of many things, and the next when that has
 * gone, at logarithmic cost.
 *
 * A thing holds its place in the heap in a struct heap_place of its own, so it can be taken out of
 * the middle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct heap;

struct heap_place { /* all zero: in no heap */
    struct heap *heap;
    size_t at;
};

struct heap {
    /* returns whether the thing of place a comes before that of b; must be a strict order that does
     * not change while the things are in the heap */
    bool (*before)(const struct heap_place *a, const struct heap_place *b);
    struct heap_place **places;
    size_t count, capacity;
};

void heap_init(struct heap *heap,
               bool (*before)(const struct heap_place *a, const struct heap_place *b));
void heap_fini(struct heap *heap); /* the heap must be empty */
/* Adds a thing, which must be in no heap.  O(log count). */
void heap_add(struct heap *heap, struct heap_place *place);
/* Takes a thing out of the heap in which it is; does nothing if it is in none.  O(log count). */
void heap_remove(struct heap_place *place);
/* Returns the first; NULL: the heap is empty. */
struct heap_place *heap_first(const struct heap *heap);

#endif
