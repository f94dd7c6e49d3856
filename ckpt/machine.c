/* ckpt/machine.c - what a program may have found out about its processor: see machine.h.
 *
 * Which bits count: those that tell of instructions or registers which a program can use.  Left out
 * are (IGNORED):
 *
 *   - what only kernels use: virtualization, paging, speculation control, performance counters,
 *     tracing, timers, power.  A program that asks for these asks in vain on any machine;
 *   - what says how fast something is, not whether it works: ERMS, FSRM and their like (`rep movsb`
 *     is right everywhere);
 *   - instructions that are no operation where they are unknown: ENDBR64 (CET), MPX, CLDEMOTE,
 *     PREFETCHW, PREFETCHWT1, PREFETCHI; the prefix of HLE, which is ignored there;
 *   - protection keys: what they need of the processor is in the registers, and if these hold more
 *     than the kernel's default, the image is refused where they are not (xstate.c);
 *   - LA57: a job that has memory up there is told by the address;
 *   - the word 1.edx: each x86-64 processor has what programs use of it; and the vendor, the
 * family, caches and topology: programs choose by them what is fast.
 *
 * A bit that is neither ignored nor named counts: a processor to come may mean something by it.
 *
 * RTM counts though few programs ask for transactions: glibc's string functions execute XTEST where
 * it is there.  XSAVE and its kin count because dynamic linkers use them.
 *
 * Sources: Intel's manual, volume 2, CPUID; AMD's manual, volume 3, appendix E; the x86-64 psABI,
 * 3.1.1 (levels).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/machine.h"

#include <cpuid.h>

#define BIT(n)         (1U << (n))
#define BITS(from, to) ((to) == 31 ? ~(BIT(from) - 1U) : (BIT((to) + 1) - 1U) & ~(BIT(from) - 1U))

#define NAME_BYTES 20 /* most bytes of a feature's name, with the terminating zero */

struct feature {
    char name[NAME_BYTES];
    uint8_t word, bit;
    uint8_t level; /* enum machine_level; 0: of none */
};

