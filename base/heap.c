/* base/heap.c - see heap.h.
 *
 * Invariant: places[i]->at == i, and places[(i - 1) / 2] does not come after places[i].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/heap.h"

#include "base/check.h"
#include "base/mem.h"

#define CAPACITY_FIRST 16

void heap_init(struct heap *heap,
               bool (*before)(const struct heap_place *a, const struct heap_place *b))
{
    *heap = (struct heap){.before = before};
}

void heap_fini(struct heap *heap)
{
    CHECK(heap->count == 0);
    mem_free(heap->places);
    heap->places = NULL;
    heap->capacity = 0;
}

static void put_place(struct heap *heap, size_t at, struct heap_place *place)
{
    heap->places[at] = place;
    place->at = at;
}

/* Moves the place, which belongs somewhere near `at`, to where the order wants it. */
static void settle_place(struct heap *heap, size_t at, struct heap_place *place)
{
    while (at > 0 && heap->before(place, heap->places[(at - 1) / 2])) {
        put_place(heap, at, heap->places[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && heap->before(heap->places[child + 1], heap->places[child])) {
            child++;
        }
        if (!heap->before(heap->places[child], place)) {
            break;
        }
        put_place(heap, at, heap->places[child]);
        at = child;
    }
    put_place(heap, at, place);
}

void heap_add(struct heap *heap, struct heap_place *place)
{
    CHECK(place->heap == NULL);
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity > 0 ? 2 * heap->capacity : CAPACITY_FIRST;
        heap->places = mem_realloc(heap->places, heap->capacity * sizeof(struct heap_place *));
    }
    place->heap = heap;
    heap->count++;
    settle_place(heap, heap->count - 1, place);
}

void heap_remove(struct heap_place *place)
{
    struct heap *heap = place->heap;
    if (heap == NULL) {
        return;
    }
    CHECK(place->at < heap->count && heap->places[place->at] == place);
    struct heap_place *last = heap->places[--heap->count];
    if (last != place) {
        settle_place(heap, place->at, last);
    }
    *place = (struct heap_place){0};
}

struct heap_place *heap_first(const struct heap *heap)
{
    return heap->count > 0 ? heap->places[0] : NULL;
}
