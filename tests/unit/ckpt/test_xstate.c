/* tests/unit/ckpt/test_xstate.c - extended registers of one processor in the layout of another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/xstate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/unit.h"

#define AVX      2
#define MASKS    5
#define ZMM_HIGH 6
#define ROOM     4096U

/* Where Intel and AMD put them. */
static const struct ckpt_xstate_layout OLD = {.features = 7, .components[AVX] = {576, 256}};
static const struct ckpt_xstate_layout INTEL = {.features = 0x2e7,
                                                .components[AVX] = {576, 256},
                                                .components[MASKS] = {1088, 64},
                                                .components[ZMM_HIGH] = {1152, 512},
                                                .components[XSTATE_KEYS] = {2688, 8}};
static const struct ckpt_xstate_layout AMD = {.features = 0x2e7,
                                              .components[AVX] = {576, 256},
                                              .components[MASKS] = {832, 64},
                                              .components[ZMM_HIGH] = {896, 512},
                                              .components[XSTATE_KEYS] = {2432, 8}};
static const struct ckpt_xstate_layout NONE = {.features = XSTATE_LEGACY};

static void mark(uint8_t *state, uint64_t components)
{
    memcpy(state + XSTATE_HEADER, &components, sizeof components);
}

static uint64_t marked(const uint8_t *state)
{
    uint64_t components;
    memcpy(&components, state + XSTATE_HEADER, sizeof components);
    return components;
}

/* A state in which each of these components is full of its own number. */
static void fill(const struct ckpt_xstate_layout *layout, uint64_t components, uint8_t *state)
{
    memset(state, 0, ROOM);
    memset(state, 0x77, XSTATE_HEADER);
    for (unsigned i = 2; i < CKPT_COMPONENTS; i++) {
        if ((components & UINT64_C(1) << i) != 0) {
            memset(state + layout->components[i].offset, (int)i, layout->components[i].bytes);
        }
    }
    mark(state, components | XSTATE_LEGACY);
}

static bool holds(const uint8_t *state, struct ckpt_component place, unsigned byte)
{
    for (uint32_t i = 0; i < place.bytes; i++) {
        if (state[place.offset + i] != byte) {
            return false;
        }
    }
    return place.bytes > 0;
}

static void each_component_goes_to_its_place(void **state)
{
    (void)state;
    uint8_t saved[ROOM], here[ROOM];
    uint64_t features, all = 1U << AVX | 1U << MASKS | 1U << ZMM_HIGH | 1U << XSTATE_KEYS;
    fill(&AMD, all, saved);
    assert_null(xstate_missing(&AMD, saved, &INTEL));
    memset(here, 0xee, sizeof here);
    assert_int_equal(xstate_fit(&AMD, saved, &INTEL, here, &features), 2696);
    assert_int_equal(xstate_fit_max(&AMD, &INTEL), 2696);
    assert_true(features == (all | XSTATE_LEGACY));
    assert_true(marked(here) == (all | XSTATE_LEGACY));
    assert_memory_equal(here, saved, XSTATE_HEADER);
    assert_true(holds(here, INTEL.components[AVX], AVX));
    assert_true(holds(here, INTEL.components[MASKS], MASKS));
    assert_true(holds(here, INTEL.components[ZMM_HIGH], ZMM_HIGH));
    assert_true(holds(here, INTEL.components[XSTATE_KEYS], XSTATE_KEYS));
    assert_int_equal(here[XSTATE_HEADER + 8], 0); /* not compacted */
}

static void what_is_in_use_and_has_no_place_is_named(void **state)
{
    (void)state;
    uint8_t saved[ROOM];
    fill(&INTEL, 1U << AVX | 1U << ZMM_HIGH, saved);
    assert_string_equal(xstate_missing(&INTEL, saved, &OLD), "AVX-512 registers");
    fill(&INTEL, 1U << AVX, saved);
    assert_null(xstate_missing(&INTEL, saved, &OLD));
    assert_string_equal(xstate_missing(&INTEL, saved, &NONE), "AVX registers");
}

