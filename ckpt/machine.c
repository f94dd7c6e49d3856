/* ckpt/machine.c - what a program may have found out about its processor: see machine.h.
 *
 * Words: CPUID 1 ecx, 1 edx, 7.0 ebx, 7.0 ecx, 7.0 edx, 7.1 eax, 0x80000001 ecx, XCR0 (low half).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/machine.h"

#include <cpuid.h>
#include <stddef.h>

/* Bits that differ from core to core or from start to start, or that no program computes by: the
 * local timer, whether the kernel uses XSAVE (it must), the debug store, monitor, virtualization.
 */
#define IGNORED_1_ECX                                                                    \
    0x84000000U | 1U << 2 | 1U << 3 | 1U << 5 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 15 | \
        1U << 18 | 1U << 21 | 1U << 24
#define IGNORED_1_EDX                                                                     \
    1U << 7 | 1U << 9 | 1U << 12 | 1U << 14 | 1U << 16 | 1U << 18 | 1U << 21 | 1U << 22 | \
        1U << 27 | 1U << 28 | 1U << 29 | 1U << 31

static const uint32_t *ignored(void)
{
    static const uint32_t WORDS[MACHINE_WORDS] = {IGNORED_1_ECX, IGNORED_1_EDX, 0, 0, 0, 0, 0, 0};
    return WORDS;
}

static uint32_t xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

void machine_read(uint32_t words[MACHINE_WORDS])
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        words[i] = 0;
    }
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
        words[0] = c;
        words[1] = d;
        words[7] = (c & bit_OSXSAVE) != 0 ? xcr0() : 0;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        words[2] = b;
        words[3] = c;
        words[4] = d;
    }
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
        words[5] = a;
    }
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) {
        words[6] = c;
    }
}

#define NAMED(word, bit, name)                                 \
    if (word_at == (word) && (missing & (1U << (bit))) != 0) { \
        return name;                                           \
    }

static const char *name_of(size_t word_at, uint32_t missing)
{
    NAMED(0, 0, "sse3")
    NAMED(0, 9, "ssse3")
    NAMED(0, 12, "fma")
    NAMED(0, 19, "sse4.1")
    NAMED(0, 20, "sse4.2")
    NAMED(0, 22, "movbe")
    NAMED(0, 23, "popcnt")
    NAMED(0, 25, "aes")
    NAMED(0, 28, "avx")
    NAMED(0, 29, "f16c")
    NAMED(0, 30, "rdrand")
    NAMED(2, 3, "bmi1")
    NAMED(2, 5, "avx2")
    NAMED(2, 8, "bmi2")
    NAMED(2, 9, "erms")
    NAMED(2, 16, "avx512f")
    NAMED(2, 17, "avx512dq")
    NAMED(2, 18, "rdseed")
    NAMED(2, 19, "adx")
    NAMED(2, 28, "avx512cd")
    NAMED(2, 29, "sha")
    NAMED(2, 30, "avx512bw")
    NAMED(2, 31, "avx512vl")
    NAMED(3, 8, "gfni")
    NAMED(3, 9, "vaes")
    NAMED(3, 10, "vpclmulqdq")
    NAMED(4, 4, "fsrm")
    NAMED(4, 22, "amx-bf16")
    NAMED(4, 24, "amx-tile")
    NAMED(5, 4, "avx-vnni")
    NAMED(6, 5, "lzcnt")
    NAMED(7, 2, "AVX registers")
    NAMED(7, 5, "AVX-512 registers")
    return "a feature that its processor had";
}

const char *machine_missing(const uint32_t wanted[MACHINE_WORDS],
                            const uint32_t here[MACHINE_WORDS])
{
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        uint32_t missing = wanted[i] & ~here[i] & ~ignored()[i];
        if (missing != 0) {
            return name_of(i, missing);
        }
    }
    return NULL;
}