static const struct feature *feature_table(size_t *count)
{
    static const struct feature FEATURES[] = {{"sse3", MACHINE_1_ECX, 0, MACHINE_V2},
                                              {"pclmulqdq", MACHINE_1_ECX, 1, 0},
                                              {"ssse3", MACHINE_1_ECX, 9, MACHINE_V2},
                                              {"fma", MACHINE_1_ECX, 12, MACHINE_V3},
                                              {"cx16", MACHINE_1_ECX, 13, MACHINE_V2},
                                              {"sse4.1", MACHINE_1_ECX, 19, MACHINE_V2},
                                              {"sse4.2", MACHINE_1_ECX, 20, MACHINE_V2},
                                              {"movbe", MACHINE_1_ECX, 22, MACHINE_V3},
                                              {"popcnt", MACHINE_1_ECX, 23, MACHINE_V2},
                                              {"aes", MACHINE_1_ECX, 25, 0},
                                              {"xsave", MACHINE_1_ECX, 26, MACHINE_V3},
                                              {"osxsave", MACHINE_1_ECX, 27, MACHINE_V3},
                                              {"avx", MACHINE_1_ECX, 28, MACHINE_V3},
                                              {"f16c", MACHINE_1_ECX, 29, MACHINE_V3},
                                              {"rdrand", MACHINE_1_ECX, 30, 0},
                                              {"fsgsbase", MACHINE_7_EBX, 0, 0},
                                              {"bmi1", MACHINE_7_EBX, 3, MACHINE_V3},
                                              {"avx2", MACHINE_7_EBX, 5, MACHINE_V3},
                                              {"bmi2", MACHINE_7_EBX, 8, MACHINE_V3},
                                              {"rtm", MACHINE_7_EBX, 11, 0},
                                              {"avx512f", MACHINE_7_EBX, 16, MACHINE_V4},
                                              {"avx512dq", MACHINE_7_EBX, 17, MACHINE_V4},
                                              {"rdseed", MACHINE_7_EBX, 18, 0},
                                              {"adx", MACHINE_7_EBX, 19, 0},
                                              {"avx512ifma", MACHINE_7_EBX, 21, 0},
                                              {"clflushopt", MACHINE_7_EBX, 23, 0},
                                              {"clwb", MACHINE_7_EBX, 24, 0},
                                              {"avx512pf", MACHINE_7_EBX, 26, 0},
                                              {"avx512er", MACHINE_7_EBX, 27, 0},
                                              {"avx512cd", MACHINE_7_EBX, 28, MACHINE_V4},
                                              {"sha", MACHINE_7_EBX, 29, 0},
                                              {"avx512bw", MACHINE_7_EBX, 30, MACHINE_V4},
                                              {"avx512vl", MACHINE_7_EBX, 31, MACHINE_V4},
                                              {"avx512vbmi", MACHINE_7_ECX, 1, 0},
                                              {"waitpkg", MACHINE_7_ECX, 5, 0},
                                              {"avx512vbmi2", MACHINE_7_ECX, 6, 0},
                                              {"gfni", MACHINE_7_ECX, 8, 0},
                                              {"vaes", MACHINE_7_ECX, 9, 0},
                                              {"vpclmulqdq", MACHINE_7_ECX, 10, 0},
                                              {"avx512vnni", MACHINE_7_ECX, 11, 0},
                                              {"avx512bitalg", MACHINE_7_ECX, 12, 0},
                                              {"avx512vpopcntdq", MACHINE_7_ECX, 14, 0},
                                              {"rdpid", MACHINE_7_ECX, 22, 0},
                                              {"keylocker", MACHINE_7_ECX, 23, 0},
                                              {"movdiri", MACHINE_7_ECX, 27, 0},
                                              {"movdir64b", MACHINE_7_ECX, 28, 0},
                                              {"enqcmd", MACHINE_7_ECX, 29, 0},
                                              {"avx512-4vnniw", MACHINE_7_EDX, 2, 0},
                                              {"avx512-4fmaps", MACHINE_7_EDX, 3, 0},
                                              {"uintr", MACHINE_7_EDX, 5, 0},
                                              {"avx512-vp2intersect", MACHINE_7_EDX, 8, 0},
                                              {"serialize", MACHINE_7_EDX, 14, 0},
                                              {"tsxldtrk", MACHINE_7_EDX, 16, 0},
                                              {"amx-bf16", MACHINE_7_EDX, 22, 0},
                                              {"avx512-fp16", MACHINE_7_EDX, 23, 0},
                                              {"amx-tile", MACHINE_7_EDX, 24, 0},
                                              {"amx-int8", MACHINE_7_EDX, 25, 0},
                                              {"sha512", MACHINE_7_1_EAX, 0, 0},
                                              {"sm3", MACHINE_7_1_EAX, 1, 0},
                                              {"sm4", MACHINE_7_1_EAX, 2, 0},
                                              {"rao-int", MACHINE_7_1_EAX, 3, 0},
                                              {"avx-vnni", MACHINE_7_1_EAX, 4, 0},
                                              {"avx512-bf16", MACHINE_7_1_EAX, 5, 0},
                                              {"cmpccxadd", MACHINE_7_1_EAX, 7, 0},
                                              {"amx-fp16", MACHINE_7_1_EAX, 21, 0},
                                              {"avx-ifma", MACHINE_7_1_EAX, 23, 0},
                                              {"avx-vnni-int8", MACHINE_7_1_EDX, 4, 0},
                                              {"avx-ne-convert", MACHINE_7_1_EDX, 5, 0},
                                              {"amx-complex", MACHINE_7_1_EDX, 8, 0},
                                              {"avx-vnni-int16", MACHINE_7_1_EDX, 10, 0},
                                              {"avx10", MACHINE_7_1_EDX, 19, 0},
                                              {"apx", MACHINE_7_1_EDX, 21, 0},
                                              {"xsaveopt", MACHINE_D_1_EAX, 0, 0},
                                              {"xsavec", MACHINE_D_1_EAX, 1, 0},
                                              {"xgetbv1", MACHINE_D_1_EAX, 2, 0},
                                              {"lahf", MACHINE_EXT_1_ECX, 0, MACHINE_V2},
                                              {"lzcnt", MACHINE_EXT_1_ECX, 5, MACHINE_V3},
                                              {"sse4a", MACHINE_EXT_1_ECX, 6, 0},
                                              {"xop", MACHINE_EXT_1_ECX, 11, 0},
                                              {"lwp", MACHINE_EXT_1_ECX, 15, 0},
                                              {"fma4", MACHINE_EXT_1_ECX, 16, 0},
                                              {"tbm", MACHINE_EXT_1_ECX, 21, 0},
                                              {"mwaitx", MACHINE_EXT_1_ECX, 29, 0},
                                              {"rdtscp", MACHINE_EXT_1_EDX, 27, 0},
                                              {"3dnowext", MACHINE_EXT_1_EDX, 30, 0},
                                              {"3dnow", MACHINE_EXT_1_EDX, 31, 0},
                                              {"clzero", MACHINE_EXT_8_EBX, 0, 0},
                                              {"rdpru", MACHINE_EXT_8_EBX, 4, 0},
                                              {"x87 registers", MACHINE_XCR0, 0, MACHINE_ANY},
                                              {"SSE registers", MACHINE_XCR0, 1, MACHINE_ANY},
                                              {"AVX registers", MACHINE_XCR0, 2, MACHINE_V3},
                                              {"AVX-512 masks", MACHINE_XCR0, 5, MACHINE_V4},
                                              {"AVX-512 halves", MACHINE_XCR0, 6, MACHINE_V4},
                                              {"AVX-512 registers", MACHINE_XCR0, 7, MACHINE_V4},
                                              {"AMX configuration", MACHINE_XCR0, 17, 0},
                                              {"AMX tiles", MACHINE_XCR0, 18, 0},
                                              {"APX registers", MACHINE_XCR0, 19, 0},
                                              {"user-mode mwait", MACHINE_KERNEL, 0, 0},
                                              {"kernel's fsgsbase", MACHINE_KERNEL, 1, 0}};
    *count = sizeof FEATURES / sizeof FEATURES[0];
    return FEATURES;
}

