/* tests/unit/ckpt/test_machine.c - features of processors: which count, which are missing, levels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/machine.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "tests/support/unit.h"

#define ALL      (~0U)
#define SSE4_2   (1U << 20)
#define OSXSAVE  (1U << 27)
#define AVX      (1U << 28)
#define AVX2     (1U << 5)
#define XSAVEC   (1U << 1)
#define HYPER    (1U << 31)
#define ERMS     (1U << 9)
#define X87_SSE  3U
#define AVX_REGS 4U

static void every_processor_has_what_it_has_itself(void **state)
{
    (void)state;
    uint32_t words[MACHINE_WORDS];
    machine_read(getauxval(AT_HWCAP2), words);
    assert_null(machine_missing(words, words));
    assert_int_equal(words[MACHINE_XCR0] & X87_SSE, X87_SSE);
    for (enum machine_level level = MACHINE_ANY; level <= machine_level(words); level++) {
        uint32_t masked[MACHINE_WORDS];
        memcpy(masked, words, sizeof masked);
        machine_mask(masked, level);
        assert_int_equal(machine_level(masked), level);
        assert_null(machine_missing(masked, words));
        assert_int_equal(machine_features(masked, level, NULL, 0), 0);
    }
}

static void a_feature_that_is_missing_is_named(void **state)
{
    (void)state;
    uint32_t wanted[MACHINE_WORDS] = {[MACHINE_1_ECX] = SSE4_2 | AVX, [MACHINE_7_EBX] = AVX2};
    uint32_t here[MACHINE_WORDS] = {[MACHINE_1_ECX] = SSE4_2 | AVX};
    assert_string_equal(machine_missing(wanted, here), "avx2");
    here[MACHINE_7_EBX] = ALL;
    assert_null(machine_missing(wanted, here));
    here[MACHINE_1_ECX] = SSE4_2;
    assert_string_equal(machine_missing(wanted, here), "avx");
}

static void more_features_than_wanted_are_no_matter(void **state)
{
    (void)state;
    uint32_t wanted[MACHINE_WORDS] = {0}, here[MACHINE_WORDS];
    memset(here, 0xff, sizeof here);
    assert_null(machine_missing(wanted, here));
}

static void what_only_kernels_use_or_what_is_only_faster_is_not_missed(void **state)
{
    (void)state;
    uint32_t wanted[MACHINE_WORDS] = {[MACHINE_1_ECX] = HYPER, [MACHINE_7_EBX] = ERMS};
    const uint32_t here[MACHINE_WORDS] = {0};
    assert_null(machine_missing(wanted, here));
}

/* A bit that Intel or AMD has given no meaning yet. */
static void what_nobody_knows_yet_is_missed(void **state)
{
    (void)state;
    uint32_t wanted[MACHINE_WORDS] = {[MACHINE_7_1_EAX] = 1U << 25};
    const uint32_t here[MACHINE_WORDS] = {0};
    assert_string_equal(machine_missing(wanted, here),
                        "a feature unknown to this version of roost-ckpt");
}

static void each_bit_is_either_named_or_ignored_or_unknown(void **state)
{
    (void)state;
    const uint32_t none[MACHINE_WORDS] = {0};
    size_t named = 0, ignored = 0, unknown = 0;
    for (unsigned word = 0; word < MACHINE_WORDS; word++) {
        for (unsigned bit = 0; bit < 32; bit++) {
            uint32_t one[MACHINE_WORDS] = {0};
            one[word] = 1U << bit;
            const char *missing = machine_missing(one, none);
            bool has_name = machine_features(one, MACHINE_ANY, NULL, 0) == 1 ||
                            (word == MACHINE_XCR0 && bit < 2);
            bool is_unknown = missing != NULL && strncmp(missing, "a feature", 9) == 0;
            assert_int_equal(has_name, missing != NULL && !is_unknown);
            named += has_name ? 1 : 0;
            unknown += is_unknown ? 1 : 0;
            ignored += missing == NULL ? 1 : 0;
        }
    }
    assert_int_equal(named + unknown + ignored, MACHINE_WORDS * 32);
    assert_true(named > 90);
    assert_true(unknown > 0 && unknown < 64);
}

