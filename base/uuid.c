/* base/uuid.c - UUID version 7.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/uuid.h"

#include <string.h>

#include "base/random.h"
#include "base/text.h"

void uuid_v7(uint64_t utc_ms, struct rng *rng, char out[UUID_TEXT_MAX])
{
    unsigned char bytes[16];
    rng_bytes(rng, bytes, sizeof(bytes));
    for (unsigned i = 0; i < 6; i++) {
        bytes[i] = (unsigned char)(utc_ms >> (8 * (5 - i)));
    }
    bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0f)); /* version */
    bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3f)); /* variant */
    char digits[2 * sizeof(bytes) + 1];
    text_hex(bytes, sizeof(bytes), digits);
    const char *from = digits;
    for (unsigned i = 0; i < UUID_TEXT_MAX - 1; i++) {
        out[i] = i == 8 || i == 13 || i == 18 || i == 23 ? '-' : *from++;
    }
    out[UUID_TEXT_MAX - 1] = '\0';
}