static uint32_t ignored_bits(size_t word)
{
    switch ((enum machine_word)word) {
    case MACHINE_1_ECX:
        return BITS(2, 8) | BITS(10, 11) | BITS(14, 18) | BIT(21) | BIT(24) | BIT(31);
    case MACHINE_7_EBX:
        return BITS(1, 2) | BIT(4) | BITS(6, 7) | BITS(9, 10) | BITS(12, 15) | BIT(20) | BIT(22) |
               BIT(25);
    case MACHINE_7_ECX:
        return BIT(0) | BITS(2, 4) | BIT(7) | BIT(13) | BITS(15, 21) | BITS(24, 26) | BITS(30, 31);
    case MACHINE_7_EDX:
        return BITS(0, 1) | BIT(4) | BIT(6) | BITS(9, 13) | BIT(15) | BITS(17, 21) | BITS(26, 31);
    case MACHINE_7_1_EAX:
        return BIT(6) | BITS(8, 12) | BITS(17, 20) | BIT(22) | BITS(26, 27) | BIT(30);
    case MACHINE_7_1_EDX:
        return BIT(14) | BITS(17, 18) | BIT(23);
    case MACHINE_D_1_EAX:
        return BITS(3, 31);
    case MACHINE_EXT_1_ECX:
        return BITS(1, 4) | BITS(7, 10) | BITS(12, 14) | BITS(17, 20) | BITS(22, 28) | BITS(30, 31);
    case MACHINE_EXT_1_EDX:
        return BITS(0, 26) | BITS(28, 29);
    case MACHINE_EXT_8_EBX:
        return BITS(1, 3) | BITS(5, 31);
    case MACHINE_XCR0:
        return BITS(3, 4) | BITS(8, 16);
    case MACHINE_KERNEL:
        return BITS(2, 31);
    }
    return 0;
}

