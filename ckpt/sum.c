/* ckpt/sum.c - CRC-32C: see sum.h.
 *
 * The polynomial is the one that processors have an instruction for (SSE 4.2, in each of the last
 * fifteen years); one without it computes bit by bit, slowly, rather than keeping a table.
 *
 * The instruction's result is there after three cycles, but another one can begin in each: so three
 * parts of the bytes are summed in turns, and their sums put together as those of polynomials are:
 * that of what stands in front is multiplied by x to the number of bits behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/sum.h"

#include <cpuid.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78U
#define LANE       4096U       /* bytes of a part */
#define BEHIND_ONE 0x35d73a62U /* x to the power of 8 * LANE, modulo the polynomial */
#define BEHIND_TWO 0x28461564U /* of 16 * LANE */

bool ckpt_sum_is_fast(void)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
}

static uint32_t sum_slowly(uint32_t sum, const unsigned char *at, size_t bytes)
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
    return ckpt_sum_by(ckpt_sum_is_fast(), before, data, bytes);
}

uint32_t ckpt_sum_by(bool fast, uint32_t before, const void *data, size_t bytes)
{
    return fast ? ckpt_sum_fast(before, data, bytes) : ~sum_slowly(~before, data, bytes);
}

/* Multiplies polynomials whose highest coefficient is the lowest bit. */
static uint32_t multiply_polynomials(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (unsigned i = 0; i < 32; i++) {
        product ^= b & (0U - (a >> 31));
        a <<= 1;
        b = b >> 1 ^ (POLYNOMIAL & (0U - (b & 1)));
    }
    return product;
}

static inline uint64_t sum_word(uint64_t sum, const unsigned char *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    __asm__("crc32q %1, %0" : "+r"(sum) : "r"(word));
    return sum;
}

static uint32_t sum_lanes(uint32_t before, const unsigned char *at)
{
    uint64_t first = before, second = 0, third = 0;
    for (size_t i = 0; i < LANE; i += sizeof(uint64_t)) {
        first = sum_word(first, at + i);
        second = sum_word(second, at + LANE + i);
        third = sum_word(third, at + (size_t)2 * LANE + i);
    }
    return multiply_polynomials((uint32_t)first, BEHIND_TWO) ^
           multiply_polynomials((uint32_t)second, BEHIND_ONE) ^ (uint32_t)third;
}

uint32_t ckpt_sum_fast(uint32_t before, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t sum = ~before;
    for (; bytes >= (size_t)3 * LANE; at += (size_t)3 * LANE, bytes -= (size_t)3 * LANE) {
        sum = sum_lanes((uint32_t)sum, at);
    }
    for (; bytes >= sizeof(uint64_t); at += sizeof(uint64_t), bytes -= sizeof(uint64_t)) {
        sum = sum_word(sum, at);
    }
    for (; bytes > 0; at++, bytes--) {
        uint32_t low = (uint32_t)sum;
        __asm__("crc32b %1, %0" : "+r"(low) : "r"(*at));
        sum = low;
    }
    return ~(uint32_t)sum;
}
