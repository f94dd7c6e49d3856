/* negotiator/number_array.h - arrays indexed by numbers, that grow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_NUMBER_ARRAY_H
#define NEGOTIATOR_NUMBER_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* The array with room for one more than count elements of that size. */
static inline void *number_array_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    *room = *room > 0 ? 2 * *room : 16;
    return mem_realloc(array, *room * size);
}

/* ... with room for index `at`; what is new is zero. */
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