static uint32_t read_xcr0(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

void machine_read(uint64_t hwcap2, uint32_t words[MACHINE_WORDS])
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        words[i] = 0;
    }
    words[MACHINE_KERNEL] = (uint32_t)hwcap2;
    words[MACHINE_XCR0] = 3;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
        words[MACHINE_1_ECX] = c;
        words[MACHINE_XCR0] = (c & bit_OSXSAVE) != 0 ? read_xcr0() : words[MACHINE_XCR0];
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
        words[MACHINE_7_EBX] = b;
        words[MACHINE_7_ECX] = c;
        words[MACHINE_7_EDX] = d;
        if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) {
            words[MACHINE_7_1_EAX] = a;
            words[MACHINE_7_1_EDX] = d;
        }
    }
    if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d) != 0) {
        words[MACHINE_D_1_EAX] = a;
    }
    if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0) {
        words[MACHINE_EXT_1_ECX] = c;
        words[MACHINE_EXT_1_EDX] = d;
    }
    if (__get_cpuid(0x80000008, &a, &b, &c, &d) != 0) {
        words[MACHINE_EXT_8_EBX] = b;
    }
}

const char *machine_missing(const uint32_t wanted[MACHINE_WORDS],
                            const uint32_t here[MACHINE_WORDS])
{
    size_t count;
    const struct feature *all = feature_table(&count);
    uint32_t any = 0;
    for (size_t i = 0; i < count; i++) {
        if ((wanted[all[i].word] & ~here[all[i].word] & BIT(all[i].bit)) != 0) {
            return all[i].name;
        }
    }
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        any |= wanted[i] & ~here[i] & ~ignored_bits(i);
    }
    return any != 0 ? "a feature unknown to this version of roost-ckpt" : NULL;
}

size_t machine_features(const uint32_t words[MACHINE_WORDS], enum machine_level above,
                        const char **names, size_t room)
{
    size_t count, found = 0;
    const struct feature *all = feature_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool beyond = all[i].level == 0 || all[i].level > above;
        if (beyond && (words[all[i].word] & BIT(all[i].bit)) != 0) {
            if (found < room) {
                names[found] = all[i].name;
            }
            found++;
        }
    }
    return found;
}

/* ---- levels */

/* Returns what that level and those below it have. */
static uint32_t word_of_level(size_t word, enum machine_level level)
{
    size_t count;
    const struct feature *all = feature_table(&count);
    uint32_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].word == word && all[i].level != 0 && all[i].level <= level) {
            bits |= BIT(all[i].bit);
        }
    }
    return bits;
}

enum machine_level machine_level(const uint32_t words[MACHINE_WORDS])
{
    enum machine_level level = MACHINE_ANY;
    for (enum machine_level i = MACHINE_V2; i <= MACHINE_V4; i++) {
        uint32_t lacks = 0;
        for (size_t j = 0; j < MACHINE_WORDS; j++) {
            lacks |= word_of_level(j, i) & ~words[j];
        }
        level = lacks == 0 ? i : level;
    }
    return level;
}

const char *machine_level_name(enum machine_level level)
{
    return level == MACHINE_V4   ? "x86-64-v4"
           : level == MACHINE_V3 ? "x86-64-v3"
           : level == MACHINE_V2 ? "x86-64-v2"
                                 : "x86-64";
}

static bool is_same(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] != '\0' && a[i] == b[i]) {
        i++;
    }
    return a[i] == b[i];
}

bool machine_level_named(const char *name, enum machine_level *ret)
{
    for (enum machine_level i = MACHINE_ANY; i <= MACHINE_V4; i++) {
        if (is_same(name, machine_level_name(i))) {
            *ret = i;
            return true;
        }
    }
    return false;
}

void machine_mask(uint32_t words[MACHINE_WORDS], enum machine_level level)
{
    for (size_t i = 0; i < MACHINE_WORDS; i++) {
        words[i] &= word_of_level(i, level);
    }
}

/* ---- glibc's dynamic linker */

uint32_t machine_linker_room(const uint32_t began[MACHINE_WORDS])
{
    bool saves = (began[MACHINE_1_ECX] & bit_OSXSAVE) != 0;
    bool packs = (began[MACHINE_D_1_EAX] & BIT(1)) != 0;
    return saves && !packs ? began[MACHINE_XCR0] | ~MACHINE_LINKER_SAVES : ~0U;
}

bool machine_outgrows(uint32_t linker_room, const uint32_t here[MACHINE_WORDS])
{
    return (here[MACHINE_XCR0] & ~linker_room) != 0;
}