static void what_is_zero_is_not_in_use_though_it_is_marked(void **state)
{
    (void)state;
    uint8_t saved[ROOM], here[ROOM];
    uint64_t features;
    fill(&INTEL, 0, saved);
    mark(saved, XSTATE_LEGACY | 1U << AVX | 1U << ZMM_HIGH);
    assert_null(xstate_missing(&INTEL, saved, &NONE));
    assert_int_equal(xstate_fit(&INTEL, saved, &NONE, here, &features), XSTATE_MIN);
    assert_true(features == XSTATE_LEGACY);
    assert_true(marked(here) == XSTATE_LEGACY);
}

static void what_is_not_marked_is_not_in_use_whatever_is_there(void **state)
{
    (void)state;
    uint8_t saved[ROOM], here[ROOM];
    uint64_t features;
    fill(&INTEL, 1U << AVX | 1U << ZMM_HIGH, saved);
    mark(saved, XSTATE_LEGACY | 1U << AVX);
    assert_null(xstate_missing(&INTEL, saved, &OLD));
    assert_int_equal(xstate_fit(&INTEL, saved, &OLD, here, &features), 576 + 256);
    assert_true(features == (XSTATE_LEGACY | 1U << AVX));
}

static void a_component_of_another_size_is_another_one(void **state)
{
    (void)state;
    uint8_t saved[ROOM];
    struct ckpt_xstate_layout other = OLD;
    other.components[AVX].bytes = 512;
    fill(&OLD, 1U << AVX, saved);
    assert_string_equal(xstate_missing(&OLD, saved, &other), "AVX registers");
}

static void a_component_beyond_those_that_are_known_is_missing(void **state)
{
    (void)state;
    uint8_t saved[ROOM];
    fill(&OLD, 0, saved);
    mark(saved, UINT64_C(1) << CKPT_COMPONENTS);
    assert_non_null(xstate_missing(&OLD, saved, &OLD));
    fill(&OLD, 0, saved);
    mark(saved, UINT64_C(1) << 11); /* known, but not laid out where it was made */
    assert_non_null(xstate_missing(&OLD, saved, &INTEL));
}

/* Each program has the kernel's default in it, and does nothing by it. */
static void protection_keys_come_and_go_with_the_kernels_default(void **state)
{
    (void)state;
    uint8_t saved[ROOM], here[ROOM];
    uint64_t features;
    uint32_t keys = XSTATE_KEYS_ARE, got;
    fill(&INTEL, 0, saved);
    mark(saved, XSTATE_LEGACY | 1U << XSTATE_KEYS);
    memcpy(saved + INTEL.components[XSTATE_KEYS].offset, &keys, sizeof keys);
    assert_null(xstate_missing(&INTEL, saved, &OLD));
    keys ^= 4;
    memcpy(saved + INTEL.components[XSTATE_KEYS].offset, &keys, sizeof keys);
    assert_string_equal(xstate_missing(&INTEL, saved, &OLD), "protection keys");
    fill(&OLD, 0, saved);
    assert_int_equal(xstate_fit(&OLD, saved, &INTEL, here, &features), 2696);
    memcpy(&got, here + INTEL.components[XSTATE_KEYS].offset, sizeof got);
    assert_int_equal(got, XSTATE_KEYS_ARE);
    assert_true(features == (XSTATE_LEGACY | 1U << XSTATE_KEYS));
}

static void this_processors_layout_is_one(void **state)
{
    (void)state;
    struct ckpt_xstate_layout here;
    xstate_read_layout(&here);
    assert_true((here.features & XSTATE_LEGACY) == XSTATE_LEGACY);
    for (unsigned i = 2; i < CKPT_COMPONENTS; i++) {
        bool has = (here.features & UINT64_C(1) << i) != 0;
        assert_int_equal(has, here.components[i].bytes != 0);
        assert_true(!has || here.components[i].offset >= XSTATE_MIN);
    }
    assert_true(xstate_fit_max(&here, &here) >= XSTATE_MIN);
}

UNIT_TESTS(UNIT(each_component_goes_to_its_place), UNIT(what_is_in_use_and_has_no_place_is_named),
           UNIT(what_is_zero_is_not_in_use_though_it_is_marked),
           UNIT(what_is_not_marked_is_not_in_use_whatever_is_there),
           UNIT(a_component_of_another_size_is_another_one),
           UNIT(a_component_beyond_those_that_are_known_is_missing),
           UNIT(protection_keys_come_and_go_with_the_kernels_default),
           UNIT(this_processors_layout_is_one))
