/* negotiator/number_array.h - growing arrays that are indexed by numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_NUMBER_ARRAY_H
#define NEGOTIATOR_NUMBER_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* Returns the array, enlarged if needed so that it can hold count + 1 elements of `size` bytes.
 * *room, which is updated, is the number of elements for which the array has memory. */
static inline void *number_array_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    *room = *room > 0 ? 2 * *room : 16;
    return mem_realloc(array, *room * size);
}

/* Returns the array, enlarged if needed so that it has an element with index `at`; new elements are
 * zero.  *room, which is updated, is the number of elements of `size` bytes. */
static inline void *number_array_grow_to(void *array, uint32_t at, uint32_t *room, size_t size)
{
    if (at < *room) {
        return array;
    }
    uint32_t wanted = at + at / 2 + 16;
    array = mem_realloc(array, wanted * size);
    memset((char *)array + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return array;
}

#endif
