/* ckpt/sum.c - CRC-32C: see sum.h.
 *
 * The polynomial is the one that processors have an instruction for (SSE 4.2, in each of the last
 * fifteen years); one without it computes bit by bit, slowly, rather than keeping a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/sum.h"

#include <cpuid.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78U

bool ckpt_sum_is_fast(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
}

static uint32_t slowly(uint32_t sum, const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        sum ^= at[i];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ ((sum & 1) != 0 ? POLYNOMIAL : 0);
        }
    }
    return sum;
}

uint32_t ckpt_sum(uint32_t before, const void *data, size_t bytes)
{
    return ckpt_sum_is_fast() ? ckpt_sum_fast(before, data, bytes) : ~slowly(~before, data, bytes);
}

uint32_t ckpt_sum_fast(uint32_t before, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = ~before;
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word;
        __builtin_memcpy(&word, at, sizeof word);
        __asm__("crc32q %1, %0" : "+r"(sum) : "r"(word));
    }
    for (; bytes > 0; at++, bytes--) {
        uint32_t low = (uint32_t)sum;
        __asm__("crc32b %1, %0" : "+r"(low) : "r"(*at));
        sum = low;
    }
    return ~(uint32_t)sum;
}