static void levels_are_those_of_the_abi(void **state)
{
    (void)state;
    enum machine_level level;
    uint32_t all[MACHINE_WORDS];
    assert_true(machine_level_named("x86-64", &level));
    assert_int_equal(level, MACHINE_ANY);
    assert_true(machine_level_named("x86-64-v3", &level));
    assert_int_equal(level, MACHINE_V3);
    assert_false(machine_level_named("x86-64-v", &level));
    assert_false(machine_level_named("x86-64-v22", &level));
    assert_false(machine_level_named("", &level));
    memset(all, 0xff, sizeof all);
    machine_mask(all, MACHINE_V2); /* CMPXCHG16B LAHF POPCNT SSE3 SSSE3 SSE4.1 SSE4.2 */
    assert_int_equal(all[MACHINE_1_ECX], 1U << 13 | 1U << 23 | 1U | 1U << 9 | 1U << 19 | SSE4_2);
    assert_int_equal(all[MACHINE_EXT_1_ECX], 1);
    assert_int_equal(all[MACHINE_7_EBX], 0);
    assert_int_equal(all[MACHINE_XCR0], X87_SSE);
    memset(all, 0xff, sizeof all);
    machine_mask(all, MACHINE_V3); /* and AVX AVX2 BMI1 BMI2 F16C FMA LZCNT MOVBE OSXSAVE */
    assert_int_equal(all[MACHINE_7_EBX], AVX2 | 1U << 3 | 1U << 8);
    assert_int_equal(all[MACHINE_EXT_1_ECX], 1 | 1U << 5);
    assert_int_equal(all[MACHINE_XCR0], X87_SSE | AVX_REGS);
    assert_int_equal(all[MACHINE_D_1_EAX], 0);
}

static void a_linker_that_saves_with_xsave_has_room_for_what_there_was(void **state)
{
    (void)state;
    const uint32_t began[MACHINE_WORDS] = {
        [MACHINE_1_ECX] = OSXSAVE, [MACHINE_XCR0] = X87_SSE | AVX_REGS};
    uint32_t here[MACHINE_WORDS] = {[MACHINE_XCR0] = X87_SSE | AVX_REGS};
    uint32_t room = machine_linker_room(began);
    assert_false(machine_outgrows(room, here));
    here[MACHINE_XCR0] |= 1U << 9; /* protection keys it does not save */
    assert_false(machine_outgrows(room, here));
    here[MACHINE_XCR0] |= 0xe0; /* AVX-512 */
    assert_true(machine_outgrows(room, here));
    here[MACHINE_XCR0] = X87_SSE;
    assert_false(machine_outgrows(room, here));
}

static void a_linker_that_packs_or_saves_nothing_needs_no_more_room(void **state)
{
    (void)state;
    uint32_t began[MACHINE_WORDS] = {
        [MACHINE_1_ECX] = OSXSAVE, [MACHINE_XCR0] = X87_SSE, [MACHINE_D_1_EAX] = XSAVEC};
    uint32_t here[MACHINE_WORDS] = {[MACHINE_XCR0] = ALL};
    assert_false(machine_outgrows(machine_linker_room(began), here));
    began[MACHINE_D_1_EAX] = 0;
    assert_true(machine_outgrows(machine_linker_room(began), here));
    began[MACHINE_1_ECX] = 0;
    assert_false(machine_outgrows(machine_linker_room(began), here));
}

UNIT_TESTS(UNIT(every_processor_has_what_it_has_itself), UNIT(a_feature_that_is_missing_is_named),
           UNIT(more_features_than_wanted_are_no_matter),
           UNIT(what_only_kernels_use_or_what_is_only_faster_is_not_missed),
           UNIT(what_nobody_knows_yet_is_missed),
           UNIT(each_bit_is_either_named_or_ignored_or_unknown), UNIT(levels_are_those_of_the_abi),
           UNIT(a_linker_that_saves_with_xsave_has_room_for_what_there_was),
           UNIT(a_linker_that_packs_or_saves_nothing_needs_no_more_room))
