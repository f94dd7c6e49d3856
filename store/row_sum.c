/* store/row_sum.c - see row_sum.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/row_sum.h"

#include <string.h>

#include <zlib.h>

int32_t row_sum(const char *table, const void *key, size_t key_length, const void *value,
                size_t length)
{
    uLong sum = crc32_z(0, (const Bytef *)table, strlen(table) + 1); /* with the zero between */
    sum = crc32_z(sum, key, key_length);
    sum = crc32_z(sum, (const Bytef *)"", 1);
    if (length > 0) {
        sum = crc32_z(sum, value, length);
    }
    return (int32_t)(uint32_t)sum; /* SQLite keeps 32 bits with a sign in four bytes */
}
